"""Outputs classified as Direct, CoT, PoT or Hybrid, and `ngramscan strategies`."""

from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.reading import read_outputs
from ngramscan.outputs.strategies import classify, load_rules, parse_rules, run_strategies
from ngramscan.reading.output_paths import PromptGroup
from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.proportions import wilson
from tests.support.cases import case_table
from tests.support.command import invoke
from tests.support.outputs import outputs_of
from tests.support.places import ROOT

EXAMPLES = ROOT / "outputs"


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_hand_labelled_outputs(text: str, expected: str) -> None:
    group = PromptGroup("d", "m", "p")
    assert classify(group, "", text, load_rules()).strategy == expected


def test_recorded_outputs_follow_what_their_prompts_ask(shared: Path) -> None:
    found = read_outputs(shared / "data/financemath/validation")
    rows = run_strategies(found, load_rules()).outputs
    names = {"cot": "CoT", "pot": "PoT"}
    own = {prompt: [r.strategy for r in rows if r.prompt == prompt] for prompt in names}
    shares = {prompt: own[prompt].count(name) / len(own[prompt]) for prompt, name in names.items()}
    assert min(shares.values()) >= 0.98, shares


def test_columns_of_outputs_and_groups_are_those_counted_by_hand() -> None:
    program = "```python\nprint(1)\n```"
    texts = [
        f"Step 1: it is $x+1$.\nStep 2: run it.\n{program}\nStep 3: read it.",
        program,
        "It is $x+1$ here",
        "$x+1$",
    ]
    found = run_strategies(outputs_of({("d", "m", "p"): texts}), load_rules())
    assert [(row.has_code, row.steps, row.steps_before_code) for row in found.outputs] == [
        (True, 3, 2),
        (True, 0, 0),
        (False, 0, 0),
        (False, 0, 0),
    ]
    assert [row.strategy for row in found.outputs] == ["Hybrid", "PoT", "Direct", "Direct"]
    assert [row.words for row in found.outputs] == [9, 0, 3, 0]
    assert [row.characters for row in found.outputs] == [len(text) for text in texts]
    assert [row.id for row in found.outputs] == ["0", "1", "2", "3"]
    names = [rule.name for rule in load_rules().rules]
    assert {row.rule for row in found.outputs} <= set(names)
    assert [row.rule == names[-1] for row in found.outputs] == [False, False, True, True]
    assert [(row.outputs, row.with_strategy, row.share) for row in found.rows] == [
        (4, 2, 0.5),
        (4, 0, 0.0),
        (4, 1, 0.25),
        (4, 1, 0.25),
    ]
    densities = {"Hybrid": 5 / len(texts[0]), "PoT": 0.0, "Direct": (5 / 16 + 1) / 2}
    rows = {row.strategy: row for row in found.rows if row.model == "m"}
    means = {name: rows[name].mean_formula_density for name in densities}
    assert means == pytest.approx(densities)
    assert rows["CoT"].mean_formula_density is None
    # The mean of outputs, not of strategies, and not characters of all outputs together.
    of_group = (5 / len(texts[0]) + 0 + 5 / 16 + 1) / 4
    assert [row.formula_density_of_group for row in rows.values()] == pytest.approx([of_group] * 4)


# Rules

MINIMAL = """name: mine
step_markers: [{regex: 'step', reason: steps}]
rules:
  - {name: dense, strategy: Hybrid, formula_density_at_least: 0.5, reason: symbols}
  - {name: rest, strategy: Direct, reason: all else}
"""


def test_own_rules_decide(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINIMAL)
    frame = ngramscan.strategies(EXAMPLES, rules=path)
    hybrid = frame[(frame["prompt"] == "f-1") & (frame["strategy"] == "Hybrid")]
    assert hybrid["with_strategy"].tolist() == [11]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        pytest.param(
            "strategy: Hybrid",
            "strategy: ToT",
            "r.yaml:4: rules[0].strategy: 'ToT' is none of",
            id="an unknown strategy",
        ),
        pytest.param(
            "0.5",
            "1.5",
            "r.yaml:4: rules[0].formula_density_at_least: expected a number between 0 and 1",
            id="a density above 1",
        ),
        pytest.param("0.5", "many", "a number between 0 and 1", id="a density that is no number"),
        pytest.param(
            "'step'",
            "'('",
            "r.yaml:2: step_markers[0].regex: not a regular expression",
            id="no regular expression",
        ),
        pytest.param(
            "'step'", "'x*'", "it matches the empty text", id="a marker of the empty text"
        ),
        pytest.param(", reason: symbols", "", "r.yaml:4: rules[0]: no reason", id="no reason"),
        pytest.param(
            "formula_density_at_least",
            "density",
            "unknown key 'density'; known: code",
            id="an unknown key",
        ),
        pytest.param(
            "formula_density_at_least: 0.5, ",
            "",
            "r.yaml:4: rules[0]: the last rule, and no other",
            id="no condition before the last rule",
        ),
        pytest.param(
            "Direct, ",
            "Direct, code: true, ",
            "r.yaml:5: rules[1]: the last rule",
            id="a condition of the last rule",
        ),
        pytest.param(
            "Direct, ", "Direct, code: 1, ", "expected true or false", id="a number as truth value"
        ),
        pytest.param("name: mine", "name: [", "r.yaml:3: not valid YAML", id="not YAML"),
        pytest.param("name: mine\n", "", "no name", id="no name"),
        pytest.param("name: mine", "name: ''", "r.yaml:1: name: it is empty", id="an empty name"),
        pytest.param(
            "0.5",
            "!!float many",
            "r.yaml:4: rules[0].formula_density_at_least: not valid",
            id="no float",
        ),
        pytest.param(
            "[{regex: 'step', reason: steps}]",
            "[]",
            "r.yaml:2: step_markers: expected a list that is not",
            id="no markers",
        ),
    ],
)
def test_wrong_rules_are_one_line_with_the_place(old: str, new: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        parse_rules(MINIMAL.replace(old, new, 1), "r.yaml")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


PROGRAM = "```python\ndef solution():\n    return 3 * 4\n```"


def test_shares_are_of_outputs_with_text_and_over_all_models_of_problems() -> None:
    texts = {("d", "a", "pot"): [PROGRAM, "1", ""], ("d", "b", "pot"): [PROGRAM, PROGRAM, ""]}
    found = run_strategies(outputs_of(texts), load_rules())
    rows = {(row.model, row.strategy): row for row in found.rows}
    assert {model for model, _ in rows} == {"a", "b", "all"}
    of_model = rows["a", "PoT"]
    assert (of_model.outputs, of_model.with_strategy, of_model.share) == (2, 1, 0.5)
    assert (of_model.share_low, of_model.share_high) == wilson(1, 2).limits
    assert (of_model.dataset, of_model.prompt, of_model.level) == ("d", "pot", 0.95)
    pooled = rows["all", "PoT"]
    assert (pooled.outputs, pooled.with_strategy, pooled.share) == (4, 3, 0.75)
    # Two problems, to each of which two models have an output.
    expected = ClusteredShare([1, 0, 1, 1], [0, 1, 0, 1]).estimate()
    assert (pooled.share_low, pooled.share_high) == pytest.approx(expected.limits)
    assert [(row.model, row.id, row.rule) for row in found.outputs] == [
        ("a", "0", "code"),
        ("a", "1", "otherwise"),
        ("b", "0", "code"),
        ("b", "1", "code"),
    ]


def test_shares_over_all_models_without_ids_have_no_interval() -> None:
    texts = {("d", model, "pot"): [PROGRAM] for model in "ab"}
    rows = run_strategies(outputs_of(texts, ids=False), load_rules()).rows
    (pooled,) = [row for row in rows if (row.model, row.strategy) == ("all", "PoT")]
    assert (pooled.share, pooled.share_low, pooled.share_high) == (1, None, None)


def test_the_shipped_examples_have_the_strategies_of_their_prompts() -> None:
    ran = invoke("strategies", EXAMPLES)
    assert (ran.code, "83.3 [55.2, 95.3]" in ran.stdout) == (0, True)
    rows = ngramscan.strategies(EXAMPLES)
    counts = rows.set_index(["prompt", "strategy"])["with_strategy"]
    assert counts[counts > 0].to_dict() == {
        ("cot", "CoT"): 10,
        ("cot", "Direct"): 2,
        ("f-1", "Direct"): 12,
        ("f-1+cot", "CoT"): 10,
        ("f-1+cot", "Direct"): 2,
        ("f-1+pot", "PoT"): 10,
        ("f-1+pot", "Hybrid"): 2,
        ("pot", "PoT"): 12,
    }


def test_rows_of_outputs_are_those_counted_by_hand() -> None:
    text = "Step 1: it is $x+1$.\nStep 2: run it.\n```python\nprint(1)\n```\nSo 3."
    (row,) = run_strategies(outputs_of({("d", "m", "p"): [text]}), load_rules()).outputs
    assert (row.dataset, row.model, row.prompt, row.id) == ("d", "m", "p", "0")
    # Step, it, is, Step, run, it, So.
    assert (row.words, row.characters) == (7, len(text))
    assert row.formula_density == 5 / len(text)
    assert (row.strategy, row.rule) == ("Hybrid", "code and steps")
