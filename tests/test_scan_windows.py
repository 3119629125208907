"""Occurrences of scanned corpora, numbered and looked at: against the definition."""

from __future__ import annotations

import gzip
import json
import os
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ngramscan import matching
from ngramscan.corpora import PythonCorpus, ReadOptions, open_corpus
from ngramscan.corpora import jsonl as jsonl_module
from ngramscan.corpora import parquet as parquet_module
from ngramscan.corpora.base import Corpus
from ngramscan.errors import CorpusError, EngineError, InputError
from ngramscan.indexes.base import (
    Found,
    Place,
    Segment,
    Window,
    WindowFailure,
)
from ngramscan.indexes.scan import counting as scanning
from ngramscan.indexes.scan import pieces as scan_pieces
from ngramscan.indexes.scan.excerpts import cut_ends
from ngramscan.indexes.scan.index import ScanIndex, ScanOptions
from ngramscan.journal import Journal
from ngramscan.progress import Silent
from tests import corpus_files, oracle
from tests.test_formats import make_texts
from tests.test_matching import SkipsOverlaps

QUERIES = ["step by step", "aa", "a", "é", "ภาษา", "😀", "\x00", "step\nby", "nowhere at all"]
WHOLE = ScanIndex.longest_context


@dataclass
class Made:
    """A corpus and the documents in it."""

    corpus: Corpus
    texts: list[str]
    names: list[str]
    """Of each document."""


class Recorder(Silent):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.expected: list[int] = []
        self.advanced = 0

    def expect(self, amount: int, unit: str) -> None:
        assert unit == "bytes"
        if amount:
            self.expected.append(amount)

    def advance(self, amount: int, unit: str) -> None:
        assert unit == "bytes"
        self.advanced += amount


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


def make_texts_alone(folder: Path, texts: list[str]) -> Made:
    for number, text in enumerate(texts):
        (folder / f"{number:04}.txt").write_bytes(text.encode())
    names = [f"{folder / f'{number:04}.txt'}:1" for number in range(len(texts))]
    return Made(open_corpus(str(folder)), texts, names)


def make_sources(folder: Path, texts: list[str]) -> Made:
    (folder / "latin.py").write_bytes("# coding: latin-1\n# é aaa\n".encode("latin-1"))
    (folder / "binary.py").write_bytes(b"# \xe9 a\n")
    for number, text in enumerate(texts):
        (folder / f"{number:04}.py").write_bytes(text.encode())
    names = [f"{folder / f'{number:04}.py'}:1" for number in range(len(texts))]
    added = "# coding: latin-1\n# é aaa\n"
    return Made(PythonCorpus([folder]), [*texts, added], [*names, f"{folder / 'latin.py'}:1"])


KINDS = [*corpus_files.WRITERS, "parts of JSON lines", "parts of Parquet", "text", "python"]


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    kind, texts = request.param, make_texts(150)
    match kind:
        case "parts of JSON lines":
            monkeypatch.setattr(jsonl_module, "PART_BYTES", 700)
            made = make_gaps(tmp_path, texts)
            assert len(made.corpus.pieces()) > 10
        case "parts of Parquet":
            (tmp_path / "c.parquet").write_bytes(corpus_files.parquet(texts, rows=20))
            monkeypatch.setattr(parquet_module, "PART_BYTES", 1000)
            names = [f"{tmp_path / 'c.parquet'}:{row}" for row in range(1, 151)]
            made = Made(open_corpus(str(tmp_path)), texts, names)
            assert len(made.corpus.pieces()) > 3
        case "text":
            made = make_texts_alone(tmp_path, texts)
        case "python":
            # What declares an encoding, or none, is not the matter here.
            made = make_sources(tmp_path, [text for text in texts if "coding" not in text])
        case _:
            made = make_files(tmp_path, kind, texts)
    return made


def open_index(made: Made, **options: Any) -> ScanIndex:
    return ScanIndex(made.corpus, ScanOptions(**options), Silent())


def all_places(founds: Sequence[Found]) -> list[Place]:
    return [
        Place(found.query, segment.shard, rank)
        for found in founds
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


def check(made: Made, index: ScanIndex, queries: Sequence[str], texts: Sequence[str]) -> None:
    """Compare all occurrences of some queries with the definition."""
    founds = list(index.find(queries))
    assert [found.query for found in founds] == list(queries)
    places = all_places(founds)
    windows = windows_of(index, random.Random(3).sample(places, len(places)))
    for query in queries:
        expected = oracle.places(query, texts)
        ranks = [Place(query, 0, rank) for rank in range(len(expected))]
        assert [place for place in places if place.query == query] == ranks
        for place, (number, start) in zip(ranks, expected, strict=True):
            window = windows[place]
            assert window.document == made.names[number]
            assert (window.text.decode(), window.offset) == (made.texts[number], start)
            assert window.document_bytes == len(window.text)
            assert window.starts_document


def test_every_occurrence_is_where_the_definition_says(made: Made) -> None:
    index = open_index(made)
    check(made, index, QUERIES, made.texts)
    assert list(index.find(["nowhere at all"])) == [Found("nowhere at all", ())]


def test_processes_find_the_same(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_pieces, "LEAST_TASK_BYTES", 1)
    check(made, open_index(made, workers=2), QUERIES[:3], made.texts)


def test_text_is_cut_between_characters_and_never_by_more_than_three_bytes(made: Made) -> None:
    index = open_index(made)
    queries = ["é", "ภาษา", "aa", "😀", "step"]
    for context in (0, 1, 2, 3, 4, 7, 50):
        places = all_places(list(index.find(queries)))
        windows = windows_of(index, places, context)
        for query in queries:
            for rank, (number, start) in enumerate(oracle.places(query, made.texts)):
                window = windows[Place(query, 0, rank)]
                before, behind = oracle.around(made.texts[number], start, query, context)
                assert window.text.decode() == before + query + behind
                assert window.offset == len(before.encode())
                assert window.offset >= min(start, context - 3)
                assert window.starts_document == (window.offset == start)
                assert window.document_bytes == len(made.texts[number].encode())


def test_metadata_say_where_a_document_is_and_comes_from(made: Made) -> None:
    index = open_index(made)
    windows = windows_of(index, all_places(list(index.find(["a"]))))
    assert windows
    for window in windows.values():
        path, _, record = window.document.rpartition(":")
        metadata = json.loads(window.metadata)
        assert (metadata.pop("path"), metadata.pop("record")) == (path, int(record))
        if path.endswith((".py", ".txt")):
            assert metadata == {}
        else:
            assert metadata.pop("source").startswith("https://example.org/")
            assert metadata == {}


@pytest.mark.parametrize("name", ["c.jsonl", "c.parquet"])
def test_ignoring_case_is_looking_in_lower_case_of_ascii_letters(tmp_path: Path, name: str) -> None:
    texts = ["Aa AA aA É é Step BY step", "xAAAx", "ééÉ STEP by STEP"]
    made = make_files(tmp_path, name, texts)
    lower = [text.translate({ord(c): c.lower() for c in "ABESTPY"}) for text in texts]
    index = open_index(made, ignore_case=True)
    check(made, index, ["aa", "é", "step by step"], lower)
    (found,) = index.find(["STEP by"])
    assert found.occurrences == 2
    windows = windows_of(index, all_places([found]), 3)
    texts_found = [windows[place].text for place in all_places([found])]
    assert texts_found == ["é Step BY st".encode(), "É STEP by ST".encode()]


@pytest.mark.parametrize("name", ["c.jsonl", "c.parquet", "c.jsonl.gz", "c.warc.wet"])
def test_only_the_first_documents_are_numbered_on_request(tmp_path: Path, name: str) -> None:
    made = make_files(tmp_path, name, make_texts(120), n_files=4)
    for limit in (1, 29, 30, 31, 119, 120, 500):
        index = open_index(made, limit_documents=limit)
        check(made, index, ["a", "step by step"], made.texts[:limit])


def test_ranks_are_of_the_files_that_were_drawn(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", make_texts(100), n_files=10)
    index = open_index(made, sample="3", seed=2)
    (found,) = index.find(["a"])
    windows = windows_of(index, all_places([found]))
    drawn = {window.document.rpartition(":")[0] for window in windows.values()}
    assert len(drawn) == 3
    pairs = zip(made.names, made.texts, strict=True)
    texts = [text for name, text in pairs if name.rpartition(":")[0] in drawn]
    expected = [(texts[number], start) for number, start in oracle.places("a", texts)]
    places = all_places([found])
    found_there = [(windows[place].text.decode(), windows[place].offset) for place in places]
    assert found_there == expected


def test_documents_that_do_not_belong_are_not_numbered(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", make_texts(90), n_files=1)
    index = open_index(made, read=ReadOptions(exclude_sources=("*/wiki/*",)))
    keep = [number for number in range(90) if number % 3]
    made.names = [made.names[number] for number in keep]
    made.texts = [made.texts[number] for number in keep]
    check(made, index, ["a", "step by step"], made.texts)


def test_lines_that_are_skipped_count_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{broken\n{"text": "aa"}\n\n{"text": "\xff"}\n{"text": "xa", "id": 7}\n')
    made = Made(open_corpus(str(path)), ["aa", "xa"], [f"{path}:2", f"{path}:5"])
    index = open_index(made, read=ReadOptions(skip_bad_lines=True))
    check(made, index, ["a"], made.texts)
    (window,) = windows_of(index, [Place("a", 0, 2)]).values()
    assert json.loads(window.metadata) == {"path": str(path), "record": 5, "source": "7"}


@pytest.mark.parametrize("query", ["ab" * 4_000, "a\0b", "\0", "\\frac{", ".*"])
def test_special_queries_are_found_again(tmp_path: Path, query: str) -> None:
    made = make_files(tmp_path, "c.jsonl", [f"x{query}{query}", query[:-1], f"é{query}é"])
    check(made, open_index(made), [query], made.texts)


def test_what_a_scan_knows_of_a_place(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", ["aa", "xé by é"], n_files=1)
    (window,) = open_index(made).windows([Place("by", 0, 0)], 2)
    path = tmp_path / "0c.jsonl"
    metadata = {"path": str(path), "record": 2, "source": "https://example.org/blog/1"}
    assert window == Window(
        place=Place("by", 0, 0),
        document=f"{path}:2",
        document_bytes=9,
        text=b" by ",
        offset=1,
        starts_document=False,
        metadata=json.dumps(metadata),
    )
    assert isinstance(window, Window)
    assert (window.is_truncated, window.hidden_bytes) == (True, 5)


def test_a_place_that_is_asked_for_twice_comes_twice(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", ["aa", "b", "a"])
    places = [Place("a", 0, 2), Place("a", 0, 0), Place("a", 0, 2), Place("b", 0, 0)]
    windows = list(open_index(made).windows(places, 5))
    assert sorted(str(w.place) for w in windows) == sorted(map(str, places))
    assert list(open_index(made).windows([], 5)) == []


def test_a_place_that_is_not_there_fails_alone(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", ["aa", "b"])
    index = open_index(made)
    wrong = [Place("a", 0, 2), Place("a", 0, -1), Place("b", 1, 0), Place("c", 0, 0)]
    results = list(index.windows([*wrong, Place("a", 0, 1)], 5))
    failed = [result for result in results if isinstance(result, WindowFailure)]
    assert [failure.place for failure in failed] == wrong
    assert all(isinstance(failure.error, InputError) for failure in failed)
    assert str(failed[0].error) == (
        "occurrence 2 of 'a' in shard 0: not there: 2 were found, numbered from 0 in shard 0"
    )
    assert [result.place for result in results if isinstance(result, Window)] == [Place("a", 0, 1)]


# What is read


def test_only_pieces_with_wanted_occurrences_are_read_again(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", ["a" * 50] * 40, n_files=8)
    sizes = [piece.size or 0 for piece in made.corpus.pieces()]
    recorder = Recorder()
    index = ScanIndex(made.corpus, ScanOptions(), recorder)
    list(index.counts(["a", "b"]))
    assert recorder.expected == [sum(sizes)]
    # What was counted is known.
    assert list(index.find(["a", "b"])) == [Found("a", (Segment(0, 0, 2000),)), Found("b", ())]
    assert recorder.expected == [sum(sizes)]
    windows_of(index, [Place("a", 0, 250), Place("a", 0, 499), Place("a", 0, 1999)], 3)
    assert recorder.expected == [sum(sizes), sizes[1] + sizes[7]]
    windows_of(index, [Place("a", 0, 1000)], 3)
    assert recorder.expected == [sum(sizes), sizes[1] + sizes[7], sizes[4]]
    assert recorder.advanced == sum(recorder.expected)
    # What was not is counted with the first question.
    assert list(index.windows([Place("c", 0, 0)], 3))
    assert recorder.expected[3:] == [sum(sizes)]


def test_the_lines_before_a_part_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_module, "PART_BYTES", 1000)
    monkeypatch.setattr(jsonl_module, "_LINES_CHUNK_BYTES", 300)
    made = make_files(tmp_path, "c.jsonl", ["a"] * 200, n_files=1)
    recorder = Recorder()
    index = ScanIndex(made.corpus, ScanOptions(), recorder)
    list(index.find(["a"]))
    recorder.expected.clear()
    recorder.advanced = 0
    windows = windows_of(index, [Place("a", 0, 30), Place("a", 0, 100), Place("a", 0, 150)])
    lines = sorted(int(window.document.rpartition(":")[2]) for window in windows.values())
    assert lines == [31, 101, 151]
    before, again = recorder.expected
    assert (before % 1000, again) == (0, 3000)
    assert recorder.advanced == before + again


def rewrite(path: Path, content: bytes) -> None:
    """Change a file so that neither its size nor its time tells."""
    status = path.stat()
    assert len(content) == status.st_size
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_piece_is_read_no_further_than_its_last_wanted_occurrence(tmp_path: Path) -> None:
    made = make_files(tmp_path, "c.jsonl", ["a" + "x" * 300_000] * 5, n_files=1)
    index = open_index(made)
    list(index.find(["a"]))
    path = Path(made.corpus.files[0].path)
    rewrite(path, path.read_bytes()[:-10] + b"{broken }\n")
    windows_of(index, [Place("a", 0, 1)])
    (failure,) = index.windows([Place("a", 0, 4)], 5)
    assert isinstance(failure, WindowFailure)
    assert isinstance(failure.error, CorpusError)
    assert failure.error.where == f"{path}:5"


@pytest.mark.parametrize("name", corpus_files.WRITERS)
def test_a_journal_knows_what_to_read_again(tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus").mkdir()
    made = make_files(tmp_path / "corpus", name, make_texts(150))
    with Journal(tmp_path / "j.sqlite") as journal:
        first = ScanIndex(made.corpus, ScanOptions(), Silent(), journal)
        founds = list(first.find(QUERIES))
        recorder = Recorder()
        second = ScanIndex(made.corpus, ScanOptions(), recorder, journal)
        assert list(second.find(QUERIES)) == founds
        assert recorder.expected == []
        places = all_places(founds)
        assert windows_of(second, places) == windows_of(first, places)


# What changed


def fail(index: ScanIndex, place: Place) -> CorpusError:
    (failure,) = index.windows([place], 5)
    assert isinstance(failure, WindowFailure)
    assert isinstance(failure.error, CorpusError)
    return failure.error


@pytest.mark.parametrize("name", ["c.jsonl", "c.warc.wet"])
def test_a_file_that_changed_is_noticed_by_its_time_and_others_are_read(
    tmp_path: Path, name: str
) -> None:
    made = make_files(tmp_path, name, ["aa", "aa"])
    index = open_index(made)
    list(index.find(["a"]))
    path = Path(made.corpus.files[0].path)
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(1, 1))
    error = fail(index, Place("a", 0, 1))
    assert str(error) == f"{path}: changed since it was found; count again"
    windows_of(index, [Place("a", 0, 2)])
    path.unlink()
    assert str(fail(index, Place("a", 0, 1))) == f"{path}: No such file or directory"


def test_a_source_that_changed_is_noticed(tmp_path: Path) -> None:
    made = make_sources(tmp_path, ["aa"])
    index = open_index(made)
    list(index.find(["a"]))
    (tmp_path / "0000.py").write_text("ab")
    os.utime(tmp_path / "0000.py", ns=(1, 1))
    assert "changed since it was found" in str(fail(index, Place("a", 0, 0)))


@pytest.mark.parametrize(
    "pack", [pytest.param(bytes, id="plain"), pytest.param(lambda c: gzip.compress(c, 0), id="gz")]
)
def test_fewer_occurrences_than_were_counted_are_no_window(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    path = tmp_path / ("c.jsonl.gz" if pack is not bytes else "c.jsonl")
    path.write_bytes(pack(corpus_files.jsonl(["aa", "aa"])))
    index = open_index(Made(open_corpus(str(path)), [], []))
    list(index.find(["a"]))
    rewrite(path, pack(corpus_files.jsonl(["aa", "ab"])))
    windows_of(index, [Place("a", 0, 2)])
    assert str(fail(index, Place("a", 0, 3))) == (
        f"{path}: changed since it was counted: it has 3 occurrences of 'a', there were 4 at least"
    )


def test_a_corpus_that_can_not_be_counted_has_no_windows(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "a')
    index = open_index(Made(open_corpus(str(tmp_path)), [], []))
    with pytest.raises(CorpusError, match=r"c\.jsonl:1"):
        list(index.windows([Place("a", 0, 0)], 5))


def test_an_engine_that_is_wrong_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "compile_engine", lambda *_: SkipsOverlaps())
    monkeypatch.setattr(scanning, "_kept", threading.local())
    made = make_files(tmp_path, "c.jsonl", [".", "x" * 60_000 + "aaa"])
    (failure,) = open_index(made).windows([Place("aa", 0, 0)], 5)
    assert isinstance(failure, WindowFailure)
    assert isinstance(failure.error, EngineError)
    assert "it counts 1 x 'aa' where brute force counts 2" in str(failure.error)


def test_text_that_is_not_utf_8_is_counted_but_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "c.warc.wet"
    records = [corpus_files.warc_record(n, text) for n, text in enumerate(["a", "xab\n?! a"])]
    path.write_bytes(corpus_files.WARC_INFO + b"".join(records).replace(b"?!", b"\xff\xe9"))
    index = open_index(Made(open_corpus(str(path)), [], []))
    places = all_places(list(index.find(["a"])))
    assert len(places) == 3
    shown, failed = index.windows(places[1:], 2)
    assert isinstance(failed, WindowFailure)
    assert isinstance(shown, Window)
    assert (shown.text, shown.document) == (b"xab\n", f"{path}:2")
    assert (str(failed.error), failed.place) == (
        f"{path}:2: not UTF-8 at byte 5 of the text",
        places[2],
    )


# Cutting


@pytest.mark.parametrize(
    ("context", "ends"),
    [
        (0, (9, 10)),
        (1, (9, 10)),
        (3, (9, 10)),
        (4, (5, 14)),
        (7, (5, 14)),
        (8, (1, 18)),
        (99, (0, 19)),
    ],
)
def test_ends_done_by_hand(context: int, ends: tuple[int, int]) -> None:
    content = "x😀😀a😀😀x".encode()
    assert cut_ends(content, 9, 10, context) == ends


def test_bytes_that_are_no_characters_are_cut_by_three_at_most() -> None:
    content = b"\x80" * 50 + b"a" + b"\x80" * 50
    assert cut_ends(content, 50, 51, 20) == (33, 68)
    assert cut_ends(content, 50, 51, 2) == (50, 51)
    assert cut_ends(content, 50, 51, 99) == (0, 101)
