"""`ngramscan tiers`: whether patterns are as specific as their tiers say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from ngramscan.commands.blend import split_arguments
from ngramscan.outputs.reading import read_outputs
from ngramscan.outputs.tiers import TierRow, run_tiers
from ngramscan.patterns.given import load_selection
from ngramscan.patterns.model import Tier
from ngramscan.reporting import tables
from ngramscan.reporting.command import Option, Result, command


@command
def tiers(
    outputs: str | Path,
    *others: Annotated[str | Path, Option(metavar="[OUTPUTS|PATTERNS]...", is_optional=True)],
    tier: Tier | Sequence[Tier] = (),
    method: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    measure: Literal["occurrences", "outputs"] = "occurrences",
    case_sensitive: bool = False,
    output_field: Annotated[str, Option(metavar="NAME")] = "output",
    prompt_field: Annotated[str | None, Option(metavar="NAME")] = None,
    skip_bad_lines: bool = False,
) -> Result[TierRow]:
    """Check the tiers of patterns against recorded outputs.

    A pattern of tier T1 should be at least 10 times as frequent in outputs of its own method as in
    others, one of T2 0.7 to 1.7 times, one of T3 less than once. OUTPUTS and PATTERNS are given as
    to blend.

    Parameters
    ----------
    outputs, *others, tier, method : see blend
    measure : str
        Compare `occurrences` per output, or the share of `outputs` with at least one.
    case_sensitive : see blend
    output_field, prompt_field, skip_bad_lines : see blend

    Returns
    -------
    DataFrame
        One row per dataset, model and pattern, then pooled ones.

    Examples
    --------
    $ ngramscan tiers outputs/
    $ ngramscan tiers outputs/ mine.yaml --method f-1 -o tiers.csv
    """
    read_from, sets = split_arguments(outputs, others)
    markers = load_selection(sets, tier, method)
    read = read_outputs(read_from, output_field, prompt_field, skip_bad_lines)
    found = run_tiers(read, markers, measure, case_sensitive)
    table = partial(tables.print_tiers, found)
    return Result(found.rows, TierRow, found.notices, print_table=table)
