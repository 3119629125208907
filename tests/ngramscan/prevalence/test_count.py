"""Rows of counts: rates by hand, limits of samples, and what is missing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import IndexSize, QueryCount, QueryFailure
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.count import CountRow, run_count
from ngramscan.prevalence.totals import Total, make_totals
from ngramscan.rows import Note
from ngramscan.statistics.estimates import Estimate, no_interval
from tests.support.known_counts import COUNTS, SET, Known
from tests.support.text_index import TextIndex

SIZE = IndexSize(documents=2_000_000, bytes=4_000_000_000)
STEPS = Query("Step by step", Pattern("step by step", "CoT", "T1", "narrative"))
ROW = CountRow(
    index="mine",
    unit="bytes",
    method="CoT",
    tier="T1",
    kind="narrative",
    pattern="step by step",
    query="Step by step",
    occurrences=900,
    documents=None,
    source="api",
    asked_at="2026-11-20",
    bytes=4_000_000_000,
    per_gigabyte=225,  # 900 / 4
    per_million_documents=450,  # 900 / 2
)


class Sampled(TextIndex):
    """An index that read a sample of files."""

    def __init__(self, count: QueryCount) -> None:
        super().__init__()
        self._count = count

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        for _ in queries:
            yield self._count

    def size(self) -> IndexSize:
        return SIZE


def test_a_row_has_the_names_of_its_query_and_rates_by_the_index_size() -> None:
    index = Known("mine", {"Step by step": 900}, SIZE)
    assert run_count([STEPS], [index]).rows == [ROW]


def test_an_index_of_unknown_size_has_no_rates() -> None:
    index = Known("mine", {"Step by step": 900}, IndexSize())
    unknown = replace(ROW, bytes=None, per_gigabyte=None, per_million_documents=None)
    assert run_count([STEPS], [index]).rows == [unknown]


def test_counts_of_a_sample_have_the_limits_of_their_estimates() -> None:
    occurrences = Estimate(899.6, 700.5, 1100.25, 0.9)
    documents = Estimate(300.2, 250.5, 350.75, 0.9)
    notes = (Note("a note", "index"),)
    count = QueryCount("Step by step", 900, 300, "scan", "t", occurrences, documents, notes)
    (row,) = run_count([STEPS], [Sampled(count)]).rows
    assert (row.occurrences, row.documents, row.estimated) == (900, 300, True)
    assert (row.occurrences_low, row.occurrences_high) == (700.5, 1100.25)
    assert (row.documents_low, row.documents_high) == (250.5, 350.75)
    assert (row.level, row.note, row.source, row.asked_at) == (0.9, "a note", "scan", "t")


@pytest.mark.parametrize("column", ["occurrences", "documents"])
def test_a_row_of_an_interval_that_is_not_trusted_says_so(column: str) -> None:
    occurrences, documents = (
        Estimate(9, 5, 20, 0.95, is_trusted=name != column) for name in ("occurrences", "documents")
    )
    count = QueryCount("Step by step", 9, 9, "scan", "t", occurrences, documents)
    (row,) = run_count([STEPS], [Sampled(count)]).rows
    assert not row.is_trusted
    (exact,) = run_count([STEPS], [Known("mine", {"Step by step": 900}, SIZE)]).rows
    assert exact.is_trusted


def test_a_sample_without_interval_has_no_level() -> None:
    estimate = no_interval(900, 0.95, "too few files")
    count = QueryCount("Step by step", 900, 900, "scan", "t", estimate, estimate)
    (row,) = run_count([STEPS], [Sampled(count)]).rows
    assert (row.estimated, row.occurrences_low, row.level) == (True, None, None)


def test_a_query_that_failed_has_no_row_and_is_missing_with_its_reason() -> None:
    index = Known("mine", {"Step by step": 900}, SIZE)
    other = Query("other", Pattern("other", None, None, None))
    found = run_count([STEPS, other], [index])
    assert found.rows == [ROW]
    assert [(failure.index, failure.query) for failure in found.missing] == [("mine", "other")]
    assert isinstance(found.missing[0].error, RemoteUnavailable)


def sum_of_snapshots(missing: str | None) -> dict[tuple[str, str, str], Total]:
    """Return the sums over two crawl snapshots; one of them may lack the count of a query."""
    second = {query: 2 * count for query, count in COUNTS.items() if query != missing}
    indexes = [Known("v2_cc-2025-05", COUNTS, SIZE), Known("v2_cc-2025-08", second, SIZE)]
    totals = make_totals(run_count(SET.queries(), indexes))
    return {
        (total.method, total.tiers, total.statistic): total
        for total in totals
        if total.index == "sum over 2 crawl snapshots"
    }


def test_totals_of_crawl_snapshots_are_added() -> None:
    sums = sum_of_snapshots(missing=None)
    # 130 in one, twice that in the other; without the overlap 100 and 200.
    assert sums["CoT", "T1", "sum_of_pattern_counts"].value == 390
    assert sums["CoT", "T1", "union_of_occurrences"].value == 300


def test_a_sum_over_snapshots_is_unknown_if_one_of_them_is() -> None:
    sums = sum_of_snapshots(missing="think step by step")
    assert sums["CoT", "T1", "sum_of_pattern_counts"].value is None
    assert sums["F", "T2", "sum_of_pattern_counts"].value == 270
