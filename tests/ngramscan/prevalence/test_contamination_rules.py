import re
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.errors import InputError
from ngramscan.prevalence.contamination_rules import Rule, Short, Tail, make_rule, windows_of

ByteOrCharacter = Literal["characters", "bytes"]
# Characters of one to four bytes, several kinds of blanks, marks that are not letters.
TEXTS = st.text(alphabet="abZß€𝛑.-_ \n\u00a0", max_size=60)


def naive_windows(text: str, rule: Rule) -> list[str]:
    """Try all parts of a text for the longest that are not longer than a window."""

    def size(start: int, stop: int) -> int:
        part = text[start:stop]
        return len(part.encode() if rule.unit == "bytes" else part)

    def span(start: int) -> tuple[int, int]:
        fits = [stop for stop in range(start, n + 1) if size(start, stop) <= rule.width]
        if size(start, n) >= rule.width or rule.tail != "end":
            return start, max(fits)
        return min(first for first in range(n) if size(first, n) <= rule.width), n

    text = text.strip() if rule.strip else text
    n = len(text)
    starts = [word.start() for word in re.finditer(r"(?<!\S)\S", text)]
    if starts and size(0, n) < rule.width:
        return [text] if rule.short == "whole" else []
    if rule.tail == "drop":
        starts = [start for start in starts if size(start, n) >= rule.width]
    return [text[start:stop] for start, stop in dict.fromkeys(map(span, starts))]


@settings(max_examples=200)
@given(
    TEXTS,
    st.integers(4, 12),
    st.sampled_from(["characters", "bytes"]),
    st.sampled_from(["drop", "cut", "end"]),
    st.sampled_from(["whole", "skip"]),
    st.booleans(),
)
def test_windows_begin_at_words_and_hold_as_much_as_they_can(
    text: str, width: int, unit: ByteOrCharacter, tail: Tail, short: Short, strip: bool
) -> None:
    rule = make_rule("mini", width, unit, tail, short, strip)
    windows = windows_of(text, rule)
    assert [window.query for window in windows] == naive_windows(text, rule)
    assert all(text[start:stop] == query for start, stop, query in windows)


@given(st.integers(0, 100), st.integers(1, 3000))
def test_the_least_number_of_windows_is_exact(percent: int, windows: int) -> None:
    least = make_rule("mini").least(str(percent / 100), windows)
    assert least >= 1
    assert 100 * least >= percent * windows
    assert least == 1 or 100 * (least - 1) < percent * windows


def test_other_choices_are_recorded_too() -> None:
    other = make_rule("mini", 60, "bytes", "end", "skip", strip=False)
    assert other.described == "mini: 60 bytes from each word on; tail end, short skip, not stripped"


@pytest.mark.parametrize(
    ("name", "choice", "where", "problem"),
    [
        (
            "mimi",
            {},
            "--rule mimi",
            (
                "no such rule; did you mean mini? (all: mini, gpt4, gpt4-stripped, gpt3, palm or "
                "ngram-N (windows of N words))"
            ),
        ),
        ("ngram-0", {}, "--rule ngram-0", "the width must be at least 1"),
        ("ngram-8", {"width": 9}, "--window 9", "the name says the length; --rule ngram-9"),
        ("mini", {"width": 0}, "--window 0", "the width must be at least 1"),
        ("gpt3", {"unit": "bytes"}, "--window-unit bytes", "windows of rule gpt3 are words"),
        ("gpt4", {"tail": "cut"}, "--tail cut", "random windows of rule gpt4 end within the text"),
        (
            "mini",
            {"width": 3, "unit": "bytes"},
            "--window 3",
            "the width must be at least 4, the bytes of the longest character",
        ),
        (
            "palm",
            {"strip": False},
            "--no-strip",
            "rule palm searches words in lower case, without white space",
        ),
    ],
    ids=[
        "no rule of this name",
        "no words",
        "two lengths",
        "no bytes",
        "another unit",
        "another end",
        "less than a character",
        "white space",
    ],
)
def test_a_choice_that_makes_no_sense_is_refused_in_one_line(
    name: str, choice: dict[str, Any], where: str, problem: str
) -> None:
    with pytest.raises(InputError) as raised:
        make_rule(name, **choice)
    assert str(raised.value) == f"{where}: {problem}"
