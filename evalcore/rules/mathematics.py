r"""Formulas compared with the gold by algebra.

Math-Verify's own parsing and comparison differ from a careful reader's verdicts on a third of the
pairs in tests/evalcore/rules/test_rules_verdicts.careful_verdicts.csv and beside it in
test_mathematics.py: it drops units (`5 kJ` passes for `5 J`), does not read `\binom 5 2`,
`0.\overline{3}` or degrees, and compares decimals as rounded floats.
So its parser reads what `notation` has made plain, and `verify` compares only what is left.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from evalcore.rules import Grade, Item, computed, units
from evalcore.rules.answer_forms import (
    COORDINATES,
    RELATIONS,
    Answer,
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

_Texts = list[tuple[str, str]]  # each with its unit


def _with_decimal_points(golds: _Texts, given: _Texts) -> tuple[_Texts, _Texts]:
    """Return `2,74`, which reads as two numbers or thousands, as the decimal of the other text."""
    sides = [",".join(text.replace(" ", "") for text, _ in texts) for texts in (golds, given)]
    for decimal, other, texts in ((sides[0], sides[1], given), (sides[1], sides[0], golds)):
        is_decimal = re.fullmatch(r"-?\d+\.\d+", decimal)
        if is_decimal and re.fullmatch(r"-?\d+,\d+", other):
            texts[:] = [(other.replace(",", "."), texts[-1][1])]
    return golds, given


_OR = re.compile(r"(?<![A-Za-z])or(?![A-Za-z])|\\(?:lor|vee)(?![A-Za-z])")


def compare_formulas(item: Item) -> Grade:
    """Return the verdict, with the unit and tolerances of the problem; it may take any time."""
    first, *others = _readings(item)
    grade = _compare_reading(first)
    for reading in others:
        if grade.value != 1:
            grade = _compare_reading(reading)
    return grade


def _readings(item: Item) -> list[Item]:
    """Return an answer in the notation of formulas, which programs may leave open."""
    if not item.is_computed:
        return [item]
    texts = computed.readings(item.value, item.problem.gold or "")
    return [item._replace(value=text) for text in texts]


def _compare_reading(item: Item) -> Grade:
    golds, given, unit = _take_apart(item)
    if grade := _compare_sets(item, golds, given):
        return grade
    try:
        _read_all(golds)
    except NotMathematicsError as error:
        return Grade(None, f"grader: the reference answer can't be read: {error}", failed=True)
    if unit and (others := _other_units(golds, given, unit)):
        return Grade(0.0, f"in {others[0]}, not in {unit}")
    try:
        return _compare(*_in_one_notation(golds, given), unit, item)
    except NotMathematicsError as error:
        return Grade(0.0, f"not parsed as mathematics: {error}")
    except OverflowError as error:
        return Grade(None, f"grader: {error}", failed=True)


def evaluate(item: Item) -> Grade:
    """Compute an answer without its gold, as comparing would; it may take any time, or crash."""
    for reading in _readings(item):
        _, given, _ = _take_apart(reading)
        for answer in _read_all(given):
            for formula in answer.formulas:
                are_equal("0", formula, None)
    return Grade(None, "computed")


def _take_apart(item: Item) -> tuple[_Texts, _Texts, str]:
    """Return the golds, the answers, and the unit of the problem."""
    stated = item.problem.details.get("unit") or ""
    gold, is_number = item.problem.gold or "", not item.problem.details.get("is_multiple_answer")
    unit = units.unit_of(stated) or stated or units.unit_behind(gold, is_marked=True)
    if not unit and re.match(r"\s*\$?\s*\\\$", gold):
        unit = units.unit_of("dollars")
    golds = units.answers(gold, is_number, unit)
    given = units.answers(str(item.value), len(golds) == 1, unit)
    golds, given = _with_decimal_points(golds, given)
    given = _with_parameter_of(gold, golds, str(item.value), given)
    return golds, given, unit or next((unit for _, unit in golds if unit), "")


_INTEGER = re.compile(r"(?<![A-Za-z\\])([kmn])\s*(?:\\in(?![a-z])|∈)\s*(?:\\mathbb\s*\{?\s*Z|ℤ)")


def _with_parameter_of(gold: str, golds: _Texts, answer: str, given: _Texts) -> _Texts:
    r"""Return answers with the gold's letter for any integer: `n\pi` is `k\pi`, if one says so."""
    if not _INTEGER.search(gold) and not _INTEGER.search(answer):
        return given
    letters = [
        set(re.findall(r"(?<![A-Za-z\\])[kmn](?![A-Za-z])", " ".join(text for text, _ in texts)))
        for texts in (golds, given)
    ]
    if any(len(one) != 1 for one in letters):
        return given
    other = re.compile(rf"(?<![A-Za-z\\]){letters[1].pop()}(?![A-Za-z])")
    return _rewritten(given, other, letters[0].pop())


def _in_one_notation(golds: _Texts, given: _Texts) -> tuple[_Texts, _Texts]:
    r"""Return both with what one letter means in the other: `log` beside `\ln`, `C(5,2)`, `AB`."""
    right, answer = (" ".join(text for text, _ in texts) for texts in (golds, given))
    is_natural = [r"\ln" in text and not _LOG.search(text) for text in (right, answer)]
    for texts, other in ((golds, is_natural[1]), (given, is_natural[0])):
        if other:
            texts[:] = [(_LOG.sub(r"\\ln ", text), unit) for text, unit in texts]
    if r"\binom" in right:
        given = _rewritten(given, _CHOOSE, r"\\binom{\1\3}{\2\4}")
    if ":" in right:
        given = _rewritten(given, _TO, r"\1:\2")
    if _CONSTANT.search(right):
        given = _rewritten(given, _OTHER_CONSTANT, "+C")
    for letter, index in set(_INDEXED.findall(right)):
        given = _rewritten(
            given, re.compile(rf"(?<![A-Za-z\\]){letter}{index}(?!\d)"), rf"{letter}_{index}"
        )
    segments = _segments(f"{right} {answer}")
    return _with_segments(golds, segments), _with_segments(given, segments)


_LOG = re.compile(r"\\log(?![A-Za-z_])\s*(?!\s*_)")
_CHOOSE = re.compile(
    r"(?<![A-Za-z\\])[Cc]\(([^(),]*),([^(),]*)\)|(?<![\w\\}])(\d+|[a-z]) ?C ?(\d+|[a-z])(?!\w)"
)
_TO = re.compile(r"(?<!\d)(\d+) to (\d+)")
_CONSTANT = re.compile(r"\+ ?C$")
_OTHER_CONSTANT = re.compile(r"\+ ?[cKk]$")
_INDEXED = re.compile(r"(?<![A-Za-z\\])([a-z])_(\d)(?!\d)")


def _rewritten(texts: _Texts, pattern: re.Pattern[str], by: str) -> _Texts:
    return [(pattern.sub(by, text), unit) for text, unit in texts]


_SEGMENT = re.compile(r"(?<![\\A-Za-z])(?<!_\{)[A-Z]{2,}(?![A-Za-z])")


def _segments(text: str) -> set[str]:
    """Return the names of two letters or more, such as segments: `AB` is not `BA`.

    Where a letter stands alone, too, they are products of it.
    """
    bare = re.sub(r"\\[A-Za-z]+", " ", text)
    single = set(re.findall(r"(?<![A-Za-z])[A-Z](?![A-Za-z])", bare))
    return {run for run in _SEGMENT.findall(text) if not single & set(run)}


def _with_segments(texts: _Texts, segments: set[str]) -> _Texts:
    def name(run: re.Match[str]) -> str:
        return f"P_{{{run[0]}}}" if run[0] in segments else run[0]

    return [(_SEGMENT.sub(name, text), unit) for text, unit in texts]


def _other_units(golds: _Texts, given: _Texts, unit: str) -> list[str]:
    """Return the units of answers in which another one was asked for."""
    other_units = [answer_unit for _, answer_unit in given]
    if not any(re.search(r"(?<![A-Za-z\\])[A-Za-z]", text) for text, _ in golds):  # no variables
        other_units += [units.unit_behind(text) for text, _ in given]
    return [answer_unit for answer_unit in other_units if answer_unit not in {"", unit}]


def _compare_sets(item: Item, golds: _Texts, given: _Texts) -> Grade | None:
    """Compare sets of real numbers and inequalities of one variable; None for anything else."""
    right, answer = ([text for text, _ in texts] for texts in (golds, given))
    if not may_be_sets(right + answer) or any(unit for _, unit in (*golds, *given)):
        return None
    try:
        gold_set, gold_name = read_real_set(
            right, bool(_OR.search(item.problem.gold or "")), read_expression
        )
        given_set, given_name = read_real_set(
            answer, bool(_OR.search(str(item.value))), read_expression
        )
        same = are_equal_sets(gold_set, given_set, is_zero)
        near = _has_floats(item, given) and are_equal_sets(gold_set, given_set, is_float_noise)
    except (NoRealSetError, NotMathematicsError):
        return None
    if are_other_coordinates(gold_name, given_name):
        return Grade(0.0, f"said of {given_name}, not of {gold_name}")
    if near and not same:
        return Grade(1.0, f"the same numbers {computed.WITHIN_ACCURACY}")
    return Grade(1.0, "the same numbers") if same else Grade(0.0, "other numbers")


def _has_floats(item: Item, given: _Texts) -> bool:
    return item.is_computed and any(computed.has_float(text) for text, _ in given)


class _Closeness(NamedTuple):
    """How far from the gold an answer may be."""

    tolerance: Any = None  # of the problem; absolute
    is_float: bool = False  # whether floating point computed it


def _compare(golds: _Texts, given: _Texts, unit: str, item: Item) -> Grade:
    tolerance = item.problem.details.get("tolerance")
    answers = _read_all(given, parts=() if unit else ("%",))
    rights = _read_all(golds)
    if len(group_named(rights)) == len(group_named(answers)):
        rights, answers = group_named(rights), group_named(answers)
    answers = as_one_tuple(rights, answers)
    tolerances = [*tolerance] if isinstance(tolerance, Sequence) else [tolerance] * len(rights)
    if len(answers) > len(rights) and _OR.search(str(item.value)):
        answers = _distinct(answers)
    if len(answers) != len(rights):
        return Grade(0.0, f"answers given: {len(answers)}; right are {len(rights)}")
    if (n := len(tolerances)) != len(rights):
        return Grade(None, f"grader: {n} tolerances for {len(rights)} answers", failed=True)
    stated = " and ".join(dict.fromkeys(str(bound) for bound in tolerances if bound is not None))
    within = f" within {stated}" if stated else ""
    # 8% may be given as 8, which is compared first, or as 0.08
    is_part = unit == "%" and not within and not any(stated_unit for _, stated_unit in given)
    parts = _read_all(golds, parts={stated_unit for _, stated_unit in golds}) if is_part else None
    reasons = {False: within, True: f" {computed.WITHIN_ACCURACY}"}
    for is_float in (False, True) if _has_floats(item, given) else (False,):
        bounds = [_Closeness(bound, is_float) for bound in tolerances]
        if how := _how_equal(rights, parts, answers, bounds):
            return Grade(1.0, f"{how}{reasons[is_float]}")
    if _are_same_angles(golds, given, [_Closeness(bound, False) for bound in tolerances]):
        return Grade(1.0, "equal, in radians")
    return Grade(0.0, f"not equal{within}")


def _are_same_angles(golds: _Texts, given: _Texts, bounds: Sequence[_Closeness]) -> bool:
    """Tell whether angles in degrees equal those in radians on the other side."""
    if not _are_angles(golds, given) and not _are_angles(given, golds):
        return False
    return _are_paired(_read_all(_in_radians(golds)), _read_all(_in_radians(given)), bounds)


def _are_angles(in_degrees: _Texts, others: _Texts) -> bool:
    r"""Tell whether angles are in degrees on one side, and with `\pi` on the other."""
    has_pi = all(r"\pi" in text and not unit for text, unit in others)
    return has_pi and all(unit == "degree" for _, unit in in_degrees)


def _in_radians(texts: _Texts) -> _Texts:
    return [
        (rf"({text})\cdot\frac{{\pi}}{{180}}" if unit == "degree" else text, "")
        for text, unit in texts
    ]


def _how_equal(
    golds: list[Answer],
    parts: list[Answer] | None,
    answers: list[Answer],
    bounds: Sequence[_Closeness],
) -> str:
    if _are_paired(golds, answers, bounds):
        return "equal"
    if parts is not None and _are_paired(parts, answers, bounds):
        return "equal, as a part of one"
    return ""


def _distinct(answers: Sequence[Answer]) -> list[Answer]:
    """Return answers without those that repeat another one: `1/4 or 0.25`."""
    distinct = list[Answer]()
    for answer in answers:
        if not any(_is_same(earlier, answer, _Closeness()) for earlier in distinct):
            distinct.append(answer)
    return distinct


def _read_all(texts: _Texts, parts: Collection[str] = ()) -> list[Answer]:
    """Return answers taken apart, as a hundredth where their unit is one of `parts`; or raise."""
    if not texts:
        raise NotMathematicsError("it is empty")
    answers = []
    for text, unit in texts:
        answers.append(read_answer(rf"{text}\cdot\frac{{1}}{{100}}" if unit in parts else text))
    for answer in answers:
        for formula in answer.formulas:
            read_expression(formula)
    return answers


def _are_paired(golds: list[Answer], given: list[Answer], bounds: Sequence[_Closeness]) -> bool:
    is_named = len(_heads(golds)) > 1
    in_order = is_named and not _heads(given)  # `1, 2` for `a=1, b=2`
    owner: dict[int, int] = {}

    def placed(gold: int, tried: set[int]) -> bool:
        for answer in sorted(range(len(given)), key=lambda number: number != gold):
            pair = golds[gold], given[answer]
            is_other = answer in tried or (is_named and len(_heads(pair)) > 1)
            is_moved = in_order and answer != gold
            if not is_other and not is_moved and _is_same(*pair, bounds[gold]):
                tried.add(answer)
                if answer not in owner or placed(owner[answer], tried):
                    owner[answer] = gold
                    return True
        return False

    return all(placed(gold, set()) for gold in range(len(golds)))


def _heads(answers: Sequence[Answer]) -> set[str]:
    return {answer.name.partition("(")[0] for answer in answers} - {""}


def _is_same(gold: Answer, given: Answer, bound: _Closeness) -> bool:
    if gold.form == "=" and given.form not in RELATIONS and not _has_symbols(*gold.formulas):
        gold = read_answer(gold.formulas[0])  # a number written in two ways
    if given.form == "=" and not gold.name and gold.form not in RELATIONS:
        given = read_answer(_result(given))
    if (same := _is_same_relation(gold, given)) is not None:
        return same
    if are_other_coordinates(gold.name, given.name):
        return False
    if set(gold.form + given.form) <= {":", "#"} and ":" in gold.form + given.form:
        return _is_same_ratio(gold, given)
    if not same_form(gold.form, given.form):
        return False
    if given.name[:1] == "(":
        given = in_order_of(gold.name if gold.name[:1] == "(" else COORDINATES, given)
    renamed = _with_arguments_of(gold, given)
    pairs = zip(gold.formulas, renamed, strict=True)
    return all(are_equal(*pair, *bound) for pair in pairs) or _is_same_decimal(gold, given)


def _has_symbols(*formulas: str) -> bool:
    return any(getattr(read_expression(one), "free_symbols", True) for one in formulas)


def _result(calculation: Answer) -> str:
    """Return the result of a calculation: behind it, or before it as in `5 = x + y`."""
    first, last = calculation.formulas
    return first if _has_symbols(last) and not _has_symbols(first) else last


def _is_same_relation(gold: Answer, given: Answer) -> bool | None:
    """Tell whether two equations or inequalities say the same; None if there are not two."""
    if "=" in {gold.form, given.form} or _are_solved_for_others(gold, given):
        gold, given = (_as_equation(side) for side in (gold, given))
    right, answer = gold.as_relation, given.as_relation
    is_interval = bool(gold.relation or given.relation)
    if is_interval and right and answer and right[0] == answer[0]:
        return are_proportional(right[1:], answer[1:], is_directed=True)
    if gold.form == given.form and gold.form in RELATIONS:
        return are_proportional(gold.formulas, given.formulas, gold.form not in "=≠")
    return False if RELATIONS.intersection((gold.form, given.form)) else None


def _are_solved_for_others(gold: Answer, given: Answer) -> bool:
    """Tell whether two equations are solved for different terms: `y=x/2` and `x=2y`."""
    if not gold.name or not given.name or gold.name == given.name or "(" in gold.name + given.name:
        return False
    is_single = gold.form == given.form == "#"
    return is_single and any(read_expression(one.formulas[0]).free_symbols for one in (gold, given))


def _as_equation(answer: Answer) -> Answer:
    if answer.name and answer.form == "#":
        return Answer("=", [answer.name, *answer.formulas])
    return answer


def _with_arguments_of(gold: Answer, given: Answer) -> list[str]:
    """Return the formulas of `f(t) = 2t` with the arguments of `f(x)`."""
    old, new = (re.findall("(?<=[(,])[A-Za-z](?=[,)])", answer.name) for answer in (given, gold))
    if gold.form[:1] == "(":  # the names of a tuple are no arguments
        return given.formulas
    names = dict(zip(old, new, strict=False))
    return [
        re.sub(r"\\[A-Za-z]+|[A-Za-z]", lambda letters: names.get(letters[0], letters[0]), formula)
        for formula in given.formulas
    ]


def _is_same_decimal(gold: Answer, given: Answer) -> bool:
    """Tell whether the decimal behind `≈` is the gold, which is one itself."""
    is_decimal = bool(re.fullmatch(r"-?\d*\.\d+", gold.formulas[0]))
    if not given.approximation or gold.form != "#" or not is_decimal:
        return False
    return are_equal(gold.formulas[0], given.approximation, None)


def _is_same_ratio(gold: Answer, given: Answer) -> bool:
    """Compare ratios such as `1:2:3`, up to a factor; `2:3` is also the number 2/3."""
    terms = [[*answer.formulas] for answer in (gold, given)]
    terms = [[*one, "1"] if len(one) == 1 else one for one in terms]
    if len(terms[0]) != len(terms[1]):
        return False
    first, second = ([read_expression(term) for term in one] for one in terms)
    if is_zero(second[-1]) or is_zero(first[-1]):
        return first == second
    gold_terms, answer_terms = terms
    for gold_term, answer_term in zip(gold_terms, answer_terms, strict=True):
        left = rf"({gold_term})\cdot({answer_terms[-1]})"
        right = rf"({answer_term})\cdot({gold_terms[-1]})"
        if not are_equal(left, right, None):
            return False
    return True
