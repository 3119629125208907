"""Published tables: what is printed in their cells, and which cells a selection finds."""

from __future__ import annotations

import ast
import csv
import io
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from ngramscan.errors import InputError
from ngramscan.yaml_files import read_text

ORDER: Mapping[type, Callable[[Fraction, Fraction], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Printed(NamedTuple):
    """A number as it is printed; `unit` is one of its last decimal, `below` a bound (`<0.001`)."""

    value: Fraction
    unit: Fraction
    below: bool


def parse_printed(text: str, decimals: int | None = None) -> Printed | None:
    """Read a printed number with so many meaningful decimals; None where the text is none."""
    found = re.fullmatch(r"(<?)\s*([+-]?\d*(?:\.(\d+))?)(?<=\d)", text.strip())
    if found is None:
        return None
    decimals = len(found[3] or "") if decimals is None else decimals
    return Printed(Fraction(found[2]), Fraction(1, 10**decimals), bool(found[1]))


class Reading(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How the tables of a folder are to be read, as in a claims file."""

    keys: list[str] = []
    counts: list[str] = []
    decimals: dict[str, Annotated[int, msgspec.Meta(ge=0, le=9)]] = {}
    aliases: dict[str, list[str]] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One cell of a table; there is only one object of each."""

    table: str
    column: str
    text: str
    name: str
    """The text, or the name that formulas use for it."""
    printed: Printed | None
    half: Fraction
    """By how much the number may have been rounded; 0 for a bound, and for what was counted."""
    names: Mapping[str, str]
    """What its row is about: the key columns, with the names there."""
    row: Mapping[str, Cell]

    def __str__(self) -> str:
        return f"{self.table}[{', '.join(self.names.values())}].{self.column} = {self.text}"

    @property
    def value(self) -> Fraction | str:
        """The number that is printed, or a text, which a bound is too."""
        return self.text if self.printed is None or self.printed.below else self.printed.value

    @property
    def size(self) -> Fraction:
        """For comparisons: of a bound a little less, so that `<0.001` is below 0.001."""
        if self.printed is None:
            raise ValueError(f"{self.text!r} can't be compared by size")
        return self.printed.value - self.printed.below * Fraction(1, 10**12)

    def beside(self, column: str) -> Cell:
        """Return the cell in another column of its row."""
        if column not in self.row:
            raise ValueError(f"{self.table} has no column {column!r}; it has {', '.join(self.row)}")
        return self.row[column]


class Tables(dict[str, Sequence[Mapping[str, Cell]]]):
    """The tables of a folder, by name or by the part of it before an underscore."""

    def column(self, name: str, column: str) -> list[Cell]:
        """Return the cells of a column."""
        found = [name] if name in self else [full for full in self if full.startswith(f"{name}_")]
        if len(found) != 1:
            raise ValueError(f"no table {name!r}; there are {', '.join(sorted(self))}")
        return [next(iter(row.values())).beside(column) for row in self[found[0]]]


def read_tables(folder: Path | Traversable, reading: Reading) -> Tables:
    """Read each `NAME.csv` of a folder; InputError where there is none, or one is not a table.

    Names that nothing has are refused: they would silently change nothing.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "there is no such folder; expected one with CSV files")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".csv")), key=lambda f: f.name)
    if not files:
        raise InputError(str(folder), "no CSV file in it")
    tables = Tables((file.name.removesuffix(".csv"), _read_table(file, reading)) for file in files)
    others = list(chain.from_iterable(reading.aliases.values()))
    if twice := [other for other in others if others.count(other) > 1]:
        raise InputError("aliases", f"{twice[0]!r} is an alias twice")
    for key in reading.keys:
        if not any(key in table[0] for table in tables.values()):
            raise InputError("keys", f"no table has a column {key!r}")
    for place in (*reading.counts, *reading.decimals):
        table, _, column = place.partition(".")
        try:
            tables.column(table, column)
        except ValueError as error:
            raise InputError("counts and decimals", f"{place}: {error}") from error
    return tables


def _read_table(file: Path | Traversable, reading: Reading) -> list[Mapping[str, Cell]]:
    try:
        lines = list(csv.reader(io.StringIO(read_text(file), newline=""), strict=True))
    except csv.Error as error:
        raise InputError(file.name, f"not valid CSV: {error}") from error
    header, *rows = lines or [[]]
    if not rows or len(set(header)) < len(header):
        raise InputError(file.name, "expected rows below a header that names each column once")
    for number, fields in enumerate(rows, 1):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields; the header has {len(header)}"
            raise InputError(f"{file.name}: row {number}", problem)
    name = file.name.removesuffix(".csv")
    return [_row(name, dict(zip(header, fields, strict=True)), reading) for fields in rows]


def _row(table: str, texts: Mapping[str, str], reading: Reading) -> Mapping[str, Cell]:
    own = {other: name for name, others in reading.aliases.items() for other in others}
    names = {key: own.get(text, text) for key, text in texts.items() if key in reading.keys}
    row: dict[str, Cell] = {}
    for column, text in texts.items():
        places = {f"{table}.{column}", f"{table.partition('_')[0]}.{column}"}
        decimals = [reading.decimals[place] for place in places & reading.decimals.keys()]
        printed, is_exact = parse_printed(text, *decimals), not places.isdisjoint(reading.counts)
        half = printed.unit / 2 if printed and not printed.below and not is_exact else Fraction(0)
        row[column] = Cell(table, column, text, own.get(text, text), printed, half, names, row)
    return row


def select(tables: Tables, node: ast.expr) -> tuple[list[Cell], set[str]]:
    """Return the cells of `table[conditions].column`, and the columns with one given name."""
    match node:
        case ast.Attribute(ast.Name(id=name), column):
            conditions: Sequence[ast.expr] = ()
        case ast.Attribute(ast.Subscript(ast.Name(id=name), condition), column):
            conditions = condition.elts if isinstance(condition, ast.Tuple) else [condition]
        case _:
            raise ValueError("expected a selection, table[conditions].column")
    cells, fixed = tables.column(name, column), set[str]()
    for condition in conditions:
        match condition:
            case ast.Compare(ast.Name(id=about), [sign], [ast.Constant(value=value)]) if (
                type(sign) in ORDER
            ):
                compare, limit = ORDER[type(sign)], Fraction(repr(value))
                cells = [cell for cell in cells if compare(cell.beside(about).size, limit)]
            case ast.Compare(ast.Name(id=about), [ast.Eq() | ast.NotEq() | ast.In() as sign], [_]):
                wanted = getattr(condition.comparators[0], "elts", condition.comparators)
                names = {getattr(one, "value", None) for one in wanted}
                for absent in names - {cell.name for cell in tables.column(name, about)}:
                    # A slip of the pen would select other rows than meant.
                    raise ValueError(f"no row of {name} has {about} {absent!r}")
                is_not = isinstance(sign, ast.NotEq)
                cells = [cell for cell in cells if (cell.row[about].name in names) != is_not]
                fixed |= {about} if isinstance(sign, ast.Eq) else set()
            case _:
                text = ast.unparse(condition)
                raise ValueError(f'{text}: expected column == "text", !=, in (…), or < number, …')
    return cells, fixed
