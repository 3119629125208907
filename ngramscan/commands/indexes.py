"""`ngramscan index`: look at the indexes that can be asked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.commands.access import MAX_LINE, AccessOptions, index_options
from ngramscan.commands.missing import explained
from ngramscan.indexes import IndexOptions, open_indexes
from ngramscan.indexes.base import TIMEOUT_S, IndexSize, QueryFailure
from ngramscan.indexes.catalog import CATALOG, DEFAULT_URL
from ngramscan.output import several, strict_keywords, to_frame
from ngramscan.progress import Progress, Silent

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One hosted index, as documented."""

    name: str
    alias: str
    corpus: str
    kind: str
    documents: int
    bytes: int
    """Of text."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The size of one index, and that it answered."""

    name: str
    documents: int | None
    bytes: int | None
    """Of text; None: unknown."""
    answered_in_s: float
    """Seconds for one question; for a corpus that is read, for reading all of it."""
    shards: int | None = None
    """Of a local index, as the next two."""
    index_bytes: int | None = None
    size_ratio: float | None = None
    """Bytes of the index over bytes of text."""


def index_rows() -> list[IndexRow]:
    """Return the hosted indexes."""
    return [IndexRow(i.name, i.alias, i.corpus, i.kind, i.documents, i.bytes) for i in CATALOG]


def index_infos(spec: str, options: IndexOptions, progress: Progress) -> list[IndexInfo]:
    """Ask the indexes of a spec for one count; return their sizes.

    Raises
    ------
    NgramscanError
        One of them does not answer.
    """
    infos = []
    with open_indexes([spec], options, progress) as indexes:
        for index in indexes:
            started_at = time.perf_counter()
            for reply in index.counts(["the"]):
                if isinstance(reply, QueryFailure):
                    raise explained(reply.error)
            size = index.size()
            seconds = round(time.perf_counter() - started_at, 3)
            infos.append(_info(index.name, size, seconds))
    return infos


def _info(name: str, size: IndexSize, answered_in_s: float) -> IndexInfo:
    ratio = size.index_bytes / size.bytes if size.index_bytes and size.bytes else None
    return IndexInfo(
        name, size.documents, size.bytes, answered_in_s, size.shards, size.index_bytes, ratio
    )


def index_list() -> pd.DataFrame:
    """Return the hosted indexes, as `ngramscan index list` does."""
    return to_frame(index_rows(), IndexRow)


@strict_keywords
def index_info(
    spec: str,
    *,
    api_url: str = DEFAULT_URL,
    concurrency: int = 4,
    rate: float | None = None,
    timeout_s: float = TIMEOUT_S,
    journal: str | Path | None = None,
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
    """Return the size of the indexes of a spec, as `ngramscan index info` does.

    Parameters
    ----------
    spec : str
        As in `count`. A corpus is read to the end for this.
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
        One row per index: name, documents, bytes, seconds for one question, shards.

    Raises
    ------
    NgramscanError
        One of them does not answer.
    """
    access = AccessOptions(
        api_url=api_url,
        concurrency=concurrency,
        rate=rate,
        timeout_s=timeout_s,
        journal=journal,
        refresh=True,
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
    return to_frame(index_infos(spec, index_options(access), Silent()), IndexInfo)
