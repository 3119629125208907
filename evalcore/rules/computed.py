r"""Values that programs computed, made comparable with a gold that people wrote.

A program has `[3, -2]` where people write `3, -2`, and 0.8333333333333334 where they write
`\frac{5}{6}`. Rules ask here only about items that are computed: a text gains nothing by the
mercy that floating point needs.
"""

import re
from contextlib import suppress
from fractions import Fraction
from typing import Any

from evalcore.rules.brackets import enclosed, split
from evalcore.rules.notation import clean, words
from evalcore.rules.python_values import ValueGroup, read_value

FLOAT_ACCURACY = Fraction(1, 10**9)
"""Relative error that is rounding in floating point, not another number."""
FLOAT_NOISE = Fraction(1, 10**12)
"""The most that may be left of a difference that is zero: `math.sin(math.pi)` is 1.2e-16."""
WITHIN_ACCURACY = "within float accuracy, 1e-9"
FLOAT_DIGITS = 13
"""Significant digits of a number that was not rounded on purpose: 15, less zeros at its end."""
LARGEST_EXACT_INTEGER = 2**53
"""Up to here, each integer is a float of its own, so that its neighbours are other numbers."""
_ZERO = Fraction(1, 10**50)  # what is less is the rounding error of 60 digits

_NUMERAL = re.compile(r"\d+\.\d*|\.\d+|\d+(?=\s*(?:[eE][-+]?\d|\\cdot\s*10\^))")
_TINY = re.compile(r"(?:[eE]-|10\^\{-)0*(?:1[3-9]|[2-9]\d|\d{3,})(?!\d)")
_LABEL = re.compile(r"[A-Za-z][A-Za-z '’_-]*(?:\s(?:is|are|equals)\b:?|:)\s*")
_TRUTH_WORDS = {"True": {"true", "yes"}, "False": {"false", "no"}}


def readings(value: object, gold: str) -> list[str]:
    """Return the texts that a computed value may be compared as, usually one.

    `1,234` may be a number or two, and to SymPy, `E` and `I` are numbers.
    """
    text = _without_label(str(value))
    parsed = read_value(text)
    if parsed is None:
        return [_with_exact_powers(text)]
    written = _with_exact_powers(write(parsed, gold))
    is_ambiguous = isinstance(parsed, ValueGroup) and parsed.kind == "several"
    return [written, text] if is_ambiguous or re.search(r"\b[EI]\b", text) else [written]


def _with_exact_powers(text: str) -> str:
    r"""Write the power in `x^{0.333333333333333}` as 1/3: as a decimal it takes SymPy minutes."""

    def exact(power: re.Match[str]) -> str:
        near = Fraction(power[1]).limit_denominator(100)
        is_near = abs(near - Fraction(power[1])) < FLOAT_NOISE
        return rf"^{{\frac{{{near.numerator}}}{{{near.denominator}}}}}" if is_near else power[0]

    return re.sub(r"\^\{(-?\d*\.\d{12,})\}", exact, text)


def _without_label(text: str) -> str:
    """Return what a program prints behind "The answer is" or "Solutions:", else the whole text."""
    label = _LABEL.match(text)
    if label is None or re.search(r"\bnot\b|n['’]t\b", label[0]):
        return text
    return text[label.end() :].rstrip().removesuffix(".") or text


def write(value: str | ValueGroup, gold: str) -> str:
    """Write a value as people do.

    Parameters
    ----------
    value : str or Group
        A formula or a container, as `read_value` returns it.
    gold : str
        The reference answer, which tells whether a list is a point, a matrix or several answers.

    Returns
    -------
    str
        A formula, or several with commas between them.
    """
    value = _without_lone_containers(value)
    if isinstance(value, str):
        return value
    if re.search(r"matrix\s*\}", gold):
        return _write_matrix(value, gold)
    gold = clean(gold)
    brackets, inner = enclosed(gold)
    is_ordered = brackets in {"()", "[]"} and len(split(inner, ",")) > 1
    if is_ordered and value.kind in {"list", "tuple"}:
        return _write_ordered(value, brackets)
    return _write_several(value, "[]" if "[" in gold else "()")


def _without_lone_containers(value: str | ValueGroup) -> str | ValueGroup:
    """Take off containers of one value: solvers return lists even of a single solution."""
    if isinstance(value, str):
        return value
    items = tuple(_without_lone_containers(item) for item in value.items)
    return items[0] if len(items) == 1 and not value.names else value._replace(items=items)


def _write_ordered(value: ValueGroup, brackets: str) -> str:
    """Write a point or an interval; a list has the brackets of the gold, which Python lacks."""
    if value.kind == "tuple" and len(value.items) == 2:
        brackets = "()"  # with square ones it would be another interval
    items = value.items
    if value.names:
        items = tuple(item for _, item in sorted(zip(value.names, items, strict=True)))
    return f"{brackets[0]}{', '.join(_write_item(item, brackets) for item in items)}{brackets[1]}"


def _write_several(value: ValueGroup, brackets: str) -> str:
    items = [_write_item(item, brackets) for item in value.items]
    if value.names:
        items = [f"{name}={item}" for name, item in zip(value.names, items, strict=True)]
    return ", ".join(items) or r"\emptyset "


def _write_item(item: str | ValueGroup, brackets: str) -> str:
    if isinstance(item, str):
        return item
    if item.kind == "set":
        return rf"\{{{_write_several(item, brackets)}\}}"
    return _write_ordered(item, brackets)


def _write_matrix(value: ValueGroup, gold: str) -> str:
    rows = [item.items if isinstance(item, ValueGroup) else (item,) for item in value.items]
    if r"\\" not in gold:  # the gold is a row
        rows = [tuple(item for row in rows for item in row)]
    lines = [" & ".join(_write_item(item, "()") for item in row) for row in rows]
    return r"\begin{pmatrix}" + r" \\ ".join(lines) + r"\end{pmatrix}"


def number_text(value: object) -> str:
    """Return the number that a value is, also as the only one in a list or as a complex one."""
    text = str(value)
    parsed = read_value(text)
    if isinstance(parsed, ValueGroup):
        only = _without_lone_containers(parsed)
        return only if isinstance(only, str) else text
    with suppress(ValueError):
        number = complex(text)
        if "j" in text and abs(number.imag) <= FLOAT_ACCURACY * abs(number.real):
            return repr(number.real)
    return text


def is_formula(value: object) -> bool:
    """Tell whether a value is a formula to be computed: SymPy's `2*sqrt(3)`, but not 1/2."""
    (first, *_) = readings(value, "")
    return bool(re.search(r"\\(?:sqrt|pi|ln|log|sin|cos|tan|arc\w+)(?![A-Za-z])|\be\)?\^", first))


def is_same_number(value: object, gold: str) -> bool:
    """Tell whether a value is the number that a gold is: `5.0` is 5, 0.1 + 0.2 is 0.3."""
    text = number_text(value)
    number, gold_number = (_read_fraction(each) for each in (text, gold))
    if number is None or gold_number is None:
        return False
    is_float = has_float(text) and is_within_accuracy(
        gold_number, number, gold_number.denominator == 1
    )
    return number == gold_number or is_float


def _read_fraction(text: str) -> Fraction | None:
    with suppress(ValueError, ZeroDivisionError):
        return Fraction(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text))
    return None


def is_same_list(value: object, gold: str) -> bool:
    """Tell whether a container has the words of a gold; a set has them in any order."""
    parsed = read_value(str(value))
    if not isinstance(parsed, ValueGroup) or not all(
        isinstance(item, str) for item in parsed.items
    ):
        return False
    entries = " ".join(map(str, parsed.items)).split()
    gold_entries = re.sub(r"[,;\[\](){}'\"]", " ", gold).split()
    return (
        sorted(entries) == sorted(gold_entries) if parsed.kind == "set" else entries == gold_entries
    )


def is_set(value: object) -> bool:
    """Tell whether a value is a set, in which Python keeps no order."""
    return bool(re.match(r"\{(?![^{}]*:)|(?:frozen)?set\(", str(value)))


def is_truth(value: object, gold: str) -> bool | None:
    """Tell whether True or False is the gold `Yes` or `No`; None if either is something else."""
    gold_words = words(gold)
    truths = {word: truth for truth, accepted in _TRUTH_WORDS.items() for word in accepted}
    truth = _without_label(str(value))
    if truth not in _TRUTH_WORDS or len(gold_words) != 1 or gold_words[0] not in truths:
        return None
    return truths[gold_words[0]] == truth


def has_float(text: str) -> bool:
    """Tell whether a formula has a number with all the digits of a float, or next to nothing."""
    digits = (numeral[0].replace(".", "").strip("0") for numeral in _NUMERAL.finditer(text))
    return bool(_TINY.search(text)) or any(len(each) >= FLOAT_DIGITS for each in digits)


def is_within_accuracy(gold: Any, answer: Any, is_integer: bool) -> bool:
    """Tell whether a number that was computed in floating point is the gold.

    Parameters
    ----------
    gold, answer : Fraction or SymPy number
        Finite numbers, exact or with many more digits than a float has.
    is_integer : bool
        Whether the gold is an integer; then the number must be nearest to it of all integers that
        floats tell apart.

    Returns
    -------
    bool
        Whether the relative error is at most `FLOAT_ACCURACY`, or, if the gold is 0, the absolute
        one at most `FLOAT_NOISE`.
    """
    size, error = abs(gold), abs(gold - answer)
    if size < _ZERO:
        return bool(error <= FLOAT_NOISE)
    if is_integer and size < LARGEST_EXACT_INTEGER and 2 * error >= 1:
        return False
    return bool(error <= FLOAT_ACCURACY * size)
