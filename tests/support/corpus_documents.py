"""All documents of a corpus, as its readers give them."""

from pathlib import Path
from typing import Any, NamedTuple

from ngramscan.corpora import ReadOptions, open_corpus, read_piece


class Documents(NamedTuple):
    """The documents of a corpus, the numbers of their records, and what was skipped."""

    texts: list[str]
    records: list[int]
    skipped: dict[str, int]


def read_documents(path: Path, **options: Any) -> Documents:
    """Return the documents of a file or folder; options are those of `ReadOptions`."""
    found = Documents([], [], {})
    for piece in open_corpus(str(path)).pieces():
        for batch in read_piece(piece, ReadOptions(**options)):
            found.texts.extend(bytes(text).decode() for text in batch.texts)
            found.records.extend(batch.records)
            found.skipped.update(batch.skipped)
    return found


def texts_of(path: Path, **options: Any) -> list[str]:
    """Return the documents of a file or folder alone."""
    return read_documents(path, **options).texts
