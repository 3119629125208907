"""A spec → the local files that are read for it, so that no command overwrites one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ngramscan.corpora.files import find_files
from ngramscan.corpora.text import python_files
from ngramscan.errors import InputError
from ngramscan.indexes.opening import split_specs
from ngramscan.reading.streams import STANDARD_INPUT, is_stream, names_standard_input
from ngramscan.remote.stores import is_remote

_KINDS = ("scan:", "fm9:", "tokens:")
_LISTS = (".paths", ".paths.gz")
_LOCAL_PROTOCOLS = ("file", "local")
"""The names that fsspec has for files of this machine."""


def local_files(spec: str) -> Iterator[Path]:
    """Yield the files of a corpus or index; a folder is yielded itself.

    A missing path is not reported here, but where it is opened.
    """
    for part in split_specs([spec]):
        kind = next((kind for kind in _KINDS if part.startswith(kind)), "")
        place = part.removeprefix(kind)
        if part == "python":
            yield from (Path(file.path) for file in python_files())
        elif is_stream(place):
            yield STANDARD_INPUT if names_standard_input(place) else Path(place)
        elif is_remote(place):
            yield from _files_at_url(place.removeprefix("@"), kind)
        else:
            yield from _files_at(place, kind)


def _files_at_url(url: str, kind: str) -> Iterator[Path]:
    """Yield the local files behind a URL of fsspec, such as `simplecache::file:///corpus.jsonl`."""
    for link in url.split("::"):
        protocol, mark, path = link.partition("://")
        if mark and protocol in _LOCAL_PROTOCOLS:
            yield from _files_at(path, kind)
        elif not mark and "/" in link:  # an archive at the end of a chain
            yield from _files_at(link, kind)


def _files_at(place: str, kind: str) -> Iterator[Path]:
    listed = place.removeprefix("@")
    path = Path(os.path.expanduser(listed))
    if path.exists():
        yield path
    if path.is_dir():
        if kind != "scan:":  # shards may be links to folders, which a corpus leaves out
            yield from (inner for inner in path.iterdir() if inner.is_symlink())
        return
    if path.exists() and listed == place and not listed.endswith(_LISTS):
        return
    with suppress(InputError):
        found, _ = find_files(place, form="text")  # any format: their names alone are wanted
        for file in found:
            if is_remote(file.path):
                yield from _files_at_url(file.path, kind)
            else:
                yield Path(file.path)
