from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan import matching
from ngramscan.errors import EngineError
from ngramscan.matching import (
    AhoCorasickEngine,
    Engine,
    Hit,
    HyperscanEngine,
    Matcher,
    Tally,
    Text,
    compile_engine,
    count_by_brute_force,
)
from tests import oracle

ENGINES = [HyperscanEngine, AhoCorasickEngine]
# Few letters, one of two bytes that shares its first byte with another: overlaps, nested queries
# and hits inside a character are frequent.
TEXTS = st.text(alphabet="abéè\n\0", max_size=30)
QUERIES = st.lists(st.text(alphabet="abéè\n\0", min_size=1, max_size=4), min_size=1, max_size=6)


@pytest.mark.parametrize("engine", ENGINES)
@given(QUERIES, st.lists(TEXTS, max_size=5))
def test_counts_are_those_of_the_definition(
    engine: Callable[[Sequence[bytes]], Engine], queries: list[str], texts: list[str]
) -> None:
    unique = list(dict.fromkeys(queries))
    matcher = Matcher(unique, engine=engine([query.encode() for query in unique]))
    tally = Tally(matcher)
    tally.add(text.encode() for text in texts)
    expected = [sum(oracle.occurrences(query, text) for text in texts) for query in unique]
    in_documents = [sum(query in text for text in texts) for query in unique]
    assert tally.occurrences == expected
    assert tally.documents == in_documents
    assert tally.documents_read == len(texts)
    assert tally.bytes_read == sum(len(text.encode()) for text in texts)


@pytest.mark.parametrize("engine", ENGINES)
@given(QUERIES, st.lists(TEXTS, max_size=5), st.data())
def test_a_document_counts_once_for_a_union(
    engine: Callable[[Sequence[bytes]], Engine],
    queries: list[str],
    texts: list[str],
    data: st.DataObject,
) -> None:
    unique = list(dict.fromkeys(queries))
    numbers = st.lists(st.integers(0, len(unique) - 1), max_size=5)
    unions = data.draw(st.lists(numbers, min_size=1, max_size=4))
    matcher = Matcher(unique, engine=engine([query.encode() for query in unique]))
    tally, plain = Tally(matcher, unions), Tally(matcher)
    for batch in (texts[:2], texts[2:]):
        tally.add(text.encode() for text in batch)
        plain.add(text.encode() for text in batch)
    assert tally.union_documents == [
        oracle.union_documents([unique[number] for number in union], texts) for union in unions
    ]
    assert (tally.occurrences, tally.documents) == (plain.occurrences, plain.documents)


@given(st.text(alphabet="abé", min_size=1, max_size=3), TEXTS)
def test_the_two_brute_force_counts_agree(query: str, text: str) -> None:
    expected = oracle.occurrences(query, text)
    assert count_by_brute_force(query.encode(), text.encode()) == expected
    assert oracle.occurrences_fast(query, text) == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("query", "text", "count"),
    [
        pytest.param("aa", "aaaa", 3, id="overlapping"),
        pytest.param("a\0b", "xa\0ba", 1, id="a NUL inside"),
        pytest.param("\0", "\0\0", 2, id="only a NUL"),
        pytest.param("\\frac{", "\\frac{1}{2}\\frac", 1, id="regex characters"),
        pytest.param(".*", "a.*b", 1, id="a regex is a literal"),
        pytest.param("ภาษา", "ภาษาภาษา", 2, id="Thai"),
        pytest.param("a\nb", "a\nb\r\n", 1, id="a newline"),
        pytest.param("Step", "step", 0, id="case counts"),
    ],
)
def test_special_literals(
    engine: Callable[[Sequence[bytes]], Engine], query: str, text: str, count: int
) -> None:
    tally = Tally(Matcher([query], engine=engine([query.encode()])))
    tally.add([text.encode()])
    assert tally.occurrences == [count]


def test_documents_are_counted_once_over_several_batches() -> None:
    matcher = Matcher(["a", "a", "b"])
    tally = Tally(matcher)
    for batch in ([b"aa", b"b"], [], [b"ab"]):
        tally.add(batch)
    assert matcher.queries == ["a", "b"]
    assert (tally.occurrences, tally.documents) == ([3, 2], [2, 2])
    assert (tally.documents_read, tally.bytes_read) == (3, 5)


def test_a_literal_over_hyperscans_limit_is_counted_by_the_other_engine() -> None:
    long = "ab" * 20_000
    assert compile_engine([long.encode()]).name == "ahocorasick_rs"
    tally = Tally(Matcher([long]))
    tally.add([(long + "ab").encode()])
    assert tally.occurrences == [2]


def test_without_hyperscan_the_other_engine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_engine([b"a"]).name == "hyperscan"
    monkeypatch.setattr(matching, "hyperscan", None)
    assert compile_engine([b"a"]).name == "ahocorasick_rs"


def test_without_queries_only_the_size_is_counted() -> None:
    tally = Tally(Matcher([]))
    tally.add([b"abc", b""])
    assert (tally.occurrences, tally.documents_read, tally.bytes_read) == ([], 2, 3)


@pytest.mark.parametrize("engine", ENGINES)
@given(QUERIES, st.lists(st.text(alphabet="aAbBéÉ", max_size=20), max_size=4))
def test_ignoring_case_is_counting_in_lower_case_of_ascii_letters(
    engine: Callable[..., Engine], queries: list[str], texts: list[str]
) -> None:
    unique = list(dict.fromkeys(queries))
    compiled = engine([query.encode() for query in unique], True)
    tally = Tally(Matcher(unique, True, compiled))
    tally.add(text.encode() for text in texts)
    lower = str.maketrans("AB", "ab")
    expected = [
        sum(oracle.occurrences(query.translate(lower), text.translate(lower)) for text in texts)
        for query in unique
    ]
    assert tally.occurrences == expected


class SkipsOverlaps:
    """What `bytes.count` would be as an engine."""

    name = "bytes.count"

    def scan(self, text: Text, hit: Hit) -> None:
        for _ in range(bytes(text).count(b"aa")):
            hit(0)


def test_the_self_check_stops_a_run_whose_engine_is_wrong() -> None:
    tally = Tally(Matcher(["aa"], engine=SkipsOverlaps()))
    tally.add([b"aa", b"b"])
    with pytest.raises(EngineError, match=r"bytes\.count: it counts 1 x 'aa' .* brute force .* 2"):
        tally.add([b"aaa"])
