"""What each rule finds in a text, and that no text takes it long."""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.benchmarks import find_benchmark
from evalcore.extraction import PROGRAM_RULES, RULES, Extracted, extract
from evalcore.rules.notation import read_number

FINANCEMATH_RULES = find_benchmark("financemath").extraction
OWN_RULES = find_benchmark(None, Path("mine.jsonl")).extraction
Cases = dict[str, dict[str, tuple[str, str | None]]]  # of each rule: what is shown, text, found


@given(st.recursive(st.text("ab1frac", max_size=4), lambda inner: inner.map("{{{}}}x{{}}".format)))
def test_a_box_ends_where_its_braces_balance(content: str) -> None:
    assert RULES["boxed/1"](f"x \\boxed{{{content}}} y}}") == (content or None)


CASES: Cases = {
    "boxed/1": {"the last box": (r"\boxed{1} and \boxed{2}", "2")},
    "boxes/1": {
        "one box": (r"so $\boxed{7}$.", "7"),
        "nested braces": (r"\boxed{\frac{1}{\sqrt{2}}}", r"\frac{1}{\sqrt{2}}"),
        "escaped braces do not count": (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        "an escaped brace alone": (r"\boxed{\{1}", r"\{1"),
        "a line break before the brace": (r"\boxed{a\\}", r"a\\"),
        "fbox and a space": (r"\fbox{5} and \boxed {6}", "5, 6"),
        "the outer box counts": (r"\boxed{\boxed{3}}", r"\boxed{3}"),
        "several in one sentence": (r"\boxed{1}$, $\boxed{2}$ or $\boxed{3.5}$.", "1, 2, 3.5"),
        "the last sentence counts": (r"\boxed{1}. So \boxed{2}", "2"),
        "the last paragraph counts": ("\\boxed{1}\n\n\\boxed{2}", "2"),
        "a cut box hides the one before it": (r"\boxed{1} or \boxed{2", None),
        "empty boxes": (r"\boxed{}, \boxed{ }", None),
        "not a box": (r"boxed{1}, \boxed 2", None),
    },
    "final-answer/2": {
        "contract": ("Final Answer (3 decimal) : 0.063", "0.063"),
        "bold capitals": ("**FINAL ANSWER (3 decimal):** **0.063**\n", "0.063"),
        "the last line of its kind": ("Final answer: 1\nFinal answer: 2", "2"),
        "nothing on the line": ("Final answer:\n5", None),
        "prose before a box": ("**Final Answer:** The price is:\n\n$$\\boxed{95.2}$$", "95.2"),
        "prose before a marked sentence": ("Final answer: We add. The answer is 7.", "7"),
        "prose before a heading": ("Final Answer: as above\n\n### Final Answer\n\n95.2", "95.2"),
        "prose after the mark": ("The answer is 3. Final answer: it depends", "it depends"),
        "a box that is cut": ("Final answer: the price is: \n \\boxed{95", "the price is:"),
        "a value is taken whatever follows": ("Final answer: 1\nThat is $\\boxed{6.3\\%}$.", "1"),
        "a colon announces a value": ("Final answer: 10 years at 5% give:\n\\boxed{95.2}", "95.2"),
    },
    "final-answer-heading/1": {
        "heading": ("## Final Answer\n\n**5**", "5"),
        "a box in a display": ("**Final Answer:**\n\n\\[\n\\boxed{x^2}\n\\]", "x^2"),
        "a sentence, no heading": ("my final answer\n5", None),
    },
    "the-answer-is/1": {
        "as asked for": ("Therefore, the answer is 0.063.", "0.063"),
        "capitals": ("THE ANSWER IS 5", "5"),
        "the last one": ("the answer is 1. No: the answer is 2", "2"),
        "a currency sign stays": ("the answer is $2,184.", "$2,184"),
        "dollars of mathematics": ("the answer is $x=5$.", "x=5"),
        "two formulas stay": ("the answer is $a$ and $b$.", "$a$ and $b$"),
        "round LaTeX brackets": (r"the answer is \(5\).", "5"),
        "braces": ("the answer is {5}.", "5"),
        "a set stays one": (r"the answer is $\{1,2\}$.", r"\{1,2\}"),
        "bold and quotes": ('**the answer is:** "yes".', "yes"),
        "next line": ("**The answer is:**\n\n**15,000**", "15,000"),
        "one sentence": ("the answer is 0.32. This means a lot.", "0.32"),
        "initials": ("the answer is the U.S. rate, 5.", "the U.S. rate, 5"),
        "an abbreviation": ("the answer is approx. 5.", "approx. 5"),
        "a letter ends it": ("the answer is option B. It is.", "option B"),
        "a box in the sentence": (r"the answer is $\boxed{5}$ days.", "5"),
        "the words of the prompt": ("The answer is 7. I wrote: the answer is {final answer}.", "7"),
        "the words again": ("the answer is 7, as in: the answer is {x}", "7, as in:"),
        "a blank to fill in": ("the answer is ___.", None),
        "a cut text": ("Therefore, the answer is", None),
    },
    "so-the-final-answer-is/1": {
        "the ending OlympiadBench asks for": (r"So the final answer is \boxed{3}.", "3"),
        "without so it is another": ("The final answer is 3.", None),
    },
    "so-the-answer-is/1": {"words": ("So the answer is ant bee cat.", "ant bee cat")},
    "conclusion/1": {
        "the last one": ("So it is 3. Thus, the yield is approximately 4%.", "approximately 4%"),
        "no verb, no number": ("It is 3. Thus nothing follows.", None),
    },
    "only-line/1": {
        "the only line": (" ant bee\n", "ant bee"),
        "two lines": ("ant\nbee", None),
    },
    "last-number/1": {
        "the last number": ("from 3 to −$1,234.5%", "−$1,234.5%"),
        "no number": ("none at all", None),
    },
}


@pytest.mark.parametrize(
    ("rule", "text", "answer"), [(rule, *case) for rule in CASES for case in CASES[rule].values()]
)
def test_each_rule_finds_what_it_is_named_for(rule: str, text: str, answer: str | None) -> None:
    assert extract(text, [rule]) == (answer and Extracted(answer, rule))


@pytest.mark.parametrize(
    "repeated",
    [
        *("so is ", ". so is ", "\n ", "the answer is {x} ", "\\boxed{", "1,", "1.", "-$"),
        *("Final answer: so\n", "Final answer: so \\boxed{1} ", "Final answer: {x}\n"),
    ],
)
def test_time_grows_with_the_length_of_a_text_that_repeats_itself(repeated: str) -> None:
    def seconds(times: int) -> float:
        start = time.process_time()
        extract(f"Final answer: {repeated * times}", FINANCEMATH_RULES)
        read_number(repeated * times)
        return time.process_time() - start

    short = min(seconds(1_000) for _ in range(3))
    # Quadratic time would be a hundred times as much.
    assert min(seconds(10_000) for _ in range(3)) < 40 * short + 0.2


TEXT = "Loss = $29,184 − $27,000\n\nLoss = $2,184"
MARKED = f"The answer is $2,184.\n\n{TEXT} in year 3"
BOXED = r"The answer is 2. \boxed{3}"


@pytest.mark.parametrize(
    ("text", "rules", "found"),
    [
        (TEXT, FINANCEMATH_RULES, ("$2,184", "last-number/1")),  # the last resort
        (MARKED, FINANCEMATH_RULES, ("$2,184", "the-answer-is/1")),
        (BOXED, ["the-answer-is/1", "boxed/1"], ("2", "the-answer-is/1")),
        (BOXED, OWN_RULES, ("3", "boxed/1")),
        ("So 5.\nThe answer is 2.", OWN_RULES, ("2", "the-answer-is/1")),
        ("3/4\n", OWN_RULES, ("3/4", "only-line/1")),
        ("First 2,\nthen 7.", OWN_RULES, ("7", "last-number/1")),
        ("First,\nthen.", OWN_RULES, None),
        ("", list(RULES), None),
    ],
)
def test_rules_are_tried_in_their_order(
    text: str, rules: list[str], found: tuple[str, str] | None
) -> None:
    assert extract(text, rules) == found


def test_rules_carry_a_version() -> None:
    assert all(name.rpartition("/")[2].isdigit() for name in (*RULES, *PROGRAM_RULES))


# Programs

FUNCTION = "def solution():\n    return 1"
PROGRAMS: Cases = {
    "financemath-authors/2": {
        "an empty output has none": ("", None),
        "argparse has none": (f"```python\nimport argparse\n{FUNCTION}\n```", None),
        "a block of Python": (f"Here:\n```python\n{FUNCTION}\n```\nDone.", FUNCTION),
        "the first one": (f"```python\n{FUNCTION}\n```\n```python\nno\n```", FUNCTION),
        "Python comes first": (f"```\nno\n```\n```python\n{FUNCTION}\n```", FUNCTION),
        "any other block will do": (f"```\n{FUNCTION}\n```", FUNCTION),
        "a body that ends at a fence": ("    return 1\n```\nDone.", FUNCTION),
        "such a body without indent": ("return 1\n```", FUNCTION),
        "a body without fences": ("    return 1", FUNCTION),
        "neither indent nor fences": ("return 1", FUNCTION),
        "a bare function stays": (FUNCTION, FUNCTION),
        "single backticks at the ends go": (f"`{FUNCTION}`", FUNCTION),
        "a fence and a line break at the end go": (f"{FUNCTION}\n```\n", FUNCTION),
        "and so they do at the beginning": (f"\n ```{FUNCTION}\n", FUNCTION),
        "an unclosed block does not run": (f"```python\n{FUNCTION}", f"python\n{FUNCTION}"),
    },
    "fenced/1": {
        "no fence, no program": ("answer = 1", None),
        "a fence within a line is none": ("use ```x``` here", None),
        "an empty block": ("```python\n\n```", None),
        "one block": ("```python\nanswer = 1\n```", "answer = 1"),
        "another name of the language": ("```Python3\nanswer = 1\n```", "answer = 1"),
        "the last block": ("```python\nno\n```\nBetter:\n```py\nyes\n```", "yes"),
        "its output is not the program": ("```python\nyes\n```\n```\n42\n```", "yes"),
        "no language rather than another": ("```bash\nls\n```\n```\nyes\n```", "yes"),
        "another language": ("```bash\nls\n```", None),
        "in a list": ("1. So\n   ```python\n   if x:\n       y\n   ```", "if x:\n    y"),
        "unclosed: to the end of the text": ("```python\nanswer = 1", "answer = 1"),
    },
}


@pytest.mark.parametrize(
    ("rule", "output", "program"),
    [(rule, *case) for rule in PROGRAMS for case in PROGRAMS[rule].values()],
)
def test_a_program_is_found_by_its_rule(rule: str, output: str, program: str | None) -> None:
    assert PROGRAM_RULES[rule](output) == program


def test_every_output_whose_program_ran_for_its_authors_has_one_that_defines_the_function(
    shared: Path,
) -> None:
    files = sorted((shared / "data/financemath/validation/processed_pot_outputs").glob("*.json"))
    rows = [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
    ran = [row["output"][0] for row in rows if row["result"]["execution_rate"]]
    assert (len(rows), len(ran)) == (1200, 904)
    for output in ran:
        found = PROGRAM_RULES["financemath-authors/2"](output)
        functions = [
            part for part in ast.parse(found or "").body if isinstance(part, ast.FunctionDef)
        ]
        assert "solution" in [function.name for function in functions]
