"""`ngramscan blend` as a person runs it: its files, what is selected, and what is refused."""

from pathlib import Path

import pandas as pd
import pytest

from tests.support.command import invoke
from tests.support.method_outputs import write_method_outputs
from tests.support.outputs import refusal


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the outputs of three prompts and a set."""
    monkeypatch.chdir(tmp_path)
    write_method_outputs(tmp_path)
    return tmp_path


def test_rows_are_of_prompts_and_methods() -> None:
    ran = invoke("blend", "outputs", "small.yaml", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert [
        (row["prompt"], row["method"], row["has_method"], row["with_marker"]) for row in ran.rows
    ] == [
        ("cot", "CoT", "True", "6"),
        ("cot", "PoT", "False", "0"),
        ("f-1+cot", "CoT", "True", "5"),
        ("f-1+cot", "PoT", "False", "0"),
        ("pot", "CoT", "False", "0"),
        ("pot", "PoT", "True", "10"),
    ]


def test_each_file_has_its_own_rows() -> None:
    files = ("--presence", "p.csv", "--retention", "r.csv", "--isolation", "i.csv")
    ran = invoke("blend", "outputs", "small.yaml", *files, "-q")
    assert (ran.code, ran.stderr) == (0, "")
    presence = pd.read_csv("p.csv").set_index(["pattern", "prompt"])["with_pattern"]
    assert presence.to_dict() == {
        ("step by step", "cot"): 6,
        ("step by step", "f-1+cot"): 5,
        ("step by step", "pot"): 0,
        ("import math", "cot"): 0,
        ("import math", "f-1+cot"): 0,
        ("import math", "pot"): 10,
    }
    isolation = pd.read_csv("i.csv").set_index("method")["share_own"]
    assert isolation.to_dict() == {"CoT": 11 / 20, "PoT": 1.0}
    retention = pd.read_csv("r.csv")
    assert (len(retention), "retention" in retention) == (0, True)


@pytest.mark.parametrize(
    ("selected", "methods"),
    [
        pytest.param(("--tier", "T2"), ["PoT"], id="a tier"),
        pytest.param(("--method", "cot"), ["CoT"], id="a method"),
    ],
)
def test_patterns_are_selected(selected: tuple[str, ...], methods: list[str]) -> None:
    ran = invoke("blend", "outputs", "small.yaml", *selected, "--format", "csv")
    assert (ran.code, sorted({row["method"] for row in ran.rows})) == (0, methods)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        pytest.param((), 1, id="the case is ignored"),
        pytest.param(("--case-sensitive",), 0, id="the case matters"),
    ],
)
def test_case_matters_if_that_is_asked_for(options: tuple[str, ...], found: int) -> None:
    Path("upper.jsonl").write_text('{"id": 1, "output": "STEP BY STEP", "method": "cot"}\n')
    ran = invoke("blend", "upper.jsonl", "small.yaml", *options, "--format", "csv")
    (row,) = [row for row in ran.rows if row["method"] == "CoT"]
    assert (ran.code, row["with_marker"]) == (0, str(found))


def test_all_shows_more_than_the_summary() -> None:
    summary, whole = (
        invoke("blend", "outputs", "small.yaml", *more).stdout for more in ((), ("--all",))
    )
    assert "--all: single models, occurrences, ratios" in summary
    assert "Occurrences of markers per 1,000 characters" in whole
    assert "Occurrences of markers per 1,000 characters" not in summary


def test_without_a_set_the_markers_are_those_of_the_paper() -> None:
    ran = invoke("blend", "outputs", "--format", "csv")
    assert (ran.code, {row["method"] for row in ran.rows}) == (0, {"CoT", "PoT", "FP/F-1"})


def test_a_name_of_neither_outputs_nor_a_set_is_refused() -> None:
    said = refusal("blend", "outputs", "nothing")
    assert said == "nothing: no such outputs, and no pattern set; shipped: f1, verify"
