"""What judges are asked, word for word, and the rows that their replies make."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from evalcore.benchmarks import Dataset
from evalcore.formats import Problem
from evalcore.judgements import (
    choose_prompt,
    find_judged_part,
    make_cases,
    make_judge_messages,
    make_judge_row,
)
from evalcore.records import Record
from ngramscan.errors import InputError

DETAILS = {"solution": ["THE", "SOLUTION"], "guidelines": "GUIDE", "points": 20}
PROBLEM = Problem("p1", "Prove it.", "42", details=DETAILS)
RUN: Any = {"dataset": "aicrypto", "model": "secret-model", "method": "f-1+cot"}
RECORD = Record(id="p1", output="my {{gold}} proof", **RUN)


@pytest.mark.parametrize(
    "dataset", ["imo-answerbench", "imo-proofbench", "aicrypto", "olympiadbench-tp-maths"]
)
def test_a_judge_sees_problem_and_answer_but_no_method_or_model(dataset: str) -> None:
    prompt = choose_prompt(dataset, "grade")
    system, user = make_judge_messages(prompt, PROBLEM, "my {{gold}} proof")
    assert system == {"role": "system", "content": prompt.system}
    assert user["role"] == "user"
    # A placeholder in the output is part of it.
    assert user["content"].count("{{") == user["content"].count("my {{gold}} proof") == 1
    texts = {"problem": "Prove it.", "solution": "THE\n\nSOLUTION", "guidelines": "GUIDE"}
    shown = [place for place, text in texts.items() if text in user["content"]]
    assert shown == [place for place in texts if f"{{{{{place}}}}}" in prompt.user]


PROOFS = "## Analysis\nsee ## Proof below\n## Proof\nold\n##  Proof \nreal\n"


@pytest.mark.parametrize(
    ("dataset", "output", "part", "name"),
    [
        pytest.param("aicrypto", PROOFS, "real", "## Proof", id="the last section"),
        pytest.param("aicrypto", "no heading", "no heading", "whole output", id="no section"),
        pytest.param("imo-proofbench", PROOFS, PROOFS, "whole output", id="none is asked for"),
    ],
)
def test_only_the_section_that_the_prompt_names_is_judged(
    dataset: str, output: str, part: str, name: str
) -> None:
    assert find_judged_part(choose_prompt(dataset, "grade"), output) == (part, name)


def test_what_rules_compare_is_not_judged_but_why_it_failed_is() -> None:
    with pytest.raises(InputError, match="rules score its answers; use `evalcore score`"):
        choose_prompt("financemath", "grade")
    assert choose_prompt("financemath", "failure-causes").labels == dict.fromkeys("ABC")


def test_a_score_is_scaled_to_points_and_a_row_says_who_judged_what() -> None:
    prompt = choose_prompt("aicrypto", "grade")
    said = {"reply": '{"score": 80, "feedback": "a\\n gap "}', "model": "judge-1-2026"}
    row = make_judge_row(prompt, PROBLEM, RECORD, "judge-1", said)
    assert (row.value, row.answer, row.reason) == (0.8, "80", "16 of 20 points; a gap")
    assert row.points == 20
    assert (row.rule, row.judge, row.status) == ("judge:judge-1", "judge-1-2026", "scored")
    assert (row.method, row.extraction, row.task) == ("f-1+cot", "whole output", "grade")
    assert (row.dataset, row.model, row.id) == ("aicrypto", "secret-model", "p1")
    asked = f"{prompt.system}\0{prompt.user}"
    assert row.prompt_sha256 == hashlib.sha256(asked.encode()).hexdigest()


@pytest.mark.parametrize(
    ("dataset", "task", "record", "reply", "status", "answer", "reason"),
    [
        pytest.param(
            "financemath",
            "failure-causes",
            RECORD,
            '{"cause": "C"}',
            "unknown",
            "C",
            "",
            id="a cause is no score",
        ),
        pytest.param(
            "aicrypto",
            "grade",
            RECORD,
            "Great!",
            "unknown",
            None,
            "unusable reply: not valid JSON",
            id="a reply that can't be read",
        ),
        pytest.param(
            "aicrypto",
            "grade",
            replace(RECORD, finish_reason="length"),
            None,
            "no_answer",
            None,
            "cut at the",
            id="an output that was cut",
        ),
    ],
)
def test_what_has_no_value_says_why(
    dataset: str,
    task: str,
    record: Record,
    reply: str | None,
    status: str,
    answer: str | None,
    reason: str,
) -> None:
    said = {} if reply is None else {"reply": reply}
    row = make_judge_row(choose_prompt(dataset, task), PROBLEM, record, "judge-1", said)
    assert (row.value, row.answer, row.status) == (None, answer, status)
    assert (row.judge, row.reply) == ("judge-1", reply)
    assert row.reason.startswith(reason)


def test_a_judge_sees_no_reasoning() -> None:
    prompt = choose_prompt("imo-answerbench", "grade")
    output = "<think>Maybe \\boxed{12}</think>\nIt is \\boxed{5}."
    record = Record(id="1", dataset="q", model="m", method="cot", output=output)
    ended = replace(record, output="<think>It may be \\boxed{5}, since")
    dataset = Dataset("q", (Problem("1", "?", "5"),), "0")
    (_, _, request), (_, _, none) = make_cases(prompt, dataset, [record, ended], {})
    assert "It is \\\\boxed{5}." in request
    assert "Maybe" not in request
    assert none == ""
