"""What judges are asked, word for word, and how their replies are read: never guessed at."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalcore.formats import Problem
from evalcore.judge import choose_prompt, judge_messages, judged_part, judged_row, read_reply
from evalcore.records import Record
from ngramscan.errors import InputError

ENTRIES = yaml.safe_load((resources.files("evalcore") / "judge_prompts.yaml").read_text())
DETAILS = {"solution": ["THE", "SOLUTION"], "guidelines": "GUIDE", "points": 20}
PROBLEM = Problem("p1", "Prove it.", "42", details=DETAILS)
RUN: Any = {"dataset": "aicrypto", "model": "secret-model", "method": "f-1+cot"}
RECORD = Record(id="p1", output="my {{gold}} proof", **RUN)
FORMS = {
    "boxed": choose_prompt("imo-answerbench", "grade"),
    "points": choose_prompt("imo-proofbench", "grade"),
    "score": choose_prompt("aicrypto", "grade"),
    "cause": choose_prompt("financemath", "failure-causes"),
}


def test_the_prompts_of_the_paper_are_word_for_word(shared: Path) -> None:
    printed = yaml.safe_load((shared / "paper" / "judge_prompts.yaml").read_text())
    for name in ("IMO-AnswerBench", "IMO-ProofBench", "AICrypto"):
        assert choose_prompt(name.lower(), "grade").system == printed[name]["prompt"]
    not_printed = {name for name, entry in printed.items() if entry["prompt"] is None}
    assert len(not_printed) == sum(entry["source"] == "ours" for entry in ENTRIES.values()) == 2


def test_what_rules_compare_is_not_judged_but_why_it_failed_is() -> None:
    with pytest.raises(InputError, match="see evalcore score --dataset financemath"):
        choose_prompt("financemath", "grade")
    assert choose_prompt("financemath", "failure-causes").labels == dict.fromkeys("ABC")
    assert choose_prompt("olympiadbench-tp-physics", "grade").task == "grade"


@pytest.mark.parametrize("name", list(ENTRIES))
def test_a_judge_sees_problem_and_answer_but_neither_method_nor_model(name: str) -> None:
    prompt = choose_prompt(name, "grade")
    system, user = judge_messages(prompt, PROBLEM, "my {{gold}} proof")
    assert system == {"role": "system", "content": prompt.system}
    assert user["role"] == "user"
    assert user["content"].count("{{") == user["content"].count("my {{gold}} proof") == 1
    shown = {"problem": "Prove it.", "solution": "THE\n\nSOLUTION", "guidelines": "GUIDE"}
    for place, text in shown.items():
        assert (text in user["content"]) == (f"{{{{{place}}}}}" in prompt.user)


@pytest.mark.parametrize(
    ("form", "output", "part"),
    [
        ("score", "## Analysis\nsee ## Proof below\n## Proof\nold\n##  Proof \nreal\n", "real"),
        ("score", "no heading", None),
        ("points", "a\n## Proof\nb", None),
    ],
    ids=["only the last proof section", "no section", "not asked for"],
)
def test_only_the_section_that_the_prompt_says_is_judged(
    form: str, output: str, part: str | None
) -> None:
    expected = (part, "## Proof") if part else (output, "whole output")
    assert judged_part(FORMS[form], output) == expected


POINTS = "<points>{} out of 7</points>"


@pytest.mark.parametrize(
    ("form", "reply", "value", "label"),
    [
        pytest.param("boxed", "Same value. \\boxed{Correct}", 1.0, "Correct", id="boxed"),
        pytest.param("boxed", "\\boxed{\\text{Incorrect}}", 0.0, "Incorrect", id="boxed as text"),
        pytest.param("boxed", 2 * "\\boxed{Correct} so ", 1.0, "Correct", id="said twice"),
        pytest.param("points", "fine\n<points>6 out of 7</points>", 6 / 7, "6", id="points"),
        pytest.param("score", '{"score": 82.5}', 0.825, "82.5", id="a score"),
        pytest.param("score", '```json\n{"score": 100}\n```', 1.0, "100", id="fenced"),
        pytest.param("cause", '{"cause": "B", "why": "x"}', None, "B", id="a cause"),
    ],
)
def test_what_was_asked_for_is_read(form: str, reply: str, value: float | None, label: str) -> None:
    assert read_reply(FORMS[form], reply)[:2] == (value, label)


@pytest.mark.parametrize(
    ("form", "reply", "problem"),
    [
        pytest.param("boxed", "It is correct.", r"no \\boxed", id="nothing boxed"),
        pytest.param("boxed", "\\boxed{Correct}, no: \\boxed{Incorrect}", "both", id="boxed both"),
        pytest.param("points", POINTS.format(9), "points 9; a number from 0 to 7", id="too many"),
        pytest.param("points", POINTS.format("9" * 5000), "limit", id="far too many"),
        pytest.param("points", POINTS.format(1) + POINTS.format(6), "both 1 and 6", id="two"),
        pytest.param("points", "<points>6.5 out of 7</points>", "no <points>", id="a half"),
        pytest.param("score", '{"score": "80"}', "a number", id="a score as text"),
        pytest.param("score", '{"score": true}', "a number", id="a truth value"),
        pytest.param("score", '{"score": NaN}', "0 to 100", id="not a number"),
        pytest.param("score", "{}", "null", id="no score"),
        pytest.param("score", '{"score": 1, "score": 90}', "twice", id="two scores"),
        pytest.param("score", "[1]", "not a JSON object", id="a list"),
        pytest.param("score", "Score: 80", "not valid JSON", id="prose"),
        pytest.param("score", "[" * 100_000, "not valid JSON", id="deep nesting"),
        pytest.param("cause", '{"cause": "D"}', "one of A, B, C", id="another cause"),
        pytest.param("cause", '{"cause": ["A"]}', "one of A, B, C", id="a list of causes"),
    ],
)
def test_what_was_not_asked_for_is_unparsed(form: str, reply: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_reply(FORMS[form], reply)


@given(st.sampled_from(sorted(FORMS)), st.text(max_size=40))
def test_any_text_is_read_or_unparsed_and_a_reason_comes_back(form: str, text: str) -> None:
    said = json.dumps({"score": 50, "feedback": text, "key_errors": [], "strengths": []})
    assert read_reply(FORMS["score"], said) == (0.5, "50", " ".join(text.split()))
    try:
        assert read_reply(FORMS[form], text)[1]
    except ValueError:
        return


def test_a_score_is_scaled_to_the_points_of_the_problem() -> None:
    prompt = FORMS["score"]
    said = {"reply": '{"score": 80, "feedback": "a gap"}', "model": "judge-1-2026"}
    row = judged_row(prompt, PROBLEM, RECORD, "judge-1", said)
    assert (row.value, row.answer, row.reason) == (0.8, "80", "16 of 20 points; a gap")
    assert (row.rule, row.judge, row.status) == ("judge:judge-1", "judge-1-2026", "scored")
    assert (row.method, row.extraction, row.task) == ("f-1+cot", "whole output", "grade")
    asked = f"{prompt.system}\0{prompt.user}"
    assert row.prompt_sha256 == hashlib.sha256(asked.encode()).hexdigest()


@pytest.mark.parametrize(
    ("form", "reply", "answer", "status", "reason"),
    [
        pytest.param("cause", '{"cause": "C"}', "C", "unknown", "", id="a label has no value"),
        pytest.param("score", "Great!", None, "unknown", "unparsed: not valid JSON", id="unparsed"),
        pytest.param("score", None, None, "no_answer", "cut at the", id="nothing to judge"),
    ],
)
def test_what_has_no_value_says_why(
    form: str, reply: str | None, answer: str | None, status: str, reason: str
) -> None:
    record = replace(RECORD, finish_reason="length" if reply is None else "stop")
    said = {} if reply is None else {"reply": reply, "model": None}
    row = judged_row(FORMS[form], PROBLEM, record, "judge-1", said)
    assert (row.value, row.answer, row.reply, row.status) == (None, answer, reply, status)
    assert (row.reason[: len(reason)], row.judge) == (reason, "judge-1")
