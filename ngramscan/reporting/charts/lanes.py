"""Values of several corpora side by side: one row per phrase, with a mark per corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ngramscan.reporting.charts.axes import Axis
from ngramscan.reporting.charts.plots import Range
from ngramscan.reporting.charts.shapes import (
    MARKED,
    Across,
    canvas,
    colour,
    end,
    glyph,
    halo,
    join,
    line,
    short,
    small,
    tag,
    ticks_across,
)

if TYPE_CHECKING:
    from markupsafe import Markup

_MOST_NAMES = 16
_SPREAD, _MOST_SPREAD = 0.08, 0.5
"""Vertical offsets of the marks in a row, so that equal values stay visible."""


@dataclass(frozen=True, slots=True)
class LaneMark:
    """The value of one corpus."""

    style: int
    size: Range
    words: str
    """The row in words: the tooltip."""
    exact: tuple[str | None, ...]
    """Value, low and high as in the row."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One row of a chart."""

    group: str
    """The method, or the method and the tier; may be empty."""
    label: str
    marks: Sequence[LaneMark]


@dataclass(frozen=True, slots=True)
class Look:
    """Sizes of a drawing, in pixels unless said otherwise."""

    name: str
    """`wide`, `narrow` or `paper`."""
    pitch: float
    """The height of a row."""
    font: float
    mark: float
    """The size of a mark, as a fraction of its size in other figures."""
    character: float
    """The width of a character, as a percentage of the width of the figure."""
    most_label: int
    """Characters of a label."""
    in_line: int
    """Names of the legend in one line."""
    labels_beside: bool = True


PAPER = Look("paper", pitch=10.5, font=8.5, mark=0.6, character=0.82, most_label=30, in_line=4)
WIDE = Look("wide", pitch=20, font=12, mark=0.9, character=0.8, most_label=40, in_line=4)
NARROW = Look(
    "narrow", 16, font=12, mark=0.9, character=2, most_label=44, in_line=2, labels_beside=False
)


@dataclass(frozen=True, slots=True)
class LaneChart:
    """A chart of lanes."""

    summary: str
    value_name: str
    axis: Axis
    lanes: Sequence[Lane]
    names: Mapping[str, int]
    """The legend: names with styles."""


def draw_lanes(chart: LaneChart, look: Look) -> Markup:
    """Draw a row per lane; groups have their name to the left of their first row, or above it."""
    head, top = legend_in_lines(chart.names, look)
    across = _across(chart, look)
    parts, y = [], top
    for place, (group, lanes) in enumerate(groupby(chart.lanes, key=lambda lane: lane.group)):
        if place and look.labels_beside:
            parts.append(line("grid", ("0", f"{y:g}"), ("100%", f"{y:g}")))
        if group:
            level = y + (look.pitch * 0.75 if look.labels_beside else look.font + 4)
            parts.append(_text(group, "0", level, look, class_="group", font_weight="bold"))
            y += 0 if look.labels_beside else look.font + 6
        for lane in lanes:
            lane_markup, y = _lane(lane, across, y, look, len(chart.names))
            parts.append(lane_markup)
    grid = ticks_across(across, top, y, chart.value_name, look.font)
    class_ = f"plot {look.name}"
    return canvas(chart.summary, y + 2.4 * look.font + 8, head, grid, *parts, class_=class_)


def _across(chart: LaneChart, look: Look) -> Across:
    """Return the axis, to the right of groups and labels if these are to its left."""
    if not look.labels_beside:
        return Across(chart.axis)
    label = max(len(short(lane.label, look.most_label)) for lane in chart.lanes)
    return Across(chart.axis, start=_label_start(chart, look) + label * look.character + 2, stop=97)


def _label_start(chart: LaneChart, look: Look) -> float:
    group = max(len(lane.group) for lane in chart.lanes)
    return 1.15 * look.character * group + (1.5 if group else 0.0)


def _lane(lane: Lane, across: Across, y: float, look: Look, corpora: int) -> tuple[Markup, float]:
    """Return a lane and where the next one begins."""
    label = short(lane.label, look.most_label)
    parts = []
    if look.labels_beside:
        x = f"{across.start - 1:g}%"
        level = y + look.pitch / 2 + look.font * 0.35
        parts.append(_text(label, x, level, look, class_="label", text_anchor="end"))
    else:
        parts.append(_text(label, "0", y + look.font + 1, look, class_="label"))
        y += look.font + 5
    parts.append(line("grid", _at(across.start, y, look), _at(across.stop, y, look)))
    for mark in lane.marks:
        parts.append(_mark(mark, across, y + _level(mark.style, corpora) * look.pitch, look))
    return join(parts), y + look.pitch


def _at(share: float, y: float, look: Look) -> tuple[str, str]:
    return f"{share:g}%", f"{y + look.pitch / 2:g}"


def _level(style: int, corpora: int) -> float:
    """Return the offset of a corpus's marks in their lane, so that all are visible."""
    if corpora < 2:
        return 0.5
    spread = min(_MOST_SPREAD, _SPREAD * corpora)
    return 0.5 + spread * (style / (corpora - 1) - 0.5)


def _mark(mark: LaneMark, across: Across, y: float, look: Look) -> Markup:
    parts = [tag("title", mark.words)]
    size, level = mark.size, f"{y:g}"
    if size.has_limits:
        low = -math.inf if size.low is None else size.low
        high = math.inf if size.high is None else size.high
        parts.append(line("interval", (across.at(low), level), (across.at(high), level)))
    if size.value is not None and math.isinf(size.value):
        parts.append(end(across.at(size.value), level, 180 if size.value < 0 else 0, is_arrow=True))
    elif size.value is not None:
        parts.append(glyph(mark.style, across.at(size.value), level, True, look.mark))
    return marked(mark, *parts)


def marked(mark: LaneMark, *parts: Markup) -> Markup:
    """Return the parts of a mark with its colour and its exact values."""
    value, low, high = mark.exact
    exact = {"data_value": value, "data_low": low, "data_high": high}
    looks = MARKED | {"stroke_width": "1.5", "pointer_events": "all"}
    return tag("g", *parts, class_="row", color=colour(mark.style), **looks, **exact)


def _text(text: str, x: str, y: float, look: Look, **more: str) -> Markup:
    return halo(text, x=x, y=f"{y:g}", font_size=f"{look.font:g}", **more)


def legend_in_lines(names: Mapping[str, int], look: Look) -> tuple[Markup, float]:
    """Return names with their marks, several in a line, and where they end.

    A single name is not repeated, since the title has it.
    """
    if len(names) < 2:
        return join([]), 4
    step, width = look.font + 5, 100 / look.in_line
    most = int(width / look.character) - 3
    parts = []
    listed = [*names.items()][:_MOST_NAMES]
    for place, (name, style) in enumerate(listed):
        row, column = divmod(place, look.in_line)
        x, middle = column * width, step * row + look.font / 2 + 3
        sign = glyph(style, f"{x + 1.5:g}%", f"{middle:g}", True, look.mark)
        parts.append(tag("g", sign, color=colour(style), **MARKED))
        level = {"x": f"{x + 3.5:g}%", "y": f"{middle + look.font * 0.35:g}"}
        text = short(name, most)
        parts.append(small(text, class_="series", font_size=f"{look.font:g}", **level))
    bottom = step * math.ceil(len(listed) / look.in_line)
    if len(names) > len(listed):
        remark = f"… and {len(names) - len(listed):,} more; the tooltips name them"
        y = f"{bottom + look.font:g}"
        parts.append(small(remark, class_="series", x="0", y=y, font_size=f"{look.font:g}"))
        bottom += step
    return join(parts), bottom + 4
