"""What judges are asked, word for word, and how their replies are read: never guessed at."""

import hashlib
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalcore.commands.judge import choose_prompt, judged_row, read_reply
from evalcore.formats import Problem
from evalcore.records import Record
from tests.support.cases import case_table

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


@pytest.mark.parametrize(
    *case_table(
        "judge_replies",
        ("points", f"<points>{'9' * 5000} out of 7</points>", "limit"),
        ("score", "[" * 100_000, "not valid JSON"),
        ("boxed", "<think>maybe \\boxed{Incorrect}</think>\n\\boxed{Correct}", [1.0, "Correct"]),
        ("boxed", "<think>it could be \\boxed{Correct} but", "it ends within its reasoning"),
        ("score", '[THINK]{"score": 1}[/THINK]{"score": 50}', [0.5, "50"]),
    )
)
def test_what_was_asked_for_is_read_and_all_else_unparsed(form: str, reply: str, read: Any) -> None:
    if isinstance(read, list):
        assert read_reply(FORMS[form], reply)[:2] == tuple(read)
    else:
        with pytest.raises(ValueError, match=read):
            read_reply(FORMS[form], reply)


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".judge_verdicts.jsonl")))
def test_another_statement_as_clear_is_a_verdict_unless_something_contradicts_it(
    form: str, reply: str, read: Any
) -> None:
    if isinstance(read, list):
        assert read_reply(FORMS[form], reply)[:2] == tuple(read)
    else:
        with pytest.raises(ValueError, match=read):
            read_reply(FORMS[form], reply)


@pytest.mark.parametrize("form", ["boxed", "points"])
@pytest.mark.parametrize("denial", ["not", "never", "partially", "almost", "in", "isn't"])
@pytest.mark.parametrize(
    "statement",
    [
        "{}",
        "**{}**",
        "Verdict: {}",
        "<verdict>{}</verdict>",
        "\\boxed{{{}}}",
        '{{"verdict": "{}"}}',
    ],
)
def test_a_denied_or_weakened_approval_is_never_an_approval(
    form: str, denial: str, statement: str
) -> None:
    space = "" if denial == "in" else " "
    try:
        value = read_reply(FORMS[form], statement.format(f"{denial}{space}correct"))[0]
    except ValueError:
        value = None
    assert value != 1


@pytest.mark.parametrize("form", ["boxed", "points"])
@pytest.mark.parametrize(
    "piece",
    ["(", ". ", "\n", "```x\n", "<verdict>", "\\boxed{", "{", "verdict: ", "\\boxed{Correct}\n"],
)
def test_a_long_reply_is_read_in_time(form: str, piece: str) -> None:
    started = time.monotonic()
    with suppress(ValueError):
        read_reply(FORMS[form], piece * (200_000 // len(piece)))
    assert time.monotonic() - started < 10, "quadratic ones take minutes"


def test_a_score_is_scaled_to_points_and_what_has_no_value_says_why(
    subtests: pytest.Subtests,
) -> None:
    prompt = FORMS["score"]
    said = {"reply": '{"score": 80, "feedback": "a\\n gap "}', "model": "judge-1-2026"}
    row = judged_row(prompt, PROBLEM, RECORD, "judge-1", said)
    assert (row.value, row.answer, row.reason) == (0.8, "80", "16 of 20 points; a gap")
    assert row.points == 20
    assert (row.rule, row.judge, row.status) == ("judge:judge-1", "judge-1-2026", "scored")
    assert (row.method, row.extraction, row.task) == ("f-1+cot", "whole output", "grade")
    asked = f"{prompt.system}\0{prompt.user}"
    assert row.prompt_sha256 == hashlib.sha256(asked.encode()).hexdigest()
    cut = replace(RECORD, finish_reason="length")
    for form, record, said, status, answer, reason in (
        ("cause", RECORD, {"reply": '{"cause": "C"}'}, "unknown", "C", ""),
        ("score", RECORD, {"reply": "Great!"}, "unknown", None, "unusable reply: not valid JSON"),
        ("score", cut, {}, "no_answer", None, "cut at the"),
    ):
        with subtests.test(form=form):
            row = judged_row(FORMS[form], PROBLEM, record, "judge-1", said)
            assert (row.value, row.answer, row.status, row.judge) == (
                None,
                answer,
                status,
                "judge-1",
            )
            assert (row.reply, row.reason[: len(reason)]) == (said.get("reply"), reason)
