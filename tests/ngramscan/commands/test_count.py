"""`ngramscan count` as a person runs it: rows, files, notices, plans, and what is refused."""

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.support.command import invoke
from tests.support.outputs import refusal

SET = """\
name: mine
source: a paper
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: import math, method: PoT, tier: T1, kind: code}
"""
DOCUMENTS = ["step by step by step", "import math\nimport math", "Step by step; import math", "x"]
SCAN = ("--index", "scan:corpus.jsonl", "--workers", "1")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a corpus and a pattern set."""
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"text": text}) + "\n" for text in DOCUMENTS]
    (tmp_path / "corpus.jsonl").write_text("".join(lines))
    (tmp_path / "mine.yaml").write_text(SET)
    return tmp_path


def test_rows_have_occurrences_and_documents_of_each_pattern() -> None:
    ran = invoke("count", "mine.yaml", "-e", "absent", *SCAN, "--format", "csv")
    assert ran.code == 0
    assert [
        (row["pattern"], row["method"], row["tier"], row["occurrences"], row["documents"])
        for row in ran.rows
    ] == [
        ("step by step", "CoT", "T1", "2", "1"),
        ("import math", "PoT", "T1", "3", "2"),
        ("absent", "", "", "0", "0"),
    ]


def test_variants_have_rows_of_their_own() -> None:
    ran = invoke("count", "mine.yaml", "--case-variants", *SCAN, "--format", "csv")
    found = {row["query"]: row["occurrences"] for row in ran.rows}
    assert found == {"step by step": "2", "Step by step": "1", "import math": "3"}


def test_totals_are_written_to_a_file_of_their_own() -> None:
    ran = invoke("count", "mine.yaml", *SCAN, "--totals", "totals.csv", "--format", "csv")
    assert ran.code == 0
    totals = pd.read_csv("totals.csv")
    sums = totals[totals["statistic"] == "sum_of_pattern_counts"].set_index(["method", "tiers"])
    assert sums["value"].to_dict() == {("CoT", "T1"): 2, ("PoT", "T1"): 3}


def test_what_the_journal_has_is_said() -> None:
    given = ("count", "mine.yaml", *SCAN, "--journal", "kept.sqlite", "--format", "csv")
    first, again = invoke(*given), invoke(*given)
    said = "using cached results for 1 of 1 parts (--refresh to read again)\n"
    assert said not in first.stderr
    assert said in again.stderr
    assert [row["occurrences"] for row in again.rows] == ["2", "3"]
    anew = invoke(*given, "--refresh")
    assert (anew.code, said in anew.stderr) == (0, False)


def test_a_plan_counts_nothing() -> None:
    ran = invoke("count", "mine.yaml", *SCAN, "--dry-run", "--format", "csv")
    (row,) = ran.rows
    assert (ran.code, row["index"], row["patterns"]) == (0, "scan:corpus.jsonl", "2")
    assert int(row["bytes"]) == Path("corpus.jsonl").stat().st_size


def test_another_form_of_the_same_characters_is_said() -> None:
    texts = [{"text": "cafe\u0301 cafe\u0301"}, {"text": "caf\u00e9"}]
    Path("forms.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    ran = invoke("count", "-e", "caf\u00e9", "--index", "scan:forms.jsonl", "--format", "csv")
    assert [row["occurrences"] for row in ran.rows] == ["1"]
    said = '"caf\u00e9" occurs 2 times more in scan:forms.jsonl in Unicode\'s form NFD'
    assert f"{said}, which is not counted (as given: 1 time)" in ran.stderr


def test_of_many_other_forms_some_are_said_and_all_counted() -> None:
    words = [f"\u00e9{letter}" for letter in "abcdefghijkl"]
    text = " ".join(word.replace("\u00e9", "e\u0301") for word in words)
    Path("forms.jsonl").write_text(json.dumps({"text": text}) + "\n")
    Path("words.txt").write_text("\n".join(words))
    ran = invoke("count", "-f", "words.txt", "--index", "scan:forms.jsonl", "--format", "csv")
    said = [line for line in ran.stderr.splitlines() if "in Unicode's form NFD" in line]
    assert 0 < len(said) < 12
    assert f"and {12 - len(said)} more queries occur in another form" in ran.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            ("--case-variants", "--ignore-case"),
            "--case-variants: not allowed with --ignore-case: each spelling would count all",
            id="variants without case",
        ),
        pytest.param(
            ("--count-anyway",),
            "--count-anyway: only token-level indexes (infini-gram:, tokens:) refuse patterns",
            id="anyway where nothing is refused",
        ),
        pytest.param(
            ("--figure", "f.txt"), "f.txt: a figure's name ends in", id="a figure of no format"
        ),
        pytest.param(("-o", "rows.txt"), "-o rows.txt: no file format", id="rows of no format"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: tuple[str, ...], said: str) -> None:
    assert refusal("count", "mine.yaml", *SCAN, *options).startswith(said)
