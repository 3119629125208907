"""Usual forms of texts: those that are listed here, and never two at one place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching.rules import MatchRule
from ngramscan.matching.written_forms import written_forms
from tests.support import match_oracle

ANY_SPACE, ANY_CASE = MatchRule(any_space=True), MatchRule(ignore_case=True)
BOTH = MatchRule(any_space=True, ignore_case=True)


@pytest.mark.parametrize(
    ("query", "rule", "forms"),
    [
        pytest.param(
            "let us",
            ANY_SPACE,
            ["let us", "let\nus", "let  us", "let\r\nus", "let\tus"],
            id="a space",
        ),
        pytest.param(
            "a b c",
            ANY_SPACE,
            ["a b c", "a\nb\nc", "a  b  c", "a\r\nb\r\nc", "a\tb\tc"],
            id="all spaces together",
        ),
        pytest.param(
            "a \n b",
            ANY_SPACE,
            ["a \n b", "a b", "a\nb", "a  b", "a\r\nb", "a\tb"],
            id="unusual white space stays among the forms",
        ),
        pytest.param(" us", ANY_SPACE, [" us", "\nus", "\tus"], id="one character at the begin"),
        pytest.param("us  ", ANY_SPACE, ["us ", "us\n", "us\r", "us\t"], id="one at the end"),
        pytest.param("us", ANY_SPACE, ["us"], id="no white space"),
        pytest.param("let us", ANY_CASE, ["let us", "Let us", "Let Us", "LET US"], id="small"),
        pytest.param(
            "LET Us", ANY_CASE, ["LET Us", "let us", "Let us", "Let Us", "LET US"], id="mixed"
        ),
        pytest.param("éa 1st", ANY_CASE, ["éa 1st", "éA 1ST"], id="ASCII letters only"),
        pytest.param("\\frac{", ANY_CASE, ["\\frac{", "\\Frac{", "\\FRAC{"], id="a sign first"),
        pytest.param("42", ANY_CASE, ["42"], id="no letter"),
        pytest.param(
            "a b",
            BOTH,
            [
                *("a b", "A b", "A B"),
                *("a\nb", "A\nb", "A\nB"),
                *("a  b", "A  b", "A  B"),
                *("a\r\nb", "A\r\nb", "A\r\nB"),
                *("a\tb", "A\tb", "A\tB"),
            ],
            id="both",
        ),
        pytest.param("let us", MatchRule(whole_words=True), ["let us"], id="whole words"),
    ],
)
def test_forms_are_the_usual_ones(query: str, rule: MatchRule, forms: list[str]) -> None:
    assert written_forms(query, rule) == forms


TEXTS = st.text("aB \n\r\t", max_size=30)


@given(TEXTS.filter(lambda text: bool(text.strip())), TEXTS)
def test_no_two_forms_share_an_occurrence(query: str, text: str) -> None:
    query = query[:6].strip("\t") or "a"
    if not query.strip():
        return
    by_rule = {start for start, _ in match_oracle.matches(query, text, BOTH)}
    places = list[int]()
    for form in written_forms(query, BOTH):
        indent = len(form) - len(form.lstrip(match_oracle.WHITE_SPACE))
        exact = match_oracle.matches(form, text, MatchRule())
        places += [start + indent for start, _ in exact]
    assert len(places) == len(set(places))
    assert set(places) <= by_rule
