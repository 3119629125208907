"""Patterns × indexes → the number of documents that contain each, with intervals.

Suffix arrays number the occurrences of a pattern but not its documents. A local one places all
occurrences up to a bound, and their documents are counted. Otherwise some are drawn at random and
their documents examined: `draws` has what one draw counts for, `estimators` what all of them say,
docs/docnorm.md the reasons. An index that reads its documents counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import Index, IndexSize, Occurrences, QueryFailure, shown_context
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.patterns.model import Query, scopes
from ngramscan.patterns.overlaps import merged_of_unions
from ngramscan.prevalence.count import Row, collect_replies
from ngramscan.prevalence.docnorm_totals import (
    LEANS_NOTE,
    DocnormTotal,
    make_totals,
    outward,
    per_document,
    rounded,
    seen_in_part,
    union_of,
)
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
    lookups = {
        index.name: index.find(texts) for index in indexes if not isinstance(index, ScanIndex)
    }
    result: DocnormResult[DocnormRow] = DocnormResult()
    for index in indexes:
        if isinstance(index, ScanIndex):
            _read(result, index, queries)
        else:
            _place(result, index, queries, lookup=lookups[index.name], options=options)
        result.sizes[index.name] = index.size()
    return result


def _texts(queries: Iterable[Query]) -> list[str]:
    return list(dict.fromkeys(query.text for query in queries))


def _unions(queries: Sequence[Query]) -> list[Texts]:
    return list(dict.fromkeys(map(union_of, scopes(queries))))


# An index that reads its documents


def _read(result: DocnormResult[DocnormRow], index: ScanIndex, queries: Sequence[Query]) -> None:
    texts, unions = _texts(queries), _unions(queries)
    try:
        known = index.document_counts([*texts, *merged_of_unions(queries)], unions)
    except NgramscanError as error:
        if error.exit_code == InputError.exit_code:
            raise
        result.missing.extend(QueryFailure(index.name, text, error) for text in texts)
        result.totals.extend(make_totals(index.name, queries, {}, {}, note=""))
        return
    counts = {count.query: count for count in known.counts}
    for query in queries:
        count = counts[query.text]
        estimate = count.documents_estimate
        bounds = BoundedEstimate(estimate, estimate) if estimate else exactly(count.documents or 0)
        row = _row(
            index.name,
            query,
            count.occurrences,
            bounds=bounds,
            estimator="files" if estimate else "exact",
            note=count.note,
        )
        result.rows.append(row)
    occurrences = {text: count.occurrences for text, count in counts.items()}
    documents = {
        union: BoundedEstimate(estimate, estimate)
        for union, estimate in zip(unions, known.unions, strict=True)
        if estimate.low is not None
    }
    note = "no interval: too few files were read"
    result.totals.extend(
        make_totals(index.name, queries, occurrences=occurrences, documents=documents, note=note)
    )


# An index whose occurrences are placed, all of them or draws


def _place(
    result: DocnormResult[DocnormRow],
    index: Index,
    queries: Sequence[Query],
    lookup: Iterator[Occurrences | QueryFailure],
    options: DocnormOptions,
) -> None:
    texts, unions = _texts(queries), _unions(queries)
    found, errors = collect_replies(lookup, [*texts, *merged_of_unions(queries)])
    occurrences = {text: located.occurrences for text, located in found.items()}
    asked = [found[text] for text in texts if text in found]
    counted, unplaced = count_documents(index, asked, options)
    rest = [located for located in asked if located.query not in counted | unplaced]
    drawn, failed = draw_occurrences(
        index, rest, [_uncounted(union, counted) for union in unions], options
    )
    most = index.size().documents
    result.rows.extend(
        _placed_rows(
            index,
            queries,
            occurrences=occurrences,
            counted=counted,
            drawn=drawn,
            options=options,
        )
    )
    note = "draws of a pattern are missing"
    if options.estimator == "unique":
        unions = [union for union in unions if not _uncounted(union, counted)]
        note = "not from repeated documents"
    documents = {
        union: _union_documents(union, occurrences, counted, drawn).at_most(most)
        for union in unions
        if all(text in counted or text in drawn for text in union)
    }
    result.totals.extend(
        make_totals(index.name, queries, occurrences=occurrences, documents=documents, note=note)
    )
    failures = (errors | unplaced | failed).items()
    result.missing.extend(QueryFailure(index.name, text, error) for text, error in failures)
    for seen in drawn.values() if options.keep_draws else ():
        result.drawn.extend(replace(draw.row, draw=number) for number, draw in enumerate(seen, 1))


def _uncounted(union: Texts, counted: Counted) -> Texts:
    return tuple(text for text in union if text not in counted)


def _union_documents(
    union: Texts,
    occurrences: Mapping[str, int],
    counted: Counted,
    drawn: Mapping[str, Sequence[Seen]],
) -> BoundedEstimate:
    """Estimate the documents beside those that were counted, and add the two."""
    known, rest = documents_in(counted, union), _uncounted(union, counted)
    patterns = [Draws.known(len(known))] if known else []
    for text in rest:
        if occurrences[text]:
            draws = [(draw.row.document, draw.shares[rest]) for draw in drawn[text]]
            patterns.append(Draws.of(shares_beside(known, draws), occurrences[text]))
    documents = known | {draw.row.document for text in rest for draw in drawn[text]}
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
            yield _row(index.name, query, occurrences[text], bounds=bounds)
        elif text in drawn:
            row = _sampled_row(
                index.name,
                query,
                total=occurrences[text],
                seen=drawn[text],
                options=options,
                most=most,
            )
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
    documents, n = [draw.row.document for draw in seen], len(seen)
    shares = [draw.shares[query.text,] for draw in seen if draw.shares]
    bounds, estimator, note = documents_of_draws(
        documents, shares, total=total, options=options, most=most
    )
    return replace(
        _row(index, query, total, bounds=bounds, estimator=estimator, note=note),
        draws=n,
        truncated_share=sum(draw.row.truncated for draw in seen) / n if n else None,
        unique_documents=len(set(documents)),
        seed=options.seed,
        standard_error=bounds.standard_error,
    )


def documents_of_draws(
    documents: Sequence[str],
    shares: Sequence[Share],
    *,
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
        seen_in_part(bounds, ",.0f"): bounds.documents is None,
    }
    return "; ".join(note for note, applies in notes.items() if applies)


# Rows


def _row(
    index: str,
    query: Query,
    occurrences: int,
    *,
    bounds: BoundedEstimate,
    estimator: str = "exact",
    note: str = "",
) -> DocnormRow:
    low, high = outward(bounds)
    rate, rate_low, rate_high = per_document(occurrences, bounds)
    return DocnormRow(
        index=index,
        method=query.pattern.method,
        tier=query.pattern.tier,
        pattern=query.text,
        occurrences=occurrences,
        documents=rounded(bounds.documents),
        documents_low=low,
        documents_high=high,
        occurrences_per_document=rate,
        occurrences_per_document_low=rate_low,
        occurrences_per_document_high=rate_high,
        level=bounds.lower.level,
        estimator=estimator,
        note=note,
        documents_lower_estimate=round(bounds.lower.value),
        documents_upper_estimate=round(bounds.upper.value),
    )
