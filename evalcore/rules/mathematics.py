r"""Formulas compared with the gold by algebra.

Math-Verify's own parsing and comparison differ from a careful reader's verdicts on a third of the
pairs in tests/evalcore/rules/test_rules_verdicts.careful_verdicts.csv and beside it in
test_mathematics.py: it drops units (`5 kJ` passes for `5 J`), does not read `\binom 5 2`,
`0.\overline{3}` or degrees, and compares decimals as rounded floats.
So its parser reads what `notation` has made plain, and `verify` compares only what is left.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from evalcore.rules import AnswerToGrade, Grade, computed, units
from evalcore.rules.answer_forms import (
    COORDINATES,
    RELATIONS,
    ParsedAnswer,
    are_other_coordinates,
    as_one_tuple,
    group_named,
    in_order_of,
    read_answer,
    same_form,
)
from evalcore.rules.expressions import (
    NotMathematicsError,
    are_equal,
    are_proportional,
    is_float_noise,
    is_zero,
    read_expression,
)
from evalcore.rules.real_sets import NoRealSetError, may_be_sets, read_real_set
from evalcore.rules.real_sets import are_equal as are_equal_sets
from evalcore.rules.units import Quantity

_OR = re.compile(r"(?<![A-Za-z])or(?![A-Za-z])|\\(?:lor|vee)(?![A-Za-z])")


def compare_formulas(item: AnswerToGrade) -> Grade:
    """Return the verdict, with the unit and tolerances of the problem; it may take any time."""
    first, *others = _readings(item)
    grade = _compare_reading(first)
    for reading in others:
        if grade.value != 1:
            grade = _compare_reading(reading)
    return grade


def _readings(item: AnswerToGrade) -> list[AnswerToGrade]:
    """Return an answer in the notation of formulas, which programs may leave open."""
    if not item.is_computed:
        return [item]
    texts = computed.readings(item.value, item.problem.gold or "")
    return [item._replace(value=text) for text in texts]


class _GoldAndAnswer(NamedTuple):
    """The gold and the answer, taken apart."""

    golds: list[Quantity]
    answers: list[Quantity]

    @property
    def all(self) -> list[Quantity]:
        return [*self.golds, *self.answers]


def _compare_reading(item: AnswerToGrade) -> Grade:
    sides, unit = _take_apart(item)
    if grade := _compare_sets(item, sides):
        return grade
    try:
        _read_all(sides.golds)
    except NotMathematicsError as error:
        return Grade(None, f"grader: the reference answer can't be read: {error}", failed=True)
    if unit and (others := _other_units(sides, unit)):
        return Grade(0.0, f"in {others[0]}, not in {unit}")
    try:
        return _compare(_in_one_notation(sides), unit, item)
    except NotMathematicsError as error:
        return Grade(0.0, f"not parsed as mathematics: {error}")
    except OverflowError as error:
        return Grade(None, f"grader: {error}", failed=True)


def evaluate(item: AnswerToGrade) -> Grade:
    """Compute an answer without its gold, as comparing would; it may take any time, or crash."""
    for reading in _readings(item):
        sides, _ = _take_apart(reading)
        for answer in _read_all(sides.answers):
            for formula in answer.formulas:
                are_equal("0", formula, None)
    return Grade(None, "computed")


def _take_apart(item: AnswerToGrade) -> tuple[_GoldAndAnswer, str]:
    """Return the gold and the answer taken apart, and the unit of the problem."""
    stated = item.problem.details.get("unit") or ""
    gold, is_number = item.problem.gold or "", not item.problem.details.get("is_multiple_answer")
    unit = units.unit_of(stated) or stated or units.unit_behind(gold, is_marked=True)
    if not unit and re.match(r"\s*\$?\s*\\\$", gold):
        unit = units.unit_of("dollars")
    golds = units.answers(gold, is_number, unit)
    answers = units.answers(str(item.value), len(golds) == 1, unit)
    sides = _with_one_parameter(_with_decimal_points(_GoldAndAnswer(golds, answers)), item)
    return sides, unit or next((quantity.unit for quantity in sides.golds if quantity.unit), "")


_WITH_POINT = re.compile(r"-?\d+\.\d+")
_WITH_COMMA = re.compile(r"-?\d+,\d+")


def _with_decimal_points(sides: _GoldAndAnswer) -> _GoldAndAnswer:
    """Return `2,74`, which reads as two numbers or thousands, as the decimal of the other side."""
    gold, answer = (",".join(quantity.text.replace(" ", "") for quantity in side) for side in sides)
    if _WITH_POINT.fullmatch(gold) and _WITH_COMMA.fullmatch(answer):
        decimal = Quantity(answer.replace(",", "."), sides.answers[-1].unit)
        return sides._replace(answers=[decimal])
    if _WITH_POINT.fullmatch(answer) and _WITH_COMMA.fullmatch(gold):
        decimal = Quantity(gold.replace(",", "."), sides.golds[-1].unit)
        return sides._replace(golds=[decimal])
    return sides


_ANY_INTEGER = re.compile(
    r"(?<![A-Za-z\\])([kmn])\s*(?:\\in(?![a-z])|∈)\s*(?:\\mathbb\s*\{?\s*Z|ℤ)"
)
_PARAMETER = re.compile(r"(?<![A-Za-z\\])[kmn](?![A-Za-z])")


def _with_one_parameter(sides: _GoldAndAnswer, item: AnswerToGrade) -> _GoldAndAnswer:
    r"""Return answers with the gold's letter for any integer: `n\pi` is `k\pi`, if one says so."""
    texts = (item.problem.gold or "", str(item.value))
    if not any(_ANY_INTEGER.search(text) for text in texts):
        return sides
    of_gold, of_answer = (set(_PARAMETER.findall(_joined(side))) for side in sides)
    if len(of_gold) != 1 or len(of_answer) != 1:
        return sides
    other = re.compile(rf"(?<![A-Za-z\\]){of_answer.pop()}(?![A-Za-z])")
    return sides._replace(answers=_rewritten(sides.answers, other, of_gold.pop()))


def _joined(side: Sequence[Quantity]) -> str:
    return " ".join(quantity.text for quantity in side)


def _in_one_notation(sides: _GoldAndAnswer) -> _GoldAndAnswer:
    r"""Return both with what one letter means in the other: `log` next to `\ln`, `C(5,2)`, `AB`."""
    golds, answers = sides
    gold, answer = _joined(golds), _joined(answers)
    if _is_natural(answer):
        golds = _rewritten(golds, _LOG, r"\\ln ")
    if _is_natural(gold):
        answers = _rewritten(answers, _LOG, r"\\ln ")
    if r"\binom" in gold:
        answers = _rewritten(answers, _CHOOSE, r"\\binom{\1\3}{\2\4}")
    if ":" in gold:
        answers = _rewritten(answers, _TO, r"\1:\2")
    if _CONSTANT.search(gold):
        answers = _rewritten(answers, _OTHER_CONSTANT, "+C")
    for letter, index in set(_INDEXED.findall(gold)):
        without_sign = re.compile(rf"(?<![A-Za-z\\]){letter}{index}(?!\d)")
        answers = _rewritten(answers, without_sign, rf"{letter}_{index}")
    segments = _segments(f"{gold} {answer}")
    return _GoldAndAnswer(_with_segments(golds, segments), _with_segments(answers, segments))


def _is_natural(text: str) -> bool:
    r"""Tell whether the logarithms of a text are natural: `\ln`, and no `\log`."""
    return r"\ln" in text and not _LOG.search(text)


_LOG = re.compile(r"\\log(?![A-Za-z_])\s*(?!\s*_)")
_CHOOSE = re.compile(
    r"(?<![A-Za-z\\])[Cc]\(([^(),]*),([^(),]*)\)|(?<![\w\\}])(\d+|[a-z]) ?C ?(\d+|[a-z])(?!\w)"
)
"""`C(5,2)`, `5C2`."""
_TO = re.compile(r"(?<!\d)(\d+) to (\d+)")
_CONSTANT = re.compile(r"\+ ?C$")
"""The constant of an integral."""
_OTHER_CONSTANT = re.compile(r"\+ ?[cKk]$")
_INDEXED = re.compile(r"(?<![A-Za-z\\])([a-z])_(\d)(?!\d)")
"""`x_1`, which the other side may write as `x1`."""


def _rewritten(
    side: Sequence[Quantity],
    pattern: re.Pattern[str],
    replacement: str | Callable[[re.Match[str]], str],
) -> list[Quantity]:
    return [quantity._replace(text=pattern.sub(replacement, quantity.text)) for quantity in side]


_SEGMENT = re.compile(r"(?<![\\A-Za-z])(?<!_\{)[A-Z]{2,}(?![A-Za-z])")


def _segments(text: str) -> set[str]:
    """Return the names of two letters or more, such as segments: `AB` is not `BA`.

    Where a letter stands alone, too, they are products of it.
    """
    bare = re.sub(r"\\[A-Za-z]+", " ", text)
    single = set(re.findall(r"(?<![A-Za-z])[A-Z](?![A-Za-z])", bare))
    return {name for name in _SEGMENT.findall(text) if single.isdisjoint(name)}


def _with_segments(side: Sequence[Quantity], segments: set[str]) -> list[Quantity]:
    def as_index(name: re.Match[str]) -> str:
        return f"P_{{{name[0]}}}" if name[0] in segments else name[0]

    return _rewritten(side, _SEGMENT, as_index)


def _other_units(sides: _GoldAndAnswer, unit: str) -> list[str]:
    """Return the units of answers in which another one was asked for."""
    answer_units = [answer.unit for answer in sides.answers]
    if not any(re.search(r"(?<![A-Za-z\\])[A-Za-z]", gold.text) for gold in sides.golds):
        # the gold has no variables, so that letters in the answer are units
        answer_units += [units.unit_behind(answer.text) for answer in sides.answers]
    return [answer_unit for answer_unit in answer_units if answer_unit not in {"", unit}]


def _compare_sets(item: AnswerToGrade, sides: _GoldAndAnswer) -> Grade | None:
    """Compare sets of real numbers and inequalities of one variable; None for anything else."""
    golds, answers = ([quantity.text for quantity in side] for side in sides)
    if not may_be_sets(golds + answers) or any(quantity.unit for quantity in sides.all):
        return None
    try:
        gold_set, gold_name = read_real_set(
            golds, bool(_OR.search(item.problem.gold or "")), read_expression
        )
        given_set, given_name = read_real_set(
            answers, bool(_OR.search(str(item.value))), read_expression
        )
        same = are_equal_sets(gold_set, given_set, is_zero)
        near = _has_floats(item, sides) and are_equal_sets(gold_set, given_set, is_float_noise)
    except (NoRealSetError, NotMathematicsError):
        return None
    if are_other_coordinates(gold_name, given_name):
        return Grade(0.0, f"said of {given_name}, not of {gold_name}")
    if near and not same:
        return Grade(1.0, f"the same numbers {computed.WITHIN_ACCURACY}")
    return Grade(1.0, "the same numbers") if same else Grade(0.0, "other numbers")


def _has_floats(item: AnswerToGrade, sides: _GoldAndAnswer) -> bool:
    return item.is_computed and any(computed.has_float(answer.text) for answer in sides.answers)


class _Closeness(NamedTuple):
    """How far from the gold an answer may be."""

    tolerance: Any = None  # of the problem; absolute
    is_float: bool = False  # whether floating point computed it


def _compare(sides: _GoldAndAnswer, unit: str, item: AnswerToGrade) -> Grade:
    rights, answers = _aligned(sides, unit, item)
    if len(answers) != len(rights):
        return Grade(0.0, f"answers given: {len(answers)}; right are {len(rights)}")
    tolerance = item.problem.details.get("tolerance")
    tolerances = [*tolerance] if isinstance(tolerance, Sequence) else [tolerance] * len(rights)
    if (n := len(tolerances)) != len(rights):
        return Grade(None, f"grader: {n} tolerances for {len(rights)} answers", failed=True)
    stated = " and ".join(dict.fromkeys(str(bound) for bound in tolerances if bound is not None))
    within = f" within {stated}" if stated else ""
    parts = None
    if unit == "%" and not within and not any(answer.unit for answer in sides.answers):
        # 8% may be given as 8, which is compared first, or as 0.08
        parts = _read_all(sides.golds, parts={gold.unit for gold in sides.golds})
    bounds = [_Closeness(bound) for bound in tolerances]
    if how := _how_equal(rights, parts, answers, bounds):
        return Grade(1.0, f"{how}{within}")
    if _has_floats(item, sides):
        float_bounds = [bound._replace(is_float=True) for bound in bounds]
        if how := _how_equal(rights, parts, answers, float_bounds):
            return Grade(1.0, f"{how} {computed.WITHIN_ACCURACY}")
    if _are_same_angles(sides, bounds):
        return Grade(1.0, "equal, in radians")
    return Grade(0.0, f"not equal{within}")


def _aligned(
    sides: _GoldAndAnswer, unit: str, item: AnswerToGrade
) -> tuple[list[ParsedAnswer], list[ParsedAnswer]]:
    """Return golds and answers of one form: `x=5, y=2` and `1, 2` as the tuples they mean."""
    answers = _read_all(sides.answers, parts=() if unit else ("%",))
    rights = _read_all(sides.golds)
    grouped_rights, grouped_answers = group_named(rights), group_named(answers)
    if len(grouped_rights) == len(grouped_answers):
        rights, answers = grouped_rights, grouped_answers
    answers = as_one_tuple(rights, answers)
    if len(answers) > len(rights) and _OR.search(str(item.value)):
        answers = _distinct(answers)
    return rights, answers


def _are_same_angles(sides: _GoldAndAnswer, bounds: Sequence[_Closeness]) -> bool:
    """Tell whether angles in degrees equal those in radians on the other side."""
    golds, answers = sides
    if not _are_angles(golds, answers) and not _are_angles(answers, golds):
        return False
    return _are_paired(_read_all(_in_radians(golds)), _read_all(_in_radians(answers)), bounds)


def _are_angles(in_degrees: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    r"""Tell whether angles are in degrees on one side, and with `\pi` on the other."""
    has_pi = all(r"\pi" in other.text and not other.unit for other in others)
    return has_pi and all(angle.unit == "degree" for angle in in_degrees)


def _in_radians(side: Sequence[Quantity]) -> list[Quantity]:
    return [
        Quantity(rf"({text})\cdot\frac{{\pi}}{{180}}" if unit == "degree" else text, "")
        for text, unit in side
    ]


def _how_equal(
    golds: list[ParsedAnswer],
    parts: list[ParsedAnswer] | None,
    answers: list[ParsedAnswer],
    bounds: Sequence[_Closeness],
) -> str:
    """Return how the answers equal the golds or the golds as parts of one; empty if they don't."""
    if _are_paired(golds, answers, bounds):
        return "equal"
    if parts is not None and _are_paired(parts, answers, bounds):
        return "equal, as a part of one"
    return ""


def _distinct(answers: Sequence[ParsedAnswer]) -> list[ParsedAnswer]:
    """Return answers without those that repeat another one: `1/4 or 0.25`."""
    distinct = list[ParsedAnswer]()
    for answer in answers:
        if not any(_is_same(earlier, answer, _Closeness()) for earlier in distinct):
            distinct.append(answer)
    return distinct


def _read_all(side: Sequence[Quantity], parts: Collection[str] = ()) -> list[ParsedAnswer]:
    """Return answers taken apart, as a hundredth where their unit is one of `parts`; or raise."""
    if not side:
        raise NotMathematicsError("it is empty")
    answers = list[ParsedAnswer]()
    for text, unit in side:
        formula = rf"{text}\cdot\frac{{1}}{{100}}" if unit in parts else text
        answers.append(read_answer(formula))
    for answer in answers:
        for formula in answer.formulas:
            read_expression(formula)
    return answers


def _are_paired(
    golds: list[ParsedAnswer], answers: list[ParsedAnswer], bounds: Sequence[_Closeness]
) -> bool:
    """Tell whether each gold can have an answer of its own: a bipartite matching."""
    is_named = len(_heads(golds)) > 1
    in_order = is_named and not _heads(answers)  # `1, 2` for `a=1, b=2`
    owner: dict[int, int] = {}

    def placed(gold: int, tried: set[int]) -> bool:
        in_same_place_first = sorted(range(len(answers)), key=lambda number: number != gold)
        for answer in in_same_place_first:
            pair = golds[gold], answers[answer]
            is_other = answer in tried or (is_named and len(_heads(pair)) > 1)
            is_moved = in_order and answer != gold
            if not is_other and not is_moved and _is_same(*pair, bounds[gold]):
                tried.add(answer)
                if answer not in owner or placed(owner[answer], tried):
                    owner[answer] = gold
                    return True
        return False

    return all(placed(gold, set()) for gold in range(len(golds)))


def _heads(answers: Sequence[ParsedAnswer]) -> set[str]:
    return {answer.name.partition("(")[0] for answer in answers} - {""}


def _is_same(gold: ParsedAnswer, answer: ParsedAnswer, bound: _Closeness) -> bool:
    if gold.form == "=" and answer.form not in RELATIONS and not _has_symbols(*gold.formulas):
        gold = read_answer(gold.formulas[0])  # a number written in two ways
    if answer.form == "=" and not gold.name and gold.form not in RELATIONS:
        answer = read_answer(_result(answer))
    if (same := _is_same_relation(gold, answer)) is not None:
        return same
    if are_other_coordinates(gold.name, answer.name):
        return False
    if set(gold.form + answer.form) <= {":", "#"} and ":" in gold.form + answer.form:
        return _is_same_ratio(gold, answer)
    if not same_form(gold.form, answer.form):
        return False
    if answer.name[:1] == "(":
        answer = in_order_of(gold.name if gold.name[:1] == "(" else COORDINATES, answer)
    renamed = _with_arguments_of(gold, answer)
    pairs = zip(gold.formulas, renamed, strict=True)
    return all(are_equal(*pair, *bound) for pair in pairs) or _is_same_decimal(gold, answer)


def _has_symbols(*formulas: str) -> bool:
    return any(getattr(read_expression(formula), "free_symbols", True) for formula in formulas)


def _result(calculation: ParsedAnswer) -> str:
    """Return the result of a calculation: behind it, or before it as in `5 = x + y`."""
    first, last = calculation.formulas
    return first if _has_symbols(last) and not _has_symbols(first) else last


def _is_same_relation(gold: ParsedAnswer, answer: ParsedAnswer) -> bool | None:
    """Tell whether two equations or inequalities say the same; None if there are not two."""
    if "=" in {gold.form, answer.form} or _are_solved_for_others(gold, answer):
        gold, answer = (_as_equation(side) for side in (gold, answer))
    relations = gold.as_relation, answer.as_relation
    is_interval = bool(gold.relation or answer.relation)
    if is_interval and relations[0] and relations[1] and relations[0].sign == relations[1].sign:
        return are_proportional(relations[0].sides, relations[1].sides, is_directed=True)
    if gold.form == answer.form and gold.form in RELATIONS:
        is_directed = gold.form not in {"=", "≠"}
        return are_proportional(gold.formulas, answer.formulas, is_directed)
    return False if RELATIONS.intersection((gold.form, answer.form)) else None


def _are_solved_for_others(gold: ParsedAnswer, answer: ParsedAnswer) -> bool:
    """Tell whether two equations are solved for different terms: `y=x/2` and `x=2y`."""
    if (
        not gold.name
        or not answer.name
        or gold.name == answer.name
        or "(" in gold.name + answer.name
    ):
        return False
    if gold.form != "#" or answer.form != "#":
        return False
    return any(read_expression(side.formulas[0]).free_symbols for side in (gold, answer))


def _as_equation(answer: ParsedAnswer) -> ParsedAnswer:
    if answer.name and answer.form == "#":
        return ParsedAnswer("=", [answer.name, *answer.formulas])
    return answer


def _with_arguments_of(gold: ParsedAnswer, answer: ParsedAnswer) -> list[str]:
    """Return the formulas of `f(t) = 2t` with the arguments of `f(x)`."""
    old, new = (re.findall("(?<=[(,])[A-Za-z](?=[,)])", side.name) for side in (answer, gold))
    if gold.form[:1] == "(":  # the names of a tuple are no arguments
        return answer.formulas
    names = dict(zip(old, new, strict=False))
    return [
        re.sub(r"\\[A-Za-z]+|[A-Za-z]", lambda letters: names.get(letters[0], letters[0]), formula)
        for formula in answer.formulas
    ]


def _is_same_decimal(gold: ParsedAnswer, answer: ParsedAnswer) -> bool:
    """Tell whether the decimal behind `≈` is the gold, which is one itself."""
    is_decimal = bool(re.fullmatch(r"-?\d*\.\d+", gold.formulas[0]))
    if not answer.approximation or gold.form != "#" or not is_decimal:
        return False
    return are_equal(gold.formulas[0], answer.approximation, None)


def _is_same_ratio(gold: ParsedAnswer, answer: ParsedAnswer) -> bool:
    """Compare ratios such as `1:2:3`, up to a factor; `2:3` is also the number 2/3."""
    gold_terms, answer_terms = (_terms(side) for side in (gold, answer))
    if len(gold_terms) != len(answer_terms):
        return False
    golds, answers = (
        [read_expression(term) for term in terms] for terms in (gold_terms, answer_terms)
    )
    if is_zero(answers[-1]) or is_zero(golds[-1]):
        return golds == answers
    for gold_term, answer_term in zip(gold_terms, answer_terms, strict=True):
        left = rf"({gold_term})\cdot({answer_terms[-1]})"
        right = rf"({answer_term})\cdot({gold_terms[-1]})"
        if not are_equal(left, right, None):
            return False
    return True


def _terms(ratio: ParsedAnswer) -> list[str]:
    """Return the terms of a ratio; a number is one to 1."""
    return [*ratio.formulas, "1"] if len(ratio.formulas) == 1 else ratio.formulas
