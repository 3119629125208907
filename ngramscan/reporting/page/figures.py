"""Rows → figures as inline SVG, which follow the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ngramscan.reporting.page.axes import Axis, Unit, make_axis, number
from ngramscan.reporting.page.kinds import Plot
from ngramscan.reporting.page.legends import caption_of, describe, name_of, summarise
from ngramscan.reporting.page.plots import Panel, Point, Range, draw_rows, draw_scatter
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.page.shapes import short

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_ROWS, MOST_PANELS = 40, 12
_UNITS = {"statistic", "measure"}
"""Columns that change what a value is: each has an axis of its own."""
_PAIR = ("baseline", "treatment")
"""Columns that are named together, as treatment vs. baseline."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure."""

    title: str
    caption: str
    """How to read it, and what is left out."""
    svg: Markup


def draw(results: Results) -> list[Figure]:
    """Return the figures of some rows; none where a figure would say nothing."""
    kind, rows = results.kind, results.rows
    if kind.plot is None:
        return []
    if kind.token_plot is not None:
        # Each row is about bytes or about tokens, and lacks the values of the other.
        plots = [kind.plot, kind.token_plot]
        return [
            figure
            for plot in plots
            for figure in _draw(results, plot, [row for row in rows if _is_drawable(row, plot)])
        ]
    if "eta_from" not in results.columns:
        return _draw(results, kind.plot, rows)
    curve = [row for row in rows if row.get("verdict") == "curve"]
    classes = [row for row in rows if row.get("verdict") != "curve"]
    shares = replace(kind.plot, across="")
    steps = replace(kind.plot, across="eta_from", series="")
    figures = _draw(results, steps, curve)
    return _draw(results, shares, classes) + [
        replace(one, title=f"{one.title} · curve") for one in figures
    ]


def _draw(results: Results, plot: Plot, rows: Sequence[Row]) -> list[Figure]:
    drawn = [row for row in rows if _is_drawable(row, plot)]
    if not drawn or (len(drawn) == 1 and not _limits(drawn[0], plot)):
        return []
    plot = _fit(plot, rows, results.columns)
    styles = _styles(drawn, plot)
    domain = None if _UNITS & {*plot.panel} else {one for row in drawn for one in _all(row, plot)}
    panels = {
        key: own
        for key, own in _group(rows, plot.panel).items()
        if any(_is_drawable(row, plot) for row in own)
    }
    figures = []
    for key, own in [*panels.items()][:MOST_PANELS]:
        title = " · ".join([results.kind.title, *filter(None, key)])
        figures.append(_figure(title, plot, own, styles, domain))
    if len(panels) > MOST_PANELS:
        rest = f" The other {len(panels) - MOST_PANELS:,} figures are left out."
        figures[-1] = replace(figures[-1], caption=figures[-1].caption + rest)
    return figures


def _fit(plot: Plot, rows: Sequence[Row], columns: Sequence[str]) -> Plot:
    """Return a plot without two units in one panel, or panels that all have a single label.

    Labels have only the columns that differ between rows.
    """
    panel = (*plot.panel, *(one for one in columns if one in _UNITS and one not in plot.panel))
    groups = _group(rows, panel)
    varies = {one for one in panel + plot.label if len(_group(rows, (one,))) > 1}
    if varies & set(_PAIR):
        varies |= set(_PAIR)
    label = tuple(one for one in plot.label if one in varies) or plot.label
    is_mixed = not _UNITS & {*panel} and not plot.across and len(groups) > 1
    if is_mixed and all(len(_group(own, plot.label)) == 1 for own in groups.values()):
        label = tuple(one for one in panel + plot.label if one in varies)
        return replace(plot, panel=(), label=label)
    return replace(plot, panel=panel, label=label)


def _group(rows: Iterable[Row], columns: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(name_of(row.get(one)) for one in columns), []).append(row)
    return groups


def _styles(rows: Sequence[Row], plot: Plot) -> dict[str, int]:
    """Return the style of each series, the same in all panels."""
    names = dict.fromkeys(_series(row, plot) for row in rows)
    return {name: place for place, name in enumerate(names)}


def _series(row: Row, plot: Plot) -> str:
    """Return what a mark's style stands for: the label, where marks have no row of their own."""
    if plot.across and not plot.series:
        return ""
    if plot.across:
        return _label(row, plot)
    return name_of(row.get(plot.series), plot.series) if plot.series else ""


def _label(row: Row, plot: Plot) -> str:
    names = {one: name_of(row.get(one), one) for one in plot.label}
    if {*_PAIR} <= {*names}:
        names["treatment"] += f" vs. {names.pop('baseline')}"
    return " · ".join(filter(None, names.values()))


def _limits(row: Row, plot: Plot) -> list[float]:
    values = [number(row.get(one)) for one in (plot.low, plot.high)]
    return [one for one in values if one is not None]


def _all(row: Row, plot: Plot) -> list[float]:
    value = number(row.get(plot.value))
    return _limits(row, plot) + ([] if value is None else [value])


def _is_drawable(row: Row, plot: Plot) -> bool:
    if plot.across:
        place = number(row.get(plot.across))
        if place is None or math.isinf(place):
            return False
    return bool(_all(row, plot))


def _most(rows: Sequence[Row], plot: Plot) -> Sequence[Row]:
    """Return the rows with the largest values in either direction, in their order."""
    if len(rows) <= MOST_ROWS:
        return rows
    sizes = [abs(number(row.get(plot.value)) or 0.0) for row in rows]
    places = sorted(range(len(rows)), key=lambda place: -sizes[place])[:MOST_ROWS]
    return [rows[place] for place in sorted(places)]


def unit_of(plot: Plot) -> Unit:
    """Return how the values of a plot are shown; differences are of shares."""
    if plot.value.startswith("difference"):
        return "points"
    return "percent" if plot.scale == "share" else "number"


def _figure(
    title: str,
    plot: Plot,
    rows: Sequence[Row],
    styles: dict[str, int],
    domain: Collection[float] | None,
) -> Figure:
    drawable = [row for row in rows if _is_drawable(row, plot)]
    shown = _most(drawable, plot)
    unit = unit_of(plot)
    numbers = domain or [one for row in shown for one in _all(row, plot)]
    axis = make_axis(numbers, plot.scale, unit)
    points = [_point(row, plot, unit, styles) for row in shown]
    present = dict.fromkeys(_series(row, plot) for row in shown)
    absent = f"no {plot.series.replace('_', ' ')}"
    names = [(name or absent, styles[name]) for name in present] if len(styles) > 1 else []
    value_name = plot.value.replace("_", " ")
    panel = Panel(
        summarise(title, value_name, points, axis),
        f"{value_name}, percentage points" if unit == "points" else value_name,
        axis,
        points,
        names if plot.series not in plot.label or plot.across else [],
        reference=_reference(plot, axis),
    )
    if plot.across:
        panel = _with_across(panel, plot, shown)
    caption = caption_of(panel, plot, shown, (len(drawable), len(rows)))
    return Figure(title, caption, draw_scatter(panel) if plot.across else draw_rows(panel))


def _reference(plot: Plot, axis: Axis) -> float | None:
    """Return the value of no difference, if there is one."""
    if axis.is_log:
        return 1.0 if "ratio" in plot.value else None
    is_signed = axis.low < 0 or plot.value.startswith(("difference", "log_ratio", "tau"))
    return 0.0 if is_signed else None


def _with_across(panel: Panel, plot: Plot, rows: Sequence[Row]) -> Panel:
    is_step = plot.across == "eta_from"
    ends = (plot.across, f"{plot.across}_low", f"{plot.across}_high")
    given = [number(row.get(one)) for row in rows for one in ends]
    numbers = [one for one in given if one is not None]
    is_wide = min(numbers) > 0 and max(numbers) >= 30 * min(numbers)
    axis = make_axis(numbers, "log" if is_wide and not is_step else "linear", "number")
    name = "eta, at least" if is_step else plot.across.replace("_", " ")
    return replace(panel, across=axis, across_name=name, is_step=is_step)


def _point(row: Row, plot: Plot, unit: Unit, styles: dict[str, int]) -> Point:
    columns = (plot.value, plot.low, plot.high)
    value, low, high = (number(row.get(one)) for one in columns)
    label, series = _label(row, plot), _series(row, plot)
    across = None
    if plot.across:
        ends = (plot.across, f"{plot.across}_low", f"{plot.across}_high")
        across = Range(*(number(row.get(one)) for one in ends))
    return Point(
        label=label,
        style=styles[series],
        size=Range(value, low, high),
        words=short(describe(row, plot, unit, (label, series))),
        exact=tuple(_exact(row.get(one)) for one in columns),
        across=across,
        on_frontier=row.get("on_frontier") is True,
    )


def _exact(value: Any) -> str | None:
    as_float = number(value)
    return None if as_float is None else repr(as_float if math.isinf(as_float) else value)
