"""`evalcore judge`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.options import dataset_options, model_options, records_options
from ngramscan.output import choose_target, refuse_same_file
from ngramscan.output.options import emit, fail_with, output_options, progress_options, tell

if TYPE_CHECKING:
    from evalcore.commands.judging import JudgeOptions


@click.command("judge")
@click.argument("outputs", type=click.Path(path_type=Path))
@dataset_options
@records_options
@click.option(
    "--judge",
    "judges",
    required=True,
    multiple=True,
    metavar="MODEL",
    help="A model that judges, as the endpoint calls it; again for several.",
)
@click.option(
    "--task",
    type=click.Choice(["grade", "failure-causes"]),
    default="grade",
    show_default=True,
    help="Whether answers are right, or why wrong ones failed.",
)
@click.option(
    "--scores",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rows of `evalcore score`: judge only what they left open (grade), or found wrong "
    "(failure-causes).",
)
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where replies are kept.  [default: in the user's cache folder]",
)
@model_options
@output_options
@progress_options
def judge_command(
    outputs: Path,
    judges: Sequence[str],
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Let models judge what no rule can: proofs, answers in prose, why an answer failed.

    Judges see the problem, the reference and the answer, never the method or the model. Every reply
    is kept; the same command, run again, asks only what is missing.

    \b
    Example:
      evalcore judge outputs/imo-proofbench --dataset imo-proofbench --judge NAME \\
          --base-url http://localhost:8000/v1 -o judged.jsonl
    """
    from evalcore.commands.judging import judge_with, print_judged
    from evalcore.judges import JudgeRow
    from ngramscan.progress import Terminal

    refuse_same_file({"-o": output, "--journal": options["journal"]})
    target = choose_target(format_name, output)
    with Terminal(quiet, verbose) as progress:
        judged = judge_with(outputs, judges, cast("JudgeOptions", options), progress)
    emit(judged.rows, JudgeRow, target, lambda console: print_judged(console, judged.rows))
    tell(judged.notices, quiet)
    fail_with(judged.failures)
