"""Specs of indexes → indexes. `open_indexes` is the only place that names the backends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import platformdirs

from ngramscan.corpora import PythonCorpus, open_corpus
from ngramscan.errors import InputError
from ngramscan.indexes.base import Index, IndexOptions, IndexSize
from ngramscan.indexes.catalog import PAPER, find_hosted, nearest_names
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.journal import Journal
from ngramscan.progress import Progress

if TYPE_CHECKING:
    from ngramscan.indexes.http.index import ApiClient

DEFAULT_SPEC = "paper"


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
        # Names may have commas between them; a path or an address may have one itself.
        parts = (part for spec in specs for part in ([spec] if ":" in spec else spec.split(",")))
        once = dict.fromkeys(part.strip() for part in parts)  # a pipe can't be read twice
        indexes = (index for spec in once for index in opener.open(spec))
        yield list({index.name: index for index in indexes}.values())


class _Opener:
    """Opens indexes; those of one host share its client."""

    def __init__(self, options: IndexOptions, progress: Progress, stack: ExitStack) -> None:
        self._options, self._progress, self._stack = options, progress, stack
        self._clients: dict[str, ApiClient] = {}
        self._journal: Journal | None = None

    def open(self, spec: str) -> list[Index]:
        """Return the indexes of one spec."""
        if spec == DEFAULT_SPEC:
            return [index for hosted in PAPER for index in self.open(hosted.name)]
        if spec == "python":
            return [ScanIndex(PythonCorpus(), self._options, self._progress)]
        if spec.startswith("scan:"):
            return [self._open_scan(spec)]
        if self._options.ignore_case:
            raise InputError("--ignore-case", f"only scan: and python can, not {spec}")
        if spec.startswith("fm9:"):
            return [_open_fm9(spec, self._progress)]
        if spec.startswith(("http://", "https://")):
            return [self._open_elsewhere(spec)]
        if hosted := find_hosted(spec):
            size = IndexSize(hosted.documents, hosted.bytes)
            return [self._open_api(hosted.name, hosted.spellings, size, self._options.api_url)]
        raise InputError(f"--index {spec}", _unknown(spec))

    def _open_scan(self, spec: str) -> Index:
        parts = urlsplit(spec.removeprefix("scan:"))
        if parts.password is not None:
            problem = "a password in it would show in rows; put it into the configuration of fsspec"
            raise InputError(f"--index scan:{parts.scheme}://{parts.hostname}/…", problem)
        options, location = self._options, spec.removeprefix("scan:")
        corpus = open_corpus(location, options.read.exclude_sources, options.input_format)
        journal = None if corpus.is_stream else self._open_journal()
        return ScanIndex(corpus, options, self._progress, journal)

    def _open_elsewhere(self, spec: str) -> Index:
        from ngramscan.indexes.http.index import split_login

        shown, _ = split_login("--index", spec)
        folder, _, name = spec.rpartition("/")
        if not urlsplit(spec).path.strip("/") or not name:
            problem = "no index named; http://HOST:PORT/NAME was expected"
            raise InputError(f"--index {shown}", problem)
        return self._open_api(shown.rstrip("/"), [name], IndexSize(), f"{folder}/")

    def _open_api(self, name: str, spellings: Sequence[str], size: IndexSize, url: str) -> Index:
        # Slow to import, and not needed to read a corpus.
        from ngramscan.indexes.http.index import ApiClient, ApiIndex

        if url not in self._clients:
            client = ApiClient(url, self._options, self._open_journal(), self._progress)
            self._clients[url] = self._stack.enter_context(client)
        return ApiIndex(name, spellings, size, self._clients[url])

    def _open_journal(self) -> Journal:
        """Return the journal; one in memory where none was named and there is no place for it."""
        if self._journal is None:
            named = self._options.journal
            default = platformdirs.user_cache_path("ngramscan") / "replies.sqlite"
            try:
                journal = Journal(Path(named) if named else default)
            except InputError as error:
                if named:
                    raise
                self._progress.notice(f"{error}; without one, what is done is not kept")
                journal = Journal(None)
            self._journal = self._stack.enter_context(journal)
        return self._journal


def _open_fm9(spec: str, progress: Progress) -> Index:
    try:
        # Slow to import, and in an extra.
        from ngramscan.indexes.fm9 import Fm9Index
    except ModuleNotFoundError as error:
        problem = f"{error.name} is not installed; pip install 'ngramscan[index]'"
        raise InputError(f"--index {spec}", problem) from error
    directory = spec.removeprefix("fm9:")
    if not directory:
        raise InputError(f"--index {spec}", "no directory named; fm9:DIR was expected")
    return Fm9Index(Path(directory), progress)


def _unknown(spec: str) -> str:
    if Path(spec).exists():
        return f"no index of this name; to read the corpus there: --index scan:{spec}"
    near = nearest_names(spec)
    suggestion = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no index of this name{suggestion} (all: ngramscan index list)"
