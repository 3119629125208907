"""Occurrences of the patterns of each method, per index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING

from ngramscan.reporting.canvas import (
    GREY,
    clean_axes,
    finish,
    label_row,
    new_figure,
    shorten,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ngramscan.prevalence.count import CountRow
    from ngramscan.prevalence.token_count import TokenCountRow

_WIDTH = 8.5
_ROW = 0.55
_LANES = (0.0, 0.14, -0.14, 0.24, -0.24)
"""Heights at which the points of a method lie in turn: near ones do not cover each other."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_AXIS = "{} (log scale) · bar: geometric mean of count + 0.5 · ring: largest pattern,"
_TOKENS = "token n-grams, a lower bound of occurrences"
_OPEN = "\nopen points: estimates, with intervals where known"


@dataclass(frozen=True, slots=True)
class _Point:
    """A count, of occurrences or of n-grams of tokens."""

    index: str
    method: str | None
    query: str
    is_tokens: bool
    occurrences: int
    estimated: bool = False
    occurrences_low: float | None = None
    occurrences_high: float | None = None


def draw_count(given: Sequence[CountRow | TokenCountRow]) -> Figure:
    """Draw how often the patterns of each method occur, one panel per index.

    There is one point per row, on a log scale with zeros apart on its left; intervals are lines,
    the geometric mean of count + 0.5 of a method is a bar, its largest pattern is named at the
    right. Occurrences and n-grams of tokens have axes of their own. There is at least one row.
    """
    rows = sorted(map(_point, given), key=attrgetter("is_tokens"))
    indexes = list(dict.fromkeys(row.index for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    height = 1.3 + len(indexes) * (0.55 + _ROW * len(methods))
    kinds = [next(row.is_tokens for row in rows if row.index == index) for index in indexes]
    figure, panels = new_figure((_WIDTH, height), (len(indexes), 1), sharex=len({*kinds}) == 1)
    for axes, index, is_tokens, is_last in zip(panels, indexes, kinds, _lasts(kinds), strict=True):
        alike = [row for row in rows if row.is_tokens == is_tokens]
        zero, top = _limits(alike)
        for number, method in enumerate(methods):
            own = [row for row in alike if (row.index, row.method) == (index, method)]
            if own:
                _draw_method(axes, own, number, zero)
        axes.set_yticks(
            range(len(methods)), [shorten(method or "literals", 24) for method in methods]
        )
        axes.set_ylim(len(methods) - 0.5, -0.6)
        axes.set_title(shorten(index, 80), loc="left", fontsize=9, color=GREY)
        _draw_scale(axes, zero, top, any(not row.occurrences for row in alike))
        clean_axes(axes)
        if is_last:
            opened = _OPEN * any(row.estimated for row in alike)
            label = _AXIS.format(_TOKENS if is_tokens else "occurrences")
            axes.set_xlabel(f"{label} named at the right{opened}", fontsize=8)
        else:
            axes.tick_params(labelbottom=False)
    return finish(figure, "Occurrences of each method's patterns, one point per pattern", _WIDTH)


def _point(row: CountRow | TokenCountRow) -> _Point:
    keys = row.index, row.method, row.query
    if hasattr(row, "token_occurrences"):
        return _Point(*keys, True, row.token_occurrences)
    limits = row.occurrences_low, row.occurrences_high
    return _Point(*keys, False, row.occurrences, row.estimated, *limits)


def _lasts(kinds: Sequence[bool]) -> list[bool]:
    """Return which panels are the last of their kind: below these stands the axis."""
    return [one != following for one, following in zip(kinds, [*kinds[1:], None], strict=True)]


def _limits(rows: Sequence[_Point]) -> tuple[float, float]:
    """Return where zeros are drawn, left of all else, and the upper end."""
    positive = [
        value
        for row in rows
        for value in (row.occurrences, row.occurrences_low, row.occurrences_high)
        if value
    ]
    least = 10 ** math.floor(math.log10(min(positive, default=1)))
    return least / 10**0.6, max(positive, default=10) * 1.8


def _draw_method(axes: Axes, rows: Sequence[_Point], number: int, zero: float) -> None:
    colour, mark = style(number)
    ordered = sorted(rows, key=lambda row: row.occurrences)
    heights = _heights([row.occurrences for row in ordered], number)
    for row, height in zip(ordered, heights, strict=True):
        if row.occurrences_low is not None and row.occurrences_high is not None:
            ends = [max(row.occurrences_low, zero), max(row.occurrences_high, zero)]
            axes.plot(ends, [height, height], color=colour, lw=1.1, gid="interval")
    at = [max(row.occurrences, zero) for row in ordered]
    faces = ["white" if row.estimated else colour for row in ordered]
    axes.scatter(at, heights, s=24, c=faces, edgecolors=colour, marker=mark, zorder=3, gid="points")
    mean = math.exp(fmean(math.log(row.occurrences + 0.5) for row in rows))
    ends = [number - 0.36, number + 0.36]
    axes.plot([max(mean, zero)] * 2, ends, color="black", lw=2, zorder=4, gid="mean")
    if ordered[-1].occurrences:
        largest = (at[-1:], heights[-1:])
        axes.scatter(*largest, s=85, facecolors="none", edgecolors="black", lw=0.9, zorder=5)
        label_row(axes, number, shorten(ordered[-1].query, 34))


def _heights(counts: Sequence[int], number: int) -> list[float]:
    """Return how high the point of each sorted count lies: zeros evenly, others in lanes."""
    zeros = counts.count(0)
    heights = [number + 0.6 * ((i + 0.5) / zeros - 0.5) for i in range(zeros)]
    return heights + [number + _LANES[i % len(_LANES)] for i in range(len(counts) - zeros)]


def _draw_scale(axes: Axes, zero: float, top: float, has_zeros: bool) -> None:
    axes.set_xscale("log")
    axes.minorticks_off()
    first = math.ceil(math.log10(zero))
    decades = range(first, math.floor(math.log10(top)) + 1)
    step = math.ceil(len(decades) / 12)
    ticks = {10.0**decade: _power(decade) for decade in decades[::step]}
    if has_zeros:
        ticks = {zero: "0"} | ticks
        # The line between zeros and the scale: no logarithm reaches 0.
        axes.axvline(zero * 10**0.3, color=GREY, lw=0.8, ls=(0, (2, 2)))
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xlim(zero / 1.6 if has_zeros else zero * 10**0.4, top)


def _power(decade: int) -> str:
    return str(10**decade) if 0 <= decade <= 2 else f"10{str(decade).translate(_SUPERSCRIPTS)}"
