"""Shares of the strategies, per prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ngramscan.reporting.canvas import (
    ALL_MODELS,
    COLOURS,
    HATCHES,
    PROMPT,
    clean_axes,
    finish_prompts,
    label_row,
    lines_of,
    new_figure,
    varying,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ngramscan.outputs.strategies import StrategyRow

_WIDTH = 8.0
_LEAST_SHARE = 0.05
"""In a narrower part of a bar its count has no room."""


def draw_strategies(rows: Sequence[StrategyRow]) -> Figure:
    """Draw how many outputs of each dataset, model and prompt follow which strategy, pooled first.

    A bar is 100% long, and its parts carry their counts. There is at least one row.
    """
    rows = sorted(rows, key=lambda row: row.model != ALL_MODELS)
    keys = list(dict.fromkeys(map(PROMPT, rows)))
    labels = [wrap(label, 32) for label in varying(keys)]
    figure, (axes,) = new_figure((_WIDTH, 1.5 + 0.16 * len(keys) + 0.2 * lines_of(labels)))
    ends = dict.fromkeys(keys, 0.0)
    for number, strategy in enumerate(dict.fromkeys(row.strategy for row in rows)):
        _draw_parts(axes, [row for row in rows if row.strategy == strategy], ends, number)
    for key, outputs in {PROMPT(row): row.outputs for row in rows}.items():
        label_row(axes, keys.index(key), f"n = {outputs:,}")
    axes.set_yticks(range(len(keys)), labels)
    axes.set_ylim(len(keys) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    clean_axes(axes, None)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, handlelength=2.2)
    return finish_prompts(figure, "Strategies of outputs, with their numbers", keys, _WIDTH)


def _draw_parts(
    axes: Axes, rows: Sequence[StrategyRow], ends: dict[tuple[str, str, str], float], number: int
) -> None:
    """Draw the parts of one strategy behind the `ends` of the bars, and move those."""
    heights = [[*ends].index(PROMPT(row)) for row in rows]
    bars = axes.barh(
        heights,
        [row.with_strategy / row.outputs for row in rows],
        left=[ends[PROMPT(row)] for row in rows],
        height=0.68,
        color=COLOURS[number % len(COLOURS)],
        hatch=HATCHES[number % len(HATCHES)],
        edgecolor="white",
        label=rows[0].strategy,
    )
    counts = [
        f"{row.with_strategy:,}" if row.with_strategy / row.outputs >= _LEAST_SHARE else ""
        for row in rows
    ]
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    for text in axes.bar_label(bars, counts, label_type="center", fontsize=7.5):
        text.set_bbox(box if text.get_text() else None)
    for row in rows:
        ends[PROMPT(row)] += row.with_strategy / row.outputs
