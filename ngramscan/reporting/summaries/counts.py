"""Rows of `count` → a table of phrases × corpora, or of the phrases of one corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.reporting.layout import UNKNOWN, Layout, cell
from ngramscan.reporting.sentences.phrases import Row, group_rows, known_rows, select_unit
from ngramscan.reporting.summaries.names import ShortNames, short_names
from ngramscan.reporting.summaries.numbers import (
    LEAST_BYTES,
    ScaledUnit,
    left_out_note,
    rate_unit,
    short_count,
    short_number,
    size_unit,
)
from ngramscan.reporting.summaries.table import SummaryTable

_NAMES = ("method", "tier", "pattern")
_LEAST_ROWS = 3
_TOKENS = "Token occurrences"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase, and its rows by the names of the corpora; case variants are added up."""

    method: str | None
    tier: str | None
    text: str
    rows: Mapping[str, Sequence[Row]]

    def sum_of(self, column: str, index: str) -> float | None:
        """Return the sum of a column in a corpus; None if it is unknown there."""
        rows = self.rows.get(index, ())
        known_cells = known_rows(rows, column)
        if not rows or len(known_cells) < len(rows):
            return None
        return float(sum(row[column] for row in known_cells))

    def is_estimated(self, index: str) -> bool:
        """Tell whether a count is an estimate."""
        return any(row.get("estimated") for row in self.rows.get(index, ()))

    def limits(self, column: str, index: str) -> tuple[float, float] | None:
        """Return the limits of an estimate; None if it has none, or is a sum of several."""
        rows = self.rows.get(index, ())
        if len(rows) != 1:
            return None
        low, high = rows[0].get(f"{column}_low"), rows[0].get(f"{column}_high")
        return None if low is None or high is None else (low, high)

    def total(self, column: str) -> float:
        """Return the sum of a column over all corpora, as far as it is known."""
        return sum(self.sum_of(column, index) or 0 for index in self.rows)


def summarize_counts(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return the phrases × corpora, most frequent first, with separate tables for tokens."""
    counted = known_rows(rows, "occurrences")
    of_bytes, of_tokens = select_unit(counted, "bytes"), select_unit(counted, "tokens")
    tables = _tables_of_bytes(of_bytes, most) if of_bytes else []
    if of_tokens and most:
        tables.append(_table_of_tokens(of_tokens, most))
    return tables


def _table_of_tokens(rows: Sequence[Row], most: int) -> SummaryTable:
    if has_all(rows, "per_million_tokens"):
        unit = ScaledUnit("per million tokens", 1.0)
        return _phrase_table(rows, "per_million_tokens", unit, most, f"{_TOKENS} {unit.name}")
    return _phrase_table(rows, "occurrences", ScaledUnit("", 1.0), most, _TOKENS)


def has_all(rows: Sequence[Row], column: str) -> bool:
    """Tell whether a column is known in all rows."""
    return all(row.get(column) is not None for row in rows)


def has_rates(rows: Sequence[Row]) -> bool:
    """Tell whether all rows have a meaningful rate per gigabyte."""
    is_large = all((row.get("bytes") or 0) >= LEAST_BYTES for row in rows)
    return is_large and has_all(rows, "per_gigabyte")


def phrases_of(rows: Sequence[Row]) -> list[Phrase]:
    """Return the phrases of some rows, in their order."""
    phrases = []
    for names, group in group_rows(rows, *_NAMES).items():
        by_index = {
            str(index): rows_of_index
            for (index,), rows_of_index in group_rows(group, "index").items()
        }
        method, tier, text = names
        phrases.append(Phrase(method, tier, str(text), by_index))
    return phrases


def _tables_of_bytes(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    indexes = [*group_rows(rows, "index")]
    if len(indexes) == 1:
        # A sentence says that none of many phrases occurs.
        has_rows = most and largest_first(phrases_of(rows), "occurrences", most)
        return [_table_of_one(rows, most)] if has_rows else []
    if len(group_rows(rows, *_NAMES)) == 1:
        return [_table_of_a_phrase(rows)]
    is_plain = not any(row.get("method") for row in rows)
    if is_plain:
        most = max(most, _LEAST_ROWS)
    elif not most:
        return []
    is_rate = has_rates(rows)
    column = "per_gigabyte" if is_rate else "occurrences"
    unit = rate_unit(row["per_gigabyte"] for row in rows) if is_rate else ScaledUnit("", 1.0)
    title = f"Occurrences {unit.name}".rstrip()
    tables = [_phrase_table(rows, column, unit, most, title)]
    if is_plain:
        for further_column in ("occurrences", "documents"):
            if further_column != column and known_rows(rows, further_column):
                tables.append(
                    _phrase_table(
                        rows, further_column, ScaledUnit("", 1.0), most, further_column.capitalize()
                    )
                )
    return tables


# Phrases × corpora


def _phrase_table(
    rows: Sequence[Row], column: str, unit: ScaledUnit, most: int, title: str
) -> SummaryTable:
    phrases, names = phrases_of(rows), short_names(row["index"] for row in rows)
    listed = largest_first(phrases, column, most)
    has_methods = any(phrase.method for phrase in phrases)
    columns: dict[str, list[str]] = {"phrase": [phrase.text for phrase in listed]}
    if has_methods:
        columns["method"] = [cell(phrase.method) for phrase in listed]
        columns["tier"] = [cell(phrase.tier) for phrase in listed]
    show: Callable[[Any], str] = short_number if unit.name else short_count
    if not unit.name and not any(phrase.method for phrase in phrases):
        show = cell
    is_one = len(names.short) == 1
    for index, short in names.short.items():
        heading = unit.name or "occurrences" if is_one else short
        columns[heading] = [_shown(phrase, column, index, unit, show) for phrase in listed]
    n_texts = 3 if has_methods else 1
    if sizes := _sizes(rows, names):
        label, cells = sizes
        columns = _with_first_row(columns, label, cells, n_texts)
    layout = Layout(
        n_texts,
        frozenset({"phrase"}),
        extra=("tier", "method"),
        title=title,
        names=frozenset() if is_one else frozenset(names.short.values()),
    )
    return SummaryTable(columns, layout, names.note, note_on(phrases, listed, column, columns))


def largest_first(phrases: Sequence[Phrase], column: str, most: int) -> list[Phrase]:
    """Return at most `most` phrases: in their order if all fit, else the largest first."""
    occurring = [phrase for phrase in phrases if phrase.total(column) > 0]
    if len(phrases) <= most and not any(phrase.method for phrase in phrases):
        return [*phrases]
    return sorted(occurring, key=lambda phrase: -phrase.total(column))[:most]


def _shown(
    phrase: Phrase, column: str, index: str, unit: ScaledUnit, show: Callable[[Any], str]
) -> str:
    value = phrase.sum_of(column, index)
    if value is None:
        return UNKNOWN
    value *= unit.factor
    text = show(int(value) if show is cell and value.is_integer() else value)
    return f"≈{text}" if phrase.is_estimated(index) else text


def _with_limits(phrase: Phrase, column: str, index: str) -> str:
    """Return a count, with its interval where it is an estimate that has one."""
    text = _shown(phrase, column, index, ScaledUnit("", 1.0), cell)
    limits = phrase.limits(column, index)
    if limits is None or not phrase.is_estimated(index):
        return text
    low, high = (cell(round(limit)) for limit in limits)
    return f"{text} [{low}, {high}]"


def _sizes(rows: Sequence[Row], names: ShortNames) -> tuple[str, list[str]] | None:
    """Return the sizes of the corpora and their unit; None if no size is known."""
    sizes = {str(row["index"]): row["bytes"] for row in known_rows(rows, "bytes")}
    if not sizes:
        return None
    unit = size_unit(sizes.values())
    cells = [
        short_number(sizes[name] * unit.factor) if name in sizes else UNKNOWN
        for name in names.short
    ]
    return f"({unit.name} of text)", cells


def _with_first_row(
    columns: Mapping[str, Sequence[str]], label: str, cells: Sequence[str], n_texts: int
) -> dict[str, list[str]]:
    other_texts = ["" for _ in range(n_texts - 1)]
    first = [label, *other_texts, *cells]
    return {
        name: [text, *others] for text, (name, others) in zip(first, columns.items(), strict=True)
    }


def note_on(
    phrases: Sequence[Phrase],
    listed: Sequence[Phrase],
    column: str,
    columns: Mapping[str, Sequence[str]],
) -> str:
    """Return a note: how many phrases a table leaves out, and the meaning of its signs."""
    left_out = [phrase for phrase in phrases if phrase not in listed]
    nowhere = sum(phrase.total(column) == 0 for phrase in left_out)
    notes = [left_out_note(len(left_out), nowhere, is_all=not listed)]
    cells = [text for texts in columns.values() for text in texts]
    if any(text.startswith("≈") for text in cells):
        notes.append("≈: estimated from a sample")
    if UNKNOWN in cells:
        notes.append(f"{UNKNOWN}: unknown")
    return "; ".join(filter(None, notes))


# Other tables


def _table_of_one(rows: Sequence[Row], most: int) -> SummaryTable:
    """Return the phrases of a single corpus."""
    phrases = phrases_of(rows)
    (index,) = {str(row["index"]) for row in rows}
    listed = largest_first(phrases, "occurrences", most)
    columns: dict[str, list[str]] = {"phrase": [phrase.text for phrase in listed]}
    if any(phrase.method for phrase in phrases):
        columns["method"] = [cell(phrase.method) for phrase in listed]
        columns["tier"] = [cell(phrase.tier) for phrase in listed]
    n_texts = len(columns)
    for name in ("occurrences", "documents"):
        columns[name] = [_with_limits(phrase, name, index) for phrase in listed]
    if has_rates(rows):
        unit = rate_unit(row["per_gigabyte"] for row in rows)
        columns[unit.name] = [
            _shown(phrase, "per_gigabyte", index, unit, short_number) for phrase in listed
        ]
    counts = {name: columns[name] for name in columns if name == "occurrences"}
    note = note_on(phrases, listed, "occurrences", counts)
    return SummaryTable(columns, Layout(n_texts, frozenset({"phrase"})), note=note)


def _table_of_a_phrase(rows: Sequence[Row]) -> SummaryTable:
    """Return the corpora in which a single phrase was counted, a row each."""
    (phrase,) = phrases_of(rows)
    names = short_names(phrase.rows)
    columns: dict[str, list[str]] = {"corpus": [*names.short.values()]}
    if sizes := _sizes(rows, names):
        label, columns_of_sizes = sizes
        columns[label.strip("()")] = columns_of_sizes
    for name in ("occurrences", "documents"):
        columns[name] = [_with_limits(phrase, name, index) for index in names.short]
    if has_rates(rows):
        rate = rate_unit(row["per_gigabyte"] for row in rows)
        columns[rate.name] = [
            _shown(phrase, "per_gigabyte", index, rate, short_number) for index in names.short
        ]
    cells = {name: texts for name, texts in columns.items() if {*texts} != {UNKNOWN}}
    note = note_on([phrase], [phrase], "", cells)
    return SummaryTable(columns, Layout(1, title=f"“{phrase.text}”"), names.note, note)
