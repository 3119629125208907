"""What a formula gives, and what it may give since the figures in it were rounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from evalcore.claim_checks.evaluation import Evaluator
from evalcore.claim_checks.nodes import Node
from evalcore.claim_checks.tables import Cell


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The value of a formula."""

    value: Fraction
    """From the figures as printed."""
    low: Fraction
    high: Fraction
    """The ends of what the figures before rounding may have given."""
    cells: tuple[Cell, ...]
    remarks: tuple[str, ...]


def recompute(evaluator: Evaluator, node: Node) -> Recomputed:
    """Compute a formula and the range that the rounding of its inputs leaves open.

    Parameters
    ----------
    evaluator : Evaluator
        A new one.
    node : Node
        The formula.

    Returns
    -------
    Recomputed
        With the cells that were read.

    Raises
    ------
    FormulaError
        It can't be computed, or not for all values that were rounded to the printed ones.

    Notes
    -----
    Each rounded input is moved alone to learn in which direction the result goes with it; then all
    are moved together. That is exact where the formula is monotone in each of them, which sums,
    means, differences, products and ratios of positive figures are. Unlike interval arithmetic it
    does not count a cell twice that occurs twice.
    """
    value = evaluator.number(node, {})
    remarks, rounded = tuple(evaluator.remarks), list(evaluator.rounded)
    upwards: dict[Cell, Fraction] = {}
    downwards: dict[Cell, Fraction] = {}
    reached = [value]
    for cell in rounded:
        below, above = _ends(cell)
        at_below = evaluator.number(node, {cell: below})
        at_above = evaluator.number(node, {cell: above})
        rises = at_above >= at_below
        upwards[cell], downwards[cell] = (above, below) if rises else (below, above)
        reached += [at_below, at_above]
    reached += [_at(evaluator, node, upwards), _at(evaluator, node, downwards)]
    return Recomputed(value, min(reached), max(reached), tuple(evaluator.cells), remarks)


def _ends(cell: Cell) -> tuple[Fraction, Fraction]:
    printed = cell.printed
    assert printed is not None
    return printed.value - printed.unit / 2, printed.value + printed.unit / 2


def _at(evaluator: Evaluator, node: Node, values: Mapping[Cell, Fraction]) -> Fraction:
    return evaluator.number(node, values)
