"""Published tables as cells: what is printed, and which values may have been rounded to it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources.abc import Traversable
from pathlib import Path

from ngramscan.errors import InputError

_NUMBER = re.compile(r"(?P<below><)?\s*(?P<digits>[+-]?\d*(?:\.(?P<decimals>\d+))?)")


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it is printed."""

    value: Fraction
    unit: Fraction
    """One of the last decimal."""
    below: bool = False
    """It is printed as a bound, as in `<0.001`."""


def parse_printed(text: str, decimals: int | None = None) -> Printed | None:
    """Read a number as it is printed.

    Parameters
    ----------
    text : str
        Digits, perhaps with a sign, a decimal point, or `<` before them.
    decimals : int or None
        How many of its decimals mean something; None: all.

    Returns
    -------
    Printed or None
        None where the text is no such number.
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None or not re.search(r"\d", found["digits"]):
        return None
    printed_decimals = len(found["decimals"] or "")
    unit = Fraction(1, 10 ** (printed_decimals if decimals is None else decimals))
    return Printed(Fraction(found["digits"]), unit, bool(found["below"]))


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One cell of a table; there is only one object of each."""

    table: str
    row: int
    column: str
    text: str
    names: tuple[tuple[str, str], ...]
    """What its row is about: the columns that name rows, with the names there."""
    printed: Printed | None
    """The number in it; None where there is none."""
    exact: bool
    """It was counted, so that nothing was rounded."""

    @property
    def address(self) -> str:
        """Where it is, in the words of a selection."""
        names = ", ".join(name for _, name in self.names)
        return f"{self.table}[{names}].{self.column}"


@dataclass(frozen=True, slots=True)
class Table:
    """One table; every row has every column."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the tables of a folder are to be read."""

    keys: frozenset[str] = frozenset()
    """Columns that say what a row is about."""
    counts: frozenset[str] = frozenset()
    """`table.column`s whose numbers were counted, not rounded."""
    decimals: Mapping[str, int] = field(default_factory=dict)
    """`table.column`s whose numbers have fewer decimals than are printed, zeros being added."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of the same thing → the name that formulas use."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a folder."""

    tables: Mapping[str, Table]
    reading: Reading
    _cells: dict[tuple[str, int, str], Cell] = field(default_factory=dict)

    def find(self, name: str) -> Table | None:
        """Return a table by its name, or by the part of its name before an underscore."""
        if name in self.tables:
            return self.tables[name]
        found = [table for table in self.tables.values() if table.name.startswith(f"{name}_")]
        return found[0] if len(found) == 1 else None

    def name_in(self, table: Table, row: int, column: str) -> str:
        """Return the text of a cell, by the name that formulas use for it."""
        text = table.rows[row][column]
        return self.reading.aliases.get(text, text)

    def cell(self, table: Table, row: int, column: str) -> Cell:
        """Return a cell of a table.

        Parameters
        ----------
        table : Table
            One of these.
        row : int
            Its number, from 0.
        column : str
            One of its columns.

        Returns
        -------
        Cell
            With the names of its row; the same object each time.
        """
        place = (table.name, row, column)
        if place not in self._cells:
            self._cells[place] = self._read_cell(table, row, column)
        return self._cells[place]

    def _read_cell(self, table: Table, row: int, column: str) -> Cell:
        short = table.name.split("_", maxsplit=1)[0]
        full_names = (f"{table.name}.{column}", f"{short}.{column}")
        decimals = [
            self.reading.decimals[name] for name in full_names if name in self.reading.decimals
        ]
        text = table.rows[row][column]
        printed = parse_printed(text, decimals[0] if decimals else None)
        names = tuple(
            (key, self.name_in(table, row, key))
            for key in table.columns
            if key in self.reading.keys
        )
        exact = not self.reading.counts.isdisjoint(full_names)
        return Cell(table.name, row, column, text, names, printed, exact)


def read_tables(folder: Path | Traversable, reading: Reading) -> Tables:
    """Read all CSV files of a folder.

    Parameters
    ----------
    folder : Path or Traversable
        Each `NAME.csv` in it is a table with a header.
    reading : Reading
        How to read them.

    Returns
    -------
    Tables
        By name.

    Raises
    ------
    InputError
        There is no such folder or no table in it, a file is no table, or `reading` names a table
        or column that is not there.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "there is no such folder; expected one with CSV files")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".csv")), key=lambda f: f.name)
    if not files:
        raise InputError(str(folder), "no CSV file in it")
    read = (_read_table(file) for file in files)
    tables = Tables({table.name: table for table in read}, reading)
    _check_reading(tables)
    return tables


def _read_table(file: Path | Traversable) -> Table:
    where = file.name
    try:
        text = file.read_text(encoding="utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except OSError as error:
        raise InputError(where, (error.strerror or str(error)).lower()) from error
    except UnicodeDecodeError as error:
        raise InputError(where, f"not UTF-8 at byte {error.start}") from error
    except csv.Error as error:
        raise InputError(where, f"not valid CSV: {error}") from error
    if not lines:
        raise InputError(where, "the file is empty; expected a header")
    header = tuple(lines[0])
    if len(set(header)) < len(header):
        raise InputError(where, "two columns have the same name")
    return Table(file.name.removesuffix(".csv"), header, list(_rows(header, lines[1:], where)))


def _rows(
    header: tuple[str, ...], lines: Sequence[Sequence[str]], where: str
) -> Iterator[dict[str, str]]:
    for number, fields in enumerate(lines, 1):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields; the header has {len(header)}"
            raise InputError(f"{where}: row {number}", problem)
        yield dict(zip(header, fields, strict=True))


def _check_reading(tables: Tables) -> None:
    """Refuse names that nothing has: they would silently change nothing."""
    columns = {column for table in tables.tables.values() for column in table.columns}
    for key in sorted(tables.reading.keys - columns):
        raise InputError("keys", f"no table has a column {key!r}")
    for name in sorted({*tables.reading.counts, *tables.reading.decimals}):
        table_name, _, column = name.partition(".")
        table = tables.find(table_name)
        if table is None or column not in table.columns:
            problem = f"there is no column {name!r}; expected TABLE.COLUMN"
            raise InputError("counts and decimals", problem)
