"""`ngramscan tiers`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.cli.blending import marker_options
from ngramscan.cli.options import selection_options
from ngramscan.output.options import emit, keeps_nothing, output_options, quiet_option, tell

if TYPE_CHECKING:
    from ngramscan.commands.tiering import TierOptions

_MEASURES = ["occurrences", "outputs"]


@click.command("tiers")
@click.argument("outputs", type=click.Path(path_type=Path))
@click.argument("patterns", nargs=-1)
@selection_options
@click.option(
    "--measure",
    type=click.Choice(_MEASURES),
    default=_MEASURES[0],
    show_default=True,
    help="What is compared: occurrences per output, or the share of outputs with any.",
)
@marker_options
@output_options
@quiet_option
@keeps_nothing
def tiers_command(
    outputs: Path,
    patterns: Sequence[str],
    tiers: Sequence[str],
    methods: Sequence[str],
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Check the tiers of patterns against recorded outputs.

    A pattern of tier T1 is 10 times as frequent in outputs of its own method as in others, or more;
    of T2, 0.7 to 1.7 times; of T3, less than once. OUTPUTS and PATTERNS are those of blend.

    \b
    Examples:
      ngramscan tiers outputs/
      ngramscan tiers outputs/ mine.yaml --method f-1 -o tiers.csv
    """
    from ngramscan import tables
    from ngramscan.commands import tiering as commands
    from ngramscan.commands.blending import load_markers
    from ngramscan.output import choose_target
    from ngramscan.tier_ratios import TierRatio

    target = choose_target(format_name, output)
    markers = load_markers(patterns, tiers, methods)
    tiering = commands.tiers_in(outputs, markers, cast("TierOptions", given))
    if target.format != "table":
        tell(tiering.notices, quiet)
    emit(tiering.rows, TierRatio, target, partial(tables.print_tiering, tiering))
