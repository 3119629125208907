"""Passages are looked for in the documents that have some, and cut from them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.corpora.rewriting import WHOLE_RECORD, Removal, locate_passages, write_without
from ngramscan.corpora.rewriting.passages import FindRanges
from ngramscan.errors import CorpusError, InputError
from tests.support import corpus_files
from tests.support.corpus_documents import texts_of

TEXTS = ["no copy", "é the exam é, and the exam again: the exam", "aaaa", "the exam"]


def places_of(phrase: str) -> Callable[[str], list[tuple[int, int]]]:
    return lambda text: [match.span() for match in re.finditer(phrase, text)]


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "c.parquet"])
def test_passages_are_cut_where_they_were_found(tmp_path: Path, name: str) -> None:
    path = corpus_files.write(tmp_path, name, TEXTS)
    (tmp_path / "other.txt").write_text("the exam")
    corpus = open_corpus(str(tmp_path))
    sizes: list[int] = []
    finders = {str(path): {2: places_of("the exam"), 3: places_of("b")}}
    removals = locate_passages(corpus.files, finders, ReadOptions(), sizes.append)
    places = tuple(places_of("the exam")(TEXTS[1]))
    assert removals == {str(path): {2: Removal(places), 3: WHOLE_RECORD}}
    assert sum(sizes) == path.stat().st_size
    folder = tmp_path.parent / f"{tmp_path.name}-clean"
    write_without(corpus, folder, removals, ReadOptions())
    assert texts_of(folder / name) == ["no copy", "é  é, and  again: ", "the exam"]
    assert texts_of(folder / "other.txt") == ["the exam"]
    assert locate_passages(corpus.files, {}, ReadOptions()) == {}


def test_documents_that_are_not_there_stop_it(tmp_path: Path) -> None:
    path = str(corpus_files.write(tmp_path, "c.jsonl", TEXTS))
    files = open_corpus(str(tmp_path)).files
    finder: FindRanges = places_of("the exam")
    with pytest.raises(CorpusError, match=r"c\.jsonl:5: no such document"):
        locate_passages(files, {path: {5: finder}}, ReadOptions())
    with pytest.raises(InputError, match=r"x: not a file of the corpus"):
        locate_passages(files, {"x": {4: finder}}, ReadOptions())


def test_a_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "w.wet"
    path.write_bytes(corpus_files.wet(["ab"]).replace(b"\r\n\r\nab", b"\r\n\r\na\xff"))
    files = open_corpus(str(path)).files
    with pytest.raises(CorpusError, match=r"w\.wet:1: not UTF-8 at byte 1 of the text"):
        locate_passages(files, {str(path): {1: places_of("a")}}, ReadOptions())
