"""`evalcore flips`, `complementarity` and `outcomes`: methods beside each other, per problem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from evalcore.joint_outcomes import (
    ComplementRow,
    FlipRow,
    OutcomeRow,
    complement_rows,
    flip_rows,
    outcome_rows,
)
from evalcore.row_files import GivenTables, Table, as_tables
from evalcore.scoring.base import NO_ANSWER_IS
from evalcore.solved_problems import Cells, Choice, find_cells, read_chosen
from evalcore.wins import WinRow, win_rows
from ngramscan.errors import IncompleteError, InputError
from ngramscan.output import listed, optional_target, several, strict_keywords, to_frame
from ngramscan.output.options import save

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


class OutcomeOptions(TypedDict, total=False):
    """What all three commands take beside the scores and the methods."""

    rule: str | Sequence[str]
    epoch: int | None
    right_from: float | None
    run: str | Sequence[str]
    no_answer: str


class Flips(NamedTuple):
    """The rows of `flips`, and what to say beside them."""

    rows: list[FlipRow]
    left_out: str
    notices: list[str]
    failures: list[str]


class Complements(NamedTuple):
    """The rows of `complementarity`, and what to say beside them."""

    rows: list[ComplementRow]
    left_out: str
    notices: list[str]
    failures: list[str]


class Outcomes(NamedTuple):
    """The rows of `outcomes`, wins and losses, and what to say beside them."""

    rows: list[OutcomeRow]
    wins: list[WinRow]
    left_out: str
    notices: list[str]
    failures: list[str]


def flips_with(
    scores: Sequence[Table], baseline: str, treatment: str, options: OutcomeOptions
) -> Flips:
    """Compare two methods problem by problem."""
    found = _cells(scores, [baseline, treatment], options)
    return Flips(flip_rows(found.cells, baseline, treatment), *found[1:])


def complementarity_with(
    scores: Sequence[Table], methods: Sequence[str], options: OutcomeOptions
) -> Complements:
    """Find how far two methods solve different problems."""
    if len(methods) != 2:
        raise InputError("--methods", f"{len(methods)} names; two were expected, as cot,pot")
    found = _cells(scores, methods, options)
    return Complements(complement_rows(found.cells, *methods), *found[1:])


def outcomes_with(
    scores: Sequence[Table],
    baselines: Sequence[str],
    adaptive: str,
    options: OutcomeOptions,
    alpha: float,
) -> Outcomes:
    """Find how an adaptive method does where its baselines do well or not."""
    if not baselines:
        raise InputError("--baselines", "no method is named")
    if not 0 < alpha < 1:
        raise InputError(f"--alpha {alpha:g}", "a number between 0 and 1 was expected")
    found = _cells(scores, [adaptive, *baselines], options)
    rows = outcome_rows(found.cells, baselines, adaptive)
    return Outcomes(rows, win_rows(found.cells, baselines, adaptive, alpha), *found[1:])


def _cells(scores: Sequence[Table], methods: Sequence[str], options: OutcomeOptions) -> Cells:
    choice = Choice(
        several(options.get("rule", ())),
        options.get("epoch"),
        options.get("right_from"),
        options.get("no_answer", NO_ANSWER_IS[0]),
        several(options.get("run", ())),
    )
    return find_cells(read_chosen(scores, choice.rules, choice.runs), methods, choice)


def _frame(found: Flips | Complements | Outcomes, row_type: type) -> pd.DataFrame:
    frame = to_frame(found.rows, row_type)
    if found.failures:
        raise IncompleteError("; ".join(found.failures), frame)
    return frame


def print_outcomes(console: Console, found: Outcomes) -> None:
    """Print joint outcomes, and wins and losses below."""
    from ngramscan.output.layout import print_rows

    print_rows(console, found.rows, OutcomeRow)
    print_rows(console, found.wins, WinRow)


# The commands as functions


@strict_keywords
def flips(
    scores: GivenTables,
    *,
    baseline: str,
    treatment: str,
    rule: str | Sequence[str] = (),
    epoch: int | None = None,
    right_from: float | None = None,
    run: str | Sequence[str] = (),
    no_answer: str = NO_ANSWER_IS[0],
) -> pd.DataFrame:
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
    epoch : int, optional
        Which of repeated answers to take; needed where a problem has several.
    right_from : float, optional
        The least value of a right answer; needed where there are others than 0 and 1.
    run : str or sequence of str
        The runs to take of methods that have several: names, parts of them, or `latest`.
    no_answer : str
        What an output counts as that was refused, cut off or empty: `wrong`, or `exclude`d.

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
    """
    options = OutcomeOptions(
        rule=rule, epoch=epoch, right_from=right_from, run=run, no_answer=no_answer
    )
    return _frame(flips_with(as_tables(scores), baseline, treatment, options), FlipRow)


@strict_keywords
def complementarity(
    scores: GivenTables,
    *,
    methods: str | Sequence[str],
    rule: str | Sequence[str] = (),
    epoch: int | None = None,
    right_from: float | None = None,
    run: str | Sequence[str] = (),
    no_answer: str = NO_ANSWER_IS[0],
) -> pd.DataFrame:
    """Find how far two methods solve different problems.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    methods : str or sequence of str
        The two methods: `"cot,pot"`, or one by one.
    rule : str or sequence of str
        The rules whose values are taken, one per benchmark; needed where several rules scored.
    epoch : int, optional
        Which of repeated answers to take; needed where a problem has several.
    right_from : float, optional
        The least value of a right answer; needed where there are others than 0 and 1.
    run : str or sequence of str
        The runs to take of methods that have several: names, parts of them, or `latest`.
    no_answer : str
        What an output counts as that was refused, cut off or empty: `wrong`, or `exclude`d.

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
    """
    options = OutcomeOptions(
        rule=rule, epoch=epoch, right_from=right_from, run=run, no_answer=no_answer
    )
    return _frame(complementarity_with(as_tables(scores), listed(methods), options), ComplementRow)


@strict_keywords
def outcomes(
    scores: GivenTables,
    *,
    baselines: str | Sequence[str],
    adaptive: str,
    alpha: float = 0.05,
    wins: str | Path | None = None,
    rule: str | Sequence[str] = (),
    epoch: int | None = None,
    right_from: float | None = None,
    run: str | Sequence[str] = (),
    no_answer: str = NO_ANSWER_IS[0],
) -> pd.DataFrame:
    """Find how an adaptive method does where its baselines do well or not.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    baselines : str or sequence of str
        At least one method: `"cot,pot"`, or one by one.
    adaptive : str
        The method that chooses between their ways of solving.
    alpha : float
        A difference with a greater p of McNemar's test is a tie by test.
    wins : str or Path, optional
        Write wins, ties and losses per model and baseline to this file.
    rule : str or sequence of str
        The rules whose values are taken, one per benchmark; needed where several rules scored.
    epoch : int, optional
        Which of repeated answers to take; needed where a problem has several.
    right_from : float, optional
        The least value of a right answer; needed where there are others than 0 and 1.
    run : str or sequence of str
        The runs to take of methods that have several: names, parts of them, or `latest`.
    no_answer : str
        What an output counts as that was refused, cut off or empty: `wrong`, or `exclude`d.

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
    """
    target = optional_target(wins)
    options = OutcomeOptions(
        rule=rule, epoch=epoch, right_from=right_from, run=run, no_answer=no_answer
    )
    found = outcomes_with(as_tables(scores), listed(baselines), adaptive, options, alpha)
    save(found.wins, WinRow, target)
    return _frame(found, OutcomeRow)
