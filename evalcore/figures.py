"""Rows → pictures. There is at least one row, its values are known, limits may be None."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import cycle
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ngramscan.reporting import canvas
from ngramscan.reporting.canvas import (
    COLOURS,
    GREY,
    HATCHES,
    MARKS,
    clean_axes,
    finish_prompts,
    wrap,
)
from ngramscan.reporting.layout import p_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evalcore.compare import CompareRow
    from evalcore.efficiency import EfficiencyRow
    from evalcore.link import LinkRow
    from evalcore.scores import SummaryRow

_CELL = attrgetter("dataset", "model")
_PAIR = attrgetter("treatment", "baseline")
_LINKED = attrgetter("dataset", "model", "rule")
_LEGEND: dict[str, Any] = {"loc": "outside lower center", "frameon": False}


def _styles(names: Iterable[Hashable]) -> dict[Any, tuple[str, str, str]]:
    return dict(zip(dict.fromkeys(names), cycle(zip(COLOURS, MARKS, HATCHES, strict=True))))


def _in_percent(share: float, _: object) -> str:
    return f"{100 * share:zg}"


def _arms(value: Any, low: float | None, high: float | None) -> list[list[float]] | None:
    """Return how far an interval reaches from a value, which it may leave out."""
    ends = None if low is None or high is None else (value - low, high - value)
    return ends and [[max(0.0, end)] for end in ends]


def draw_accuracy(rows: Sequence[SummaryRow]) -> Figure:
    """Draw accuracies with their intervals: a bar per row, those of one model together."""
    groups, methods = list(dict.fromkeys(map(_CELL, rows))), _styles(row.method for row in rows)
    labels = [wrap(label, 28) for label in canvas.varying(groups)]
    lines = [max(len(methods), label.count("\n") + 1) for label in labels]
    figure, (axes,) = canvas.new_figure((7.5, 1.6 + 0.12 * len(groups) + 0.22 * sum(lines)))
    # One unit is one bar or one line of a label; half a unit is between groups.
    middles = [sum(lines[:n]) + 0.6 * n + (lines[n] - 1) / 2 for n in range(len(groups))]
    for number, (method, (colour, _, hatch)) in enumerate(methods.items()):
        own = [row for row in rows if row.method == method]
        tops = [middles[groups.index(_CELL(row))] + number - (len(methods) - 1) / 2 for row in own]
        values = [row.accuracy or 0.0 for row in own]
        bars = axes.barh(tops, values, 0.86, color=colour, hatch=hatch, edgecolor="white")
        bars.set_label(wrap(method, 24))
        for row, top, end in zip(own, tops, values, strict=True):
            ends = [row.accuracy_low or 0.0, row.accuracy_high or end]
            if row.accuracy_low is not None:
                axes.plot(ends, [top, top], color="white", lw=3.2, solid_capstyle="butt")
                axes.plot(ends, [top, top], color="black", lw=1.3, gid="interval")
            axes.text(ends[1] + 0.012, top, f"{100 * end:.1f}", va="center", fontsize=7.5)
    axes.set_yticks(middles, labels)
    axes.set_ylim(sum(lines) + 0.6 * (len(groups) - 1) - 0.3, -0.7)
    axes.set_xlim(0, 1.12)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_xlabel("accuracy; lines: intervals")
    clean_axes(axes)
    figure.legend(ncols=4, handlelength=2.2, **_LEGEND)
    return finish_prompts(figure, "Accuracy of each method, with intervals", groups, 7.5)


def draw_comparisons(rows: Sequence[CompareRow]) -> Figure:
    """Draw a forest plot: a line per row, grouped by pair of methods; all models together last."""
    groups: dict[tuple[str, ...], list[CompareRow]] = {}
    for row in sorted(rows, key=lambda row: row.model == canvas.ALL_MODELS):
        key = (row.dataset, row.rule, f"{row.treatment} − {row.baseline}")
        groups.setdefault(key, []).append(row)
    figure, (axes,) = canvas.new_figure((7.5, 1.4 + 0.2 * (len(rows) + 1.6 * len(groups))))
    across: Any = axes.get_yaxis_transform()
    top, labels, aside = 0, dict[float, str](), [(0, "n", "p")]
    for label, own in zip(canvas.varying([*groups]), groups.values(), strict=True):
        if len(groups) > 1:
            axes.text(0.01, top, label, weight="bold", va="center", fontsize=8, transform=across)
        for height, row in enumerate(own, top + 1):
            is_all = row.model == canvas.ALL_MODELS
            colour, mark, size = ("black", "D", 7) if is_all else (COLOURS[0], "o", 4.5)
            arms = _arms(row.difference, row.difference_low, row.difference_high)
            look: Any = {"color": colour, "ms": size, "elinewidth": 2.2 if is_all else 1.3}
            axes.errorbar(row.difference, height, None, arms, mark, gid="point", **look)
            labels[height] = "all models" if is_all else row.model
            p = "<0.001" if row.p is not None and row.p < 0.001 else p_text(row.p)
            aside.append((height, f"{row.n:,}", p))
        top += len(own) + 2
    look = {"ha": "right", "va": "center", "fontsize": 8}
    for height, *texts in aside:
        for number, text in enumerate(texts, 1):  # in columns of 36 points
            place = (1, height), (36 * number, 0), across, "offset points"
            axes.annotate(str(text), *place, **look)
    axes.axvline(0, color=GREY, lw=0.8, zorder=1)
    axes.set_yticks([*labels], [wrap(label, 60) for label in labels.values()], fontsize=8)
    axes.set_ylim(top - 1, -0.8)
    axes.xaxis.set_major_formatter(_in_percent)
    axes.set_xlabel("difference of accuracies, percentage points; lines: intervals")
    clean_axes(axes)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    of = canvas.common([*groups]) if len(groups) > 1 else " · ".join(filter(None, *groups))
    return canvas.finish(figure, "Differences between methods" + (of and f": {of}"), 7.5)


def draw_frontier(rows: Sequence[EfficiencyRow]) -> Figure:
    """Draw accuracies against tokens: a panel per dataset and model, a line along the frontier."""
    groups, methods = list(dict.fromkeys(map(_CELL, rows))), _styles(row.method for row in rows)
    abreast = min(len(groups), 3)
    down, width = -(-len(groups) // abreast), max(4.8, 2.9 * abreast)
    figure, panels = canvas.new_figure((width, 1.1 + 2.5 * down), (down, abreast))
    for number, (axes, group) in enumerate(zip(panels, groups, strict=False)):
        own = [row for row in rows if _CELL(row) == group]
        edge = sorted((row.mean_tokens or 0, row.accuracy or 0) for row in own if row.on_frontier)
        axes.step(*zip(*edge, strict=True), where="post", color=GREY, lw=1, ls="--", zorder=1)
        for row in own:
            colour, mark, _ = methods[row.method]
            x, y = row.mean_tokens or 0, row.accuracy or 0
            across = _arms(x, row.mean_tokens_low, row.mean_tokens_high)
            up = _arms(y, row.accuracy_low, row.accuracy_high)
            inside = colour if row.on_frontier else "white"
            axes.errorbar(x, y, up, across, mark, color=colour, mfc=inside, ms=6, elinewidth=0.8)
        clean_axes(axes, "both")
        axes.margins(0.12)
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(_in_percent)
        axes.set_title(wrap(canvas.varying(groups)[number], 34), fontsize=9, loc="left")
        axes.set_ylabel("" if number % abreast else "accuracy, %")
        axes.set_xlabel("tokens per output, mean" if number + abreast >= len(groups) else "")
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    for method, (colour, mark, _) in methods.items():
        panels[0].plot([], [], mark, color=colour, label=method)
    panels[0].plot([], [], color=GREY, lw=1, ls="--", label="frontier (filled)")
    figure.legend(ncols=4 if width < 6 else 6, fontsize=8, **_LEGEND)
    return finish_prompts(figure, "Accuracy and its cost", groups, 0.85 * width)


def draw_links(rows: Sequence[LinkRow]) -> Figure:
    """Draw gains of accuracy against ratios of prevalences: a colour per pair, a mark per cell."""
    indexes = list(dict.fromkeys(row.index for row in rows))
    pairs, cells = _styles(map(_PAIR, rows)), _styles(map(_LINKED, rows))
    height = 1.5 + 2.4 * len(indexes) + 0.17 * (len(pairs) + len(cells))
    figure, panels = canvas.new_figure((8.0, height), (len(indexes), 1), sharex=True)
    for axes, index in zip(panels, indexes, strict=True):
        axes.set_xscale("log")
        axes.axhline(0, color=GREY, lw=0.8)
        axes.axvline(1, color=GREY, lw=0.8)
        for pair, (colour, *_) in pairs.items():
            own = [row for row in rows if row.index == index and _PAIR(row) == pair]
            _draw_pair(axes, own, cells, colour)
        axes.set_title(index, loc="left", fontsize=9, color=GREY)
        axes.set_ylabel("accuracy difference (pp)")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter("")
        axes.yaxis.set_major_formatter(_in_percent)
        clean_axes(axes)
    what = f"ratio of {rows[0].measure} (log scale): geometric means over patterns, with intervals"
    panels[-1].set_xlabel(f"{what}\nside by side, not cause and effect")
    for pair, (colour, *_) in pairs.items():
        panels[0].plot([], [], color=colour, lw=3, label=" − ".join(pair))
    for (_, mark, _), label in zip(cells.values(), canvas.varying([*cells]), strict=True):
        if len(cells) > 1:
            panels[0].plot([], [], mark, color=GREY, label=label)
    figure.legend(ncols=2, fontsize=7.5, **_LEGEND)
    title = "Prevalence of two methods and difference of their accuracies"
    return canvas.finish(figure, title, 8.0)


def _draw_pair(axes: Any, rows: Sequence[LinkRow], cells: dict[Any, Any], colour: str) -> None:
    """Draw one pair of methods: the ratio is the same for all cells, so all points stand on it."""
    for row in rows[:1]:
        if row.prevalence_low is not None and row.prevalence_high is not None:
            low, high = row.prevalence_low, row.prevalence_high
            axes.axvspan(low, high, color=colour, alpha=0.12, lw=0, gid="band")
        axes.axvline(row.prevalence_ratio, color=colour, lw=0.8, ls=":")
    for row in rows:
        arms = _arms(row.difference, row.difference_low, row.difference_high)
        # Translucent, since the intervals of several cells lie on each other.
        look: Any = {"color": colour, "ecolor": (colour, 0.3), "elinewidth": 3, "ms": 7}
        point = row.prevalence_ratio, row.difference, arms, None, cells[_LINKED(row)][1]
        axes.errorbar(*point, mec="white", mew=0.6, gid="point", **look)
