"""What a formula is made of, once it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a text that stands in the formula."""

    value: Fraction | str


@dataclass(frozen=True, slots=True)
class Name:
    """A formula that the claims file gives a name."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Condition:
    """What the rows of a selection have in common."""

    column: str
    operator: str
    values: tuple[str, ...]
    """One of them is enough."""
    at: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Some cells of one column of a table."""

    table: str
    conditions: tuple[Condition, ...]
    column: str
    at: int


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus something."""

    operand: Node
    at: int


@dataclass(frozen=True, slots=True)
class Binary:
    """Two things with an operator between them."""

    operator: str
    left: Node
    right: Node
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function of things; its options are names."""

    function: str
    arguments: tuple[Node, ...]
    options: Mapping[str, str]
    at: int


Node = Literal | Name | Selection | Negative | Binary | Call
