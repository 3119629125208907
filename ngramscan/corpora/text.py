"""Files that are one document each: plain text, and the sources of the running Python.

The sources are the corpus that every machine has: the `.py` files of the standard library and of
the installed packages, recoded to UTF-8 from the encoding that each declares. Left out: this
package (its own patterns and tests would be counted), compiled caches, and files that are not text
in their declared encoding (the standard library has some, to test just that).
"""

from __future__ import annotations

import io
import os
import sysconfig
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ngramscan.corpora.base import Batch, CorpusFile, CorpusFormat, Piece, ReadOptions, local_file
from ngramscan.corpora.encodings import refuse_encoding
from ngramscan.corpora.streams import is_small, read_chunks, read_small
from ngramscan.errors import CorpusError, InputError
from ngramscan.reading.compressions import HEAD_BYTES, compression_of
from ngramscan.reading.streams import whole

_OWN = ("ngramscan", "evalcore")
_LISTED_THEMSELVES = {"site-packages", "dist-packages"}
_NOT_TEXT = "files that are not text in their declared encoding"


def read_text(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the one document of a text file."""
    skipped = Counter[str]()
    try:
        text, consumed = _whole_text(piece.file, options.most_text_bytes, skipped)
        refuse_encoding(text, piece.file.path)
        text.decode()
    except InputError as error:
        raise CorpusError(error.where, error.problem) from error
    except UnicodeDecodeError as error:
        raise CorpusError(piece.file.path, f"not UTF-8 at byte {error.start}") from error
    yield Batch([text], [1], consumed, skipped=skipped)


def _whole_text(file: CorpusFile, most: int, skipped: Counter[str]) -> tuple[bytes, int]:
    """Return the decompressed content of a file, and the bytes on disk that were read."""
    if is_small(file):
        content = read_small(file)
        if len(content) <= most and compression_of(file.path, content[:HEAD_BYTES]) is None:
            return content, len(content)
    consumed = 0

    def chunks() -> Iterator[bytes]:
        nonlocal consumed
        for chunk, size in read_chunks(file, skipped):
            consumed += size
            yield chunk

    return whole(chunks(), file.path, most), consumed


def python_files(folders: Iterable[Path] = ()) -> list[CorpusFile]:
    """Return the source files in some folders, or in those of the running Python, sorted."""
    if not folders:
        paths = sysconfig.get_paths()
        keys = ("stdlib", "platstdlib", "purelib", "platlib")
        folders = {Path(paths[key]).resolve() for key in keys}
    # The packages may lie inside the standard library's folder: a set holds each file once.
    source_paths = {path for folder in folders for path in _sources(folder)}
    files = (local_file(path, "python") for path in sorted(source_paths))
    return [file for file in files if file is not None]


def _sources(top: Path) -> Iterator[Path]:
    """Yield the files below a folder, except this package and folders with their own entry."""
    left_out = {*_LISTED_THEMSELVES, *_OWN}
    for folder, inner, files in os.walk(top):
        inner[:] = [name for name in inner if name not in left_out]
        left_out = _LISTED_THEMSELVES  # a package may have a folder of our name
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


def read_python(piece: Piece, _options: ReadOptions) -> Iterator[Batch]:
    """Yield the one document of a source file; if it is not text, count it as skipped."""
    try:
        content = Path(piece.file.path).read_bytes()
    except OSError as error:
        raise CorpusError(piece.file.path, error.strerror or str(error)) from error
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding).encode()
    except (SyntaxError, UnicodeError, LookupError):
        yield Batch([], [], len(content), skipped={_NOT_TEXT: 1})
    else:
        yield Batch([text], [1], len(content))


TEXT = CorpusFormat(
    name="text",
    title="text",
    suffixes=(".txt",),
    read=read_text,
    may_list_phrases=True,
)
PYTHON = CorpusFormat(name="python", title="Python", suffixes=(), read=read_python)
"""The format of the corpus `python` alone: no file of a user has it."""
