"""Differences between two methods in words: which were shown, which were not, and why.

A difference counts as shown only if its interval excludes zero and its adjusted p-value is at most
the level of each family of tests on the page, which is .05 if there is one family.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ngramscan.reporting.columns import ALL
from ngramscan.reporting.sentences.names import scope_of
from ngramscan.reporting.sentences.phrases import (
    ALPHA,
    MeasureWords,
    Row,
    finding,
    known_rows,
    level_text,
    number,
    p_of,
)
from ngramscan.reporting.sentences.sentence import Sentence

_MOST_PAIRS = 4
"""Pairs and directions whose differences have a sentence each."""
_USUAL_LEVEL = 0.95
_POINTS = MeasureWords("difference", unit=" points")


def adjusted_p(row: Row) -> float | None:
    """Return the p-value adjusted for the number of tests; None if unknown."""
    columns = ("p_adjusted", "p_holm", "p_bh")
    adjusted = [row[column] for column in columns if row.get(column) is not None]
    return adjusted[0] if adjusted else None


def is_shown(row: Row, alpha: float = ALPHA) -> bool:
    """Tell whether a difference excludes zero, by its interval and by its adjusted p-value."""
    (low, high), p = _POINTS.interval(row), adjusted_p(row)
    if low is None or high is None or p is None:
        return False
    return bool(low <= row["difference"] <= high and (low > 0 or high < 0) and p <= alpha)


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verbs for the first of two methods, compared with the second."""

    above: str
    below: str


@dataclass(frozen=True, slots=True)
class DifferenceWords:
    """The words for a kind of difference; `say` yields the sentences about its comparisons."""

    labels: Sequence[str]
    """The columns that say where a difference holds."""
    subjects: Callable[[Row], tuple[str, str]]
    """The two that are compared, at the beginning of a sentence and within one. If the first has
    several words, it doesn't begin with a name, unless the name is in quotes."""
    verbs: Callable[[Row], Verbs]
    n: Callable[[Row], str]
    """The number of compared values, in words; empty if unknown."""
    more: Callable[[Row], Sequence[str]] = lambda _: ()
    """Further facts about a row, said after where it holds."""
    values: Callable[[Row], str] = lambda _: ""
    """The two values that are compared, in words; empty if unknown."""
    topic: Callable[[Row], str] = lambda _: ""
    """The topic of the comparison, as ` in scores`, for sentences without its verb."""

    def say(self, rows: Sequence[Row], alpha: float = ALPHA) -> Iterator[Sentence]:
        """Yield the sentences about rows: the differences that were shown, then the others."""
        computed = known_rows(rows, "difference")
        for sentence in [*self._shown(computed, alpha), *self._not_shown(computed, alpha)]:
            yield replace(sentence, is_claim=True)
        for text in gaps_of_differences(rows, computed):
            yield Sentence(text)

    def _shown(self, computed: Sequence[Row], alpha: float) -> Iterator[Sentence]:
        """Yield the largest difference of each pair and direction, and how many others it has."""
        groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in computed:
            if is_shown(row, alpha):
                groups[row["difference"] < 0, *self.subjects(row)].append(row)
        weightiest = {key: max(group, key=_weight) for key, group in groups.items()}
        order = sorted(groups, key=lambda key: _weight(weightiest[key]), reverse=True)
        # Each direction has a sentence, whatever their number.
        first = {key[0]: key for key in reversed(order)}
        order = [*sorted(first.values()), *(key for key in order if key not in first.values())]
        for key in order[:_MOST_PAIRS]:
            is_below, first_subject, second = key
            row = weightiest[key]
            verb = self.verbs(row).below if is_below else self.verbs(row).above
            where = scope_of(row, self.labels)
            text = f"{first_subject} {verb} {second}{where}{self._numbers(row)}"
            text += _one_of(len(groups[key]), is_largest=row.get("model") != ALL)
            yield finding(f"{text}.", has_interval=_POINTS.has_interval(row))
        if n_others := sum(len(groups[key]) for key in order[_MOST_PAIRS:]):
            if n_others == 1:
                yield finding("One other difference is shown, between another pair.")
            else:
                text = f"{number(n_others)} other differences are shown, between other pairs."
                yield finding(text)

    def _not_shown(self, computed: Sequence[Row], alpha: float) -> Iterator[Sentence]:
        """Yield that differences were not shown, with the least precise one."""
        others = [row for row in computed if not is_shown(row, alpha)]
        if not others:
            return
        # An interval without 0 would look like a difference that is shown.
        with_zero = [row for row in others if _has_zero(row)]
        row = max(with_zero or others, key=_width)
        first, second = self.subjects(row)
        first = _within(first)
        numbers, reason = self._numbers(row), why_not(row, alpha)
        if len(others) == 1:
            where = scope_of(row, self.labels)
            pair = f"{first} and {second}{self.topic(row)}"
            text = f"No difference is shown between {pair}{where}{numbers}{reason}."
            yield finding(text, has_interval=_POINTS.has_interval(row))
            return
        widest = ""
        has_interval = _width(row) > 0
        if has_interval:
            where = scope_of(row, self.labels, computed)
            pair = f"{first} against {second}{self.topic(row)}"
            of_them = " with 0" if 0 < len(with_zero) < len(others) else ""
            widest = f"; the widest interval{of_them} is that of {pair}{where}{numbers}"
            if not is_shown(row):  # which is said of all of them
                widest += reason
        widest = f"{_nearly_shown(others, alpha)}{widest}"
        if len(others) < len(computed):
            share = f"{number(len(others))} of {number(len(computed))} comparisons"
            text = f"For the other {share}, no difference is shown{widest}."
            yield finding(text, has_interval=has_interval)
            return
        share = "either of two" if len(others) == 2 else f"any of {number(len(others))}"
        text = f"No difference is shown in {share} comparisons{widest}."
        yield finding(text, has_interval=has_interval)

    def _numbers(self, row: Row) -> str:
        """Return a difference in words, with the facts about it."""
        n, values = self.n(row), self.values(row)
        facts = [values] if values else []
        facts.append(points_and_p(row))
        if n:
            facts.append(n)
        further = "".join(f", {remark}" for remark in self.more(row))
        return f"{further}: {', '.join(facts)}"


def _has_zero(row: Row) -> bool:
    low, high = _POINTS.interval(row)
    return low is not None and high is not None and low <= 0 <= high


def _nearly_shown(rows: Sequence[Row], alpha: float) -> str:
    """Return how many of some differences would be shown if their family were the only one."""
    n = sum(is_shown(row) for row in rows)
    if not n:
        return ""
    them = "each" if n == len(rows) else number(n)
    level = level_text(alpha)
    return f"; for {them} of them, p is at most {ALPHA}, but above this page's level of {level}"


def points_and_p(row: Row) -> str:
    """Return a difference with its interval and its p-value."""
    p, ends = adjusted_p(row), _POINTS.ends(row)
    interval = f" [{ends}]" if ends else ""
    text = f"{_POINTS.text(row['difference'])} points{interval}"
    return f"{text}, adjusted {p_of(p)}" if p is not None and _width(row) >= 0 else text


def _weight(row: Row) -> tuple[bool, float]:
    """Return the weight of a difference: all models together first, then by size."""
    return row.get("model") == ALL, abs(row["difference"])


def _within(subject: str) -> str:
    """Return the first words of a sentence in the form they have within a sentence."""
    if " " not in subject or subject.startswith("“"):
        return subject
    return f"{subject[0].lower()}{subject[1:]}"


def _one_of(n: int, *, is_largest: bool) -> str:
    """Return which of several differences in one direction a sentence has chosen."""
    if n == 1:
        return ""
    number_of_differences = "two" if n == 2 else number(n)
    chosen = "one"
    if is_largest:
        chosen = "the larger" if n == 2 else "the largest"
    return f", {chosen} of {number_of_differences} such differences"


def gaps_of_differences(rows: Sequence[Row], computed: Sequence[Row]) -> Iterator[str]:
    """Yield why nothing can be claimed about some comparisons."""
    if raw := sum(adjusted_p(row) is None for row in known_rows(computed, "p")):
        subject = "The p-value" if raw == 1 else f"The p-values of {number(raw)} comparisons"
        verb = "is" if raw == 1 else "are"
        yield f"{subject} {verb} not adjusted for the number of tests, so nothing is claimed."
    if unknown := len(rows) - len(computed):
        yield f"No difference could be computed for {number(unknown)} of {number(len(rows))} rows."
    without = sum(_POINTS.interval(row) == (None, None) for row in computed)
    if without == 1 == len(computed):
        yield "The difference has no interval."
    elif without:
        verb = "has" if without == 1 else "have"
        yield f"{number(without)} of {number(len(computed))} differences {verb} no interval."


def why_not(row: Row, alpha: float) -> str:
    """Return why a difference is not shown although its interval or its p-value alone would do."""
    (low, high), p = _POINTS.interval(row), adjusted_p(row)
    if low is None or high is None:
        return ""
    excludes = low > 0 or high < 0
    if p is None:
        is_untested = excludes and row.get("p") is None
        return "; it was not tested" if is_untested else ""
    if excludes:
        return _why_not_by_p(row, p, alpha)
    if p > ALPHA:
        return ""
    level = row.get("level") or _USUAL_LEVEL
    if abs(level - _USUAL_LEVEL) > 1e-9:
        return f"; the {100 * level:g}% interval includes 0"
    return f"; interval and test disagree: the interval includes 0, but p is at most {ALPHA}"


def _why_not_by_p(row: Row, p: float, alpha: float) -> str:
    """Return why a difference whose interval excludes zero was not shown."""
    alone, level = row.get("p"), row.get("level") or _USUAL_LEVEL
    if p <= alpha:
        return "; the value is outside its interval"
    if p <= ALPHA:
        return f"; this page claims a difference if p is at most {level_text(alpha)}"
    if alone is not None and alone > ALPHA:
        if level < _USUAL_LEVEL:
            return f"; the {100 * level:g}% interval excludes 0, but p is above {ALPHA}"
        return f"; interval and test disagree: the interval excludes 0, but p is above {ALPHA}"
    return "; the interval is not adjusted for the number of tests"


def _width(row: Row) -> float:
    low, high = _POINTS.interval(row)
    return -1.0 if low is None or high is None else float(high - low)
