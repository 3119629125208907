"""`ngramscan contexts` as a person runs it: rows, what is missing, and lines of a terminal."""

import io
import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from ngramscan.prevalence.contexts import ContextRow, ContextsResult
from ngramscan.reporting.tables import print_contexts
from tests.support.command import invoke
from tests.support.text_index import TextIndex

URL = '{"metadata": {"url": "http://a/"}}'
ROWS = [
    ContextRow("x", "key", "17", 5, "é\nfour\t", "key", " after", 0, 1, URL),
    ContextRow("x", "key", "4", None, "ตัวอย่าง 答え ", "key", "\x1b[31m red", 0, 2, "not JSON"),
    ContextRow("x", "key", "a.jsonl:3", 0, "", "key", "x" * 90, 0, 3, '{"source": "id-3"}'),
]


def lines(width: int, rows: list[ContextRow] = ROWS, color: bool = False) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=color, markup=False, highlight=False)
    results = [ContextsResult("x", "key", 300 * len(rows), rows, [])]
    print_contexts(results, 7, [], console)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [30, 50, 80, 120, 300])
def test_matches_stand_below_each_other(width: int) -> None:
    head, *body = lines(width)
    assert head.split("\n")[0] == "x · 'key' · 900 occurrences, 3 drawn at random, seed 7"
    body = [line for line in body if line]
    assert len({cell_len(line[: line.index("key")]) for line in body}) == 1
    assert max(map(cell_len, body)) <= width
    assert not any("\x1b" in line for line in body)
    assert "é¶four key" in body[0]
    if width >= 80:
        assert body[0].rstrip().endswith("#17 http://a/ byte 5")
        assert body[1].rstrip().endswith("#4")
        source = "a.jsonl:3 byte 0" if width == 80 else "a.jsonl:3 id-3 byte 0"
        assert body[2].rstrip().endswith(f"  {source}")


@pytest.mark.parametrize(
    ("options", "heading"),
    [
        pytest.param(("-e", r"\frac{"), r"'\frac{' · 2 occurrences, all", id="exact"),
        pytest.param(
            ("-e", r"\\frac\{\w", "--regex"),
            r"'\\frac\{\w' · regular expression · 2 occurrences, all",
            id="an expression",
        ),
        pytest.param(
            ("-e", r"\s[a-z]+'s", "--regex", "-w", "-n", "1"),
            '"\\s[a-z]+\'s" · regular expression, whole words · 2 occurrences,'
            " 1 drawn at random, seed 1",
            id="several rules, and an apostrophe",
        ),
        pytest.param(
            ("-e", "half\nIT", "-i", "--any-space"),
            r"'half\nIT' · any white space, ASCII case ignored · 1 occurrence, all",
            id="the end of a line",
        ),
    ],
)
def test_headings_name_the_rule_and_the_text_as_it_was_typed(
    tmp_path: Path, options: tuple[str, ...], heading: str
) -> None:
    text = {"text": r"Half  it: it's \frac{a}2, and b's \frac{b}2"}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(text) + "\n")
    index = f"scan:{tmp_path / 'corpus.jsonl'}"
    ran = invoke("contexts", *options, "--index", index, "--workers", "1")
    assert (ran.code, ran.stdout.splitlines()[0]) == (0, f"{index} · {heading}")


# Rows, and what is missing


def test_rows_are_parts_of_documents_around_a_draw(tmp_path: Path) -> None:
    texts = ["one key two", "no", "key here"]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "corpus.jsonl").write_text(lines)
    scan = ("--index", f"scan:{tmp_path / 'corpus.jsonl'}", "--workers", "1")
    ran = invoke("contexts", "-e", "key", "-e", "nowhere", *scan, "--format", "csv")
    assert ran.code == 0
    assert sorted((row["left"], row["match"], row["right"]) for row in ran.rows) == [
        ("", "key", " here"),
        ("one ", "key", " two"),
    ]
    (row,) = invoke("contexts", "-e", "key", "-n", "1", *scan, "--format", "csv").rows
    assert row["pattern"] == "key"


def test_contexts_that_could_not_be_shown_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    index = TextIndex(["a key", "a lock and a key"], unseen=["key"], lost=["door"])
    monkeypatch.setattr("ngramscan.indexes.opening.open_indexes", lambda *_: nullcontext([index]))
    given = ("contexts", "-e", "key", "-e", "lock", "-e", "door", "--format", "csv")
    ran = invoke(*given)
    assert (ran.code, [row["match"] for row in ran.rows]) == (1, ["lock"])
    assert "no window; 2 of 3 contexts missing (x)\n" in ran.stderr
    assert 'engine crashed; the lookup of "door" in x is missing\n' in ran.stderr
