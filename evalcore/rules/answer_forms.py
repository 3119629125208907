r"""Answers taken apart: tuples, intervals, vectors, named values, ratios and relations.

They are taken apart here since to SymPy `(2, 1)` is an empty interval, and a set has nothing twice.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from evalcore.rules.brackets import enclosed, split
from evalcore.rules.notation import squeezed

RELATIONS = frozenset({"=", "<", "≤", "≠"})
"""The signs of relations as they are read: never `>`, where the sides change."""
_TURNED = {">": "<", "≥": "≤"}


class Relation(NamedTuple):
    """A relation of two sides."""

    sign: str
    left: str
    right: str

    @property
    def sides(self) -> tuple[str, str]:
        """Return what stands left and right of the sign."""
        return self.left, self.right


class ParsedAnswer(NamedTuple):
    """One answer: its form, its formulas, and what they are said of."""

    form: str
    """`#` for a formula, `(##]` for two in brackets, `::` for the three terms of a ratio; or the
    sign of a relation."""
    formulas: list[str]
    name: str = ""
    """`x = 5`, `f(x) = 2x`, `x ∈ [0, 1]` and `0 < c < 1` have one."""
    relation: Relation | None = None
    """The inequality that is read as an interval."""
    approximation: str = ""
    """The decimal behind `≈`."""

    @property
    def as_relation(self) -> Relation | None:
        """Return the relation that the answer is; None if it is none."""
        if self.relation or self.form not in RELATIONS:
            return self.relation
        return Relation(self.form, self.formulas[0], self.formulas[1])


_NAMED_INTERVAL = re.compile(r"(?P<name>[A-Za-z])\s*(?P<value>\[.*[)\]]|\(.*\])")
"""`t(0, 4]`."""
_NAMED_POINT = re.compile(r"(?P<name>[A-Z])\s*(?P<value>\(.*,.*\))")
"""`P(1, 2)`."""


def read_answer(text: str) -> ParsedAnswer:
    """Take a cleaned answer apart."""
    parts = split(text, "([=≈<>≤≥≠∈])")
    if {*parts[1::2]} <= set(_TURNED):
        parts = [_TURNED.get(part, part) for part in reversed(parts)]
    sides, signs = parts[::2], "".join(parts[1::2])
    if "≈" in signs and not signs.strip("=≈"):
        return _with_approximation(sides, signs)
    if signs == "=" and _is_turned(sides):
        sides = sides[::-1]
    name = sides[0] if is_name(sides[0]) else ""
    if not signs or not all(sides):
        return _read_named(text)
    if name and (signs == "∈" or not signs.strip("=")):
        return read_answer(sides[-1])._replace(name=squeezed(name))
    if interval := _interval(sides, signs, name):
        relation = Relation(signs, *sides) if len(sides) == 2 else None
        return read_answer(interval)._replace(relation=relation)
    form = signs if signs.strip("=") else "="
    return ParsedAnswer(form, [sides[0], sides[-1]]) if form in RELATIONS else _read_flat(text)


def _read_named(text: str) -> ParsedAnswer:
    """Read what has no relation, but perhaps a name before its brackets."""
    named = _NAMED_INTERVAL.fullmatch(text) or _NAMED_POINT.fullmatch(text)
    if named:
        return _read_flat(named["value"])._replace(name=named["name"])
    return _read_flat(text)


def _is_turned(sides: Sequence[str]) -> bool:
    """Tell whether the name of a number is behind it: `3 = x`."""
    is_number = bool(sides[0]) and not _has_variable(sides[0])
    return is_number and bool(re.fullmatch(r"[A-Za-z](?:_\{?\w+\}?)?", sides[1]))


COORDINATES = "(x,y,z)"


def are_other_coordinates(gold: str, answer: str) -> bool:
    """Tell whether two answers are said of different coordinates: `y = 3` is not `x = 3`."""
    return gold != answer and {gold, answer} <= {"x", "y", "z"}


def as_one_tuple(golds: list[ParsedAnswer], answers: list[ParsedAnswer]) -> list[ParsedAnswer]:
    """Return answers as the tuple that a named gold is: `1, 2` for `(a,b)=(1,2)`."""
    gold = golds[0]
    is_tuple = len(golds) == 1 and gold.name[:1] == "(" and len(gold.formulas) == len(answers)
    if not is_tuple or any(answer.form != "#" or answer.name for answer in answers):
        return answers
    return [ParsedAnswer(gold.form, [answer.formulas[0] for answer in answers], gold.name)]


def _interval(sides: Sequence[str], signs: str, name: str) -> str:
    """Return an inequality of a variable as the interval in which it is; empty if it is none."""
    if signs in {"<", "≤"} and name:  # `x < 2`
        closing = "]" if signs == "≤" else ")"
        return rf"{name}∈(-\infty,{sides[1]}{closing}"
    if signs in {"<", "≤"} and is_name(sides[1]):  # `2 < x`
        opening = "[" if signs == "≤" else "("
        return rf"{sides[1]}∈{opening}{sides[0]},\infty)"
    if signs in {"<<", "<≤", "≤<", "≤≤"} and is_name(sides[1]):  # `2 < x ≤ 3`
        opening = "[" if signs[0] == "≤" else "("
        closing = "]" if signs[1] == "≤" else ")"
        return f"{sides[1]}∈{opening}{sides[0]},{sides[2]}{closing}"
    return ""


def _with_approximation(sides: list[str], signs: str) -> ParsedAnswer:
    """Read what precedes `≈`; the decimal behind it only repeats it."""
    first = signs.index("≈")
    exact, approximate = sides[: first + 1], sides[-1]
    if not any(exact) or _has_variable(exact[-1]):
        return read_answer("=".join([*filter(None, exact), approximate]))
    return read_answer("=".join(exact))._replace(approximation=approximate)


def _has_variable(text: str) -> bool:
    bare = re.sub(r"\\[A-Za-z]+(?:\s*\{[a-z]\})?|(?<![A-Za-z])[ei](?![A-Za-z])", " ", text)
    return bool(re.search("[A-Za-z]", bare))


_SEGMENT_RATIO = re.compile(r"[A-Z]{2,}|P_\{[A-Z]+\}")


def is_name(text: str) -> bool:
    r"""Tell whether a side is what is asked for, not a calculation.

    `x`, `f(x)`, `\angle A` are names, and so are a ratio of variables or segments, `\frac{AB}{CD}`.
    """
    if re.fullmatch(r"\\frac\s*\{\s*[a-z]\s*\}\s*\{\s*[a-z]\s*\}|[a-z]\s*/\s*[a-z]", text):
        return True
    runs = re.findall(r"P_\{[A-Z]+\}|[A-Za-z]+|\d", re.sub(r"\\[A-Za-z]+", " ", text))
    if runs and all(_SEGMENT_RATIO.fullmatch(run) for run in runs):
        return True
    bare = re.sub(r"_(?:\{[^{}]*\}|\w)|\\(?:pi|infty)(?![A-Za-z])", "", text)
    calculation = r"[-+/^!]|\\(?:frac|sqrt|cdot|times|binom|sum)(?![A-Za-z])|(?:^|[^\w(,])\d"
    return not re.search(calculation, bare) and bool(re.search("[A-Za-z]", bare))


def _read_flat(text: str) -> ParsedAnswer:
    terms = split(text, ":")
    if len(terms) > 1 and all(terms):
        return ParsedAnswer(":" * (len(terms) - 1), terms)
    brackets, inner = enclosed(text)
    if not brackets:
        scaled = _read_scaled(text)
        if scaled:
            answer = _read_flat(scaled.matrix)
            formulas = [rf"({scaled.factor})\cdot({formula})" for formula in answer.formulas]
            return answer._replace(formulas=formulas)
    is_list = brackets[:1] in {"(", "[", "⟦", "⟪"}
    parts = [_read_flat(part) for part in split(inner, ",")] if is_list else []
    if len(parts) < 2 and brackets[:1] not in {"⟦", "⟪"}:
        return ParsedAnswer("#", [text])
    form = "".join(part.form for part in parts)
    formulas = [formula for part in parts for formula in part.formulas]
    return ParsedAnswer(f"{brackets[0]}{form}{brackets[1]}", formulas)


class _ScaledMatrix(NamedTuple):
    factor: str
    matrix: str


_SCALED = re.compile(r"(?P<factor>.*?)\s*(?:\\cdot|\\times)?\s*(?P<matrix>[⟦⟪].*[⟧⟫]|\[\[.*\]\])")


def _read_scaled(text: str) -> _ScaledMatrix | None:
    """Return the number before a matrix, and the matrix: `2[[1,0],[0,1]]`; None if none."""
    scaled = _SCALED.fullmatch(text)
    if not scaled or not scaled["factor"] or re.search(r"[,(\[]", scaled["factor"]):
        return None
    factor = "-1" if scaled["factor"].strip() == "-" else scaled["factor"]
    return _ScaledMatrix(factor, scaled["matrix"])


_ROUND_BRACKETS = str.maketrans(
    {
        "[": "(",
        "⟦": "(",
        "⟪": "(",
        "]": ")",
        "⟧": ")",
        "⟫": ")",
    }
)


def same_form(gold: str, answer: str) -> bool:
    """Tell whether two forms are alike: a vector may have any brackets, unless it is a row."""
    if gold == answer:
        return True
    has_column = "⟦" in gold or "⟦" in answer
    has_row = "⟪" in gold or "⟪" in answer
    if has_column == has_row:  # neither is a vector, or one is a column and the other a row
        return False
    return gold.translate(_ROUND_BRACKETS) == answer.translate(_ROUND_BRACKETS)


def group_named(answers: list[ParsedAnswer]) -> list[ParsedAnswer]:
    r"""Return answers in which `x=5, y=2, x=7, y=2` are the two pairs `(x,y)=(5,2)` and `(7,2)`.

    One value of each of several variables is one tuple.
    """
    names = [answer.name for answer in answers]
    heads = list(dict.fromkeys(names))
    is_named = all(re.fullmatch(r"[A-Za-z]\w?", re.sub(r"[_{}]", "", name)) for name in names)
    rounds = len(answers) // max(len(heads), 1)
    is_cycle = names == heads * rounds and len(heads) > 1
    if not is_named or not is_cycle or any(answer.form != "#" for answer in answers):
        return answers
    grouped = []
    for start in range(0, len(answers), len(heads)):
        members = answers[start : start + len(heads)]
        formulas = [answer.formulas[0] for answer in members]
        grouped.append(ParsedAnswer(f"({'#' * len(heads)})", formulas, f"({','.join(heads)})"))
    return grouped


def in_order_of(names: str, answer: ParsedAnswer) -> ParsedAnswer:
    """Return a named tuple in another order of its names: `(y,x)=(2,1)` is `(x,y)=(1,2)`."""
    wanted_order = names.strip("()").split(",")
    order = answer.name.strip("()").split(",")
    if names == COORDINATES:
        wanted_order = wanted_order[: len(order)]
    is_other_order = wanted_order != order and sorted(wanted_order) == sorted(order)
    if not is_other_order or len(order) != len(answer.formulas):
        return answer
    by_name = dict(zip(order, answer.formulas, strict=True))
    return answer._replace(formulas=[by_name[name] for name in wanted_order], name=names)
