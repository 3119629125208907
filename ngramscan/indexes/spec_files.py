"""A spec → the local files that are read for it, so that no command overwrites one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ngramscan.corpora.base import Format
from ngramscan.corpora.files import LISTS, find_files, matches, matches_glob
from ngramscan.corpora.folders import is_hidden
from ngramscan.corpora.formats import format_of
from ngramscan.corpora.text import python_files
from ngramscan.errors import InputError
from ngramscan.indexes.kinds import PYTHON, SCAN, IndexKind, kind_of
from ngramscan.indexes.specs import read_specs, spec_of_path
from ngramscan.reading.streams import (
    STANDARD_INPUT,
    is_stream,
    names_standard_input,
)
from ngramscan.remote.stores import is_remote

_LOCAL_PROTOCOLS = ("file", "local")
"""The names that fsspec has for files of this machine."""


def local_files(spec: str) -> Iterator[Path]:
    """Yield the files of a corpus or index; a folder is yielded itself.

    A missing path is not reported here, but where it is opened.
    """
    for part, kind, place in _parts_of(spec):
        if PYTHON.names(part):
            yield from (Path(file.path) for file in python_files())
        elif is_stream(place):
            yield STANDARD_INPUT if names_standard_input(place) else Path(place)
        elif is_remote(place):
            yield from _files_at_url(place.removeprefix("@"), kind)
        else:
            yield from _files_at(place, kind)


def is_read(
    spec: str,
    form: Format | None,
    skips_unknown: bool | None,
    excluded: Iterable[str] | None,
    file: Path,
) -> bool:
    """Tell whether a file is read, or ends the reading, because of its folder or a glob.

    All files of an index belong to it. In the folder or glob of a corpus, hidden files and files
    that `excluded` names are left out, and files of unknown formats if `skips_unknown`.
    """
    for kind, place in _local_places(spec):
        is_there = matches_glob(place, file) or _is_in_folder(place, file, kind is SCAN)
        is_left_out = kind is SCAN and (
            matches(str(file), excluded or ())
            or bool(skips_unknown and form is None and format_of(str(file)) is None)
        )
        if is_there and not is_left_out:
            return True
    return False


def _parts_of(spec: str) -> Iterator[tuple[str, IndexKind | None, str]]:
    """Yield the parts of a spec, with the kind and the place of each; some have several."""
    for index_spec in read_specs([spec]):
        part = spec_of_path(index_spec.place)
        kind = kind_of(part)
        places = kind.places_in(part) if kind and kind.is_of_files else [part]
        yield from ((part, kind, place) for place in places)


def _local_places(spec: str) -> Iterator[tuple[IndexKind | None, str]]:
    """Yield the kind and place of each part of a spec that is in files of this machine."""
    for _, kind, place in _parts_of(spec):
        if is_remote(place):
            yield from ((kind, path) for path in _local_paths_in(place))
        elif not is_stream(place):
            yield kind, place


def _is_in_folder(place: str, file: Path, may_hide: bool) -> bool:
    """Tell whether a file is in a folder, by its name or where links lead."""
    folder = os.path.expanduser(place)
    if not os.path.isdir(folder):
        return False
    for path_of in (os.path.abspath, os.path.realpath):
        inside = os.path.relpath(path_of(file), path_of(folder))
        if inside.split(os.sep)[0] != os.pardir and not (may_hide and is_hidden(inside)):
            return True
    return False


def _files_at_url(url: str, kind: IndexKind | None) -> Iterator[Path]:
    for path in _local_paths_in(url):
        yield from _files_at(path, kind)


def _local_paths_in(url: str) -> Iterator[str]:
    """Yield the local paths behind a URL of fsspec, such as `simplecache::file:///corpus.jsonl`."""
    for link in url.split("::"):
        protocol, mark, path = link.partition("://")
        if mark and protocol in _LOCAL_PROTOCOLS:
            yield path
        elif not mark and "/" in link:  # an archive at the end of a chain
            yield link


def _files_at(place: str, kind: IndexKind | None) -> Iterator[Path]:
    listed = place.removeprefix("@")
    path = Path(os.path.expanduser(listed))
    if path.exists():
        yield path
    if path.is_dir():
        if kind is not SCAN:  # shards may be links to folders, which a corpus leaves out
            yield from (inner for inner in path.iterdir() if inner.is_symlink())
        return
    if path.exists() and listed == place and not listed.endswith(LISTS):
        return
    with suppress(InputError):
        corpus_files, _ = find_files(place, form="text")  # any format: their names alone are wanted
        for file in corpus_files:
            if is_remote(file.path):
                yield from _files_at_url(file.path, kind)
            else:
                yield Path(file.path)
