"""What commands share: options, the group that turns errors into exit codes, where rows go."""

from __future__ import annotations

import locale
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ngramscan.errors import NgramscanError
from ngramscan.progress import visible
from ngramscan.report.files import TAKES_NO_MORE
from ngramscan.report.rows import CSV_SAFE, FORMATS, Target, to_text, write_rows

if TYPE_CHECKING:
    from rich.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])


class Group(click.Group):
    """A group whose commands end with one line where something anticipated goes wrong."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run in UTF-8, whatever the locale says: patterns, texts and names of files are UTF-8."""
        if not arguments and not sys.flags.utf8_mode and locale.getencoding().lower() != "utf-8":
            os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
        return super().__call__(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; translate errors into the exit codes of the documentation."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a full disk may show only here
            return result
        except NgramscanError as error:
            say(f"Error: {error}")
            ctx.exit(error.exit_code)
        except OSError as error:
            if error.errno not in TAKES_NO_MORE:
                raise  # click itself ends a command whose reader is gone
            say(f"Error: stdout: can't be written ({os.strerror(error.errno or 0).lower()})")
            _give_up_stdout()
            ctx.exit(1)
        except KeyboardInterrupt:
            click.echo("Interrupted; what was done is kept: run the same command again.", err=True)
            ctx.exit(130)


def _give_up_stdout() -> None:
    """Let what is still to be written go nowhere, so that the end of the process does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def say(text: str) -> None:
    """Print a line on stderr."""
    click.echo(visible(text), err=True)


def keeps_nothing(command: Command) -> Command:
    """Have a command that writes only when it is done say so where it is interrupted."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt:
            click.echo("Interrupted; nothing was kept.", err=True)
            click.get_current_context().exit(130)

    return cast("Command", run)


def all_of(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator for several."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def _set_csv_safe(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Have every file of csv that the command writes be safe, those of side options too."""
    token = CSV_SAFE.set(value)
    ctx.call_on_close(lambda: CSV_SAFE.reset(token))


format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="How rows are printed.  [default: table]",
)
"""What a command takes that has another output than its rows."""
output_options = all_of(
    format_option,
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write the rows to a file: .csv, .jsonl, .json, .parquet or .tex.",
    ),
    click.option(
        "--csv-safe",
        is_flag=True,
        expose_value=False,
        callback=_set_csv_safe,
        help="In csv, put an apostrophe before texts that a spreadsheet would run as formulas.",
    ),
)
"""What every other command takes."""

verbose_option = click.option("-v", "--verbose", is_flag=True, help="Tell details on stderr.")
progress_options = all_of(
    verbose_option,
    click.option("-q", "--quiet", is_flag=True, help="Show no progress and no notices."),
)
"""What every command takes that may take long."""

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Show no notices.")
"""What a command takes that has no progress to show."""


def emit(
    rows: Sequence[Any],
    row_type: type,
    target: Target,
    print_table: Callable[[Console], None] | None = None,
) -> None:
    """Print rows, or write them to a file; as a table they are printed as they are by default."""
    from ngramscan.progress import open_console
    from ngramscan.report import layout

    if target.path:
        write_rows(rows, row_type, target)
    elif target.format != "table":
        _print_text(to_text(rows, row_type, target.format))
    elif print_table:
        print_table(open_console())
    else:
        layout.print_rows(open_console(), rows, row_type)


def _print_text(text: str) -> None:
    """Print rows: as they are into a file or pipe; before a person, nothing steers the terminal."""
    if sys.stdout.isatty():
        text = visible(text)
    click.echo(text.encode("utf-8", "backslashreplace"), nl=False)


def save(rows: Sequence[Any], row_type: type, target: Target | None) -> None:
    """Write rows to a file that was asked for."""
    if target:
        write_rows(rows, row_type, target)


def tell(notices: Sequence[str], quiet: bool) -> None:
    """Print what is to be known beside the rows."""
    for notice in () if quiet else notices:
        say(notice)


def fail_with(lines: Sequence[str]) -> None:
    """End the command where something could not be done; each line says what and why."""
    for line in lines:
        say(f"Error: {line}")
    if lines:
        click.get_current_context().exit(1)
