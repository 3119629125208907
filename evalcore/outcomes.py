"""`evalcore outcomes`: which methods solve which problems; those that are not known are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from evalcore.pairing import CELL, LEAST, NOT_ANSWERED, NOT_ASKED, RIGHT, left_out, to_table
from evalcore.scores import ScoreRow, read_chosen
from ngramscan.errors import InputError
from ngramscan.reading.row_files import GivenTables
from ngramscan.report import optional_target
from ngramscan.report.command import Option, Result, command
from ngramscan.report.layout import print_rows
from ngramscan.report.options import save
from ngramscan.statistics.proportions import mcnemar, wilson

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

ALL = "all"
Names = Annotated[str | Sequence[str], Option(metavar="NAME")]
NoAnswer = Literal["wrong", "exclude"]
_CLUSTERED = "no interval: answers of several models to one problem are not independent"
_NO_CHOICE = "no selection accuracy: all methods solve, or no baseline does, each problem"


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """How an adaptive method does where its baselines do well or not.

    `all`: all benchmarks or models together. `all_fail` to `only_adaptive` are a partition of `n`.
    """

    dataset: str
    model: str
    rule: str
    adaptive: str
    baselines: str
    n: int
    n_no_answer: int
    """Problems with an answer that was refused, cut off or empty: wrong, or excluded from `n`."""
    n_unknown: int
    """Problems that are left out of `n`, since nothing is known of one of the answers."""
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
    """Accuracy of the adaptive method; in percent, as all that follow."""
    upper_bound: float
    """Problems that at least one baseline solves."""
    upper_bound_with_adaptive: float
    selection_accuracy: float | None
    """`adaptive_right` of `adaptive_right + adaptive_wrong`: of problems that a baseline solves."""
    selection_low: float | None
    """Limit of the 95 % Wilson interval; None: there is none, and the note says why."""
    selection_high: float | None
    note: str


@dataclass(frozen=True, slots=True)
class WinRow:
    """How often a method wins against a baseline, that is solves more problems of a benchmark."""

    model: str
    baseline: str
    treatment: str
    cells: int
    """Pairs of a benchmark and a model."""
    wins: int
    """More problems solved."""
    ties: int
    losses: int
    wins_by_test: int
    """More solved, and McNemar's exact p below `alpha`, not corrected for the number of cells."""
    ties_by_test: int
    losses_by_test: int
    alpha: float


def _find_levels(
    rows: list[ScoreRow], methods: list[str], epoch: int | None, right_from: float | None, low: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return what is known of answers, by cell and problem, and method; what to say of others."""
    if len({*methods}) < len(methods):
        raise InputError(", ".join(methods), "a method is named twice")
    table, keys = to_table(rows), ["dataset", "model", "method", "id"]
    # The only answer to a problem is always meant.
    is_epoch = (epoch is None) | table["epoch"].isna() | (table["epoch"] == epoch)
    meant = table[table["method"].isin(methods) & is_epoch]
    is_graded = ~meant["value"].isin([0, 1, np.nan]) & (right_from is None)
    for is_unclear, problem in (
        (meant.duplicated(keys), "several answers to one problem; --epoch says which is meant"),
        (is_graded, "value {:g} is neither right nor wrong; --right-from says what is right"),
    ):
        for *names, value in meant.loc[is_unclear, [*keys, "value"]].to_numpy():
            raise InputError(", ".join(names), problem.format(value))
    table["level"] = meant["level"] + (meant["value"] >= (right_from or 1))
    levels = table.groupby(["asked", *CELL, "id", "method"])["level"].first().unstack()
    levels = levels.reindex(columns=methods)
    cells: Any = levels.notna().groupby(level=CELL, sort=False)
    is_complete = cells.transform("any").all(axis=1)
    if not is_complete.any():
        there = ", ".join(dict.fromkeys(row.method for row in rows))
        problem = f"no model has rows of all of them; methods there: {there}"
        raise InputError(", ".join(methods), problem)
    absences = [
        f"{dataset}, {model}: left out, no rows of {', '.join(there.index[~there])}"
        for (dataset, model, _), there in cells.any().iterrows()
        if not there.all()
    ]
    levels = levels[is_complete].dropna(how="all").fillna(NOT_ASKED)
    least: Any = levels.min(axis=1).groupby(level=CELL, sort=False)
    said = left_out("problem", [(", ".join(cell), own) for cell, own in least], low)
    said["notices"] = absences + said["notices"]
    return levels[least.transform("max") >= low], said


def _rows(levels: pd.DataFrame, lowest: int) -> Iterator[OutcomeRow]:
    """Yield rows of the models of each benchmark, and of all; then of models, of all benchmarks."""
    for dataset, own in levels.groupby(level="dataset", sort=False):
        models = [*own.groupby(level="model", sort=False)]
        for model, part in models + [(ALL, own)] * (len(models) > 1):
            yield _row(dataset, model, part, lowest)
    for model, own in levels.groupby(level="model", sort=False):
        if len(own.index.unique("dataset")) > 1:
            yield _row(ALL, model, own, lowest)


def _row(dataset: Any, model: Any, levels: pd.DataFrame, lowest: int) -> OutcomeRow:
    least = levels.min(axis=1)
    right = levels[least >= lowest] == RIGHT
    (adaptive, *baselines), n = levels.columns, len(right)
    some, every = right[baselines].any(axis=1), right[baselines].all(axis=1)
    # By number: 4 where the adaptive method is right, 2 where some baselines are, 1 where all are.
    numbers = 4 * right[adaptive] + 2 * some + every
    fail, _, wrong, lost, alone, _, chosen, solve = np.bincount(numbers, minlength=8).tolist()
    solved, choices = (solve + chosen + alone, n - fail - alone, n - fail), chosen + wrong + lost
    selection: list[Any] = [None, None, None, _NO_CHOICE]
    if choices:
        share = wilson(chosen, choices)
        selection = [*(100 * (one or 0.0) for one in (share.value, share.low, share.high)), ""]
    if choices and model == ALL:
        selection[1:] = None, None, _CLUSTERED
    columns: list[Any] = [
        *(dataset, model, ", ".join(levels.index.unique("rule")), adaptive, ", ".join(baselines)),
        *(n, int((least == NOT_ANSWERED).sum()), int((least < NOT_ANSWERED).sum())),
        *(fail, solve, chosen, wrong + lost, alone, lost, *(100 * k / n for k in solved)),
    ]
    return OutcomeRow(*columns, *selection)


def _wins(levels: pd.DataFrame, lowest: int, alpha: float) -> Iterator[WinRow]:
    """Yield how often the first method wins against each of the others, by model, and of all."""
    models = [*levels.groupby(level="model", sort=False)]
    for model, own in models + [(ALL, levels)] * (len(models) > 1):
        adaptive, *baselines = levels.columns
        for baseline in baselines:
            both = own[own[[adaptive, baseline]].min(axis=1) >= lowest] == RIGHT
            differing = both[adaptive] > both[baseline], both[adaptive] < both[baseline]
            more, less = (which.groupby(level=CELL).sum() for which in differing)
            signs = np.sign(more - less)
            tested = signs * [mcnemar(*counts) < alpha for counts in zip(more, less, strict=True)]
            counts = [int((found == k).sum()) for found in (signs, tested) for k in (1, 0, -1)]
            columns: list[Any] = [model, baseline, adaptive, len(signs), *counts, alpha]
            yield WinRow(*columns)


def _print(console: Console, rows: Sequence[OutcomeRow], won: Sequence[WinRow]) -> None:
    if rows:
        print_rows(console, rows, OutcomeRow)
        print_rows(console, won, WinRow)


@command
def outcomes(
    scores: GivenTables,
    *,
    baselines: Annotated[str | Sequence[str], Option(metavar="METHODS")],
    adaptive: Annotated[str, Option(metavar="METHOD")],
    alpha: Annotated[float, Option(over=0, under=1)] = 0.05,
    wins: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    rule: Names = (),
    run: Names = (),
    epoch: Annotated[int | None, Option(metavar="N")] = None,
    right_from: Annotated[float | None, Option(metavar="VALUE", over=0, most=1)] = None,
    no_answer: NoAnswer = "wrong",
) -> Result[OutcomeRow]:
    """Find how an adaptive method does where its baselines do well or not.

    Each problem is one of: all fail, all solve, adaptive right (some baselines are too), adaptive
    wrong (a baseline is right), only adaptive. Beside them stand what an oracle that chooses
    between the baselines reaches, and how often the adaptive method is right where a baseline is.
    With one baseline it counts the problems that a treatment, the adaptive method, gains and loses.
    In the terminal wins, ties and losses follow.

    Parameters
    ----------
    scores : see compare
    baselines : str or sequence of str
        One method or more, with commas between them.
    adaptive : str
        The method that chooses between their ways of solving.
    alpha : float
        A difference with a greater p of McNemar's test is a tie by test.
    wins : str or Path, optional
        Write wins, ties and losses per model and baseline to this file.
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
        One row per benchmark and model, and for all models of a benchmark; then for all benchmarks
        of a model. Errors are those of `compare`.

    Examples
    --------
    $ evalcore outcomes scores.jsonl --baselines zero-shot,cot,pot --adaptive f-1
    $ evalcore outcomes scores.jsonl --baselines cot --adaptive f-1 --wins wins.csv
    """
    if not baselines:
        raise InputError("--baselines", "no method is named")
    target, methods = optional_target(wins), [adaptive, *baselines]
    lowest, chosen = LEAST[no_answer], read_chosen(scores, rule, run)
    levels, said = _find_levels(chosen, methods, epoch, right_from, lowest)
    rows = [*_rows(levels, lowest)]
    won = [*_wins(levels, lowest, alpha)]
    save(won, WinRow, target)
    return Result(rows, OutcomeRow, print_table=partial(_print, rows=rows, won=won), **said)
