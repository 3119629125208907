"""Outputs classified as Direct, CoT, PoT or Hybrid, and `ngramscan strategies`."""

from collections import Counter
from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.formulas import take_apart
from ngramscan.outputs.reading import Group, read_outputs
from ngramscan.outputs.strategies import classify, load_rules, parse_rules, run_strategies
from tests.support.cases import case_table

EXAMPLES = Path(__file__).resolve().parent.parent / "outputs"

BARE = """    shares = 200000
    share_price_eur = 90

    # Do math calculation to get the answer
    answer = shares * share_price_eur
    return answer
"""
FENCED = "```python\ndef solution():\n    return 3 * 4\n```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("42", "Direct", id="a bare answer"),
        pytest.param("The answer is \\boxed{8}.", "Direct", id="a sentence with an answer"),
        pytest.param("Step 1: Add.\nStep 2: Divide.\nIt is 4.", "CoT", id="labelled steps"),
        pytest.param("### Step 1: Add\n3+4\n### Step 2: Halve\n3.5", "CoT", id="steps as headings"),
        pytest.param("1. **Sum:** 7\n2. **Half:** 3.5", "CoT", id="a numbered list"),
        pytest.param("First, we add. Next, we halve. It is 3.5.", "CoT", id="words of sequence"),
        pytest.param("The first payment is 3, the next is 4: 7.", "Direct", id="first in a phrase"),
        pytest.param("Revenue\n2019 10\n2.5 3\n12.5 4", "Direct", id="decimals are no items"),
        pytest.param("word " * 80, "CoT", id="long prose"),
        pytest.param("$" + "x+" * 300 + "x$ " + "word " * 70, "Direct", id="mostly formulas"),
        pytest.param(FENCED, "PoT", id="a fenced program"),
        pytest.param(f"Here is the program:\n{FENCED}", "PoT", id="a program, announced"),
        pytest.param(FENCED.removesuffix("```"), "PoT", id="a fence that is not closed"),
        pytest.param(BARE, "PoT", id="a program without a fence"),
        pytest.param(BARE + "```\nThis returns the sum.", "PoT", id="only the closing fence"),
        pytest.param(f"{FENCED}\n1. The first line.\n2. The second.", "PoT", id="explained after"),
        pytest.param(f"Step 1: Set up.\nStep 2: Compute.\n{FENCED}", "Hybrid", id="steps first"),
        pytest.param(f"Step by step:\n{FENCED}", "PoT", id="one announcement is no sequence"),
        pytest.param("```\n4212.36\n```", "Direct", id="a fenced number"),
        pytest.param("```latex\n\\[ x = 3 \\]\n```", "Direct", id="fenced LaTeX"),
        pytest.param("x = 6\ny = 3*x\nz = x + y", "Direct", id="equations are no program"),
        pytest.param("Return on equity is net income, so 5 %.", "Direct", id="return in prose"),
        pytest.param(
            "```python\n# Step 1: $a = b$\n# Step 2: \\frac{1}{2}\nprint(1)\n```",
            "PoT",
            id="steps and LaTeX in comments",
        ),
    ],
)
def test_hand_labelled_outputs(text: str, expected: str) -> None:
    group = Group("d", "m", "p")
    assert classify(group, "", text, load_rules()).strategy == expected


@pytest.mark.parametrize(*case_table("formula_density"))
def test_formula_density_is_the_share_of_characters_in_formulas(text: str, characters: int) -> None:
    assert take_apart(text).formula_density == pytest.approx(characters / max(len(text), 1))


def test_long_lines_take_no_long_time() -> None:
    take_apart("a) " * 50_000 + "= " + "$" * 5000 + "\\begin{align}" * 500)


def test_recorded_outputs_follow_what_their_prompts_ask(shared: Path) -> None:
    found = read_outputs(shared / "data/financemath/validation")
    rows = run_strategies(found, load_rules()).outputs
    for prompt, expected in (("cot", "CoT"), ("pot", "PoT")):
        own = Counter(row.strategy for row in rows if row.prompt == prompt)
        assert own[expected] / own.total() >= 0.98, own


# Rules

MINIMAL = """name: mine
step_markers: [{regex: 'step', reason: steps}]
rules:
  - {name: dense, strategy: Hybrid, formula_density_at_least: 0.5, reason: symbols}
  - {name: rest, strategy: Direct, reason: all else}
"""


def test_own_rules_decide(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINIMAL, encoding="utf-8")
    frame = ngramscan.strategies(EXAMPLES, rules=path)
    hybrid = frame[(frame["prompt"] == "f-1") & (frame["strategy"] == "Hybrid")]
    assert hybrid["with_strategy"].tolist() == [11]


@pytest.mark.parametrize(*case_table("wrong_strategies"))
def test_wrong_rules_are_one_line_with_the_place(old: str, new: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        parse_rules(MINIMAL.replace(old, new, 1), "r.yaml")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
