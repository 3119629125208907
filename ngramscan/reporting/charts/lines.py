"""Values of snapshots over time: a line per phrase, named at its end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ngramscan.reporting.charts.axes import Axis, Tick
from ngramscan.reporting.charts.lanes import LaneMark, Look, marked
from ngramscan.reporting.charts.shapes import (
    MARKED,
    Across,
    Down,
    canvas,
    colour,
    glyph,
    halo,
    join,
    line,
    short,
    small,
    tag,
    ticks_down,
)

if TYPE_CHECKING:
    from markupsafe import Markup

_RIGHT_OF_MARK = 1.5
_ASIDE_STEP = 10.0
"""Percentage of the width for each corpus other than snapshots."""
_GAP_OF_TICKS = 1.3


@dataclass(frozen=True, slots=True)
class Line:
    """The values of one phrase, or of one method and tier."""

    name: str
    style: int
    spots: Sequence[tuple[float, LaneMark]]
    """Marks of snapshots, at their times, in order."""
    aside: Mapping[str, LaneMark]
    """Marks of other corpora."""


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines with their axes."""

    title: str
    """The method; empty if the title of the figure is enough."""
    axis: Axis
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class LineCharts:
    """Charts below each other, over the same times."""

    summary: str
    value_name: str
    times: Mapping[str, float]
    """Snapshots by their short names, in order."""
    aside: Sequence[str]
    """Names of other corpora."""
    charts: Sequence[LineChart]


def draw_lines(drawing: LineCharts, look: Look) -> Markup:
    """Draw the charts below each other; the times are below the last one."""
    across = _across(drawing, look)
    height = 9 * look.font
    parts, y = [], 0.0
    size = f"{look.font:g}"
    for place, chart in enumerate(drawing.charts):
        y += look.font + 4
        named = {"class_": "group", "font_weight": "bold", "font_size": size}
        parts.append(halo(chart.title, x="0", y=f"{y:g}", **named))
        if not place:
            where = {"x": "100%", "y": f"{y:g}", "text_anchor": "end"}
            parts.append(small(drawing.value_name, font_size=size, **where))
        y += 1.6 * look.font
        parts.append(_chart(chart, drawing, across, Down(chart.axis, y, y + height), look))
        y += height + 6
    parts.append(_times(drawing, across, y, look))
    return canvas(drawing.summary, y + 2 * look.font + 6, *parts, class_=f"plot {look.name}")


def _across(drawing: LineCharts, look: Look) -> Across:
    """Return the axis of time, between other corpora and the names of lines."""
    times = [*drawing.times.values()]
    longest = max(
        len(_end_name(chart_line, look)) for chart in drawing.charts for chart_line in chart.lines
    )
    ticks = tuple(Tick(time, 0, name) for name, time in drawing.times.items())
    axis = Axis(False, min(times), max(times), False, "number", ticks)
    start = _start(drawing, look) + _ASIDE_STEP * len(drawing.aside)
    return Across(axis, start=start, stop=97 - longest * look.character - _RIGHT_OF_MARK)


def _start(drawing: LineCharts, look: Look) -> float:
    """Return the position of the first mark, to the right of the texts of the other axis."""
    ticks = [tick.text for chart in drawing.charts for tick in chart.axis.ticks]
    return look.character * (max(map(len, ticks)) + 2) + 2


def _end_name(chart_line: Line, look: Look) -> str:
    return short(chart_line.name, min(look.most_label, int(38 / look.character)))


def _chart(
    chart: LineChart,
    drawing: LineCharts,
    across: Across,
    down: Down,
    look: Look,
) -> Markup:
    grid = ticks_down(down, "", look.font)
    parts = [_line(chart_line, drawing, across, down, look) for chart_line in chart.lines]
    return join([grid, *parts, *_names(chart, across, down, look)])


def _line(chart_line: Line, drawing: LineCharts, across: Across, down: Down, look: Look) -> Markup:
    heights = [(time, mark, _height(mark, down)) for time, mark in chart_line.spots]
    strokes = [
        line("step", (across.at(time), y), (across.at(next_time), next_y))
        for (time, _, y), (next_time, _, next_y) in pairwise(heights)
        if y is not None and next_y is not None
    ]
    places = [(across.at(time), mark) for time, mark in chart_line.spots]
    for place, name in enumerate(drawing.aside):
        if name in chart_line.aside:
            places.append((_aside_place(drawing, look, place), chart_line.aside[name]))
    marks = [
        marked(
            mark,
            tag("title", mark.words),
            tag("circle", cx=x, cy=y, r=8, stroke="none"),
            glyph(mark.style, x, y, False, look.mark * 0.7),
        )
        for x, mark in places
        if (y := _height(mark, down)) is not None
    ]
    return tag("g", *strokes, color=colour(chart_line.style), **MARKED) + join(marks)


def _aside_place(drawing: LineCharts, look: Look, place: int) -> str:
    return f"{_start(drawing, look) + _ASIDE_STEP * place:g}%"


def _height(mark: LaneMark, down: Down) -> str | None:
    value = mark.size.value
    return None if value is None or math.isinf(value) else down.at(value)


def _names(chart: LineChart, across: Across, down: Down, look: Look) -> list[Markup]:
    """Return the names of lines next to their last marks, moved apart where these are close."""
    ends: list[tuple[float, Line]] = []
    for chart_line in chart.lines:
        heights = [_height(mark, down) for _, mark in chart_line.spots]
        known_heights = [float(height) for height in heights if height is not None]
        if known_heights:
            ends.append((known_heights[-1], chart_line))
    ends.sort(key=lambda item: item[0])
    parts, step = [], look.font + 1.5
    least = down.top - step
    lowest = down.bottom + look.font
    for place, (y, chart_line) in enumerate(ends):
        # The remaining names must have room above the end of the chart.
        level = min(max(y, least + step), lowest - step * (len(ends) - 1 - place))
        least = level
        where = {"x": f"{across.stop + _RIGHT_OF_MARK:g}%", "y": f"{level + look.font * 0.35:g}"}
        looks = {
            "class_": "series",
            "font_size": f"{look.font:g}",
            "fill": colour(chart_line.style),
        }
        parts.append(halo(_end_name(chart_line, look), **where, **looks))
    return parts


def _times(drawing: LineCharts, across: Across, y: float, look: Look) -> Markup:
    """Return the names of snapshots below their places, as far as there is room."""
    size, level = f"{look.font:g}", f"{y + look.font + 2:g}"
    parts = []
    free = -math.inf
    share = across.stop - across.start
    for name, time in reversed([*drawing.times.items()]):
        # From the last one on, which lines are named at.
        centre = across.start + share * across.axis.place(time)
        width = _GAP_OF_TICKS * look.character * len(name)
        if -centre - width / 2 < free:
            continue
        free = -centre + width / 2
        parts.append(small(name, x=across.at(time), y=level, text_anchor="middle", font_size=size))
    for place, name in enumerate(drawing.aside):
        text = short(name, int(_ASIDE_STEP / look.character))
        where = {"x": _aside_place(drawing, look, place), "y": level, "text_anchor": "middle"}
        parts.append(small(text, font_size=size, **where))
    return join(parts)
