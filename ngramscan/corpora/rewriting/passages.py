"""Documents of a corpus → the passages of their texts that are to be cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ngramscan.corpora import Piece, read_piece
from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.rewriting.removals import WHOLE_RECORD, Removal
from ngramscan.errors import CorpusError, InputError

FindRanges = Callable[[str], Sequence[tuple[int, int]]]
"""Returns the ranges of characters of a text that are to be cut; none: the whole record leaves."""


def locate_passages(
    files: Sequence[CorpusFile],
    finders: Mapping[str, Mapping[int, FindRanges]],
    read_options: ReadOptions,
    report: Callable[[int], None] = lambda _: None,
) -> dict[str, dict[int, Removal]]:
    """Read some documents, and return what is to be removed from each.

    Parameters
    ----------
    files : sequence of CorpusFile
        The files of a corpus; those without such documents are not read.
    finders : mapping of str to mapping of int to FindRanges
        A function that finds the passages of a text: by the `path` of the file, then by the number
        of the record in the whole file.
    read_options : ReadOptions
        How the corpus was read.
    report : callable
        It is called with the bytes that were read.

    Raises
    ------
    InputError
        A file is not one of the corpus.
    CorpusError
        A document can't be read, or is not there.
    """
    file_at = {file.path: file for file in files}
    unknown = [path for path in finders if path not in file_at]
    if unknown:
        raise InputError(min(unknown), "not a file of the corpus")
    return {
        path: _locate_in(file_at[path], by_record, read_options, report)
        for path, by_record in finders.items()
    }


def _locate_in(
    file: CorpusFile,
    finders: Mapping[int, FindRanges],
    read_options: ReadOptions,
    report: Callable[[int], None],
) -> dict[int, Removal]:
    removals: dict[int, Removal] = {}
    for batch in read_piece(Piece(file, size=file.size), read_options):
        for record, text in zip(batch.records, batch.texts, strict=True):
            if record in finders:
                where = f"{file.path}:{record}"
                removals[record] = _removal(bytes(text), finders[record], where)
        report(batch.consumed)
    missing = finders.keys() - removals.keys()
    if missing:
        raise CorpusError(
            f"{file.path}:{min(missing)}", "no such document; search the corpus again"
        )
    return removals


def _removal(content: bytes, find_ranges: FindRanges, where: str) -> Removal:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise CorpusError(where, f"not UTF-8 at byte {error.start} of the text") from error
    ranges = find_ranges(text)
    return Removal(tuple(ranges)) if ranges else WHOLE_RECORD
