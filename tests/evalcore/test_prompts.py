"""Prompts: verbatim those of the paper, strict about files, blind to what is in a problem."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import evalcore
from evalcore.benchmarks import benchmarks, find_benchmark
from evalcore.formats import Problem
from evalcore.judgements import choose_prompt
from evalcore.prompts import PromptSet, load_templates
from tests.support.cases import case_table
from tests.support.made_benchmarks import refused

FIELDS = {"answer_type_text": "The answer is a number. ", "unit_text": ", without its unit"}
FIELDS["boxed_format"] = "\\boxed{answer}(unit)"


@cache
def load(dataset: str, extra: Path | None = None) -> PromptSet:
    return load_templates(find_benchmark(dataset), extra)


def load_own(folder: Path, text: str) -> PromptSet:
    (folder / "own.yaml").write_text(text)
    return load("financemath", folder / "own.yaml")


def messages(dataset: str, method: str) -> tuple[str | None, str]:
    problem = Problem("1", "PROBLEM", gold=None, fields=FIELDS)
    rendered = load(dataset).render(method, problem)
    by_role = {each["role"]: each["content"] for each in rendered}
    return by_role.get("system"), by_role["user"]


def put_together(printed: dict[str, Any], benchmark: str, name: str) -> tuple[str | None, str]:
    """The messages that follow from the paper's boxes, put together as its words say."""
    entry, parts = printed[benchmark][name], ("system", "prefix", "user")
    system, prefix, user = (entry.get(f"{key}_resolved", entry.get(key)) for key in parts)
    if benchmark == "AICrypto":
        both = (printed[benchmark]["base"]["system"], entry["addition"])
        system = "\n\n".join(part for part in both if part)
    user = user or (f"{prefix}\n\nPROBLEM" if prefix else "PROBLEM")
    for field, value in {"problem": "PROBLEM", "problem_statement": "PROBLEM", **FIELDS}.items():
        user = user.replace(f"{{{field}}}", value)
    return system, user


def published(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((folder / "paper" / name).read_text())
    return content


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_a_prompt_is_verbatim_that_of_the_paper(
    shared: Path, dataset: str, box: str, name: str
) -> None:
    expected = put_together(published(shared, "prompts.yaml"), box, name)
    assert messages(dataset, name) == expected
    assert not load(dataset).methods[name.lower()].ours


def test_the_prompt_that_verifies_adds_one_phase_of_the_paper(shared: Path) -> None:
    printed = published(shared, "prompts.yaml")
    system, user = messages("financemath", "f-1+verify")
    before, after = user.split(f"{printed['verify_probe']['F-1+Verify']['phase_1_5']}\n\n")
    assert (system, before + after) == messages("financemath", "f-1+zs")
    assert before.endswith("\\end{equation}.\n\n")


@pytest.mark.parametrize("name", ["IMO-AnswerBench", "IMO-ProofBench", "AICrypto"])
def test_a_prompt_of_judges_is_verbatim_that_of_the_paper(shared: Path, name: str) -> None:
    printed = published(shared, "judge_prompts.yaml")[name]["prompt"]
    assert choose_prompt(name.lower(), "grade").system == printed


@pytest.mark.parametrize("dataset", list(benchmarks()))
def test_every_benchmark_has_the_same_methods_with_prompts_of_its_own(dataset: str) -> None:
    methods = load(dataset).methods
    assert {*methods} == {*load("financemath").methods}
    made = [messages(dataset, method) for method in methods]
    assert len({*made}) == len(methods)
    assert [user.count("PROBLEM") for _, user in made] == [1] * len(made)
    whole = [((system or "") + user).lower() for system, user in made]
    assert [text for text in whole if "{{" in text or "same as" in text] == []


PHASES = """phases: {draw: Draw the cash flows.}
methods:
  F-1+Draw: {user: "{{problem}}\\n\\n{{formalize}}\\n\\n{{draw}}", note: mine}
"""


def test_a_phase_and_a_method_of_ones_own_stand_beside_the_shipped(
    tmp_path: Path,
) -> None:
    prompts = load_own(tmp_path, PHASES)
    problem = Problem("1", "PROBLEM", gold=None, fields=FIELDS)
    (message,) = prompts.render("f-1+draw", problem)
    formalize = yaml.safe_load(
        (Path(evalcore.__file__).with_name("benchmarks") / "financemath.yaml").read_text()
    )["phases"]["formalize"]
    assert message == {
        "role": "user",
        "content": f"PROBLEM\n\n{formalize.strip()}\n\nDraw the cash flows.",
    }
    assert prompts.methods["f-1+draw"].ours
    assert prompts.sha256 != load("financemath").sha256


def test_a_method_or_a_file_that_is_not_there_is_refused() -> None:
    refused("--methods tot: expected one of zero-shot, .*", messages, "financemath", "tot")
    refused("none: no such file", load, "financemath", Path("none"))


LIKE_TEMPLATES = ["{{problem}}", "{{verify}}", "{problem}", "\\frac{{a}}{{b}}", "\\1"]


@settings(max_examples=20)
@given(text=st.text() | st.sampled_from(LIKE_TEMPLATES))
def test_a_problem_reaches_the_model_as_it_is(text: str) -> None:
    problem = Problem(id="1", text=text, gold=None, fields={**FIELDS, "unit_text": text})
    user = load("olympiadbench-oe-maths").render("f-1+zs", problem)[-1]["content"]
    assert user.startswith(f"{text}\n\n{FIELDS['answer_type_text']}")
    assert user.endswith(f"give the result explicitly{text}.")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("phases: {a: b}", "it must have methods", id="it must have methods"),
        pytest.param(
            "method: {}",
            "Object contains unknown field method; known are source",
            id="Object contains unknown field method; known are source",
        ),
        pytest.param(
            "fields: [x]\nmethods: {a: {}}",
            "it must have methods, and may have phases and a source",
            id="it must have methods, and may have phases and a source",
        ),
        pytest.param(
            "methods: {a: {user: x, ours: true}}",
            "method a: unknown key ours; available: user, system,",
            id="method a: unknown key ours; available: user, system,",
        ),
        pytest.param(
            "methods: {a: {user: x, of: y}}",
            "method a: unknown key of; available: user, system, note",
            id="method a: unknown key of; available: user, system, note",
        ),
        pytest.param(
            "methods: {a: {user: Solve.}}",
            "method a: the user message has no {{problem}}",
            id="method a: the user message has no {{problem}}",
        ),
        pytest.param(
            "methods: {a: {user: '{{formalise}}'}}",
            "unknown placeholder {{formalise}}; known: p",
            id="unknown placeholder {{formalise}}; known: p",
        ),
        pytest.param(
            "phases: {x: '{{verify}}'}\nmethods: {a: {user: '{{x}}'}}",
            "a phase can't use another phase (",
            id="a phase can't use another phase (",
        ),
        pytest.param(
            "phases: {x y: z}", "phase x y: a name has letters", id="phase x y: a name has letters"
        ),
        pytest.param(
            "methods: {CoT: {user: '{{problem}}'}}",
            "methods: the name cot is taken; choose another",
            id="methods: the name cot is taken; choose another",
        ),
        pytest.param(
            "phases: {formalize: x}\nmethods: {a: {user: '{{problem}}'}}",
            "phases: the name formalize is taken",
            id="phases: the name formalize is taken",
        ),
        pytest.param(
            "phases: {problem: x}\nmethods: {a: {user: '{{problem}}'}}",
            "phases: the name problem is taken",
            id="phases: the name problem is taken",
        ),
        pytest.param(
            "methods: {a: {user: '{{problem}}'}, A: {user: '{{problem}}'}}",
            "method a is defined twice",
            id="method a is defined twice",
        ),
        pytest.param(
            "methods:\n  a: {user: x}\n  a: {user: y}",
            ":2: not valid YAML: a appears twice",
            id=":2: not valid YAML: a appears twice",
        ),
    ],
)
def test_a_file_that_breaks_the_format_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    refused(f"own.yaml.*{re.escape(problem)}", load_own, tmp_path, text)
