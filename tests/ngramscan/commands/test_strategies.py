"""`ngramscan strategies` as a person runs it: rows, the file of outputs, and what is refused."""

from pathlib import Path

import pandas as pd
import pytest

from tests.support.command import invoke
from tests.support.method_outputs import write_method_outputs
from tests.support.outputs import refusal


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the outputs of three prompts."""
    monkeypatch.chdir(tmp_path)
    write_method_outputs(tmp_path)
    return tmp_path


def test_rows_are_of_prompts_and_strategies() -> None:
    ran = invoke("strategies", "outputs", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    found = {(row["prompt"], row["strategy"]): row["with_strategy"] for row in ran.rows}
    assert len(found) == len(ran.rows) == 3 * 4
    assert {key for key, number in found.items() if number == "10"} == {
        ("cot", "Direct"),
        ("f-1+cot", "Direct"),
        ("pot", "PoT"),
    }


def test_the_file_has_each_output_and_the_rule_that_decided() -> None:
    ran = invoke("strategies", "outputs", "--per-output", "each.csv")
    assert (ran.code, ran.stderr) == (0, "wrote each.csv: 30 rows\n")
    rows = pd.read_csv("each.csv")
    first = rows[rows["prompt"] == "pot"].iloc[0]
    assert (first["id"], first["strategy"], first["has_code"]) == (0, "PoT", True)
    assert rows["rule"].notna().all()
    assert "Outputs of each strategy, % · dataset d · model m" in ran.stdout


def test_own_rules_decide() -> None:
    rule = "{name: all, strategy: Hybrid, reason: all}"
    marker = "{regex: step, reason: steps}"
    Path("own.yaml").write_text(f"name: own\nstep_markers: [{marker}]\nrules: [{rule}]\n")
    ran = invoke("strategies", "outputs", "--rules", "own.yaml", "--format", "csv")
    shares = {row["strategy"]: row["share"] for row in ran.rows}
    assert (ran.code, shares["Hybrid"], shares["Direct"]) == (0, "1.0", "0.0")


def test_outputs_and_rules_that_are_not_there_are_refused() -> None:
    assert refusal("strategies", "nothing").startswith("nothing: no such file or folder; ")
    said = refusal("strategies", "outputs", "--rules", "none.yaml")
    assert said.startswith("none.yaml: no such file or directory")
