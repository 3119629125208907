"""FinanceMath's numbers and word sorting; formulas are in test_mathematics.py."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalcore.formats import Problem
from evalcore.rules import RULES, Item, Tools, Verdict
from evalcore.rules.notation import read_number
from evalcore.sandbox import Outcome
from ngramscan.errors import SandboxError

TOOLS = Tools(lambda programs: [], lambda tasks: iter(()))


def judged(rule: str, value: Any, gold: Any, is_computed: bool = True) -> Verdict:
    """The verdict on what a program or a text gave; the reference program gives the gold."""
    details = {"ground_truth": gold, "program": "the reference"}
    tools = Tools(lambda programs: [Outcome("ok", gold)] * len(programs), lambda items: iter(()))
    item = Item(Problem("1", "?", str(gold), details=details), value, is_computed)
    (verdict,) = RULES[rule]([item], tools)
    return verdict


NUMBERS = st.floats(-1e9, 1e9).map(lambda x: round(x, 4))
SCALES = st.sampled_from([1e-6, 1e-5, 1e-3, 1e-2, 0.1, 1.0, -1.0, 10.0, 1e2, 1e3, 1e5, -1e5, 1e6])


@pytest.mark.parametrize(
    ("prediction", "gold", "value", "reason"),
    [
        pytest.param(0.0631, 0.064, 1.0, "equal at 3 decimals, rounded up", id="rounded up equal"),
        pytest.param(0.0631, 0.063, 0.0, "0.0631 is not 0.063", id="just above is rounded up"),
        pytest.param(-8184, 8184.0, 1.0, "a sign lost", id="a lost sign"),
        pytest.param(-8190, 8184.0, 0.0, "-8190 is not 8184", id="within 0.15 % needs the sign"),
        pytest.param(8190, 8184.0, 1.0, "within 0.15 %", id="within 0.15 %"),
        pytest.param(8197, 8184.0, 0.0, "8197 is not 8184", id="just above 0.15 %"),
        pytest.param(-8190, -8184.0, 1.0, "within 0.15 %", id="within 0.15 % of a negative gold"),
        pytest.param(500.0, 5.0, 1.0, "10^2 apart", id="a percentage"),
        pytest.param(-0.05, 5000.0, 1.0, "10^5 apart, a sign lost", id="five powers and a sign"),
        pytest.param(3e6, 3.0, 1.0, "10^6 apart", id="six powers of ten, exactly"),
        pytest.param(3.0001e6, 3.0, 0.0, "3.0001e+06 is not 3", id="six powers, inexactly"),
        pytest.param(501.0, 5.0, 0.0, "501 is not 5", id="a factor of 100, but 0.2 % off"),
        pytest.param(500.5, 5.0, 1.0, "a factor of 100 within 0.15 %", id="a factor of 100"),
        pytest.param(5.0, -500.5, 1.0, "100 within 0.15 %, a sign lost", id="and a sign"),
        pytest.param(50.05, 5.0, 0.0, "50.05 is not 5", id="a factor of 10 has to be exact"),
        pytest.param(5005.0, 5.0, 1.0, "a factor of 1,000 within 0.15 %", id="a factor of 1,000"),
        pytest.param(50050.0, 5.0, 0.0, "50050 is not 5", id="a factor of 10,000 has to be exact"),
        pytest.param(5.005e5, 5.0, 1.0, "100,000 within 0.15 %", id="a factor of 100,000"),
        pytest.param(0, 0.0, 1.0, "equal at 3 decimals", id="zero"),
        pytest.param(0, 5.0, 0.0, "0 is not 5", id="zero is not any multiple"),
        pytest.param(5.0, 0.0, 0.0, "5 is not 0", id="a gold of zero"),
        pytest.param("0.5", 0.5, 1.0, "equal at 3 decimals", id="text that is a number"),
        pytest.param(True, 1.0, 1.0, "equal at 3 decimals", id="a truth value is a number"),
        pytest.param(Decimal("0.5"), 0.5, 1.0, "equal at 3 decimals", id="a decimal number"),
        pytest.param(0.5, "0.5", 1.0, "equal at 3 decimals", id="a gold in writing"),
        pytest.param("5%", 5.0, 0.0, "not a finite number: '5%'", id="text"),
        pytest.param("x" * 99, 5.0, 0.0, "not a finite number: 'xxxxx", id="long text is cut"),
        pytest.param(None, 5.0, 0.0, "not a finite number: None", id="a program that gave nothing"),
        pytest.param([5.0], 5.0, 0.0, "not a finite number: [5.0]", id="a list"),
        pytest.param(5 + 0j, 5.0, 0.0, "not a finite number: (5+0j)", id="a complex number"),
        pytest.param(math.nan, 5.0, 0.0, "not a finite number: nan", id="not a number"),
        pytest.param(math.inf, 5.0, 0.0, "not a finite number: inf", id="infinity"),
        pytest.param(10**400, 5.0, 0.0, "not a finite number: 1000", id="too large for floats"),
        pytest.param(1e308, 1e-308, 0.0, "1e+308 is not 1e-308", id="a ratio beyond all floats"),
        pytest.param(1e308, 1e308, 1.0, "equal at 3 decimals", id="the largest numbers"),
        pytest.param(True, True, 1.0, "equal", id="truth values"),
        pytest.param(100.0, True, 0.0, "100 is not True", id="no factors for truth values"),
        pytest.param(5.0, math.nan, None, "the gold is not a finite number: nan", id="no gold"),
        pytest.param(5.0, "prose", None, "the gold is not a finite number", id="a gold in prose"),
    ],
)
def test_the_lenient_rule(
    prediction: object, gold: object, value: float | None, reason: str
) -> None:
    verdict = judged("lenient", prediction, gold)
    assert verdict.value == value
    assert reason in verdict.reason
    assert not verdict.failed


@pytest.mark.parametrize(
    ("prediction", "gold", "value", "reason"),
    [
        pytest.param(
            0.06349, 0.063, 1.0, "equal at 3 decimals", id="rounded before it is compared"
        ),
        pytest.param(0.0636, 0.063, 0.0, "0.064 is not 0.063", id="rounded to another"),
        pytest.param(0.143, 0.14300000000000002, 1.0, "equal", id="binary noise in the gold"),
        pytest.param(6.3, 0.063, 0.0, "6.3 is not 0.063", id="a percentage"),
        pytest.param(-0.063, 0.063, 0.0, "-0.063 is not 0.063", id="a lost sign"),
        pytest.param(1e300, 1e300, 1.0, "equal at 3 decimals", id="a huge number"),
        pytest.param("0.063", 0.063, 1.0, "equal at 3 decimals", id="text that is a number"),
        pytest.param("n/a", 0.063, 0.0, "not a finite number: 'n/a'", id="text"),
        pytest.param(math.inf, 0.063, 0.0, "not a finite number: inf", id="infinity"),
        pytest.param(False, False, 1.0, "equal", id="truth values"),
        pytest.param(0.063, "?", None, "the gold is not a finite number", id="no gold"),
    ],
)
def test_the_strict_rule(
    prediction: object, gold: object, value: float | None, reason: str
) -> None:
    verdict = judged("strict", prediction, gold)
    assert verdict.value == value
    assert reason in verdict.reason


def described(p: float, g: float) -> bool:
    """The authors' comparison, written a second time from its description."""
    small, big = sorted([abs(p), abs(g)])

    def near(x: float, y: float) -> bool:
        return y - 0.0015 * abs(y) <= x <= y + 0.0015 * abs(y)

    return (
        (small > 0 and math.log10(big / small) == round(math.log10(big / small)))
        or (small <= big / 50 and near(100 * small, big))
        or (small <= big / 500 and near(1000 * small, big))
        or (small <= big / 50_000 and near(100_000 * small, big))
        or math.ceil(1000 * big) / 1000 == math.ceil(1000 * small) / 1000
        or near(p, g)
    )


@given(NUMBERS, SCALES, st.floats(0.997, 1.003))
@example(10.059, 0.001, 0.99910)
@example(0.0, 1.0, 1.0)
def test_the_lenient_rule_is_what_its_description_says(
    gold: float, scale: float, off: float
) -> None:
    prediction = gold * scale * off
    assert judged("lenient", prediction, gold).value == float(described(prediction, gold))


@given(NUMBERS)
def test_both_rules_accept_the_gold_itself(gold: float) -> None:
    for rule in ("lenient", "strict"):
        assert judged(rule, gold, gold).value == 1.0


IN_WORDS = (
    r"""
0.063 → 0.063 ;; $1,234,567.50 → 1234567.5 ;; -$5.25 → -5.25 ;; $-5.25 → -5.25 ;; −5 → -5.0
+5 → 5.0 ;; USD 353,010 → 353010.0 ;; CHF2,000 → 2000.0 ;; 6.25% → 6.25 ;; 3 million → 3.0
about 30.42 days → 30.42 ;; 57.82 (rounded to 2 decimals) → 57.82 ;; 0.0336 or 3.36% → 0.0336
the value in 2014, which is $12,000 → 12000.0 ;; a 3-year rate of 5 → 5.0
VaR = 2 × 3 ≈ 6.1 → 6.1 ;; \$1{,}234.5\% → 1234.5 ;; \( \$4.4 \) million → 4.4
12\,500 → 12500.0 ;; x \approx 0.5 → 0.5 ;; \frac{1}{4} → 0.25 ;; 25/31 → 0.8064516129032258
1.2e3 → 1200.0 ;; 1.2 \times 10^{-3} → 0.0012 ;; 10^4 → 10000.0 ;; .5 → 0.5 ;; 5. → 5.0
cannot be said → None ;; 400 * 1.04 → None ;; 1.2.3 → None ;; 1,5 → None ;; 1/0 → None
1e999 → None
""".strip()
    .replace("\n", " ;; ")
    .split(" ;; ")
)


@pytest.mark.parametrize(("text", "value"), [case.split(" → ") for case in IN_WORDS])
def test_a_number_is_read_from_words(text: str, value: str) -> None:
    number = None if value == "None" else pytest.approx(float(value), rel=1e-12)
    assert read_number(text) == number


@given(st.decimals(-(10**9), 10**9, places=3))
def test_a_number_with_thousands_commas_is_read_back(number: Decimal) -> None:
    assert read_number(f"the answer is ${number:,}") == float(number)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("400 * 1.5", 600.0, id="a product"),
        pytest.param("2 x 3 × 10^2", 600.0, id="a product of three"),
        pytest.param("x is 5 or 6", 5.0, id="the first of two"),
        pytest.param("$2 million", 2.0, id="millions do not scale"),
        pytest.param("100*(value)", None, id="what can't be computed is no number"),
    ],
)
def test_the_authors_normalisation_goes_further(text: str, value: float | None) -> None:
    assert read_number(text, as_authors=True) == value


@pytest.mark.parametrize(
    ("text", "gold", "strict_value", "lenient_value"),
    [
        pytest.param("about 6.3%", 0.063, 0.0, 1.0, id="percent"),
        pytest.param("Price = $0.0634", 0.063, 1.0, 0.0, id="rounded"),
        pytest.param("unknown", 0.0, 0.0, 0.0, id="no number is not zero"),
    ],
)
def test_answers_in_words_are_compared_by_both_rules(
    text: str, gold: float, strict_value: float, lenient_value: float
) -> None:
    by_strict, by_lenient = (judged(rule, text, gold, False) for rule in ("strict", "lenient"))
    assert (by_strict.value, by_lenient.value) == (strict_value, lenient_value)
    if text == "unknown":
        assert by_strict == by_lenient == Verdict(0.0, "not a number: 'unknown'")


def test_a_reference_program_that_gives_no_value_is_an_error() -> None:
    tools = Tools(lambda programs: [Outcome("error", message="NameError: x")], TOOLS[1])
    problem = Problem("p", "?", "", details={"ground_truth": 1.0, "program": "x"})
    with pytest.raises(SandboxError, match=r"problem p: its reference .* \(error NameError: x\)"):
        list(RULES["lenient"]([Item(problem, 1.0, is_computed=True)], tools))


@pytest.mark.parametrize(
    ("answer", "value", "reason"),
    [
        pytest.param("ant bee cat", 1.0, "equal", id="the same words"),
        pytest.param(" ant bee cat.\n", 1.0, "equal", id="white space and a full stop at the ends"),
        pytest.param("bee ant cat", 0.0, "the same words in another order", id="another order"),
        pytest.param("ant bee bee cat", 0.0, "other words", id="a word twice"),
        pytest.param("Ant bee cat", 0.0, "other words", id="a capital"),
        pytest.param("ant, bee, cat", 0.0, "other words", id="commas"),
        pytest.param("", 0.0, "other words", id="nothing"),
    ],
)
def test_words_are_compared_to_the_letter(answer: str, value: float, reason: str) -> None:
    assert judged("exact", answer, "ant bee cat", False) == Verdict(value, reason)


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        pytest.param("$1,234", "1234", 1.0, id="thousands and currency"),
        pytest.param("1.2 × 10^3", "1.2e3", 1.0, id="powers of ten"),
        pytest.param("8 %", "8", 1.0, id="a percent sign does not scale"),
        pytest.param("about 5 apples", "5", 1.0, id="words around it"),
        pytest.param(0.333333333, "1/3", 1.0, id="within a millionth"),
        pytest.param("0.3333", "1/3", 0.0, id="not within a millionth"),
        pytest.param("12345678902", "12345678901", 0.0, id="integers must be equal"),
        pytest.param("9007199254740992", "9007199254740993", 0.0, id="and large ones too"),
        pytest.param("five", "5", 0.0, id="no number"),
        pytest.param("5", "five", None, id="no number in the gold"),
        pytest.param("5", "1" * 400, None, id="a gold that is too large"),
    ],
)
def test_numbers_are_compared_up_to_rounding(
    answer: float | str, gold: str, value: float | None
) -> None:
    assert judged("numbers", answer, gold, False).value == value
