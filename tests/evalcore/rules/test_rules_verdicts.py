"""Rules against the verdicts of a careful reader, written before the rules were run on them.

Each has the reason; `judge` is where only a reader can say.
"""

from pathlib import Path

import pytest

from evalcore.formats import Problem
from evalcore.rules import RULES, AnswerToGrade, Grade, Tools, grade_all
from evalcore.rules.formula_pool import compare_texts
from tests.support.cases import cases

VALUES = {"right": 1.0, "wrong": 0.0, "judge": None}


def judged(rule: str, answer: str, gold: str, unit: str = "") -> Grade:
    item = AnswerToGrade(Problem("1", "?", gold, details={"unit": unit or None}), answer)
    if rule == "math":
        from evalcore.rules.mathematics import compare_formulas

        return compare_texts(item) or compare_formulas(item)
    (verdict,) = grade_all(RULES[rule], [item], Tools(lambda _: (), lambda _: iter(())))
    return verdict


@pytest.mark.parametrize(
    "case",
    cases(Path(__file__).with_suffix(".careful_verdicts.csv")),
    ids=lambda case: f"{case['group']}: {case['answer']} for {case['gold']}",
)
def test_a_rule_gives_the_verdict_of_a_careful_reader(case: dict[str, str]) -> None:
    rule = case["group"].partition(":")[0]
    value, reason, failed = judged(rule, case["answer"], case["gold"], case["unit"])
    assert (value, failed) == (VALUES[case["verdict"]], False), case["why"]
    assert reason


def test_a_factor_of_more_digits_than_python_reads_is_no_number() -> None:
    assert "not a number: '2 × 111" in judged("lenient", f"2 × {'1' * 5000}", "2").reason
