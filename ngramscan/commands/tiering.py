"""`ngramscan tiers`: whether patterns are as specific as their tiers say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ngramscan.commands.blending import MarkerOptions, load_markers
from ngramscan.commands.recorded import output_fields
from ngramscan.errors import InputError
from ngramscan.output import to_frame
from ngramscan.outputs import read_outputs
from ngramscan.patterns import PatternSet
from ngramscan.tier_ratios import MEASURES, Tiering, TierRatio, compare_tiers

if TYPE_CHECKING:
    import pandas as pd


class TierOptions(MarkerOptions, total=False):
    """All options of `tiers` that do not select patterns."""

    measure: str


def tiers_in(outputs: str | Path, patterns: PatternSet, options: TierOptions) -> Tiering:
    """Compare the tiers of patterns with the outputs of a folder or file."""
    measure = options.get("measure", MEASURES[0])
    if measure not in MEASURES:
        raise InputError(f"--measure {measure}", f"one of {', '.join(MEASURES)} was expected")
    found = read_outputs(Path(outputs), output_fields(options))
    return compare_tiers(found, patterns, measure, options.get("case_sensitive", False))


def tiers(
    outputs: str | Path,
    *patterns: str | Path,
    tier: Sequence[str] = (),
    method: Sequence[str] = (),
    **options: Unpack[TierOptions],
) -> pd.DataFrame:
    """Compare the tiers of patterns with recorded outputs, as `ngramscan tiers` does.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, or a file.
    *patterns : str or Path
        Pattern files, or names of shipped sets; none: `f1`.
    tier, method : sequence of str
        Which patterns; none: all.
    **options
        `measure` (`occurrences` per output, or share of `outputs`), and as in `blend`
        `output_field`, `variant_field`, `skip_bad_lines`, `case_sensitive`.

    Returns
    -------
    DataFrame
        One row per dataset, model and pattern, then pooled ones.

    Raises
    ------
    InputError
        An argument, an output or a file is wrong.
    """
    tiering = tiers_in(outputs, load_markers(patterns, tier, method), options)
    return to_frame(tiering.rows, TierRatio)
