"""Texts as patterns: as arguments, after -e, from files and standard input; by brute force."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ngramscan
from ngramscan.errors import InputError
from ngramscan.patterns.files import load_patterns
from ngramscan.patterns.given import load_given
from ngramscan.prevalence.contexts import ContextRow
from tests.support import oracle
from tests.support.command import NGRAMSCAN, invoke
from tests.support.service import ApiServer, Faults

REPLAY = Path(__file__).parent / "replay"
SHARDS = [REPLAY / "docs" / "a.jsonl", REPLAY / "docs" / "b.jsonl"]
TEXTS = [
    json.loads(line)["text"]
    for file in SHARDS
    for line in file.read_text(encoding="utf-8").split("\n")
    if line
]
SCAN = f"scan:{REPLAY / 'docs'}/*.jsonl"
SET = """\
name: mine
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: 'def solve(', method: PoT, tier: T2, kind: code}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(*given: str, command: str = "count", content: bytes | None = None) -> list[Any]:
    """Return the rows of a command that counts in the corpus, with this standard input."""
    ran = invoke(command, *given, "--index", SCAN, "--format", "csv", "-q", content=content)
    assert (ran.code, ran.stderr) == (0, "")
    return ran.rows


def assert_counted(rows: list[Any], texts: list[str], documents: bool = True) -> None:
    """Compare rows with counts by the definition, in the order of the texts."""
    occurrences, in_documents = oracle.tally(texts, TEXTS)
    assert [row["query"] for row in rows] == [row["pattern"] for row in rows] == texts
    assert [int(row["occurrences"]) for row in rows] == occurrences
    if documents:
        assert [int(row["documents"]) for row in rows] == in_documents
    assert {row[name] for row in rows for name in ("method", "tier", "kind")} == {""}


# What is counted


def test_an_argument_with_a_space_is_the_text_itself() -> None:
    texts = ["step by step", "let's", ", we", "\\frac{", "ภาษา", "ee", " the", "step\nby"]
    given = [texts[0], *(part for text in texts[1:] for part in ("-e", text))]
    # An argument comes first, wherever it stands; the same text twice is counted once.
    assert_counted(rows_of(*given[1:], "-e", "ee", texts[0]), texts)


def test_all_kinds_of_index_count_the_same() -> None:
    texts = ["step by step", "no such text at all", "therefore"]
    more = [*texts[:2], "-e", "therefore", "--format", "csv", "--journal", "j"]
    assert_counted(invoke("count", *more, "--index", SCAN).rows, texts)
    local = invoke("count", *more, "--index", f"fm9:{REPLAY / 'index' / 'replay2'}")
    assert_counted(local.rows, texts, documents=False)
    with ApiServer({"v2_dclm_all": SHARDS}) as server:
        served = invoke("count", *more, "--index", "dclm", "--api-url", server.url)
        assert_counted(served.rows, texts, documents=False)


def test_an_index_is_asked_for_the_literals_and_nothing_else() -> None:
    """Overlaps such as `using the formula for` are needed for totals only."""
    texts = ["using the formula", "the formula for", "formula"]
    with ApiServer({"v2_dclm_all": SHARDS}) as server:
        given = (*texts[:2], "-e", "formula", "--index", "dclm", "--api-url", server.url)
        ran = invoke("count", *given)
        assert ran.code == 0
        assert sorted(asked["query"] for asked in server.read_log()) == sorted(texts)
        assert not {"Totals", "Ratios"} & set(ran.stdout.split())
        plan = invoke("docnorm", *given, "--dry-run", "--format", "csv").rows[0]
        assert (plan["patterns"], plan["lookups"]) == ("3", "3")


def test_literals_stand_behind_a_set_and_are_in_none_of_its_totals(here: Path) -> None:
    (here / "mine.yaml").write_text(SET)
    more = ("--index", SCAN, "--totals", "totals.csv", "--tier", "t1", "--format", "json")
    ran = invoke("count", "-e", "step by step", "mine.yaml", "by step", *more)
    rows = json.loads(ran.stdout)
    keys = [(row["method"], row["tier"], row["kind"], row["pattern"]) for row in rows]
    assert keys == [
        ("CoT", "T1", "narrative", "step by step"),
        (None, None, None, "by step"),
        (None, None, None, "step by step"),
    ]
    counts, _ = oracle.tally(["step by step", "by step"], TEXTS)
    truth = dict(zip(("step by step", "by step"), counts, strict=True))
    assert [row["occurrences"] for row in rows] == [truth[row["pattern"]] for row in rows]
    totals = pd.read_csv("totals.csv")
    assert set(totals["method"]) == {"CoT"}
    (union,) = totals.query("statistic == 'union_of_occurrences'")["value"]
    assert union == truth["step by step"]
    assert load_given(["mine.yaml"], ["by step"], []).methods == ["CoT", "PoT"]
    assert invoke("count", "mine.yaml", "by step", "--index", SCAN, "--figure", "x.svg").code == 0
    assert ">by step<" in Path("x.svg").read_text()


def test_spellings_of_a_literal_are_those_of_a_narrative_pattern() -> None:
    rows = rows_of("-e", "let's", "--case-variants")
    assert [row["query"] for row in rows] == ["let's", "Let's", "let’s", "Let’s"]
    assert {row["pattern"] for row in rows} == {"let's"}
    both = rows_of("-e", "THE", "-i")
    lower = [text.lower() for text in TEXTS]
    assert [int(row["occurrences"]) for row in both] == oracle.tally(["the"], lower)[0]


def test_python_takes_what_the_terminal_takes(here: Path) -> None:
    (here / "a file.yaml").write_text(SET)
    (here / "lines").write_bytes("naïve\r\n the\n".encode())
    frame = ngramscan.count(
        "by step", here / "a file.yaml", literal="be", literals_file=["lines"], index=SCAN
    )
    assert list(frame["query"]) == ["step by step", "def solve(", "by step", "be", "naïve", " the"]
    assert list(frame["occurrences"]) == oracle.tally(list(frame["query"]), TEXTS)[0]
    assert list(frame["method"].isna()) == [False] * 2 + [True] * 4
    assert list(ngramscan.count("a file.yaml", index=SCAN)["method"]) == ["CoT", "PoT"]
    with pytest.raises(InputError, match="nope: no such file or shipped set"):
        ngramscan.count(Path("nope"), index=SCAN)


# Files and standard input


def test_a_file_has_one_text_per_line(here: Path) -> None:
    lines = "\ufeffstep by step\r\n\n the \n\nnaïve\nlet's, we\nstep by step"
    (here / "lines.txt").write_bytes(lines.encode())
    texts = ["step by step", " the ", "naïve", "let's, we"]
    assert_counted(rows_of("-f", "lines.txt"), texts)
    assert_counted(rows_of("-f", "-", content=lines.encode()), texts)


def test_a_pattern_set_comes_from_standard_input_too() -> None:
    assert [row["method"] for row in rows_of("-", content=SET.encode())] == ["CoT", "PoT"]
    for content, given, said in (
        (
            b"step by step\n",
            ["-"],
            ":1: a pattern set in YAML was expected; for one text per line: -f -",
        ),
        (b"", ["-", "-f", "-"], ": it can be read only once; - was given twice"),
    ):
        ran = invoke("count", *given, "--index", SCAN, content=content)
        assert (ran.code, ran.stderr) == (2, f"Error: standard input{said}\n")


def test_patterns_and_corpus_can_not_both_be_standard_input() -> None:
    ran = invoke("count", "-f", "-", "--index", "scan:-", content=b"step by step\n")
    problem = "two inputs are `-`, but it can be read only once"
    assert (ran.code, ran.stderr) == (2, f"Error: standard input: {problem}\n")


@pytest.mark.integration
def test_process_substitution_is_a_file_like_any_other(here: Path) -> None:
    (here / "mine.yaml").write_text(SET)
    (here / "corpus.jsonl").write_text('{"text": "step by step by step"}\n')
    given = (
        "count <(cat mine.yaml) -f <(printf 'by\\nstep') --index scan:corpus.jsonl --format jsonl"
    )
    command = ["bash", "-c", f"{' '.join(NGRAMSCAN)} {given}"]
    shown = subprocess.check_output(command, text=True, timeout=60)
    rows = [json.loads(line) for line in shown.splitlines()]
    assert [row["occurrences"] for row in rows] == [2, 0, 2, 3]


# What is refused


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "PATTERNS: nothing to count; give texts, as in -e 'step by step', or a pattern set"),
        (["wrod"], "wrod: no such file or shipped set; to count the text itself: -e wrod"),
        (["f2"], "f2: no such file or shipped set; did you mean f1? to count the text itself: "),
        (["f1.yaml"], "f1.yaml: no such file or shipped set; did you mean f1? to count"),
        (["mnie.yaml"], "mnie.yaml: no such file or shipped set; did you mean mine.yaml?"),
        (["Mine"], "Mine: no such file or shipped set; did you mean mine.yaml?"),
        (["my set.yaml"], "my set.yaml: no such file or shipped set; "),
        (["a\nb.yaml"], r"a\nb.yaml: no such file or shipped set; to count the text"),
        (["a&b"], "a&b: no such file or shipped set; to count the text itself: -e 'a&b'"),
        (["x" * 5000], "no such file or shipped set; to count the text itself: -e TEXT"),
        (["folder"], "folder: not a pattern set; to count in its texts: --index scan:folder"),
        (["c.jsonl"], "c.jsonl: not a pattern set; to count in its texts: --index scan:c.jsonl"),
        (["lines.txt"], "lines.txt: not a pattern set; to count each of its lines: -f lines.txt"),
        (["-f", "mine.yaml"], "-f mine.yaml: a pattern set is given without -f: mine.yaml"),
        (["-f", "none.txt"], "none.txt: no such file or directory"),
        (["-f", "empty.txt"], "empty.txt: no text in it; one per line was expected"),
        (["-f", "nul.txt"], "nul.txt:3: it has a NUL character"),
        (["-f", "latin.txt"], "latin.txt: not UTF-8 at byte 4"),
        (["-e", ""], "--literal: it is empty; a text to count was expected"),
        ([""], "PATTERNS: it is empty; a text to count was expected"),
        (["-e", "a\udcff"], "--literal: it is not valid UTF-8"),
        (["-e", "a", "--tier", "T1"], "--tier T1: it selects from pattern sets, and only literals"),
        (["a b", "--method", "CoT"], "--method CoT: it selects from pattern sets, and only"),
        (["mine.yaml", "-e", "a", "--method", "F-1"], "--method F-1: pattern set mine has no such"),
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_refused_with_its_cure(
    here: Path, given: list[str], said: str
) -> None:
    (here / "folder").mkdir()
    (here / "mine.yaml").write_text(SET)
    (here / "c.jsonl").write_text('{"text": "step"}\n')
    contents = {"lines": b"a", "empty": b"\r\n\n", "nul": b"a\n\nb\0", "latin": b"naiv\xe9"}
    for name, content in contents.items():
        (here / f"{name}.txt").write_bytes(content)
    # Without any pattern docnorm has those of the paper.
    for command in ("count", "contexts", *["docnorm"] * bool(given)):
        ran = invoke(command, *given, "--index", "scan:c.jsonl")
        assert (ran.code, ran.stdout) == (2, "")
        assert ran.stderr.startswith("Error: ")
        assert said in ran.stderr
        assert ran.stderr.count("\n") == 1


def test_totals_are_of_methods(here: Path) -> None:
    for command in ("count", "docnorm"):
        ran = invoke(command, "-e", "a", "--index", SCAN, "--totals", "t.csv")
        said = "--totals t.csv: only patterns of a method have totals, and literals have no method"
        assert (ran.code, ran.stderr) == (2, f"Error: {said}\n")
    assert not (here / "t.csv").exists()


@pytest.mark.parametrize("amount", ["200%", "0", "-5%", "inf%", "nan%", "9", "ten"])
@pytest.mark.parametrize("command", ["count", "contexts", "docnorm"])
def test_a_sample_that_can_not_be_drawn_is_wrong_usage(command: str, amount: str) -> None:
    ran = invoke(command, "-e", "a", "--index", SCAN, "--sample-files", amount)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"Error: --sample-files {amount}: ")


# Documents and contexts


def test_documents_of_literals_are_counted_or_estimated() -> None:
    texts = ["step by step", "the"]
    _, documents = oracle.tally(texts, TEXTS)
    exact = rows_of(texts[0], "-e", "the", command="docnorm")
    assert [int(row["documents"]) for row in exact] == documents
    assert {row["method"] + row["tier"] for row in exact} == {""}
    local = f"fm9:{REPLAY / 'index' / 'replay2'}"
    more = ["--index", local, "--draws", "60", "--context", "300", "--drawn", "drawn.csv"]
    more += ["--exact-up-to", "0"]
    rows = invoke("docnorm", *texts[:1], "-e", "the", *more, "--format", "csv").rows
    for row, truth in zip(rows, documents, strict=True):
        assert int(row["documents_low"]) <= truth <= int(row["documents_high"])
    assert len(pd.read_csv("drawn.csv")) == sum(int(row["draws"]) for row in rows)
    assert "Totals" not in invoke("docnorm", "-e", "the", "--index", SCAN).stdout


def test_contexts_of_several_patterns_name_them_and_outlive_a_failure() -> None:
    body = json.dumps({"cnt": 3, "segment_by_shard": [[0, 3]], "latency": 1.0})
    faults = Faults(bodies={"key": body, "code to": '{"cnt": 1}'})
    with ApiServer({"v2_dclm_all": SHARDS}, faults=faults) as server:
        given = ["contexts", "step by step", "code to", "-e", "key", "-e", "the", "-n", "4"]
        given += ["--api-url", server.url, "--journal", "j"]
        ran, shown = invoke(*given, "--format", "csv"), invoke(*given)
    assert (ran.code, shown.code) == (1, 1)
    assert [row["pattern"] for row in ran.rows] == ["step by step"] * 4 + ["the"] * 4
    for row in ran.rows:
        assert row["match"] == row["pattern"]
        assert row["left"] + row["match"] + row["right"] in TEXTS[int(row["document"])]
    missing, lost = ran.stderr.splitlines()
    assert "no window in the reply" in lost
    assert missing.endswith('; the lookup of "code to" in v2_dclm_all is missing')
    assert lost.endswith("; 3 of 11 contexts missing (v2_dclm_all)")
    heads = [line for line in shown.stdout.splitlines() if " occurrences" in line]
    assert [head.split(" · ")[1] for head in heads] == ["'step by step'", "'key'", "'the'"]


def test_contexts_of_a_set(here: Path) -> None:
    (here / "mine.yaml").write_text(SET)
    frame = ngramscan.contexts("mine.yaml", method="cot", literal="the", index=SCAN, n=3, width=9)
    assert list(frame.columns) == list(ContextRow.__dataclass_fields__)
    assert list(frame["pattern"]) == ["step by step"] * 3 + ["the"] * 3
    joined = frame["left"] + frame["pattern"] + frame["right"]
    assert all(any(piece in text for text in TEXTS) for piece in joined)


def test_one_document_and_one_occurrence_are_singular(here: Path) -> None:
    (here / "one.jsonl").write_text('{"text": "foo"}\n')
    for command, said in (
        ("count", "scan:one.jsonl · 3 B of text · 1 document"),
        ("contexts", "scan:one.jsonl · 'foo' · 1 occurrence, all"),
    ):
        ran = invoke(command, "-e", "foo", "--index", "scan:one.jsonl")
        assert ran.stdout.splitlines()[0] == said


# Pattern sets


def test_the_shipped_sets_are_listed_and_shown(here: Path) -> None:
    (row,) = invoke("patterns", "list", "--format", "csv").rows
    assert (row["name"], row["patterns"], row["tiers"]) == ("f1", "46", "T1, T2, T3")
    assert ngramscan.patterns_list()["methods"].tolist() == ["CoT, PoT, FP/F-1"]
    frame = ngramscan.patterns_show("f1").set_index("text")
    texts = [pattern.text for pattern in load_patterns("f1").patterns]
    assert list(frame.index) == texts
    for text, within in frame["within"].items():
        assert within == "; ".join(other for other in texts if str(text) in other != text)
    assert frame.loc["\\leq", "longer_words"] == "\\leqslant; \\leqq"
    (here / "mine.yaml").write_text(SET + "regexes: [{method: CoT, name: steps, regex: 'a+b'}]\n")
    shown: list[Any] = invoke("patterns", "show", "mine.yaml", "--format", "csv").rows
    assert (shown[-1]["kind"], shown[-1]["text"], shown[-1]["note"]) == ("regex", "a+b", "steps")
    screen = invoke("patterns", "show", "f1").stdout
    assert '"step by step" also counts every "think step by step"' in screen
    ran = invoke("patterns", "show", "f2")
    assert (ran.code, ran.stderr) == (
        2, "Error: f2: no such file or shipped set; did you mean f1?\n"
    )  # fmt: skip
