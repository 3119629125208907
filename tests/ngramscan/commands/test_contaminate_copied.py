"""`ngramscan contaminate` with the rule `copied`: verdicts, documents, answers, notes, refusals."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ngramscan.matching.placed_words import placed_words
from tests.support.command import invoke
from tests.support.outputs import refusal

GARDENER = (
    "A gardener plants 19 rows of tulips with 24 bulbs in every row and then gives away 70 bulbs"
    " to a neighbour who lost hers to frost. How many bulbs are left in the shed?"
)
BAKER = (
    "The baker on the hill sells 31 loaves before noon and twice as many after it, though 7 of"
    " them come back from the inn because they are burnt. How many loaves were eaten?"
)
TRUTH_TABLE = (
    "Construct a complete truth table for the following argument and use it to decide whether the"
    " argument is valid or invalid."
)
SAILOR = (
    "A sailor counts 12 gulls on the mast and 30 on the rail while the cook counts the fish in the"
    " barrel below deck. How many birds does the sailor see?"
)
QUESTIONS = [
    {"id": "gardener", "question": GARDENER, "answer": "386"},
    {"id": "baker", "question": BAKER, "answer": "86"},
    {
        "id": "table",
        "question": f"{TRUTH_TABLE} If P then Q, and not R, therefore S.",
        "answer": "no",
    },
    {"id": "sailor", "question": SAILOR, "answer": "42"},
]
EDITED = GARDENER.replace("in every row", "in each row").replace("who lost", "who  sadly lost")
PAGES = [
    {"text": f"Old exam. {EDITED.upper()} Answer: 386.", "url": "https://a.org/exam"},
    {"text": BAKER.replace("31", "45").replace("7 of", "9 of"), "url": "https://b.org/"},
    *({"text": f"Exercise {number}. {TRUTH_TABLE} Number {number}."} for number in range(40)),
    *({"text": f"Page {number} is about the weather in the valley."} for number in range(20)),
]


def write_lines(path: str, rows: Sequence[dict[str, Any]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_table(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A benchmark of four questions and a corpus that has one of them, edited."""
    monkeypatch.chdir(tmp_path)
    write_lines("q.jsonl", QUESTIONS)
    write_lines("corpus.jsonl", PAGES)
    return tmp_path


def rows_of(*more: str, index: str = "scan:corpus.jsonl") -> dict[str, dict[str, Any]]:
    done = invoke("contaminate", "q.jsonl", "--index", index, "-q", "--format", "jsonl", *more)
    assert done.code == 0, done.stderr
    return {
        row["id"]: row for row in map(json.loads, done.stdout.splitlines()) if row["index"] == index
    }


@pytest.mark.usefixtures("here")
def test_verdicts_name_the_document_and_its_source() -> None:
    rows = rows_of()
    verdicts = {id_: row["verdict"] for id_, row in rows.items()}
    assert verdicts == {
        "gardener": "copied",
        "baker": "variant",
        "table": "shared",
        "sailor": "clean",
    }
    assert rows["gardener"]["document"] == "corpus.jsonl:1"
    assert rows["gardener"]["source"] == "https://a.org/exam"
    assert rows["baker"]["changed"] == "31 → 45, 7 → 9"
    assert rows["gardener"]["changed"] is None
    assert rows["sailor"]["document"] is None
    assert "copied: 4 words" in rows["sailor"]["rule"]
    assert 0.25 < rows["gardener"]["score"] < 1
    assert rows["table"]["score"] < 0.25


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["url", "source_url", "id", "source"])
def test_a_text_may_have_the_name_of_a_source(name: str) -> None:
    write_lines("corpus.jsonl", [{name: page["text"]} for page in PAGES])
    rows = rows_of("--text-field", name)
    assert rows["gardener"]["verdict"] == "copied"
    assert rows["gardener"]["document"] == "corpus.jsonl:1"


@pytest.mark.usefixtures("here")
def test_answers_are_near_the_copy_or_not() -> None:
    rows = rows_of("--answer-field", "answer", "--shares", "s.csv")
    answers = {id_: row["answer"] for id_, row in rows.items()}
    assert answers == {
        "gardener": "near",
        "baker": "not near",
        "table": "not near",
        "sailor": None,
    }
    shares = {row["verdict"]: row for row in read_table("s.csv")}
    assert shares["copied, answer near"]["n"] == "1"
    assert shares["copied, answer not near"]["n"] == "0"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("rule", ["gpt3", "palm", "gpt4-stripped", "ngram-6", "mini", "gpt4"])
def test_answers_go_with_every_rule(rule: str) -> None:
    write_lines("corpus.jsonl", [{"text": f"Exam. {GARDENER} It is 386."}, *PAGES[2:]])
    rows = rows_of("--answer-field", "answer", "--rule", rule)
    assert rows["gardener"]["verdict"] == "dirty"
    assert rows["gardener"]["answer"] == "near"
    assert rows["sailor"]["answer"] is None


@pytest.mark.usefixtures("here")
def test_published_rules_say_what_is_shared() -> None:
    rows = rows_of("--rule", "gpt3")
    assert rows["table"]["verdict"] == "dirty"
    assert rows["table"]["note"] == "shared: no document has most of it (rule copied)"
    assert rows["sailor"]["note"] == ""
    write_lines("corpus.jsonl", [{"text": GARDENER}, *PAGES[2:]])
    rows = rows_of("--rule", "gpt3")
    assert rows["gardener"]["verdict"] == "dirty"
    assert rows["gardener"]["note"] == ""


@pytest.mark.usefixtures("here")
def test_a_pipe_is_not_read_twice_to_tell_copies_from_common_text() -> None:
    done = invoke(
        *("contaminate", "q.jsonl", "--index", "scan:-", "--rule", "gpt3", "--format", "csv"),
        content=Path("corpus.jsonl").read_bytes(),
    )
    assert done.code == 0
    assert "what is shared, not copied, is not told apart" in done.stderr
    rows = {row["id"]: row for row in csv.DictReader(done.stdout.splitlines())}
    assert rows["table"]["verdict"] == "dirty"
    assert rows["table"]["note"] == ""


def covered(places: str, text: str) -> list[str]:
    ranges = [tuple(map(int, each.split("-"))) for each in places.split()]
    return [word for start, stop in ranges for word in placed_words(text[start:stop]).words]


@pytest.mark.usefixtures("here")
def test_evidence_has_the_entry_and_the_document_side_by_side() -> None:
    rows_of("--evidence", "e.csv")
    evidence = {row["id"]: row for row in read_table("e.csv")}
    assert [*evidence] == ["gardener", "baker", "table"]
    row = evidence["gardener"]
    assert row["text"] == GARDENER
    assert row["passage"] == PAGES[0]["text"]
    shared = covered(row["shared_in_text"], row["text"])
    assert covered(row["shared_in_passage"], row["passage"]) == shared
    assert "each" not in shared
    assert {"gardener", "tulips", "shed"} <= {*shared}
    assert covered(row["rare_in_text"], row["text"]) == shared
    table = evidence["table"]
    assert covered(table["rare_in_text"], table["text"]) == []
    assert covered(table["shared_in_text"], table["text"]) == list(placed_words(TRUTH_TABLE).words)


@pytest.mark.usefixtures("here")
def test_an_entry_in_any_of_several_corpora_has_the_worst_verdict() -> None:
    write_lines("other.jsonl", PAGES[1:])
    indexes = ("--index", "scan:other.jsonl", "--index", "scan:corpus.jsonl")
    done = invoke("contaminate", "q.jsonl", *indexes, "-q", "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    union = {row["id"]: row["verdict"] for row in rows if row["index"] == "union"}
    assert union == {
        "gardener": "copied",
        "baker": "variant",
        "table": "shared",
        "sailor": "clean",
    }
    other = {row["id"]: row["verdict"] for row in rows if row["index"] == "scan:other.jsonl"}
    assert other["gardener"] == "clean"


@pytest.mark.usefixtures("here")
def test_a_sample_of_files_leaves_unknown_what_it_has_not() -> None:
    Path("parts").mkdir()
    for number, page in enumerate(PAGES[:4]):
        write_lines(f"parts/{number}.jsonl", [page])
    rows = rows_of("--sample-files", "2", "--seed", "1", index="scan:parts")
    assert {row["verdict"] for row in rows.values()} <= {"copied", "variant", None}
    assert rows["sailor"]["verdict"] is None


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        pytest.param(
            ["--contexts", "c.csv"],
            "--contexts: requires another rule than copied; --evidence c.csv shows the documents",
            id="contexts",
        ),
        pytest.param(
            ["--stop-when-decided"],
            "--stop-when-decided: rule copied weighs all windows; choose another rule",
            id="rounds",
        ),
        pytest.param(["--tail", "cut"], "--tail cut: rule copied leaves out", id="tail"),
        pytest.param(["--short", "skip"], "--short skip: rule copied has", id="short"),
        pytest.param(["--window-unit", "bytes"], "--window-unit bytes: windows", id="unit"),
        pytest.param(["--no-strip"], "--no-strip: rule copied searches words", id="white space"),
        pytest.param(["--window", "0"], "--window", id="no window"),
    ],
)
@pytest.mark.usefixtures("here")
def test_options_of_other_rules_are_refused_in_a_line(more: list[str], problem: str) -> None:
    told = refusal("contaminate", "q.jsonl", "--index", "scan:corpus.jsonl", "-q", *more)
    assert told.startswith(problem)


@pytest.mark.usefixtures("here")
def test_a_service_that_is_not_there_leaves_every_verdict_unknown() -> None:
    address = "http://127.0.0.1:9/nothing"
    done = invoke("contaminate", "q.jsonl", "--index", address, "-q", "--format", "csv")
    assert done.code == 1
    assert "windows missing" in done.stderr
    assert {(row["verdict"], row["asked"]) for row in done.rows} == {("", "0")}
