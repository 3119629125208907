"""Who can answer how often something occurs.

`open_indexes` is the only place that names the backends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import platformdirs

from ngramscan.corpora import PythonCorpus, open_corpus
from ngramscan.errors import InputError
from ngramscan.indexes.base import ApiSettings, Index, IndexSize, split_login
from ngramscan.indexes.catalog import DEFAULT_URL, PAPER, find_hosted, nearest_names
from ngramscan.indexes.scan.index import ScanIndex, ScanOptions
from ngramscan.journal import Journal
from ngramscan.progress import Progress

if TYPE_CHECKING:
    from ngramscan.indexes.http.api import ApiAccess

__all__ = ["DEFAULT_SPEC", "ApiSettings", "Index", "IndexOptions", "ScanOptions", "open_indexes"]

DEFAULT_SPEC = "paper"


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """How indexes are opened; the options of the commands."""

    api_url: str = DEFAULT_URL
    """Where the hosted indexes are asked."""
    api: ApiSettings = field(default_factory=ApiSettings)
    journal: Path | None = None
    """The file of the journal; None: in the user's cache folder."""
    refresh: bool = False
    """Ask also what the journal has."""
    scan: ScanOptions = field(default_factory=ScanOptions)
    """How corpora are read."""


@contextmanager
def open_indexes(
    specs: Sequence[str], options: IndexOptions, progress: Progress
) -> Iterator[list[Index]]:
    """Open the indexes that some specs name, in this order, each once.

    Raises
    ------
    InputError
        A spec names nothing; nearest names are suggested.
    """
    with ExitStack() as stack:
        opener = _Opener(options, progress, stack)
        indexes: dict[str, Index] = {}
        for spec in specs:
            for index in opener.open(spec):
                indexes.setdefault(index.name, index)
        yield list(indexes.values())


class _Opener:
    """Opens indexes; those of one host share its client."""

    def __init__(self, options: IndexOptions, progress: Progress, stack: ExitStack) -> None:
        self._options = options
        self._progress = progress
        self._stack = stack
        self._hosts: dict[str, ApiAccess] = {}
        self._journal: Journal | None = None

    def open(self, spec: str) -> list[Index]:
        """Return the indexes of one spec."""
        if spec == "paper":
            return [index for hosted in PAPER for index in self.open(hosted.name)]
        scan = self._options.scan
        if spec == "python":
            return [ScanIndex(PythonCorpus(), scan, self._progress)]
        if spec.startswith("scan:"):
            _refuse_password(spec)
            corpus = open_corpus(spec.removeprefix("scan:"), scan.read.exclude_sources)
            journal = self._open_journal()
            return [ScanIndex(corpus, scan, self._progress, journal, self._options.refresh)]
        if scan.ignore_case:
            raise InputError("--ignore-case", f"only scan: and python can, not {spec}")
        if spec.startswith("fm9:"):
            return [_open_fm9(spec, self._progress)]
        if spec.startswith(("http://", "https://")):
            return [self._open_elsewhere(spec)]
        if hosted := find_hosted(spec):
            size = IndexSize(hosted.documents, hosted.bytes)
            return [self._open_api(hosted.name, hosted.spellings, size, self._options.api_url)]
        raise InputError(f"--index {spec}", _unknown(spec))

    def _open_elsewhere(self, spec: str) -> Index:
        folder, _, name = spec.rpartition("/")
        shown, _ = split_login("--index", spec)
        if not urlsplit(spec).path.strip("/") or not name:
            raise InputError(
                f"--index {shown}", "no index named; http://HOST:PORT/NAME was expected"
            )
        return self._open_api(shown.rstrip("/"), [name], IndexSize(), f"{folder}/")

    def _open_api(self, name: str, spellings: Sequence[str], size: IndexSize, url: str) -> Index:
        # Slow to import, and not needed by who reads a corpus.
        from ngramscan.indexes.http.api import ApiAccess, ApiIndex
        from ngramscan.indexes.http.client import ApiClient

        if url not in self._hosts:
            client = ApiClient(url, self._options.api, self._progress)
            self._stack.enter_context(client)
            self._hosts[url] = ApiAccess(
                client, self._open_journal(), self._progress, self._options.refresh
            )
        return ApiIndex(name, spellings, size, self._hosts[url])

    def _open_journal(self) -> Journal:
        """Return the journal; one in memory where none was named and there is no place for it."""
        if self._journal is None:
            try:
                journal = Journal(self._options.journal or default_journal())
            except InputError as error:
                if self._options.journal:
                    raise
                self._progress.notice(f"{error}; without one, what is done is not kept")
                journal = Journal(None)
            self._journal = self._stack.enter_context(journal)
        return self._journal


def default_journal() -> Path:
    """Return the journal that is used where none is named."""
    return platformdirs.user_cache_path("ngramscan") / "replies.sqlite"


def _refuse_password(spec: str) -> None:
    parts = urlsplit(spec.removeprefix("scan:"))
    if parts.password is not None:
        problem = "a password in it would show in rows; put it into the configuration of fsspec"
        raise InputError(f"--index scan:{parts.scheme}://{parts.hostname}/…", problem)


def _open_fm9(spec: str, progress: Progress) -> Index:
    try:
        # Slow to import, and of an extra.
        from ngramscan.indexes.fm9 import Fm9Index
    except ModuleNotFoundError as error:
        problem = f"{error.name} is not installed; pip install 'ngramscan[index]'"
        raise InputError(f"--index {spec}", problem) from error
    directory = spec.removeprefix("fm9:")
    if not directory:
        raise InputError(f"--index {spec}", "no directory named; fm9:DIR was expected")
    return Fm9Index(Path(directory), progress)


def _unknown(spec: str) -> str:
    near = nearest_names(spec)
    if Path(spec).exists():
        return f"no index of this name; to read the corpus there: --index scan:{spec}"
    suggestion = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no index of this name{suggestion} (all: ngramscan index list)"
