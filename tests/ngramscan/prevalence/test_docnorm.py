"""Documents estimated from draws, against documents that were counted."""

import hashlib
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
from ngramscan.prevalence.draws import DocnormOptions
from ngramscan.progress import Progress
from tests.support import corpus_files, oracle
from tests.support.text_index import TextIndex

N_DOCUMENTS, CONTEXT = 60, 1500


def query(text: str, method: str = "A") -> Query:
    return Query(text, Pattern(text, method, "T1", "code"))


def norm(
    index: TextIndex | ScanIndex, *queries: Query | str, options: DocnormOptions | None = None
) -> DocnormResult[DocnormRow]:
    asked = [query(one) if isinstance(one, str) else one for one in queries]
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
