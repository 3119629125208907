"""Rules against the verdicts of a careful reader, written before the rules were run on them.

Each has the reason; `judge` is where only a reader can say.
"""

import pytest

from evalcore.formats import Problem
from evalcore.rules import RULES, Grade, Item, Tools
from evalcore.rules.formula_pool import compare_texts
from evalcore.rules.mathematics import compare_formulas
from tests.support.cases import cases

VALUES = {"right": 1.0, "wrong": 0.0, "judge": None}


def judged(rule: str, answer: str, gold: str, unit: str = "") -> Grade:
    item = Item(Problem("1", "?", gold, details={"unit": unit or None}), answer)
    if rule == "math":
        return compare_texts(item) or compare_formulas(item)
    (verdict,) = RULES[rule]([item], Tools(lambda _: (), lambda _: iter(())))
    return verdict


@pytest.mark.parametrize("case", cases("careful_verdicts"), ids=lambda case: case["group"])
def test_a_rule_gives_the_verdict_of_a_careful_reader(case: dict[str, str]) -> None:
    rule = case["group"].partition(":")[0]
    value, reason, failed = judged(rule, case["answer"], case["gold"], case["unit"])
    assert (value, failed) == (VALUES[case["verdict"]], False), case["why"]
    assert reason


UNITS = """
J kJ N mN W kW Pa MPa Hz kHz eV MeV mol Ω K V A C T F kg g m cm s ms L rad m/s m/s^2 kg/m^3 N/m
W/m^2 J/K m^2 rpm
"""
FORMS = r"""
5 U | 5U | 5~U | 5\,U | 5\;U | 5\ U | 5 \text{U} | 5\text{ U} | 5\,\text{U} | 5 \mathrm{U}
5~\mathrm{U} | 5\,\mathrm{~U} | 5\;\mathrm{U} | 5 \textrm{U} | 5 \operatorname{U} | 5 \text{ U}.
$5$ U | $5\,\mathrm{U}$ | $5 \text{ U}$ | 5\quad\mathrm{U} | x = 5\,\mathrm{U} | 5[\mathrm{U}]
\boxed{5\,\mathrm{U}} | 5.0 U | \frac{10}{2}\text{ U} | 0.5 \times 10^1 U | 5\ (\text{U})
"""
