r"""Whether a mathematical answer is the gold: one or several, with units and tolerances.

What takes an answer apart stands here and not in the algebra system, to which `(1, 2)` is an
interval, `(1, 2]` next to a name an error, and which forgets how often a number stands in a set.

What the text alone decides is told without algebra: `compare_texts`. The rest, `compare_formulas`,
may take any time and belongs into a process that can be ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from evalcore.rules import formulas
from evalcore.rules.base import Item, Tools, Verdict
from evalcore.rules.formulas import NotMathematicsError, TooLargeError, expression
from evalcore.rules.notation import (
    answers,
    clean,
    enclosed,
    levels,
    split,
    squeezed,
    unit_named,
    why_a_judge,
)

MAX_CHARACTERS = 10_000
MAX_DEPTH = 60


class MathGold(NamedTuple):
    """A reference answer with what its benchmark says of it."""

    text: str
    unit: str = ""
    tolerance: float | Sequence[float | None] | None = None
    """By how much a number may differ, or each of several; None: by nothing."""
    is_multiple: bool = False
    """There are several answers, so that a comma never separates thousands."""


class MathTask(NamedTuple):
    """An answer and the gold it is compared with."""

    answer: str
    gold: MathGold


def math(items: Sequence[Item], tools: Tools) -> Iterator[Verdict]:
    """Yield whether each formula is the gold, with the unit and tolerance of its problem."""
    tasks = []
    for problem, value, _ in items:
        details = problem.details
        is_multiple = bool(details.get("is_multiple_answer"))
        unit, tolerance = details.get("unit") or "", details.get("tolerance")
        gold = MathGold(problem.gold or "", unit, tolerance, is_multiple)
        tasks.append(MathTask(str(value), gold))
    return tools.compare_formulas(tasks)


def compare_texts(task: MathTask) -> Verdict | None:
    """Return the verdict where the text alone decides; None where algebra is needed."""
    if len(task.answer) > MAX_CHARACTERS:
        return Verdict(0.0, f"longer than {MAX_CHARACTERS:,} characters")
    if max(levels(task.answer), default=0) > MAX_DEPTH:
        return Verdict(0.0, f"brackets nested deeper than {MAX_DEPTH}")
    if squeezed(task.answer) == squeezed(task.gold.text) != "":
        return Verdict(1.0, "the same text")
    if (why := why_a_judge(task.gold.text)) != "":
        return Verdict(None, f"needs a judge: the reference answer is {why}")
    return None


def compare_formulas(task: MathTask) -> Verdict:
    """Return the verdict on two formulas; takes as long as it takes."""
    gold = task.gold
    golds = answers(clean(gold.text), is_number=not gold.is_multiple)
    given = answers(clean(task.answer), is_number=len(golds) == 1)
    if (problem := _problem_of(golds)) is not None:
        return Verdict(None, f"grader: the reference answer can't be read: {problem}", failed=True)
    stated = (unit_named(gold.unit) or clean(gold.unit)) if gold.unit else ""
    unit = stated or next((unit for _, unit in golds if unit), "")
    other = next((one for _, one in given if unit and one not in {"", unit}), None)
    if other is not None:
        return Verdict(0.0, f"in {other}, not in {unit}")
    if (problem := _problem_of(given)) is not None:
        return Verdict(0.0, f"not parsed as mathematics: {problem}")
    if len(given) != len(golds):
        return Verdict(0.0, f"answers given: {len(given)}; right are {len(golds)}")
    try:
        return _compare(gold.tolerance, golds, given, unit)
    except TooLargeError as error:
        return Verdict(None, f"grader: {error}", failed=True)


Answers = Sequence[tuple[str, str]]
"""Each with its unit apart, `` for none."""


def _problem_of(answers: Answers) -> str | None:
    """Return why one of the answers is not mathematics; None: all are."""
    for formula in (one for text, _ in answers for one in _formulas_in(_shape(text))):
        try:
            expression(formula)
        except NotMathematicsError as error:
            return f"{formula[:80]!r}: {error}"
    return None if answers else "it is empty"


def _compare(
    stated: float | Sequence[float | None] | None, golds: Answers, given: Answers, unit: str
) -> Verdict:
    """Return the verdict on as many answers as golds."""
    each = [stated] * len(golds) if stated is None or isinstance(stated, float | int) else stated
    if len(each) != len(golds):
        problem = f"{len(each)} tolerances for {len(golds)} answers"
        return Verdict(None, f"grader: {problem}", failed=True)
    tolerances = [None if one is None else repr(one) for one in each]
    within = " and ".join(dict.fromkeys(one for one in tolerances if one))
    hundredth = r"\cdot\frac{1}{100}"
    references = [_shape(text) for text, _ in golds]
    names = [_head(one.name) for one in references if isinstance(one, _Named)]
    names_matter = any(one != other for one, other in pairwise(names))
    shapes = [_shape(text + hundredth * (one == "%" and not unit)) for text, one in given]
    if _all_match(references, shapes, tolerances, names_matter):
        return Verdict(1.0, f"equal within {within}" if within else "equal")
    # 8 % may be given as 8, which was compared above, or as 0.08
    if unit == "%" and not within and not any(one for _, one in given):
        hundredths = [_shape(text + hundredth) for text, _ in golds]
        if _all_match(hundredths, shapes, tolerances, names_matter):
            return Verdict(1.0, "equal, as a part of one")
    return Verdict(0.0, f"not equal within {within}" if within else "not equal")


# Shapes: brackets and relations are read here, all that has none is a formula


class _Group(NamedTuple):
    r"""What stands between brackets, in order, which means nothing in `\{` and between `\cup`."""

    opening: str
    parts: tuple[Shape, ...]
    closing: str


class _Named(NamedTuple):
    r"""A value with what it is said of: `x = 5`, `f(x) = 2x`, `x \in [0, 1]`, `0 < c < 1`."""

    name: str
    value: Shape


class _Relation(NamedTuple):
    r"""Two sides and what stands between them: =, <, \le or \ne; never > (the sides change)."""

    left: str
    sign: str
    right: str


Shape = str | _Group | _Named | _Relation
"""Of one answer; a text is a formula."""
_SIGNS = r"(=|\\approx|<|>|\\le(?![A-Za-z])|\\ge(?![A-Za-z])|\\ne(?![A-Za-z])|\\in(?![A-Za-z]))"
_TURNED = {">": "<", "\\ge": "\\le"}


def _shape(text: str) -> Shape:
    """Return the shape of one cleaned answer: `t(0, 4]` is an interval for t."""
    sides = split(text, _SIGNS)
    if len(sides) > 1 and all(sides):
        return _related(sides[0::2], sides[1::2])
    sets = split(text, r"\\cup(?![A-Za-z])")
    if len(sets) > 1:
        return _Group("\\cup", tuple(map(_shape, sets)), "")
    named = re.fullmatch(r"([A-Za-z])\s*((?:\[.*[)\]])|(?:\(.*\]))", text)
    brackets = enclosed(named[2] if named else text)
    parts = split(brackets[1], ",") if brackets else []
    if brackets is None or (len(parts) == 1 and brackets[0] != "\\{"):
        return text
    group = _Group(brackets[0], tuple(map(_shape, parts)), brackets[2])
    return _Named(named[1], group) if named else group


def _related(sides: list[str], signs: list[str]) -> Shape:
    """Return what a chain of relations says; one that says nothing else only equals itself."""
    is_named = _is_name(sides[0])
    if all(sign in {"=", "\\approx"} for sign in signs):
        left, right = sides[0], sides[-1]
        return _Named(left, _shape(right)) if is_named else _Relation(left, "=", right)
    if signs == ["\\in"] and is_named:
        return _Named(sides[0], _shape(sides[1]))
    if all(sign in _TURNED for sign in signs):
        sides, signs = sides[::-1], [_TURNED[sign] for sign in reversed(signs)]
    if (interval := _interval(sides, signs)) is not None:
        return interval
    if len(sides) == 2 and signs != ["\\in"]:
        return _Relation(sides[0], signs[0], sides[1])
    rest = zip(signs, sides[1:], strict=True)
    return " ".join([sides[0], *(f"{sign} {side}" for sign, side in rest)])


def _interval(sides: list[str], signs: list[str]) -> _Named | None:
    """Return the interval of a name on one side or in the middle of an inequality; or None."""
    if {*signs} - {"<", "\\le"}:
        return None
    opening, closing = "(["[signs[0] == "\\le"], ")]"[signs[-1] == "\\le"]
    if len(sides) == 2 and _is_name(sides[0]):
        sides, opening = ["-\\infty", *sides], "("
    elif len(sides) == 2:
        sides, closing = [*sides, "\\infty"], ")"
    if len(sides) > 3 or not _is_name(sides[1]):
        return None
    return _Named(sides[1], _Group(opening, (_shape(sides[0]), _shape(sides[2])), closing))


_CALCULATION = re.compile(
    r"[-+/^!]|\\(?:frac|sqrt|cdot|times|binom|sum)(?![A-Za-z])|(?:^|[^\w(,])\d|^\d"
)


def _is_name(text: str) -> bool:
    r"""Tell whether a side is what is asked for, not a calculation: `x`, `f(x)`, `\angle A`."""
    bare = re.sub(r"_(?:\{[^{}]*\}|\w)", "", text)
    return _CALCULATION.search(bare) is None and bool(re.search("[A-Za-z]", bare))


def _formulas_in(shape: Shape) -> Iterator[str]:
    """Yield the formulas that a shape is made of."""
    match shape:
        case str():
            yield shape
        case _Relation(left, _, right):
            yield from (left, right)
        case _Named(_, value):
            yield from _formulas_in(value)
        case _Group(_, parts, _):
            for part in parts:
                yield from _formulas_in(part)


# Matching: order where it means something, and names where they do


def _all_match(
    golds: Sequence[Shape],
    given: Sequence[Shape],
    tolerances: Sequence[str | None],
    names_matter: bool,
) -> bool:
    """Tell whether as many answers as golds can be paired off with them, in any order."""

    @cache
    def same(gold: int, answer: int) -> bool:
        return _match(golds[gold], given[answer], tolerances[gold], names_matter)

    return len(golds) == len(given) and _paired(len(golds), same)


def _paired(size: int, same: Callable[[int, int], bool]) -> bool:
    """Tell whether every gold has an answer of its own: equal golds need as many equal answers."""
    owner: dict[int, int] = {}

    def placed(gold: int, tried: set[int]) -> bool:
        for answer in sorted(range(size), key=lambda one: one != gold):
            if answer not in tried and same(gold, answer):
                tried.add(answer)
                if answer not in owner or placed(owner[answer], tried):
                    owner[answer] = gold
                    return True
        return False

    return all(placed(gold, set()) for gold in range(size))


def _match(gold: Shape, given: Shape, tolerance: str | None, names_matter: bool) -> bool:
    """Tell whether one answer is the gold."""
    if isinstance(gold, str | _Group) and isinstance(given, _Relation) and given.sign == "=":
        given = _shape(given.right)
    match gold, given:
        case (_Relation(), _) | (_, _Relation()):
            return _same_relation(gold, given)
        case _Named(name, value), _Named(other, said):
            is_other = names_matter and _head(name) != _head(other)
            said = _renamed(said, other, name)
            return not is_other and _match(value, said, tolerance, names_matter)
        case (_Named(_, one), other) | (one, _Named(_, other)):
            return _match(one, other, tolerance, names_matter)
        case str(), str():
            return formulas.equal(gold, given, tolerance)
        case _Group(), _Group():
            return _same_group(gold, given, tolerance, names_matter)
    return False


def _same_group(gold: _Group, given: _Group, tolerance: str | None, names_matter: bool) -> bool:
    """Compare tuples and intervals part by part, sets in any order."""
    (opening, parts, closing), others = gold, given.parts
    if (opening, closing) != (given.opening, given.closing) or len(parts) != len(others):
        return False
    if opening in {"\\{", "\\cup"}:
        return _all_match(parts, others, [tolerance] * len(parts), names_matter)
    pairs = zip(parts, others, strict=True)
    return all(_match(one, other, tolerance, names_matter) for one, other in pairs)


def _head(name: str) -> str:
    """Return a name without the arguments behind it: `f` of `f(x)`."""
    name = squeezed(name)
    return name.partition("(")[0] or name


def _arguments(name: str) -> list[str]:
    """Return the variables of a function by its left side: x and y of `f(x, y)`."""
    found = re.fullmatch(r"[^()]+\(([^()]*)\)", squeezed(name))
    arguments = split(found[1], ",") if found else []
    return arguments if all(re.fullmatch("[A-Za-z]", one) for one in arguments) else []


def _renamed(shape: Shape, old: str, new: str) -> Shape:
    """Return a formula with the arguments of one name in the place of another's, all at once."""
    names = dict(zip(_arguments(old), _arguments(new), strict=False))
    if not isinstance(shape, str):
        return shape
    return re.sub(r"\\[A-Za-z]+|[A-Za-z]", lambda found: names.get(found[0], found[0]), shape)


def _same_relation(gold: Shape, given: Shape) -> bool:
    """Tell whether one relation is the other times a constant, a positive one in an inequality."""
    both = []
    for one in (gold, given):
        if isinstance(one, _Named) and isinstance(one.value, str):
            both.append(_Relation(one.name, "=", one.value))
        elif isinstance(one, _Relation):
            both.append(one)
    if len(both) < 2 or both[0].sign != both[1].sign:
        return False
    factor = formulas.ratio(*((one.left, one.right) for one in both))
    return factor is not None and (both[0].sign in {"=", "\\ne"} or factor > 0)
