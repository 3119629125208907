from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.errors import EngineError
from ngramscan.matching import (
    Counts,
    Engine,
    Hit,
    Matcher,
    Text,
    aho_corasick_engine,
    compile_engine,
    count_by_brute_force,
    count_texts,
    hyperscan_engine,
)
from tests.support import oracle
from tests.support.sizes import sets

MakeEngine = Callable[[Sequence[bytes], bool], Engine]
ENGINES = [hyperscan_engine, aho_corasick_engine]
# Few letters, one of two bytes that shares its first byte with another: overlaps, nested queries
# and hits inside a character are frequent.
LETTERS = "aAbéèÉ\n\0"
TEXTS = st.lists(st.text(alphabet=LETTERS, max_size=30), max_size=5)
QUERIES = st.lists(
    st.text(alphabet=LETTERS, min_size=1, max_size=4), min_size=1, max_size=6, unique=True
)
LOWER = str.maketrans("A", "a")


@pytest.mark.parametrize("make", ENGINES)
@settings(max_examples=sets(50))
@given(QUERIES, TEXTS, st.booleans(), st.data())
def test_counts_are_those_of_the_definition(
    make: MakeEngine, queries: list[str], texts: list[str], ignore_case: bool, data: st.DataObject
) -> None:
    numbers = st.lists(st.integers(0, len(queries) - 1), max_size=5)
    unions = data.draw(st.lists(numbers, max_size=4))
    engine = make([query.encode() for query in queries], ignore_case)
    matcher = Matcher(queries, ignore_case, engine)
    counts = count_texts(matcher, (text.encode() for text in texts), unions)
    if ignore_case:
        queries = [query.translate(LOWER) for query in queries]
        texts = [text.translate(LOWER) for text in texts]
    occurrences = [sum(oracle.occurrences(query, text) for text in texts) for query in queries]
    assert counts == Counts(
        {number: n for number, n in enumerate(occurrences) if n},
        {
            number: sum(query in text for text in texts)
            for number, query in enumerate(queries)
            if occurrences[number]
        },
        [oracle.union_documents([queries[n] for n in union], texts) for union in unions],
        len(texts),
        sum(len(text.encode()) for text in texts),
    )


@settings(max_examples=sets(50))
@given(st.text(alphabet="abé", min_size=1, max_size=3), st.text(alphabet=LETTERS, max_size=30))
def test_the_two_brute_force_counts_agree(query: str, text: str) -> None:
    expected = oracle.occurrences(query, text)
    assert count_by_brute_force(query.encode(), text.encode()) == expected
    assert oracle.occurrences_fast(query, text) == expected


@pytest.mark.parametrize("make", ENGINES)
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
def test_special_literals(make: MakeEngine, query: str, text: str, count: int) -> None:
    matcher = Matcher([query], engine=make([query.encode()], False))
    assert count_texts(matcher, [memoryview(text.encode())]).occurrences.get(0, 0) == count


def test_a_matcher_is_for_many_texts_and_drops_queries_that_stand_twice() -> None:
    matcher = Matcher(["a", "a", "b"])
    assert matcher.queries == ["a", "b"]
    for _ in range(2):
        assert count_texts(matcher, [b"aa", b"b", b"ab"]) == Counts(
            {0: 3, 1: 2}, {0: 2, 1: 2}, [], 3, 5
        )
    assert count_texts(Matcher([]), [b"abc", b""]) == Counts({}, {}, [], 2, 3)


def test_a_literal_over_hyperscans_limit_is_counted_by_the_other_engine() -> None:
    long = "ab" * 4_000
    assert compile_engine([long.encode()]).name == "ahocorasick_rs"
    assert count_texts(Matcher([long]), [(long + "ab").encode()]).occurrences == {0: 2}


def test_without_hyperscan_the_other_engine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_engine([b"a"]).name == "hyperscan"
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    assert compile_engine([b"a"]).name == "ahocorasick_rs"


def skip_overlaps(text: Text, hit: Hit) -> None:
    """Find what `bytes.count` would."""
    for _ in range(bytes(text).count(b"aa")):
        hit(0)


SKIPS_OVERLAPS = Engine("bytes.count", skip_overlaps)


def test_the_self_check_stops_a_run_whose_engine_is_wrong() -> None:
    matcher = Matcher(["aa"], engine=SKIPS_OVERLAPS)
    count_texts(matcher, [b"aa", b"b"])
    with pytest.raises(EngineError, match=r"bytes\.count: it counts 1 x 'aa' .* brute force .* 2"):
        count_texts(matcher, [b"aaa"])
