"""Shares of outputs, words and questions in sentences, and the rows that sentences are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.layout import percent
from ngramscan.reporting.sentences.names import named
from ngramscan.reporting.sentences.phrases import Row, listed, number

MOST_NAMED = 3
"""Methods, prompts or corpora that a sentence names, or that have a sentence each."""


def share_text(share: float) -> str:
    """Return a share in percent without the sign: as a whole number from 10 to 99.

    A share that is only close to 0 or 100 is not rounded to it.
    """
    value = round(100 * share, 9)
    if 10 <= value <= 99:
        return f"{value:.0f}"
    if 99.95 <= value < 100:
        return "99.9"
    return percent(share).removesuffix(".0").replace("-", "−")


def share_of(row: Row, column: str = "share") -> str:
    """Return the share in a column with its interval: `83% [55, 95]`."""
    return f"{share_text(row[column])}%{interval_of(row, column, is_share=True)}"


def interval_of(row: Row, column: str, *, is_share: bool = False) -> str:
    """Return the interval of a column with a blank before it; empty if there is none."""
    low, high = (row.get(name) for name in (f"{column}_low", f"{column}_high"))
    if low is None and high is None:
        return ""
    show = share_text if is_share else number
    ends = ("no limit" if end is None else show(end) for end in (low, high))
    return f" [{', '.join(ends)}]"


def has_ends(rows: Iterable[Row], column: str) -> bool:
    """Tell whether a row has an interval of a column."""
    return any(interval_of(row, column) for row in rows)


def most_of(names: Sequence[object], noun: str) -> str:
    """Return the first names as a list in words, and the number of others."""
    texts = [named(name) for name in names[:MOST_NAMED]]
    if (others := len(names) - MOST_NAMED) > 0:
        texts.append(counted(others, f"other {noun}"))
    return listed(texts)


def broadest(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of all models or datasets together; all rows if there are none of these."""
    breadths = [_breadth(row) for row in rows]
    most = max(breadths, default=0)
    return [row for row, breadth in zip(rows, breadths, strict=True) if breadth == most]


def _breadth(row: Row) -> int:
    return [row.get("dataset"), row.get("model")].count(ALL)


def against(first: float | None, second: float | None) -> str:
    """Return two shares in words, as `83% against 92%`; empty if one of them is unknown."""
    if first is None or second is None:
        return ""
    return f"{share_text(first)}% against {share_text(second)}%"


def n_of(row: Row, column: str) -> str:
    """Return the number of compared values; empty if unknown."""
    n = row.get(column)
    return "" if n is None else f"n = {number(n)}"
