"""Values of programs, however Python writes them, against golds as people write them."""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.formats import Problem
from evalcore.rules import RULES, AnswerToGrade, Grade, Tools, grade_all
from evalcore.rules.computed import is_within_accuracy, readings, write
from evalcore.rules.formula_pool import compare_all, compare_texts
from evalcore.rules.python_values import read_value
from evalcore.sandbox.layers import ProgramLimits
from evalcore.sandbox.sandbox import Program, Sandbox
from tests.support.cases import case_table


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(ProgramLimits(seconds=20), allow_weak=True) as made:
        yield made


def verdict(value: Any, gold: str, is_computed: bool = True, **details: Any) -> Grade:
    from evalcore.rules.mathematics import compare_formulas

    item = AnswerToGrade(Problem("1", "?", gold, details=details), value, is_computed)
    return compare_texts(item) or compare_formulas(item)


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_the_answer_of_a_program_is_the_gold_or_is_not(
    sandbox: Sandbox, source: str, gold: str, value: float | None
) -> None:
    (outcome,) = sandbox.run([Program(source, "answer")])
    assert outcome.status == "ok"
    assert verdict(outcome.value, gold).value == value


FLOAT = "equal within float accuracy, 1e-9"


@pytest.mark.parametrize(
    ("value", "gold", "reason"),
    [
        pytest.param(5 / 6, r"\frac{5}{6}", FLOAT, id="a float within accuracy"),
        pytest.param("0.30000000000000004", "0.3", FLOAT, id="a printed float"),
        pytest.param("[0.30000000000000004, 1]", "0.3, 1", FLOAT, id="a float in a list"),
        pytest.param(0.25, r"\frac14", "equal", id="an exact float"),
        pytest.param("[3, -2]", "3, -2", "equal", id="a list of integers"),
        pytest.param(0.7 * 0.4, r"28\%", f"{FLOAT[:5]}, as a part of one{FLOAT[5:]}", id="a part"),
        pytest.param(0.83, r"\frac56", "not equal", id="a rounded float"),
        pytest.param(1234567890.13, "1234567890.12", "not equal", id="another cent"),
        pytest.param("0.3000000000001", "0.3", FLOAT, id="as few digits as a float may have"),
        pytest.param("0.300000000001", "0.3", "not equal", id="one digit less"),
        pytest.param("True", r"\text{Yes}", "the same truth value", id="a truth value"),
        pytest.param("False", "Yes", "the other truth value", id="the other truth value"),
    ],
)
def test_the_reason_says_when_float_accuracy_was_needed(
    value: float | str, gold: str, reason: str
) -> None:
    assert verdict(value, gold).reason == reason


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        pytest.param("0.8333333333333334", r"\frac56", id="a digit too many"),
        pytest.param("0.83", r"\frac56", id="a rounded decimal"),
        pytest.param("0.30000000000000004", "0.3", id="binary noise"),
        pytest.param("1e-17", "0", id="a small number"),
        pytest.param("1.4142135623730951", r"\sqrt2", id="a root with a digit too many"),
        pytest.param("[2, 3]", "(2, 3)", id="a closed interval"),
        pytest.param("True", r"\text{Yes}", id="another word"),
    ],
)
def test_a_text_has_no_part_in_the_mercy_for_programs(answer: str, gold: str) -> None:
    assert verdict(answer, gold, is_computed=False).value == 0.0
    assert verdict(answer, gold).value == float(answer != "0.83")


def test_a_tolerance_of_the_problem_is_as_wide_as_it_says() -> None:
    assert verdict(0.51, r"\frac12", tolerance=0.02).reason == "equal within 0.02"
    assert verdict(0.53, r"\frac12", tolerance=0.02).value == 0.0
    assert verdict(5 / 6, r"\frac56", tolerance=1e-30).reason == FLOAT


@pytest.mark.parametrize(
    ("gold", "given", "is_integer", "is_within"),
    [
        pytest.param(1, 1 + Fraction(1, 10**9), False, True, id="a billionth more"),
        pytest.param(1, 1 + Fraction(11, 10**10), False, False, id="more than a billionth"),
        pytest.param(-1, -1 + Fraction(1, 10**9), False, True, id="a negative gold"),
        pytest.param(-1, 1, False, False, id="the other sign"),
        pytest.param(0, Fraction(1, 10**12), True, True, id="noise for zero"),
        pytest.param(0, Fraction(2, 10**12), True, False, id="more than noise"),
        pytest.param(Fraction(1, 10**20), 0, False, False, id="zero for a small gold"),
        pytest.param(2**53 - 1, 2**53 - 2, True, False, id="the integer before"),
        pytest.param(2**53 - 1, 2**53 - Fraction(4, 5), True, True, id="nearest to the integer"),
        pytest.param(2**60, 2**60 + 256, True, True, id="an integer between floats"),
        pytest.param(2**53 - 1, 2**53 - 2, False, True, id="not known to be an integer"),
    ],
)
def test_accuracy_is_relative_but_for_zero_and_integers(
    gold: Fraction, given: Fraction, is_integer: bool, is_within: bool
) -> None:
    assert is_within_accuracy(Fraction(gold), Fraction(given), is_integer) == is_within


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The answer", id="words"),
        pytest.param("5 m", id="a quantity"),
        pytest.param("x^2", id="a power that Python reads as another operation"),
        pytest.param("(1, 2]", id="brackets that do not match"),
        pytest.param("10:30", id="a time"),
        pytest.param("5(3)", id="a product without a sign"),
        pytest.param("nan", id="not a number"),
        pytest.param("[nan 1.]", id="not a number in an array"),
        pytest.param("None", id="nothing"),
        pytest.param("__import__('os').abort()", id="a call of a method"),
        pytest.param("open('file')", id="an unknown function"),
        pytest.param("(lambda: 1)()", id="a function"),
        pytest.param("[x for x in y]", id="a loop"),
        pytest.param("1" * 5000, id="more digits than Python reads"),
        pytest.param("-" * 9000 + "1", id="too many signs"),
        pytest.param("1+" * 4000 + "1", id="too many summands"),
        pytest.param("{1: 2}", id="keys that are no names"),
        pytest.param("'\\d'", id="an escape that Python warns about"),
    ],
)
def test_what_is_not_a_value_is_left_as_it_is_and_never_run(text: str) -> None:
    expected = [r"\d"] if text == "'\\d'" else [text]
    assert readings(text, "5") == expected


@pytest.mark.parametrize(
    ("text", "gold", "written"),
    [
        pytest.param("1e-05", "5", r"1\cdot 10^{-5}", id="a small float"),
        pytest.param("-inf", "5", "-\\infty ", id="an infinite float"),
        pytest.param("(1+2j)", "5", r"1+2\cdot i", id="a complex number"),
        pytest.param("[np.float64(0.5), np.True_]", "5", r"0.5, \text{True}", id="NumPy scalars"),
        pytest.param("[1.+2.j 3.-1.j]", "5", r"1.+2.\cdot i, 3.-1.\cdot i", id="a NumPy array"),
        pytest.param("[[1 2]\n [3 4]]", "(5, 6)", "((1, 2), (3, 4))", id="rows of an array"),
        pytest.param("3 -2", "5", "3, -2", id="numbers printed in a row"),
        pytest.param("[Fraction(1, 2)]", "5", r"\frac{1}{2}", id="the only value of a list"),
        pytest.param("[Decimal('0.30')]", "5", "0.30", id="a decimal"),
        pytest.param("2*x*(y + 1)", "5", r"(2\cdot x)\cdot (y+1)", id="a product"),
        pytest.param("x_1 - alpha2", "5", r"x_{1}-\alpha_{2}", id="names with an index"),
        pytest.param("(x < 3) & (-1 <= x)", "5", "-1≤x<3", id="bounds in the other order"),
        pytest.param("(x < -1) | (x > 3)", "5", r"(-\infty ,-1)\cup (3,\infty )", id="two rays"),
        pytest.param("P(x=1, y=2)", "(5, 6)", "(1, 2)", id="a named tuple as a point"),
        pytest.param("{y: 2, x: 1}", "x=5,y=6", "y=2, x=1", id="a solution by names"),
        pytest.param("{y: 2, x: 1}", "(5, 6)", "(1, 2)", id="a solution as a point"),
        pytest.param("{frozenset({1, 2})}", r"\{5,6\}", "1, 2", id="a set in a set"),
        pytest.param("[{1, 2}, 3]", "5", r"\{1, 2\}, 3", id="a set in a list"),
        pytest.param(
            "[[1, 2], [3, 4]]",
            r"\begin{pmatrix}5&6\\7&8\end{pmatrix}",
            r"\begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix}",
            id="a matrix",
        ),
        pytest.param(
            "Matrix([[1], [2]])",
            r"\begin{pmatrix}5\\6\end{pmatrix}",
            r"\begin{pmatrix}1 \\ 2\end{pmatrix}",
            id="a column",
        ),
        pytest.param(
            "[1, 2]",
            r"\begin{pmatrix}5&6\end{pmatrix}",
            r"\begin{pmatrix}1 & 2\end{pmatrix}",
            id="a row",
        ),
    ],
)
def test_a_value_is_written_as_people_write_it(text: str, gold: str, written: str) -> None:
    value = read_value(text)
    assert value is not None
    assert write(value, gold) == written


@pytest.mark.parametrize(
    ("rule", "value", "gold", "expected"),
    [
        pytest.param("exact", 5.0, "5", 1, id="a float is an integer"),
        pytest.param("exact", 0.1 + 0.2, "0.3", 1, id="a float has noise"),
        pytest.param("exact", 5 / 6, "5/6", 1, id="a float is a fraction"),
        pytest.param("exact", 0.83, "5/6", 0, id="a rounded float is not a fraction"),
        pytest.param("exact", 1234, "1,234", 1, id="the gold has thousands"),
        pytest.param("exact", 5.5, "5", 0, id="another number"),
        pytest.param("exact", True, "yes", 1, id="true is yes"),
        pytest.param("exact", True, "no", 0, id="true is not no"),
        pytest.param("exact", False, "False", 1, id="false is false"),
        pytest.param("exact", "['a', 'b']", "a b", 1, id="a list of words"),
        pytest.param("exact", "['a', 'b']", "a, b", 1, id="a list with commas"),
        pytest.param("exact", "['b', 'a']", "a b", 0, id="a list in another order"),
        pytest.param("exact", "{'b', 'a'}", "a b", 1, id="a set in another order"),
        pytest.param("exact", "[3, -2]", "3, -2", 1, id="a list of numbers"),
        pytest.param("numbers", 0.1 + 0.2, "0.3", 1, id="noise is within a millionth"),
        pytest.param("numbers", 1.2246467991473532e-16, "0", 1, id="noise is zero"),
        pytest.param("numbers", 1e-6, "0", 0, id="a millionth is not zero"),
        pytest.param("numbers", 9.999999999999999e22, str(10**23), 1, id="a large float"),
        pytest.param("numbers", 3.0, "2", 0, id="the next integer"),
        pytest.param("numbers", "[5.0]", "5", 1, id="the only number of a list"),
        pytest.param("numbers", "[5.0, 6.0]", "5", 0, id="one of two numbers"),
        pytest.param("numbers", "(5+0j)", "5", 1, id="a real complex number"),
        pytest.param("numbers", "(5+1j)", "5", 0, id="a complex number"),
        pytest.param("numbers", True, "1", 0, id="a truth value"),
    ],
)
def test_words_and_numbers_of_programs_are_compared_by_what_they_mean(
    rule: str, value: float | str, gold: str, expected: float
) -> None:
    tools = Tools(lambda programs: [], lambda items: iter(()))
    item = AnswerToGrade(Problem("1", "?", gold), value, is_computed=True)
    (grade,) = grade_all(RULES[rule], [item], tools)
    assert grade.value == expected


FORMULAS = {
    "a printed root": ("sqrt(2)/2", "0.70710678", 1.0),
    "a root and a rounded gold": (r"\frac{\sqrt{2}}{2}", "0.7071", 0.0),
    "a root": (r"\frac{\sqrt{2}}{2}", "0.70710678", 1.0),
    "a multiple of pi": ("2*pi", "6.2831853", 1.0),
    "a power of e and a currency": ("exp(2)", "$7.3890561", 1.0),
    "another number": ("exp(2)", "7.4", 0.0),
    "a fraction": ("1/2", "0.5", 1.0),
}


@pytest.fixture(scope="module")
def values_of_formulas() -> dict[str, tuple[float | None, ...]]:
    """Return the values of each, between numbers, by one pool for all: it takes long to start."""
    tools = Tools(lambda programs: [], compare_all)
    items = [
        AnswerToGrade(Problem("1", "?", gold), text, True)
        for value, gold, _ in FORMULAS.values()
        for text in ("3.0", value, "4.0")
    ]
    values = [grade.value for grade in grade_all(RULES["numbers"], items, tools)]
    return {name: tuple(values[3 * n : 3 * n + 3]) for n, name in enumerate(FORMULAS)}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_of_a_program_is_computed_where_a_number_is_asked_for(
    name: str, values_of_formulas: dict[str, tuple[float | None, ...]]
) -> None:
    _, _, expected = FORMULAS[name]
    assert values_of_formulas[name] == (0.0, expected, 0.0)


def test_scores_say_that_a_program_was_right_within_float_accuracy(tmp_path: Path) -> None:
    data, outputs = tmp_path / "q.jsonl", tmp_path / "outputs/q/model"
    outputs.mkdir(parents=True)
    program = "```python\nanswer = 5/6\nprint(answer)\n```"
    asked = {"id": "1", "question": "?", "answer": r"\frac{5}{6}"}
    data.write_text(json.dumps(asked) + "\n")
    (outputs / "pot.jsonl").write_text(json.dumps({"id": "1", "output": program}) + "\n")
    rows: Any = evalcore.score(tmp_path / "outputs/q", data=data, rule="math")
    (row,) = rows.to_dict("records")
    assert (row["value"], row["reason"]) == (1.0, FLOAT)
