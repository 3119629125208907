"""What the rule `math` takes for equal: plain text, nouns, relations, chains, matrices, labels."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade, Grade
from evalcore.rules.formula_pool import compare_texts
from tests.support.cases import cases

VERDICTS = {"right": 1.0, "wrong": 0.0, "judge": None}


def verdict(answer: str, gold: str, question: str = "?") -> Grade:
    from evalcore.rules.mathematics import compare_formulas

    item = AnswerToGrade(Problem("1", question, gold), answer)
    return compare_texts(item) or compare_formulas(item)


def notations() -> Iterator[object]:
    for case in cases(Path(__file__).with_suffix(".answer_notations.csv")):
        name = f"{case['group']}: {case['answer']} for {case['gold']}"
        yield pytest.param(case["gold"], case["answer"], case["verdict"], id=name)


@pytest.mark.parametrize(("gold", "answer", "expected"), list(notations()))
def test_an_answer_is_the_gold_as_a_careful_reader_sees_it(
    gold: str, answer: str, expected: str
) -> None:
    found = verdict(answer, gold)
    assert (found.value, found.failed) == (VERDICTS[expected], False), found.reason


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("When does the train leave?", 0.0, id="a question about a time"),
        pytest.param("In what ratio are they?", 1.0, id="a question about a ratio"),
        pytest.param("What is it?", None, id="a question that tells neither"),
    ],
)
def test_a_time_is_told_from_a_ratio_by_the_question(question: str, expected: float | None) -> None:
    assert verdict("14:30", "7:15", question).value == expected


@pytest.mark.parametrize(
    ("answer", "gold", "reason"),
    [
        pytest.param("17 apples", "17", "the same number of apples", id="a noun"),
        pytest.param("there are seven", "7", "the same number, in words", id="a sentence"),
        pytest.param("(D)", "C", "choice D, not C", id="a choice"),
        pytest.param("no", "Yes", "the opposite", id="yes and no"),
        pytest.param("12_5", "12_7", "in base 5, not 7", id="another base"),
        pytest.param("13_7", "12_7", "other digits", id="the same base"),
        pytest.param("9:06", "9:05", "another time", id="a time"),
        pytest.param("2/3", "9:05", "not a time", id="a number for a time"),
        pytest.param("x<3", "x<2", "other numbers", id="a set"),
        pytest.param("5 pears", "5 plums", "needs a judge: 'pears' or 'plums'", id="other nouns"),
    ],
)
def test_the_reason_says_what_was_compared(answer: str, gold: str, reason: str) -> None:
    assert verdict(answer, gold).reason == reason
