"""Numbers that the pages and SECURITY.md name are those of the code."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.cases import cases
from tests.support.places import ROOT

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS = {word: float(number) for number, word in enumerate(WORDS, 1)}
FRACTIONS = {"a third": 1 / 3, "a fifth": 1 / 5, "a twentieth": 1 / 20, "a tenth": 1 / 10}
UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "GiB": 2.0**30, "%": 0.01, "a minute": 60.0}
NUMBER = rf"({'|'.join([*NUMBERS, *FRACTIONS])}|a minute|[\d][\d,.]*)(?: ?({'|'.join(UNITS)}))?"


@cache
def text_of(page: str) -> str:
    return " ".join((ROOT / page).read_text().replace("`", "").split())


def number_in(page: str, phrase: str) -> float:
    """Return the number that a page has in place of the # of a phrase, which it has once."""
    before, after = map(re.escape, phrase.split("#"))
    found = set(re.findall(before + NUMBER + after, text_of(page)))
    assert len(found) == 1, f"{page}: {phrase} is there {len(found)} times"
    ((number, unit),) = found
    named = NUMBERS | FRACTIONS | UNITS
    value = named[number] if number in named else float(number.rstrip(".,").replace(",", ""))
    return value * UNITS.get(unit, 1.0)


@pytest.mark.parametrize(
    "case",
    cases(Path(__file__).with_suffix(".csv")),
    ids=lambda case: f"{case['page']}: {case['phrase']}",
)
def test_a_number_of_a_page_is_that_of_the_code(case: dict[str, str]) -> None:
    value = eval(case["value"], vars(import_module(case["module"])))
    assert number_in(case["page"], case["phrase"]) == pytest.approx(value)
