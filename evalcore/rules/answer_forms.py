r"""Answers taken apart: tuples, intervals, vectors, named values, ratios and relations.

They are taken apart here since to SymPy `(2, 1)` is an empty interval, and a set has nothing twice.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from evalcore.rules import notation

RELATIONS = frozenset({"=", "<", "≤", "≠"})
"""The signs of relations as they are read: never `>`, where the sides change."""
_TURNED = {">": "<", "≥": "≤"}


class Answer(NamedTuple):
    """One answer: its form, its formulas, and what they are said of."""

    form: str
    """`#` for a formula, `(##]` for two in brackets, `::` for the three terms of a ratio; or the
    sign of a relation."""
    formulas: list[str]
    name: str = ""
    """`x = 5`, `f(x) = 2x`, `x ∈ [0, 1]` and `0 < c < 1` have one."""
    relation: tuple[str, str, str] | None = None
    """Sign and sides of an inequality that is read as an interval."""
    approximation: str = ""
    """The decimal behind `≈`."""

    @property
    def as_relation(self) -> tuple[str, str, str] | None:
        """Return the sign and the sides of a relation of two sides."""
        if self.relation or self.form not in RELATIONS:
            return self.relation
        return self.form, self.formulas[0], self.formulas[1]


def read_answer(text: str) -> Answer:
    """Take a cleaned answer apart."""
    parts = notation.split(text, "([=≈<>≤≥≠∈])")
    if {*parts[1::2]} <= set(_TURNED):
        parts = [_TURNED.get(part, part) for part in reversed(parts)]
    sides, signs = parts[::2], "".join(parts[1::2])
    if "≈" in signs and not signs.strip("=≈"):
        return _with_approximation(sides, signs)
    name = sides[0] if is_name(sides[0]) else ""
    if not signs or not all(sides):
        # `t(0, 4]`, `P(1, 2)`
        named = re.fullmatch(r"([A-Za-z])\s*(\[.*[)\]]|\(.*\])|([A-Z])\s*(\(.*,.*\))", text)
        if not named:
            return _read_flat(text)
        return _read_flat(named[2] or named[4])._replace(name=named[1] or named[3])
    if name and (signs == "∈" or not signs.strip("=")):
        return read_answer(sides[-1])._replace(name=notation.squeezed(name))
    interval = _interval(sides, signs, name)
    if interval:
        answer = read_answer(interval)
        is_pair = len(sides) == 2
        return answer._replace(relation=(signs, sides[0], sides[1])) if is_pair else answer
    form = signs if signs.strip("=") else "="
    return Answer(form, [sides[0], sides[-1]]) if form in RELATIONS else _read_flat(text)


def _interval(sides: Sequence[str], signs: str, name: str) -> str:
    """Return an inequality of a variable as the interval in which it is; empty if it is none."""
    if signs in {"<", "≤"} and name:
        return rf"{name}∈(-\infty,{sides[1]}{']' if signs == '≤' else ')'}"
    if signs in {"<", "≤"} and is_name(sides[1]):
        return rf"{sides[1]}∈{'[' if signs == '≤' else '('}{sides[0]},\infty)"
    if signs in {"<<", "<≤", "≤<", "≤≤"} and is_name(sides[1]):
        opening = "[" if signs[0] == "≤" else "("
        closing = "]" if signs[1] == "≤" else ")"
        return f"{sides[1]}∈{opening}{sides[0]},{sides[2]}{closing}"
    return ""


def _with_approximation(sides: list[str], signs: str) -> Answer:
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


def _read_flat(text: str) -> Answer:
    terms = notation.split(text, ":")
    if len(terms) > 1 and all(terms):
        return Answer(":" * (len(terms) - 1), terms)
    brackets, inner = notation.enclosed(text)
    if not brackets:
        factor, _, matrix = _split_factor(text)
        if matrix:
            answer = _read_flat(matrix)
            scaled = [rf"({factor})\cdot({formula})" for formula in answer.formulas]
            return answer._replace(formulas=scaled)
    is_list = brackets[:1] in {"(", "[", "⟦", "⟪"}
    parts = [_read_flat(part) for part in notation.split(inner, ",")] if is_list else []
    if len(parts) < 2 and brackets[:1] not in {"⟦", "⟪"}:
        return Answer("#", [text])
    form = "".join(part.form for part in parts)
    formulas = [formula for part in parts for formula in part.formulas]
    return Answer(f"{brackets[0]}{form}{brackets[1]}", formulas)


_SCALED = re.compile(r"(.*?)\s*(?:\\cdot|\\times)?\s*([⟦⟪].*[⟧⟫]|\[\[.*\]\])")


def _split_factor(text: str) -> tuple[str, str, str]:
    """Return the number before a matrix, and the matrix: `2[[1,0],[0,1]]`; else empty texts."""
    scaled = _SCALED.fullmatch(text)
    if not scaled or not scaled[1] or re.search(r"[,(\[]", scaled[1]):
        return "", "", ""
    factor = "-1" if scaled[1].strip() == "-" else scaled[1]
    return factor, "", scaled[2]


def same_form(gold: str, answer: str) -> bool:
    """Tell whether two forms are alike: a vector may have any brackets, unless it is a row."""
    if gold == answer:
        return True
    columns, rows = (any(sign in form for form in (gold, answer)) for sign in ("⟦", "⟪"))
    if columns == rows:  # neither is a vector, or one is a column and the other a row
        return False
    brackets = str.maketrans("[⟦⟪]⟧⟫", "((()))")
    return gold.translate(brackets) == answer.translate(brackets)


def group_named(answers: list[Answer]) -> list[Answer]:
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
        grouped.append(Answer(f"({'#' * len(heads)})", formulas, f"({','.join(heads)})"))
    return grouped


def in_order_of(names: str, answer: Answer) -> Answer:
    """Return a named tuple in another order of its names: `(y,x)=(2,1)` is `(x,y)=(1,2)`."""
    wanted, there = (name.strip("()").split(",") for name in (names, answer.name))
    if wanted == there or sorted(wanted) != sorted(there) or len(there) != len(answer.formulas):
        return answer
    by_name = dict(zip(there, answer.formulas, strict=True))
    return answer._replace(formulas=[by_name[name] for name in wanted], name=names)
