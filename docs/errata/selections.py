"""Selections of cells: `table[conditions].column`, read as the syntax tree of a formula."""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from docs.errata.cells import Cell, Tables

ORDERS: Mapping[type, Callable[[Fraction, Fraction], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
"""The comparisons of numbers, by their signs."""


def parse_formula(text: str) -> ast.expr:
    """Return the syntax tree of a formula; ValueError if it is not an expression."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a backslash that means nothing: r"…" is needed
            return ast.parse(text.strip().replace("\n", " "), mode="eval").body
    except SyntaxError as error:
        at = error.offset or len(text) + 1
        raise ValueError(f"formula, character {at}: {error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise ValueError("formula: too many brackets in each other") from error


def select(tables: Tables, node: ast.expr) -> tuple[list[Cell], set[str]]:
    """Return the cells of `table[conditions].column`, and the columns that an `==` fixes."""
    match node:
        case ast.Attribute(ast.Name(id=table), column):
            conditions: Sequence[ast.expr] = ()
        case ast.Attribute(ast.Subscript(ast.Name(id=table), ast.Tuple(elts=parts)), column):
            conditions = parts
        case ast.Attribute(ast.Subscript(ast.Name(id=table), condition), column):
            conditions = [condition]
        case _:
            raise ValueError(f"{ast.unparse(node)}: expected table[conditions].column")
    cells = _column(tables, table, column)
    fixed = set[str]()
    for condition in conditions:
        cells = _cells_where(tables, table, condition, cells)
        match condition:
            case ast.Compare(ast.Name(key), [ast.Eq()], [_]):
                fixed.add(key)
    return cells, fixed


def _cells_where(tables: Tables, table: str, condition: ast.expr, cells: list[Cell]) -> list[Cell]:
    """Return the cells in whose rows a condition holds."""
    match condition:
        case ast.Compare(ast.Name(key), [ast.Eq() | ast.In()], [texts]):
            names = _names(tables, table, key, texts)
            return [cell for cell in cells if cell.row[key].name in names]
        case ast.Compare(ast.Name(key), [ast.NotEq()], [texts]):
            names = _names(tables, table, key, texts)
            return [cell for cell in cells if cell.row[key].name not in names]
        case ast.Compare(ast.Name(key), [order], [ast.Constant(limit)]) if type(order) in ORDERS:
            holds = ORDERS[type(order)]
            number = Fraction(repr(limit))
            return [cell for cell in cells if holds(cell.in_column(key).size, number)]
    text = ast.unparse(condition)
    raise ValueError(f'{text}: expected column == "text", !=, in (…), or < number, …')


def _column(tables: Tables, name: str, column: str) -> list[Cell]:
    """Return a column of the table with a name, or whose name begins with it and an underscore."""
    names = [name]
    if name not in tables:
        names = [full_name for full_name in tables if full_name.startswith(f"{name}_")]
    if len(names) != 1:
        raise ValueError(f"no table {name!r}; available: {', '.join(sorted(tables))}")
    return [next(iter(row.values())).in_column(column) for row in tables[names[0]]]


def _names(tables: Tables, table: str, key: str, node: ast.expr) -> set[object]:
    """Return the text of a condition, or its texts; each must be the name of a row.

    A slip of the pen would select other rows than meant.
    """
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    names: set[object] = {part.value if isinstance(part, ast.Constant) else None for part in parts}
    absent = names - {cell.name for cell in _column(tables, table, key)}
    if absent:
        raise ValueError(f"no row of {table} has {key} {next(iter(absent))!r}")
    return names
