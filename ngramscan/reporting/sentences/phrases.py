"""Numbers, names, ranges and differences in words.

A difference is called one only if its interval excludes zero and its adjusted p-value is at most
the level of each family of tests on the page, which is .05 if there is one family. Numbers are
rounded as in tables. Names are in quotes, intervals in brackets.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.progress import visible_line
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.layout import cell, p_text, percent
from ngramscan.reporting.plots import limits_of

Row = Mapping[str, Any]
ALPHA = 0.05
"""The level of a page: it has a false claim in at most one of twenty cases."""
MOST_GROUPS = 2
"""Groups of rows, such as those of an index, that have a sentence each."""
_LONGEST_NAME = 60
_PLAIN_NAME = re.compile(rf"(?=.*[^\W\d_])[\w.+:/@#-]{{1,{_LONGEST_NAME}}}(?<![.:])")
"""A name of letters, digits and signs that no sentence begins or ends with."""
_USUAL_LEVEL = 0.95
_ALWAYS_NAMED = frozenset({"rule", "score_rule"})
"""Columns that say what a score is, which sentences name even if all rows have the same."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column that is put into words, and its interval: called with rows, it says their range."""

    noun: str
    """With its article, in the singular."""
    value: str
    labels: str = ""
    """The columns that name a row, with spaces between them."""
    n: str = ""
    """The column with the number of observations."""
    unit: str = ""
    """`%` or ` points`: the value is a fraction."""
    limits: str | None = ""
    """As in `limits_of`; None: there is no interval."""

    def text(self, value: float) -> str:
        """Return a value without its unit."""
        return number(value, is_share=bool(self.unit))

    def interval(self, row: Row) -> tuple[float | None, float | None]:
        """Return the limits of a row; None: unknown, or there is none on that side."""
        low, high = limits_of(self.value, self.limits)
        return row.get(low), row.get(high)

    def ends(self, row: Row) -> str:
        """Return the limits of a row in words; nothing where there is no interval."""
        limits, unit = self.interval(row), self.unit.removesuffix(" points")
        if limits in {(None, None), (row[self.value],) * 2}:
            return ""
        return ", ".join("no limit" if end is None else self.text(end) + unit for end in limits)

    def __call__(self, rows: Sequence[Row]) -> Iterator[str]:
        """Say between which values of the rows the measure lies, and what is unknown about it."""
        if known := known_rows(rows, self.value):
            least = min(known, key=lambda row: row[self.value])
            most = max(known, key=lambda row: row[self.value])
            if len(known) == 1:
                yield f"{self.noun} is {self._estimate(least, rows)}."
            elif least[self.value] == most[self.value]:
                value = self.text(least[self.value]) + self.unit
                yield f"{self.noun} is {value} in each of {count_of(len(known), 'row')}."
            else:
                both = f"from {self._estimate(least, rows)} to {self._estimate(most, rows)}"
                yield f"{self.noun} ranges {both}{self._how_far_apart(least, most)}."
        yield from self.gaps(rows)

    def _estimate(self, row: Row, rows: Sequence[Row]) -> str:
        """Return a value, its interval, which is said to be wide if it is, and the row's name."""
        (low, high), ends = self.interval(row), self.ends(row)
        text = self.text(row[self.value]) + self.unit
        if ends:
            widest = 0.2 if self.unit else abs(row[self.value])
            is_wide = low is not None and high is not None and high - low > widest
            between = f", with a wide interval between {ends.replace(', ', ' and ')}"
            text += between if is_wide else f" [{ends}]"
        if (n := row.get(self.n)) is not None:
            text += f", n = {number(n)}"
        others = sum(other[self.value] == row[self.value] for other in rows) - 1
        name = label_of(row, rows, self.labels)
        if name and others:
            name = f"{name[:-1]} and {count_of(others, 'other')})"
        return text + name

    def _how_far_apart(self, least: Row, most: Row) -> str:
        """Return what the intervals of two extremes say: no more than that they overlap."""
        high, low = self.interval(least)[1], self.interval(most)[0]
        if high is None or low is None or not (self.ends(least) or self.ends(most)):
            return ""
        overlap, untested = "their intervals overlap", "they were not tested against each other"
        return f"; {overlap if high >= low else untested}"

    def gaps(self, rows: Sequence[Row], of: str = "row") -> Iterator[str]:
        """Say in how many rows the measure or its interval is unknown."""
        known, noun = known_rows(rows, self.value), self.noun[0].lower() + self.noun[1:]
        without = [row for row in known if self.interval(row) == (None, None)]
        gaps = {"is unknown": len(rows) - len(known)}
        if self.limits is not None:
            gaps["has no interval"] = len(without)
        for lack, times in gaps.items():
            if times:
                yield f"{in_some(times, len(rows), of)}, {noun} {lack}."


def number(value: float, *, is_share: bool = False) -> str:
    """Return a number, or a fraction in percent, as tables show it."""
    return (percent(value) if is_share else cell(value)).replace("-", "−")


def count_of(n: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number(n)} {noun}{'s' * (n != 1)}"


def in_some(some: int, n: int, noun: str) -> str:
    """Return in which part of some things something is so."""
    return f"In {number(some)} of {count_of(n, noun)}"


def p_of(p: float) -> str:
    """Return what a p-value is."""
    text = "<0.001" if p < 0.001 else p_text(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def quoted(name: object) -> str:
    """Return a name in quotes, without anything that ends them early or turns the line around."""
    short = str(name)[: _LONGEST_NAME + 1].replace("“", '"').replace("”", '"')
    text = visible_line(short[:_LONGEST_NAME])
    return f"“{text}{'…' * (len(short) > _LONGEST_NAME)}”"


def named(name: object) -> str:
    """Return a name in a sentence: in quotes only if it could be taken for words or a number."""
    text = str(name)
    return text if _PLAIN_NAME.fullmatch(text) and not _is_number(text) else quoted(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def label_of(row: Row, rows: Sequence[Row], columns: str, more: Sequence[str] = ()) -> str:
    """Return the names that tell a row from the others, in parentheses; all names of a lone row.

    `more` is said of the row, too.
    """
    known = {column: row.get(column) for column in columns.split()}
    names = [
        "all models" if (column, name) == ("model", ALL) else quoted(name)
        for column, name in known.items()
        if name not in {None, ""} and _is_telling(column, name, rows)
    ]
    names += more
    return f" ({', '.join(names)})" if names else ""


def _is_telling(column: str, name: object, rows: Sequence[Row]) -> bool:
    """Tell whether a name is said: it may be that of all rows."""
    if len(rows) == 1 or column in _ALWAYS_NAMED:
        return True
    return any(other.get(column) != name for other in rows)


def known_rows(rows: Iterable[Row], column: str) -> list[Row]:
    """Return the rows with a value in a column."""
    return [row for row in rows if row.get(column) is not None]


def group_rows(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows with the same values in some columns."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row.get(column) for column in columns)].append(row)
    return found


def by_group(
    rows: Sequence[Row], columns: Sequence[str], say: Callable[[str, list[Row]], Iterable[str]]
) -> Iterator[str]:
    """Let a function say something about each of the first groups, given its name."""
    groups = group_rows(rows, *columns)
    for names, group in [*groups.items()][:MOST_GROUPS]:
        given = [quoted(name) for name in names if name is not None]
        yield from say(", ".join(given) or "no name", group)
    if (others := len(groups) - MOST_GROUPS) > 0:
        more = f"{count_of(others, 'other value')} of {' and '.join(columns)}"
        yield f"The table also has {more}."


# Differences.


_POINTS = Measure("The difference", "difference", unit=" points")


def adjusted_p(row: Row) -> float | None:
    """Return the p-value that allows for the number of tests; None: unknown."""
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
    """How the first of two is called, compared with the second."""

    above: str
    below: str


@dataclass(frozen=True, slots=True)
class Difference:
    """How a difference is called; called with rows, each a comparison, it says which were shown."""

    labels: str
    subjects: Callable[[Row], tuple[str, str]]
    """The two that are compared."""
    verbs: Callable[[Row], Verbs]
    n: Callable[[Row], str]
    """How many values were compared, in words; empty: it is not known."""
    more: Callable[[Row], Sequence[str]] = lambda _: ()
    """Further facts about a row, said after its names."""

    def __call__(self, rows: Sequence[Row], alpha: float = ALPHA) -> Iterator[str]:
        """Say which differences were shown at a level, and that others were not."""
        known = known_rows(rows, "difference")
        for is_above in (True, False):
            shown = [r for r in known if is_shown(r, alpha) and (r["difference"] > 0) is is_above]
            if n := len(shown):
                # All models together say most; the largest of several is partly so by chance.
                row = max(shown, key=lambda row: (row.get("model") == ALL, abs(row["difference"])))
                first, second = self.subjects(row)
                verb = self.verbs(row).above if is_above else self.verbs(row).below
                rest = f", one of {number(n)} significant differences in this direction" * (n > 1)
                if row.get("model") != ALL:
                    rest = rest.replace("one", "the larger" if n == 2 else "the largest")
                yield f"{first} {verb} {second}{self._signed(row, rows)}{rest}."
        if others := [row for row in known if not is_shown(row, alpha)]:
            row = max(others, key=_width)
            first, second = self.subjects(row)
            both = f"{first[0].lower()}{first[1:]} and {second}{self._signed(row, rows)}"
            both += _why_not(row, alpha)
            some = f"{number(len(others))} of {count_of(len(known), 'comparison')}"
            some += f"; the widest interval: {both}" * (_width(row) > 0)
            where = f"between {both}" if len(known) == 1 else f"in {some}"
            yield f"No difference was shown {where}."
        if raw := sum(adjusted_p(row) is None for row in known_rows(known, "p")):
            first = in_some(raw, len(known), "comparison")
            yield f"{first}, p is not adjusted for the number of tests, so nothing is claimed."
        yield from _POINTS.gaps(rows, "comparison")

    def _signed(self, row: Row, rows: Sequence[Row]) -> str:
        """Return a difference in words; a p-value without an interval would show nothing."""
        p, ends, n = adjusted_p(row), _POINTS.ends(row), self.n(row)
        text = f"difference {_POINTS.text(row['difference'])} points{f' [{ends}]' if ends else ''}"
        if p is not None and _width(row) >= 0:
            text += f", adjusted {p_of(p)}"
        if n:
            text += f", {n}"
        return f"{label_of(row, rows, self.labels, self.more(row))}: {text}"


def _why_not(row: Row, alpha: float) -> str:
    """Return why a difference was not shown, if its interval or its p-value alone would show it."""
    (low, high), p = _POINTS.interval(row), adjusted_p(row)
    if low is None or high is None:
        return ""
    excludes = low > 0 or high < 0
    if p is None:
        return "; it was not tested" * (excludes and row.get("p") is None)
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


def level_text(alpha: float) -> str:
    """Return a level in words, with three digits at most, and never larger than it is."""
    digits = 2 - math.floor(math.log10(alpha))
    return f"{math.floor(alpha * 10**digits + 1e-9) / 10**digits:g}"


def _width(row: Row) -> float:
    low, high = _POINTS.interval(row)
    return -1.0 if low is None or high is None else float(high - low)
