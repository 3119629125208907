import re
from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ngramscan.errors import InputError
from ngramscan.matching import normalized
from ngramscan.prevalence.contamination.rules import (
    DescribedRule,
    Rule,
    Short,
    Tail,
    make_rule,
    read_described,
    windows_of,
)

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
                "no such rule; did you mean mini? (all: copied, mini, gpt4, gpt4-stripped, gpt3,"
                " palm or ngram-N (windows of N words))"
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


# Windows by hand

QUESTION = (
    "  A train leaves at 9:15 — at 80 km/h. How far has it come when the clock strikes noon,\n"
    "if nothing stops it?\n"
)


def queries(text: str, rule: Rule, place_seed: str = "") -> list[str]:
    return [window.query for window in windows_of(text, rule, place_seed)]


def test_a_question_has_a_window_at_each_word_but_the_last_few() -> None:
    windows = windows_of(QUESTION, make_rule("mini"))
    assert len(windows) == 14
    assert windows[0].query == "A train leaves at 9:15 — at 80 km/h. How far has i"
    assert (windows[1].start, windows[1].query[:6]) == (4, "train ")
    assert windows[-1].query == "come when the clock strikes noon,\nif nothing stops"


@pytest.mark.parametrize("name", ["mini", "gpt4", "gpt4-stripped", "gpt3", "palm", "ngram-2"])
@pytest.mark.parametrize("strip", [True, False], ids=["stripped", "as it is"])
@pytest.mark.parametrize("text", ["", " \n\t", "\u00a0"], ids=["empty", "blanks", "no-break space"])
def test_a_text_of_white_space_has_no_window_under_any_rule(
    name: str, strip: bool, text: str
) -> None:
    rule = make_rule(name)
    assert windows_of(text, replace(rule, strip=strip)) == []


@given(st.text(alphabet="aB1ßé.,'+ \n", max_size=60), st.integers(1, 5))
def test_windows_of_words_are_in_each_text_with_these_words(text: str, width: int) -> None:
    words = re.sub(r"[\W_]+", " ", text.casefold()).split()
    runs = [words[start : start + width] for start in range(len(words) - width + 1)]
    if words and not runs:
        runs = [words]
    windows = windows_of(text, make_rule(f"ngram-{width}"))
    assert [window.query for window in windows] == [f" {' '.join(run)} " for run in runs]
    for start, stop, query in windows:
        assert normalized(text[start:stop], "words") == query
        assert text[start].isalnum()
        assert query in normalized(f"(Foo: {text}!)", "words")


@pytest.mark.parametrize(
    ("tail", "windows"),
    [
        ("drop", [" one two ", " two three "]),
        ("cut", [" one two ", " two three ", " three "]),
        ("end", [" one two ", " two three "]),
    ],
)
def test_words_that_the_end_cuts_short_are_left_out_kept_or_moved(
    tail: Tail, windows: list[str]
) -> None:
    assert queries("One, two; three.", make_rule("ngram-2", tail=tail)) == windows


def test_fewer_words_than_a_window_are_skipped_on_request() -> None:
    assert queries("One, two; three.", make_rule("ngram-4")) == [" one two three "]
    assert queries("One, two; three.", make_rule("ngram-4", short="skip")) == []


def test_places_are_those_in_the_given_text_where_another_form_is_longer() -> None:
    text = "In İzmir, İİ, cafe\u0301."
    places = [text[start:stop] for start, stop, _ in windows_of(text, make_rule("ngram-1"))]
    assert places == ["In", "İzmir", "İİ", "cafe\u0301"]


# Windows at random


@pytest.mark.parametrize(
    ("name", "left_out"), [("gpt4", r"^\s+|\s+$"), ("gpt4-stripped", r"[\W_]")]
)
@given(st.text(alphabet="abZßé€.-_ \n\u00a0", max_size=60), st.text(max_size=3))
@example("a" * 8, "")
def test_random_windows_are_different_places_of_the_text_in_their_order(
    name: str, left_out: str, text: str, place_seed: str
) -> None:
    kept = re.sub(left_out, "", text)
    windows = windows_of(text, make_rule(name, 6), place_seed)
    n_places = len(kept) - 5
    expected = min(3, n_places) if n_places > 0 else int(bool(kept))
    assert len({window.start for window in windows}) == len(windows) == expected
    assert windows == sorted(windows)
    for start, stop, query in windows:
        assert query in kept
        assert len(query) == min(6, len(kept))
        assert query == "".join(letter for letter in text[start:stop] if letter in kept)


@pytest.mark.parametrize(("place_seed", "starts"), [("1/q7", [15, 31, 56]), ("2/q7", [6, 46, 48])])
def test_random_windows_stay_the_same_in_every_version(place_seed: str, starts: list[int]) -> None:
    windows = windows_of(QUESTION, make_rule("gpt4"), place_seed)
    assert [window.start for window in windows] == starts


def test_each_place_is_drawn_as_often_as_any_other() -> None:
    text = "a" * 304  # 300 places, more than a byte can tell apart
    drawn = Counter(
        window.start
        for seed in range(5000)
        for window in windows_of(text, make_rule("gpt4", 5), f"{seed}/x")
    )
    assert drawn.total() == 15_000
    assert chisquare([drawn[place] for place in range(300)]).pvalue > 0.001


# What a rule says


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("mini", "mini: 50 characters from each word on; tail drop, short whole, stripped"),
        ("gpt4", "gpt4: 50 characters at 3 random places; short whole, stripped"),
        (
            "gpt4-stripped",
            (
                "gpt4-stripped: 50 characters at 3 random places; short whole, "
                "letters and digits alone"
            ),
        ),
        (
            "gpt3",
            "gpt3: 13 words from each word on; tail drop, short whole, words in lower case",
        ),
        ("palm", "palm: 8 words from each word on; tail drop, short whole, words in lower case"),
        (
            "ngram-10",
            "ngram-10: 10 words from each word on; tail drop, short whole, words in lower case",
        ),
    ],
)
def test_a_rule_records_all_its_choices(name: str, described: str) -> None:
    rule = make_rule(name)
    assert rule.described == described
    assert read_described(described) == DescribedRule(name, f"{rule.width} {rule.unit}")


@pytest.mark.parametrize(
    "text",
    [
        "mini",
        "mini: 50 characters",
        "mine: 50 characters from each word on",
        "ngram-: 8 words from each word on",
        "mini: many characters from each word on",
        "mini: 50 pages from each word on",
        "None",
        "",
    ],
)
def test_the_rule_of_others_is_not_read(text: str) -> None:
    assert read_described(text) is None
