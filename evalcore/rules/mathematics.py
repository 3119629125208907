r"""Formulas compared with the gold by algebra.

Answers are taken apart here: to SymPy `(2, 1)` is an empty interval, and a set has nothing twice.

Math-Verify's own parsing and comparison differ from a careful reader's verdicts on a third of the
pairs in tests/cases/careful_verdicts.csv and tests/test_mathematics.py: it drops units (`5 kJ`
passes for `5 J`), does not read `\binom 5 2`, `0.\overline{3}` or degrees, and compares decimals
as rounded floats.
So its parser reads what `notation` has made plain, and `verify` compares only what is left.
"""

import random
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, latex2sympy
from math_verify import verify
from sympy import Rational, factorial, factorial2

from evalcore.rules import Grade, Item, notation, units

DIGITS = 60  # to which numbers are computed that are not rational
MAX_DIGITS = 100_000  # of a number that is computed at all
_Texts = Sequence[tuple[str, str]]  # each with its unit


class NotMathematicsError(Exception):
    """A text is not a formula."""


def compare_formulas(item: Item) -> Grade:
    """Return the verdict, with the unit and tolerances of the problem; it may take any time."""
    golds, given, unit = _take_apart(item)
    try:
        _read_all(golds)
    except NotMathematicsError as error:
        return Grade(None, f"grader: the reference answer can't be read: {error}", failed=True)
    if unit and (others := _other_units(golds, given, unit)):
        return Grade(0.0, f"in {others[0]}, not in {unit}")
    try:
        return _compare(golds, given, unit, item.problem.details.get("tolerance"))
    except NotMathematicsError as error:
        return Grade(0.0, f"not parsed as mathematics: {error}")
    except OverflowError as error:
        return Grade(None, f"grader: {error}", failed=True)


def evaluate(item: Item) -> Grade:
    """Compute an answer without its gold, as comparing would; it may take any time, or crash."""
    _, given, _ = _take_apart(item)
    for answer in _read_all(given):
        for formula in answer.formulas:
            _equal("0", formula, None)
    return Grade(None, "computed")


def _take_apart(item: Item) -> tuple[_Texts, _Texts, str]:
    """Return the golds, the answers, and the unit of the problem."""
    stated = item.problem.details.get("unit") or ""
    gold, is_number = item.problem.gold or "", not item.problem.details.get("is_multiple_answer")
    unit = units.unit_of(stated) or stated or units.unit_behind(gold, is_marked=True)
    golds = units.answers(gold, is_number, unit)
    given = units.answers(str(item.value), len(golds) == 1, unit)
    return golds, given, unit or next((unit for _, unit in golds if unit), "")


def _other_units(golds: _Texts, given: _Texts, unit: str) -> list[str]:
    """Return the units of answers in which another one was asked for."""
    found = [found_unit for _, found_unit in given]
    if not any(re.search(r"(?<![A-Za-z\\])[A-Za-z]", text) for text, _ in golds):  # no variables
        found += [units.unit_behind(text) for text, _ in given]
    return [found_unit for found_unit in found if found_unit not in {"", unit}]


def _compare(golds: _Texts, given: _Texts, unit: str, tolerance: Any) -> Grade:
    read = _read_all(given, parts=() if unit else ("%",))
    if len(given) != len(golds):
        return Grade(0.0, f"answers given: {len(given)}; right are {len(golds)}")
    tolerances = tolerance if isinstance(tolerance, Sequence) else [tolerance] * len(golds)
    if (n := len(tolerances)) != len(golds):
        return Grade(None, f"grader: {n} tolerances for {len(golds)} answers", failed=True)
    stated = " and ".join(dict.fromkeys(str(bound) for bound in tolerances if bound is not None))
    within = stated and f" within {stated}"
    if _are_paired(_read_all(golds), read, tolerances):
        return Grade(1.0, f"equal{within}")
    # 8% may be given as 8, which was compared above, or as 0.08
    is_part = unit == "%" and not within and not any(stated_unit for _, stated_unit in given)
    parts = {stated_unit for _, stated_unit in golds}
    if is_part and _are_paired(_read_all(golds, parts=parts), read, tolerances):
        return Grade(1.0, "equal, as a part of one")
    return Grade(0.0, f"not equal{within}")


_RELATIONS = ("=", "<", "≤", "≠")  # never >: the sides change


class _Answer(NamedTuple):
    form: str  # `#` for a formula, `(##]` for two in brackets; or a relation
    formulas: list[str]
    name: str = ""  # what they are said of: `x = 5`, `f(x) = 2x`, `x ∈ [0, 1]`, `0 < c < 1`


def _read_all(texts: _Texts, parts: Collection[str] = ()) -> list[_Answer]:
    """Return answers taken apart, as a hundredth where their unit is one of `parts`; or raise."""
    if not texts:
        raise NotMathematicsError("it is empty")
    read = [_read(text + r"\cdot\frac{1}{100}" * (unit in parts)) for text, unit in texts]
    for answer in read:
        for formula in answer.formulas:
            _expression(formula)
    return read


def _read(text: str) -> _Answer:
    parts = notation.split(text, "([=≈<>≤≥≠∈])")
    if {*parts[1::2]} <= {">", "≥"}:
        parts = [{">": "<", "≥": "≤"}.get(sign, sign) for sign in reversed(parts)]
    sides, signs = parts[::2], "".join(parts[1::2])
    name = sides[0] if _is_name(sides[0]) else ""
    if not signs or not all(sides):
        named = re.fullmatch(r"([A-Za-z])\s*(\[.*[)\]]|\(.*\])", text)  # `t(0, 4]`
        return _flat(named[2])._replace(name=named[1]) if named else _flat(text)
    if name and (signs == "∈" or not signs.strip("=≈")):
        return _read(sides[-1])._replace(name=notation.squeezed(name))
    if signs in {"<", "≤"} and (name or _is_name(sides[1])):
        return _read(rf"-\infty<{''.join(parts)}" if name else rf"{''.join(parts)}<\infty")
    if signs in {"<<", "<≤", "≤<", "≤≤"} and _is_name(sides[1]):
        ends = "(["[signs[0] == "≤"], ")]"[signs[1] == "≤"]
        return _read(f"{sides[1]}∈{ends[0]}{sides[0]},{sides[2]}{ends[1]}")
    form = signs if signs.strip("=≈") else "="
    return _Answer(form, [sides[0], sides[-1]]) if form in _RELATIONS else _flat(text)


def _is_name(text: str) -> bool:
    r"""Tell whether a side is what is asked for, not a calculation: `x`, `f(x)`, `\angle A`."""
    bare = re.sub(r"_(?:\{[^{}]*\}|\w)", "", text)
    calculation = r"[-+/^!]|\\(?:frac|sqrt|cdot|times|binom|sum)(?![A-Za-z])|(?:^|[^\w(,])\d"
    return not re.search(calculation, bare) and bool(re.search("[A-Za-z]", bare))


def _flat(text: str) -> _Answer:
    brackets, inner = notation.enclosed(text)
    parts = [_flat(part) for part in notation.split(inner, ",") if brackets[:1] in {"(", "["}]
    if len(parts) < 2:
        return _Answer("#", [text])
    form = "".join(part.form for part in parts)
    formulas = [formula for part in parts for formula in part.formulas]
    return _Answer(f"{brackets[0]}{form}{brackets[1]}", formulas)


def _are_paired(golds: list[_Answer], given: list[_Answer], tolerances: Sequence[Any]) -> bool:
    is_named = len(_heads(golds)) > 1
    owner: dict[int, int] = {}

    def placed(gold: int, tried: set[int]) -> bool:
        for answer in sorted(range(len(given)), key=lambda number: number != gold):
            pair = golds[gold], given[answer]
            is_other = answer in tried or (is_named and len(_heads(pair)) > 1)
            if not is_other and _is_same(*pair, tolerances[gold]):
                tried.add(answer)
                if answer not in owner or placed(owner[answer], tried):
                    owner[answer] = gold
                    return True
        return False

    return all(placed(gold, set()) for gold in range(len(golds)))


def _heads(answers: Sequence[_Answer]) -> set[str]:
    return {answer.name.partition("(")[0] for answer in answers} - {""}


def _is_same(gold: _Answer, given: _Answer, tolerance: float | None) -> bool:
    if given.form == "=" and not gold.name and gold.form not in _RELATIONS:
        given = _read(given.formulas[1])  # a calculation with its result
    if "=" in {gold.form, given.form}:
        gold, given = (
            _Answer("=", [side.name, *side.formulas]) if side.name and side.form == "#" else side
            for side in (gold, given)
        )
    if gold.form != given.form:
        return False
    if gold.form in _RELATIONS:
        return _is_multiple(gold, given)
    # `f(t) = 2t` with the arguments of `f(x)`
    old, new = (re.findall("(?<=[(,])[A-Za-z](?=[,)])", answer.name) for answer in (given, gold))
    names = dict(zip(old, new, strict=False))
    renamed = (
        re.sub(r"\\[A-Za-z]+|[A-Za-z]", lambda found: names.get(found[0], found[0]), formula)
        for formula in given.formulas
    )
    return all(_equal(*pair, tolerance) for pair in zip(gold.formulas, renamed, strict=True))


def _is_multiple(gold: _Answer, given: _Answer) -> bool:
    """Tell whether one relation is the other times a constant, a positive one in an inequality."""
    pairs = (gold.formulas, given.formulas)
    differences = (_expression(left) - _expression(right) for left, right in pairs)
    values = _values(*differences)
    first, *factors = [right / left for left, right in values if left != 0] or [0]
    is_constant = len(factors) >= 2 and all(_near(first, factor) for factor in factors)
    return is_constant and first.is_real and (abs(first) if gold.form in "=≠" else first) > 1e-30


def _repeating(whole: str, first: str, *repeated: str) -> str:
    r"""Return a decimal whose last digits repeat as a fraction: `0.1\overline{6}` is 15/90."""
    (again,) = filter(None, repeated)
    over = int(whole + first + again) - int(whole + first or "0")
    return rf"(\frac{{{over}}}{{{(10 ** len(again) - 1) * 10 ** len(first)}}})"


_NO_FORMULA = {
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
    (r"(?<=\d)\s*\\binom", r"\\cdot \\binom"),  # else it adds them, as in a mixed number
    # a binary number would lose digits
    (r"(\d*)\.(\d+)", lambda d: rf"(\frac{{{int(d[1] + d[2])}}}{{{10 ** len(d[2])}}})"),
    (r"(?<=\d)\.", ""),
    (r"_\{\\([A-Za-z]+)\s*\}", r"_{\1}"),
    (r"(?<![A-Za-z\\])e_", r"\\varepsilon_"),  # e with an index is a name
)


@lru_cache(maxsize=4096)
def _expression(text: str) -> Any:
    """Return a cleaned formula as a SymPy expression that is not evaluated yet, or raise."""
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
def _equal(gold: str, answer: str, tolerance: float | None) -> bool:
    """Tell whether two formulas have the same value, at random ones of their variables."""
    left, right = sides = _expression(gold), _expression(answer)
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
        for gold_value, given_value in _values(left, right):
            if not _near(gold_value, given_value):
                return False
            agreed += 1
    # a set, an unknown f(x), or what has no value anywhere: all else it would round to six decimals
    options = {"numeric_precision": 50, "timeout_seconds": None, "raise_on_error": True}
    return agreed >= 3 or bool(verify(left, right, **options))


_COUNTS = (sympy.floor, sympy.ceiling, factorial, factorial2, sympy.binomial, sympy.Mod)


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
    is_exact = tolerance is not None or (gold.is_Rational and given.is_Rational)
    if not is_exact and _near(gold.evalf(DIGITS), given.evalf(DIGITS)):
        return True
    decimal = re.fullmatch(r"-?\s*(\d*)\.(\d+)", answer)
    # a gold that can be written out as a decimal should be
    if decimal is None or (gold.is_Rational and pow(10, gold.q.bit_length(), gold.q) == 0):
        return False
    is_long = len((decimal[1] + decimal[2]).lstrip("0")) >= 6
    return is_long and bool(off <= Rational(1, 2 * 10 ** len(decimal[2])))


def _are_finite(*values: Any) -> bool:
    return all(value.is_number and value.is_finite for value in values)


def _near(left: Any, right: Any) -> bool:
    if not _are_finite(left, right):
        return bool(left == right)
    scale = max(abs(left), abs(right))
    return bool(abs(left - right) <= 10 ** (10 - DIGITS) * (scale if scale > 1e-9 else 1))


def _values(left: Any, right: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the values of two expressions where both have one, at the same points every time."""
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
            values = [side.subs(point).evalf(DIGITS) for side in (left, right)]
            if _are_finite(*values):
                yield values[0], values[1]
