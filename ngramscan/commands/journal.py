"""`ngramscan journal`: the stored replies, so that no request is sent twice."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import click

from ngramscan.errors import InputError, NgramscanError, nearest
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal, JournalRow, NameFilter, default_path, names_of
from ngramscan.messages import OptionUse
from ngramscan.progress import SILENT, format_bytes
from ngramscan.reporting.command import Option, Result, command


@command
def journal_info(
    *, journal: Annotated[str | Path | None, Option(metavar="FILE")] = None
) -> Result[JournalRow]:
    """Show the stored replies: how many from each index, and since when.

    Parameters
    ----------
    journal : see count

    Returns
    -------
    DataFrame
        One row per source and index: number of replies, times of the oldest and the newest.

    Examples
    --------
    $ ngramscan journal info
    """
    with _open(journal) as (path, opened_journal):
        rows = opened_journal.rows()
    size = format_bytes(path.stat().st_size) if opened_journal.path else "no journal yet"
    heading = f"{path}: {size}, replies: {sum(row.replies for row in rows):,}"
    return Result(rows, JournalRow, heading=heading, is_silent=not rows)


@command
def journal_clear(
    *,
    index: Annotated[str | None, Option(metavar="NAME", envvar="")] = None,
    journal: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    yes: Annotated[bool, Option(is_shown=True)] = True,
) -> Result[JournalRow]:
    """Remove all stored replies, or those from one index.

    Commands will then send these requests again. In a terminal you confirm first; elsewhere --yes
    is required.

    Parameters
    ----------
    index : str, optional
        Only replies from this index, named as for `count` or as in `ngramscan journal info`.
    journal : see count
    yes : bool
        Don't ask for confirmation.

    Returns
    -------
    DataFrame
        One row per source and index whose replies were removed.

    Examples
    --------
    $ ngramscan journal clear --index dclm --yes
    $ ngramscan journal clear --yes
    """
    with _open(journal) as (path, opened_journal):
        chosen = _stored_names(index, path) if index else None
        rows = opened_journal.rows(chosen)
        if index and not rows:
            near = nearest(index, [row.index for row in opened_journal.rows()])
            hint = f"did you mean {near}?" if near else "see ngramscan journal info"
            raise InputError(OptionUse("index", index), f"{path} has no replies from it; {hint}")
        if rows and not yes:
            _confirm(f"the replies from {index}" if index else "all replies", path)
        opened_journal.clear(chosen)
    notice = f"{path}: replies removed: {sum(row.replies for row in rows):,}"
    return Result(rows, JournalRow, [notice], is_silent=True)


def _stored_names(index: str, journal: Path) -> NameFilter:
    """Return a filter for the stored names of an index, named as for `count` or as shown."""
    # They are slow to import.
    from ngramscan.corpora import open_corpus
    from ngramscan.indexes.kinds import SCAN
    from ngramscan.indexes.opening import open_indexes
    from ngramscan.indexes.specs import spec_of_path

    names, files = {index}, set[str]()
    # An index that can't be opened any more has the name that is shown.
    with suppress(NgramscanError):
        place = spec_of_path(index)
        if SCAN.names(place):
            corpus = open_corpus(SCAN.place_in(place), skip_unknown=True)
            files = {file.path for file in corpus.files}
        else:
            with open_indexes([index], IndexOptions(journal=journal), SILENT) as opened:
                names |= {each.spec for each in opened}
    return names_of(names, files)


def _confirm(what: str, path: Path) -> None:
    if not sys.stdin.isatty():
        problem = f"removing {what} must be confirmed, and standard input is not a terminal"
        raise InputError(str(path), f"{problem}; add " + OptionUse("yes"))
    click.confirm(f"Remove {what} from {path}?", abort=True, err=True)


@contextmanager
def _open(named: str | Path | None) -> Iterator[tuple[Path, Journal]]:
    """Yield the path of a journal, and the journal; an empty one where there is no file."""
    path = Path(named) if named else default_path()
    # Opening a journal that is not there would make it.
    with Journal(
        path if path.is_dir() or (path.exists() and path.stat().st_size) else None
    ) as opened_journal:
        yield path, opened_journal
