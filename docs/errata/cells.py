"""Cells of published tables: figures with the decimals that are printed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from ngramscan.errors import InputError
from ngramscan.reading.row_files import read_table

Decimals = Annotated[int, msgspec.Meta(ge=0, le=9)]
NUMBER = re.compile(r"(?P<bound><?)\s*(?P<figure>[+-]?\d*(?:\.(?P<decimals>\d+))?)(?<=\d)")
"""A number as tables print it, which may have no digit before the point."""
BELOW_A_BOUND = Fraction(1, 10**12)
"""How far below its bound a figure that is printed as `<0.001` counts in comparisons."""


class Printed(NamedTuple):
    """A number as it is printed."""

    figure: Fraction
    unit: Fraction
    """1 in the last decimal that means something."""
    is_bound: bool
    """Whether only an upper bound is printed, as in `<0.001`."""


def parse_printed(text: str, decimals: int | None = None) -> Printed | None:
    """Read a number that has this many meaningful decimals; None if the text is not one."""
    match = NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    if decimals is None:
        decimals = len(match["decimals"] or "")
    return Printed(Fraction(match["figure"]), Fraction(1, 10**decimals), bool(match["bound"]))


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One cell of a table; there is only one object of each."""

    table: str
    column: str
    text: str
    name: str
    """The text, or the name that formulas use for it."""
    value: Fraction | str
    """The number that is printed, or a text, which a bound is too."""
    half: Fraction
    """By how much the number may have been rounded; 0 for a bound, and for what was counted."""
    names: Mapping[str, str]
    """The key columns of its row, with their names."""
    row: Mapping[str, Cell]

    def __str__(self) -> str:
        return f"{self.table}[{', '.join(self.names.values())}].{self.column} = {self.text}"

    @property
    def size(self) -> Fraction:
        """The number for comparisons, that of a bound a little less: `<0.001` is below 0.001."""
        printed = parse_printed(self.text)
        if printed is None:
            raise ValueError(f"{self.text!r} can't be compared by size")
        return printed.figure - BELOW_A_BOUND if printed.is_bound else printed.figure

    def in_column(self, column: str) -> Cell:
        """Return the cell in another column of its row."""
        if column not in self.row:
            raise ValueError(f"{self.table} has no column {column!r}; it has {', '.join(self.row)}")
        return self.row[column]


Tables = Mapping[str, Sequence[Mapping[str, Cell]]]
"""Rows of cells by the names of tables."""


class TableFacts(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What tables don't say themselves: the part of a claims file about them."""

    keys: list[str] = []
    """Columns that identify a row."""
    counts: list[str] = []
    """Columns, as `table.column`, whose figures were counted and so are exact."""
    decimals: dict[str, Decimals] = {}
    """Meaningful decimals of columns, as `table.column`, that print more."""
    aliases: dict[str, list[str]] = {}
    """For each name that formulas use, its other names in the tables."""

    def __post_init__(self) -> None:
        aliases = [alias for names in self.aliases.values() for alias in names]
        for alias in aliases:
            if aliases.count(alias) > 1:
                raise ValueError(f"{alias!r} is an alias twice")

    def names_of_aliases(self) -> dict[str, str]:
        """Return the name that formulas use for each alias."""
        return {alias: name for name, aliases in self.aliases.items() for alias in aliases}


def read_tables(folder: Path, facts: TableFacts) -> Tables:
    """Return the tables of a folder, by the names of their files without `.csv`."""
    names = facts.names_of_aliases()
    tables = {}
    for file in sorted(folder.glob("*.csv")):
        rows = [texts for _, texts in read_table(file)]
        tables[file.stem] = [_cells_of_row(file.stem, texts, names, facts) for texts in rows]
    if not tables:
        raise InputError(str(folder), "it has no .csv files")
    for key in facts.keys:
        if not any(key in rows[0] for rows in tables.values()):
            raise ValueError(f"no table has a column {key!r}")
    return tables


def _cells_of_row(
    table: str, texts: Mapping[str, str], names_of_aliases: Mapping[str, str], facts: TableFacts
) -> Mapping[str, Cell]:
    names = {
        column: names_of_aliases.get(text, text)
        for column, text in texts.items()
        if column in facts.keys
    }
    row: dict[str, Cell] = {}
    for column, text in texts.items():
        value, half = _value_and_half(text, places_of(table, column), facts)
        row[column] = Cell(
            table=table,
            column=column,
            text=text,
            name=names_of_aliases.get(text, text),
            value=value,
            half=half,
            names=names,
            row=row,
        )
    return row


def places_of(table: str, column: str) -> tuple[str, str]:
    """Return how formulas may name a column: the table's name may end before an underscore."""
    return f"{table}.{column}", f"{table.partition('_')[0]}.{column}"


def _value_and_half(
    text: str, places: Sequence[str], facts: TableFacts
) -> tuple[Fraction | str, Fraction]:
    """Return the number that a text is, or the text, and by how much it may have been rounded."""
    decimals = next((facts.decimals[place] for place in places if place in facts.decimals), None)
    printed = parse_printed(text, decimals)
    if printed is None or printed.is_bound:
        return text, Fraction(0)
    if any(place in facts.counts for place in places):
        return printed.figure, Fraction(0)
    return printed.figure, printed.unit / 2
