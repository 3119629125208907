"""`ngramscan blend`: which methods' markers are in which outputs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ngramscan.commands.shared import MarkerOptions, split_arguments
from ngramscan.options import ShowAll
from ngramscan.outputs.blend import BlendRow, IsolationRow, PresenceRow, RetentionRow, run_blend
from ngramscan.patterns.given import load_selection
from ngramscan.reporting import tables
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command


@command
def blend(
    outputs: str | Path,
    *others: Annotated[str | Path, Option(metavar="[OUTPUTS|PATTERNS]...", is_optional=True)],
    presence: RowsFile = None,
    retention: RowsFile = None,
    isolation: RowsFile = None,
    figure: NewFile = None,
    show_all: ShowAll = False,
    **options: Annotated[Any, Shared(MarkerOptions)],
) -> Result[BlendRow]:
    """Find which methods' markers are in recorded outputs.

    OUTPUTS are folders of DATASET/MODEL/PROMPT.jsonl or DATASET/raw_PROMPT_outputs/MODEL.json, or
    files; compressed ones are read too (.gz, .zst, .bz2, .xz), and - is standard input. Where a
    path doesn't name them, the fields dataset, model and method of each record do. A prompt is
    named after its method, or after several joined by +: f-1+cot. PATTERNS are YAML files or names
    of shipped sets; by default the set f1, all tiers. The case of ASCII letters is ignored.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, a file, or `-` for standard input.
    *others : str or Path
        More outputs, and pattern sets: YAML files, or names of shipped sets.
    presence : str or Path, optional
        Write how many outputs have each pattern to this file.
    retention : str or Path, optional
        Write how many markers of each prefix remain when a solver follows to this file.
    isolation : str or Path, optional
        Write how often each method's markers occur with other prompts to this file.
    figure : str or Path, optional
        Draw shares, densities and retention: .svg, .png or .pdf.
    show_all : see count

    Returns
    -------
    DataFrame
        One row per dataset, model, prompt and method, then pooled ones.

    Examples
    --------
    $ ngramscan blend outputs/
    $ ngramscan blend outputs/ --tier T1 --presence patterns.csv --figure blend.svg
    $ ngramscan blend a.jsonl b.jsonl mine.yaml --output-field reply --prompt-field prompt
    $ zcat outputs.jsonl.gz | ngramscan blend -
    """
    marker_options, (read_from, sets) = MarkerOptions(**options), split_arguments(outputs, others)
    markers = load_selection(sets, marker_options.tier, marker_options.method)
    result = run_blend(
        marker_options.read_outputs(read_from), markers, marker_options.case_sensitive
    )
    show = tables.print_blend if show_all else tables.print_blend_screen
    return Result(
        result.rows,
        BlendRow,
        result.notices,
        print_table=partial(show, result),
        is_screen=not show_all,
        figure=(figure, result.rows, result.retention),
        files=[
            (presence, result.presence, PresenceRow),
            (retention, result.retention, RetentionRow),
            (isolation, result.isolation, IsolationRow),
        ],
    )
