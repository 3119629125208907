"""`ngramscan index`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.cli.index_build import index_build_command
from ngramscan.cli.index_verify import index_verify_command
from ngramscan.cli.options import access_options, scan_options
from ngramscan.output.options import Group, emit, output_options, progress_options
from ngramscan.progress import Terminal

if TYPE_CHECKING:
    from ngramscan.commands.access import AccessOptions


@click.group("index", cls=Group)
def index_group() -> None:
    """Look at the indexes that can be asked."""


index_group.add_command(index_build_command)
index_group.add_command(index_verify_command)


@index_group.command("list")
@output_options
def index_list_command(format_name: str | None, output: Path | None) -> None:
    """List the hosted indexes: names, and sizes in bytes of text and documents.

    \b
    Example:
      ngramscan index list --format csv
    """
    from ngramscan.commands import indexes as commands
    from ngramscan.output import choose_target

    emit(commands.index_rows(), commands.IndexRow, choose_target(format_name, output))


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
      ngramscan index info fm9:my-index
    """
    from ngramscan.commands import indexes as commands
    from ngramscan.commands.access import index_options
    from ngramscan.output import choose_target, refuse_same_file

    refuse_same_file({"-o": output, "--journal": access["journal"]})
    target = choose_target(format_name, output)
    access["refresh"] = True
    options = index_options(cast("AccessOptions", access))
    with Terminal(quiet, verbose) as progress:
        infos = commands.index_infos(spec, options, progress)
    emit(infos, commands.IndexInfo, target)
