"""Outputs of one benchmark → score rows, by one or several rules side by side.

What a model wrote is scored only where it is a whole answer: a refusal, an output that was cut and
an empty one have no value, and what they count as is decided where runs are compared. A complete
output without an answer is wrong, as is one whose program fails. What a grader could not decide is
not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evalcore.answers import READINGS, Answer, Reading, RunPrograms, find_answers
from evalcore.benchmarks import Dataset
from evalcore.extraction import RULES as EXTRACTION_RULES
from evalcore.formats import Problem
from evalcore.records import Record
from evalcore.sandbox import Program
from evalcore.scoring import financemath, words
from evalcore.scoring.base import NO_ANSWER, NOT_FOUND, SCORED, UNKNOWN, ScoreRow, Verdict
from evalcore.scoring.mathematics import MathGold, MathTask
from ngramscan.errors import InputError, SandboxError

GradeMath = Callable[[Iterable[MathTask]], Iterator[Verdict]]
"""Compares formulas, in order."""

RULES: Mapping[str, Sequence[str]] = {
    "financemath": ("strict", "lenient"),
    "imo-answerbench": ("math",),
    "olympiadbench-oe-maths": ("math",),
    "olympiadbench-oe-physics": ("math",),
    "bbh-word-sorting": ("exact",),
}
"""The rules of each benchmark, the usual one first; those that are not here are judged."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What rules need that takes processes of its own."""

    run_programs: RunPrograms
    grade_math: GradeMath


class Item(NamedTuple):
    """An answer and the problem it is to."""

    problem: Problem
    answer: Answer


class Scores(NamedTuple):
    """The rows, and what is to be known beside them."""

    rows: list[ScoreRow]
    failures: list[str]
    """What could not be decided because a grader or the sandbox crashed, or ran out of time."""


def choose_rules(dataset: str, wanted: Sequence[str]) -> Sequence[str]:
    """Return the rules to score by; the usual one where none is wanted.

    Raises
    ------
    InputError
        The benchmark has no such rule, or none at all.
    """
    if dataset not in RULES:
        problem = f"its answers are judged, not compared; see evalcore judge --dataset {dataset}"
        raise InputError(f"--dataset {dataset}", problem)
    known = RULES[dataset]
    for name in wanted:
        if name not in known:
            raise InputError(f"--rule {name}", f"unknown for {dataset}; it has {', '.join(known)}")
    return list(dict.fromkeys(wanted)) or known[:1]


def choose_reading(dataset: str, text_rules: Sequence[str]) -> Reading:
    """Return how answers are found, by other extraction rules where some are named.

    Raises
    ------
    InputError
        There is no such extraction rule.
    """
    for name in text_rules:
        if name not in EXTRACTION_RULES:
            known = ", ".join(EXTRACTION_RULES)
            raise InputError(f"--extraction {name}", f"unknown; expected one of {known}")
    reading = READINGS[dataset]
    return replace(reading, text_rules=tuple(text_rules)) if text_rules else reading


def score_records(
    records: Sequence[Record],
    dataset: Dataset,
    rules: Sequence[str],
    tools: Tools,
    reading: Reading | None = None,
) -> Scores:
    """Score recorded outputs.

    Parameters
    ----------
    records : sequence of Record
        Of this benchmark, by any models and methods.
    dataset : Dataset
        The benchmark.
    rules : sequence of str
        Of `RULES`.
    tools : Tools
        Where programs run, and formulas are compared.
    reading : Reading or None
        How answers are found; None: as is usual for the benchmark.

    Returns
    -------
    Scores
        One row per output and rule: by run, then in the order of the benchmark, then by rule.

    Raises
    ------
    InputError
        An output is to a problem that the benchmark does not have.
    """
    problems = {problem.id: problem for problem in dataset.problems}
    records = in_order(records, dataset)
    whole = [record for record in records if record.not_scorable is None]
    found = find_answers(whole, reading or READINGS[dataset.name], tools.run_programs)
    items = [Item(problems[record.id], answer) for record, answer in zip(whole, found, strict=True)]
    by_rule = {rule: iter(_verdicts(rule, items, tools)) for rule in rules}
    answers = iter(found)
    scores = Scores([], [])
    for record in records:
        answer = None if record.not_scorable else next(answers)
        for rule in rules:
            verdict = next(by_rule[rule]) if answer else Verdict(None, record.not_scorable or "")
            scores.rows.append(_row(record, problems[record.id], rule, answer, verdict))
            if verdict.failed:
                named = f"{record.dataset}, {record.model}, {record.method}, {record.id}"
                scores.failures.append(f"{named}: {verdict.reason}")
    return scores


def in_order(records: Sequence[Record], dataset: Dataset) -> list[Record]:
    """Return records by run, and within it in the order of the benchmark: they come in any.

    Raises
    ------
    InputError
        One is of a problem that the benchmark does not have.
    """
    places = {problem.id: place for place, problem in enumerate(dataset.problems)}
    runs: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        run = (record.dataset, record.model, record.method)
        if record.id not in places:
            problem = f"id {record.id!r} is no problem of {dataset.name}"
            raise InputError("/".join(run), problem)
        runs.setdefault(run, []).append(record)
    return [
        record
        for run in runs.values()
        for record in sorted(run, key=lambda one: (places[one.id], one.epoch or 0))
    ]


def _row(
    record: Record, problem: Problem, rule: str, answer: Answer | None, verdict: Verdict
) -> ScoreRow:
    layers = answer.layers if answer else None
    return ScoreRow(
        dataset=record.dataset,
        model=record.model,
        method=record.method,
        id=record.id,
        epoch=record.epoch,
        rule=rule,
        value=verdict.value,
        answer=None if answer is None or answer.value is None else str(answer.value),
        extraction=answer.extraction if answer else None,
        reason=verdict.reason,
        sandbox="; ".join(f"{name} {state}" for name, state in layers.items()) if layers else None,
        subtask=problem.subtask or None,
        status=_status(answer, verdict),
    )


def _status(answer: Answer | None, verdict: Verdict) -> str:
    """Tell what is known of an output; None for an answer: it is not a whole one."""
    if answer is None:
        return NO_ANSWER
    if verdict.value is None:
        return UNKNOWN
    return NOT_FOUND if answer.is_missing else SCORED


# Rules


def _verdicts(rule: str, items: Sequence[Item], tools: Tools) -> Iterator[Verdict]:
    """Yield a verdict per item; those without an answer are wrong by any rule."""
    answered = [item for item in items if item.answer.value is not None]
    compared = iter(_COMPARE[rule](answered, tools))
    for item in items:
        if item.answer.is_lost:
            yield Verdict(None, item.answer.problem, failed=True)
        elif item.answer.value is None:
            yield Verdict(0.0, item.answer.problem)
        else:
            yield _with_problem(next(compared), item.answer.problem)


def _with_problem(verdict: Verdict, problem: str) -> Verdict:
    if not problem:
        return verdict
    return Verdict(verdict.value, f"{verdict.reason}; {problem}", verdict.failed)


def _strict(items: Sequence[Item], _tools: Tools) -> Iterator[Verdict]:
    for problem, answer in items:
        gold = problem.details["ground_truth"]
        if answer.is_computed:
            yield financemath.strict(answer.value, gold)
        else:
            yield financemath.strict_text(str(answer.value), gold)


def _lenient(items: Sequence[Item], tools: Tools) -> Iterator[Verdict]:
    computed = {item.problem.id: item.problem for item in items if item.answer.is_computed}
    golds = _reference_values(list(computed.values()), tools.run_programs)
    for problem, answer in items:
        if answer.is_computed:
            yield financemath.lenient(answer.value, golds[problem.id])
        else:
            yield financemath.lenient_text(str(answer.value), problem.details["ground_truth"])


def _reference_values(problems: Sequence[Problem], run: RunPrograms) -> dict[str, object]:
    """Return what the reference programs give, at full precision, by problem."""
    programs = [Program(problem.details["program"]) for problem in problems]
    values: dict[str, object] = {}
    for problem, outcome in zip(problems, run(programs) if programs else (), strict=True):
        if outcome.status != "ok":
            what = f"its reference program gives no value ({outcome.status} {outcome.message})"
            raise SandboxError(f"problem {problem.id}: {what}")
        values[problem.id] = outcome.value
    return values


def _exact(items: Sequence[Item], _tools: Tools) -> Iterator[Verdict]:
    for problem, answer in items:
        yield words.exact(str(answer.value), problem.gold or "")


def _math(items: Sequence[Item], tools: Tools) -> Iterator[Verdict]:
    return tools.grade_math(MathTask(str(a.value), _math_gold(p)) for p, a in items)


def _math_gold(problem: Problem) -> MathGold:
    details = problem.details
    return MathGold(
        text=problem.gold or "",
        unit=details.get("unit") or "",
        tolerance=details.get("tolerance"),
        is_multiple=bool(details.get("is_multiple_answer")),
    )


_COMPARE: Mapping[str, Callable[[Sequence[Item], Tools], Iterator[Verdict]]] = {
    "strict": _strict,
    "lenient": _lenient,
    "exact": _exact,
    "math": _math,
}
