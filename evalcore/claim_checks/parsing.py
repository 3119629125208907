"""Formulas as texts → nodes.

A parser of our own, since a selection holds names as tables print them (`Gemini 2.5 Pro`,
`Asset Classes & Derivatives`), which no programming language would read.
"""

from __future__ import annotations

import re
from fractions import Fraction

from evalcore.claim_checks.nodes import (
    Binary,
    Call,
    Condition,
    Literal,
    Name,
    Negative,
    Node,
    Selection,
)

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?|\.\d+")
_QUOTED = re.compile(r'"([^"]*)"')
_COMPARISON = re.compile(r"==|!=|<=|>=|<|>")
_SUM = re.compile(r"[+-]")
_PRODUCT = re.compile(r"[*/]")
_CONDITION = re.compile(r"!=|<=|>=|=|<|>")
_BARE_VALUE = re.compile(r'[^,\]|"]+')
_OPTION = re.compile(r"(\w+)\s*=(?!=)\s*(\w+)")
_DEEPEST = 50


class FormulaError(Exception):
    """A formula can't be read or computed: what is wrong, and at which of its characters."""

    def __init__(self, problem: str, at: int | None = None) -> None:
        place = "" if at is None else f"formula, character {at + 1}: "
        super().__init__(f"{place}{problem}")


def parse_formula(text: str) -> Node:
    """Return the nodes of a formula, or raise FormulaError."""
    parser = _Parser(text)
    node = parser.comparison()
    if parser.rest():
        raise parser.error("an operator or the end")
    return node


class _Parser:
    """Reads a text from left to right, one method per rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def rest(self) -> str:
        self._skip()
        return self._text[self._at :]

    def error(self, expected: str) -> FormulaError:
        rest = self.rest()
        found = repr(rest[:12]) if rest else "the end"
        return FormulaError(f"found {found}; expected {expected}", self._at)

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._skip()
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def _take_sign(self, sign: str) -> bool:
        return self._take(re.compile(re.escape(sign))) is not None

    def _need_sign(self, sign: str) -> None:
        if not self._take_sign(sign):
            raise self.error(repr(sign))

    def _need(self, pattern: re.Pattern[str], expected: str) -> str:
        found = self._take(pattern)
        if found is None:
            raise self.error(expected)
        return found[0]

    def comparison(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FormulaError(f"more than {_DEEPEST} brackets in each other", self._at)
        left = self._sum()
        found = self._take(_COMPARISON)
        if found:
            left = Binary(found[0], left, self._sum(), found.start())
        self._depth -= 1
        return left

    def _sum(self) -> Node:
        left = self._product()
        while found := self._take(_SUM):
            left = Binary(found[0], left, self._product(), found.start())
        return left

    def _product(self) -> Node:
        left = self._signed()
        while found := self._take(_PRODUCT):
            left = Binary(found[0], left, self._signed(), found.start())
        return left

    def _signed(self) -> Node:
        self._skip()
        at = self._at
        negative = False
        while self._take_sign("-"):
            negative = not negative
        node = self._primary()
        return Negative(node, at) if negative else node

    def _primary(self) -> Node:
        if self._take_sign("("):
            node = self.comparison()
            self._need_sign(")")
            return node
        if found := self._take(_NUMBER):
            return Literal(Fraction(found[0]))
        if found := self._take(_QUOTED):
            return Literal(found[1])
        return self._named()

    def _named(self) -> Node:
        self._skip()
        at = self._at
        name = self._need(_NAME, "a number, a text in quotes, a selection, a function or a bracket")
        if self._take_sign("("):
            return self._call(name, at)
        if self._take_sign("["):
            conditions = self._conditions()
            self._need_sign(".")
            return Selection(name, conditions, self._need(_NAME, "a column"), at)
        if self._take_sign("."):
            return Selection(name, (), self._need(_NAME, "a column"), at)
        return Name(name, at)

    def _call(self, name: str, at: int) -> Call:
        arguments: list[Node] = []
        options: dict[str, str] = {}
        while not self._take_sign(")"):
            if arguments or options:
                self._need_sign(",")
            if option := self._take(_OPTION):
                options[option[1]] = option[2]
            else:
                arguments.append(self.comparison())
        return Call(name, tuple(arguments), options, at)

    def _conditions(self) -> tuple[Condition, ...]:
        conditions = [self._condition()]
        while self._take_sign(","):
            conditions.append(self._condition())
        self._need_sign("]")
        return tuple(conditions)

    def _condition(self) -> Condition:
        self._skip()
        at = self._at
        column = self._need(_NAME, "a column")
        operator = self._need(_CONDITION, "one of = != < <= > >=")
        values = [self._value()]
        while self._take_sign("|"):
            values.append(self._value())
        return Condition(column, operator, tuple(values), at)

    def _value(self) -> str:
        quoted = self._take(_QUOTED)
        return quoted[1] if quoted else self._need(_BARE_VALUE, "a value").strip()
