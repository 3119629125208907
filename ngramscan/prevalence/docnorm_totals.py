"""Estimates of documents → numbers with limits, totals of methods, and ratios of two methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ngramscan.indexes.base import Index, IndexSize
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.patterns.model import Scope
from ngramscan.patterns.overlaps import nesting, union_of_occurrences
from ngramscan.prevalence.draws import Texts
from ngramscan.prevalence.estimators import BoundedEstimate, ratio_of_documents
from ngramscan.prevalence.totals import NO_OVERLAP_STRINGS, Total, totals_kind

LEANS_NOTE = (
    "the draws hardly vary: more than half of the interval's width comes from one added draw of"
    " share 1"
)


@totals_kind
@dataclass(frozen=True, slots=True)
class DocnormTotal(Total):
    """One statistic of the documents of one method, or of one method against another."""

    lower_estimate: float | None = None
    """The smallest and the largest estimate that hidden parts of documents allow; `value` is None
    where they differ. None: nothing was estimated."""
    upper_estimate: float | None = None


# Numbers


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

    None if it is infinite, if there are no documents, or if their two estimates differ.
    """
    if not bounds.upper.value:
        return None, None, None
    (low, high), documents = outward(bounds), bounds.documents
    return (
        occurrences / documents if documents else None,
        occurrences / high if high else None,
        occurrences / low if low else None,
    )


def seen_in_part(bounds: BoundedEstimate, form: str) -> str:
    """Say between which two estimates the number of documents, or a ratio of them, is."""
    low, high = format(bounds.lower.value, form), format(bounds.upper.value, form)
    return f"long documents were truncated: estimates from {low} to {high}"


# Totals


def union_of(scope: Scope, rule: MatchRule = EXACT) -> Texts:
    """Return the texts of a scope that contain no other: they are in all its documents.

    By some rules a document with a text need not have one that is within it; then return all.
    """
    nested = nesting(scope.texts) if rule.has_overlaps else {}
    return tuple(text for text in scope.texts if text not in nested)


def make_totals(
    index: Index,
    unions: Sequence[tuple[Scope, BoundedEstimate | None, str]],
    occurrences: Mapping[str, int],
    rule: MatchRule = EXACT,
) -> list[DocnormTotal]:
    """Return the totals of each scope and the ratio of each two.

    `unions` are the documents of each scope, or why they are unknown. The occurrences of n-grams
    have no union, and those by some rules an unknown one.
    """
    totals: list[DocnormTotal] = []
    for scope, bounds, note in unions:
        unknown = _unknown_total(index, scope, "documents", note=note)
        union = None
        if index.unit == "bytes":
            union = union_of_occurrences(scope.texts, occurrences, rule)
            reason = "a count is missing" if rule.has_overlaps else NO_OVERLAP_STRINGS
            missing = "" if union is not None else reason
            totals.append(
                replace(unknown, statistic="union_of_occurrences", value=union, note=missing)
            )
        totals.append(_documents_total(unknown, bounds))
        if bounds and union and bounds.upper.value:
            rate = replace(unknown, statistic="occurrences_per_document")
            totals.append(_rate_total(rate, union, bounds))
    for (earlier, below, reason), (later, above, note) in combinations(unions, 2):
        if later.tiers == earlier.tiers:
            unknown = _unknown_total(
                index, later, "ratio_of_documents", versus=earlier, note=note or reason
            )
            totals.append(_ratio_total(unknown, above, below))
    return totals


def with_rates(totals: Sequence[DocnormTotal], size: IndexSize) -> list[DocnormTotal]:
    """Return totals of an index; totals of documents get their rate per million documents."""
    rated = []
    for total in totals:
        rated.append(total)
        if size.documents and total.statistic == "documents":
            rated.append(_per_million(total, size.documents, size.documents_estimate is None))
    return rated


def _per_million(total: DocnormTotal, documents: int, is_exact: bool) -> DocnormTotal:
    """Return documents per million documents of the index.

    Limits of a total say nothing about an estimated number of all documents.
    """

    def rate(value: float | None) -> float | None:
        return None if value is None else value / documents * 1e6

    return replace(
        total,
        statistic="documents_per_million",
        value=rate(total.value),
        low=rate(total.low) if is_exact else None,
        high=rate(total.high) if is_exact else None,
        level=total.level if is_exact else None,
        lower_estimate=rate(total.lower_estimate),
        upper_estimate=rate(total.upper_estimate),
    )


def _unknown_total(
    index: Index, scope: Scope, statistic: str, *, versus: Scope | None = None, note: str
) -> DocnormTotal:
    """Return a total without a value, whose note says why."""
    return DocnormTotal(
        index=index.name,
        unit=index.unit,
        tiers=scope.tiers,
        method=scope.method,
        versus=None if versus is None else versus.method,
        statistic=statistic,
        value=None,
        note=note,
        kind=scope.kind_with(versus),
    )


def _documents_total(unknown: DocnormTotal, bounds: BoundedEstimate | None) -> DocnormTotal:
    """Return a total of documents; without an estimate, one whose note says why it is unknown."""
    if bounds is None:
        return unknown
    note = _describe_interval(bounds, bounds.documents, ",.0f")
    limits = outward(bounds)
    return _with_estimate(unknown, bounds, value=bounds.documents, limits=limits, note=note)


def _rate_total(unknown: DocnormTotal, union: int, bounds: BoundedEstimate) -> DocnormTotal:
    value, low, high = per_document(union, bounds)
    note = _describe_interval(bounds, value, ",.0f")
    total = _with_estimate(unknown, bounds, value=value, limits=(low, high), note=note)
    lower = bounds.lower.value
    return replace(
        total,
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


def _ratio_total(
    unknown: DocnormTotal, documents: BoundedEstimate | None, other: BoundedEstimate | None
) -> DocnormTotal:
    """Return the ratio of the documents of two methods; where one is unknown, `unknown`."""
    if documents is None or other is None:
        return unknown
    ratio = ratio_of_documents(documents, other)
    if ratio is None:
        return replace(unknown, note="a method may have no document")
    high = ratio.high if math.isfinite(ratio.high) else None
    note = _describe_interval(ratio, ratio.value, ".3g")
    return _with_estimate(unknown, ratio, value=ratio.value, limits=(ratio.low, high), note=note)


def _describe_interval(bounds: BoundedEstimate, value: float | None, form: str) -> str:
    kind = LEANS_NOTE if bounds.leans_on_added_draw else bounds.lower.note
    hidden = seen_in_part(bounds, form) if value is None else ""
    return "; ".join(filter(None, (kind, hidden)))
