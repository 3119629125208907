"""The options of all commands that open indexes, as values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ngramscan.corpora import ReadOptions
from ngramscan.errors import InputError
from ngramscan.indexes.base import ApiSettings
from ngramscan.indexes.opening import IndexOptions
from ngramscan.indexes.scan.index import ScanOptions

MAX_LINE = 256
"""The longest line of JSON, in MB, unless another is asked for."""


class Access(NamedTuple):
    """What a command is given, in the order of its options."""

    api_url: str
    concurrency: int
    rate: float | None
    timeout_s: float
    journal: str | Path | None
    refresh: bool
    text_field: str
    workers: int | None
    scheduler: str | None
    sample_files: str | int | None
    seed: int
    limit_documents: int | None
    exclude_source: str | Sequence[str]
    skip_bad_lines: bool
    max_line: int
    ignore_case: bool

    def options(self) -> IndexOptions:
        """Return how indexes are opened."""
        if self.sample_files is not None and self.limit_documents is not None:
            raise InputError("--sample-files", "it can't go with --limit-documents")
        scan = ScanOptions(
            read=ReadOptions(
                text_field=self.text_field,
                skip_bad_lines=self.skip_bad_lines,
                exclude_sources=tuple(self.exclude_source),
                most_line_bytes=self.max_line * 1_000_000,
            ),
            ignore_case=self.ignore_case,
            limit_documents=self.limit_documents,
            sample=None if self.sample_files is None else str(self.sample_files),
            seed=self.seed,
            workers=self.workers or 0,
            scheduler=self.scheduler,
        )
        return IndexOptions(
            api_url=self.api_url,
            api=ApiSettings(self.concurrency, self.rate, self.timeout_s),
            journal=Path(self.journal) if self.journal else None,
            refresh=self.refresh,
            scan=scan,
        )
