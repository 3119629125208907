"""Rows → pictures. There is at least one row, its values are known, limits may be None.

matplotlib is imported where a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ngramscan.output import canvas
from ngramscan.output.canvas import COLOURS, GREY, HATCHES, MARKS, clean_axes, finish, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalcore.efficiency import EfficiencyRow
    from evalcore.link import LinkRow
    from evalcore.scores import SummaryRow

_CELL = attrgetter("dataset", "model")
_PAIR = attrgetter("treatment", "baseline")
_LINKED = attrgetter("dataset", "model", "rule")


def _style(values: Sequence[str], number: int) -> str:
    return values[number % len(values)]


def _legend(figure: Figure, lines: Iterable[dict[str, Any]], **options: Any) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **line) for line in lines]
    figure.legend(handles=handles, loc="outside lower center", frameon=False, **options)


def draw_accuracy(rows: Sequence[SummaryRow]) -> Figure:
    """Draw accuracies with their intervals: a bar per row, those of one model together."""
    groups = list(dict.fromkeys(map(_CELL, rows)))
    methods = list(dict.fromkeys(row.method for row in rows))
    labels = [wrap(label, 28) for label in canvas.varying(groups)]
    lines = [max(len(methods), label.count("\n") + 1) for label in labels]
    figure, (axes,) = canvas.new_figure((7.5, 1.6 + 0.12 * len(groups) + 0.22 * sum(lines)))
    # One unit is one bar or one line of a label; half a unit is between groups.
    starts = [sum(lines[:number]) + 0.6 * number for number in range(len(groups))]
    for number, method in enumerate(methods):
        own = [row for row in rows if row.method == method]
        places = [groups.index(_CELL(row)) for row in own]
        tops = [starts[one] + (lines[one] - len(methods)) / 2 + number for one in places]
        _draw_bars(axes, own, tops, number)
    middles = [start + (n - 1) / 2 for start, n in zip(starts, lines, strict=True)]
    axes.set_yticks(middles, labels)
    axes.set_ylim(starts[-1] + lines[-1] - 0.3, -0.7)
    axes.set_xlim(0, 112)
    axes.set_xticks([0, 25, 50, 75, 100], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("accuracy; lines: intervals")
    clean_axes(axes)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, handlelength=2.2)
    of = canvas.common(groups)
    return finish(figure, "Accuracy of each method, with intervals" + (of and f": {of}"), 7.5)


def _draw_bars(axes: Axes, rows: Sequence[SummaryRow], tops: Sequence[float], number: int) -> None:
    axes.barh(
        tops,
        [row.accuracy or 0.0 for row in rows],
        height=0.86,
        color=_style(COLOURS, number),
        hatch=_style(HATCHES, number),
        edgecolor="white",
        label=wrap(rows[0].method, 24),
    )
    for row, top in zip(rows, tops, strict=True):
        end = row.accuracy or 0.0
        if row.accuracy_low is not None and row.accuracy_high is not None:
            ends = [row.accuracy_low, row.accuracy_high]
            axes.plot(ends, [top, top], color="white", lw=3.2, solid_capstyle="butt")
            axes.plot(ends, [top, top], color="black", lw=1.3, gid="interval")
            end = row.accuracy_high
        axes.text(end + 1.2, top, f"{row.accuracy:.1f}", va="center", fontsize=7.5)


def draw_frontier(rows: Sequence[EfficiencyRow]) -> Figure:
    """Draw accuracies against tokens: a panel per dataset and model, a line along the frontier."""
    groups = list(dict.fromkeys(map(_CELL, rows)))
    methods = list(dict.fromkeys(row.method for row in rows))
    abreast = min(len(groups), 3)
    down = -(-len(groups) // abreast)
    width = max(4.8, 2.9 * abreast)
    figure, panels = canvas.new_figure((width, 1.1 + 2.5 * down), (down, abreast))
    labels = canvas.varying(groups) if len(groups) > 1 else [""]
    for number, (axes, group, label) in enumerate(zip(panels, groups, labels, strict=False)):
        _draw_panel(axes, [row for row in rows if _CELL(row) == group], methods)
        axes.set_title(wrap(label, 34) if label else "", fontsize=9, loc="left")
        axes.set_ylabel("" if number % abreast else "accuracy, %")
        axes.set_xlabel("tokens per output, mean" if number + abreast >= len(groups) else "")
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    marks = [
        {"ls": "", "marker": _style(MARKS, n), "color": _style(COLOURS, n), "label": method}
        for n, method in enumerate(methods)
    ]
    frontier = {"color": GREY, "lw": 1, "ls": "--", "label": "frontier (filled)"}
    _legend(figure, [*marks, frontier], ncols=4 if width < 6 else 6, fontsize=8)
    of = canvas.common(groups) if len(groups) > 1 else " · ".join(groups[0])
    return finish(figure, "Accuracy and its cost" + (of and f": {of}"), 0.85 * width)


def _draw_panel(axes: Axes, rows: Sequence[EfficiencyRow], methods: Sequence[str]) -> None:
    axes.set_axisbelow(True)
    axes.grid(color="#E8E8E8", lw=0.6)
    edge = sorted((row.mean_tokens or 0.0, row.accuracy or 0.0) for row in rows if row.on_frontier)
    axes.step(*zip(*edge, strict=True), where="post", color=GREY, lw=1, ls="--", zorder=1)
    for row in rows:
        x, y = row.mean_tokens or 0.0, row.accuracy or 0.0
        colour = _style(COLOURS, methods.index(row.method))
        axes.errorbar(
            x,
            y,
            xerr=_arms(x, row.mean_tokens_low, row.mean_tokens_high),
            yerr=_arms(y, row.accuracy_low, row.accuracy_high),
            fmt=_style(MARKS, methods.index(row.method)),
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


def draw_links(rows: Sequence[LinkRow]) -> Figure:
    """Draw the difference of accuracies against the ratio of prevalences, one panel per index.

    Each row is a point: a colour per pair of methods, a mark per benchmark and model.
    """
    indexes = list(dict.fromkeys(row.index for row in rows))
    pairs = list(dict.fromkeys(map(_PAIR, rows)))
    cells = list(dict.fromkeys(map(_LINKED, rows)))
    height = 1.5 + 2.4 * len(indexes) + 0.17 * (len(pairs) + len(cells))
    figure, panels = canvas.new_figure((8.0, height), (len(indexes), 1), sharex=True)
    for axes, index in zip(panels, indexes, strict=True):
        axes.set_xscale("log")
        axes.axhline(0, color=GREY, lw=0.8)
        axes.axvline(1, color=GREY, lw=0.8)
        for number, pair in enumerate(pairs):
            own = [row for row in rows if row.index == index and _PAIR(row) == pair]
            _draw_pair(axes, own, cells, _style(COLOURS, number))
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
        {"color": _style(COLOURS, number), "lw": 3, "label": f"{one} − {other}"}
        for number, (one, other) in enumerate(pairs)
    ]
    if len(cells) > 1:
        lines += [
            {
                "color": GREY,
                "marker": _style(MARKS, number),
                "ls": "none",
                "label": label,
            }
            for number, label in enumerate(canvas.varying(cells))
        ]
    _legend(figure, lines, ncols=2, fontsize=7.5)
    return finish(figure, "Prevalence of two methods and difference of their accuracies", 8.0)


def _draw_pair(axes: Axes, rows: Sequence[LinkRow], cells: Sequence[object], colour: str) -> None:
    """Draw one pair of methods: its prevalence is the same for all, so points stand 6 % apart."""
    for row in rows[:1]:
        if row.prevalence_low is not None and row.prevalence_high is not None:
            low, high = row.prevalence_low, row.prevalence_high
            axes.axvspan(low, high, color=colour, alpha=0.12, lw=0, gid="band")
        axes.axvline(row.prevalence_ratio, color=colour, lw=0.8, ls=":")
    for row in rows:
        cell = cells.index(_LINKED(row))
        at = row.prevalence_ratio * 1.06 ** (cell - (len(cells) - 1) / 2)
        if row.difference_low is not None and row.difference_high is not None:
            ends = [row.difference_low, row.difference_high]
            axes.plot([at, at], ends, color=colour, lw=1.2, gid="interval")
        axes.plot([at], [row.difference], _style(MARKS, cell), color=colour, gid="point")
