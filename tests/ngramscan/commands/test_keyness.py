"""`ngramscan keyness` as a person runs it: lengths, limits, and what is refused."""

from pathlib import Path

import pytest

from ngramscan.patterns.files import load_patterns
from tests.support.command import invoke
from tests.support.method_outputs import write_method_outputs
from tests.support.outputs import refusal, write_texts

SIDES = ("--of", "PoT", "--against", "CoT")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the outputs of three prompts."""
    monkeypatch.chdir(tmp_path)
    write_method_outputs(tmp_path)
    return tmp_path


def ngrams(*options: str) -> list[str]:
    """Return the n-grams of PoT, in the order of the rows."""
    ran = invoke("keyness", "outputs", *SIDES, *options, "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    return [row["ngram"] for row in ran.rows]


def test_what_all_outputs_of_one_side_have_is_one_row() -> None:
    ran = invoke("keyness", "outputs", *SIDES, "--n", "1-2", "--format", "csv")
    rows = {row["ngram"]: row for row in ran.rows}
    row = rows["import math"]
    assert (row["n"], row["count"], row["other_count"]) == ("2", "10", "0")
    assert (row["documents"], row["document_share"]) == ("10", "1.0")


@pytest.mark.parametrize(
    ("given", "lengths"),
    [
        pytest.param("2", {2}, id="a length"),
        pytest.param("2-3", {2, 3}, id="a range"),
        pytest.param("6", {6}, id="the longest"),
    ],
)
def test_ngrams_have_the_lengths_that_are_asked_for(given: str, lengths: set[int]) -> None:
    ran = invoke("keyness", "outputs", *SIDES, "--n", given, "--all", "--format", "csv")
    assert (ran.code, {int(row["n"]) for row in ran.rows}) == (0, lengths)


@pytest.mark.parametrize(
    ("given", "unit", "largest"),
    [
        pytest.param("0", "word", 6, id="none"),
        pytest.param("7", "word", 6, id="too many words"),
        pytest.param("3-2", "word", 6, id="a range that ends before it begins"),
        pytest.param("2-7", "word", 6, id="a range to too many words"),
        pytest.param("a", "word", 6, id="a letter"),
        pytest.param("13", "character", 12, id="too many characters"),
    ],
)
def test_lengths_that_are_none_are_refused(given: str, unit: str, largest: int) -> None:
    said = refusal("keyness", "outputs", *SIDES, "--n", given, "--unit", unit)
    expected = f"expected a length or a range such as 1-{largest}, in {unit}s, up to {largest}"
    assert said == f"--n {given}: {expected}"


def test_rare_ngrams_are_left_out_unless_asked_for() -> None:
    write_texts(Path("outputs"), {"pot": ["import math"] * 9, "cot": ["x"] * 9})
    assert ngrams("--n", "2") == []
    assert ngrams("--n", "2", "--min-count", "9") == ["import math"]
    assert ngrams("--n", "2", "--min-count", "10", "--min-documents", "1") == []
    texts = {"pot": ["import math " * 5] * 4 + ["y"] * 2, "cot": ["x"] * 6}
    write_texts(Path("outputs"), texts)
    assert ngrams("--n", "2", "--q", "1") == []
    assert "import math" in ngrams("--n", "2", "--q", "1", "--min-documents", "4")


def test_the_first_ngrams_are_shown_and_exported() -> None:
    both = ngrams("--n", "1", "--all")
    assert len(both) > 1
    top = ("--n", "1", "--all", "--top", "1", "--export", "found.yaml")
    assert ngrams(*top) == both[:1]
    assert {(pattern.method, pattern.tier) for pattern in load_patterns("found.yaml").patterns} == {
        ("PoT", "T3")
    }


@pytest.mark.parametrize("other", ["pot", "POT"])
def test_a_method_is_not_compared_with_itself(other: str) -> None:
    said = refusal("keyness", "outputs", "--of", "PoT", "--against", other)
    assert said == f"--against {other}: the same method as --of"


def test_a_file_that_can_not_be_written_is_refused_before_the_work() -> None:
    said = refusal("keyness", "outputs", *SIDES, "--export", "no/folder/found.yaml")
    assert said.startswith("no/folder/found.yaml: ")
