"""`ngramscan tiers`: whether patterns are as specific as their tiers say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.commands.blending import MarkerOptions, load_markers
from ngramscan.commands.recorded import output_fields
from ngramscan.output import refuse_other, several, strict_keywords, to_frame
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
    refuse_other("--measure", measure, MEASURES)
    found = read_outputs(Path(outputs), output_fields(options))
    return compare_tiers(found, patterns, measure, options.get("case_sensitive", False))


@strict_keywords
def tiers(
    outputs: str | Path,
    *patterns: str | Path,
    tier: str | Sequence[str] = (),
    method: str | Sequence[str] = (),
    measure: str = MEASURES[0],
    case_sensitive: bool = False,
    output_field: str = "output",
    variant_field: str | None = None,
    skip_bad_lines: bool = False,
) -> pd.DataFrame:
    """Compare the tiers of patterns with recorded outputs, as `ngramscan tiers` does.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, or a file.
    *patterns : str or Path
        Pattern files, or names of shipped sets. By default `f1`.
    tier : str or sequence of str
        Only patterns of these tiers.
    method : str or sequence of str
        Only patterns of these methods.
    measure : str
        What is compared: `occurrences` per output, or the share of `outputs` with any.
    case_sensitive : bool
        Count upper and lower case apart, as in corpora.
    output_field : str
        Field of a record that holds what the model wrote.
    variant_field : str, optional
        Field that holds the variant, where one file has several.
    skip_bad_lines : bool
        Skip malformed JSON lines, and count them, instead of stopping.

    Returns
    -------
    DataFrame
        One row per dataset, model and pattern, then pooled ones.

    Raises
    ------
    InputError
        An argument, an output or a file is wrong.
    """
    options = TierOptions(
        output_field=output_field,
        variant_field=variant_field,
        skip_bad_lines=skip_bad_lines,
        case_sensitive=case_sensitive,
        measure=measure,
    )
    markers = load_markers(patterns, several(tier), several(method))
    return to_frame(tiers_in(outputs, markers, options).rows, TierRatio)
