"""Numbers, values with their intervals, lists and groups of rows, for sentences.

Numbers are rounded as in tables; intervals are in brackets.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.indexes.base import Unit
from ngramscan.messages import counted
from ngramscan.reporting.layout import cell, p_text, percent
from ngramscan.reporting.sentences.sentence import Sentence

Row = Mapping[str, Any]
ALPHA = 0.05
"""The familywise level of a page: at most one in twenty has a false claim."""
_MOST_LISTED = 6
UNITS: tuple[Unit, ...] = ("bytes", "tokens")
"""Numbers of different units are in tables and sentences of their own."""


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """A column that is put into words, with its interval."""

    value: str
    unit: str = ""
    """`%` or ` points` if the value is a fraction."""
    limits: tuple[str, str] | None = None
    """The columns of its interval; None for `VALUE_low` and `VALUE_high`."""

    def text(self, value: float) -> str:
        """Return a value without its unit."""
        return number(value, is_share=bool(self.unit))

    def interval(self, row: Row) -> tuple[float | None, float | None]:
        """Return the limits of a row, each None if unknown or unbounded."""
        low, high = self.limits or (f"{self.value}_low", f"{self.value}_high")
        return row.get(low), row.get(high)

    def ends(self, row: Row) -> str:
        """Return the limits of a row in words; empty without an interval."""
        limits, unit = self.interval(row), self.unit.removesuffix(" points")
        if limits in {(None, None), (row[self.value],) * 2}:
            return ""
        return ", ".join("no limit" if end is None else self.text(end) + unit for end in limits)

    def has_interval(self, row: Row) -> bool:
        """Tell whether `estimate` of a row has an interval."""
        return bool(self.ends(row))

    def estimate(self, row: Row) -> str:
        """Return a value with its unit and, in brackets, its interval."""
        ends = self.ends(row)
        return f"{self.text(row[self.value])}{self.unit}" + (f" [{ends}]" if ends else "")


def number(value: float, *, is_share: bool = False) -> str:
    """Return a number, or a fraction in percent, as tables show it."""
    return (percent(value) if is_share else cell(value)).replace("-", "−")


def finding(text: str, *, has_interval: bool = False) -> Sentence:
    """Return a sentence that may open a page."""
    return Sentence(text, is_finding=True, has_interval=has_interval)


def listed(texts: Sequence[str], last: str = "and", most: int = _MOST_LISTED) -> str:
    """Return texts as a list in words: `a, b and c`, at most some of them."""
    items = [*texts[:most]]
    if (others := len(texts) - most) > 0:
        items.append(counted(others, "other"))
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def ordinal(n: int) -> str:
    """Return the number of a place: 1st, 12th."""
    ending = "th"
    if n % 100 not in {11, 12, 13}:
        ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{number(n)}{ending}"


def more_in_table(n: int, noun: str, group: str = "") -> Iterator[Sentence]:
    """Yield how many things have no sentence, if any: `2 further pairs of methods`."""
    group = f" of {group}" if group else ""
    if n == 1:
        yield Sentence(f"The table has one further {noun}{group}.")
    elif n > 1:
        yield Sentence(f"The table has {number(n)} further {noun}s{group}.")


def p_of(p: float) -> str:
    """Return a p-value as in sentences: `p = 0.012`, `p < 0.001`."""
    text = "<0.001" if p < 0.001 else p_text(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def known_rows(rows: Iterable[Row], column: str) -> list[Row]:
    """Return the rows with a value in a column."""
    return [row for row in rows if row.get(column) is not None]


def select_unit(rows: Iterable[Row], unit: Unit) -> list[Row]:
    """Return the rows with numbers in a unit; rows without one are of bytes."""
    return [row for row in rows if (row.get("unit") or "bytes") == unit]


def group_rows(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows with the same values in some columns."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row.get(column) for column in columns)].append(row)
    return groups


def level_text(alpha: float) -> str:
    """Return a level in words, with three digits at most, and never larger than it is."""
    digits = 2 - math.floor(math.log10(alpha))
    return f"{math.floor(alpha * 10**digits + 1e-9) / 10**digits:g}"
