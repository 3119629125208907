"""A corpus → batches of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

from ngramscan.corpora.base import (
    BAD_FILES,
    EMPTY_FILES,
    Batch,
    CorpusFile,
    Format,
    Piece,
    ReadOptions,
    describe_skipped,
    web_path,
)
from ngramscan.corpora.files import find_files, has_changed, identified, matches, refuse_changed
from ngramscan.corpora.formats import BY_NAME, refuse_misnamed
from ngramscan.corpora.jsonl import bytes_before, records_before
from ngramscan.corpora.streams import read_head
from ngramscan.corpora.text import python_files
from ngramscan.corpora.text_fields import NoTextError
from ngramscan.errors import BadFileError, CorpusError, IndexChangedError, RemoteError

__all__ = ["BAD_FILES", "EMPTY_FILES", "Batch", "Corpus", "CorpusFile", "Piece", "PythonCorpus"]
__all__ += ["ReadOptions", "bytes_before", "describe_skipped", "has_changed", "open_corpus"]
__all__ += ["identified", "read_piece", "records_before", "refuse_changed", "relative_names"]
__all__ += ["split", "without_excluded"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A collection of documents in files."""

    name: str
    files: list[CorpusFile]
    notices: Sequence[str] = ()
    """Notices for the user before the corpus is read."""
    location: str = ""
    """Where it is, without login, query and fragment; empty: it has files of several folders."""

    @property
    def is_stream(self) -> bool:
        """Tell whether it is a pipe, which this process can read once."""
        return self.files[0].stream is not None

    def pieces(self) -> list[Piece]:
        """Return the pieces to read; the pieces of a file depend on nothing but the file."""
        return [piece for file in self.files for piece in split(file)]


def open_corpus(
    location: str,
    exclude: tuple[str, ...] = (),
    form: Format | None = None,
    skip_unknown: bool = False,
    reader_pays: bool = False,
) -> Corpus:
    """Return the corpus of a location; see `files.find_files` for what it may be."""
    files, notices = find_files(location, exclude, form, skip_unknown, reader_pays)
    name = web_path(location)
    return Corpus(f"scan:{name}", files, notices, name)


class PythonCorpus(Corpus):
    """The sources of some folders, or of the running Python's library and packages."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        super().__init__("python", python_files(folders))


def relative_names(corpus: Corpus) -> Sequence[str]:
    """Return the paths of the files of a corpus, relative to its folder.

    For a file, a glob or a list, that is the deepest folder that contains all of them.
    """
    paths = [file.path for file in corpus.files]
    location = Path(corpus.location).expanduser()
    if corpus.location and location.is_dir():
        return [Path(path).relative_to(location).as_posix() for path in paths]
    folders = [path.split("/")[:-1] for path in paths]
    shared = 0
    # The folders of all files have the same name at a level that is shared.
    for names in zip(*folders, strict=False):
        if len(set(names)) > 1:
            break
        shared += 1
    return ["/".join(path.split("/")[shared:]) for path in paths]


def split(file: CorpusFile) -> list[Piece]:
    """Return the pieces of one file."""
    return BY_NAME[file.format].split(file)


def read_piece(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of a piece; a CorpusError names a record that can't be read.

    It is a BadFileError if the file can't be read as a whole. A CorpusError is also raised if the
    file has changed since the corpus was opened. This is checked after each reading, before its
    batch is used: no result is a mix of old and new content.
    """
    has_any = False
    try:
        for batch in BY_NAME[piece.file.format].read(piece, options):
            refuse_changed(piece.file)
            has_any = has_any or bool(batch.texts or batch.skipped)
            yield batch
    except CorpusError as error:
        refuse_changed(piece.file)  # which may be the reason
        if _is_of_server(error):
            raise
        _refuse_misnamed(piece.file)  # and so may this
        if isinstance(error.__cause__, NoTextError):
            raise
        raise BadFileError(error.where, error.problem) from error
    if not has_any:
        refuse_changed(piece.file)
        if piece.is_whole:
            yield Batch([], [], 0, skipped={EMPTY_FILES: 1})


def _is_of_server(error: BaseException | None) -> bool:
    """Tell whether a server caused an error: another request would not help."""
    while error is not None and not isinstance(error, (RemoteError, IndexChangedError)):
        error = error.__cause__
    return error is not None


def _refuse_misnamed(file: CorpusFile) -> None:
    """Raise a BadFileError where a file that can't be read is one of another format."""
    try:
        head = read_head(file)
    except CorpusError:
        return  # the error that led here says more
    try:
        refuse_misnamed(file, head)
    except CorpusError as error:
        raise BadFileError(error.where, error.problem) from error


def without_excluded(batch: Batch, globs: tuple[str, ...]) -> Batch:
    """Return the documents of a batch whose sources match none of some globs."""
    if not globs or not batch.sources:
        return batch
    is_included = [not matches(source, globs) for source in batch.sources]
    names = "texts", "records", "sources", "fields"
    columns: dict[str, Any] = {
        name: list(compress(getattr(batch, name), is_included)) for name in names
    }
    return replace(batch, **columns)
