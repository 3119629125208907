"""The figure: recall by the share of words that were edited, and false alarms by kind of decoy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from benchmarks.copies.measures import ALL, MeasureRow

EDITS = {
    0: "whole",
    2: "2% edited",
    5: "5% edited",
    10: "10% edited",
    12: "12% edited",
}
# Okabe and Ito's colours, which differ for colour-blind readers, and marks that differ in grey.
LOOKS = {
    "copied": ("#D55E00", "o"),
    "mini": ("#56B4E9", "v"),
    "gpt4-stripped": ("#009E73", "s"),
    "gpt3": ("#000000", "^"),
    "palm": ("#0072B2", "D"),
    "ngram-8": ("#CC79A7", "P"),
    "decon": ("#999999", "X"),
}
GROUPS = {
    "template in 1 document": ("decoy", "template in 1"),
    "template in 3": ("decoy", "template in 3"),
    "template in 10": ("decoy", "template in 10"),
    "template in 30": ("decoy", "template in 30"),
    "template in 100": ("decoy", "template in 100"),
    "instruction in 1": ("decoy", "instruction in 1"),
    "instruction in 10": ("decoy", "instruction in 10"),
    "formula in 1": ("decoy", "formula in 1"),
    "formula in 30": ("decoy", "formula in 30"),
    "quotation in 1": ("decoy", "quotation in 1"),
    "quotation in 5": ("decoy", "quotation in 5"),
    "quotation in 30": ("decoy", "quotation in 30"),
    "paraphrase": ("decoy", "paraphrase"),
    "same family": ("decoy", "same family"),
    "short common question": ("decoy", "short common question"),
    "other numbers": ("variant", ALL),
    "nothing in the corpus": ("absent", ALL),
}


def draw_figure(rows: Sequence[MeasureRow], path: Path) -> None:
    """Write the figure as SVG, the same for the same rows."""
    mpl.rcParams.update({"font.size": 9.5, "svg.hashsalt": "copies", "axes.linewidth": 0.7})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 5.2), facecolor="white")
    methods = [name for name in LOOKS if any(row.method == name for row in rows)]
    draw_recall(left, rows, methods)
    draw_false_alarms(right, rows, methods)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(methods), frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)


def draw_recall(axes: Axes, rows: Sequence[MeasureRow], methods: Sequence[str]) -> None:
    """Draw a line for each method."""
    for method in methods:
        by_kind = {
            row.kind: row for row in rows if row.method == method and row.measure == "recall"
        }
        places = [place for place, kind in EDITS.items() if kind in by_kind]
        values = [100 * by_kind[EDITS[place]].share for place in places]
        colour, mark = LOOKS[method]
        width = 2.4 if method == "copied" else 1.2
        axes.plot(places, values, color=colour, marker=mark, lw=width, ms=5.5, label=method)
    axes.set(xlabel="words edited, %", ylabel="copies that are found, %", ylim=(-3, 103))
    axes.set_xticks(list(EDITS))
    axes.set_title("Copies", loc="left", fontsize=10.5, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#E5E5E5", lw=0.6)
    axes.set_axisbelow(True)


def draw_false_alarms(axes: Axes, rows: Sequence[MeasureRow], methods: Sequence[str]) -> None:
    """Draw a line of marks for each kind of entries that are not in the corpus."""
    for method in methods:
        shares = {
            (row.truth, row.kind): 100 * row.share
            for row in rows
            if row.method == method and row.measure == "called copies" and row.language == ALL
        }
        places = [place for place, group in enumerate(GROUPS.values()) if group in shares]
        values = [shares[group] for group in GROUPS.values() if group in shares]
        colour, mark = LOOKS[method]
        size = 46 if method == "copied" else 26
        axes.scatter(values, places, c=colour, marker=mark, s=size, zorder=3)
    axes.set_yticks(range(len(GROUPS)), list(GROUPS))
    axes.set(xlabel="called copies, %", xlim=(-3, 103))
    axes.invert_yaxis()
    axes.set_title("Entries that are not there", loc="left", fontsize=10.5, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#E5E5E5", lw=0.6)
    axes.set_axisbelow(True)
