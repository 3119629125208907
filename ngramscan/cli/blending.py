"""`ngramscan blend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.cli.options import recorded_options, selection_options
from ngramscan.output.options import (
    Command,
    all_of,
    emit,
    keeps_nothing,
    output_options,
    quiet_option,
    save,
    tell,
)

if TYPE_CHECKING:
    from ngramscan.commands.blending import MarkerOptions

marker_options = all_of(
    recorded_options,
    click.option(
        "--case-sensitive", is_flag=True, help="Count upper and lower case apart, as in corpora."
    ),
)
"""What every command takes that looks for markers in recorded outputs."""


def _file_option(name: str, help_text: str) -> Callable[[Command], Command]:
    kind = click.Path(path_type=Path)
    return click.option(f"--{name}", f"{name}_path", type=kind, metavar="FILE", help=help_text)


@click.command("blend")
@click.argument("outputs", type=click.Path(path_type=Path))
@click.argument("patterns", nargs=-1)
@selection_options
@marker_options
@_file_option("presence", "Write how many outputs have each single pattern to a file.")
@_file_option("retention", "Write what stays of each prefix before a solver to a file.")
@_file_option("isolation", "Write how much of each method is in variants without it to a file.")
@_file_option("figure", "Draw shares, densities and what stays of prefixes: .svg or .png.")
@output_options
@quiet_option
@keeps_nothing
def blend_command(
    outputs: Path,
    patterns: Sequence[str],
    tiers: Sequence[str],
    methods: Sequence[str],
    presence_path: Path | None,
    retention_path: Path | None,
    isolation_path: Path | None,
    figure_path: Path | None,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Find which methods' markers are in recorded outputs.

    OUTPUTS is a folder of DATASET/MODEL/VARIANT.jsonl or DATASET/raw_VARIANT_outputs/MODEL.json, or
    a file. A variant is a method, or several joined by +: f-1+cot. PATTERNS are YAML files or names
    of shipped sets; by default the set f1, all tiers. Case is ignored, of ASCII letters.

    \b
    Examples:
      ngramscan blend outputs/
      ngramscan blend outputs/ --tier T1 --presence patterns.csv --figure blend.svg
      ngramscan blend replies.jsonl mine.yaml --output-field reply --variant-field prompt
    """
    from ngramscan import tables
    from ngramscan.blending import Blend, Isolation, PatternPresence, Retention
    from ngramscan.commands import blending as commands
    from ngramscan.figures import check_target
    from ngramscan.output import choose_target, optional_target, refuse_same_file

    named = {"--presence": presence_path, "--retention": retention_path}
    named |= {"--isolation": isolation_path, "--figure": figure_path}
    refuse_same_file({"-o": output, **named})
    target = choose_target(format_name, output)
    presence, retention = optional_target(presence_path), optional_target(retention_path)
    isolation = optional_target(isolation_path)
    check_target(figure_path)
    markers = commands.load_markers(patterns, tiers, methods)
    blending = commands.blend_in(outputs, markers, cast("MarkerOptions", given))
    save(blending.presence, PatternPresence, presence)
    save(blending.retention, Retention, retention)
    save(blending.isolation, Isolation, isolation)
    commands.save_blend_figure(blending, figure_path)
    if target.format != "table":
        tell(blending.notices, quiet)
    emit(blending.rows, Blend, target, partial(tables.print_blending, blending))
