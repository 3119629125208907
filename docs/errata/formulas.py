"""Formulas of claims: Python expressions over published tables, read by `ast`, never run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

from docs.errata.cells import Cell, Tables
from docs.errata.functions import CHECKS, FUNCTIONS
from docs.errata.selections import ORDERS, select
from docs.errata.values import Entry, Scalar, Value, as_number, by_row, on_numbers

Unrounded = Mapping[Cell, Fraction] | None
"""Assumed figures of cells before rounding; None: figures count as printed."""
ARITHMETIC: Mapping[type, Callable[..., Scalar]] = {
    ast.Add: on_numbers(operator.add),
    ast.Sub: on_numbers(operator.sub),
    ast.Mult: on_numbers(operator.mul),
    ast.Div: on_numbers(operator.truediv),
}
COMPARISONS: Mapping[type, Callable[..., Scalar]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    **{sign: on_numbers(order) for sign, order in ORDERS.items()},
}


class Recomputed(NamedTuple):
    """A figure from printed ones, and the limits of what figures before rounding may give."""

    value: Fraction
    low: Fraction
    high: Fraction


def name_of_claim(identifier: str) -> str:
    """Return how formulas name the formula of a claim."""
    return f'claim("{identifier}")'


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

    def recompute(self, node: ast.expr) -> Recomputed:
        """Return the result of a formula, and its range.

        Each rounded input is moved alone to learn in which direction the result goes; then all
        together. That is exact where the formula is monotone in each of them, and unlike interval
        arithmetic it does not count a cell twice that occurs twice.
        """
        value = self._number(node, {})
        results = [value]
        for_least: dict[Cell, Fraction] = {}
        for_greatest: dict[Cell, Fraction] = {}
        for cell in [cell for cell, is_rounded in self.cells.items() if is_rounded]:
            low = as_number(cell.value) - cell.half
            high = as_number(cell.value) + cell.half
            at_low = self._number(node, {cell: low})
            at_high = self._number(node, {cell: high})
            results += [at_low, at_high]
            if at_low <= at_high:
                for_least[cell], for_greatest[cell] = low, high
            else:
                for_least[cell], for_greatest[cell] = high, low
        results += [self._number(node, for_least), self._number(node, for_greatest)]
        return Recomputed(value, min(results), max(results))

    def _number(self, node: ast.expr, unrounded: Unrounded) -> Fraction:
        try:
            return as_number(self._value(node, unrounded))
        except ZeroDivisionError as error:
            raise ValueError(f"formula, character {self._at + 1}: division by zero") from error
        except (ValueError, RecursionError) as error:
            raise ValueError(f"formula, character {self._at + 1}: {error}") from error

    def _value(self, node: ast.expr, unrounded: Unrounded) -> Value:
        self._at = node.col_offset
        match node:
            case ast.Constant(value=constant):
                return constant if isinstance(constant, str) else Fraction(repr(constant))
            case ast.Name(id=name):
                return self._other_formula(name, unrounded)
            case ast.Call(ast.Name("claim"), [ast.Constant(value=str() as identifier)]):
                return self._other_formula(name_of_claim(identifier), unrounded)
            case ast.Attribute():
                return self._selection(node, unrounded)
            case ast.Call(ast.Name(id=name)):
                return self._call(name, node, unrounded)
            case _:
                return self._operation(node, unrounded)

    def _operation(self, node: ast.expr, unrounded: Unrounded) -> Value:
        match node:
            case ast.UnaryOp(ast.USub(), operand):
                return by_row(on_numbers(operator.neg), self._value(operand, unrounded))
            case ast.BinOp(first, sign, second) if type(sign) in ARITHMETIC:
                values = [self._value(part, unrounded) for part in (first, second)]
                return by_row(ARITHMETIC[type(sign)], *values)
            case ast.Compare(first, [order], [second]) if type(order) in COMPARISONS:
                as_printed = [self._value(part, None) for part in (first, second)]
                return by_row(COMPARISONS[type(order)], *as_printed)
            case _:
                text = ast.unparse(node)
                raise ValueError(f"{text} is not part of the language of formulas")

    def _other_formula(self, name: str, unrounded: Unrounded) -> Value:
        if name not in self._formulas:
            raise ValueError(f"there is nothing of the name {name!r}")
        if name in self._under_way:
            raise ValueError(f"it is defined by itself: {' → '.join([*self._under_way, name])}")
        self._under_way.append(name)
        value = self._value(self._formulas[name], unrounded)
        self._under_way.pop()
        return value

    def _selection(self, node: ast.expr, unrounded: Unrounded) -> list[Entry]:
        cells, fixed = self._select(node)
        entries = []
        for cell in cells:
            is_rounded = unrounded is not None and cell.half > 0
            self.cells[cell] = self.cells.get(cell, False) or is_rounded
            names = {column: name for column, name in cell.names.items() if column not in fixed}
            value = unrounded.get(cell, cell.value) if unrounded else cell.value
            entries.append(Entry(names, value, cell))
        return entries

    def _call(self, name: str, node: ast.Call, unrounded: Unrounded) -> Value:
        function, check = FUNCTIONS.get(name), CHECKS.get(name)
        if function is None and check is None:
            names = ", ".join(sorted({*FUNCTIONS, *CHECKS, 'claim("id")'}))
            raise ValueError(f"no function {name!r}; available: {names}")
        options = {
            str(option.arg): ast.unparse(option.value).strip("'") for option in node.keywords
        }
        assumed = unrounded if function else None
        values = [self._value(part, assumed) for part in node.args]
        try:
            remarks = list(check(*values, **options)) if check else []
            self.remarks |= dict.fromkeys(remarks)
            return function(*values, **options) if function else Fraction(len(remarks))
        except TypeError as error:  # too many values, or too few
            raise ValueError(f"{name}: {str(error).rpartition('() ')[2]}") from error
