"""`ngramscan journal`: the replies that are kept, so that nothing is asked twice."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import click

from ngramscan.errors import InputError
from ngramscan.indexes.catalog import find_hosted
from ngramscan.journal import Journal, JournalRow, default_path
from ngramscan.progress import format_bytes
from ngramscan.report.command import Option, Result, command


@command
def journal_info(*, journal: Annotated[str | Path | None, Option(metavar="FILE")] = None) -> Result:
    """Show which replies are kept: how many from each index, and since when.

    Parameters
    ----------
    journal : see count

    Returns
    -------
    DataFrame
        One row per source and index: replies, and when the oldest and the newest was asked for.

    Examples
    --------
    $ ngramscan journal info
    """
    path = Path(journal) if journal else default_path()
    if not _is_there(path):
        return Result([], JournalRow, heading=f"{path}: no journal yet", is_silent=True)
    with Journal(path) as kept:
        rows = kept.rows()
    replies = sum(row.replies for row in rows)
    heading = f"{path}: {format_bytes(path.stat().st_size)}, replies: {replies:,}"
    return Result(rows, JournalRow, heading=heading, is_silent=not rows)


@command
def journal_clear(
    *,
    index: Annotated[str | None, Option(metavar="NAME")] = None,
    journal: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    yes: Annotated[bool, Option(is_shown=True)] = True,
) -> Result:
    """Remove the replies that are kept, or those from one index.

    Commands then ask again. A terminal is asked for confirmation first.

    Parameters
    ----------
    index : str, optional
        Only replies from this index, named as `ngramscan journal info` names it.
    journal : see count
    yes : bool
        Do not ask for confirmation.

    Returns
    -------
    DataFrame
        One row per source and index whose replies were removed.

    Examples
    --------
    $ ngramscan journal clear --index dclm
    $ ngramscan journal clear --yes
    """
    path = Path(journal) if journal else default_path()
    if not _is_there(path):
        return Result([], JournalRow, [f"{path}: no journal yet"], is_silent=True)
    hosted = find_hosted(index) if index else None
    name = hosted.name if hosted else index
    with Journal(path) as kept:
        names = {row.index for row in kept.rows()}
        if name and name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]}?" if near else "see ngramscan journal info"
            raise InputError(f"--index {index}", f"{path} has no replies from it; {hint}")
        if not yes and sys.stdin.isatty():
            what = f"the replies from {name}" if name else "all replies"
            click.confirm(f"Remove {what} from {path}?", abort=True, err=True)
        removed = kept.clear(name)
    notice = f"{path}: replies removed: {sum(row.replies for row in removed):,}"
    return Result(removed, JournalRow, [notice], is_silent=True)


def _is_there(path: Path) -> bool:
    """Tell whether there is anything; opening a journal would make a missing one."""
    return path.exists() and not (path.is_file() and path.stat().st_size == 0)
