"""`ngramscan blend`: whose markers are in which outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ngramscan.blending import Blend, Blending, Isolation, PatternPresence, Retention, find_blends
from ngramscan.commands.counting import load_selection
from ngramscan.commands.recorded import RecordedOptions, output_fields
from ngramscan.figures import check_target, draw_blend, save_figure
from ngramscan.output import optional_target, to_frame, write_rows
from ngramscan.outputs import read_outputs
from ngramscan.patterns import PatternSet

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_SET = "f1"


class MarkerOptions(RecordedOptions, total=False):
    """How outputs are read and markers counted, as in the commands."""

    case_sensitive: bool


class BlendOptions(MarkerOptions, total=False):
    """All options of `blend` that do not select patterns."""

    presence: str | Path | None
    retention: str | Path | None
    isolation: str | Path | None
    figure: str | Path | None


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


def blend(
    outputs: str | Path,
    *patterns: str | Path,
    tier: Sequence[str] = (),
    method: Sequence[str] = (),
    **options: Unpack[BlendOptions],
) -> pd.DataFrame:
    """Find which methods' markers are in recorded outputs, as `ngramscan blend` does.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, or a file.
    *patterns : str or Path
        Pattern files, or names of shipped sets; none: `f1`.
    tier, method : sequence of str
        Which patterns; none: all.
    **options
        `output_field`, `variant_field`, `skip_bad_lines` (how outputs are read), `case_sensitive`;
        `presence`, `retention`, `isolation`: files for the rows of patterns, of prefixes with a
        solver, and of methods in other variants; `figure`: a file for a picture, .svg or .png.

    Returns
    -------
    DataFrame
        One row per dataset, model, variant and method, then pooled ones.

    Raises
    ------
    InputError
        An argument, an output or a file is wrong.
    """
    targets = {
        name: optional_target(path)
        for name in ("presence", "retention", "isolation")
        if isinstance(path := options.get(name), str | Path)
    }
    figure = options.get("figure")
    check_target(Path(figure) if figure else None)
    blending = blend_in(outputs, load_markers(patterns, tier, method), options)
    further: dict[str, tuple[Sequence[Any], type]] = {
        "presence": (blending.presence, PatternPresence),
        "retention": (blending.retention, Retention),
        "isolation": (blending.isolation, Isolation),
    }
    for name, target in targets.items():
        if target:
            write_rows(*further[name], target)
    save_blend_figure(blending, figure)
    return to_frame(blending.rows, Blend)
