"""Patterns × token-level indexes → the number of documents that contain their token n-grams.

A local index places all occurrences of a pattern up to a bound, and its documents are counted; so
are they where it occurs no more often than occurrences are drawn. Otherwise some are drawn, as in
an index of bytes: a draw counts for one over the occurrences of all n-grams of the pattern in its
document.

The documents of a method are those that were counted, and, of the patterns whose occurrences were
drawn, those beside them. An n-gram that contains another one adds no document; one that several
patterns have belongs to the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

from ngramscan.errors import IndexFormatError, InputError, NgramscanError
from ngramscan.indexes.base import Occurrences, Place, QueryFailure, WindowFailure
from ngramscan.indexes.tokens.base import (
    MOST_TOKENS,
    MarkedWindow,
    TokenIndex,
    TokenOccurrences,
    TokenWindow,
)
from ngramscan.matching import find_starts
from ngramscan.patterns.model import Query, Scope, scopes
from ngramscan.patterns.overlaps import nesting
from ngramscan.prevalence.docnorm import DocnormResult, documents_of_draws
from ngramscan.prevalence.docnorm_totals import (
    DocnormTotal,
    documents_total,
    outward,
    per_document,
    ratio_total,
    rounded,
    unknown_total,
)
from ngramscan.prevalence.draws import (
    Counted,
    DocnormOptions,
    Estimator,
    Extent,
    Share,
    Texts,
    count_documents,
    documents_in,
    draw_in_rounds,
    first_draws,
    share_of,
    shares_beside,
)
from ngramscan.prevalence.estimators import BoundedEstimate, Draws, estimate_documents, exactly
from ngramscan.prevalence.token_count import Lookups, collect_lookups, note_of

Owners = Mapping[str, str]
"""N-grams as texts (see `as_text`), none of which contains another, and the query of each."""
_NOT_SEEN = Share(0.0, 1.0, False)
"""The share of a draw whose document was not looked at, as all occurrences are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDocnormRow:
    """How many documents of one token-level index contain the token n-grams of a pattern."""

    index: str
    method: str | None
    """None, like the tier: a literal that was given alone, outside a pattern set."""
    tier: str | None
    pattern: str
    token_occurrences: int
    draws: int | None = None
    """Occurrences that were drawn; None: the documents of all were counted."""
    token_documents: int | None
    """Documents with at least one of the n-grams; a lower bound of those with the string. None:
    documents were seen in part, and the two estimates at the end of the row differ."""
    token_documents_low: int | None
    token_documents_high: int | None
    """Limits, rounded outwards."""
    token_occurrences_per_document: float | None
    """None: no document contains one, or `token_documents` is None."""
    token_occurrences_per_document_low: float | None
    token_occurrences_per_document_high: float | None
    """None: no upper limit."""
    level: float
    estimator: str
    """`combined`, `size-bias`, `first` or `unique`; `exact`: the document of each occurrence is
    known. A service doesn't show which occurrence is the first, so `combined` is `size-bias`
    there."""
    truncated_share: float | None = None
    """Share of the draws whose document was seen only in part; None: not known, or not looked at
    as all occurrences were drawn."""
    unique_documents: int | None = None
    """Distinct documents among the draws."""
    seed: int | None = None
    standard_error: float | None = None
    """Standard error of the estimate, from the draws; of two, the larger one."""
    note: str = ""
    token_documents_lower_estimate: int
    """The estimate if hidden parts of documents had as many occurrences as they can hold."""
    token_documents_upper_estimate: int
    """The estimate if they had none; the same as the lower one where nothing hidden matters."""


class _Seen(NamedTuple):
    document: str
    is_truncated: bool | None
    """None: not known."""
    shares: dict[Texts, Share]
    """By the queries whose n-grams are looked for."""


Drawn = Mapping[str, Sequence[_Seen]]


def run_token_docnorm(
    queries: Sequence[Query], lookups: Lookups, options: DocnormOptions
) -> DocnormResult[TokenDocnormRow]:
    """Count or estimate the documents that contain some queries, in each index.

    Queries that fail are in `missing`, as in `run_docnorm`, and so are those that tokens can't
    count.
    """
    result: DocnormResult[TokenDocnormRow] = DocnormResult()
    for index, stream in lookups:
        _sample(result, index, queries, stream=stream, options=options)
        result.sizes[index.name] = index.size()
    return result


def refuse_first(indexes: Sequence[TokenIndex], options: DocnormOptions) -> None:
    """Raise an InputError where an index doesn't show which occurrence is the first."""
    for index in indexes:
        if options.estimator == "first" and index.name.startswith("infini-gram:"):
            problem = f"{index.name} doesn't show which occurrence is the first in its document"
            raise InputError("--estimator first", problem)


def _sample(
    result: DocnormResult[TokenDocnormRow],
    index: TokenIndex,
    queries: Sequence[Query],
    stream: Iterator[TokenOccurrences | QueryFailure],
    options: DocnormOptions,
) -> None:
    found, missing = collect_lookups(queries, index, stream)
    counted, unplaced = count_documents(index, (grams.found for grams in found.values()), options)
    rest = {text: grams for text, grams in found.items() if text not in counted | unplaced}
    drawn, failed = _draw(index, rest, _unions(queries, rest, first_draws(options)), options)
    most = index.size().documents
    for query in queries:
        text = query.text
        if text in counted:
            bounds = exactly(len(counted[text]))
            result.rows.append(_row(index.name, query, found[text], bounds=bounds))
        elif text in drawn:
            row = _drawn_row(
                index.name, query, found[text], seen=drawn[text], options=options, most=most
            )
            result.rows.append(row)
    result.missing.extend(missing)
    result.missing.extend(QueryFailure(index.name, *item) for item in (unplaced | failed).items())
    documents = partial(
        _union_documents, found=found, counted=counted, drawn=drawn, options=options, most=most
    )
    unions = [(scope, *documents(scope)) for scope in scopes(queries)]
    result.totals.extend(_totals(index.name, unions))


def _unions(queries: Sequence[Query], found: Mapping[str, TokenOccurrences], n: int) -> list[Texts]:
    """Return the queries of each scope of which more than n occurrences exist, if several."""
    known = [[text for text in scope.texts if text in found] for scope in scopes(queries)]
    drawn = [tuple(text for text in texts if found[text].occurrences > n) for texts in known]
    return [texts for texts in dict.fromkeys(drawn) if len(texts) > 1]


def _owners(found: Sequence[TokenOccurrences]) -> Owners:
    owners: dict[str, str] = {}
    for grams in found:
        for form in grams.forms:
            owners.setdefault(form.text, grams.query)
    nested = nesting(owners)
    return {text: query for text, query in owners.items() if text not in nested}


# Draws


def _draw(
    index: TokenIndex,
    found: Mapping[str, TokenOccurrences],
    unions: Sequence[Texts],
    options: DocnormOptions,
) -> tuple[dict[str, list[_Seen]], dict[str, NgramscanError]]:
    """Return the draws of each query, or why one of them can't be examined."""
    of = {
        query: {
            texts: _owners([found[text] for text in texts])
            for texts in ((query,), *(union for union in unions if query in union))
        }
        for query in found
    }

    def look(
        places: Sequence[Place], sizes: Mapping[Occurrences, int]
    ) -> Iterator[tuple[Place, _Seen | NgramscanError]]:
        documents_only = {
            located.query
            for located, n in sizes.items()
            if n >= located.occurrences or options.estimator == "unique"
        }
        for is_whole in (True, False):
            chosen = [place for place in places if (place.query in documents_only) == is_whole]
            if chosen:
                yield from examine(chosen, is_whole)

    def examine(
        places: Sequence[Place], is_whole: bool
    ) -> Iterator[tuple[Place, _Seen | NgramscanError]]:
        forms = {} if is_whole else {place.query: found[place.query].forms for place in places}
        for window in index.examine(places, forms):
            query = window.place.query
            owners = {(query,): {}} if is_whole else of[query]
            try:
                if isinstance(window, WindowFailure):
                    raise window.error
                yield window.place, _look_at(index.name, window, owners, options.estimator)
            except NgramscanError as error:
                yield window.place, error

    located = [grams.found for grams in found.values()]
    return draw_in_rounds(index.name, located, options, look)


def _look_at(
    index: str,
    window: TokenWindow | MarkedWindow,
    unions: Mapping[Texts, Owners],
    estimator: Estimator,
) -> _Seen:
    key = (window.place.query,)
    if not unions[key]:
        return _Seen(window.document, None, {key: _NOT_SEEN})
    if isinstance(window, MarkedWindow):
        # Its marks tell the n-grams of one query, not where they are.
        share = Share(1 / window.most, 1 / window.least, False)
        return _Seen(window.document, None, {key: share})
    if not _is_at(window, unions[key]):
        where = f"{index}, rank {window.place.rank} of shard {window.place.shard}"
        raise IndexFormatError(where, f"no occurrence of {key[0]!r}")
    shares = {texts: token_share(window, owners, estimator) for texts, owners in unions.items()}
    return _Seen(window.document, window.length > len(window.text), shares)


def _is_at(window: TokenWindow, owners: Owners) -> bool:
    """Tell whether a draw is an n-gram of its query."""
    drawn_query = window.place.query
    return any(
        query == drawn_query and window.text.startswith(text, window.offset)
        for text, query in owners.items()
    )


def token_share(window: TokenWindow, owners: Owners, estimator: Estimator) -> Share:
    """Return the share of a document that a draw counts for, among the occurrences of n-grams.

    In each document that contains any of them, the shares of all occurrences sum to 1: a draw that
    is not one of them, or belongs to another query, counts for nothing.
    """
    if not _is_at(window, owners):
        return Share(0.0, 0.0, False)
    starts = [start for text in owners for start in find_starts(text, window.text)]
    extent = Extent(
        length=window.length,
        shown=len(window.text),
        offset=window.offset,
        starts_document=window.starts_document,
    )
    # So much is shown at least: before a draw, and from its first token on.
    return share_of(starts, extent, texts=[*owners], reach=MOST_TOKENS // 2, estimator=estimator)


# Unions


def _union_documents(
    scope: Scope,
    found: Mapping[str, TokenOccurrences],
    counted: Counted,
    drawn: Drawn,
    options: DocnormOptions,
    most: int | None,
) -> tuple[BoundedEstimate | None, str]:
    """Return the documents of a scope, or why they are unknown."""
    uncounted = [text for text in scope.texts if text not in counted]
    if uncounted and options.estimator == "unique":
        return None, "not from repeated documents"
    if not all(text in drawn for text in uncounted):
        return None, "draws of a pattern are missing"
    rest = [text for text in uncounted if len(drawn[text]) < found[text].occurrences]
    known = documents_in(counted, scope.texts)
    known |= {draw.document for text in uncounted if text not in rest for draw in drawn[text]}
    several = tuple(text for text in uncounted if found[text].occurrences > first_draws(options))
    of = several if len(rest) > 1 else tuple(rest)
    if any(of not in draw.shares for text in rest for draw in drawn[text]):
        return None, "the index doesn't show where patterns are in a document"
    owners = _owners([found[text] for text in of]).values()
    patterns = [
        Draws.of(
            shares_beside(known, ((draw.document, draw.shares[of]) for draw in drawn[text])),
            found[text].occurrences,
        )
        for text in rest
        if text in owners
    ]
    if known:
        patterns.append(Draws.known(len(known)))
    seen = known | {draw.document for text in rest for draw in drawn[text]}
    return estimate_documents(patterns, len(seen)).at_most(most), ""


# Rows and totals


def _drawn_row(
    index: str,
    query: Query,
    found: TokenOccurrences,
    seen: Sequence[_Seen],
    options: DocnormOptions,
    most: int | None,
) -> TokenDocnormRow:
    documents, total = [draw.document for draw in seen], found.occurrences
    shares = [draw.shares[query.text,] for draw in seen]
    bounds, estimator, note = documents_of_draws(
        documents, shares, total=total, options=options, most=most
    )
    known = [draw.is_truncated for draw in seen if draw.is_truncated is not None]
    if estimator == "combined" and not known:
        estimator = "size-bias"
    return replace(
        _row(index, query, found, bounds=bounds, estimator=estimator, note=note),
        draws=len(seen),
        truncated_share=sum(known) / len(known) if known and estimator != "exact" else None,
        unique_documents=len(set(documents)),
        seed=options.seed,
        standard_error=bounds.standard_error,
    )


def _row(
    index: str,
    query: Query,
    found: TokenOccurrences,
    *,
    bounds: BoundedEstimate,
    estimator: str = "exact",
    note: str = "",
) -> TokenDocnormRow:
    low, high = outward(bounds)
    rate, rate_low, rate_high = per_document(found.occurrences, bounds)
    return TokenDocnormRow(
        index=index,
        method=query.pattern.method,
        tier=query.pattern.tier,
        pattern=query.text,
        token_occurrences=found.occurrences,
        token_documents=rounded(bounds.documents),
        token_documents_low=low,
        token_documents_high=high,
        token_occurrences_per_document=rate,
        token_occurrences_per_document_low=rate_low,
        token_occurrences_per_document_high=rate_high,
        level=bounds.lower.level,
        estimator=estimator,
        note="; ".join(filter(None, (note_of(found), note))),
        token_documents_lower_estimate=round(bounds.lower.value),
        token_documents_upper_estimate=round(bounds.upper.value),
    )


def _totals(
    index: str, unions: Sequence[tuple[Scope, BoundedEstimate | None, str]]
) -> Iterator[DocnormTotal]:
    for scope, bounds, note in unions:
        yield documents_total(unknown_total(index, scope, "token_documents", note=note), bounds)
    for (earlier, below, unknown), (later, above, note) in combinations(unions, 2):
        if later.tiers == earlier.tiers:
            total = unknown_total(
                index,
                later,
                "token_ratio_of_documents",
                versus=earlier.method,
                note=note or unknown,
            )
            yield ratio_total(total, above, below)
