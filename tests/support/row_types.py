"""The row type of each kind of results, and its columns."""

from importlib import import_module
from typing import Any, get_type_hints

from evalcore.row_types import ROW_TYPES as ROW_TYPES_OF_EVALCORE
from ngramscan.reporting.kinds import ROW_TYPES, all_kinds, kinds_of
from ngramscan.rows import RowKind

KIND_OF = {kind.title: kind for kind in all_kinds()}
"""Kinds of results, by their titles."""


def type_named(name: str) -> type:
    """Return a row type by its dotted name."""
    module, _, type_name = name.rpartition(".")
    row_type: type = getattr(import_module(module), type_name)
    return row_type


TYPES = {
    kind.title: type_named(name)
    for name in (*ROW_TYPES, *ROW_TYPES_OF_EVALCORE)
    for kind in kinds_of([name])
}
"""The row type of each kind, by its title."""


def hints_of(title: str) -> dict[str, Any]:
    """Return the columns of a kind's rows, with their types."""
    return get_type_hints(TYPES[title])


def numbers_of(kind: RowKind) -> set[str]:
    """Return the columns of a kind's rows that hold numbers or truth values."""
    return {column.name for column in kind.columns if column.is_number}
