"""Occurrences of scanned corpora, numbered and looked at: against the definition."""

import gzip
import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ngramscan.corpora import Corpus, PythonCorpus, open_corpus
from ngramscan.corpora import jsonl as jsonl_module
from ngramscan.corpora import parquet as parquet_module
from ngramscan.errors import EngineError, NgramscanError
from ngramscan.indexes.base import Occurrences, Place, Window, WindowFailure
from ngramscan.indexes.cutting import cut_ends
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan import counting
from ngramscan.indexes.scan import pieces as scan_pieces
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.journal import Journal
from ngramscan.matching import matcher
from ngramscan.progress import SILENT, Progress
from tests.support import corpus_files, oracle
from tests.support.hard_texts import make_texts
from tests.support.recorder import Recorder
from tests.support.sizes import slow
from tests.support.wrong_engine import SKIPS_OVERLAPS

QUERIES = ["step by step", "aa", "a", "é", "ภาษา", "😀", "\x00", "step\nby", "\\frac{", "nowhere"]
WHOLE = ScanIndex.longest_context


@dataclass
class Made:
    """A corpus and the documents in it."""

    corpus: Corpus
    texts: list[str]
    names: list[str]

    def keep(self, is_kept: Callable[[int, str], bool]) -> None:
        """Drop documents, by number and name; the corpus stays as it is."""
        kept = [n for n, name in enumerate(self.names) if is_kept(n, name)]
        self.texts, self.names = [self.texts[n] for n in kept], [self.names[n] for n in kept]


def make_files(folder: Path, name: str, texts: list[str], n_files: int = 2) -> Made:
    """Write the texts to some files of one format."""
    names = []
    for number in range(n_files):
        in_file = texts[number * len(texts) // n_files : (number + 1) * len(texts) // n_files]
        path = corpus_files.write(folder, name, in_file).rename(folder / f"{number}{name}")
        names += [f"{path}:{record}" for record in range(1, len(in_file) + 1)]
    return Made(open_corpus(str(folder)), texts, names)


def make_gaps(folder: Path, texts: list[str]) -> Made:
    """Write JSON lines with empty lines between, and a mark at the start."""
    path, draw = folder / "gaps.jsonl", random.Random(5)
    lines, names = [], []
    for line in corpus_files.jsonl(texts).splitlines():
        lines += [b""] * draw.choice([0, 0, 1, 3])
        lines.append(line)
        names.append(f"{path}:{len(lines)}")
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    return Made(open_corpus(str(path)), texts, names)


def make_alone(folder: Path, texts: list[str], suffix: str) -> Made:
    """Write a file per text."""
    paths = [folder / f"{number:04}{suffix}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    corpus = PythonCorpus([folder]) if suffix == ".py" else open_corpus(str(folder))
    return Made(corpus, texts, [f"{path}:1" for path in paths])


def make_sources(folder: Path, texts: list[str]) -> Made:
    (folder / "latin.py").write_bytes("# coding: latin-1\n# é aaa\n".encode("latin-1"))
    (folder / "binary.py").write_bytes(b"# \xe9 a\n")
    # What declares an encoding, or none, is not the matter here.
    made = make_alone(folder, [text for text in texts if "coding" not in text], ".py")
    made.texts.append("# coding: latin-1\n# é aaa\n")
    made.names.append(f"{folder / 'latin.py'}:1")
    return made


def make(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    texts = make_texts(80)
    match kind:
        case "parts of JSON lines":
            monkeypatch.setattr(jsonl_module, "PART_BYTES", 700)
            made = make_gaps(folder, texts)
        case "parts of Parquet":
            monkeypatch.setattr(parquet_module, "PART_BYTES", 1000)
            monkeypatch.setitem(
                corpus_files.WRITERS, "c.parquet", lambda texts: corpus_files.parquet(texts, rows=9)
            )
            made = make_files(folder, "c.parquet", texts, n_files=1)
        case "text":
            made = make_alone(folder, texts, ".txt")
        case "python":
            made = make_sources(folder, texts)
        case _:
            made = make_files(folder, kind, texts)
    assert len(made.corpus.pieces()) > (4 if kind.startswith("parts") else 1)
    return made


def open_index(made: Made, progress: Progress = SILENT, **options: Any) -> ScanIndex:
    return ScanIndex(made.corpus, IndexOptions(**options), progress)


def find(index: ScanIndex, queries: Sequence[str]) -> list[Place]:
    """Return all occurrences."""
    return [
        Place(found.query, segment.shard, rank)
        for found in index.find(queries)
        for segment in found.segments
        for rank in range(segment.low, segment.high)
    ]


def windows_of(
    index: ScanIndex, places: Sequence[Place], context: int = WHOLE
) -> dict[Place, Window]:
    windows = {}
    for window in index.windows(places, context):
        assert isinstance(window, Window), window
        windows[window.place] = window
    assert set(windows) == set(places)
    return windows


def check(
    made: Made,
    index: ScanIndex,
    queries: Sequence[str],
    contexts: Sequence[int] = (WHOLE,),
    fold: Callable[[str], str] = str,
) -> None:
    """Compare all occurrences of some queries with the definition."""
    expected = {
        Place(query, 0, rank): where
        for query in queries
        for rank, where in enumerate(oracle.places(fold(query), map(fold, made.texts)))
    }
    places = find(index, queries)
    assert places == list(expected)
    for context in contexts:
        windows = windows_of(index, random.Random(3).sample(places, len(places)), context)
        for place, (number, start) in expected.items():
            window, content = windows[place], made.texts[number].encode()
            stop = start + len(place.query.encode())
            before, behind = oracle.around(made.texts[number], start, place.query, context)
            there = content[start:stop].decode()
            assert window.text.decode() == before + there + behind
            assert window.offset == len(before.encode()) >= min(start, context - 3)
            assert window.starts_document == (window.offset == start)
            assert (window.document, window.document_bytes) == (made.names[number], len(content))


KINDS = [*corpus_files.WRITERS, "parts of JSON lines", "parts of Parquet", "text", "python"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_occurrence_is_where_the_definition_says(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(kind, tmp_path, monkeypatch)
    index = open_index(made)
    check(made, index, QUERIES, (WHOLE, 0, 1, 2, 3, 4, 7, 50))
    assert list(index.find(["nowhere"])) == [Occurrences("nowhere", ())]
    windows = windows_of(index, find(index, ["a"]), 5).values()
    metadata = [json.loads(window.metadata) for window in windows]
    names = [window.document.rpartition(":") for window in windows]
    assert [(row.pop("path"), row.pop("record")) for row in metadata] == [
        (path, int(record)) for path, _, record in names
    ]
    if kind not in {"text", "python"}:
        sources = [row.pop("source") for row in metadata]
        wrong = [text for text in sources if not text.startswith("https://example.org/")]
        assert wrong == []
    assert metadata == [{}] * len(names)


@pytest.mark.parametrize("kind", ["parts of JSON lines", slow("c.parquet")])
def test_processes_find_the_same(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_pieces, "LEAST_TASK_BYTES", 1)
    made = make(kind, tmp_path, monkeypatch)
    check(made, open_index(made, workers=2), QUERIES[:3])


def test_ignoring_case_is_looking_in_lower_case_of_ascii_letters(tmp_path: Path) -> None:
    texts = ["Aa AA aA É é Step BY step", "xAAAx", "ééÉ STEP by STEP"]
    made = make_files(tmp_path, "c.jsonl", texts)
    lower = {ord(letter): letter.lower() for letter in "ABESTPYX"}
    index, queries = open_index(made, ignore_case=True), ["aa", "é", "step by step", "STEP by"]
    check(made, index, queries, (WHOLE, 3), lambda text: text.translate(lower))


@pytest.mark.parametrize("limit", [500, 80, 79, 21, 20, 19, 1])
@pytest.mark.parametrize("name", ["c.jsonl", "c.parquet"])
def test_only_the_first_documents_are_numbered_on_request(
    tmp_path: Path, name: str, limit: int
) -> None:
    made = make_files(tmp_path, name, make_texts(80), n_files=4)
    made.keep(lambda number, _: number < limit)
    check(made, open_index(made, limit_documents=limit), ["a", "step by step"])


def test_ranks_are_of_the_files_that_were_drawn(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", make_texts(100), n_files=10)
    index = open_index(made, sample_files="3", seed=2)
    windows = windows_of(index, find(index, ["a"])).values()
    drawn = {window.document.rpartition(":")[0] for window in windows}
    assert len(drawn) == 3
    made.keep(lambda _, name: name.rpartition(":")[0] in drawn)
    check(made, index, ["a"])


def test_documents_that_do_not_belong_are_not_numbered(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", make_texts(90), n_files=1)
    made.keep(lambda number, _: bool(number % 3))
    check(made, open_index(made, exclude_source=("*/wiki/*",)), ["a", "step by step"])


def test_lines_that_are_skipped_count_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{broken\n{"text": "aa"}\n\n{"text": "\xff"}\n{"text": "xa", "id": 7}\n')
    made = Made(open_corpus(str(path)), ["aa", "xa"], [f"{path}:2", f"{path}:5"])
    index = open_index(made, skip_bad_lines=True)
    check(made, index, ["a"])
    (window,) = windows_of(index, [Place("a", 0, 2)]).values()
    assert json.loads(window.metadata) == {"path": str(path), "record": 5, "source": "7"}
    assert (window.is_truncated, window.document_bytes - len(window.text)) == (False, 0)


def test_places_that_are_asked_for_twice_or_are_not_there(tmp_path: Path) -> None:
    index = open_index(make_files(tmp_path, "c.jsonl", ["aa", "b", "a"]))
    wrong = [Place("a", 0, 3), Place("a", 0, -1), Place("b", 1, 0), Place("c", 0, 0)]
    right = [Place("a", 0, 2), Place("a", 0, 0), Place("a", 0, 2), Place("b", 0, 0)]
    results = list(index.windows([*wrong, *right], 5))
    failed = [result for result in results if isinstance(result, WindowFailure)]
    assert [failure.place for failure in failed] == wrong
    assert str(failed[0].error) == (
        "occurrence 3 of 'a' in shard 0: not there: 3 were found, numbered from 0 in shard 0"
    )
    windows = [result.place for result in results if isinstance(result, Window)]
    assert sorted(map(str, windows)) == sorted(map(str, right))
    assert list(index.windows([], 5)) == []


# What changed


def rewrite(path: Path, content: bytes) -> None:
    """Change a file so that neither its size nor its time tells."""
    status = path.stat()
    assert len(content) == status.st_size
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def fail(index: ScanIndex, place: Place) -> NgramscanError:
    (failure,) = index.windows([place], 5)
    assert isinstance(failure, WindowFailure)
    assert failure.place == place
    return failure.error


def test_a_piece_is_read_no_further_than_its_last_wanted_occurrence(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", ["a" + "x" * 300_000] * 5, n_files=1)
    path = Path(made.corpus.files[0].path)
    index = open_index(Made(open_corpus(f"local://{path}"), [], []))  # as on a store
    list(index.find(["a"]))
    rewrite(path, path.read_bytes()[:-10] + b"{broken }\n")
    windows_of(index, [Place("a", 0, 1)])
    assert str(fail(index, Place("a", 0, 4))).startswith(f"file://{path}:5: ")


def test_a_journal_knows_what_to_read_again(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    made, recorder = make_files(tmp_path / "corpus", "c.jsonl", make_texts(60)), Recorder()
    with Journal(tmp_path / "j.sqlite") as journal:
        list(ScanIndex(made.corpus, IndexOptions(), SILENT, journal).find(QUERIES))
        index = ScanIndex(made.corpus, IndexOptions(), recorder, journal)
        list(index.find(QUERIES))
        assert recorder.advanced == 0
        check(made, index, QUERIES)


def test_a_file_that_changed_is_noticed_by_its_time_and_others_are_read(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", ["aa", "aa"])
    index = open_index(made)
    list(index.find(["a"]))
    path = Path(made.corpus.files[0].path)
    os.utime(path, ns=(1, 1))
    error = fail(index, Place("a", 0, 1))
    assert str(error) == f"{path}: changed since it was found; run the same command again"
    windows_of(index, [Place("a", 0, 2)])
    path.unlink()
    assert str(fail(index, Place("a", 0, 1))) == f"{path}: No such file or directory"


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_fewer_occurrences_than_were_counted_are_no_window(tmp_path: Path, suffix: str) -> None:
    def pack(texts: list[str]) -> bytes:
        content = corpus_files.jsonl(texts)
        return gzip.compress(content, 0) if suffix.endswith(".gz") else content

    path = tmp_path / f"c{suffix}"
    path.write_bytes(pack(["aa", "aa"]))
    index = open_index(Made(open_corpus(f"local://{path}"), [], []))  # as on a store
    list(index.find(["a"]))
    rewrite(path, pack(["aa", "ab"]))
    windows_of(index, [Place("a", 0, 2)])
    assert str(fail(index, Place("a", 0, 3))) == (
        f"file://{path}: changed since it was counted:"
        " it has 3 occurrences of 'a', there were 4 at least"
    )


def test_an_engine_that_is_wrong_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matcher, "compile_engine", lambda *_: SKIPS_OVERLAPS)
    counting._matcher.cache_clear()
    made = make_files(tmp_path, "c.jsonl", [".", "x" * 60_000 + "aaa"])
    error = fail(open_index(made), Place("aa", 0, 0))
    counting._matcher.cache_clear()
    assert isinstance(error, EngineError)
    assert "it counts 1 x 'aa' where brute force counts 2" in str(error)


def test_text_that_is_not_utf_8_is_counted_but_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "c.warc.wet"
    records = [corpus_files.warc_record(n, text) for n, text in enumerate(["a", "xab\n?! a"])]
    path.write_bytes(corpus_files.WARC_INFO + b"".join(records).replace(b"?!", b"\xff\xe9"))
    index = open_index(Made(open_corpus(str(path)), [], []))
    places = find(index, ["a"])
    assert len(places) == 3
    (shown,) = windows_of(index, [places[1]], 2).values()
    assert (shown.text, shown.document) == (b"xab\n", f"{path}:2")
    assert (shown.is_truncated, shown.document_bytes - len(shown.text)) == (True, 4)
    assert str(fail(index, places[2])) == f"{path}:2: not UTF-8 at byte 4 of the text"


# Cutting


@pytest.mark.parametrize(
    ("context", "low", "high"),
    [
        (0, 9, 10),
        (1, 9, 10),
        (3, 9, 10),
        (4, 5, 14),
        (7, 5, 14),
        (8, 1, 18),
        (99, 0, 19),
    ],
)
def test_ends_done_by_hand(context: int, low: int, high: int) -> None:
    assert cut_ends("x😀😀a😀😀x".encode(), 9, 10, context) == (low, high)
