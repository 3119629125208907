"""Where a corpus is → its files: a path, folder, glob, URL, pipe, or a list of paths.

A list is how Common Crawl publishes a crawl (`wet.paths.gz`): paths relative to the host or bucket
of the list, or to a folder above it on disk.
"""

from __future__ import annotations

import codecs
import fnmatch
import glob
import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ngramscan.corpora.base import (
    CHANGED,
    CorpusFile,
    Format,
    listed_file,
    local_file,
    marks_of,
    web_path,
)
from ngramscan.corpora.jsonl import LIST_PROBLEM, LIST_START
from ngramscan.corpora.streams import read_chunks, stream_chunks
from ngramscan.errors import CorpusError, InputError, reason_of
from ngramscan.reading.streams import is_stream, missing, name_of, unpacked_path
from ngramscan.remote.stores import is_http, is_remote, open_store, version_of

_LISTS = (".paths", ".paths.gz")
_FORMATS: dict[str, Format] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".wet", ".warc"), "warc"),
    ".txt": "text",
}
"""By suffix, which that of a compression may follow."""
_FORMS = "JSON lines (.jsonl), Parquet (.parquet) or text (.txt)"  # the three likeliest
_CURE = "--input-format says it: jsonl, text, warc or parquet"
_TABLES = {".csv", ".tsv", ".xlsx"}
_CONVERT = "convert it to JSONL or Parquet, with the texts in a field named text"
_HEAD_BYTES = 16  # enough to tell the formats apart
_Found = tuple[list[CorpusFile], list[str]]
_Named = CorpusFile | str
"""A file, or only the path of one whose name says no format."""


def find_files(
    location: str,
    exclude: Iterable[str] = (),
    form: Format | None = None,
    skip_unknown: bool = False,
) -> _Found:
    """Return the files of a location, and notices about them.

    A location is a path, folder or glob; a URL, or a glob of URLs; a `.paths` file, or `@` and the
    path of a list; a pipe, or `-` for standard input. Files are sorted by the text of their paths,
    as the original tools sort them, unless a list names them. Paths that match one of `exclude` are
    left out. All files are of the format `form`, or of the one that their names say: where one says
    none, it is an InputError, or with `skip_unknown` left out.
    """
    location = _without_protocol(location)
    if is_stream(location):
        return _open_stream(location, form)
    if location.startswith("@") or web_path(location).endswith(_LISTS):
        found = _listed(location.removeprefix("@"), form)
    else:
        found = _remote(location, form) if is_remote(location) else _local(location, form)
    kept = [f for f in found if isinstance(f, CorpusFile) and not matches(f.path, exclude)]
    others = [path for path in found if isinstance(path, str) and not matches(path, exclude)]
    if not kept:
        is_excluded = found and not others
        problem = "every file is excluded" if is_excluded else _why_none(location, bool(found))
        raise InputError(f"scan:{location}", problem)
    if others and not skip_unknown:
        problem = f"files of unknown formats: {len(others)}, the first is {others[0]}"
        cures = f"--skip-unknown or --exclude-source leaves them out, or {_CURE}"
        raise InputError(f"scan:{location}", f"{problem}; {cures}")
    notice = f"scan:{location}: files of unknown formats left out: {len(others)}"
    return kept, [notice] * bool(others)


def _without_protocol(location: str) -> str:
    """Return the path of a `file://` URL: a local file has an identity that no program can fake."""
    is_local = location.startswith("file://") and "::" not in location
    return location.removeprefix("file://") if is_local else location


def _why_none(location: str, has_files: bool) -> str:
    path = Path(location).expanduser()
    if has_files and not path.is_dir():
        suffix = unpacked_path(path).suffix.lower()
        if suffix in _TABLES:
            return f"{suffix} is not a corpus format; {_CONVERT}"
        return f"unknown format: {suffix or 'no suffix'}; {_CURE}"
    if has_files:
        return f"contains no file of a known format; expected {_FORMS}, or {_CURE}"
    if path.is_dir() or is_remote(location) or glob.has_magic(location):
        return f"no file there; expected {_FORMS}"
    return missing(path, _FORMS)


def _open_stream(path: str, form: Format | None) -> _Found:
    """Return a pipe as the one file of a corpus; its first bytes say the format."""
    name, chunks, begun, head = name_of(path), stream_chunks(path), [], b""
    for chunk in chunks:
        begun.append(chunk)
        head = (head + chunk[0]).removeprefix(codecs.BOM_UTF8).lstrip()
        if len(head) >= _HEAD_BYTES:
            break
    if not head:
        raise InputError(name, "it is empty; expected a corpus")
    is_sniffed, form = form is None, form or _format_in(head, name)
    if form == "parquet":
        problem = "Parquet can't be read from a pipe, since its end says what is in it"
        raise InputError(name, f"{problem}; give the file: scan:FILE.parquet")
    notice = f"{name}: read as text, one document; if it is something else, {_CURE}"
    file = CorpusFile(name, form, stream=chain(begun, chunks))
    return [file], [notice] * (is_sniffed and form == "text")


def _format_in(head: bytes, name: str) -> Format:
    starts: dict[bytes, Format] = {b"WARC/": "warc", b"PAR1": "parquet", b"{": "jsonl"}
    if LIST_START.match(head):
        raise InputError(name, LIST_PROBLEM)
    if found := next((starts[start] for start in starts if head.startswith(start)), None):
        return found
    n_other_bytes = len(head) - len(head.decode("utf-8", "ignore").encode())
    if b"\0" in head or n_other_bytes > 3:  # the last character may be cut
        raise InputError(name, f"neither JSON lines, text nor WARC; {_CURE}")
    return "text"


def matches(source: str, globs: Iterable[str]) -> bool:
    """Tell whether a source matches one of some globs, in which * also stands for /."""
    return any(fnmatch.fnmatchcase(source, pattern) for pattern in globs)


def format_of(path: str) -> Format | None:
    """Return the format that the name of a file says; None: it says none."""
    return "parquet" if path.endswith(".parquet") else _FORMATS.get(unpacked_path(path).suffix)


def has_changed(file: CorpusFile) -> bool:
    """Tell whether a local file is no longer the one that was found, by size, times and inode."""
    if not file.status:
        return False
    try:
        found = os.stat(file.path)
    except OSError as error:
        raise CorpusError(file.path, error.strerror or str(error)) from error
    return (found.st_size, *marks_of(found)) != (file.size, file.stamp, file.status)


def refuse_changed(file: CorpusFile) -> None:
    """Raise a CorpusError where a local file is no longer the one that was found."""
    if has_changed(file):
        raise CorpusError(file.path, CHANGED)


def _local(location: str, form: Format | None) -> list[_Named]:
    path = Path(location).expanduser()
    if path.is_dir():
        inside = (p for p in path.rglob("*") if not is_hidden(p.relative_to(path).as_posix()))
        found = sorted(map(str, inside))
    else:
        found = [str(path)] if path.is_file() else sorted(glob.glob(str(path), recursive=True))
    named = [(path, form or format_of(path)) for path in found]
    files = [local_file(path, name) if name else _unknown(path) for path, name in named]
    return [file for file in files if file is not None]


def _unknown(path: str) -> str | None:
    return path if Path(path).is_file() else None


def is_hidden(path: str) -> bool:
    """Tell whether a path within a folder is left out there: a part of it begins with a dot."""
    return any(part.startswith(".") for part in path.split("/"))


def _remote(url: str, form: Format | None) -> list[_Named]:
    if not is_http(url):
        return _on_store(url, form)
    from ngramscan.corpora.web_files import find_web_files  # slow to import

    return find_web_files(url, form, format_of)


def identified(files: Sequence[CorpusFile]) -> list[CorpusFile]:
    """Return files with what tells their contents apart, where their servers say it.

    Files of a list on the web are looked at for this, since they were not asked for yet.
    """
    unknown = {file.location: file for file in files if _is_unknown(file)}
    if not unknown:
        return list(files)
    from ngramscan.corpora.web_files import with_stamps  # slow to import

    known = dict(zip(unknown, with_stamps([*unknown.values()]), strict=True))
    return [known.get(file.location, file) for file in files]


def _is_unknown(file: CorpusFile) -> bool:
    return file.size is None and not file.stamp and is_http(file.location)


def _on_store(url: str, form: Format | None) -> list[_Named]:
    system, folder = open_store(url)
    try:
        if "*" in url:
            infos = list(system.glob(url, detail=True).values())
        else:
            infos = [system.info(url)] if form or format_of(url) else []
            if not infos or infos[0].get("type") == "directory":
                inside = system.find(url, detail=True)
                shown = (name for name in inside if not is_hidden(name.removeprefix(folder)))
                infos = [inside[name] for name in shown]
    except Exception as error:
        # Whatever the library of the protocol raises; nothing of ours comes this way.
        raise InputError(f"scan:{url}", f"can't be listed ({reason_of(error)})") from error
    found = [_remote_file(system, info, form) for info in infos if info.get("type") != "directory"]
    return sorted(found, key=lambda source: source if isinstance(source, str) else source.path)


def _remote_file(system: Any, info: dict[str, Any], form: Format | None) -> _Named:
    name = str(info["name"])
    path = name if is_remote(name) else str(system.unstrip_protocol(name))
    form = form or format_of(path)
    return CorpusFile(path, form, info.get("size"), version_of(info)) if form else path


def _listed(path: str, given: Format | None) -> list[_Named]:
    """Return the files of a list; sizes of files on disk only, as a request each is too slow."""
    names = _read_list(path)
    root = _root(path, names)
    paths = [name if _is_absolute(name) else root + name for name in names]
    if len(set(paths)) < len(paths):
        twice = next(name for name in paths if paths.count(name) > 1)
        raise InputError(path, f"it lists {twice} twice")
    files: list[_Named] = []
    for name in paths:
        form = given or format_of(web_path(name))
        if form is None:
            raise InputError(f"{path}: {web_path(name)}", f"no known format; {_CURE}")
        file = listed_file(name, form) if is_remote(name) else local_file(name, form)
        if file is None:
            raise InputError(path, f"it lists {name}, where no file is")
        files.append(file)
    return files


def _is_absolute(name: str) -> bool:
    return is_remote(name) or Path(name).is_absolute()


def _read_list(path: str) -> list[str]:
    content = b"".join(chunk for chunk, _ in read_chunks(listed_file(path, "text")))
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise CorpusError(path, f"not a list: not UTF-8 at byte {error.start}") from error
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not names:
        raise InputError(path, "an empty list; expected one path or URL per line")
    return names


def _root(path: str, names: list[str]) -> str:
    """Return what relative names start with: a host or bucket, or a folder above the list."""
    if is_remote(path):
        parts = urlsplit(path)
        return f"{parts.scheme}://{parts.netloc}/"
    relative = next((name for name in names if not _is_absolute(name)), None)
    folder = Path(os.path.realpath(path)).parent
    for above in (folder, *folder.parents):
        if relative is None or (above / relative).is_file():
            return f"{above}/"
    raise InputError(path, f"it lists {relative}, which is in no folder above the list")
