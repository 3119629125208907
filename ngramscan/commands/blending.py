"""`ngramscan blend`: whose markers are in which outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscan.blending import Blend, Blending, Isolation, PatternPresence, Retention, find_blends
from ngramscan.commands.counting import load_selection
from ngramscan.commands.recorded import RecordedOptions, output_fields
from ngramscan.figures import check_target, draw_blend, save_figure
from ngramscan.output import (
    optional_target,
    refuse_same_file,
    several,
    strict_keywords,
    to_frame,
    write_rows,
)
from ngramscan.outputs import read_outputs
from ngramscan.patterns import PatternSet

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_SET = "f1"


class MarkerOptions(RecordedOptions, total=False):
    """How outputs are read and markers counted, as in the commands."""

    case_sensitive: bool


def load_markers(
    patterns: Sequence[str | Path], tiers: Sequence[str], methods: Sequence[str]
) -> PatternSet:
    """Return a selection of the sets named; none named: of the paper's patterns."""
    return load_selection(patterns or [DEFAULT_SET], tiers, methods)


def blend_in(outputs: str | Path, patterns: PatternSet, options: MarkerOptions) -> Blending:
    """Look for markers in the outputs of a folder or file."""
    found = read_outputs(Path(outputs), output_fields(options))
    return find_blends(found, patterns, options.get("case_sensitive", False))


def save_blend_figure(blending: Blending, path: str | Path | None) -> None:
    """Draw shares, densities and retention, where a figure was asked for."""
    if path is not None:
        save_figure(draw_blend(blending.rows, blending.retention), Path(path))


@strict_keywords
def blend(
    outputs: str | Path,
    *patterns: str | Path,
    tier: str | Sequence[str] = (),
    method: str | Sequence[str] = (),
    case_sensitive: bool = False,
    presence: str | Path | None = None,
    retention: str | Path | None = None,
    isolation: str | Path | None = None,
    figure: str | Path | None = None,
    output_field: str = "output",
    variant_field: str | None = None,
    skip_bad_lines: bool = False,
) -> pd.DataFrame:
    """Find which methods' markers are in recorded outputs, as `ngramscan blend` does.

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
    case_sensitive : bool
        Count upper and lower case apart, as in corpora.
    presence : str or Path, optional
        Write how many outputs have each single pattern to this file.
    retention : str or Path, optional
        Write what stays of each prefix before a solver to this file.
    isolation : str or Path, optional
        Write how much of each method is in variants without it to this file.
    figure : str or Path, optional
        Draw shares, densities and what stays of prefixes: .svg or .png.
    output_field : str
        Field of a record that holds what the model wrote.
    variant_field : str, optional
        Field that holds the variant, where one file has several.
    skip_bad_lines : bool
        Skip malformed JSON lines, and count them, instead of stopping.

    Returns
    -------
    DataFrame
        One row per dataset, model, variant and method, then pooled ones.

    Raises
    ------
    InputError
        An argument, an output or a file is wrong.
    """
    files = {"--presence": presence, "--retention": retention, "--isolation": isolation}
    refuse_same_file({**files, "--figure": figure})
    targets = [optional_target(path) for path in files.values()]
    check_target(Path(figure) if figure else None)
    options = MarkerOptions(
        output_field=output_field,
        variant_field=variant_field,
        skip_bad_lines=skip_bad_lines,
        case_sensitive=case_sensitive,
    )
    markers = load_markers(patterns, several(tier), several(method))
    blending = blend_in(outputs, markers, options)
    further: list[tuple[Sequence[Any], type]] = [
        (blending.presence, PatternPresence),
        (blending.retention, Retention),
        (blending.isolation, Isolation),
    ]
    for (rows, row_type), target in zip(further, targets, strict=True):
        if target:
            write_rows(rows, row_type, target)
    save_blend_figure(blending, figure)
    return to_frame(blending.rows, Blend)
