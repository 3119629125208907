r"""Answers that name something rather than compute it: a choice, a time, yes or no, a base.

They are compared as names, before any algebra: to algebra `9:05` is 9/5, and `10_2` is ten.
"""

import re
from fractions import Fraction
from math import gcd
from typing import NamedTuple

from evalcore.rules import Grade
from evalcore.rules.choices import chosen_letters, compare_choices
from evalcore.rules.congruences import compare_congruences
from evalcore.rules.notation import clean, squeezed
from evalcore.rules.number_words import NUMBER_WORDS, with_digits
from evalcore.rules.numerals import read_only_number, with_improper_fractions
from evalcore.rules.plain_text import has_function
from evalcore.rules.units import is_known_unit

_FONT = r"\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mbox|rm|bf)\s*\{([^{}]*)\}"


def compare_labels(answer: str, gold: str, question: str = "") -> Grade | None:
    """Compare an answer with a gold that is a name; return None where algebra has to compare them.

    Parameters
    ----------
    answer, gold : str
        As the model and the benchmark write them.
    question : str
        The text of the problem, which tells a time from a ratio.

    Returns
    -------
    Grade or None
        The verdict, `value` None where only a judge can tell.
    """
    answer, gold = _bare(answer), _bare(gold)
    for compare in (
        _compare_choices,
        _compare_lettered,
        _compare_truths,
        _compare_bases,
        compare_congruences,
    ):
        if (grade := compare(answer, gold)) is not None:
            return grade
    return _compare_times(answer, gold, question)


def _bare(text: str) -> str:
    """Return a text without dollar signs, fonts, boxes and bold type."""
    text = re.sub(r"\\(?:boxed|fbox)\s*\{(.*)\}", r"\1", text.strip(), flags=re.DOTALL)
    text = re.sub(_FONT, r" \1 ", text.replace("{:}", ":"))
    text = re.sub(r"\\[(\[\])]|\$|\*\*|\\left|\\right", "", text)
    return " ".join(re.sub(r"\\[,;:! ]|\\q?quad|~", " ", text).split()).removesuffix(".").strip()


def _compare_choices(answer: str, gold: str) -> Grade | None:
    """Compare the letters of a multiple choice: `(D) 12` chooses D; `D = 12` doesn't."""
    is_same = compare_choices(answer, gold)
    if is_same is None:
        return None
    if is_same:
        return Grade(1.0, "the same choice")
    answer_letters, gold_letters = (", ".join(chosen_letters(text)) for text in (answer, gold))
    return Grade(0.0, f"choice {answer_letters}, not {gold_letters}")


_LETTERED = re.compile(r"\(\s*([A-Z])\s*\)[.:]?\s*(?![\s=<>+*/^-])(.+)")


def _compare_lettered(answer: str, gold: str) -> Grade | None:
    """Compare an answer with a choice and its text: `(B)`, `12` or `(B) 12` for `(B) 12`."""
    right = _LETTERED.fullmatch(gold)
    if not right:
        return None
    if squeezed(answer) == squeezed(right[2]):
        return Grade(1.0, "the text of the choice")
    if (grade := _compare_choices(answer, right[1])) is not None:
        return grade
    return Grade(None, "needs a judge: a choice without its letter")


_OPPOSITES = {
    "yes": "no",
    "no": "yes",
    "true": "false",
    "false": "true",
}
_TRUTH_FIRST = re.compile(r"(?i)(?:yes|no|true|false)\s*[,.;:–—]")


def _compare_truths(answer: str, gold: str) -> Grade | None:
    """Compare yes with no, and true with false, in any case; more words are for a judge."""
    gold_word, answer_word = gold.lower(), answer.lower()
    if gold_word not in _OPPOSITES:
        return None
    if _TRUTH_FIRST.match(answer):
        return Grade(None, "needs a judge: more words than the reference answer")
    if answer_word == gold_word:
        return Grade(1.0, "the same word")
    return Grade(0.0, "the opposite") if answer_word == _OPPOSITES[gold_word] else None


_BASE = r"\{?\s*(\d{1,2}|[a-z]+)\s*\}?"
_IN_BASE = re.compile(rf"\(?([0-9A-Za-z]+)\)?\s*(?:_\s*{_BASE}|\(?\s*(?:in )?base\s+{_BASE}\s*\)?)")
_WITH_PREFIX = re.compile("0([bBoOxX])([0-9A-Fa-f]+)")
_BASES_OF_PREFIXES = {
    "b": 2,
    "o": 8,
    "x": 16,
}


def _in_base(text: str) -> tuple[str, int] | None:
    """Return the digits and the base of a number such as `1011_2`, `1011 base two` or `0b1011`."""
    if prefixed := _WITH_PREFIX.fullmatch(text):
        digits, base = prefixed[2].upper(), _BASES_OF_PREFIXES[prefixed[1].lower()]
    elif number := _IN_BASE.fullmatch(text):
        stated = number[2] or number[3]
        base = int(stated) if stated.isdigit() else NUMBER_WORDS.get(stated, 0)
        digits = number[1].upper()
    else:
        return None
    try:
        int(digits, base)
    except ValueError:  # a variable with an index
        return None
    if base < 2:
        return None
    return digits.lstrip("0") or "0", base


def _compare_bases(answer: str, gold: str) -> Grade | None:
    gold_numeral, answer_numeral = _in_base(gold), _in_base(answer)
    if gold_numeral and answer_numeral:
        if gold_numeral == answer_numeral:
            return Grade(1.0, "the same digits and base")
        is_other = gold_numeral[1] != answer_numeral[1]
        return Grade(
            0.0,
            f"in base {answer_numeral[1]}, not {gold_numeral[1]}" if is_other else "other digits",
        )
    if gold_numeral and re.fullmatch("[0-9A-Za-z]+", answer):
        same = (answer.upper().lstrip("0") or "0") == gold_numeral[0]
        return Grade(float(same), "the same digits, without the base" if same else "other digits")
    if answer_numeral and re.fullmatch(r"[-+]?\d+", gold):
        same = int(*answer_numeral) == int(gold)
        return Grade(float(same), "equal, in another base" if same else "not equal")
    return None


_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})\s*:\s*(?P<minute>\d\d)(?:\s*:\s*(?P<second>\d\d))?"
    r"\s*(?:(?P<half>[ap])\.?\s*m\b\.?|(?P<noon>noon)|(?P<midnight>midnight)|o'?clock|h(?:ours?|rs?)?\b)?",
    re.IGNORECASE,
)
"""`10:15`, `10:15:30 p.m.`, `12:00 noon`, `10:15 o'clock`."""
_HOUR = re.compile(
    r"(?P<hour>\d{1,2})(?:\s*[.:]\s*(?P<minute>\d\d))?\s*(?P<half>[ap])\.?\s*m\b\.?", re.IGNORECASE
)
"""`3 p.m.`, `3.30 pm`."""
_NAMED_TIMES = {
    "noon": "p",
    "midnight": "a",
}
"""Names of twelve o'clock, with the half of the day that they begin."""
_OF_TIMES = re.compile(
    r"\b(?:time|clock|o'clock|hours?|minutes?|[ap]\.?m\b|noon|midnight|watch|train|depart|arriv)",
    re.IGNORECASE,
)
_OF_RATIOS = re.compile(r"\b(?:ratios?|proportions?|odds|scale|divides?|:)\b", re.IGNORECASE)


class _Time(NamedTuple):
    hour: int
    minute: int
    second: int
    half: str
    """`a` or `p`, empty if it isn't said."""

    @property
    def in_24_hours(self) -> tuple[int, int, int]:
        hour = self.hour
        if self.half:
            hour = hour % 12 + (12 if self.half == "p" else 0)
        return hour, self.minute, self.second


def _read_time(text: str) -> _Time | None:
    name = text.lower().removeprefix("12 ")
    if name in _NAMED_TIMES:
        return _Time(12, 0, 0, _NAMED_TIMES[name])
    if (clock := _HOUR.fullmatch(text)) and int(clock["hour"]) <= 12:
        minute = int(clock["minute"] or 0)
        return _Time(int(clock["hour"]), minute, 0, clock["half"].lower()) if minute < 60 else None
    clock = _CLOCK.fullmatch(text)
    if not clock:
        return None
    hour, minute, second = int(clock["hour"]), int(clock["minute"]), int(clock["second"] or 0)
    if hour > 24 or minute > 59 or second > 59:
        return None
    half = (clock["half"] or "").lower()
    if clock["noon"]:
        half = _NAMED_TIMES["noon"]
    if clock["midnight"]:
        half = _NAMED_TIMES["midnight"]
    return _Time(hour, minute, second, half)


def _compare_times(answer: str, gold: str, question: str) -> Grade | None:
    r"""Compare times of day and durations; the gold `10:15` is a time unless a ratio is asked for.

    A ratio in a benchmark is in lowest terms and without leading zeros. Where neither its form nor
    the question decides whether `7:15` is a time, another ratio with its value needs a judge.
    """
    gold_time, answer_time = _read_time(gold), _read_time(answer)
    if gold_time is None or (_OF_RATIOS.search(question) and not gold_time.half):
        return None
    if gold_time == answer_time:
        return Grade(1.0, "the same time")
    parts = gold.split(":")
    is_padded = len(parts) > 2 or gold[:1] == "0" or parts[-1][:1] == "0"
    is_reducible = gcd(gold_time.hour, gold_time.minute) > 1
    if gold_time.half or is_padded or is_reducible or _OF_TIMES.search(question):
        if answer_time is not None:
            return _same_time(gold_time, answer_time)
        is_number = bool(re.fullmatch(r"[\d:./\s]+|\\frac.*", answer))
        return Grade(0.0, "not a time") if is_number else None
    if _is_proportional(answer, gold):
        return Grade(None, "needs a judge: the reference answer is a time or a ratio")
    return None


def _same_time(gold: _Time, answer: _Time) -> Grade:
    if (gold.half and answer.half) or max(gold.hour, answer.hour) > 12:
        same = gold.in_24_hours == answer.in_24_hours
    else:
        same = gold[:3] == answer[:3]
    return Grade(1.0, "the same time") if same else Grade(0.0, "another time")


def _is_proportional(answer: str, gold: str) -> bool:
    """Tell whether two ratios of two integers are equal: `7:15` and `14:30`."""
    gold_ratio, answer_ratio = _RATIO.fullmatch(gold), _RATIO.fullmatch(answer)
    if not gold_ratio or not answer_ratio:
        return False
    return int(answer_ratio[1]) * int(gold_ratio[2]) == int(gold_ratio[1]) * int(answer_ratio[2])


_RATIO = re.compile(r"\s*(\d{1,9})\s*:\s*(0*[1-9]\d{0,8})\s*")


_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?"
_COUNTED = re.compile(rf"({_NUMBER})\s+((?:[^\W\d_]+[\s'’-]*){{1,5}})[.]?")
_NOT_COUNTED = re.compile(
    r"(?i)\b(?:or|and|to|out|per|times|hundreds?|thousands?|millions?|billions?|trillions?"
    r"|dozens?|percent|mod|modulo|choose|over|plus|minus|squared|cubed|factorial|if|when|for"
    r"|half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?)\b"
)


_SHORT_NOUNS = {
    "bag",
    "bed",
    "box",
    "bus",
    "car",
    "cat",
    "cow",
    "cup",
    "dog",
    "egg",
    "fox",
    "hat",
    "hen",
    "jar",
    "key",
    "lap",
    "leg",
    "man",
    "men",
    "pan",
    "pen",
    "pie",
    "pig",
    "pot",
    "row",
    "set",
    "tie",
    "toy",
    "way",
    "win",
    # adjectives before a noun: `3 red balls`
    "red",
    "big",
    "new",
    "old",
    "odd",
}
"""Shorter words may be products of variables: `2 abc`."""


class _Count(NamedTuple):
    value: Fraction
    noun: str


_ORDINAL = re.compile(r"(?<!\d)(\d+)\s*(?:\^\s*\{?\s*)?(?:st|nd|rd|th)\s*\}?(?![A-Za-z])")


def _with_slashes(text: str) -> str:
    """Return a text in which fractions of integers, and mixed numbers, have a slash."""
    text = with_improper_fractions(text)
    text = re.sub(r"\\[dt]?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}", r"\1/\2", text)
    return re.sub(r"\\[dt]?frac\s*(\d)\s*(\d)", r"\1/\2", text)


def _read_count(text: str) -> _Count | None:
    """Return a number and what it counts: `17 apples`; the noun of `17` is empty."""
    text = _ORDINAL.sub(r"\1", with_digits(_with_slashes(_bare(text))))
    counted = _COUNTED.fullmatch(text)
    number, noun = counted.groups() if counted else (text, "")
    noun = noun.strip()
    if not re.fullmatch(_NUMBER, number) or (noun and not _is_noun(noun)):
        return None
    try:
        return _Count(Fraction(number.replace(",", "")), noun.lower())
    except (ValueError, ZeroDivisionError):
        return None


def _is_noun(text: str) -> bool:
    """Tell whether words can name what is counted: no unit, variable, function or conjunction."""
    first = text.split(maxsplit=1)[0].lower()
    is_word = len(first) > 3 or first in _SHORT_NOUNS
    return (
        is_word
        and not _NOT_COUNTED.search(text)
        and not is_known_unit(text)
        and clean(text) == text
    )


def compare_counts(answer: str, gold: str) -> Grade | None:
    """Compare two numbers if one has a noun or words around it: `17 apples`, `exactly 17`.

    Units are not nouns: what `units` knows is compared there.
    """
    gold_count = _read_count(gold)
    if gold_count is None:
        return None
    answer_count = _read_count(answer)
    if answer_count is None:
        return _compare_number_in_words(answer, gold_count)
    if not gold_count.noun and not answer_count.noun:
        texts = (answer, gold)
        is_formula = all(re.search(r"\d", text) for text in texts)
        is_ordinal = any(_ORDINAL.search(text) for text in texts)
        return None if is_formula and not is_ordinal else _same(answer_count, gold_count)
    if answer_count.value != gold_count.value:
        return Grade(0.0, f"{answer_count.value} is not {gold_count.value}")
    if (
        gold_count.noun
        and answer_count.noun
        and gold_count.noun.rstrip("s") != answer_count.noun.rstrip("s")
    ):
        return Grade(None, f"needs a judge: {answer_count.noun!r} or {gold_count.noun!r}")
    return Grade(1.0, f"the same number of {gold_count.noun or answer_count.noun}")


def _same(answer: _Count, gold: _Count) -> Grade:
    if answer.value == gold.value:
        return Grade(1.0, "the same number")
    return Grade(0.0, f"{answer.value} is not {gold.value}")


def _compare_number_in_words(answer: str, right: _Count) -> Grade | None:
    """Compare the one number that a sentence states; None for a formula."""
    text = with_digits(_with_slashes(_bare(answer)))
    words = re.findall(r"(?<![\\A-Za-z])[A-Za-z]{3,}", text)
    is_one = len(re.findall(r"\d+(?:[.,/]\d+)*", text)) == 1
    if not words or not is_one or re.search(r"(?i)\b(?:or|and|past|half|quarters?)\b", text):
        return None
    if re.search(r"[\\=<>≤≥^_{}]", text) or has_function(text):
        return None
    number = read_only_number(text)
    if number is None:
        return None
    if Fraction(str(number)) == right.value:
        return Grade(1.0, "the same number, in words")
    return Grade(0.0, f"{number:.12g} is not {right.value}")
