"""Which problems only one of several methods solves, and what choosing between them could reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalcore.solved_problems import Cell, Tally
from ngramscan.proportions import wilson

ALL = "all"
_CLUSTERED = "no interval: answers of several models to one problem are not independent"
_NO_CHOICE = "no selection accuracy: all methods solve, or no baseline does, each problem"


@dataclass(frozen=True, slots=True)
class FlipRow:
    """How many problems a treatment turns from wrong to right, and the reverse."""

    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    n: int
    n_no_answer: int
    """Problems to which a model gave no answer (refused, cut off, empty): wrong, or excluded and
    not in `n`."""
    n_unknown: int
    """Problems that are left out, and not in `n`, since nothing is known of an answer to them."""
    treatment_only: int
    baseline_only: int
    both: int
    neither: int
    net: int
    """`treatment_only` - `baseline_only`."""


@dataclass(frozen=True, slots=True)
class ComplementRow:
    """How far two methods solve different problems."""

    dataset: str
    model: str
    rule: str
    first: str
    second: str
    n: int
    n_no_answer: int
    """As in `flips`."""
    n_unknown: int
    accuracy_first: float
    """In percent, as all that follow."""
    accuracy_second: float
    first_only: float
    second_only: float
    union: float
    """Solved by at least one: what an oracle that chooses between the two reaches."""
    disjoint: float
    """Solved by exactly one."""


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """How an adaptive method does where its baselines do well or not.

    `all_fail`, `all_solve`, `adaptive_right`, `adaptive_wrong` and `only_adaptive` are a partition
    of the `n` problems.
    """

    dataset: str
    model: str
    """`all`: the problems of all models together."""
    rule: str
    adaptive: str
    baselines: str
    n: int
    n_no_answer: int
    """As in `flips`."""
    n_unknown: int
    all_fail: int
    all_solve: int
    """The adaptive method and all baselines."""
    adaptive_right: int
    """The adaptive method and some baselines, but not all."""
    adaptive_wrong: int
    """Some or all baselines, but not the adaptive method."""
    only_adaptive: int
    all_baselines_but_adaptive: int
    """Those of `adaptive_wrong` that all baselines solve: no choice between them was needed."""
    accuracy: float
    """Of the adaptive method; in percent, as all that follow."""
    upper_bound: float
    """Problems that at least one baseline solves."""
    upper_bound_with_adaptive: float
    """Problems that at least one method solves, the adaptive one among them."""
    selection_accuracy: float | None
    """`adaptive_right` of `adaptive_right + adaptive_wrong`. Problems that no baseline solves are
    not in it: none could have been selected."""
    selection_low: float | None
    """Of the 95 % Wilson interval; None: there is none, and the note says why."""
    selection_high: float | None
    note: str


def flip_rows(cells: Sequence[Cell], baseline: str, treatment: str) -> list[FlipRow]:
    """Return one row per benchmark and model, and one for all benchmarks of a model.

    Parameters
    ----------
    cells : sequence of Cell
        With both methods.
    baseline, treatment : str
        Their names.
    """
    rows = [_flips(cell, baseline, treatment) for cell in cells]
    for model in dict.fromkeys(row.model for row in rows):
        own = [row for row in rows if row.model == model]
        if len(own) > 1:
            rows.append(_total(own))
    return rows


def _flips(cell: Cell, baseline: str, treatment: str) -> FlipRow:
    tally = cell.tally([baseline, treatment])
    solved = tally.solved
    gained, lost = solved.count((False, True)), solved.count((True, False))
    return FlipRow(
        dataset=cell.dataset,
        model=cell.model,
        rule=cell.rule,
        baseline=baseline,
        treatment=treatment,
        n=len(solved),
        n_no_answer=tally.no_answer,
        n_unknown=tally.left_out.n,
        treatment_only=gained,
        baseline_only=lost,
        both=solved.count((True, True)),
        neither=solved.count((False, False)),
        net=gained - lost,
    )


def _total(rows: Sequence[FlipRow]) -> FlipRow:
    return FlipRow(
        dataset=ALL,
        model=rows[0].model,
        rule=_one_of([row.rule for row in rows]),
        baseline=rows[0].baseline,
        treatment=rows[0].treatment,
        n=sum(row.n for row in rows),
        n_no_answer=sum(row.n_no_answer for row in rows),
        n_unknown=sum(row.n_unknown for row in rows),
        treatment_only=sum(row.treatment_only for row in rows),
        baseline_only=sum(row.baseline_only for row in rows),
        both=sum(row.both for row in rows),
        neither=sum(row.neither for row in rows),
        net=sum(row.net for row in rows),
    )


def complement_rows(cells: Sequence[Cell], first: str, second: str) -> list[ComplementRow]:
    """Return one row per benchmark and model.

    Parameters
    ----------
    cells : sequence of Cell
        With both methods.
    first, second : str
        Their names.
    """
    return [_complement(_flips(cell, first, second)) for cell in cells]


def _complement(flips: FlipRow) -> ComplementRow:
    first, second = flips.baseline_only, flips.treatment_only
    return ComplementRow(
        dataset=flips.dataset,
        model=flips.model,
        rule=flips.rule,
        first=flips.baseline,
        second=flips.treatment,
        n=flips.n,
        n_no_answer=flips.n_no_answer,
        n_unknown=flips.n_unknown,
        accuracy_first=_percent(flips.both + first, flips.n),
        accuracy_second=_percent(flips.both + second, flips.n),
        first_only=_percent(first, flips.n),
        second_only=_percent(second, flips.n),
        union=_percent(flips.both + first + second, flips.n),
        disjoint=_percent(first + second, flips.n),
    )


def outcome_rows(
    cells: Sequence[Cell], baselines: Sequence[str], adaptive: str
) -> list[OutcomeRow]:
    """Return one row per benchmark and model, and one for all models of a benchmark.

    Parameters
    ----------
    cells : sequence of Cell
        With all methods.
    baselines : sequence of str
        At least one.
    adaptive : str
        The method that chooses between their ways of solving.
    """
    rows = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        own = [cell for cell in cells if cell.dataset == dataset]
        tallies = [cell.tally([adaptive, *baselines]) for cell in own]
        named = {"adaptive": adaptive, "baselines": ", ".join(baselines), "dataset": dataset}
        for cell, tally in zip(own, tallies, strict=True):
            named |= {"model": cell.model, "rule": cell.rule}
            rows.append(_outcomes(named, [tally]))
        if len(own) > 1:
            named["model"] = ALL
            rows.append(_outcomes(named, tallies))
    return rows


def _outcomes(named: dict[str, str], tallies: Sequence[Tally]) -> OutcomeRow:
    solved = [row for tally in tallies for row in tally.solved]
    n = len(solved)
    kinds = [(row[0], all(row[1:]), any(row[1:])) for row in solved]
    right = kinds.count((True, False, True))
    lost = kinds.count((False, True, True))
    wrong = kinds.count((False, False, True)) + lost
    alone, nobody = kinds.count((True, False, False)), kinds.count((False, False, False))
    selection = _selection(right, right + wrong, pooled=named["model"] == ALL)
    return OutcomeRow(
        **named,
        n=n,
        n_no_answer=sum(tally.no_answer for tally in tallies),
        n_unknown=sum(tally.left_out.n for tally in tallies),
        all_fail=nobody,
        all_solve=kinds.count((True, True, True)),
        adaptive_right=right,
        adaptive_wrong=wrong,
        only_adaptive=alone,
        all_baselines_but_adaptive=lost,
        accuracy=_percent(sum(row[0] for row in solved), n),
        upper_bound=_percent(n - nobody - alone, n),
        upper_bound_with_adaptive=_percent(n - nobody, n),
        selection_accuracy=selection.value,
        selection_low=selection.low,
        selection_high=selection.high,
        note=selection.note,
    )


@dataclass(frozen=True, slots=True)
class _Selection:
    value: float | None
    low: float | None
    high: float | None
    note: str


def _selection(right: int, n: int, *, pooled: bool) -> _Selection:
    if not n:
        return _Selection(None, None, None, _NO_CHOICE)
    if pooled:
        return _Selection(100 * right / n, None, None, _CLUSTERED)
    share = wilson(right, n)
    assert share.low is not None
    assert share.high is not None
    return _Selection(100 * share.value, 100 * share.low, 100 * share.high, "")


def _percent(count: int, n: int) -> float:
    return 100 * count / n


def _one_of(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
