"""Markers of each method in the outputs of each prompt, and what a prefix keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ngramscan.reporting.canvas import (
    ALL_MODELS,
    GREY,
    PROMPT,
    clean_axes,
    finish_prompts,
    label_row,
    lines_of,
    new_figure,
    shorten,
    style,
    varying,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ngramscan.outputs.blend import BlendRow, RetentionRow

Row = TypeVar("Row", "BlendRow", "RetentionRow")
_CELL = 0.78


def draw_blend(rows: Sequence[BlendRow], retention: Sequence[RetentionRow] = ()) -> Figure:
    """Draw markers as two matrices of prompts and methods, and their retention.

    Shares and densities are numbers on colours; differences of shares in pairs of outputs, if
    there are any, are points with intervals in a third panel. If a dataset has rows of all models
    together, only those are drawn. There is at least one row.
    """
    shown, pairs = _pooled(rows), _pooled(retention)
    keys = list(dict.fromkeys(map(PROMPT, shown)))
    methods = list(dict.fromkeys(row.method for row in shown))
    labels = [wrap(label, 26) for label in varying(keys)]
    pair_keys = [
        (row.dataset, row.model, f"{row.prefix}+{row.solver}", row.method) for row in pairs
    ]
    pair_labels = [wrap(label, 30) for label in varying(pair_keys)]
    lines = max(lines_of(labels) * 0.19, len(labels) * 0.36, lines_of(pair_labels) * 0.17)
    matrix = _CELL * len(methods)
    widths = [matrix, matrix] + [3.6] * bool(pairs)
    width = max(sum(widths) + _width_of(labels) + _width_of(pair_labels) + 1, 6.5)
    figure, panels = new_figure((width, 1.9 + lines), (1, len(widths)), width_ratios=widths)
    for axes, title in zip(
        panels, ("a: outputs with a marker, %", "b: markers per 1,000 characters"), strict=False
    ):
        axes.set_title(wrap(title, max(14, round(matrix * 9))), loc="left", fontsize=9)
        axes.set_xticks(range(len(methods)), [wrap(method, 9) for method in methods])
        axes.set_yticks(range(len(keys)), labels)
    panels[1].tick_params(labelleft=False)
    by_cell = {(PROMPT(row), row.method): row for row in shown}
    for axes, name, unit in ((panels[0], "share", "%"), (panels[1], "per_1000_characters", "")):
        cells = [
            [getattr(by_cell.get((key, method)), name, None) for method in methods] for key in keys
        ]
        _draw_matrix(axes, cells, unit)
    if pairs:
        _draw_retention(panels[2], pairs, pair_labels)
    return finish_prompts(figure, "Markers of each method in each prompt", keys, width)


def _width_of(labels: Sequence[str]) -> float:
    """Return how wide the widest of some labels is, in inches."""
    return 0.08 * max((len(line) for label in labels for line in label.split("\n")), default=0)


def _pooled(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of all models together if a dataset has them, else all of its rows."""
    pooled = {row.dataset for row in rows if row.model == ALL_MODELS}
    return [row for row in rows if row.model == ALL_MODELS or row.dataset not in pooled]


def _draw_matrix(axes: Axes, values: Sequence[Sequence[float | None]], unit: str) -> None:
    top = 1.0 if unit else max(value or 0.0 for line in values for value in line) or 1.0
    filled = [[value or 0.0 for value in line] for line in values]
    axes.imshow(filled, cmap="Blues" if unit else "Oranges", vmin=0, vmax=top, aspect="auto")
    middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "gid": "cell"}
    for y, line in enumerate(values):
        for x, value in enumerate(line):
            colour = "white" if (value or 0) > 0.68 * top else "black"
            axes.text(x, y, _number(value, unit), color=colour, **middle)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.0f}" if unit else f"{value:.2f}"


def _draw_retention(axes: Axes, rows: Sequence[RetentionRow], labels: Sequence[str]) -> None:
    methods = list(dict.fromkeys(row.method for row in rows))
    ends = [0.0]
    for height, row in enumerate(rows):
        label_row(axes, height, f"{row.pairs:,}")
        if row.difference is None:
            continue
        colour, mark = style(methods.index(row.method))
        if row.difference_low is not None and row.difference_high is not None:
            limits = [100 * row.difference_low, 100 * row.difference_high]
            axes.plot(limits, [height, height], color=colour, lw=1.4, gid="interval")
            ends += limits
        at = 100 * row.difference
        ends.append(at)
        axes.scatter([at], [height], s=26, color=colour, marker=mark, zorder=3, gid="points")
    axes.axvline(0, color=GREY, lw=0.8, zorder=1)
    reach = max(10.0, *(abs(end) for end in ends)) * 1.08
    axes.set_xlim(-reach, reach)
    axes.set_xticks([tick for tick in axes.get_xticks() if abs(tick) <= reach])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), labels)
    of = f" of {shorten(methods[0], 24)}" if len(methods) == 1 else ""
    axes.set_title(f"c: change of the share{of} by the solver", loc="left", fontsize=9)
    axes.set_xlabel("percentage points, against the prefix alone; right: pairs", fontsize=8)
    clean_axes(axes)
