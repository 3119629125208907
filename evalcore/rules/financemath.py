"""Compare numbers with FinanceMath's golds: by its authors' rule, and by equality at 3 decimals.

An answer in words is read first. Currency signs, percent signs and units never scale a number:
`6.25%` is 6.25, and `3 million` is 3. The unit wanted stands in the text of the problem; a rule
that scales would have to guess it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evalcore.formats import Problem
from evalcore.rules.base import Item, Tools, Verdict
from evalcore.sandbox import Program
from ngramscan.errors import SandboxError

RELATIVE = 0.0015
STRICT_TOLERANCE = 1e-6
FACTORS = (100, 1_000, 100_000)


def strict(items: Sequence[Item], _tools: Tools) -> Iterator[Verdict]:
    """Yield whether each value equals the gold at 3 decimals.

    Rounding comes first: a gold of 3 decimals is hardly ever within 1e-6 of an unrounded value. The
    gold is rounded as well, since copies of it carry binary noise.
    """
    for problem, value, is_computed in items:
        gold = problem.details["ground_truth"]
        if is_computed:
            yield compare(value, gold, equal_at_3_decimals)
        else:
            yield _compare_text(str(value), gold, equal_at_3_decimals)


def lenient(items: Sequence[Item], tools: Tools) -> Iterator[Verdict]:
    """Yield whether each value is the gold the way the dataset's authors see it.

    What a program gave is compared with what the reference program gives, at full precision.

    Notes
    -----
    1.0 where the two are equal at 3 decimals (rounded up), within 0.15 % of each other, an exact
    power of ten apart, or a factor of 100, 1,000 or 100,000 apart within 0.15 %. All of these but
    the second look at absolute values: a lost sign passes. That forgives fractions given as
    percentages and thousands given as units, and more than that: it lifts accuracy by several
    points over `strict`. Source: the rule behind the results published with FinanceMath,
    arXiv:2311.09797.
    """
    computed = {item.problem.id: item.problem for item in items if item.is_computed}
    golds = _reference_values(list(computed.values()), tools)
    for problem, value, is_computed in items:
        if is_computed:
            yield compare(value, golds[problem.id], close_enough)
        else:
            gold = problem.details["ground_truth"]
            yield _compare_text(str(value), gold, close_enough, as_authors=True)


def _reference_values(problems: Sequence[Problem], tools: Tools) -> dict[str, object]:
    """Return what the reference programs give, at full precision, by problem."""
    programs = [Program(problem.details["program"]) for problem in problems]
    outcomes = tools.run_programs(programs) if programs else ()
    values: dict[str, object] = {}
    for problem, outcome in zip(problems, outcomes, strict=True):
        if outcome.status != "ok":
            what = f"its reference program gives no value ({outcome.status} {outcome.message})"
            raise SandboxError(f"problem {problem.id}: {what}")
        values[problem.id] = outcome.value
    return values


Compare = Callable[[float, float], Verdict]


def _compare_text(text: str, gold: object, rule: Compare, as_authors: bool = False) -> Verdict:
    number = read_number(text, as_authors)
    if number is None:
        return Verdict(0.0, f"not a number: {' '.join(text.split())[:40]!r}")
    return compare(number, gold, rule)


def compare(value: object, gold: object, rule: Compare) -> Verdict:
    """Return a rule's verdict on what `float()` makes of a value and of its gold.

    So True is 1 and the text `"0.5"` is 0.5; a gold that is a truth value is compared by equality.
    """
    if (g := _finite(gold)) is None:
        return Verdict(None, f"the gold is not a finite number: {_shown(gold)}")
    if (p := _finite(value)) is None:
        return Verdict(0.0, f"not a finite number: {_shown(value)}")
    if isinstance(gold, bool):
        return Verdict(1.0, "equal") if p == g else Verdict(0.0, f"{p:g} is not {gold}")
    return rule(p, g)


def close_enough(p: float, g: float) -> Verdict:
    """Tell whether a number is the gold for the authors of FinanceMath; see `lenient`."""
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


def equal_at_3_decimals(p: float, g: float) -> Verdict:
    """Tell whether two numbers are the same up to 1e-6, once rounded to 3 decimals."""
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


# Numbers in words


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


def read_number(text: str, as_authors: bool = False) -> float | int | None:
    r"""Read an answer such as `$1,234.50`, `x ≈ −0.5`, `1.2 × 10^3`, `\frac{1}{2}`, `about 3 days`.

    Of what follows the last `=` or `≈`, it is the number at the beginning, or, where words come
    first, the last number. A formula is not computed: `400 * 1.04` states no number.

    Parameters
    ----------
    text : str
        An answer.
    as_authors : bool
        As FinanceMath's authors do before their lenient comparison: the first of `a or b` is taken,
        and products are computed. Where they find no number they go on with 0; here there is none,
        and so the answer is wrong even where the gold is 0.
    """
    plain = text
    for pattern, plainer in _PLAINER:
        plain = pattern.sub(plainer, plain)
    plain = re.split("[=≈]", plain.rstrip("=≈ "))[-1].strip()
    if as_authors:
        plain = re.split(r"\s+or\s+", plain, maxsplit=1)[0]
    lead = _LEAD.match(plain)
    found = _VALUE.match(plain, lead.end() if lead else 0)
    if found is None:
        found = next(reversed(list(_VALUE.finditer(plain))), None)
    if found is None:
        return None
    value, end = _evaluate(found), found.end()
    while as_authors and (factor := _FACTOR.match(plain, end)):
        value, end = float(value) * _number(f"{factor[1]}{factor['power'] or ''}"), factor.end()
    return None if _FORMULA.match(plain, end) or not math.isfinite(value) else value


def _evaluate(found: re.Match[str]) -> float | int:
    """Return the number found; infinity or NaN where it is too large, or divided by zero."""
    power = found["power"] or ""
    divisor = found["under"] or found["divisor"]
    if divisor is None:
        value = _number(f"{found['digits']}{power}")
    elif _number(divisor) == 0:
        return math.nan
    else:
        value = _number(found["over"] or found["digits"]) / _number(divisor) * _number(f"1{power}")
    return -value if "-" in found["sign"] + found["inner"] else value


def _number(digits: str) -> float | int:
    plain = digits.replace(",", "")
    return int(plain) if plain.isdecimal() and len(plain) < 300 else float(plain)
