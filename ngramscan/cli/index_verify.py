"""`ngramscan index verify`."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscan.output.options import emit, output_options, progress_options
from ngramscan.progress import Terminal

PLAIN = (
    "all tables and some of the text; only --deep sees changed bits inside compressed blocks, and "
    "sampled positions that are possible but wrong"
)


@click.command("verify")
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--deep", is_flag=True, help="Also walk through the whole text, so that every bit is checked."
)
@output_options
@progress_options
def index_verify_command(
    directory: Path,
    deep: bool,
    format_name: str | None,
    output: Path | None,
    verbose: bool,
    quiet: bool,
) -> None:
    """Check whether a local index is what it should be.

    DIR is a shard or a folder of shards. Prints what is wrong, with file and field; exit code 1
    where anything is.

    \b
    Examples:
      ngramscan index verify my-index
      ngramscan index verify my-index --deep --format csv
    """
    from ngramscan.commands.index_checking import Finding, findings
    from ngramscan.output import choose_target

    target = choose_target(format_name, output)
    with Terminal(quiet, verbose) as progress:
        found = findings(directory, deep, progress)
        if not found:
            checked = "every bit" if deep else PLAIN
            progress.notice(f"{directory}: sound ({checked})")
    if found or target.format != "table":
        emit(found, Finding, target)
    if found:
        click.get_current_context().exit(1)
