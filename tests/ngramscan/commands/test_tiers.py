"""`ngramscan tiers` as a person runs it: rows of both measures, the screen, what is refused."""

from pathlib import Path

import pytest

from tests.support.command import invoke
from tests.support.method_outputs import write_method_outputs
from tests.support.outputs import refusal, write_texts


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the outputs of three prompts and a set."""
    monkeypatch.chdir(tmp_path)
    write_method_outputs(tmp_path)
    return tmp_path


def test_rows_are_of_the_patterns_of_all_tiers() -> None:
    ran = invoke("tiers", "outputs", "small.yaml", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert [
        (row["pattern"], row["tier"], row["rate_own"], row["rate_others"], row["ratio"])
        for row in ran.rows
    ] == [
        ("step by step", "T1", "0.55", "0.0", "11.5"),  # 11.5 / 20 against 0.5 / 10
        ("import math", "T2", "1.0", "0.0", "42.0"),  # 10.5 / 10 against 0.5 / 20
    ]
    assert {row["measure"] for row in ran.rows} == {"occurrences"}


@pytest.mark.parametrize(
    ("measure", "rate"),
    [pytest.param("occurrences", "1.5", id="all"), pytest.param("outputs", "0.5", id="once")],
)
def test_the_measure_counts_occurrences_or_outputs(measure: str, rate: str) -> None:
    write_texts(Path("more"), {"cot": ["step by step, " * 3, "x"], "pot": ["step by step", "y"]})
    ran = invoke("tiers", "more", "small.yaml", "--measure", measure, "--format", "csv")
    row = ran.rows[0]
    assert (ran.code, row["pattern"], row["measure"]) == (0, "step by step", measure)
    assert (row["rate_own"], row["rate_others"]) == (rate, "0.5")


@pytest.mark.parametrize(
    ("selected", "patterns"),
    [
        pytest.param(("--tier", "T2"), ["import math"], id="a tier"),
        pytest.param(("--method", "CoT"), ["step by step"], id="a method"),
    ],
)
def test_patterns_are_selected(selected: tuple[str, ...], patterns: list[str]) -> None:
    ran = invoke("tiers", "outputs", "small.yaml", *selected, "--format", "csv")
    assert (ran.code, [row["pattern"] for row in ran.rows]) == (0, patterns)


def test_case_matters_if_that_is_asked_for() -> None:
    write_texts(Path("more"), {"cot": ["Step by step"], "pot": ["x"]})
    found = [
        invoke("tiers", "more", "small.yaml", *options, "--format", "csv").rows[0]
        for options in ((), ("--case-sensitive",))
    ]
    assert [row["occurrences_own"] for row in found] == ["1", "0"]


def test_the_table_has_each_pattern_with_both_tiers() -> None:
    ran = invoke("tiers", "outputs", "small.yaml")
    assert (ran.code, ran.stderr) == (0, "")
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert ["CoT", "step", "by", "step", "T1", "T1?", "yes", "0.55", "0"] in [
        line[:9] for line in lines
    ]
    assert ["PoT", "import", "math", "T2", "T1?", "no", "1", "0"] in [line[:8] for line in lines]


def test_a_measure_that_is_none_is_refused() -> None:
    ran = invoke("tiers", "outputs", "--measure", "words")
    assert (ran.code, ran.stdout) == (2, "")
    assert "'words' is not one of occurrences, outputs" in ran.stderr


def test_a_name_of_neither_outputs_nor_a_set_is_refused() -> None:
    said = refusal("tiers", "outputs", "nothing")
    assert said == "nothing: no such outputs, and no pattern set; shipped: f1, verify"
