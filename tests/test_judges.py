"""What judges are asked, word for word, and how their replies are read: never guessed at."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalcore.commands.judge import (
    choose_prompt,
    judge_messages,
    judged_part,
    judged_row,
    read_reply,
)
from evalcore.formats import Problem
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
    with pytest.raises(InputError, match="rules score its answers; use `evalcore score`"):
        choose_prompt("financemath", "grade")
    assert FORMS["cause"].labels == dict.fromkeys("ABC")
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


def test_only_the_section_that_the_prompt_says_is_judged() -> None:
    output, whole = (
        "## Analysis\nsee ## Proof below\n## Proof\nold\n##  Proof \nreal\n",
        "whole output",
    )
    assert judged_part(FORMS["score"], output) == ("real", "## Proof"), "the last one"
    assert judged_part(FORMS["score"], "no heading") == ("no heading", whole)
    assert judged_part(FORMS["points"], output) == (output, whole), "it asks for none"


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
