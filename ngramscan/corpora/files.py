"""Where a corpus is → its files: a path, folder, glob, URL, pipe, or a list of paths.

A list is how Common Crawl publishes a crawl (`wet.paths.gz`): paths relative to the host or bucket
of the list, or to a folder above it on disk.
"""

from __future__ import annotations

import codecs
import fnmatch
import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ngramscan.corpora.base import (
    CHANGED,
    CorpusFile,
    FileOrPath,
    Format,
    describe_skipped,
    listed_file,
    local_file,
    marks_of,
    web_path,
)
from ngramscan.corpora.folders import (
    dataset_extras,
    files_in,
    is_hidden,
    is_hidden_from_glob,
    left_out,
)
from ngramscan.corpora.formats import BY_NAME, CURE, format_in, format_of, why_unknown
from ngramscan.corpora.streams import (
    cure_where_denied,
    first_bytes,
    open_file,
    read_chunks,
    stream_chunks,
)
from ngramscan.errors import CorpusError, InputError, reason_of
from ngramscan.messages import OptionUse, Text
from ngramscan.reading.compressions import (
    HEAD_BYTES,
    USUAL_WINDOW_BYTES,
    ZSTD,
    packed_suffix,
    window_bytes,
)
from ngramscan.reading.streams import Chunks, is_stream, missing, name_of
from ngramscan.remote.stores import is_http, is_remote, open_store, version_of

LISTS = (".paths", ".paths.gz")
_FORMS = "JSON lines (.jsonl), Parquet (.parquet) or text (.txt)"  # the three likeliest
_HEAD_BYTES = 64  # enough to distinguish formats and encodings
_WINDOW_LOOK_BYTES = 1_000_000
"""Smaller files of zstd are not opened to learn their windows: there may be many."""
_FilesAndNotices = tuple[list[CorpusFile], list[str]]


def find_files(
    location: str,
    exclude: Iterable[str] = (),
    form: Format | None = None,
    skip_unknown: bool = False,
    reader_pays: bool = False,
) -> _FilesAndNotices:
    """Return the files of a location, and notices about them.

    A location is a path, folder or glob; a URL, or a glob of URLs; a `.paths` file, or `@` and the
    path of a list; a pipe, or `-` for standard input. Files are sorted by the text of their paths,
    as the original tools sort them, unless a list names them. Paths that match one of `exclude` are
    left out. All files are of the format `form`, or of the one that their names say: where one says
    none, it is an InputError, or with `skip_unknown` left out. Where `reader_pays`, S3 may charge
    the user for listing and reading them.
    """
    location = _without_protocol(location)
    if is_stream(location):
        return _open_stream(location, form)
    notices: list[str] = []
    name = web_path(location)
    if location.startswith("@") or name.endswith(LISTS):
        candidates = _listed(location.removeprefix("@"), form, reader_pays)
    else:
        if is_remote(location):
            candidates, notices = _remote(location, form, reader_pays)
        else:
            candidates, notices = _local(location, form)
        candidates, more = _without_extras(candidates)
        notices += more
    files = [f for f in candidates if isinstance(f, CorpusFile) and not matches(f.path, exclude)]
    others = [path for path in candidates if isinstance(path, str) and not matches(path, exclude)]
    if not files:
        is_excluded = candidates and not others
        problem = "every file is excluded" if is_excluded else _why_none(name, bool(candidates))
        raise InputError(f"scan:{name}", problem)
    if others and not skip_unknown:
        problem = f"files of unknown formats: {len(others)}, the first is {others[0]}"
        options = OptionUse("skip_unknown") + " or " + OptionUse("exclude_source")
        raise InputError(f"scan:{name}", f"{problem}; " + options + " leaves them out, or " + CURE)
    if others:
        notices.append(f"files of unknown formats left out: {len(others)}")
    notices += _memory_notices(files)
    return files, [f"scan:{name}: {notice}" for notice in notices]


def _without_extras(files: list[FileOrPath]) -> tuple[list[FileOrPath], list[str]]:
    """Return files without those that describe a saved dataset or were left there by computing."""
    paths = [file if isinstance(file, str) else file.path for file in files]
    extras, caches = dataset_extras(paths)
    data_files = [file for file, path in zip(files, paths, strict=True) if path not in extras]
    return data_files, list(left_out("cache files of datasets", caches))


def _memory_notices(files: Iterable[CorpusFile]) -> Iterator[str]:
    """Yield a line on the memory that local files need which were compressed with long windows."""
    large = [
        file
        for file in files
        if file.status and (file.size or 0) >= _WINDOW_LOOK_BYTES
        if packed_suffix(file.path).lower() in ZSTD.suffixes
    ]
    windows = {
        file.path: window for file in large if (window := _window_of(file)) > USUAL_WINDOW_BYTES
    }
    if windows:
        most, first = max(windows.values()), min(windows)
        need = f"up to {most / 2**20:,.0f} MiB of memory for each worker"
        yield f"zstd with long windows in {len(windows)} files: {need}; the first is {first}"


def _window_of(file: CorpusFile) -> int:
    with open_file(file) as opened:
        return window_bytes(opened.read(HEAD_BYTES))


def _without_protocol(location: str) -> str:
    """Return the path of a `file://` URL: a local file has an identity that no program can fake."""
    is_local = location.startswith("file://") and "::" not in location
    return location.removeprefix("file://") if is_local else location


def _why_none(location: str, has_files: bool) -> Text:
    path = Path(location).expanduser()
    if has_files and not (path.is_dir() or location.endswith("/")):
        return why_unknown(str(path))
    if has_files:
        return f"contains no file of a known format; expected {_FORMS}, or " + CURE
    if path.is_dir() or is_remote(location) or glob.has_magic(location):
        return f"no file there; expected {_FORMS}"
    return missing(path, _FORMS)


def _open_stream(path: str, form: Format | None) -> _FilesAndNotices:
    """Return a pipe as the one file of a corpus; its first bytes say the format."""
    name, skipped = name_of(path), Counter[str]()
    head, chunks = _start_of(stream_chunks(path, skipped))
    if not head:
        raise InputError(name, "it is empty; expected a corpus")
    is_sniffed, form = form is None, form or format_in(head, name)
    if BY_NAME[form].is_seekable:
        problem = (
            f"{BY_NAME[form].title} can't be read from a pipe, since its end says what is in it"
        )
        raise InputError(name, f"{problem}; give the file: scan:FILE.{form}")
    notice = f"{name}: read as text, one document; if it is something else, {CURE}"
    file = CorpusFile(name, form, stream=chunks, stream_skipped=skipped)
    return [file], ([notice] if is_sniffed and form == "text" else [])


def _start_of(chunks: Chunks) -> tuple[bytes, Chunks]:
    """Return the beginning of an input, after white space, and all of its content."""
    length = _HEAD_BYTES
    while True:
        begun, chunks = first_bytes(chunks, length)
        head = begun.removeprefix(codecs.BOM_UTF8).lstrip()
        if len(head) >= _HEAD_BYTES or len(begun) < length:
            return head, chunks
        length = len(begun) + _HEAD_BYTES


def matches(source: str, globs: Iterable[str]) -> bool:
    """Tell whether a source matches one of some globs, in which * also stands for /."""
    return any(fnmatch.fnmatchcase(source, pattern) for pattern in globs)


def matches_glob(place: str, file: Path) -> bool:
    """Tell whether a glob of files would find one by its name."""
    pattern = os.path.expanduser(place)
    if not glob.has_magic(pattern) or os.path.lexists(pattern):
        return False
    parts = os.path.abspath(pattern).split(os.sep)
    return _match_parts(parts, os.path.abspath(file).split(os.sep))


def _match_parts(patterns: Sequence[str], names: Sequence[str]) -> bool:
    """Tell whether a path matches a glob, part by part; `**` is any number of folders."""
    if not patterns or not names:
        return not names and all(pattern == "**" for pattern in patterns)
    first = patterns[0]
    if first == "**":
        goes_on = not names[0].startswith(".") and _match_parts(patterns, names[1:])
        return goes_on or _match_parts(patterns[1:], names)
    is_shown = first.startswith(".") or not names[0].startswith(".")
    is_alike = is_shown and fnmatch.fnmatchcase(names[0], first)
    return is_alike and _match_parts(patterns[1:], names[1:])


def has_changed(file: CorpusFile) -> bool:
    """Tell whether a local file has changed since it was found, by size, times and inode."""
    if not file.status:
        return False
    try:
        status = os.stat(file.path)
    except OSError as error:
        raise CorpusError(file.path, error.strerror or str(error)) from error
    return (status.st_size, *marks_of(status)) != (file.size, file.stamp, file.status)


def refuse_changed(file: CorpusFile) -> None:
    """Raise a CorpusError if a local file has changed since it was found."""
    if has_changed(file):
        raise CorpusError(file.path, CHANGED)


def _local(location: str, form: Format | None) -> tuple[list[FileOrPath], list[str]]:
    path = Path(location).expanduser()
    notices: list[str] = []
    if path.is_dir():
        paths, notices = files_in(str(path))
    elif path.is_file():
        paths = [str(path)]
    else:
        paths = sorted(glob.glob(str(path), recursive=True))
        folders = [] if "**" in location else [path for path in paths if os.path.isdir(path)]
        notices += left_out("folders", folders, cure="; ** also reads what is in them")
        paths = [path for path in paths if not os.path.isdir(path)]
    return [_local_named(path, form or format_of(path)) for path in paths], notices


def _local_named(path: str, form: Format | None) -> FileOrPath:
    """Return a file; a link to nothing is one too, so that reading it is an error."""
    if form is None:
        return path
    if file := local_file(path, form):
        return file
    is_missing = os.path.islink(path) and not os.path.exists(path)
    return CorpusFile(path, form) if is_missing else path


def _remote(url: str, form: Format | None, reader_pays: bool) -> tuple[list[FileOrPath], list[str]]:
    if not is_http(url):
        return _on_store(url, form, reader_pays)
    from ngramscan.corpora.web_files import find_web_files  # slow to import

    files, hidden = find_web_files(url, form, format_of)
    return files, list(left_out("hidden files and folders", hidden))


def identified(files: Sequence[CorpusFile]) -> list[CorpusFile]:
    """Return files with the stamps of their contents, if their servers send any.

    Files of a list on the web are requested for this, since nothing has requested them yet.
    """
    unknown = {file.location: file for file in files if _is_unknown(file)}
    if not unknown:
        return list(files)
    from ngramscan.corpora.web_files import with_stamps  # slow to import

    stamped_files = dict(zip(unknown, with_stamps([*unknown.values()]), strict=True))
    return [stamped_files.get(file.location, file) for file in files]


def _is_unknown(file: CorpusFile) -> bool:
    return file.size is None and not file.stamp and is_http(file.location)


def _on_store(
    url: str, form: Format | None, reader_pays: bool
) -> tuple[list[FileOrPath], list[str]]:
    system, folder = open_store(url, reader_pays=reader_pays)
    hidden: list[str] = []
    try:
        if "*" in url:
            inside = system.glob(url, detail=True)
            hidden = [name for name in inside if is_hidden_from_glob(name, folder)]
            hidden_names = set(hidden)
            infos = [info for name, info in inside.items() if name not in hidden_names]
        else:
            infos = [system.info(url)] if form or format_of(url) else []
            if not infos or infos[0].get("type") == "directory":
                inside = system.find(url, detail=True)
                hidden = [name for name in inside if is_hidden(name.removeprefix(folder))]
                hidden_names = set(hidden)
                infos = [info for name, info in inside.items() if name not in hidden_names]
    except Exception as error:
        # Whatever the library of the protocol raises; nothing of ours comes this way.
        problem = f"can't be listed ({reason_of(error)})" + cure_where_denied(
            error, url, reader_pays
        )
        raise InputError(f"scan:{url}", problem) from error
    files = [
        _remote_file(system, info, form, reader_pays)
        for info in infos
        if info.get("type") != "directory"
    ]
    files.sort(key=lambda source: source if isinstance(source, str) else source.path)
    return files, list(left_out("hidden files", list(filter(format_of, hidden))))


def _remote_file(
    system: Any, info: dict[str, Any], form: Format | None, reader_pays: bool
) -> FileOrPath:
    name = str(info["name"])
    path = name if is_remote(name) else str(system.unstrip_protocol(name))
    form = form or format_of(path)
    if form is None:
        return path
    return CorpusFile(path, form, info.get("size"), version_of(info), reader_pays=reader_pays)


def _listed(path: str, stated_form: Format | None, reader_pays: bool) -> list[FileOrPath]:
    """Return the files of a list; sizes of files on disk only, as a request each is too slow."""
    names = _read_list(path, reader_pays)
    root = _root(path, names)
    paths = [name if _is_absolute(name) else root + name for name in names]
    if len(set(paths)) < len(paths):
        twice = next(name for name in paths if paths.count(name) > 1)
        raise InputError(web_path(path), f"it lists {web_path(twice)} twice")
    files: list[FileOrPath] = []
    for name in paths:
        form = stated_form or format_of(web_path(name))
        if form is None:
            raise InputError(f"{web_path(path)}: {web_path(name)}", f"no known format; {CURE}")
        if is_remote(name):
            file: CorpusFile | None = listed_file(name, form, reader_pays)
        else:
            file = local_file(name, form)
        if file is None:
            raise InputError(path, f"it lists {name}, where no file is")
        files.append(file)
    return files


def _is_absolute(name: str) -> bool:
    return is_remote(name) or Path(name).is_absolute()


def _read_list(path: str, reader_pays: bool) -> list[str]:
    file, skipped = listed_file(path, "text", reader_pays), Counter[str]()
    path = file.path
    content = b"".join(chunk for chunk, _ in read_chunks(file, skipped))
    if skipped:
        raise CorpusError(path, f"damaged; {describe_skipped(skipped)}")
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
