"""Count rows → what they say of a method: totals, rates, ratios, with what they can't say.

A sum over patterns that overlap has no unit, and a ratio of two sums depends on how long the lists
are and on their largest patterns. So each comes beside what is sturdier: the union of occurrences,
the sum without the largest pattern, the ratio of geometric means with its interval. The reasons and
formulas are in docs/totals.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.catalog import find_hosted
from ngramscan.patterns.model import Query, scopes
from ngramscan.patterns.overlaps import describe_overlaps, union_of_occurrences
from ngramscan.prevalence.count import Counting
from ngramscan.statistics.estimates import (
    Estimate,
    geometric_mean_ratio,
    probability_of_superiority,
)

SUM_NOTE = "sum of pattern counts, overlaps counted repeatedly"
SNAPSHOTS_NOTE = "snapshots share pages: this counts page versions, not pages"


@dataclass(frozen=True, slots=True)
class Total:
    """One statistic of one method, or of one method against another, in one index."""

    index: str
    tiers: str
    method: str
    versus: str | None
    """The method it is compared with; None: a statistic of one method."""
    statistic: str
    value: float | int | None
    """None: can't be said; `note` says why."""
    low: float | None = None
    high: float | None = None
    level: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class _List:
    """The patterns of one method and some tiers in one index, with their counts."""

    index: str
    tiers: str
    method: str
    counts: dict[str, int] | None
    """Occurrences per pattern, over its variants; None: one is missing."""
    union: int | None
    missing: int

    @property
    def sum(self) -> int | None:
        return None if self.counts is None else sum(self.counts.values())

    @property
    def largest(self) -> str:
        assert self.counts is not None
        return max(self.counts, key=self.counts.__getitem__)


def make_totals(counting: Counting) -> list[Total]:
    """Return all statistics of each index, sums over crawl snapshots, and what overlaps."""
    totals: list[Total] = []
    for index, occurrences in counting.occurrences.items():
        lists = _lists(index, counting.queries, occurrences)
        totals += [total for one in lists for total in _of_one(one, counting.sizes[index])]
        totals += [total for pair in _pairs(lists) for total in _of_two(*pair)]
    totals += _over_snapshots(totals, counting)
    return totals + [
        Total("all", "all", overlap.method, versus, overlap.relation, None, note=overlap.sentence)
        for overlap in describe_overlaps(counting.queries)
        for versus in [overlap.other_method if overlap.other_method != overlap.method else None]
    ]


def _lists(index: str, queries: Sequence[Query], occurrences: dict[str, int]) -> list[_List]:
    lists = []
    for scope in scopes(queries):
        missing = sum(query.text not in occurrences for query in scope.queries)
        lists.append(
            _List(
                index=index,
                tiers=scope.tiers,
                method=scope.method,
                counts=None if missing else _per_pattern(scope.queries, occurrences),
                union=union_of_occurrences(scope.texts, occurrences),
                missing=missing,
            )
        )
    return lists


def _per_pattern(queries: Iterable[Query], occurrences: dict[str, int]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for query in queries:
        text = query.pattern.text
        counts[text] = counts.get(text, 0) + occurrences[query.text]
    return counts


def _pairs(lists: Sequence[_List]) -> Iterator[tuple[_List, _List]]:
    """Yield each two methods of the same tiers: the later in the pattern set over the earlier."""
    for earlier, later in combinations(lists, 2):
        if earlier.tiers == later.tiers:
            yield later, earlier


# Statistics of one method


def _of_one(one: _List, size: IndexSize) -> Iterator[Total]:
    def total(statistic: str, value: float | int | None, note: str = "") -> Total:
        return Total(one.index, one.tiers, one.method, None, statistic, value, note=note)

    if one.counts is None:
        note = f"missing counts: {one.missing}"
        yield total("sum_of_pattern_counts", None, note)
        yield total("union_of_occurrences", None, note)
        return
    counts = np.array(list(one.counts.values()))
    yield total("patterns", len(counts))
    yield total("patterns_without_occurrence", int((counts == 0).sum()))
    for name, quantile in _QUANTILES.items():
        yield total(f"{name}_pattern_count", float(np.quantile(counts, quantile)))
    yield total("sum_of_pattern_counts", one.sum, SUM_NOTE)
    union_note = "" if one.union is not None else "the count of an overlap is missing"
    yield total("union_of_occurrences", one.union, union_note)
    share = one.counts[one.largest] / one.sum if one.sum else None
    yield total("largest_pattern_share", share, one.largest if one.sum else "no occurrence")
    yield total("union_per_gigabyte", *_rate(one.union, size.bytes, 1e9, "bytes"))
    yield total("union_per_million_documents", *_rate(one.union, size.documents, 1e6, "documents"))


_QUANTILES = {
    "smallest": 0.0,
    "lower_quartile": 0.25,
    "median": 0.5,
    "upper_quartile": 0.75,
    "largest": 1.0,
}


def _rate(count: int | None, size: int | None, unit: float, what: str) -> tuple[float | None, str]:
    if not size:
        return None, f"the number of {what} in the index is unknown"
    if count is None:
        return None, "the count of an overlap is missing"
    return count / size * unit, ""


# Statistics of one method against another


def _of_two(one: _List, other: _List) -> Iterator[Total]:
    def total(statistic: str, value: float | None, note: str = "") -> Total:
        return Total(one.index, one.tiers, one.method, other.method, statistic, value, note=note)

    if one.counts is None or other.counts is None:
        yield total("ratio_of_sums", None, f"missing counts: {one.missing + other.missing}")
        return
    one_sum, other_sum = sum(one.counts.values()), sum(other.counts.values())
    yield total("ratio_of_sums", *_ratio(one_sum, other_sum, other.method))
    yield total("ratio_of_unions", *_ratio(one.union, other.union, other.method))
    for statistic, a, b, left_out in (
        ("ratio_without_largest", one_sum - one.counts[one.largest], other_sum, one.largest),
        ("ratio_without_largest_of_versus", one_sum, other_sum - other.counts[other.largest],
         other.largest),
    ):  # fmt: skip
        value, note = _ratio(a, b, other.method)
        yield total(statistic, value, note or f"without {left_out}")
    counts, others = list(one.counts.values()), list(other.counts.values())
    estimate: Estimate = geometric_mean_ratio(counts, others)
    yield Total(
        one.index,
        one.tiers,
        one.method,
        other.method,
        "ratio_of_geometric_means",
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.level,
        estimate.note,
    )
    yield total("probability_of_superiority", probability_of_superiority(counts, others))


def _ratio(a: int | None, b: int | None, other_method: str) -> tuple[float | None, str]:
    if a is None or b is None:
        return None, "the count of an overlap is missing"
    if not b:
        return None, f"no occurrence of {other_method}"
    return a / b, ""


# Sums over snapshots


def _over_snapshots(totals: Sequence[Total], counting: Counting) -> list[Total]:
    snapshots = [index for index in counting.occurrences if _is_snapshot(index)]
    if len(snapshots) < 2:
        return []
    sums: dict[tuple[str, str, str], list[float | int | None]] = {}
    for total in totals:
        if total.index in snapshots and total.statistic in _SUMMED:
            key = (total.tiers, total.method, total.statistic)
            sums.setdefault(key, []).append(total.value)
    return [
        Total(
            f"sum over {len(snapshots)} crawl snapshots",
            *(tiers, method, None, statistic),
            None if None in values else sum(value for value in values if value is not None),
            note=SNAPSHOTS_NOTE,
        )
        for (tiers, method, statistic), values in sums.items()
    ]


_SUMMED = {"sum_of_pattern_counts", "union_of_occurrences"}


def _is_snapshot(index: str) -> bool:
    hosted = find_hosted(index)
    return hosted is not None and hosted.is_crawl_snapshot
