"""The shape of one answer: a formula, a tuple or interval, a union, a named value, a relation.

Brackets are read here and not by the algebra system, because there `(1, 2)` is an open interval,
`(1, 2]` next to a name is an error, and a set forgets how often a number stands in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalcore.scoring.math_text import enclosed, split


@dataclass(frozen=True, slots=True)
class Formula:
    """One expression in LaTeX."""

    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between brackets, in order; in braces the order means nothing."""

    opening: str
    parts: tuple[Shape, ...]
    closing: str


@dataclass(frozen=True, slots=True)
class Union:
    """Sets joined, in any order."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    r"""A value with what it is said of: `x = 5`, `f(x) = 2x`, `x \in [0, 1]`, `0 < c < 1`."""

    name: str
    value: Shape


@dataclass(frozen=True, slots=True)
class Relation:
    r"""Two sides and what stands between them: =, <, \le or \ne; never > (the sides change)."""

    left: str
    sign: str
    right: str


Shape = Formula | Group | Union | Named | Relation

_SIGNS = r"(=|\\approx|<|>|\\le(?![A-Za-z])|\\ge(?![A-Za-z])|\\ne(?![A-Za-z])|\\in(?![A-Za-z]))"
_UPWARDS = {"<": ("(", ")"), "\\le": ("[", "]")}
_TURNED = {">": "<", "\\ge": "\\le"}


def shape_of(text: str) -> Shape:
    """Return the shape of one cleaned answer; what is no other shape is a formula."""
    sides = split(text, _SIGNS)
    if len(sides) > 1 and all(sides):
        return _related(sides[0::2], sides[1::2])
    sets = split(text, r"\\cup(?![A-Za-z])")
    if len(sets) > 1:
        return Union(tuple(shape_of(part) for part in sets))
    return _grouped(text)


def _grouped(text: str) -> Shape:
    """Return a group in brackets, `t(0, 4]` included, where the name is t; else a formula."""
    named = re.fullmatch(r"([A-Za-z])\s*((?:\[.*[)\]])|(?:\(.*\]))", text)
    brackets = enclosed(named[2] if named else text)
    if brackets is None:
        return Formula(text)
    parts = split(brackets[1], ",")
    if len(parts) == 1 and brackets[0] != "\\{":
        return Formula(text)
    group = Group(brackets[0], tuple(shape_of(part) for part in parts), brackets[2])
    return Named(named[1], group) if named else group


def _related(sides: list[str], signs: list[str]) -> Shape:
    """Return what a chain of relations says."""
    if all(sign in {"=", "\\approx"} for sign in signs):
        if _is_name(sides[0]):
            return Named(sides[0], shape_of(sides[-1]))
        return Relation(sides[0], "=", sides[-1])
    if signs == ["\\in"] and _is_name(sides[0]):
        return Named(sides[0], shape_of(sides[1]))
    signs_up = [_TURNED.get(sign, sign) for sign in signs]
    if signs_up != signs and all(sign in _TURNED for sign in signs):
        sides, signs = sides[::-1], signs_up[::-1]
    return _inequality(sides, signs)


def _inequality(sides: list[str], signs: list[str]) -> Shape:
    """Return an interval where a name stands alone on one side or in the middle."""
    if not all(sign in _UPWARDS for sign in signs):
        return _plain(sides, signs)
    opening, closing = _UPWARDS[signs[0]][0], _UPWARDS[signs[-1]][1]
    if len(sides) == 3 and _is_name(sides[1]):
        ends = (shape_of(sides[0]), shape_of(sides[2]))
        return Named(sides[1], Group(opening, ends, closing))
    if len(sides) == 2 and _is_name(sides[0]):
        return Named(sides[0], Group("(", (Formula("-\\infty"), shape_of(sides[1])), closing))
    if len(sides) == 2 and _is_name(sides[1]):
        return Named(sides[1], Group(opening, (shape_of(sides[0]), Formula("\\infty")), ")"))
    return _plain(sides, signs)


def _plain(sides: list[str], signs: list[str]) -> Shape:
    """Return a relation of two sides; a longer chain stays text, which only equals itself."""
    if len(sides) != 2 or signs[0] == "\\in":
        return Formula(
            " ".join([sides[0], *(f"{s} {t}" for s, t in zip(signs, sides[1:], strict=True))])
        )
    return Relation(sides[0], signs[0], sides[1])


def _is_name(text: str) -> bool:
    r"""Tell whether a side is what is asked for, not a calculation: `x`, `f(x)`, `\angle A`."""
    bare = re.sub(r"_(?:\{[^{}]*\}|\w)", "", text)
    calculation = r"[-+/^!]|\\(?:frac|sqrt|cdot|times|binom|sum)(?![A-Za-z])|(?:^|[^\w(,])\d|^\d"
    return bool(bare) and re.search(calculation, bare) is None and bool(re.search("[A-Za-z]", bare))
