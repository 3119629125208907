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

from evalcore.rules import computed, notation
from evalcore.rules.rewrites import Rewrites, rewritten

DIGITS = 60  # to which numbers are computed that are not rational
DIGITS_OF_ZERO = 1_000  # two numbers that agree up to there are equal
MAX_DIGITS = 100_000  # of a number that is computed at all


class NotMathematicsError(Exception):
    """A text is not a formula."""


def _repeating(decimal: re.Match[str]) -> str:
    r"""Return a decimal whose last digits repeat as a fraction: `0.1\overline{6}` is 15/90."""
    whole, first, repeated = (
        decimal["whole"],
        decimal["first"],
        decimal["digits"] or decimal["digit"],
    )
    above = int(whole + first + repeated) - int(whole + first or "0")
    below = (10 ** len(repeated) - 1) * 10 ** len(first)
    return rf"(\frac{{{above}}}{{{below}}})"


def _exact(decimal: re.Match[str]) -> str:
    """Return a decimal as a fraction: a binary number would lose digits."""
    above, below = int(decimal["whole"] + decimal["digits"]), 10 ** len(decimal["digits"])
    return rf"(\frac{{{above}}}{{{below}}})"


def _number_in_base(number: re.Match[str]) -> str:
    """Return the value of `1011_2`, which the parser would read as 1011."""
    with suppress(ValueError):
        return str(int(number["digits"], int(number["base"] or number["short_base"])))
    return number[0]


_NO_FORMULA = {
    "a divisor or multiple of unknown numbers": r"\\(?:gcd|lcm)\s*\([^()]*(?<!\\)[A-Za-z]",
    "two numbers stand side by side": r"\d\s+[\d.]|\d\.\d+\.|\.\.",
    "a sign in it that is not mathematics there": r"[%°'\"]",
    "words in it": r"(?<![A-Za-z\\])(?:[A-Za-z]{6,}|[A-Za-z]{2,}(?:\s+[A-Za-z]{2,}){2})",
    "it is empty": "^$",
    "words or dots in it": r"\\(?:(?:text|mathrm)(?!\s*\{\s*[A-Za-z]\s*\})|[lc]?dots)(?![A-Za-z])",
}
_WITH_BRACES: Rewrites = (
    # `\log_2^3 x` → `\log_{2}^{3} x`
    (r"\\log_(\w)\s*\^\s*(\d) ?", r"\\log_{\1}^{\2} "),
    # `\log_2 x` → `\log_{2} x`
    (r"\\log_(\w) ?", r"\\log_{\1} "),
)
_FOR_LATEX2SYMPY: Rewrites = (
    # `0.1\overline{6}` → `(\frac{15}{90})`
    (
        r"(?P<whole>\d*)\.(?P<first>\d*)\\(?:overline|bar)\s*(?:\{(?P<digits>\d+)\}|(?P<digit>\d))",
        _repeating,
    ),
    # `2e-5` → `2\cdot 10^{-5}`
    (r"(?<=\d)[eE]([-+]?\d+)", r"\\cdot 10^{\1}"),
    # `\mathrm{x}` → `x`
    (r"\\(?:text|mathrm|mathbf|mathit|rm)\s*\{\s*([A-Za-z])\s*\}", r"\1"),
    # `x^0.5` → `x^{0.5}`
    (r"\^\s*(\d*\.\d+)", r"^{\1}"),
    # `1011_2` → `11`
    (
        r"(?<![A-Za-z\\_.\d])(?P<digits>\d+)_(?:\{(?P<base>\d{1,2})\}|(?P<short_base>\d))",
        _number_in_base,
    ),
    # `2\binom{5}{2}`, which would be a sum as in a mixed number → `2\cdot \binom{5}{2}`
    (r"(?<=\d)\s*\\binom", r"\\cdot \\binom"),
    # `2.50` → `(\frac{250}{100})`
    (r"(?P<whole>\d*)\.(?P<digits>\d+)", _exact),
    # `5.` → `5`
    (r"(?<=\d)\.", ""),
    # `x_{\alpha}` → `x_{alpha}`
    (r"_\{\\([A-Za-z]+)\s*\}", r"_{\1}"),
    # `e_1`, which is a name with its index → `\varepsilon_1`
    (r"(?<![A-Za-z\\])e_", r"\\varepsilon_"),
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
    text = rewritten(text, _WITH_BRACES)
    latex = text.translate(notation.AS_COMMANDS)
    quoted = repr(latex[:80])
    for problem, pattern in _NO_FORMULA.items():
        if re.search(pattern, re.sub(r"\\operatorname\{\w+\}", "", text)):
            raise NotMathematicsError(f"{quoted}: {problem}")
    latex = rewritten(latex, _FOR_LATEX2SYMPY)
    config = ConversionConfig(lowercase_symbols=False)
    try:
        expression = latex2sympy(latex, normalization_config=None, conversion_config=config)
    except Exception as error:
        # it has no class of its own for what it can't read; SymPy has none for `(0, 1/0)`
        if type(error) is not Exception and "Non-real intervals" not in str(error):
            raise
        problem = str(error).partition("\n")[0]
        raise NotMathematicsError(f"{quoted}: {problem}") from error
    if "!!" in text:  # it reads n!! as (n!)!
        n = sympy.Wild("n")
        return expression.replace(factorial(factorial(n)), factorial2(n))
    return expression


@lru_cache(maxsize=4096)
def are_equal(gold: str, answer: str, tolerance: float | None, is_float: bool = False) -> bool:
    """Tell whether two formulas have the same value, at random ones of their variables.

    Parameters
    ----------
    gold, answer : str
        Formulas that `notation.clean` returned.
    tolerance : float or None
        The largest difference between two numbers that counts as none.
    is_float : bool
        Whether the answer may have the error of floating point.

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
    is_float = is_float and computed.has_float(answer)
    agree = _agree_as_floats if is_float else _agree
    is_plain = all(isinstance(side, sympy.Expr) for side in sides)
    left, right = _complex(left, right) if is_plain else sides
    if is_plain and not any(side.atoms(unknown) for side in sides):
        if not left.free_symbols | right.free_symbols:
            numbers = left.doit(), right.doit()
            is_near = is_float and _agree_as_floats(*numbers)
            return is_near or _same_number(*numbers, answer, tolerance)
        left, right = _with_real_roots(left), _with_real_roots(right)
        for gold_value, answer_value in _values(left, right):
            if not agree(gold_value, answer_value):
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
        fractions = [sympy.fraction(sympy.together(difference)) for difference in differences]
        differences = [numerator for numerator, _ in fractions]
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
    sympy.floor,
    sympy.ceiling,
    factorial,
    factorial2,
    sympy.binomial,
    sympy.Mod,
    sympy.Sum,
    sympy.Product,
)
"""Functions of whole numbers."""
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
    """Return two formulas with the imaginary unit for i; with other variables, i is an index."""
    both = sympy.Tuple(left, right)
    is_index = both.has(*_COUNTS, sympy.Max, sympy.Min)
    if {str(symbol) for symbol in both.free_symbols} != {"i"} or is_index:
        return left, right
    return tuple(both.subs(dict.fromkeys(both.free_symbols, sympy.I)))


def _with_real_roots(formula: Any) -> Any:
    r"""Return a formula whose odd roots of negative numbers are real, as `\sqrt[3]{x}` is."""
    return formula.replace(_is_odd_root, _real_root)


def _is_odd_root(part: Any) -> bool:
    return bool(part.is_Pow and part.exp.is_Rational and part.exp.q > 1 and part.exp.q % 2)


def _real_root(power: Any) -> Any:
    root = sympy.sign(power.base) * abs(power.base) ** Rational(1, power.exp.q)
    return root**power.exp.p


def _is_too_large(expression: Any) -> bool:
    for part in sympy.postorder_traversal(expression):  # parts come before wholes
        if isinstance(part, sympy.Pow | sympy.exp | factorial) and not part.args[-1].free_symbols:
            base = getattr(part, "base", sympy.S(10**5)).evalf(15)  # n! < n^n
            base = base if base.is_number and base != 0 else sympy.S(10)
            if abs(part.args[-1] * sympy.log(base, 10)).evalf(15) > MAX_DIGITS:
                return True
    return False


def _same_number(gold: Any, value: Any, answer: str, tolerance: float | None) -> bool:
    """Compare two numbers; a decimal of six significant digits or more may be rounded."""
    off = abs(gold - value).evalf(DIGITS)
    if gold == value or (tolerance is not None and off <= Rational(str(tolerance))):
        return True
    if tolerance is None and _agree(gold, value):
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


def _agree_as_floats(gold: Any, answer: Any) -> bool:
    values = gold.evalf(DIGITS), answer.evalf(DIGITS)
    return _are_finite(*values) and computed.is_within_accuracy(*values, bool(gold.is_integer))


def is_float_noise(number: Any) -> bool:
    """Tell whether the difference of two numbers is what floating point leaves of zero."""
    return bool(abs(number.evalf(DIGITS)) <= computed.FLOAT_ACCURACY)


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
