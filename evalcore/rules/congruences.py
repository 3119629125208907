r"""Congruences, such as `x \equiv 3 \pmod 5`, compared as the integers that satisfy them."""

import re
from math import lcm
from typing import NamedTuple

from evalcore.rules import Grade

MAX_MODULUS = 10_000
"""Congruences of different moduli are compared up to this common multiple."""

_MODULUS = r"\s*\(?\s*\\?(?:pmod|bmod|mod|modulo)\s*\{?\s*(\d{1,9})\s*\}?\s*\)?"
_CONGRUENCE = re.compile(rf"(?:[A-Za-z]\w?\s*(?:≡|\\equiv|=)\s*)?([-+\d\s,±]+?){_MODULUS}")
_PROGRESSION = re.compile(
    r"(?:[A-Za-z]\s*=\s*)?(?P<modulus>\d{1,9})\s*\*?\s*[a-z]"
    r"(?:\s*(?P<sign>[-+])\s*(?P<number>\d{1,9}))?"
)
"""`x = 5k + 3`."""
_PROGRESSION_LAST = re.compile(
    r"(?:[A-Za-z]\s*=\s*)?(?P<number>\d{1,9})\s*\+\s*(?P<modulus>\d{1,9})\s*\*?\s*[a-z]"
)
"""`x = 3 + 5k`."""


class _Residues(NamedTuple):
    numbers: list[int]
    modulus: int

    def up_to(self, limit: int) -> set[int]:
        """Return the numbers from zero up to a multiple of the modulus."""
        return {
            start
            for number in self.numbers
            for start in range(number % self.modulus, limit, self.modulus)
        }


def _read_congruence(text: str) -> _Residues | None:
    text = re.sub(r"\\text\s*\{\s*(or|and)\s*\}|\b(?:or|and)\b", ",", text)
    congruence = _CONGRUENCE.fullmatch(re.sub(r"\\pm(?![a-z])", "±", text))
    if not congruence or int(congruence[2]) < 1:
        return None
    numbers = list[int]()
    for entry in congruence[1].replace(" ", "").split(","):
        if not re.fullmatch(r"[-+±]?\d{1,9}", entry):
            return None
        size = int(entry.lstrip("+-±"))
        if entry[0] in "-±":
            numbers.append(-size)
        if entry[0] != "-":
            numbers.append(size)
    return _Residues(numbers, int(congruence[2]))


def _read_progression(text: str) -> _Residues | None:
    """Read `x = 5k + 3` and `3 + 5k`."""
    if terms := _PROGRESSION.fullmatch(text):
        number = int(terms["number"] or 0)
        if terms["sign"] == "-":
            number = -number
    elif terms := _PROGRESSION_LAST.fullmatch(text):
        number = int(terms["number"])
    else:
        return None
    modulus = int(terms["modulus"])
    return _Residues([number], modulus) if modulus else None


def compare_congruences(answer: str, gold: str) -> Grade | None:
    r"""Compare congruences; return None where the gold and the answer are none.

    A number for a congruence, or a congruence for a number, is right if it is the residue as it
    is written: `3` for `3 \pmod 5`. Whether `8` is meant as that residue is for a judge.
    """
    gold_congruence, answer_congruence = _read_congruence(gold), _read_congruence(answer)
    if gold_congruence is None:
        if answer_congruence is None or not re.fullmatch(r"[-+]?\d+", gold):
            return None
        same = answer_congruence.numbers == [int(gold)]
        return Grade(1.0, "the same residue") if same else Grade(0.0, "another residue")
    answer_congruence = answer_congruence or _read_progression(answer)
    if answer_congruence is None:
        return _compare_number(answer, gold_congruence)
    limit = lcm(gold_congruence.modulus, answer_congruence.modulus)
    if gold_congruence.modulus != answer_congruence.modulus and limit > MAX_MODULUS:
        return Grade(0.0, f"modulo {answer_congruence.modulus}, not {gold_congruence.modulus}")
    if gold_congruence.modulus == answer_congruence.modulus:
        same = _least(gold_congruence) == _least(answer_congruence)
    else:
        same = gold_congruence.up_to(limit) == answer_congruence.up_to(limit)
    return Grade(1.0, "the same residues") if same else Grade(0.0, "other residues")


def _least(residues: _Residues) -> set[int]:
    return {number % residues.modulus for number in residues.numbers}


def _compare_number(answer: str, right: _Residues) -> Grade | None:
    number = re.fullmatch(r"(?:[A-Za-z]\s*=\s*)?([-+]?\d{1,9})", answer)
    if not number:
        return None
    if right.numbers == [int(number[1])]:
        return Grade(1.0, "the same residue")
    if {int(number[1]) % right.modulus} == _least(right):
        return Grade(None, "needs a judge: a number with the same residue")
    return Grade(0.0, "another residue")
