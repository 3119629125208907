"""Formulas of claims: Python expressions over published tables, read by `ast`, never run."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

from evalcore.claim_tables import ORDER, Cell, Tables, select
from evalcore.statistics import t_detectable, t_power
from ngramscan.statistics.proportions import mcnemar, wilson
from ngramscan.statistics.sign_tests import signed_rank_test

Scalar = Fraction | str | bool


class Entry(NamedTuple):
    """A value of a list, with what distinguishes its row from the others of the list."""

    names: Mapping[str, str]
    value: Scalar
    cell: Cell | None = None


Value = Scalar | list[Entry]
Noted = tuple[Value, list[str]]
"""A value, and what is to be known beside it."""


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


@dataclass
class Evaluator:
    """Computes one formula, as often as its range needs, and remembers what it read."""

    tables: Tables
    formulas: Mapping[str, ast.expr]
    """Those that others may use, by name."""
    cells: dict[Cell, None] = field(default_factory=dict)
    """All that were read, in the order in which they were."""
    remarks: dict[str, None] = field(default_factory=dict)
    _rounded: dict[Cell, None] = field(default_factory=dict)
    _moved: Mapping[Cell, Fraction] | None = None
    """What cells are taken to have been before rounding; None: figures are as printed."""
    _at: int = 0
    """Where in the formula something was computed last."""
    _selected: dict[int, tuple[list[Cell], set[str]]] = field(default_factory=dict)
    _under_way: list[str] = field(default_factory=list)

    def recompute(self, node: ast.expr) -> tuple[Fraction, Fraction, Fraction]:
        """Return what a formula gives, and the ends of what figures before rounding may give.

        Each rounded input is moved alone to learn in which direction the result goes; then all
        together. That is exact where the formula is monotone in each of them, and unlike interval
        arithmetic it does not count a cell twice that occurs twice.
        """
        value = self._number(node, {})
        reached, upwards, downwards = [value], dict[Cell, Fraction](), dict[Cell, Fraction]()
        for cell in list(self._rounded):
            middle, half = as_number(cell.value), cell.half
            ends = [self._number(node, {cell: end}) for end in (middle - half, middle + half)]
            half = half if ends[1] >= ends[0] else -half
            upwards[cell], downwards[cell] = middle + half, middle - half
            reached += ends
        reached += [self._number(node, upwards), self._number(node, downwards)]
        return value, min(reached), max(reached)

    def _number(self, node: ast.expr, moved: Mapping[Cell, Fraction]) -> Fraction:
        self._moved = moved
        try:
            return as_number(self._value(node))
        except (ValueError, ZeroDivisionError, RecursionError) as error:
            problem = "division by zero" if isinstance(error, ZeroDivisionError) else error
            raise ValueError(f"formula, character {self._at + 1}: {problem}") from error

    def _values(self, nodes: Sequence[ast.expr], *, as_printed: bool) -> list[Value]:
        moved, self._moved = self._moved, None if as_printed else self._moved
        values = [self._value(node) for node in nodes]
        self._moved = moved
        return values

    def _value(self, node: ast.expr) -> Value:
        self._at = node.col_offset
        match node:
            case ast.Constant(value=value):
                return value if isinstance(value, str) else Fraction(repr(value))
            case ast.Name() | ast.Call(ast.Name("claim"), [ast.Constant(value=str())]):
                return self._other_formula(ast.unparse(node).replace("'", '"'))
            case ast.Attribute():
                return self._selection(node)
            case ast.Call(ast.Name(id=name)):
                return self._call(name, node)
            case ast.UnaryOp(ast.USub(), operand):
                return by_row(_numbers(operator.neg), self._value(operand))
            case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]) if (
                type(sign) in _OPERATORS
            ):
                sides = self._values((left, right), as_printed=isinstance(node, ast.Compare))
                return by_row(_OPERATORS[type(sign)], *sides)
        raise ValueError(f"{ast.unparse(node)} is not part of the language of formulas")

    def _other_formula(self, name: str) -> Value:
        if name not in self.formulas:
            raise ValueError(f"there is nothing of the name {name!r}")
        if name in self._under_way:
            raise ValueError(f"it is defined by itself: {' → '.join([*self._under_way, name])}")
        self._under_way.append(name)
        value = self._value(self.formulas[name])
        self._under_way.pop()
        return value

    def _selection(self, node: ast.expr) -> list[Entry]:
        if id(node) not in self._selected:  # all nodes live as long as the claims
            self._selected[id(node)] = select(self.tables, node)
        cells, fixed = self._selected[id(node)]
        entries = []
        for cell in cells:
            self.cells[cell] = None
            value = cell.value
            if self._moved is not None and cell.half:
                self._rounded[cell] = None
                value = self._moved.get(cell, value)
            names = {column: name for column, name in cell.names.items() if column not in fixed}
            entries.append(Entry(names, value, cell))
        return entries

    def _call(self, name: str, node: ast.Call) -> Value:
        if name not in FUNCTIONS:
            known = ", ".join(sorted([*FUNCTIONS, 'claim("id")']))
            raise ValueError(f"no function {name!r}; there are {known}")
        options = {str(o.arg): ast.unparse(o.value).strip("'") for o in node.keywords}
        is_check = name.startswith(("wrong_", "impossible_", "discordant_"))
        values = self._values(node.args, as_printed=is_check)
        try:
            inspect.signature(FUNCTIONS[name]).bind(*values, **options)
        except TypeError as error:
            raise ValueError(f"{name}: {error}") from error
        found = FUNCTIONS[name](*values, **options)
        value, remarks = found if isinstance(found, tuple) else (found, [])
        self.remarks |= dict.fromkeys(remarks)
        return value


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
    lists = [value for value in single if isinstance(value, list)]
    if not lists:
        return function(*single)
    first = lists[0]
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


_OPERATORS: Mapping[type, Callable[..., Scalar]] = {
    ast.Add: _numbers(operator.add),
    ast.Sub: _numbers(operator.sub),
    ast.Mult: _numbers(operator.mul),
    ast.Div: _numbers(operator.truediv),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    **{sign: _numbers(compare) for sign, compare in ORDER.items()},
}


# Functions of formulas


def _all(*values: Value) -> list[Fraction]:
    lists = [[e.value for e in v] if isinstance(v, list) else [v] for v in values]
    found = [as_number(value) for one in lists for value in one]
    if not found:
        raise ValueError("no cell is selected")
    return found


def _extreme(best: Callable[..., Fraction], *values: Value) -> Value:
    """Take the best of all of one list; of several values row by row."""
    return best(_all(*values)) if len(values) == 1 else by_row(_numbers(best), *values)


def _count(rows: Value) -> Fraction:
    if not isinstance(rows, list | bool):
        raise ValueError("count takes a selection or a comparison")
    return Fraction(rows if isinstance(rows, bool) else sum(e.value is not False for e in rows))


def _round(value: Value, decimals: Value) -> Value:
    """Round halves away from zero, as tables are rounded."""
    factor = 10 ** as_count(decimals)

    def rounded(number: Fraction) -> Fraction:
        size = Fraction(math.floor(abs(number) * factor + Fraction(1, 2)), factor)
        return size if number >= 0 else -size

    return by_row(_numbers(rounded), value)


def _cells(value: Value) -> list[tuple[Entry, Cell]]:
    found = [(e, e.cell) for e in value if e.cell] if isinstance(value, list) else []
    if not found:
        raise ValueError("expected a selection of cells")
    return found


def _weighted_mean(cells: Value, *, by: str) -> Fraction:
    weighted = [(as_number(e.value), as_number(c.beside(by).value)) for e, c in _cells(cells)]
    total = sum(weight for _, weight in weighted)
    if total <= 0:
        raise ValueError("the weights sum to nothing")
    return sum((value * weight for value, weight in weighted), Fraction(0)) / total


def _wrong_bold(
    best: Callable[..., Fraction], cells: Value, *, among: str, marks: str = "bold"
) -> Noted:
    # A group are the rows that differ in `among` alone; cells that tie are bold alike, or none is.
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for _, cell in _cells(cells):
        if cell.beside(among) and cell.beside(marks).text not in {"0", "1"}:
            raise ValueError(f"{marks} is {cell.row[marks].text!r}; expected 0 or 1")
        key = tuple(name for column, name in cell.names.items() if column != among)
        groups.setdefault(key, []).append(cell)
    wrong = []
    for group in groups.values():
        top = best(as_number(cell.value) for cell in group)
        ties = [cell.row[marks].text for cell in group if cell.value == top]
        for cell in group:
            is_bold, is_best = cell.row[marks].text == "1", cell.value == top
            if is_bold != is_best and not (is_best and len(ties) > 1 and "1" not in ties):
                wrong.append(f"{cell} is {'bold' if is_bold else 'not bold'}")
    return Fraction(len(wrong)), wrong


def _usual_mcnemar(net: int, pairs: int) -> float:
    """Return McNemar's p-value as many programs compute it: exact below 25 pairs that differ.

    Otherwise of chi-square with continuity correction: Edwards 1948, doi:10.1007/BF02289261.
    """
    if pairs < abs(net) or (pairs < 25 and (pairs - net) % 2):
        raise ValueError(f"no two counts have the sum {pairs} and the difference {net}")
    if pairs < 25:
        return mcnemar((pairs + net) // 2, (pairs - net) // 2)
    return math.erfc(max(abs(net) - 1, 0) / math.sqrt(2 * pairs))


@cache
def _exact_signed_rank(n: int, rank_sum: int) -> float:
    """Return the exact p-value of n differences, none equal in size; the ranks of one sign sum."""
    if not 0 <= rank_sum <= n * (n + 1) // 2:
        raise ValueError(f"no ranks of {n} differences have the sum {rank_sum}")
    differences = []
    for rank in range(n, 0, -1):
        differences.append(rank if rank > rank_sum else -rank)
        rank_sum -= 0 if rank > rank_sum else rank
    return signed_rank_test(differences).value if n else 1.0


def _normal_signed_rank(n: int, rank_sum: int) -> float:
    if n < 1:
        raise ValueError("one difference or more was expected")
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return math.erfc(abs(rank_sum - n * (n + 1) / 4) / spread / math.sqrt(2))


def _ends(cell: Cell) -> tuple[float, float]:
    """Return the least and the greatest p-value that is printed as in a cell."""
    low = cell.size - cell.half if cell.half else Fraction(0)
    return float(low) - 1e-12, float(cell.size + cell.half) + (1e-12 if cell.half else 0)


def _discordant(end: int, p_values: Value, *, delta: str, of: str) -> list[Entry]:
    """Return how many pairs that differ give McNemar p-values, the fewest or the most."""
    entries = []
    for entry, cell in _cells(p_values):
        n, (low, high) = as_count(cell.beside(of).value), _ends(cell)
        net = abs(round(as_number(cell.beside(delta).value) * n / 100))
        p = {pairs: _usual_mcnemar(net, pairs) for pairs in range(net, n + 1, 2)}
        fits = [pairs for pairs in p if low <= p[pairs] <= high]
        nearest = min(p, key=lambda pairs: max(low - p[pairs], p[pairs] - high))
        entries.append(Entry(entry.names, Fraction((fits or [nearest])[end]), cell))
    return entries


def _impossible_signed_rank(p_values: Value, n: Value) -> Noted:
    sizes = range(1, as_count(n) + 1)
    exact = [_exact_signed_rank(m, w) for m in sizes for w in range(m * (m + 1) // 4 + 1)]
    wrong = []
    for _, cell in _cells(p_values):
        low, high = _ends(cell)
        wrong += [] if any(low <= p <= high for p in exact) else [f"{cell} is none"]
    return Fraction(len(wrong)), wrong


def _wrong_stars(cells: Value, *, stars: str = "stars") -> Noted:
    wrong = []
    for _, cell in _cells(cells):
        found, p = cell.beside(stars).text, cell.size
        half = cell.half * Fraction(999, 1000)  # the very ends are rounded away, or may be
        limits = (Fraction(1, 20), Fraction(1, 100), Fraction(1, 1000))
        if found not in {"*" * sum(end < s for s in limits) for end in (p - half, p + half)}:
            wrong.append(f"{cell} has {found or 'no star'}")
    return Fraction(len(wrong)), wrong


def _exact_pct(cells: Value, n: Value | None = None, *, of: str = "") -> Noted:
    """Return percentages before rounding, where only one whole number of `of` prints so."""
    entries, remarks = [], []
    for entry, cell in _cells(cells):
        size = as_number(cell.beside(of).value if n is None else n)
        if size.denominator != 1 or size <= 0:
            raise ValueError(f"{float(size):g} is not a number of things")
        value, half = as_number(cell.value), cell.half
        low, high = math.ceil((value - half) * size / 100), math.floor((value + half) * size / 100)
        wholes = [whole for whole in range(low, high + 1) if abs(whole) <= size]
        exact = 100 * wholes[0] / size if len(wholes) == 1 else entry.value
        entries.append(Entry(entry.names, exact, cell))
        remarks += [] if wholes else [f"{cell} is no whole number of {size}"]
    return entries, remarks


def _impossible_pct(cells: Value, n: Value | None = None, *, of: str = "") -> Noted:
    _, wrong = _exact_pct(cells, n, of=of)
    return Fraction(len(wrong)), wrong


def _of_counts(function: Callable[..., float | None]) -> Callable[..., Fraction]:
    return lambda a, b: Fraction(function(as_count(a), as_count(b)) or 0)


FUNCTIONS: Mapping[str, Callable[..., Value | Noted]] = {
    "sum": lambda *values: sum(_all(*values), Fraction(0)),
    "mean": lambda *values: Fraction(sum(_all(*values)), len(_all(*values))),
    "min": partial(_extreme, min),
    "max": partial(_extreme, max),
    "weighted_mean": _weighted_mean,
    "count": _count,
    "abs": lambda value: by_row(_numbers(abs), value),
    "round": _round,
    "sqrt": lambda value: Fraction(math.sqrt(as_number(value))),
    "mcnemar": _of_counts(mcnemar),
    "mcnemar_usual": lambda net, pairs: Fraction(_usual_mcnemar(int(net), as_count(pairs))),
    "discordant_min": partial(_discordant, 0),
    "discordant_max": partial(_discordant, -1),
    "signed_rank": _of_counts(_exact_signed_rank),
    "signed_rank_normal": _of_counts(_normal_signed_rank),
    "impossible_signed_rank": _impossible_signed_rank,
    "wilson_low": _of_counts(lambda x, n: wilson(x, n).low),
    "wilson_high": _of_counts(lambda x, n: wilson(x, n).high),
    "power_paired_t": lambda d, n: Fraction(t_power(as_count(n), float(as_number(d)))),
    "effect_paired_t": lambda power, n: Fraction(t_detectable(as_count(n), float(power))),
    "exact_pct": _exact_pct,
    "impossible_pct": _impossible_pct,
    "wrong_bold_max": partial(_wrong_bold, max),
    "wrong_bold_min": partial(_wrong_bold, min),
    "wrong_stars": _wrong_stars,
}
"""By name; a function that remarks on its cells returns the remarks beside the value."""
