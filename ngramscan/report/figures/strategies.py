"""Shares of the strategies, per group of outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ngramscan.report.canvas import (
    COLOURS,
    HATCHES,
    clean_axes,
    common,
    finish,
    lines_of,
    new_figure,
    varying,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class StrategyLike(Protocol):
    """What is drawn of a row of `strategies`."""

    @property
    def dataset(self) -> str:
        """Of the group."""

    @property
    def model(self) -> str:
        """Of the group; `all`: of all models."""

    @property
    def prompt(self) -> str:
        """Of the group."""

    @property
    def strategy(self) -> str:
        """Which."""

    @property
    def outputs(self) -> int:
        """Of the group."""

    @property
    def with_strategy(self) -> int:
        """Of them, with the strategy."""


_WIDTH = 8.0
_LEAST_SHARE = 0.05
"""In a narrower part of a bar its count has no room."""


def draw_strategies(rows: Sequence[StrategyLike]) -> Figure:
    """Draw how many outputs of each group follow which strategy.

    Parameters
    ----------
    rows : sequence of StrategyRow
        At least one.

    Returns
    -------
    Figure
        One bar per dataset, model and prompt, as long as 100 %, its parts with their counts.
    """
    groups = list(dict.fromkeys((row.dataset, row.model, row.prompt) for row in rows))
    strategies = list(dict.fromkeys(row.strategy for row in rows))
    labels = [wrap(label, 32) for label in varying(groups)]
    figure, (axes,) = new_figure((_WIDTH, 1.5 + 0.16 * len(groups) + 0.2 * lines_of(labels)))
    left = dict.fromkeys(groups, 0.0)
    for number, strategy in enumerate(strategies):
        own = [row for row in rows if row.strategy == strategy]
        _draw_parts(axes, own, groups, left, number)
    totals = {(row.dataset, row.model, row.prompt): row.outputs for row in rows}
    for height, group in enumerate(groups):
        axes.text(1.015, height, f"n = {totals[group]:,}", va="center", fontsize=8)
    axes.set_yticks(range(len(groups)), labels)
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    clean_axes(axes, None)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, handlelength=2.2)
    of = common(groups)
    return finish(figure, "Strategies of outputs, with their numbers" + (of and f": {of}"), _WIDTH)


def _draw_parts(
    axes: Axes,
    rows: Sequence[StrategyLike],
    groups: Sequence[tuple[str, str, str]],
    left: dict[tuple[str, str, str], float],
    number: int,
) -> None:
    """Draw the parts of one strategy; `left` is where they start, and then where they end."""
    keys = [(row.dataset, row.model, row.prompt) for row in rows]
    shares = [row.with_strategy / row.outputs for row in rows]
    axes.barh(
        [groups.index(key) for key in keys],
        shares,
        left=[left[key] for key in keys],
        height=0.68,
        color=COLOURS[number % len(COLOURS)],
        hatch=HATCHES[number % len(HATCHES)],
        edgecolor="white",
        label=rows[0].strategy,
    )
    for key, row, share in zip(keys, rows, shares, strict=True):
        if share >= _LEAST_SHARE:
            axes.text(
                left[key] + share / 2,
                groups.index(key),
                f"{row.with_strategy:,}",
                ha="center",
                va="center",
                fontsize=7.5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )
        left[key] += share
