"""`ngramscan trace` as a person runs it: rows, files, messages and exit codes."""

import json
import unicodedata
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ngramscan
from ngramscan.errors import IncompleteError
from ngramscan.indexes.http.identity import PROBES
from tests.support.command import invoke
from tests.support.killed import repeated_after_kills
from tests.support.outputs import refusal
from tests.support.service import ApiServer
from tests.support.text_index import Counting
from tests.support.traced_texts import COPIED, OTHER
from tests.support.word_spans import words_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in (COPIED, OTHER))
    )
    for prompt, outputs in {
        "cot": [f"Well, {COPIED[4:60]}!", "x y z u v w"],
        "pot": ["print(1) # twice", f"So {OTHER[:50]} {COPIED[:40]}"],
    }.items():
        folder = tmp_path / "outputs" / "exam" / "gpt"
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"id": f"q{n}", "output": text}) for n, text in enumerate(outputs)]
        (folder / f"{prompt}.jsonl").write_text("\n".join(lines))
    return tmp_path


SCAN = ("--index", "scan:corpus.jsonl", "--workers", "1")


def test_rows_and_files_of_the_command(here: Path, subtests: pytest.Subtests) -> None:
    files = ("--spans", "spans.csv", "--curve", "curve.csv", "--differences", "differences.csv")
    ran = invoke("trace", "outputs", *SCAN, *files, "--format", "csv")
    assert ran.code == 0, ran.stderr
    by_output = {(row["prompt"], row["id"]): row for row in ran.rows}
    assert {key: row["longest"] for key, row in by_output.items()} == {
        ("cot", "q0"): str(len(words_of(COPIED[4:60]))),
        ("cot", "q1"): "0",
        ("pot", "q0"): "0",
        ("pot", "q1"): str(len(words_of(OTHER[:50]))),
    }
    spans = pd.read_csv("spans.csv")
    for span in spans.to_dict("records"):
        with subtests.test(prompt=span["prompt"], id=span["id"]):
            lines = (here / "outputs/exam/gpt" / f"{span['prompt']}.jsonl").read_text().split("\n")
            output = json.loads(lines[int(span["id"][1:])])["output"]
            assert output[span["start"] : span["end"]] == span["text"]
            document = [COPIED, OTHER][int(span["document"].rpartition(":")[2]) - 1]
            assert (span["text"] in document, span["occurrences"], span["documents"]) == (
                True,
                1,
                1,
            )
    assert len(spans) == 3
    assert {row["measure"] for row in pd.read_csv("differences.csv").to_dict("records")} == {
        *("coverage", "novelty", "creativity_index")
    }
    assert "no word was masked" in ran.stderr


def test_the_table_of_a_person(here: Path) -> None:
    ran = invoke("trace", "outputs", *SCAN)
    assert ran.code == 0
    assert "Copied verbatim from the corpus, 5 words or more, %" in ran.stdout
    assert "pot - cot" in ran.stdout


def test_questions_of_a_file_are_masked(here: Path) -> None:
    questions = [{"question_id": "q0", "question": COPIED}, {"id": "q1", "prompt": "new"}]
    (here / "questions.json").write_text(json.dumps(questions))
    rows = invoke("trace", "outputs", *SCAN, "--mask", "questions.json", "--format", "csv").rows
    masked = [(row["prompt"], row["id"], int(row["masked"])) for row in rows]
    copied = len(words_of(COPIED[4:60]))
    assert masked == [("cot", "q0", copied), ("cot", "q1", 0), ("pot", "q0", 0), ("pot", "q1", 0)]


def test_records_have_their_questions(here: Path) -> None:
    record = {"id": "1", "output": COPIED, "question": [COPIED[:32], COPIED[32:]], "prompt": None}
    (here / "a.jsonl").write_text(json.dumps(record))
    (row,) = invoke("trace", "a.jsonl", *SCAN, "--format", "csv").rows
    assert int(row["masked"]) == 16  # the cut is within a word
    (row,) = invoke("trace", "a.jsonl", *SCAN, "--no-mask", "--format", "csv").rows
    assert (row["masked"], row["coverage"]) == ("0", "1.0")


def test_plain_texts_are_shown_with_their_spans(here: Path) -> None:
    (here / "essay.txt").write_text(f"Once \x1b[31m {COPIED[4:39]} it ended.\n")
    ran = invoke("trace", "essay.txt", "--plain", *SCAN, "-q")
    shown = COPIED[4:39]
    assert f"⟦{shown}⟧ it ended." in ran.stdout.replace("\n", " ")
    assert "\x1b[31m" not in ran.stdout
    assert "1 span, " in ran.stdout


def test_controls_are_traced_beside_the_outputs(here: Path) -> None:
    solutions = [{"id": "q0", "solution": OTHER}, {"id": "q9", "solution": "no output"}]
    (here / "solutions.json").write_text(json.dumps(solutions))
    rows = invoke("trace", "outputs", *SCAN, "--control", "solutions.json", "--format", "csv").rows
    (control,) = [row for row in rows if row["prompt"] == "control"]
    assert (control["model"], control["id"], control["coverage"]) == ("", "q0", "1.0")


def test_kinds_are_rows_of_their_own(here: Path) -> None:
    (here / "solutions.json").write_text(json.dumps([{"id": "q1", "solution": "$x + y$ z"}]))
    control = ("--control", "solutions.json", "--kinds")
    rows = invoke("trace", "outputs", *SCAN, *control, "--format", "csv").rows
    assert [row["kind"] for row in rows if row["prompt"] == "control"] == [
        *("all", "narrative", "latex")
    ]
    table = invoke("trace", "outputs", *SCAN, "--kinds").stdout
    assert "narrative" in table


def test_a_sample_is_drawn_by_the_seed(here: Path) -> None:
    rows = invoke("trace", "outputs", *SCAN, "--sample", "2", "--format", "csv").rows
    again = invoke("trace", "outputs", *SCAN, "--sample", "2", "--format", "csv").rows
    other = invoke("trace", "outputs", *SCAN, "--sample", "9", "--format", "csv").rows
    assert (len(rows), rows, len(other)) == (2, again, 4)


def test_what_it_takes_is_said_before(here: Path) -> None:
    with ApiServer({"x": here / "corpus.jsonl"}) as api:
        common = ("trace", "outputs", "--index", f"{api.url}x", "--journal", "replies.sqlite")
        (row,) = invoke(*common, "--dry-run", "--format", "csv").rows
        assert api.read_log() == []
        ran = invoke(*common, "--format", "csv")
        asked = len(api.read_log())
    assert (row["patterns"], ran.code) == ("4", 0)
    assert int(row["requests"]) <= asked <= int(row["requests"]) + 3 * 14
    assert int(row["requests_at_most"]) == 15 * int(row["requests"])
    again = invoke(*common, "--format", "csv")  # the service is gone: all is in the journal
    assert (again.code, again.rows) == (0, ran.rows)


@pytest.mark.integration
def test_a_killed_trace_goes_on_where_it_was(here: Path) -> None:
    texts = [f"x y {COPIED[4:70]} z", f"So {OTHER} {COPIED}", "a b c d e f g h " * 3 + OTHER[9:60]]
    lines = [json.dumps({"id": number, "output": text}) for number, text in enumerate(texts)]
    (here / "o.jsonl").write_text("\n".join(lines))
    with ApiServer({"x": here / "corpus.jsonl"}, delay=0.05) as api:
        # In the first windows, and in the questions about longer parts. Each run also asks whether
        # the host has another index by now.
        assert repeated_after_kills(api, f"{api.url}x", at=[6, 15]) <= 2 * (4 + len(PROBES))
        kept = len(api.read_log())
        assert repeated_after_kills(api, f"{api.url}x", at=[]) <= 2 * 4 + 3 * len(PROBES)
        assert len(api.read_log()) == kept + len(PROBES)


@pytest.mark.usefixtures("here")
def test_outputs_that_could_not_be_traced_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # A service would be asked again and again for half a minute.
    index = Counting([COPIED, OTHER], lost=["x y z"])
    opened = nullcontext([index])
    monkeypatch.setattr("ngramscan.commands.trace.open_indexes", lambda *_: opened)
    ran = invoke("trace", "outputs", "--format", "csv")
    assert (ran.code, [row["id"] for row in ran.rows]) == (1, ["q0", "q0", "q1"])
    assert "engine crashed; 1 text missing (x)" in ran.stderr
    with pytest.raises(IncompleteError) as raised:
        ngramscan.trace("outputs")
    assert [*raised.value.rows["id"]] == ["q0", "q0", "q1"]


@pytest.mark.usefixtures("here")
def test_a_span_whose_document_can_not_be_shown_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Counting([COPIED, OTHER], unseen=[COPIED[4:39]])
    Path("a.jsonl").write_text(json.dumps({"id": 1, "output": f"x {COPIED[4:39]} y {OTHER[:30]}"}))
    monkeypatch.setattr("ngramscan.commands.trace.open_indexes", lambda *_: nullcontext([index]))
    ran = invoke("trace", "a.jsonl", "--spans", "spans.csv", "--format", "csv")
    assert (ran.code, len(ran.rows)) == (1, 1)
    assert "no window; 1 text missing (x)" in ran.stderr
    spans = pd.read_csv("spans.csv").sort_values("start")
    assert [*spans["document"].isna()] == [True, False]
    assert [*spans["occurrences"]] == [1, 1]


def test_empty_outputs_are_said_and_have_no_table(here: Path) -> None:
    (here / "empty.jsonl").write_text('{"id": 1, "output": ""}\n')
    ran = invoke("trace", "empty.jsonl", *SCAN)
    assert (ran.code, ran.stdout) == (0, "")
    assert "of 1 outputs 0 are missing and 1 empty" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["outputs", "--index-from", "8", "--index-to", "7"],
            "--index-to is smaller: 7",
            id="a range backwards",
        ),
        pytest.param(
            ["outputs", "--no-mask", "--mask", "a.json"],
            "--no-mask: not allowed with --mask",
            id="a mask and none",
        ),
        pytest.param(["outputs", "--mask", "nothing.json"], "nothing.json", id="no such mask"),
        pytest.param(
            ["outputs", "--mask", "noid.json"],
            "noid.json[1]: no id; it has: a",
            id="a mask without ids",
        ),
        pytest.param(
            ["outputs", "--mask", "noquestion.json"],
            "no question; it has: id",
            id="a mask without questions",
        ),
        pytest.param(
            ["outputs", "--control", "noquestion.json"],
            "no column solution; it has: id",
            id="controls without solutions",
        ),
        pytest.param(
            ["outputs", "--control", "noid.json", "--control-field", "a"],
            "a is not text; correct the row",
            id="controls that are no text",
        ),
        pytest.param(
            ["outputs", "--control", "nameless.json"],
            "nameless.json[1]: no id; it has: solution",
            id="controls without ids",
        ),
        pytest.param(
            ["outputs", "--control", "others.json"],
            "no solution has the id of a traced output",
            id="controls of other outputs",
        ),
        pytest.param(
            ["latin.txt", "--plain"], "latin.txt: not UTF-8 at byte 1 of the file", id="not UTF-8"
        ),
        pytest.param(["empty.txt", "--plain"], "no file contains text", id="an empty file"),
    ],
)
def test_bad_input_is_one_line(here: Path, arguments: list[str], message: str) -> None:
    (here / "noid.json").write_text('[{"a": 1}]')
    (here / "nameless.json").write_text('[{"solution": "x"}]')
    (here / "noquestion.json").write_text('[{"id": 1}]')
    (here / "others.json").write_text('[{"id": "other", "solution": "x"}]')
    (here / "latin.txt").write_bytes(b"a\xe9")
    (here / "empty.txt").write_bytes(b" ")
    index = [] if "--index" in arguments else SCAN
    assert message in refusal("trace", *arguments, *index)


@pytest.mark.parametrize(("leave_out", "words"), [(False, 9), (True, 2)], ids=["kept", "left out"])
def test_reasoning_of_plain_texts_is_left_out_on_request(
    tmp_path: Path, leave_out: bool, words: int
) -> None:
    corpus, text = tmp_path / "corpus.txt", tmp_path / "text.txt"
    corpus.write_text("one two three four five six seven")
    text.write_text("<think>one two three four five</think> six seven")
    options: dict[str, Any] = {"index": f"scan:{corpus}", "plain": True}
    found = ngramscan.trace(text, **options, without_reasoning=leave_out)
    assert found["words"].tolist() == [words]


def nfd(words: list[str]) -> str:
    return unicodedata.normalize("NFD", " ".join(words))


@pytest.mark.parametrize(
    ("min_words", "found", "as_given"),
    [
        pytest.param("5", "18 words", "5", id="overlapping spans once, and what is given"),
        pytest.param("8", "12 words", "0", id="spans of eight words alone"),
    ],
)
def test_words_in_another_form_of_unicode_are_said(
    here: Path, min_words: str, found: str, as_given: str
) -> None:
    words = [f"é{letter}" for letter in "abcdefghijklmnopqrst"]
    documents = [nfd(words[:8]), nfd(words[4:12]), nfd(words[14:20]), " ".join(words[:5])]
    lines = [json.dumps({"text": text}) + "\n" for text in documents]
    (here / "forms.jsonl").write_text("".join(lines))
    texts = [{"id": "new", "output": "x y z"}, {"id": "q7", "output": " ".join(words)}]
    (here / "a.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    scan = ("--index", "scan:forms.jsonl", "--workers", "1", "--min-words", min_words)
    ran = invoke("trace", "a.jsonl", *scan, "--format", "csv")
    said = (
        "texts of which more is found in another normal form of Unicode: 1, the first is q7"
        f" ({found} in NFD, as given {as_given}, scan:forms.jsonl);"
        " trace the texts in that form as well"
    )
    assert (ran.code, said in ran.stderr) == (0, True), ran.stderr


def test_a_text_that_is_no_file_is_traced_itself(here: Path) -> None:
    text = f"Well, {COPIED[4:60]}!"
    Path("essay.txt").write_text(text)
    options = ["--index", "scan:corpus.jsonl", "-q"]
    of_file = invoke("trace", "essay.txt", "--plain", *options)
    typed = invoke("trace", text, *options)
    assert (typed.code, typed.stderr) == (0, "")
    assert typed.stdout == of_file.stdout.replace("essay.txt", "text 1")
    rows = [
        invoke("trace", *given, *options, "--format", "csv").rows
        for given in (("essay.txt", "--plain"), (text,))
    ]
    coverages = [[row["coverage"] for row in each] for each in rows]
    assert coverages[0] == coverages[1]
    assert float(coverages[1][0]) > 0


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param(["my outputs/"], "my outputs: no such file", id="the name of a folder"),
        pytest.param(["my essay.txt"], "my essay.txt: no such file", id="the name of a file"),
        pytest.param(
            ["a text of words", "outputs"], "a text to trace is given without files", id="both"
        ),
    ],
)
def test_what_may_be_a_file_is_not_traced_as_a_text(given: list[str], problem: str) -> None:
    ended = invoke("trace", *given, "--index", "scan:corpus.jsonl")
    assert (ended.code, ended.stdout) == (2, "")
    assert problem in ended.stderr


REPEATED = "one two three four five"
"""A phrase that several documents have."""


@pytest.fixture
def repeated(here: Path) -> Path:
    """Return a folder with a corpus whose documents share phrases, and a text with some of them."""
    texts = [COPIED, OTHER, f"{REPEATED} and {COPIED[:40]}", *(f"{REPEATED} {n}" for n in range(6))]
    lines = [
        json.dumps({"text": text, "url": f"https://example.org/{number}"}) + "\n"
        for number, text in enumerate(texts)
    ]
    (here / "corpus.jsonl").write_text("".join(lines))
    (here / "essay.txt").write_text(f"So {REPEATED}; {COPIED[:40]}, or {OTHER[:50]} x")
    assert invoke("index", "build", "corpus.jsonl", "-o", "built", "-q").code == 0
    return here


SPECS = [
    pytest.param(SCAN, id="scan"),
    pytest.param(("--index", "fm9:built"), id="fm9"),
]


@pytest.mark.parametrize("index", SPECS)
@pytest.mark.usefixtures("repeated")
def test_documents_of_a_text_are_shown_and_written(index: tuple[str, ...]) -> None:
    common = ("trace", "essay.txt", "--plain", *index, "-q")
    ran = invoke(*common, "--documents", "20", "--retrieved", "documents.csv", "--spans", "s.csv")
    assert (ran.code, ran.stderr) == (0, "")
    documents, spans = pd.read_csv("documents.csv"), pd.read_csv("s.csv")
    counts = dict(zip(spans["text"], spans["occurrences"], strict=True))
    assert counts == {REPEATED: 7, COPIED[:40].rstrip(): 2, OTHER[:50].rstrip(): 1}
    assert documents.groupby("text").size().to_dict() == counts
    # The document with two spans comes first, and each document has one rank.
    assert [*documents[documents["rank"] == 1]["text"]] == [REPEATED, COPIED[:40].rstrip()]
    assert len(documents["document"].unique()) == documents["rank"].max() == 9
    assert [*documents["score"]] == sorted(documents["score"], reverse=True)
    for row in documents.to_dict("records"):
        assert row["occurrences"] == counts[row["text"]]
        assert json.loads(row["metadata"])
        assert row["source"].startswith("https://example.org/")
        shown = "".join(
            str(row[name]) for name in ("left", "text", "right") if row[name] == row[name]
        )
        assert shown.startswith((REPEATED, COPIED, OTHER))
    shown_lines = ran.stdout.splitlines()
    assert "9 documents, by the words that they share with the text" in shown_lines
    first = next(line for line in shown_lines if line.startswith("1. "))
    assert "2 spans of up to 8 words" in first
    assert f"⟦{REPEATED}⟧" in ran.stdout
    few = invoke(*common, "--documents", "2", "--retrieved", "documents.csv").stdout
    assert pd.read_csv("documents.csv").groupby("text").size().to_dict() == {
        text: min(2, count) for text, count in counts.items()
    }
    assert "9 documents" not in few


@pytest.mark.usefixtures("repeated")
def test_more_documents_than_are_shown_are_counted(here: Path) -> None:
    lines = [json.dumps({"text": f"{REPEATED} {n}"}) + "\n" for n in range(12)]
    (here / "corpus.jsonl").write_text("".join(lines))
    ran = invoke("trace", "essay.txt", "--plain", *SCAN, "--documents", "12", "-q")
    assert "10 of 12 documents, by the words that they share with the text" in ran.stdout
    assert "10. " in ran.stdout
    assert "11. " not in ran.stdout


@pytest.mark.usefixtures("repeated")
def test_listed_spans_are_in_the_order_of_their_rank_and_measures_stay() -> None:
    common = ("trace", "essay.txt", "--plain", "--index", "fm9:built", "--format", "csv")
    alone = invoke(*common)
    limits = ("--max-occurrences", "2", "--density", "0.5")
    ran = invoke(*common, "--spans", "spans.csv", "--rank", "rarity", *limits)
    assert ran.rows == alone.rows
    assert "--max-occurrences 2, --density 0.5: 2 of 3 spans listed" in ran.stderr
    rows = pd.read_csv("spans.csv")
    assert [*rows["occurrences"]] == [1, 2]
    assert [*rows["log_probability"]] == sorted(rows["log_probability"])
    assert [*rows["output"].notna()] == [True, False]
    # Of 25 words, one in twenty: two spans.
    assert len(words_of(Path("essay.txt").read_text())) == 25
    invoke(*common, "--spans", "spans.csv", "--rank", "length", "--density", "0.05")
    assert [*pd.read_csv("spans.csv")["words"]] == [9, 8]
    shown = invoke(*common[:-2], "--max-occurrences", "2").stdout
    assert "3 spans (2 shown), " in shown
    assert f"⟦{REPEATED}⟧" not in shown
    assert f"⟦{OTHER[:50].rstrip()}⟧" in shown
    # A page takes the spans in any order.
    assert invoke("report", "spans.csv", "-o", "page.html").code == 0
    assert OTHER[:30] in Path("page.html").read_text()


@pytest.mark.usefixtures("repeated")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            ["--documents", "3"],
            "--documents 3: it is about the spans that are listed; add --retrieved FILE or --plain",
            id="documents",
        ),
        pytest.param(
            ["--rank", "rarity"],
            "--rank rarity: it is about the spans that are listed; add --spans FILE or --plain",
            id="a rank",
        ),
        pytest.param(
            ["--max-occurrences", "3"], "--max-occurrences 3: it is about", id="occurrences"
        ),
        pytest.param(["--density", "0.1"], "--density 0.1: it is about", id="a density"),
        pytest.param(["--density", "0", "--plain"], "--density", id="no span at all"),
        pytest.param(["--density", "2", "--plain"], "--density", id="more spans than words"),
    ],
)
def test_options_about_spans_are_refused_where_none_are_listed(
    options: list[str], message: str
) -> None:
    assert message in refusal("trace", "outputs", *SCAN, *options)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--documents", "2"], id="documents"),
        pytest.param(["--rank", "rarity"], id="rarity"),
        pytest.param(["--documents", "3", "--rank", "rarity", "--density", "0.2"], id="both"),
    ],
)
def test_the_work_on_listed_spans_is_said_before(repeated: Path, options: list[str]) -> None:
    with ApiServer({"x": repeated / "corpus.jsonl"}) as api:
        common = ("trace", "essay.txt", "--plain", "--index", f"{api.url}x")
        journal = ("--journal", "replies.sqlite")
        (alone,) = invoke(*common, *journal, "--dry-run", "--format", "csv").rows
        planned = invoke(*common, *options, *journal, "--dry-run", "--format", "csv")
        (row,) = planned.rows
        assert api.read_log() == []
        ran = invoke(*common, *options, *journal, "--format", "csv")
        asked = len(api.read_log()) - len(PROBES)
    assert ran.code == 0, ran.stderr
    assert asked <= int(row["requests_at_most"])
    assert int(alone["requests_at_most"]) < int(row["requests_at_most"])
    # A span from each of 25 words but the last four, or one for five words.
    per_span = int(options[1]) if options[0] == "--documents" else 0
    spans = 5 if "--density" in options else 21
    assert int(row["windows_at_most"]) == 4 * per_span * spans
    assert f"{' '.join(options[:2])}: requests_at_most also has" in planned.stderr


def test_python_has_the_options_of_documents(repeated: Path) -> None:
    rows = ngramscan.trace(
        "essay.txt",
        index="fm9:built",
        plain=True,
        retrieved="documents.jsonl",
        rank="length",
    )
    assert len(rows) == 1
    documents = [json.loads(line) for line in Path("documents.jsonl").read_text().splitlines()]
    # Ten documents of each span by default: all.
    assert len(documents) == 7 + 2 + 1
    assert {row["unit"] for row in documents} == {"words"}
