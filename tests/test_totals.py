from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import (
    Found,
    IndexSize,
    Place,
    QueryCount,
    QueryFailure,
    Window,
    WindowFailure,
)
from ngramscan.patterns.model import Pattern, PatternSet
from ngramscan.prevalence.count import run_count
from ngramscan.prevalence.totals import SNAPSHOTS_NOTE, SUM_NOTE, Total, make_totals
from ngramscan.statistics.estimates import geometric_mean_ratio


class Known:
    """An index whose counts are given; what is not given fails."""

    def __init__(self, name: str, counts: dict[str, int], size: IndexSize) -> None:
        self.name = name
        self._counts = counts
        self._size = size
        self.asked: list[str] = []
        self.longest_context = 0

    def size(self) -> IndexSize:
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        self.asked = list(queries)
        for query in reversed(queries):  # any order is allowed
            if query in self._counts:
                yield QueryCount(query, self._counts[query], None, "api", "2026-11-20")
            else:
                yield QueryFailure(self.name, query, RemoteUnavailable("no"))

    def find(self, queries: Sequence[str]) -> Iterator[Found | QueryFailure]:
        raise NotImplementedError

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        raise NotImplementedError


class Broken(Known):
    """An index that gives up half way."""

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        yield from list(super().counts(queries))[:1]
        raise RemoteUnavailable("the line is dead")


def pattern(text: str, method: str, tier: str = "T1", kind: str = "narrative") -> Pattern:
    return Pattern(text=text, method=method, tier=tier, kind=kind)


SET = PatternSet(
    "s",
    "",
    (
        pattern("step by step", "CoT"),
        pattern("think step by step", "CoT"),
        pattern("next, we", "CoT", "T2"),
        pattern("\\begin{align}", "F", kind="latex"),
        pattern("\\end{align}", "F", kind="latex"),
        pattern("using the formula", "F", "T2"),
        pattern("the formula for", "F", "T2"),
        pattern("solve", "F", "T3"),
    ),
)
COUNTS = {
    "step by step": 100,
    "think step by step": 30,
    "next, we": 0,
    "\\begin{align}": 8,
    "\\end{align}": 7,
    "using the formula": 50,
    "the formula for": 40,
    "using the formula for": 10,
    "solve": 1000,
}


SIZE = IndexSize(documents=2_000_000, bytes=4_000_000_000)


def totals_of(
    counts: dict[str, int] = COUNTS,
    name: str = "mine",
    size: IndexSize = SIZE,
    patterns: PatternSet = SET,
) -> list[Total]:
    return make_totals(run_count(patterns.queries(), [Known(name, counts, size)]))


def find(totals: list[Total], statistic: str, method: str, tiers: str, versus: str = "") -> Total:
    (found,) = [
        total
        for total in totals
        if (total.statistic, total.method, total.tiers, total.versus or "")
        == (statistic, method, tiers, versus)
    ]
    return found


def test_rows_are_in_the_order_of_the_set_whatever_order_the_index_answers_in() -> None:
    index = Known("mine", COUNTS, IndexSize())
    counting = run_count(SET.queries(), [index])
    assert [row.query for row in counting.rows] == [p.text for p in SET.patterns]
    assert [row.occurrences for row in counting.rows] == [100, 30, 0, 8, 7, 50, 40, 1000]
    assert counting.missing == []


def test_overlaps_are_asked_only_where_totals_are_wanted() -> None:
    index = Known("mine", COUNTS, IndexSize())
    run_count(SET.queries(), [index], for_totals=False)
    assert index.asked == [p.text for p in SET.patterns]
    run_count(SET.queries(), [index])
    assert index.asked == [*[p.text for p in SET.patterns], "using the formula for"]


def test_sums_and_unions() -> None:
    totals = totals_of()
    assert find(totals, "sum_of_pattern_counts", "CoT", "T1").value == 130
    assert find(totals, "sum_of_pattern_counts", "CoT", "T1").note == SUM_NOTE
    assert find(totals, "union_of_occurrences", "CoT", "T1").value == 100
    assert find(totals, "union_of_occurrences", "F", "T1").value == 8
    assert find(totals, "union_of_occurrences", "F", "T2").value == 50 + 40 - 10
    assert find(totals, "union_of_occurrences", "F", "T1+T2").value == 8 + 80
    assert find(totals, "sum_of_pattern_counts", "F", "T1+T2").value == 105
    assert find(totals, "sum_of_pattern_counts", "F", "T3").value == 1000
    assert not [t for t in totals if t.method == "CoT" and t.tiers == "T3"]


def test_the_spread_of_a_list_and_its_largest_pattern() -> None:
    totals = totals_of()
    assert find(totals, "patterns", "CoT", "T1+T2").value == 3
    assert find(totals, "patterns_without_occurrence", "CoT", "T1+T2").value == 1
    assert find(totals, "smallest_pattern_count", "CoT", "T1+T2").value == 0
    assert find(totals, "lower_quartile_pattern_count", "CoT", "T1+T2").value == 15
    assert find(totals, "median_pattern_count", "CoT", "T1+T2").value == 30
    assert find(totals, "largest_pattern_count", "CoT", "T1+T2").value == 100
    share = find(totals, "largest_pattern_share", "CoT", "T1+T2")
    assert share.value == pytest.approx(100 / 130)
    assert share.note == "step by step"


def test_rates_are_of_the_union_and_unknown_where_the_size_is() -> None:
    totals = totals_of()
    assert find(totals, "union_per_gigabyte", "CoT", "T1").value == 25.0
    assert find(totals, "union_per_million_documents", "CoT", "T1").value == 50.0
    unknown = find(totals_of(size=IndexSize()), "union_per_gigabyte", "CoT", "T1")
    assert unknown.value is None
    assert "unknown" in unknown.note


def test_ratios_are_of_the_later_method_over_the_earlier() -> None:
    totals = totals_of()
    assert find(totals, "ratio_of_sums", "F", "T1+T2", "CoT").value == pytest.approx(105 / 130)
    assert find(totals, "ratio_of_unions", "F", "T1+T2", "CoT").value == pytest.approx(88 / 100)
    left_out = find(totals, "ratio_without_largest", "F", "T1+T2", "CoT")
    assert left_out.value == pytest.approx(55 / 130)
    assert left_out.note == "without using the formula"
    left_out = find(totals, "ratio_without_largest_of_versus", "F", "T1+T2", "CoT")
    assert left_out.value == pytest.approx(105 / 30)
    assert left_out.note == "without step by step"
    means = find(totals, "ratio_of_geometric_means", "F", "T1+T2", "CoT")
    expected = geometric_mean_ratio([8, 7, 50, 40], [100, 30, 0])
    assert (means.value, means.low, means.high) == (expected.value, expected.low, expected.high)
    superior = find(totals, "probability_of_superiority", "F", "T1+T2", "CoT")
    assert superior.value == pytest.approx((1 + 1 + 2 + 2) / 12)
    assert not [t for t in totals if t.versus == "F"]


def test_a_ratio_to_nothing_is_not_said() -> None:
    totals = totals_of(COUNTS | {"step by step": 0, "think step by step": 0})
    ratio = find(totals, "ratio_of_sums", "F", "T1", "CoT")
    assert (ratio.value, ratio.note) == (None, "no occurrence of CoT")
    assert find(totals, "largest_pattern_share", "CoT", "T1").value is None


def test_a_missing_count_makes_the_totals_it_enters_unknown_and_no_others() -> None:
    counts = {text: count for text, count in COUNTS.items() if text != "using the formula"}
    totals = totals_of(counts)
    for statistic in ("sum_of_pattern_counts", "union_of_occurrences"):
        for tiers in ("T2", "T1+T2"):
            total = find(totals, statistic, "F", tiers)
            assert (total.value, total.note) == (None, "missing counts: 1")
    assert find(totals, "ratio_of_sums", "F", "T1+T2", "CoT").value is None
    assert find(totals, "union_of_occurrences", "F", "T1").value == 8


def test_a_missing_overlap_makes_the_union_unknown_and_the_sum_not() -> None:
    counts = {text: count for text, count in COUNTS.items() if text != "using the formula for"}
    totals = totals_of(counts)
    assert find(totals, "sum_of_pattern_counts", "F", "T2").value == 90
    union = find(totals, "union_of_occurrences", "F", "T2")
    assert (union.value, union.note) == (None, "the count of an overlap is missing")
    assert (
        find(totals, "union_per_gigabyte", "F", "T2").note == "the count of an overlap is missing"
    )
    assert find(totals, "ratio_of_unions", "F", "T2", "CoT").value is None


def test_variants_count_for_their_pattern() -> None:
    patterns = PatternSet("s", "", (pattern("next, we", "CoT"), pattern("so, we", "CoT")))
    counts = {"next, we": 1, "Next, we": 10, "so, we": 5, "So, we": 0}
    counting = run_count(patterns.queries(case_variants=True), [Known("mine", counts, IndexSize())])
    totals = make_totals(counting)
    assert find(totals, "patterns", "CoT", "T1").value == 2
    assert find(totals, "largest_pattern_count", "CoT", "T1").value == 11
    assert find(totals, "union_of_occurrences", "CoT", "T1").value == 16


def test_snapshots_are_summed_with_a_warning_and_other_indexes_never() -> None:
    names = ["v2_dclm_all", "v2_cc-2025-05", "v2_cc-2025-08"]
    indexes = [Known(name, COUNTS, IndexSize()) for name in names]
    totals = make_totals(run_count(SET.queries(), indexes))
    sums = [total for total in totals if total.index == "sum over 2 crawl snapshots"]
    assert {total.note for total in sums} == {SNAPSHOTS_NOTE}
    assert find(sums, "union_of_occurrences", "CoT", "T1").value == 200
    assert {total.statistic for total in sums} == {"sum_of_pattern_counts", "union_of_occurrences"}
    alone = make_totals(run_count(SET.queries(), indexes[:2]))
    assert not [total for total in alone if total.index.startswith("sum")]


def test_a_sum_over_snapshots_with_a_missing_count_is_unknown() -> None:
    counts = {text: count for text, count in COUNTS.items() if text != "step by step"}
    indexes = [
        Known("v2_cc-2025-05", COUNTS, IndexSize()),
        Known("v2_cc-2025-08", counts, IndexSize()),
    ]
    totals = make_totals(run_count(SET.queries(), indexes))
    sums = [total for total in totals if total.index.startswith("sum over 2")]
    assert find(sums, "sum_of_pattern_counts", "CoT", "T1").value is None
    assert find(sums, "sum_of_pattern_counts", "F", "T1").value == 30


def test_an_index_that_gives_up_keeps_what_it_had_and_the_others_go_on() -> None:
    broken, whole = Broken("a", COUNTS, IndexSize()), Known("b", COUNTS, IndexSize())
    counting = run_count(SET.queries(), [broken, whole], for_totals=False)
    assert [(row.index, row.query) for row in counting.rows[:1]] == [("a", "solve")]
    assert len([row for row in counting.rows if row.index == "b"]) == 8
    assert {str(missing.error) for missing in counting.missing} == {"the line is dead"}
    assert len(counting.missing) == 7
