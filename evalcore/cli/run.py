"""`evalcore run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.options import dataset_options, model_options
from ngramscan.output.options import all_of, fail_with, progress_options
from ngramscan.screen import visible

if TYPE_CHECKING:
    from evalcore.commands.running import RunOptions

_run_options = all_of(
    click.option(
        "--model",
        required=True,
        metavar="NAME",
        help="As the endpoint calls it; with --replay, as the folder is called.",
    ),
    click.option(
        "--method",
        "methods",
        required=True,
        multiple=True,
        metavar="NAME,...",
        help="Prompting methods: cot,pot,f-1.",
    ),
    click.option(
        "--prompts",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Methods and phases of your own, in YAML.",
    ),
    click.option(
        "--limit", type=click.IntRange(min=1), metavar="N", help="Ask only the first problems."
    ),
    click.option(
        "--epochs",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help="Ask each problem so many times.",
    ),
    click.option(
        "--token-budget",
        type=click.IntRange(min=1),
        metavar="N",
        help="Ask nothing more when so many tokens were used.",
    ),
    click.option(
        "--price-in", type=click.FloatRange(min=0), metavar="P", help="Per million prompt tokens."
    ),
    click.option(
        "--price-out", type=click.FloatRange(min=0), metavar="P", help="Per million output tokens."
    ),
    click.option(
        "--replay",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Answer from recorded outputs, in the place of a model.",
    ),
    click.option(
        "--dry-run", is_flag=True, help="Print the messages of the first problem; ask no one."
    ),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("outputs"),
        show_default=True,
        metavar="FOLDER",
        help="Where outputs are kept: FOLDER/DATASET/MODEL/METHOD.jsonl.",
    ),
)


@click.command("run")
@dataset_options
@_run_options
@model_options
@progress_options
def run_command(**options: Any) -> None:
    """Put the problems of a benchmark to a model, after one or several prompting methods.

    Each answer is kept as it comes; the same command, run again, asks only what is missing.

    \b
    Example:
      evalcore run --dataset financemath --model NAME --method cot,pot,f-1 \\
          --base-url http://localhost:8000/v1 -o outputs/
    """
    from evalcore.commands.running import dry_run, run_with

    quiet, verbose = options.pop("quiet"), options.pop("verbose")
    if options.pop("dry_run"):
        for line in dry_run(cast("RunOptions", options)):
            click.echo(visible(line))
        return
    fail_with(run_with(cast("RunOptions", options), quiet, verbose))
