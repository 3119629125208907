"""`evalcore agreement`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.resampling_options import resampling_options
from ngramscan.output import choose_target, refuse_same_file
from ngramscan.output.options import emit, keeps_nothing, output_options, quiet_option, tell

if TYPE_CHECKING:
    from evalcore.commands.agreements import AgreementOptions


@click.command("agreement")
@click.argument("labels", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="nominal",
    show_default=True,
    help="How far labels are apart, for Krippendorff's alpha.",
)
@click.option(
    "--order",
    metavar="LABELS",
    help="Labels that are not numbers, from the lowest to the highest: low,mid,high.",
)
@click.option(
    "--weights",
    type=click.Choice(["linear", "quadratic"]),
    help="Add weighted kappas of ordered labels: disagreement counts by distance, or its square.",
)
@click.option(
    "--votes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what most judges say of each item.",
)
@resampling_options
@output_options
@quiet_option
@keeps_nothing
def agreement_command(
    labels: Sequence[Path],
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Say how far judges agree, what most of them say, and how each of them labels.

    LABELS has the columns item, judge, label, or item and one column per judge, or is what
    `evalcore judge` wrote. A label may be missing. Coefficients are Cohen's kappa of each pair of
    judges, weighted too with --weights, Fleiss' kappa of the items that all labelled, and
    Krippendorff's alpha; shares have Wilson intervals.

    \b
    Examples:
      evalcore agreement labels.csv
      evalcore agreement judged.jsonl --level interval --votes votes.csv
      evalcore agreement grades.csv --weights quadratic --order poor,fair,good
    """
    from evalcore.commands.agreements import agreement_with
    from evalcore.label_agreement import AgreementRow

    refuse_same_file({"-o": output, "--votes": options["votes"]})
    target = choose_target(format_name, output)
    agreed = agreement_with(labels, cast("AgreementOptions", options))
    emit(agreed.rows, AgreementRow, target)
    tell(agreed.notices, quiet)
