"""`evalcore flips`, `complementarity` and `outcomes`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.score_options import no_answer_option, rule_option, run_option
from evalcore.cli.showing import show
from ngramscan.output import choose_target, listed, optional_target, refuse_same_file
from ngramscan.output.options import (
    all_of,
    emit,
    keeps_nothing,
    output_options,
    quiet_option,
    save,
)

if TYPE_CHECKING:
    from evalcore.commands.joint_outcomes import OutcomeOptions

_scores = click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
_reading_options = all_of(
    rule_option,
    run_option,
    click.option(
        "--epoch",
        type=int,
        metavar="N",
        help="Which of repeated answers, where a method has several.",
    ),
    click.option(
        "--right-from",
        type=click.FloatRange(min=0, max=1, min_open=True),
        metavar="VALUE",
        help="The least value of a right answer, where there are others than 0 and 1.",
    ),
    no_answer_option,
)


@click.command("flips")
@_scores
@click.option("--baseline", required=True, metavar="METHOD", help="What it is compared with.")
@click.option("--treatment", required=True, metavar="METHOD", help="What is compared.")
@_reading_options
@output_options
@quiet_option
@keeps_nothing
def flips_command(
    scores: Sequence[Path],
    baseline: str,
    treatment: str,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Count the problems that a treatment turns from wrong to right, and the reverse.

    \b
    Examples:
      evalcore flips scores.jsonl --baseline cot --treatment f-1
      evalcore flips scores.jsonl --baseline cot --treatment f-1 --no-answer exclude
    """
    from evalcore.commands.joint_outcomes import flips_with
    from evalcore.joint_outcomes import FlipRow

    target = choose_target(format_name, output)
    found = flips_with(scores, baseline, treatment, cast("OutcomeOptions", options))
    show(found, target, quiet, partial(emit, found.rows, FlipRow, target))


@click.command("complementarity")
@_scores
@click.option("--methods", required=True, metavar="FIRST,SECOND", help="Which two.")
@_reading_options
@output_options
@quiet_option
@keeps_nothing
def complementarity_command(
    scores: Sequence[Path],
    methods: str,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Find how far two methods solve different problems.

    \b
    Examples:
      evalcore complementarity scores.jsonl --methods f-1,formulate-and-solve
    """
    from evalcore.commands.joint_outcomes import complementarity_with
    from evalcore.joint_outcomes import ComplementRow

    target = choose_target(format_name, output)
    found = complementarity_with(scores, listed(methods), cast("OutcomeOptions", options))
    show(found, target, quiet, partial(emit, found.rows, ComplementRow, target))


@click.command("outcomes")
@_scores
@click.option("--baselines", required=True, metavar="METHODS", help="With commas.")
@click.option(
    "--adaptive",
    required=True,
    metavar="METHOD",
    help="The method that chooses between their ways of solving.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="A difference with a greater p of McNemar's test is a tie by test.",
)
@click.option(
    "--wins",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write wins, ties and losses per model and baseline.",
)
@_reading_options
@output_options
@quiet_option
@keeps_nothing
def outcomes_command(
    scores: Sequence[Path],
    baselines: str,
    adaptive: str,
    alpha: float,
    wins: Path | None,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Find how an adaptive method does where its baselines do well or not.

    Each problem is one of: all fail, all solve, adaptive right (some baselines are too), adaptive
    wrong (a baseline is right), only adaptive. Beside them stand what an oracle that chooses
    between the baselines reaches, and how often the adaptive method is right where a baseline is.
    In the terminal wins, ties and losses follow.

    \b
    Examples:
      evalcore outcomes scores.jsonl --baselines zero-shot,cot,pot --adaptive f-1
      evalcore outcomes scores.jsonl --baselines cot,pot --adaptive f-1 --wins wins.csv
    """
    from evalcore.commands.joint_outcomes import outcomes_with, print_outcomes
    from evalcore.joint_outcomes import OutcomeRow
    from evalcore.wins import WinRow

    refuse_same_file({"-o": output, "--wins": wins})
    target, wins_target = choose_target(format_name, output), optional_target(wins)
    given = cast("OutcomeOptions", options)
    found = outcomes_with(scores, listed(baselines), adaptive, given, alpha)
    save(found.wins, WinRow, wins_target)
    table = partial(print_outcomes, found=found)
    show(found, target, quiet, partial(emit, found.rows, OutcomeRow, target, table))
