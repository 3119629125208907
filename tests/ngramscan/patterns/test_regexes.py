"""Regular expressions of a pattern set: checked when they are loaded, in linear time."""

import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.files import parse_patterns
from ngramscan.patterns.regexes import compile_regex, whole


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        pytest.param(
            "{method: A, name: n, regex: '('}",
            "own.yaml:5: regexes[0].regex: not a regular",
            id="a bracket that is not closed",
        ),
        pytest.param(
            "{method: A, name: n, regex: 'a*'}",
            "own.yaml:5: regexes[0].regex: it matches the empty",
            id="it matches nothing",
        ),
        pytest.param(
            "{method: '', name: n, regex: a}",
            "own.yaml:5: regexes[0].method: it is empty",
            id="an empty method",
        ),
        pytest.param("{method: A, regex: a}", "own.yaml:5: regexes[0]: no name", id="no name"),
        pytest.param(
            "{method: A, name: n, regex: a, tier: T1}",
            "regexes[0]: unknown key 'tier'",
            id="an unknown key",
        ),
        pytest.param(
            "{method: A, name: n, regex: a}\n - {method: A, name: n, regex: b}",
            "also on line 5",
            id="a name twice",
        ),
    ],
)
def test_a_regex_is_checked_when_it_is_loaded(regex: str, words: str) -> None:
    start = "name: x\npatterns:\n - {method: A, tier: T1, kind: code, text: a}\nregexes:\n - "
    with pytest.raises(InputError) as error:
        parse_patterns(start + regex, "own.yaml")
    assert words in str(error.value)


def test_regexes_take_no_long_time() -> None:
    regex, text = compile_regex("(a+)+$"), "a" * 100_000 + "b"
    assert regex.search(text) is None
    assert regex.search(text[:-1]).span() == (0, 100_000)


PATTERNS = r"""
name: own
patterns:
  - {method: FP/F-1, tier: T2, kind: narrative, text: thus}
  - {method: PoT, tier: T2, kind: code, text: 'def solve('}
regexes:
  - {method: PoT, name: fence, regex: '```python\b'}
"""
SET = parse_patterns(PATTERNS, "own.yaml")


def test_regexes_are_never_counted_in_corpora() -> None:
    assert "fence" not in [query.text for query in SET.queries()]
    assert [r.name for r in SET.select(methods=["pot"]).regexes] == ["fence"]
    assert SET.select(tiers=["T2"]).regexes == ()
    alone = parse_patterns(PATTERNS + "  - {method: X, name: n, regex: a}", "o").select((), ["x"])
    with pytest.raises(InputError, match="only regexes"):
        alone.queries()


@pytest.mark.parametrize(
    ("regex", "flags", "text", "found"),
    [
        pytest.param("step", "", "a STEP", False, id="another case"),
        pytest.param("step", "i", "a STEP", True, id="i, another case"),
        pytest.param("^step", "", "a\nstep", False, id="another line"),
        pytest.param("^step", "m", "a\nstep", True, id="m, another line"),
        pytest.param("^step", "im", "a\nSTEP", True, id="im, another case and line"),
    ],
)
def test_flags_ignore_case_and_match_lines(regex: str, flags: str, text: str, found: bool) -> None:
    assert bool(compile_regex(regex, flags).search(text)) == found


def test_half_of_a_character_is_no_regex_and_none_in_a_text() -> None:
    with pytest.raises(ValueError, match="half a character"):
        compile_regex("\ud83d")
    assert whole("a\ud83d") == "a?"
    assert whole("é") == "é"
