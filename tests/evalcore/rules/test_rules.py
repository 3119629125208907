"""The verdicts of each rule; formulas are in test_mathematics.py."""

import ast
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalcore.formats import Problem
from evalcore.rules import RULES as COMPARE
from evalcore.rules import AnswerToGrade, Grade, Tools, grade_all
from evalcore.sandbox.sandbox import Outcome
from tests.support.cases import cases


def judged(rule: str, value: Any, gold: Any, is_computed: bool = True) -> Grade:
    details = {"ground_truth": gold, "program": "the reference"}
    tools = Tools(lambda programs: [Outcome("ok", gold) for _ in programs], lambda items: iter(()))
    item = AnswerToGrade(Problem("1", "?", str(gold), details=details), value, is_computed)
    (verdict,) = grade_all(COMPARE[rule], [item], tools)
    return verdict


NAMED: dict[str, Any] = {"nan": math.nan, "inf": math.inf, "huge": 10**400}
NAMED |= {"half": Decimal("0.5"), "long": "x" * 99, "complex": 5 + 0j}


def described_case(case: dict[str, str]) -> str:
    return f"{case['rule']}: {case['answer']} {case['gold']}"


@pytest.mark.parametrize("case", cases(Path(__file__).with_suffix(".csv")), ids=described_case)
def test_an_answer_has_the_verdict_of_its_rule(case: dict[str, str]) -> None:
    """Values of programs are Python's, or named above; texts are as they are."""
    is_computed = case["of"] == "program"
    answer, gold = (
        NAMED.get(text) or ast.literal_eval(text) if is_computed else text
        for text in (case["answer"], case["gold"])
    )
    verdict = judged(case["rule"], answer, gold, is_computed)
    assert (str(verdict.value).removesuffix(".0"), verdict.failed) == (case["value"], False)
    assert case["reason"] in verdict.reason


def described(p: float, g: float) -> bool:
    """The authors' comparison, written a second time from its description."""
    small, big = sorted([abs(p), abs(g)])

    def near(x: float, y: float) -> bool:
        return y - 0.0015 * abs(y) <= x <= y + 0.0015 * abs(y)

    return (
        (small > 0 and math.log10(big / small) == round(math.log10(big / small)))
        or any(small <= big / (f / 2) and near(f * small, big) for f in (100, 1000, 100_000))
        or math.ceil(1000 * big) / 1000 == math.ceil(1000 * small) / 1000
        or near(p, g)
    )


SCALES = st.sampled_from([1e-6, 1e-5, 1e-3, 1e-2, 0.1, 1.0, -1.0, 10.0, 1e2, 1e3, 1e5, -1e5, 1e6])


@given(st.floats(-1e9, 1e9).map(lambda x: round(x, 4)), SCALES, st.floats(0.997, 1.003))
@example(10.059, 0.001, 0.99910)
@example(0.0, 1.0, 1.0)
def test_the_lenient_rule_is_as_described(gold: float, scale: float, off: float) -> None:
    prediction = gold * scale * off
    assert judged("lenient", prediction, gold).value == float(described(prediction, gold))
    assert [judged(rule, gold, gold).value for rule in ("lenient", "strict")] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("rule", "answer", "gold", "value"),
    [
        pytest.param("numbers", "1.0000009", "1.0", 1.0, id="within a millionth"),
        pytest.param("numbers", "1.0000011", "1.0", 0.0, id="beyond a millionth"),
        pytest.param("exact", "ant bee.", "ant bee", 1.0, id="one full stop"),
        pytest.param("exact", "ant bee..", "ant bee", 0.0, id="two full stops"),
    ],
)
def test_a_rule_is_as_wide_as_it_says(rule: str, answer: str, gold: str, value: float) -> None:
    assert judged(rule, answer, gold, is_computed=False).value == value
