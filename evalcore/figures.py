"""Rows → pictures. matplotlib is imported where one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ngramscan.output.canvas import (
    COLOURS,
    GREY,
    HATCHES,
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

    from evalcore.efficiency import EfficiencyRow
    from evalcore.link import LinkRow
    from evalcore.scores import SummaryRow

_ASIDE = 1.06
"""By which factor points of one pair of methods stand apart."""


def _styled(values: Sequence[str], number: int) -> str:
    return values[number % len(values)]


def _legend(figure: Figure, lines: Sequence[dict[str, Any]], **options: Any) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **line) for line in lines]
    figure.legend(handles=handles, loc="outside lower center", frameon=False, **options)


# Accuracies


def draw_accuracy(rows: Sequence[SummaryRow]) -> Figure:
    """Draw accuracies with their intervals: one bar per row, those of a dataset and model together.

    Parameters
    ----------
    rows : sequence of SummaryRow
        At least one, each with an accuracy; in percent. Limits may be None.
    """
    groups = list(dict.fromkeys((row.dataset, row.model) for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    labels = [wrap(label, 28) for label in varying(groups)]
    lines = [max(len(methods), label.count("\n") + 1) for label in labels]
    figure, (axes,) = new_figure((7.5, 1.6 + 0.12 * len(groups) + 0.22 * sum(lines)))
    # One unit is one bar or one line of a label; half a unit is between groups.
    starts = [sum(lines[:number]) + 0.6 * number for number in range(len(groups))]
    firsts = {
        group: start + (n - len(methods)) / 2
        for group, start, n in zip(groups, starts, lines, strict=True)
    }
    for number, method in enumerate(methods):
        own = [row for row in rows if row.method == method]
        heights = [firsts[row.dataset, row.model] + number for row in own]
        _draw_bars(axes, own, heights, number)
    middles = [start + (n - 1) / 2 for start, n in zip(starts, lines, strict=True)]
    axes.set_yticks(middles, labels)
    axes.set_ylim(starts[-1] + lines[-1] - 0.3, -0.7)
    axes.set_xlim(0, 112)
    axes.set_xticks([0, 25, 50, 75, 100], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("accuracy; lines: intervals")
    clean_axes(axes)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, handlelength=2.2)
    of = common(groups)
    return finish(figure, "Accuracy of each method, with intervals" + (of and f": {of}"), 7.5)


def _draw_bars(
    axes: Axes, rows: Sequence[SummaryRow], heights: Sequence[float], number: int
) -> None:
    axes.barh(
        heights,
        [row.accuracy or 0.0 for row in rows],
        height=0.86,
        color=_styled(COLOURS, number),
        hatch=_styled(HATCHES, number),
        edgecolor="white",
        label=wrap(rows[0].method, 24),
    )
    for row, height in zip(rows, heights, strict=True):
        end = row.accuracy or 0.0
        if row.accuracy_low is not None and row.accuracy_high is not None:
            ends = [row.accuracy_low, row.accuracy_high]
            axes.plot(ends, [height, height], color="white", lw=3.2, solid_capstyle="butt")
            axes.plot(ends, [height, height], color="black", lw=1.3, gid="interval")
            end = row.accuracy_high
        axes.text(end + 1.2, height, f"{row.accuracy:.1f}", va="center", fontsize=7.5)


# Accuracy against tokens


def draw_frontier(rows: Sequence[EfficiencyRow]) -> Figure:
    """Draw accuracies against tokens: a panel per dataset and model, a line along the frontier.

    Parameters
    ----------
    rows : sequence of EfficiencyRow
        At least one, each with an accuracy and mean tokens; limits may be None.
    """
    groups = list(dict.fromkeys((row.dataset, row.model) for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    abreast = min(len(groups), 3)
    down = -(-len(groups) // abreast)
    width = max(4.8, 2.9 * abreast)
    figure, panels = new_figure((width, 1.1 + 2.5 * down), (down, abreast))
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    labels = varying(groups) if len(groups) > 1 else [""]
    for axes, group, label in zip(panels, groups, labels, strict=False):
        _draw_panel(axes, [row for row in rows if (row.dataset, row.model) == group], methods)
        axes.set_title(wrap(label, 34) if label else "", fontsize=9, loc="left")
    for axes in panels[0 : len(groups) : abreast]:
        axes.set_ylabel("accuracy, %")
    for axes in panels[max(0, len(groups) - abreast) : len(groups)]:
        axes.set_xlabel("tokens per output, mean")
    marks = [
        {"ls": "", "marker": _styled(MARKS, n), "color": _styled(COLOURS, n), "label": method}
        for n, method in enumerate(methods)
    ]
    frontier = {"color": GREY, "lw": 1, "ls": "--", "label": "frontier (filled)"}
    _legend(figure, [*marks, frontier], ncols=4 if width < 6 else 6, fontsize=8)
    of = common(groups) if len(groups) > 1 else " · ".join(groups[0])
    return finish(figure, "Accuracy and its cost" + (of and f": {of}"), 0.85 * width)


def _draw_panel(axes: Axes, rows: Sequence[EfficiencyRow], methods: Sequence[str]) -> None:
    axes.set_axisbelow(True)
    axes.grid(color="#E8E8E8", lw=0.6)
    points = [(row.mean_tokens or 0.0, row.accuracy or 0.0) for row in rows]
    edge = [point for point, row in zip(points, rows, strict=True) if row.on_frontier]
    edge.sort(key=lambda point: point[0])
    axes.step(*zip(*edge, strict=True), where="post", color=GREY, lw=1, ls="--", zorder=1)
    for row, (x, y) in zip(rows, points, strict=True):
        number = methods.index(row.method)
        colour = _styled(COLOURS, number)
        axes.errorbar(
            x,
            y,
            xerr=_arms(x, row.mean_tokens_low, row.mean_tokens_high),
            yerr=_arms(y, row.accuracy_low, row.accuracy_high),
            fmt=_styled(MARKS, number),
            color=colour,
            mfc=colour if row.on_frontier else "white",
            ms=6,
            elinewidth=0.8,
        )
    clean_axes(axes, None)
    axes.margins(0.12)
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _arms(value: float, low: float | None, high: float | None) -> list[list[float]] | None:
    if low is None or high is None:
        return None
    # An interval may leave its own value out.
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


# Prevalence beside accuracy


def draw_links(rows: Sequence[LinkRow]) -> Figure:
    """Draw the difference of accuracies against the ratio of prevalences, one panel per index.

    Parameters
    ----------
    rows : sequence of LinkRow
        At least one. Each is a point: a colour per pair of methods, a mark per benchmark and model.
    """
    indexes = list(dict.fromkeys(row.index for row in rows))
    pairs = list(dict.fromkeys((row.treatment, row.baseline) for row in rows))
    cells = list(dict.fromkeys((row.dataset, row.model, row.rule) for row in rows))
    height = 1.5 + 2.4 * len(indexes) + 0.17 * (len(pairs) + len(cells))
    figure, panels = new_figure((8.0, height), (len(indexes), 1), sharex=True)
    for axes, index in zip(panels, indexes, strict=True):
        axes.set_xscale("log")
        axes.axhline(0, color=GREY, lw=0.8)
        axes.axvline(1, color=GREY, lw=0.8)
        for number, pair in enumerate(pairs):
            named = (index, *pair)
            own = [row for row in rows if (row.index, row.treatment, row.baseline) == named]
            _draw_pair(axes, own, cells, _styled(COLOURS, number))
        axes.set_title(index, loc="left", fontsize=9, color=GREY)
        axes.set_ylabel("accuracy difference (pp)")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter("")
        clean_axes(axes)
    panels[-1].set_xlabel(
        f"ratio of {rows[0].measure}: geometric means over patterns, bands: intervals (log scale)\n"
        "side by side, not cause and effect"
    )
    lines: list[dict[str, Any]] = [
        {"color": _styled(COLOURS, number), "lw": 3, "label": f"{one} − {other}"}
        for number, (one, other) in enumerate(pairs)
    ]
    marks: list[dict[str, Any]] = [
        {"color": GREY, "marker": _styled(MARKS, number), "ls": "none", "label": label}
        for number, label in enumerate(varying(cells))
    ]
    _legend(figure, [*lines, *(marks if len(cells) > 1 else [])], ncols=2, fontsize=7.5)
    return finish(figure, "Prevalence of two methods and difference of their accuracies", 8.0)


def _draw_pair(
    axes: Axes, rows: Sequence[LinkRow], cells: Sequence[tuple[str, str, str]], colour: str
) -> None:
    """Draw one pair of methods: its prevalence is the same for all, so points stand aside."""
    for row in rows[:1]:
        if row.prevalence_low is not None and row.prevalence_high is not None:
            band = (row.prevalence_low, row.prevalence_high)
            axes.axvspan(*band, color=colour, alpha=0.12, lw=0, gid="band")
        axes.axvline(row.prevalence_ratio, color=colour, lw=0.8, ls=":")
    for row in rows:
        cell = cells.index((row.dataset, row.model, row.rule))
        at = row.prevalence_ratio * _ASIDE ** (cell - (len(cells) - 1) / 2)
        if row.difference_low is not None and row.difference_high is not None:
            ends = [row.difference_low, row.difference_high]
            axes.plot([at, at], ends, color=colour, lw=1.2, gid="interval")
        mark = _styled(MARKS, cell)
        axes.plot([at], [row.difference], color=colour, marker=mark, ls="none", gid="point")
