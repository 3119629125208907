"""A process of the formula pool in which some answers end the comparison, each in its own way."""

import os
import sys

from evalcore.rules import AnswerToGrade, Grade, mathematics
from evalcore.rules.formula_pool import serve
from ngramscan.processes.lifeline import end_with

compare_formulas = mathematics.compare_formulas


def crash(item: AnswerToGrade) -> Grade:
    if item.value == "11":
        return Grade(float(len(bytearray(3 << 30))), "macOS sets no limit")
    if item.value == "12":
        os.abort()
    if item.value == "13":
        raise SystemExit(4)
    if item.value == "14":
        return Grade(1 / 0, "never")
    return compare_formulas(item)


mathematics.compare_formulas = crash
end_with(int(sys.argv[3]))
serve(float(sys.argv[1]), sys.argv[2])
