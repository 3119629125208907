"""`ngramscan count`: how often patterns occur."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.commands.access import MAX_LINE, AccessOptions, index_options
from ngramscan.commands.missing import describe_missing
from ngramscan.counts import Count, Counting, count_queries
from ngramscan.errors import IncompleteError, InputError
from ngramscan.figures import check_target, draw_prevalence, save_figure
from ngramscan.indexes import DEFAULT_SPEC, IndexOptions, open_indexes
from ngramscan.indexes.base import TIMEOUT_S
from ngramscan.indexes.catalog import DEFAULT_URL
from ngramscan.output import (
    optional_target,
    refuse_same_file,
    several,
    strict_keywords,
    to_frame,
    write_rows,
)
from ngramscan.patterns import PatternSet, Query, load_patterns, merge
from ngramscan.progress import Progress, Silent
from ngramscan.totals import Total, make_totals

if TYPE_CHECKING:
    import pandas as pd


def load_selection(
    patterns: Sequence[str | Path], tiers: Sequence[str], methods: Sequence[str]
) -> PatternSet:
    """Load pattern sets, merge them and select."""
    return merge([load_patterns(path) for path in patterns]).select(tiers, methods)


def refuse_double_counting(case_variants: bool, ignore_case: bool) -> None:
    """Raise an InputError where spellings are asked for that are counted as one."""
    if case_variants and ignore_case:
        problem = "it can't go with --ignore-case; the same place would be counted for each of them"
        raise InputError("--case-variants", problem)


def load_ahead(module: str) -> None:
    """Load what is slow to load, and needed at the end, while requests are under way."""
    threading.Thread(target=import_module, args=(module,), daemon=True).start()


def count_in(
    queries: Sequence[Query],
    specs: Sequence[str],
    options: IndexOptions,
    progress: Progress,
    for_totals: bool,
) -> Counting:
    """Count some queries in the indexes of some specs; what fails is in the result."""
    if for_totals:
        load_ahead("scipy.special")  # for their interval
    with open_indexes(specs or [DEFAULT_SPEC], options, progress) as indexes:
        counting = count_queries(queries, indexes, for_totals)
    if known := sum(row.source == "journal" for row in counting.rows):
        progress.notice(
            f"{known} of {len(counting.rows)} counts are from the journal; --refresh asks again"
        )
    return counting


@strict_keywords
def count(
    *patterns: str | Path,
    index: str | Sequence[str] = (),
    tier: str | Sequence[str] = (),
    method: str | Sequence[str] = (),
    case_variants: bool = False,
    totals: str | Path | None = None,
    figure: str | Path | None = None,
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
    """Count the patterns of some sets in some indexes, as `ngramscan count` does.

    Parameters
    ----------
    *patterns : str or Path
        Pattern files, or names of shipped sets.
    index : str or sequence of str
        Where to count: a hosted index, `paper` (its eight corpora), `http://HOST:PORT/NAME`,
        `scan:PATH`, `fm9:DIR` or `python`. By default `paper`.
    tier : str or sequence of str
        Only patterns of these tiers.
    method : str or sequence of str
        Only patterns of these methods.
    case_variants : bool
        Count narrative patterns also with a capital first letter and a typographic apostrophe.
    totals : str or Path, optional
        Write the totals and ratios of the methods to this file.
    figure : str or Path, optional
        Draw the occurrences of each method's patterns: .svg or .png.
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
        One row per query and index: index, method, tier, kind, pattern, query, occurrences,
        documents (missing where the index can't know them), source, asked_at.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some counts could not be made. What was counted is in the journal; its `rows` has it too.
    """
    refuse_double_counting(case_variants, ignore_case)
    refuse_same_file({"--totals": totals, "--figure": figure, "--journal": journal})
    target = optional_target(totals)
    picture = Path(figure) if figure else None
    check_target(picture)
    queries = load_selection(patterns, several(tier), several(method)).queries(case_variants)
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
    counting = count_in(queries, several(index), index_options(access), Silent(), bool(target))
    if target:
        write_rows(make_totals(counting), Total, target)
    if picture and counting.rows:
        save_figure(draw_prevalence(counting.rows), picture)
    frame = to_frame(counting.rows, Count)
    if counting.missing:
        raise IncompleteError("; ".join(describe_counting(counting)), frame)
    return frame


def describe_counting(counting: Counting) -> list[str]:
    """Return what could not be counted."""
    return describe_missing(counting.missing, counting.queries, len(counting.sizes))
