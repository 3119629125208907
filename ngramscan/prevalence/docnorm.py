"""Patterns × indexes → the number of documents that contain each, with intervals.

Suffix arrays number the occurrences of a pattern but not its documents. A local one places all
occurrences up to a bound, and their documents are counted. Otherwise some are drawn at random and
their documents examined: `draws` has what one draw counts for, `estimators` what all of them say,
docs/docnorm.md the reasons. An index that reads its documents counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple, Protocol

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import (
    Index,
    IndexSize,
    QueryFailure,
    ReadsDocuments,
    shown_context,
)
from ngramscan.indexes.tokens.base import TokenOccurrences, is_token_level
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.messages import OptionUse
from ngramscan.patterns.model import Query, Scope, scopes
from ngramscan.patterns.overlaps import merged_of_unions
from ngramscan.prevalence.count import (
    collect_lookups,
    notes_on_ngrams,
    shared_notes,
    start_lookups,
)
from ngramscan.prevalence.docnorm_totals import (
    LEANS_NOTE,
    DocnormTotal,
    make_totals,
    outward,
    per_document,
    rounded,
    seen_in_part,
    union_of,
    with_rates,
)
from ngramscan.prevalence.draws import (
    Counted,
    DocnormOptions,
    DocumentShare,
    DrawRow,
    LocatedQuery,
    Seen,
    Texts,
    count_documents,
    documents_in,
    draw_occurrences,
    first_draws,
    owners_of,
    zero_listed_shares,
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
from ngramscan.rows import Label, Note, Plot, Share, join_notes, row_kind


@row_kind(
    "docnorm",
    "Documents with each pattern",
    Plot(
        "documents",
        panel=("index",),
        label=("pattern",),
        scale="log",
        series="method",
    ),
    key=("occurrences", "estimator"),
    may_lack=("unit", "method", "tier"),
    counts="documents",
    adds_up=True,
    if_absent={"unit": "bytes"},
)
@dataclass(frozen=True, slots=True, kw_only=True)
class DocnormRow:
    """How many documents of one index contain a pattern, or its n-grams of tokens."""

    index: Label
    unit: Label
    """`bytes`, or `tokens` in an index over tokens: documents with at least one of the pattern's
    n-grams, a lower bound of those with the string."""
    method: Label | None
    """None, like the tier: a literal that was given alone, outside a pattern set."""
    tier: Label | None
    pattern: Label
    occurrences: int
    draws: int | None = None
    """Occurrences that were drawn; None: the documents of all were counted."""
    documents: int | None
    """None: documents were truncated, and the two estimates at the end of the row differ."""
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
    all occurrences are known; `files`: a sample of files was read. A service of tokens doesn't show
    which occurrence is the first, so `combined` is `size-bias` there."""
    truncated_share: Share | None = None
    """Share of the draws whose document was seen only in part; None: not known, or not looked at as
    all occurrences were drawn."""
    unique_documents: int | None = None
    """Distinct documents among the draws."""
    seed: int | None = None
    standard_error: float | None = None
    """Standard error of the estimate, from the draws; of two, the larger one."""
    note: str = ""
    """The kind of interval; where documents were truncated, the two estimates."""
    documents_lower_estimate: int
    """The estimate if hidden parts of documents had as many occurrences as they can hold."""
    documents_upper_estimate: int
    """The estimate if they had none; the same as the lower one where nothing hidden matters."""
    documents_per_million: float | None = None
    """Documents with the pattern per million documents of the index; None: `documents` is None, or
    the index doesn't tell how many documents it has."""
    documents_per_million_low: float | None = None
    documents_per_million_high: float | None = None
    """Limits; None, too, where the number of all documents is an estimate."""


@dataclass(frozen=True, slots=True)
class DocnormResult:
    """The documents that contain some queries, in some indexes over bytes or over tokens."""

    rows: list[DocnormRow] = field(default_factory=list)
    totals: list[DocnormTotal] = field(default_factory=list)
    missing: list[QueryFailure] = field(default_factory=list)
    drawn: list[DrawRow] = field(default_factory=list)
    sizes: dict[str, IndexSize] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)
    """Per index, the notes of its rows that are not about a single query."""

    def add(self, index: str, rows: Sequence[tuple[DocnormRow, Sequence[Note]]]) -> None:
        """Add the rows of an index, each with its notes."""
        self.rows.extend(replace(row, note=join_notes(notes)) for row, notes in rows)
        self.notes[index] = shared_notes(notes for _, notes in rows)


def run_docnorm(
    queries: Sequence[Query],
    indexes: Sequence[Index],
    options: DocnormOptions,
    rule: MatchRule = EXACT,
) -> DocnormResult:
    """Estimate or count the documents that contain some queries, in each index.

    Token-level indexes come last. Queries that fail are in `missing`, and so are those that tokens
    can't count. One draw that can't be examined is enough to leave a pattern without a row, as
    documents that can't be shown may differ from the others. `rule` says what the indexes count.
    """
    ordered = sorted(indexes, key=attrgetter("unit"))
    # All services are asked at the same time; corpora are read one after the other.
    placed = [index for index in ordered if not isinstance(index, ReadsDocuments)]
    lookups = {index.name: stream for index, stream in start_lookups(queries, placed, rule=rule)}
    result = DocnormResult()
    for index in ordered:
        n_before, n_totals = len(result.rows), len(result.totals)
        if isinstance(index, ReadsDocuments):
            _read(result, index, queries, rule)
        else:
            lookup = lookups[index.name]
            _place(result, index, queries, lookup=lookup, options=options, rule=rule)
        size = index.size()
        result.sizes[index.name] = size
        result.rows[n_before:] = [_with_rates(row, size) for row in result.rows[n_before:]]
        result.totals[n_totals:] = with_rates(result.totals[n_totals:], size)
    return result


def refuse_first(indexes: Sequence[Index], options: DocnormOptions) -> None:
    """Raise an InputError where an index doesn't show which occurrence is the first."""
    for index in indexes:
        is_marked = is_token_level(index) and not index.shows_tokens
        if options.estimator == "first" and is_marked:
            problem = f"{index.name} doesn't show which occurrence is the first in its document"
            raise InputError(OptionUse("estimator", "first"), problem)


# An index that reads its documents


class ReadIndex(Index, ReadsDocuments, Protocol):
    """An index that reads all its documents for any question."""


def _read(
    result: DocnormResult, index: ReadIndex, queries: Sequence[Query], rule: MatchRule
) -> None:
    texts = list(dict.fromkeys(query.text for query in queries))
    merged = merged_of_unions(queries, rule)
    of_scopes = [(scope, union_of(scope, rule)) for scope in scopes(queries)]
    unions = list(dict.fromkeys(union for _, union in of_scopes))
    try:
        counted_documents = index.document_counts([*texts, *merged], unions)
    except NgramscanError as error:
        if error.exit_code == InputError.exit_code:
            raise
        result.missing.extend(QueryFailure(index.name, text, error) for text in texts)
        unknown = [(scope, None, "") for scope, _ in of_scopes]
        result.totals.extend(make_totals(index, unknown, {}, rule))
        return
    counts = {counted.query: counted for counted in counted_documents.counts}
    rows_with_notes = []
    for query in queries:
        counted = counts[query.text]
        estimate, exact = counted.documents_estimate, exactly(counted.documents or 0)
        row = _row(
            index,
            query,
            counted.occurrences,
            bounds=BoundedEstimate(estimate, estimate) if estimate else exact,
            estimator="files" if estimate else "exact",
        )
        rows_with_notes.append((row, counted.notes))
    result.add(index.name, rows_with_notes)
    occurrences = {text: counted.occurrences for text, counted in counts.items()}
    documents = {
        union: BoundedEstimate(estimate, estimate)
        for union, estimate in zip(unions, counted_documents.unions, strict=True)
        if estimate.low is not None
    }
    note = "no interval: too few files were read"
    of_unions = [(scope, documents.get(union), note) for scope, union in of_scopes]
    result.totals.extend(make_totals(index, of_unions, occurrences, rule))


# An index whose occurrences are placed, all of them or draws


class _Placed(NamedTuple):
    """The documents of each query, as far as they are known."""

    found: Mapping[str, LocatedQuery]
    counted: Counted
    drawn: Mapping[str, Sequence[Seen]]


def _place(
    result: DocnormResult,
    index: Index,
    queries: Sequence[Query],
    lookup: Iterator[LocatedQuery | QueryFailure],
    options: DocnormOptions,
    rule: MatchRule,
) -> None:
    located_by_text, missing = collect_lookups(queries, index, lookup, rule=rule)
    texts = dict.fromkeys(query.text for query in queries)
    located_queries = [located_by_text[text] for text in texts if text in located_by_text]
    counted, unplaced = count_documents(index, located_queries, options)
    rest = [located for located in located_queries if located.query not in counted | unplaced]
    of_scopes = [(scope, _texts_of_union(index, scope, rule)) for scope in scopes(queries)]
    # A pattern with no more occurrences than draws has all its documents listed, but was not
    # checked for neighbouring patterns.
    several = {
        located.query
        for located in rest
        if index.unit == "bytes" or located.occurrences > first_draws(options)
    }
    unions = dict.fromkeys(
        tuple(text for text in union if text in several) for _, union in of_scopes
    )
    draws_by_text, failed = draw_occurrences(
        index, rest, [union for union in unions if len(union) > 1], options
    )
    placed = _Placed(located_by_text, counted, draws_by_text)
    rows_with_notes = [*_placed_rows(index, queries, placed, options)]
    rule_notes = [Note(text, "index") for text in rule.notes]
    result.add(index.name, [(row, [*rule_notes, *notes]) for row, notes in rows_with_notes])
    of_unions = [
        (scope, *_union_documents(index, union, placed, options)) for scope, union in of_scopes
    ]
    occurrences = {text: located.occurrences for text, located in located_by_text.items()}
    result.totals.extend(make_totals(index, of_unions, occurrences, rule))
    failures = (unplaced | failed).items()
    result.missing.extend([*missing, *(QueryFailure(index.name, *item) for item in failures)])
    for seen in draws_by_text.values():
        rows = [draw.row for draw in seen if draw.row]
        result.drawn.extend(replace(row, draw=number) for number, row in enumerate(rows, 1))


def _texts_of_union(index: Index, scope: Scope, rule: MatchRule) -> Texts:
    """Return the texts whose documents together are the documents of a scope.

    The n-grams of a text need not contain the n-grams of a text within it.
    """
    return union_of(scope, rule) if index.unit == "bytes" else tuple(scope.texts)


def _union_documents(
    index: Index, union: Texts, placed: _Placed, options: DocnormOptions
) -> tuple[BoundedEstimate | None, str]:
    """Add the listed documents and an estimate of the others; or say why that is impossible."""
    located_by_text, counted, draws_by_text = placed
    uncounted = tuple(text for text in union if text not in counted)
    if uncounted and options.estimator == "unique":
        return None, "not from repeated documents"
    if not all(text in draws_by_text for text in uncounted):
        return None, "draws of a pattern are missing"
    rest, several = uncounted, uncounted
    if index.unit == "tokens":
        rest = tuple(
            text for text in rest if len(draws_by_text[text]) < located_by_text[text].occurrences
        )
        several = tuple(
            text for text in uncounted if located_by_text[text].occurrences > first_draws(options)
        )
    weighted_texts = several if len(rest) > 1 else rest
    if any(weighted_texts not in draw.shares for text in rest for draw in draws_by_text[text]):
        return None, "the index doesn't show where patterns are in a document"
    listed_documents = documents_in(counted, union)
    listed_documents |= {
        draw.document for text in uncounted if text not in rest for draw in draws_by_text[text]
    }
    patterns = [Draws.known(len(listed_documents))] if listed_documents else []
    owners = owners_of(located_by_text[text] for text in weighted_texts).values()
    for text in rest:
        if located_by_text[text].occurrences and text in owners:
            draws = [(draw.document, draw.shares[weighted_texts]) for draw in draws_by_text[text]]
            patterns.append(
                Draws.of(
                    zero_listed_shares(listed_documents, draws), located_by_text[text].occurrences
                )
            )
    documents = listed_documents | {draw.document for text in rest for draw in draws_by_text[text]}
    estimate = estimate_documents(patterns, len(documents))
    return estimate.at_most(index.size().documents), ""


def _placed_rows(
    index: Index, queries: Sequence[Query], placed: _Placed, options: DocnormOptions
) -> Iterator[tuple[DocnormRow, Sequence[Note]]]:
    most, context = index.size().documents, shown_context(index, options.context)
    for query in queries:
        text = query.text
        if text not in placed.counted and text not in placed.drawn:
            continue
        located = placed.found[text]
        if text in placed.counted:
            bounds = exactly(len(placed.counted[text]))
            row, notes = _row(index, query, located.occurrences, bounds=bounds), list[Note]()
        else:
            row, notes = _drawn_row(index, query, located, placed.drawn[text], options, most)
        if isinstance(located, TokenOccurrences):
            yield row, [*notes_on_ngrams(located), *notes]
            continue
        if context < options.context and row.truncated_share:
            limit = f"at most {context:,} bytes are shown on each side, not {options.context:,}"
            notes = [*notes, Note(limit, "index")]
        yield row, notes


def _drawn_row(
    index: Index,
    query: Query,
    located: LocatedQuery,
    seen: Sequence[Seen],
    options: DocnormOptions,
    most: int | None,
) -> tuple[DocnormRow, list[Note]]:
    documents, total = [draw.document for draw in seen], located.occurrences
    shares = [draw.shares[query.text,] for draw in seen if draw.shares]
    bounds, estimator, notes = _documents_of_draws(
        documents, shares, total=total, options=options, most=most
    )
    truncations = [draw.is_truncated for draw in seen if draw.is_truncated is not None]
    if index.unit == "tokens":
        if estimator == "combined" and not truncations:
            estimator = "size-bias"
        truncations = truncations if estimator != "exact" else []
    row = replace(
        _row(index, query, total, bounds=bounds, estimator=estimator),
        draws=len(seen),
        truncated_share=sum(truncations) / len(truncations) if truncations else None,
        unique_documents=len(set(documents)),
        seed=options.seed,
        standard_error=bounds.standard_error,
    )
    return row, notes


def _documents_of_draws(
    documents: Sequence[str],
    shares: Sequence[DocumentShare],
    *,
    total: int,
    options: DocnormOptions,
    most: int | None,
) -> tuple[BoundedEstimate, str, list[Note]]:
    """Estimate the documents of a query from the document and share of each of its draws.

    `total` is the number of its occurrences, `most` the number of documents in the index. Returns
    the estimate, the name of the estimator, and notes.
    """
    n, unique = len(documents), len(set(documents))
    if n == total:
        return exactly(unique), "exact", []
    if options.estimator == "unique":
        estimate = documents_of_repeats(documents, total)
        bounds = BoundedEstimate(estimate, estimate)
        return bounds, "unique", [Note(estimate.note, "query")] if estimate.note else []
    bounds = estimate_documents([Draws.of(shares, total)], unique).at_most(most)
    return bounds, options.estimator, [*_describe_draws(bounds, n, total)]


def _describe_draws(bounds: BoundedEstimate, n: int, total: int) -> Iterator[Note]:
    if n < DRAWS_FOR_VARIANCE:
        few = f"fewer than {DRAWS_FOR_VARIANCE} draws: the interval is the guaranteed one"
        yield Note(few, "general")
    if is_without_replacement(n, total):
        yield Note("drawn without replacement", "query")
    if bounds.leans_on_added_draw:
        yield Note(LEANS_NOTE, "query")
    if bounds.documents is None:
        yield Note(seen_in_part(bounds, ",.0f"), "query")


# Rows


def _row(
    index: Index,
    query: Query,
    occurrences: int,
    *,
    bounds: BoundedEstimate,
    estimator: str = "exact",
) -> DocnormRow:
    low, high = outward(bounds)
    rate, rate_low, rate_high = per_document(occurrences, bounds)
    return DocnormRow(
        index=index.name,
        unit=index.unit,
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
        documents_lower_estimate=round(bounds.lower.value),
        documents_upper_estimate=round(bounds.upper.value),
    )


def _with_rates(row: DocnormRow, size: IndexSize) -> DocnormRow:
    """Return a row with its documents per million documents of the index."""
    if not size.documents:
        return row

    def rate(documents: int | None) -> float | None:
        return None if documents is None else documents / all_documents * 1e6

    all_documents = size.documents
    # The limits of a row say nothing about an estimated number of all documents.
    is_exact = size.documents_estimate is None
    return replace(
        row,
        documents_per_million=rate(row.documents),
        documents_per_million_low=rate(row.documents_low) if is_exact else None,
        documents_per_million_high=rate(row.documents_high) if is_exact else None,
    )
