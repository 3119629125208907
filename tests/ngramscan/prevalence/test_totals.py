from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import IndexSize, QueryCount, QueryFailure
from ngramscan.patterns.model import Pattern, PatternSet
from ngramscan.prevalence.count import run_count
from ngramscan.prevalence.failures import describe_missing
from ngramscan.prevalence.totals import Total, make_totals
from ngramscan.statistics.estimates import geometric_mean_ratio
from tests.support.cases import objects
from tests.support.known_counts import COUNTS, SET, Known


def pattern(text: str, method: str, kind: str = "narrative") -> Pattern:
    return Pattern(text=text, method=method, tier="T1", kind=kind)


SIZE = IndexSize(documents=2_000_000, bytes=4_000_000_000)


def totals_of(
    counts: dict[str, int] = COUNTS,
    name: str = "mine",
    size: IndexSize = SIZE,
    patterns: PatternSet = SET,
) -> list[Total]:
    return make_totals(run_count(patterns.queries(), [Known(name, counts, size)]))


def find(
    totals: list[Total],
    statistic: str,
    method: str,
    tiers: str,
    versus: str = "",
    kind: str | None = None,
) -> Total:
    """Return a total of the whole list, or of one kind of it."""
    found = {
        total.kind: total
        for total in reversed(totals)
        if (total.statistic, total.method, total.tiers, total.versus or "")
        == (statistic, method, tiers, versus)
    }
    return found[[*found][-1] if kind is None else kind]


def name_of(case: dict[str, Any]) -> str:
    """Return the words that tell a case apart."""
    names = (case[name] for name in ("method", "tiers", "kind", "versus", "statistic"))
    return " ".join(filter(None, names))


@pytest.mark.parametrize("case", objects(Path(__file__).with_suffix(".jsonl")), ids=name_of)
def test_totals_done_by_hand(case: dict[str, Any]) -> None:
    found = find(
        totals_of(), case["statistic"], case["method"], case["tiers"], case["versus"], case["kind"]
    )
    assert found.value == pytest.approx(case["value"])
    if "note" in case:
        assert found.note == case["note"]


def test_totals_of_methods_are_compared_with_those_of_the_first() -> None:
    totals = totals_of()
    means = find(totals, "ratio_of_geometric_means", "F", "T1+T2", "CoT")
    expected = geometric_mean_ratio([8, 7, 50, 40], [100, 30, 0])
    assert (means.value, means.low, means.high) == (expected.value, expected.low, expected.high)
    # No total of tiers a method does not have, and no ratio of the earlier method to the later.
    assert not [t for t in totals if (t.method, t.tiers) == ("CoT", "T3") or t.versus == "F"]
    unknown = find(totals_of(size=IndexSize()), "union_per_gigabyte", "CoT", "T1")
    assert unknown.value is None
    assert "unknown" in unknown.note


def test_totals_by_kind_compare_what_is_of_one_kind() -> None:
    totals = totals_of()
    kinds = {
        (t.method, t.tiers, t.versus, t.kind) for t in totals if t.tiers == "T1+T2" and not t.note
    }
    assert kinds == {
        ("CoT", "T1+T2", None, "narrative"),  # all of it is, so it is there once
        *(("F", "T1+T2", None, kind) for kind in ("", "narrative", "latex")),
        *(("F", "T1+T2", "CoT", kind) for kind in ("", "narrative")),
    }
    identities = [(t.method, t.tiers, t.versus, t.kind, t.statistic) for t in totals if not t.note]
    assert len(set(identities)) == len(identities)


def test_a_list_of_several_kinds_may_hide_overlaps_of_one_of_them() -> None:
    mixed = PatternSet(
        "mixed",
        "",
        (
            pattern("the formula", "A"),
            pattern("formula for", "A"),
            pattern("formula", "A", kind="code"),  # both others contain it
            pattern("so that", "B"),
        ),
    )
    counts = {"the formula": 9, "formula for": 8, "formula": 20, "so that": 26}
    totals = totals_of(counts | {"the formula for": 4}, patterns=mixed)
    assert find(totals, "union_of_occurrences", "A", "T1").value == 20
    assert find(totals, "union_of_occurrences", "A", "T1", "", "narrative").value == 9 + 8 - 4
    assert find(totals, "ratio_of_unions", "B", "T1", "A", "narrative").value == 2
    assert {(t.method, t.versus) for t in totals if t.statistic == "ratio_of_sums"} == {("B", "A")}


def test_a_missing_overlap_makes_the_union_unknown_and_the_sum_not() -> None:
    counts = {text: count for text, count in COUNTS.items() if text != "using the formula for"}
    totals = totals_of(counts)
    assert find(totals, "sum_of_pattern_counts", "F", "T2").value == 90
    union = find(totals, "union_of_occurrences", "F", "T2")
    assert (union.value, union.note) == (None, "the count of an overlap is missing")
    assert find(totals, "union_per_gigabyte", "F", "T2").note == union.note
    assert find(totals, "ratio_of_unions", "F", "T2", "CoT").value is None


def test_lost_overlaps_are_told_as_such() -> None:
    lost = [QueryFailure("mine", text, RemoteUnavailable("no")) for text in ("a b", "b c")]
    [line] = describe_missing(lost, SET.queries(), 1)
    assert str(line) == "no; the counts of 2 overlaps are missing"


def test_overlaps_are_asked_only_where_totals_are_wanted() -> None:
    index = Known("mine", COUNTS, IndexSize())
    run_count(SET.queries(), [index], for_totals=False)
    assert index.asked == [p.text for p in SET.patterns]
    run_count(SET.queries(), [index])
    assert index.asked == [*[p.text for p in SET.patterns], "using the formula for"]


def test_a_ratio_to_nothing_is_not_said() -> None:
    totals = totals_of(COUNTS | {"step by step": 0, "think step by step": 0})
    ratio = find(totals, "ratio_of_sums", "F", "T1", "CoT")
    assert (ratio.value, ratio.note) == (None, "no occurrence of CoT")
    assert find(totals, "largest_pattern_share", "CoT", "T1").value is None


def test_a_missing_count_makes_only_the_totals_it_enters_unknown() -> None:
    counts = {text: count for text, count in COUNTS.items() if text != "using the formula"}
    totals = totals_of(counts)
    entered = [
        find(totals, statistic, "F", tiers)
        for statistic in ("sum_of_pattern_counts", "union_of_occurrences")
        for tiers in ("T2", "T1+T2")
    ]
    assert {(total.value, total.note) for total in entered} == {(None, "missing counts: 1")}
    assert find(totals, "ratio_of_sums", "F", "T1+T2", "CoT").value is None
    assert find(totals, "union_of_occurrences", "F", "T1").value == 8


def test_variants_count_for_their_pattern() -> None:
    patterns = PatternSet("s", "", (pattern("next, we", "CoT"), pattern("so, we", "CoT")))
    counts = {"next, we": 1, "Next, we": 10, "so, we": 5, "So, we": 0}
    counting = run_count(patterns.queries(case_variants=True), [Known("mine", counts, IndexSize())])
    totals = make_totals(counting)
    assert find(totals, "patterns", "CoT", "T1").value == 2
    assert find(totals, "largest_pattern_count", "CoT", "T1").value == 11
    assert find(totals, "union_of_occurrences", "CoT", "T1").value == 16


class Broken(Known):
    """An index that gives up half way."""

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        yield from list(super().counts(queries))[:1]
        raise RemoteUnavailable("the line is dead")


def test_an_index_that_gives_up_keeps_what_it_had() -> None:
    broken, whole = Broken("a", COUNTS, IndexSize()), Known("b", COUNTS, IndexSize())
    counting = run_count(SET.queries(), [broken, whole], for_totals=False)
    assert [(row.index, row.query) for row in counting.rows[:1]] == [("a", "solve")]
    assert len([row for row in counting.rows if row.index == "b"]) == 8
    assert {str(missing.error) for missing in counting.missing} == {"the line is dead"}
    assert len(counting.missing) == 7
