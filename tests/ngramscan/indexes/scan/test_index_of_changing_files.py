"""A file that changes while it is read is named, and what was read of it counts nowhere."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import CorpusError
from ngramscan.index_files.fm9.build import build_index
from ngramscan.index_files.tokens.build import build_token_index
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.journal import Journal
from ngramscan.prevalence.contamination.contaminate import Entry, run_contaminate
from ngramscan.prevalence.contamination.rules import make_rule
from tests.support import corpus_files
from tests.support.file_changes import append, overwrite, replace, restore_time, truncate
from tests.support.recorder import Recorder

PLAIN = ReadOptions()
# Random digits hardly compress: a compressed file is read in several steps, too.
DIGITS = random.Random(1).randbytes(1_500_000).hex()
FILLING = [DIGITS[start : start + 2_000] for start in range(0, len(DIGITS), 2_000)]
OLD, NEW = ([f"{word} {filling}" for filling in FILLING] for word in ("old word", "new word"))
FORMATS = ["c.jsonl", "c.jsonl.gz", "c.jsonl.zst", "c.parquet", "c.warc.wet", "c.warc.wet.gz"]


@pytest.fixture(scope="module")
def contents() -> dict[str, tuple[bytes, bytes]]:
    """Return each format with the old texts and with the new ones, in as many bytes if it can."""
    made = {}
    for name in FORMATS:
        write = corpus_files.WRITERS[name]
        if name == "c.parquet":
            made[name] = corpus_files.parquet(OLD, rows=100), corpus_files.parquet(NEW, rows=100)
        else:
            made[name] = write(OLD), write(NEW)
    return made


class Changing(Recorder):
    """A progress during which a file changes once, after some of it was read."""

    def __init__(self, change: Callable[[], object], after: int = 1) -> None:
        super().__init__()
        self._change, self._left = change, after

    def advance(self, amount: int, unit: str) -> None:
        super().advance(amount, unit)
        if amount:
            self._left -= 1
            if self._left == 0:
                self._change()


CHANGES = [overwrite, restore_time, replace, append, truncate]


def open_index(path: Path, progress: Recorder, journal: Journal, **options: Any) -> ScanIndex:
    return ScanIndex(open_corpus(str(path)), IndexOptions(workers=1, **options), progress, journal)


def counts_of(index: ScanIndex) -> list[int]:
    return [count.occurrences for count in index.counts(["old word", "new word"])]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_scan_of_a_file_that_changes_is_an_error_and_is_not_kept(
    change: Callable[[Path, bytes], object],
    name: str,
    contents: dict[str, tuple[bytes, bytes]],
    tmp_path: Path,
) -> None:
    path, (old, new) = tmp_path / name, contents[name]
    path.write_bytes(old)
    (tmp_path / "z.txt").write_text("old word")
    with Journal(None) as journal:
        progress = Changing(lambda: change(path, new))
        with pytest.raises(CorpusError) as error:
            counts_of(open_index(tmp_path, progress, journal))
        assert str(error.value) == f"{path}: changed since it was found; run the same command again"
        assert sum(row.replies for row in journal.rows()) == 1  # of the other file
        replace(path, new)
        assert counts_of(open_index(tmp_path, Recorder(), journal)) == [1, len(NEW)]


@pytest.mark.parametrize("change", CHANGES)
def test_parts_of_a_file_that_changes_are_never_mixed(
    change: Callable[[Path, bytes], object],
    contents: dict[str, tuple[bytes, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ngramscan.corpora.jsonl.PART_BYTES", 500_000)
    path, (old, new) = tmp_path / "c.jsonl", contents["c.jsonl"]
    path.write_bytes(old)
    with Journal(None) as journal:
        progress = Changing(lambda: change(path, new), after=7)
        with pytest.raises(CorpusError) as error:
            counts_of(open_index(path, progress, journal))
        assert str(error.value) == f"{path}: changed since it was found; run the same command again"
        again = Recorder()
        restore_time(path, new)
        assert counts_of(open_index(path, again, journal)) == [0, len(NEW)]
        assert again.notices == []  # no part came from the journal


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_before_it_is_read_is_an_error(
    change: Callable[[Path, bytes], object], tmp_path: Path
) -> None:
    path = tmp_path / "c.txt"
    path.write_text("old word")
    with Journal(None) as journal:
        index = open_index(path, Recorder(), journal)
        change(path, b"new word")
        with pytest.raises(CorpusError, match=r"c\.txt: changed since it was found"):
            counts_of(index)
        assert journal.rows() == []


def test_contaminate_and_builds_name_a_file_that_changes(
    contents: dict[str, tuple[bytes, bytes]], tmp_path: Path
) -> None:
    path, (old, new) = tmp_path / "c.jsonl", contents["c.jsonl"]

    def errs(work: Callable[[Changing], object]) -> None:
        path.write_bytes(old)
        with pytest.raises(CorpusError, match=r"c\.jsonl: changed since it was found"):
            work(Changing(lambda: restore_time(path, new)))

    def contaminate(progress: Changing) -> None:
        entry = Entry("1", "an entry with the old word in it" * 3)
        with Journal(None) as journal:
            index = open_index(path, progress, journal)
            result = run_contaminate([entry], make_rule("mini"), [index])
            assert [row.eta for row in result.rows] == [None]
            assert journal.rows() == []
        raise result.missing[0].error

    def build_tokens(progress: Changing) -> None:
        corpus, tokenizer = open_corpus(str(path)), load_tokenizer(None)
        build_token_index(corpus, tmp_path / "index", tokenizer, PLAIN, progress)

    errs(contaminate)
    errs(build_tokens)
    errs(lambda progress: build_index(open_corpus(str(path)), tmp_path / "fm9", progress, PLAIN))
    assert not list(tmp_path.rglob("*.0")) + list(tmp_path.rglob("manifest.json"))
