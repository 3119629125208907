"""Read the number that an answer written in words states.

Currency signs, percent signs and units never scale a number: `6.25%` is 6.25, and `3 million` is
3. The unit wanted stands in the text of the problem; a rule that scales would have to guess it.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple


class Reading(NamedTuple):
    """The number an answer states, or why it states none."""

    value: float | None
    reason: str
    """Empty where there is a number."""


_EXPONENT = r"10\s*\^\s*\{?\s*([-+]?\d{1,3})\s*\}?"
_PLAINER = (
    (re.compile("[−–﹣－]"), "-"),
    (re.compile(r"\\(?:text|textbf|mathrm|mathbf|boxed|fbox)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\[dt]frac"), r"\\frac"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])"), "×"),
    (re.compile(r"\\(?:approx|simeq|sim)(?![A-Za-z])"), "≈"),
    (re.compile(r"\\[,!;:]|\\left|\\right|\\[()\[\]]|\*\*|[`\"]"), ""),
    (re.compile(r"\\(?=[$%£€#&_ ])|~"), " "),
    (re.compile(r"\s+"), " "),  # else the patterns below take quadratic time
    (re.compile(rf"\s*[x×*]\s*{_EXPONENT}"), r"e\1"),
    (re.compile(rf"(?<![\w.]){_EXPONENT}"), r"1e\1"),
)
_LEAD = re.compile(r"(?:approximately|about|around|roughly|[\s(:{])*", re.IGNORECASE)
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_DIGITS_END = r"(?!\d|[.,]\d)"
_POWER = r"(?P<power>[eE][-+]?\d{1,3})?"
_CURRENCY = r"(?:US\$|[$£€¥₤₹]|[A-Z]{3})?"
_VALUE = re.compile(
    rf"(?<![\w.,^])(?P<sign>[-+]?)\s*{_CURRENCY}\s*(?P<inner>-?)\s*"
    rf"(?:\\frac\s*\{{\s*(?P<over>{_DIGITS})\s*\}}\s*\{{\s*(?P<under>{_DIGITS})\s*\}}"
    rf"|(?P<digits>{_DIGITS})(?:\s*/\s*(?P<divisor>{_DIGITS}))?)"
    rf"{_POWER}{_DIGITS_END}(?!-[A-Za-z])"
)
_FACTOR = re.compile(rf"\s*[x×*]\s*{_CURRENCY}\s*({_DIGITS}){_POWER}{_DIGITS_END}")
_FORMULA = re.compile(r"\s*[-+*/×x^]\s*[\d(]")


def read_number(text: str) -> Reading:
    r"""Read an answer such as `$1,234.50`, `x ≈ −0.5`, `1.2 × 10^3`, `\frac{1}{2}`, `about 3 days`.

    Of what follows the last `=` or `≈`, it is the number at the beginning, or, where words come
    first, the last number. A formula is not computed: `400 * 1.04` states no number. A percent sign
    does not scale: `6.25%` is 6.25, which is not 0.063.
    """
    return _read(_plain(text), text, products=False)


def normalise_answer(text: str) -> Reading:
    """Read an answer as FinanceMath's authors do before their lenient comparison.

    Beyond `read_number`, the first of `a or b` is taken, and products are computed. Where the
    authors find no number they go on with 0; here there is none, and so the answer is wrong even
    where the gold is 0.
    """
    plain = re.split(r"\s+or\s+", _plain(text), maxsplit=1)[0]
    return _read(plain, text, products=True)


def _plain(text: str) -> str:
    """Take LaTeX and bold type off, and all that stands before the last equals sign."""
    for pattern, plainer in _PLAINER:
        text = pattern.sub(plainer, text)
    return re.split("[=≈]", text.rstrip("=≈ "))[-1].strip()


def _read(plain: str, text: str, products: bool) -> Reading:
    nothing = Reading(None, f"not a number: {' '.join(text.split())[:40]!r}")
    lead = _LEAD.match(plain)
    found = _VALUE.match(plain, lead.end() if lead else 0)
    if found is None:
        found = next(reversed(list(_VALUE.finditer(plain))), None)
    if found is None:
        return nothing
    value, end = _evaluate(found), found.end()
    while products and (factor := _FACTOR.match(plain, end)):
        value, end = value * _float(f"{factor[1]}{factor['power'] or ''}"), factor.end()
    if _FORMULA.match(plain, end) or not math.isfinite(value):
        return nothing
    return Reading(value, "")


def _evaluate(found: re.Match[str]) -> float:
    """Return the number found; infinity or NaN where it is too large, or divided by zero."""
    power = found["power"] or ""
    divisor = found["under"] or found["divisor"]
    if divisor is None:
        value = _float(f"{found['digits']}{power}")
    elif _float(divisor) == 0:
        return math.nan
    else:
        value = _float(found["over"] or found["digits"]) / _float(divisor) * _float(f"1{power}")
    return -value if "-" in found["sign"] + found["inner"] else value


def _float(digits: str) -> float:
    return float(digits.replace(",", ""))
