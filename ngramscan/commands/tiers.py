"""`ngramscan tiers`: whether patterns are as specific as their tiers say."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from ngramscan.commands.shared import MarkerOptions, split_arguments
from ngramscan.options import ShowAll
from ngramscan.outputs.tiers import TierRow, run_tiers
from ngramscan.patterns.given import load_selection
from ngramscan.reporting import tables
from ngramscan.reporting.command import Option, Result, Shared, command


@command
def tiers(
    outputs: str | Path,
    *others: Annotated[str | Path, Option(metavar="[OUTPUTS|PATTERNS]...", is_optional=True)],
    measure: Literal["occurrences", "outputs"] = "occurrences",
    show_all: ShowAll = False,
    **options: Annotated[Any, Shared(MarkerOptions)],
) -> Result[TierRow]:
    """Check the tiers of patterns against recorded outputs.

    A pattern of tier T1 should be at least 10 times as frequent in outputs of its own method as in
    others, one of T2 0.7 to 1.7 times, one of T3 less than once. OUTPUTS and PATTERNS are given as
    to blend.

    Parameters
    ----------
    outputs, *others : see blend
    measure : str
        Compare `occurrences` per output, or the share of `outputs` with at least one.
    show_all : see count

    Returns
    -------
    DataFrame
        One row per dataset, model and pattern, then pooled ones.

    Examples
    --------
    $ ngramscan tiers outputs/
    $ ngramscan tiers outputs/ mine.yaml --method f-1 -o tiers.csv
    """
    marker_options, (read_from, sets) = MarkerOptions(**options), split_arguments(outputs, others)
    markers = load_selection(sets, marker_options.tier, marker_options.method)
    result = run_tiers(
        marker_options.read_outputs(read_from), markers, measure, marker_options.case_sensitive
    )
    show = tables.print_tiers if show_all else tables.print_tiers_screen
    return Result(
        result.rows,
        TierRow,
        result.notices,
        print_table=partial(show, result),
        is_screen=not show_all and tables.has_tiers_screen(result),
    )
