"""CSV and TSV without some rows: what stays is as it was, and is read as the same cells."""

import csv
import io
import random
from collections.abc import Mapping

import pytest

from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.rewriting.removals import WHOLE_RECORD, Removal
from ngramscan.corpora.rewriting.tables import rewrite_table
from ngramscan.errors import CorpusError


def rewritten(content: bytes, removals: Mapping[int, Removal], delimiter: str = ",") -> bytes:
    parts = [content[start : start + 7] for start in range(0, len(content), 7)]
    chunks = iter([(part, len(part)) for part in parts])
    file = CorpusFile("c.csv", "csv", len(content))
    pieces = list(rewrite_table(file, chunks, removals, ReadOptions(), delimiter))
    assert sum(consumed for _, consumed in pieces) == len(content)
    return b"".join(piece for piece, _ in pieces)


def rows_of(content: bytes, delimiter: str) -> list[list[str]]:
    lines = io.StringIO(content.decode("utf-8-sig"), newline="")
    return [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]


@pytest.mark.parametrize("delimiter", [",", "\t"], ids=["csv", "tsv"])
@pytest.mark.parametrize("seed", range(20))
def test_rows_that_stay_are_equal_by_bytes(seed: int, delimiter: str) -> None:
    draw = random.Random(seed)
    rows: list[bytes] = []
    for _ in range(draw.randrange(1, 9)):
        text = "".join(draw.choices('aé"\n\r\t,', k=draw.randrange(6))) + "x"
        cells = ['"' + cell.replace('"', '""') + '"' for cell in ("1", text)]
        rows.append((delimiter.join(cells) + draw.choice(["\n", "\r\n"])).encode())
    chosen = draw.sample(range(1, len(rows) + 1), draw.randrange(len(rows)))
    removals = {n: draw.choice([WHOLE_RECORD, Removal(((0, 1),))]) for n in chosen}
    head = draw.choice([b"", b"\xef\xbb\xbf"]) + f"id{delimiter}text\r\n\n".encode()
    new = rewritten(head + b"".join(rows), removals, delimiter)
    assert new.startswith(head)
    expected: list[list[str]] = [["id", "text"]]
    for number, row in enumerate(rows, 1):
        ((first, text),) = rows_of(row, delimiter)
        if number not in removals:
            assert row in new
            expected.append([first, text])
        elif removals[number].ranges:
            expected.append([first, text[1:]])
    assert rows_of(new, delimiter) == expected
    if not any(removal.ranges for removal in removals.values()):
        stays = [row for number, row in enumerate(rows, 1) if number not in removals]
        assert new == head + b"".join(stays)


@pytest.mark.parametrize(
    ("content", "number", "message"),
    [
        pytest.param("text\na\n", 2, "c.csv: it has 1 row, and row 2 was to be", id="after"),
        pytest.param("url\na\n", 1, "c.csv: no column 'text'; it has: url", id="no text"),
        pytest.param('text\n"a\n', 1, "c.csv:2: not a valid table, or truncated", id="no end"),
        pytest.param("text\na\n", 1, "c.csv: row 1: its text has 1 character, and", id="too long"),
    ],
)
def test_rows_that_are_not_there_stop_it(content: str, number: int, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        rewritten(content.encode(), {number: Removal(((0, 9),))})
