"""`ngramscan docnorm`: in how many documents patterns occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from ngramscan.commands.access import MAX_LINE, AccessOptions, index_options
from ngramscan.commands.counting import load_ahead, load_selection
from ngramscan.commands.missing import describe_missing
from ngramscan.documents import DocumentRow, DrawRow, Norming, NormOptions, norm_documents
from ngramscan.draws import ESTIMATORS
from ngramscan.errors import IncompleteError, InputError
from ngramscan.indexes import IndexOptions, open_indexes
from ngramscan.indexes.base import TIMEOUT_S, DocumentIndex
from ngramscan.indexes.catalog import DEFAULT_URL
from ngramscan.output import (
    optional_target,
    refuse_same_file,
    several,
    strict_keywords,
    to_frame,
    write_rows,
)
from ngramscan.overlaps import merged_of_unions
from ngramscan.patterns import Query
from ngramscan.progress import Progress, Silent
from ngramscan.totals import Total

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_INDEX = "dclm"
DEFAULT_SET = "f1"
DEFAULT_TIERS = ("T1", "T2")
PUBLIC_RATE = 4.0
"""Requests per second; the default for the public service."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One row: what estimating the documents of some patterns in one index takes."""

    index: str
    patterns: int
    lookups: int
    """Requests for where the patterns are."""
    windows_at_most: int
    """Requests for documents."""
    requests_at_most: int
    at_4_requests_per_second: str
    """The time that takes with the default rate of the public service, HH:MM:SS."""


class SamplingOptions(TypedDict, total=False):
    """How documents are estimated, as in the command."""

    samples: int
    target: str | float | None
    max_samples: int
    estimator: str
    context: int
    seed: int


_LEAST = {"samples": 2, "max_samples": 2, "context": 100, "seed": 0}


def norm_options(options: SamplingOptions, keep_draws: bool) -> NormOptions:
    """Return checked options; what is not there has its default."""
    known = SamplingOptions.__annotations__
    given: dict[str, Any] = {name: value for name, value in options.items() if name in known}
    for name, least in _LEAST.items():
        if name in given and given[name] < least:
            option = name.replace("_", "-")
            raise InputError(f"--{option} {given[name]}", f"at least {least} was expected")
    estimator = given.get("estimator", ESTIMATORS[0])
    if estimator not in ESTIMATORS:
        names = ", ".join(ESTIMATORS)
        raise InputError(f"--estimator {estimator}", f"one of {names} was expected")
    if given.get("target") is not None:
        if estimator == "unique":
            problem = "--estimator unique has no interval that draws could narrow"
            raise InputError("--target", problem)
        given["target"] = _share(given["target"])
    return NormOptions(**given, keep_draws=keep_draws)


def _share(target: str | float) -> float:
    text = str(target)
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(f"--target {target}", "a share between 0 and 100 %, as 10%, was expected")
    return share


def load_queries(
    patterns: Sequence[str | Path], tiers: Sequence[str], methods: Sequence[str]
) -> list[Query]:
    """Return the queries of a selection; nothing given: T1 and T2 of the paper's patterns."""
    chosen = tiers or (() if patterns else DEFAULT_TIERS)
    return load_selection(patterns or [DEFAULT_SET], chosen, methods).queries()


def plan(
    queries: Sequence[Query],
    specs: Sequence[str],
    options: IndexOptions,
    norm: NormOptions,
    progress: Progress,
) -> list[Plan]:
    """Return what it would take; nothing is asked."""
    texts = {query.text for query in queries}
    lookups = len(texts) + len(merged_of_unions(queries))
    windows = len(texts) * (norm.samples if norm.target is None else norm.max_samples)
    plans = []
    with open_indexes(specs or [DEFAULT_INDEX], options, progress) as indexes:
        for index in indexes:
            asks = not isinstance(index, DocumentIndex)
            of = (lookups, windows, lookups + windows) if asks else (0, 0, 0)
            plans.append(Plan(index.name, len(queries), *of, _clock(of[2] / PUBLIC_RATE)))
    return plans


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def norm_in(
    queries: Sequence[Query],
    specs: Sequence[str],
    options: IndexOptions,
    norm: NormOptions,
    progress: Progress,
) -> Norming:
    """Estimate the documents of some queries in the indexes of some specs."""
    load_ahead("scipy.special")
    with open_indexes(specs or [DEFAULT_INDEX], options, progress) as indexes:
        return norm_documents(queries, indexes, norm)


def describe_norming(norming: Norming) -> list[str]:
    """Return what could not be estimated."""
    n_indexes = len(norming.sizes)
    return describe_missing(norming.missing, norming.queries, n_indexes, "estimates")


@strict_keywords
def docnorm(
    *patterns: str | Path,
    index: str | Sequence[str] = (),
    tier: str | Sequence[str] = (),
    method: str | Sequence[str] = (),
    samples: int = 200,
    target: str | float | None = None,
    max_samples: int = 2000,
    estimator: str = ESTIMATORS[0],
    context: int = 10_000,
    totals: str | Path | None = None,
    draws: str | Path | None = None,
    dry_run: bool = False,
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
    """Estimate in how many documents patterns occur, as `ngramscan docnorm` does.

    Parameters
    ----------
    *patterns : str or Path
        Pattern files, or names of shipped sets. By default `f1`.
    index : str or sequence of str
        Where to look: specs as in `count`. By default `dclm`.
    tier : str or sequence of str
        Only patterns of these tiers. By default all of the files named, or T1 and T2 of `f1`.
    method : str or sequence of str
        Only patterns of these methods.
    samples : int
        Number of occurrences drawn per pattern.
    target : str or float, optional
        Draw 100 occurrences, then as many as an interval of ± this share of the estimate needs:
        `"10%"` or 0.1.
    max_samples : int
        With `target`, draw no more occurrences per pattern than this.
    estimator : str
        How documents follow from draws: `combined`, `size-bias`, `first`, or `unique`, which is
        K/U and there to see what it can't show. See docs/documents.md.
    context : int
        Bytes of a document that are looked at on each side; services give 10,000 at most.
    totals : str or Path, optional
        Write the documents and ratios of the methods to this file.
    draws : str or Path, optional
        Write the occurrences that were drawn, with their text, to this file.
    dry_run : bool
        Return how many requests it would take, one row per index, and ask nothing.
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
        One row per pattern and index; see docs/rows.md.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some patterns could not be estimated; its `rows` has the others.
    """
    refuse_same_file({"--totals": totals, "--draws": draws, "--journal": journal})
    totals_target, draws_target = optional_target(totals), optional_target(draws)
    sampling = SamplingOptions(
        samples=samples,
        target=target,
        max_samples=max_samples,
        estimator=estimator,
        context=context,
        seed=seed,
    )
    norm = norm_options(sampling, draws_target is not None)
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
    queries = load_queries(patterns, several(tier), several(method))
    specs, options = several(index), index_options(access)
    if dry_run:
        return to_frame(plan(queries, specs, options, norm, Silent()), Plan)
    norming = norm_in(queries, specs, options, norm, Silent())
    if totals_target:
        write_rows(norming.totals, Total, totals_target)
    if draws_target:
        write_rows(norming.draws, DrawRow, draws_target)
    frame = to_frame(norming.rows, DocumentRow)
    if norming.missing:
        raise IncompleteError("; ".join(describe_norming(norming)), frame)
    return frame
