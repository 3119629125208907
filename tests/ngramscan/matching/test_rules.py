"""Each rule of matching counts and shows what its definition says, whichever engine it has."""

import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.errors import EngineError
from ngramscan.matching import (
    Engine,
    Matcher,
    MatchRule,
    aho_corasick_engine,
    count_texts,
    gram_engine,
    hyperscan_engine,
)
from ngramscan.matching.occurrences import find_occurrences
from tests.support import match_oracle
from tests.support.sizes import sets
from tests.support.wrong_engine import SKIPS_OVERLAPS

MakeEngine = Callable[[Sequence[bytes], bool], Engine]
ENGINES = [hyperscan_engine, aho_corasick_engine, gram_engine]
# Letters of one and two bytes and of other scripts, a mark, a digit, a connector, signs, and white
# space of one, two and three bytes.
LETTERS = "aAb_é中\u0301²‿.-{ \n\r\t\u00a0\u2003\u3000"
TEXTS = st.lists(st.text(alphabet=LETTERS, max_size=24), max_size=4)
RULES = [
    MatchRule(whole_words=whole_words, any_space=any_space, ignore_case=ignore_case)
    for whole_words in (False, True)
    for any_space in (False, True)
    for ignore_case in (False, True)
]
QUERIES = st.lists(
    st.text(alphabet=LETTERS, min_size=1, max_size=4).filter(
        lambda query: match_oracle.single_spaced(query) != " "
    ),
    min_size=1,
    max_size=5,
    unique=True,
)
REGEXES = [
    "a",
    "a+",
    "[ab]+?",
    "a|ab",
    "(?:a|é)b?",
    r"a\.",
    r"\s",
    "(?i)a",
    ".",
    "(?s).",
    "^a",
    "b.",
]
"""Those that Python's `re` and RE2 read alike in texts of these letters."""
REGEX_LETTERS = "aAbé_. \n"


def id_of(rule: MatchRule) -> str:
    return " ".join(rule.notes) or "exact"


def counted(
    queries: Sequence[str], texts: Sequence[str], matcher: Matcher
) -> list[tuple[int, int]]:
    """Return occurrences and documents of each query, as the matcher counts them."""
    counts = count_texts(matcher, [text.encode() for text in texts])
    return [
        (counts.occurrences.get(number, 0), counts.documents.get(number, 0))
        for number in range(len(queries))
    ]


@pytest.mark.parametrize("rule", RULES, ids=id_of)
@pytest.mark.parametrize("make", ENGINES)
@settings(max_examples=sets(60))
@given(QUERIES, TEXTS)
def test_every_engine_counts_by_the_definition(
    make: MakeEngine, rule: MatchRule, queries: list[str], texts: list[str]
) -> None:
    spaced = [match_oracle.single_spaced(query) if rule.any_space else query for query in queries]
    engine = make([query.encode() for query in spaced], rule.ignore_case)
    expected = match_oracle.tally(queries, texts, rule)
    assert counted(queries, texts, Matcher(queries, rule, engine)) == expected
    assert counted(queries, texts, Matcher(queries, rule)) == expected


@pytest.mark.parametrize("rule", RULES, ids=id_of)
@settings(max_examples=sets(100))
@given(QUERIES, st.text(alphabet=LETTERS, max_size=30))
def test_places_are_those_of_the_definition(rule: MatchRule, queries: list[str], text: str) -> None:
    for query in queries:
        places = [
            (start, stop - start) for start, stop in find_occurrences(query, text.encode(), rule)
        ]
        assert places == match_oracle.byte_matches(query, text, rule)


@pytest.mark.parametrize("whole_words", [False, True])
@pytest.mark.parametrize("ignore_case", [False, True])
@settings(max_examples=sets(100))
@given(
    st.lists(st.sampled_from(REGEXES), min_size=1, max_size=5, unique=True),
    st.lists(st.text(alphabet=REGEX_LETTERS, max_size=20), max_size=4),
)
def test_expressions_match_as_those_of_python(
    whole_words: bool, ignore_case: bool, regexes: list[str], texts: list[str]
) -> None:
    rule = MatchRule(is_regex=True, whole_words=whole_words, ignore_case=ignore_case)
    assert counted(regexes, texts, Matcher(regexes, rule)) == match_oracle.tally(
        regexes, texts, rule
    )
    for regex in regexes:
        for text in texts:
            places = find_occurrences(regex, text.encode(), rule)
            assert [(start, stop - start) for start, stop in places] == match_oracle.byte_matches(
                regex, text, rule
            )


@pytest.mark.parametrize(
    ("query", "text", "rule", "count"),
    [
        pytest.param("let us", "let user", MatchRule(whole_words=True), 0, id="part of a word"),
        pytest.param("let us", "(let us)", MatchRule(whole_words=True), 1, id="between signs"),
        pytest.param("caf", "cafe\u0301", MatchRule(whole_words=True), 0, id="before a letter"),
        pytest.param("cafe", "cafe\u0301", MatchRule(whole_words=True), 0, id="before a mark"),
        pytest.param("us", "us\u00b2", MatchRule(whole_words=True), 0, id="before a number"),
        pytest.param("us", "éus", MatchRule(whole_words=True), 0, id="after a letter of two bytes"),
        pytest.param("us", "中us", MatchRule(whole_words=True), 0, id="after one of three bytes"),
        pytest.param("us", "\U00010400us", MatchRule(whole_words=True), 0, id="after one of four"),
        pytest.param("us", "“us”", MatchRule(whole_words=True), 1, id="between quotation marks"),
        pytest.param(
            "us", "😀us😀", MatchRule(whole_words=True), 1, id="between signs of four bytes"
        ),
        pytest.param("é", "aé é", MatchRule(whole_words=True), 1, id="a letter of two bytes"),
        pytest.param("\\frac{", "\\frac{a", MatchRule(whole_words=True), 1, id="ends in a sign"),
        pytest.param("a a", "a a a", MatchRule(whole_words=True), 2, id="overlapping words"),
        pytest.param("let us", "let\r\n us", MatchRule(any_space=True), 1, id="the end of a line"),
        pytest.param("let us", "let\u00a0us", MatchRule(any_space=True), 1, id="no-break space"),
        pytest.param("let us", "letus", MatchRule(any_space=True), 0, id="no white space"),
        pytest.param(
            "let us", "let\x1cus", MatchRule(any_space=True), 0, id="a separator of files"
        ),
        pytest.param(" us", "us us", MatchRule(any_space=True), 1, id="starts with white space"),
        pytest.param("us ", "us  us", MatchRule(any_space=True), 1, id="ends with white space"),
        pytest.param("a \n b", "a b", MatchRule(any_space=True), 1, id="more in the query"),
        pytest.param("us", "us", MatchRule(any_space=True), 1, id="no white space in the query"),
        pytest.param(
            "let us",
            "let \u2003us (let\n us outlet  us let  user",
            MatchRule(whole_words=True, any_space=True),
            2,
            id="whole words around any white space",
        ),
        pytest.param("a$", "a\n", MatchRule(is_regex=True), 0, id="the end is that of the text"),
        pytest.param("(?m)a$", "a\nba", MatchRule(is_regex=True), 2, id="the ends of lines"),
        pytest.param("a.b", "a\nb", MatchRule(is_regex=True), 0, id="a dot is no line break"),
        pytest.param("aa", "aaaa", MatchRule(is_regex=True), 2, id="matches don't overlap"),
        pytest.param(
            "k", "K\u212a", MatchRule(is_regex=True, ignore_case=True), 2, id="case of all letters"
        ),
        pytest.param("k", "K\u212a", MatchRule(ignore_case=True), 1, id="case of ASCII letters"),
        pytest.param(
            "foo|foobar", "foobar", MatchRule(is_regex=True, whole_words=True), 0, id="the first"
        ),
    ],
)
def test_cases_of_each_rule(query: str, text: str, rule: MatchRule, count: int) -> None:
    content = memoryview(text.encode())
    # Those of Parquet are signed, and the first texts are searched by the self-check too.
    for texts in ([content], [content.cast("b")] * 30):
        counts = count_texts(Matcher([query], rule), texts)
        assert counts.occurrences.get(0, 0) == count * len(texts)


NOT_UTF_8 = [b"\xff", b"\xc3", b"\xc3(", b"\xe2\x82", b"\x80\x80\x80\x80\x80", b"\xf0\x9f\x98"]


@pytest.mark.parametrize("broken", NOT_UTF_8)
@pytest.mark.parametrize("query", ["us", "é", "é us"])
@pytest.mark.parametrize("rule", RULES, ids=id_of)
def test_bytes_that_are_not_utf_8_are_no_part_of_a_word(
    rule: MatchRule, query: str, broken: bytes
) -> None:
    text = broken + b" " + query.encode() + b" " + broken + query.encode() + b"." + broken
    matcher = Matcher([query], rule)
    # A broken character swallows no byte of a query that follows it.
    assert count_texts(matcher, [text] * 30).occurrences == {0: 60}
    aho_corasick = aho_corasick_engine([query.encode()], rule.ignore_case)
    other = Matcher([query], rule, aho_corasick)
    assert count_texts(other, [text] * 30).occurrences == {0: 60}


def test_bytes_that_are_not_utf_8_match_no_dot() -> None:
    matcher = Matcher(["a.", "é"], MatchRule(is_regex=True))
    assert count_texts(matcher, [b"a\xff\xc3\xa9\xc3", b"ab"]).occurrences == {0: 1, 1: 1}


@pytest.fixture(params=["enough", "none"])
def memory_of_sets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sets of RE2 run out of memory in each text: they find nothing then, without an error."""
    if request.param == "none":
        without_memory = SimpleNamespace(
            Add=lambda _regex: None, Compile=lambda: None, Match=lambda _text: None
        )
        set_type = SimpleNamespace(SearchSet=lambda _options: without_memory)
        monkeypatch.setattr(re2, "Set", set_type)


SHARED_TEXTS = [b"nothing", b"a", b"b", b"y", b"a b", b""]


@pytest.mark.usefixtures("memory_of_sets")
@pytest.mark.parametrize(
    ("regexes", "occurrences"),
    [
        # The first quotation has no end, and would have that of the second.
        pytest.param([r"\Qa", r"b|\Qy\E"], {0: 2, 1: 3}, id="a quotation left open"),
        pytest.param(["(?P<x>a)", "(?P<x>b)"], {0: 2, 1: 2}, id="groups of one name"),
        pytest.param(["(?i)A", "A|y"], {0: 2, 1: 1}, id="a flag"),
        pytest.param(["^a", "b$", r"y\z", "h"], {0: 2, 1: 2, 2: 1, 3: 1}, id="ends of texts"),
        pytest.param(["b"], {0: 2}, id="a single one"),
        pytest.param([r"[a-z\pN]{900}z", "a", "b", "y"], {1: 2, 2: 2, 3: 1}, id="too large a set"),
    ],
)
def test_expressions_are_counted_as_each_by_itself(
    regexes: list[str], occurrences: dict[int, int]
) -> None:
    matcher = Matcher(regexes, MatchRule(is_regex=True))
    # The first texts are searched by the self-check too.
    for _ in range(10):
        assert count_texts(matcher, SHARED_TEXTS).occurrences == occurrences


@pytest.mark.parametrize(
    "rule",
    [MatchRule(whole_words=True), MatchRule(any_space=True), MatchRule(ignore_case=True)],
    ids=id_of,
)
def test_the_self_check_notices_an_engine_that_is_wrong(rule: MatchRule) -> None:
    def scan(text: object, hit: Callable[..., None]) -> None:
        del text
        hit(0, 0, 2)

    matcher = Matcher(["aa"], rule, Engine("invents", scan))
    with pytest.raises(EngineError, match="invents: it counts 1 x 'aa' where brute force counts 0"):
        count_texts(matcher, [b"--"])


def test_the_self_check_notices_missed_overlaps_by_a_rule() -> None:
    matcher = Matcher(["aa"], MatchRule(any_space=True), SKIPS_OVERLAPS)
    with pytest.raises(EngineError, match="brute force counts 2"):
        count_texts(matcher, [b"aaa"])


@pytest.mark.parametrize("rule", RULES, ids=id_of)
def test_without_hyperscan_counts_are_the_same(
    rule: MatchRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = ["let us", "us", "Us ", "é us", "_"]
    texts = ["let us\u00a0us, let  us", "Let\nus é  us_", "user", ""]
    counts = counted(queries, texts, Matcher(queries, rule))
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    assert counted(queries, texts, Matcher(queries, rule)) == counts
    assert counts == match_oracle.tally(queries, texts, rule)


@pytest.mark.parametrize("rule", RULES, ids=id_of)
def test_hundreds_of_queries_are_counted_by_the_rule(rule: MatchRule) -> None:
    queries = [f"word {number}  of some longer words" for number in range(700)]
    texts = [
        f"{'x' * (n % 2)}word {n}\nof some longer words{'s' * (n % 3)} " * 2 for n in range(60)
    ]
    texts += [f"A Word {n}  of some longer words" for n in range(60)]
    chosen = queries[:8]
    counts = counted(queries, texts, Matcher(queries, rule))[: len(chosen)]
    assert counts == match_oracle.tally(chosen, texts, rule)


@pytest.mark.parametrize("character", match_oracle.WHITE_SPACE, ids=lambda c: f"{ord(c):04x}")
def test_each_character_of_white_space_matches_any_other(character: str) -> None:
    text = f"let{character}us let{character}\n{character}us".encode()
    for query in ("let us", f"let{character}us"):
        matcher = Matcher([query], MatchRule(any_space=True))
        other = Matcher([query], MatchRule(any_space=True), aho_corasick_engine([b"let us"]))
        assert count_texts(matcher, [text]).occurrences == {0: 2}
        assert count_texts(other, [text]).occurrences == {0: 2}
