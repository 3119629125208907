"""Formulas in LaTeX read as expressions, and two of them compared.

Exact where both are exact: math-verify rounds to six decimals wherever a decimal number is
involved, and folds capital letters, so that `R r` is `r^2` to it. It is asked only about what is no
number for any value of its variables. It and SymPy are imported when first needed.
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
_BOTH_SIGNS = frozenset("xyzt")
_WHOLE = frozenset("ijklmnpqKMN")


class NotMathematicsError(Exception):
    """A text is no formula."""


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

    as_written = NormalizationConfig(
        basic_latex=False,
        units=False,
        malformed_operators=False,
        nits=False,
        boxed="none",
        equations=False,
    )
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
    return _double_factorials(found) if "!!" in text else found


def _prepared(text: str) -> str:
    """Return a formula with decimals as fractions and without what the parser can't read."""
    text = re.sub(r"(?<![\d ])(\d{1,3}(?: \d{3})+)(?!\d)", lambda m: m[1].replace(" ", ""), text)
    text = re.sub(r"_(\d)(?!\d)", r"_{\1}", text)
    text = re.sub(r"(?<=[A-Za-z)}])'", r"^{\\prime}", text)
    text = re.sub(r"\\(?:mathrm|mathbf|mathit|rm)\s*\{([A-Za-z])\}", r"\1", text)
    if re.search(r"\d\s+[\d.]|\d\.\d+\.|\.\.", text):
        raise NotMathematicsError("two numbers stand side by side")
    if re.search(r"[%°'\"]", text):
        raise NotMathematicsError("a sign in it that is no mathematics there")
    if _WORDS.search(re.sub(r"\\operatorname\{\w+\}", "", text)):
        raise NotMathematicsError("words in it")
    if not text or re.search(r"\\(?:text|mathrm|ldots|dots|cdots)(?![A-Za-z])", text):
        raise NotMathematicsError("words or dots in it" if text else "it is empty")
    text = re.sub(r"(?<=\d)[eE]([-+]?\d+)", r"\\cdot 10^{\1}", text)
    text = re.sub(r"(\^\s*)?(\d*)\.(\d+)", _fraction, text)
    text = re.sub(r"(?<=\d)\.(?!\d)", "", text)
    text = re.sub(r"_\{\\([A-Za-z]+)\s*\}", r"_{\1}", text)
    return re.sub(r"(?<![A-Za-z\\])e_", r"\\varepsilon_", text)  # e with an index is a name


_WORDS = re.compile(r"(?<![A-Za-z\\])(?:[A-Za-z]{6,}|[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,})")


def _fraction(match: re.Match[str]) -> str:
    """Return a decimal as a fraction: as a binary number it would lose digits."""
    whole, decimals = match[2], match[3]
    fraction = rf"\frac{{{int(whole + decimals)}}}{{{10 ** len(decimals)}}}"
    return f"{match[1]}{{{fraction}}}" if match[1] else f"({fraction})"


def _double_factorials(found: Any) -> Any:
    """Return an expression in which `n!!` is what it means, not (n!)!."""
    from sympy import factorial, factorial2

    return found.replace(
        lambda e: isinstance(e, factorial) and isinstance(e.args[0], factorial),
        lambda e: factorial2(e.args[0].args[0]),
    )


def equal(gold: str, answer: str, tolerance: str | None) -> bool:
    """Tell whether two formulas have the same value.

    Parameters
    ----------
    gold, answer : str
        Cleaned formulas.
    tolerance : str or None
        By how much a number may differ, as a decimal number; None: by nothing.

    Returns
    -------
    bool
        Rational numbers are compared exactly; other numbers to 60 digits; with variables, both
        sides at random values of them: x, y, z and t take any sign, all others are positive, and
        whole for the letters that usually are so, where something is rounded or counted.

    Raises
    ------
    NotMathematicsError
        One of them is no formula.
    TooLargeError
        Both are numbers too large to compute.
    """
    left, right = expression(gold), expression(answer)
    if left == right:
        return True
    large = [_too_large(left), _too_large(right)]
    if all(large):
        raise TooLargeError(f"two numbers of more than {MAX_DIGITS} digits can't be compared")
    if any(large):
        return False
    if not _is_algebra(left) or not _is_algebra(right):
        return _by_math_verify(left, right)
    if left.free_symbols | right.free_symbols:
        return _same_everywhere(left, right)
    return _same_number(left, right, tolerance) or _rounded(left, right, answer)


def _is_algebra(found: Any) -> bool:
    """Tell whether an expression has a value once its variables have: no set, no unknown f(x)."""
    from sympy import Expr
    from sympy.core.function import AppliedUndef

    return isinstance(found, Expr) and not found.atoms(AppliedUndef)


def _by_math_verify(left: Any, right: Any) -> bool:
    """Return math-verify's verdict; the limit of time is that of the process."""
    from math_verify import verify

    return bool(
        verify(left, right, numeric_precision=50, timeout_seconds=None, raise_on_error=True)
    )


def _too_large(found: Any) -> bool:
    """Tell whether a power or factorial within has too many digits; parts come before wholes."""
    from sympy import Pow, exp, factorial, log, postorder_traversal

    for part in postorder_traversal(found):
        if not isinstance(part, Pow | factorial | exp) or part.args[-1].free_symbols:
            continue
        size = abs(part.args[-1].evalf(15))
        if isinstance(part, factorial):
            too_large = size > MAX_DIGITS / 5
        elif isinstance(part, exp) or part.base.free_symbols:
            too_large = size > MAX_DIGITS
        else:
            base = abs(part.base.evalf(15))
            too_large = base != 0 and size * abs(log(base).evalf(15)) > MAX_DIGITS * 2.3
        if too_large:
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


def _rounded(left: Any, right: Any, answer: str) -> bool:
    """Tell whether a decimal answer is the gold rounded, to six significant digits or more."""
    from sympy import Rational

    decimal = re.fullmatch(r"-?\s*(\d*)\.(\d+)", answer)
    if decimal is None or len((decimal[1] + decimal[2]).lstrip("0")) < 6:
        return False
    gold = left.doit()
    if gold.is_Rational and _has_finite_decimal(gold.q):
        return False  # the answer should be it then, to the last digit
    half = Rational(1, 2 * 10 ** len(decimal[2]))
    return bool(abs(gold - right.doit()).evalf(DIGITS) <= half)


def _has_finite_decimal(denominator: int) -> bool:
    """Tell whether a fraction in lowest terms can be written out as a decimal number."""
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator == 1


def _same_everywhere(left: Any, right: Any) -> bool:
    """Compare two expressions at random values of their variables."""
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    agreed = 0
    for point in _points(symbols, _counts(left) or _counts(right)):
        values = [_value(side, point) for side in (left, right)]
        if None not in values:
            if not _near(*values):
                return False
            agreed += 1
    if agreed < 3:
        return _by_math_verify(left, right)
    return True


def _value(found: Any, point: dict[Any, Any]) -> Any:
    """Return the value of an expression at a point; None: it has none there."""
    try:
        value = found.subs(point).evalf(DIGITS)
    except ValueError:  # SymPy's double factorial of a negative even number
        return None
    return value if value.is_number and value.is_finite else None


def ratio(gold: tuple[str, str], answer: tuple[str, str]) -> Any | None:
    """Return by which constant the difference of two sides is that of two others.

    Parameters
    ----------
    gold, answer : tuple of str
        The two sides of a relation each, as cleaned formulas.

    Returns
    -------
    number or None
        None: the ratio of the differences isn't the same everywhere, or zero, or not real.
    """
    (a, b), (c, d) = ([expression(side) for side in sides] for sides in (gold, answer))
    symbols = sorted(set().union(*(side.free_symbols for side in (a, b, c, d))), key=str)
    found = []
    for point in _points(symbols, whole=False):
        values = [_value(one - other, point) for one, other in ((a, b), (c, d))]
        if None not in values and values[0] != 0:
            found.append(values[1] / values[0])
    constant = len(found) >= 3 and all(_near(found[0], one) for one in found)
    return found[0] if constant and found[0].is_real and abs(found[0]) > 1e-30 else None


def _counts(found: Any) -> bool:
    """Tell whether an expression rounds or counts, so that its variables may be whole."""
    from sympy import Mod, binomial, ceiling, factorial, factorial2, floor

    return bool(found.has(floor, ceiling, factorial, factorial2, binomial, Mod))


def _points(symbols: list[Any], whole: bool) -> Iterator[dict[Any, Any]]:
    """Yield values for the variables, the same ones whenever they are asked for."""
    from sympy import Rational

    draw = random.Random(20)
    for number in range(1, 61 if whole else 13):
        point = {}
        for symbol in symbols:
            letter = str(symbol)[0]
            value = Rational(draw.randint(1, 4000), draw.randint(300, 1000))
            if letter in _BOTH_SIGNS and draw.random() < 0.5:
                value = -value
            if whole and letter in _WHOLE:  # one after the other: a rounding may differ in few
                value = Rational(number if len(symbols) == 1 else draw.randint(1, 15))
            point[symbol] = value
        yield point
