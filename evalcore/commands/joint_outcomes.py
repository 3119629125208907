"""`evalcore flips`, `complementarity` and `outcomes`: methods beside each other, per problem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

from evalcore.joint_outcomes import (
    ComplementRow,
    FlipRow,
    OutcomeRow,
    complement_rows,
    flip_rows,
    outcome_rows,
)
from evalcore.solved_problems import Cells, Choice, find_cells, read_chosen
from evalcore.wins import WinRow, win_rows
from ngramscan.errors import InputError
from ngramscan.output import optional_target, to_frame
from ngramscan.output.options import save

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

Paths = str | Path | Sequence[str | Path]


class OutcomeOptions(TypedDict, total=False):
    """What all three commands take beside the scores and the methods."""

    rule: str | Sequence[str]
    epoch: int | None
    right_from: float | None
    missing: str


class Flips(NamedTuple):
    """The rows of `flips`, and what to say beside them."""

    rows: list[FlipRow]
    notices: list[str]


class Complements(NamedTuple):
    """The rows of `complementarity`, and what to say beside them."""

    rows: list[ComplementRow]
    notices: list[str]


class Outcomes(NamedTuple):
    """The rows of `outcomes`, wins and losses, and what to say beside them."""

    rows: list[OutcomeRow]
    wins: list[WinRow]
    notices: list[str]


def flips_with(scores: Paths, baseline: str, treatment: str, options: OutcomeOptions) -> Flips:
    """Compare two methods problem by problem."""
    found = _cells(scores, [baseline, treatment], options)
    return Flips(flip_rows(found.cells, baseline, treatment), found.notices)


def complementarity_with(
    scores: Paths, methods: Sequence[str], options: OutcomeOptions
) -> Complements:
    """Find how far two methods solve different problems."""
    if len(methods) != 2:
        raise InputError("--methods", f"{len(methods)} names; two were expected, as cot,pot")
    found = _cells(scores, methods, options)
    return Complements(complement_rows(found.cells, *methods), found.notices)


def outcomes_with(
    scores: Paths, baselines: Sequence[str], adaptive: str, options: OutcomeOptions, alpha: float
) -> Outcomes:
    """Find how an adaptive method does where its baselines do well or not."""
    if not baselines:
        raise InputError("--baselines", "no method is named")
    if not 0 < alpha < 1:
        raise InputError(f"--alpha {alpha:g}", "a number between 0 and 1 was expected")
    found = _cells(scores, [adaptive, *baselines], options)
    rows = outcome_rows(found.cells, baselines, adaptive)
    return Outcomes(rows, win_rows(found.cells, baselines, adaptive, alpha), found.notices)


def _cells(scores: Paths, methods: Sequence[str], options: OutcomeOptions) -> Cells:
    rule = options.get("rule", ())
    choice = Choice(
        (rule,) if isinstance(rule, str) else tuple(rule),
        options.get("epoch"),
        options.get("right_from"),
        options.get("missing", "wrong"),
    )
    paths = [scores] if isinstance(scores, str | Path) else scores
    rows = read_chosen([Path(path) for path in paths], choice.rules)
    return find_cells(rows, methods, choice)


def names_in(text: str | Sequence[str]) -> list[str]:
    """Return the names of a list with commas."""
    parts = text.split(",") if isinstance(text, str) else text
    return [name.strip() for name in parts if name.strip()]


def print_outcomes(console: Console, found: Outcomes) -> None:
    """Print joint outcomes, and wins and losses below."""
    from ngramscan.output.layout import print_rows

    print_rows(console, found.rows, OutcomeRow)
    print_rows(console, found.wins, WinRow)


# The commands as functions


def flips(
    scores: Paths, *, baseline: str, treatment: str, **options: Unpack[OutcomeOptions]
) -> pd.DataFrame:
    """Count the problems that a treatment turns from wrong to right, and the reverse.

    Parameters
    ----------
    scores : str, Path or several of them
        Files that `score` or `judge` wrote.
    baseline, treatment : str
        The methods.
    **options
        `rule`, `epoch`, `right_from`, `missing`, as the command has them.

    Returns
    -------
    DataFrame
        One row per benchmark and model, and one for all benchmarks of a model.

    Raises
    ------
    InputError
        A file or an option is wrong.
    """
    return to_frame(flips_with(scores, baseline, treatment, options).rows, FlipRow)


def complementarity(
    scores: Paths, *, methods: str | Sequence[str], **options: Unpack[OutcomeOptions]
) -> pd.DataFrame:
    """Find how far two methods solve different problems.

    Parameters
    ----------
    scores : str, Path or several of them
        Files that `score` or `judge` wrote.
    methods : str or sequence of str
        The two.
    **options
        As those of `flips`.

    Returns
    -------
    DataFrame
        One row per benchmark and model.

    Raises
    ------
    InputError
        A file or an option is wrong.
    """
    return to_frame(complementarity_with(scores, names_in(methods), options).rows, ComplementRow)


def outcomes(
    scores: Paths,
    *,
    baselines: str | Sequence[str],
    adaptive: str,
    alpha: float = 0.05,
    wins: str | Path | None = None,
    **options: Unpack[OutcomeOptions],
) -> pd.DataFrame:
    """Find how an adaptive method does where its baselines do well or not.

    Parameters
    ----------
    scores : str, Path or several of them
        Files that `score` or `judge` wrote.
    baselines : str or sequence of str
        At least one method.
    adaptive : str
        The method that chooses between their ways of solving.
    alpha : float
        A difference with a greater p is a tie by test.
    wins : str, Path or None
        Where wins, ties and losses are written.
    **options
        As those of `flips`.

    Returns
    -------
    DataFrame
        One row per benchmark and model, and one for all models of a benchmark.

    Raises
    ------
    InputError
        A file or an option is wrong.
    """
    target = optional_target(wins)
    found = outcomes_with(scores, names_in(baselines), adaptive, options, alpha)
    save(found.wins, WinRow, target)
    return to_frame(found.rows, OutcomeRow)
