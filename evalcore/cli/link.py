"""`evalcore link`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.score_options import run_option
from ngramscan.output import choose_target, refuse_same_file
from ngramscan.output.options import emit, keeps_nothing, output_options, quiet_option, tell

if TYPE_CHECKING:
    from evalcore.commands.linking import LinkOptions


@click.command("link")
@click.argument("counts", type=click.Path(path_type=Path))
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "--measure",
    type=click.Choice(["occurrences", "documents"]),
    default="occurrences",
    show_default=True,
    help="What prevalence is.",
)
@click.option(
    "--tier",
    multiple=True,
    metavar="NAME",
    help="Only patterns of this tier; again for more.  [default: T1, T2]",
)
@click.option(
    "--map",
    multiple=True,
    metavar="METHOD=NAME",
    help="What the pattern sets call a method; again for more.",
)
@click.option(
    "--rule", multiple=True, metavar="NAME", help="Only scores by this rule; again for more."
)
@run_option
@click.option(
    "--ranks",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write how the orders of methods agree to a file.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw differences of accuracies against ratios of prevalences: .svg or .png.",
)
@output_options
@quiet_option
@keeps_nothing
def link_command(
    counts: Path,
    scores: Path,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Put the prevalence of methods in corpora beside the accuracy that they reach.

    COUNTS are rows of `ngramscan count` or `docnorm`, SCORES those of `evalcore compare`, or of
    `evalcore score`, which are then compared in all pairs. Nothing here shows that one causes the
    other.

    \b
    Example:
      ngramscan count f1 --index dclm -o counts.csv
      evalcore compare scores.jsonl --all-pairs -o compared.csv
      evalcore link counts.csv compared.csv --figure link.svg
    """
    from evalcore.commands.linking import link_with, print_linked
    from evalcore.prevalence_links import LinkRow

    named = {"--ranks": options["ranks"], "--figure": options["figure"]}
    refuse_same_file({"-o": output, **named})
    target = choose_target(format_name, output)
    linked = link_with(counts, scores, cast("LinkOptions", options))
    emit(linked.rows, LinkRow, target, lambda console: print_linked(console, linked))
    tell(linked.notices, quiet)
