"""`ngramscan count`: how often patterns occur."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ngramscan.commands.access import AccessOptions, index_options
from ngramscan.commands.missing import describe_missing
from ngramscan.counts import Count, Counting, count_queries
from ngramscan.errors import IncompleteError
from ngramscan.indexes import DEFAULT_SPEC, IndexOptions, open_indexes
from ngramscan.output import optional_target, to_frame, write_rows
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
    target = optional_target(totals)
    specs = [index] if isinstance(index, str) else list(index)
    queries = load_selection(patterns, tier, method).queries(case_variants)
    counting = count_in(queries, specs, index_options(access), Silent(), bool(target))
    if target:
        write_rows(make_totals(counting), Total, target)
    frame = to_frame(counting.rows, Count)
    if counting.missing:
        raise IncompleteError("; ".join(describe_counting(counting)), frame)
    return frame


def describe_counting(counting: Counting) -> list[str]:
    """Return what could not be counted."""
    return describe_missing(counting.missing, counting.queries, len(counting.sizes))
