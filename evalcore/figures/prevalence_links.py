"""How often methods are attested, against how well they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalcore.prevalence_links import LinkRow
from ngramscan.output.canvas import COLOURS, GREY, MARKS, clean_axes, finish, new_figure, varying

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 8.0
_ASIDE = 1.06
"""By which factor points of one pair of methods stand apart."""


def draw_links(rows: Sequence[LinkRow]) -> Figure:
    """Draw the difference of accuracies against the ratio of prevalences, one panel per index.

    Parameters
    ----------
    rows : sequence of LinkRow
        At least one.

    Returns
    -------
    Figure
        One point per row: a colour per pair of methods, a mark per benchmark and model; intervals
        as lines. Prevalence on a log scale.
    """
    indexes = list(dict.fromkeys(row.index for row in rows))
    pairs = list(dict.fromkeys((row.treatment, row.baseline) for row in rows))
    cells = list(dict.fromkeys((row.dataset, row.model, row.rule) for row in rows))
    height = 1.5 + 2.4 * len(indexes) + 0.17 * (len(pairs) + len(cells))
    figure, panels = new_figure((_WIDTH, height), (len(indexes), 1), sharex=True)
    for axes, index in zip(panels, indexes, strict=True):
        axes.set_xscale("log")
        axes.axhline(0, color=GREY, lw=0.8)
        axes.axvline(1, color=GREY, lw=0.8)
        own = [row for row in rows if row.index == index]
        for number, pair in enumerate(pairs):
            points = [row for row in own if (row.treatment, row.baseline) == pair]
            _draw_pair(axes, points, cells, COLOURS[number % len(COLOURS)])
        axes.set_title(index, loc="left", fontsize=9, color=GREY)
        axes.set_ylabel("accuracy difference (pp)")
        axes.xaxis.set_major_formatter(_plain)
        axes.xaxis.set_minor_formatter("")
        clean_axes(axes)
    panels[-1].set_xlabel(
        f"ratio of {rows[0].measure}: geometric means over patterns, bands: intervals (log scale)\n"
        "side by side, not cause and effect"
    )
    _draw_legend(figure, pairs, cells)
    return finish(figure, "Prevalence of two methods and difference of their accuracies", _WIDTH)


def _plain(value: float, _place: float) -> str:
    return f"{value:g}"


def _draw_pair(
    axes: Axes, rows: Sequence[LinkRow], cells: Sequence[tuple[str, str, str]], colour: str
) -> None:
    """Draw one pair of methods: its prevalence is the same for all, so points stand aside."""
    for row in rows[:1]:
        if row.prevalence_low is not None and row.prevalence_high is not None:
            axes.axvspan(
                row.prevalence_low, row.prevalence_high, color=colour, alpha=0.12, lw=0, gid="band"
            )
        axes.axvline(row.prevalence_ratio, color=colour, lw=0.8, ls=":")
    for row in rows:
        cell = cells.index((row.dataset, row.model, row.rule))
        at = row.prevalence_ratio * _ASIDE ** (cell - (len(cells) - 1) / 2)
        if row.difference_low is not None and row.difference_high is not None:
            ends = [row.difference_low, row.difference_high]
            axes.plot([at, at], ends, color=colour, lw=1.2, gid="interval")
        mark = MARKS[cell % len(MARKS)]
        axes.plot([at], [row.difference], color=colour, marker=mark, ls="none", gid="point")


def _draw_legend(
    figure: Figure, pairs: Sequence[tuple[str, str]], cells: Sequence[tuple[str, str, str]]
) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=COLOURS[number % len(COLOURS)], lw=3, label=f"{one} − {other}")
        for number, (one, other) in enumerate(pairs)
    ]
    if len(cells) > 1:
        handles += [
            Line2D([], [], color=GREY, marker=MARKS[number % len(MARKS)], ls="none", label=label)
            for number, label in enumerate(varying(cells))
        ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=7.5)
