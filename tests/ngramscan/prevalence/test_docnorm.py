"""Documents estimated from draws, against documents that were counted."""

import hashlib
import math
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ngramscan.corpora import open_corpus
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.patterns.model import Pattern, Query, Tier
from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow, run_docnorm
from ngramscan.prevalence.docnorm_totals import DocnormTotal
from ngramscan.prevalence.draws import DocnormOptions, DrawRow, Estimator
from ngramscan.progress import Progress
from tests.support import corpus_files, oracle
from tests.support.sizes import sets
from tests.support.text_index import TextIndex

N_DOCUMENTS, CONTEXT = 60, 1500


def query(text: str, method: str = "A", tier: Tier = "T1") -> Query:
    return Query(text, Pattern(text, method, tier, "code"))


def norm(
    index: TextIndex | ScanIndex, *queries: Query | str, options: DocnormOptions | None = None
) -> DocnormResult:
    asked = [query(text) if isinstance(text, str) else text for text in queries]
    return run_docnorm(asked, [index], options or DocnormOptions())


def limits(row: DocnormRow) -> tuple[int, int]:
    assert row.documents_low is not None
    assert row.documents_high is not None
    return row.documents_low, row.documents_high


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


# What the rows say


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


def test_a_draw_has_its_place_and_what_was_seen_of_its_document() -> None:
    shards = ["é key and key", "key" + " pad" * 200 + " key", "no"], ["a key"]
    places = {(0, 0): 3, (0, 1): 11, (0, 2): 0, (0, 3): 804, (1, 0): 2}  # in bytes, by rank
    documents = {(0, 0): 0, (0, 1): 0, (0, 2): 1, (0, 3): 1, (1, 0): 0}
    found = [
        row
        for seed in range(1, 6)
        for row in norm(
            TextIndex(*shards),
            "key",
            options=DocnormOptions(draws=4, context=100, seed=seed, keep_draws=True),
        ).drawn
    ]

    def expected(draw: int, shard: int, rank: int) -> DrawRow:
        number, start = documents[shard, rank], places[shard, rank]
        document = shards[shard][number].encode()
        first = max(0, start - 100)
        seen = document[first : start + len("key") + 100]
        return DrawRow(
            index="x",
            pattern="key",
            draw=draw,
            shard=shard,
            rank=rank,
            document=f"{shard}/{number}",
            document_bytes=len(document),
            offset=start if first == 0 else None,
            truncated=len(seen) < len(document),
            text=seen.decode(),
            text_offset=start - first,
            metadata=f'{{"shard": {shard}}}',
        )

    assert [row.draw for row in found] == [1, 2, 3, 4] * 5
    assert {(row.shard, row.rank) for row in found} == places.keys()
    assert found == [expected(row.draw, row.shard, row.rank) for row in found]


def test_a_row_of_draws_has_the_mean_of_their_shares() -> None:
    """A draw counts for 1 / occurrences in its document; its variance is that of a sample."""
    index = TextIndex(["key " * n for n in (0, 1, 2, 3, 4)] * 50)
    options = DocnormOptions(draws=60, estimator="size-bias", keep_draws=True, seed=7)
    result = norm(index, "key", options=options)
    (row,) = result.rows
    shares = [1 / draw.text.count("key") for draw in result.drawn]
    assert (row.occurrences, row.draws, row.seed, row.level) == (500, 60, 7, 0.95)
    assert row.unique_documents == len({draw.document for draw in result.drawn})
    documents = 500 * float(np.mean(shares))
    assert row.documents == round(documents)
    of_finite_population = np.sqrt(1 - 60 / 500)
    expected = 500 * np.std(shares, ddof=1) / np.sqrt(60) * of_finite_population
    assert row.standard_error == pytest.approx(expected)
    low, high = limits(row)
    assert low < 200 <= high
    assert row.occurrences_per_document == pytest.approx(500 / documents)
    assert row.occurrences_per_document_low == pytest.approx(500 / high)
    assert row.occurrences_per_document_high == pytest.approx(500 / low)
    assert row.documents_lower_estimate == row.documents_upper_estimate == row.documents
    assert row.documents_per_million == pytest.approx(row.documents / 250 * 1e6)
    assert row.documents_per_million_low == pytest.approx(low / 250 * 1e6)
    assert row.documents_per_million_high == pytest.approx(high / 250 * 1e6)


def total_of(result: DocnormResult, statistic: str, method: str) -> DocnormTotal:
    (total,) = [
        total for total in result.totals if (total.statistic, total.method) == (statistic, method)
    ]
    return total


def estimates_of(total: DocnormTotal) -> tuple[float | None, float | None]:
    return total.lower_estimate, total.upper_estimate


def test_long_documents_have_a_lower_and_an_upper_estimate(subtests: pytest.Subtests) -> None:
    """Hidden parts may have nothing, or so much that only the documents that were seen are sure."""
    index = TextIndex(["key key".ljust(3000, ".")] * 30 + ["key"] * 30)
    options = DocnormOptions(draws=40, context=100, estimator="size-bias", keep_draws=True)
    result = norm(index, "key", query("ke", "B"), options=options)
    estimates = dict[str | None, tuple[int, float]]()
    for row in result.rows:
        draws = [draw for draw in result.drawn if draw.pattern == row.pattern]
        seen = len({draw.document for draw in draws})
        if_nothing_is_hidden = 90 * np.mean([1 / draw.text.count("ke") for draw in draws])
        estimates[row.method] = (seen, min(60.0, float(if_nothing_is_hidden)))
        with subtests.test("a row", method=row.method):
            exact = (row.documents, row.occurrences_per_document, row.documents_per_million)
            assert exact == (None, None, None)
            assert row.documents_lower_estimate == seen
            assert row.documents_upper_estimate == round(estimates[row.method][1])
            assert row.truncated_share == np.mean([draw.truncated for draw in draws])
    for method, (lower, upper) in estimates.items():
        documents = total_of(result, "documents", method or "")
        rate = total_of(result, "documents_per_million", method or "")
        per_million = (lower / 60 * 1e6, upper / 60 * 1e6)
        mean = total_of(result, "occurrences_per_document", method or "")
        with subtests.test("totals", method=method):
            assert estimates_of(documents) == pytest.approx((lower, upper))
            assert estimates_of(rate) == pytest.approx(per_million)
            assert estimates_of(mean) == pytest.approx((90 / upper, 90 / lower))
    (a_lower, a_upper), (b_lower, b_upper) = estimates["A"], estimates["B"]
    ratio = total_of(result, "ratio_of_documents", "B")
    ratios = (b_lower / a_upper, b_upper / a_lower)
    assert estimates_of(ratio) == pytest.approx(ratios)
    assert ratio.value is None


# What fails


@pytest.mark.parametrize("target", [None, 0.1])
@pytest.mark.parametrize("failing", ["lost", "unseen"])
def test_a_pattern_that_fails_is_missing_alone(target: float | None, failing: str) -> None:
    """A document that can't be shown may differ from the others: it must not just be left out."""
    options = DocnormOptions(target=target)
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


def row_of(result: DocnormResult, pattern: str) -> DocnormRow:
    (row,) = [row for row in result.rows if row.pattern == pattern]
    return row


def test_no_occurrence_is_no_document() -> None:
    row = row_of(norm(TextIndex(["a b", "b c"], ["c"]), "zebra"), "zebra")
    assert (row.occurrences, row.draws, row.documents) == (0, 0, 0)
    assert (row.documents_low, row.documents_high) == (0, 0)
    assert row.occurrences_per_document is None
    assert (row.estimator, row.truncated_share) == ("exact", None)


def test_no_more_documents_than_the_index_has() -> None:
    texts = ["key word " * (1 + number % 3 * 20) for number in range(40)]
    options = DocnormOptions(draws=29)
    result = norm(TextIndex(texts), "key", query("word", "B"), options=options)
    # The guaranteed interval reaches further.
    assert {row.pattern: limits(row)[1] for row in result.rows} == {"key": 40, "word": 40}
    totals = [total for total in result.totals if total.statistic == "documents"]
    assert {total.method: total.high for total in totals} == {"A": 40, "B": 40}


def test_a_large_part_is_drawn_without_replacement() -> None:
    options = DocnormOptions(draws=300, keep_draws=True)
    result = norm(TextIndex(["key " * 4] * 100), "key", options=options)
    row = result.rows[0]
    assert "without replacement" in row.note
    assert len({(draw.shard, draw.rank) for draw in result.drawn}) == 300
    assert limits(row)[0] <= 100 <= limits(row)[1]


def test_a_target_draws_as_many_as_it_needs(subtests: pytest.Subtests) -> None:
    random = np.random.default_rng(2)
    counts = zip(random.geometric(1 / 15, 2000), random.geometric(1 / 5, 2000), strict=True)
    index = TextIndex(["key " * int(often) + "word " * int(seldom) for often, seldom in counts])
    drawn = []
    for target in (0.3, 0.15):
        before = index.looked_at
        rows = norm(
            index, "key", "word", options=DocnormOptions(target=target, max_draws=1500)
        ).rows
        drawn.append([row.draws or 0 for row in rows])
        with subtests.test(target=target):
            halves = [(limits(row)[1] - limits(row)[0]) / 2 for row in rows]
            errors = [
                half / row.documents_lower_estimate for half, row in zip(halves, rows, strict=True)
            ]
            assert max(errors) < 1.35 * target, errors
            # Draws of the pilot are not looked at again.
            assert index.looked_at - before <= sum(drawn[-1])
    assert all(100 <= few < many for few, many in zip(*drawn, strict=True))
    few = TextIndex(["a key"] * 3)
    assert norm(few, "key", "no", options=DocnormOptions(target=0.1)).rows[0].draws == 3


@pytest.mark.parametrize("most", [250, 50])
def test_a_target_draws_no_more_than_allowed(most: int) -> None:
    index = TextIndex(["key " * int(n) for n in np.random.default_rng(2).geometric(1 / 15, 2000)])
    options = DocnormOptions(target=0.01, max_draws=most)
    assert norm(index, "key", options=options).rows[0].draws == most


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
    assert {total.statistic for total in without} == {
        "documents",
        "documents_per_million",
        "ratio_of_documents",
    }
    notes = {(total.value, total.note) for total in without}
    assert notes == {(None, "not from repeated documents")}


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


# Draws


def test_all_occurrences_are_looked_at_where_there_are_few() -> None:
    index = TextIndex(["key " * 30, "a key", "key key", "none"], ["none"], ["b key"])
    row = row_of(norm(index, "key"), "key")
    assert (row.occurrences, row.draws, row.documents) == (34, 34, 4)
    assert (limits(row), row.estimator) == ((4, 4), "exact")
    assert row.occurrences_per_document == 34 / 4
    assert (row.unique_documents, row.standard_error) == (4, 0)


def test_documents_of_all_occurrences_are_exact_though_windows_are_cut() -> None:
    long = ("key" + "." * 6000) * 12
    row = row_of(norm(TextIndex([long, long, "key"]), "key"), "key")
    assert (row.documents, row.estimator, row.truncated_share) == (3, "exact", 24 / 25)


@pytest.mark.parametrize("estimator", ["combined", "first"])
def test_a_first_occurrence_that_is_never_known_has_wide_bounds(estimator: Estimator) -> None:
    """No start of a document is ever seen: each draw may be the first of its own, or is not."""
    index = TextIndex(["." * 1500 + "key" + "." * 1500 for _ in range(300)])
    options = DocnormOptions(draws=100, estimator=estimator, context=1000)
    row = row_of(norm(index, "key", options=options), "key")
    assert row.truncated_share == 1
    assert limits(row) == (row.unique_documents, 300)
    assert "long documents were truncated" in row.note


@pytest.mark.parametrize("estimator", ["combined", "first"])
def test_long_documents_are_counted_by_their_first_occurrence(estimator: Estimator) -> None:
    """Documents of 60,000 bytes, whose first occurrence is at their start: nothing is open."""
    texts = [("key" + "." * 5997) * 10 for _ in range(50)]
    options = DocnormOptions(estimator=estimator)
    row = row_of(norm(TextIndex(texts[:20], texts[20:]), "key", options=options), "key")
    assert (row.occurrences, row.truncated_share) == (500, 1)
    low, high = limits(row)
    assert low <= 50 <= high < 2.5 * low
    assert "truncated" not in row.note
    assert row.documents_lower_estimate == row.documents_upper_estimate == row.documents


@pytest.mark.parametrize("word", ["แม่น้ำ", "สมการ", "答え", "naïve", "x", "🎉"])
def test_patterns_of_any_script_are_estimated(word: str) -> None:
    random = np.random.default_rng(1)
    words = ["แม่น้ำ", "สมการ", "答え", "naïve", "x", "🎉"]
    texts = [" ".join(random.choice(words, 300)) for _ in range(12)]
    options = DocnormOptions(context=500)
    row = norm(TextIndex(texts[:6], texts[6:]), word, options=options).rows[0]
    assert row.occurrences == sum(text.count(word) for text in texts)
    assert row.truncated_share
    assert limits(row)[0] <= 12 <= limits(row)[1]


@pytest.mark.parametrize(("draws", "is_guaranteed"), [(29, True), (30, False)])
def test_fewer_than_30_draws_get_the_guaranteed_interval_and_say_so(
    draws: int, is_guaranteed: bool
) -> None:
    index = TextIndex(["key " * n for n in (1, 2, 3, 4)] * 200)
    row = norm(index, "key", options=DocnormOptions(draws=draws)).rows[0]
    said = "fewer than 30 draws: the interval is the guaranteed one"
    assert (said in row.note) == is_guaranteed


def test_rows_and_totals_say_that_their_width_is_that_of_the_added_draw() -> None:
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


def test_rows_of_a_pattern_do_not_depend_on_the_others() -> None:
    index = TextIndex(["key " * (n % 7) + "word " * (n % 5) + "key word" for n in range(400)])
    alone = norm(index, "key", options=DocnormOptions(draws=50)).rows[0]
    among = norm(index, "word", "key", "ke", options=DocnormOptions(draws=50))
    assert row_of(among, "key") == alone


def test_a_row_names_the_seed_of_its_draws() -> None:
    index = TextIndex(["key " * n for n in (1, 2, 3, 4)] * 200)
    first, second = (
        norm(index, "key", options=DocnormOptions(draws=50, seed=seed)).rows[0] for seed in (1, 2)
    )
    assert (first.seed, second.seed) == (1, 2)
    assert first.standard_error != second.standard_error


@pytest.mark.parametrize("estimator", ["combined", "size-bias", "first"])
def test_intervals_cover_the_counted_documents_of_real_texts(
    documents: list[str], estimator: Estimator
) -> None:
    """Rows, unions and ratios; a third shard has nothing."""
    words = {
        "A": ["return", "import ", "def ", "for ", "None", "True", "self"],
        "B": ["raise ", "class ", "except"],
    }
    half = len(documents) // 2
    real = TextIndex(documents[:half], documents[half:], ["0 1 2", "3"])
    queries = [query(word, method) for method, own in words.items() for word in own]
    truth = {one.text: oracle.union_documents([one.text], documents) for one in queries}
    truth |= {method: oracle.union_documents(own, documents) for method, own in words.items()}
    hits: dict[str, list[bool]] = {"pattern": [], "documents": [], "ratio_of_documents": []}
    for seed in range(1, sets(3) + 1):
        options = DocnormOptions(draws=100, estimator=estimator, seed=seed, context=CONTEXT)
        result = norm(real, *queries, options=options)
        assert result.missing == []
        for row in result.rows:
            low, high = limits(row)
            hits["pattern"].append(low <= truth[row.pattern] <= high)
        for total in result.totals:
            if total.statistic in hits:
                expected = truth["B"] / truth["A"] if total.versus else truth[str(total.method)]
                covers = (total.low or 0) <= expected <= (total.high or math.inf)
                hits[total.statistic].append(covers)
    shares = {name: float(np.mean(found)) for name, found in hits.items()}
    least = {name: 0.95 - 3 * math.sqrt(0.95 * 0.05 / len(found)) for name, found in hits.items()}
    assert {name for name in hits if shares[name] < least[name]} == set()
