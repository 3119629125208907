"""Amounts of money and numbers with a word that scales them: `$1.2 million`, `50 cents`."""

import re
from fractions import Fraction
from typing import NamedTuple

from evalcore.rules import Grade
from evalcore.rules.numerals import read_only_number

_CURRENCIES = {
    "dollar": r"\bdollars?\b|\bUSD\b",
    "euro": r"€|\beuros?\b|\bEUR\b",
    "pound": r"£|\bpounds?(?: sterling)?\b|\bGBP\b",
    "yen": r"\byen\b|\bJPY\b",
    "yuan": r"\byuan\b|\bRMB\b|\bCNY\b",
    "rupee": r"₹|\bRs\b\.?|\brupees?\b|\bINR\b",
    "cent": r"¢|\bcents?\b",
}
_PER_CENT = Fraction(1, 100)
_SCALE = r"(?:thousand|million|billion|trillion)"
_POWER_OF_TEN = r"\s*(?:\\times|\\cdot|×|x)\s*10\s*\^\s*\{?\d+\}?"
_AMOUNT = re.compile(rf"-?\d[\d,]*(?:\.\d+)?(?: {_SCALE}|{_POWER_OF_TEN})?", re.IGNORECASE)


class _Amount(NamedTuple):
    value: Fraction
    currency: str
    is_scaled: bool


def _with_dollars(text: str) -> str:
    """Return a text with the word for signs of dollars, and without those around formulas."""
    text = text.replace(r"\$", " dollar ")
    if text.count("$") % 2:
        text = text.replace("$", " dollar ", 1)
    return text.replace("US dollar", "dollar").replace("US  dollar", "dollar").replace("$", "")


def _read_amount(text: str) -> _Amount | None:
    text = re.sub(r"\\(?:text|mathrm|textbf|mbox|boxed)\s*\{([^{}]*)\}", r" \1 ", text)
    text = re.sub(r"\{,\}|\\[,!;:]|\*\*|\.\s*$", "", _with_dollars(text))
    currencies = [name for name, sign in _CURRENCIES.items() if re.search(sign, text)]
    if len(currencies) > 1:
        return None
    for currency in currencies:
        text = re.sub(_CURRENCIES[currency], " ", text)
    text = " ".join(text.split())
    if not _AMOUNT.fullmatch(text) or (number := read_only_number(text)) is None:
        return None
    is_scaled = bool(re.search(_SCALE, text, re.IGNORECASE))
    return _Amount(Fraction(str(number)), "".join(currencies), is_scaled)


def compare_amounts(answer: str, gold: str) -> Grade | None:
    """Compare amounts if one has a currency or a word that scales it; else return None.

    Without a currency in one of them, their numbers are compared; cents are parts of a dollar or
    euro where that is named.
    """
    gold_amount, answer_amount = _read_amount(gold), _read_amount(answer)
    if gold_amount is None or answer_amount is None:
        return None
    currencies = {gold_amount.currency, answer_amount.currency} - {""}
    if not currencies and not gold_amount.is_scaled and not answer_amount.is_scaled:
        return None
    if currencies in ({"cent", "dollar"}, {"cent", "euro"}):
        same = _in_whole_units(gold_amount) == _in_whole_units(answer_amount)
    elif len(currencies) > 1:
        return Grade(0.0, f"in {answer_amount.currency}s, not in {gold_amount.currency}s")
    else:
        same = gold_amount.value == answer_amount.value
    return Grade(1.0, "the same amount") if same else Grade(0.0, "another amount")


def _in_whole_units(amount: _Amount) -> Fraction:
    return amount.value * _PER_CENT if amount.currency == "cent" else amount.value
