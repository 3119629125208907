"""Where a corpus is → its files: a path, folder, glob, URL, or a list of paths.

A list is how Common Crawl publishes a crawl (`wet.paths.gz`): paths relative to the host or bucket
of the list, or to a folder above it on disk.
"""

from __future__ import annotations

import fnmatch
import glob
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ngramscan.corpora.base import CorpusFile, Format, local_file
from ngramscan.corpora.streams import file_system, is_remote, read_chunks, reason_of
from ngramscan.errors import CorpusError, InputError

_LISTS = (".paths", ".paths.gz")
_FORMATS: dict[tuple[str, ...], Format] = {
    (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst"): "jsonl",
    (".parquet",): "parquet",
    (".warc.wet.gz", ".wet.gz", ".warc.gz", ".warc.wet", ".wet", ".warc"): "warc",
    (".txt", ".txt.gz", ".txt.zst"): "text",
}
_KNOWN = ", ".join(suffix for suffixes in _FORMATS for suffix in suffixes)


class Found(NamedTuple):
    """The files of a location."""

    files: list[CorpusFile]
    of_other_formats: int


def find_files(location: str, exclude: Iterable[str] = ()) -> Found:
    """Return the readable files of a location, in sorted order; those of a list in its order.

    A location is a path, folder or glob; a URL, or a glob of URLs; a `.paths` file; or `@` and the
    path of a list. Paths that match one of `exclude` do not belong to it.
    """
    if location.startswith("@") or location.endswith(_LISTS):
        found = _listed(location.removeprefix("@"))
    else:
        found = _remote(location) if is_remote(location) else _local(location)
    known = [file for file in found if file is not None]
    kept = [file for file in known if not matches(file.path, exclude)]
    if not kept:
        problem = "no file of a known format" if found else "no file there"
        problem = "every file is excluded" if known else problem
        raise InputError(f"scan:{location}", f"{problem}; known: {_KNOWN}")
    return Found(kept, len(found) - len(known))


def matches(source: str, globs: Iterable[str]) -> bool:
    """Tell whether a source matches one of some globs, in which * also stands for /."""
    return any(fnmatch.fnmatchcase(source, pattern) for pattern in globs)


def _format_of(path: str) -> Format | None:
    return next((name for suffixes, name in _FORMATS.items() if path.endswith(suffixes)), None)


def has_changed(file: CorpusFile) -> bool:
    """Tell whether a file is no longer the one that was found; remote ones are not looked at."""
    if is_remote(file.path) or not file.stamp:
        return False
    try:
        return local_file(Path(file.path), file.format) != file
    except OSError as error:
        raise CorpusError(file.path, error.strerror or str(error)) from error


# Each of these returns None for a file of another format.


def _local(location: str) -> list[CorpusFile | None]:
    path = Path(location).expanduser()
    if path.is_dir():
        inside = sorted(p.relative_to(path) for p in path.rglob("*") if p.is_file())
        found = [path / p for p in inside if not any(part.startswith(".") for part in p.parts)]
    elif path.is_file():
        found = [path]
    else:
        found = sorted(map(Path, glob.glob(str(path), recursive=True)))
    return [_local_file(path) for path in found if path.is_file()]


def _local_file(path: Path) -> CorpusFile | None:
    name = _format_of(str(path))
    return local_file(path, name) if name else None


def _remote(url: str) -> list[CorpusFile | None]:
    system: Any = file_system(url)
    try:
        if "*" in url:
            infos = list(system.glob(url, detail=True).values())
        elif _format_of(url):
            infos = [system.info(url)]
        else:
            infos = list(system.find(url, detail=True).values())
    except Exception as error:
        # Whatever the library of the protocol raises; nothing of ours comes this way.
        raise InputError(f"scan:{url}", f"can't be listed ({reason_of(error)})") from error
    found = [_remote_file(system, info) for info in infos if info.get("type") != "directory"]
    return [
        CorpusFile(path, name, size, stamp) if (name := _format_of(path)) else None
        for path, size, stamp in sorted(found)
    ]


def _remote_file(system: Any, info: dict[str, Any]) -> tuple[str, int | None, str]:
    name = str(info["name"])
    path = name if is_remote(name) else str(system.unstrip_protocol(name))
    stamps = (info.get(key) for key in ("ETag", "etag", "LastModified", "mtime", "last_modified"))
    return path, info.get("size"), str(next(filter(None, stamps), ""))


def _listed(path: str) -> list[CorpusFile | None]:
    """Return the files of a list; sizes of files on disk only, as a request each is too slow."""
    names = _read_list(path)
    root = _root(path, names)
    paths = [name if _is_absolute(name) else root + name for name in names]
    if len(set(paths)) < len(paths):
        twice = next(name for name in paths if paths.count(name) > 1)
        raise InputError(path, f"it lists {twice} twice")
    files: list[CorpusFile | None] = []
    for name in paths:
        form = _format_of(name)
        if form is None:
            raise InputError(f"{path}: {name}", f"no known format; known: {_KNOWN}")
        if not is_remote(name) and not Path(name).is_file():
            raise InputError(path, f"it lists {name}, where no file is")
        files.append(CorpusFile(name, form) if is_remote(name) else local_file(Path(name), form))
    return files


def _is_absolute(name: str) -> bool:
    return is_remote(name) or Path(name).is_absolute()


def _read_list(path: str) -> list[str]:
    content = b"".join(chunk for chunk, _ in read_chunks(CorpusFile(path, "text")))
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise CorpusError(path, f"not a list: not UTF-8 at byte {error.start}") from error
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not names:
        raise InputError(path, "an empty list; one path or URL per line was expected")
    return names


def _root(path: str, names: list[str]) -> str:
    """Return what relative names start with: a host or bucket, or a folder above the list."""
    if is_remote(path):
        parts = urlsplit(path)
        return f"{parts.scheme}://{parts.netloc}/"
    relative = next((name for name in names if not _is_absolute(name)), None)
    folder = Path(path).resolve().parent
    for above in (folder, *folder.parents):
        if relative is None or (above / relative).is_file():
            return f"{above}/"
    raise InputError(path, f"it lists {relative}, which is in no folder above the list")
