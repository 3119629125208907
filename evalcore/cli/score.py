"""`evalcore score`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.options import dataset_options, records_options
from evalcore.scoring.base import ScoreRow
from ngramscan.output import choose_target, refuse_same_file
from ngramscan.output.options import (
    emit,
    fail_with,
    keeps_nothing,
    output_options,
    progress_options,
    tell,
)

if TYPE_CHECKING:
    from evalcore.commands.scoring import ScoreOptions


@click.command("score")
@click.argument("outputs", type=click.Path(path_type=Path))
@dataset_options
@records_options
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="NAME",
    help="How answers are compared; again for several side by side.  [default: the benchmark's]",
)
@click.option(
    "--extraction",
    multiple=True,
    metavar="NAME",
    help="How the answer is found in a text; again for the next to try.  [default: the "
    "benchmark's]",
)
@click.option(
    "--program-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="S",
    help="A program may run so long.",
)
@click.option(
    "--allow-weak-sandbox",
    is_flag=True,
    help="Run programs also where this system can't keep them from doing harm.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw accuracies with their intervals: .svg or .png.",
)
@output_options
@progress_options
@keeps_nothing
def score_command(
    outputs: Path,
    rules: Sequence[str],
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Score recorded outputs against the reference answers of a benchmark.

    Programs that models wrote are run, in a sandbox. Where rows go to the terminal as a table, it
    is a summary per model; every other format has one row per output and rule.

    \b
    Examples:
      evalcore score outputs/financemath --dataset financemath --rule strict --rule lenient
      evalcore score raw_pot_outputs --layout financemath --method pot --dataset financemath
    """
    from evalcore.commands.scoring import score_with
    from evalcore.summaries import print_summaries
    from ngramscan.progress import Terminal

    refuse_same_file({"-o": output, "--figure": options["figure"]})
    target = choose_target(format_name, output)
    with Terminal(quiet, verbose) as progress:
        scores = score_with(outputs, rules, cast("ScoreOptions", options), progress)
    emit(scores.rows, ScoreRow, target, lambda console: print_summaries(console, scores.rows))
    tell(scores.notices, quiet)
    fail_with(scores.failures)
