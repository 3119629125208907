r"""Sets of real numbers, however they are written: `x>2`, `2<x`, `-x<-2`, `(2,\infty)`.

An inequality in one variable is solved, so that another one with the same solutions is equal.
"""

import re
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import sympy
from sympy import FiniteSet, Interval, S

from evalcore.rules.brackets import enclosed, split

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": sympy.StrictLessThan,
    "≤": sympy.LessThan,
    ">": sympy.StrictGreaterThan,
    "≥": sympy.GreaterThan,
    "≠": sympy.Unequality,
}
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "∪": sympy.Union,
    "∩": sympy.Intersection,
    "∖": sympy.Complement,
}
"""Operations on sets, the one that binds least first."""
_RELATION = re.compile("[<>≤≥≠]")
_NEEDS_SETS = re.compile("[<>≤≥≠∪∩∖]|mathbb")


class NoRealSetError(Exception):
    """A text is not a set of real numbers, or not one that can be solved."""


def may_be_sets(texts: Sequence[str]) -> bool:
    """Tell whether answers need to be compared as sets: they have relations or unions."""
    return any(_NEEDS_SETS.search(text) for text in texts)


def read_real_set(
    texts: Sequence[str], is_alternative: bool, parse: Callable[[str], Any]
) -> tuple[Any, str]:
    r"""Return the set of real numbers that answers describe together, and its variable.

    Parameters
    ----------
    texts : sequence of str
        Cleaned answers: one set, or relations of one variable.
    is_alternative : bool
        Whether the answer has the word "or": the union is meant. Otherwise it is the intersection,
        unless that is empty: `x<-1, x>1`.
    read : callable
        Returns the SymPy expression of a formula, or raises.

    Returns
    -------
    tuple of sympy.Set and str
        The set; the name of its variable, empty if there is none.

    Raises
    ------
    NoRealSetError
        They are something else, or have several variables.
    """
    named_sets = [_read(text, parse) for text in _with_signs(texts)]
    names = {name for _, name in named_sets} - {""}
    if len(names) > 1 or not named_sets:
        raise NoRealSetError("several variables")
    sets = [numbers for numbers, _ in named_sets]
    together = reduce(sympy.Union, sets)
    if not is_alternative and len(sets) > 1:
        common = reduce(sympy.Intersection, sets)
        together = together if common is S.EmptySet else common
    return together, next(iter(names), "")


def _with_signs(texts: Sequence[str]) -> list[str]:
    r"""Return `x\ne 1, 2` with the relation said of each number."""
    excluded = re.match(r"[^≠]+≠", texts[0]) if texts else None
    if not excluded:
        return [*texts]
    return [text if _RELATION.search(text) else f"{excluded[0]}{text}" for text in texts]


def _read(text: str, parse: Callable[[str], Any]) -> tuple[Any, str]:
    if _RELATION.search(text):
        return _solve(text, parse)
    name, _, bare = text.rpartition("∈")
    if not name:
        name, _, bare = text.rpartition("=")
    if name and not re.fullmatch(r"\s*[A-Za-z](?:_\{?\w+\}?)?\s*", name):
        raise NoRealSetError("not a name")
    numbers = _set_of(bare.strip(), parse)
    # `D = (0, 1)` has the name of a set, `x ∈ (0, 1)` and `x = 1` that of a variable
    is_variable = "∈" in text or isinstance(numbers, FiniteSet)
    return numbers, name.strip() if is_variable else ""


def _set_of(text: str, parse: Callable[[str], Any]) -> Any:
    for sign, combine in _OPERATIONS.items():
        parts = split(text, sign)
        if len(parts) > 1:
            return reduce(combine, (_set_of(part, parse) for part in parts))
    if text in _NAMED:
        return _NAMED[text]
    brackets, inner = enclosed(text)
    entries = [_real(entry, parse) for entry in split(inner, ",") if entry]
    if brackets == "⦃⦄" or (not brackets and len(entries) == 1):
        return FiniteSet(*entries)
    return _interval(brackets, entries)


_POSITIVE, _NEGATIVE = Interval.open(0, S.Infinity), Interval.open(-S.Infinity, 0)
_NAMED = {
    r"\mathbb{R}": S.Reals,
    "R": S.Reals,
    r"\mathbb{R}^+": _POSITIVE,
    r"\mathbb{R}^{+}": _POSITIVE,
    r"\mathbb{R}_+": _POSITIVE,
    r"\mathbb{R}^-": _NEGATIVE,
    r"\mathbb{R}^{-}": _NEGATIVE,
    r"\emptyset": S.EmptySet,
}


def _interval(brackets: str, ends: Sequence[Any]) -> Any:
    is_bracketed = brackets[:1] in {"(", "["} and brackets[1:] in {")", "]"}
    if len(ends) != 2 or not is_bracketed or (ends[0] < ends[1]) != sympy.true:
        raise NoRealSetError("not an interval")
    return Interval(*ends, brackets[0] == "(", brackets[1] == ")")


def _real(text: str, parse: Callable[[str], Any]) -> Any:
    value = parse(text)
    number = value.doit() if isinstance(value, sympy.Expr) else None
    if number is None or not number.is_extended_real:
        raise NoRealSetError("not a real number")
    return number


def _solve(text: str, parse: Callable[[str], Any]) -> tuple[Any, str]:
    """Return the solutions of a chain of relations, such as `1 < 2x ≤ 4`."""
    parts = split(text, "([<>≤≥≠=])")
    signs, sides = parts[1::2], parts[::2]
    if "=" in signs or not all(sides) or not signs:
        raise NoRealSetError("an equation")
    expressions = [parse(side) for side in sides]
    is_formula = all(isinstance(side, sympy.Expr) for side in expressions)
    if not is_formula or any(side.has(S.ComplexInfinity, S.NaN) for side in expressions):
        raise NoRealSetError("not a formula")
    symbols = set().union(*(side.free_symbols for side in expressions))
    if len(symbols) != 1:
        raise NoRealSetError("not one variable")
    (symbol,) = symbols
    variable = sympy.Symbol("x", real=True)
    expressions = [side.subs(symbol, variable) for side in expressions]
    solutions = S.Reals
    for sign, (left, right) in zip(signs, pairwise(expressions), strict=True):
        solutions = sympy.Intersection(solutions, _solutions(_SIGNS[sign](left, right), variable))
    return solutions, str(symbol)


def _solutions(relation: Any, variable: Any) -> Any:
    if relation in {sympy.true, sympy.false}:
        return S.Reals if relation == sympy.true else S.EmptySet
    if isinstance(relation, sympy.Unequality):
        roots = sympy.solveset(relation.lhs - relation.rhs, variable, S.Reals)
        return sympy.Complement(S.Reals, roots)
    try:
        return sympy.solve_univariate_inequality(relation, variable, relational=False)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise NoRealSetError(str(error)) from error


def are_equal(left: Any, right: Any, is_zero: Callable[[Any], bool]) -> bool:
    """Tell whether two sets have the same intervals and points; raise if that isn't known."""
    left_pieces, right_pieces = _pieces(left), _pieces(right)
    return len(left_pieces) == len(right_pieces) and all(
        left_piece.is_left_open == right_piece.is_left_open
        and left_piece.is_right_open == right_piece.is_right_open
        and _same_end(left_piece.start, right_piece.start, is_zero)
        and _same_end(left_piece.end, right_piece.end, is_zero)
        for left_piece, right_piece in zip(left_pieces, right_pieces, strict=True)
    )


def _same_end(left: Any, right: Any, is_zero: Callable[[Any], bool]) -> bool:
    if left.is_infinite or right.is_infinite:
        return bool(left == right)
    return is_zero(left - right)


class _SetPiece(NamedTuple):
    """An interval, or a point where both ends are equal."""

    start: Any
    end: Any
    is_left_open: bool
    is_right_open: bool


def _pieces(numbers: Any) -> list[_SetPiece]:
    """Return the intervals and points of a set from left to right."""
    if hasattr(numbers, "doit"):
        numbers = numbers.doit()
    if isinstance(numbers, sympy.Complement | sympy.Intersection):
        numbers = numbers.simplify()
    parts = numbers.args if isinstance(numbers, sympy.Union) else (numbers,)
    pieces = list[_SetPiece]()
    for part in parts:
        if isinstance(part, Interval):
            is_left_open, is_right_open = bool(part.left_open), bool(part.right_open)
            pieces.append(_SetPiece(part.start, part.end, is_left_open, is_right_open))
        elif isinstance(part, FiniteSet):
            pieces += [_SetPiece(point, point, False, False) for point in part.args]
        elif part is S.Reals:
            pieces.append(_SetPiece(-sympy.oo, sympy.oo, True, True))
        elif part is not S.EmptySet:
            raise NoRealSetError("not made of intervals and points")
    return sorted(pieces, key=lambda piece: (float(piece.start), float(piece.end)))
