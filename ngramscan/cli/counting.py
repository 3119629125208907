"""`ngramscan count`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.cli.options import access_options, scan_options, selection_options
from ngramscan.output.options import emit, fail_with, output_options, progress_options, save
from ngramscan.progress import Terminal

if TYPE_CHECKING:
    from ngramscan.commands.access import AccessOptions


@click.command("count")
@click.argument("patterns", nargs=-1, required=True)
@click.option(
    "--index",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Where to count; again for more: a hosted index, `paper` (its eight corpora),"
    " http://HOST:PORT/NAME, scan:PATH, fm9:DIR, `python`.  [default: paper]",
)
@selection_options
@click.option(
    "--case-variants",
    is_flag=True,
    help="Count narrative patterns also with a capital first letter and a typographic apostrophe.",
)
@click.option(
    "--totals",
    "totals_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write totals and ratios of the methods to a file.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the occurrences of each method's patterns: .svg or .png.",
)
@access_options
@scan_options
@output_options
@progress_options
def count_command(
    patterns: Sequence[str],
    specs: Sequence[str],
    tiers: Sequence[str],
    methods: Sequence[str],
    case_variants: bool,
    totals_path: Path | None,
    figure: Path | None,
    format_name: str | None,
    output: Path | None,
    verbose: bool,
    quiet: bool,
    **access: Any,
) -> None:
    """Count the patterns of some sets in some corpora.

    PATTERNS are YAML files or names of shipped sets. Hosted indexes know occurrences; corpora that
    are read (scan:, python) also documents. A table has the totals of each method below it.

    \b
    Examples:
      ngramscan count patterns/f1.yaml --index python
      ngramscan count f1 --index dclm --tier T1 --tier T2 -o dclm.csv
      ngramscan count f1 mine.yaml --index 'scan:shards/*.jsonl.zst'
    """
    from ngramscan import tables
    from ngramscan.commands import counting as commands
    from ngramscan.commands.access import index_options
    from ngramscan.counts import Count
    from ngramscan.figures import check_target, draw_prevalence, save_figure
    from ngramscan.output import choose_target, optional_target, refuse_same_file
    from ngramscan.totals import Total, make_totals

    commands.refuse_double_counting(case_variants, access["ignore_case"])
    named = {"--totals": totals_path, "--figure": figure, "--journal": access["journal"]}
    refuse_same_file({"-o": output, **named})
    target, totals_target = choose_target(format_name, output), optional_target(totals_path)
    check_target(figure)
    needs_totals = target.format == "table" or totals_target is not None
    queries = commands.load_selection(patterns, tiers, methods).queries(case_variants)
    options = index_options(cast("AccessOptions", access))
    with Terminal(quiet, verbose) as progress:
        counting = commands.count_in(queries, specs, options, progress, needs_totals)
    totals = make_totals(counting) if needs_totals else []
    if counting.rows:
        save(totals, Total, totals_target)
        if figure:
            save_figure(draw_prevalence(counting.rows), figure)
        table = partial(tables.print_counting, counting=counting, totals=totals)
        emit(counting.rows, Count, target, table)
    fail_with(commands.describe_counting(counting))
