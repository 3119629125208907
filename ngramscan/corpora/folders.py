"""The files of a folder, and notices about those that are not read."""

from __future__ import annotations

import errno
import fnmatch
import os
from collections.abc import Iterable, Iterator, Sequence

from ngramscan.corpora.formats import format_of
from ngramscan.errors import InputError, reason_of

_DATASET_FILES = {"state.json", "dataset_info.json"}
"""Files that `datasets.save_to_disk` writes with the rows; `state.json` is always there."""
_DATASET_LIST = "dataset_dict.json"
MANIFEST = ".ngramscan-clean.json"
"""The file by which a copy without some documents is resumed; readers leave it out."""


def files_in(top: str) -> tuple[list[str], list[str]]:
    """Return the files below a folder, sorted, and notices about what is left out.

    Hidden files are, and links to folders. An InputError names a folder that can't be read.
    """
    files: list[str] = []
    hidden: list[str] = []
    links: list[str] = []
    loops: list[str] = []
    waiting = [top]
    while waiting:
        entries = _entries_of(waiting.pop())
        hidden += _hidden_corpora(entry for entry in entries if entry.name.startswith("."))
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if _is_folder(entry):
                (links if entry.is_symlink() else waiting).append(entry.path)
            else:
                (loops if _leads_back(entry) else files).append(entry.path)
    notices = [
        *left_out("hidden files and folders", hidden),
        *left_out("links to folders", links, cure="; give them as corpora of their own"),
        *left_out("links that lead back to themselves", loops),
    ]
    return sorted(files), notices


def _entries_of(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [*entries]
    except OSError as error:
        raise InputError(folder, f"can't be read ({reason_of(error)})") from error


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads back to itself
        return False


def _leads_back(entry: os.DirEntry[str]) -> bool:
    """Tell whether a file is a link to itself."""
    if not entry.is_symlink():  # known without another look at each of many files
        return False
    try:
        os.stat(entry.path)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def left_out(what: str, paths: Sequence[str], cure: str = "") -> Iterator[str]:
    """Yield a notice about files that are not read, if there are any."""
    if paths:
        yield f"{what} left out: {len(paths)}, the first is {min(paths)}{cure}"


def is_hidden(path: str) -> bool:
    """Tell whether a file, or a folder in its path, is hidden."""
    return any(part.startswith(".") for part in path.split("/"))


def is_hidden_from_glob(path: str, pattern: str) -> bool:
    """Tell whether a path has a hidden part that no hidden part of a glob names.

    In stores a star matches any name; in a shell, only names that don't begin with a dot.
    """
    hidden_patterns = [part for part in pattern.split("/") if part.startswith(".")]
    return any(
        not any(fnmatch.fnmatchcase(part, hidden_pattern) for hidden_pattern in hidden_patterns)
        for part in path.split("/")
        if part.startswith(".")
    )


def _hidden_corpora(entries: Iterable[os.DirEntry[str]]) -> Iterator[str]:
    """Yield the hidden files that would be read, and hidden folders that have some."""
    for entry in entries:
        if entry.name == MANIFEST:
            continue
        names = _names_below(entry.path) if _is_folder(entry) else [entry.name]
        if any(map(format_of, names)):
            yield entry.path


def _names_below(folder: str) -> Iterator[str]:
    for _, _, names in os.walk(folder):
        yield from names


def dataset_extras(paths: Iterable[str]) -> tuple[set[str], list[str]]:
    """Return the files of saved datasets that only describe them, and caches of computations."""
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    extras: set[str] = set()
    caches: list[str] = []
    for inside in by_folder.values():
        names = {_name_of(path): path for path in inside}
        if "state.json" not in names or not any(name.endswith(".arrow") for name in names):
            continue
        extras |= {path for name, path in names.items() if name in _DATASET_FILES}
        caches += [path for name, path in names.items() if _is_cache(name)]
    if extras:
        lists = (path for inside in by_folder.values() for path in inside)
        extras |= {path for path in lists if _name_of(path) == _DATASET_LIST}
    return extras | set(caches), caches


def _name_of(path: str) -> str:
    return path.rpartition("/")[2]


def _is_cache(name: str) -> bool:
    return name.startswith("cache-") and name.endswith(".arrow")
