"""Methods compared in pairs: tests and intervals per cell, and named averages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evalcore.averages import AverageRow, over_benchmarks, over_subtasks, percent
from evalcore.left_out import say_left_out
from evalcore.paired_results import Case, Comparer, CompareSettings, Result, comparable
from evalcore.pairings import (
    Values,
    incomplete,
    make_cells,
    merged,
    method_pairs,
    unanswered_share,
)
from evalcore.scoring.base import ScoreRow
from evalcore.statistics import (
    Settings,
    holm,
    mcnemar_detectable,
    t_detectable,
)
from evalcore.statistics.pairing import pair
from ngramscan.errors import InputError


@dataclass(frozen=True, slots=True)
class CompareRow:
    """Two methods on the same problems. Accuracies in percent, differences in percentage points."""

    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    n: int
    """Pairs of answers that are compared: no answer is a wrong one, unless such pairs are left
    out."""
    n_no_answer: int
    """Pairs in which a model gave no answer: it refused, was cut off, or wrote nothing."""
    n_unknown: int
    """Pairs that are left out, since nothing is known of one side or both: not asked, not run, not
    judged, or the grader crashed."""
    b: int
    """Pairs in which the treatment has more: where answers are right or wrong, only it is right."""
    c: int
    """Pairs in which the baseline has more."""
    accuracy_baseline: float
    accuracy_treatment: float
    unanswered_baseline: float | None
    """Complete outputs in which no answer was found, in percent of the complete ones; None: not
    known. They count as wrong, so that where the two differ much, the difference is one of finding
    answers too."""
    unanswered_treatment: float | None
    difference: float
    """Treatment minus baseline."""
    difference_low: float | None
    difference_high: float | None
    p: float | None
    p_exact: float | None
    """By the exact McNemar test, which errs on the safe side; None where answers are graded or of
    several models."""
    p_holm: float | None
    """`p`, adjusted within the family of tests that the row belongs to: never across rules."""
    test: str
    n_complete: int
    """Pairs in which both models gave an answer, right or wrong."""
    difference_complete: float | None
    """Of these alone."""
    p_complete: float | None
    detectable: float | None
    """The least difference that the test would have found with a probability of 80 %, at the
    discordance (or spread of differences) that was seen."""
    note: str


class Compared(NamedTuple):
    """The rows of a comparison, and what is to be known beside them."""

    rows: list[CompareRow]
    averages: list[AverageRow]
    left_out: str
    """How many pairs nothing is known of; empty: none."""
    notices: list[str]
    failures: list[str]
    """Cells with nothing to compare."""


_UNEVEN = 2.0
"""Percentage points. A greater difference of the shares of outputs in which no answer was found is
told."""
FAMILY_COLUMNS = ("dataset", "model", "rule", "baseline", "treatment")


def compare_methods(rows: Sequence[ScoreRow], settings: CompareSettings) -> Compared:
    """Compare methods in pairs.

    Parameters
    ----------
    rows : sequence of ScoreRow
        What was scored.
    settings : CompareSettings
        What is compared, and how.

    Returns
    -------
    Compared
        One row per cell and pair of methods; then, where several models have a benchmark, one of
        all of them together. Averages over subtasks and benchmarks where there are several.

    Raises
    ------
    InputError
        A method is not there, a row is there twice, or nothing can be compared.
    """
    for name in settings.family:
        if name not in FAMILY_COLUMNS:
            expected = ", ".join(FAMILY_COLUMNS)
            raise InputError(f"--family {name}", f"one of {expected} was expected")
    cells = make_cells(rows, settings.by)
    pairs = method_pairs(cells, settings.baseline, settings.treatments)
    comparer = Comparer(settings, np.random.default_rng(settings.seed))
    single = list(comparable(cells, pairs))
    if not single:
        problem = "nothing to compare; two methods on the same problems were expected"
        raise InputError("scores", problem)
    compared = list(_rows(single, comparer))
    pooled_cells = list(merged(cells).values())
    pooled = list(_rows(comparable(pooled_cells, pairs), comparer))
    cases = list(comparable([*cells, *pooled_cells], pairs))
    return Compared(
        [*_adjusted(compared, settings.family), *_adjusted(pooled, settings.family)],
        [*over_subtasks(cases, comparer), *over_benchmarks(cases, comparer)],
        _say_left_out(single, comparer),
        [*incomplete(cells, pairs), *_reasons(single, comparer), *_warnings(compared)],
        [said for case in single if (said := _nothing_left(case, comparer))],
    )


def _say_left_out(cases: Sequence[Case], comparer: Comparer) -> str:
    values = [comparer.values(case) for case in cases]
    return say_left_out([each.left_out for each in values], sum(each.n for each in values), "pair")


def _reasons(cases: Iterable[Case], comparer: Comparer) -> Iterator[str]:
    """Tell why pairs are left out."""
    for case in cases:
        left_out = comparer.values(case).left_out
        if left_out.n and comparer.result(case):
            yield f"{case.name}: {left_out.told('pair')}"


def _warnings(rows: Iterable[CompareRow]) -> Iterator[str]:
    """Warn where methods differ in how often no answer was found."""
    for row in rows:
        first, second = row.unanswered_baseline, row.unanswered_treatment
        if first is not None and second is not None and abs(second - first) > _UNEVEN:
            named = f"{row.dataset}, {row.model}, {row.rule}, {row.treatment} − {row.baseline}"
            yield (
                f"Warning: {named}: no answer was found in {first:.1f} % of the complete outputs "
                f"of {row.baseline} and in {second:.1f} % of those of {row.treatment}; a part of "
                "the difference may come from how answers are found"
            )


def _nothing_left(case: Case, comparer: Comparer) -> str | None:
    """Say why two methods can't be compared in a cell; None: they can."""
    if comparer.result(case):
        return None
    values = comparer.values(case)
    said = [values.left_out.told("pair")] * bool(values.left_out.n)
    said += [f"{values.n:,} without an answer left out"] * bool(values.n)
    return f"{case.name}: nothing to compare; {', '.join(said)}"


# One pair of methods in one cell


def _rows(cases: Iterable[Case], comparer: Comparer) -> Iterator[CompareRow]:
    for case in cases:
        if result := comparer.result(case):
            yield _row(case, result, comparer)


def _row(case: Case, result: Result, comparer: Comparer) -> CompareRow:
    """Return the row of two methods in a cell."""
    values = comparer.values(case)
    n_no_answer = values.n - values.n_answered
    complete: Result | None = result
    if n_no_answer:
        dropping = replace(comparer.settings.statistics, missing="dropped")
        complete = comparer.compared(values, dropping)
    return CompareRow(
        **case.cell.key._asdict(),
        baseline=case.baseline,
        treatment=case.treatment,
        n=result.n,
        n_no_answer=n_no_answer,
        n_unknown=values.left_out.n,
        b=result.b,
        c=result.c,
        accuracy_baseline=100 * result.baseline,
        accuracy_treatment=100 * result.treatment,
        unanswered_baseline=percent(unanswered_share(values.first)),
        unanswered_treatment=percent(unanswered_share(values.second)),
        difference=100 * result.difference.value,
        difference_low=percent(result.difference.low),
        difference_high=percent(result.difference.high),
        p=result.p.value,
        p_exact=result.p_exact,
        p_holm=None,
        test=result.p.procedure,
        n_complete=values.n_answered,
        difference_complete=100 * complete.difference.value if complete else None,
        p_complete=complete.p.value if complete else None,
        detectable=percent(_detectable(values, result, comparer.settings.statistics)),
        note="; ".join(_notes(result, n_no_answer, comparer.settings.statistics.missing)),
    )


def _detectable(values: Values, result: Result, how: Settings) -> float | None:
    """Return the least difference that is found often enough."""
    if not values.is_plain or result.n < 2 or not result.b + result.c:
        return None
    if values.is_binary:
        return mcnemar_detectable(result.n, (result.b + result.c) / result.n).value
    differences = pair(values.baseline, values.treatment, how.missing).differences
    spread, least = float(differences.std(ddof=1)), t_detectable(result.n).value
    return least * spread if spread and least is not None else None


def _notes(result: Result, missing: int, treated: str) -> Iterator[str]:
    if missing:
        yield f"no answer: {missing}, " + ("counted as wrong" if treated == "wrong" else "left out")
    if result.difference.note:
        yield result.difference.note
    if result.p.note:
        yield result.p.note
    if result.p.standard_error:
        yield f"standard error of p {result.p.standard_error:.2g}"
    yield from _contradiction(result)


def _contradiction(result: Result) -> Iterator[str]:
    """Tell where the interval and the test, which are computed in different ways, disagree."""
    low, high = result.difference.low, result.difference.high
    if low is None or high is None:
        return
    alpha = round(1 - result.difference.level, 12)
    has_zero, is_small = low <= 0 <= high, result.p.value <= alpha
    if has_zero == is_small:
        where = "includes 0, but p is at most" if has_zero else "excludes 0, but p is above"
        yield f"interval and test disagree: the interval {where} {alpha:g}"


def _adjusted(rows: Sequence[CompareRow], family: Sequence[str]) -> list[CompareRow]:
    """Return rows with p-values adjusted within each family.

    Each rule has families of its own: two rules of the same outputs are not two experiments.
    """
    families: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        key = tuple(getattr(row, name) for name in ("rule", *family))
        families.setdefault(key, []).append(place)
    adjusted = list(rows)
    for places in families.values():
        for place, p in zip(places, holm([rows[at].p for at in places]), strict=True):
            adjusted[place] = replace(rows[place], p_holm=p)
    return adjusted
