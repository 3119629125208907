"""`ngramscan contexts`: lines of a terminal, in which matches stand below each other."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from ngramscan.prevalence.contexts import ContextRow, ContextsResult
from ngramscan.reporting.tables import print_contexts

URL = '{"metadata": {"url": "http://a/"}}'
ROWS = [
    ContextRow("x", "key", "17", 5, "é\nfour\t", "key", " after", 0, 1, URL),
    ContextRow("x", "key", "4", None, "ตัวอย่าง 答え ", "key", "\x1b[31m red", 0, 2, "no JSON"),
    ContextRow("x", "key", "a.jsonl:3", 0, "", "key", "x" * 90, 0, 3, '{"source": "id-3"}'),
]


def lines(width: int, rows: list[ContextRow] = ROWS, color: bool = False) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=color, markup=False, highlight=False)
    print_contexts([ContextsResult("x", "key", 300 * len(rows), rows, [])], 7, console)
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
        assert body[0].rstrip().endswith("#17 http://a/")
        assert body[2].rstrip().endswith("a.jsonl:3 id-3")
