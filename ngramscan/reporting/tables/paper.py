"""The tables of a paper: patterns × corpora, per gigabyte or per million documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.docnorm import DocnormRow
from ngramscan.reporting.latex import PaperTable, amount
from ngramscan.reporting.summaries.names import alias_of
from ngramscan.reporting.summaries.numbers import LEAST_BYTES

_Show = Callable[[Any], str]
"""Returns the cell of a row, in LaTeX."""


@dataclass(frozen=True, slots=True)
class _PaperColumns:
    """The columns of a table, of one index or of several."""

    text: str
    """The column of rows that has what was counted."""
    alone: Mapping[str, _Show]
    """The columns of a single index, by their headings."""
    has_rate: Callable[[Any], bool]
    rate: tuple[str, _Show]
    """Heading and cells of indexes, one per column, that have rates."""
    number: tuple[str, _Show]
    """The same of other indexes."""
    comments: Sequence[str] = ()


def count_tables(rows: Sequence[CountRow], sizes: Mapping[str, str]) -> list[PaperTable]:
    """Return one table of the rows over bytes, and one of those over tokens.

    `sizes` has the size of each index in words.
    """
    of_bytes = [row for row in rows if row.unit == "bytes"]
    of_tokens = [row for row in rows if row.unit == "tokens"]
    tables = [_table(of_bytes, _OCCURRENCES, sizes)] if of_bytes else []
    return [*tables, _table(of_tokens, _NGRAMS, sizes)] if of_tokens else tables


def docnorm_tables(rows: Sequence[DocnormRow], sizes: Mapping[str, str]) -> list[PaperTable]:
    """Return one table of the rows over bytes, and one of those over tokens.

    `sizes` has the size of each index in words.
    """
    of_bytes = [row for row in rows if row.unit == "bytes"]
    of_tokens = [row for row in rows if row.unit == "tokens"]
    return [
        _table(in_unit, _documents(in_unit), sizes) for in_unit in (of_bytes, of_tokens) if in_unit
    ]


def _table(
    rows: Sequence[Any], paper_columns: _PaperColumns, sizes: Mapping[str, str]
) -> PaperTable:
    indexes = list(dict.fromkeys(row.index for row in rows))
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row.method or "", row.tier or "", getattr(row, paper_columns.text))
        cells.setdefault(key, {})[row.index] = row
    # Phrases of no pattern set have neither a method nor a tier.
    names = ("method", "tier", "pattern") if any(row.method for row in rows) else ("pattern",)
    rated = [row.index for row in rows if paper_columns.has_rate(row)]
    groups: dict[str, list[str]] = {}
    number_columns: list[tuple[str, _Show]] = []
    if len(indexes) == 1:
        show_by_heading = {
            heading: show
            for heading, show in paper_columns.alone.items()
            if any(show(row) != amount(None) for row in rows)
        }
        groups = {"": [*show_by_heading]}
        number_columns = [(indexes[0], show) for show in show_by_heading.values()]
    else:
        of_groups = {
            paper_columns.rate: [index for index in indexes if index in rated],
            paper_columns.number: [index for index in indexes if index not in rated],
        }
        for (heading, show), members in of_groups.items():
            if members:
                groups[heading] = [alias_of(index) for index in members]
                number_columns += [(index, show) for index in members]
    lines = [
        (
            key[-len(names) :],
            [
                show(row_by_index[index]) if index in row_by_index else "--"
                for index, show in number_columns
            ],
        )
        for key, row_by_index in cells.items()
    ]
    size_comments = [f"{index}: {sizes[index]}" for index in indexes if index in sizes]
    return PaperTable([*paper_columns.comments, *size_comments], names, groups, lines)


# Occurrences


def _has_rate(row: CountRow) -> bool:
    return row.per_gigabyte is not None and (row.bytes or 0) >= LEAST_BYTES


def _occurrences(row: CountRow) -> str:
    return _estimated(row, row.occurrences)


def _per_gigabyte(row: CountRow) -> str:
    return _estimated(row, row.per_gigabyte if _has_rate(row) else None)


def _with_pattern(row: CountRow) -> str:
    return _estimated(row, row.documents)


def _estimated(row: CountRow, value: float | None) -> str:
    """Return a number that is exact, or one that is marked as an estimate."""
    return f"$\\approx${amount(value)}" if row.estimated and value is not None else amount(value)


def _ngrams(row: CountRow) -> str:
    return amount(row.occurrences)


def _per_million_tokens(row: CountRow) -> str:
    return amount(row.per_million_tokens)


_OCCURRENCES = _PaperColumns(
    text="query",
    alone={"occurrences": _occurrences, "per GB": _per_gigabyte, "documents": _with_pattern},
    has_rate=_has_rate,
    rate=("occurrences per gigabyte", _per_gigabyte),
    number=("occurrences", _occurrences),
    comments=("a gigabyte is 10^9 bytes of text",),
)
_NGRAMS = _PaperColumns(
    text="query",
    alone={"n-grams": _ngrams, "per million tokens": _per_million_tokens},
    has_rate=lambda row: row.per_million_tokens is not None,
    rate=("n-grams of tokens per million tokens", _per_million_tokens),
    number=("n-grams of tokens", _ngrams),
)


# Documents


def _documents(rows: Sequence[DocnormRow]) -> _PaperColumns:
    """Return the columns of tables of documents."""

    def show(column: str) -> _Show:
        return lambda row: _interval(row, column)

    per_million, documents = show("documents_per_million"), show("documents")
    levels = sorted({row.level for row in rows})
    return _PaperColumns(
        text="pattern",
        alone={
            "occurrences": lambda row: amount(row.occurrences),
            "documents": documents,
            "per million documents": per_million,
            "per document": show("occurrences_per_document"),
        },
        has_rate=lambda row: per_million(row) != amount(None),
        rate=("documents per million documents", per_million),
        number=("documents", documents),
        comments=[f"brackets enclose {level:.0%} confidence intervals" for level in levels],
    )


def _interval(row: Any, name: str) -> str:
    """Return a number with its limits; an exact one is alone."""
    value, low, high = attrgetter(name, f"{name}_low", f"{name}_high")(row)
    if value == low == high or (low is None and high is None):
        return amount(value)
    upper = "$\\infty$" if high is None else amount(high)
    limits = f"[{amount(low)}, {upper}]"
    # Two estimates of one number have only limits in common.
    return limits if value is None else f"{amount(value)} {limits}"
