"""Counts and totals → figures that show corpora side by side, and snapshots over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.messages import counted
from ngramscan.prevalence.several_corpora import is_one_corpus
from ngramscan.reporting.charts.axes import make_axis, number, value_text
from ngramscan.reporting.charts.figure import Figure, Setting
from ngramscan.reporting.charts.lanes import (
    NARROW,
    PAPER,
    WIDE,
    Lane,
    LaneChart,
    LaneMark,
    draw_lanes,
)
from ngramscan.reporting.charts.lines import Line, LineChart, LineCharts, draw_lines
from ngramscan.reporting.charts.plots import Range
from ngramscan.reporting.charts.shapes import join, short
from ngramscan.reporting.charts.styles import styles_of
from ngramscan.reporting.snapshots import names_from_year, times_of
from ngramscan.reporting.summaries.names import last_names

Row = Mapping[str, Any]
_MOST_LINES = 5
"""Lines of a chart: the most frequent phrases of a method."""
_MOST_NAMED = 12
"""Phrases that occur nowhere and are named."""


@dataclass(frozen=True, slots=True)
class CountMeasure:
    """Occurrences or documents, as columns of rows and as words."""

    name: str
    """`occurrences` or `documents`; limits begin with it."""
    rate: str
    """The column of the rate, which rows of unknown corpora lack."""
    rate_name: str


OCCURRENCES = CountMeasure("occurrences", "per_gigabyte", "occurrences per gigabyte")
DOCUMENTS = CountMeasure("documents", "per_million_documents", "documents in a million")
_STATISTICS = {
    "union_per_gigabyte": "occurrences per gigabyte",
    "union_of_occurrences": "occurrences",
    "sum_of_pattern_counts": "sum of counts, overlaps counted repeatedly",
}
"""Comparable totals of a method, best first, with the names of their axes."""


@dataclass(frozen=True, slots=True)
class _Value:
    """One value of one corpus."""

    index: Any
    """As in the rows."""
    method: str
    group: str
    """The method and the tier, if a label is a phrase."""
    label: str
    size: Range
    exact: tuple[str | None, ...]
    words: str


@dataclass(frozen=True, slots=True)
class _PlottedValues:
    """All values of one figure."""

    title: str
    value_name: str
    values: Sequence[_Value]
    styles: Mapping[str, int]
    """Styles of corpora, in the order of the rows."""
    notes: Sequence[str] = ()

    @property
    def lanes(self) -> dict[tuple[str, str], list[_Value]]:
        """The values of each row of marks, by its group and label; groups are contiguous."""
        groups = dict.fromkeys(value.group for value in self.values)
        lanes: dict[tuple[str, str], list[_Value]] = {}
        for group in groups:
            for value in self.values:
                if value.group == group:
                    lanes.setdefault((value.group, value.label), []).append(value)
        return lanes


def draw_counts(
    rows: Sequence[Row], setting: Setting, measure: CountMeasure = OCCURRENCES
) -> list[Figure]:
    """Return the figures of rows of `count` or `docnorm`.

    They show phrases × corpora, and phrases over time.
    """
    ends = ("", "_low", "_high")
    columns = [f"{measure.name}{end}" for end in ends]
    known_rows = [row for row in rows if any(number(row.get(name)) is not None for name in columns)]
    queries = dict.fromkeys((_group(row), _phrase(row)) for row in known_rows)
    limited = [
        row for row in known_rows if any(number(row.get(end)) is not None for end in columns[1:])
    ]
    if not known_rows or (len(known_rows) < setting.fewest_exact and not limited):
        return []
    has_rates = all(number(row.get(measure.rate)) is not None for row in known_rows)
    styles = styles_of(rows, "index")
    phrases = counted(len(queries), "phrase")
    plotted = _PlottedValues(
        f"{phrases} in {_corpora(styles)}",
        measure.rate_name if has_rates else measure.name,
        [_count(row, measure, has_rates) for row in known_rows],
        styles,
        [*_bars(limited), *_about_sizes(measure, has_rates)],
    )
    return _figures(plotted, setting, "most frequent phrases")


def _phrase(row: Row) -> str:
    return str(row["query"] if "query" in row else row["pattern"])


def _bars(limited: Sequence[Row]) -> Iterator[str]:
    """Yield an explanation of the bars, if there are any."""
    levels = {number(row.get("level")) for row in limited}
    if limited:
        level = levels.pop() if len(levels) == 1 else None
        yield f"Bars: {100 * level:.10g}% confidence intervals." if level else "Bars: intervals."


def _about_sizes(measure: CountMeasure, has_rates: bool) -> Iterator[str]:
    if not has_rates:
        yield f"Sizes of corpora are unknown: {measure.name}, not rates."


def draw_totals(rows: Sequence[Row], setting: Setting) -> list[Figure]:
    """Return the figures of rows of `totals`: methods by tier × corpora, and these over time."""
    totals = next(filter(None, (_totals_of(rows, statistic) for statistic in _STATISTICS)), [])
    if not totals:
        return []
    statistic = str(totals[0]["statistic"])
    value_name = _STATISTICS[statistic]
    known_totals = [row for row in totals if number(row["value"]) is not None]
    styles = styles_of(totals, "index")
    notes = ["Places where phrases overlap count once."] if "union" in statistic else []
    if unknown := len(totals) - len(known_totals):
        notes.append(f"Unknown: {counted(unknown, 'total')}.")
    values = [_total(row, value_name) for row in known_totals]
    title = f"Methods by tier in {_corpora(styles)}"
    return _figures(_PlottedValues(title, value_name, values, styles, notes), setting, "largest")


def _totals_of(rows: Iterable[Row], statistic: str) -> list[Row]:
    """Return a statistic of all methods and tiers, if every corpus has it."""
    chosen = _wholes(
        row
        for row in rows
        if row["statistic"] == statistic
        and row.get("versus") is None
        and "+" not in str(row["tiers"])
        and is_one_corpus(row["index"])
    )
    known_rows = [row for row in chosen if number(row["value"]) is not None]
    return (
        chosen if {row["index"] for row in known_rows} == {row["index"] for row in chosen} else []
    )


def _wholes(rows: Iterable[Row]) -> list[Row]:
    """Return the first row of each method and tier: parts of one kind follow the whole."""
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        first.setdefault((row["index"], row["tiers"], row["method"]), row)
    return list(first.values())


def _corpora(styles: Mapping[str, int]) -> str:
    if len(styles) == 1:
        return next(iter(last_names(styles).values()))
    kind = "snapshots" if len(times_of(styles)) == len(styles) else "corpora"
    return f"{len(styles):,} {kind}"


def _group(row: Row) -> str:
    return " ".join(str(row[name]) for name in ("method", "tier") if row.get(name) is not None)


def _count(row: Row, measure: CountMeasure, has_rates: bool) -> _Value:
    """Return the value of a row; limits of a rate are those of the count."""
    count, rate = row.get(measure.name), row.get(measure.rate)
    ends = [row.get(f"{measure.name}_{end}") for end in ("low", "high")]
    words = [f"{value_text(count, 'number')} {measure.name}"]
    if has_rates:
        words.insert(0, f"{value_text(rate, 'number')} {measure.rate_name}")
        ends = [_rate_of(end, row, measure) for end in ends]
    if None not in ends:
        low, high = (value_text(end, "number") for end in ends)
        words.insert(1, f"confidence interval {low} to {high}")
    value = rate if has_rates else count
    return _value(row, _group(row), _phrase(row), (value, *ends), words)


def _rate_of(end: Any, row: Row, measure: CountMeasure) -> float | None:
    """Return a limit of a count as a rate; None if unknown."""
    limit, count, rate = (number(value) for value in (end, row[measure.name], row[measure.rate]))
    if limit is None:
        return None
    if count and rate is not None:
        return limit * rate / count
    size = number(row.get("bytes"))
    return limit * 1e9 / size if size and measure is OCCURRENCES else None


def _total(row: Row, value_name: str) -> _Value:
    words = [f"{value_text(row['value'], 'number')} {value_name}"]
    return _value(row, str(row["method"]), row["tiers"], (row["value"], None, None), words)


def _value(row: Row, group: str, label: Any, ends: tuple[Any, ...], words: Sequence[str]) -> _Value:
    exact = tuple(None if number(end) is None else repr(end) for end in ends)
    text = f"{short(str(label), 120)} in {short(str(row['index']), 120)}: {'; '.join(words)}"
    value, low, high = (number(end) for end in ends)
    return _Value(
        index=row["index"],
        method=str(row.get("method") or ""),
        group=group,
        label=str(label),
        size=Range(value, low, high),
        exact=exact,
        words=text,
    )


def _figures(plotted: _PlottedValues, setting: Setting, most: str) -> list[Figure]:
    """Return the marks of all corpora, and the lines of snapshots if there are any.

    Lines come first where all corpora are snapshots.
    """
    marks = _marks(plotted, setting, most)
    times = times_of(plotted.styles)
    if not times:
        return marks
    lines = _lines(plotted, times, setting)
    if len(times) < len(plotted.styles):
        return [*marks, *(_further(figure) for figure in lines)]
    return [*lines, *(_further(figure) for figure in marks)]


def _further(figure: Figure) -> Figure:
    return Figure(figure.title, figure.caption, figure.svg, figure.is_small, is_further=True)


def _marks(plotted: _PlottedValues, setting: Setting, most: str) -> list[Figure]:
    lanes = plotted.lanes
    absent = [label for (_, label), values in lanes.items() if not any(map(_occurs, values))]
    present = {key: values for key, values in lanes.items() if any(map(_occurs, values))}
    # If nothing occurs at all, the marks show that.
    largest = _largest(present or lanes, setting.most_rows)
    axis = make_axis(_numbers(largest.values()), "log", "number")
    named = last_names(plotted.styles)
    chart = LaneChart(
        _summary(plotted, largest),
        plotted.value_name,
        axis,
        [
            Lane(short(group, 24), label, [_mark(value, plotted) for value in values])
            for (group, label), values in largest.items()
        ],
        {named[name]: style for name, style in plotted.styles.items()},
    )
    caption = [
        *plotted.notes,
        *_scale(axis.is_log, axis.has_zeros),
        *_counted(len(largest), len(present or lanes), most),
        *(_nowhere(absent) if present else ()),
    ]
    looks = (PAPER,) if setting.is_paper else (NARROW, WIDE)
    svg = join(draw_lanes(chart, look) for look in looks)
    return [Figure(plotted.title, " ".join(caption), svg, setting.is_paper)]


def _occurs(value: _Value) -> bool:
    return value.size.value != 0


def _largest(
    lanes: dict[tuple[str, str], list[_Value]], most: int
) -> dict[tuple[str, str], list[_Value]]:
    """Return the lanes with the largest values, in their order."""
    sizes = {key: max(abs(value.size.value or 0) for value in lanes[key]) for key in lanes}
    chosen = {*sorted(lanes, key=lambda key: -sizes[key])[:most]}
    return {key: values for key, values in lanes.items() if key in chosen}


def _numbers(lanes: Iterable[Sequence[_Value]]) -> list[float]:
    ranges = [value.size for values in lanes for value in values]
    ends = [
        end
        for ends_of_value in ranges
        for end in (ends_of_value.value, ends_of_value.low, ends_of_value.high)
    ]
    return [end for end in ends if end is not None]


def _mark(value: _Value, plotted: _PlottedValues) -> LaneMark:
    return LaneMark(plotted.styles[value.index], value.size, value.words, value.exact)


def _summary(plotted: _PlottedValues, lanes: Mapping[tuple[str, str], Sequence[_Value]]) -> str:
    """Return the text alternative of a figure."""
    values = [value for of_lane in lanes.values() for value in of_lane]
    text = f"{plotted.title}. {counted(len(values), 'mark')} of {plotted.value_name}"
    ends = (min(values, key=_size), max(values, key=_size))
    extremes = [
        f"{value_text(value.size.value, 'number')} ({short(value.label, 60)} in"
        f" {short(str(value.index), 60)})"
        for value in ends
    ]
    return f"{text}, from {extremes[0]} to {extremes[1]}."


def _size(value: _Value) -> float:
    return value.size.value or 0.0


def _scale(is_log: bool, has_zeros: bool) -> Iterator[str]:
    if is_log:
        yield "Logarithmic axis; zeros are set apart." if has_zeros else "Logarithmic axis."


def _counted(n_rows: int, total: int, most: str) -> Iterator[str]:
    if n_rows < total:
        yield f"{n_rows:,} of {total:,} rows, the {most}."


def _nowhere(labels: Sequence[str]) -> Iterator[str]:
    if labels:
        named = ", ".join(f"“{short(label, 40)}”" for label in labels[:_MOST_NAMED])
        n_unnamed = len(labels) - _MOST_NAMED
        more = f" and {n_unnamed:,} more" if n_unnamed > 0 else ""
        yield f"Without any occurrence: {named}{more}."


def _lines(plotted: _PlottedValues, times: Mapping[str, float], setting: Setting) -> list[Figure]:
    """Return phrases over time: a chart per method, with a line for each of its largest rows."""
    by_method: dict[str, dict[tuple[str, str], list[_Value]]] = {}
    for (group, label), values in plotted.lanes.items():
        if any(map(_occurs, values)):
            by_method.setdefault(values[0].method, {})[group, label] = values
    corpora = last_names(plotted.styles)
    charts = [_line_chart(method, lanes, times, corpora) for method, lanes in by_method.items()]
    if not charts:
        return []
    named = names_from_year(times)
    drawing = LineCharts(
        f"{plotted.title}, over time: {plotted.value_name}",
        plotted.value_name,
        {named[name]: time for name, time in times.items()},
        [corpora[name] for name in plotted.styles if name not in times],
        charts[: setting.most_panels],
    )
    n_lines, total = sum(len(chart.lines) for chart in charts), sum(map(len, by_method.values()))
    caption = [
        *plotted.notes,
        *_scale(any(c.axis.is_log for c in charts), any(c.axis.has_zeros for c in charts)),
        *_counted(n_lines, total, "most frequent of each method"),
    ]
    looks = (PAPER,) if setting.is_paper else (NARROW, WIDE)
    svg = join(draw_lines(drawing, look) for look in looks)
    return [Figure(f"{plotted.title}, over time", " ".join(caption), svg, setting.is_paper)]


def _line_chart(
    title: str,
    lanes: dict[tuple[str, str], list[_Value]],
    times: Mapping[str, float],
    corpora: Mapping[str, str],
) -> LineChart:
    largest = _largest(lanes, _MOST_LINES)
    lines = []
    for style, ((_, label), values) in enumerate(largest.items()):
        marks = {
            value.index: LaneMark(style, value.size, value.words, value.exact) for value in values
        }
        spots = [(time, marks[name]) for name, time in times.items() if name in marks]
        aside = {corpora[name]: mark for name, mark in marks.items() if name not in times}
        lines.append(Line(label, style, spots, aside))
    return LineChart(title, make_axis(_numbers(largest.values()), "log", "number"), lines)
