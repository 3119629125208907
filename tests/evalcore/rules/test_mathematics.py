"""Formulas compared by algebra, in any notation; the processes are in test_formula_pool.py."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade, Grade
from evalcore.rules.formula_pool import compare_all, compare_texts
from tests.support.cases import cases
from tests.support.sizes import slow


def item(answer: str, gold: str, **details: Any) -> AnswerToGrade:
    return AnswerToGrade(Problem("1", "?", gold, details=details), answer)


def compared(task: AnswerToGrade) -> Grade:
    from evalcore.rules.mathematics import compare_formulas

    return compare_formulas(task)


def verdict(answer: str, gold: str, **details: Any) -> Grade:
    task = item(answer, gold, **details)
    return compare_texts(task) or compared(task)


@pytest.mark.parametrize(
    "case",
    cases(Path(__file__).with_suffix(".csv")),
    ids=lambda case: f"{case['answer']} for {case['gold']}",
)
def test_an_answer_in_any_notation_is_the_gold_or_is_not(case: dict[str, str]) -> None:
    tolerance = [float(each) for each in case["tolerance"].split()] or None
    is_several = case["unit"] == "several"
    known = {"is_multiple_answer": True} if is_several else {"unit": case["unit"]}
    found = verdict(case["answer"], case["gold"], **known, tolerance=tolerance)
    assert (found.value, found.failed) == (float(case["value"]), False)
    assert case["reason"] in {"", found.reason}


@pytest.mark.parametrize(
    ("answer", "gold", "reason"),
    [
        pytest.param(
            "9^{9^{9^{9}}}",
            "8^{8^{8^{8^8}}}",
            "grader: two numbers of more than 100000 digits can't be compared",
            id="two towers",
        ),
        pytest.param(
            "5",
            r"x+\foo",
            r"grader: the reference answer can't be read: 'x+\\foo': I don't understand this",
            id="an unknown command",
        ),
    ],
)
def test_what_can_not_be_compared_is_an_error(answer: str, gold: str, reason: str) -> None:
    assert verdict(answer, gold) == Grade(None, reason, failed=True)


def test_other_tolerances_than_answers_are_an_error() -> None:
    found = verdict("1, 3", "1, 2", tolerance=(0.1, 0.1, 0.1), is_multiple_answer=True)
    assert found == Grade(None, "grader: 3 tolerances for 2 answers", failed=True)


def test_the_scoring_examples_of_olympiadbench_agree(shared: Path) -> None:
    rows = json.loads((shared / "data/olympiadbench/scoring_examples.json").read_bytes())
    examples = [(row["GT"], answer) for row in rows for answer in row["Ans"]]
    assert len(examples) == 36
    wrong = []
    for gold, answer in examples:
        stated = answer.get("precision")
        if isinstance(stated, list):
            tolerance: Any = [float(part) for part in stated]
        else:
            tolerance = float(stated or 0) or None
        found = verdict(answer["answer"], gold, tolerance=tolerance)
        if (found.value == 1.0) != answer["equal"]:
            wrong.append((answer, found))
    assert wrong == []


def is_for_a_judge(gold: str) -> bool:
    verdict = compare_texts(item("?", gold))
    return verdict is not None and verdict.reason.startswith("needs a judge: ")


@pytest.fixture
def golds(shared: Path) -> list[Problem]:
    olympiad, imo = (find_benchmark(name) for name in ("olympiadbench-oe-maths", "imo-answerbench"))
    maths = load_dataset(olympiad, shared / "data/olympiadbench/OE_TO_maths_en_COMP.jsonl")
    return [
        *maths.problems,
        *load_dataset(imo, shared / "data/imobench/answerbench_v2.csv").problems,
    ]


# All golds take minutes.
@pytest.mark.parametrize("every", [8, slow(1)])
def test_every_gold_accepts_itself_boxed_and_by_algebra(golds: list[Problem], every: int) -> None:
    maths = golds[:675]
    texts = [str(problem.gold).replace("$", "").rstrip(" .") for problem in maths]
    boxed = [
        AnswerToGrade(problem, rf"\boxed{{{text}}}")
        for problem, text in zip(maths, texts, strict=True)
    ]
    verdicts = list(compare_all(boxed[::every], workers=1))
    refused = [
        (task.value, found)
        for task, found in zip(boxed[::every], verdicts, strict=True)
        if found.value != 1.0
    ]
    assert refused == []
    formulas = [
        AnswerToGrade(problem, str(problem.gold))
        for problem in golds
        if not is_for_a_judge(str(problem.gold))
    ]
    assert len(formulas) == 674 + 369  # of 675 and 400
    chosen = formulas[::every]
    assert [task.value for task in chosen if compared(task).value != 1.0] == []
    same = Grade(1.0, "the same text")
    assert [task.value for task in chosen if compare_texts(task) != same] == []


@pytest.mark.parametrize(("every", "steps"), [(32, 1), slow(1, 9)])
def test_no_gold_of_another_digit_is_right(golds: list[Problem], every: int, steps: int) -> None:
    with_tolerance = [gold for gold in golds if gold.details.get("tolerance")]
    items = []
    for gold in [*golds[::every], *with_tolerance]:
        text = str(gold.gold)
        for digit in [*re.finditer("[0-9]", text)][::-every]:
            for step in range(1, steps + 1):
                other = (int(digit[0]) + step) % 10
                items.append(
                    AnswerToGrade(gold, f"{text[: digit.start()]}{other}{text[digit.end() :]}")
                )
    assert len(items) > 1000 // every
    verdicts = list(compare_all(items, workers=1))
    assert [found for found in verdicts if found.failed] == []
    accepted = [task for task, found in zip(items, verdicts, strict=True) if found.value == 1.0]
    beyond = [
        (answer, problem.gold)
        for problem, answer, _ in accepted
        if abs(Fraction(str(answer)) - Fraction(str(problem.gold)))
        > Fraction(str(problem.details["tolerance"]))
    ]
    assert beyond == []
    assert ("4.2", "4.3") in [(problem.gold, answer) for problem, answer, _ in accepted]
