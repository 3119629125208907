"""Accuracy against tokens, and the methods that none beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalcore.token_costs import EfficiencyRow
from ngramscan.output.canvas import (
    COLOURS,
    GREY,
    MARKS,
    clean_axes,
    common,
    finish,
    new_figure,
    varying,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PANELS_ABREAST = 3


def draw_frontier(rows: Sequence[EfficiencyRow]) -> Figure:
    """Draw what methods cost and how good they are.

    Parameters
    ----------
    rows : sequence of EfficiencyRow
        At least one, each with an accuracy and mean tokens; limits may be None.

    Returns
    -------
    Figure
        One panel per dataset and model; a line joins the methods on the frontier, which are filled.
    """
    groups = list(dict.fromkeys((row.dataset, row.model) for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    abreast = min(len(groups), _PANELS_ABREAST)
    down = -(-len(groups) // abreast)
    width = max(4.8, 2.9 * abreast)
    figure, panels = new_figure((width, 1.1 + 2.5 * down), (down, abreast))
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    labels = varying(groups) if len(groups) > 1 else [""]
    for axes, group, label in zip(panels, groups, labels, strict=False):
        own = [row for row in rows if (row.dataset, row.model) == group]
        _draw_panel(axes, own, methods)
        axes.set_title(wrap(label, 34) if label else "", fontsize=9, loc="left")
    for axes in panels[0 : len(groups) : abreast]:
        axes.set_ylabel("accuracy, %")
    for axes in panels[max(0, len(groups) - abreast) : len(groups)]:
        axes.set_xlabel("tokens per output, mean")
    _add_legend(figure, methods, width)
    of = common(groups) if len(groups) > 1 else " · ".join(groups[0])
    return finish(figure, "Accuracy and its cost" + (of and f": {of}"), 0.85 * width)


def _draw_panel(axes: Axes, rows: Sequence[EfficiencyRow], methods: Sequence[str]) -> None:
    axes.set_axisbelow(True)
    axes.grid(color="#E8E8E8", lw=0.6)
    edge = sorted((_point(row) for row in rows if row.on_frontier), key=lambda point: point[0])
    axes.step(*zip(*edge, strict=True), where="post", color=GREY, lw=1, ls="--", zorder=1)
    for row in rows:
        number = methods.index(row.method)
        colour = COLOURS[number % len(COLOURS)]
        x, y = _point(row)
        axes.errorbar(
            x,
            y,
            xerr=_arms(x, row.mean_tokens_low, row.mean_tokens_high),
            yerr=_arms(y, row.accuracy_low, row.accuracy_high),
            fmt=MARKS[number % len(MARKS)],
            color=colour,
            mfc=colour if row.on_frontier else "white",
            ms=6,
            elinewidth=0.8,
        )
    clean_axes(axes, None)
    axes.margins(0.12)
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _point(row: EfficiencyRow) -> tuple[float, float]:
    assert row.mean_tokens is not None
    assert row.accuracy is not None
    return row.mean_tokens, row.accuracy


def _arms(value: float, low: float | None, high: float | None) -> list[list[float]] | None:
    if low is None or high is None:
        return None
    # An interval may leave its own value out.
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def _add_legend(figure: Figure, methods: Sequence[str], width: float) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            ls="",
            marker=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            label=method,
        )
        for number, method in enumerate(methods)
    ]
    frontier = Line2D([], [], color=GREY, lw=1, ls="--", label="frontier (filled)")
    figure.legend(
        handles=[*handles, frontier],
        loc="outside lower center",
        ncols=4 if width < 6 else 6,
        frameon=False,
        fontsize=8,
    )
