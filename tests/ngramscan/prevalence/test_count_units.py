"""Counts over bytes and over tokens in one run: no sum, total, ratio, figure or sentence mixes."""

from dataclasses import replace
from typing import Any

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import Index, IndexSize
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.count import CountResult, CountRow, run_count
from ngramscan.prevalence.totals import make_totals
from ngramscan.reporting.charts.panels import draw
from ngramscan.reporting.keyed_counts import read_counts
from ngramscan.reporting.page.results import Results, read_results
from ngramscan.reporting.rows import to_frame
from ngramscan.reporting.sentences.assemble import sentences
from ngramscan.reporting.summaries.assemble import summaries
from tests.support.known_counts import Known
from tests.support.made_tokens import MadeTokens

PHRASES = {"ab": "A", "d": "A", "e": "B"}
IN_BYTES = {"ab": 10, "d": 7, "e": 4}
MADE: dict[str, list[tuple[int, ...]]] = {"ab": [(1, 2)], "d": [(4,)], "e": [(6,)]}
DOCUMENTS = [[[1, 2, 3, 9, 1, 2], [4, 9, 5, 4]], [[9, 4, 6]]]
QUERIES = [
    Query(text, Pattern(text, method, "T1", "narrative")) for text, method in PHRASES.items()
]
SIZE = IndexSize(documents=10, bytes=10**9)


def count_both() -> CountResult:
    indexes: list[Index] = [MadeTokens(DOCUMENTS, MADE), Known("scan:made", IN_BYTES, SIZE)]
    return run_count(QUERIES, indexes)


def results_of_one_name(rows: list[Any]) -> Results:
    """Return rows as if both indexes had the same name."""
    renamed = [replace(row, index="corpus") for row in rows]
    return read_results(to_frame(renamed, type(renamed[0])))


def test_rows_have_the_columns_of_their_unit() -> None:
    by_unit = {row.unit: row for row in count_both().rows if row.query == "ab"}
    of_bytes, of_tokens = by_unit["bytes"], by_unit["tokens"]
    assert (of_bytes.occurrences, of_bytes.per_gigabyte) == (10, 10.0)
    only_tokens = ("occurrences_after_space", "tokens", "per_million_tokens")
    assert [getattr(of_bytes, name) for name in only_tokens] == [None, None, None]
    assert (of_tokens.occurrences, of_tokens.tokens) == (2, "1 2")
    assert not of_bytes.tokens_are_bytes
    only_bytes = ("documents", "bytes", "per_gigabyte", "per_million_documents")
    assert [getattr(of_tokens, name) for name in only_bytes] == [None] * 4


def test_totals_are_those_of_one_unit() -> None:
    totals = make_totals(count_both())
    known = {
        (total.unit, total.method): total.value
        for total in totals
        if total.statistic == "sum_of_pattern_counts"
    }
    assert known == {
        ("bytes", "A"): 17,
        ("bytes", "B"): 4,
        ("tokens", "A"): 5,
        ("tokens", "B"): 1,
    }
    ratios = {total.unit: total.value for total in totals if total.statistic == "ratio_of_sums"}
    assert ratios == pytest.approx({"bytes": 4 / 17, "tokens": 1 / 5})
    unions = {total.unit for total in totals if "union" in total.statistic}
    assert unions == {"bytes"}
    assert {total.index for total in totals if total.unit == "tokens"} == {"tokens:made"}


def test_sums_over_a_name_that_both_units_have_are_of_one_unit() -> None:
    counts = results_of_one_name(count_both().rows)
    columns = [table.columns for table in summaries(counts)]
    (_, of_tokens) = columns
    assert columns[0]["occurrences"] == ["10", "7", "4"]
    assert [*of_tokens] == ["phrase", "method", "tier", "per million tokens"]
    said = [sentence.text for sentence in sentences(counts)]
    assert any("“ab” is the most frequent of 3 phrases: 10 times" in text for text in said)
    assert any("As n-grams of tokens, “d”" in text and "occurs 3 times" in text for text in said)


def test_totals_of_a_name_that_both_units_have_are_in_two_tables() -> None:
    totals = results_of_one_name(make_totals(count_both()))
    of_bytes, *_, of_tokens = (table.columns for table in summaries(totals))
    assert of_bytes["occurrences"] == ["17", "4"]
    assert [*of_tokens] == ["tier", "method", "per million tokens"]
    text = " ".join(sentence.text for sentence in sentences(totals))
    assert "The ratio of geometric means, per phrase, B : A" in text
    assert "The ratio of geometric means, over n-grams of tokens, B : A" in text


def test_figures_are_of_one_unit() -> None:
    of_bytes, of_tokens = draw(results_of_one_name(count_both().rows))
    assert "occurrences per gigabyte" in str(of_bytes.svg)
    assert of_tokens.title == "Counts, over tokens · corpus"
    assert "token occurrences" in str(of_tokens.svg)
    (figure,) = draw(results_of_one_name(make_totals(count_both())))
    assert "2 marks" in str(figure.svg)


def test_counts_of_two_units_are_never_added() -> None:
    rows = [replace(row, index="corpus") for row in count_both().rows]
    with pytest.raises(InputError, match="counts of one index in two units"):
        read_counts(to_frame(rows, CountRow), "pattern")
