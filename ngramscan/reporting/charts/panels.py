"""Rows → figures as inline SVG, which follow the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from string import Formatter
from typing import Any

from ngramscan.prevalence.contamination.rules import COPY_CLASSES, classes_by
from ngramscan.reporting.charts.axes import Axis, make_axis, number
from ngramscan.reporting.charts.corpora import DOCUMENTS, OCCURRENCES, draw_counts, draw_totals
from ngramscan.reporting.charts.figure import ON_A_PAGE, Figure, Setting
from ngramscan.reporting.charts.legends import (
    axis_name,
    caption_of,
    describe,
    is_ratio,
    name_of,
    sides_of,
    summarise,
)
from ngramscan.reporting.charts.plots import Panel, Point, Range, draw_rows, draw_scatter
from ngramscan.reporting.charts.shapes import join, short
from ngramscan.reporting.charts.styles import styles_of
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.layout import cell, p_text
from ngramscan.reporting.page.results import Results
from ngramscan.rows import DisplayUnit, Plot

_STEPS = "eta_from"
"""The other axis of a curve, whose values hold until the next."""
_MEASURES = {measure.name: measure for measure in (OCCURRENCES, DOCUMENTS)}
"""Values whose figure shows all corpora side by side."""
_UNITS = {"statistic", "measure"}
"""Columns that change the unit of a value; each of their values has a separate axis."""
_PAIR = ("baseline", "treatment")
"""Columns that are named together, as treatment vs. baseline."""
Row = dict[str, Any]


def draw(results: Results, setting: Setting = ON_A_PAGE) -> list[Figure]:
    """Return the figures of some rows; empty if a figure would be trivial.

    The same name has the same colour and mark in all figures of a kind of rows.
    """
    kind = results.kind
    if kind.name == "totals":
        in_bytes, _ = _by_unit(results.rows)
        return draw_totals(in_bytes, setting)
    # Those of all models together come first.
    rows = sorted(results.rows, key=lambda row: row.get("model") != ALL)
    figures: list[Figure] = []
    for plot in kind.plots:
        if plot.value in _MEASURES:
            in_bytes, in_tokens = _by_unit(rows)
            figures += draw_counts(in_bytes, setting, _MEASURES[plot.value])
            has_limits = any(_limits(row, plot) for row in in_tokens)
            over_tokens = replace(plot, value_name=f"token {plot.heading}", has_limits=has_limits)
            figures += _draw(replace(results, rows=in_tokens), over_tokens, in_tokens, setting)
        elif plot.across == _STEPS:
            figures += _draw_shares(results, plot, rows, setting)
        else:
            members = _drawable(rows, plot) if len(kind.plots) > 1 else rows
            figures += _draw(results, plot, members, setting)
    return figures


def _by_unit(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of bytes, and those of tokens, which are in figures of their own."""
    in_tokens = [row for row in rows if row.get("unit") == "tokens"]
    return [row for row in rows if row.get("unit") != "tokens"], in_tokens


def _draw_shares(
    results: Results, plot: Plot, rows: Sequence[Row], setting: Setting
) -> list[Figure]:
    """Return the figures of classes of entries, and of their curves over thresholds."""
    curve = [row for row in rows if row.get("verdict") == "curve"]
    classes = [row for row in rows if row.get("verdict") != "curve"]
    shares = replace(plot, across="")
    steps = replace(plot, series="", panel=(*plot.panel, "index"), label=("verdict",))
    return _draw(results, shares, classes, setting) + [
        replace(figure, title=f"{figure.title} · curve")
        for figure in _draw(results, steps, curve, setting)
    ]


def _draw(results: Results, plot: Plot, rows: Sequence[Row], setting: Setting) -> list[Figure]:
    """Return the figures of one plot."""
    drawable = _drawable(rows, plot)
    if not drawable or (len(drawable) < setting.fewest_exact and not _limits(drawable[0], plot)):
        return []
    label = {*plot.label}
    plot = _fit(plot, rows, results.columns)
    style_of = _styles(rows, plot)
    domain = (
        None if _UNITS & {*plot.panel} else {value for row in drawable for value in _all(row, plot)}
    )
    panels = {
        key: members
        for key, members in _group(rows, plot.panel).items()
        if _drawable(members, plot)
    }
    # A pair that all rows share is not in their labels.
    pair = (
        [_label(drawable[0], replace(plot, label=_PAIR))]
        if {*_PAIR} <= label - {*plot.label}
        else []
    )
    figures = []
    for key, members in [*panels.items()][: setting.most_panels]:
        named = [_short_rule(name, column) for name, column in zip(key, plot.panel, strict=True)]
        title = " · ".join([results.title, *filter(None, named), *pair])
        figures.append(_figure(title, plot, members, style_of, domain, setting))
    if len(panels) > setting.most_panels:
        remark = f" The other {len(panels) - setting.most_panels:,} figures are left out."
        figures[-1] = replace(figures[-1], caption=figures[-1].caption + remark)
    # How they are read is said once.
    return figures[:1] + [
        replace(figure, caption="") if figure.caption == figures[0].caption else figure
        for figure in figures[1:]
    ]


def _short_rule(name: str, column: str) -> str:
    """Return the name of a rule without its description."""
    return name.partition(":")[0] if column == "rule" else name


def _fit(plot: Plot, rows: Sequence[Row], columns: Sequence[str]) -> Plot:
    """Return a plot without two units in one panel, or panels that all have a single label.

    Labels have only the columns that differ between rows.
    """
    panel = (*plot.panel, *(name for name in columns if name in _UNITS and name not in plot.panel))
    groups = _group(rows, panel)
    varies = {name for name in panel + plot.label if len(_group(rows, (name,))) > 1}
    if varies & set(_PAIR):
        varies |= set(_PAIR)
    label = tuple(name for name in plot.label if name in varies) or plot.label
    is_mixed = not _UNITS & {*panel} and not plot.across and len(groups) > 1
    if is_mixed and all(len(_group(members, plot.label)) == 1 for members in groups.values()):
        label = tuple(name for name in panel + plot.label if name in varies)
        return replace(plot, panel=(), label=label)
    return replace(plot, panel=panel, label=label)


def _group(rows: Iterable[Row], columns: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(name_of(row.get(column)) for column in columns), []).append(row)
    return groups


def _styles(rows: Sequence[Row], plot: Plot) -> dict[str, int]:
    """Return the style of each series, the same in all panels and in files."""
    if plot.series:
        all_styles = styles_of(rows, plot.series)
        present = dict.fromkeys(row.get(plot.series) for row in rows)
        return {
            name_of(value, plot.columns[plot.series].heading): all_styles[value]
            for value in present
        }
    names = dict.fromkeys(_series(row, plot) for row in rows)
    return {name: style for style, name in enumerate(names)}


def _series(row: Row, plot: Plot) -> str:
    """Return the name that a mark's style stands for: the label if marks share a row."""
    if plot.series:
        return name_of(row.get(plot.series), plot.columns[plot.series].heading)
    return _label(row, plot) if plot.across and plot.across != _STEPS else ""


def _label(row: Row, plot: Plot) -> str:
    names = {
        column: name_of(row.get(column), plot.columns[column].heading) for column in plot.label
    }
    if {*_PAIR} <= {*names}:
        names["treatment"] += f" vs. {names.pop('baseline')}"
    if {"prompt", "baseline"} <= {*names}:
        names["prompt"] += f" vs. {names.pop('baseline')}"
    if {"method", "baseline"} <= {*names} and names["baseline"]:
        names["method"] += f" − {names.pop('baseline')}"
    return " · ".join(filter(None, names.values()))


def _limits(row: Row, plot: Plot) -> list[float]:
    values = [number(row.get(column)) for column in plot.limits]
    return [value for value in values if value is not None]


def _all(row: Row, plot: Plot) -> list[float]:
    value = number(row.get(plot.value))
    return _limits(row, plot) + ([] if value is None else [value])


def _drawable(rows: Iterable[Row], plot: Plot) -> list[Row]:
    return [row for row in rows if _is_drawable(row, plot)]


def _is_drawable(row: Row, plot: Plot) -> bool:
    if plot.across:
        place = number(row.get(plot.across))
        if place is None or math.isinf(place):
            return False
    return bool(_all(row, plot))


def _most(rows: Sequence[Row], plot: Plot, most_rows: int) -> Sequence[Row]:
    """Return the rows with the largest values in either direction, in their order."""
    if len(rows) <= most_rows:
        return rows
    sizes = [_distance(number(row.get(plot.value)), plot) for row in rows]
    places = sorted(range(len(rows)), key=lambda place: -sizes[place])[:most_rows]
    return [rows[place] for place in sorted(places)]


def _distance(value: float | None, plot: Plot) -> float:
    """Return a value's distance from no difference; for a ratio, on the log scale."""
    if value is None:
        return 0.0
    if not is_ratio(plot):
        return abs(value)
    return abs(math.log(value)) if value > 0 else math.inf


def _figure(
    title: str,
    plot: Plot,
    rows: Sequence[Row],
    styles: dict[str, int],
    domain: Collection[float] | None,
    setting: Setting,
) -> Figure:
    drawable = _drawable(rows, plot)
    largest = _most(drawable, plot, setting.most_rows)
    unit = plot.columns[plot.value].unit_in(rows)
    numbers = domain or [value for row in largest for value in _all(row, plot)]
    axis = make_axis(numbers, plot.scale, unit)
    points = [_point(row, plot, unit, styles) for row in largest]
    present = dict.fromkeys(_series(row, plot) for row in largest)
    absent = f"no {plot.columns[plot.series].heading}"
    is_named = plot.series not in plot.label and len(styles) > 1
    names = [(name or absent, styles[name]) for name in present] if is_named else []
    panel = Panel(
        summarise(title, plot.heading, points, axis),
        axis_name(plot, unit, largest, points),
        axis,
        points,
        names,
        reference=_reference(plot, axis),
        sides=sides_of(plot, largest),
    )
    if plot.across:
        panel = _with_across(panel, plot, largest)
    caption = caption_of(panel, plot, largest, (len(drawable), len(rows)))
    if plot.across:
        return Figure(title, caption, draw_scatter(panel))
    sides = setting.labels_beside
    return Figure(title, caption, join(draw_rows(replace(panel, labels_beside=s)) for s in sides))


def _reference(plot: Plot, axis: Axis) -> float | None:
    """Return the value of no difference, if there is one."""
    if axis.is_log:
        return 1.0 if "ratio" in plot.value else None
    is_signed = axis.low < 0 or plot.value.startswith(("difference", "slope", "log_ratio", "tau"))
    return 0.0 if is_signed else None


def _with_across(panel: Panel, plot: Plot, rows: Sequence[Row]) -> Panel:
    is_step = plot.across == _STEPS
    cells = [number(row.get(column)) for row in rows for column in _ends_across(plot)]
    numbers = [value for value in cells if value is not None]
    is_wide = min(numbers) > 0 and max(numbers) >= 30 * min(numbers)
    unit = plot.columns[plot.across].unit_in(rows)
    axis = make_axis(numbers, "log" if is_wide and not is_step else "linear", unit)
    name = plot.columns[plot.across].heading
    if is_step:
        is_weighed = classes_by(rows[0].get("rule")) == COPY_CLASSES
        name = "covered, at least" if is_weighed else "eta, at least"
    at_one = plot.across.endswith("ratio") and axis.is_log
    return replace(
        panel,
        across=axis,
        across_name=name,
        is_step=is_step,
        across_reference=1.0 if at_one else None,
    )


def _ends_across(plot: Plot) -> tuple[str, str, str]:
    return (plot.across, *plot.across_limits)


def _point(row: Row, plot: Plot, unit: DisplayUnit, styles: dict[str, int]) -> Point:
    columns = (plot.value, *plot.limits)
    value, low, high = (number(row.get(column)) for column in columns)
    label, series = _label(row, plot), _series(row, plot)
    across = None
    if plot.across:
        across = Range(*(number(row.get(column)) for column in _ends_across(plot)))
    return Point(
        label=label,
        style=styles[series],
        size=Range(value, low, high),
        words=short(describe(row, plot, unit, (label, series))),
        exact=tuple(_exact(row.get(column)) for column in columns),
        across=across,
        aside=_aside(row, plot),
        on_frontier=row.get("on_frontier") is True,
    )


def _aside(row: Row, plot: Plot) -> str:
    """Return the text next to a row's label; empty if a part of it is unknown."""
    names = [name for _, name, *_ in Formatter().parse(plot.aside) if name]
    if None in {number(row.get(name)) for name in (plot.value, *names)}:
        return ""
    texts = {name: p_text(row[name]) if name[:2] == "p_" else cell(row[name]) for name in names}
    return plot.aside.format_map(texts).replace("= >", "> ")


def _exact(value: Any) -> str | None:
    as_float = number(value)
    return None if as_float is None else repr(as_float if math.isinf(as_float) else value)
