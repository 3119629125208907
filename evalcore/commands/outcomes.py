"""`evalcore outcomes`: which methods solve which problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from evalcore.pairing import (
    CELL,
    LEAST,
    NOT_ANSWERED,
    NOT_ASKED,
    RIGHT,
    Names,
    NoAnswer,
    left_out,
    to_table,
)
from evalcore.scores import ScoreRow, read_chosen
from ngramscan.errors import InputError
from ngramscan.reading.row_files import GivenTables
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import (
    ALL,
    first_of,
    for_paper,
    print_notes,
    print_pooled,
    to_columns,
)
from ngramscan.reporting.command import Option, Result, RowsFile, command
from ngramscan.reporting.layout import Layout
from ngramscan.statistics.proportions import mcnemar, wilson

if TYPE_CHECKING:
    import pandas as pd

_CLUSTERED = "no interval: answers of several models to one problem are not independent"
_NO_CHOICE = "no selection accuracy: each problem is solved by all methods or by no baseline"
_columns = partial(
    to_columns,
    names="dataset model rule adaptive baselines n all_fail all_solve adaptive_right adaptive_wrong"
    " only_adaptive accuracy upper_bound selection_accuracy upper_bound_with_adaptive"
    " all_baselines_but_adaptive no_answer=n_no_answer unknown=n_unknown",
    shares=("accuracy", "upper_bound", "upper_bound_with_adaptive", "selection_accuracy"),
)
_OPTIONAL = ("upper bound with adaptive", "all baselines but adaptive", "no answer", "unknown")
_WINS = "model treatment baseline wins ties losses wins_by_test ties_by_test losses_by_test cells"


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """How an adaptive method does where its baselines succeed or fail; shares are fractions.

    `all` stands for all benchmarks or models together. `all_fail` to `only_adaptive` add up to `n`.
    """

    dataset: str
    model: str
    rule: str
    adaptive: str
    baselines: str
    n: int
    n_no_answer: int
    """Problems with a refused, cut off or empty answer; it is wrong unless excluded from `n`."""
    n_unknown: int
    """Problems left out of `n` because one of the results is unknown."""
    all_fail: int
    all_solve: int
    """Solved by the adaptive method and all baselines."""
    adaptive_right: int
    """Solved by the adaptive method and some baselines, but not all."""
    adaptive_wrong: int
    """Solved by some or all baselines, but not by the adaptive method."""
    only_adaptive: int
    all_baselines_but_adaptive: int
    """Problems in `adaptive_wrong` that all baselines solve, so that any choice would do."""
    accuracy: float
    """Accuracy of the adaptive method."""
    upper_bound: float
    """Share of problems that at least one baseline solves."""
    upper_bound_with_adaptive: float
    selection_accuracy: float | None
    """`adaptive_right` divided by `adaptive_right + adaptive_wrong`."""
    selection_low: float | None
    """Limit of the 95% Wilson interval. None: there is none, and the note says why."""
    selection_high: float | None
    note: str


@dataclass(frozen=True, slots=True)
class WinRow:
    """How often a method beats a baseline, that is, solves more problems of a benchmark."""

    model: str
    baseline: str
    treatment: str
    cells: int
    """Pairs of a benchmark and a model."""
    wins: int
    """Cells in which the treatment solves more problems."""
    ties: int
    losses: int
    wins_by_test: int
    """Wins with an exact McNemar p below `alpha`, not corrected for the number of cells."""
    ties_by_test: int
    losses_by_test: int
    alpha: float


def _find_levels(
    rows: list[ScoreRow], methods: list[str], epoch: int | None, right_from: float | None, low: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return what is known about each answer, by cell, problem and method; and the messages."""
    table, keys = to_table(rows), ["dataset", "model", "method", "id"]
    # If a problem has only one answer, it is used whatever the epoch.
    is_epoch = (epoch is None) | table["epoch"].isna() | (table["epoch"] == epoch)
    meant = table[table["method"].isin(methods) & is_epoch]
    is_graded = ~meant["value"].isin([0, 1, np.nan]) & (right_from is None)
    for is_unclear, problem in (
        (meant.duplicated(keys), "several answers to one problem; choose one with --epoch N"),
        (is_graded, "value {:g} is neither right nor wrong; set a limit with --right-from"),
    ):
        for *names, value in meant.loc[is_unclear, [*keys, "value"]].to_numpy():
            raise InputError(", ".join(names), problem.format(value))
    table["level"] = meant["level"] + (meant["value"] >= (right_from or 1))
    levels = table.groupby(["asked", *CELL, "id", "method"])["level"].first().unstack()
    levels = levels.reindex(columns=methods)
    cells: Any = levels.notna().groupby(level=CELL, sort=False)
    is_complete, known = cells.transform("any").all(axis=1), [*cells.any().iterrows()]
    if not is_complete.any():
        there = first_of([f"{', '.join(cell)}: {', '.join(has.index[has])}" for cell, has in known])
        problem = f"no model was scored on one benchmark with all of them; there are {there}"
        raise InputError(", ".join(methods), problem)
    absences = [
        f"{dataset}, {model}: left out, no scores for {', '.join(has.index[~has])}"
        for (dataset, model, _), has in known
        if not has.all()
    ]
    levels = levels[is_complete].dropna(how="all").fillna(NOT_ASKED)
    least: Any = levels.min(axis=1).groupby(level=CELL, sort=False)
    messages = left_out("problem", [(", ".join(cell), part) for cell, part in least], low)
    messages["notices"] = absences + messages["notices"]
    return levels[least.transform("max") >= low], messages


def _by_model(levels: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    """Return the levels of each model, then those of all together if there are several."""
    models = [*levels.groupby(level="model", sort=False)]
    return models + [(ALL, levels)] * (len(models) > 1)


def _rows(levels: pd.DataFrame, lowest: int) -> Iterator[OutcomeRow]:
    for dataset, part in levels.groupby(level="dataset", sort=False):
        for model, answers in _by_model(part):
            yield _row(dataset, model, answers, lowest)
    for model, part in levels.groupby(level="model", sort=False):
        if len(part.index.unique("dataset")) > 1:
            yield _row(ALL, model, part, lowest)


def _row(dataset: Any, model: Any, levels: pd.DataFrame, lowest: int) -> OutcomeRow:
    least = levels.min(axis=1)
    right = levels[least >= lowest] == RIGHT
    (adaptive, *baselines), n = levels.columns, len(right)
    some, every = right[baselines].any(axis=1), right[baselines].all(axis=1)
    # 4 if the adaptive method is right, plus 2 if some baselines are, plus 1 if all are.
    numbers = 4 * right[adaptive] + 2 * some + every
    fail, _, wrong, lost, alone, _, chosen, solve = np.bincount(numbers, minlength=8).tolist()
    choices = chosen + wrong + lost
    share = wilson(chosen, choices) if choices else None
    interval = share if model != ALL else None
    note = "" if interval else _CLUSTERED if share else _NO_CHOICE
    return OutcomeRow(
        dataset=dataset,
        model=model,
        rule=", ".join(levels.index.unique("rule")),
        adaptive=adaptive,
        baselines=", ".join(baselines),
        n=n,
        n_no_answer=int((least == NOT_ANSWERED).sum()),
        n_unknown=int((least < NOT_ANSWERED).sum()),
        all_fail=fail,
        all_solve=solve,
        adaptive_right=chosen,
        adaptive_wrong=wrong + lost,
        only_adaptive=alone,
        all_baselines_but_adaptive=lost,
        accuracy=(solve + chosen + alone) / n,
        upper_bound=(n - fail - alone) / n,
        upper_bound_with_adaptive=(n - fail) / n,
        selection_accuracy=share.value if share else None,
        selection_low=interval.low if interval else None,
        selection_high=interval.high if interval else None,
        note=note,
    )


def _wins(levels: pd.DataFrame, lowest: int, alpha: float) -> Iterator[WinRow]:
    adaptive, *baselines = levels.columns
    for model, part in _by_model(levels):
        for baseline in baselines:
            both = part[part[[adaptive, baseline]].min(axis=1) >= lowest] == RIGHT
            more: Any = (both[adaptive] > both[baseline]).groupby(level=CELL).sum()
            less: Any = (both[adaptive] < both[baseline]).groupby(level=CELL).sum()
            signs = np.sign(more - less)
            tested = signs * [mcnemar(*counts) < alpha for counts in zip(more, less, strict=True)]
            yield WinRow(
                model=model,
                baseline=baseline,
                treatment=adaptive,
                cells=len(signs),
                wins=int((signs > 0).sum()),
                ties=int((signs == 0).sum()),
                losses=int((signs < 0).sum()),
                wins_by_test=int((tested > 0).sum()),
                ties_by_test=int((tested == 0).sum()),
                losses_by_test=int((tested < 0).sum()),
                alpha=alpha,
            )


def _print(console: Any, rows: Sequence[OutcomeRow], won: Sequence[WinRow]) -> None:
    print_pooled(console, rows, _columns, Layout(5, frozenset({"baselines"}), _OPTIONAL))
    print_notes(console, rows, "dataset", "model")
    title = f"Benchmarks won, tied and lost; by test: p < {won[0].alpha:g}" if won else None
    layout = Layout(3, optional=("cells",), title=title)
    print_pooled(console, won if rows else (), partial(to_columns, names=_WINS), layout)


@command
def outcomes(
    scores: GivenTables,
    *,
    baselines: Annotated[str | Sequence[str], Option(metavar="METHODS")],
    adaptive: Annotated[str, Option(metavar="METHOD")],
    alpha: Annotated[float, Option(over=0, under=1)] = 0.05,
    wins: RowsFile = None,
    rule: Names = (),
    run: Names = (),
    epoch: Annotated[int | None, Option(metavar="N")] = None,
    right_from: Annotated[float | None, Option(metavar="VALUE", over=0, most=1)] = None,
    no_answer: NoAnswer = "wrong",
) -> Result[OutcomeRow]:
    """Show how an adaptive method does where its baselines succeed or fail.

    Each problem has one of five outcomes: all methods fail, all solve it, the adaptive method and
    some baselines are right, a baseline is right but not the adaptive method, or only the adaptive
    method is right. The upper bound is the accuracy of always choosing the right baseline; the
    selection accuracy is how often the adaptive method is right where baselines disagree with it or
    each other. With one baseline, the table shows the problems that the method gains and loses.

    Parameters
    ----------
    scores : see compare
    baselines : str or sequence of str
        The methods that the adaptive one is compared with.
    adaptive : str
        The method that chooses how to solve each problem.
    alpha : float
        Count a difference as a tie by test if its exact McNemar p is not below this.
    wins : str or Path, optional
        Write wins, ties and losses by model and baseline to this file.
    rule : str or sequence of str
        The rule to use for each benchmark; needed if several rules scored it.
    run : see compare
    epoch : int, optional
        Which of several answers to a problem to use.
    right_from : float, optional
        The lowest value that counts as right; needed if there are values other than 0 and 1.
    no_answer : see compare

    Returns
    -------
    DataFrame
        One row per benchmark and model, one for all models of a benchmark, and one for all
        benchmarks of a model.

    Examples
    --------
    $ evalcore outcomes scores.jsonl --baselines zero-shot,cot,pot --adaptive f-1
    $ evalcore outcomes scores.jsonl --baselines cot --adaptive f-1 --wins wins.csv
    """
    if not baselines:
        raise InputError("--baselines", "expected at least one method")
    lowest, chosen = LEAST[no_answer], read_chosen(scores, rule, run)
    methods, known = [adaptive, *baselines], [row.method for row in chosen]
    for number, name in enumerate(methods):
        refuse_other("--baselines" if number else "--adaptive", name, known)
        if name in methods[:number]:
            raise InputError(f"--baselines {name}", "this method was given twice")
    levels, messages = _find_levels(chosen, methods, epoch, right_from, lowest)
    rows, won = [*_rows(levels, lowest)], [*_wins(levels, lowest, alpha)]
    printed, paper = partial(_print, rows=rows, won=won), for_paper(_columns(rows))
    files = [(wins, won, WinRow)]
    return Result(rows, OutcomeRow, print_table=printed, files=files, for_paper=paper, **messages)
