"""The matcher counts by the definition, whichever engine it has, and checks its engine."""

import random
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.errors import EngineError
from ngramscan.matching import (
    Counts,
    Engine,
    Hit,
    Matcher,
    MatchRule,
    TextBytes,
    aho_corasick_engine,
    compile_engine,
    count_by_brute_force,
    count_texts,
    gram_engine,
    hyperscan_engine,
)
from tests.support import oracle
from tests.support.engine_hits import LETTERS, LOWER, found_by
from tests.support.sizes import sets
from tests.support.wrong_engine import SKIPS_OVERLAPS

MakeEngine = Callable[[Sequence[bytes], bool], Engine]
ENGINES = [hyperscan_engine, aho_corasick_engine, gram_engine]
TEXTS = st.lists(st.text(alphabet=LETTERS, max_size=30), max_size=5)
QUERIES = st.lists(
    st.text(alphabet=LETTERS, min_size=1, max_size=4), min_size=1, max_size=6, unique=True
)


@pytest.mark.parametrize("make", ENGINES)
@settings(max_examples=sets(50))
@given(QUERIES, TEXTS, st.booleans(), st.data())
def test_counts_are_those_of_the_definition(
    make: MakeEngine, queries: list[str], texts: list[str], ignore_case: bool, data: st.DataObject
) -> None:
    numbers = st.lists(st.integers(0, len(queries) - 1), max_size=5)
    unions = data.draw(st.lists(numbers, max_size=4))
    engine = make([query.encode() for query in queries], ignore_case)
    matcher = Matcher(queries, MatchRule(ignore_case=ignore_case), engine)
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


def test_a_literal_over_hyperscans_limit_is_counted_by_the_other_engine() -> None:
    long = "ab" * 4_000
    assert compile_engine([long.encode()]).name == "ahocorasick_rs"
    assert count_texts(Matcher([long]), [(long + "ab").encode()]).occurrences == {0: 2}


def test_without_hyperscan_the_other_engine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_engine([b"a"]).name == "hyperscan"
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    assert compile_engine([b"a"]).name == "ahocorasick_rs"


def test_the_self_check_stops_a_run_whose_engine_is_wrong() -> None:
    matcher = Matcher(["aa"], engine=SKIPS_OVERLAPS)
    count_texts(matcher, [b"aa", b"b"])
    with pytest.raises(EngineError, match=r"bytes\.count: it counts 1 x 'aa' .* brute force .* 2"):
        count_texts(matcher, [b"aaa"])


def thousands(n: int) -> tuple[list[str], list[str]]:
    """Return literals of 10 to 120 letters, and texts with some of them, each behind the other."""
    draw = random.Random(1)
    literals = list(
        dict.fromkeys("".join(draw.choices("abé \n", k=draw.randint(10, 120))) for _ in range(n))
    )
    literals += [literal[:-1] for literal in literals[:100]]  # some begin with another
    texts = ["".join(draw.choices(literals, k=draw.randint(0, 20))) for _ in range(60)]
    return list(dict.fromkeys(literals)), texts


def test_the_self_check_of_thousands_of_queries_finds_missed_ones() -> None:
    literals, texts = thousands(3_000)
    whole = aho_corasick_engine([literal.encode() for literal in literals])

    def scan(text: TextBytes, hit: Hit) -> None:
        for number in found_by(whole, text):
            if number % 20:
                hit(number)

    matcher = Matcher(literals, engine=Engine("misses", scan))
    with pytest.raises(EngineError, match=r"misses: it counts 0 x .* brute force counts \d+"):
        count_texts(matcher, [text.encode() for text in texts])


# Normalized texts


def test_a_matcher_normalizes_texts_and_counts_their_own_bytes() -> None:
    texts = [b"It's a TEST, a\ntest.", b"\xffa\xfftest", b"...", b"a testing"]
    counts = count_texts(Matcher([" a test "], normalization="words"), texts)
    assert (counts.occurrences, counts.documents) == ({0: 3}, {0: 2})
    assert (counts.documents_read, counts.bytes_read) == (4, sum(map(len, texts)))


@pytest.mark.parametrize(
    ("n_right", "is_checked"),
    [pytest.param(19, True, id="the 20th"), pytest.param(20, False, id="the 21st")],
)
def test_the_first_20_documents_are_checked(n_right: int, is_checked: bool) -> None:
    matcher = Matcher(["aa"], engine=SKIPS_OVERLAPS)
    count_texts(matcher, [b"aa"] * n_right)
    with pytest.raises(EngineError) if is_checked else nullcontext():
        count_texts(matcher, [b"aaa"])


@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize(
    ("query", "text", "count"),
    [
        pytest.param("aa", "aaaa", 3, id="overlapping"),
        pytest.param("a\0b", "xa\0ba", 1, id="a zero byte inside"),
        pytest.param("\0", "\0\0", 2, id="only a zero byte"),
        pytest.param("\\frac{", "\\frac{1}{2}\\frac", 1, id="signs of a regular expression"),
        pytest.param(".*", "a.*b", 1, id="a regular expression is a literal"),
        pytest.param("ภาษา", "ภาษาภาษา", 2, id="Thai"),
        pytest.param("a\nb", "a\nb\r\n", 1, id="a newline"),
        pytest.param("Step", "step", 0, id="case counts"),
    ],
)
def test_special_literals_are_counted(make: MakeEngine, query: str, text: str, count: int) -> None:
    matcher = Matcher([query], engine=make([query.encode()], False))
    assert count_texts(matcher, [memoryview(text.encode())]).occurrences.get(0, 0) == count


def test_a_matcher_drops_queries_that_are_given_twice() -> None:
    matcher = Matcher(["a", "a", "b"])
    assert matcher.queries == ["a", "b"]
    expected = Counts({0: 3, 1: 2}, {0: 2, 1: 2}, [], 3, 5)
    assert count_texts(matcher, [b"aa", b"b", b"ab"]) == expected
    assert count_texts(matcher, [b"aa", b"b", b"ab"]) == expected, "a matcher is for many texts"


def test_a_matcher_without_queries_counts_documents_and_bytes() -> None:
    assert count_texts(Matcher([]), [b"abc", b""]) == Counts({}, {}, [], 2, 3)


@pytest.mark.parametrize("ignore_case", [False, True])
def test_thousands_of_literals_are_counted_by_our_engine(ignore_case: bool) -> None:
    literals, texts = thousands(3_000)
    contents = [literal.encode() for literal in literals]
    assert compile_engine(contents, ignore_case).name == "grams"
    documents = [text.encode() for text in texts]
    counts = count_texts(Matcher(literals, MatchRule(ignore_case=ignore_case)), documents)
    other = aho_corasick_engine(contents, ignore_case)
    assert counts == count_texts(
        Matcher(literals, MatchRule(ignore_case=ignore_case), other), documents
    )
    numbers = [*counts.occurrences][::50]
    assert [counts.occurrences[number] for number in numbers] == [
        sum(oracle.occurrences(literals[number], text) for text in texts) for number in numbers
    ]
