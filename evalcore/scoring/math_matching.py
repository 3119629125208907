"""Answers compared by their shapes: order where order means something, and names where they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalcore.scoring import math_formulas as formulas
from evalcore.scoring.math_shapes import Formula, Group, Named, Relation, Shape, Union, shape_of
from evalcore.scoring.math_text import split, squeezed


def formulas_in(shape: Shape) -> Iterator[str]:
    """Yield the formulas that a shape is made of."""
    match shape:
        case Formula(text):
            yield text
        case Relation(left, _, right):
            yield from (left, right)
        case Named(_, value):
            yield from formulas_in(value)
        case Group(_, parts, _) | Union(parts):
            for part in parts:
                yield from formulas_in(part)


def paired(size: int, same: Callable[[int, int], bool]) -> bool:
    """Tell whether every gold has an answer of its own, in any order.

    Parameters
    ----------
    size : int
        How many golds and how many answers there are.
    same : callable
        Whether the gold with this number equals the answer with that number.

    Returns
    -------
    bool
        True where golds and answers can be paired off; equal golds need as many equal answers.
    """
    owner: dict[int, int] = {}

    def placed(gold: int, tried: set[int]) -> bool:
        nearest_first = sorted(range(size), key=lambda answer: answer != gold)
        for answer in nearest_first:
            if answer in tried or not same(gold, answer):
                continue
            tried.add(answer)
            if answer not in owner or placed(owner[answer], tried):
                owner[answer] = gold
                return True
        return False

    return all(placed(gold, set()) for gold in range(size))


@dataclass(frozen=True, slots=True)
class Matcher:
    """Compares shapes under one gold's rules."""

    tolerance: str | None = None
    """By how much a number may differ; a decimal number."""
    names_matter: bool = False
    """The gold gives values to several names, so that `a = 1, b = 2` isn't `a = 2, b = 1`."""

    def match(self, gold: Shape, given: Shape) -> bool:
        """Tell whether one answer is the gold."""
        match gold, given:
            case Formula(left), Formula(right):
                return formulas.equal(left, right, self.tolerance)
            case Group(), Group():
                return self._groups(gold, given)
            case Union(parts), Union(others):
                return all_match([self] * len(parts), parts, others)
            case (Named(), _) | (Relation(), _) | (_, Named()) | (_, Relation()):
                return self._relations(gold, given)
        return False

    def _groups(self, gold: Group, given: Group) -> bool:
        """Compare tuples and intervals part by part, sets in any order."""
        if (gold.opening, gold.closing) != (given.opening, given.closing):
            return False
        if gold.opening == "\\{":
            return all_match([self] * len(gold.parts), gold.parts, given.parts)
        return len(gold.parts) == len(given.parts) and all(
            self.match(one, other) for one, other in zip(gold.parts, given.parts, strict=True)
        )

    def _relations(self, gold: Shape, given: Shape) -> bool:
        """Compare where at least one of the two is a named value or a relation."""
        match gold, given:
            case Named(), Named():
                return self._named(gold, given)
            case Named(_, value), (Formula() | Group() | Union()):
                return self.match(value, given)
            case ((Formula() | Group() | Union()), Named(_, value)):
                return self.match(gold, value)
            case ((Formula() | Group() | Union()), Relation(_, "=", right)):
                return self.match(gold, shape_of(right))
        one, other = _as_relation(gold), _as_relation(given)
        return one is not None and other is not None and _same_relation(one, other)

    def _named(self, gold: Named, given: Named) -> bool:
        """Compare two named values; the argument of a function may have any name."""
        arguments = tuple(zip(_arguments(given.name), _arguments(gold.name), strict=False))
        renamed = {old: new for old, new in arguments if old != new}
        if self.names_matter and _head(gold.name) != _head(given.name):
            return False
        value = _renamed(given.value, renamed)
        return self.match(gold.value, value)


def all_match(matchers: Sequence[Matcher], golds: Sequence[Shape], given: Sequence[Shape]) -> bool:
    """Tell whether as many answers as golds can be paired off with them, in any order.

    Parameters
    ----------
    matchers : sequence of Matcher
        For each gold, the rules by which it is compared.
    golds, given : sequence of Shape
        The golds, and the answers.
    """
    known: dict[tuple[int, int], bool] = {}

    def same(gold: int, answer: int) -> bool:
        if (gold, answer) not in known:
            known[gold, answer] = matchers[gold].match(golds[gold], given[answer])
        return known[gold, answer]

    return len(golds) == len(given) and paired(len(golds), same)


def distinct_names(shapes: Sequence[Shape]) -> bool:
    """Tell whether the answers are given to different names."""
    names = [_head(shape.name) for shape in shapes if isinstance(shape, Named)]
    return any(one != other for one, other in pairwise(names))


def _head(name: str) -> str:
    """Return a name without the arguments behind it: `f` of `f(x)`."""
    name = squeezed(name)
    return name.partition("(")[0] or name


def _arguments(name: str) -> list[str]:
    """Return the variables of a function by its left side: x and y of `f(x, y)`."""
    found = re.fullmatch(r"[^()]+\(([^()]*)\)", squeezed(name))
    arguments = split(found[1], ",") if found else []
    return arguments if all(re.fullmatch("[A-Za-z]", one) for one in arguments) else []


def _renamed(shape: Shape, names: dict[str, str]) -> Shape:
    """Return a formula with its variables renamed, all at once; other shapes as they are."""
    if not names or not isinstance(shape, Formula):
        return shape
    letter = re.compile(r"\\[A-Za-z]+|[A-Za-z]")
    return Formula(letter.sub(lambda found: names.get(found[0], found[0]), shape.text))


def _as_relation(shape: Shape) -> Relation | None:
    """Return `name = formula` as a relation of two sides, a relation as it is."""
    if isinstance(shape, Named) and isinstance(shape.value, Formula):
        return Relation(shape.name, "=", shape.value.text)
    return shape if isinstance(shape, Relation) else None


def _same_relation(gold: Relation, given: Relation) -> bool:
    """Tell whether one relation is the other times a constant, a positive one in an inequality."""
    if gold.sign != given.sign:
        return False
    factor = formulas.ratio((gold.left, gold.right), (given.left, given.right))
    return factor is not None and (gold.sign in {"=", "\\ne"} or factor > 0)
