"""Where a corpus is → its files: a path, folder, glob, URL, or a list of paths.

A list is how Common Crawl publishes a crawl (`wet.paths.gz`): paths relative to the host or bucket
of the list, or to a folder above it on disk.
"""

from __future__ import annotations

import fnmatch
import glob
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ngramscan.corpora.base import CorpusFile, Format
from ngramscan.corpora.streams import file_system, is_remote, read_chunks
from ngramscan.errors import CorpusError, InputError

_JSONL = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")
_PARQUET = (".parquet",)
_WARC = (".warc.wet.gz", ".wet.gz", ".warc.gz", ".warc.wet", ".wet", ".warc")
_TEXT = (".txt", ".txt.gz", ".txt.zst")
_LISTS = (".paths", ".paths.gz")
FORMATS: dict[tuple[str, ...], Format] = {
    _JSONL: "jsonl",
    _PARQUET: "parquet",
    _WARC: "warc",
    _TEXT: "text",
}
_KNOWN = ", ".join(suffix for suffixes in FORMATS for suffix in suffixes)


@dataclass(frozen=True, slots=True)
class Found:
    """The files of a location."""

    files: list[CorpusFile]
    of_other_formats: int = 0


def find_files(location: str, exclude: Iterable[str] = ()) -> Found:
    """Return the readable files of a location, in sorted order; those of a list in its order.

    Parameters
    ----------
    location : str
        A path, folder or glob; a URL, or a glob of URLs; a `.paths` file; `@` and a list's path.
    exclude : iterable of str
        Globs of paths that do not belong to the corpus.

    Raises
    ------
    InputError
        Nothing is there, or nothing of a known format.
    CorpusError
        A list can't be read.
    """
    if location.startswith("@"):
        found = _listed(location.removeprefix("@"))
    elif location.endswith(_LISTS):
        found = _listed(location)
    else:
        found = _remote(location) if is_remote(location) else _local(location)
    files = [file for file in found.files if not matches(file.path, exclude)]
    if not files:
        there = bool(found.files or found.of_other_formats)
        problem = "no file of a known format" if there else "no file there"
        if found.files:
            problem = "every file is excluded"
        raise InputError(f"scan:{location}", f"{problem}; known: {_KNOWN}")
    return Found(files, found.of_other_formats)


def matches(source: str, globs: Iterable[str]) -> bool:
    """Tell whether a source matches one of some globs, in which * also stands for /."""
    return any(fnmatch.fnmatchcase(source, pattern) for pattern in globs)


def format_of(path: str) -> Format | None:
    """Return the format that a path's suffix names."""
    for suffixes, name in FORMATS.items():
        if path.endswith(suffixes):
            return name
    return None


def _local(location: str) -> Found:
    path = Path(location).expanduser()
    if path.is_dir():
        inside = (p.relative_to(path) for p in path.rglob("*") if p.is_file())
        visible = [p for p in inside if not any(part.startswith(".") for part in p.parts)]
        return _known([_local_file(path / p) for p in sorted(visible)])
    if path.is_file():
        return _known([_local_file(path)])
    found = [Path(match) for match in glob.glob(str(path), recursive=True)]
    return _known([_local_file(match) for match in sorted(found) if match.is_file()])


def _local_file(path: Path) -> tuple[str, int | None, str]:
    status = path.stat()
    return str(path), status.st_size, str(status.st_mtime_ns)


def _known(files: Iterable[tuple[str, int | None, str]]) -> Found:
    known, others = [], 0
    for path, size, stamp in files:
        name = format_of(path)
        if name is None:
            others += 1
        else:
            known.append(CorpusFile(path, name, size, stamp))
    return Found(known, others)


def has_changed(file: CorpusFile) -> bool:
    """Tell whether a file is no longer the one that was found; far ones are not looked at.

    Raises
    ------
    CorpusError
        It is gone.
    """
    if is_remote(file.path) or not file.stamp:
        return False
    try:
        _, size, stamp = _local_file(Path(file.path))
    except OSError as error:
        raise CorpusError(file.path, error.strerror or str(error)) from error
    return (size, stamp) != (file.size, file.stamp)


def _remote(url: str) -> Found:
    system: Any = file_system(url)
    try:
        if "*" in url:
            infos = list(system.glob(url, detail=True).values())
        elif format_of(url):
            infos = [system.info(url)]
        else:
            infos = list(system.find(url, detail=True).values())
    except Exception as error:
        # Whatever the library of the protocol raises; nothing of ours comes this way.
        raise InputError(f"scan:{url}", f"can't be listed ({_one_line(error)})") from error
    files = [_remote_file(system, info) for info in infos if info.get("type") != "directory"]
    return _known(sorted(files))


def _remote_file(system: Any, info: dict[str, Any]) -> tuple[str, int | None, str]:
    name = str(info["name"])
    path = name if is_remote(name) else str(system.unstrip_protocol(name))
    stamps = (info.get(key) for key in ("ETag", "etag", "LastModified", "mtime", "last_modified"))
    return path, info.get("size"), str(next((stamp for stamp in stamps if stamp), ""))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


# Lists


def _listed(path: str) -> Found:
    """Return the files of a list; sizes of files on disk only, as a request each is too slow."""
    names = _read_list(path)
    root = _root(path, names)
    paths = [name if is_remote(name) or Path(name).is_absolute() else root + name for name in names]
    if len(set(paths)) < len(paths):
        twice = next(name for name in paths if paths.count(name) > 1)
        raise InputError(path, f"it lists {twice} twice")
    for name in paths:
        if format_of(name) is None:
            raise InputError(f"{path}: {name}", f"no known format; known: {_KNOWN}")
        if not is_remote(name) and not Path(name).is_file():
            raise InputError(path, f"it lists {name}, where no file is")
    return _known([(n, None, "") if is_remote(n) else _local_file(Path(n)) for n in paths])


def _read_list(path: str) -> list[str]:
    content = b"".join(chunk for chunk, _ in read_chunks(CorpusFile(path, "text")))
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise CorpusError(path, f"no list: not UTF-8 at byte {error.start}") from error
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not names:
        raise InputError(path, "an empty list; one path or URL per line was expected")
    return names


def _root(path: str, names: list[str]) -> str:
    """Return what relative names start with: a host or bucket, or a folder above the list."""
    if is_remote(path):
        parts = urlsplit(path)
        return urlunsplit((parts.scheme, parts.netloc, "/", "", ""))
    relative = next((n for n in names if not is_remote(n) and not Path(n).is_absolute()), None)
    folder = Path(path).resolve().parent
    for above in (folder, *folder.parents):
        if relative is None or (above / relative).is_file():
            return f"{above}/"
    raise InputError(path, f"it lists {relative}, which is in no folder above the list")
