"""Count rows → totals, rates and ratios of methods.

A sum over patterns that overlap has no unit, and a ratio of two sums depends on the lengths of the
lists and on their largest patterns. So sturdier statistics are shown with them: the union of
occurrences, the sum without the largest pattern, the ratio of geometric means with its interval.
docs/count.md has the reasons and formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from ngramscan.indexes.base import IndexSize, Unit
from ngramscan.indexes.catalog import find_hosted
from ngramscan.matching.rules import MatchRule
from ngramscan.patterns.model import Scope, scopes
from ngramscan.patterns.overlaps import describe_overlaps, union_of_occurrences
from ngramscan.prevalence.count import CountResult
from ngramscan.prevalence.several_corpora import ALL, sum_over
from ngramscan.rows import Label, Limits, row_kind
from ngramscan.statistics.estimates import geometric_mean_ratio, probability_of_superiority

SUM_NOTE = "sum of pattern counts, overlaps counted repeatedly"
SNAPSHOTS_NOTE = "snapshots share pages: this counts page versions, not pages"
_NO_OVERLAP = "the count of an overlap is missing"
NO_OVERLAP_STRINGS = (
    "unknown: which places two patterns share can't be told from counts by this rule"
)
"""The note on a union of occurrences that are not those of exact texts."""
ESTIMATED = "estimated from a sample"
"""The note on totals if only some files of a corpus were read."""
_SUMMED = ("sum_of_pattern_counts", "union_of_occurrences")
"""Statistics that are also summed over crawl snapshots."""
_OF_ESTIMATES = frozenset(
    (
        *_SUMMED,
        "union_per_gigabyte",
        "union_per_million_documents",
        "ratio_of_sums",
        "ratio_of_unions",
    )
)
"""Statistics that say so where the counts are estimates."""
_STATISTICS_OF_UNIONS = frozenset(
    (
        "union_of_occurrences",
        "union_per_gigabyte",
        "union_per_million_documents",
        "ratio_of_unions",
    )
)
_QUANTILES = {
    "smallest": 0.0,
    "lower_quartile": 0.25,
    "median": 0.5,
    "upper_quartile": 0.75,
    "largest": 1.0,
}


totals_kind = row_kind(
    "totals",
    "Totals of methods",
    key=("value", "low", "high"),
    may_lack=("unit", "estimated"),
    if_absent={"unit": "bytes"},
)
"""Makes a row type one of totals."""


@totals_kind
@dataclass(frozen=True, slots=True)
class Total:
    """One statistic of one method, or of one method against another, in one index."""

    index: Label
    """A name, `sum over N crawl snapshots`, or `all` for overlaps of patterns."""
    unit: Label
    """`bytes`, or `tokens` in an index over tokens. Values in different units are never compared
    or added."""
    tiers: Label
    """`T1`, `T2`, `T3` or `T1+T2`."""
    method: Label
    versus: Label | None
    """The method that it is compared with; None: a statistic of one method."""
    statistic: Label
    value: Annotated[float | int | None, Limits("low", "high")]
    """None: unknown; `note` says why."""
    low: float | None = None
    high: float | None = None
    level: float | None = None
    note: str = ""
    kind: Label = ""
    """The kind of all patterns in it: `narrative`, `latex` or `code`; empty: several kinds."""
    estimated: bool = False
    """Only a sample of the files was read: the counts in it are estimates."""


@dataclass(frozen=True, slots=True)
class _List:
    """The patterns of a scope, with their counts in one index."""

    scope: Scope
    counts: dict[str, int]
    """Occurrences per pattern, over its variants."""
    union: int | None
    no_union: str
    """Why there is no union of occurrences."""
    missing: int
    """Queries without a count."""

    @property
    def sum(self) -> int:
        return sum(self.counts.values())

    @property
    def largest(self) -> str:
        return max(self.counts, key=self.counts.__getitem__)


def make_totals(counted: CountResult) -> list[Total]:
    """Return all statistics of each index, sums over crawl snapshots, and overlaps."""
    names = [name for name, unit in counted.units.items() if unit == "bytes"]
    totals = _of_indexes(counted, names)
    totals += _over_snapshots(totals, names)
    for overlap in (
        describe_overlaps(counted.queries) if names and counted.rule.has_overlaps else ()
    ):
        versus = overlap.other_method if overlap.other_method != overlap.method else None
        totals.append(
            Total(
                index=ALL,
                unit="bytes",
                tiers="all",
                method=overlap.method,
                versus=versus,
                statistic=overlap.relation,
                value=None,
                note=overlap.sentence,
            )
        )
    return totals + _token_totals(counted)


def _token_totals(counted: CountResult) -> list[Total]:
    """Return the statistics of each token-level index.

    N-grams of tokens have no union: which places two of them share is not known from their counts.
    """
    names = [name for name, unit in counted.units.items() if unit == "tokens"]
    totals = [
        total
        for total in _of_indexes(counted, names)
        if total.statistic not in _STATISTICS_OF_UNIONS
    ]
    rates = [
        _sum_per_million_tokens(total, counted.sizes[total.index])
        for total in totals
        if total.statistic == "sum_of_pattern_counts"
    ]
    return [*totals, *rates]


def _sum_per_million_tokens(total: Total, size: IndexSize) -> Total:
    rate = replace(total, statistic="sum_per_million_tokens")
    if total.value is None:
        return rate
    if not size.tokens:
        return replace(rate, value=None, note="the number of tokens in the index is unknown")
    return replace(rate, value=total.value / size.tokens * 1e6)


def _of_indexes(counted: CountResult, names: Sequence[str]) -> list[Total]:
    totals: list[Total] = []
    chosen = [part for whole in scopes(counted.queries) for part in (whole, *whole.by_kind)]
    estimated = {row.index for row in counted.rows if row.estimated}
    for index in names:
        unit = counted.units[index]
        lists = [_list(scope, counted.occurrences[index], counted.rule) for scope in chosen]
        of_index: list[Total] = []
        for patterns in lists:
            of_index += _of_one(index, unit, patterns, counted.sizes[index])
        for earlier, later in combinations(lists, 2):
            if _are_compared(earlier.scope, later.scope):
                of_index += _of_two(index, unit, later, earlier)
        totals += [_as_estimate(total) for total in of_index] if index in estimated else of_index
    return totals


def _as_estimate(total: Total) -> Total:
    """Return a total that says that it is an estimate, if that can be said of it."""
    if total.value is None or total.statistic not in _OF_ESTIMATES:
        return total
    return replace(total, note="; ".join(filter(None, (total.note, ESTIMATED))), estimated=True)


def _are_compared(earlier: Scope, later: Scope) -> bool:
    """Whether there are ratios: of two whole lists, or of what is of one kind in both."""
    if earlier.tiers != later.tiers or earlier.method == later.method:
        return False
    return earlier.kind == later.kind or not (earlier.is_part or later.is_part)


def _list(scope: Scope, occurrences: dict[str, int], rule: MatchRule) -> _List:
    counts = dict.fromkeys((query.pattern.text for query in scope.queries), 0)
    for query in scope.queries:
        counts[query.pattern.text] += occurrences.get(query.text, 0)
    missing = sum(query.text not in occurrences for query in scope.queries)
    union = union_of_occurrences(scope.texts, occurrences, rule)
    no_union = _NO_OVERLAP if rule.has_overlaps else NO_OVERLAP_STRINGS
    return _List(scope, counts, union, "" if union is not None else no_union, missing)


def _total_of(
    index: str, unit: Unit, scope: Scope, versus: Scope | None = None
) -> Callable[..., Total]:
    """Return what makes a total of a scope, from the statistic, its value and other fields."""

    def total(statistic: str, value: float | None, **fields: Any) -> Total:
        return Total(
            index=index,
            unit=unit,
            tiers=scope.tiers,
            method=scope.method,
            versus=None if versus is None else versus.method,
            statistic=statistic,
            value=value,
            kind=scope.kind_with(versus),
            **fields,
        )

    return total


def _of_one(index: str, unit: Unit, counted: _List, size: IndexSize) -> Iterator[Total]:
    total = _total_of(index, unit, counted.scope)
    if counted.missing:
        for statistic in _SUMMED:
            yield total(statistic, None, note=f"missing counts: {counted.missing}")
        return
    counts = np.array(list(counted.counts.values()))
    yield total("patterns", len(counts))
    yield total("patterns_without_occurrence", int((counts == 0).sum()))
    for name, quantile in _QUANTILES.items():
        yield total(f"{name}_pattern_count", float(np.quantile(counts, quantile)))
    yield total("sum_of_pattern_counts", counted.sum, note=SUM_NOTE)
    yield total("union_of_occurrences", counted.union, note=counted.no_union)
    share = counted.counts[counted.largest] / counted.sum if counted.sum else None
    yield total(
        "largest_pattern_share", share, note=counted.largest if counted.sum else "no occurrence"
    )
    for statistic, of_index, factor, of_what in (
        ("union_per_gigabyte", size.bytes, 1e9, "bytes"),
        ("union_per_million_documents", size.documents, 1e6, "documents"),
    ):
        note = counted.no_union if of_index else f"the number of {of_what} in the index is unknown"
        rate = None if counted.union is None or not of_index else counted.union / of_index * factor
        yield total(statistic, rate, note=note)


def _of_two(index: str, unit: Unit, later: _List, earlier: _List) -> Iterator[Total]:
    total = _total_of(index, unit, later.scope, versus=earlier.scope)
    if missing := later.missing + earlier.missing:
        yield total("ratio_of_sums", None, note=f"missing counts: {missing}")
        return
    without, without_earlier = later.counts[later.largest], earlier.counts[earlier.largest]
    for statistic, above, below, note in (
        ("ratio_of_sums", later.sum, earlier.sum, ""),
        ("ratio_of_unions", later.union, earlier.union, ""),
        ("ratio_without_largest", later.sum - without, earlier.sum, f"without {later.largest}"),
        ("ratio_without_largest_of_versus", later.sum, earlier.sum - without_earlier,
         f"without {earlier.largest}"),
    ):  # fmt: skip
        if above is None or below is None:
            yield total(statistic, None, note=later.no_union or earlier.no_union)
        elif not below:
            yield total(statistic, None, note=f"no occurrence of {earlier.scope.method}")
        else:
            yield total(statistic, above / below, note=note)
    counts, counts_earlier = list(later.counts.values()), list(earlier.counts.values())
    ratio = geometric_mean_ratio(counts, counts_earlier)
    yield total(
        "ratio_of_geometric_means",
        ratio.value,
        low=ratio.low,
        high=ratio.high,
        level=ratio.level,
        note=ratio.note,
    )
    yield total("probability_of_superiority", probability_of_superiority(counts, counts_earlier))


def _over_snapshots(totals: Sequence[Total], indexes: Sequence[str]) -> list[Total]:
    hosted = [find_hosted(index) for index in indexes]
    snapshots = {
        index
        for index, entry in zip(indexes, hosted, strict=True)
        if entry is not None and entry.is_crawl_snapshot
    }
    if len(snapshots) < 2:
        return []
    values: dict[tuple[str, str, str, str], list[float | int | None]] = {}
    for total in totals:
        if total.index in snapshots and total.statistic in _SUMMED:
            key = (total.tiers, total.method, total.kind, total.statistic)
            values.setdefault(key, []).append(total.value)
    return [
        Total(
            index=sum_over(len(snapshots)),
            unit="bytes",
            tiers=tiers,
            method=method,
            versus=None,
            statistic=statistic,
            value=_sum(snapshot_values),
            note=SNAPSHOTS_NOTE,
            kind=kind,
        )
        for (tiers, method, kind, statistic), snapshot_values in values.items()
    ]


def _sum(values: Sequence[float | int | None]) -> float | int | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if len(numbers) == len(values) else None
