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
from evalcore.judge import Case, choose_prompt, judged_row, read_reply
from evalcore.records import Record
from ngramscan.errors import InputError

ENTRIES = yaml.safe_load((resources.files("evalcore") / "judge_prompts.yaml").read_text())
DETAILS = {"solution": ["THE", "SOLUTION"], "guidelines": "GUIDE", "points": 20}
PROBLEM = Problem("p1", "Prove it.", "42", details=DETAILS)
RUN: Any = {"dataset": "aicrypto", "model": "secret-model", "method": "f-1+cot"}
RECORD = Record(id="p1", output="my {{gold}} proof", **RUN)
EXAM = Case(RECORD, PROBLEM, choose_prompt("aicrypto", "grade"), "grade")
FORMS = {
    "boxed": choose_prompt("imo-answerbench", "grade"),
    "points": choose_prompt("imo-proofbench", "grade"),
    "score": EXAM.prompt,
    "cause": choose_prompt("financemath", "failure-causes"),
}


# What judges are asked


def test_the_prompts_of_the_paper_are_word_for_word(shared: Path) -> None:
    printed = yaml.safe_load((shared / "paper" / "judge_prompts.yaml").read_text())
    for name in ("IMO-AnswerBench", "IMO-ProofBench", "AICrypto"):
        assert ENTRIES[name.lower()]["system"] == printed[name]["prompt"]
    not_printed = {name for name, entry in printed.items() if entry["prompt"] is None}
    assert len(not_printed) == sum(entry["source"] == "ours" for entry in ENTRIES.values()) == 2


@pytest.mark.parametrize(
    ("dataset", "task", "digest"),
    [
        pytest.param("imo-answerbench", "grade", "e9f12abcc30ecd50", id="AnswerBench"),
        pytest.param("imo-proofbench", "grade", "a6b129dcc4f8ef26", id="ProofBench"),
        pytest.param("aicrypto", "grade", "341d626a5959864b", id="AICrypto"),
        pytest.param("olympiadbench-tp-physics", "grade", "", id="proofs"),
        pytest.param("financemath", "failure-causes", "", id="why it failed"),
    ],
)
def test_a_benchmark_has_its_prompt_which_does_not_change_unseen(
    dataset: str, task: str, digest: str
) -> None:
    system = choose_prompt(dataset, task).system
    assert hashlib.sha256(system.encode()).hexdigest().startswith(digest)


def test_what_rules_compare_is_not_judged() -> None:
    with pytest.raises(InputError, match="see evalcore score --dataset financemath"):
        choose_prompt("financemath", "grade")


@pytest.mark.parametrize("name", list(ENTRIES))
def test_a_judge_sees_problem_and_answer_but_neither_method_nor_model(name: str) -> None:
    prompt = choose_prompt(name, "grade")
    system, user = EXAM._replace(prompt=prompt).messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == prompt.system
    assert "Prove it." in user["content"]
    assert "my {{gold}} proof" in user["content"]
    assert "{{" not in user["content"].replace("{{gold}}", "", 1)
    for text, place in (("THE\n\nSOLUTION", "{{solution}}"), ("GUIDE", "{{guidelines}}")):
        assert (text in user["content"]) == (place in prompt.user)
    for hidden in (RECORD.method, RECORD.model, "cot"):
        assert hidden not in (system["content"] + user["content"]).lower()


@pytest.mark.parametrize(
    ("dataset", "output", "part"),
    [
        ("aicrypto", "## Analysis\nsee ## Proof below\n## Proof\nold\n##  Proof \nreal\n", "real"),
        ("aicrypto", "no heading", None),
        ("imo-proofbench", "a\n## Proof\nb", None),
    ],
    ids=["only the last proof section", "no section", "not asked for"],
)
def test_only_the_section_that_the_prompt_says_is_judged(
    dataset: str, output: str, part: str | None
) -> None:
    case = Case(replace(RECORD, output=output), PROBLEM, choose_prompt(dataset, "grade"), "grade")
    assert case.part == ((part, "## Proof") if part else (output, "whole output"))


# What they replied

POINTS = "<points>{} out of 7</points>"


@pytest.mark.parametrize(
    ("form", "reply", "value", "label"),
    [
        pytest.param("boxed", "Same value. \\boxed{Correct}", 1.0, "Correct", id="boxed"),
        pytest.param("boxed", "\\boxed{\\text{Incorrect}}", 0.0, "Incorrect", id="boxed as text"),
        pytest.param("boxed", 2 * "\\boxed{Correct} so ", 1.0, "Correct", id="said twice"),
        pytest.param("points", "fine\n<points>6 out of 7</points>", 6 / 7, "6", id="points"),
        pytest.param("points", "<points>0 out of 7</points>", 0.0, "0", id="no points"),
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
        pytest.param("boxed", "\\boxed{correct-ish}", r"no \\boxed", id="another word"),
        pytest.param("points", "6 out of 7", "no <points>", id="points without tags"),
        pytest.param("points", POINTS.format(9), "points 9; a number from 0 to 7", id="too many"),
        pytest.param("points", POINTS.format("9" * 5000), "limit", id="far too many"),
        pytest.param("points", POINTS.format(1) + POINTS.format(6), "both 1 and 6", id="two"),
        pytest.param("points", "<points>6.5 out of 7</points>", "no <points>", id="a half"),
        pytest.param("score", '{"score": 101}', "0 to 100", id="a score above 100"),
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


@given(st.floats(0, 100), st.text())
def test_a_score_and_its_reason_come_back(score: float, feedback: str) -> None:
    said = json.dumps({"score": score, "feedback": feedback, "key_errors": [], "strengths": []})
    value, _, reason = read_reply(EXAM.prompt, said)
    assert value == pytest.approx(score / 100)
    assert reason == " ".join(feedback.split())


@given(st.sampled_from(sorted(FORMS)), st.text())
def test_any_text_is_read_or_unparsed(form: str, reply: str) -> None:
    try:
        assert read_reply(FORMS[form], reply)[1]
    except ValueError:
        return


def test_a_score_is_scaled_to_the_points_of_the_problem() -> None:
    row = judged_row(EXAM, "judge-1", '{"score": 80, "feedback": "a gap"}', "judge-1-2026")
    assert (row.value, row.answer, row.reason) == (0.8, "80", "16 of 20 points; a gap")
    assert row.status == "scored"
    assert (row.rule, row.judge) == ("judge:judge-1", "judge-1-2026")
    assert (row.method, row.extraction) == ("f-1+cot", "whole output")
    asked = f"{EXAM.prompt.system}\0{EXAM.prompt.user}"
    assert row.prompt_sha256 == hashlib.sha256(asked.encode()).hexdigest()


def test_a_cause_is_a_label_without_a_value() -> None:
    prompt = choose_prompt("financemath", "failure-causes")
    row = judged_row(EXAM._replace(prompt=prompt), "judge-1", '{"cause": "C"}', None)
    assert (row.value, row.answer, row.judge, row.status) == (None, "C", "judge-1", "unknown")


def test_a_reply_that_can_not_be_read_is_kept_and_has_no_value() -> None:
    row = judged_row(EXAM, "judge-1", "Great proof!", None)
    assert (row.value, row.answer, row.reply) == (None, None, "Great proof!")
    assert (row.status, row.reason[:24]) == ("unknown", "unparsed: not valid JSON")
