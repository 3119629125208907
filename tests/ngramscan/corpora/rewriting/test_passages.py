"""Passages are found in their documents wherever they are, and cut everywhere."""

import re
from pathlib import Path

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.corpora.rewriting import WHOLE_RECORD, Removal, locate_passages, write_without
from ngramscan.errors import CorpusError, InputError
from tests.support import corpus_files
from tests.support.corpus_documents import texts_of

TEXTS = ["no copy", "é the exam é, and the exam again: the exam", "aaaa", "the exam"]


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "c.parquet"])
def test_a_passage_is_cut_everywhere_in_its_document(tmp_path: Path, name: str) -> None:
    path = corpus_files.write(tmp_path, name, TEXTS)
    (tmp_path / "other.txt").write_text("the exam")
    corpus = open_corpus(str(tmp_path))
    sizes: list[int] = []
    passages = {str(path): {2: ["the exam", "again: the"], 3: ["aaa"]}}
    removals = locate_passages(corpus.files, passages, ReadOptions(), sizes.append)
    places = [match.span() for match in re.finditer("the exam", TEXTS[1])]
    again = TEXTS[1].index("again: the")
    assert removals == {
        str(path): {
            2: Removal((*places, (again, again + len("again: the")))),
            3: Removal(((0, 3), (1, 4))),
        }
    }
    assert sum(sizes) == path.stat().st_size
    write_without(corpus, tmp_path.parent / f"{tmp_path.name}-clean", removals, ReadOptions())
    folder = tmp_path.parent / f"{tmp_path.name}-clean"
    assert texts_of(folder / name) == ["no copy", "é  é, and  ", "", "the exam"]
    assert texts_of(folder / "other.txt") == ["the exam"]
    removed = locate_passages(corpus.files, {}, ReadOptions())
    assert removed == {}
    assert removals[str(path)][2] != WHOLE_RECORD


def test_passages_that_are_not_there_stop_it(tmp_path: Path) -> None:
    path = str(corpus_files.write(tmp_path, "c.jsonl", TEXTS))
    files = open_corpus(str(tmp_path)).files
    wrong: dict[str, tuple[type[InputError], dict[str, dict[int, list[str]]]]] = {
        "c.jsonl:1: it does not have the passage 'the exam'": (
            CorpusError,
            {path: {1: ["the exam"]}},
        ),
        "c.jsonl:5: no such document": (CorpusError, {path: {5: ["the exam"]}}),
        "c.jsonl:4: an empty passage": (InputError, {path: {4: [""]}}),
        "x: not a file of the corpus": (InputError, {"x": {4: ["a"]}}),
    }
    for message, (kind, passages) in wrong.items():
        with pytest.raises(kind, match=message):
            locate_passages(files, passages, ReadOptions())


def test_a_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "w.wet"
    path.write_bytes(corpus_files.wet(["ab"]).replace(b"\r\n\r\nab", b"\r\n\r\na\xff"))
    with pytest.raises(CorpusError, match=r"w\.wet:1: not UTF-8 at byte 1 of the text"):
        locate_passages(open_corpus(str(path)).files, {str(path): {1: ["a"]}}, ReadOptions())
