"""Halves of characters in JSON are replaced or refused, whole characters are not."""

import json

import pytest

from ngramscan.errors import InputError
from ngramscan.reading.surrogates import (
    find_half,
    may_have_halves,
    refuse_halves,
    replace_halves,
)

FIRST, SECOND = "\\ud83d", "\\ude00"


@pytest.mark.parametrize(
    ("content", "text", "replaced"),
    [
        pytest.param(f'"a{FIRST}b"', "a\ufffdb", 1, id="a first half"),
        pytest.param(f'"a{SECOND}b"', "a\ufffdb", 1, id="a second half"),
        pytest.param(f'"{FIRST}{SECOND}"', "\N{GRINNING FACE}", 0, id="both halves"),
        pytest.param(f'"{SECOND}{FIRST}"', "\ufffd\ufffd", 2, id="halves in the wrong order"),
        pytest.param(f'"{FIRST}{FIRST}{SECOND}"', "\ufffd\N{GRINNING FACE}", 1, id="three halves"),
        pytest.param('"\\uD83D\\n"', "\ufffd\n", 1, id="capitals"),
        pytest.param(f'"\\{FIRST}"', "\\ud83d", 0, id="an escaped backslash"),
        pytest.param('"\\ud7ff\\ue000"', "\ud7ff\ue000", 0, id="neighbours"),
        pytest.param('"plain"', "plain", 0, id="no half"),
    ],
)
def test_halves_are_replaced_and_counted(content: str, text: str, replaced: int) -> None:
    found, number = replace_halves(content.encode())
    assert (json.loads(found), number) == (text, replaced)
    assert len(found) == len(content), "places are still the same"


def test_halves_that_other_encoders_write_are_replaced() -> None:
    content = '"a\ud83d"'.encode("utf-8", "surrogatepass")
    assert replace_halves(content) == ('"a\ufffd"'.encode(), 1)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b'"a"', False, id="no half"),
        pytest.param(b'"\\ud83d"', True, id="a half"),
        pytest.param('"a"'.encode("utf-16-le"), True, id="UTF-16"),
    ],
)
def test_contents_that_may_have_halves_are_known(content: bytes, expected: bool) -> None:
    assert may_have_halves(content) is expected


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        pytest.param({"id": "ab\ud83d"}, "id has a lone surrogate at character 2", id="a value"),
        pytest.param(
            {"id": {"deep": ["x", "\ud83d"]}}, "id has a lone surrogate at character 0", id="within"
        ),
        pytest.param({"id": {"\ud83d": 1}}, "id has a lone surrogate", id="a name within"),
        pytest.param(
            {"i\ud83d": 1}, "the name of a column has a lone surrogate at character 1", id="a name"
        ),
        pytest.param("x\ud83d", "a text has a lone surrogate at character 1", id="no row"),
    ],
)
def test_rows_with_halves_are_refused(row: object, problem: str) -> None:
    with pytest.raises(InputError, match=f"t.jsonl:3: {problem}"):
        refuse_halves("t.jsonl:3", row)


def test_rows_without_halves_are_not_refused() -> None:
    refuse_halves("t.jsonl:3", {"id": "\N{GRINNING FACE}", "more": [1, None, {"a": "b"}]})
    assert find_half("\N{GRINNING FACE}") == -1
