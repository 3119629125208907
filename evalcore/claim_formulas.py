"""Formulas of claims: Python expressions over published tables, read by `ast`, never run."""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from statistics import mean
from typing import NamedTuple

from ngramscan.statistics.power import t_detectable, t_power
from ngramscan.statistics.proportions import mcnemar, usual_mcnemar, wilson
from ngramscan.statistics.sign_tests import normal_signed_rank_p, signed_rank_p


def parse_printed(text: str, decimals: int | None = None) -> tuple[Fraction, Fraction, bool] | None:
    """Read a number printed with this many meaningful decimals; None if the text is not one.

    Returned with the unit of its last decimal, and whether it is a bound (`<0.001`).
    """
    found = re.fullmatch(r"(<?)\s*([+-]?\d*(?:\.(\d+))?)(?<=\d)", text.strip())
    if found is None:
        return None
    decimals = len(found[3] or "") if decimals is None else decimals
    return Fraction(found[2]), Fraction(1, 10**decimals), bool(found[1])


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
        if (printed := parse_printed(self.text)) is None:
            raise ValueError(f"{self.text!r} can't be compared by size")
        return printed[0] - printed[2] * Fraction(1, 10**12)

    def beside(self, column: str) -> Cell:
        """Return the cell in another column of its row."""
        if column not in self.row:
            raise ValueError(f"{self.table} has no column {column!r}; it has {', '.join(self.row)}")
        return self.row[column]


Tables = Mapping[str, Sequence[Mapping[str, Cell]]]
"""Rows of cells by the names of tables, which formulas may cut at an underscore."""


def _column(tables: Tables, name: str, column: str) -> list[Cell]:
    found = [name] if name in tables else [full for full in tables if full.startswith(f"{name}_")]
    if len(found) != 1:
        raise ValueError(f"no table {name!r}; available: {', '.join(sorted(tables))}")
    return [next(iter(row.values())).beside(column) for row in tables[found[0]]]


def select(tables: Tables, node: ast.expr) -> tuple[list[Cell], set[str]]:
    """Return the cells of `table[conditions].column`, and the columns with one given name."""
    match node:
        case ast.Attribute(ast.Name(id=name), column):
            conditions: Sequence[ast.expr] = ()
        case ast.Attribute(ast.Subscript(ast.Name(id=name), condition), column):
            conditions = condition.elts if isinstance(condition, ast.Tuple) else [condition]
        case _:
            raise ValueError(f"{ast.unparse(node)}: expected table[conditions].column")
    cells, fixed = _column(tables, name, column), set[str]()
    for condition in conditions:
        match condition:
            case ast.Compare(ast.Name(about), [ast.Eq() | ast.NotEq() | ast.In() as sign], [to]):
                names = {getattr(node, "value", None) for node in getattr(to, "elts", [to])}
                for absent in names - {cell.name for cell in _column(tables, name, about)}:
                    # A slip of the pen would select other rows than meant.
                    raise ValueError(f"no row of {name} has {about} {absent!r}")
                is_not = isinstance(sign, ast.NotEq)
                cells = [cell for cell in cells if (cell.row[about].name in names) != is_not]
                fixed |= {about} if isinstance(sign, ast.Eq) else set()
            case ast.Compare(ast.Name(about), [sign], [ast.Constant(to)]) if type(sign) in _SIGNS:
                compare, limit = _SIGNS[type(sign)], Fraction(repr(to))
                cells = [cell for cell in cells if compare(cell.beside(about).size, limit)]
            case _:
                text = ast.unparse(condition)
                raise ValueError(f'{text}: expected column == "text", !=, in (…), or < number, …')
    return cells, fixed


Scalar = Fraction | str | bool


class Entry(NamedTuple):
    """A value of a list, with what distinguishes its row from the others of the list."""

    names: Mapping[str, str]
    value: Scalar
    cell: Cell | None = None


Value = Scalar | list[Entry]
_Moved = Mapping[Cell, Fraction] | None
"""Assumed figures of cells before rounding; None: figures count as printed."""


def parse_formula(text: str) -> ast.expr:
    """Return the syntax tree of a formula; ValueError where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a backslash that means nothing: r"…" is needed
            return ast.parse(text.strip().replace("\n", " "), mode="eval").body
    except SyntaxError as error:
        at = error.offset or len(text) + 1
        raise ValueError(f"formula, character {at}: {error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise ValueError("formula: too many brackets in each other") from error


class Evaluator:
    """Computes one formula, which may use others, as often as its range needs."""

    def __init__(self, tables: Tables, formulas: Mapping[str, ast.expr]) -> None:
        self.cells: dict[Cell, bool] = {}
        """All that were read, in this order, and whether their rounding matters."""
        self.remarks: dict[str, None] = {}
        self._formulas = formulas
        self._select = cache(partial(select, tables))
        self._under_way: list[str] = []
        self._at = 0  # where in the formula something was computed last

    def recompute(self, node: ast.expr) -> tuple[Fraction, Fraction, Fraction]:
        """Return what a formula gives, and the ends of what figures before rounding may give.

        Each rounded input is moved alone to learn in which direction the result goes; then all
        together. That is exact where the formula is monotone in each of them, and unlike interval
        arithmetic it does not count a cell twice that occurs twice.
        """
        value = self._number(node, {})
        reached, upwards, downwards = [value], dict[Cell, Fraction](), dict[Cell, Fraction]()
        for cell in [cell for cell, is_rounded in self.cells.items() if is_rounded]:
            ends = [as_number(cell.value) - cell.half, as_number(cell.value) + cell.half]
            found = [self._number(node, {cell: end}) for end in ends]
            downwards[cell], upwards[cell] = ends if found[0] <= found[1] else ends[::-1]
            reached += found
        reached += [self._number(node, upwards), self._number(node, downwards)]
        return value, min(reached), max(reached)

    def _number(self, node: ast.expr, moved: _Moved) -> Fraction:
        try:
            return as_number(self._value(node, moved))
        except (ValueError, ZeroDivisionError, RecursionError) as error:
            problem = "division by zero" if isinstance(error, ZeroDivisionError) else error
            raise ValueError(f"formula, character {self._at + 1}: {problem}") from error

    def _value(self, node: ast.expr, moved: _Moved) -> Value:
        self._at = node.col_offset
        match node:
            case ast.Constant(value=value):
                return value if isinstance(value, str) else Fraction(repr(value))
            case ast.Name() | ast.Call(ast.Name("claim"), [ast.Constant(value=str())]):
                return self._other_formula(ast.unparse(node).replace("'", '"'), moved)
            case ast.Attribute():
                return self._selection(node, moved)
            case ast.Call(ast.Name(id=name)):
                return self._call(name, node, moved)
            case ast.UnaryOp(ast.USub(), operand):
                return by_row(_numbers(operator.neg), self._value(operand, moved))
            case ast.BinOp(a, sign, b) | ast.Compare(a, [sign], [b]) if type(sign) in _SIGNS:
                seen = None if isinstance(node, ast.Compare) else moved
                return by_row(_SIGNS[type(sign)], self._value(a, seen), self._value(b, seen))
        raise ValueError(f"{ast.unparse(node)} is not part of the language of formulas")

    def _other_formula(self, name: str, moved: _Moved) -> Value:
        if name not in self._formulas:
            raise ValueError(f"there is nothing of the name {name!r}")
        if name in self._under_way:
            raise ValueError(f"it is defined by itself: {' → '.join([*self._under_way, name])}")
        self._under_way.append(name)
        value = self._value(self._formulas[name], moved)
        self._under_way.pop()
        return value

    def _selection(self, node: ast.expr, moved: _Moved) -> list[Entry]:
        cells, fixed = self._select(node)
        entries = []
        for cell in cells:
            is_rounded = moved is not None and cell.half > 0
            self.cells[cell] = self.cells.get(cell, False) or is_rounded
            names = {column: name for column, name in cell.names.items() if column not in fixed}
            entries.append(Entry(names, (moved or {}).get(cell, cell.value), cell))
        return entries

    def _call(self, name: str, node: ast.Call, moved: _Moved) -> Value:
        if name not in FUNCTIONS and name not in CHECKS:
            known = ", ".join(sorted({*FUNCTIONS, *CHECKS, 'claim("id")'}))
            raise ValueError(f"no function {name!r}; available: {known}")
        options = {
            str(option.arg): ast.unparse(option.value).strip("'") for option in node.keywords
        }
        values = [self._value(part, moved if name in FUNCTIONS else None) for part in node.args]
        try:
            remarks = [*CHECKS[name](*values, **options)] if name in CHECKS else []
            self.remarks |= dict.fromkeys(remarks)
            return FUNCTIONS.get(name, lambda *_, **__: Fraction(len(remarks)))(*values, **options)
        except TypeError as error:  # too many values, or too few
            raise ValueError(f"{name}: {str(error).rpartition('() ')[2]}") from error


def as_number(value: Value) -> Fraction:
    """Return a value that must be one number."""
    if isinstance(value, list):
        if len(value) != 1:
            raise ValueError(f"{len(value)} cells; expected one")
        value = value[0].value
    if isinstance(value, str | bool):
        raise ValueError(f"{value!r} is not a number")
    return value


def as_count(value: Value) -> int:
    """Return a value that must be a whole number, not negative."""
    number = as_number(value)
    if number.denominator != 1 or number < 0:
        raise ValueError(f"{float(number):g} is not a count; expected 0, 1, 2, …")
    return int(number)


def by_row(function: Callable[..., Scalar], *values: Value) -> Value:
    """Apply a function to values; to lists of several row by row, put side by side by names."""
    single = [v[0].value if isinstance(v, list) and len(v) == 1 else v for v in values]
    first = next((value for value in single if isinstance(value, list)), None)
    if first is None:
        return function(*single)
    columns = [_align(first, v) if isinstance(v, list) else [v] * len(first) for v in single]
    return [Entry(e.names, function(*row)) for e, *row in zip(first, *columns, strict=True)]


def _align(first: list[Entry], other: list[Entry]) -> list[Scalar]:
    if other is first:
        return [entry.value for entry in first]
    shared = [name for name in (first + other)[0].names if all(name in e.names for e in other)]
    keys = [[tuple(e.names[name] for name in shared) for e in both] for both in (first, other)]
    if any(len(set(found)) < len(found) for found in keys):
        same = f"two rows have the same {', '.join(shared)}" if shared else "rows have no name"
        raise ValueError(f"{same}, so two selections can't be put side by side")
    for key in sorted({*keys[0]} ^ {*keys[1]}):
        raise ValueError(f"only one of two selections has a row {', '.join(key)}")
    values = dict(zip(keys[1], (entry.value for entry in other), strict=True))
    return [values[key] for key in keys[0]]


def _numbers(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    return lambda *values: function(*map(as_number, values))


_SIGNS: Mapping[type, Callable[..., Scalar]] = {
    ast.Add: _numbers(operator.add),
    ast.Sub: _numbers(operator.sub),
    ast.Mult: _numbers(operator.mul),
    ast.Div: _numbers(operator.truediv),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: _numbers(operator.lt),
    ast.LtE: _numbers(operator.le),
    ast.Gt: _numbers(operator.gt),
    ast.GtE: _numbers(operator.ge),
}


def _all(*values: Value) -> list[Fraction]:
    lists = [[e.value for e in v] if isinstance(v, list) else [v] for v in values]
    if not any(lists):
        raise ValueError("no cell is selected")
    return [as_number(value) for values in lists for value in values]


def _extreme(best: Callable[..., Fraction], *values: Value) -> Value:
    return best(_all(*values)) if len(values) == 1 else by_row(_numbers(best), *values)


def _count(rows: Value) -> Fraction:
    if not isinstance(rows, list | bool):
        raise ValueError("count takes a selection or a comparison")
    return Fraction(rows if isinstance(rows, bool) else sum(e.value is not False for e in rows))


def _rounded(number: Fraction, decimals: Fraction) -> Fraction:
    """Round halves away from zero, as tables are rounded."""
    factor = 10 ** as_count(decimals)
    size = Fraction(math.floor(abs(number) * factor + Fraction(1, 2)), factor)
    return size if number >= 0 else -size


def _cells(value: Value) -> list[tuple[Entry, Cell]]:
    found = [(e, e.cell) for e in value if e.cell] if isinstance(value, list) else []
    if not found:
        raise ValueError("expected a selection of cells")
    return found


def _weighted_mean(cells: Value, *, by: str) -> Fraction:
    weights = [as_number(cell.beside(by).value) for _, cell in _cells(cells)]
    return sum(map(operator.mul, _all(cells), weights), Fraction(0)) / sum(weights)


def _groups(cells: Value, among: str) -> list[list[Cell]]:
    """Return cells in groups, whose rows differ in one column alone."""
    groups: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for _, cell in _cells(cells):
        cell.beside(among)
        groups[tuple(name for key, name in cell.names.items() if key != among)].append(cell)
    return [*groups.values()]


def _wrong_bold(
    best: Callable[..., Fraction], cells: Value, *, among: str, marks: str = "bold"
) -> Iterator[str]:
    for group in _groups(cells, among):
        for cell in group:
            if cell.beside(marks).text not in {"0", "1"}:
                raise ValueError(f"{marks} is {cell.row[marks].text!r}; expected 0 or 1")
        top = best(as_number(cell.value) for cell in group)
        bold = [cell for cell in group if cell.row[marks].text == "1"]
        due = [cell for cell in group if cell.value == top]
        if len(due) > 1 and not {*due} & {*bold}:  # cells that tie are bold alike, or none is
            due = []
        for cell in group:
            if (cell in bold) != (cell in due):
                yield f"{cell} is {'' if cell in bold else 'not '}bold"


def _repeated_rows(cells: Value, *, among: str, across: str) -> Iterator[str]:
    # A row are the cells that differ in `across` alone; it is compared with those of other `among`.
    first: dict[object, Cell] = {}
    for row in _groups(cells, across):
        row[0].beside(among)
        group = [(k, name) for k, name in row[0].names.items() if k not in {among, across}]
        figures = frozenset((cell.row[across].name, cell.value) for cell in row)
        same = first.setdefault((*group, figures), row[0])
        if same is not row[0]:
            where = f" in {', '.join(name for _, name in group)}" if group else ""
            yield f"{row[0].row[among].name} repeats {same.row[among].name}{where}"


def _ends(cell: Cell) -> tuple[float, float]:
    """Return the least and the greatest p-value that is printed as in a cell."""
    low = cell.size - cell.half if cell.half else Fraction(0)
    return float(low) - 1e-12, float(cell.size + cell.half) + (1e-12 if cell.half else 0)


def _discordant(end: int, p_values: Value, *, delta: str, of: str) -> list[Entry]:
    entries = []
    for entry, cell in _cells(p_values):
        n, (low, high) = as_count(cell.beside(of).value), _ends(cell)
        net = abs(round(as_number(cell.beside(delta).value) * n / 100))
        p = {pairs: usual_mcnemar(net, pairs) for pairs in range(net, n + 1, 2)}
        fits = [pairs for pairs in p if low <= p[pairs] <= high]
        nearest = min(p, key=lambda pairs: max(low - p[pairs], p[pairs] - high))
        entries.append(entry._replace(value=Fraction((fits or [nearest])[end])))
    return entries


def _impossible_signed_rank(p_values: Value, n: Value) -> Iterator[str]:
    sizes = range(1, as_count(n) + 1)
    exact = [signed_rank_p(m, w) for m in sizes for w in range(m * (m + 1) // 4 + 1)]
    for _, cell in _cells(p_values):
        low, high = _ends(cell)
        if not any(low <= p <= high for p in exact):
            yield f"{cell} is none"


def _wrong_stars(cells: Value, *, stars: str = "stars") -> Iterator[str]:
    limits = (Fraction(1, 20), Fraction(1, 100), Fraction(1, 1000))
    for _, cell in _cells(cells):
        found, p = cell.beside(stars).text, cell.size
        half = cell.half * Fraction(999, 1000)  # the very ends are rounded away, or may be
        if found not in {"*" * sum(end < s for s in limits) for end in (p - half, p + half)}:
            yield f"{cell} has {found or 'no star'}"


@lru_cache(maxsize=4096)
def _wholes(cell: Cell, size: int) -> list[int]:
    """Return the whole numbers of which the percentage of a size is printed as in a cell."""
    value, half = as_number(cell.value), cell.half
    low, high = math.ceil((value - half) * size / 100), math.floor((value + half) * size / 100)
    return [whole for whole in range(low, high + 1) if abs(whole) <= size]


def _size(cell: Cell, n: Value | None, of: str) -> int:
    return as_count(cell.beside(of).value if n is None else n)


def _exact_pct(cells: Value, n: Value | None = None, *, of: str = "") -> list[Entry]:
    """Return percentages before rounding, where only one whole number of `of` prints so."""
    entries = []
    for entry, cell in _cells(cells):
        wholes = _wholes(cell, size := _size(cell, n, of))
        exact = Fraction(100 * wholes[0], size) if len(wholes) == 1 else entry.value
        entries.append(entry._replace(value=exact))
    return entries


def _impossible_pct(cells: Value, n: Value | None = None, *, of: str = "") -> Iterator[str]:
    for _, cell in _cells(cells):
        size = _size(cell, n, of)
        if not _wholes(cell, size):
            yield f"{cell} is not a whole number of {size}"


def _of_counts(function: Callable[..., float | None]) -> Callable[..., Fraction]:
    return lambda a, b: Fraction(function(as_count(a), as_count(b)) or 0)


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "sum": lambda *values: sum(_all(*values), Fraction(0)),
    "mean": lambda *values: mean(_all(*values)),
    "min": partial(_extreme, min),
    "max": partial(_extreme, max),
    "weighted_mean": _weighted_mean,
    "count": _count,
    "abs": lambda value: by_row(_numbers(abs), value),
    "round": lambda value, decimals: by_row(_numbers(_rounded), value, decimals),
    "sqrt": lambda value: Fraction(math.sqrt(as_number(value))),
    "mcnemar": _of_counts(mcnemar),
    "mcnemar_usual": lambda net, pairs: Fraction(
        usual_mcnemar(int(as_number(net)), as_count(pairs))
    ),
    "discordant_min": partial(_discordant, 0),
    "discordant_max": partial(_discordant, -1),
    "signed_rank": _of_counts(signed_rank_p),
    "signed_rank_normal": _of_counts(normal_signed_rank_p),
    "wilson_low": _of_counts(lambda x, n: wilson(x, n).low),
    "wilson_high": _of_counts(lambda x, n: wilson(x, n).high),
    "power_paired_t": lambda d, n: Fraction(t_power(as_count(n), float(as_number(d)))),
    "effect_paired_t": lambda p, n: Fraction(t_detectable(as_count(n), float(as_number(p)))),
    "exact_pct": _exact_pct,
}
"""Functions of formulas by name."""
CHECKS: Mapping[str, Callable[..., Iterable[str]]] = {
    "exact_pct": _impossible_pct,
    "impossible_pct": _impossible_pct,
    "impossible_signed_rank": _impossible_signed_rank,
    "repeated_rows": _repeated_rows,
    "wrong_bold_max": partial(_wrong_bold, max),
    "wrong_bold_min": partial(_wrong_bold, min),
    "wrong_stars": _wrong_stars,
}
"""Functions that remark on cells. One that is not in FUNCTIONS gives the number of its remarks, and
takes figures as printed."""
