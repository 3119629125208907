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


@given(st.recursive(st.text("ab1frac", max_size=4), lambda inner: inner.map("{{{}}}x{{}}".format)))
def test_a_box_ends_where_its_braces_balance(content: str) -> None:
    assert RULES["boxed/1"](f"x \\boxed{{{content}}} y}}") == (content or None)


# A rule, a text, and what is found there; ⏎ is a line break.
CASES = r"""
boxed/1: \boxed{1} and \boxed{2} ~ 2
boxes/1: so $\boxed{7}$. ~ 7 ;; \boxed{\frac{1}{\sqrt{2}}} ~ \frac{1}{\sqrt{2}}
boxes/1: \boxed{\{1, 2\}} ~ \{1, 2\} ;; \boxed{\{1} ~ \{1 ;; \boxed{a\\} ~ a\\
boxes/1: \fbox{5} and \boxed {6} ~ 5, 6 ;; \boxed{\boxed{3}} ~ \boxed{3}
boxes/1: \boxed{1}$, $\boxed{2}$ or $\boxed{3.5}$. ~ 1, 2, 3.5 ;; \boxed{1}. So \boxed{2} ~ 2
boxes/1: \boxed{1}⏎⏎\boxed{2} ~ 2 ;; \boxed{1} or \boxed{2 ~ None ;; \boxed{}, \boxed{ } ~ None
boxes/1: boxed{1}, \boxed 2 ~ None
final-answer/2: Final Answer (3 decimal) : 0.063 ~ 0.063
final-answer/2: **FINAL ANSWER (3 decimal):** **0.063**⏎ ~ 0.063
final-answer/2: Final answer: 1⏎Final answer: 2 ~ 2 ;; Final answer:⏎5 ~ None
final-answer/2: **Final Answer:** The price is:⏎⏎$$\boxed{95.2}$$ ~ 95.2
final-answer/2: Final answer: We add. The answer is 7. ~ 7
final-answer/2: Final Answer: as above⏎⏎### Final Answer⏎⏎95.2 ~ 95.2
final-answer/2: The answer is 3. Final answer: it depends ~ it depends
final-answer/2: Final answer: the price is: ⏎ \boxed{95 ~ the price is:
final-answer/2: Final answer: 1⏎That is $\boxed{6.3\%}$. ~ 1
final-answer/2: Final answer: 10 years at 5% give:⏎\boxed{95.2} ~ 95.2
final-answer-heading/1: ## Final Answer⏎⏎**5** ~ 5 ;; **Final Answer:**⏎⏎\[⏎\boxed{x^2}⏎\] ~ x^2
final-answer-heading/1: my final answer⏎5 ~ None
the-answer-is/1: Therefore, the answer is 0.063. ~ 0.063 ;; THE ANSWER IS 5 ~ 5
the-answer-is/1: the answer is 1. No: the answer is 2 ~ 2 ;; the answer is $2,184. ~ $2,184
the-answer-is/1: the answer is $x=5$. ~ x=5 ;; the answer is $a$ and $b$. ~ $a$ and $b$
the-answer-is/1: the answer is \(5\). ~ 5 ;; the answer is {5}. ~ 5
the-answer-is/1: the answer is $\{1,2\}$. ~ \{1,2\} ;; **the answer is:** "yes". ~ yes
the-answer-is/1: **The answer is:**⏎⏎**15,000** ~ 15,000
the-answer-is/1: the answer is 0.32. This means a lot. ~ 0.32
the-answer-is/1: the answer is the U.S. rate, 5. ~ the U.S. rate, 5
the-answer-is/1: the answer is approx. 5. ~ approx. 5 ;; the answer is option B. It is. ~ option B
the-answer-is/1: the answer is $\boxed{5}$ days. ~ 5
the-answer-is/1: The answer is 7. I wrote: the answer is {final answer}. ~ 7
the-answer-is/1: the answer is 7, as in: the answer is {x} ~ 7, as in: ;; the answer is ___. ~ None
the-answer-is/1: Therefore, the answer is ~ None
so-the-final-answer-is/1: So the final answer is \boxed{3}. ~ 3 ;; The final answer is 3. ~ None
so-the-answer-is/1: So the answer is ant bee cat. ~ ant bee cat
conclusion/1: So it is 3. Thus, the yield is approximately 4%. ~ approximately 4%
conclusion/1: It is 3. Thus nothing follows. ~ None
only-line/1:  ant bee⏎ ~ ant bee ;; ant⏎bee ~ None
last-number/1: from 3 to −$1,234.5% ~ −$1,234.5% ;; none at all ~ None
"""


@pytest.mark.parametrize(
    ("rule", "text", "answer"),
    [
        (rule, *case.replace("⏎", "\n").split(" ~ "))
        for rule, _, line in (line.partition(": ") for line in CASES.strip().splitlines())
        for case in line.split(" ;; ")
    ],
)
def test_each_rule_finds_what_it_is_named_for(rule: str, text: str, answer: str) -> None:
    assert extract(text, [rule]) == (None if answer == "None" else Extracted(answer, rule))


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
PROGRAMS: dict[str, dict[str, tuple[str, str | None]]] = {
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
