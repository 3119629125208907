"""Formulas in LaTeX read as SymPy's expressions, and two of them compared.

Exact where both are exact. latex2sympy reads them, SymPy computes them, and math-verify decides on
what is no number for any value of its variables: everywhere else it would round to six decimals,
and fold capital letters, so that `R r` is `r^2` to it. All three are imported when first needed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

DIGITS = 60
"""To which numbers are computed that are not rational."""
MAX_DIGITS = 100_000
"""Of a number that is computed at all."""


class NotMathematicsError(Exception):
    """A text is not a formula."""


class TooLargeError(Exception):
    """A number has more digits than anyone would compute."""


@lru_cache(maxsize=4096)
def expression(text: str) -> Any:
    """Return a cleaned formula as a SymPy expression that is not evaluated yet; raise if none."""
    from latex2sympy2_extended.latex2sympy2 import (
        ConversionConfig,
        NormalizationConfig,
        latex2sympy,
    )
    from sympy import factorial, factorial2

    off = dict.fromkeys(("basic_latex", "units", "malformed_operators", "nits", "equations"), False)
    as_written = NormalizationConfig(boxed="none", **off)
    letters = ConversionConfig(lowercase_symbols=False)
    try:
        found = latex2sympy(
            _prepared(text), normalization_config=as_written, conversion_config=letters
        )
    except Exception as error:
        # latex2sympy has no class of its own for a text that it can't read.
        if type(error) is not Exception:
            raise
        raise NotMathematicsError(str(error).partition("\n")[0]) from error
    if found is None:
        raise NotMathematicsError("nothing was read")
    if "!!" not in text:
        return found
    return found.replace(  # it reads n!! as (n!)!
        lambda e: isinstance(e, factorial) and isinstance(e.args[0], factorial),
        lambda e: factorial2(e.args[0].args[0]),
    )


_WORDS = re.compile(r"(?<![A-Za-z\\])(?:[A-Za-z]{6,}|[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,})")


def _prepared(text: str) -> str:
    """Return a formula with decimals as fractions and without what the parser can't read."""
    text = re.sub(r"(?<![\d ])(\d{1,3}(?: \d{3})+)(?!\d)", lambda m: m[1].replace(" ", ""), text)
    text = re.sub(r"_(\d)(?!\d)", r"_{\1}", text)
    text = re.sub(r"(?<=[A-Za-z)}])'", r"^{\\prime}", text)
    text = re.sub(r"\\(?:mathrm|mathbf|mathit|rm)\s*\{([A-Za-z])\}", r"\1", text)
    for problem, found in (
        ("two numbers stand side by side", re.search(r"\d\s+[\d.]|\d\.\d+\.|\.\.", text)),
        ("a sign in it that is no mathematics there", re.search(r"[%°'\"]", text)),
        ("words in it", _WORDS.search(re.sub(r"\\operatorname\{\w+\}", "", text))),
        ("it is empty", not text),
        ("words or dots in it", re.search(r"\\(?:text|mathrm|[lc]?dots)(?![A-Za-z])", text)),
    ):
        if found:
            raise NotMathematicsError(problem)
    text = re.sub(r"(?<=\d)[eE]([-+]?\d+)", r"\\cdot 10^{\1}", text)
    text = re.sub(r"(\^\s*)?(\d*)\.(\d+)", _fraction, text)
    text = re.sub(r"(?<=\d)\.(?!\d)", "", text)
    text = re.sub(r"_\{\\([A-Za-z]+)\s*\}", r"_{\1}", text)
    return re.sub(r"(?<![A-Za-z\\])e_", r"\\varepsilon_", text)  # e with an index is a name


def _fraction(match: re.Match[str]) -> str:
    """Return a decimal as a fraction: as a binary number it would lose digits."""
    power, whole, decimals = match.groups()
    fraction = rf"\frac{{{int(whole + decimals)}}}{{{10 ** len(decimals)}}}"
    return f"{power}{{{fraction}}}" if power else f"({fraction})"


def equal(gold: str, answer: str, tolerance: str | None) -> bool:
    """Tell whether two formulas have the same value.

    Rational numbers are compared exactly, others to 60 digits, and formulas with variables at
    random values of these.
    """
    from sympy import Expr
    from sympy.core.function import AppliedUndef

    left, right = sides = expression(gold), expression(answer)
    if left == right:
        return True
    large = [_is_too_large(one) for one in sides]
    if all(large):
        raise TooLargeError(f"two numbers of more than {MAX_DIGITS} digits can't be compared")
    if any(large):
        return False
    if not all(isinstance(one, Expr) and not one.atoms(AppliedUndef) for one in sides):
        return _by_math_verify(left, right)  # a set, or an unknown f(x)
    if left.free_symbols | right.free_symbols:
        return _same_everywhere(left, right)
    return _same_number(left, right, tolerance) or _is_rounded(left, right, answer)


def _by_math_verify(left: Any, right: Any) -> bool:
    """Return math-verify's verdict; the limit of time is that of the process."""
    from math_verify import verify

    return bool(
        verify(left, right, numeric_precision=50, timeout_seconds=None, raise_on_error=True)
    )


def _is_too_large(found: Any) -> bool:
    """Tell whether a power or factorial within has too many digits; parts come before wholes."""
    from sympy import Pow, exp, factorial, log, postorder_traversal

    for part in postorder_traversal(found):
        if not isinstance(part, Pow | factorial | exp) or part.args[-1].free_symbols:
            continue
        size, limit = abs(part.args[-1].evalf(15)), float(MAX_DIGITS)
        if isinstance(part, factorial):
            limit /= 5
        elif not isinstance(part, exp) and not part.base.free_symbols:
            base = abs(part.base.evalf(15))
            size = size * abs(log(base).evalf(15)) if base != 0 else 0
            limit *= 2.3
        if size > limit:
            return True
    return False


def _same_number(left: Any, right: Any, tolerance: str | None) -> bool:
    """Compare two numbers, exactly where both are rational."""
    from sympy import Rational

    left, right = left.doit(), right.doit()
    if left == right:
        return True
    if tolerance is not None:
        return bool(abs(left - right).evalf(DIGITS) <= Rational(tolerance))
    if left.is_Rational and right.is_Rational:
        return False
    return _near(left.evalf(DIGITS), right.evalf(DIGITS))


def _near(left: Any, right: Any) -> bool:
    """Tell whether two computed numbers agree in all digits but the last ones."""
    if not (left.is_number and right.is_number and left.is_finite and right.is_finite):
        return bool(left == right)
    scale = max(abs(left), abs(right))
    return bool(abs(left - right) <= 10 ** (10 - DIGITS) * (scale if scale > 1e-9 else 1))


def _is_rounded(left: Any, right: Any, answer: str) -> bool:
    """Tell whether a decimal answer is the gold rounded, to six significant digits or more."""
    from sympy import Rational

    decimal = re.fullmatch(r"-?\s*(\d*)\.(\d+)", answer)
    if decimal is None or len((decimal[1] + decimal[2]).lstrip("0")) < 6:
        return False
    gold = left.doit()
    if gold.is_Rational and pow(10, gold.q.bit_length(), gold.q) == 0:
        return False  # the gold can be written out as a decimal: the answer should be it then
    half = Rational(1, 2 * 10 ** len(decimal[2]))
    return bool(abs(gold - right.doit()).evalf(DIGITS) <= half)


def _same_everywhere(left: Any, right: Any) -> bool:
    """Compare two expressions at random values of their variables."""
    from sympy import Mod, binomial, ceiling, factorial, factorial2, floor

    counts = (floor, ceiling, factorial, factorial2, binomial, Mod)
    agreed = 0
    for one, other in _values(left, right, is_whole=left.has(*counts) or right.has(*counts)):
        if not _near(one, other):
            return False
        agreed += 1
    return agreed >= 3 or _by_math_verify(left, right)


def ratio(gold: tuple[str, str], given: tuple[str, str]) -> Any | None:
    """Return by which real constant the difference of two sides is that of two others; or None."""
    differences = [expression(left) - expression(right) for left, right in (gold, given)]
    found = [other / one for one, other in _values(*differences, is_whole=False) if one != 0]
    is_constant = len(found) >= 3 and all(_near(found[0], one) for one in found)
    return found[0] if is_constant and found[0].is_real and abs(found[0]) > 1e-30 else None


_BOTH_SIGNS = frozenset("xyzt")
_WHOLE = frozenset("ijklmnpqKMN")


def _values(left: Any, right: Any, *, is_whole: bool) -> Iterator[tuple[Any, Any]]:
    """Yield the values of two expressions where both have one, at the same points every time.

    x, y, z and t take any sign, all others are positive, and whole for the letters that usually
    are so, where something is rounded or counted.
    """
    from sympy import Rational

    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    draw = random.Random(20)
    for number in range(1, 61 if is_whole else 13):
        point = {}
        for symbol in symbols:
            letter = str(symbol)[0]
            value = Rational(draw.randint(1, 4000), draw.randint(300, 1000))
            if letter in _BOTH_SIGNS and draw.random() < 0.5:
                value = -value
            if is_whole and letter in _WHOLE:  # one after the other: a rounding may differ in few
                value = Rational(number if len(symbols) == 1 else draw.randint(1, 15))
            point[symbol] = value
        try:
            values = [one.subs(point).evalf(DIGITS) for one in (left, right)]
        except ValueError:  # SymPy's double factorial of a negative even number
            continue
        if all(one.is_number and one.is_finite for one in values):
            yield values[0], values[1]
