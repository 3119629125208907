"""What judges are asked, word for word, and how their replies are read: never guessed at."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from evalcore.commands.judge import choose_prompt, judged_row, read_reply
from evalcore.formats import Problem
from evalcore.records import Record

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


POINTS = "<points>{} out of 7</points>"
REPLIES: list[tuple[str, str, tuple[float | None, str] | str]] = [
    ("boxed", "Same value. \\boxed{Correct}", (1.0, "Correct")),
    ("boxed", "\\boxed{\\text{Incorrect}}", (0.0, "Incorrect")),
    ("boxed", 2 * "\\boxed{Correct} so ", (1.0, "Correct")),
    ("points", "fine\n<points>6 out of 7</points>", (6 / 7, "6")),
    ("score", '{"score": 82.5}', (0.825, "82.5")),
    ("score", '```json\n{"score": 100}\n```', (1.0, "100")),
    ("cause", '{"cause": "B", "why": "x"}', (None, "B")),
    ("boxed", "It is correct.", r"no \\boxed"),
    ("boxed", "\\boxed{Correct}, no: \\boxed{Incorrect}", "both"),
    ("points", POINTS.format(9), "points 9; a number from 0 to 7"),
    ("points", POINTS.format("9" * 5000), "limit"),
    ("points", POINTS.format(1) + POINTS.format(6), "both 1 and 6"),
    ("points", "<points>6.5 out of 7</points>", "no <points>"),
    ("score", '{"score": "80"}', "a number"),
    ("score", '{"score": true}', "a number"),
    ("score", '{"score": NaN}', "0 to 100"),
    ("score", '{"score": 1, "score": 90}', "twice"),
    ("score", "[1]", "not a JSON object"),
    ("score", "Score: 80", "not valid JSON"),
    ("score", "[" * 100_000, "not valid JSON"),
    ("cause", '{"cause": "D"}', "one of A, B, C"),
    ("cause", '{"cause": ["A"]}', "one of A, B, C"),
]


@pytest.mark.parametrize(("form", "reply", "read"), REPLIES, ids=range(len(REPLIES)))
def test_what_was_asked_for_is_read_and_all_else_unparsed(form: str, reply: str, read: Any) -> None:
    if isinstance(read, tuple):
        assert read_reply(FORMS[form], reply)[:2] == read
    else:
        with pytest.raises(ValueError, match=read):
            read_reply(FORMS[form], reply)


def test_a_score_is_scaled_to_points_and_what_has_no_value_says_why() -> None:
    prompt = FORMS["score"]
    said = {"reply": '{"score": 80, "feedback": "a\\n gap "}', "model": "judge-1-2026"}
    row = judged_row(prompt, PROBLEM, RECORD, "judge-1", said)
    assert (row.value, row.answer, row.reason) == (0.8, "80", "16 of 20 points; a gap")
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
        row = judged_row(FORMS[form], PROBLEM, record, "judge-1", said)
        assert (row.value, row.answer, row.status, row.judge) == (None, answer, status, "judge-1")
        assert (row.reply, row.reason[: len(reason)]) == (said.get("reply"), reason)
