"""The `ngramscan` command: options in, rows out; all work is done elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ngramscan import __version__
from ngramscan.errors import NgramscanError
from ngramscan.patterns import TIERS
from ngramscan.progress import Terminal

if TYPE_CHECKING:
    from ngramscan.commands import AccessOptions

Command = TypeVar("Command", bound=Callable[..., Any])


class Group(click.Group):
    """A group whose commands end with one line where something anticipated goes wrong."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; translate errors into the exit codes of the documentation."""
        try:
            return super().invoke(ctx)
        except NgramscanError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("Interrupted; what was done is kept: run the same command again.", err=True)
            ctx.exit(130)


def _options(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


output_options = _options(
    click.option(
        "--format",
        "format_name",
        type=click.Choice(["table", "csv", "jsonl", "json"]),
        help="How rows are printed.  [default: table]",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write the rows to a file: .csv, .jsonl, .json or .parquet.",
    ),
)
"""What every command takes."""

progress_options = _options(
    click.option("-v", "--verbose", is_flag=True, help="Tell details on stderr."),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress and no notices."),
)
"""What every command takes that may take long."""

access_options = _options(
    click.option(
        "--api-url",
        envvar="NGRAMSCAN_API_URL",
        default="https://api.infini-gram-mini.io/",
        show_default=True,
        show_envvar=True,
        metavar="URL",
        help="Where hosted indexes are asked.",
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=4,
        show_default=True,
        help="Requests under way at once.",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(min=0),
        metavar="N",
        help="Requests per second at most; 0: no limit.  [default: 4; 0 for loopback addresses]",
    ),
    click.option(
        "--journal",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Where replies are kept.  [default: in the user's cache folder]",
    ),
    click.option("--refresh", is_flag=True, help="Ask also what the journal has."),
)
"""What every command takes that opens indexes."""

scan_options = _options(
    click.option(
        "--text-field",
        default="text",
        show_default=True,
        metavar="NAME",
        help="The field of JSON lines, or column of Parquet, that holds the text.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Processes that read a corpus.  [default: one per core]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Read on a Dask cluster that is running: tcp://HOST:PORT.",
    ),
    click.option(
        "--sample-files",
        metavar="N|P%",
        help="Read only some files, drawn at random, and estimate the counts of all.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Of --sample-files."),
    click.option(
        "--limit-documents",
        type=click.IntRange(min=1),
        metavar="N",
        help="Read only the first documents of a corpus.",
    ),
    click.option(
        "--exclude-source",
        multiple=True,
        metavar="GLOB",
        help="Leave out documents whose path, URL or id matches; again for more.",
    ),
    click.option(
        "--skip-bad-lines",
        is_flag=True,
        help="Skip malformed JSON lines, and count them, instead of stopping.",
    ),
    click.option(
        "--ignore-case", is_flag=True, help="Count upper and lower case of ASCII letters as one."
    ),
)
"""What every command takes that may read a corpus."""


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ngramscan")
def main() -> None:
    """Corpus statistics: what language models were trained on, with intervals.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (kept; the same command goes on).
    """


@main.command("count")
@click.argument("patterns", nargs=-1, required=True)
@click.option(
    "--index",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Where to count; again for more: a hosted index, `paper` (its eight corpora),"
    " http://HOST:PORT/NAME, scan:PATH, `python`.  [default: paper]",
)
@click.option(
    "--tier",
    "tiers",
    multiple=True,
    type=click.Choice(TIERS, case_sensitive=False),
    help="Only patterns of this tier; again for more.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    help="Only patterns of this method; again for more.",
)
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
    from ngramscan import commands, tables
    from ngramscan.counts import Count
    from ngramscan.output import choose_target, to_text, write_rows
    from ngramscan.totals import Total, make_totals

    target = choose_target(format_name, output)
    totals_target = choose_target(None, totals_path) if totals_path else None
    needs_totals = target.format == "table" or totals_target is not None
    queries = commands.load_selection(patterns, tiers, methods).queries(case_variants)
    options = commands.index_options(cast("AccessOptions", access))
    with Terminal(quiet, verbose) as progress:
        counting = commands.count_in(queries, specs, options, progress, needs_totals)
    totals = make_totals(counting) if needs_totals else []
    if counting.rows:
        if totals_target:
            write_rows(totals, Total, totals_target)
        if target.path:
            write_rows(counting.rows, Count, target)
        elif target.format == "table":
            tables.print_counting(tables.stdout_console(), counting, totals)
        else:
            click.echo(to_text(counting.rows, Count, target.format), nl=False)
    for line in commands.describe_missing(counting):
        click.echo(f"Error: {line}", err=True)
    if counting.missing:
        click.get_current_context().exit(1)


@main.group("index", cls=Group)
def index_group() -> None:
    """Look at the indexes that can be asked."""


@index_group.command("list")
@output_options
def index_list_command(format_name: str | None, output: Path | None) -> None:
    """List the hosted indexes: names, and sizes in bytes of text and documents.

    \b
    Example:
      ngramscan index list --format csv
    """
    from ngramscan import commands

    _emit(commands.index_rows(), commands.IndexRow, format_name, output)


@index_group.command("info")
@click.argument("spec")
@access_options
@scan_options
@output_options
@progress_options
def index_info_command(
    spec: str,
    format_name: str | None,
    output: Path | None,
    verbose: bool,
    quiet: bool,
    **access: Any,
) -> None:
    """Tell the size of one index, and whether it answers.

    SPEC is as in `ngramscan count --index`. A corpus is read to the end for this.

    \b
    Examples:
      ngramscan index info dclm
      ngramscan index info scan:shards/
    """
    from ngramscan import commands

    access["refresh"] = True
    options = commands.index_options(cast("AccessOptions", access))
    with Terminal(quiet, verbose) as progress:
        infos = commands.index_infos(spec, options, progress)
    _emit(infos, commands.IndexInfo, format_name, output)


def _emit(
    rows: Sequence[Any], row_type: type, format_name: str | None, output: Path | None
) -> None:
    from ngramscan import tables
    from ngramscan.output import choose_target, to_text, write_rows

    target = choose_target(format_name, output)
    if target.path:
        write_rows(rows, row_type, target)
    elif target.format == "table":
        tables.print_rows(tables.stdout_console(), rows, row_type)
    else:
        click.echo(to_text(rows, row_type, target.format), nl=False)
