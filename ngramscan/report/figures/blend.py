"""Markers of each method in the outputs of each prompt, and what a prefix keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ngramscan.report.canvas import (
    ALL_MODELS,
    COLOURS,
    GREY,
    MARKS,
    clean_axes,
    common,
    finish,
    lines_of,
    new_figure,
    shorten,
    varying,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class _OfModel(Protocol):
    @property
    def dataset(self) -> str:
        """Of the outputs."""

    @property
    def model(self) -> str:
        """Of the outputs; `all`: of all models."""


class BlendLike(_OfModel, Protocol):
    """What is drawn of a row of `blend`."""

    @property
    def prompt(self) -> str:
        """Of the outputs."""

    @property
    def method(self) -> str:
        """Of the markers."""

    @property
    def share(self) -> float | None:
        """Of the outputs, with a marker."""

    @property
    def per_1000_characters(self) -> float | None:
        """Occurrences of markers."""


class RetentionLike(_OfModel, Protocol):
    """What is drawn of a row about pairs of outputs, with and without a prefix."""

    @property
    def prefix(self) -> str:
        """The prompt without a solver."""

    @property
    def solver(self) -> str:
        """What follows the prefix."""

    @property
    def method(self) -> str:
        """Of the markers."""

    @property
    def pairs(self) -> int:
        """Problems with both outputs."""

    @property
    def difference(self) -> float | None:
        """Of the shares with a marker."""

    @property
    def difference_low(self) -> float | None:
        """Lower limit."""

    @property
    def difference_high(self) -> float | None:
        """Upper limit."""


Row = TypeVar("Row", bound=_OfModel)
_CELL = 0.78


def draw_blend(rows: Sequence[BlendLike], retention: Sequence[RetentionLike] = ()) -> Figure:
    """Draw markers as two matrices of prompts and methods, and their retention.

    Parameters
    ----------
    rows : sequence of BlendRow
        At least one; where a dataset has rows of all models together, only those are drawn.
    retention : sequence of RetentionRow
        Differences of shares in pairs of outputs; without any, there is no third panel.

    Returns
    -------
    Figure
        Shares and densities as numbers on colours, differences as points with their intervals.
    """
    shown, pairs = _pooled(rows), _pooled(retention)
    keys = list(dict.fromkeys((row.dataset, row.model, row.prompt) for row in shown))
    methods = list(dict.fromkeys(row.method for row in shown))
    labels = [wrap(label, 26) for label in varying(keys)]
    labels_of_pairs = _labels_of(pairs)
    lines = max(lines_of(labels) * 0.19, len(labels) * 0.36, lines_of(labels_of_pairs) * 0.17)
    matrix = _CELL * len(methods)
    widths = [matrix, matrix] + ([3.6] if pairs else [])
    width = max(sum(widths) + _width_of(labels) + _width_of(labels_of_pairs) + 1, 6.5)
    figure, panels = new_figure((width, 1.9 + lines), (1, len(widths)), width_ratios=widths)
    _draw_matrix(
        panels[0], [[_cell(shown, key, method, "share") for method in methods] for key in keys], "%"
    )
    _draw_matrix(
        panels[1],
        [[_cell(shown, key, method, "per_1000_characters") for method in methods] for key in keys],
        "",
    )
    for axes, title in zip(
        panels[:2], ("a: outputs with a marker, %", "b: markers per 1,000 characters"), strict=True
    ):
        axes.set_title(wrap(title, max(14, round(matrix * 9))), loc="left", fontsize=9)
        axes.set_xticks(range(len(methods)), [wrap(method, 9) for method in methods])
        axes.set_yticks(range(len(keys)), labels)
    panels[1].tick_params(labelleft=False)
    if pairs:
        _draw_retention(panels[2], pairs, labels_of_pairs)
    of = common(keys)
    return finish(figure, "Markers of each method in each prompt" + (of and f": {of}"), width)


def _width_of(labels: Sequence[str]) -> float:
    """Return how wide the widest of some labels is, in inches."""
    return 0.08 * max((len(line) for label in labels for line in label.split("\n")), default=0)


def _pooled(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of all models together, where a dataset has them, else all of its rows."""
    pooled = {row.dataset for row in rows if row.model == ALL_MODELS}
    return [row for row in rows if row.model == ALL_MODELS or row.dataset not in pooled]


def _cell(
    rows: Sequence[BlendLike], key: tuple[str, str, str], method: str, name: str
) -> float | None:
    for row in rows:
        if (row.dataset, row.model, row.prompt) == key and row.method == method:
            value: float | None = getattr(row, name)
            return value
    return None


def _draw_matrix(axes: Axes, values: Sequence[Sequence[float | None]], unit: str) -> None:
    known = [value for line in values for value in line if value is not None]
    top = 1.0 if unit else max(known, default=0) or 1.0
    filled = [[0.0 if value is None else value for value in line] for line in values]
    axes.imshow(filled, cmap="Blues" if unit else "Oranges", vmin=0, vmax=top, aspect="auto")
    for y, line in enumerate(values):
        for x, value in enumerate(line):
            axes.text(
                x,
                y,
                _number(value, unit),
                ha="center",
                va="center",
                fontsize=8,
                color="white" if (value or 0) > 0.68 * top else "black",
                gid="cell",
            )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.0f}" if unit else f"{value:.2f}"


def _labels_of(rows: Sequence[RetentionLike]) -> list[str]:
    keys = [(row.dataset, row.model, f"{row.prefix}+{row.solver}", row.method) for row in rows]
    return [wrap(label, 30) for label in varying(keys)] if keys else []


def _draw_retention(axes: Axes, rows: Sequence[RetentionLike], labels: Sequence[str]) -> None:
    methods = list(dict.fromkeys(row.method for row in rows))
    ends = [0.0]
    for height, row in enumerate(rows):
        axes.text(
            1.02,
            height,
            f"{row.pairs:,}",
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=7.5,
        )
        if row.difference is None:
            continue
        number = methods.index(row.method)
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        if row.difference_low is not None and row.difference_high is not None:
            limits = [100 * row.difference_low, 100 * row.difference_high]
            axes.plot(limits, [height, height], color=colour, lw=1.4, gid="interval")
            ends += limits
        ends.append(100 * row.difference)
        spot = ([100 * row.difference], [height])
        axes.scatter(*spot, s=26, color=colour, marker=mark, zorder=3, gid="points")
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
