"""Shares of clean, suspicious and dirty entries, per corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ngramscan.reporting.canvas import (
    COLOURS,
    HATCHES,
    clean_axes,
    finish,
    label_row,
    lines_of,
    new_figure,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ngramscan.prevalence.contamination_shares import ShareRow

_WIDTH = 8.0
_BAR = 0.25
"""The height of a bar; the bars of one corpus touch."""
_CLASSES = ("clean", "suspicious", "dirty")


def draw_contaminate(rows: Sequence[ShareRow]) -> Figure:
    """Draw the shares of each corpus as bars below each other, with intervals.

    Where entries are unknown, a share has no bar, only its limits. There is at least one row.
    """
    shown = [row for row in rows if row.verdict in _CLASSES]
    indexes = list(dict.fromkeys(row.index for row in shown))
    labels = [wrap(index, 32) for index in indexes]
    height = 1.5 + max(0.6 * len(indexes), 0.2 * lines_of(labels))
    figure, (axes,) = new_figure((_WIDTH, height))
    present = [one for one in _CLASSES if any(row.verdict == one for row in shown)]
    for number, verdict in enumerate(present):
        own = [row for row in shown if row.verdict == verdict]
        places = [
            indexes.index(row.index) + (number - (len(present) - 1) / 2) * _BAR for row in own
        ]
        _draw_class(axes, own, places, _CLASSES.index(verdict))
    for row in {row.index: row for row in shown}.values():
        label_row(axes, indexes.index(row.index), f"n = {row.entries:,}")
    axes.set_yticks(range(len(indexes)), labels)
    axes.set_ylim(len(indexes) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    clean_axes(axes)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, handlelength=2.2)
    title = f"Entries by class, with {100 * rows[0].level:g}% intervals"
    return finish(figure, title, _WIDTH)


def _draw_class(axes: Axes, rows: Sequence[ShareRow], places: Sequence[float], number: int) -> None:
    axes.barh(
        places,
        [row.share or 0.0 for row in rows],
        height=_BAR,
        color=COLOURS[number],
        hatch=HATCHES[number],
        edgecolor="white",
        label=_CLASSES[number],
    )
    for place, row in zip(places, rows, strict=True):
        limits = [row.share_low, row.share_high]
        axes.plot(limits, [place, place], color="black", lw=1.1, gid="interval")
        axes.plot(limits, [place, place], color="black", ls="", marker="|", ms=4)
