"""The files of a corpus on web servers: finding them, and reading them as files.

They are requested as index files in place are: again after a failure, through the same proxies, and
as the same version from beginning to end.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from html import unescape
from typing import Any, BinaryIO
from urllib.parse import unquote, urljoin

from ngramscan.corpora.base import CHANGED, CorpusFile, FileOrPath, Format, listed_file, web_path
from ngramscan.corpora.folders import is_hidden
from ngramscan.errors import CorpusError, IndexChangedError, InputError, RemoteError
from ngramscan.remote.files import NoFileError, RemoteFile
from ngramscan.remote.ranges import RangeOptions, Ranges
from ngramscan.remote.stores import shown

_AT_ONCE = 32
"""Files that are checked at the same time."""
_MOST_PAGES = 1000
_LINK = re.compile(r"""<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)
_LONGEST_PAGE = 100_000_000
_BUFFER_BYTES = 1 << 16
"""Read at once where less is wanted: Arrow reads a few bytes before each batch."""

_FilesAndHidden = tuple[list[FileOrPath], list[str]]
FormatOf = Callable[[str], Format | None]
"""Returns the format that a path indicates, or None."""


def find_web_files(url: str, form: Format | None, format_of: FormatOf) -> _FilesAndHidden:
    """Return the file at an address, or those that the page there lists, below it.

    With them come the paths of hidden files and folders, which are left out.

    A path with `*` names files of the page before it; a path alone stands for a file of no known
    format. An InputError says why the server doesn't give the file.
    """
    with Ranges(RangeOptions(concurrency=_AT_ONCE)) as ranges, _as_input_error(url):
        if "*" in web_path(url):
            return _matching(ranges, url, form, format_of)
        try:
            file = ranges.run(ranges.require(url, needs_parts=False))
        except NoFileError as error:
            if form or format_of(web_path(url)) or not error.is_page:
                raise
            return _listed(ranges, url, form, format_of)
        return [_corpus_file(url, file, form, format_of)], []


@contextmanager
def _as_input_error(url: str) -> Iterator[None]:
    """Translate the errors of finding the files of an address."""
    try:
        yield
    except RemoteError as error:
        problem = _problem_of(error, shown(url))
        if "#" in url:
            problem += "; a # in the name of a file is written %23"
        raise InputError(f"scan:{shown(url)}", problem) from error


def _problem_of(error: Exception, name: str) -> str:
    return str(error).removeprefix(f"{name}: ")


def _corpus_file(
    url: str, file: RemoteFile, form: Format | None, format_of: FormatOf
) -> FileOrPath:
    """Return a file under its path, followed by the server's name for it if that is informative."""
    path = web_path(url)
    if file.filename and not format_of(path) and (named := format_of(file.filename)):
        path, form = f"{path}#{file.filename}", form or named
    form = form or format_of(path)
    if form is None:
        return path
    size = file.size or None if not file.has_parts else file.size
    return CorpusFile(path, form, size, file.stamp, address="" if path == url else url)


# Pages that list files


def _listed(ranges: Ranges, url: str, form: Format | None, format_of: FormatOf) -> _FilesAndHidden:
    """Return the files that a page and the pages of folders below it link to."""
    links, hidden = _links_below(ranges, url)
    left_out = [path for path in map(shown, hidden) if path.endswith("/") or format_of(path)]
    return [_named(link, form, format_of) for link in links], left_out


def _matching(
    ranges: Ranges, url: str, form: Format | None, format_of: FormatOf
) -> _FilesAndHidden:
    """Return the files that match a glob, of the page before its first star and those below it."""
    path = url.partition("?")[0]
    folder = path.partition("*")[0].rpartition("/")[0] + "/"
    pattern = _glob(unquote(shown(path)))
    links, _ = _links_below(ranges, folder)
    matching = (link for link in links if pattern(unquote(shown(link))))
    return [_named(link, form, format_of) for link in matching], []


def _glob(path: str) -> Callable[[str], object]:
    """Return a predicate for paths that match a glob: `*` within a folder, `**` across them."""
    parts = [
        ".*" if part in {"**/", "**"} else "[^/]*" if part == "*" else re.escape(part)
        for part in re.split(r"(\*\*/?|\*)", path)
    ]
    return re.compile("".join(parts), re.DOTALL).fullmatch


def _named(url: str, form: Format | None, format_of: FormatOf) -> FileOrPath:
    form = form or format_of(web_path(url))
    return listed_file(url, form) if form else web_path(url)


def _links_below(ranges: Ranges, url: str) -> tuple[list[str], set[str]]:
    """Return the addresses of files below a folder, as its pages link to them, sorted.

    Also return the addresses of hidden files and folders, which are left out.
    """
    start = url.partition("?")[0].partition("#")[0].rstrip("/") + "/"
    folders, seen, files, hidden = [start], {start}, set[str](), set[str]()
    while folders:
        if len(seen) > _MOST_PAGES:
            problem = f"more than {_MOST_PAGES} folders; give some of them, or a list of the files"
            raise InputError(f"scan:{shown(url)}", problem)
        folder = folders.pop()
        for link in _links(ranges, folder):
            is_below = link.startswith(start) and link != start
            if not is_below or link in seen:
                continue
            if is_hidden(link[len(start) :]):
                hidden.add(link)
            elif link.endswith("/"):
                folders.append(link)
                seen.add(link)
            else:
                files.add(link)
    return sorted(files, key=shown), hidden


def _links(ranges: Ranges, url: str) -> list[str]:
    """Return where the links of a page lead, without their queries."""
    size, parts = 0, []
    for part in ranges.read_through(url, is_page=True):
        size += len(part)
        if size > _LONGEST_PAGE:
            raise InputError(shown(url), "the page that lists the files is too long")
        parts.append(part)
    page = b"".join(parts).decode("utf-8", "replace")
    hrefs = (unescape(next(filter(None, groups), "")) for groups in _LINK.findall(page))
    # Servers link to the same page in another order by queries.
    return [urljoin(url, href).partition("#")[0] for href in hrefs if "?" not in href]


def with_stamps(files: Sequence[CorpusFile]) -> list[CorpusFile]:
    """Return files with the size and the validator of their content, if their servers give them.

    A file that can't be opened is returned unchanged: reading it raises the error.
    """
    with Ranges(RangeOptions(concurrency=_AT_ONCE)) as ranges:
        stamps = _stamps(ranges, files)
    return [replace(file, stamp=stamp) for file, stamp in zip(files, stamps, strict=True)]


def _stamps(ranges: Ranges, files: Sequence[CorpusFile]) -> list[str]:
    async def stamp(file: CorpusFile) -> str:
        try:
            return (await ranges.require(file.location, needs_parts=False)).stamp
        except (RemoteError, InputError):
            return ""

    async def all_stamps() -> list[str]:
        return await asyncio.gather(*(stamp(file) for file in files))

    return ranges.run(all_stamps())


# Reading


@contextmanager
def open_web_file(file: CorpusFile, streaming: bool) -> Iterator[BinaryIO]:
    """Open a file to read bytes: once from the start, or (not `streaming`) anywhere.

    Failures of opening and reading are CorpusErrors that name the path alone, as is another version
    than the one that was found.
    """
    with Ranges(RangeOptions(cache_bytes=0)) as ranges, _as_corpus_error(file):
        if streaming:
            content = ranges.read_through(file.location, file.stamp)
            with closing(io.BufferedReader(_ChunkFile(file, content), _BUFFER_BYTES)) as stream:
                yield stream
            return
        remote = ranges.run(ranges.require(file.location))
        if file.stamp and remote.etag != file.stamp:
            raise CorpusError(file.path, CHANGED)
        yield io.BufferedReader(_Parts(ranges, file, remote), _BUFFER_BYTES)
        ranges.check()


@contextmanager
def _as_corpus_error(file: CorpusFile) -> Iterator[None]:
    """Translate the errors of reading a file."""
    try:
        yield
    except IndexChangedError as error:
        raise CorpusError(file.path, CHANGED) from error
    except RemoteError as error:
        problem = f"can't be read ({_problem_of(error, shown(file.location))})"
        raise CorpusError(file.path, problem) from error
    except CorpusError:
        raise
    except InputError as error:
        raise CorpusError(file.path, error.problem) from error


class _ChunkFile(io.RawIOBase):
    """Chunks as a file that is read once."""

    def __init__(self, file: CorpusFile, content: Generator[bytes]) -> None:
        self._file, self._content = file, content
        self._rest = memoryview(b"")
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the current chunk goes."""
        if not self._rest:
            with _as_corpus_error(self._file):
                self._rest = memoryview(next(self._content, b""))
        amount = min(len(buffer), len(self._rest))
        buffer[:amount] = self._rest[:amount]
        self._rest = self._rest[amount:]
        self._position += amount
        return amount

    def close(self) -> None:
        """End the request."""
        self._content.close()
        super().close()


class _Parts(io.RawIOBase):
    """A file of which any part can be read."""

    def __init__(self, ranges: Ranges, file: CorpusFile, remote: RemoteFile) -> None:
        self._ranges, self._file, self._remote = ranges, file, remote
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Change the position, and return it."""
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._remote.size}
        self._position = max(0, starts[whence] + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the file goes."""
        start = min(self._position, self._remote.size)
        stop = min(start + len(buffer), self._remote.size)
        with _as_corpus_error(self._file):
            content = self._ranges.run(self._ranges.read(self._remote, start, stop))
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)
