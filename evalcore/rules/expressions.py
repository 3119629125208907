r"""Formulas as SymPy expressions, and whether two have the same value."""

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, latex2sympy
from math_verify import verify
from sympy import Rational, factorial, factorial2
from sympy.core.evalf import PrecisionExhausted

from evalcore.rules import notation

DIGITS = 60  # to which numbers are computed that are not rational
DIGITS_OF_ZERO = 1_000  # two numbers that agree up to there are equal
MAX_DIGITS = 100_000  # of a number that is computed at all


class NotMathematicsError(Exception):
    """A text is not a formula."""


def _repeating(whole: str, first: str, *repeated: str) -> str:
    r"""Return a decimal whose last digits repeat as a fraction: `0.1\overline{6}` is 15/90."""
    (again,) = filter(None, repeated)
    over = int(whole + first + again) - int(whole + first or "0")
    return rf"(\frac{{{over}}}{{{(10 ** len(again) - 1) * 10 ** len(first)}}})"


def _number_in_base(number: re.Match[str]) -> str:
    """Return the value of `1011_2`, which the parser would read as 1011."""
    with suppress(ValueError):
        return str(int(number[1], int(number[2] or number[3])))
    return number[0]


_NO_FORMULA = {
    "a divisor or multiple of unknown numbers": r"\\(?:gcd|lcm)\s*\([^()]*(?<!\\)[A-Za-z]",
    "two numbers stand side by side": r"\d\s+[\d.]|\d\.\d+\.|\.\.",
    "a sign in it that is not mathematics there": r"[%°'\"]",
    "words in it": r"(?<![A-Za-z\\])(?:[A-Za-z]{6,}|[A-Za-z]{2,}(?:\s+[A-Za-z]{2,}){2})",
    "it is empty": "^$",
    "words or dots in it": r"\\(?:(?:text|mathrm)(?!\s*\{\s*[A-Za-z]\s*\})|[lc]?dots)(?![A-Za-z])",
}
_WITH_BRACES = (
    (r"\\log_(\w)\s*\^\s*(\d) ?", r"\\log_{\1}^{\2} "),
    (r"\\log_(\w) ?", r"\\log_{\1} "),
)
_FOR_LATEX2SYMPY = (
    (r"(\d*)\.(\d*)\\(?:overline|bar)\s*(?:\{(\d+)\}|(\d))", lambda d: _repeating(*d.groups(""))),
    (r"(?<=\d)[eE]([-+]?\d+)", r"\\cdot 10^{\1}"),
    (r"\\(?:text|mathrm|mathbf|mathit|rm)\s*\{\s*([A-Za-z])\s*\}", r"\1"),
    (r"\^\s*(\d*\.\d+)", r"^{\1}"),
    (r"(?<![A-Za-z\\_.\d])(\d+)_(?:\{(\d{1,2})\}|(\d))", _number_in_base),
    (r"(?<=\d)\s*\\binom", r"\\cdot \\binom"),  # else it adds them, as in a mixed number
    # a binary number would lose digits
    (r"(\d*)\.(\d+)", lambda d: rf"(\frac{{{int(d[1] + d[2])}}}{{{10 ** len(d[2])}}})"),
    (r"(?<=\d)\.", ""),
    (r"_\{\\([A-Za-z]+)\s*\}", r"_{\1}"),
    (r"(?<![A-Za-z\\])e_", r"\\varepsilon_"),  # e with an index is a name
)


@lru_cache(maxsize=4096)
def read_expression(text: str) -> Any:
    """Return a cleaned formula as a SymPy expression that is not evaluated yet.

    Parameters
    ----------
    text : str
        A formula that `notation.clean` returned.

    Raises
    ------
    NotMathematicsError
        It is not a formula that can be read.
    """
    text = notation.rewritten(text, _WITH_BRACES)
    latex = text.translate(notation.AS_COMMANDS)
    shown = repr(latex[:80])
    for problem, pattern in _NO_FORMULA.items():
        if re.search(pattern, re.sub(r"\\operatorname\{\w+\}", "", text)):
            raise NotMathematicsError(f"{shown}: {problem}")
    latex = notation.rewritten(latex, _FOR_LATEX2SYMPY)
    config = ConversionConfig(lowercase_symbols=False)
    try:
        found = latex2sympy(latex, normalization_config=None, conversion_config=config)
    except Exception as error:
        # it has no class of its own for what it can't read; SymPy has none for `(0, 1/0)`
        if type(error) is not Exception and "Non-real intervals" not in str(error):
            raise
        problem = str(error).partition("\n")[0]
        raise NotMathematicsError(f"{shown}: {problem}") from error
    n = sympy.Wild("n")  # it reads n!! as (n!)!
    return found.replace(factorial(factorial(n)), factorial2(n)) if "!!" in text else found


@lru_cache(maxsize=4096)
def are_equal(gold: str, answer: str, tolerance: float | None) -> bool:
    """Tell whether two formulas have the same value, at random ones of their variables.

    Parameters
    ----------
    gold, answer : str
        Formulas that `notation.clean` returned.
    tolerance : float or None
        The largest difference between two numbers that counts as none.

    Raises
    ------
    NotMathematicsError
        One is not a formula.
    OverflowError
        Both are numbers of more than `MAX_DIGITS` digits.
    """
    left, right = sides = read_expression(gold), read_expression(answer)
    if left == right:
        return True
    too_large = [_is_too_large(side) for side in sides]
    if all(too_large):
        raise OverflowError(f"two numbers of more than {MAX_DIGITS} digits can't be compared")
    if any(too_large):
        return False
    agreed, unknown = 0, sympy.core.function.AppliedUndef
    is_plain = all(isinstance(side, sympy.Expr) for side in sides)
    left, right = _complex(left, right) if is_plain else sides
    if is_plain and not any(side.atoms(unknown) for side in sides):
        if not left.free_symbols | right.free_symbols:
            return _same_number(left.doit(), right.doit(), answer, tolerance)
        for gold_value, answer_value in _values(left, right):
            if not _agree(gold_value, answer_value):
                return False
            agreed += 1
    # a set, an unknown f(x), or what has no value anywhere: all else it would round to six decimals
    options = {"numeric_precision": 50, "timeout_seconds": None, "raise_on_error": True}
    return agreed >= 3 or bool(verify(left, right, **options))


def are_proportional(gold: Sequence[str], answer: Sequence[str], is_directed: bool) -> bool:
    """Tell whether the difference of two sides is a constant times that of two others.

    The constant is positive if the relation of the sides is directed, as `<` is.
    """
    differences = [read_expression(left) - read_expression(right) for left, right in (gold, answer)]
    if not is_directed:  # `y = 1/x` is `xy = 1`
        differences = [sympy.fraction(sympy.together(one))[0] for one in differences]
    values = [pair for pair in _values(*differences) if not is_zero(pair[0])]
    if len(values) < 2:
        return False
    first_gold, first_answer = values[0]
    factor = (first_answer / first_gold).evalf(15)
    if is_zero(first_answer) or not factor.is_real or (is_directed and factor < 0):
        return False
    return all(_agree(first_answer * left, first_gold * right) for left, right in values[1:])


_SUMS = (sympy.Sum, sympy.Product)
_COUNTS = (
    *(sympy.floor, sympy.ceiling, factorial, factorial2, sympy.binomial, sympy.Mod),
    *_SUMS,
)
_SLOW = (sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit)


def is_zero(number: Any) -> bool:
    """Tell whether a number is zero; computed if need be, to `DIGITS_OF_ZERO` digits.

    `e^{-200}` and `10^{-60}` are not, whatever they are added to.
    """
    if number.is_Rational or not number.is_number:
        return bool(number == 0)
    try:
        return bool(number.evalf(2, maxn=DIGITS_OF_ZERO, strict=True) == 0)
    except PrecisionExhausted:
        return True


def _complex(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two formulas with the imaginary unit for i; beside other variables, i is an index."""
    both = sympy.Tuple(left, right)
    is_index = both.has(*_COUNTS, sympy.Max, sympy.Min)
    if {str(symbol) for symbol in both.free_symbols} != {"i"} or is_index:
        return left, right
    return tuple(both.subs(dict.fromkeys(both.free_symbols, sympy.I)))


def _is_too_large(found: Any) -> bool:
    for part in sympy.postorder_traversal(found):  # parts come before wholes
        if isinstance(part, sympy.Pow | sympy.exp | factorial) and not part.args[-1].free_symbols:
            base = getattr(part, "base", sympy.S(10**5)).evalf(15)  # n! < n^n
            base = base if base.is_number and base != 0 else sympy.S(10)
            if abs(part.args[-1] * sympy.log(base, 10)).evalf(15) > MAX_DIGITS:
                return True
    return False


def _same_number(gold: Any, given: Any, answer: str, tolerance: float | None) -> bool:
    """Compare two numbers; a decimal of six significant digits or more may be rounded."""
    off = abs(gold - given).evalf(DIGITS)
    if gold == given or (tolerance is not None and off <= Rational(str(tolerance))):
        return True
    if tolerance is None and _agree(gold, given):
        return True
    decimal = re.fullmatch(r"-?\s*(\d*)\.(\d+)", answer)
    # a gold that can be written out as a decimal should be
    if decimal is None or (gold.is_Rational and pow(10, gold.q.bit_length(), gold.q) == 0):
        return False
    is_long = len((decimal[1] + decimal[2]).lstrip("0")) >= 6
    return is_long and bool(off <= Rational(1, 2 * 10 ** len(decimal[2])))


def _are_finite(*values: Any) -> bool:
    return all(value.is_number and value.is_finite for value in values)


def _agree(left: Any, right: Any) -> bool:
    """Tell whether two numbers are equal: soon if they differ in their first digits."""
    near = [side.evalf(DIGITS) for side in (left, right)]
    if not _are_finite(*near):
        return bool(near[0] == near[1])
    scale = max(abs(near[0]), abs(near[1]), 1)
    if abs(near[0] - near[1]) > Rational(1, 10 ** (DIGITS - 10)) * scale:
        return False
    difference = left - right
    return difference.has(*_SLOW) or is_zero(difference)


def _values(left: Any, right: Any) -> Iterator[tuple[Any, Any]]:
    """Yield two expressions at points where both have a value, the same points every time."""
    both = sympy.Tuple(left, right)
    is_whole, symbols = both.has(*_COUNTS), sorted(both.free_symbols, key=str)
    draw = random.Random(20)
    for number in range(1, 61 if is_whole else 13):
        point = {}
        for symbol in symbols:
            letter = str(symbol)[0]
            value = Rational(draw.randint(1, 4000), draw.randint(300, 1000))
            if letter in "xyzt" and draw.random() < 0.5:
                value = -value
            if is_whole and letter in "ijklmnpqKMN":  # counted, or rounded in few places
                value = Rational(number if len(symbols) == 1 else draw.randint(1, 15))
            point[symbol] = value
        with suppress(ValueError):  # SymPy's double factorial of a negative even number
            values = [side.subs(point) for side in (left, right)]
            values = [value.doit() if value.has(*_SUMS) else value for value in values]
            if _are_finite(*(value.evalf(DIGITS) for value in values)):
                yield values[0], values[1]
