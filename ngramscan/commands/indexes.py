"""`ngramscan index`: look at the indexes that can be asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from ngramscan.commands.access import AccessOptions, index_options
from ngramscan.commands.missing import explained
from ngramscan.indexes import IndexOptions, open_indexes
from ngramscan.indexes.base import IndexSize, QueryFailure
from ngramscan.indexes.catalog import CATALOG
from ngramscan.output import to_frame
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


def index_info(spec: str, **access: Unpack[AccessOptions]) -> pd.DataFrame:
    """Return the size of the indexes of a spec, as `ngramscan index info` does.

    Raises
    ------
    NgramscanError
        One of them does not answer.
    """
    access["refresh"] = True
    options = index_options(access)
    return to_frame(index_infos(spec, options, Silent()), IndexInfo)
