"""What is found in a text, and whether it is the gold; formulas are in test_mathematics.py."""

from __future__ import annotations

import ast
import math
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalcore.benchmarks import find_benchmark
from evalcore.extraction import PROGRAM_RULES, RULES, extract
from evalcore.formats import Problem
from evalcore.rules import RULES as COMPARE
from evalcore.rules import Grade, Item, Tools
from evalcore.rules.notation import read_number, read_only_number
from evalcore.sandbox.sandbox import Outcome

ORDERS = {"all": [*RULES], "financemath": find_benchmark("financemath").extraction}
ORDERS["own"] = find_benchmark(None, Path("mine.jsonl")).extraction


@given(st.recursive(st.text("ab1frac", max_size=4), lambda inner: inner.map("{{{}}}x{{}}".format)))
def test_a_box_ends_where_its_braces_balance(content: str) -> None:
    assert RULES["boxed/1"](f"x \\boxed{{{content}}} y}}") == (content or None)


# A rule or several, a text, and what is found there; ⏎ is a line break, FUNCTION a function.
CASES = r"""
§ boxed/1 ;; \boxed{1} and \boxed{2} ~ 2
§ boxes/1 ;; so $\boxed{7}$. ~ 7 ;; \boxed{\frac{1}{\sqrt{2}}} ~ \frac{1}{\sqrt{2}}
\boxed{\{1, 2\}} ~ \{1, 2\} ;; \boxed{\{1} ~ \{1 ;; \boxed{a\\} ~ a\\
\fbox{5} and \boxed {6} ~ 5, 6 ;; \boxed{\boxed{3}} ~ \boxed{3}
\boxed{1}$, $\boxed{2}$ or $\boxed{3.5}$. ~ 1, 2, 3.5 ;; \boxed{1}. So \boxed{2} ~ 2
\boxed{1}⏎⏎\boxed{2} ~ 2 ;; \boxed{1} or \boxed{2 ~ None ;; \boxed{}, \boxed{ } ~ None
boxed{1}, \boxed 2 ~ None
§ final-answer/2 ;; Final Answer (3 decimal) : 0.063 ~ 0.063
**FINAL ANSWER (3 decimal):** **0.063**⏎ ~ 0.063 ;; Final answer: 1⏎Final answer: 2 ~ 2
Final answer:⏎5 ~ None ;; **Final Answer:** The price is:⏎⏎$$\boxed{95.2}$$ ~ 95.2
Final answer: We add. The answer is 7. ~ 7 ;; Final Answer: as above⏎⏎### Final Answer⏎⏎95.2 ~ 95.2
The answer is 3. Final answer: it depends ~ it depends
Final answer: the price is: ⏎ \boxed{95 ~ the price is:
Final answer: 1⏎That is $\boxed{6.3\%}$. ~ 1
Final answer: 10 years at 5% give:⏎\boxed{95.2} ~ 95.2
§ final-answer-heading/1 ;; ## Final Answer⏎⏎**5** ~ 5 ;; **Final Answer:**⏎⏎\[⏎\boxed{x^2}⏎\] ~ x^2
my final answer⏎5 ~ None
§ the-answer-is/1 ;; Therefore, the answer is 0.063. ~ 0.063 ;; THE ANSWER IS 5 ~ 5
the answer is 1. No: the answer is 2 ~ 2 ;; the answer is $2,184. ~ $2,184
the answer is $x=5$. ~ x=5 ;; the answer is $a$ and $b$. ~ $a$ and $b$ ;; the answer is \(5\). ~ 5
the answer is {5}. ~ 5 ;; the answer is $\{1,2\}$. ~ \{1,2\} ;; **the answer is:** "yes". ~ yes
**The answer is:**⏎⏎**15,000** ~ 15,000 ;; the answer is 0.32. This means a lot. ~ 0.32
the answer is the U.S. rate, 5. ~ the U.S. rate, 5 ;; the answer is approx. 5. ~ approx. 5
the answer is option B. It is. ~ option B ;; the answer is $\boxed{5}$ days. ~ 5
The answer is 7. I wrote: the answer is {final answer}. ~ 7
the answer is 7, as in: the answer is {x} ~ 7, as in: ;; the answer is ___. ~ None
Therefore, the answer is ~ None
§ so-the-final-answer-is/1 ;; So the final answer is \boxed{3}. ~ 3 ;; The final answer is 3. ~ None
§ so-the-answer-is/1 ;; So the answer is ant bee cat. ~ ant bee cat
§ conclusion/1 ;; So it is 3. Thus, the yield is approximately 4%. ~ approximately 4%
It is 3. Thus nothing follows. ~ None
§ only-line/1 ;;  ant bee⏎ ~ ant bee ;; ant⏎bee ~ None
§ last-number/1 ;; from 3 to −$1,234.5% ~ −$1,234.5% ;; none at all ~ None ;; so 12 million ~ 12
§ scaled-number/1 ;; from 3 to −$1,234.5% ~ None ;; none at all ~ None ;; 3 of 12 ways ~ None
so 12 million. ~ 12 million ;; $12M in all ~ $12M ;; $12 M in all ~ $12 M ;; it has 12k users ~ 12k
about 300 K ~ None ;; 12 Millionaires ~ None ;; 12 hundredths ~ 12 hundredths ;; 12 kg ~ None
there are 12! ways ~ 12! ;; 12 million, or 13 ~ None ;; 12 m ~ None ;; 3 dozen ~ 3 dozen
§ financemath-authors/2 ;;  ~ None ;; ```python⏎import argparse⏎FUNCTION⏎``` ~ None
Here:⏎```python⏎FUNCTION⏎```⏎Done. ~ FUNCTION ;; ```python⏎FUNCTION⏎```⏎```python⏎no⏎``` ~ FUNCTION
```⏎no⏎```⏎```python⏎FUNCTION⏎``` ~ FUNCTION ;; ```⏎FUNCTION⏎``` ~ FUNCTION
    return 1⏎```⏎Done. ~ FUNCTION ;; return 1⏎``` ~ FUNCTION ;;     return 1 ~ FUNCTION
return 1 ~ FUNCTION ;; FUNCTION ~ FUNCTION ;; `FUNCTION` ~ FUNCTION ;; FUNCTION⏎```⏎ ~ FUNCTION
⏎ ```FUNCTION⏎ ~ FUNCTION ;; ```python⏎FUNCTION ~ python⏎FUNCTION
§ fenced/1 ;; answer = 1 ~ None ;; use ```x``` here ~ None ;; ```python⏎⏎``` ~ None
```python⏎answer = 1⏎``` ~ answer = 1 ;; ```Python3⏎answer = 1⏎``` ~ answer = 1
```python⏎no⏎```⏎Better:⏎```py⏎yes⏎``` ~ yes ;; ```python⏎yes⏎```⏎```⏎42⏎``` ~ yes
```bash⏎ls⏎```⏎```⏎yes⏎``` ~ yes ;; ```bash⏎ls⏎``` ~ None
1. So⏎   ```python⏎   if x:⏎       y⏎   ``` ~ if x:⏎    y ;; ```python⏎answer = 1 ~ answer = 1
§ financemath ;; Loss = $29,184 − $27,000⏎⏎Loss = $2,184 ~ $2,184 by last-number/1
The answer is $2,184.⏎⏎Loss = $2,185 in year 3 ~ $2,184 by the-answer-is/1
§ the-answer-is/1, boxed/1 ;; The answer is 2. \boxed{3} ~ 2 by the-answer-is/1
§ own ;; The answer is 2. \boxed{3} ~ 3 by boxed/1 ;; So 5.⏎The answer is 2. ~ 2 by the-answer-is/1
3/4⏎ ~ 3/4 by only-line/1 ;; First 2,⏎then 7. ~ 7 by last-number/1 ;; First,⏎then. ~ None
It costs⏎$12 million. ~ $12 million by scaled-number/1
§ all ;;  ~ None
"""
FUNCTION = "def solution():\n    return 1"


def blocks(table: str) -> list[list[str]]:
    return [part[:-1].replace("\n", " ;; ").split(" ;; ") for part in table.split("§ ")[1:]]


@pytest.mark.parametrize("block", blocks(CASES))
def test_a_rule_finds_what_it_is_named_for_and_rules_are_tried_in_order(block: list[str]) -> None:
    rule, *cases = block
    rules = ORDERS.get(rule) or rule.split(", ")
    find = {**RULES, **PROGRAM_RULES}.get(rule, lambda text: extract(text, rules))
    for case in cases:
        text, answer = case.replace("⏎", "\n").replace("FUNCTION", FUNCTION).split(" ~ ")
        found = find(text)
        assert (" by ".join(found) if isinstance(found, tuple) else str(found)) == answer


REPEATED = "so is |. so is |\n |the answer is {x} |\\boxed{|1,|1.|-$|Final answer: {x}\n"
REPEATED += "|Final answer: so\n|Final answer: so \\boxed{1} "
REPEATED += "|1 or |1 a |a|1 a b, |not (|1 thousand "


@pytest.mark.parametrize("repeated", REPEATED.split("|"))
def test_time_grows_with_the_length_of_a_text_that_repeats_itself(repeated: str) -> None:
    def seconds(times: int) -> float:
        start = time.process_time()
        extract(f"Final answer: {repeated * times}", ORDERS["financemath"])
        read_number(repeated * times)
        read_only_number(repeated * times)
        RULES["scaled-number/1"](repeated * times)
        return time.process_time() - start

    longest = 40 * min(seconds(1_000) for _ in range(3)) + 0.2
    # Quadratic time would be a hundred times as much.
    assert any(seconds(10_000) < longest for _ in range(3))


def judged(rule: str, value: Any, gold: Any, is_computed: bool = True) -> Grade:
    details = {"ground_truth": gold, "program": "the reference"}
    tools = Tools(lambda programs: [Outcome("ok", gold) for _ in programs], lambda items: iter(()))
    item = Item(Problem("1", "?", str(gold), details=details), value, is_computed)
    (verdict,) = COMPARE[rule]([item], tools)
    return verdict


# What a program gave ~ the gold ~ the value and a part of the reason.
COMPUTED = """
§ lenient ;; 0.0631 ~ 0.064 ~ 1 equal at 3 decimals, rounded up ;; 0.0631 ~ 0.063 ~ 0 0.0631 is not
-8184 ~ 8184.0 ~ 1 rounded up, a sign lost ;; -8190 ~ 8184.0 ~ 0 -8190 is not 8184
8190 ~ 8184.0 ~ 1 within 0.15% ;; 8197 ~ 8184.0 ~ 0 8197 is not 8184
-8190 ~ -8184.0 ~ 1 within 0.15% ;; 500.0 ~ 5.0 ~ 1 10^2 apart
-0.05 ~ 5000.0 ~ 1 10^5 apart, a sign lost ;; 3e6 ~ 3.0 ~ 1 10^6 apart
3.0001e6 ~ 3.0 ~ 0 3.0001e+06 is not 3 ;; 501.0 ~ 5.0 ~ 0 501 is not 5
500.5 ~ 5.0 ~ 1 a factor of 100 within 0.15% ;; 50.05 ~ 5.0 ~ 0 50.05 is not 5
5.0 ~ -500.5 ~ 1 a factor of 100 within 0.15%, a sign lost ;; 50050.0 ~ 5.0 ~ 0 is
5005.0 ~ 5.0 ~ 1 a factor of 1,000 ;; 5.005e5 ~ 5.0 ~ 1 a factor of 100,000 within 0.15%
0 ~ 0.0 ~ 1 equal at 3 ;; 0 ~ 5.0 ~ 0 0 is not 5 ;; 5.0 ~ 0.0 ~ 0 5 is not 0
"0.5" ~ 0.5 ~ 1 equal at 3 ;; True ~ 1.0 ~ 1 equal at 3 ;; half ~ 0.5 ~ 1 equal at 3
0.5 ~ "0.5" ~ 1 equal at 3 ;; "5%" ~ 5.0 ~ 0 finite number: '5%'
long ~ 5.0 ~ 0 a finite number: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
None ~ 5.0 ~ 0 finite number: None ;; [5.0] ~ 5.0 ~ 0 finite number: [5.0]
complex ~ 5.0 ~ 0 finite number: (5+0j) ;; nan ~ 5.0 ~ 0 finite number: nan
inf ~ 5.0 ~ 0 finite number: inf ;; huge ~ 5.0 ~ 0 finite number: 1000
1e308 ~ 1e-308 ~ 0 1e+308 is not 1e-308 ;; 1e308 ~ 1e308 ~ 1 equal at 3 decimals
True ~ True ~ 1 equal ;; 100.0 ~ True ~ 0 100 is not True
5.0 ~ nan ~ None gold is not a finite number: nan ;; 5.0 ~ "prose" ~ None gold is not a fin
§ strict ;; 0.06349 ~ 0.063 ~ 1 equal at 3 ;; 0.0636 ~ 0.063 ~ 0 0.064 is not 0.063
0.143 ~ 0.14300000000000002 ~ 1 equal at 3 ;; 6.3 ~ 0.063 ~ 0 6.3 is not 0.063
-0.063 ~ 0.063 ~ 0 -0.063 is not 0.063 ;; 1e300 ~ 1e300 ~ 1 equal ;; "0.063" ~ 0.063 ~ 1 eq
"n/a" ~ 0.063 ~ 0 finite number: 'n/a' ;; inf ~ 0.063 ~ 0 finite number: inf
False ~ False ~ 1 equal ;; 0.063 ~ "?" ~ None the gold is not a finite number: '?'
"""
# The same of texts, whose spaces at the ends are written as _.
READ = """
§ lenient ;; about 6.3% ~ 0.063 ~ 1 ;; Price = $0.0634 ~ 0.063 ~ 0
unknown ~ 0.0 ~ 0 not a number:
§ strict ;; about 6.3% ~ 0.063 ~ 0 ;; Price = $0.0634 ~ 0.063 ~ 1 ;; unknown ~ 0.0 ~ 0 not a number:
§ exact ;; ant bee ~ ant bee ~ 1 equal ;; _ant bee._ ~ ant bee ~ 1 equal
bee ant ~ ant bee ~ 0 the same words in another order ;; ant bee bee ~ ant bee ~ 0 other
Ant bee ~ ant bee ~ 0 other words ;; ant, bee ~ ant bee ~ 0 other words ;; _ ~ ant ~ 0 other
§ numbers ;; $1,234 ~ 1234 ~ 1 equal ;; 1.2 × 10^3 ~ 1.2e3 ~ 1 equal ;; 8 % ~ 8 ~ 1 equal
about 5 apples ~ 5 ~ 1 equal ;; 0.333333333 ~ 1/3 ~ 1 equal within a millionth
0.3333 ~ 1/3 ~ 0 0.3333 is not 0.333333333333 ;; 12345678902 ~ 12345678901 ~ 0 is not
9007199254740992 ~ 9007199254740993 ~ 0 9.00719925474e+15 is not 9.00719925474e+15
five ~ 5 ~ 0 not a number: 'five' ;; 5 ~ five ~ None the gold is not a number: 'five'
5 ~ 1e999 ~ None the gold is not a number
"""
NAMED: dict[str, Any] = {"nan": math.nan, "inf": math.inf, "huge": 10**400}
NAMED |= {"half": Decimal("0.5"), "long": "x" * 99, "complex": 5 + 0j}


@pytest.mark.parametrize("block", blocks(COMPUTED) + blocks(READ))
def test_an_answer_has_the_verdict_of_its_rule(block: list[str]) -> None:
    rule, *cases = block
    for case in cases:
        answer, gold, said = case.split(" ~ ")
        if case in COMPUTED:
            given, right = (NAMED.get(text) or ast.literal_eval(text) for text in (answer, gold))
            verdict = judged(rule, given, right)
        else:
            verdict = judged(rule, answer.replace("_", " "), gold, is_computed=False)
        value, _, reason = said.partition(" ")
        assert (str(verdict.value).removesuffix(".0"), verdict.failed) == (value, False), case
        assert reason in verdict.reason


def described(p: float, g: float) -> bool:
    """The authors' comparison, written a second time from its description."""
    small, big = sorted([abs(p), abs(g)])

    def near(x: float, y: float) -> bool:
        return y - 0.0015 * abs(y) <= x <= y + 0.0015 * abs(y)

    return (
        (small > 0 and math.log10(big / small) == round(math.log10(big / small)))
        or any(small <= big / (f / 2) and near(f * small, big) for f in (100, 1000, 100_000))
        or math.ceil(1000 * big) / 1000 == math.ceil(1000 * small) / 1000
        or near(p, g)
    )


SCALES = st.sampled_from([1e-6, 1e-5, 1e-3, 1e-2, 0.1, 1.0, -1.0, 10.0, 1e2, 1e3, 1e5, -1e5, 1e6])


@given(st.floats(-1e9, 1e9).map(lambda x: round(x, 4)), SCALES, st.floats(0.997, 1.003))
@example(10.059, 0.001, 0.99910)
@example(0.0, 1.0, 1.0)
def test_the_lenient_rule_is_as_described(gold: float, scale: float, off: float) -> None:
    prediction = gold * scale * off
    assert judged("lenient", prediction, gold).value == float(described(prediction, gold))
    assert [judged(rule, gold, gold).value for rule in ("lenient", "strict")] == [1.0, 1.0]


IN_WORDS = r"""
0.063 → 0.063 ;; $1,234,567.50 → 1234567.5 ;; -$5.25 → -5.25 ;; $-5.25 → -5.25 ;; −5 → -5.0
+5 → 5.0 ;; USD 353,010 → 353010.0 ;; CHF2,000 → 2000.0 ;; 6.25% → 6.25 ;; 3 million → 3.0
about 30.42 days → 30.42 ;; 57.82 (rounded to 2 decimals) → 57.82 ;; 0.0336 or 3.36% → 0.0336
the value in 2014, which is $12,000 → 12000.0 ;; a 3-year rate of 5 → 5.0 ;; VaR = 2 × 3 ≈ 6.1 → 6.1
\$1{,}234.5\% → 1234.5 ;; \( \$4.4 \) million → 4.4 ;; 12\,500 → 12500.0 ;; x \approx 0.5 → 0.5
\frac{1}{4} → 0.25 ;; 25/31 → 0.8064516129032258 ;; 1.2e3 → 1200.0 ;; 1.2 \times 10^{-3} → 0.0012
10^4 → 10000.0 ;; .5 → 0.5 ;; 5. → 5.0 ;; cannot be said → None ;; 400 * 1.04 → None ;; 1.2.3 → None
1,5 → None ;; 1/0 → None ;; 1e999 → None
the authors: 400 * 1.5 → 600 ;; 2 x 3 × 10^2 → 600 ;; x is 5 or 6 → 5 ;; $2 million → 2
the authors: 9*(value) → None
"""


@pytest.mark.parametrize("line", IN_WORDS.strip().splitlines())
def test_a_number_is_read_from_words(line: str) -> None:
    _, authors, cases = line.rpartition("the authors: ")
    for text, value in (case.split(" → ") for case in cases.split(" ;; ")):
        number = None if value == "None" else pytest.approx(float(value), rel=1e-12)
        assert read_number(text, as_authors=bool(authors)) == number, text


@pytest.mark.parametrize(
    ("rule", "answer", "gold", "value"),
    [
        pytest.param("numbers", "1.0000009", "1.0", 1.0, id="within a millionth"),
        pytest.param("numbers", "1.0000011", "1.0", 0.0, id="beyond a millionth"),
        pytest.param("exact", "ant bee.", "ant bee", 1.0, id="one full stop"),
        pytest.param("exact", "ant bee..", "ant bee", 0.0, id="two full stops"),
    ],
)
def test_a_rule_is_as_wide_as_it_says(rule: str, answer: str, gold: str, value: float) -> None:
    assert judged(rule, answer, gold, is_computed=False).value == value
