"""Nodes → values, with the cells that they were computed from."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalcore.claim_checks.arguments import Arguments, Function
from evalcore.claim_checks.arithmetic import ARITHMETIC
from evalcore.claim_checks.columns import Column, Entry, Scalar, Value, as_number, combine
from evalcore.claim_checks.nodes import Binary, Call, Literal, Name, Negative, Node, Selection
from evalcore.claim_checks.parsing import FormulaError
from evalcore.claim_checks.selecting import select
from evalcore.claim_checks.tables import Cell, Tables
from evalcore.claim_checks.typography import TYPOGRAPHY

_FUNCTIONS: Mapping[str, Function] = {**ARITHMETIC, **TYPOGRAPHY}
_ARITHMETIC: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_COMPARISONS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CLAIM = "claim"


@dataclass(frozen=True, slots=True)
class Formulas:
    """Formulas that others may use."""

    named: Mapping[str, Node]
    of_claims: Mapping[str, Node]


class Evaluator:
    """Computes one formula, as often as its range needs, and remembers what it read."""

    def __init__(self, tables: Tables, formulas: Formulas) -> None:
        self._tables = tables
        self._formulas = formulas
        self._selected: dict[int, tuple[Selection, list[Cell]]] = {}
        self._other_values: Mapping[Cell, Fraction] = {}
        self._as_printed = 0
        self._under_way: list[str] = []
        self.cells: dict[Cell, None] = {}
        """All that were read, in the order in which they were."""
        self.rounded: dict[Cell, None] = {}
        """Those among them whose rounding matters."""
        self.remarks: list[str] = []

    def number(self, node: Node, other_values: Mapping[Cell, Fraction]) -> Fraction:
        """Compute the number that a formula gives.

        Parameters
        ----------
        node : Node
            The formula.
        other_values : mapping of Cell to Fraction
            What to take in place of what is printed.

        Returns
        -------
        Fraction
            Exact, as long as the formula has no square roots and tests.

        Raises
        ------
        FormulaError
            It can't be computed, or gives several values, a text, yes or no.
        """
        self._other_values = other_values
        self.remarks = []
        return as_number(self._value(node), 0)

    def _value(self, node: Node) -> Value:
        match node:
            case Literal():
                return node.value
            case Name():
                return self._other_formula(node.name, self._formulas.named, node.at)
            case Selection():
                return self._selection(node, takes_empty=False)
            case Negative():
                return combine(
                    lambda row: -as_number(row[0], node.at), [self._value(node.operand)], node.at
                )
            case Binary():
                return self._binary(node)
            case Call():
                return self._call(node)

    def _other_formula(self, name: str, formulas: Mapping[str, Node], at: int) -> Value:
        if name not in formulas:
            raise FormulaError(f"there is nothing of the name {name!r}", at)
        if name in self._under_way:
            circle = " → ".join([*self._under_way, name])
            raise FormulaError(f"it is defined by itself: {circle}", at)
        self._under_way.append(name)
        value = self._value(formulas[name])
        self._under_way.pop()
        return value

    def _selection(self, node: Selection, *, takes_empty: bool) -> Value:
        # By identity, since comparing nodes takes longer than selecting again; kept alive thereby.
        if id(node) not in self._selected:
            self._selected[id(node)] = (node, select(self._tables, node))
        cells = self._selected[id(node)][1]
        if not cells and not takes_empty:
            raise FormulaError("no row meets all conditions", node.at)
        fixed = {c.column for c in node.conditions if c.operator == "=" and len(c.values) == 1}
        return Column([self._entry(cell, fixed) for cell in cells])

    def _entry(self, cell: Cell, fixed: set[str]) -> Entry:
        self.cells[cell] = None
        names = {column: name for column, name in cell.names if column not in fixed}
        printed = cell.printed
        if printed is None or printed.below:
            return Entry(names, cell.text, cell)
        if self._as_printed or cell.exact:
            return Entry(names, printed.value, cell)
        self.rounded[cell] = None
        return Entry(names, self._other_values.get(cell, printed.value), cell)

    def _binary(self, node: Binary) -> Value:
        if node.operator in _ARITHMETIC:
            sides = [self._value(node.left), self._value(node.right)]
            return combine(lambda row: _calculate(node, row), sides, node.at)
        self._as_printed += 1
        sides = [self._value(node.left), self._value(node.right)]
        self._as_printed -= 1
        return combine(lambda row: _compare(node, row), sides, node.at)

    def _call(self, node: Call) -> Value:
        if node.function == _CLAIM:
            return self._claim(node)
        function = _FUNCTIONS.get(node.function)
        if function is None:
            known = ", ".join(sorted([*_FUNCTIONS, _CLAIM]))
            raise FormulaError(f"no function {node.function!r}; there are {known}", node.at)
        _check_call(node, function)
        self._as_printed += function.as_printed
        values = [
            self._selection(argument, takes_empty=function.takes_empty)
            if isinstance(argument, Selection)
            else self._value(argument)
            for argument in node.arguments
        ]
        self._as_printed -= function.as_printed
        given = Arguments(values, node.options, node.at, self._tables, self.remarks)
        return function.compute(given)

    def _claim(self, node: Call) -> Value:
        match node.arguments:
            case (Literal(value=str() as name),):
                return self._other_formula(name, self._formulas.of_claims, node.at)
        raise FormulaError('expected the id of a claim in quotes: claim("…")', node.at)


def _check_call(node: Call, function: Function) -> None:
    given = len(node.arguments)
    if given < function.least or (function.most is not None and given > function.most):
        raise FormulaError(f"{node.function} does not take {given} arguments", node.at)
    for name in node.options:
        if name not in function.options:
            raise FormulaError(f"{node.function} has no option {name!r}", node.at)


def _calculate(node: Binary, row: Sequence[Scalar]) -> Fraction:
    left, right = (as_number(value, node.at) for value in row)
    if node.operator == "/" and right == 0:
        raise FormulaError("division by zero", node.at)
    return _ARITHMETIC[node.operator](left, right)


def _compare(node: Binary, row: Sequence[Scalar]) -> bool:
    if node.operator in {"==", "!="}:
        return (row[0] == row[1]) == (node.operator == "==")
    left, right = (as_number(value, node.at) for value in row)
    return _COMPARISONS[node.operator](left, right)
