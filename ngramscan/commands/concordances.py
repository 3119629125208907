"""`ngramscan contexts`: random occurrences in context."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.commands.access import MAX_LINE, AccessOptions, index_options
from ngramscan.commands.documents import DEFAULT_INDEX
from ngramscan.commands.missing import explained
from ngramscan.concordance import Concordance, Context, find_contexts
from ngramscan.errors import IncompleteError, InputError, NgramscanError
from ngramscan.indexes import IndexOptions, open_indexes
from ngramscan.indexes.base import TIMEOUT_S, RankedIndex
from ngramscan.indexes.catalog import DEFAULT_URL
from ngramscan.output import several, strict_keywords, to_frame
from ngramscan.progress import Progress, Silent

if TYPE_CHECKING:
    import pandas as pd


def contexts_in(
    text: str,
    specs: Sequence[str],
    n: int,
    width: int,
    options: IndexOptions,
    progress: Progress,
) -> list[Concordance]:
    """Draw occurrences of a text in the indexes of some specs.

    Raises
    ------
    NgramscanError
        An index could not be asked.
    """
    if not text:
        raise InputError("TEXT", "it is empty; a text to look for was expected")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError("TEXT", "it is not UTF-8") from error
    for name, number, least in (("-n", n, 1), ("--width", width, 0)):
        if number < least:
            raise InputError(f"{name} {number}", f"at least {least} was expected")
    concordances = []
    with open_indexes(specs or [DEFAULT_INDEX], options, progress) as indexes:
        for index in indexes:
            assert isinstance(index, RankedIndex), "all of ours are"
            try:
                concordances.append(find_contexts(text, index, n, width, options.scan.seed))
            except NgramscanError as error:
                raise explained(error) from error
    return concordances


def describe_failures(concordances: Sequence[Concordance]) -> list[str]:
    """Return what could not be shown, one line per index and reason."""
    lines = []
    for one in concordances:
        reasons: dict[str, int] = {}
        for failure in one.failures:
            reason = str(explained(failure.error))
            reasons[reason] = reasons.get(reason, 0) + 1
        drawn = len(one.contexts) + len(one.failures)
        lines += [
            f"{reason}; {n} of {drawn} contexts missing ({one.index})"
            for reason, n in reasons.items()
        ]
    return lines


@strict_keywords
def contexts(
    text: str,
    *,
    index: str | Sequence[str] = (),
    n: int = 20,
    width: int = 60,
    api_url: str = DEFAULT_URL,
    concurrency: int = 4,
    rate: float | None = None,
    timeout_s: float = TIMEOUT_S,
    journal: str | Path | None = None,
    refresh: bool = False,
    text_field: str = "text",
    workers: int | None = None,
    scheduler: str | None = None,
    sample_files: str | int | None = None,
    seed: int = 1,
    limit_documents: int | None = None,
    exclude_source: str | Sequence[str] = (),
    skip_bad_lines: bool = False,
    max_line: int = MAX_LINE,
    ignore_case: bool = False,
) -> pd.DataFrame:
    """Show random occurrences of a text in context, as `ngramscan contexts` does.

    Parameters
    ----------
    text : str
        What to look for.
    index : str or sequence of str
        Where to look: specs as in `count`. By default `dclm`.
    n : int
        Number of occurrences from each index.
    width : int
        Number of characters on each side.
    api_url : str
        Address of the service that answers for hosted indexes.
    concurrency : int
        Maximum number of requests at a time.
    rate : float, optional
        Maximum number of requests per second; 0 for no limit. By default 4, and no limit for
        loopback addresses.
    timeout_s : float
        How many seconds a request may take, from the connection to the last byte of its answer.
    journal : str or Path, optional
        File in which replies are kept. By default one in the user's cache folder.
    refresh : bool
        Ask again for what the journal already has.
    text_field : str
        Field of JSON lines, or column of Parquet files, that holds the text.
    workers : int, optional
        Number of processes that read a corpus. By default one per core.
    scheduler : str, optional
        Read on a running Dask cluster at this address: `tcp://HOST:PORT`.
    sample_files : str or int, optional
        Read only this many files (50) or this share of them (`"10%"`), drawn at random, and
        estimate the counts of all.
    seed : int
        Random seed.
    limit_documents : int, optional
        Read only this many documents, from the start of a corpus.
    exclude_source : str or sequence of str
        Leave out documents whose path, URL or id matches a glob.
    skip_bad_lines : bool
        Skip malformed JSON lines, and count them, instead of stopping.
    max_line : int
        The longest line of JSON, in MB; a longer one is an error.
    ignore_case : bool
        Count upper and lower case ASCII letters as the same, in corpora that are read.

    Returns
    -------
    DataFrame
        One row per occurrence; see docs/rows.md.

    Raises
    ------
    NgramscanError
        An index could not be asked.
    IncompleteError
        Some occurrences could not be shown; its `rows` has the others.
    """
    access = AccessOptions(
        api_url=api_url,
        concurrency=concurrency,
        rate=rate,
        timeout_s=timeout_s,
        journal=journal,
        refresh=refresh,
        text_field=text_field,
        workers=workers,
        scheduler=scheduler,
        sample_files=sample_files,
        seed=seed,
        limit_documents=limit_documents,
        exclude_source=several(exclude_source),
        skip_bad_lines=skip_bad_lines,
        max_line=max_line,
        ignore_case=ignore_case,
    )
    found = contexts_in(text, several(index), n, width, index_options(access), Silent())
    frame = to_frame([row for one in found for row in one.contexts], Context)
    if lines := describe_failures(found):
        raise IncompleteError("; ".join(lines), frame)
    return frame
