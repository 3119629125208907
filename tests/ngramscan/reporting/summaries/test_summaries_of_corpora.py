"""The first screens of `contaminate` and `trace` where there are several corpora."""

import json
from pathlib import Path
from typing import Any

import pytest

from ngramscan.reporting.rows import record_of
from ngramscan.reporting.summaries.contamination import summarize_entries, summarize_shares
from ngramscan.reporting.summaries.traces import summarize_curve
from tests.support.command import invoke
from tests.support.contaminated_entries import judged_entry
from tests.support.places import ROOT

EXAMPLES = ROOT / "outputs/example-formulas"
QUESTION = "On day {0} Ada{0} had {0} pears, Emil{0} gave {0} figs to Noor{0} and {0} to Tom{0}."
RULE = "mini: 50 characters from each word on; tail drop, short whole, stripped"


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write eight corpora, each of which has fewer of the questions; return their options."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    questions = [QUESTION.format(day) for day in range(10, 26)]
    lines = [json.dumps({"id": str(n), "question": text}) for n, text in enumerate(questions)]
    Path("questions.jsonl").write_text("\n".join(lines))
    options = []
    for place in range(8):
        texts = [*questions[: 2 * (8 - place)], "Therefore, the answer is five hundred dollars."]
        name = f"v2_cc-2025-{place + 10}.jsonl"
        Path(name).write_text("\n".join(json.dumps({"text": text}) for text in texts))
        options += ["--index", f"scan:{name}"]
    return options


def test_classes_of_eight_corpora_and_the_questions_in_most_of_them(corpora: list[str]) -> None:
    lines = invoke(
        "contaminate", "questions.jsonl", "--rule", "mini", *corpora, "--quiet"
    ).stdout.splitlines()
    assert len(lines) <= 40
    assert lines[0] == "names are short for scan:v2_cc-2025-….jsonl"
    assert lines[1] == "Classes of questions by mini, %"
    assert lines[4].split()[0] == "10"
    assert lines[12].split()[:3] == ["any", "of", "them"]
    place = lines.index("Questions that are dirty in most corpora")
    assert lines[place + 3].split()[:4] == ["0", "8", "of", "8"]
    assert lines[-1].startswith("--all: ")


def test_scores_on_what_any_corpus_has_are_said_in_a_sentence(corpora: list[str]) -> None:
    scores = [
        {
            "dataset": "d",
            "model": "m",
            "method": "cot",
            "id": str(n),
            "rule": "strict",
            "value": float(n % 2),
            "status": "scored",
        }
        for n in range(16)
    ]
    Path("scores.jsonl").write_text("\n".join(map(json.dumps, scores)))
    few = corpora[4:8]
    command = [
        "contaminate",
        "questions.jsonl",
        "--rule",
        "mini",
        *few,
        "--scores",
        "scores.jsonl",
        "--quiet",
    ]
    said = " ".join(invoke(*command).stdout.split())
    assert "No difference is shown between dirty questions and clean ones in scores" in said
    assert "in any of the corpora" in said
    assert "Accuracy by class" not in said
    assert "Accuracy by class, %" in invoke(*command, "--all").stdout


def test_all_has_the_questions_of_each_corpus(corpora: list[str]) -> None:
    shown = invoke(
        "contaminate", "questions.jsonl", "--rule", "mini", *corpora, "--quiet", "--all"
    ).stdout
    assert "Entries with the largest shares of windows found" in shown
    assert f"rule {RULE}" in shown


def test_a_single_corpus_has_its_tables_at_once(corpora: list[str]) -> None:
    command = ["contaminate", "questions.jsonl", "--rule", "mini", *corpora[:2], "--quiet"]
    assert "Entries with the largest shares" in invoke(*command).stdout
    assert invoke(*command).stdout == invoke(*command, "--all").stdout


def test_coverage_by_prompt_and_corpus_then_the_differences_of_prompts(corpora: list[str]) -> None:
    lines = invoke("trace", EXAMPLES, *corpora[:6], "--quiet").stdout.splitlines()
    assert len(lines) <= 40
    assert lines[0] == "names are short for scan:v2_cc-2025-….jsonl"
    assert lines[1].startswith("Words in spans of at least 5 that a corpus has, % of an output")
    assert next(line for line in lines if line.startswith("  prompt")).split()[-1] == "any"
    said = " ".join(lines)
    assert "No difference is shown in any of 10 comparisons" in said
    assert "Differences of coverage" not in said
    shown = invoke("trace", EXAMPLES, *corpora[:6], "--quiet", "--all").stdout
    assert "Differences of coverage on the same problems" in shown


SHARE: dict[str, Any] = {
    "index": "i",
    "rule": RULE,
    "verdict": "dirty",
    "entries": 50,
    "share": 0.5,
    "share_low": 0.4,
    "share_high": 0.6,
}


def test_a_share_that_is_not_known_is_its_interval() -> None:
    unknown = SHARE | {"verdict": "clean", "share": None, "share_low": None, "share_high": None}
    rows = [SHARE, unknown, SHARE | {"index": "j", "share": None}, SHARE | {"verdict": "curve"}]
    (table,) = summarize_shares(rows, 1)
    assert table.columns == {
        "corpus": ["i", "j"],
        "questions": ["50", "50"],
        "dirty": ["50 [40, 60]", "[40, 60]"],
        "clean": ["–", "–"],
    }


def test_questions_that_occur_nowhere_are_in_no_table() -> None:
    row = {"index": "i", "id": "1", "windows": 9, "found": 0, "longest_run": 0, "verdict": "clean"}
    assert summarize_entries([row], 5) == []
    found = row | {"found": 3, "longest_run": 60}
    (table,) = summarize_entries([found, found | {"id": "2", "index": "union"}], 5)
    assert table.columns["dirty in"] == ["0 of 1"]
    (table,) = summarize_entries([found, found | {"id": "2"}], 1)
    assert table.note == "1 more question has windows that occur"


def test_questions_that_were_copied_in_most_corpora_come_first() -> None:
    both = [
        judged_entry("both", "copied", index=name, score=0.5, covered=0.8) for name in ("a", "b")
    ]
    rows = [
        judged_entry("variant", "variant", score=1.0, covered=1.0),
        judged_entry("common", "shared"),
        judged_entry("clean", "clean", score=0.1, covered=0.3),
        judged_entry("once", "shared", score=0.2, covered=0.3),
        judged_entry("once", "copied", index="b", score=0.9, covered=0.7),
        *both,
        judged_entry("elsewhere", "copied", index="union", score=1.0, covered=1.0),
    ]
    records = [record_of(row) for row in rows]
    (table,) = summarize_entries(records, 5)
    assert table.columns == {
        "id": ["both", "once", "variant"],
        "copied in": ["2 of 2", "1 of 2", "0 of 2"],
        "score, %": ["50.0", "90.0", "100.0"],
        "covered, %": ["80.0", "70.0", "100.0"],
    }
    assert (table.layout.title, table.note) == ("Questions that were copied in most corpora", "")
    (table,) = summarize_entries(records, 1)
    assert table.note == "2 more questions have text in a document"
    (table,) = summarize_entries(records, 2)
    assert table.note == "1 more question has text in a document"
    assert summarize_entries(records[1:3], 5) == []


def test_a_corpus_without_a_prompt_has_a_dash() -> None:
    row = {
        "index": "i",
        "dataset": "d",
        "model": "m",
        "prompt": "cot",
        "kind": "all",
        "length": 5,
        "outputs": 12,
        "coverage": 0.031,
        "coverage_low": 0.024,
        "coverage_high": 0.044,
    }
    rows = [row, row | {"index": "j", "prompt": "pot"}, row | {"length": 3, "coverage": 0.5}]
    (table,) = summarize_curve(rows, 9)
    assert table.columns["i"] == ["3.1 [2.4, 4.4]", "–"]
    (table,) = summarize_curve(rows, 9, 3)
    assert table.columns["i"] == ["50 [2.4, 4.4]"]
    assert summarize_curve([row | {"coverage": None}], 9) == []
