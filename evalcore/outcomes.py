"""`evalcore flips`, `complementarity` and `outcomes`: which methods solve which problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evalcore.row_files import GivenTables
from evalcore.tallies import Cell, Reading, Tally, read_cells
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import print_rows
from ngramscan.output.options import save
from ngramscan.statistics.proportions import mcnemar, wilson

if TYPE_CHECKING:
    from rich.console import Console

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
    baseline: str
    """The method that is named first."""
    treatment: str
    n: int
    n_no_answer: int
    """As in `flips`."""
    n_unknown: int
    accuracy_baseline: float
    """In percent."""
    accuracy_treatment: float
    treatment_only: int
    """Problems, as in `flips`."""
    baseline_only: int
    union: float
    """In percent: solved by at least one, which an oracle that chooses between the two reaches."""
    disjoint: float
    """In percent: solved by exactly one."""


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


@dataclass(frozen=True, slots=True)
class WinRow:
    """How often a method wins against a baseline, over benchmarks or over all models' too."""

    model: str
    """`all`: of all models together."""
    baseline: str
    treatment: str
    cells: int
    """Pairs of a benchmark and a model."""
    wins: int
    """More problems solved."""
    ties: int
    losses: int
    wins_by_test: int
    """More solved, and McNemar's exact p below `alpha`, which is not corrected for the number of
    cells."""
    ties_by_test: int
    losses_by_test: int
    alpha: float


def _shown(rows: Sequence[Any], row_type: type, console: Console) -> None:
    if rows:
        print_rows(console, rows, row_type)


# Two methods


_COUNTS = ("n", "n_no_answer", "n_unknown", "treatment_only", "baseline_only", "both", "neither")


def _flips(cell: Cell, baseline: str, treatment: str) -> FlipRow:
    tally = cell.tally([baseline, treatment])
    gained, lost = tally.solved.count((False, True)), tally.solved.count((True, False))
    return FlipRow(
        dataset=cell.dataset,
        model=cell.model,
        rule=cell.rule,
        baseline=baseline,
        treatment=treatment,
        **tally.counts,
        treatment_only=gained,
        baseline_only=lost,
        both=tally.solved.count((True, True)),
        neither=tally.solved.count((False, False)),
        net=gained - lost,
    )


def flip_rows(cells: Sequence[Cell], baseline: str, treatment: str) -> list[FlipRow]:
    """Return one row per benchmark and model, and one for all benchmarks of a model."""
    rows = [_flips(cell, baseline, treatment) for cell in cells]
    for model in dict.fromkeys(row.model for row in rows):
        own = [row for row in rows if row.model == model]
        if len(own) > 1:
            sums = {name: sum(getattr(row, name) for row in own) for name in (*_COUNTS, "net")}
            rules = ", ".join(dict.fromkeys(row.rule for row in own))
            rows.append(replace(own[0], dataset=ALL, rule=rules, **sums))
    return rows


def complement_rows(cells: Sequence[Cell], first: str, second: str) -> list[ComplementRow]:
    """Return one row per benchmark and model."""
    return [_complement(_flips(cell, first, second)) for cell in cells]


def _complement(flips: FlipRow) -> ComplementRow:
    first, second, n = flips.baseline_only, flips.treatment_only, flips.n
    return ComplementRow(
        dataset=flips.dataset,
        model=flips.model,
        rule=flips.rule,
        baseline=flips.baseline,
        treatment=flips.treatment,
        n=n,
        n_no_answer=flips.n_no_answer,
        n_unknown=flips.n_unknown,
        accuracy_baseline=100 * (flips.both + first) / n,
        accuracy_treatment=100 * (flips.both + second) / n,
        treatment_only=second,
        baseline_only=first,
        union=100 * (flips.both + first + second) / n,
        disjoint=100 * (first + second) / n,
    )


# An adaptive method and its baselines


def outcome_rows(
    cells: Sequence[Cell], baselines: Sequence[str], adaptive: str
) -> list[OutcomeRow]:
    """Return one row per benchmark and model, and one for all models of a benchmark."""
    rows = []
    names: dict[str, Any] = {"adaptive": adaptive, "baselines": ", ".join(baselines)}
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        own = [cell for cell in cells if cell.dataset == dataset]
        tallies = [cell.tally([adaptive, *baselines]) for cell in own]
        for cell, tally in zip(own, tallies, strict=True):
            names |= {"dataset": dataset, "model": cell.model, "rule": cell.rule}
            rows.append(_outcomes(names, [tally]))
        if len(own) > 1:
            rows.append(_outcomes({**names, "model": ALL}, tallies))
    return rows


def _outcomes(names: Mapping[str, Any], tallies: Sequence[Tally]) -> OutcomeRow:
    solved = [row for tally in tallies for row in tally.solved]
    n = len(solved)
    kinds = [(row[0], all(row[1:]), any(row[1:])) for row in solved]
    right, lost = kinds.count((True, False, True)), kinds.count((False, True, True))
    wrong = kinds.count((False, False, True)) + lost
    alone, nobody = kinds.count((True, False, False)), kinds.count((False, False, False))
    choices = right + wrong
    counts: dict[str, Any] = {
        name: sum(tally.counts[name] for tally in tallies) for name in tallies[0].counts
    }
    share = wilson(right, choices) if choices and names["model"] != ALL else None
    return OutcomeRow(
        **names,
        **counts,
        all_fail=nobody,
        all_solve=kinds.count((True, True, True)),
        adaptive_right=right,
        adaptive_wrong=wrong,
        only_adaptive=alone,
        all_baselines_but_adaptive=lost,
        accuracy=100 * sum(row[0] for row in solved) / n,
        upper_bound=100 * (n - nobody - alone) / n,
        upper_bound_with_adaptive=100 * (n - nobody) / n,
        selection_accuracy=100 * share.value
        if share
        else 100 * right / choices
        if choices
        else None,
        selection_low=100 * share.low if share and share.low is not None else None,
        selection_high=100 * share.high if share and share.high is not None else None,
        note="" if share else _CLUSTERED if choices else _NO_CHOICE,
    )


def win_rows(
    cells: Sequence[Cell], baselines: Sequence[str], treatment: str, alpha: float = 0.05
) -> list[WinRow]:
    """Return one row per model and baseline, and where there are several models, one of all.

    Each baseline is compared on its own, on the problems that it and the treatment share.
    """
    models = list(dict.fromkeys(cell.model for cell in cells))
    rows = []
    for model in [*models, ALL] if len(models) > 1 else models:
        own = [cell for cell in cells if model in {ALL, cell.model}]
        rows += [_wins(model, own, (baseline, treatment), alpha) for baseline in baselines]
    return rows


def _wins(model: str, cells: Sequence[Cell], methods: tuple[str, str], alpha: float) -> WinRow:
    signs, tested = [], []
    for cell in cells:
        solved = cell.tally(methods).solved
        lost, gained = solved.count((True, False)), solved.count((False, True))
        signs.append((gained > lost) - (gained < lost))
        tested.append(signs[-1] if mcnemar(lost, gained) < alpha else 0)
    return WinRow(
        model=model,
        baseline=methods[0],
        treatment=methods[1],
        cells=len(cells),
        wins=signs.count(1),
        ties=signs.count(0),
        losses=signs.count(-1),
        wins_by_test=tested.count(1),
        ties_by_test=tested.count(0),
        losses_by_test=tested.count(-1),
        alpha=alpha,
    )


# The commands

Names = Annotated[str | Sequence[str], Option(metavar="NAME")]
Epoch = Annotated[int | None, Option(metavar="N")]
RightFrom = Annotated[float | None, Option(metavar="VALUE", over=0, most=1)]
NoAnswer = Literal["wrong", "exclude"]


@command
def flips(
    scores: GivenTables,
    *,
    baseline: Annotated[str, Option(metavar="METHOD")],
    treatment: Annotated[str, Option(metavar="METHOD")],
    rule: Names = (),
    run: Names = (),
    epoch: Epoch = None,
    right_from: RightFrom = None,
    no_answer: NoAnswer = "wrong",
) -> Result:
    """Count the problems that a treatment turns from wrong to right, and the reverse.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    baseline : str
        The method that the treatment is compared with.
    treatment : str
        The method that is compared.
    rule : str or sequence of str
        The rules whose values are taken, one per benchmark; needed where several rules scored.
    run : see compare
    epoch : int, optional
        Which of repeated answers to take; needed where a problem has several.
    right_from : float, optional
        The least value of a right answer; needed where there are others than 0 and 1.
    no_answer : see compare

    Returns
    -------
    DataFrame
        One row per benchmark and model, and one for all benchmarks of a model.

    Raises
    ------
    InputError
        A file or an option is wrong.
    IncompleteError
        Of some cells nothing is known that could be compared; the other rows are in it.

    Examples
    --------
    $ evalcore flips scores.jsonl --baseline cot --treatment f-1
    $ evalcore flips scores.jsonl --baseline cot --treatment f-1 --no-answer exclude
    """
    reading = Reading(rule, run, epoch, right_from, no_answer)
    cells, said = read_cells(scores, [baseline, treatment], reading)
    rows = flip_rows(cells, baseline, treatment)
    return Result(rows, FlipRow, print_table=partial(_shown, rows, FlipRow), **said)


@command
def complementarity(
    scores: GivenTables,
    *,
    methods: Annotated[str | Sequence[str], Option(metavar="FIRST,SECOND", has_commas=True)],
    rule: Names = (),
    run: Names = (),
    epoch: Epoch = None,
    right_from: RightFrom = None,
    no_answer: NoAnswer = "wrong",
) -> Result:
    """Find how far two methods solve different problems.

    Parameters
    ----------
    scores : see flips
    methods : str or sequence of str
        The two methods; the first is called the baseline.
    rule, run, epoch, right_from, no_answer : see flips

    Returns
    -------
    DataFrame
        One row per benchmark and model.

    Raises
    ------
    InputError
        A file or an option is wrong.
    IncompleteError
        Of some cells nothing is known that could be compared; the other rows are in it.

    Examples
    --------
    $ evalcore complementarity scores.jsonl --methods f-1,formulate-and-solve
    """
    if len(methods) != 2:
        raise InputError("--methods", f"{len(methods)} names; two were expected, as cot,pot")
    cells, said = read_cells(scores, methods, Reading(rule, run, epoch, right_from, no_answer))
    rows = complement_rows(cells, *methods)
    return Result(rows, ComplementRow, print_table=partial(_shown, rows, ComplementRow), **said)


@command
def outcomes(
    scores: GivenTables,
    *,
    baselines: Annotated[str | Sequence[str], Option(metavar="METHODS", has_commas=True)],
    adaptive: Annotated[str, Option(metavar="METHOD")],
    alpha: Annotated[float, Option(over=0, under=1)] = 0.05,
    wins: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    rule: Names = (),
    run: Names = (),
    epoch: Epoch = None,
    right_from: RightFrom = None,
    no_answer: NoAnswer = "wrong",
) -> Result:
    """Find how an adaptive method does where its baselines do well or not.

    Each problem is one of: all fail, all solve, adaptive right (some baselines are too), adaptive
    wrong (a baseline is right), only adaptive. Beside them stand what an oracle that chooses
    between the baselines reaches, and how often the adaptive method is right where a baseline is.
    In the terminal wins, ties and losses follow.

    Parameters
    ----------
    scores : see flips
    baselines : str or sequence of str
        One method or more, with commas between them.
    adaptive : str
        The method that chooses between their ways of solving.
    alpha : float
        A difference with a greater p of McNemar's test is a tie by test.
    wins : str or Path, optional
        Write wins, ties and losses per model and baseline to this file.
    rule, run, epoch, right_from, no_answer : see flips

    Returns
    -------
    DataFrame
        One row per benchmark and model, and one for all models of a benchmark.

    Raises
    ------
    InputError
        A file or an option is wrong.
    IncompleteError
        Of some cells nothing is known that could be compared; the other rows are in it.

    Examples
    --------
    $ evalcore outcomes scores.jsonl --baselines zero-shot,cot,pot --adaptive f-1
    $ evalcore outcomes scores.jsonl --baselines cot,pot --adaptive f-1 --wins wins.csv
    """
    if not baselines:
        raise InputError("--baselines", "no method is named")
    target, reading = optional_target(wins), Reading(rule, run, epoch, right_from, no_answer)
    cells, said = read_cells(scores, [adaptive, *baselines], reading)
    rows, won = (
        outcome_rows(cells, baselines, adaptive),
        win_rows(cells, baselines, adaptive, alpha),
    )
    save(won, WinRow, target)

    def print_table(console: Console) -> None:
        _shown(rows, OutcomeRow, console)
        _shown(won, WinRow, console)

    return Result(rows, OutcomeRow, print_table=print_table, **said)
