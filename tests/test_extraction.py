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
from evalcore.extraction import PROGRAM_RULES, RULES, extract
from evalcore.rules.notation import read_number

ORDERS = {"all": [*RULES], "financemath": find_benchmark("financemath").extraction}
ORDERS["own"] = find_benchmark(None, Path("mine.jsonl")).extraction


@given(st.recursive(st.text("ab1frac", max_size=4), lambda inner: inner.map("{{{}}}x{{}}".format)))
def test_a_box_ends_where_its_braces_balance(content: str) -> None:
    assert RULES["boxed/1"](f"x \\boxed{{{content}}} y}}") == (content or None)


# A rule or several, a text, and what is found there; ⏎ is a line break, FUNCTION a function.
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
financemath-authors/2:  ~ None ;; ```python⏎import argparse⏎FUNCTION⏎``` ~ None
financemath-authors/2: Here:⏎```python⏎FUNCTION⏎```⏎Done. ~ FUNCTION
financemath-authors/2: ```python⏎FUNCTION⏎```⏎```python⏎no⏎``` ~ FUNCTION
financemath-authors/2: ```⏎no⏎```⏎```python⏎FUNCTION⏎``` ~ FUNCTION ;; ```⏎FUNCTION⏎``` ~ FUNCTION
financemath-authors/2:     return 1⏎```⏎Done. ~ FUNCTION ;; return 1⏎``` ~ FUNCTION
financemath-authors/2:     return 1 ~ FUNCTION ;; return 1 ~ FUNCTION ;; FUNCTION ~ FUNCTION
financemath-authors/2: `FUNCTION` ~ FUNCTION ;; FUNCTION⏎```⏎ ~ FUNCTION
financemath-authors/2: ⏎ ```FUNCTION⏎ ~ FUNCTION ;; ```python⏎FUNCTION ~ python⏎FUNCTION
fenced/1: answer = 1 ~ None ;; use ```x``` here ~ None ;; ```python⏎⏎``` ~ None
fenced/1: ```python⏎answer = 1⏎``` ~ answer = 1 ;; ```Python3⏎answer = 1⏎``` ~ answer = 1
fenced/1: ```python⏎no⏎```⏎Better:⏎```py⏎yes⏎``` ~ yes ;; ```python⏎yes⏎```⏎```⏎42⏎``` ~ yes
fenced/1: ```bash⏎ls⏎```⏎```⏎yes⏎``` ~ yes ;; ```bash⏎ls⏎``` ~ None
fenced/1: 1. So⏎   ```python⏎   if x:⏎       y⏎   ``` ~ if x:⏎    y
fenced/1: ```python⏎answer = 1 ~ answer = 1
financemath: Loss = $29,184 − $27,000⏎⏎Loss = $2,184 ~ $2,184 by last-number/1
financemath: The answer is $2,184.⏎⏎Loss = $2,185 in year 3 ~ $2,184 by the-answer-is/1
the-answer-is/1, boxed/1: The answer is 2. \boxed{3} ~ 2 by the-answer-is/1
own: The answer is 2. \boxed{3} ~ 3 by boxed/1 ;; So 5.⏎The answer is 2. ~ 2 by the-answer-is/1
own: 3/4⏎ ~ 3/4 by only-line/1 ;; First 2,⏎then 7. ~ 7 by last-number/1 ;; First,⏎then. ~ None
all:  ~ None
"""
FUNCTION = "def solution():\n    return 1"


@pytest.mark.parametrize("line", CASES.strip().splitlines())
def test_each_rule_finds_what_it_is_named_for_and_they_are_tried_in_order(line: str) -> None:
    rule, _, cases = line.partition(": ")
    rules = ORDERS.get(rule) or rule.split(", ")
    find = {**RULES, **PROGRAM_RULES}.get(rule, lambda text: extract(text, rules))
    for case in cases.replace("⏎", "\n").replace("FUNCTION", FUNCTION).split(" ;; "):
        text, answer = case.split(" ~ ")
        found = find(text)
        assert (" by ".join(found) if isinstance(found, tuple) else str(found)) == answer


REPEATED = "so is |. so is |\n |the answer is {x} |\\boxed{|1,|1.|-$|Final answer: {x}\n"
REPEATED += "|Final answer: so\n|Final answer: so \\boxed{1} "


@pytest.mark.parametrize("repeated", REPEATED.split("|"))
def test_time_grows_with_the_length_of_a_text_that_repeats_itself(repeated: str) -> None:
    def seconds(times: int) -> float:
        start = time.process_time()
        extract(f"Final answer: {repeated * times}", ORDERS["financemath"])
        read_number(repeated * times)
        return time.process_time() - start

    longest = 40 * min(seconds(1_000) for _ in range(3)) + 0.2
    # Quadratic time would be a hundred times as much.
    assert any(seconds(10_000) < longest for _ in range(3))


def test_every_output_whose_program_ran_for_its_authors_has_one_that_defines_the_function(
    shared: Path,
) -> None:
    files = sorted((shared / "data/financemath/validation/processed_pot_outputs").glob("*.json"))
    rows = [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
    ran = [row["output"][0] for row in rows if row["result"]["execution_rate"]]
    assert (len(rows), len(ran)) == (1200, 904)
    for output in ran:
        parts = ast.parse(PROGRAM_RULES["financemath-authors/2"](output) or "").body
        assert "solution" in [part.name for part in parts if isinstance(part, ast.FunctionDef)]
