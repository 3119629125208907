"""Compare numbers with FinanceMath's golds: by its authors' rule, and by equality at 3 decimals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from evalcore.scoring.base import Verdict
from evalcore.scoring.numbers import Reading, normalise_answer, read_number

RELATIVE = 0.0015
STRICT_TOLERANCE = 1e-6
FACTORS = (100, 1_000, 100_000)


def lenient(prediction: object, gold: object) -> Verdict:
    """Compare a value with a gold the way the dataset's authors do.

    Parameters
    ----------
    prediction : object
        What a program gave, or the number read from a text; `float()` converts it, so that True
        is 1 and the text `"0.5"` is 0.5.
    gold : object
        The value of the reference program at full precision, or the gold at 3 decimals. A truth
        value is compared by equality.

    Returns
    -------
    Verdict
        1.0 where the two are equal at 3 decimals (rounded up), within 0.15 % of each other, an
        exact power of ten apart, or a factor of 100, 1,000 or 100,000 apart within 0.15 %. All of
        these but the second look at absolute values: a lost sign passes. None where the gold is
        not a finite number.

    Notes
    -----
    Source: the rule behind the results published with FinanceMath, arXiv:2311.09797. It forgives
    fractions given as percentages and thousands given as units, and more than that: it lifts
    accuracy by several points over `strict`.
    """
    return _compare(prediction, gold, _lenient)


def strict(prediction: object, gold: object) -> Verdict:
    """Compare a value with a gold at 3 decimals.

    Parameters
    ----------
    prediction : object
        What a program gave, or the number read from a text; `float()` converts it.
    gold : object
        The gold. It is rounded to 3 decimals as well, since copies of it carry binary noise. A
        truth value is compared by equality.

    Returns
    -------
    Verdict
        1.0 where both are equal, up to 1e-6, once rounded to 3 decimals. None where the gold is
        not a finite number.

    Notes
    -----
    Rounding comes first: a gold of 3 decimals is hardly ever within 1e-6 of an unrounded value.
    """
    return _compare(prediction, gold, _strict)


def lenient_text(answer: str, gold: object) -> Verdict:
    """Compare an answer in words with a gold, by the authors' normalisation and `lenient`."""
    return _compare_reading(normalise_answer(answer), gold, _lenient)


def strict_text(answer: str, gold: object) -> Verdict:
    """Compare an answer in words with a gold, by `read_number` and `strict`."""
    return _compare_reading(read_number(answer), gold, _strict)


def _compare_reading(
    reading: Reading, gold: object, rule: Callable[[float, float], Verdict]
) -> Verdict:
    if reading.value is None:
        return Verdict(0.0, reading.reason)
    return _compare(reading.value, gold, rule)


def _compare(prediction: object, gold: object, rule: Callable[[float, float], Verdict]) -> Verdict:
    if (g := _finite(gold)) is None:
        return Verdict(None, f"the gold is not a finite number: {_shown(gold)}")
    if (p := _finite(prediction)) is None:
        return Verdict(0.0, f"not a finite number: {_shown(prediction)}")
    if isinstance(gold, bool):
        return Verdict(1.0, "equal") if p == g else Verdict(0.0, f"{p:g} is not {gold}")
    return rule(p, g)


def _lenient(p: float, g: float) -> Verdict:
    big, small = max(abs(p), abs(g)), min(abs(p), abs(g))
    sign = ", a sign lost" if p * g < 0 else ""
    if _up_to_3_decimals(big) == _up_to_3_decimals(small):
        return Verdict(1.0, f"equal at 3 decimals, rounded up{sign}")
    if _near(p, g):
        return Verdict(1.0, "within 0.15 %")
    # exactly an integer in floating point, as the authors ask
    if small and (exponent := math.log10(big / small)).is_integer():
        return Verdict(1.0, f"10^{exponent:g} apart{sign}")
    for factor in FACTORS:
        if _near(factor * small, big):
            return Verdict(1.0, f"a factor of {factor:,} within 0.15 %{sign}")
    return Verdict(0.0, f"{p:g} is not {g:g}")


def _strict(p: float, g: float) -> Verdict:
    p, g = round(p, 3), round(g, 3)
    if abs(p - g) <= STRICT_TOLERANCE:
        return Verdict(1.0, "equal at 3 decimals")
    return Verdict(0.0, f"{p:.12g} is not {g:.12g}")


def _near(x: float, y: float) -> bool:
    return y - RELATIVE * abs(y) <= x <= y + RELATIVE * abs(y)


def _up_to_3_decimals(x: float) -> float:
    scaled = 1000 * x
    return math.ceil(scaled) / 1000 if math.isfinite(scaled) else x


def _finite(value: Any) -> float | None:
    """Convert by `float()`; None where it can't be, or is infinite or not a number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."
