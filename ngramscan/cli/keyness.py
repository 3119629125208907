"""`ngramscan keyness`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.cli.options import recorded_options
from ngramscan.output.options import emit, keeps_nothing, output_options, quiet_option, tell
from ngramscan.patterns import TIERS

if TYPE_CHECKING:
    from ngramscan.commands.keywords import KeywordOptions
    from ngramscan.commands.recorded import RecordedOptions


@click.command("keyness")
@click.argument("outputs", type=click.Path(path_type=Path))
@click.option("--of", required=True, metavar="METHOD", help="Whose n-grams are looked for.")
@click.option(
    "--against",
    multiple=True,
    required=True,
    metavar="METHOD",
    help="Whose outputs it is compared with; again for more.",
)
@click.option(
    "--unit",
    type=click.Choice(["word", "character"]),
    default="word",
    show_default=True,
    help="What an n-gram is made of.",
)
@click.option(
    "--n",
    "n",
    metavar="LENGTHS",
    help="A length, or two as 2-4.  [default: 1-6 words, 4-12 characters]",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Only n-grams with so many occurrences, in both sides together.",
)
@click.option(
    "--min-documents",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="Only n-grams that are in so many outputs of both sides together.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="How many are shown, or written.",
)
@click.option(
    "--q",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.05,
    show_default=True,
    help="The share of false discoveries that is allowed.",
)
@click.option(
    "--all",
    is_flag=True,
    help="Show also n-grams that are always in a longer one; export also punctuation.",
)
@click.option(
    "--export",
    type=click.Path(path_type=Path),
    metavar="FILE.yaml",
    help="Write a pattern set of what is shown and has a letter or digit, for `ngramscan count`.",
)
@click.option(
    "--tier",
    type=click.Choice(TIERS, case_sensitive=False),
    default=TIERS[-1],
    show_default=True,
    help="With --export: the tier of the patterns.",
)
@recorded_options
@output_options
@quiet_option
@keeps_nothing
def keyness_command(
    outputs: Path,
    of: str,
    against: Sequence[str],
    export: Path | None,
    tier: str,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Find the n-grams that distinguish the outputs of one method from those of others.

    OUTPUTS is a folder of recorded outputs, or a file. Variants that have the method of --of as a
    part (`f-1+cot`) are compared with those that have one of --against and not that one.

    \b
    Examples:
      ngramscan keyness outputs/ --of PoT --against CoT
      ngramscan keyness outputs/ --of F-1 --against CoT --against PoT --export f1-found.yaml
      ngramscan keyness outputs/ --of CoT --against direct --unit character --n 6-10
    """
    from ngramscan import tables
    from ngramscan.commands import keywords as commands
    from ngramscan.commands.recorded import output_fields
    from ngramscan.contrasts import KeynessRow
    from ngramscan.output import choose_target, refuse_same_file

    refuse_same_file({"-o": output, "--export": export})
    target = choose_target(format_name, output)
    asked = commands.question(of, against, cast("KeywordOptions", given))
    exported = commands.export_to(export, tier)
    fields = output_fields(cast("RecordedOptions", given))
    read, compared = commands.read_sides(outputs, fields, asked)
    tell(read.notices, quiet)
    found = commands.find_keyness(compared, asked)
    lines = commands.describe_keyness(found, asked)
    emit(found.rows, KeynessRow, target, partial(tables.print_keyness, found.rows, lines))
    if exported:
        tell(commands.write_patterns(found.rows, asked, exported), quiet)
