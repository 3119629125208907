"""`ngramscan docnorm`: in how many documents patterns occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from ngramscan.commands.access import AccessOptions, index_options
from ngramscan.commands.counting import load_ahead, load_selection
from ngramscan.commands.missing import describe_missing
from ngramscan.documents import DocumentRow, DrawRow, Norming, NormOptions, norm_documents
from ngramscan.draws import ESTIMATORS
from ngramscan.errors import IncompleteError, InputError
from ngramscan.indexes import IndexOptions, open_indexes
from ngramscan.indexes.base import DocumentIndex
from ngramscan.output import optional_target, to_frame, write_rows
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


class DocnormOptions(AccessOptions, SamplingOptions, total=False):
    """All options of `docnorm` that do not select patterns."""


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


def docnorm(
    *patterns: str | Path,
    index: str | Sequence[str] = (),
    tier: Sequence[str] = (),
    method: Sequence[str] = (),
    totals: str | Path | None = None,
    draws: str | Path | None = None,
    **options: Unpack[DocnormOptions],
) -> pd.DataFrame:
    """Estimate in how many documents patterns occur, as `ngramscan docnorm` does.

    Parameters
    ----------
    *patterns : str or Path
        Pattern files, or names of shipped sets; none: `f1`.
    index : str or sequence of str
        Specs of indexes; none: `dclm`.
    tier, method : sequence of str
        Which patterns; none: all of the files named, or T1 and T2 of `f1`.
    totals, draws : str or Path, optional
        Files for the documents and ratios of methods, and for the occurrences drawn.
    **options
        `samples` (occurrences drawn per pattern), `target` (draw as many as an interval of ± this
        share of the estimate needs: `"10%"` or 0.1), `max_samples`, `estimator` (`combined`,
        `size-bias`, `first` or `unique`; see docs/documents.md), `context` (bytes of a document
        that are looked at on each side), and those of `count` that open indexes.

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
    totals_target, draws_target = optional_target(totals), optional_target(draws)
    norm = norm_options(options, draws_target is not None)
    access = {
        name: value for name, value in options.items() if name in AccessOptions.__annotations__
    }
    specs = [index] if isinstance(index, str) else list(index)
    queries = load_queries(patterns, tier, method)
    norming = norm_in(queries, specs, index_options(cast("AccessOptions", access)), norm, Silent())
    if totals_target:
        write_rows(norming.totals, Total, totals_target)
    if draws_target:
        write_rows(norming.draws, DrawRow, draws_target)
    frame = to_frame(norming.rows, DocumentRow)
    if norming.missing:
        raise IncompleteError("; ".join(describe_norming(norming)), frame)
    return frame
