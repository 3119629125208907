"""A spec → the local files that are read for it, so that no command overwrites one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ngramscan.corpora.files import find_files
from ngramscan.errors import InputError
from ngramscan.indexes.opening import split_specs
from ngramscan.reading.streams import is_stream
from ngramscan.remote.stores import is_remote

_KINDS = ("scan:", "fm9:", "tokens:")
_LISTS = (".paths", ".paths.gz")


def local_files(spec: str) -> Iterator[Path]:
    """Yield the files of a corpus or index; a folder is yielded itself.

    A missing path is not reported here, but where it is opened.
    """
    for part in split_specs([spec]):
        place = next((part.removeprefix(kind) for kind in _KINDS if part.startswith(kind)), part)
        if not is_stream(place) and not is_remote(place):
            yield from _files_at(place)


def _files_at(place: str) -> Iterator[Path]:
    listed = place.removeprefix("@")
    path = Path(os.path.expanduser(listed))
    if path.exists():
        yield path
    if path.is_dir() or (path.exists() and listed == place and not listed.endswith(_LISTS)):
        return
    with suppress(InputError):
        found, _ = find_files(place, form="text")  # any format: their names alone are wanted
        yield from (Path(file.path) for file in found if not is_remote(file.path))
