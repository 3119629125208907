"""The options of all functions that open indexes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from ngramscan.corpora import ReadOptions
from ngramscan.errors import InputError
from ngramscan.indexes import ApiSettings, IndexOptions, ScanOptions
from ngramscan.indexes.base import TIMEOUT_S
from ngramscan.indexes.catalog import DEFAULT_URL

MAX_LINE = 256
"""The longest line of JSON, in MB, unless another is asked for."""


class AccessOptions(TypedDict, total=False):
    """The options of every function that opens indexes, as in the commands."""

    api_url: str
    concurrency: int
    rate: float | None
    timeout_s: float
    journal: str | Path | None
    refresh: bool
    text_field: str
    skip_bad_lines: bool
    max_line: int
    exclude_source: Sequence[str]
    limit_documents: int | None
    sample_files: str | int | None
    seed: int
    ignore_case: bool
    workers: int | None
    scheduler: str | None


def index_options(options: AccessOptions) -> IndexOptions:
    """Return checked options."""
    concurrency, rate = options.get("concurrency", 4), options.get("rate")
    if concurrency < 1:
        raise InputError("--concurrency", "at least 1 was expected")
    if rate is not None and rate < 0:
        raise InputError("--rate", "a number of requests per second, or 0, was expected")
    timeout_s = options.get("timeout_s", TIMEOUT_S)
    if not timeout_s > 0:
        raise InputError("--timeout", "a number of seconds above 0 was expected")
    journal = options.get("journal")
    return IndexOptions(
        api_url=options.get("api_url", DEFAULT_URL),
        api=ApiSettings(concurrency, rate, timeout_s),
        journal=Path(journal) if journal else None,
        refresh=options.get("refresh", False),
        scan=_scan_options(options),
    )


def line_bytes(megabytes: int) -> int:
    """Return the bytes of `--max-line`."""
    if megabytes < 1:
        raise InputError(f"--max-line {megabytes}", "at least 1 MB was expected")
    return megabytes * 1_000_000


def _scan_options(options: AccessOptions) -> ScanOptions:
    workers, limit = options.get("workers"), options.get("limit_documents")
    sample = options.get("sample_files")
    for name, number in (("--workers", workers), ("--limit-documents", limit)):
        if number is not None and number < 1:
            raise InputError(f"{name} {number}", "at least 1 was expected")
    if sample is not None and limit is not None:
        raise InputError("--sample-files", "it can't go with --limit-documents")
    return ScanOptions(
        read=ReadOptions(
            text_field=options.get("text_field", "text"),
            skip_bad_lines=options.get("skip_bad_lines", False),
            exclude_sources=tuple(options.get("exclude_source", ())),
            most_line_bytes=line_bytes(options.get("max_line", MAX_LINE)),
        ),
        ignore_case=options.get("ignore_case", False),
        limit_documents=limit,
        sample=None if sample is None else str(sample),
        seed=options.get("seed", 1),
        workers=workers or 0,
        scheduler=options.get("scheduler"),
    )
