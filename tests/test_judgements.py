from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.judgements import FORMS, UnparsedError


@pytest.mark.parametrize(
    ("form", "reply", "value", "label"),
    [
        pytest.param("boxed", "Same value. \\boxed{Correct}", 1.0, "Correct", id="boxed"),
        pytest.param("boxed", "\\boxed{\\text{Incorrect}}", 0.0, "Incorrect", id="boxed as text"),
        pytest.param(
            "boxed", "\\boxed{Correct} … so \\boxed{Correct}", 1.0, "Correct", id="said twice"
        ),
        pytest.param("points of 7", "fine\n<points>6 out of 7</points>", 6 / 7, "6", id="points"),
        pytest.param("points of 7", "<points>0 out of 7</points>", 0.0, "0", id="no points"),
        pytest.param("json score", '{"score": 82.5}', 0.825, "82.5", id="a score"),
        pytest.param("json score", '```json\n{"score": 100}\n```', 1.0, "100", id="fenced"),
        pytest.param("json cause", '{"cause": "B", "why": "x"}', None, "B", id="a cause"),
    ],
)
def test_what_was_asked_for_is_read(form: str, reply: str, value: float | None, label: str) -> None:
    judgement = FORMS[form](reply)
    assert (judgement.value, judgement.label) == (value, label)


@pytest.mark.parametrize(
    ("form", "reply", "problem"),
    [
        pytest.param("boxed", "It is correct.", "no \\boxed", id="nothing boxed"),
        pytest.param("boxed", "\\boxed{Correct}, no: \\boxed{Incorrect}", "both", id="boxed both"),
        pytest.param("boxed", "\\boxed{correct-ish}", "no \\boxed", id="another word"),
        pytest.param("points of 7", "6 out of 7", "no <points>", id="points without tags"),
        pytest.param("points of 7", "<points>9 out of 7</points>", "9 points", id="too many"),
        pytest.param(
            "points of 7",
            "<points>1 out of 7</points><points>6 out of 7</points>",
            "both 1 and 6",
            id="two numbers of points",
        ),
        pytest.param("points of 7", "<points>6.5 out of 7</points>", "no <points>", id="a half"),
        pytest.param("json score", '{"score": 101}', "0 to 100", id="a score above 100"),
        pytest.param("json score", '{"score": "80"}', "a number", id="a score as text"),
        pytest.param("json score", '{"score": true}', "a number", id="a truth value"),
        pytest.param("json score", '{"score": NaN}', "0 to 100", id="not a number"),
        pytest.param("json score", "{}", "null", id="no score"),
        pytest.param("json score", '{"score": 1, "score": 90}', "twice", id="two scores"),
        pytest.param("json score", "[1]", "no JSON object", id="a list"),
        pytest.param("json score", "Score: 80", "no JSON", id="prose"),
        pytest.param("json score", "[" * 100_000, "no JSON", id="deep nesting"),
        pytest.param("json cause", '{"cause": "D"}', "one of A, B, C", id="another cause"),
        pytest.param("json cause", '{"cause": ["A"]}', "one of A, B, C", id="a list of causes"),
    ],
)
def test_what_was_not_asked_for_is_unparsed(form: str, reply: str, problem: str) -> None:
    with pytest.raises(UnparsedError, match=problem.replace("\\", "\\\\")):
        FORMS[form](reply)


@given(st.floats(0, 100), st.text())
def test_a_score_and_its_reason_come_back(score: float, feedback: str) -> None:
    said = json.dumps({"score": score, "feedback": feedback, "key_errors": [], "strengths": []})
    judgement = FORMS["json score"](said)
    assert judgement.value == pytest.approx(score / 100)
    assert judgement.reason == " ".join(feedback.split())


@given(st.sampled_from(sorted(FORMS)), st.text())
def test_any_text_is_read_or_unparsed(form: str, reply: str) -> None:
    try:
        judgement = FORMS[form](reply)
    except UnparsedError:
        return
    assert judgement.label
