"""Prompts: word for word those of the paper, strict about files, blind to what is in a problem."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evalcore.benchmarks import benchmarks, find_benchmark
from evalcore.formats import Problem
from evalcore.prompts import PromptSet, load_templates
from tests.support.made_benchmarks import refused

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8")
METHODS = {"zero-shot", "cot", "pot", "fp", "f-1", "f-1+zs", "f-1+cot", "f-1+pot", "f-1+verify"}
METHODS |= {"formulate-and-solve"}
FIELDS = {"answer_type_text": "The answer is a number. ", "unit_text": ", without its unit"}
FIELDS["boxed_format"] = "\\boxed{answer}(unit)"
TEXT = "Find \\frac{1}{2} of {problem}, {{problem}} and {{unit_text}}."
SECRET = {"solution": "the secret solution"}
PROBLEM = Problem("p1", TEXT, gold="the secret gold", fields=FIELDS, details=SECRET)
BARE = Problem("1", "PROBLEM", gold=None, fields=FIELDS)


@cache
def load(dataset: str, extra: Path | None = None) -> PromptSet:
    return load_templates(find_benchmark(dataset), extra)


def messages(dataset: str, method: str, problem: Problem = PROBLEM) -> tuple[str | None, str]:
    rendered = load(dataset).render(method, problem)
    by_role = {each["role"]: each["content"] for each in rendered}
    assert [each["role"] for each in rendered] in (["user"], ["system", "user"])
    return by_role.get("system"), by_role["user"]


def load_own(folder: Path, text: str) -> PromptSet:
    (folder / "own.yaml").write_text(text, encoding="utf-8")
    return load("financemath", folder / "own.yaml")


def test_every_benchmark_has_the_same_methods_each_with_a_prompt_of_its_own() -> None:
    for dataset in benchmarks():
        assert set(load(dataset).methods) == METHODS
        made = [messages(dataset, method) for method in METHODS]
        assert len(set(made)) == len(METHODS)
        for system, user in made:
            assert user.count(PROBLEM.text) == 1
            around = (system or "") + user.replace(PROBLEM.text, "")
            assert not [text for text in ("{{", "secret", "same as") if text in around.lower()]


def test_no_shipped_prompt_changes_unnoticed() -> None:
    hashes = "".join(load(name).sha256 for name in benchmarks())
    assert hashlib.sha256(hashes.encode()).hexdigest()[:16] == "1cdd6379e34afd24"


@pytest.fixture
def paper(shared: Path) -> Any:
    return yaml.safe_load((shared / "paper/prompts.yaml").read_text(encoding="utf-8"))


def expected(paper: dict[str, Any], benchmark: str, name: str) -> tuple[str | None, str]:
    """The messages that follow from the paper's boxes, put together as its words say."""
    entry, parts = paper[benchmark][name], ("system", "prefix", "user")
    system, prefix, user = (entry.get(f"{key}_resolved", entry.get(key)) for key in parts)
    if benchmark == "AICrypto":
        both = (paper[benchmark]["base"]["system"], entry["addition"])
        system = "\n\n".join(part for part in both if part)
    user = user or (f"{prefix}\n\nPROBLEM" if prefix else "PROBLEM")
    for field, value in {"problem": "PROBLEM", "problem_statement": "PROBLEM", **FIELDS}.items():
        user = user.replace(f"{{{field}}}", value)
    return system, user


BOXES = {"financemath": "FinanceMath", "aicrypto": "AICrypto"}
BOXES |= dict.fromkeys(("imo-answerbench", "imo-proofbench"), "IMO-Bench")
BOXES |= dict.fromkeys(("olympiadbench-oe-maths", "olympiadbench-oe-physics"), "OlympiadBench")


@pytest.mark.parametrize("dataset", BOXES)
def test_prompts_are_word_for_word_the_printed(dataset: str, paper: Any) -> None:
    for name in ("Zero-Shot", "CoT", "PoT", "F-1", "F-1+ZS", "F-1+CoT", "F-1+PoT"):
        assert messages(dataset, name, BARE) == expected(paper, BOXES[dataset], name)
        assert not load(dataset).methods[name.lower()].ours


def test_the_main_text_is_word_for_word_too_and_verify_adds_one_phase(paper: Any) -> None:
    for dataset, name in (("financemath", "FP"), ("bbh-word-sorting", "F-1")):
        assert messages(dataset, name, BARE) == expected(paper, "main_text", name)
    step = paper["verify_probe"]["F-1+Verify"]["phase_1_5"]
    system, user = messages("financemath", "f-1+verify")
    before, after = user.split(f"{step}\n\n")
    assert (system, before + after) == messages("financemath", "f-1+zs")
    assert before.endswith("\\end{equation}.\n\n")


LIKE_TEMPLATES = ["{{problem}}", "{{verify}}", "{problem}", "\\frac{{a}}{{b}}", "\\1"]


@settings(max_examples=20)
@given(text=st.text() | st.sampled_from(LIKE_TEMPLATES))
def test_a_problem_reaches_the_model_as_it_is_and_is_never_taken_for_a_template(text: str) -> None:
    problem = Problem(id="1", text=text, gold=None, fields={**FIELDS, "unit_text": text})
    user = load("olympiadbench-oe-maths").render("f-1+zs", problem)[-1]["content"]
    assert user.startswith(f"{text}\n\n{FIELDS['answer_type_text']}")
    assert user.endswith(f"give the result explicitly{text}.")


def test_what_is_not_there_is_refused() -> None:
    refused("--method tot: one of zero-shot, .* was expected", messages, "financemath", "tot")
    refused("none: no such file or directory", load, "financemath", Path("none"))


def test_phase_1_stands_before_the_solver_of_the_documentation(tmp_path: Path) -> None:
    example = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)[0]
    prompts = load_own(tmp_path, example)
    system, user = (each["content"] for each in prompts.render("F-1+Draw", PROBLEM))
    assert system == "You are a financial expert."
    phase_1 = messages("financemath", "f-1+zs")[1].partition("Phase 2")[0]
    draw = "Phase 2 -- Solve: Draw the cash flows on a time line, then compute the answer."
    assert user == f"{phase_1}{draw}\n\n{PROBLEM.text}"
    assert prompts.methods["f-1+draw"].ours
    assert prompts.sha256 != load("financemath").sha256


def test_the_documentation_names_every_shipped_phase_and_method() -> None:
    prose = re.sub(r"```.*?```", "", DOCUMENT, flags=re.DOTALL)
    named = set(re.findall(r"`([^`]+)`", prose))
    for path in (ROOT / "evalcore" / "benchmarks").glob("*.yaml"):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert named >= {*content.get("phases", ()), *content.get("methods", ())}


USER = "{user: '{{problem}}'}"
BROKEN = {
    "phases: {a: b}": "it must have methods",
    "method: {}": "Object contains unknown field method; known are source",
    "fields: [x]\nmethods: {a: {}}": "it must have methods, and may have phases and a source",
    "methods: {a: {user: x, ours: true}}": "method a: unknown key ours; there are user, system a",
    "methods: {a: {user: x, of: y}}": "method a: unknown key of; there are user, system and note",
    "methods: {a: {user: Solve.}}": "method a: the user message has no {{problem}}",
    "methods: {a: {user: '{{formalise}}'}}": "unknown placeholder {{formalise}}; known: p",
    "phases: {x: '{{verify}}'}\nmethods: {a: {user: '{{x}}'}}": "a phase can't use another phase (",
    "phases: {x y: z}": "phase x y: a name has letters",
    f"methods: {{CoT: {USER}}}": "methods: the name cot is taken; choose another",
    f"phases: {{formalize: x}}\nmethods: {{a: {USER}}}": "phases: the name formalize is taken",
    f"phases: {{problem: x}}\nmethods: {{a: {USER}}}": "phases: the name problem is taken",
    f"methods: {{a: {USER}, A: {USER}}}": "method a is defined twice",
    "methods:\n  a: {user: x}\n  a: {user: y}": ":2: not valid YAML: a stands twice",
}


@pytest.mark.parametrize("text", BROKEN, ids=list(BROKEN.values()))
def test_a_file_that_breaks_the_format_is_refused(text: str, tmp_path: Path) -> None:
    refused(f"own.yaml.*{re.escape(BROKEN[text])}", load_own, tmp_path, text)
