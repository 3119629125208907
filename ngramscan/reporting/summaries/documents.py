"""Rows of `docnorm` and their totals → tables of phrases and of methods × corpora: documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ngramscan.indexes.base import Unit
from ngramscan.reporting.layout import UNKNOWN, Layout, cell, with_interval
from ngramscan.reporting.sentences.phrases import (
    UNITS,
    Row,
    group_rows,
    known_rows,
    select_unit,
)
from ngramscan.reporting.sentences.totals import LEAST_DOCUMENTS
from ngramscan.reporting.summaries.names import short_names
from ngramscan.reporting.summaries.numbers import (
    ScaledUnit,
    left_out_note,
    short_count,
    short_number,
)
from ngramscan.reporting.summaries.table import SummaryTable
from ngramscan.reporting.summaries.totals import TotalsByList, indexes_of, lists_of, without_others

_PLAIN = ScaledUnit("", 1.0)
_PER_MILLION = ScaledUnit("per million documents", 1.0)
_PER_BILLION = ScaledUnit("per billion documents", 1000.0)
_EACH = "times in each"
"""The column of occurrences per document, which a phrase without documents lacks."""
_DOCUMENTS, _RATE = "documents", "documents_per_million"
"""Columns of rows, and statistics of totals."""
_SAMPLED = "files"
"""The estimator for a sample of a corpus's files."""


def summarize_documents(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return the phrases × corpora, those in most documents first; tables for tokens follow."""
    tables = []
    for counted_in in UNITS:
        in_unit = select_unit(known_rows(rows, "occurrences"), counted_in)
        if in_unit and most:
            tables.append(_table(in_unit, counted_in, most))
    return tables


def documents_unit(per_million: Iterable[float | None]) -> ScaledUnit:
    """Return per million documents, or per billion where no rate is as large as 1."""
    largest = max((value for value in per_million if value is not None), default=1)
    return _PER_MILLION if largest >= 1 or largest == 0 else _PER_BILLION


def _table(rows: Sequence[Row], counted_in: Unit, most: int) -> SummaryTable:
    phrases = [*group_rows(rows, "method", "tier", "pattern").values()]
    is_plain = not any(row.get("method") for row in rows)
    listed = phrases
    if not is_plain or len(phrases) > most:
        occurring = [group for group in phrases if _sum_of(group)]
        listed = sorted(occurring, key=lambda group: -_sum_of(group))[:most]
    columns: dict[str, list[str]] = {"phrase": [str(group[0].get("pattern")) for group in listed]}
    if not is_plain:
        columns["method"] = [cell(group[0].get("method")) for group in listed]
        columns["tier"] = [cell(group[0].get("tier")) for group in listed]
    n_texts = len(columns)
    left_out = [group for group in phrases if group not in listed]
    nowhere = sum(not _sum_of(group) for group in left_out)
    note = left_out_note(len(left_out), nowhere, is_all=not listed)
    if len(group_rows(rows, "index")) == 1:
        columns |= _columns_of_one([group[0] for group in listed], rows, counted_in)
        note = _with_bounds(note, columns)
        return SummaryTable(columns, Layout(n_texts, frozenset({"phrase"})), note=note)
    names = short_names(row.get("index") for row in rows)
    value, unit = _value_of(rows)
    for index, short in names.short.items():
        columns[short] = [_in_index(group, index, value, unit) for group in listed]
    note = _with_bounds(note, columns)
    title = f"Documents with a phrase {unit.name}".rstrip()
    if counted_in == "tokens":
        title = f"Documents with its n-grams of tokens {unit.name}".rstrip()
    layout = Layout(
        n_texts,
        frozenset({"phrase"}),
        extra=("tier", "method"),
        title=title,
        names=frozenset(names.short.values()),
    )
    return SummaryTable(columns, layout, names.note, note)


def _sum_of(group: Sequence[Row]) -> float:
    """Return the documents of a phrase in all corpora; of two estimates, the upper one."""
    return sum(row.get(_DOCUMENTS) or row.get("documents_upper_estimate") or 0 for row in group)


def _value_of(rows: Sequence[Row]) -> tuple[str, ScaledUnit]:
    """Return the column to show: documents per million if all corpora have a known size."""
    counts = known_rows(rows, _DOCUMENTS)
    is_known = len(counts) == len(rows) and all(row.get(_RATE) is not None for row in counts)
    sizes = [row[_DOCUMENTS] / row[_RATE] * 1e6 for row in counts if row.get(_RATE)]
    if counts and is_known and min(sizes, default=LEAST_DOCUMENTS) >= LEAST_DOCUMENTS:
        return _RATE, documents_unit(row[_RATE] for row in counts)
    return _DOCUMENTS, _PLAIN


def _in_index(group: Sequence[Row], index: str, value: str, unit: ScaledUnit) -> str:
    row = next((row for row in group if str(row.get("index")) == index), None)
    if row is None:
        return UNKNOWN
    if row.get(value) is not None:
        text = cell(row[value]) if value == _DOCUMENTS else short_number(row[value] * unit.factor)
        return f"{_sign(row)}{text}"
    if value != _DOCUMENTS:
        return UNKNOWN
    upper = row.get("documents_upper_estimate")
    return UNKNOWN if upper is None else f"≤{short_count(upper)}"


def _columns_of_one(
    listed: Sequence[Row], rows: Sequence[Row], counted_in: Unit
) -> dict[str, list[str]]:
    """Return the columns of a single corpus, with intervals."""
    rate, unit = _value_of(rows)
    occurrences = "occurrences" if counted_in == "bytes" else "token occurrences"
    columns = {
        occurrences: [f"{_sign(row)}{cell(row.get('occurrences'))}" for row in listed],
        "documents": [interval_of(row, _DOCUMENTS, _PLAIN) for row in listed],
    }
    if unit.name:
        columns[unit.name] = [interval_of(row, rate, unit, short_number) for row in listed]
    columns[_EACH] = [
        interval_of(row, "occurrences_per_document", _PLAIN, short_number) for row in listed
    ]
    return columns


def interval_of(row: Row, name: str, unit: ScaledUnit, show: Callable[[Any], str] = cell) -> str:
    """Return a value, with its limits unless it is exact; if unknown, two estimates."""
    value, low, high = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
    lower, upper = row.get(f"{name}_lower_estimate"), row.get(f"{name}_upper_estimate")
    if value is None:
        return UNKNOWN if lower is None else f"{show(lower)}–{show(upper)}"
    sign = _sign(row)
    if low is None or low == value == high:
        return f"{sign}{show(_scaled(value, unit))}"
    above = None if high is None else _scaled(high, unit)
    return sign + with_interval(_scaled(value, unit), _scaled(low, unit), above, show)


def _sign(row: Row) -> str:
    """Return the sign of estimates from a sample of files; empty for other numbers."""
    return "≈" if row.get("estimator") == _SAMPLED else ""


def _scaled(value: float, unit: ScaledUnit) -> float:
    return value if unit.factor == 1 else value * unit.factor


# Totals


def summarize_document_totals(rows: Sequence[Row]) -> list[SummaryTable]:
    """Return the methods × tiers × corpora: documents, per million where all sizes are known."""
    tables = []
    for counted_in in UNITS:
        lists = lists_of(select_unit(rows, counted_in))
        in_unit = [
            index
            for index in indexes_of(lists)
            if any(_DOCUMENTS in by_index.get(index, {}) for by_index in lists.values())
        ]
        indexes = [
            index
            for index in in_unit
            if any(
                _is_known(by_index.get(index, {}).get(_DOCUMENTS)) for by_index in lists.values()
            )
        ]
        if indexes:
            table = _table_of_methods(lists, counted_in, indexes)
            tables.append(without_others(table, in_unit, indexes, "documents of whole methods"))
    return tables


def _have_rates(lists: TotalsByList, indexes: Sequence[str]) -> bool:
    """Tell whether all corpora have meaningful rates: no size is unknown or small."""
    for index in indexes:
        of_index = [by_index.get(index, {}) for by_index in lists.values()]
        pairs = [(totals.get(_DOCUMENTS), totals.get(_RATE)) for totals in of_index]
        upper = [(_upper(total), _upper(rate)) for total, rate in pairs]
        sizes = [total / rate * 1e6 for total, rate in upper if total and rate]
        # Without any document, the size is unknown.
        if not sizes or min(sizes) < LEAST_DOCUMENTS:
            return False
    return True


def _upper(row: Row | None) -> float | None:
    """Return the value of a total; of two estimates, the upper one."""
    if row is None:
        return None
    value: float | None = row.get("value")
    return row.get("upper_estimate") if value is None else value


def _is_known(row: Row | None) -> bool:
    """Tell whether a total has a value, or two estimates."""
    return row is not None and (
        row.get("value") is not None or row.get("upper_estimate") is not None
    )


def _table_of_methods(
    lists: TotalsByList, counted_in: Unit, indexes: Sequence[str]
) -> SummaryTable:
    is_rate = _have_rates(lists, indexes)
    statistic = _RATE if is_rate else _DOCUMENTS
    cells = {
        index: [by_index.get(index, {}).get(statistic) for by_index in lists.values()]
        for index in indexes
    }
    values = [
        row["value"]
        for rows_of_index in cells.values()
        for row in rows_of_index
        if row is not None and row.get("value") is not None
    ]
    unit = documents_unit(values) if is_rate else _PLAIN
    names = short_names(indexes)
    columns: dict[str, list[str]] = {
        "tier": [tiers for tiers, _ in lists],
        "method": [method for _, method in lists],
    }
    with_limits = len(indexes) == 1
    show = short_number if is_rate else _rounded
    for index in indexes:
        heading = f"documents {unit.name}".rstrip() if with_limits else names.of(index)
        columns[heading] = [_total(row, unit.factor, with_limits, show) for row in cells[index]]
    if with_limits:
        per_document = [
            by_index.get(indexes[0], {}).get("occurrences_per_document")
            for by_index in lists.values()
        ]
        columns[_EACH] = [_total(row, 1.0, True, short_number) for row in per_document]
    of_what = "n-grams of tokens" if counted_in == "tokens" else "any phrase"
    title = f"Documents with {of_what} of a method {unit.name}".rstrip()
    headed = frozenset() if with_limits else frozenset(names.short.values())
    layout = Layout(2, title=title, names=headed)
    return SummaryTable(columns, layout, names.note, _with_bounds("", columns))


def _with_bounds(note: str, columns: Mapping[str, Sequence[str]]) -> str:
    """Return a note, followed by the meaning of the signs in some columns."""
    cells = [text for name, texts in columns.items() if name != _EACH for text in texts]
    notes = [note]
    if any(text.startswith("≤") for text in cells):
        notes.append("≤: the upper of two estimates, as long documents were truncated")
    if any(text.startswith("≈") for text in cells):
        notes.append("≈: estimated from a sample")
    if UNKNOWN in cells:
        notes.append(f"{UNKNOWN}: unknown")
    return "; ".join(filter(None, notes))


def _rounded(documents: float) -> str:
    return short_count(round(documents))


def _total(row: Row | None, factor: float, with_limits: bool, show: Callable[[float], str]) -> str:
    """Return a total; of two estimates, both."""
    if row is None:
        return UNKNOWN
    low, high, value = row.get("low"), row.get("high"), row.get("value")
    if value is None:
        ends = row.get("lower_estimate"), row.get("upper_estimate")
        if not with_limits and ends[1] is not None:
            return f"≤{show(ends[1] * factor)}"
        return "–".join(show(end * factor) for end in ends if end is not None) or UNKNOWN
    text = show(value * factor)
    if not with_limits or low is None or high is None or low == high:
        return text
    return f"{text} [{show(low * factor)}, {show(high * factor)}]"
