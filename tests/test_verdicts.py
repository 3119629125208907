"""Rules against verdicts that were written before they were run: tests/verdicts.txt says how."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evalcore.formats import Problem
from evalcore.rules import RULES, Grade, Item, Tools
from evalcore.rules.formula_pool import compare_texts
from evalcore.rules.mathematics import compare_formulas

VALUES = {"right": 1.0, "wrong": 0.0, "judge": None}
SIGNS = str.maketrans({"␣": " ", "⏎": "\n", "⍽": "\u00a0", "⇥": "\t"})


class Case(NamedTuple):
    verdict: str
    answer: str
    gold: str
    unit: str
    why: str


def tables() -> Iterator[tuple[str, list[Case]]]:
    text = Path(__file__).with_name("verdicts.txt").read_text(encoding="utf-8")
    for block in text.split("§ ")[2:]:
        group, *lines = block.strip().splitlines()
        yield group, [Case(*line.translate(SIGNS).split(" | ")) for line in lines]


def judged(rule: str, answer: str, gold: str, unit: str = "") -> Grade:
    item = Item(Problem("1", "?", gold, details={"unit": unit or None}), answer)
    if rule == "math":
        return compare_texts(item) or compare_formulas(item)
    (verdict,) = RULES[rule]([item], Tools(lambda _: (), lambda _: iter(())))
    return verdict


@pytest.mark.parametrize(("group", "cases"), [pytest.param(*one, id=one[0]) for one in tables()])
def test_a_rule_gives_the_verdict_of_a_careful_reader(group: str, cases: list[Case]) -> None:
    rule, found = group.partition(":")[0], []
    for case in cases:
        value, reason, failed = judged(rule, case.answer, case.gold, case.unit)
        if failed or value != VALUES[case.verdict]:
            found.append((*case, value, reason))
        assert reason
    assert found == []


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
