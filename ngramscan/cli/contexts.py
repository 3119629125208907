"""`ngramscan contexts`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.cli.options import access_options, scan_options
from ngramscan.output.options import emit, fail_with, output_options, progress_options
from ngramscan.progress import Terminal

if TYPE_CHECKING:
    from ngramscan.commands.access import AccessOptions


@click.command("contexts")
@click.argument("text")
@click.option(
    "--index",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Where; again for more: as in `ngramscan count`.  [default: dclm]",
)
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many occurrences.",
)
@click.option(
    "--width",
    type=click.IntRange(min=0),
    default=60,
    show_default=True,
    help="Characters on each side; fewer where the terminal is narrow.",
)
@access_options
@scan_options
@output_options
@progress_options
def contexts_command(
    text: str,
    specs: Sequence[str],
    n: int,
    width: int,
    format_name: str | None,
    output: Path | None,
    verbose: bool,
    quiet: bool,
    **access: Any,
) -> None:
    r"""Show random occurrences of a text in context: what a pattern really catches.

    Every occurrence is as likely as any other, so documents with many are seen more often.

    \b
    Examples:
      ngramscan contexts 'step by step' --index dclm -n 50
      ngramscan contexts '\frac{' --index scan:corpus.jsonl --format csv
    """
    from ngramscan import tables
    from ngramscan.commands.access import index_options
    from ngramscan.commands.concordances import contexts_in, describe_failures
    from ngramscan.concordance import Context
    from ngramscan.output import choose_target, refuse_same_file

    refuse_same_file({"-o": output, "--journal": access["journal"]})
    target = choose_target(format_name, output)
    options = index_options(cast("AccessOptions", access))
    with Terminal(quiet, verbose) as progress:
        found = contexts_in(text, specs, n, width, options, progress)
    rows = [row for one in found for row in one.contexts]
    emit(rows, Context, target, partial(tables.print_contexts, found, options.scan.seed))
    fail_with(describe_failures(found))
