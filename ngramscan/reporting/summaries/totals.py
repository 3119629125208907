"""Rows of `totals` → a table of methods × tiers × corpora, and of the ratios in one corpus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from ngramscan.prevalence.several_corpora import is_one_corpus
from ngramscan.prevalence.totals import ESTIMATED
from ngramscan.reporting.layout import UNKNOWN, CellColumns, Layout, cell, with_interval
from ngramscan.reporting.sentences.counts import corpora
from ngramscan.reporting.sentences.phrases import Row, group_rows, listed, select_unit
from ngramscan.reporting.sentences.totals import is_estimated, largest_share
from ngramscan.reporting.summaries.names import short_names
from ngramscan.reporting.summaries.numbers import (
    LEAST_BYTES,
    ScaledUnit,
    rate_unit,
    short_count,
    short_number,
)
from ngramscan.reporting.summaries.table import SummaryTable

_ORDER = ("T1", "T2", "T3", "T1+T2")
WIDEST = 100
"""Intervals of ratios whose limits differ by a larger factor are uninformative."""
_MOST_RATIOS = 2
_MOST_LOST = 3
"""More corpora without counts are not named."""
_GEOMETRIC = "ratio_of_geometric_means"
_TOKEN_SUM, _TOKEN_RATE = "sum_of_pattern_counts", "sum_per_million_tokens"
OfOne = dict[str, Row]
"""The totals of one method and its tiers in one corpus, by their statistics."""
TotalsByList = dict[tuple[str, str], dict[str, OfOne]]


def summarize_totals(rows: Sequence[Row], _most: int) -> list[SummaryTable]:
    """Return the methods × tiers × corpora; for a single corpus, also ratios of two methods."""
    in_bytes, in_tokens = select_unit(rows, "bytes"), select_unit(rows, "tokens")
    lists_of_bytes, lists_of_tokens = lists_of(in_bytes), lists_of(in_tokens)
    of_bytes, of_tokens = counted_indexes(lists_of_bytes), counted_indexes(lists_of_tokens)
    tables = []
    if len(of_bytes) == 1:
        tables.append(_table_of_one(lists_of_bytes, of_bytes[0]))
        ratios = ratios_of(in_bytes, of_bytes[0])
        tables += [_table_of_ratios(ratios)] if ratios else []
    elif of_bytes:
        tables.append(_table_of_bytes(lists_of_bytes, of_bytes))
    if of_tokens:
        tables.append(_table_of_tokens(lists_of_tokens, of_tokens))
    all_indexes = dict.fromkeys([*indexes_of(lists_of_bytes), *indexes_of(lists_of_tokens)])
    return [without_others(table, all_indexes, [*of_bytes, *of_tokens]) for table in tables]


def indexes_of(lists: TotalsByList) -> list[str]:
    """Return all corpora of some totals, in their order."""
    return [*dict.fromkeys(index for by_index in lists.values() for index in by_index)]


def counted_indexes(lists: TotalsByList) -> list[str]:
    """Return the corpora with any known total."""
    return [index for index in indexes_of(lists) if has_values(lists, index)]


def has_values(lists: TotalsByList, index: str) -> bool:
    """Tell whether a corpus has any known total."""
    rows = [row for by_index in lists.values() for row in by_index.get(index, {}).values()]
    return any(row.get("value") is not None for row in rows)


def without_others(
    table: SummaryTable, requested: Collection[str], counted: Sequence[str], noun: str = "counts"
) -> SummaryTable:
    """Return a table with a note on missing corpora; a single remaining one is in the title."""
    uncounted = [index for index in requested if index not in counted]
    if not uncounted:
        return table
    names = listed(uncounted) if len(uncounted) <= _MOST_LOST else corpora(len(uncounted))
    note = "; ".join(filter(None, (table.note, f"no {noun} are known in {names}")))
    if len(counted) > 1:
        return replace(table, note=note)
    title = " · ".join(filter(None, (table.layout.title, f"corpus {counted[0]}")))
    return replace(table, note=note, layout=replace(table.layout, title=title))


def lists_of(rows: Sequence[Row]) -> TotalsByList:
    """Return the totals of whole lists of phrases, by tiers and method, then by corpus.

    Totals of one kind of phrases are left out where there are others of all kinds together.
    """
    single_corpora = [
        row for row in rows if row.get("versus") is None and is_one_corpus(row.get("index"))
    ]
    totals: TotalsByList = {}
    for (tiers, method, index), group in group_rows(
        single_corpora, "tiers", "method", "index"
    ).items():
        kinds = {row.get("kind") for row in group}
        kind = min(kinds, key=lambda name: name or "")
        by_statistic = {str(row["statistic"]): row for row in group if row.get("kind") == kind}
        totals.setdefault((str(tiers), str(method)), {})[str(index)] = by_statistic
    order = sorted(totals, key=lambda names: _place(names[0]))
    return {names: totals[names] for names in order}


def _place(tiers: str) -> int:
    return _ORDER.index(tiers) if tiers in _ORDER else len(_ORDER)


def _has(lists: TotalsByList, index: str, statistic: str) -> bool:
    return any(statistic in by_index.get(index, {}) for by_index in lists.values())


def value_of(of_one: OfOne | None, statistic: str) -> float | None:
    """Return the value of a statistic; None if it is unknown."""
    row = (of_one or {}).get(statistic)
    return None if row is None else row.get("value")


def _has_rates(lists: TotalsByList, indexes: Sequence[str]) -> bool:
    """Tell whether each corpus has a meaningful rate: its size is not unknown or small."""
    for index in indexes:
        of_index = [by_index[index] for by_index in lists.values() if index in by_index]
        rates = [value_of(totals, "union_per_gigabyte") for totals in of_index]
        if all(rate is None for rate in rates):
            return False
        unions = [value_of(totals, "union_of_occurrences") for totals in of_index]
        sizes = [
            union / rate * 1e9 for union, rate in zip(unions, rates, strict=True) if union and rate
        ]
        if sizes and min(sizes) < LEAST_BYTES:
            return False
    return True


def _table_of_bytes(lists: TotalsByList, indexes: Sequence[str]) -> SummaryTable:
    rate = "union_per_gigabyte"
    rates = [value_of(totals, rate) for by_index in lists.values() for totals in by_index.values()]
    is_rate = _has_rates(lists, indexes)
    unit = rate_unit(rates) if is_rate else ScaledUnit("", 1.0)
    title = "Occurrences of any phrase of a method"
    return _table(
        {names: by_index for names, by_index in lists.items() if {*by_index} & {*indexes}},
        indexes,
        rate if is_rate else "union_of_occurrences",
        unit,
        f"{title}, {unit.name}" if unit.name else title,
    )


def _table_of_tokens(lists: TotalsByList, indexes: Sequence[str]) -> SummaryTable:
    is_rate = any(_has(lists, index, _TOKEN_RATE) for index in indexes)
    title = "Sums of token occurrences"
    return _table(
        {names: by_index for names, by_index in lists.items() if {*by_index} & {*indexes}},
        indexes,
        _TOKEN_RATE if is_rate else _TOKEN_SUM,
        ScaledUnit("per million tokens" if is_rate else "", 1.0),
        f"{title}, per million tokens" if is_rate else title,
    )


def _table(
    lists: TotalsByList, indexes: Sequence[str], statistic: str, unit: ScaledUnit, title: str
) -> SummaryTable:
    names = short_names(indexes)
    columns: dict[str, list[str]] = {
        "tier": [tiers for tiers, _ in lists],
        "method": [method for _, method in lists],
    }
    is_one = len(indexes) == 1
    headings = {index: (unit.name or "sum") if is_one else names.of(index) for index in indexes}
    for index, heading in headings.items():
        columns[heading] = [
            _in(unit, by_index.get(index), statistic) for by_index in lists.values()
        ]
    layout = Layout(
        2,
        title=title,
        names=frozenset() if is_one else frozenset(headings.values()),
    )
    cells = [text for heading in headings.values() for text in columns[heading]]
    all_totals = [totals for by_index in lists.values() for totals in by_index.values()]
    return SummaryTable(columns, layout, names.note, _note_on(cells, all_totals))


def _note_on(cells: Sequence[str], all_totals: Sequence[OfOne]) -> str:
    """Return the meaning of the signs in some cells, which are of these totals."""
    notes = []
    if any(text.startswith("≈") for text in cells):
        notes.append(f"≈: {ESTIMATED}")
    if UNKNOWN in cells:
        has_sums_alone = any(
            value_of(totals, "sum_of_pattern_counts") is not None
            and "union_of_occurrences" in totals
            and value_of(totals, "union_of_occurrences") is None
            for totals in all_totals
        )
        reason = (
            "unknown, as patterns may share places; --all has sums"
            if has_sums_alone
            else "counts are missing"
        )
        notes.append(f"{UNKNOWN}: {reason}")
    return "; ".join(notes)


def _in(
    unit: ScaledUnit, of_one: OfOne | None, statistic: str, show: Callable[[Any], str] = short_count
) -> str:
    """Return a statistic in a unit, with a sign where it is an estimate."""
    value = value_of(of_one, statistic)
    if value is None:
        return UNKNOWN
    text = short_number(value * unit.factor) if unit.name else show(value)
    return f"≈{text}" if of_one and is_estimated(of_one[statistic]) else text


# One corpus


def _table_of_one(lists: TotalsByList, index: str) -> SummaryTable:
    totals_by_list = {
        names: by_index[index] for names, by_index in lists.items() if index in by_index
    }
    rates = [value_of(totals, "union_per_gigabyte") for totals in totals_by_list.values()]
    columns: dict[str, list[str]] = {
        "tier": [tiers for tiers, _ in totals_by_list],
        "method": [method for _, method in totals_by_list],
        "occurrences": [
            _in(ScaledUnit("", 1.0), totals, "union_of_occurrences", cell)
            for totals in totals_by_list.values()
        ],
    }
    note = _note_on(columns["occurrences"], [*totals_by_list.values()])
    if _has_rates(lists, [index]):
        unit = rate_unit(rates)
        columns[unit.name] = [
            _in(unit, totals, "union_per_gigabyte") for totals in totals_by_list.values()
        ]
    columns["largest phrase"] = [_largest(totals) for totals in totals_by_list.values()]
    return SummaryTable(columns, Layout(2, frozenset({"largest phrase"})), note=note)


def _largest(of_one: OfOne) -> str:
    """Return the largest phrase and its share of the occurrences."""
    row = of_one.get("largest_pattern_share")
    if row is None or row.get("value") is None:
        return UNKNOWN
    share = largest_share(of_one)
    return str(row.get("note")) if share is None else f"{row.get('note')} ({share:.0%})"


def ratios_of(rows: Sequence[Row], index: str) -> list[Row]:
    """Return the ratios of geometric means in a corpus with an informative interval.

    Both methods occur there; the narrowest intervals come first.
    """
    ratios = [row for row in rows if row.get("versus") and row.get("index") == index]
    wholes = []
    for group in group_rows(ratios, "tiers", "method", "versus").values():
        kind = min((row.get("kind") or "" for row in group), default="")
        by_statistic = {row["statistic"]: row for row in group if (row.get("kind") or "") == kind}
        if value_of(by_statistic, "ratio_of_sums") and _GEOMETRIC in by_statistic:
            wholes.append(by_statistic[_GEOMETRIC])
    useful = [row for row in wholes if _factor(row) <= WIDEST]
    return sorted(useful, key=_factor)[:_MOST_RATIOS]


def _factor(row: Row) -> float:
    """Return the factor between the limits of a ratio."""
    low, high = row.get("low"), row.get("high")
    return high / low if low and high else float("inf")


def _table_of_ratios(ratios: Sequence[Row]) -> SummaryTable:
    columns: CellColumns = {
        "ratio of geometric means": [
            f"{row['method']} : {row['versus']}, {row['tiers']}" for row in ratios
        ],
        "ratio and 95% interval": [
            with_interval(row["value"], row["low"], row["high"]) for row in ratios
        ],
    }
    return SummaryTable(columns, Layout(1))
