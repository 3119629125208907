"""A corpus → batches of documents.

`open_corpus` is the only place that knows which formats there are.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path

from ngramscan.corpora.base import Batch, Corpus, CorpusFile
from ngramscan.corpora.jsonl import read_jsonl
from ngramscan.corpora.python import PythonCorpus
from ngramscan.corpora.text import read_text
from ngramscan.errors import InputError

__all__ = ["Batch", "Corpus", "CorpusFile", "FileCorpus", "PythonCorpus", "open_corpus"]

_JSONL = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst")
_TEXT = (".txt", ".txt.gz", ".txt.zst")


class FileCorpus:
    """The files of one path, folder or glob, in sorted order."""

    def __init__(self, name: str, files: list[CorpusFile], text_field: str) -> None:
        self.name = name
        self.files = files
        self._text_field = text_field
        self.left_out = ""

    def read(self, file: CorpusFile) -> Iterator[Batch]:
        """Yield the documents of one file."""
        if file.path.endswith(_TEXT):
            return read_text(file.path)
        return read_jsonl(file.path, self._text_field)


def open_corpus(location: str, text_field: str = "text") -> FileCorpus:
    """Return the corpus of a path, a folder (with all folders in it) or a glob.

    Raises
    ------
    InputError
        Nothing is there, or nothing of a known format.
    """
    found, searched = _find(location)
    known = [path for path in found if path.name.endswith(_JSONL + _TEXT)]
    if not known:
        problem = "no file there" if not found else "no file of a known format"
        raise InputError(f"scan:{location}", f"{problem}; known: {', '.join(_JSONL + _TEXT)}")
    files = [CorpusFile(str(path), path.stat().st_size) for path in sorted(known)]
    corpus = FileCorpus(f"scan:{location}", files, text_field)
    if others := len(found) - len(known):
        corpus.left_out = f"scan:{location}: files of other formats left out: {others} ({searched})"
    return corpus


def _find(location: str) -> tuple[list[Path], str]:
    path = Path(location).expanduser()
    if path.is_dir():
        inside = (p.relative_to(path) for p in path.rglob("*") if p.is_file())
        visible = [p for p in inside if not any(part.startswith(".") for part in p.parts)]
        return [path / p for p in visible], "hidden files are not counted"
    if path.is_file():
        return [path], ""
    matches = [Path(match) for match in glob.glob(str(path), recursive=True)]
    return [match for match in matches if match.is_file()], "the glob names them"
