"""The commands as functions: what the terminal and Python share."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from ngramscan.corpora import ReadOptions
from ngramscan.counts import Count, Counting, Missing, count_queries
from ngramscan.errors import IncompleteError, InputError, NgramscanError
from ngramscan.indexes import (
    DEFAULT_SPEC,
    ApiSettings,
    IndexOptions,
    ScanOptions,
    open_indexes,
)
from ngramscan.indexes.base import QueryFailure
from ngramscan.indexes.catalog import CATALOG, DEFAULT_URL
from ngramscan.output import choose_target, to_frame, write_rows
from ngramscan.patterns import PatternSet, Query, load_patterns, merge
from ngramscan.progress import Progress, Silent
from ngramscan.totals import Total, make_totals

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_REASONS = 5
OFFLINE_HINT = "without a network: --index python, or --index scan:PATH for a corpus of your own"


class AccessOptions(TypedDict, total=False):
    """The options of every function that opens indexes, as in the commands."""

    api_url: str
    concurrency: int
    rate: float | None
    journal: str | Path | None
    refresh: bool
    text_field: str
    skip_bad_lines: bool
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
    journal = options.get("journal")
    return IndexOptions(
        api_url=options.get("api_url", DEFAULT_URL),
        api=ApiSettings(concurrency, rate),
        journal=Path(journal) if journal else None,
        refresh=options.get("refresh", False),
        scan=_scan_options(options),
    )


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
        ),
        ignore_case=options.get("ignore_case", False),
        limit_documents=limit,
        sample=None if sample is None else str(sample),
        seed=options.get("seed", 1),
        workers=workers or 0,
        scheduler=options.get("scheduler"),
    )


# count


def load_selection(
    patterns: Sequence[str | Path], tiers: Sequence[str], methods: Sequence[str]
) -> PatternSet:
    """Load pattern sets, merge them and select."""
    return merge([load_patterns(path) for path in patterns]).select(tiers, methods)


def count_in(
    queries: Sequence[Query],
    specs: Sequence[str],
    options: IndexOptions,
    progress: Progress,
    for_totals: bool,
) -> Counting:
    """Count some queries in the indexes of some specs; what fails is in the result."""
    if for_totals:
        # Their interval needs scipy; it is loaded while the requests are under way.
        threading.Thread(target=import_module, args=("scipy.special",), daemon=True).start()
    with open_indexes(specs or [DEFAULT_SPEC], options, progress) as indexes:
        counting = count_queries(queries, indexes, for_totals)
    if known := sum(row.source == "journal" for row in counting.rows):
        progress.notice(
            f"{known} of {len(counting.rows)} counts are from the journal; --refresh asks again"
        )
    return counting


def count(
    *patterns: str | Path,
    index: str | Sequence[str] = (),
    tier: Sequence[str] = (),
    method: Sequence[str] = (),
    case_variants: bool = False,
    totals: str | Path | None = None,
    **access: Unpack[AccessOptions],
) -> pd.DataFrame:
    """Count the patterns of some sets in some indexes, as `ngramscan count` does.

    Parameters
    ----------
    *patterns : str or Path
        Pattern files, or names of shipped sets.
    index : str or sequence of str
        Specs of indexes; none: the eight hosted corpora of the paper.
    tier, method : sequence of str
        Which patterns; none: all.
    case_variants : bool
        Count narrative patterns also with a capital first letter and a typographic apostrophe.
    totals : str or Path, optional
        A file for the totals and ratios of methods.
    **access
        `api_url`, `concurrency`, `rate` (requests per second), `journal`, `refresh`; for corpora
        that are read, `text_field`, `skip_bad_lines`, `exclude_source`, `limit_documents`,
        `sample_files`, `seed`, `ignore_case`, `workers`, `scheduler`.

    Returns
    -------
    DataFrame
        One row per query and index: index, method, tier, kind, pattern, query, occurrences,
        documents (missing where the index can't know them), source, asked_at.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some counts could not be made. What was counted is in the journal; its `rows` has it too.
    """
    target = choose_target(None, Path(totals)) if totals else None
    specs = [index] if isinstance(index, str) else list(index)
    queries = load_selection(patterns, tier, method).queries(case_variants)
    counting = count_in(queries, specs, index_options(access), Silent(), bool(target))
    if target:
        write_rows(make_totals(counting), Total, target)
    frame = to_frame(counting.rows, Count)
    if counting.missing:
        raise IncompleteError("; ".join(describe_missing(counting)), frame)
    return frame


def describe_missing(counting: Counting) -> list[str]:
    """Return, one line per reason, what could not be counted and why."""
    asked = {query.text for query in counting.queries}
    expected = len(counting.queries) * len(counting.sizes)
    reasons: dict[str, list[Missing]] = {}
    for missing in counting.missing:
        reasons.setdefault(str(missing.error), []).append(missing)
    lines = [
        _describe_reason(reason, missing, asked, expected) for reason, missing in reasons.items()
    ]
    if len(lines) > _SHOWN_REASONS:
        more = len(lines) - _SHOWN_REASONS
        total = sum(missing.query in asked for missing in counting.missing)
        lines[_SHOWN_REASONS:] = [f"and {more} more reasons; {total} counts are missing in all"]
    return lines


def _describe_reason(
    reason: str, missing: Sequence[Missing], asked: set[str], expected: int
) -> str:
    rows = sum(one.query in asked for one in missing)
    indexes = list(dict.fromkeys(one.index for one in missing))
    if len(missing) == 1:
        what = f'the count of "{missing[0].query}" in {indexes[0]} is missing'
    elif not rows:
        what = f"the counts of {len(missing)} overlaps are missing"
    else:
        named = ", ".join(indexes) if len(indexes) <= 2 else f"{len(indexes)} indexes"
        what = f"{rows} of {expected} counts missing ({named})"
    hint = f"; {OFFLINE_HINT}" if "can't be reached" in reason else ""
    return f"{reason}; {what}{hint}"


# index


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
                    raise _explained(reply.error)
            size = index.size()
            seconds = round(time.perf_counter() - started_at, 3)
            infos.append(IndexInfo(index.name, size.documents, size.bytes, seconds))
    return infos


def _explained(error: NgramscanError) -> NgramscanError:
    if "can't be reached" in str(error):
        return type(error)(f"{error}; {OFFLINE_HINT}")
    return error


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
