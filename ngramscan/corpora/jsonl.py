"""JSON lines: one document per line, its text in one field.

What is decided here: an empty line is no document; a byte order mark at the start of a file is
skipped; NaN and Infinity in other fields are taken; of a key that stands twice the last counts; an
empty text is a document. A text that is no string, or that has a lone surrogate (which UTF-8 can't
hold), is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from ngramscan.corpora.base import Batch
from ngramscan.corpora.compression import read_chunks
from ngramscan.errors import CorpusError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_jsonl(path: str, text_field: str) -> Iterator[Batch]:
    """Yield the documents of a JSON lines file.

    Raises
    ------
    CorpusError
        The file is cut, or a line is no JSON object with a string in `text_field`.
    """
    line_number = 0
    rest = b""
    try:
        for chunk, consumed in read_chunks(path):
            *lines, rest = (rest + chunk).split(b"\n")
            if line_number == 0 and lines:
                lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
            yield _parse(lines, path, line_number, text_field, consumed)
            line_number += len(lines)
    except CorpusError as error:
        if error.where != path:
            raise
        raise CorpusError(f"{path}:{line_number + 1}", error.problem) from error
    if rest:
        if line_number == 0:
            rest = rest.removeprefix(_BYTE_ORDER_MARK)
        yield _parse([rest], path, line_number, text_field, 0)


def _parse(lines: list[bytes], path: str, before: int, text_field: str, consumed: int) -> Batch:
    texts: list[bytes] = []
    records: list[int] = []
    for number, line in enumerate(lines, before + 1):
        try:
            texts.append(orjson.loads(line)[text_field].encode())
        except (ValueError, TypeError, KeyError, AttributeError):
            if not line.strip():
                continue
            texts.append(_parse_with_care(line, f"{path}:{number}", text_field))
        records.append(number)
    return Batch(texts, records, consumed)


def _parse_with_care(line: bytes, where: str, text_field: str) -> bytes:
    """Read a line that the fast way does not take, or say what is wrong with it."""
    try:
        row: Any = json.loads(line)
    except UnicodeDecodeError as error:
        raise CorpusError(where, f"not UTF-8 at byte {error.start} of the line") from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(where, f"no JSON: {error}") from error
    if not isinstance(row, dict):
        raise CorpusError(where, "no JSON object; one with the text in a field was expected")
    if text_field not in row:
        fields = ", ".join(map(str, row)) or "none"
        raise CorpusError(where, f"no field {text_field!r}; it has: {fields} (see --text-field)")
    text = row[text_field]
    if not isinstance(text, str):
        kind = type(text).__name__ if text is not None else "null"
        raise CorpusError(where, f"field {text_field!r} is {kind}; a string was expected")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise CorpusError(
            where, f"field {text_field!r} has a lone surrogate at character {error.start}"
        ) from error
