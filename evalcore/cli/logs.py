"""`evalcore logs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.logs import LAYOUTS, MISSING
from evalcore.scoring.base import ScoreRow
from ngramscan.output import choose_target, optional_target, refuse_same_file
from ngramscan.output.options import emit, keeps_nothing, output_options, quiet_option, tell

if TYPE_CHECKING:
    from evalcore.commands.log_reading import LogNames


@click.command("logs")
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default="auto",
    show_default=True,
    help="Which tool wrote the logs; auto tells it from the files.",
)
@click.option("--dataset", metavar="NAME", help="The benchmark.  [default: the task's name]")
@click.option("--model", metavar="NAME", help="The model.  [default: as the log names it]")
@click.option(
    "--method", metavar="NAME", help="The prompting method.  [default: `method` in the metadata]"
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="NAME",
    help="Read only this scorer, filter or metric; again for several.  [default: all]",
)
@click.option(
    "--missing",
    type=click.Choice(MISSING),
    default="apart",
    show_default=True,
    help="Whether errors, refusals, empty and cut replies have no value, or the recorded one.",
)
@click.option(
    "--usage",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the tokens of each answer too, where the logs record them.",
)
@click.option(
    "--max-line",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    metavar="MB",
    help="The longest line, sample or file of JSON; a longer one is an error.",
)
@output_options
@quiet_option
@keeps_nothing
def logs_command(
    paths: Sequence[Path],
    rules: Sequence[str],
    usage: Path | None,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Read per-sample results of other tools into rows of scores.

    Reads logs of Inspect (.eval, .json), samples of lm-evaluation-harness (samples_*.jsonl, with
    results_*.json beside them), rows of `evalcore score`, and lines of "id" and "correct"; or
    folders of them. Names that you give replace those of the logs.

    Refusals, empty and cut replies (no answer) and errors (unknown) have no value, and are counted
    on stderr. Where rows go to the terminal as a table, it is a summary per model; every other
    format has one row per sample and rule.

    \b
    Examples:
      evalcore logs logs/cot.eval logs/pot.eval -o scores.jsonl
      evalcore logs results/ --dataset gsm8k --method cot --rule strict-match -o scores.jsonl
    """
    from evalcore.commands.log_reading import logs_with
    from evalcore.summaries import print_summaries

    refuse_same_file({"-o": output, "--usage": usage})
    target = choose_target(format_name, output)
    scores = logs_with(paths, rules, optional_target(usage), cast("LogNames", options))
    emit(scores.rows, ScoreRow, target, lambda console: print_summaries(console, scores.rows))
    tell(scores.notices, quiet)
