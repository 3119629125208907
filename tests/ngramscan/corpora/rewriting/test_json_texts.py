r"""Cut texts in JSON: read again by `json`, they are cut, and all other bytes are as they were."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.corpora.rewriting.json_texts import cut_object
from ngramscan.corpora.text_fields import parse_text_field
from ngramscan.errors import CorpusError

TEXTS = st.text(
    st.sampled_from('ab"\\/\n\té中😀\x7f\u2028') | st.characters(exclude_categories=["Cs"]),
    max_size=12,
)
WRITERS: list[Callable[[Any], str]] = [
    json.dumps,
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, indent=1, separators=(" ,", " : ")).replace("/", "\\/"),
]


def cut(content: str | bytes, *ranges: tuple[int, int], field: str = "text") -> bytes:
    content = content if isinstance(content, bytes) else content.encode()
    return cut_object(content, parse_text_field(field), ranges, "c.jsonl:1")


@st.composite
def text_and_range(draw: st.DrawFn) -> tuple[str, int, int]:
    text = draw(TEXTS.filter(bool))
    start = draw(st.integers(0, len(text) - 1))
    return text, start, draw(st.integers(start + 1, len(text)))


@given(
    drawn=text_and_range(),
    before=st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS) | st.floats() | st.none(), max_size=3),
    write=st.sampled_from(WRITERS),
)
def test_a_cut_text_is_read_back_and_all_else_is_the_same(
    drawn: tuple[str, int, int], before: dict[str, Any], write: Callable[[Any], str]
) -> None:
    text, start, stop = drawn
    record = {
        **{key: value for key, value in before.items() if key != "text"},
        "text": text,
        "z": 1,
    }
    content = write(record)
    new = cut(content, (start, stop)).decode()
    assert json.loads(new)["text"] == text[:start] + text[stop:]
    # The object around the text, with the text in front of which and behind which it goes on.
    before_text, _, after_text = content.rpartition(write(text))
    assert new.startswith(before_text)
    assert new.endswith(after_text)
    assert new == before_text + write(text[:start] + text[stop:]) + after_text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            r'{"text": "\u00e9é\u0062\/x"}', r'{"text": "\u00e9\/x"}', id="escaped and not"
        ),
        pytest.param(r'{"text":"\ud83d\ude00abc"}', r'{"text":"\ud83d\ude00c"}', id="two halves"),
        pytest.param('{"text":"abc","text":"xyz1"}', '{"text":"abc","text":"x1"}', id="the last"),
        pytest.param('{"a":NaN, "b": -1.50e+7 ,"text":"xyz"}\r\n', None, id="numbers"),
        pytest.param('  \ufeff{"text":"xyz"}'.strip(), None, id="a byte order mark"),
        pytest.param('{"n":{"text":"abcd"},"text":"xyz"}', None, id="the same name inside"),
        pytest.param('{"t\\u0065xt":"xyz"}', None, id="an escaped name"),
        pytest.param('{"b":["}","]"],"text":"xyz","c":{}}', None, id="brackets in strings"),
    ],
)
def test_only_the_characters_of_the_passage_leave(content: str, expected: str | None) -> None:
    expected = content.replace("xyz", "x") if expected is None else expected
    assert cut(content, (1, 3)).decode() == expected


def test_bytes_that_are_not_utf8_in_other_fields_stay() -> None:
    content = b'{"url":"\xff\xed\xa0\x80\xc3","text":"abc","z":"\xe2\x82"}\n'
    assert cut(content, (0, 2)) == content.replace(b"abc", b"c")


MESSAGES = (
    '{"messages": [{"role": "user", "content": "abcd"}, '
    '{"role": "assistant", "content": "efg"}, {"role": "user", "content": "hi"}]}'
)


@pytest.mark.parametrize(
    ("field", "content", "ranges", "expected"),
    [
        pytest.param("a.b", '{"a":{"b":"abcd"}}', [(0, 2)], '{"a":{"b":"cd"}}', id="an object"),
        pytest.param("a.b", '{"a":{"b":"x"},"a.b":"yz"}', [(0, 1)], '"a.b":"z"', id="exact name"),
        pytest.param("b,text", '{"text":"abc"}', [(0, 1)], '{"text":"bc"}', id="the second"),
        pytest.param(
            "messages.content", MESSAGES, [(2, 7), (10, 11)], MESSAGES, id="several strings"
        ),
        pytest.param(
            "messages[role=assistant].content",
            MESSAGES,
            [(1, 2)],
            MESSAGES.replace("efg", "eg"),
            id="chosen objects",
        ),
    ],
)
def test_texts_in_paths_are_cut_where_they_are(
    field: str, content: str, ranges: list[tuple[int, int]], expected: str
) -> None:
    if len(ranges) > 1:  # abcd⏎efg⏎hi without "cd⏎ef" and "i"
        expected = expected.replace("abcd", "ab").replace("efg", "g").replace("hi", "h")
    new = cut(content, *ranges, field=field).decode()
    assert expected in new
    assert len(new) == len(content) - sum(stop - start for start, stop in ranges) + (
        len(ranges) > 1  # the line end between two strings, which is not written
    )


def test_a_text_in_a_list_of_no_strings_has_no_passage() -> None:
    with pytest.raises(CorpusError, match=r"c\.jsonl:1: its text has 0 characters"):
        cut('{"text": []}', (0, 1))
