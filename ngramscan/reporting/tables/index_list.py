"""The tables of `ngramscan index list`: the catalog, and the list that a service has now."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.indexes.catalog import (
    PUBLIC_PREFIX,
    PUBLISHED,
    PUBLISHED_UNIONS,
    IndexRow,
    byte_indexes,
    token_indexes,
)
from ngramscan.indexes.listing import ListedIndexRow
from ngramscan.reporting.layout import UNKNOWN, Layout, cell, print_columns, print_rows

_GIB, _TIB = 1 << 30, 1 << 40
_NAMING_COLUMNS = 6
"""The columns of published indexes that are texts."""


def print_catalog(console: Console) -> None:
    """Print the indexes that services have, then those whose files are published."""
    for rows in (byte_indexes(), token_indexes()):
        print_rows(console, rows, IndexRow)
    print_published(console, PUBLISHED)


def print_published(console: Console, rows: Sequence[IndexRow]) -> None:
    """Print the indexes whose files are published, with who pays for reading them."""
    columns = {
        "name": [row.service_name for row in rows],
        "alias": [row.short_alias for row in rows],
        "corpus": [row.corpus for row in rows],
        "kind": [row.kind for row in rows],
        "tokenizer": [row.tokenizer or UNKNOWN for row in rows],
        "access": [row.access or UNKNOWN for row in rows],
        "files": [_binary_size(row.index_bytes or 0) for row in rows],
        "documents": [cell(row.documents) for row in rows],
        "tokens": [cell(row.tokens) for row in rows],
    }
    layout = Layout(
        texts=_NAMING_COLUMNS,
        wrapping=frozenset({"corpus", "kind"}),
        optional=("kind", "documents", "alias", "corpus", "tokens"),
        title=f"published files of indexes over tokens, as --index {PUBLIC_PREFIX}NAME",
    )
    unions = [PUBLIC_PREFIX + union for union in PUBLISHED_UNIONS]
    note = "three of them together are all training data of a model: " + ", ".join(unions)
    print_columns(console, columns, layout, note)


def _binary_size(size_bytes: int) -> str:
    """Return bytes as their authors give them: 33 TiB, 2.3 GiB."""
    if size_bytes >= _TIB:
        return f"{size_bytes / _TIB:.3g} TiB"
    return f"{size_bytes / _GIB:.3g} GiB"


def print_listed(console: Console, rows: Sequence[ListedIndexRow]) -> None:
    """Print what a service lists now, and what only the catalog has."""
    columns: dict[str, list[str]] = {
        "service": [row.service for row in rows],
        "name": [row.name for row in rows],
        "status": [row.status for row in rows],
        "description": [row.description or UNKNOWN for row in rows],
        "corpus": [row.corpus or UNKNOWN for row in rows],
        "spec": [row.spec for row in rows],
    }
    layout = Layout(
        texts=len(columns),
        wrapping=frozenset({"description", "corpus"}),
        optional=("spec", "corpus", "description"),
    )
    print_columns(console, columns, layout)
