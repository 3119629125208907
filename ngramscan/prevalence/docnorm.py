"""Patterns × indexes → the number of documents that contain each, with intervals.

Suffix arrays, hosted or local, number the occurrences of a pattern but not its documents. So
some occurrences are drawn at random and their documents examined: `draws` has what one draw counts
for, `estimators` what all of them say, docs/docnorm.md the reasons. An index that reads its
documents counts them instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Generic

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import Found, Index, IndexSize, QueryFailure
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.patterns.model import Query, Scope, scopes
from ngramscan.patterns.overlaps import merged_of_unions, nesting, union_of_occurrences
from ngramscan.prevalence.count import Row, collect_replies
from ngramscan.prevalence.draws import (
    DocnormOptions,
    DrawRow,
    Seen,
    Share,
    Texts,
    draw_occurrences,
)
from ngramscan.prevalence.estimators import (
    DRAWS_FOR_VARIANCE,
    BoundedEstimate,
    Draws,
    documents_of_repeats,
    estimate_documents,
    exactly,
    is_without_replacement,
    ratio_of_documents,
)
from ngramscan.prevalence.totals import Total

LEANS_NOTE = (
    "the draws hardly vary: more than half of the interval's width comes from one added draw of"
    " share 1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocnormRow:
    """How many documents of one index contain a pattern."""

    index: str
    method: str | None
    """None, like the tier: a literal that was given alone, outside a pattern set."""
    tier: str | None
    pattern: str
    occurrences: int
    draws: int | None = None
    """Occurrences that were drawn; None: all documents were read."""
    documents: int
    documents_low: int | None
    documents_high: int | None
    """Limits, rounded outwards; None: too few files were read for an interval."""
    occurrences_per_document: float | None
    """None: no document contains it."""
    occurrences_per_document_low: float | None
    occurrences_per_document_high: float | None
    """None: no upper limit."""
    level: float
    estimator: str
    """`combined`, `size-bias`, `first` or `unique`; `exact`: all documents were read, or all
    occurrences examined; `files`: a sample of files was read."""
    truncated_share: float | None = None
    """Share of the draws whose document was seen only in part."""
    unique_documents: int | None = None
    """Distinct documents among the draws."""
    seed: int | None = None
    standard_error: float | None = None
    """Standard error of `documents`, from the draws."""
    note: str = ""
    """The kind of interval; where documents were seen in part, the two estimates that bound it."""


@dataclass(frozen=True, slots=True)
class DocnormResult(Generic[Row]):
    """The documents that contain some queries, in some indexes; rows are of bytes or of tokens."""

    rows: list[Row] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    missing: list[QueryFailure] = field(default_factory=list)
    drawn: list[DrawRow] = field(default_factory=list)
    sizes: dict[str, IndexSize] = field(default_factory=dict)


def run_docnorm(
    queries: Sequence[Query], indexes: Sequence[Index], options: DocnormOptions
) -> DocnormResult[DocnormRow]:
    """Estimate or count the documents that contain some queries, in each index.

    Queries that fail are in `missing`. One draw that can't be examined is enough to leave a pattern
    without a row, as documents that can't be shown may differ from the others.
    """
    texts = [*_texts(queries), *merged_of_unions(queries)]
    # All services are asked at the same time; corpora are read one after the other.
    lookups = {one.name: one.find(texts) for one in indexes if not isinstance(one, ScanIndex)}
    result: DocnormResult[DocnormRow] = DocnormResult()
    for index in indexes:
        if isinstance(index, ScanIndex):
            _read(result, index, queries)
        else:
            _sample(result, index, queries, lookups[index.name], options)
        result.sizes[index.name] = index.size()
    return result


def _texts(queries: Iterable[Query]) -> list[str]:
    return list(dict.fromkeys(query.text for query in queries))


def _unions(queries: Sequence[Query]) -> list[Texts]:
    return list(dict.fromkeys(map(_union, scopes(queries))))


def _union(scope: Scope) -> Texts:
    """Return the texts of a scope that contain no other: they are in all its documents."""
    nested = nesting(scope.texts)
    return tuple(text for text in scope.texts if text not in nested)


# An index that reads its documents


def _read(result: DocnormResult[DocnormRow], index: ScanIndex, queries: Sequence[Query]) -> None:
    texts, unions = _texts(queries), _unions(queries)
    try:
        known = index.document_counts([*texts, *merged_of_unions(queries)], unions)
    except NgramscanError as error:
        if error.exit_code == InputError.exit_code:
            raise
        result.missing.extend(QueryFailure(index.name, text, error) for text in texts)
        result.totals.extend(_totals(index.name, queries, {}, {}, ""))
        return
    counts = {count.query: count for count in known.counts}
    for query in queries:
        count = counts[query.text]
        estimate = count.documents_estimate
        bounds = BoundedEstimate(estimate, estimate) if estimate else exactly(count.documents or 0)
        estimator = "files" if estimate else "exact"
        row = _row(index.name, query, count.occurrences, bounds, estimator, count.note)
        result.rows.append(row)
    occurrences = {text: count.occurrences for text, count in counts.items()}
    documents = {
        union: BoundedEstimate(estimate, estimate)
        for union, estimate in zip(unions, known.unions, strict=True)
        if estimate.low is not None
    }
    note = "no interval: too few files were read"
    result.totals.extend(_totals(index.name, queries, occurrences, documents, note))


# An index whose occurrences are drawn


def _sample(
    result: DocnormResult[DocnormRow],
    index: Index,
    queries: Sequence[Query],
    lookup: Iterator[Found | QueryFailure],
    options: DocnormOptions,
) -> None:
    texts, unions = _texts(queries), _unions(queries)
    found, errors = collect_replies(lookup, [*texts, *merged_of_unions(queries)])
    drawn, failed = draw_occurrences(
        index, [found[text] for text in texts if text in found], unions, options
    )
    occurrences = {text: one.occurrences for text, one in found.items()}
    most = index.size().documents
    result.rows.extend(
        _sampled_row(index.name, query, occurrences[query.text], drawn[query.text], options, most)
        for query in queries
        if query.text in drawn
    )
    note = "draws of a pattern are missing"
    if options.estimator == "unique":
        unions, note = [], "not from repeated documents"
    documents = {
        union: _union_documents(union, occurrences, drawn).at_most(most)
        for union in unions
        if all(text in drawn for text in union)
    }
    result.totals.extend(_totals(index.name, queries, occurrences, documents, note))
    failures = (errors | failed).items()
    result.missing.extend(QueryFailure(index.name, text, error) for text, error in failures)
    for seen in drawn.values() if options.keep_draws else ():
        result.drawn.extend(replace(one.row, draw=number) for number, one in enumerate(seen, 1))


def _union_documents(
    union: Texts, occurrences: Mapping[str, int], drawn: Mapping[str, Sequence[Seen]]
) -> BoundedEstimate:
    patterns = [
        Draws.of([one.shares[union] for one in drawn[text]], occurrences[text])
        for text in union
        if occurrences[text]
    ]
    documents = {one.row.document for text in union for one in drawn[text]}
    return estimate_documents(patterns, len(documents))


def _sampled_row(
    index: str,
    query: Query,
    total: int,
    seen: Sequence[Seen],
    options: DocnormOptions,
    most: int | None,
) -> DocnormRow:
    documents, n = [one.row.document for one in seen], len(seen)
    shares = [one.shares[query.text,] for one in seen if one.shares]
    bounds, estimator, note = documents_of_draws(documents, shares, total, options, most)
    return replace(
        _row(index, query, total, bounds, estimator, note),
        draws=n,
        truncated_share=sum(one.row.truncated for one in seen) / n if n else None,
        unique_documents=len(set(documents)),
        seed=options.seed,
        standard_error=bounds.standard_error,
    )


def documents_of_draws(
    documents: Sequence[str],
    shares: Sequence[Share],
    total: int,
    options: DocnormOptions,
    most: int | None,
) -> tuple[BoundedEstimate, str, str]:
    """Estimate the documents of a query from the document and share of each of its draws.

    `total` is the number of its occurrences, `most` the number of documents in the index. Returns
    the estimate, the name of the estimator, and a note.
    """
    n, unique = len(documents), len(set(documents))
    if n == total:
        return exactly(unique), "exact", ""
    if options.estimator == "unique":
        estimate = documents_of_repeats(documents, total)
        return BoundedEstimate(estimate, estimate), "unique", estimate.note
    bounds = estimate_documents([Draws.of(shares, total)], unique).at_most(most)
    return bounds, options.estimator, _describe_draws(bounds, n, total)


def _describe_draws(bounds: BoundedEstimate, n: int, total: int) -> str:
    low, high = bounds.lower.value, bounds.upper.value
    hidden = f"documents seen in part: the estimate is the middle of {low:,.0f} and {high:,.0f}"
    few = f"fewer than {DRAWS_FOR_VARIANCE} draws: the interval is the guaranteed one"
    notes = {
        few: n < DRAWS_FOR_VARIANCE,
        "drawn without replacement": is_without_replacement(n, total),
        LEANS_NOTE: bounds.leans_on_added_draw,
        hidden: low < high,
    }
    return "; ".join(note for note, applies in notes.items() if applies)


# Rows and totals


def _row(
    index: str, query: Query, occurrences: int, bounds: BoundedEstimate, estimator: str, note: str
) -> DocnormRow:
    low, high = outward(bounds)
    rates = per_document(occurrences, bounds.value, low, high)
    return DocnormRow(
        index=index,
        method=query.pattern.method,
        tier=query.pattern.tier,
        pattern=query.text,
        occurrences=occurrences,
        documents=round(bounds.value),
        documents_low=low,
        documents_high=high,
        occurrences_per_document=rates[0],
        occurrences_per_document_low=rates[1],
        occurrences_per_document_high=rates[2],
        level=bounds.lower.level,
        estimator=estimator,
        note=note,
    )


def outward(bounds: BoundedEstimate) -> tuple[int | None, int | None]:
    """Return limits rounded outwards; in a small population, narrower ones would not cover."""
    if bounds.lower.low is None:
        return None, None
    return math.floor(bounds.low), math.ceil(bounds.high)


def per_document(
    occurrences: int, documents: float, low: float | None, high: float | None
) -> tuple[float | None, float | None, float | None]:
    """Return occurrences per document, with limits; None: infinite, or there are no documents."""
    if not documents:
        return None, None, None
    return (
        occurrences / documents,
        occurrences / high if high else None,
        occurrences / low if low else None,
    )


def _totals(
    index: str,
    queries: Sequence[Query],
    occurrences: Mapping[str, int],
    documents: Mapping[Texts, BoundedEstimate],
    note: str,
) -> list[Total]:
    """Return the totals of each scope and the ratio of each two; `note`: why one has no value."""
    totals: list[Total] = []
    of_scopes = [(scope, documents.get(_union(scope))) for scope in scopes(queries)]
    for scope, bounds in of_scopes:
        keys = (index, scope.tiers, scope.method, None)
        union = union_of_occurrences(scope.texts, occurrences)
        missing = "" if union is not None else "a count is missing"
        totals.append(Total(*keys, "union_of_occurrences", union, note=missing))
        totals.append(documents_total(Total(*keys, "documents", None, note=note), bounds))
        if bounds and union and bounds.value:
            rates = per_document(union, bounds.value, *outward(bounds))
            said = bounds.lower.level, _describe_interval(bounds)
            totals.append(Total(*keys, "occurrences_per_document", *rates, *said))
    for (other, below), (one, above) in combinations(of_scopes, 2):
        if one.tiers == other.tiers:
            names = (index, one.tiers, one.method, other.method, "ratio_of_documents")
            totals.append(ratio_total(Total(*names, None, note=note), above, below))
    return totals


def documents_total(unknown: Total, bounds: BoundedEstimate | None) -> Total:
    """Return a total of documents; without an estimate, one whose note says why it is unknown."""
    if bounds is None:
        return unknown
    low, high = outward(bounds)
    level, note = bounds.lower.level, _describe_interval(bounds)
    return replace(unknown, value=bounds.value, low=low, high=high, level=level, note=note)


def ratio_total(
    unknown: Total, one: BoundedEstimate | None, other: BoundedEstimate | None
) -> Total:
    """Return the ratio of the documents of two methods; where one is unknown, `unknown`."""
    if one is None or other is None:
        return unknown
    ratio = ratio_of_documents(one, other)
    if ratio is None:
        return replace(unknown, note="a method may have no document")
    high = ratio.high if math.isfinite(ratio.high) else None
    level, note = ratio.lower.level, _describe_interval(ratio)
    return replace(unknown, value=ratio.value, low=ratio.low, high=high, level=level, note=note)


def _describe_interval(bounds: BoundedEstimate) -> str:
    return LEANS_NOTE if bounds.leans_on_added_draw else bounds.lower.note
