"""Rows of `totals` → a table of methods × tiers × corpora, and of the ratios in one corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ngramscan.prevalence.several_corpora import is_one_corpus
from ngramscan.reporting.layout import UNKNOWN, Columns, Layout, cell, with_interval
from ngramscan.reporting.sentences.names import named
from ngramscan.reporting.sentences.phrases import Row, group_rows
from ngramscan.reporting.sentences.totals import largest_share
from ngramscan.reporting.summaries.names import short_names
from ngramscan.reporting.summaries.numbers import (
    LEAST_BYTES,
    Unit,
    rate_unit,
    short_count,
    short_number,
)
from ngramscan.reporting.summaries.table import SummaryTable

_ORDER = ("T1", "T2", "T3", "T1+T2")
WIDEST = 100
"""An interval of a ratio whose limits differ by a larger factor says nothing."""
_MOST_RATIOS = 2
_GEOMETRIC = "ratio_of_geometric_means"
_TOKEN_SUM, _TOKEN_RATE = "token_sum_of_pattern_counts", "token_sum_per_million_tokens"
OfOne = dict[str, Row]
"""The totals of one method and its tiers in one corpus, by their statistics."""
_Lists = dict[tuple[str, str], dict[str, OfOne]]


def summarize_totals(rows: Sequence[Row], _most: int) -> list[SummaryTable]:
    """Return the methods × tiers × corpora; of a single corpus, ratios of two methods, too."""
    lists = lists_of(rows)
    indexes = [*dict.fromkeys(index for by_index in lists.values() for index in by_index)]
    of_tokens = [index for index in indexes if _has(lists, index, _TOKEN_SUM)]
    of_bytes = [index for index in indexes if index not in of_tokens]
    # A corpus without any count has no column, unless there is no other corpus.
    known = [index for index in of_bytes if _has_value(lists, index)]
    missing = [named(index) for index in of_bytes if known and index not in known]
    of_bytes = known or of_bytes
    tables = []
    if len(of_bytes) == 1:
        tables.append(_table_of_one(lists, of_bytes[0]))
        ratios = ratios_of(rows, of_bytes[0])
        tables += [_table_of_ratios(ratios)] if ratios else []
    elif of_bytes:
        tables.append(_table_of_bytes(lists, of_bytes))
    if missing:
        note = f"counts are missing: {', '.join(missing)}"
        tables[0] = replace(tables[0], note="; ".join(filter(None, [tables[0].note, note])))
    if of_tokens:
        tables.append(_table_of_tokens(lists, of_tokens))
    return tables


def lists_of(rows: Sequence[Row]) -> _Lists:
    """Return the totals of whole lists of phrases, by tiers and method, then by corpus.

    Totals of one kind of phrases are left out where there are others of all kinds together.
    """
    known = [row for row in rows if row.get("versus") is None and is_one_corpus(row.get("index"))]
    found: _Lists = {}
    for (tiers, method, index), group in group_rows(known, "tiers", "method", "index").items():
        kinds = {row.get("kind") for row in group}
        kind = min(kinds, key=lambda name: name or "")
        whole = {str(row["statistic"]): row for row in group if row.get("kind") == kind}
        found.setdefault((str(tiers), str(method)), {})[str(index)] = whole
    order = sorted(found, key=lambda names: _place(names[0]))
    return {names: found[names] for names in order}


def _place(tiers: str) -> int:
    return _ORDER.index(tiers) if tiers in _ORDER else len(_ORDER)


def _has(lists: _Lists, index: str, statistic: str) -> bool:
    return any(statistic in by_index.get(index, {}) for by_index in lists.values())


def _has_value(lists: _Lists, index: str) -> bool:
    """Tell whether a corpus has a known total."""
    totals = [by_index.get(index) for by_index in lists.values()]
    return any(value_of(one, "union_of_occurrences") is not None for one in totals)


def value_of(of_one: OfOne | None, statistic: str) -> float | None:
    """Return the value of a statistic; None: it is unknown."""
    row = (of_one or {}).get(statistic)
    return None if row is None else row.get("value")


def _has_rates(lists: _Lists, indexes: Sequence[str]) -> bool:
    """Tell whether each corpus has a rate that says something: it is not unknown or small."""
    for index in indexes:
        of_index = [by_index[index] for by_index in lists.values() if index in by_index]
        rates = [value_of(one, "union_per_gigabyte") for one in of_index]
        if all(rate is None for rate in rates):
            return False
        unions = [value_of(one, "union_of_occurrences") for one in of_index]
        sizes = [
            union / rate * 1e9 for union, rate in zip(unions, rates, strict=True) if union and rate
        ]
        if sizes and min(sizes) < LEAST_BYTES:
            return False
    return True


def _table_of_bytes(lists: _Lists, indexes: Sequence[str]) -> SummaryTable:
    rate = "union_per_gigabyte"
    rates = [value_of(one, rate) for by_index in lists.values() for one in by_index.values()]
    is_rate = _has_rates(lists, indexes)
    unit = rate_unit(rates) if is_rate else Unit("", 1.0)
    title = "Occurrences of any phrase of a method"
    return _table(
        {names: one for names, one in lists.items() if {*one} & {*indexes}},
        indexes,
        rate if is_rate else "union_of_occurrences",
        unit,
        f"{title}, {unit.name}" if unit.name else title,
    )


def _table_of_tokens(lists: _Lists, indexes: Sequence[str]) -> SummaryTable:
    is_rate = any(_has(lists, index, _TOKEN_RATE) for index in indexes)
    title = "Sums of token occurrences"
    return _table(
        {names: one for names, one in lists.items() if {*one} & {*indexes}},
        indexes,
        _TOKEN_RATE if is_rate else _TOKEN_SUM,
        Unit("per million tokens" if is_rate else "", 1.0),
        f"{title}, per million tokens" if is_rate else title,
    )


def _table(
    lists: _Lists, indexes: Sequence[str], statistic: str, unit: Unit, title: str
) -> SummaryTable:
    names = short_names(indexes)
    columns: dict[str, list[str]] = {
        "tier": [tiers for tiers, _ in lists],
        "method": [method for _, method in lists],
    }
    is_one = len(indexes) == 1
    headings = {index: (unit.name or "sum") if is_one else names.of(index) for index in indexes}
    for index, heading in headings.items():
        values = [value_of(by_index.get(index), statistic) for by_index in lists.values()]
        columns[heading] = [_in(unit, value) for value in values]
    layout = Layout(
        2,
        title=title,
        names=frozenset() if is_one else frozenset(headings.values()),
    )
    is_missing = any(UNKNOWN in columns[heading] for heading in headings.values())
    note = f"{UNKNOWN}: counts are missing" if is_missing else ""
    return SummaryTable(columns, layout, names.note, note)


def _in(unit: Unit, value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return short_number(value * unit.factor) if unit.name else short_count(value)


# One corpus


def _table_of_one(lists: _Lists, index: str) -> SummaryTable:
    known = {names: by_index[index] for names, by_index in lists.items() if index in by_index}
    rates = [value_of(one, "union_per_gigabyte") for one in known.values()]
    columns: dict[str, list[str]] = {
        "tier": [tiers for tiers, _ in known],
        "method": [method for _, method in known],
        "occurrences": [cell(value_of(one, "union_of_occurrences")) for one in known.values()],
    }
    if _has_rates(lists, [index]):
        unit = rate_unit(rates)
        columns[unit.name] = [_in(unit, value) for value in rates]
    columns["largest phrase"] = [_largest(one) for one in known.values()]
    return SummaryTable(columns, Layout(2, frozenset({"largest phrase"})))


def _largest(of_one: OfOne) -> str:
    """Return the largest phrase and its share of the occurrences."""
    row = of_one.get("largest_pattern_share")
    if row is None or row.get("value") is None:
        return UNKNOWN
    share = largest_share(of_one)
    return str(row.get("note")) if share is None else f"{row.get('note')} ({share:.0%})"


def ratios_of(rows: Sequence[Row], index: str) -> list[Row]:
    """Return the ratios of geometric means in a corpus whose interval says something.

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
    columns: Columns = {
        "ratio of geometric means": [
            f"{row['method']} : {row['versus']}, {row['tiers']}" for row in ratios
        ],
        "ratio and 95% interval": [
            with_interval(row["value"], row["low"], row["high"]) for row in ratios
        ],
    }
    return SummaryTable(columns, Layout(1))
