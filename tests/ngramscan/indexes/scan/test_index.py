"""Counts of scanned corpora, and the journal that keeps them: against brute force."""

from pathlib import Path
from typing import Any

import pytest

from ngramscan import count
from ngramscan.corpora import open_corpus
from ngramscan.errors import CorpusError, InputError, WorkerLostError
from ngramscan.indexes.base import DocumentCounts, IndexSize
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan import pieces as scan_pieces
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.indexes.scan.sampling import estimate_total, take_sample
from ngramscan.journal import Journal
from ngramscan.progress import SILENT, Progress
from ngramscan.statistics.estimates import Estimate
from tests.support import corpus_files, oracle
from tests.support.hard_texts import F1, make_texts
from tests.support.recorder import Recorder

QUERIES = [*F1, "aa", "a", "é", "ภาษา", "step\nby", "nowhere at all"]
UNIONS = [F1, ["aa", "ภาษา"], ["a", "aa"], ["é", "é", "step\nby"], ["nowhere at all"], []]
TEXTS = make_texts(600)


def parts(n_files: int) -> list[list[str]]:
    size = len(TEXTS) // n_files
    return [TEXTS[start : start + size] for start in range(0, len(TEXTS), size)]


def make_corpus(folder: Path) -> Path:
    for number, texts in enumerate(parts(6)):
        (folder / f"{number:03}.jsonl").write_bytes(corpus_files.jsonl(texts))
    return folder


def open_index(
    path: Path, journal: Journal | None = None, progress: Progress = SILENT, **options: Any
) -> ScanIndex:
    corpus = open_corpus(str(path), skip_unknown=options.get("skip_unknown", False))
    return ScanIndex(corpus, IndexOptions(**options), progress, journal)


def check(counted: DocumentCounts, texts: list[str], times: int = 1) -> None:
    occurrences, documents = oracle.tally(QUERIES, texts)
    assert [count.query for count in counted.counts] == QUERIES
    assert [count.occurrences for count in counted.counts] == [times * n for n in occurrences]
    assert [count.documents for count in counted.counts] == [times * n for n in documents]
    in_unions = [times * oracle.union_documents(union, texts) for union in UNIONS]
    assert counted.unions == [Estimate(n, n, n, 0.95) for n in in_unions]


def test_a_scan_counts_occurrences_and_documents_and_its_size(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["step by step by step", "", "é step", "aaa"])
    index = open_index(path)
    assert index.size() == IndexSize(None, None)
    counts = list(index.counts(["step by step", "step", "aa", "é"]))
    assert [(count.query, count.occurrences, count.documents) for count in counts] == [
        ("step by step", 2, 1),
        ("step", 4, 2),
        ("aa", 2, 1),
        ("é", 1, 1),
    ]
    assert {count.source for count in counts} == {"scan"}
    assert index.size() == IndexSize(4, 20 + 7 + 3)


@pytest.mark.parametrize("workers", [1, 2])
def test_counts_and_unions_are_those_of_brute_force(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_pieces, "LEAST_TASK_BYTES", 1)
    index = open_index(make_corpus(tmp_path), workers=workers)
    check(index.document_counts(QUERIES, UNIONS), TEXTS)
    assert index.size() == IndexSize(600, sum(len(text.encode()) for text in TEXTS))


@pytest.mark.parametrize("limit", [1, 99, 100, 101, 5000])
def test_only_the_first_documents_are_counted_on_request(tmp_path: Path, limit: int) -> None:
    index = open_index(make_corpus(tmp_path), limit_documents=limit)
    counted = index.document_counts(QUERIES, UNIONS)
    check(counted, TEXTS[:limit])
    n_documents = min(limit, 600)
    assert {c.note for c in counted.counts} == {f"only the first {n_documents} documents"}


def test_unions_of_a_sample_are_estimated_from_those_of_its_files(tmp_path: Path) -> None:
    for number, texts in enumerate(parts(60)):
        (tmp_path / f"{number:03}.jsonl").write_bytes(corpus_files.jsonl(texts))
    index = open_index(tmp_path, sample_files="20", seed=3)
    counted = index.document_counts(QUERIES, UNIONS)
    sample = take_sample(open_corpus(str(tmp_path)).files, "20", 3)
    drawn = [parts(60)[int(Path(file.path).stem)] for file in sample.files]
    assert counted.unions == [
        estimate_total(sample, [oracle.union_documents(union, texts) for texts in drawn])
        for union in UNIONS
    ]
    assert counted.unions[0].low is not None
    assert "too rare" in counted.unions[4].note
    everything = open_index(tmp_path, sample_files="100%").document_counts(QUERIES, UNIONS)
    check(everything, TEXTS)


def test_what_is_skipped_is_in_notes(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'{broken\n{"text": "A a"}\n')
    (tmp_path / "c.xml").touch()
    recorder = Recorder()
    options = {"skip_bad_lines": True, "ignore_case": True, "skip_unknown": True}
    (counted,) = open_index(tmp_path, None, recorder, **options).counts(["a"])
    assert counted.occurrences == 2
    assert counted.note == "ASCII case ignored; skipped: 1 not valid JSON"
    told = ["files of unknown formats left out: 1", "skipped: 1 not valid JSON"]
    assert recorder.notices == [f"scan:{tmp_path}: {text}" for text in told]


def test_the_embedded_corpus_has_patterns_of_all_methods() -> None:
    frame = count("f1", index="python", limit_documents=1500)
    found = frame.groupby("method")["occurrences"].sum()
    assert set(found.index) == {"CoT", "PoT", "FP/F-1"}
    assert found.min() > 0
    assert (frame["documents"] <= frame["occurrences"]).all()


# Journal


def test_cut_files_are_named_and_the_others_are_not_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in corpus_files.WRITERS:
        corpus_files.write(folder, name, TEXTS)
    whole = (folder / "c.jsonl.gz").read_bytes()
    cut = folder / "cut.jsonl.gz"
    with Journal(tmp_path / "j.sqlite") as journal:
        cut.write_bytes(whole[: len(whole) // 2])
        (folder / "bad.txt").write_bytes(b"\xff")
        with pytest.raises(CorpusError, match=r"/bad\.txt: .*; and 1 more can't be read"):
            open_index(folder, journal).document_counts(QUERIES, UNIONS)
        (folder / "bad.txt").unlink()
        index = open_index(folder, journal)
        with pytest.raises(CorpusError, match=r"/cut\.jsonl\.gz:\d+: the file is truncated"):
            index.document_counts(QUERIES, UNIONS)
        assert index.size() == IndexSize(None, None)
        cut.write_bytes(whole)
        recorder = Recorder()
        check(open_index(folder, journal, recorder).document_counts(QUERIES, UNIONS), TEXTS, 7)
    assert recorder.notices == [
        f"scan:{folder}: using cached results for 6 of 7 parts (--refresh to read again)"
    ]
    assert recorder.details == [f"{cut}: read"]


def test_memory_that_is_short_is_an_error_of_the_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_all(*_: object, **_more: object) -> None:
        raise MemoryError

    monkeypatch.setattr(scan_pieces, "count_piece", take_all)
    with pytest.raises(WorkerLostError, match="out of memory; use fewer --workers"):
        list(open_index(make_corpus(tmp_path), workers=1).counts(["a"]))


def test_a_scan_needs_no_journal_but_one_that_is_named_must_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = f"scan:{corpus_files.write(tmp_path, 'c.jsonl', ['solve for x'])}"
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    recorder = Recorder()
    assert count("f1", index=spec, progress=recorder)["occurrences"].sum() > 0
    assert recorder.notices[0].endswith("; replies of this run are not kept")
    with pytest.raises(InputError, match='journal="/proc/nowhere/j'):
        count("f1", index=spec, journal="/proc/nowhere/j.sqlite")
