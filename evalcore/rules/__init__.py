"""Rules that compare answers with the gold: one function each, items and tools in, verdicts out."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    """Whether an answer is the gold, from 0 to 1, and why; None: the rule can't say."""

    value: float | None
    reason: str
    failed: bool = False  # the grader crashed or ran out of time: an error, not a wrong answer


class Item(NamedTuple):
    """An answer, computed by a program or read from a text, and its problem."""

    problem: Problem
    value: float | int | bool | str
    is_computed: bool = False


class Tools(NamedTuple):
    """Work for rules that needs processes of its own; both functions keep the order."""

    run_programs: Callable[[Sequence[Program]], Sequence[Outcome]]
    compare_formulas: Callable[[Sequence[Item]], Iterator[Grade]]


def exact(items: Sequence[Item], _tools: Tools) -> Iterator[Grade]:
    """Yield whether each text has the words of the gold, or the letter of the gold's choice.

    Fonts, dollar signs, quotation marks around all of it and a full stop at its end don't count.
    The value of a program may be the gold as Python prints it: `5.0`, `['a', 'b']`, True for "yes".
    """
    for problem, value, is_computed in items:
        grade = _compare_words(str(value), problem.gold or "")
        if not grade.value and is_computed and _is_printed(value, problem.gold or ""):
            grade = Grade(1.0, "equal, as Python prints it")
        yield grade


def _compare_words(answer: str, gold: str) -> Grade:
    given, right = plain_words(answer), plain_words(gold)
    if given == right:
        return Grade(1.0, "equal")
    if compare_choices(answer, gold):
        return Grade(1.0, "the same choice")
    if len(right) == 1 and right[0].lower() in _TRUTHS and _in_small_letters(given, right):
        return Grade(1.0, "the same word")
    is_moved = sorted(given) == sorted(right)
    return Grade(0.0, "the same words in another order" if is_moved else "other words")


_TRUTHS = frozenset({"yes", "no", "true", "false"})
"""Words that are the same in any case; `a` and `A` may be different choices or variables."""


def _in_small_letters(given: Sequence[str], right: Sequence[str]) -> bool:
    return [word.lower() for word in given] == [word.lower() for word in right]


def _is_printed(value: object, gold: str) -> bool:
    """Tell whether a program's value is a gold that Python would write in another way."""
    return (
        computed.is_truth(value, gold)
        or computed.is_same_number(value, gold)
        or computed.is_same_list(value, gold)
    )


def numbers(items: Sequence[Item], tools: Tools) -> Iterator[Grade]:
    """Yield whether each answer is the gold: the same integer, or within a millionth of it.

    A number that a program leaves as a formula, such as SymPy's `sqrt(2)`, is computed.
    """
    formulas = [_within_a_millionth(item) for item in items if _is_formula(item)]
    verdicts = tools.compare_formulas(formulas) if formulas else iter(())
    for item in items:
        yield next(verdicts) if _is_formula(item) else _compare_numbers(item)


def _is_formula(item: Item) -> bool:
    has_number = read_only_number(item.problem.gold or "") is not None
    return item.is_computed and has_number and computed.is_formula(item.value)


def _within_a_millionth(item: Item) -> Item:
    gold = read_only_number(item.problem.gold or "") or 0
    details = {"tolerance": abs(gold) * 1e-6}
    return item._replace(problem=replace(item.problem, gold=str(gold), details=details))


def _compare_numbers(item: Item) -> Grade:
    problem, value, is_computed = item
    text = computed.number_text(value) if is_computed else str(value)
    answer, right = read_only_number(text), read_only_number(problem.gold or "")
    if right is None:
        return Grade(None, f"the gold is not a number: {problem.gold!r:.40}")
    if answer is None:
        return _not_a_number(value)
    if answer == right:
        return Grade(1.0, "equal")
    if (answer % 1 or right % 1) and math.isclose(answer, right, rel_tol=1e-6):
        return Grade(1.0, "equal within a millionth")
    if is_computed and computed.is_same_number(value, str(right)):
        return Grade(1.0, f"equal {computed.WITHIN_ACCURACY}")
    return Grade(0.0, f"{answer:.12g} is not {right:.12g}")


def _not_a_number(value: object) -> Grade:
    return Grade(0.0, f"not a number: {' '.join(str(value).split())[:40]!r}")


def strict(items: Sequence[Item], _tools: Tools) -> Iterator[Grade]:
    """Yield whether each value equals the gold, which has binary noise in copies, at 3 decimals."""
    return (_compare(item, {}, _equal_at_3_decimals) for item in items)


def lenient(items: Sequence[Item], tools: Tools) -> Iterator[Grade]:
    """Yield whether each value is the gold as FinanceMath's authors see it, arXiv:2311.09797.

    They are equal at 3 decimals (rounded up), within 0.15% of each other, an exact power of ten
    apart, or a factor of 100, 1,000 or 100,000 apart within 0.15%. A lost sign passes, but for the
    second. The value of a program is compared with that of the reference program.
    """
    programs = {
        problem.id: Program(problem.details["program"])
        for problem, _, is_computed in items
        if is_computed and "program" in problem.details
    }
    outcomes = dict(zip(programs, tools.run_programs(list(programs.values())), strict=True))
    for name, outcome in outcomes.items():
        if outcome.status != "ok":
            what = f"its reference program gives no value ({outcome.status} {outcome.message})"
            raise SandboxError(f"problem {name}: {what}")
    return (_compare(item, outcomes if item.is_computed else {}, _close_enough) for item in items)


def _compare(
    item: Item, references: Mapping[str, Outcome], rule: Callable[[float, float], Grade]
) -> Grade:
    """Return a rule's verdict on what `float()` makes of a value and of its gold: True is 1."""
    value: Any = item.value
    if not item.is_computed and (value := read_number(str(value), rule is _close_enough)) is None:
        return _not_a_number(item.value)
    reference, known = references.get(item.problem.id), item.problem.details
    gold = reference.value if reference else known.get("ground_truth", item.problem.gold)
    if (g := _finite(gold)) is None:
        return Grade(None, f"the gold is not a finite number: {_shown(gold)}")
    if (p := _finite(value)) is None:
        return Grade(0.0, f"not a finite number: {_shown(value)}")
    if isinstance(gold, bool):
        return Grade(1.0, "equal") if p == g else Grade(0.0, f"{p:g} is not {gold}")
    return rule(p, g)


def _equal_at_3_decimals(p: float, g: float) -> Grade:
    p, g = round(p, 3), round(g, 3)
    if p == g:
        return Grade(1.0, "equal at 3 decimals")
    return Grade(0.0, f"{p:.12g} is not {g:.12g}")


def _close_enough(p: float, g: float) -> Grade:
    big, small = max(abs(p), abs(g)), min(abs(p), abs(g))
    sign = ", a sign lost" if p * g < 0 else ""
    up = [math.ceil(1000 * x) if math.isfinite(1000 * x) else x for x in (big, small)]
    if up[0] == up[1]:
        return Grade(1.0, f"equal at 3 decimals, rounded up{sign}")
    if _near(p, g):
        return Grade(1.0, "within 0.15%")
    # exactly an integer in floating point, as the authors ask
    if small and (exponent := math.log10(big / small)).is_integer():
        return Grade(1.0, f"10^{exponent:g} apart{sign}")
    for factor in (100, 1_000, 100_000):
        if _near(factor * small, big):
            return Grade(1.0, f"a factor of {factor:,} within 0.15%{sign}")
    return Grade(0.0, f"{p:g} is not {g:g}")


def _near(x: float, y: float) -> bool:
    return y - 0.0015 * abs(y) <= x <= y + 0.0015 * abs(y)


def _finite(value: Any) -> float | None:
    with suppress(TypeError, ValueError, OverflowError):
        return number if math.isfinite(number := float(value)) else None
    return None


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


RULES: Mapping[str, Callable[[Sequence[Item], Tools], Iterator[Grade]]] = {
    "strict": strict,
    "lenient": lenient,
    "math": lambda items, tools: tools.compare_formulas(items),
    "exact": exact,
    "numbers": numbers,
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
