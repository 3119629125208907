"""`ngramscan index build`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.output.options import emit, keeps_nothing, progress_options
from ngramscan.progress import Terminal

if TYPE_CHECKING:
    from ngramscan.commands.index_building import BuildSettings


@click.command("build")
@click.argument("corpus")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of the index; new or empty.",
)
@click.option(
    "--shard-size",
    default="1GB",
    show_default=True,
    metavar="SIZE",
    help="The most text in a shard, below 2.147GB. Sorting needs 5.2 times as much memory.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that sort shards; each needs memory for one.",
)
@click.option(
    "--text-field",
    default="text",
    show_default=True,
    metavar="NAME",
    help="The field of JSON lines, or column of Parquet, that holds the text.",
)
@click.option(
    "--exclude-source",
    multiple=True,
    metavar="GLOB",
    help="Leave out documents whose path, URL or id matches; again for more.",
)
@click.option(
    "--skip-bad-lines",
    is_flag=True,
    help="Skip malformed JSON lines, and count them, instead of stopping.",
)
@click.option(
    "--max-line",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    metavar="MB",
    help="The longest line of JSON; a longer one is an error.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["table", "csv", "jsonl", "json"]),
    help="How rows are printed.  [default: table]",
)
@progress_options
@keeps_nothing
def index_build_command(
    corpus: str,
    output: Path,
    format_name: str | None,
    verbose: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Build a local index of a corpus, in the format of infini-gram-mini.

    CORPUS is a path, folder, glob or URL of files, as behind `scan:`, or `python`. The folder is
    there only when all is done. Prints the shards: documents, bytes of documents and of the index,
    and seconds of sorting and encoding.

    \b
    Examples:
      ngramscan index build shards/ -o my-index
      ngramscan index build 'crawl/*.jsonl.zst' -o my-index --shard-size 500MB --workers 4
    """
    from ngramscan.commands.index_building import BuildRow, index_build_rows
    from ngramscan.output import Target

    with Terminal(quiet, verbose) as progress:
        rows = index_build_rows(corpus, output, cast("BuildSettings", settings), progress)
    emit(rows, BuildRow, Target(format_name or "table"))
