"""A published figure beside its recomputed value → a verdict.

`ok`: equal after rounding to the printed decimals, or inside the range that the rounding of the
inputs allows. `rounding`: within one more unit of the last decimal. `mismatch`: neither.
"""

from __future__ import annotations

from evalcore.claim_checks.ranges import Recomputed
from evalcore.claim_checks.tables import Printed

OK = "ok"
ROUNDING = "rounding"
MISMATCH = "mismatch"
UNDERIVABLE = "not derivable"
VERDICTS = (OK, ROUNDING, MISMATCH, UNDERIVABLE)


def judge(published: Printed, found: Recomputed, relation: str) -> tuple[str, str | None]:
    """Compare a published figure with its recomputed value.

    Parameters
    ----------
    published : Printed
        The figure as printed.
    found : Recomputed
        What the formula gives, with its range.
    relation : str
        How the published figure must stand to it: `equal`, `at least`, `at most`, `above`, `below`.

    Returns
    -------
    (str, str or None)
        The verdict, and what is to be known beside it.
    """
    if relation != "equal":
        return _order(published, found, relation), None
    half = published.unit / 2
    if abs(published.value - found.value) <= half:
        return OK, None
    if found.low <= published.value <= found.high:
        return OK, "only inside the range that rounded inputs allow"
    if _is_count(published, found):
        return MISMATCH, None
    low = min(found.low, found.value - half) - published.unit
    high = max(found.high, found.value + half) + published.unit
    return (ROUNDING if low <= published.value <= high else MISMATCH), None


def _is_count(published: Printed, found: Recomputed) -> bool:
    """Return whether nothing was rounded: one more is another count."""
    is_whole = found.low == found.high and found.value.denominator == 1
    return is_whole and published.unit == 1


def _order(published: Printed, found: Recomputed, relation: str) -> str:
    sign = 1 if relation in {"at least", "above"} else -1
    strict = relation in {"above", "below"}
    distance = sign * (published.value - found.value)
    if distance > 0 or (distance == 0 and not strict):
        return OK
    reach = published.unit / 2 + (found.high - found.value if sign < 0 else found.value - found.low)
    rounded = published.unit < 1 or found.low != found.high
    return (
        ROUNDING if rounded and distance + reach >= 0 and not (strict and not reach) else MISMATCH
    )
