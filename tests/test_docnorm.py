"""Documents estimated from draws, against documents that were counted."""

from __future__ import annotations

import hashlib
import json
import math
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ngramscan.corpora import open_corpus
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow, run_docnorm
from ngramscan.prevalence.draws import DocnormOptions, Estimator
from ngramscan.progress import Progress
from tests.support import corpus_files, oracle
from tests.support.sizes import sets
from tests.support.text_index import TextIndex

N_DOCUMENTS, CONTEXT = 60, 1500
WORDS = ["return", "import ", "def ", "for ", "raise ", "class ", "None", "True", "except", "self"]
SECOND_METHOD = {"raise ", "class ", "except"}


def query(text: str, method: str = "A", tier: str = "T1") -> Query:
    return Query(text, Pattern(text, method, tier, "code"))


def norm(
    index: TextIndex | ScanIndex,
    *queries: Query | str,
    options: DocnormOptions | None = None,
) -> DocnormResult[DocnormRow]:
    asked = [query(one) if isinstance(one, str) else one for one in queries]
    return run_docnorm(asked, [index], options or DocnormOptions())


def limits(row: DocnormRow) -> tuple[int, int]:
    assert row.documents_low is not None
    assert row.documents_high is not None
    return row.documents_low, row.documents_high


def row_of(result: DocnormResult[DocnormRow], pattern: str) -> DocnormRow:
    (row,) = [row for row in result.rows if row.pattern == pattern]
    return row


# The intervals cover what was counted


@pytest.fixture(scope="module")
def documents() -> list[str]:
    """Return sources of Python's own library, in an order that mixes them."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in root.rglob("*.py") if "site-packages" not in path.parts]
    paths.sort(key=lambda path: hashlib.sha256(str(path.relative_to(root)).encode()).digest())
    chosen = [path.read_text(encoding="utf-8", errors="ignore") for path in paths[:N_DOCUMENTS]]
    assert sum(len(text) > 2 * CONTEXT for text in chosen) > N_DOCUMENTS / 4
    return chosen


@pytest.fixture(scope="module")
def real(documents: list[str]) -> TextIndex:
    """Return the documents in two shards, and a third in which nothing is found."""
    half = len(documents) // 2
    return TextIndex(documents[:half], documents[half:], ["0 1 2", "3"])


@pytest.mark.parametrize("estimator", ["combined", "size-bias", "first"])
def test_intervals_cover_the_counted_documents(
    real: TextIndex, documents: list[str], estimator: Estimator
) -> None:
    queries = [query(word, "B" if word in SECOND_METHOD else "A") for word in WORDS]
    truth = {word: oracle.union_documents([word], documents) for word in WORDS}
    for name in "AB":
        own = [one.text for one in queries if one.pattern.method == name]
        truth[name] = oracle.union_documents(own, documents)
    hits: dict[str, list[bool]] = {"pattern": [], "documents": [], "ratio_of_documents": []}
    for seed in range(1, sets(3) + 1):
        options = DocnormOptions(estimator=estimator, seed=seed, context=CONTEXT)
        result = norm(real, *queries, options=options)
        assert not result.missing
        for row in result.rows:
            low, high = limits(row)
            hits["pattern"].append(low <= truth[row.pattern] <= high)
        for total in result.totals:
            if total.statistic in hits:
                expected = truth["B"] / truth["A"] if total.versus else truth[total.method]
                covers = (total.low or 0) <= expected <= (total.high or math.inf)
                hits[total.statistic].append(covers)
    for found in hits.values():
        assert np.mean(found) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / len(found))


# What the rows say


def test_no_occurrence_is_no_document() -> None:
    row = row_of(norm(TextIndex(["a b", "b c"], ["c"]), "zebra"), "zebra")
    assert (row.occurrences, row.draws, row.documents) == (0, 0, 0)
    assert (row.documents_low, row.documents_high) == (0, 0)
    assert row.occurrences_per_document is None
    assert (row.estimator, row.truncated_share) == ("exact", None)


def test_all_occurrences_are_looked_at_where_there_are_few() -> None:
    index = TextIndex(["key " * 30, "a key", "key key", "none"], ["none"], ["b key"])
    row = row_of(norm(index, "key"), "key")
    assert (row.occurrences, row.draws, row.documents) == (34, 34, 4)
    assert (limits(row), row.estimator) == ((4, 4), "exact")
    assert row.occurrences_per_document == 34 / 4
    assert (row.unique_documents, row.standard_error) == (4, 0)
    # Exact, though windows are truncated.
    long = ("key" + "." * 6000) * 12
    row = row_of(norm(TextIndex([long, long, "key"]), "key"), "key")
    assert (row.documents, row.estimator, row.truncated_share) == (3, "exact", 24 / 25)


def test_a_pattern_whose_every_window_is_truncated_has_wide_bounds() -> None:
    """No start of a document is ever seen in front of a first occurrence."""
    index = TextIndex(["." * 1500 + "key" + "." * 1500 for _ in range(300)])
    estimators: tuple[Estimator, ...] = ("combined", "first", "size-bias")
    for estimator in estimators:
        options = DocnormOptions(draws=100, estimator=estimator, context=1000)
        row = row_of(norm(index, "key", options=options), "key")
        assert row.truncated_share == 1
        assert limits(row)[0] <= 300 == limits(row)[1]
        if estimator != "size-bias":
            # Each draw may be the first of its document, and may not; those seen are there.
            assert limits(row) == (row.unique_documents, 300)
            assert "documents seen in part" in row.note


@pytest.mark.parametrize("estimator", ["combined", "first"])
def test_long_documents_are_counted_by_their_first_occurrence(estimator: Estimator) -> None:
    """Documents of 60,000 bytes, whose first occurrence is near their start: nothing is open."""
    texts = [("key" + "." * 5997) * 10 for _ in range(50)]
    options = DocnormOptions(estimator=estimator)
    row = row_of(norm(TextIndex(texts[:20], texts[20:]), "key", options=options), "key")
    assert (row.occurrences, row.truncated_share) == (500, 1)
    low, high = limits(row)
    assert low <= 50 <= high
    assert high / low < 2.5
    assert "seen in part" not in row.note


def test_patterns_of_any_script_are_estimated() -> None:
    random = np.random.default_rng(1)
    words = ["แม่น้ำ", "สมการ", "答え", "naïve", "x", "🎉"]
    texts = [" ".join(random.choice(words, 300)) for _ in range(12)]
    options = DocnormOptions(context=500)
    result = norm(TextIndex(texts[:6], texts[6:]), *words, options=options)
    assert [row.pattern for row in result.rows] == words
    for row in result.rows:
        assert row.occurrences == sum(oracle.occurrences_fast(row.pattern, t) for t in texts)
        assert row.truncated_share
        assert limits(row)[0] <= 12 <= limits(row)[1]


def test_few_draws_get_the_guaranteed_interval_and_say_so(real: TextIndex) -> None:
    few = row_of(norm(real, "return", options=DocnormOptions(draws=29)), "return")
    many = row_of(norm(real, "return"), "return")
    assert "guaranteed" in few.note
    assert "guaranteed" not in many.note
    assert limits(few)[1] - limits(few)[0] > limits(many)[1] - limits(many)[0]


def test_no_more_documents_than_the_index_has() -> None:
    texts = ["key word " * (1 + number % 3 * 20) for number in range(40)]
    options = DocnormOptions(draws=29)
    result = norm(TextIndex(texts), "key", query("word", "B"), options=options)
    for row in result.rows:
        assert limits(row)[1] == 40, "the guaranteed interval reaches further"
    for total in result.totals:
        if total.statistic == "documents":
            assert total.high == 40


def test_a_large_part_is_drawn_without_replacement() -> None:
    options = DocnormOptions(draws=300, keep_draws=True)
    result = norm(TextIndex(["key " * 4] * 100), "key", options=options)
    row = result.rows[0]
    assert "without replacement" in row.note
    assert len({(draw.shard, draw.rank) for draw in result.drawn}) == 300
    assert limits(row)[0] <= 100 <= limits(row)[1]


def test_the_ratio_of_the_paper_is_one_where_the_truth_is_fifteen() -> None:
    index = TextIndex(["key " * 15] * 2000)
    paper = DocnormOptions(draws=100, estimator="unique")
    row, ours = norm(index, "key", options=paper).rows[0], norm(index, "key").rows[0]
    assert row.unique_documents is not None
    assert row.occurrences_per_document == 100 / row.unique_documents < 1.1
    assert row.documents_lower_estimate > 25_000
    assert limits(row)[0] <= 2000 < limits(row)[1] == 30_000
    assert "coinciding pairs: says nothing about occurrences per document" in row.note
    assert ours.documents == 2000
    assert ours.occurrences_per_document == pytest.approx(15)


def test_a_row_says_that_its_width_is_that_of_the_added_draw() -> None:
    texts = ["key " * 15 + "word " * (1 + 40 // (1 + n % 40)) for n in range(400)]
    texts += ["neither"] * 20_000  # so that the number of documents is no limit
    result = norm(TextIndex(texts), "key", query("word", "B"))
    said = "more than half of the interval's width comes from one added draw"
    same, varied = (row_of(result, text) for text in ("key", "word"))
    assert said in same.note
    assert said not in varied.note
    assert limits(same)[0] < 400 < limits(same)[1]
    notes = {(total.method, total.statistic): total.note for total in result.totals}
    assert said in notes["A", "documents"]
    assert said in notes["A", "occurrences_per_document"]
    assert notes["B", "documents"] == ""


def test_rows_of_a_pattern_do_not_depend_on_the_others(real: TextIndex) -> None:
    alone = norm(real, "return").rows[0]
    assert row_of(norm(real, "True", "return", "None"), "return") == alone
    assert norm(real, "return", options=DocnormOptions(seed=2)).rows[0] != alone


def test_the_draws_are_there_to_be_looked_at() -> None:
    long = "é" * 9000 + " key " + "é" * 9000
    options = DocnormOptions(draws=40, keep_draws=True)
    result = norm(TextIndex([long] * 30, ["a key key"] * 30), "key", options=options)
    assert [draw.draw for draw in result.drawn] == list(range(1, 41))
    for draw in result.drawn:
        assert draw.text.encode().startswith(b"key", draw.text_offset)
        if draw.shard == 0:
            assert (draw.truncated, draw.offset, draw.document_bytes) == (True, None, 36_005)
        else:
            assert not draw.truncated
            assert draw.offset in {2, 6}
        assert json.loads(draw.metadata)["shard"] == draw.shard
    share = sum(draw.truncated for draw in result.drawn) / 40
    assert result.rows[0].truncated_share == share
    assert norm(TextIndex(["key"]), "key").drawn == []


# Planning


def test_a_target_draws_as_many_as_it_needs_and_no_more_than_allowed() -> None:
    random = np.random.default_rng(2)
    counts = zip(random.geometric(1 / 15, 2000), random.geometric(1 / 5, 2000), strict=True)
    index = TextIndex(["key " * int(often) + "word " * int(seldom) for often, seldom in counts])
    drawn = []
    for target in (0.3, 0.15):
        before = index.looked_at
        rows = norm(
            index, "key", "word", options=DocnormOptions(target=target, max_draws=1500)
        ).rows
        for row in rows:
            low, high = limits(row)
            assert (high - low) / 2 / row.documents_lower_estimate < 1.35 * target
        drawn.append([row.draws or 0 for row in rows])
        # Draws of the pilot are not looked at again.
        assert index.looked_at - before <= sum(drawn[-1])
    assert all(100 <= few < many for few, many in zip(*drawn, strict=True))
    for most in (250, 50):
        options = DocnormOptions(target=0.01, max_draws=most)
        assert norm(index, "key", options=options).rows[0].draws == most
    few = TextIndex(["a key"] * 3)
    assert norm(few, "key", "no", options=DocnormOptions(target=0.1)).rows[0].draws == 3


# Totals


def test_unions_and_ratios_are_of_different_documents() -> None:
    """All occurrences are looked at, so everything is exact."""
    texts = ["step by step", "think step by step", "solve for", "step by step, solve for", ""]
    queries = [
        query("step by step", "CoT"),
        query("think step by step", "CoT"),
        query("solve", "F", "T1"),
        query("for", "F", "T2"),
    ]
    totals = norm(TextIndex(texts), *queries).totals
    found = {(t.statistic, t.tiers, t.method): t.value for t in totals}
    assert found["documents", "T1", "CoT"] == 3
    assert found["union_of_occurrences", "T1", "CoT"] == 3
    assert found["occurrences_per_document", "T1", "CoT"] == 1
    assert found["documents", "T1", "F"] == found["documents", "T1+T2", "F"] == 2
    assert found["union_of_occurrences", "T1+T2", "F"] == 4
    assert found["ratio_of_documents", "T1", "F"] == pytest.approx(2 / 3)


def test_a_method_without_documents_has_no_ratio() -> None:
    (ratio,) = [t for t in norm(TextIndex(["a", "a"]), "zebra", query("a", "B")).totals if t.versus]
    assert (ratio.value, ratio.note) == (None, "a method may have no document")


def test_repeated_documents_give_no_union() -> None:
    options = DocnormOptions(draws=20, estimator="unique")
    totals = norm(TextIndex(["a key " * 9] * 50), "a ", query("key", "B"), options=options).totals
    without = [total for total in totals if total.statistic != "union_of_occurrences"]
    assert {total.statistic for total in without} == {"documents", "ratio_of_documents"}
    for total in without:
        assert (total.value, total.note) == (None, "not from repeated documents")


# What fails


@pytest.mark.parametrize("target", [None, 0.1])
def test_a_pattern_that_fails_is_missing_alone(target: float | None) -> None:
    """A document that can't be shown may differ from the others: it must not just be left out."""
    options = DocnormOptions(target=target)
    for failing in ("lost", "unseen"):
        index = TextIndex(["a b c", "a c"], **{failing: ["b"]})
        result = norm(index, "a", "c", query("b", "B"), options=options)
        assert [missing.query for missing in result.missing] == ["b"]
        assert {row.pattern: row.documents for row in result.rows} == {"a": 2, "c": 2}
        notes = {(t.statistic, t.method): t.note for t in result.totals if t.value is None}
        assert notes["documents", "B"] == "draws of a pattern are missing"
        assert notes["ratio_of_documents", "B"] == "draws of a pattern are missing"
        if failing == "lost":
            assert notes["union_of_occurrences", "B"] == "a count is missing"


# Indexes that read their documents


def scan(folder: Path, shards: Sequence[Sequence[str]], sample: str | None = None) -> ScanIndex:
    for number, texts in enumerate(shards):
        (folder / f"{number}.jsonl").write_bytes(corpus_files.jsonl(texts))
    return ScanIndex(open_corpus(str(folder)), IndexOptions(sample_files=sample), Progress())


def test_a_corpus_that_is_read_is_counted(tmp_path: Path) -> None:
    texts = ["step by step", "think step by step step by step", "solve for", "solve", ""]
    queries = [query("step by step", "CoT"), query("solve", "F"), query("for", "F")]
    result = norm(scan(tmp_path, [texts]), *queries)
    row = result.rows[0]
    assert (row.documents, row.documents_low, row.documents_high) == (2, 2, 2)
    assert (row.estimator, row.draws, row.seed) == ("exact", None, None)
    assert row.occurrences_per_document == 1.5
    found = {(t.statistic, t.method): (t.value, t.low, t.high) for t in result.totals}
    assert found["documents", "F"] == (2, 2, 2)
    assert found["ratio_of_documents", "F"] == (1, 1, 1)


def test_a_corpus_that_can_t_be_read_is_missing(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"text": 1}\n')
    result = norm(scan(tmp_path, []), "a", "b")
    assert [missing.query for missing in result.missing] == ["a", "b"]
    assert result.rows == []
    assert "bad.jsonl:1" in str(result.missing[0].error)


@pytest.mark.parametrize(("sample", "has_interval"), [("20", True), ("5", False)])
def test_a_sample_of_files_has_intervals_or_none(
    tmp_path: Path, sample: str, has_interval: bool
) -> None:
    random = np.random.default_rng(2)
    shards = [["key " * int(n) for n in random.poisson(2, 40)] for _ in range(40)]
    result = norm(scan(tmp_path, shards, sample), "key", query("ke", "B"))
    row = result.rows[0]
    assert row.estimator == "files"
    assert (row.documents_low is not None) == has_interval
    if has_interval:
        exact = oracle.union_documents(["key"], [text for shard in shards for text in shard])
        assert limits(row)[0] <= exact <= limits(row)[1]
    documents = [total for total in result.totals if total.statistic == "documents"]
    assert [total.value is not None for total in documents] == [has_interval] * 2
