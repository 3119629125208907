"""Patterns × indexes → the number of documents that contain each, with intervals.

Suffix arrays number the occurrences of a pattern but not its documents. A local one places all
occurrences up to a bound, and their documents are counted. Of more, and where placing one is slow,
some are drawn at random and their documents examined: `draws` has what one draw counts for,
`estimators` what all of them say, docs/docnorm.md the reasons. An index that reads its documents
counts them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Generic

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import Found, Index, IndexSize, QueryFailure, shown_context
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.patterns.model import Query, Scope, scopes
from ngramscan.patterns.overlaps import merged_of_unions, nesting, union_of_occurrences
from ngramscan.prevalence.count import Row, collect_replies
from ngramscan.prevalence.draws import (
    Counted,
    DocnormOptions,
    DrawRow,
    Seen,
    Share,
    Texts,
    count_documents,
    documents_in,
    draw_occurrences,
    shares_beside,
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
    """Occurrences that were drawn; None: the documents of all were counted."""
    documents: int | None
    """None: documents were seen in part, and the two estimates at the end of the row differ."""
    documents_low: int | None
    documents_high: int | None
    """Limits, rounded outwards; None: too few files were read for an interval."""
    occurrences_per_document: float | None
    """None: no document contains it, or `documents` is None."""
    occurrences_per_document_low: float | None
    occurrences_per_document_high: float | None
    """None: no upper limit."""
    level: float
    estimator: str
    """`combined`, `size-bias`, `first` or `unique`; `exact`: all documents were read, or those of
    all occurrences are known; `files`: a sample of files was read."""
    truncated_share: float | None = None
    """Share of the draws whose document was seen only in part."""
    unique_documents: int | None = None
    """Distinct documents among the draws."""
    seed: int | None = None
    standard_error: float | None = None
    """Standard error of the estimate, from the draws; of two, the larger one."""
    note: str = ""
    """The kind of interval; where documents were seen in part, the two estimates."""
    documents_lower_estimate: int
    """The estimate if hidden parts of documents had as many occurrences as they can hold."""
    documents_upper_estimate: int
    """The estimate if they had none; the same as the lower one where nothing hidden matters."""


@dataclass(frozen=True, slots=True)
class DocnormTotal(Total):
    """One statistic of the documents of one method, or of one method against another."""

    lower_estimate: float | None = None
    """The smallest and the largest estimate that hidden parts of documents allow; `value` is None
    where they differ. None: nothing was estimated."""
    upper_estimate: float | None = None


@dataclass(frozen=True, slots=True)
class DocnormResult(Generic[Row]):
    """The documents that contain some queries, in some indexes; rows are of bytes or of tokens."""

    rows: list[Row] = field(default_factory=list)
    totals: list[DocnormTotal] = field(default_factory=list)
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
            _place(result, index, queries, lookups[index.name], options)
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


# An index whose occurrences are placed, all of them or draws


def _place(
    result: DocnormResult[DocnormRow],
    index: Index,
    queries: Sequence[Query],
    lookup: Iterator[Found | QueryFailure],
    options: DocnormOptions,
) -> None:
    texts, unions = _texts(queries), _unions(queries)
    found, errors = collect_replies(lookup, [*texts, *merged_of_unions(queries)])
    occurrences = {text: one.occurrences for text, one in found.items()}
    asked = [found[text] for text in texts if text in found]
    counted, unplaced = count_documents(index, asked, options)
    rest = [one for one in asked if one.query not in counted | unplaced]
    drawn, failed = draw_occurrences(
        index, rest, [_uncounted(union, counted) for union in unions], options
    )
    most = index.size().documents
    result.rows.extend(_placed_rows(index, queries, occurrences, counted, drawn, options))
    note = "draws of a pattern are missing"
    if options.estimator == "unique":
        unions = [union for union in unions if not _uncounted(union, counted)]
        note = "not from repeated documents"
    documents = {
        union: _union_documents(union, occurrences, counted, drawn).at_most(most)
        for union in unions
        if all(text in counted or text in drawn for text in union)
    }
    result.totals.extend(_totals(index.name, queries, occurrences, documents, note))
    failures = (errors | unplaced | failed).items()
    result.missing.extend(QueryFailure(index.name, text, error) for text, error in failures)
    for seen in drawn.values() if options.keep_draws else ():
        result.drawn.extend(replace(one.row, draw=number) for number, one in enumerate(seen, 1))


def _uncounted(union: Texts, counted: Counted) -> Texts:
    return tuple(text for text in union if text not in counted)


def _union_documents(
    union: Texts,
    occurrences: Mapping[str, int],
    counted: Counted,
    drawn: Mapping[str, Sequence[Seen]],
) -> BoundedEstimate:
    """Return the documents that were counted, and those beside them of which there are draws."""
    known, rest = documents_in(counted, union), _uncounted(union, counted)
    patterns = [Draws.known(len(known))] if known else []
    for text in rest:
        if occurrences[text]:
            draws = [(one.row.document, one.shares[rest]) for one in drawn[text]]
            patterns.append(Draws.of(shares_beside(known, draws), occurrences[text]))
    documents = known | {one.row.document for text in rest for one in drawn[text]}
    return estimate_documents(patterns, len(documents))


def _placed_rows(
    index: Index,
    queries: Sequence[Query],
    occurrences: Mapping[str, int],
    counted: Counted,
    drawn: Mapping[str, Sequence[Seen]],
    options: DocnormOptions,
) -> Iterator[DocnormRow]:
    most, context = index.size().documents, shown_context(index, options.context)
    for query in queries:
        text = query.text
        if text in counted:
            bounds = exactly(len(counted[text]))
            yield _row(index.name, query, occurrences[text], bounds, "exact", "")
        elif text in drawn:
            row = _sampled_row(index.name, query, occurrences[text], drawn[text], options, most)
            if context < options.context and row.truncated_share:
                limit = f"at most {context:,} bytes are shown on each side, not {options.context:,}"
                row = replace(row, note="; ".join(filter(None, (row.note, limit))))
            yield row


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
    few = f"fewer than {DRAWS_FOR_VARIANCE} draws: the interval is the guaranteed one"
    notes = {
        few: n < DRAWS_FOR_VARIANCE,
        "drawn without replacement": is_without_replacement(n, total),
        LEANS_NOTE: bounds.leans_on_added_draw,
        _seen_in_part(bounds, ",.0f"): bounds.documents is None,
    }
    return "; ".join(note for note, applies in notes.items() if applies)


def _seen_in_part(bounds: BoundedEstimate, form: str) -> str:
    low, high = format(bounds.lower.value, form), format(bounds.upper.value, form)
    return f"documents seen in part: estimates from {low} to {high}"


# Rows and totals


def _row(
    index: str, query: Query, occurrences: int, bounds: BoundedEstimate, estimator: str, note: str
) -> DocnormRow:
    low, high = outward(bounds)
    rates = per_document(occurrences, bounds)
    return DocnormRow(
        index=index,
        method=query.pattern.method,
        tier=query.pattern.tier,
        pattern=query.text,
        occurrences=occurrences,
        documents=rounded(bounds.documents),
        documents_low=low,
        documents_high=high,
        occurrences_per_document=rates[0],
        occurrences_per_document_low=rates[1],
        occurrences_per_document_high=rates[2],
        level=bounds.lower.level,
        estimator=estimator,
        note=note,
        documents_lower_estimate=round(bounds.lower.value),
        documents_upper_estimate=round(bounds.upper.value),
    )


def rounded(documents: float | None) -> int | None:
    """Return a number of documents as an integer, if it is known."""
    return None if documents is None else round(documents)


def outward(bounds: BoundedEstimate) -> tuple[int | None, int | None]:
    """Return limits rounded outwards; in a small population, narrower ones would not cover."""
    if bounds.lower.low is None:
        return None, None
    return math.floor(bounds.low), math.ceil(bounds.high)


def per_document(
    occurrences: int, bounds: BoundedEstimate
) -> tuple[float | None, float | None, float | None]:
    """Return occurrences per document, with limits.

    None: infinite, or there are no documents, or two estimates of them.
    """
    if not bounds.upper.value:
        return None, None, None
    (low, high), documents = outward(bounds), bounds.documents
    return (
        occurrences / documents if documents else None,
        occurrences / high if high else None,
        occurrences / low if low else None,
    )


def _totals(
    index: str,
    queries: Sequence[Query],
    occurrences: Mapping[str, int],
    documents: Mapping[Texts, BoundedEstimate],
    note: str,
) -> list[DocnormTotal]:
    """Return the totals of each scope and the ratio of each two; `note`: why one has no value."""
    totals: list[DocnormTotal] = []
    of_scopes = [(scope, documents.get(_union(scope))) for scope in scopes(queries)]
    for scope, bounds in of_scopes:
        keys = (index, scope.tiers, scope.method, None)
        union = union_of_occurrences(scope.texts, occurrences)
        missing = "" if union is not None else "a count is missing"
        totals.append(DocnormTotal(*keys, "union_of_occurrences", union, note=missing))
        totals.append(documents_total(DocnormTotal(*keys, "documents", None, note=note), bounds))
        if bounds and union and bounds.upper.value:
            unknown = DocnormTotal(*keys, "occurrences_per_document", None)
            totals.append(_rate_total(unknown, union, bounds))
    for (other, below), (one, above) in combinations(of_scopes, 2):
        if one.tiers == other.tiers:
            names = (index, one.tiers, one.method, other.method, "ratio_of_documents")
            totals.append(ratio_total(DocnormTotal(*names, None, note=note), above, below))
    return totals


def documents_total(unknown: DocnormTotal, bounds: BoundedEstimate | None) -> DocnormTotal:
    """Return a total of documents; without an estimate, one whose note says why it is unknown."""
    if bounds is None:
        return unknown
    low, high = outward(bounds)
    note = _describe_interval(bounds, bounds.documents, ",.0f")
    return _with_estimate(unknown, bounds, bounds.documents, (low, high), note)


def _rate_total(unknown: DocnormTotal, union: int, bounds: BoundedEstimate) -> DocnormTotal:
    value, low, high = per_document(union, bounds)
    note = _describe_interval(bounds, value, ",.0f")
    known = _with_estimate(unknown, bounds, value, (low, high), note)
    lower = bounds.lower.value
    return replace(
        known,
        lower_estimate=union / bounds.upper.value,
        upper_estimate=union / lower if lower else None,
    )


def _with_estimate(
    unknown: DocnormTotal,
    bounds: BoundedEstimate,
    value: float | None,
    limits: tuple[float | None, float | None],
    note: str,
) -> DocnormTotal:
    low, high = limits
    return replace(
        unknown,
        value=value,
        low=low,
        high=high,
        level=bounds.lower.level,
        note=note,
        lower_estimate=bounds.lower.value,
        upper_estimate=bounds.upper.value,
    )


def ratio_total(
    unknown: DocnormTotal, one: BoundedEstimate | None, other: BoundedEstimate | None
) -> DocnormTotal:
    """Return the ratio of the documents of two methods; where one is unknown, `unknown`."""
    if one is None or other is None:
        return unknown
    ratio = ratio_of_documents(one, other)
    if ratio is None:
        return replace(unknown, note="a method may have no document")
    high = ratio.high if math.isfinite(ratio.high) else None
    note = _describe_interval(ratio, ratio.value, ".3g")
    return _with_estimate(unknown, ratio, ratio.value, (ratio.low, high), note)


def _describe_interval(bounds: BoundedEstimate, value: float | None, form: str) -> str:
    kind = LEANS_NOTE if bounds.leans_on_added_draw else bounds.lower.note
    hidden = _seen_in_part(bounds, form) if value is None else ""
    return "; ".join(filter(None, (kind, hidden)))
