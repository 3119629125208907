"""JSON lines and lists without some records, line by line as Python splits them."""

import json
import random
from collections.abc import Iterator, Mapping

import pytest

from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.rewriting.json_lines import rewrite_jsonl
from ngramscan.corpora.rewriting.removals import WHOLE_RECORD, Removal
from ngramscan.errors import CorpusError

MARK = b"\xef\xbb\xbf"


def rewritten(
    content: bytes, removals: Mapping[int, Removal], chunk: int = 1 << 20, field: str = "text"
) -> bytes:
    def chunks() -> Iterator[tuple[bytes, int]]:
        for start in range(0, len(content), chunk):
            yield content[start : start + chunk], len(content[start : start + chunk])

    file = CorpusFile("c.jsonl", "jsonl", len(content))
    pieces = list(rewrite_jsonl(file, chunks(), removals, ReadOptions(text_field=field)))
    assert sum(consumed for _, consumed in pieces) == len(content)
    return b"".join(piece for piece, _ in pieces)


def drawn_lines(draw: random.Random) -> list[bytes]:
    """Return lines with their ends, of which the last one may have none."""
    lines: list[bytes] = []
    for _ in range(draw.randrange(1, 12)):
        text = "".join(draw.choices("aé\n\r ", k=draw.randrange(5))) + "x"
        line = json.dumps({"id": 1, "text": text}, ensure_ascii=draw.random() < 0.5).encode()
        line = draw.choice([line, line, line, b"", b" \t"])
        lines.append(line + draw.choice([b"\n", b"\n", b"\r\n", b"\r"]))
    # A lone CR before an empty line that ends with LF would be one line end.
    lines = b"".join(lines).splitlines(keepends=True)
    if draw.random() < 0.5 and lines[-1].strip():
        lines[-1] = lines[-1].rstrip(b"\r\n")
    return lines


@pytest.mark.parametrize("seed", range(60))
def test_lines_that_stay_are_equal_by_bytes(seed: int) -> None:
    draw = random.Random(seed)
    lines = drawn_lines(draw)
    documents = [number for number, line in enumerate(lines, 1) if line.strip()]
    chosen = draw.sample(documents, min(len(documents), draw.randrange(4)))
    removals = {n: draw.choice([WHOLE_RECORD, Removal(((0, 1),))]) for n in chosen}
    expected = []
    for number, line in enumerate(lines, 1):
        if number not in removals:
            expected.append(line)
        elif removals[number].ranges:
            end = line[len(line.rstrip(b"\r\n")) :]
            record = json.loads(line)
            is_ascii = line.isascii()
            record["text"] = record["text"][1:]
            expected.append(json.dumps(record, ensure_ascii=is_ascii).encode() + end)
    mark = draw.choice([b"", MARK])
    content = mark + b"".join(lines)
    for chunk in (1, 2, 3, draw.randrange(4, 40), 1 << 20):
        assert rewritten(content, removals, chunk) == mark + b"".join(expected)


def test_a_list_stays_one_whichever_items_leave() -> None:
    items = ['{"text": "a"}', '{"text": "[{,"}', '{"text":"c", "n": [1, 2]}']
    content = (f"\ufeff [\n {items[0]},\n {items[1]} ,{items[2]}\n]\n").encode()
    for number in range(8):
        removed = {n for n in range(3) if number >> n & 1}
        new = rewritten(content, {n + 1: WHOLE_RECORD for n in removed}, chunk=5)
        assert new.startswith(MARK + b" [")
        assert new.endswith(b"\n]\n")
        assert json.loads(new) == [json.loads(items[n]) for n in range(3) if n not in removed]
        assert all(item.encode() in new for n, item in enumerate(items) if n not in removed)
    cut = rewritten(content, {2: Removal(((0, 1), (2, 3)))})
    assert cut == content.replace(b'"[{,"', b'"{"')


@pytest.mark.parametrize(
    ("content", "number", "message"),
    [
        pytest.param('{"text": "a"}\n', 2, "c.jsonl: it has 1 line, and line 2 was", id="after"),
        pytest.param('{"text": "a"}', 3, "c.jsonl: it has 1 line, and line 3 was", id="no end"),
        pytest.param('{"text": "a"}\n', 0, "c.jsonl: it has 1 line, and line 0 was", id="before"),
        pytest.param('{"text": "a"}\n\n', 2, "c.jsonl:2: not valid JSON", id="an empty line"),
        pytest.param('{"url": "a"}\n', 1, "c.jsonl:1: no field 'text'", id="no text"),
        pytest.param('[{"text": "a"}]', 2, "c.jsonl: it has 1 item, and item 2 was", id="a list"),
        pytest.param('[{"url": "a"}]', 1, "c.jsonl: item 1: no field 'text'", id="in a list"),
        pytest.param('[{"text": "a"}', 1, "c.jsonl: not a valid JSON list", id="half a list"),
    ],
)
def test_records_that_are_not_there_stop_it(content: str, number: int, message: str) -> None:
    with pytest.raises(CorpusError, match=message) as caught:
        rewritten(content.encode(), {number: WHOLE_RECORD})
    assert "\n" not in str(caught.value)
