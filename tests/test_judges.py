from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import yaml

from evalcore.formats import Problem
from evalcore.judge import (
    Asked,
    choose_prompt,
    graded_part,
    judge_messages,
    judged_row,
    load_judge_prompts,
)
from evalcore.judgements import FORMS
from evalcore.records import Record
from ngramscan.errors import InputError

PROBLEM = Problem(
    "p1",
    "Prove it.",
    "42",
    details={"solution": ["THE", "SOLUTION"], "guidelines": "GUIDE", "points": 20},
)
RECORD = Record(
    id="p1", dataset="aicrypto", model="secret-model", method="f-1+cot", output="my proof"
)


def test_every_prompt_names_a_form_that_can_be_read() -> None:
    for prompt in load_judge_prompts().values():
        assert prompt.reply in FORMS
        assert prompt.source in {"paper", "ours"}


def test_the_prompts_of_the_paper_are_word_for_word(shared: Path) -> None:
    printed = yaml.safe_load((shared / "paper" / "judge_prompts.yaml").read_text())
    prompts = load_judge_prompts()
    names = {"IMO-AnswerBench", "IMO-ProofBench", "AICrypto"}
    for name in names:
        assert prompts[name.lower()].system == printed[name]["prompt"]
    ours = {name for name, entry in printed.items() if entry["prompt"] is None}
    assert len(ours) == sum(prompt.source == "ours" for prompt in prompts.values()) == 2


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("imo-answerbench", "e9f12abcc30ecd50"),
        ("imo-proofbench", "a6b129dcc4f8ef26"),
        ("aicrypto", "341d626a5959864b"),
    ],
)
def test_prompts_of_the_paper_do_not_change_unseen(name: str, digest: str) -> None:
    system = load_judge_prompts()[name].system
    assert hashlib.sha256(system.encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize(
    ("dataset", "task", "name"),
    [
        pytest.param("imo-proofbench", "grade", "imo-proofbench", id="ProofBench"),
        pytest.param("imo-answerbench", "grade", "imo-answerbench", id="AnswerBench"),
        pytest.param("olympiadbench-tp-physics", "grade", "olympiadbench-tp", id="proofs"),
        pytest.param("aicrypto", "grade", "aicrypto", id="AICrypto"),
        pytest.param("financemath", "failure-causes", "failure-causes", id="why it failed"),
    ],
)
def test_a_benchmark_has_its_prompt(dataset: str, task: str, name: str) -> None:
    assert choose_prompt(dataset, task).name == name


def test_what_rules_compare_is_not_judged() -> None:
    with pytest.raises(InputError, match="see evalcore score --dataset financemath"):
        choose_prompt("financemath", "grade")


@pytest.mark.parametrize("name", list(load_judge_prompts()))
def test_a_judge_sees_problem_and_answer_but_neither_method_nor_model(name: str) -> None:
    prompt = load_judge_prompts()[name]
    system, user = judge_messages(prompt, PROBLEM, "my proof with {{gold}} in it")
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == prompt.system
    assert "Prove it." in user["content"]
    assert "my proof with {{gold}} in it" in user["content"]
    assert "{{" not in user["content"].replace("{{gold}}", "", 1)
    for hidden in (RECORD.method, RECORD.model, "cot"):
        assert hidden not in (system["content"] + user["content"]).lower()


def test_solution_and_guidelines_go_to_who_grades_proofs() -> None:
    _, user = judge_messages(choose_prompt("imo-proofbench", "grade"), PROBLEM, "x")
    assert "THE\n\nSOLUTION" in user["content"]
    assert "GUIDE" in user["content"]


@pytest.mark.parametrize(
    ("dataset", "output", "text", "part"),
    [
        pytest.param(
            "aicrypto",
            "## Analysis\nsee ## Proof below\n## Proof\nreal\n",
            "real",
            "## Proof",
            id="only the proof section",
        ),
        pytest.param("aicrypto", "no heading", "no heading", "whole output", id="no section"),
        pytest.param(
            "imo-proofbench", "a\n## Proof\nb", "a\n## Proof\nb", "whole output", id="not asked for"
        ),
    ],
)
def test_only_the_section_that_the_prompt_says_is_graded(
    dataset: str, output: str, text: str, part: str
) -> None:
    assert graded_part(dataset, output) == (text, part)


def asked(dataset: str, task: str = "grade") -> Asked:
    return Asked(RECORD, PROBLEM, choose_prompt(dataset, task), "judge-1", task, "## Proof")


def test_a_score_is_scaled_to_the_points_of_the_problem() -> None:
    row = judged_row(asked("aicrypto"), '{"score": 80, "feedback": "a gap"}', "judge-1-2026")
    assert (row.value, row.answer, row.reason) == (0.8, "80", "16 of 20 points; a gap")
    assert row.status == "scored"
    assert (row.rule, row.judge, row.extraction) == ("judge:judge-1", "judge-1-2026", "## Proof")
    assert (row.method, row.prompt_sha256) == ("f-1+cot", choose_prompt("aicrypto", "grade").sha256)


def test_a_cause_is_a_label_without_a_value() -> None:
    row = judged_row(asked("financemath", "failure-causes"), '{"cause": "C"}', None)
    assert (row.value, row.answer, row.judge) == (None, "C", "judge-1")


def test_a_reply_that_can_not_be_read_is_kept_and_has_no_value() -> None:
    row = judged_row(asked("aicrypto"), "Great proof!", None)
    assert (row.value, row.answer, row.reply) == (None, None, "Great proof!")
    assert row.status == "unknown"
    assert row.reason.startswith("unparsed: no JSON")
