"""`ngramscan blend`: whose markers are in which outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from ngramscan.commands.count import load_selection
from ngramscan.commands.docnorm import DEFAULT_SET
from ngramscan.outputs.blend import Blend, Isolation, PatternPresence, Retention, find_blends
from ngramscan.outputs.reading import OutputFields, read_outputs
from ngramscan.patterns.model import Tier
from ngramscan.report import optional_target, tables
from ngramscan.report.command import Option, Result, command
from ngramscan.report.figures import check_target, draw_blend, save_figure
from ngramscan.report.options import save


@command
def blend(
    outputs: str | Path,
    *patterns: Annotated[str | Path, Option(is_optional=True)],
    tier: Tier | Sequence[Tier] = (),
    method: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    case_sensitive: bool = False,
    presence: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    retention: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    isolation: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    figure: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    output_field: Annotated[str, Option(metavar="NAME")] = "output",
    variant_field: Annotated[str | None, Option(metavar="NAME")] = None,
    skip_bad_lines: bool = False,
) -> Result:
    """Find which methods' markers are in recorded outputs.

    OUTPUTS is a folder of DATASET/MODEL/VARIANT.jsonl or DATASET/raw_VARIANT_outputs/MODEL.json, or
    a file. A variant is a method, or several joined by +: f-1+cot. PATTERNS are YAML files or names
    of shipped sets; by default the set f1, all tiers. Case is ignored, of ASCII letters.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, or a file.
    *patterns, tier, method : see count
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
    skip_bad_lines : see count

    Returns
    -------
    DataFrame
        One row per dataset, model, variant and method, then pooled ones.

    Raises
    ------
    InputError
        An argument, an output or a file is wrong.

    Examples
    --------
    $ ngramscan blend outputs/
    $ ngramscan blend outputs/ --tier T1 --presence patterns.csv --figure blend.svg
    $ ngramscan blend replies.jsonl mine.yaml --output-field reply --variant-field prompt
    """
    targets = [optional_target(path) for path in (presence, retention, isolation)]
    picture = Path(figure) if figure else None
    check_target(picture)
    markers = load_selection(patterns or [DEFAULT_SET], tier, method)
    read = read_outputs(Path(outputs), OutputFields(output_field, variant_field, skip_bad_lines))
    blending = find_blends(read, markers, case_sensitive)
    save(blending.presence, PatternPresence, targets[0])
    save(blending.retention, Retention, targets[1])
    save(blending.isolation, Isolation, targets[2])
    if picture:
        save_figure(draw_blend(blending.rows, blending.retention), picture)
    table = partial(tables.print_blend, blending)
    return Result(blending.rows, Blend, blending.notices, print_table=table)
