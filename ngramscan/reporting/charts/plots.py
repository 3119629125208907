"""Points → a figure: rows of marks with intervals, or marks between two axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ngramscan.reporting.charts.axes import Axis
from ngramscan.reporting.charts.beside import Spot, name_spots
from ngramscan.reporting.charts.shapes import (
    LINE,
    MARKED,
    Across,
    Down,
    canvas,
    colour,
    end,
    glyph,
    halo,
    join,
    legend,
    line,
    short,
    small,
    tag,
    ticks_across,
    ticks_down,
    wrap,
)

if TYPE_CHECKING:
    from markupsafe import Markup

_LANE = 14
_HEIGHT = 260
_MOST_NAMES, _MOST_BESIDE = 12, 8
"""Maximum names of a legend, and of names next to their marks instead."""
_SIDES_FROM, _SIDES_TO = 44.0, 56.0
"""Percentages of the width between which two words about sides meet."""
_CHARACTER, _GAP = 0.95, 3.0
"""Percentages of the width of a file."""
_LONGEST_ASIDE = 60
_INVISIBLE = {"stroke": "none", "pointer_events": "all"}


@dataclass(frozen=True, slots=True)
class Range:
    """A value with its limits, each None if unknown or unbounded."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def has_limits(self) -> bool:
        """Whether there is any limit."""
        return (self.low, self.high) != (None, None)


@dataclass(frozen=True, slots=True)
class Point:
    """One row of a figure."""

    label: str
    style: int
    size: Range
    words: str
    """The row in words: the tooltip."""
    exact: tuple[str | None, ...]
    """Value, low and high as in the row."""
    across: Range | None = None
    aside: str = ""
    on_frontier: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """All that one figure shows."""

    summary: str
    """The alternative text, for screen readers."""
    value_name: str
    axis: Axis
    points: Sequence[Point]
    names: Sequence[tuple[str, int]]
    """The legend: names with styles."""
    reference: float | None = None
    """A value that has a line."""
    sides: tuple[str, str] = ("", "")
    """The words for values below and above the line."""
    across: Axis | None = None
    across_name: str = ""
    across_reference: float | None = None
    is_step: bool = False
    labels_beside: bool = False
    """Labels are left of their rows, for which a phone has no room; else above them."""


Positioner = Callable[[float], tuple[str, str]]


def draw_rows(panel: Panel) -> Markup:
    """Draw one row per label, with a mark and its interval for each of its points."""
    head, top = _legend(panel, 4)
    groups: dict[str, list[Point]] = {}
    for point in panel.points:
        groups.setdefault(point.label, []).append(point)
    asides = {label: _aside(points) for label, points in groups.items()}
    across = _between(panel.axis, asides) if panel.labels_beside else Across(panel.axis)
    rows, y = [], top
    for label, points in groups.items():
        texts = wrap(label)
        for place, text in enumerate(texts, start=1):
            rows.append(halo(text, class_="label", x="0", y=f"{y + LINE * place - 3:g}"))
        below = y + LINE * len(texts)
        if not panel.labels_beside:
            y = below
        if asides[label]:
            level = y + LINE if panel.labels_beside else y
            places = {"x": "100%", "y": f"{level - 3:g}", "text_anchor": "end"}
            rows.append(small(asides[label], class_="aside", **places))
        for point in points:
            rows.append(_lane(point, across, y + _LANE / 2))
            y += _LANE
        y = max(y, below) + 2
    grid = ticks_across(across, top, y, panel.value_name)
    grid += _line_across(panel.reference, across, top, y)
    height = y + 36
    if any(panel.sides):
        grid += _sides(panel, across, height + 10)
        height += LINE + 2
    class_ = f"plot {'wide' if panel.labels_beside else 'narrow'}"
    return canvas(panel.summary, height, head, grid, *rows, class_=class_)


def _sides(panel: Panel, across: Across, y: float) -> Markup:
    """Return the words on both sides of the line of no difference."""
    line_at = across.start + (across.stop - across.start) * across.axis.place(panel.reference or 0)
    centre = min(max(line_at, _SIDES_FROM), _SIDES_TO)
    ends = ((centre - 1, "end"), (centre + 1, "start"))
    return join(
        small(text, class_="side", x=f"{x:g}%", y=f"{y:g}", text_anchor=anchor, font_weight="bold")
        for text, (x, anchor) in zip(panel.sides, ends, strict=True)
        if text
    )


def _aside(points: Sequence[Point]) -> str:
    return short(" | ".join(dict.fromkeys(point.aside for point in points)), _LONGEST_ASIDE)


def _between(axis: Axis, asides: Mapping[str, str]) -> Across:
    """Return an axis between labels and the numbers next to them."""
    labels = (text for label in asides for text in wrap(label))
    label_width, aside_width = (
        max(map(len, texts)) * _CHARACTER for texts in (labels, asides.values())
    )
    return Across(axis, start=label_width + _GAP, stop=100 - aside_width - _GAP)


def draw_scatter(panel: Panel) -> Markup:
    """Draw marks between two axes, with a frontier or as a line of steps."""
    if panel.across is None:
        raise ValueError("there is no other axis")
    is_named = 0 < len(panel.names) <= _MOST_BESIDE
    head, top = (join([]), 4.0) if is_named else _legend(panel, 4)
    top += 34
    down = Down(panel.axis, top, top + _HEIGHT)
    across = Across(panel.across, start=15)
    grid = ticks_across(across, top - 8, down.bottom, panel.across_name)
    grid += ticks_down(down, panel.value_name)
    grid += _line_across(panel.across_reference, across, top - 8, down.bottom)
    if panel.reference is not None and down.axis.has(panel.reference):
        y = down.at(panel.reference)
        grid += line("reference", ("0", y), ("100%", y))
    points = [_spot(point, across, down) for point in panel.points]
    lines = _steps(panel, across, down) if panel.is_step else _frontier(panel, across, down)
    if panel.names and not panel.is_step:
        lines += _series(panel, across, down)
    names = name_spots(list(_named_spots(panel, across, down))) if is_named else []
    return canvas(panel.summary, down.bottom + 36, head, grid, lines, *points, *names)


def _series(panel: Panel, across: Across, down: Down) -> Markup:
    """Return a line through the points of each name that has several."""
    parts = []
    for _, style in panel.names:
        points = sorted(_known(panel, style), key=_place_across)
        strokes = [
            line("step", _place(point, across, down), _place(following, across, down))
            for point, following in pairwise(points)
        ]
        parts.append(tag("g", *strokes, color=colour(style), **MARKED))
    return join(parts)


def _known(panel: Panel, style: int) -> list[Point]:
    """Return the points of a style that can be drawn."""
    return [
        point
        for point in panel.points
        if point.style == style and point.size.value is not None and math.isfinite(point.size.value)
    ]


def _place(point: Point, across: Across, down: Down) -> tuple[str, str]:
    return across.at(_place_across(point)), down.at(point.size.value or 0.0)


def _named_spots(panel: Panel, across: Across, down: Down) -> Iterator[Spot]:
    """Yield the last points of all styles."""
    for name, style in panel.names:
        points = sorted(_known(panel, style), key=_place_across)
        if points:
            x, y = _place(points[-1], across, down)
            yield Spot(name, style, float(x.removesuffix("%")), float(y))


def _line_across(reference: float | None, across: Across, top: float, bottom: float) -> Markup:
    if reference is None or not across.axis.has(reference):
        return join([])
    x = across.at(reference)
    return line("reference", (x, f"{top:g}"), (x, f"{bottom:g}"))


def _legend(panel: Panel, top: float) -> tuple[Markup, float]:
    names = panel.names[:_MOST_NAMES]
    head = legend(names, top + 6)
    bottom = top + LINE * len(names)
    if len(panel.names) > len(names):
        remark = f"… and {len(panel.names) - len(names)} more; the tooltips name them"
        head += tag("text", remark, class_="series", x="20", y=f"{bottom + 10:g}")
        bottom += LINE
    return head, (bottom + 10 if names else bottom)


def _lane(point: Point, across: Across, y: float) -> Markup:
    hit = tag("rect", x="0", y=f"{y - _LANE / 2:g}", width="100%", height=_LANE, **_INVISIBLE)
    markup = _range(point, point.size, lambda value: (across.at(value), f"{y:g}"), 0)
    return _row(point, hit, markup)


def _row(point: Point, *children: Markup) -> Markup:
    value, low, high = point.exact
    exact = {"data_value": value, "data_low": low, "data_high": high}
    title = tag("title", point.words)
    return tag("g", title, *children, class_="row", color=colour(point.style), **MARKED, **exact)


def _range(point: Point, size: Range, place: Positioner, turn: int) -> Markup:
    """Return an interval and its mark; an end without a limit is an arrow."""
    parts = []
    if size.has_limits:
        low = -math.inf if size.low is None else size.low
        high = math.inf if size.high is None else size.high
        parts.append(line("interval", place(low), place(high)))
        parts.append(end(*place(low), turn + 180, math.isinf(low)))
        parts.append(end(*place(high), turn, math.isinf(high)))
    if size.value is not None and math.isinf(size.value):
        parts.append(end(*place(size.value), turn + (180 if size.value < 0 else 0), is_arrow=True))
    elif size.value is not None:
        parts.append(glyph(point.style, *place(size.value), is_open=not size.has_limits))
    return join(parts)


def _spot(point: Point, across: Across, down: Down) -> Markup:
    wide = point.across
    if wide is None or wide.value is None:
        raise ValueError("the point has no place across")
    x = across.at(wide.value)
    parts = [tag("circle", cx=x, cy=_middle(point, down), r=14, **_INVISIBLE)]
    if wide.has_limits and point.size.value is not None:
        y = down.at(point.size.value)
        sides = Range(None, wide.low, wide.high)
        parts.append(_range(point, sides, lambda value: (across.at(value), y), 0))
    parts.append(_range(point, point.size, lambda value: (x, down.at(value)), -90))
    return _row(point, *parts)


def _middle(point: Point, down: Down) -> str:
    ends = (point.size.value, point.size.low, point.size.high)
    return down.at(next(value for value in ends if value is not None))


def _steps(panel: Panel, across: Across, down: Down) -> Markup:
    """Return a line that holds each value until the next; it breaks where one is unknown."""
    parts = []
    points = sorted(panel.points, key=_place_across)
    for point, following in pairwise(points):
        if point.size.value is None or not math.isfinite(point.size.value):
            continue
        y, x = down.at(point.size.value), across.at(_place_across(following))
        parts.append(line("step", (across.at(_place_across(point)), y), (x, y)))
        if following.size.value is not None:
            parts.append(line("step", (x, y), (x, down.at(following.size.value))))
    return tag("g", *parts, color=colour(0), **MARKED)


def _frontier(panel: Panel, across: Across, down: Down) -> Markup:
    on_frontier = [
        point for point in panel.points if point.on_frontier and point.size.value is not None
    ]
    parts = []
    for point, following in pairwise(sorted(on_frontier, key=_place_across)):
        y, x = down.at(point.size.value or 0.0), across.at(_place_across(following))
        parts.append(line("frontier", (across.at(_place_across(point)), y), (x, y)))
        parts.append(line("frontier", (x, y), (x, down.at(following.size.value or 0.0))))
    return join(parts)


def _place_across(point: Point) -> float:
    return 0.0 if point.across is None else point.across.value or 0.0
