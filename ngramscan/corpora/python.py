"""The sources of the running Python: the corpus that every machine has.

Documents are the `.py` files of the standard library and of the installed packages, recoded to
UTF-8 from the encoding that each declares. Left out: this package (its own patterns and tests would
be counted), compiled caches, and files that are no text in their declared encoding (the standard
library has some, to test just that).
"""

from __future__ import annotations

import io
import sysconfig
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from ngramscan.corpora.base import Batch, CorpusFile, Piece, ReadOptions
from ngramscan.errors import CorpusError

_OWN = ("ngramscan", "evalcore")


class PythonCorpus:
    """The running Python's standard library and installed packages."""

    name = "python"
    notices: Sequence[str] = ()
    skipped_label = "files left out, no text in the encoding they declare"

    def __init__(self, folders: list[Path] | None = None) -> None:
        paths = _sources(folders or _folders())
        self.files = [_file(path) for path in paths]

    def pieces(self) -> list[Piece]:
        """Return a piece per file."""
        return [Piece(file, size=file.size) for file in self.files]


def read_python(piece: Piece, _options: ReadOptions) -> Iterator[Batch]:
    """Yield the one document of a source file; none, and one skipped, where it is no text.

    Raises
    ------
    CorpusError
        The file can't be opened.
    """
    try:
        content = Path(piece.file.path).read_bytes()
    except OSError as error:
        raise CorpusError(piece.file.path, error.strerror or str(error)) from error
    try:
        text = _recode(content)
    except (SyntaxError, UnicodeError, LookupError):
        yield Batch([], [], len(content), skipped=1)
    else:
        yield Batch([text], [1], len(content))


def _file(path: Path) -> CorpusFile:
    status = path.stat()
    return CorpusFile(str(path), "python", status.st_size, str(status.st_mtime_ns))


def _folders() -> list[Path]:
    paths = sysconfig.get_paths()
    unique = {Path(paths[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return sorted(path for path in unique if path.is_dir())


def _sources(folders: list[Path]) -> list[Path]:
    # The packages may lie inside the standard library's folder: a set holds each file once.
    found = {
        path
        for folder in folders
        for path in folder.rglob("*.py")
        if not _is_foreign(path.relative_to(folder)) and path.is_file()
    }
    return sorted(found)


def _is_foreign(path: Path) -> bool:
    """Tell whether a file is our own, or a package that another folder lists, or none."""
    return path.parts[0] in _OWN or bool({"site-packages", "dist-packages"} & set(path.parts))


def _recode(content: bytes) -> bytes:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return content.decode(encoding).encode()
