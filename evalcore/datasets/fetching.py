"""Fetch the files of a benchmark from the project that publishes them."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evalcore.datasets.catalog import PublishedFile, find_benchmark
from evalcore.datasets.loading import cache_folder
from evalcore.datasets.reading import read_content, sha256_of
from ngramscan.errors import InputError, RemoteError, RemoteRefused, RemoteUnavailable

if TYPE_CHECKING:
    import requests

_TIMEOUT_S = 60.0


def fetch_dataset(name: str) -> tuple[Path, tuple[str, ...]]:
    """Fetch a benchmark into the cache; what is there already is checked, not asked for again.

    Parameters
    ----------
    name : str
        One of `DATASETS`.

    Returns
    -------
    path : Path
        The file, or the folder where the benchmark is a folder; what `load_dataset` takes.
    notices : tuple of str
        One sentence for each file that can't be checked, because its hash is not known.

    Raises
    ------
    InputError
        A file is not the one that was published, the disk refuses it, or pooch is not installed.
    RemoteRefused
        The file is not where it was.
    RemoteUnavailable
        The service can't be reached or is in trouble.
    """
    benchmark = find_benchmark(name)
    folder = cache_folder(benchmark)
    paths = [_fetch(file, folder) for file in benchmark.files]
    notices = tuple(
        f"not pinned: {path} has SHA-256 {sha256_of(read_content(path))}"
        for path, file in zip(paths, benchmark.files, strict=True)
        if file.sha256 is None
    )
    return (folder if name == "aicrypto" else paths[0]), notices


def _fetch(file: PublishedFile, folder: Path) -> Path:
    """Fetch one file; pooch moves it to its place only when it is whole and its hash is right."""
    try:
        import pooch
        import requests
    except ImportError as error:
        raise InputError("pooch", "not installed; pip install 'ngramscan[eval]'") from error
    pooch.get_logger().setLevel(logging.WARNING)
    place = folder / file.name
    known = f"sha256:{file.sha256}" if file.sha256 else None
    download = pooch.HTTPDownloader(timeout=_TIMEOUT_S)
    try:
        pooch.retrieve(file.url, known, place.name, place.parent, downloader=download)
    except requests.RequestException as error:
        raise _translated(error, file.url) from error
    except OSError as error:
        raise InputError(str(place), (error.strerror or str(error)).lower()) from error
    except ValueError as error:  # the only way in which pooch tells a wrong hash
        found = re.search(r"but got \"?(?:sha256:)?([0-9a-f]{64})", str(error))
        got = found[1] if found else "another"
        problem = f"its SHA-256 is {got}; expected {file.sha256}"
        raise InputError(file.url, problem) from error
    return place


def _translated(error: requests.RequestException, url: str) -> RemoteError:
    status = error.response.status_code if error.response is not None else None
    if status is None:
        return RemoteUnavailable(f"{url}: {type(error).__name__} while it was fetched")
    message = f"{url}: HTTP status {status}"
    return RemoteUnavailable(message) if status == 429 or status >= 500 else RemoteRefused(message)
