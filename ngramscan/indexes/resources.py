"""The options, clients of hosts, journal and remote files that all indexes of a command share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.errors import InputError
from ngramscan.indexes.base import IN_PLACE_CONCURRENCY, Index, IndexSize
from ngramscan.indexes.catalog import (
    INFINI_GRAM_MINI,
    REQUESTER_PAYS_BUCKETS,
    IndexRow,
    service_of,
)
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal, default_path
from ngramscan.progress import Progress
from ngramscan.remote.ranges import RangeOptions, Ranges

if TYPE_CHECKING:
    from ngramscan.indexes.http.client import ApiClient


class Resources:
    """Shared by indexes: opened when the first one needs them, and closed by a stack."""

    def __init__(self, options: IndexOptions, progress: Progress, stack: ExitStack) -> None:
        self.options, self.progress, self._stack = options, progress, stack
        self._clients: dict[str, ApiClient] = {}

    @cached_property
    def ranges(self) -> Ranges:
        """The reader of remote files; all indexes share it and its limits."""
        options = self.options
        concurrency = options.concurrency or IN_PLACE_CONCURRENCY
        limits = RangeOptions(
            concurrency=concurrency,
            rate=options.rate or 0.0,
            timeout_s=options.timeout_s,
            cache_bytes=options.memory_bytes,
            cache_dir=Path(options.index_cache) if options.index_cache else None,
            requester_pays=options.reader_pays,
            paying_buckets=REQUESTER_PAYS_BUCKETS,
        )
        return self._stack.enter_context(Ranges(limits, self.progress))

    def client(self, url: str) -> ApiClient:
        """Return the client of a host; all of its indexes share it."""
        from ngramscan.indexes.http.client import ApiClient  # slow to import

        if url not in self._clients:
            client = ApiClient(url, self.options, self.journal, self.progress)
            self._clients[url] = self._stack.enter_context(client)
        return self._clients[url]

    @cached_property
    def journal(self) -> Journal:
        """The journal; one in memory where the default one can't be written."""
        named = self.options.journal
        try:
            journal = Journal(Path(named) if named else default_path())
        except InputError as error:
            if named:
                raise
            self.progress.notice(f"{error}; replies of this run are not kept")
            journal = Journal(None)
        return self._stack.enter_context(journal)

    def open_hosted(self, row: IndexRow) -> Index:
        """Return an index of the catalog, from its service or from the host of --api-url."""
        is_usual = self.options.api_url == INFINI_GRAM_MINI.url
        url = service_of(row).url if is_usual else self.options.api_url
        # Another host may have anything under this name, and is asked for its size.
        is_public = self.client(url).public(INFINI_GRAM_MINI.protocol)
        size = IndexSize(row.documents, row.bytes) if is_public else IndexSize()
        return self.open_api(row.name, row.spellings, url=url, size=size)

    def open_api(
        self, name: str, spellings: Sequence[str], *, url: str, size: IndexSize | None = None
    ) -> Index:
        """Return an index of a host by its possible names there."""
        # Slow to import, and not needed to read a corpus.
        from ngramscan.indexes.http.index import ApiIndex

        client = self.client(url)
        may_be_replaced = not client.public(INFINI_GRAM_MINI.protocol)
        return ApiIndex(
            name, spellings, size or IndexSize(), client, may_be_replaced=may_be_replaced
        )
