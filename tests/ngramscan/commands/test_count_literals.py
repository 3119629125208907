"""Texts as patterns: as arguments, after -e, from files and standard input; by brute force."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import InputError
from tests.support import oracle
from tests.support.command import NGRAMSCAN, invoke
from tests.support.outputs import refusal
from tests.support.places import REPLAY
from tests.support.replay_texts import TEXTS

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


def rows_of(*given: str, content: bytes | None = None) -> list[Any]:
    """Return the rows of `count` in the corpus, with this standard input."""
    ran = invoke("count", *given, "--index", SCAN, "--format", "csv", "-q", content=content)
    assert (ran.code, ran.stderr) == (0, "")
    return ran.rows


# What is counted


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


def test_a_pattern_set_comes_from_standard_input_too(subtests: pytest.Subtests) -> None:
    assert [row["method"] for row in rows_of("-", content=SET.encode())] == ["CoT", "PoT"]
    for content, given, said in (
        (
            b"step by step\n",
            ["-"],
            ":1: expected a pattern set in YAML; for one text per line: -f -",
        ),
        (b"", ["-", "-f", "-"], ": it can be read only once; - was given twice"),
    ):
        with subtests.test(content=content):
            ran = invoke("count", *given, "--index", SCAN, content=content)
            assert (ran.code, ran.stderr) == (2, f"Error: standard input{said}\n")


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
        pytest.param(
            [],
            "PATTERNS: nothing to count; give texts, as in -e 'step by step', or a pattern set",
            id="nothing",
        ),
        pytest.param(
            ["wrod"],
            "wrod: no such file or shipped set; to count the text itself: -e wrod",
            id="wrod",
        ),
        pytest.param(
            ["f2"],
            "f2: no such file or shipped set; did you mean f1? to count the text itself: ",
            id="f2",
        ),
        pytest.param(
            ["f1.yaml"],
            "f1.yaml: no such file or shipped set; did you mean f1? to count",
            id="f1.yaml",
        ),
        pytest.param(
            ["mnie.yaml"],
            "mnie.yaml: no such file or shipped set; did you mean mine.yaml?",
            id="mnie.yaml",
        ),
        pytest.param(
            ["Mine"], "Mine: no such file or shipped set; did you mean mine.yaml?", id="Mine"
        ),
        pytest.param(
            ["my set.yaml"], "my set.yaml: no such file or shipped set; ", id="my set.yaml"
        ),
        pytest.param(
            ["a\nb.yaml"],
            "a\\nb.yaml: no such file or shipped set; to count the text",
            id="a\\nb.yaml",
        ),
        pytest.param(
            ["a&b"],
            "a&b: no such file or shipped set; to count the text itself: -e 'a&b'",
            id="a&b",
        ),
        pytest.param(
            ["folder"],
            "folder: not a pattern set; to count in its texts: --index scan:folder",
            id="folder",
        ),
        pytest.param(
            ["c.jsonl"],
            "c.jsonl: not a pattern set; to count in its texts: --index scan:c.jsonl",
            id="c.jsonl",
        ),
        pytest.param(
            ["lines.txt"],
            "lines.txt: not a pattern set; to count each of its lines: -f lines.txt",
            id="lines.txt",
        ),
        pytest.param(
            ["-f", "mine.yaml"],
            "-f mine.yaml: a pattern set; give it without this option: mine.yaml",
            id="-f mine.yaml",
        ),
        pytest.param(["-f", "none.txt"], "none.txt: no such file or directory", id="-f none.txt"),
        pytest.param(
            ["-f", "empty.txt"],
            "empty.txt: contains no text; expected one per line",
            id="-f empty.txt",
        ),
        pytest.param(["-f", "nul.txt"], "nul.txt:3: it has a NUL character", id="-f nul.txt"),
        pytest.param(["-f", "latin.txt"], "latin.txt: not UTF-8 at byte 4", id="-f latin.txt"),
        pytest.param(["-e", ""], "--literal: it is empty; enter a phrase", id="-e "),
        pytest.param([""], "PATTERNS: it is empty; enter a phrase", id="an empty text"),
        pytest.param(
            ["-e", "a\udcff"],
            "-e 'a\\xff': not UTF-8 at character 1; write it in UTF-8",
            id="-e a\\udcff",
        ),
        pytest.param(
            ["-e", "a", "--tier", "T1"],
            "--tier T1: it selects from pattern sets, and only literals",
            id="-e a --tier T1",
        ),
        pytest.param(
            ["a b", "--method", "CoT"],
            "--method CoT: it selects from pattern sets, and only",
            id="a b --method CoT",
        ),
        pytest.param(
            ["mine.yaml", "-e", "a", "--method", "F-1"],
            "--method F-1: pattern set mine has no such",
            id="mine.yaml -e a --method F-1",
        ),
        pytest.param(
            ["x" * 5000],
            "no such file or shipped set; to count the text itself: -e TEXT",
            id="a long text",
        ),
    ],
)
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
    commands = ("count", "contexts", *["docnorm"] * bool(given))
    told = {one: refusal(one, *given, "--index", "scan:c.jsonl") for one in commands}
    assert not {one: text for one, text in told.items() if said not in text}


def test_totals_are_of_methods(here: Path) -> None:
    options = ("-e", "a", "--index", SCAN, "--totals", "t.csv")
    told = [refusal(command, *options) for command in ("count", "docnorm")]
    said = "--totals t.csv: only patterns of a method have totals, and literals have no method"
    assert told == [said] * 2
    assert not (here / "t.csv").exists()


@pytest.mark.parametrize("command", ["count", "docnorm", "contexts"])
@pytest.mark.parametrize("written", ["count", "docnorm"])
def test_rows_of_counts_are_no_list_of_phrases(
    command: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.jsonl").write_text('{"text": "step by step"}\n')
    asked = ("--index", "scan:corpus.jsonl", "--journal", "j.sqlite")
    assert invoke(written, "step by step", *asked, "-o", "rows.csv").code == 0
    refused = invoke(command, "rows.csv", *asked)
    assert (refused.code, refused.stdout) == (2, "")
    cure = "count with the set or the texts that it was made of"
    assert refused.stderr == f"Error: rows.csv: rows of counts, not patterns; {cure}\n"


# Tables of phrases


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("p.csv", "phrase\nby step\n\nthe\n", id="one column"),
        pytest.param("p.csv", '\ufeffid,Text\r\n1,"by step"\r\n2,the\r\n', id="a spreadsheet's"),
        pytest.param("p.tsv", "ngram\tn\nby step\t2\nthe\t1\n", id="tabs"),
    ],
)
def test_texts_of_a_table_are_those_of_its_column(name: str, content: str) -> None:
    Path(name).write_text(content, newline="")
    ended = invoke("count", "-f", name, "--index", SCAN, "--format", "csv")
    assert [row["query"] for row in ended.rows] == ["by step", "the"]
    expected = [oracle.tally([text], TEXTS)[0][0] for text in ("by step", "the")]
    assert [int(row["occurrences"]) for row in ended.rows] == expected
    header = content.lstrip("\ufeff").replace("\t", ",").split("\n")[0].strip().split(",")
    column = next(title for title in header if title in {"phrase", "Text", "ngram"})
    notice = f"{name}: the first line is a header; the texts are those of {column}\n"
    assert notice in ended.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("p.txt", "phrase\nthe\n", id="not a table"),
        pytest.param("p.csv", "a phrase\nthe\n", id="a longer text"),
        pytest.param("p.csv", 'say "phrase"\nthe\n', id="quotes within"),
    ],
)
def test_a_first_line_that_names_no_column_is_a_text(name: str, content: str) -> None:
    Path(name).write_text(content)
    assert [row["query"] for row in rows_of("-f", name)] == content.splitlines()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param("phrase\nstep, by\n", "p.csv:2: 2 cells, but the header has 1; ", id="cells"),
        pytest.param('phrase\n"a" b\n', "p.csv:2: not a row of a table: ", id="quotes"),
        pytest.param("text,pattern\na,b\n", "phrases: text, pattern; keep one", id="two columns"),
        pytest.param("phrase\n", "p.csv: contains no text", id="only a header"),
        pytest.param(
            "index,pattern,query,occurrences\ni,a,a,1\n", "p.csv: rows of counts, not", id="counts"
        ),
    ],
)
def test_a_table_whose_texts_are_not_certain_is_refused(content: str, problem: str) -> None:
    Path("p.csv").write_text(content)
    ended = invoke("count", "-f", "p.csv", "--index", SCAN)
    assert (ended.code, ended.stdout) == (2, "")
    assert problem in ended.stderr
