"""Rows of `count`, `docnorm` and their totals as earlier versions wrote them.

Version 0.3 had no column `unit`: rows of token-level indexes had columns and statistics of their
own. A file of bytes alone is read as it is; one with tokens is refused with the command that
converts it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ngramscan.errors import InputError
from ngramscan.indexes.kinds import OF_TOKENS
from ngramscan.prevalence.totals import ESTIMATED
from ngramscan.reading.row_files import Table, name_of
from ngramscan.reading.streams import unpacked_path
from ngramscan.rows import RowKind

COLUMNS = {
    "token_occurrences": "occurrences",
    "token_occurrences_after_space": "occurrences_after_space",
    "token_documents": "documents",
    "token_documents_low": "documents_low",
    "token_documents_high": "documents_high",
    "token_occurrences_per_document": "occurrences_per_document",
    "token_occurrences_per_document_low": "occurrences_per_document_low",
    "token_occurrences_per_document_high": "occurrences_per_document_high",
    "token_documents_lower_estimate": "documents_lower_estimate",
    "token_documents_upper_estimate": "documents_upper_estimate",
    "token_documents_per_million": "documents_per_million",
    "token_documents_per_million_low": "documents_per_million_low",
    "token_documents_per_million_high": "documents_per_million_high",
}
"""The earlier columns of token-level indexes, and those that have their values now."""
STATISTICS = {
    "token_patterns": "patterns",
    "token_patterns_without_occurrence": "patterns_without_occurrence",
    "token_smallest_pattern_count": "smallest_pattern_count",
    "token_lower_quartile_pattern_count": "lower_quartile_pattern_count",
    "token_median_pattern_count": "median_pattern_count",
    "token_upper_quartile_pattern_count": "upper_quartile_pattern_count",
    "token_largest_pattern_count": "largest_pattern_count",
    "token_sum_of_pattern_counts": "sum_of_pattern_counts",
    "token_largest_pattern_share": "largest_pattern_share",
    "token_sum_per_million_tokens": "sum_per_million_tokens",
    "token_ratio_of_sums": "ratio_of_sums",
    "token_ratio_without_largest": "ratio_without_largest",
    "token_ratio_without_largest_of_versus": "ratio_without_largest_of_versus",
    "token_ratio_of_geometric_means": "ratio_of_geometric_means",
    "token_probability_of_superiority": "probability_of_superiority",
    "token_documents": "documents",
    "token_documents_per_million": "documents_per_million",
    "token_ratio_of_documents": "ratio_of_documents",
}
"""The same of statistics of totals."""
_READ = {
    ".csv": "pd.read_csv(old, dtype=str)",
    ".jsonl": "pd.read_json(old, lines=True, dtype=False)",
    ".json": "pd.read_json(old, dtype=False)",
    ".parquet": "pd.read_parquet(old)",
}
_WRITE = {
    ".csv": "to_csv(new, index=False)",
    ".jsonl": "to_json(new, orient='records', lines=True)",
    ".json": "to_json(new, orient='records')",
    ".parquet": "to_parquet(new)",
}
_UNITS = "map({True: 'tokens', False: 'bytes'})"
_PRINTED = 3
"""Names of columns that a message prints; the command renames all."""


def refuse_older_tokens(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise an InputError for rows of token-level indexes as earlier versions wrote them."""
    columns = dict.fromkeys(column for row in rows for column in row)
    if renamed := [column for column in columns if column in COLUMNS]:
        raise InputError(
            name_of(table),
            f"rows over tokens of an earlier version; {_in_words(renamed, COLUMNS)}, and add a"
            f" column unit: tokens or bytes; this does both: {convert_columns(table)}",
        )
    statistics = dict.fromkeys(str(row.get("statistic")) for row in rows)
    if renamed := [statistic for statistic in statistics if statistic in STATISTICS]:
        raise InputError(
            name_of(table),
            f"totals over tokens of an earlier version; {_in_words(renamed, STATISTICS)}, and add a"
            f" column unit: tokens or bytes; this does both: {convert_statistics(table)}",
        )


def _in_words(renamed: Sequence[str], names: Mapping[str, str]) -> str:
    pairs = [f"{name} to {names[name]}" for name in renamed[:_PRINTED]]
    others = ["and so on"] if len(renamed) > _PRINTED else []
    return f"rename {', '.join([*pairs, *others])}"


def convert_columns(table: Table) -> str:
    """Return the command that converts the rows of `count` or `docnorm` in a file."""
    return _python(
        table,
        "tokens = t.filter(regex='^token_')",
        f"t.insert(1, 'unit', tokens.notna().any(axis=1).{_UNITS})",
        "tokens.columns = tokens.columns.str.removeprefix('token_')",
        "t = t.loc[:, ~t.columns.str.startswith('token_')].combine_first(tokens)",
    )


def convert_statistics(table: Table) -> str:
    """Return the command that converts the totals in a file."""
    return _python(
        table,
        f"t.insert(1, 'unit', t.statistic.str.startswith('token_').{_UNITS})",
        "t.statistic = t.statistic.str.removeprefix('token_')",
    )


def _python(table: Table, *steps: str) -> str:
    """Return a command that reads a file, takes some steps with its data frame, and writes it."""
    path = Path(str(table)) if isinstance(table, str | Path) else Path()
    # pandas unpacks a file by its suffix; the new one is not packed.
    old = path if unpacked_path(path).suffix in _READ else Path("old.csv")
    stem, suffix = unpacked_path(old).stem, unpacked_path(old).suffix
    lines = ["import sys, pandas as pd", "old, new = sys.argv[1:]", f"t = {_READ[suffix]}", *steps]
    program = "; ".join([*lines, f"t.{_WRITE[suffix]}"])
    new = old.with_name(f"{stem}-with-unit{suffix}")
    return f'python -c "{program}" {shlex.quote(str(old))} {shlex.quote(str(new))}'


def refuse_unknown_unit(place: str, row: Mapping[str, Any]) -> None:
    """Raise an InputError for a row without a unit that may be one over tokens."""
    may_be_of_tokens = any(kind.names(str(row.get("index"))) for kind in OF_TOKENS)
    if not row.get("unit") and may_be_of_tokens:
        problem = f"no unit, and {row['index']} may be over tokens; add a column unit"
        raise InputError(place, f"{problem}: tokens or bytes")


def complete_older(
    kind: RowKind, rows: Iterable[tuple[str, Mapping[str, Any]]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield rows with the values of columns that earlier versions didn't write.

    Each row follows its place. An InputError says where a unit is missing that can't be told.
    """
    for place, row in rows:
        absent: dict[str, Any] = {
            column: value
            for column, value in kind.if_absent.items()
            if row.get(column) is None or row[column] == ""
        }
        if "unit" in absent:
            refuse_unknown_unit(place, row)
        if kind.name == "totals" and "estimated" not in row:
            absent["estimated"] = ESTIMATED in str(row.get("note"))
        yield place, {**row, **absent}
