"""Whether a mathematical answer is the gold: one answer or several, with units and tolerances.

What the text alone decides is told without the algebra system: `judged_by_text`. The rest,
`judged_by_algebra`, may take any time and belongs into a process that can be ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalcore.scoring.base import Verdict
from evalcore.scoring.math_formulas import NotMathematicsError, TooLargeError, expression
from evalcore.scoring.math_matching import Matcher, all_match, distinct_names, formulas_in
from evalcore.scoring.math_shapes import Shape, shape_of
from evalcore.scoring.math_text import answers, clean, depth, squeezed, why_a_judge
from evalcore.scoring.math_units import unit_named, without_unit

MAX_CHARACTERS = 10_000
MAX_DEPTH = 60


@dataclass(frozen=True, slots=True)
class MathGold:
    """A reference answer with what its benchmark says of it."""

    text: str
    unit: str = ""
    tolerance: float | Sequence[float | None] | None = None
    """By how much a number may differ, or each of several; None: by nothing."""
    is_multiple: bool = False
    """There are several answers, so that a comma never separates thousands."""


@dataclass(frozen=True, slots=True)
class MathTask:
    """An answer and the gold it is compared with."""

    answer: str
    gold: MathGold


@dataclass(frozen=True, slots=True)
class _Read:
    """One answer of a text, without its unit."""

    text: str
    unit: str

    def times(self, factor: str) -> Shape:
        """Return its shape after multiplication, by a factor in LaTeX."""
        return shape_of(f"{self.text}{factor}")


def judged_by_text(task: MathTask) -> Verdict | None:
    """Return the verdict where the text alone decides; None where algebra is needed."""
    if len(task.answer) > MAX_CHARACTERS:
        return Verdict(0.0, f"longer than {MAX_CHARACTERS:,} characters")
    if depth(task.answer) > MAX_DEPTH:
        return Verdict(0.0, f"brackets nested deeper than {MAX_DEPTH}")
    if squeezed(task.answer) == squeezed(task.gold.text) != "":
        return Verdict(1.0, "the same text")
    if (why := why_a_judge(task.gold.text)) != "":
        return Verdict(None, f"needs a judge: the reference answer is {why}")
    return None


def judged_by_algebra(task: MathTask) -> Verdict:
    """Return the verdict on two formulas; takes as long as it takes."""
    golds = _read(task.gold.text, number=not task.gold.is_multiple)
    given = _read(task.answer, number=len(golds) == 1)
    if (problem := _unreadable(golds)) is not None:
        return Verdict(None, f"grader: the reference answer can't be read: {problem}", failed=True)
    unit = _unit(task.gold, golds)
    other = next((one.unit for one in given if unit and one.unit not in {"", unit}), None)
    if other is not None:
        return Verdict(0.0, f"in {other}, not in {unit}")
    if (problem := _unreadable(given)) is not None:
        return Verdict(0.0, f"not parsed as mathematics: {problem}")
    if len(given) != len(golds):
        return Verdict(0.0, f"answers given: {len(given)}; right are {len(golds)}")
    try:
        return _compared(task.gold, golds, given, unit)
    except TooLargeError as error:
        return Verdict(None, f"grader: {error}", failed=True)


def _compared(gold: MathGold, golds: Sequence[_Read], given: Sequence[_Read], unit: str) -> Verdict:
    """Return the verdict on as many answers as golds."""
    hundredth = r"\cdot\frac{1}{100}"
    references = [one.times("") for one in golds]
    tolerances = _tolerances(gold, len(golds))
    if len(tolerances) != len(golds):
        problem = f"{len(tolerances)} tolerances for {len(golds)} answers"
        return Verdict(None, f"grader: {problem}", failed=True)
    matchers = [Matcher(one, distinct_names(references)) for one in tolerances]
    tolerance = " and ".join(dict.fromkeys(one for one in tolerances if one))
    shapes = [one.times(hundredth if one.unit == "%" and not unit else "") for one in given]
    if all_match(matchers, references, shapes):
        return Verdict(1.0, f"equal within {tolerance}" if tolerance else "equal")
    # 8 % may be given as 8, which was compared above, or as 0.08
    bare = unit == "%" and not tolerance and not any(one.unit for one in given)
    if bare and all_match(matchers, [one.times(hundredth) for one in golds], shapes):
        return Verdict(1.0, "equal, as a part of one")
    return Verdict(0.0, f"not equal within {tolerance}" if tolerance else "not equal")


def _tolerances(gold: MathGold, size: int) -> list[str | None]:
    """Return the tolerance of each answer, as decimal numbers."""
    stated = gold.tolerance
    each = [stated] * size if stated is None or isinstance(stated, float | int) else stated
    return [None if one is None else repr(one) for one in each]


def _read(text: str, *, number: bool) -> list[_Read]:
    """Return the answers in a text, each with its unit apart."""
    return [_Read(*without_unit(one)) for one in answers(clean(text), number=number)]


def _unit(gold: MathGold, golds: Sequence[_Read]) -> str:
    """Return the unit of a gold, stated beside it or in its text; `` for none."""
    if gold.unit:
        return unit_named(gold.unit) or clean(gold.unit)
    return next((one.unit for one in golds if one.unit), "")


def _unreadable(read: Sequence[_Read]) -> str | None:
    """Return why one of the answers is no mathematics, or None: all are."""
    if not read:
        return "it is empty"
    for one in read:
        for formula in formulas_in(one.times("")):
            try:
                expression(formula)
            except NotMathematicsError as error:
                return f"{formula[:80]!r}: {error}"
    return None
