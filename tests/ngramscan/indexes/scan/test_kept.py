"""Counts that the journal keeps of files: damaged ones are counted again."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan.corpora import open_corpus
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.journal import Journal
from ngramscan.progress import SILENT, Progress
from tests.support import corpus_files
from tests.support.recorder import Recorder


def open_index(path: Path, journal: Journal, progress: Progress = SILENT) -> ScanIndex:
    return ScanIndex(open_corpus(str(path)), IndexOptions(), progress, journal)


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        "[]",
        '{"occurrences": []}',
        ["occurrences", [1]],
        ["occurrences", [1000000000000000000000000000000, 0]],
        ["occurrences", [-1, 0]],
        ["occurrences", [0.5, 0.5]],
        ["documents", [1]],
        ["documents", [1, 1]],
        ["documents", [2, 0]],
        ["documents", ["1", "0"]],
        ["documents_read", -1],
        ["bytes_read", -1],
        ["skipped", -1],
        ["documents_read", 0],
        ["unions", []],
        ["unions", [5]],
        pytest.param("[" * 100_000, id="deep"),
    ],
    ids=ascii,
)
def test_damaged_counts_in_the_journal_are_counted_again(
    tmp_path: Path, damage: str | list[Any]
) -> None:
    path, file = corpus_files.write(tmp_path, "c.jsonl", ["aa"]), tmp_path / "j.sqlite"
    recorder = Recorder()
    with Journal(file) as journal, contextlib.closing(sqlite3.connect(file)) as connection:
        first = open_index(path, journal).document_counts(["a", "b"], [["a"]])
        (kept,) = connection.execute("SELECT reply FROM replies").fetchone()
        if not isinstance(damage, str):
            content = json.loads(kept)
            content["result"] |= dict([damage])
            damage = json.dumps(content)
        connection.execute("UPDATE replies SET reply = ?", (damage,))
        connection.commit()
        again = open_index(path, journal, recorder).document_counts(["a", "b"], [["a"]])
        assert [c.occurrences for c in again.counts] == [c.occurrences for c in first.counts]
        assert connection.execute("SELECT reply FROM replies").fetchone() == (kept,)
    assert recorder.notices == [f"scan:{path}: 1 counts in the journal are damaged; counted again"]


def test_damaged_parts_of_documents_are_looked_for_again(tmp_path: Path) -> None:
    path, file = corpus_files.write(tmp_path, "c.jsonl", ["aa b"]), tmp_path / "j.sqlite"
    sought, recorder = ([b"aa c"], [np.array([[0, 2]])]), Recorder()
    with Journal(file) as journal, contextlib.closing(sqlite3.connect(file)) as connection:
        first = open_index(path, journal).excerpts(*sought)
        connection.execute("UPDATE replies SET reply = '['")
        connection.commit()
        assert open_index(path, journal, recorder).excerpts(*sought) == first != []
    assert recorder.notices == [f"scan:{path}: 1 counts in the journal are damaged; counted again"]


def test_the_journal_has_results_below_the_name_that_lists_show(tmp_path: Path) -> None:
    path, file = corpus_files.write(tmp_path, "c.jsonl", ["aa b"]), tmp_path / "j.sqlite"
    with Journal(file) as journal, contextlib.closing(sqlite3.connect(file)) as connection:
        open_index(path, journal).document_counts(["a", "b"], [["a"]])
        assert connection.execute("SELECT source FROM replies").fetchall() == [("scan",)]
