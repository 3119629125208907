"""Passages of documents → where they are in the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ngramscan.corpora import Piece, read_piece
from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.rewriting.removals import Removal
from ngramscan.errors import CorpusError, InputError


def locate_passages(
    files: Sequence[CorpusFile],
    passages: Mapping[str, Mapping[int, Sequence[str]]],
    read: ReadOptions,
    report: Callable[[int], None] = lambda _: None,
) -> dict[str, dict[int, Removal]]:
    """Return the removals that cut passages wherever they occur in their documents.

    Parameters
    ----------
    files : sequence of CorpusFile
        The files of a corpus; those without passages are not read.
    passages : mapping of str to mapping of int to sequence of str
        The passages as they are in the text: by the `path` of the file, then by the number of the
        record in the whole file. A passage that occurs several times in its document is cut
        everywhere.
    read : ReadOptions
        How the corpus was read.
    report : callable
        It is called with the bytes that were read.

    Raises
    ------
    InputError
        A passage is empty, or a file is not one of the corpus.
    CorpusError
        A document can't be read, or does not have one of its passages.
    """
    file_at = {file.path: file for file in files}
    unknown = [path for path in passages if path not in file_at]
    if unknown:
        raise InputError(min(unknown), "not a file of the corpus")
    return {
        path: _locate_in(file_at[path], by_record, read, report)
        for path, by_record in passages.items()
    }


def _locate_in(
    file: CorpusFile,
    passages: Mapping[int, Sequence[str]],
    read: ReadOptions,
    report: Callable[[int], None],
) -> dict[int, Removal]:
    removals: dict[int, Removal] = {}
    for batch in read_piece(Piece(file, size=file.size), read):
        for record, text in zip(batch.records, batch.texts, strict=True):
            if record in passages:
                where = f"{file.path}:{record}"
                removals[record] = _removal(bytes(text), passages[record], where)
        report(batch.consumed)
    missing = passages.keys() - removals.keys()
    if missing:
        raise CorpusError(
            f"{file.path}:{min(missing)}", "no such document; search the corpus again"
        )
    return removals


def _removal(content: bytes, passages: Sequence[str], where: str) -> Removal:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise CorpusError(where, f"not UTF-8 at byte {error.start} of the text") from error
    ranges: list[tuple[int, int]] = []
    for passage in passages:
        if not passage:
            raise InputError(where, "an empty passage can't be cut")
        starts = list(_starts(text, passage))
        if not starts:
            problem = f"it does not have the passage {passage[:40]!r}; search the corpus again"
            raise CorpusError(where, problem)
        ranges += [(start, start + len(passage)) for start in starts]
    return Removal(tuple(ranges))


def _starts(text: str, passage: str) -> Iterator[int]:
    """Yield where a passage begins in a text; its occurrences may overlap."""
    start = text.find(passage)
    while start >= 0:
        yield start
        start = text.find(passage, start + 1)
