"""Compare numbers with FinanceMath's golds: by its authors' rule, and by equality at 3 decimals.

An answer in words is read first. Currency signs, percent signs and units never scale a number:
`6.25%` is 6.25, and `3 million` is 3. The unit wanted stands in the text of the problem; a rule
that scales would have to guess it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from evalcore.rules.base import Item, Tools, Verdict
from evalcore.sandbox import Program
from ngramscan.errors import SandboxError

RELATIVE = 0.0015
FACTORS = (100, 1_000, 100_000)


def strict(items: Sequence[Item], _tools: Tools) -> Iterator[Verdict]:
    """Yield whether each value equals the gold at 3 decimals.

    Both are rounded: a gold of 3 decimals, too, carries binary noise in some copies.
    """
    for item in items:
        gold = item.problem.details.get("ground_truth", item.problem.gold)
        yield _compare(item, gold, _equal_at_3_decimals)


def lenient(items: Sequence[Item], tools: Tools) -> Iterator[Verdict]:
    """Yield whether each value is the gold the way the dataset's authors see it.

    1.0 where the two are equal at 3 decimals (rounded up), within 0.15 % of each other, an exact
    power of ten apart, or a factor of 100, 1,000 or 100,000 apart within 0.15 %. All of these but
    the second look at absolute values: a lost sign passes. That forgives fractions given as
    percentages and thousands given as units, and more than that: it lifts accuracy by several
    points over `strict`. What a program gave is compared with what the reference program gives, at
    full precision. Source: the rule behind the results published with FinanceMath,
    arXiv:2311.09797.
    """
    references = {
        problem.id: Program(problem.details["program"])
        for problem, _, is_computed in items
        if is_computed and "program" in problem.details
    }
    outcomes = tools.run_programs(list(references.values())) if references else ()
    computed = dict(zip(references, outcomes, strict=True))
    for name, outcome in computed.items():
        if outcome.status != "ok":
            what = f"its reference program gives no value ({outcome.status} {outcome.message})"
            raise SandboxError(f"problem {name}: {what}")
    for item in items:
        gold = item.problem.details.get("ground_truth", item.problem.gold)
        if item.is_computed and item.problem.id in computed:
            gold = computed[item.problem.id].value
        yield _compare(item, gold, _close_enough)


def _compare(item: Item, gold: Any, rule: Callable[[float, float], Verdict]) -> Verdict:
    """Return a rule's verdict on what `float()` makes of a value and of its gold.

    So True is 1 and the text `"0.5"` is 0.5; a gold that is a truth value is compared by equality.
    """
    value: Any = item.value
    if not item.is_computed:
        value = read_number(str(value), as_authors=rule is _close_enough)
        if value is None:
            return Verdict(0.0, f"not a number: {' '.join(str(item.value).split())[:40]!r}")
    if (g := _finite(gold)) is None:
        return Verdict(None, f"the gold is not a finite number: {_shown(gold)}")
    if (p := _finite(value)) is None:
        return Verdict(0.0, f"not a finite number: {_shown(value)}")
    if isinstance(gold, bool):
        return Verdict(1.0, "equal") if p == g else Verdict(0.0, f"{p:g} is not {gold}")
    return rule(p, g)


def _close_enough(p: float, g: float) -> Verdict:
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


def _equal_at_3_decimals(p: float, g: float) -> Verdict:
    p, g = round(p, 3), round(g, 3)
    is_equal = abs(p - g) <= 1e-6
    return Verdict(
        float(is_equal), "equal at 3 decimals" if is_equal else f"{p:.12g} is not {g:.12g}"
    )


def _near(x: float, y: float) -> bool:
    return y - RELATIVE * abs(y) <= x <= y + RELATIVE * abs(y)


def _up_to_3_decimals(x: float) -> float:
    scaled = 1000 * x
    return math.ceil(scaled) / 1000 if math.isfinite(scaled) else x


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


# Numbers in words

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_EXPONENT = r"10\s*\^\s*\{?\s*([-+]?\d{1,3})\s*\}?"
_PLAINER = (
    ("[−–﹣－]", "-"),
    (r"\\(?:text|textbf|mathrm|mathbf|boxed|fbox)\s*\{([^{}]*)\}", r"\1"),
    (r"\{,\}", ","),
    (r"\\(?:times|cdot)(?![A-Za-z])", "×"),
    (r"\\(?:approx|simeq|sim)(?![A-Za-z])", "≈"),
    (r"\\[,!;:]|\\left|\\right|\\[()\[\]]|\*\*|[`\"]", ""),
    (rf"\\[dt]?frac\s*\{{\s*({_DIGITS})\s*\}}\s*\{{\s*({_DIGITS})\s*\}}", r" \1/\2"),
    (r"\\(?=[$%£€#&_ ])|~", " "),
    (r"\s+", " "),  # else the patterns below take quadratic time
    (rf"\s*[x×*]\s*{_EXPONENT}", r"e\1"),
    (rf"(?<![\w.]){_EXPONENT}", r"1e\1"),
)
_LEAD = re.compile(r"(?:approximately|about|around|roughly|[\s(:{])*", re.IGNORECASE)
_CURRENCY = r"(?:US\$|[$£€¥₤₹]|[A-Z]{3})?"
_END = r"([eE][-+]?\d{1,3})?(?!\d|[.,]\d)"
_VALUE = re.compile(
    rf"(?<![\w.,^])([-+]?)\s*{_CURRENCY}\s*(-?)\s*"
    rf"({_DIGITS})(?:\s*/\s*({_DIGITS}))?{_END}(?!-[A-Za-z])"
)
_FACTOR = re.compile(rf"\s*[x×*]\s*{_CURRENCY}\s*({_DIGITS}){_END}")
_FORMULA = re.compile(r"\s*[-+*/×x^]\s*[\d(]")


def read_number(text: str, as_authors: bool = False) -> float | int | None:
    r"""Read an answer such as `$1,234.50`, `x ≈ −0.5`, `1.2 × 10^3`, `\frac{1}{2}`, `about 3 days`.

    Of what follows the last `=` or `≈`, it is the number at the beginning, or, where words come
    first, the last number. A formula is not computed: `400 * 1.04` states no number.

    FinanceMath's authors take the first of `a or b` and compute products. Where they find no number
    they go on with 0; here there is none, so the answer is wrong even where the gold is 0.
    """
    for pattern, plainer in _PLAINER:
        text = re.sub(pattern, plainer, text)
    text = re.split("[=≈]", text.rstrip("=≈ "))[-1].strip()
    if as_authors:
        text = re.split(r"\s+or\s+", text, maxsplit=1)[0]
    lead = _LEAD.match(text)
    found = _VALUE.match(text, lead.end() if lead else 0) or [None, *_VALUE.finditer(text)][-1]
    if found is None:
        return None
    sign, inner, digits, divisor, power = found.groups("")
    end = found.end()
    try:
        value = _exact(digits) / _exact(divisor or "1") * _exact(f"1{power}")
        while as_authors and (factor := _FACTOR.match(text, end)):
            value, end = value * _exact("".join(factor.groups(""))), factor.end()
        number = float(value)
    except (ZeroDivisionError, OverflowError, ValueError):  # or more digits than Python reads
        return None
    size = value.numerator if value and value.denominator == 1 else number
    return None if _FORMULA.match(text, end) else -size if "-" in sign + inner else size


def _exact(digits: str) -> Fraction:
    return Fraction(digits.replace(",", ""))
