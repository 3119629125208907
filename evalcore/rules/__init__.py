"""Rules that compare answers with the gold: one function each, from an item to its grade.

Two kinds need work that processes of their own do for many items at once, and say so by their type:
a `FormulaRule` leaves formulas to algebra, and a `ProgramRule` compares with what a reference
program computes.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from evalcore.formats import Problem
from evalcore.rules import computed
from evalcore.rules.choices import compare_choices, plain_words
from evalcore.rules.numerals import read_number, read_only_number
from evalcore.sandbox.sandbox import Outcome, Program
from ngramscan.errors import SandboxError


class Grade(NamedTuple):
    """Whether an answer is the gold, from 0 to 1, and why; None if the rule can't say."""

    value: float | None
    reason: str
    failed: bool = False  # the grader crashed or ran out of time: an error, not a wrong answer


class AnswerToGrade(NamedTuple):
    """An answer, computed by a program or read from a text, and its problem."""

    problem: Problem
    value: float | int | bool | str
    is_computed: bool = False


GradingRule = Callable[[AnswerToGrade], Grade]
"""A rule that needs nothing but the item."""


class FormulaRule(NamedTuple):
    """A rule that leaves formulas to algebra."""

    prepare: Callable[[AnswerToGrade], Grade | AnswerToGrade]
    """Returns the grade, or the item whose answer and gold are compared as formulas."""


class ProgramRule(NamedTuple):
    """A rule that compares values of programs with what the reference program computes."""

    grade: Callable[[AnswerToGrade, Outcome | None], Grade]
    """Its second argument is None where a text is the answer, or the problem has no program."""


AnyRule = GradingRule | FormulaRule | ProgramRule


class Tools(NamedTuple):
    """Work that needs processes of its own; both functions keep the order."""

    run_programs: Callable[[Sequence[Program]], Sequence[Outcome]]
    compare_formulas: Callable[[Sequence[AnswerToGrade]], Iterator[Grade]]


def grade_all(rule: AnyRule, items: Sequence[AnswerToGrade], tools: Tools) -> Iterator[Grade]:
    """Yield the grade of each item, in order; only rules of the two kinds above use the tools."""
    if isinstance(rule, FormulaRule):
        return _grade_formulas(rule, items, tools.compare_formulas)
    if isinstance(rule, ProgramRule):
        return _grade_programs(rule, items, tools.run_programs)
    return map(rule, items)


def _grade_formulas(
    rule: FormulaRule,
    items: Iterable[AnswerToGrade],
    compare_formulas: Callable[[Sequence[AnswerToGrade]], Iterator[Grade]],
) -> Iterator[Grade]:
    prepared = [rule.prepare(item) for item in items]
    formulas = [entry for entry in prepared if isinstance(entry, AnswerToGrade)]
    grades = compare_formulas(formulas) if formulas else iter(())
    for entry in prepared:
        yield next(grades) if isinstance(entry, AnswerToGrade) else entry


def _grade_programs(
    rule: ProgramRule,
    items: Sequence[AnswerToGrade],
    run_programs: Callable[[Sequence[Program]], Sequence[Outcome]],
) -> Iterator[Grade]:
    programs = {
        item.problem.id: Program(item.problem.details["program"])
        for item in items
        if item.is_computed and "program" in item.problem.details
    }
    outcomes = dict(zip(programs, run_programs(list(programs.values())), strict=True))
    for name, outcome in outcomes.items():
        if outcome.status != "ok":
            failure = f"{outcome.status} {outcome.message}"
            fault = f"its reference program gives no value ({failure})"
            raise SandboxError(f"problem {name}: {fault}")
    for item in items:
        yield rule.grade(item, outcomes.get(item.problem.id) if item.is_computed else None)


def exact(item: AnswerToGrade) -> Grade:
    """Return whether a text has the words of the gold, or the letter of the gold's choice.

    Fonts, dollar signs, quotation marks around all of it and a full stop at its end don't count.
    The value of a program may be the gold as Python prints it: `5.0`, `['a', 'b']`, True for "yes".
    """
    gold = item.problem.gold or ""
    grade = _compare_words(str(item.value), gold)
    if not grade.value and item.is_computed and _is_printed(item.value, gold):
        return Grade(1.0, "equal, as Python prints it")
    return grade


def _compare_words(answer: str, gold: str) -> Grade:
    answer_words, gold_words = plain_words(answer), plain_words(gold)
    if answer_words == gold_words:
        return Grade(1.0, "equal")
    if compare_choices(answer, gold):
        return Grade(1.0, "the same choice")
    if _are_same_truth(answer_words, gold_words):
        return Grade(1.0, "the same word")
    if sorted(answer_words) == sorted(gold_words):
        return Grade(0.0, "the same words in another order")
    return Grade(0.0, "other words")


_TRUTHS = frozenset({"yes", "no", "true", "false"})
"""Words that are the same in any case; `a` and `A` may be different choices or variables."""


def _are_same_truth(answer_words: Sequence[str], gold_words: Sequence[str]) -> bool:
    """Tell whether both are one and the same of `yes`, `no`, `true` and `false`, in any case."""
    answer, gold = " ".join(answer_words).lower(), " ".join(gold_words).lower()
    return answer == gold and gold in _TRUTHS


def _is_printed(value: object, gold: str) -> bool:
    """Tell whether a program's value is a gold that Python would write in another way."""
    return (
        computed.is_truth(value, gold)
        or computed.is_same_number(value, gold)
        or computed.is_same_list(value, gold)
    )


def numbers(item: AnswerToGrade) -> Grade | AnswerToGrade:
    """Return whether an answer is the gold: the same integer, or within a millionth of it.

    A number that a program leaves as a formula, such as SymPy's `sqrt(2)`, is for algebra.
    """
    return _within_a_millionth(item) if _is_formula(item) else _compare_numbers(item)


def _is_formula(item: AnswerToGrade) -> bool:
    has_number = read_only_number(item.problem.gold or "") is not None
    return item.is_computed and has_number and computed.is_formula(item.value)


def _within_a_millionth(item: AnswerToGrade) -> AnswerToGrade:
    gold = read_only_number(item.problem.gold or "") or 0
    details = {"tolerance": abs(gold) * 1e-6}
    return item._replace(problem=replace(item.problem, gold=str(gold), details=details))


def _compare_numbers(item: AnswerToGrade) -> Grade:
    text = computed.number_text(item.value) if item.is_computed else str(item.value)
    answer, gold = read_only_number(text), read_only_number(item.problem.gold or "")
    if gold is None:
        return Grade(None, f"the gold is not a number: {item.problem.gold!r:.40}")
    if answer is None:
        return _not_a_number(item.value)
    if answer == gold:
        return Grade(1.0, "equal")
    are_integers = not answer % 1 and not gold % 1
    if not are_integers and math.isclose(answer, gold, rel_tol=1e-6):
        return Grade(1.0, "equal within a millionth")
    if item.is_computed and computed.is_same_number(item.value, str(gold)):
        return Grade(1.0, f"equal {computed.WITHIN_ACCURACY}")
    return Grade(0.0, f"{answer:.12g} is not {gold:.12g}")


def _not_a_number(value: object) -> Grade:
    return Grade(0.0, f"not a number: {' '.join(str(value).split())[:40]!r}")


def algebra(item: AnswerToGrade) -> AnswerToGrade:
    """Leave every answer to algebra."""
    return item


def strict(item: AnswerToGrade) -> Grade:
    """Return whether a value equals the gold, which has binary noise in copies, at 3 decimals."""
    value = item.value if item.is_computed else read_number(str(item.value), as_authors=False)
    return _compare_floats(item, value, None, _equal_at_3_decimals)


def lenient(item: AnswerToGrade, reference: Outcome | None) -> Grade:
    """Return whether a value is the gold as FinanceMath's authors see it, arXiv:2311.09797.

    They are equal at 3 decimals (rounded up), within 0.15% of each other, an exact power of ten
    apart, or a factor of 100, 1,000 or 100,000 apart within 0.15%. A lost sign passes, but for the
    second. The value of a program is compared with that of the reference program.
    """
    value = item.value if item.is_computed else read_number(str(item.value), as_authors=True)
    return _compare_floats(item, value, reference, _close_enough)


def _compare_floats(
    item: AnswerToGrade,
    value: object,
    reference: Outcome | None,
    compare: Callable[[float, float], Grade],
) -> Grade:
    """Return the grade of what `float()` makes of a value and of its gold: True is 1."""
    if value is None and not item.is_computed:
        return _not_a_number(item.value)
    gold = item.problem.details.get("ground_truth", item.problem.gold)
    if reference is not None:
        gold = reference.value
    gold_number, number = _finite(gold), _finite(value)
    if gold_number is None:
        return Grade(None, f"the gold is not a finite number: {_shown(gold)}")
    if number is None:
        return Grade(0.0, f"not a finite number: {_shown(value)}")
    if not isinstance(gold, bool):
        return compare(number, gold_number)
    if number == gold_number:
        return Grade(1.0, "equal")
    return Grade(0.0, f"{number:g} is not {gold}")


def _equal_at_3_decimals(number: float, gold: float) -> Grade:
    number, gold = round(number, 3), round(gold, 3)
    if number == gold:
        return Grade(1.0, "equal at 3 decimals")
    return Grade(0.0, f"{number:.12g} is not {gold:.12g}")


def _close_enough(number: float, gold: float) -> Grade:
    larger, smaller = max(abs(number), abs(gold)), min(abs(number), abs(gold))
    sign = ", a sign lost" if number * gold < 0 else ""
    if _thousandths(larger) == _thousandths(smaller):
        return Grade(1.0, f"equal at 3 decimals, rounded up{sign}")
    if _near(number, gold):
        return Grade(1.0, "within 0.15%")
    # exactly an integer in floating point, as the authors ask
    if smaller and (exponent := math.log10(larger / smaller)).is_integer():
        return Grade(1.0, f"10^{exponent:g} apart{sign}")
    for factor in (100, 1_000, 100_000):
        if _near(factor * smaller, larger):
            return Grade(1.0, f"a factor of {factor:,} within 0.15%{sign}")
    return Grade(0.0, f"{number:g} is not {gold:g}")


def _thousandths(number: float) -> float:
    """Return a number in thousandths, rounded up; as it is where that is too large for a float."""
    return math.ceil(1000 * number) if math.isfinite(1000 * number) else number


def _near(x: float, y: float) -> bool:
    return y - 0.0015 * abs(y) <= x <= y + 0.0015 * abs(y)


def _finite(value: Any) -> float | None:
    with suppress(TypeError, ValueError, OverflowError):
        return number if math.isfinite(number := float(value)) else None
    return None


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


RULES: Mapping[str, AnyRule] = {
    "strict": strict,
    "lenient": ProgramRule(lenient),
    "math": FormulaRule(algebra),
    "exact": exact,
    "numbers": FormulaRule(numbers),
}


def reference_fault(rule: str, gold: str) -> str:
    """Return why a rule can compare nothing with a reference answer; empty if it can.

    `math` says so of each answer by itself, since some of a file may need a judge.
    """
    if rule not in FOR_NUMBERS:
        return ""
    if "\n" in gold.strip():
        return "it has several lines, none of them marked as the final answer"
    number = read_only_number(gold) if rule == "numbers" else _finite(gold)
    return "it is not a number" if number is None else ""


FOR_NUMBERS = frozenset({"strict", "lenient", "numbers"})
"""Rules to which a text without a digit is not an answer."""
