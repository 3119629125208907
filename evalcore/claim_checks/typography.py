"""Functions of cells as they are printed: bold, stars, percentages of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from evalcore.claim_checks.arguments import Arguments, Function
from evalcore.claim_checks.columns import Column, Entry, Value
from evalcore.claim_checks.parsing import FormulaError
from evalcore.claim_checks.tables import Cell, Printed

_STARS = ((Fraction(1, 1000), "***"), (Fraction(1, 100), "**"), (Fraction(1, 20), "*"))


def _wrong_bold(best: Callable[[Iterable[Fraction]], Fraction]) -> Callable[[Arguments], Value]:
    """Count cells that are bold but not the best of their group, or the best but not bold.

    A group are the rows that differ in the column `among` alone. Of cells that are equally good as
    printed, any may be bold: digits that are not printed may tell them apart.
    """

    def compute(given: Arguments) -> Value:
        wrong = [
            address
            for group in _groups(given).values()
            for address in _misplaced(group, best(value for _, value, _ in group))
        ]
        return _counted(wrong, given)

    return compute


def _groups(given: Arguments) -> dict[tuple[str, ...], list[tuple[Cell, Fraction, bool]]]:
    among, marks = given.option("among"), given.option("marks", "bold")
    groups: dict[tuple[str, ...], list[tuple[Cell, Fraction, bool]]] = {}
    for _, cell in given.cells(0):
        given.beside(cell, among)
        key = tuple(name for column, name in cell.names if column != among)
        mark = given.beside(cell, marks)
        if mark not in {"0", "1"}:
            raise FormulaError(f"{marks} is {mark!r}; expected 0 or 1", given.at)
        value = given.number_beside(cell, cell.column)
        groups.setdefault(key, []).append((cell, value, mark == "1"))
    return groups


def _misplaced(group: list[tuple[Cell, Fraction, bool]], best: Fraction) -> list[str]:
    tied = sum(value == best for _, value, _ in group)
    return [
        f"{cell.address} = {cell.text} is {'bold' if bold else 'not bold'}"
        for cell, value, bold in group
        if (bold and value != best) or (not bold and value == best and tied == 1)
    ]


def _wrong_stars(given: Arguments) -> Value:
    """Count p-values whose stars, in the column `stars`, are not those of the usual limits."""
    column = given.option("stars", "stars")
    wrong = []
    for _, cell in given.cells(0):
        printed = cell.printed
        if printed is None:
            raise FormulaError(f"{cell.text!r} is no p-value", given.at)
        stars = given.beside(cell, column)
        if stars not in _possible_stars(printed):
            wrong.append(f"{cell.address} = {cell.text} has {stars or 'no star'}")
    return _counted(wrong, given)


def _possible_stars(p: Printed) -> set[str]:
    """Return the stars of all values that may have been rounded to a p-value."""
    if p.below:
        return {_stars_below(p.value)}
    half = p.unit / 2
    inner = half * Fraction(999, 1000)  # the very ends are rounded away, or may be
    return {_stars_of(p.value - inner), _stars_of(p.value + inner)}


def _stars_of(p: Fraction) -> str:
    return next((stars for limit, stars in _STARS if p < limit), "")


def _stars_below(bound: Fraction) -> str:
    return next((stars for limit, stars in _STARS if bound <= limit), "")


def _exact_pct(given: Arguments) -> Value:
    """Return percentages before rounding, where only one whole number of `of` prints so.

    Where several do or none does, the cell stays as it is, with its rounding.
    """
    entries = []
    for entry, cell in given.cells(0):
        size = _size(given, cell)
        wholes = _wholes(cell, size, given)
        if not wholes:
            given.remarks.append(f"{cell.address} = {cell.text} is no whole number of {size}")
        exact = Fraction(100 * wholes[0], size) if len(wholes) == 1 else entry.value
        entries.append(Entry(entry.names, exact, cell))
    return Column(entries)


def _impossible_pct(given: Arguments) -> Value:
    """Count percentages that no whole number of `of` gives."""
    wrong = [
        f"{cell.address} = {cell.text} is no whole number of {_size(given, cell)}"
        for _, cell in given.cells(0)
        if not _wholes(cell, _size(given, cell), given)
    ]
    return _counted(wrong, given)


def _size(given: Arguments, cell: Cell) -> int:
    """Return of how many a percentage is: an argument, or another column of its row."""
    if len(given.values) == 2:
        size = given.number(1)
    else:
        size = given.number_beside(cell, given.option("of"))
    if size.denominator != 1 or size <= 0:
        raise FormulaError(f"{float(size):g} is no number of things", given.at)
    return int(size)


def _wholes(cell: Cell, size: int, given: Arguments) -> list[int]:
    """Return the whole numbers whose percentage is printed so, halves rounded either way."""
    given.number_beside(cell, cell.column)
    printed = cell.printed
    assert printed is not None
    low = math.ceil((printed.value - printed.unit / 2) * size / 100)
    high = math.floor((printed.value + printed.unit / 2) * size / 100)
    return [whole for whole in range(low, high + 1) if 0 <= whole <= size]


def _counted(wrong: list[str], given: Arguments) -> Fraction:
    given.remarks.extend(wrong)
    return Fraction(len(wrong))


TYPOGRAPHY: Mapping[str, Function] = {
    "wrong_bold_max": Function(
        _wrong_bold(max), 1, 1, frozenset({"among", "marks"}), as_printed=True
    ),
    "wrong_bold_min": Function(
        _wrong_bold(min), 1, 1, frozenset({"among", "marks"}), as_printed=True
    ),
    "wrong_stars": Function(_wrong_stars, 1, 1, frozenset({"stars"}), as_printed=True),
    "exact_pct": Function(_exact_pct, 1, 2, frozenset({"of"})),
    "impossible_pct": Function(_impossible_pct, 1, 2, frozenset({"of"}), as_printed=True),
}
"""By name."""
