"""Functions of numbers: averages, counts, tests, intervals, power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from evalcore.claim_checks.arguments import Arguments, Function
from evalcore.claim_checks.columns import Column, Scalar, Value, as_number, combine
from evalcore.claim_checks.parsing import FormulaError
from ngramscan.proportions import mcnemar, wilson


def _sum(given: Arguments) -> Value:
    return sum(given.numbers(), Fraction(0))


def _mean(given: Arguments) -> Value:
    found = given.numbers()
    return sum(found, Fraction(0)) / len(found)


def _weighted_mean(given: Arguments) -> Value:
    """Weights are another column of the same rows."""
    column = given.option("by")
    weighted = Fraction(0)
    total = Fraction(0)
    for entry, cell in given.cells(0):
        weight = given.number_beside(cell, column)
        weighted += as_number(entry.value, given.at) * weight
        total += weight
    if total <= 0:
        raise FormulaError("the weights sum to nothing", given.at)
    return weighted / total


def _count(given: Arguments) -> Value:
    """Count the rows in which a comparison holds, or the cells of a selection."""
    value = given.values[0]
    if isinstance(value, bool):
        return Fraction(value)
    if not isinstance(value, Column):
        raise FormulaError("count takes a selection or a comparison", given.at)
    return Fraction(sum(entry.value is not False for entry in value.entries))


def _extreme(best: Callable[[Sequence[Fraction]], Fraction]) -> Callable[[Arguments], Value]:
    """Of all numbers of one list; of several arguments row by row."""

    def compute(given: Arguments) -> Value:
        if len(given.values) == 1:
            return best(given.numbers())
        return combine(
            lambda row: best([as_number(value, given.at) for value in row]), given.values, given.at
        )

    return compute


def _by_row(function: Callable[[Fraction], Fraction]) -> Callable[[Arguments], Value]:
    def compute(given: Arguments) -> Value:
        def of_row(row: Sequence[Scalar]) -> Scalar:
            return function(as_number(row[0], given.at))

        return combine(of_row, given.values[:1], given.at)

    return compute


def _sqrt(given: Arguments) -> Value:
    value = given.number(0)
    if value < 0:
        raise FormulaError("the square root of a negative number", given.at)
    return Fraction(math.sqrt(value))


def _round(given: Arguments) -> Value:
    """To so many decimals, halves away from zero, as tables are rounded."""
    factor = 10 ** given.whole(1)

    def rounded(value: Fraction) -> Fraction:
        halves = Fraction(math.floor(abs(value) * factor + Fraction(1, 2)), factor)
        return halves if value >= 0 else -halves

    return _by_row(rounded)(given)


def _mcnemar(given: Arguments) -> Value:
    return Fraction(mcnemar(given.whole(0), given.whole(1)))


def _wilson(side: str) -> Callable[[Arguments], Value]:
    def compute(given: Arguments) -> Value:
        try:
            estimate = wilson(given.whole(0), given.whole(1))
        except ValueError as error:
            raise FormulaError(str(error), given.at) from error
        return Fraction(getattr(estimate, side))

    return compute


def _power_paired_t(given: Arguments) -> Value:
    """Return how probably the test finds an effect; the mean in standard deviations, and n."""
    from evalcore.statistics.power import t_power

    return Fraction(t_power(_pairs(given), float(given.number(0))))


def _effect_paired_t(given: Arguments) -> Value:
    """Return the smallest effect that is found with so much power, and so many pairs."""
    from evalcore.statistics.power import t_detectable

    try:
        found = t_detectable(_pairs(given), float(given.number(0)))
    except ValueError as error:
        raise FormulaError(str(error), given.at) from error
    if found.value is None:
        raise FormulaError(found.note, given.at)
    return Fraction(found.value)


def _pairs(given: Arguments) -> int:
    n = given.whole(1)
    if n < 2:
        raise FormulaError("power needs two pairs or more", given.at)
    return n


ARITHMETIC: Mapping[str, Function] = {
    "sum": Function(_sum, 1, None),
    "mean": Function(_mean, 1, None),
    "weighted_mean": Function(_weighted_mean, 1, 1, frozenset({"by"})),
    "count": Function(_count, 1, 1, takes_empty=True),
    "min": Function(_extreme(min), 1, None),
    "max": Function(_extreme(max), 1, None),
    "abs": Function(_by_row(abs), 1, 1),
    "round": Function(_round, 2, 2),
    "sqrt": Function(_sqrt, 1, 1),
    "mcnemar": Function(_mcnemar, 2, 2),
    "wilson_low": Function(_wilson("low"), 2, 2),
    "wilson_high": Function(_wilson("high"), 2, 2),
    "power_paired_t": Function(_power_paired_t, 2, 2),
    "effect_paired_t": Function(_effect_paired_t, 2, 2),
}
"""By name."""
