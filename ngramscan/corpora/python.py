"""The sources of the running Python: the corpus that every machine has.

Documents are the `.py` files of the standard library and of the installed packages, recoded to
UTF-8 from the encoding that each declares. Left out: this package (its own patterns and tests would
be counted), compiled caches, and files that are no text in their declared encoding (the standard
library has some, to test just that).
"""

from __future__ import annotations

import io
import platform
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path

from ngramscan.corpora.base import Batch, CorpusFile
from ngramscan.errors import CorpusError

_OWN = ("ngramscan", "evalcore")


class PythonCorpus:
    """The running Python's standard library and installed packages."""

    name = "python"

    def __init__(self, folders: list[Path] | None = None) -> None:
        self.files = [
            CorpusFile(str(path), path.stat().st_size) for path in _sources(folders or _folders())
        ]
        self.label = f"sources of {platform.python_implementation()} {platform.python_version()}"
        self._not_text = 0

    @property
    def left_out(self) -> str:
        """What the corpus does not count, known once it was read."""
        if not self._not_text:
            return ""
        return f"python: files left out, no text in the encoding they declare: {self._not_text}"

    def read(self, file: CorpusFile) -> Iterator[Batch]:
        """Yield the one document of a source file; none where it is no text.

        Raises
        ------
        CorpusError
            The file can't be opened.
        """
        try:
            content = Path(file.path).read_bytes()
        except OSError as error:
            raise CorpusError(file.path, error.strerror or str(error)) from error
        try:
            text = _recode(content)
        except (SyntaxError, UnicodeError, LookupError):
            self._not_text += 1
            yield Batch([], [], file.size)
        else:
            yield Batch([text], [1], file.size)


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
