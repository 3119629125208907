"""Documents estimated from draws, against documents that were counted."""

from __future__ import annotations

import hashlib
import json
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ngramscan.corpora import open_corpus
from ngramscan.indexes.base import IndexOptions, IndexSize
from ngramscan.indexes.http.index import ApiClient, ApiIndex
from ngramscan.indexes.scan.index import ScanIndex, ScanOptions
from ngramscan.journal import Journal
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.docnorm import DocumentRow, Norming, NormOptions, norm_documents
from ngramscan.prevalence.draws import Estimator
from ngramscan.progress import Silent
from tests import oracle
from tests.support.fake_clock import FakeClock
from tests.support.service import ApiServer, Faults

CORPUS_BYTES = 4_000_000
WORDS = ["return", "import ", "def ", "for ", "raise ", "class ", "None", "True", "except", "self"]
SECOND_METHOD = {"raise ", "class ", "except"}


def query(text: str, method: str = "A", tier: str = "T1") -> Query:
    return Query(text, Pattern(text, method, tier, "code"))


QUERIES = [query(word, "B" if word in SECOND_METHOD else "A") for word in WORDS]


def source_files() -> Iterator[str]:
    """Yield sources of Python's own library, in an order that mixes them."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in root.rglob("*.py") if "site-packages" not in path.parts]
    paths.sort(key=lambda path: hashlib.sha256(str(path.relative_to(root)).encode()).digest())
    for path in paths:
        try:
            yield path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


@pytest.fixture(scope="module")
def documents() -> list[str]:
    chosen: list[str] = []
    size = 0
    for text in source_files():
        chosen.append(text)
        size += len(text)
        if size > CORPUS_BYTES:
            break
    assert sum(len(text) > 20_000 for text in chosen) > 20
    return chosen


def write_shards(folder: Path, shards: Sequence[Sequence[str]]) -> list[Path]:
    files = []
    for number, texts in enumerate(shards):
        file = folder / f"{number}.jsonl"
        lines = (json.dumps({"text": text, "id": n}) + "\n" for n, text in enumerate(texts))
        file.write_text("".join(lines), encoding="utf-8")
        files.append(file)
    return files


@pytest.fixture(scope="module")
def real(documents: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """Serve the documents in two shards, and a third in which nothing is found."""
    folder = tmp_path_factory.mktemp("real")
    half = len(documents) // 2
    shards = [documents[:half], documents[half:], ["0 1 2", "3"]]
    with ApiServer({"x": write_shards(folder, shards)}) as server:
        yield server


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one test asked, others need not ask again."""
    return tmp_path_factory.mktemp("journal") / "j.sqlite"


@contextmanager
def index_at(server: ApiServer, journal: Path) -> Iterator[ApiIndex]:
    with (
        Journal(journal) as kept,
        ApiClient(server.url, IndexOptions(), kept, Silent(), FakeClock()) as client,
    ):
        yield ApiIndex("x", ["x"], IndexSize(), client)


def norm(
    server: ApiServer,
    journal: Path,
    queries: Sequence[Query] = tuple(QUERIES),
    options: NormOptions | None = None,
) -> Norming:
    with index_at(server, journal) as index:
        return norm_documents(queries, [index], options or NormOptions())


def in_documents(texts: Sequence[str], documents: Sequence[str]) -> int:
    return sum(any(text in document for text in texts) for document in documents)


# The intervals cover what was counted


def covered(real: ApiServer, documents: list[str], journal: Path, options: NormOptions,
            seeds: Sequence[int]) -> dict[str, float]:  # fmt: skip
    """Return the share of intervals that cover the truth: of patterns, unions and ratios."""
    methods = {name: [q.text for q in QUERIES if q.pattern.method == name] for name in "AB"}
    truth = {name: in_documents(texts, documents) for name, texts in methods.items()}
    hits: dict[str, list[bool]] = {"pattern": [], "union": [], "ratio": []}
    for seed in seeds:
        norming = norm(real, journal, options=replace(options, seed=seed))
        assert not norming.missing
        for row in norming.rows:
            exact = in_documents([row.pattern], documents)
            low, high = limits(row)
            hits["pattern"].append(low <= exact <= high)
        for total in norming.totals:
            least, most = total.low or 0.0, total.high or np.inf
            if total.statistic == "documents":
                hits["union"].append(least <= truth[total.method] <= most)
            if total.statistic == "ratio_of_documents":
                hits["ratio"].append(least <= truth["B"] / truth["A"] <= most)
    return {name: float(np.mean(values)) for name, values in hits.items()}


@pytest.mark.parametrize("estimator", ["combined", "first"])
def test_intervals_cover_the_counted_documents(
    real: ApiServer, documents: list[str], journal: Path, estimator: Estimator
) -> None:
    options = NormOptions(estimator=estimator)
    shares = covered(real, documents, journal, options, range(1, 4))
    assert shares["pattern"] >= 0.88
    assert shares["union"] >= 0.8
    assert shares["ratio"] >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["combined", "size-bias", "first"])
def test_intervals_cover_the_counted_documents_over_many_seeds(
    real: ApiServer, documents: list[str], journal: Path, estimator: Estimator
) -> None:
    options = NormOptions(estimator=estimator)
    shares = covered(real, documents, journal, options, range(1, 41))
    assert 0.90 <= shares["pattern"] <= (0.99 if estimator == "combined" else 1.0)
    assert shares["union"] >= 0.9
    assert shares["ratio"] >= 0.9


# What the rows say


def small(tmp_path: Path, *shards: Sequence[str], faults: Faults | None = None) -> ApiServer:
    folder = tmp_path / "shards"
    folder.mkdir(exist_ok=True)
    return ApiServer({"x": write_shards(folder, shards)}, faults=faults)


def limits(row: DocumentRow) -> tuple[int, int]:
    assert row.documents_low is not None
    assert row.documents_high is not None
    return row.documents_low, row.documents_high


def row_of(norming: Norming, pattern: str) -> DocumentRow:
    (row,) = [row for row in norming.rows if row.pattern == pattern]
    return row


def test_no_occurrence_is_no_document(tmp_path: Path) -> None:
    with small(tmp_path, ["a b", "b c"], ["c"]) as server:
        row = row_of(norm(server, tmp_path / "j", [query("zebra")]), "zebra")
    assert (row.occurrences, row.samples, row.documents) == (0, 0, 0)
    assert (row.documents_low, row.documents_high) == (0, 0)
    assert row.occurrences_per_document is None
    assert (row.estimator, row.truncated_share) == ("exact", None)


def test_all_occurrences_are_looked_at_where_there_are_few(tmp_path: Path) -> None:
    texts = ["key " * 30, "a key", "key key", "none"]
    with small(tmp_path, texts, ["none"], ["b key"]) as server:
        row = row_of(norm(server, tmp_path / "j", [query("key")]), "key")
    assert (row.occurrences, row.samples, row.documents) == (34, 34, 4)
    assert (row.documents_low, row.documents_high, row.estimator) == (4, 4, "exact")
    assert row.occurrences_per_document == 34 / 4
    assert (row.unique_documents, row.standard_error) == (4, 0)


def test_all_occurrences_looked_at_are_exact_though_windows_are_cut(tmp_path: Path) -> None:
    long = ("key" + "." * 6000) * 12
    with small(tmp_path, [long, long, "key"]) as server:
        row = row_of(norm(server, tmp_path / "j", [query("key")]), "key")
        assert (row.documents, row.estimator) == (3, "exact")
        assert row.truncated_share == 24 / 25


def test_a_pattern_whose_every_window_is_cut_has_wide_bounds(tmp_path: Path) -> None:
    """No start of a document is ever seen in front of a first occurrence."""
    texts = ["." * 1500 + "key" + "." * 1500 for _ in range(300)]
    with small(tmp_path, texts) as server:
        for estimator in ("combined", "first"):
            options = NormOptions(samples=100, estimator=estimator, context=1000)
            row = row_of(norm(server, tmp_path / "j", [query("key")], options), "key")
            assert row.truncated_share == 1
            # Each draw may be the first of its document, and may not; those seen are there.
            assert (row.documents_low, row.documents_high) == (row.unique_documents, 300)
            assert "documents not seen whole" in row.note
        bounded = NormOptions(samples=100, estimator="size-bias", context=1000)
        row = row_of(norm(server, tmp_path / "j", [query("key")], bounded), "key")
        assert limits(row)[0] <= 300 == limits(row)[1]


@pytest.mark.parametrize("estimator", ["combined", "first"])
def test_long_documents_are_counted_by_their_first_occurrence(
    tmp_path: Path, estimator: Estimator
) -> None:
    """Documents of 60,000 bytes, whose first occurrence is near their start: nothing is open."""
    texts = [("key" + "." * 5997) * 10 for _ in range(50)]
    with small(tmp_path, texts[:20], texts[20:]) as server:
        options = NormOptions(samples=200, estimator=estimator)
        row = row_of(norm(server, tmp_path / "j", [query("key")], options), "key")
    assert row.occurrences == 500
    assert row.truncated_share == 1
    low, high = limits(row)
    assert low <= 50 <= high
    assert high / low < 2.5
    assert "not seen whole" not in row.note


def test_patterns_of_any_script_are_estimated(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    words = ["แม่น้ำ", "สมการ", "答え", "naïve", "x", "🎉"]
    texts = [" ".join(random.choice(words, 900)) for _ in range(12)]
    queries = [query(word) for word in words]
    with small(tmp_path, texts[:6], texts[6:]) as server:
        norming = norm(server, tmp_path / "j", queries, NormOptions(context=2000))
    assert [row.pattern for row in norming.rows] == words
    for row in norming.rows:
        assert row.occurrences == sum(oracle.occurrences_fast(row.pattern, t) for t in texts)
        assert row.truncated_share
        assert limits(row)[0] <= 12 <= limits(row)[1]


def test_few_draws_get_the_guaranteed_interval_and_say_so(real: ApiServer, journal: Path) -> None:
    few = row_of(norm(real, journal, [query("return")], NormOptions(samples=29)), "return")
    many = row_of(norm(real, journal, [query("return")]), "return")
    assert "guaranteed" in few.note
    assert "guaranteed" not in many.note
    assert limits(few)[1] - limits(few)[0] > limits(many)[1] - limits(many)[0]


def test_a_large_part_is_drawn_without_replacement(tmp_path: Path) -> None:
    with small(tmp_path, ["key " * 4] * 100) as server:
        options = NormOptions(samples=300, keep_draws=True)
        norming = norm(server, tmp_path / "j", [query("key")], options)
    row = norming.rows[0]
    assert "without replacement" in row.note
    assert len({(draw.shard, draw.rank) for draw in norming.draws}) == 300
    assert limits(row)[0] <= 100 <= limits(row)[1]


def test_the_ratio_of_the_paper_is_one_where_the_truth_is_fifteen(tmp_path: Path) -> None:
    with small(tmp_path, ["key " * 15] * 2000) as server:
        paper = NormOptions(samples=100, estimator="unique")
        row = row_of(norm(server, tmp_path / "j", [query("key")], paper), "key")
        ours = row_of(norm(server, tmp_path / "j", [query("key")]), "key")
    assert row.unique_documents is not None
    assert row.occurrences_per_document == 100 / row.unique_documents
    assert row.occurrences_per_document < 1.1
    assert row.documents > 25_000
    assert limits(row)[0] <= 2000 < limits(row)[1] == 30_000
    assert "says nothing about occurrences per document" in row.note
    assert "coinciding pairs" in row.note
    assert ours.documents == 2000
    assert ours.occurrences_per_document == pytest.approx(15)


def test_a_row_says_that_its_width_is_that_of_the_added_draw(tmp_path: Path) -> None:
    texts = ["key " * 15 + "word " * (1 + 40 // (1 + n % 40)) for n in range(400)]
    with small(tmp_path, texts) as server:
        norming = norm(server, tmp_path / "j", [query("key"), query("word", "B")])
    said = "more than half of the interval's width comes from one added draw"
    same, varied = (row_of(norming, text) for text in ("key", "word"))
    assert said in same.note
    assert said not in varied.note
    low, high = limits(same)
    assert low < 400 < high
    notes = {(total.method, total.statistic): total.note for total in norming.totals}
    assert said in notes["A", "documents"]
    assert said in notes["A", "occurrences_per_document"]
    assert notes["B", "documents"] == ""


def test_repeated_documents_give_no_union(tmp_path: Path) -> None:
    with small(tmp_path, ["a key " * 9] * 50) as server:
        options = NormOptions(samples=20, estimator="unique")
        norming = norm(server, tmp_path / "j", [query("a "), query("key", "B")], options)
    documents = [total for total in norming.totals if total.statistic == "documents"]
    assert [total.value for total in documents] == [None, None]
    assert {total.note for total in documents} == {"not from repeated documents"}
    (ratio,) = [total for total in norming.totals if total.versus]
    assert (ratio.value, ratio.note) == (None, "not from repeated documents")


# Planning


def test_a_target_draws_as_many_as_it_needs(tmp_path: Path) -> None:
    def half_width(row: DocumentRow) -> float:
        low, high = limits(row)
        return (high - low) / 2 / row.documents

    random = np.random.default_rng(2)
    counts = zip(random.geometric(1 / 15, 2000), random.geometric(1 / 5, 2000), strict=True)
    texts = ["key " * int(often) + "word " * int(seldom) for often, seldom in counts]
    widths = []
    with small(tmp_path, texts) as server:
        for target in (0.3, 0.15):
            options = NormOptions(target=target, max_samples=1500)
            rows = norm(server, tmp_path / "j", [query("key"), query("word")], options).rows
            assert all(row.samples and row.samples >= 100 for row in rows)
            assert all(half_width(row) < 1.35 * target for row in rows)
            widths.append([row.samples or 0 for row in rows])
    assert all(few < many for few, many in zip(*widths, strict=True)), widths


def test_no_more_are_drawn_than_allowed(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    texts = ["key " * int(n) for n in random.geometric(1 / 15, 400)]
    with small(tmp_path, texts) as server:
        options = NormOptions(target=0.01, max_samples=250)
        assert norm(server, tmp_path / "j", [query("key")], options).rows[0].samples == 250
        options = NormOptions(target=0.01, max_samples=50)
        assert norm(server, tmp_path / "j", [query("key")], options).rows[0].samples == 50


# Totals


def test_unions_and_ratios_are_of_different_documents(tmp_path: Path) -> None:
    """All occurrences are looked at, so everything is exact."""
    texts = ["step by step", "think step by step", "solve for", "step by step, solve for", ""]
    queries = [
        query("step by step", "CoT"),
        query("think step by step", "CoT"),
        query("solve", "F", "T1"),
        query("for", "F", "T2"),
    ]
    with small(tmp_path, texts) as server:
        totals = norm(server, tmp_path / "j", queries).totals
    found = {(t.statistic, t.tiers, t.method): t.value for t in totals}
    assert found["documents", "T1", "CoT"] == 3
    assert found["union_of_occurrences", "T1", "CoT"] == 3
    assert found["occurrences_per_document", "T1", "CoT"] == 1
    assert found["documents", "T1", "F"] == found["documents", "T1+T2", "F"] == 2
    assert found["union_of_occurrences", "T1+T2", "F"] == 4
    assert found["ratio_of_documents", "T1", "F"] == pytest.approx(2 / 3)


def test_a_method_without_documents_has_no_ratio(tmp_path: Path) -> None:
    with small(tmp_path, ["a", "a"]) as server:
        totals = norm(server, tmp_path / "j", [query("zebra"), query("a", "B")]).totals
    (ratio,) = [total for total in totals if total.versus]
    assert (ratio.value, ratio.note) == (None, "a method may have no document")


# What fails


def test_a_pattern_that_can_t_be_looked_up_is_missing_alone(tmp_path: Path) -> None:
    faults = Faults(fail_always=("b",))
    with small(tmp_path, ["a b c", "a c"], faults=faults) as server:
        warm = norm(server, tmp_path / "j", [query("a")])
        assert not warm.missing
        norming = norm(server, tmp_path / "j", [query("a"), query("c"), query("b", "B")])
    assert [missing.query for missing in norming.missing] == ["b"]
    assert "engine crashed" in str(norming.missing[0].error)
    assert {row.pattern: row.documents for row in norming.rows} == {"a": 2, "c": 2}
    notes = {(t.statistic, t.method): t.note for t in norming.totals if t.value is None}
    assert notes["union_of_occurrences", "B"] == "a count is missing"
    assert notes["documents", "B"] == "draws of a pattern are missing"
    assert notes["ratio_of_documents", "B"] == "draws of a pattern are missing"


def test_a_pattern_with_a_window_that_fails_has_no_row(tmp_path: Path) -> None:
    """A document that can't be shown may differ from the others: it must not just be left out."""
    body = json.dumps({"cnt": 2, "segment_by_shard": [[0, 2]], "latency": 1.0})
    with small(tmp_path, ["a b", "a"], faults=Faults(bodies={"b": body})) as server:
        norming = norm(server, tmp_path / "j", [query("a"), query("b")])
    assert [missing.query for missing in norming.missing] == ["b"]
    assert "no window in the reply" in str(norming.missing[0].error)
    assert [row.pattern for row in norming.rows] == ["a"]


def test_an_index_that_gives_up_loses_only_its_rows(tmp_path: Path) -> None:
    with small(tmp_path, ["a b"] * 5, faults=Faults(forbid_after=6)) as server:
        norming = norm(server, tmp_path / "j", [query("a"), query("b")])
    assert {missing.query for missing in norming.missing} == {"a", "b"}
    assert norming.rows == []


# The draws


def test_the_draws_are_there_to_be_looked_at(tmp_path: Path) -> None:
    long = "é" * 9000 + " key " + "é" * 9000
    with small(tmp_path, [long] * 30, ["a key key"] * 30) as server:
        options = NormOptions(samples=40, keep_draws=True)
        norming = norm(server, tmp_path / "j", [query("key")], options)
    assert [draw.draw for draw in norming.draws] == list(range(1, 41))
    for draw in norming.draws:
        content = draw.text.encode()
        assert content.startswith(b"key", draw.text_offset)
        if draw.shard == 0:
            assert (draw.cut, draw.offset, draw.document_bytes) == (True, None, 36_005)
        else:
            assert not draw.cut
            assert draw.offset in {2, 6}
        assert json.loads(draw.metadata)["path"] == f"{draw.shard}.jsonl"
    share = sum(draw.cut for draw in norming.draws) / 40
    assert norming.rows[0].truncated_share == share


def test_rows_of_a_pattern_do_not_depend_on_the_others(real: ApiServer, journal: Path) -> None:
    alone = norm(real, journal, [query("return")]).rows[0]
    among = row_of(norm(real, journal, [query("True"), query("return"), query("None")]), "return")
    assert alone == among
    assert norm(real, journal, [query("return")], NormOptions(seed=2)).rows[0] != alone


# Indexes that read their documents


def test_a_corpus_that_is_read_is_counted(tmp_path: Path) -> None:
    texts = ["step by step", "think step by step step by step", "solve for", "solve", ""]
    write_shards(tmp_path, [texts])
    index = ScanIndex(open_corpus(str(tmp_path / "0.jsonl")), ScanOptions(), Silent())
    queries = [query("step by step", "CoT"), query("solve", "F"), query("for", "F")]
    norming = norm_documents(queries, [index], NormOptions())
    row = norming.rows[0]
    assert (row.documents, row.documents_low, row.documents_high) == (2, 2, 2)
    assert (row.estimator, row.samples, row.seed) == ("exact", None, None)
    assert row.occurrences_per_document == 1.5
    found = {(t.statistic, t.method): (t.value, t.low, t.high) for t in norming.totals}
    assert found["documents", "F"] == (2, 2, 2)
    assert found["ratio_of_documents", "F"] == (1, 1, 1)


def test_a_corpus_that_can_t_be_read_is_missing(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"text": 1}\n')
    index = ScanIndex(open_corpus(str(tmp_path / "bad.jsonl")), ScanOptions(), Silent())
    norming = norm_documents([query("a"), query("b")], [index], NormOptions())
    assert [missing.query for missing in norming.missing] == ["a", "b"]
    assert norming.rows == []
    assert "bad.jsonl:1" in str(norming.missing[0].error)


def test_a_sample_of_files_has_intervals_or_none(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    shards = [["key " * int(n) for n in random.poisson(2, 40)] for _ in range(40)]
    write_shards(tmp_path, shards)
    exact = in_documents(["key"], [text for shard in shards for text in shard])
    for sample, has_interval in (("20", True), ("5", False)):
        options = ScanOptions(sample=sample)
        index = ScanIndex(open_corpus(str(tmp_path)), options, Silent())
        norming = norm_documents([query("key"), query("ke", "B")], [index], NormOptions())
        row = norming.rows[0]
        assert row.estimator == "files"
        assert (row.documents_low is not None) == has_interval
        if row.documents_low is not None and row.documents_high is not None:
            assert row.documents_low <= exact <= row.documents_high
        documents = [total for total in norming.totals if total.statistic == "documents"]
        assert [total.value is not None for total in documents] == [has_interval] * 2
