"""Occurrences of the patterns of each method, per index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Protocol

from ngramscan.report.canvas import COLOURS, GREY, MARKS, clean_axes, finish, new_figure, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class CountLike(Protocol):
    """What is drawn of a row of `count`."""

    @property
    def index(self) -> str:
        """Where."""

    @property
    def method(self) -> str:
        """Of the pattern."""

    @property
    def query(self) -> str:
        """What was counted."""

    @property
    def occurrences(self) -> int:
        """How often."""

    @property
    def occurrences_low(self) -> float | None:
        """Lower limit of an estimate."""

    @property
    def occurrences_high(self) -> float | None:
        """Upper limit of an estimate."""


_WIDTH = 8.5
_ROW = 0.55
_LANES = (0.0, 0.14, -0.14, 0.24, -0.24)
"""Heights at which the points of a method lie in turn: near ones do not cover each other."""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_prevalence(rows: Sequence[CountLike]) -> Figure:
    """Draw how often the patterns of each method occur, one panel per index.

    Parameters
    ----------
    rows : sequence of CountRow
        At least one.

    Returns
    -------
    Figure
        One point per row on a log scale, zeros apart on its left; intervals as lines; the geometric
        mean of count + 0.5 of each method as a bar; the largest pattern named at the right.
    """
    indexes = list(dict.fromkeys(row.index for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    height = 1.3 + len(indexes) * (0.55 + _ROW * len(methods))
    figure, panels = new_figure((_WIDTH, height), (len(indexes), 1), sharex=True)
    zero, top = _limits(rows)
    for axes, index in zip(panels, indexes, strict=True):
        for number, method in enumerate(methods):
            own = [row for row in rows if (row.index, row.method) == (index, method)]
            if own:
                _draw_method(axes, own, number, zero)
        axes.set_yticks(range(len(methods)), [shorten(method, 24) for method in methods])
        axes.set_ylim(len(methods) - 0.5, -0.6)
        axes.set_title(shorten(index, 80), loc="left", fontsize=9, color=GREY)
        _draw_scale(axes, zero, top, any(not row.occurrences for row in rows))
        clean_axes(axes)
    panels[-1].set_xlabel(
        "occurrences (log scale) · bar: geometric mean of count + 0.5 · ring: largest pattern,"
        " named at the right"
        + (
            "\nopen points: estimates, with intervals where known"
            if any(row.occurrences_high is not None or _is_estimated(row) for row in rows)
            else ""
        ),
        fontsize=8,
    )
    return finish(figure, "Occurrences of each method's patterns, one point per pattern", _WIDTH)


def _is_estimated(row: CountLike) -> bool:
    return bool(getattr(row, "estimated", False))


def _limits(rows: Sequence[CountLike]) -> tuple[float, float]:
    """Return where zeros are drawn, left of all else, and the upper end."""
    positive = [
        value
        for row in rows
        for value in (row.occurrences, row.occurrences_low, row.occurrences_high)
        if value
    ]
    least = 10 ** math.floor(math.log10(min(positive, default=1)))
    return least / 10**0.6, max(positive, default=10) * 1.8


def _draw_method(axes: Axes, rows: Sequence[CountLike], number: int, zero: float) -> None:
    colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
    ordered = sorted(rows, key=lambda row: row.occurrences)
    places = _heights(ordered, number)
    heights = [places[id(row)] for row in rows]
    at = [max(row.occurrences, zero) for row in rows]
    for row, height in zip(rows, heights, strict=True):
        if row.occurrences_low is not None and row.occurrences_high is not None:
            ends = [max(row.occurrences_low, zero), max(row.occurrences_high, zero)]
            axes.plot(ends, [height, height], color=colour, lw=1.1, gid="interval")
    faces = ["white" if _is_estimated(row) else colour for row in rows]
    axes.scatter(at, heights, s=24, c=faces, edgecolors=colour, marker=mark, zorder=3, gid="points")
    mean = math.exp(fmean(math.log(row.occurrences + 0.5) for row in rows))
    ends = [number - 0.36, number + 0.36]
    axes.plot([max(mean, zero)] * 2, ends, color="black", lw=2, zorder=4, gid="mean")
    largest = ordered[-1]
    if largest.occurrences:
        spot = ([largest.occurrences], [places[id(largest)]])
        axes.scatter(*spot, s=85, facecolors="none", edgecolors="black", lw=0.9, zorder=5)
        axes.text(
            1.01,
            number,
            shorten(largest.query, 34),
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=8,
            gid="largest",
        )


def _heights(rows: Sequence[CountLike], number: int) -> dict[int, float]:
    """Return how high the point of each row lies, by its id: zeros evenly, others in lanes."""
    zeros = [row for row in rows if not row.occurrences]
    places = {id(row): number + 0.6 * ((i + 0.5) / len(zeros) - 0.5) for i, row in enumerate(zeros)}
    others = [row for row in rows if row.occurrences]
    return places | {id(row): number + _LANES[i % len(_LANES)] for i, row in enumerate(others)}


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
    if 0 <= decade <= 2:
        return str(10**decade)
    return "10" + ("⁻" if decade < 0 else "") + str(abs(decade)).translate(_SUPERSCRIPTS)
