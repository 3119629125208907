"""`ngramscan blend`: which methods' markers are in which outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from ngramscan.commands.docnorm import DEFAULT_SET
from ngramscan.errors import InputError
from ngramscan.outputs.blend import BlendRow, IsolationRow, PresenceRow, RetentionRow, run_blend
from ngramscan.outputs.reading import read_outputs
from ngramscan.patterns.files import shipped_sets
from ngramscan.patterns.given import load_selection
from ngramscan.patterns.model import Tier
from ngramscan.reading.streams import is_stream
from ngramscan.reporting import optional_target, tables
from ngramscan.reporting.charts.files import check_target, save_figure
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.options import save

Paths = Sequence[str | Path]


def split_arguments(first: str | Path, others: Paths) -> tuple[Paths, Paths]:
    """Return the paths of outputs, and the pattern sets: YAML files, or names of shipped ones."""
    outputs, sets = [first], []
    for one in others:
        is_path = is_stream(one) or Path(one).exists()
        if Path(one).suffix in {".yaml", ".yml"} or (not is_path and str(one) in shipped_sets()):
            sets.append(one)
        elif is_path:
            outputs.append(one)
        else:
            known = ", ".join(shipped_sets())
            raise InputError(str(one), f"no such outputs, and no pattern set; shipped: {known}")
    return outputs, sets or [DEFAULT_SET]


@command
def blend(
    outputs: str | Path,
    *others: Annotated[str | Path, Option(metavar="[OUTPUTS|PATTERNS]...", is_optional=True)],
    tier: Tier | Sequence[Tier] = (),
    method: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    case_sensitive: bool = False,
    presence: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    retention: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    isolation: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    figure: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    output_field: Annotated[str, Option(metavar="NAME")] = "output",
    prompt_field: Annotated[str | None, Option(metavar="NAME")] = None,
    skip_bad_lines: bool = False,
) -> Result[BlendRow]:
    """Find which methods' markers are in recorded outputs.

    OUTPUTS are folders of DATASET/MODEL/PROMPT.jsonl or DATASET/raw_PROMPT_outputs/MODEL.json, or
    files; .gz and .zst are read too, and - is standard input. Where a path doesn't name them, the
    fields dataset, model and method of each record do. A prompt is named after its method, or after
    several joined by +: f-1+cot. PATTERNS are YAML files or names of shipped sets; by default the
    set f1, all tiers. The case of ASCII letters is ignored.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, a file, or `-` for standard input.
    *others : str or Path
        More outputs, and pattern sets: YAML files, or names of shipped sets.
    tier, method : see count
    case_sensitive : bool
        Match upper and lower case exactly, as in corpora.
    presence : str or Path, optional
        Write how many outputs have each pattern to this file.
    retention : str or Path, optional
        Write how many markers of each prefix remain when a solver follows to this file.
    isolation : str or Path, optional
        Write how often each method's markers occur with other prompts to this file.
    figure : str or Path, optional
        Draw shares, densities and retention: .svg or .png.
    output_field : str
        Field of a record that holds the model's output.
    prompt_field : str, optional
        Field of a record that names the prompt, if a file has outputs of several.
    skip_bad_lines : see count

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
    files = [optional_target(path) for path in (presence, retention, isolation)]
    picture = Path(figure) if figure else None
    check_target(picture)
    read_from, sets = split_arguments(outputs, others)
    markers = load_selection(sets, tier, method)
    read = read_outputs(read_from, output_field, prompt_field, skip_bad_lines)
    found = run_blend(read, markers, case_sensitive)
    save(found.presence, PresenceRow, files[0])
    save(found.retention, RetentionRow, files[1])
    save(found.isolation, IsolationRow, files[2])
    if picture:
        save_figure(picture, found.rows, found.retention)
    table = partial(tables.print_blend, found)
    return Result(found.rows, BlendRow, found.notices, print_table=table)
