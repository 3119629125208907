"""What the commands share: options, the group that turns errors into exit codes, output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ngramscan.errors import NgramscanError
from ngramscan.output import Target, to_text, write_rows
from ngramscan.patterns import TIERS

if TYPE_CHECKING:
    from rich.console import Console

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


def all_of(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator for several."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


output_options = all_of(
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

progress_options = all_of(
    click.option("-v", "--verbose", is_flag=True, help="Tell details on stderr."),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress and no notices."),
)
"""What every command takes that may take long."""

selection_options = all_of(
    click.option(
        "--tier",
        "tiers",
        multiple=True,
        type=click.Choice(TIERS, case_sensitive=False),
        help="Only patterns of this tier; again for more.",
    ),
    click.option(
        "--method",
        "methods",
        multiple=True,
        metavar="NAME",
        help="Only patterns of this method; again for more.",
    ),
)
"""What every command takes that has pattern sets."""

access_options = all_of(
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

scan_options = all_of(
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
    click.option(
        "--seed", type=int, default=1, show_default=True, help="Of what is drawn at random."
    ),
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


recorded_options = all_of(
    click.option(
        "--output-field",
        default="output",
        show_default=True,
        metavar="NAME",
        help="The field of a record that holds what the model wrote.",
    ),
    click.option(
        "--variant-field",
        metavar="NAME",
        help="A field with the variant, where one file has several.",
    ),
    click.option(
        "--skip-bad-lines",
        is_flag=True,
        help="Skip malformed JSON lines, and count them, instead of stopping.",
    ),
)
"""What every command takes that reads recorded outputs."""

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Show no notices.")
"""What a command takes that has no progress to show."""


def emit(
    rows: Sequence[Any],
    row_type: type,
    target: Target,
    print_table: Callable[[Console], None] | None = None,
) -> None:
    """Print rows, or write them to a file; as a table they are printed as they are by default."""
    from ngramscan import tables

    if target.path:
        write_rows(rows, row_type, target)
    elif target.format != "table":
        click.echo(to_text(rows, row_type, target.format), nl=False)
    elif print_table:
        print_table(tables.stdout_console())
    else:
        tables.print_rows(tables.stdout_console(), rows, row_type)


def save(rows: Sequence[Any], row_type: type, target: Target | None) -> None:
    """Write rows to a file that was asked for."""
    if target:
        write_rows(rows, row_type, target)


def tell(notices: Sequence[str], quiet: bool) -> None:
    """Print what is to be known beside the rows."""
    for notice in () if quiet else notices:
        click.echo(notice, err=True)


def fail_with(lines: Sequence[str]) -> None:
    """End the command where something could not be done; each line says what and why."""
    for line in lines:
        click.echo(f"Error: {line}", err=True)
    if lines:
        click.get_current_context().exit(1)
