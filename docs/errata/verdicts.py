"""Verdicts on published figures, by what their inputs and decimals allow."""

import operator
from typing import Literal, NamedTuple, get_args

from docs.errata.cells import Printed
from docs.errata.formulas import Recomputed

Verdict = Literal["ok", "rounding", "mismatch", "different quantity", "not derivable"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Relation = Literal["equal", "at least", "at most", "above", "below"]
"""How a published figure is related to the recomputed one, as the claim says."""


class Judgement(NamedTuple):
    """A verdict, and a remark on it."""

    verdict: Verdict
    remark: str | None = None


IN_RANGE = Judgement("ok", "only inside the range that rounded inputs allow")


def judge(printed: Printed, recomputed: Recomputed, relation: Relation) -> Judgement:
    """Return the verdict on a published figure, given the recomputed one and its range."""
    if relation != "equal":
        return _judge_order(printed, recomputed, relation)
    if printed.is_bound:
        return _judge_bound(printed, recomputed)
    return _judge_equality(printed, recomputed)


def _judge_order(printed: Printed, recomputed: Recomputed, relation: Relation) -> Judgement:
    half = printed.unit / 2
    if relation in {"at least", "above"}:
        margin = printed.figure - recomputed.value
        greatest_margin = printed.figure + half - recomputed.low
    else:
        margin = recomputed.value - printed.figure
        greatest_margin = recomputed.high - (printed.figure - half)
    holds = operator.gt if relation in {"above", "below"} else operator.ge
    if holds(margin, 0):
        return Judgement("ok")
    is_rounded = printed.unit < 1 or recomputed.low != recomputed.high
    return Judgement("rounding" if is_rounded and holds(greatest_margin, 0) else "mismatch")


def _judge_bound(printed: Printed, recomputed: Recomputed) -> Judgement:
    if recomputed.value < printed.figure:
        return Judgement("ok")
    return IN_RANGE if recomputed.low < printed.figure else Judgement("mismatch")


def _judge_equality(printed: Printed, recomputed: Recomputed) -> Judgement:
    half = printed.unit / 2
    if abs(printed.figure - recomputed.value) <= half:
        return Judgement("ok")
    if recomputed.low <= printed.figure <= recomputed.high:
        return IN_RANGE
    # Some figure in the range would be printed so. That only the end of both would, halves
    # rounded up here and down there, explains nothing.
    is_near = recomputed.low < printed.figure + half and printed.figure - half < recomputed.high
    return Judgement("rounding" if is_near else "mismatch")
