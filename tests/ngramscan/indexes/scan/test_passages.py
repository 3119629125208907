"""Windows and passages of a scanned corpus: against their definition."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ngramscan.corpora import jsonl as jsonl_module
from ngramscan.corpora import open_corpus
from ngramscan.corpora import parquet as parquet_module
from ngramscan.errors import CorpusError, InputError
from ngramscan.indexes.base import FoundPassages, SoughtTexts
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.journal import Journal
from ngramscan.matching import normalized
from ngramscan.progress import SILENT, Progress
from tests.support import corpus_files, passage_oracle
from tests.support.places import ROOT
from tests.support.recorder import Recorder

WORDS = [
    *("the", "a", "Of", "THE", "well-known", "snake_case", "_emphasis_", "x", "ab", "don't"),
    *("antidisestablishmentarianism", "antidisestablishmentarianist", "extraordinary"),
    *("naïve", "Straße", "ЯБЛОКО", "ΣΊΣΥΦΟΣ", "cafe\u0301", "ﬁne", "数学", "ภาษา", "e\u200bx"),
    *("<b>bold</b>", "&amp;", "[so](http://a.b/c)", "1,500", "10²", "½", "\x00", "😀"),
]
BETWEEN = [" ", " ", " ", ", ", "\n", "-\n", "- \r\n", " — ", "… ", " “", "\u00a0", "\u2028", "_ "]


def draw_text(draw: random.Random, n_words: int) -> str:
    return "".join(draw.choice(WORDS) + draw.choice(BETWEEN) for _ in range(n_words))


def edited(draw: random.Random, text: str) -> str:
    """Return a text with other words, in other letters, or a part of it."""
    words = text.split(" ")
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(words) + 1)
        words[at : at + draw.randrange(2)] = [draw.choice(WORDS)] * draw.randrange(2)
    changed = draw.choice([" ", "\n", "  "]).join(words)
    return draw.choice([changed, changed.upper(), changed[len(changed) // 3 :]])


def make_sought(
    texts: Sequence[str], width: int = 3, least_share: float = 0.2, context: int = 20, most: int = 3
) -> SoughtTexts:
    words = [normalized(text, "words").split() for text in texts]
    return SoughtTexts(words, [[] for _ in texts], width, least_share, context, most)


def make_texts(draw: random.Random) -> tuple[list[str], list[str]]:
    """Return texts that are sought, and documents that have some of them, changed."""
    texts = [draw_text(draw, draw.choice([1, 2, 3, 6, 20])) for _ in range(12)]
    texts += [texts[0], texts[1], "", "—"]
    documents = []
    for _ in range(60):
        parts = [draw_text(draw, draw.randrange(30))]
        for _ in range(draw.randrange(4)):
            parts += [edited(draw, draw.choice(texts)), draw_text(draw, draw.randrange(5))]
        documents.append(draw.choice([" ", "\n"]).join(parts))
    return texts, documents


def check(sought: SoughtTexts, located: FoundPassages, texts: list[str], names: list[str]) -> None:
    """Compare counts and passages with the definition."""
    assert located.errors == []
    assert located.occurrences == passage_oracle.occurrences(sought, texts)
    expected = passage_oracle.passages(sought, texts)
    shown = [(passage.text_number, passage.document) for passage in located.passages]
    assert shown == [(each.text_number, names[each.document]) for each in expected]
    for passage, each in zip(located.passages, expected, strict=True):
        assert passage.text in texts[each.document].replace("\ufeff", "")
        words = passage_oracle.words_of(passage.text, sought.texts)
        n = len(each.words)
        assert any(words[at : at + n] == each.words for at in range(len(words))), each
        path, _, record = passage.document.rpartition(":")
        metadata = json.loads(passage.metadata)
        assert (metadata["path"], str(metadata["record"])) == (path, record)


def open_index(path: Path, progress: Progress = SILENT, **options: Any) -> ScanIndex:
    return ScanIndex(open_corpus(str(path)), IndexOptions(**options), progress)


@pytest.mark.parametrize("seed", range(12))
def test_counts_and_passages_are_those_of_the_definition(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    texts, documents = make_texts(draw)
    path = corpus_files.write(tmp_path, "c.jsonl", documents)
    sought = make_sought(texts, width=draw.choice([1, 2, 3, 4]), most=draw.choice([1, 3, 100]))
    names = [f"{path}:{number}" for number in range(1, len(documents) + 1)]
    check(sought, open_index(path).passages(sought), documents, names)


@pytest.mark.parametrize("name", corpus_files.WRITERS)
def test_every_format_has_the_same_passages(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_module, "PART_BYTES", 700)
    monkeypatch.setattr(parquet_module, "PART_BYTES", 1000)
    texts, documents = make_texts(random.Random(100))
    names = []
    for number, first in enumerate((0, 20, 50)):
        in_file = documents[first : (20, 50, 60)[number]]
        path = corpus_files.write(tmp_path, name, in_file).rename(tmp_path / f"{number}{name}")
        names += [f"{path}:{record}" for record in range(1, len(in_file) + 1)]
    sought = make_sought(texts)
    located = open_index(tmp_path).passages(sought)
    check(sought, located, documents, names)
    assert open_index(tmp_path, workers=2).passages(sought) == located


def test_metadata_have_path_record_and_source(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["nothing", "one two three four five"])
    (passage,) = open_index(path).passages(make_sought(["one two three"])).passages
    source = corpus_files.url(1)
    assert json.loads(passage.metadata) == {"path": str(path), "record": 2, "source": source}
    alone = tmp_path / "alone.txt"
    alone.write_text("one two three")
    (passage,) = open_index(alone).passages(make_sought(["one two three"])).passages
    assert json.loads(passage.metadata) == {"path": str(alone), "record": 1}


@pytest.mark.parametrize(
    ("context", "text"),
    [
        pytest.param(0, "one — two\n THREE", id="none"),
        pytest.param(3, "é, one — two\n THREE. é", id="some"),
        pytest.param(100, "ééé, one — two\n THREE. ééé", id="the whole document"),
    ],
)
def test_context_is_on_both_sides(context: int, text: str, tmp_path: Path) -> None:
    documents = ["before", "ééé, one — two\n THREE. ééé", "after"]
    path = corpus_files.write(tmp_path, "c.jsonl", documents)
    sought = make_sought(["one two three"], context=context)
    (passage,) = open_index(path).passages(sought).passages
    assert passage.text == text


def test_a_window_does_not_reach_into_the_next_document(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["x one two", "three y", "one two three"])
    located = open_index(path).passages(make_sought(["one two three"]))
    assert located.occurrences == [[1]]
    assert [passage.document for passage in located.passages] == [f"{path}:3"]


@pytest.mark.parametrize("least_share", [0.2, 0.6])
def test_common_windows_alone_make_no_passage(least_share: float, tmp_path: Path) -> None:
    begin = "which of these is true about"
    texts = [f"{begin} a{n} b{n} c{n} d{n}" for n in range(60)]
    short = [f"{begin} e{n}" for n in range(3)]
    documents = [begin, f"{begin} a1 b1 x", f"{begin} a1 x", "b2 c2 d2", f"{begin} e1"]
    documents.append(f"{begin} a3 b3 x")
    path = corpus_files.write(tmp_path, "c.jsonl", documents)
    sought = make_sought([*texts, *short], least_share=least_share, most=2)
    names = [f"{path}:{number}" for number in range(1, len(documents) + 1)]
    located = open_index(path).passages(sought)
    check(sought, located, documents, names)
    numbers = [passage.text_number for passage in located.passages]
    assert numbers == [1, 3, 60, 60, 61, 61, 62, 62]


def test_options_that_choose_documents_choose_passages(tmp_path: Path) -> None:
    documents = ["one two three", "one two three x", "x one two three", "one two three y"]
    path = corpus_files.write(tmp_path, "c.jsonl", documents)
    sought = make_sought(["one two three"])

    def find(**options: Any) -> tuple[list[list[int | None]], list[str]]:
        located = open_index(path, **options).passages(sought)
        names = [passage.document.removeprefix(f"{path}:") for passage in located.passages]
        return located.occurrences, names

    assert find() == ([[4]], ["1", "2", "3"])
    assert find(limit_documents=2) == ([[2]], ["1", "2"])
    assert find(exclude_source=(corpus_files.url(0), corpus_files.url(2))) == ([[2]], ["2", "4"])


def test_the_journal_keeps_passages_and_damaged_ones_are_looked_for_again(tmp_path: Path) -> None:
    path, file = corpus_files.write(tmp_path, "c.jsonl", ["x one two three"]), tmp_path / "j.sqlite"
    sought, recorder = make_sought(["one two three"]), Recorder()

    def find(journal: Journal, sought: SoughtTexts) -> FoundPassages:
        return ScanIndex(open_corpus(str(path)), IndexOptions(), recorder, journal).passages(sought)

    with Journal(file) as journal, contextlib.closing(sqlite3.connect(file)) as connection:
        first = find(journal, sought)
        assert first.occurrences == [[1]]
        assert len(first.passages) == 1
        assert find(journal, sought) == first
        used = f"scan:{path}: using cached results for 1 of 1 parts (--refresh to read again)"
        assert recorder.notices == [used]
        for change in ({"most": 2}, {"context": 1}, {"least_share": 0.3}, {"width": 2}):
            assert find(journal, make_sought(["one two three"], **change)).passages
        assert find(journal, make_sought(["two three four"])).occurrences == [[0]]
        assert recorder.notices == [used]
        connection.execute("UPDATE replies SET reply = replace(reply, '\"0\":', '\"7\":')")
        connection.commit()
        assert find(journal, sought) == first
    damaged = f"scan:{path}: 1 counts in the journal are damaged; counted again"
    assert recorder.notices == [used, damaged]


def test_a_sample_of_files_has_estimated_counts_and_its_passages(
    tmp_path: Path,
) -> None:
    for number in range(6):
        documents = ["one two three"] * (number + 1) + ["nothing"] * 10 * number
        corpus_files.write(tmp_path, "c.jsonl", documents).rename(tmp_path / f"{number}.jsonl")
    sought = make_sought(["one two three"], most=100)
    index = open_index(tmp_path, sample_files="3", seed=1)
    (count,) = index.document_counts(["one two three"], []).counts
    located = index.passages(sought)
    assert located.occurrences == [[count.occurrences]]
    paths = {json.loads(passage.metadata)["path"] for passage in located.passages}
    assert len(paths) == 3
    read = sum(int(Path(path).stem) + 1 for path in paths)
    assert (read, len(located.passages)) == (read, read)
    assert count.occurrences != read
    everything = open_index(tmp_path, sample_files="100%").passages(sought)
    assert everything == open_index(tmp_path).passages(sought)
    assert everything.occurrences == [[21]]


def test_files_that_are_left_out_have_no_passages(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz", "c.jsonl.gz"):
        corpus_files.write(tmp_path, "c.jsonl.gz", ["one two three"]).rename(tmp_path / name)
    bad = tmp_path / "b.jsonl.gz"
    bad.write_bytes(bad.read_bytes()[:-12])
    sought, recorder = make_sought(["one two three"]), Recorder()
    with pytest.raises(CorpusError, match=r"b\.jsonl\.gz"):
        open_index(tmp_path).passages(sought)
    located = open_index(tmp_path, recorder, skip_bad_files=True).passages(sought)
    assert located.occurrences == [[2]]
    documents = [f"{tmp_path / name}:1" for name in ("a.jsonl.gz", "c.jsonl.gz")]
    assert [passage.document for passage in located.passages] == documents
    assert any("left out 1 file" in notice for notice in recorder.notices)


def test_a_corpus_without_documents_is_an_error(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", [])
    with pytest.raises(InputError, match="contains no documents"):
        open_index(path).passages(make_sought(["one two three"]))


def find_in_process(spec: str, sought: Path, journal: Path, workers: int) -> list[str]:
    program = [sys.executable, "-m", "tests.support.programs.find_passages"]
    return [*program, spec, str(journal), str(workers), str(sought)]


@pytest.mark.integration
def test_a_pipe_has_the_same_passages(tmp_path: Path) -> None:
    texts, documents = make_texts(random.Random(4))
    path, file = corpus_files.write(tmp_path, "c.jsonl", documents), tmp_path / "sought.json"
    sought = make_sought(texts)
    file.write_bytes(msgspec.json.encode(sought))
    command = find_in_process("scan:-", file, tmp_path / "j.sqlite", 1)
    with path.open("rb") as content:
        done = subprocess.run(command, stdin=content, capture_output=True, cwd=ROOT, check=True)
    located = json.loads(done.stdout)
    expected = open_index(path).passages(sought)
    assert located["occurrences"] == expected.occurrences
    records = [passage["document"].rpartition(":")[2] for passage in located["passages"]]
    assert records == [passage.document.rpartition(":")[2] for passage in expected.passages]
    assert [each["text"] for each in located["passages"]] == [
        passage.text for passage in expected.passages
    ]


@pytest.mark.integration
def test_a_killed_run_reads_only_what_is_left(tmp_path: Path) -> None:
    folder, journal, file = tmp_path / "corpus", tmp_path / "j.sqlite", tmp_path / "sought.json"
    folder.mkdir()
    texts, documents = make_texts(random.Random(5))
    n_files = 12
    for number in range(n_files):
        content = documents[number:] * 20
        corpus_files.write(folder, "c.jsonl", content).rename(folder / f"{number:02}.jsonl")
    sought = make_sought(texts, most=5)
    file.write_bytes(msgspec.json.encode(sought))
    command = find_in_process(f"scan:{folder}", file, journal, 2)
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
        while kept(journal) < 2:
            assert process.poll() is None
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
    n_kept = kept(journal)
    assert 2 <= n_kept < n_files
    recorder, corpus = Recorder(), open_corpus(str(folder))
    with Journal(journal) as opened:
        located = ScanIndex(corpus, IndexOptions(), recorder, opened).passages(sought)
    used = f"scan:{folder}: using cached results for {n_kept} of {n_files} parts"
    assert [notice.partition(" (")[0] for notice in recorder.notices] == [used]
    assert located == open_index(folder, workers=1).passages(sought)


def kept(journal: Path) -> int:
    """Return how many results a journal has."""
    uri = f"file:{journal}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
