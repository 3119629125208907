"""Documents with any of several queries, counted in the pass that counts all else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import CorpusError
from ngramscan.indexes.base import DocumentCounts, IndexSize
from ngramscan.indexes.scan import pieces as scan_pieces
from ngramscan.indexes.scan.index import ScanIndex, ScanOptions
from ngramscan.indexes.scan.sampling import estimate_total, take_sample
from ngramscan.journal import Journal
from ngramscan.progress import Silent
from ngramscan.statistics.estimates import Estimate
from tests import corpus_files, oracle
from tests.test_formats import F1, make_texts

QUERIES = [*F1, "aa", "a", "é", "ภาษา", "step\nby", "nowhere at all"]
UNIONS = [F1, ["aa", "ภาษา"], ["a", "aa"], ["é", "é", "step\nby"], ["nowhere at all"], []]


TEXTS = make_texts(1200)


def per_file(n_files: int) -> list[list[str]]:
    size = len(TEXTS) // n_files
    return [TEXTS[start : start + size] for start in range(0, len(TEXTS), size)]


def make_corpus(folder: Path, n_files: int = 6) -> Path:
    folder.mkdir(exist_ok=True)
    for number, texts in enumerate(per_file(n_files)):
        (folder / f"{number:03}.jsonl").write_bytes(corpus_files.jsonl(texts))
    return folder


def open_index(folder: Path, journal: Journal | None = None, **options: object) -> ScanIndex:
    corpus = open_corpus(str(folder))
    return ScanIndex(corpus, ScanOptions(**options), Silent(), journal)  # type: ignore[arg-type]


def check(counted: DocumentCounts) -> None:
    occurrences, documents = oracle.tally(QUERIES, TEXTS)
    assert [count.query for count in counted.counts] == QUERIES
    assert [count.occurrences for count in counted.counts] == occurrences
    assert [count.documents for count in counted.counts] == documents
    expected = [oracle.union_documents(union, TEXTS) for union in UNIONS]
    assert counted.unions == [Estimate(n, n, n, 0.95) for n in expected]
    assert expected[0] > max(documents[: len(F1)])


@pytest.mark.parametrize("workers", [1, 2])
def test_unions_are_those_of_brute_force(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_pieces, "LEAST_TASK_BYTES", 1)
    index = open_index(make_corpus(tmp_path), workers=workers)
    check(index.document_counts(QUERIES, UNIONS))
    assert index.size() == IndexSize(1200, sum(len(text.encode()) for text in TEXTS))


@pytest.mark.parametrize("limit", [1, 199, 200, 201, 777, 5000])
def test_unions_of_the_first_documents(tmp_path: Path, limit: int) -> None:
    index = open_index(make_corpus(tmp_path), limit_documents=limit)
    counted = index.document_counts(QUERIES, UNIONS)
    texts = TEXTS[:limit]
    expected = [oracle.union_documents(union, texts) for union in UNIONS]
    assert [union.value for union in counted.unions] == expected
    assert [count.occurrences for count in counted.counts] == oracle.tally(QUERIES, texts)[0]


def test_counts_are_document_counts_without_unions(tmp_path: Path) -> None:
    index = open_index(make_corpus(tmp_path))
    counted = index.document_counts(QUERIES, [])
    assert counted.unions == []
    plain = list(index.counts(QUERIES))
    assert [(c.query, c.occurrences, c.documents) for c in plain] == [
        (c.query, c.occurrences, c.documents) for c in counted.counts
    ]


def test_unions_of_a_sample_are_estimated_from_those_of_its_files(tmp_path: Path) -> None:
    index = open_index(make_corpus(tmp_path, n_files=60), sample="20", seed=3)
    counted = index.document_counts(QUERIES, UNIONS)
    sample = take_sample(open_corpus(str(tmp_path)).files, "20", 3)
    drawn = [per_file(60)[int(Path(file.path).stem)] for file in sample.files]
    for union, estimate in zip(UNIONS, counted.unions, strict=True):
        documents = [oracle.union_documents(union, texts) for texts in drawn]
        assert estimate == estimate_total(sample, documents)
    assert counted.unions[0].low is not None
    assert "too rare" in counted.unions[4].note
    assert counted.counts[0].documents_estimate is not None
    everything = open_index(tmp_path, sample="100%").document_counts(QUERIES, UNIONS)
    assert [union.value for union in everything.unions] == [
        oracle.union_documents(union, TEXTS) for union in UNIONS
    ]


# Journal


def test_a_run_with_unions_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "corpus")
    broken = folder / "003.jsonl"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-5])
    with Journal(tmp_path / "j.sqlite") as journal:
        with pytest.raises(CorpusError, match=r"003\.jsonl:200"):
            open_index(folder, journal).document_counts(QUERIES, UNIONS)
        broken.write_bytes(whole)
        # What is in the journal is not read again, or this would be an error.
        spoil([path for path in sorted(folder.iterdir()) if path != broken])
        check(open_index(folder, journal).document_counts(QUERIES, UNIONS))
        with pytest.raises(CorpusError):
            open_index(folder, journal).document_counts(QUERIES, UNIONS[:1])


def spoil(paths: list[Path]) -> None:
    """Make files unreadable as documents, though neither their size nor their time tells."""
    for path in paths:
        status = path.stat()
        path.write_bytes(b"{" * status.st_size)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


OLD_REQUESTS = [
    pytest.param(
        ReadOptions(),
        False,
        "a61527ab9292555c9d0bb6918209457850a9741fe8c21300fa7a2f09ec34396f",
        id="defaults",
    ),
    pytest.param(
        ReadOptions("body", True, ("*/a", "b")),
        True,
        "459ccc5abe6990eb61c9e39ce77b8144636b2c0a7f90522b4eacbfddc9317180",
        id="all options",
    ),
]


@pytest.mark.parametrize(("read", "ignore_case", "request_hash"), OLD_REQUESTS)
def test_journals_from_before_there_were_unions_are_of_use(
    tmp_path: Path, read: ReadOptions, ignore_case: bool, request_hash: str
) -> None:
    folder = make_corpus(tmp_path / "corpus")
    spoil(sorted(folder.iterdir()))
    old = {"occurrences": [3, 1], "documents": [2, 1], "documents_read": 7, "bytes_read": 70}
    old |= {"bytes_consumed": 100, "skipped": 0}
    with Journal(tmp_path / "j.sqlite") as journal:
        for piece in open_corpus(str(folder)).pieces():
            journal.put("scan", piece.identity, request_hash, json.dumps(old))
        index = open_index(folder, journal, read=read, ignore_case=ignore_case)
        counts = list(index.counts(["solve for", "é"]))
        assert [(c.occurrences, c.documents) for c in counts] == [(18, 12), (6, 6)]
        assert index.size() == IndexSize(42, 420)
        (found,) = index.find(["é"])
        assert found.occurrences == 6
        # They have no unions.
        with pytest.raises(CorpusError, match="no JSON"):
            open_index(folder, journal).document_counts(["solve for", "é"], [["é"]])
