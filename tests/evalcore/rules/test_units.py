"""Units of answers: all names of each, in any form, and no other unit."""

from itertools import pairwise
from pathlib import Path

import pytest

from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade, Grade
from evalcore.rules.formula_pool import compare_texts
from tests.support.cases import cases

UNITS = cases(Path(__file__).with_suffix(".csv"))


def judged(answer: str, gold: str, unit: str = "") -> Grade:
    from evalcore.rules.mathematics import compare_formulas

    item = AnswerToGrade(Problem("1", "?", gold, details={"unit": unit or None}), answer)
    return compare_texts(item) or compare_formulas(item)


@pytest.mark.parametrize("case", UNITS, ids=lambda case: str(case["shown"]))
def test_a_unit_has_all_its_names(case: dict[str, str]) -> None:
    names = case["names"].split("; ")
    stated = names[0]
    right = {name: judged(f"5 {name}", "5", stated).value for name in names}
    assert right == dict.fromkeys(names, 1.0)
    wrong = {name: judged(f"6 {name}", "5", stated).reason for name in names}
    assert wrong == dict.fromkeys(names, "not equal")
    assert judged("5", rf"5 \mathrm{{{stated}}}").value == 1.0


@pytest.mark.parametrize(
    ("other", "case"),
    [pytest.param(other, case, id=case["shown"]) for other, case in pairwise(UNITS)],
)
def test_a_unit_is_no_other(other: dict[str, str], case: dict[str, str]) -> None:
    stated, its_name = (row["names"].partition("; ")[0] for row in (case, other))
    expected = f"in {other['shown']}, not in {case['shown']}"
    assert judged(f"5 {its_name}", "5", stated).reason == expected


FORMS = (
    "5 U",
    "5U",
    "5~U",
    r"5\,U",
    r"5\;U",
    r"5\ U",
    r"5 \text{U}",
    r"5\text{ U}",
    r"5\,\text{U}",
    r"5 \mathrm{U}",
    r"5~\mathrm{U}",
    r"5\,\mathrm{~U}",
    r"5\;\mathrm{U}",
    r"5 \textrm{U}",
    r"5 \operatorname{U}",
    r"5 \text{ U}.",
    "$5$ U",
    r"$5\,\mathrm{U}$",
    r"$5 \text{ U}$",
    r"5\quad\mathrm{U}",
    r"x = 5\,\mathrm{U}",
    r"5[\mathrm{U}]",
    r"\boxed{5\,\mathrm{U}}",
    "5.0 U",
    r"\frac{10}{2}\text{ U}",
    r"0.5 \times 10^1 U",
    r"5\ (\text{U})",
)
SYMBOLS = (
    *("J", "kJ", "N", "mN", "W", "kW", "Pa", "MPa", "Hz", "kHz", "eV", "MeV", "mol", "Ω", "K"),
    *("V", "A", "C", "T", "F", "kg", "g", "m", "cm", "s", "ms", "L", "rad", "m/s", "m/s^2"),
    *("kg/m^3", "N/m", "W/m^2", "J/K", "m^2", "rpm"),
)


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_a_unit_may_stand_in_any_form(symbol: str) -> None:
    spellings = {symbol, symbol.replace("^2", "²").replace("^3", "³")}
    wrong = []
    for form in FORMS:
        for spelling in sorted(spellings):
            answer = form.replace("U", spelling)
            for stated in (symbol, rf"$\mathrm{{{symbol}}}$"):
                for gold, expected in (("5", 1.0), ("6", 0.0)):
                    found = judged(answer, gold, stated)
                    if (found.value, found.failed) != (expected, False):
                        wrong.append((answer, gold, stated, found))
    assert wrong == []


@pytest.mark.parametrize("form", FORMS)
def test_another_unit_is_wrong_in_any_form(form: str) -> None:
    right = []
    for symbol, other in zip(SYMBOLS, (*SYMBOLS[1:], SYMBOLS[0]), strict=True):
        found = judged(form.replace("U", other), "5", symbol)
        if (found.value, found.failed) != (0.0, False):
            right.append((other, symbol, found))
    assert right == []
