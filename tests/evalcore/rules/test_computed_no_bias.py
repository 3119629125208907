"""The same golds answered by texts and by programs have the same verdicts, right and wrong.

Golds of many kinds are drawn at random. Each is answered by a text, by floating point as a model
would write it, and by exact arithmetic; programs set `answer` or print it. Each answer is compared
with its gold, and with golds that it is not: one more, a millionth more, the other sign, or another
list.
"""

import math
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade, Grade
from evalcore.rules.formula_pool import compare_texts
from evalcore.sandbox.layers import ProgramLimits
from evalcore.sandbox.sandbox import Program, Sandbox
from tests.support.sizes import slow


class Question(NamedTuple):
    """A gold with right answers: a text, and expressions that programs compute."""

    gold: str
    text: str
    expressions: tuple[str, ...]
    others: tuple[str, ...]
    """Golds that the answers are not."""


def number(gold: str, text: str, *expressions: str) -> Question:
    others = (f"{gold}+1", rf"({gold})\cdot 1.000001", f"-({gold})")
    return Question(gold, text, expressions, others)


def integer(draw: random.Random) -> Question:
    n = draw.randint(2, 10**6)
    return number(f"{n}", f"{n}.0", f"{n}", f"{n} / 7 * 7", f"Integer({n})")


def fraction(draw: random.Random) -> Question:
    p, q = draw.randint(1, 300), draw.randint(2, 90)
    gold, text = rf"\frac{{{p}}}{{{q}}}", f"{p}/{q}"
    return number(gold, text, f"{p} / {q}", f"Fraction({p}, {q})", f"Rational({p}, {q})")


def sum_of_decimals(draw: random.Random) -> Question:
    a, b = (Decimal(draw.randint(1, 999)) / 100 for _ in range(2))
    return number(f"{a + b}", f"{a + b}0", f"{a} + {b}", f"Decimal('{a}') + Decimal('{b}')")


def product_of_decimals(draw: random.Random) -> Question:
    a, b = (Decimal(draw.randint(1, 999)) / 100 for _ in range(2))
    return number(f"{a * b}", f"{a * b}", f"{a} * {b}", f"Decimal('{a}') * Decimal('{b}')")


def multiple_of_a_root(draw: random.Random) -> Question:
    a, n = draw.randint(2, 40), draw.choice([2, 3, 5, 6, 7, 10, 11])
    gold, text = rf"{a}\sqrt{{{n}}}", rf"\sqrt{{{a * a * n}}}"
    return number(gold, text, f"{a} * math.sqrt({n})", f"{n} ** 0.5 * {a}", f"{a} * sqrt({n})")


def multiple_of_pi(draw: random.Random) -> Question:
    p, q = draw.randint(1, 30), draw.choice([2, 3, 4, 6, 7])
    gold, text = rf"\frac{{{p}\pi}}{{{q}}}", rf"{p}\pi/{q}"
    return number(gold, text, f"{p} * math.pi / {q}", f"np.pi * {p} / {q}", f"{p} * pi / {q}")


def power_of_e(draw: random.Random) -> Question:
    k = draw.randint(2, 12)
    expressions = f"math.exp(-{k})", f"math.e ** -{k}", f"exp(-{k})"
    return number(f"e^{{-{k}}}", rf"\frac{{1}}{{e^{{{k}}}}}", *expressions)


def logarithm(draw: random.Random) -> Question:
    n, base = draw.randint(2, 99), draw.choice([2, 3, 7, 10])
    gold, text = rf"\log_{{{base}}}({n})", rf"\frac{{\ln {n}}}{{\ln {base}}}"
    return number(gold, text, f"math.log({n}) / math.log({base})", f"log({n}) / log({base})")


def angle(draw: random.Random) -> Question:
    degrees, name = draw.randint(1, 89), draw.choice(["sin", "cos", "tan"])
    gold, text = rf"\{name} {degrees}^\circ", rf"\{name}({degrees}\pi/180)"
    expressions = f"math.{name}(math.radians({degrees}))", f"{name}(pi * {degrees} / 180)"
    return number(gold, text, *expressions)


def percentage(draw: random.Random) -> Question:
    n = Decimal(draw.randint(1, 990)) / 10
    gold = rf"{n}\%"
    others = rf"{n + 1}\%", rf"{n + Decimal('0.001')}\%", rf"-{n}\%"
    return Question(gold, f"{n}%", (f"{n} / 7 * 7", f"{n} / 300 * 3", f"Rational('{n}')"), others)


def binomial(draw: random.Random) -> Question:
    n, k = draw.randint(5, 40), draw.randint(2, 5)
    gold, text = rf"\binom{{{n}}}{{{k}}}", str(math.comb(n, k))
    product = " * ".join(f"({n} - {i}) / ({i} + 1)" for i in range(k))
    return number(gold, text, f"math.comb({n}, {k})", product, f"binomial({n}, {k})")


def large_integer(draw: random.Random) -> Question:
    n = draw.randint(60, 200)
    others = (f"3^{{{n}}}+1", f"3^{{{n}}}-1", f"-3^{{{n}}}")
    return Question(f"3^{{{n}}}", str(3**n), (f"3 ** {n}", f"Integer(3) ** {n}"), others)


def large_integer_as_a_float(draw: random.Random) -> Question:
    n = draw.randint(60, 200)
    others = (f"3^{{{n}}}+3^{{{n - 18}}}", f"3^{{{n + 1}}}", f"-3^{{{n}}}")
    return Question(f"3^{{{n}}}", str(3**n), (f"3.0 ** {n}", f"math.pow(3, {n})"), others)


def complex_number(draw: random.Random) -> Question:
    a, b, c = draw.randint(1, 9), draw.randint(1, 9), draw.choice([3, 7, 10])
    gold, text = rf"\frac{{{a}}}{{{c}}}+{b}i", f"{b}i + {a}/{c}"
    expressions = f"complex({a} / {c}, {b})", f"{a} / {c} + {b}j", f"Rational({a}, {c}) + {b} * I"
    return number(gold, text, *expressions, f"np.complex128({a} / {c} + {b}j)")


def several(draw: random.Random) -> Question:
    a, b, c = draw.sample(range(2, 60), 3)
    gold, text = rf"{a}, -\frac{{{b}}}{{{c}}}", f"-{b}/{c}, {a}"
    others = f"{a}, {b}/{c}", f"{a}", f"{a}, -{b}/{c}, 1", rf"{a}, -{b}/{c}-10^{{-6}}"
    float_list, exact_list = f"[{a}, -{b} / {c}]", f"[Fraction(-{b}, {c}), {a}]"
    exact_set = f"FiniteSet({a}, Rational(-{b}, {c}))"
    return Question(
        gold, text, (float_list, f"{{{a}.0, -{b} / {c}}}", exact_list, exact_set), others
    )


def set_of_numbers(draw: random.Random) -> Question:
    a, b = draw.sample(range(2, 60), 2)
    gold, text = rf"\{{{a}, \sqrt{{{b}}}\}}", rf"\left\{{\sqrt{{{b}}}, {a}\right\}}"
    others = rf"\{{{a}, {b}\}}", rf"\{{{a}\}}", rf"\{{{a}, -\sqrt{{{b}}}\}}"
    return Question(gold, text, (f"{{{a}, math.sqrt({b})}}", f"{{sqrt({b}), {a}}}"), others)


def point(draw: random.Random) -> Question:
    a, b, c = draw.sample(range(2, 60), 3)
    gold, text = rf"\left(\frac{{{a}}}{{{b}}}, {c}\right)", f"({a}/{b},{c})"
    others = f"({c}, {a}/{b})", f"({a}/{b}, -{c})", rf"({a}/{b}+10^{{-6}}, {c})"
    expressions = (
        f"({a} / {b}, {c})",
        f"np.array([{a} / {b}, {c}])",
        f"Point(Rational({a}, {b}), {c})",
    )
    return Question(gold, text, (*expressions, f"(Fraction({a}, {b}), {c})"), others)


def points(draw: random.Random) -> Question:
    a, b, c, d = draw.sample(range(2, 60), 4)
    gold, text = f"({a}, {b}), ({c}, {d})", f"({c},{d}) and ({a},{b})"
    others = f"({b}, {a}), ({d}, {c})", f"({a}, {b})", f"({a}, {d}), ({c}, {b})"
    expressions = f"[({a}, {b}), ({c}, {d})]", f"{{({c}, {d}), ({a}, {b})}}"
    return Question(gold, text, (*expressions, f"[[{a}, {b}], [{c}, {d}]]"), others)


def interval(draw: random.Random) -> Question:
    a, b = draw.randint(-9, 0), draw.randint(1, 9)
    gold, text = f"[{a}, {b})", f"{a} \\le x < {b}"
    others = f"({a}, {b})", f"[{a}, {b}]", f"[{a}, {b + 1})"
    expressions = f"Interval.Ropen({a}, {b})", f"And(x >= {a}, x < {b})"
    return Question(gold, text, expressions, others)


def formula(draw: random.Random) -> Question:
    a, b = draw.sample(range(2, 30), 2)
    gold, text = rf"\frac{{{a}x^2}}{{{b}}} + \sqrt{{x}}", rf"\sqrt{{x}} + \frac{{{a}}}{{{b}}}x^2"
    expressions = f"Rational({a}, {b}) * x ** 2 + sqrt(x)", f"{a} / {b} * x ** 2 + sqrt(x)"
    return Question(gold, text, expressions, (f"{gold}+1", f"-({gold})", f"{gold}+10^{{-6}}x"))


def vanishing(draw: random.Random) -> Question:
    n = draw.randint(1, 9)
    expressions = f"math.sin({n} * math.pi)", f"0.1 * {n} + 0.2 * {n} - 0.3 * {n}", "-0.0"
    return Question("0", "0.0", expressions, ("1", "10^{-6}", "-1", "10^{-20}"))


KINDS: tuple[Callable[[random.Random], Question], ...] = (
    integer,
    fraction,
    sum_of_decimals,
    product_of_decimals,
    multiple_of_a_root,
    multiple_of_pi,
    power_of_e,
    logarithm,
    angle,
    percentage,
    binomial,
    large_integer,
    large_integer_as_a_float,
    complex_number,
    several,
    set_of_numbers,
    point,
    points,
    interval,
    formula,
    vanishing,
)
IMPORTS = """
import math
import numpy as np
from decimal import Decimal
from fractions import Fraction
from sympy import And, E, FiniteSet, I, Integer, Interval, Point, Rational, binomial, exp, log, pi
from sympy import cos, sin, sqrt, symbols, tan
x = symbols("x")
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    pytest.importorskip("math_verify")
    with Sandbox(ProgramLimits(seconds=20), allow_weak=True) as made:
        yield made


def verdict(gold: str, value: float | int | bool | str, is_computed: bool) -> Grade:
    from evalcore.rules.mathematics import compare_formulas

    item = AnswerToGrade(Problem("1", "?", gold), value, is_computed)
    return compare_texts(item) or compare_formulas(item)


def answers_of_programs(
    questions: list[Question], sandbox: Sandbox
) -> Iterator[tuple[Question, str, Any]]:
    """Yield questions with what programs answer, which set a variable or print."""
    asked = [
        (question, written.format(expression))
        for question in questions
        for expression in question.expressions
        for written in ("answer = {}", "print({})")
    ]
    outcomes = sandbox.run(Program(f"{IMPORTS}{source}", "answer") for _, source in asked)
    for (question, source), outcome in zip(asked, outcomes, strict=True):
        yield question, source, outcome.value


@pytest.mark.parametrize("number_of_each", [2, slow(40)])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_texts_and_programs_have_the_same_verdicts(
    sandbox: Sandbox, kind: Callable[[random.Random], Question], number_of_each: int
) -> None:
    draw = random.Random(f"{kind.__name__} {number_of_each}")
    questions = [kind(draw) for _ in range(number_of_each)]
    answers: list[tuple[Question, str, Any, bool]]
    answers = [(question, "text", question.text, False) for question in questions]
    answers += [(*answer, True) for answer in answers_of_programs(questions, sandbox)]
    wrong = [
        (gold, source, value, expected)
        for question, source, value, is_computed in answers
        for expected, golds in ((1.0, (question.gold,)), (0.0, question.others))
        for gold in golds
        if verdict(gold, value, is_computed).value != expected
    ]
    assert wrong == []
