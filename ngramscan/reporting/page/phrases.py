"""Numbers, names, ranges and differences in words.

A difference is called one only if its interval excludes zero and its adjusted p-value is at most
.05. Numbers are rounded as in tables. Names are in quotes, intervals in brackets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.progress import visible_line
from ngramscan.reporting.layout import cell, p_text, percent

Row = Mapping[str, Any]
ALPHA = 0.05
MOST_GROUPS = 2
"""Groups of rows, such as those of an index, that have a sentence each."""
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Measure:
    """A column that is put into words, and its interval."""

    noun: str
    """With its article, in the singular."""
    value: str
    limits: str | None = None
    """The beginning of the names of the limits' columns; None: they have no interval."""
    n: str = ""
    """The column with the number of observations."""
    unit: str = ""
    """`%` or ` points`: the value is a fraction."""

    def said(self, value: float) -> str:
        """Return a value without its unit."""
        return number(value, is_share=bool(self.unit))

    def interval(self, row: Row) -> tuple[float | None, float | None]:
        """Return the limits of a row; None: unknown, or there is none on that side."""
        if self.limits is None:
            return None, None
        start = f"{self.limits}_" if self.limits else ""
        return row.get(f"{start}low"), row.get(f"{start}high")


def share_of(noun: str, value: str, limits: str | None = None, n: str = "") -> Measure:
    """Return a measure that is said in percent."""
    return Measure(noun, value, limits, n, "%")


def number(value: float, *, is_share: bool = False) -> str:
    """Return a number, or a fraction in percent, as tables show it."""
    return (percent(value) if is_share else cell(value)).replace("-", "−")


def count_of(n: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number(n)} {noun}{'s' * (n != 1)}"


def p_of(p: float) -> str:
    """Return what a p-value is."""
    text = "<0.001" if p < 0.001 else p_text(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def quoted(name: object) -> str:
    """Return a name in quotes, without anything that ends them early or turns the line around."""
    short = str(name)[: _LONGEST_NAME + 1].replace("“", '"').replace("”", '"')
    text = visible_line(short[:_LONGEST_NAME])
    return f"“{text}{'…' * (len(short) > _LONGEST_NAME)}”"


def label_of(row: Row, rows: Sequence[Row], columns: Iterable[str]) -> str:
    """Return the names that tell a row from the others, in parentheses; all names of a lone row."""
    known = [column for column in columns if row.get(column) not in {None, ""}]
    varied = [
        one for one in known if len(rows) == 1 or any(other.get(one) != row[one] for other in rows)
    ]
    names = ", ".join(quoted(row[column]) for column in varied)
    return f" ({names})" if names else ""


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
        yield f"The table also has {more}, not said here."


def _ends(row: Row, measure: Measure) -> list[str] | None:
    """Return the limits of a row in words; None: there is no interval."""
    limits, unit = measure.interval(row), measure.unit.removesuffix(" points")
    if limits in {(None, None), (row[measure.value],) * 2}:
        return None
    return ["no limit" if limit is None else measure.said(limit) + unit for limit in limits]


def estimate(row: Row, measure: Measure) -> str:
    """Return a value with its interval; a wide one is said to be wide."""
    value, ends, (low, high) = row[measure.value], _ends(row, measure), measure.interval(row)
    said = measure.said(value) + measure.unit
    n = row.get(measure.n)
    size = "" if n is None else f", n = {number(n)}"
    if ends is None:
        return said + size
    widest = 0.2 if measure.unit else abs(value)
    if low is not None and high is not None and high - low > widest:
        return f"{said}, with a wide interval between {ends[0]} and {ends[1]}{size}"
    return f"{said} [{ends[0]}, {ends[1]}]{size}"


def say_range(rows: Sequence[Row], measure: Measure, labels: Sequence[str]) -> Iterator[str]:
    """Say between which values of the rows a measure lies, and what is unknown about it."""
    if known := known_rows(rows, measure.value):
        least = min(known, key=lambda row: row[measure.value])
        most = max(known, key=lambda row: row[measure.value])
        first = f"{estimate(least, measure)}{_named(least, rows, measure, labels)}"
        if len(known) == 1:
            yield f"{measure.noun} is {first}."
        elif least[measure.value] == most[measure.value]:
            said = measure.said(least[measure.value]) + measure.unit
            yield f"{measure.noun} is {said} in each of {count_of(len(known), 'row')}."
        else:
            last = f"{estimate(most, measure)}{_named(most, rows, measure, labels)}"
            apart = _how_far_apart(least, most, measure)
            yield f"{measure.noun} ranges from {first} to {last}{apart}."
    yield from say_gaps(rows, measure)


def _named(row: Row, rows: Sequence[Row], measure: Measure, labels: Sequence[str]) -> str:
    """Return the name of a row, with the number of others that have the same value."""
    others = sum(one[measure.value] == row[measure.value] for one in rows) - 1
    name = label_of(row, rows, labels)
    return f"{name} and {count_of(others, 'other')}" if name and others else name


def _how_far_apart(least: Row, most: Row, measure: Measure) -> str:
    """Return what the intervals of two extremes say: no more than that they overlap."""
    high, low = measure.interval(least)[1], measure.interval(most)[0]
    is_exact = _ends(least, measure) is None and _ends(most, measure) is None
    if high is None or low is None or is_exact:
        return ""
    overlap, untested = "their intervals overlap", "they were not tested against each other"
    return f"; {overlap if high >= low else untested}"


def say_gaps(rows: Sequence[Row], measure: Measure, of: str = "row") -> Iterator[str]:
    """Say in how many rows a measure or its interval is unknown."""
    known, every = known_rows(rows, measure.value), count_of(len(rows), of)
    noun = measure.noun[0].lower() + measure.noun[1:]
    if unknown := len(rows) - len(known):
        yield f"In {number(unknown)} of {every}, {noun} is unknown."
    without = [row for row in known if measure.interval(row) == (None, None)]
    if without and measure.limits is not None:
        yield f"In {number(len(without))} of {every}, {noun} has no interval."


# Differences.


@dataclass(frozen=True, slots=True)
class Difference:
    """How a difference is called if it was shown."""

    labels: Sequence[str]
    subjects: Callable[[Row], tuple[str, str]]
    """The two that are compared."""
    above: str
    below: str
    n: str = "n"


_POINTS = Measure("The difference", "difference", "difference", unit=" points")


def adjusted_p(row: Row) -> float | None:
    """Return the p-value that allows for the number of tests; None: unknown."""
    p: float | None = row.get("p_holm") if row.get("p_adjusted") is None else row["p_adjusted"]
    return p


def is_shown(row: Row) -> bool:
    """Tell whether a difference excludes zero, by its interval and by its adjusted p-value."""
    (low, high), p = _POINTS.interval(row), adjusted_p(row)
    if low is None or high is None or p is None:
        return False
    return bool(low <= row["difference"] <= high and (low > 0 or high < 0) and p <= ALPHA)


def say_differences(rows: Sequence[Row], words: Difference) -> Iterator[str]:
    """Say which differences were shown, and that others were not; each row is a comparison."""
    known = known_rows(rows, "difference")
    shown = [row for row in known if is_shown(row)]
    others = [row for row in known if not is_shown(row)]
    for verb, sign in ((words.above, 1), (words.below, -1)):
        if in_one_way := [row for row in shown if sign * row["difference"] > 0]:
            row = max(in_one_way, key=lambda one: abs(one["difference"]))
            first, second = words.subjects(row)
            n = len(in_one_way)
            rest = f", the largest of {number(n)} that were shown in this direction" * (n > 1)
            yield f"{first} {verb} {second}{_signed(row, rows, words)}{rest}."
    if others:
        row = max(others, key=_width)
        first, second = words.subjects(row)
        said = f"{first[0].lower()}{first[1:]} and {second}{_signed(row, rows, words)}"
        said += _why_not(row)
        if len(known) == 1:
            yield f"No difference was shown between {said}."
        else:
            in_some = f"{number(len(others))} of {count_of(len(known), 'comparison')}"
            widest = f"; the widest interval: {said}" * (_width(row) >= 0)
            yield f"No difference was shown in {in_some}{widest}."
    if raw := [row for row in known_rows(known, "p") if adjusted_p(row) is None]:
        in_some = f"In {number(len(raw))} of {count_of(len(known), 'comparison')}"
        yield f"{in_some}, p is not adjusted for the number of tests, so nothing is claimed."
    yield from say_gaps(rows, _POINTS, "comparison")


def _signed(row: Row, rows: Sequence[Row], words: Difference) -> str:
    """Return a difference in words; a p-value without an interval would show nothing."""
    p, ends, n = adjusted_p(row), _ends(row, _POINTS), row.get(words.n)
    parts = [
        f"difference {_POINTS.said(row['difference'])} points",
        f" [{ends[0]}, {ends[1]}]" if ends else "",
        "" if p is None or _width(row) < 0 else f", adjusted {p_of(p)}",
        "" if n is None else f", n = {number(n)}",
    ]
    return f"{label_of(row, rows, words.labels)}: {''.join(parts)}"


def _why_not(row: Row) -> str:
    """Return why a difference was not shown, if its interval or its p-value alone would show it."""
    (low, high), p, alone = _POINTS.interval(row), adjusted_p(row), row.get("p")
    if low is None or high is None:
        return ""
    excludes, disagree = low > 0 or high < 0, "; interval and test disagree: the interval"
    if p is None:
        return "; it was not tested" * (excludes and alone is None)
    if excludes and p <= ALPHA:
        return "; the value is outside its interval"
    if p <= ALPHA:
        return f"{disagree} includes 0, but p is at most {ALPHA}"
    if excludes and alone is not None and alone > ALPHA:
        return f"{disagree} excludes 0, but p is above {ALPHA}"
    return "; the interval is not adjusted for the number of tests" * excludes


def _width(row: Row) -> float:
    low, high = _POINTS.interval(row)
    return -1.0 if low is None or high is None else float(high - low)
