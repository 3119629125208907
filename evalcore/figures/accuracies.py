"""Accuracy of the methods, per dataset and model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalcore.scores import SummaryRow
from ngramscan.output.canvas import (
    COLOURS,
    HATCHES,
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


_WIDTH = 7.5


def draw_accuracy(rows: Sequence[SummaryRow]) -> Figure:
    """Draw accuracies with their intervals.

    Parameters
    ----------
    rows : sequence of SummaryRow
        At least one, each with an accuracy; in percent. Limits may be None.

    Returns
    -------
    Figure
        One bar per row, those of one dataset and model together.
    """
    groups = list(dict.fromkeys((row.dataset, row.model) for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    labels = [wrap(label, 28) for label in varying(groups)]
    lines = [max(len(methods), label.count("\n") + 1) for label in labels]
    figure, (axes,) = new_figure((_WIDTH, 1.6 + 0.12 * len(groups) + 0.22 * sum(lines)))
    # One unit is one bar or one line of a label; half a unit is between groups.
    starts = [sum(lines[:number]) + 0.6 * number for number in range(len(groups))]
    for number, method in enumerate(methods):
        own = [row for row in rows if row.method == method]
        heights = [
            starts[groups.index((row.dataset, row.model))]
            + (lines[groups.index((row.dataset, row.model))] - len(methods)) / 2
            + number
            for row in own
        ]
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
    return finish(figure, "Accuracy of each method, with intervals" + (of and f": {of}"), _WIDTH)


def _draw_bars(
    axes: Axes, rows: Sequence[SummaryRow], heights: Sequence[float], number: int
) -> None:
    axes.barh(
        heights,
        [row.accuracy or 0.0 for row in rows],
        height=0.86,
        color=COLOURS[number % len(COLOURS)],
        hatch=HATCHES[number % len(HATCHES)],
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
