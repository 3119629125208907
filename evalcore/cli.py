"""The `evalcore` command: its parts are derived from the functions; benchmarks have a group."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ngramscan import __version__
from ngramscan.output import choose_target
from ngramscan.output.command import Commands
from ngramscan.output.options import Group, emit, fail_with, output_options, quiet_option, say
from ngramscan.screen import visible

main = Commands(
    "evalcore",
    [
        *("run", "score", "judge", "logs", "compare", "outcomes"),
        *("efficiency", "agreement", "audit", "link"),
    ],
    keeping=["run", "judge"],
    name="evalcore",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Put prompting methods to models, score what they answer, and compare them.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (kept; the same command goes on).
    """,
)
click.version_option(__version__, prog_name="evalcore")(main)


@main.group("datasets", cls=Group)
def datasets_group() -> None:
    """Benchmarks: list them, fetch them, check a copy."""


@datasets_group.command("list")
@output_options
def list_command(format_name: str | None, output: Path | None) -> None:
    """List the benchmarks that are known, and where they come from.

    Addresses, hashes and notes are in the other formats. Benchmarks without a pinned hash are
    fetched as they are; their SHA-256 is printed.

    \b
    Example:
      evalcore datasets list
    """
    from evalcore.benchmarks import DatasetRow, describe_datasets, print_benchmarks

    target = choose_target(format_name, output)
    emit(describe_datasets(), DatasetRow, target, print_benchmarks)


@datasets_group.command("check")
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="PATH", help="A copy, or a folder of them."
)
@output_options
def check_command(
    names: Sequence[str], data: Path | None, format_name: str | None, output: Path | None
) -> None:
    """Read copies of benchmarks and tell what is wrong with them; all that are there by default.

    \b
    Example:
      evalcore datasets check financemath --data validation.json
    """
    from evalcore.benchmarks import CheckRow, check_each, print_checks

    target = choose_target(format_name, output)
    rows, failures = check_each(names, data)
    emit(rows, CheckRow, target, lambda console: print_checks(console, rows))
    fail_with(failures)


@datasets_group.command("fetch")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@quiet_option
def fetch_command(names: Sequence[str], quiet: bool) -> None:
    """Fetch benchmarks from the projects that publish them, and check their SHA-256.

    \b
    Example:
      evalcore datasets fetch financemath bbh-word-sorting
    """
    from evalcore.benchmarks import fetch_each

    for path, notices in fetch_each(names):
        click.echo(visible(str(path)))
        for notice in () if quiet else notices:
            say(notice)
