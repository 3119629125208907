"""`ngramscan docnorm`."""

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
    from ngramscan.commands.documents import SamplingOptions

_ESTIMATORS = ["combined", "size-bias", "first", "unique"]


@click.command("docnorm")
@click.argument("patterns", nargs=-1)
@click.option(
    "--index",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Where; again for more: a hosted index, `paper` (its eight corpora),"
    " http://HOST:PORT/NAME, scan:PATH, fm9:DIR, `python`.  [default: dclm]",
)
@selection_options
@click.option(
    "--samples",
    type=click.IntRange(min=2),
    default=200,
    show_default=True,
    metavar="K",
    help="Occurrences drawn per pattern.",
)
@click.option(
    "--target",
    metavar="P%",
    help="Draw 100, then as many as an interval of ±P% of the estimate needs.",
)
@click.option(
    "--max-samples",
    type=click.IntRange(min=2),
    default=2000,
    show_default=True,
    metavar="N",
    help="With --target: no more per pattern.",
)
@click.option(
    "--estimator",
    type=click.Choice(_ESTIMATORS),
    default="combined",
    show_default=True,
    help="How documents follow from draws; unique is K/U, to see what it can't show.",
)
@click.option(
    "--context",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    metavar="BYTES",
    help="How much of a document is looked at on each side; services give 10,000 at most.",
)
@click.option(
    "--totals",
    "totals_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the documents and ratios of the methods to a file.",
)
@click.option(
    "--draws",
    "draws_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the occurrences that were drawn, with their text, to a file.",
)
@click.option("--dry-run", is_flag=True, help="Tell how many requests it takes, and ask nothing.")
@access_options
@scan_options
@output_options
@progress_options
def docnorm_command(
    patterns: Sequence[str],
    specs: Sequence[str],
    tiers: Sequence[str],
    methods: Sequence[str],
    totals_path: Path | None,
    draws_path: Path | None,
    dry_run: bool,
    format_name: str | None,
    output: Path | None,
    verbose: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Estimate in how many documents patterns occur, with intervals.

    PATTERNS are YAML files or names of shipped sets; by default the set f1, tiers T1 and T2. Hosted
    indexes know occurrences only, so some are drawn at random and their documents looked at;
    corpora that are read (scan:, python) are counted exactly.

    \b
    Examples:
      ngramscan docnorm --dry-run
      ngramscan docnorm --method f-1 --target 10% -o documents.csv
      ngramscan docnorm mine.yaml --index cc-2025-05 --draws draws.parquet
    """
    from ngramscan import tables
    from ngramscan.commands import documents as commands
    from ngramscan.commands.access import AccessOptions, index_options
    from ngramscan.documents import DocumentRow, DrawRow
    from ngramscan.output import choose_target, optional_target, refuse_same_file
    from ngramscan.totals import Total

    named = {"--totals": totals_path, "--draws": draws_path, "--journal": given["journal"]}
    refuse_same_file({"-o": output, **named})
    target = choose_target(format_name, output)
    totals_target, draws_target = optional_target(totals_path), optional_target(draws_path)
    norm = commands.norm_options(cast("SamplingOptions", given), draws_path is not None)
    access = {name: value for name, value in given.items() if name in AccessOptions.__annotations__}
    options = index_options(cast("AccessOptions", access))
    queries = commands.load_queries(patterns, tiers, methods)
    if dry_run:
        with Terminal(quiet, verbose) as progress:
            plans = commands.plan(queries, specs, options, norm, progress)
        emit(plans, commands.Plan, target)
        return
    with Terminal(quiet, verbose) as progress:
        norming = commands.norm_in(queries, specs, options, norm, progress)
    if norming.rows:
        save(norming.totals, Total, totals_target)
        save(norming.draws, DrawRow, draws_target)
        emit(norming.rows, DocumentRow, target, partial(tables.print_norming, norming))
    fail_with(commands.describe_norming(norming))
