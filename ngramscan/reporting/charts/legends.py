"""Texts of a figure: names, tooltips, captions, and alternative texts for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter
from typing import Any

from ngramscan.reporting.charts.axes import Axis, number, value_text
from ngramscan.reporting.charts.plots import Panel, Point
from ngramscan.reporting.charts.shapes import short
from ngramscan.rows import DisplayUnit, Plot

_LONGEST, _LONGEST_SIDE = 120, 14
Row = dict[str, Any]


def name_of(value: Any, heading: str = "") -> str:
    """Return a label as a name; `heading` is the heading of its column."""
    if isinstance(value, bool):
        return f"{heading}: {'yes' if value else 'no'}".removeprefix(": ")
    return "" if value is None else short(str(value), _LONGEST)


def describe(row: Row, plot: Plot, unit: DisplayUnit, names: tuple[str, str]) -> str:
    """Return a row in words, rounded as in tables."""
    label, series = names
    names_shown = [label, series] if series != label and plot.series not in plot.label else [label]
    head = ", ".join(filter(None, names_shown))
    value = value_text(row.get(plot.value), unit)
    parts = [f"{plot.heading} {value}", _limits(row, plot.limits, unit)]
    if plot.across:
        column = plot.columns[plot.across]
        across = column.unit_in([row])
        parts.append(f"{column.heading} {value_text(row[plot.across], across)}")
        parts.append(_limits(row, plot.across_limits, across))
    text = "; ".join(filter(None, parts))
    return f"{head}: {text}" if head else text


def _limits(row: Row, columns: tuple[str, str], unit: DisplayUnit) -> str:
    if not columns[0]:
        return ""
    low, high = (row.get(column) for column in columns)
    has_low, has_high = number(low) is not None, number(high) is not None
    if has_low and has_high:
        return f"{_interval(row)} {value_text(low, unit)} to {value_text(high, unit)}"
    if has_low:
        return f"at least {value_text(low, unit)}, no upper limit"
    return f"at most {value_text(high, unit)}, no lower limit" if has_high else "no interval"


def _interval(row: Row) -> str:
    level = number(row.get("level"))
    return f"{100 * level:.10g}% confidence interval" if level else "confidence interval"


def summarise(title: str, value_name: str, points: Sequence[Point], axis: Axis) -> str:
    """Return the text alternative of a figure."""
    known_points = [point for point in points if point.size.value is not None]
    scale = "a logarithmic" if axis.is_log else "a linear"
    text = f"{title}. {len(points):,} marks of {value_name} on {scale} axis"
    if not known_points:
        return f"{text}; all values are unknown."
    least = min(known_points, key=lambda point: point.size.value or 0.0)
    most = max(known_points, key=lambda point: point.size.value or 0.0)
    extremes = [
        f"{value_text(point.size.value, axis.unit)} ({point.label})" for point in (least, most)
    ]
    return f"{text}, from {extremes[0]} to {extremes[1]}."


def axis_name(plot: Plot, unit: DisplayUnit, rows: Sequence[Row], points: Sequence[Point]) -> str:
    """Return the name of an axis of values; for differences, with the level of the intervals."""
    name = plot.heading
    if unit == "points":
        name = f"{name}, percentage points"
    level = _level(rows, points) if any(plot.sides) else ""
    return f"{name} ({level})" if level else name


def _level(rows: Sequence[Row], points: Sequence[Point]) -> str:
    """Return the common level of intervals, as `95% intervals`; empty without a common one."""
    levels = {
        number(row.get("level"))
        for row, point in zip(rows, points, strict=True)
        if point.size.has_limits
    }
    level = levels.pop() if len(levels) == 1 else None
    return f"{100 * level:.10g}% intervals" if level else ""


def sides_of(plot: Plot, rows: Sequence[Row]) -> tuple[str, str]:
    """Return the methods that each side of the line of no difference favours."""
    parsed = Formatter().parse("".join(plot.sides))
    fields = {field for _, field, *_ in parsed if field}
    names = {}
    for name in fields:
        values = {row.get(name) for row in rows}
        value = values.pop() if len(values) == 1 else None
        names[name] = (
            plot.columns[name].heading if value is None else short(str(value), _LONGEST_SIDE)
        )
    lower, upper = (side.format_map(names) for side in plot.sides)
    return (f"← {lower}" if lower else "", f"{upper} →" if upper else "")


def is_ratio(plot: Plot) -> bool:
    """Return whether a plot shows ratios, where 1 means no difference."""
    return plot.scale == "log" and "ratio" in plot.value


def caption_of(panel: Panel, plot: Plot, rows: Sequence[Row], counts: tuple[int, int]) -> str:
    """Return how to read a figure, and what it leaves out.

    `counts` are the rows that can be drawn, and all rows.
    """
    drawable, total = counts
    sizes = [point.size for point in panel.points]
    levels = {_interval(row) for row, size in zip(rows, sizes, strict=True) if size.has_limits}
    ends = [size for size in sizes if (size.low is None) != (size.high is None)]
    interval = levels.pop() if len(levels) == 1 else "confidence interval"
    most = "farthest from 1" if is_ratio(plot) else "largest"
    if plot.value.endswith(("occurrences", "documents")):
        most = "most frequent"
    frontier = "Dashed: the frontier, where no other method is as accurate and as cheap."
    is_on_axis = "intervals" in panel.value_name
    lines = {
        f"Bars: {interval}s.": any(size.has_limits for size in sizes) and not is_on_axis,
        "Arrows: no limit on that side.": bool(ends),
        "Open marks: no interval; the value is exact, or the table says why.": plot.limits[0]
        and any(size.value is not None and not size.has_limits for size in sizes),
        "Bars without a mark: only bounds are known.": any(size.value is None for size in sizes),
        "Logarithmic axis.": panel.axis.is_log and not panel.axis.has_zeros,
        "Logarithmic axis; zeros are set apart.": panel.axis.is_log and panel.axis.has_zeros,
        "Logarithmic axis across.": panel.across is not None and panel.across.is_log,
        "The line holds each share until the next threshold.": panel.is_step,
        frontier: sum(point.on_frontier for point in panel.points) > 1,
        f"{len(rows):,} of {drawable:,} rows, the {most}.": len(rows) < drawable,
        f"Rows without a value: {total - drawable:,}.": drawable < total,
    }
    return " ".join(text for text, holds in lines.items() if holds)
