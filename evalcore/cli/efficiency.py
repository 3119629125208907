"""`evalcore efficiency`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.resampling_options import resampling_options
from evalcore.cli.score_options import no_answer_option, rule_option, run_option
from ngramscan.output import choose_target, refuse_same_file
from ngramscan.output.options import emit, keeps_nothing, output_options, quiet_option, tell

if TYPE_CHECKING:
    from evalcore.commands.token_costs import EfficiencyOptions


@click.command("efficiency")
@click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--outputs",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The recorded outputs, which have the tokens.",
)
@click.option(
    "--usage",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The tokens of each answer, as `evalcore logs --usage` writes them.",
)
@click.option(
    "--baseline",
    default="zero-shot",
    show_default=True,
    metavar="METHOD",
    help="Whose prompts others are compared with.",
)
@click.option(
    "--tokens",
    type=click.Choice(["completion", "total"]),
    default="completion",
    show_default=True,
    help="Those of the answer, its reasoning among them; or those of the prompt too.",
)
@rule_option
@run_option
@no_answer_option
@resampling_options
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw accuracy against tokens, with the frontier: .svg or .png.",
)
@output_options
@quiet_option
@keeps_nothing
def efficiency_command(
    scores: Sequence[Path],
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Find what correct answers cost, and which methods are worth it.

    Accuracy per 100 tokens is a ratio of means; rows of all models have the mean of their ratios
    too. Tokens that are not recorded are missing, never 0; --outputs or --usage says how many there
    were.

    \b
    Examples:
      evalcore efficiency scores.jsonl --outputs outputs/
      evalcore efficiency scores.jsonl --outputs outputs/ --tokens total --figure frontier.svg
    """
    from evalcore.commands.token_costs import efficiency_with, print_costs
    from evalcore.token_costs import EfficiencyRow

    refuse_same_file({"-o": output, "--figure": options["figure"]})
    target = choose_target(format_name, output)
    costs = efficiency_with(scores, cast("EfficiencyOptions", options))
    emit(costs.rows, EfficiencyRow, target, partial(print_costs, rows=costs.rows))
    tell(costs.notices, quiet)
