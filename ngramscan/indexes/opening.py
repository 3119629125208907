"""Specs of indexes → indexes. `open_indexes` is the only place that names the backends."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ngramscan.errors import InputError, nearest, needs_extra
from ngramscan.index_files.fm9.folders import index_folder
from ngramscan.index_files.formats import is_shard
from ngramscan.indexes.base import IN_PLACE_CONCURRENCY, Index, IndexSize
from ngramscan.indexes.catalog import DEFAULT_URL, PAPER, TOKEN_URL, find_hosted, nearest_names
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal, default_path
from ngramscan.messages import Message, OptionUse, Text, message_of
from ngramscan.progress import Progress
from ngramscan.reading.streams import refuse_impossible

if TYPE_CHECKING:
    from ngramscan.indexes.http.client import ApiClient
from ngramscan.remote.ranges import Ranges

DEFAULT_SPEC = "paper"
_FORMS = (
    "scan:PATH, fm9:DIR, tokens:DIR, infini-gram:NAME, http://HOST:PORT/NAME, python or a name of"
    " `ngramscan index list`"
)
_ADDRESSES = ("scan:http:", "scan:https:")
_TOKENIZER = OptionUse("tokenizer", placeholder="FILE")
_LEADS: Mapping[str, Text] = {
    "fm9": "an index; to query it: ",
    "scan": "a corpus; to read it: ",
    "tokens": "an index over tokens; to query it, with " + _TOKENIZER + ": ",
}
"""Messages on a place that needs a spec of this kind; the spec follows."""
_TAKERS = {
    **dict.fromkeys(("text_field", "skip_bad_lines", "skip_null"), ("scan:",)),
    **dict.fromkeys(("input_format", "skip_unknown"), ("scan:",)),
    "tokenizer": ("tokens:",),
    **dict.fromkeys(("sample_files", "limit_documents", "exclude_source"), ("scan:", "python")),
}
"""Options that change counts, and the kinds of index that take them."""


@contextmanager
def open_indexes(
    specs: Sequence[str], options: IndexOptions, progress: Progress
) -> Iterator[list[Index]]:
    """Open the indexes that some specs name, in this order, each once.

    An InputError suggests what comes nearest to a spec that names nothing, or names an option that
    would change counts, but not those of any of these indexes.
    """
    with ExitStack() as stack:
        opener = _Opener(options, progress, stack)
        names = split_specs(specs)
        if not names:
            raise InputError(OptionUse("index"), f"it is empty; expected {_FORMS}")
        by_name: dict[str, Index] = {}
        for spec in names:
            _add_opened(by_name, spec, opener.open(_expanded(spec)))
        _refuse_unused(options, by_name)
        yield list(by_name.values())


def _add_opened(by_name: dict[str, Index], spec: str, opened: Sequence[Index]) -> None:
    """Add indexes by name; an InputError says that two addresses differ in what rows don't show."""
    for index in opened:
        if index.name in by_name and spec.startswith(_ADDRESSES):
            problem = "two addresses that differ only in the query or login, which rows don't show"
            raise InputError(OptionUse("index", index.name), f"{problem}; count them one at a time")
        by_name[index.name] = index


def split_specs(specs: Sequence[str]) -> list[str]:
    """Return specs one by one, each once: a pipe can't be read twice."""
    # Commas separate specs, but they may also be part of a path or an address.
    ends = r",(?=scan:|fm9:|tokens:|infini-gram:|https?:)"
    given = [part for spec in specs for part in re.split(ends, spec)]
    parts = (part for spec in given for part in ([spec] if ":" in spec else spec.split(",")))
    return [*dict.fromkeys(part.strip() for part in parts if part.strip())]


class _Opener:
    """Opens indexes; those of one host share its client."""

    def __init__(self, options: IndexOptions, progress: Progress, stack: ExitStack) -> None:
        self._options, self._progress, self._stack = options, progress, stack
        self._clients: dict[str, ApiClient] = {}

    def open(self, spec: str) -> list[Index]:
        """Return the indexes of one spec."""
        if spec == DEFAULT_SPEC:
            return [index for hosted in PAPER for index in self.open(hosted.name)]
        kind, _, place = spec.partition(":")
        if spec == "python":
            return [self._open_scan(spec)]
        refuse_impossible(place or spec)
        if kind != "scan":
            self._refuse_for_scans(spec)
        if kind in {"scan", "fm9"}:
            with suggest_spec(OptionUse("index", spec), place, kind):
                return [self._open_scan(spec) if kind == "scan" else self._open_fm9(spec)]
        if kind in {"tokens", "infini-gram"}:
            return [self._open_tokens(spec)]
        if kind in {"http", "https"}:
            return [self._open_elsewhere(spec)]
        return [self._open_named(spec, self._options.api_url)]

    def _refuse_for_scans(self, spec: str) -> None:
        """Raise an InputError for an option that only corpora take that are read."""
        if self._options.ignore_case:
            raise InputError(OptionUse("ignore_case"), f"only scan: and python take it, not {spec}")
        if rule := self._options.normalization:
            asked = "in words" if rule == "words" else "by letters and digits alone"
            only = f"only corpora that are read (scan:…, python) can be searched {asked}"
            raise InputError(OptionUse("rule"), f"{only}, not {spec}")

    def _open_scan(self, spec: str) -> Index:
        # Slow to import, and not needed to ask an index.
        from ngramscan.corpora import PythonCorpus, open_corpus
        from ngramscan.indexes.scan.index import ScanIndex

        if spec == "python":
            return ScanIndex(PythonCorpus(), self._options, self._progress)
        try:
            parts = urlsplit(spec.removeprefix("scan:"))
        except ValueError as error:
            # A malformed address may have a password anywhere.
            place = OptionUse("index") if "@" in spec else OptionUse("index", spec)
            raise InputError(place, "not a URL; expected https://…") from error
        if parts.password is not None and parts.scheme not in {"http", "https"}:
            problem = "a password in it would show in rows; put it into the configuration of fsspec"
            raise InputError(
                OptionUse("index", f"scan:{parts.scheme}://{parts.hostname}/…"), problem
            )
        options, location = self._options, spec.removeprefix("scan:")
        found_by = options.read.exclude_sources, options.input_format, options.skip_unknown
        corpus = open_corpus(location, *found_by)
        journal = None if corpus.is_stream else self._journal
        return ScanIndex(corpus, options, self._progress, journal)

    def _open_fm9(self, spec: str) -> Index:
        place = spec.removeprefix("fm9:")
        with needs_extra(OptionUse("index", spec), "index"):  # which is slow to import, too
            from ngramscan.indexes.fm9 import open_fm9
        if "://" not in place:
            return open_fm9(index_folder(place), self._progress)
        from ngramscan.indexes.in_place import InPlaceIndex  # slower still

        return InPlaceIndex(
            place, lambda: self._ranges, self._journal, self._options, self._progress
        )

    def _open_tokens(self, spec: str) -> Index:
        """Return a local folder, or an index of the hosted service or another host.

        Its spec is then `infini-gram:http://HOST:PORT/NAME`.
        """
        kind, _, place = spec.partition(":")
        if kind == "tokens":
            with needs_extra(OptionUse("index", spec), "tokens"):
                from ngramscan.indexes.tokens.local import open_tokens
            return open_tokens(Path(place), self._options.tokenizer, self._progress)
        from ngramscan.indexes.tokens.hosted import open_hosted

        folder, _, name = place.rpartition("/")
        if not name:
            raise InputError(OptionUse("index", spec), f"no index named; expected {spec}NAME")
        url = f"{folder}/" if "://" in place else TOKEN_URL
        return open_hosted(name, self._client(url))

    @cached_property
    def _ranges(self) -> Ranges:
        """Return the reader of remote files; all indexes share it and its limits."""
        from ngramscan.remote.ranges import RangeOptions, Ranges

        options = self._options
        concurrency = options.concurrency or IN_PLACE_CONCURRENCY
        given = RangeOptions(
            concurrency=concurrency,
            rate=options.rate or 0.0,
            timeout_s=options.timeout_s,
            cache_bytes=options.memory_bytes,
            cache_dir=Path(options.index_cache) if options.index_cache else None,
        )
        return self._stack.enter_context(Ranges(given, self._progress))

    def _open_elsewhere(self, spec: str) -> Index:
        from ngramscan.indexes.http.client import split_login

        shown, _ = split_login("index", spec)
        folder, _, name = spec.rpartition("/")
        if not urlsplit(spec).path.strip("/") or not name:
            hosted = find_hosted(urlsplit(spec).hostname or "")
            expected = OptionUse("index", hosted.alias) if hosted else f"{shown}NAME"
            raise InputError(OptionUse("index", shown), "no index named; expected " + expected)
        if _names_corpus(name):
            problem = "a file, not an index; to read it: " + OptionUse(
                "index", f"scan:{shown.rstrip('/')}"
            )
            raise InputError(OptionUse("index", shown.rstrip("/")), problem)
        return self._open_api(shown.rstrip("/"), [name], IndexSize(), f"{folder}/")

    def _open_named(self, name: str, url: str) -> Index:
        """Return an index of the catalog, or one by the name that the host of --api-url has for it.

        A host that doesn't list its indexes is asked for that name.
        """
        if hosted := find_hosted(name):
            # Another host may have anything under this name, and is asked for its size.
            is_public = self._client(url).is_public
            size = IndexSize(hosted.documents, hosted.bytes) if is_public else IndexSize()
            return self._open_api(hosted.name, hosted.spellings, size, url)
        if url == DEFAULT_URL or ":" in name or _kind_at(name):
            raise InputError(OptionUse("index", name), _unknown(name))
        client = self._client(url)
        if client.served and name not in client.served:
            known = [*client.served][:20]
            problem = f"{client.url} has no index of this name; it has {', '.join(known)}"
            form = OptionUse("index", client.url + known[0])
            raise InputError(OptionUse("index", name), f"{problem} (or by address: " + form + ")")
        return self._open_api(name, [name], IndexSize(), url)

    def _open_api(self, name: str, spellings: Sequence[str], size: IndexSize, url: str) -> Index:
        # Slow to import, and not needed to read a corpus.
        from ngramscan.indexes.http.index import ApiIndex

        client = self._client(url)
        return ApiIndex(name, spellings, size, client, may_be_replaced=not client.is_public)

    def _client(self, url: str) -> ApiClient:
        from ngramscan.indexes.http.client import ApiClient

        if url not in self._clients:
            client = ApiClient(url, self._options, self._journal, self._progress)
            self._clients[url] = self._stack.enter_context(client)
        return self._clients[url]

    @cached_property
    def _journal(self) -> Journal:
        """The journal; one in memory where the default one can't be written."""
        named = self._options.journal
        try:
            journal = Journal(Path(named) if named else default_path())
        except InputError as error:
            if named:
                raise
            self._progress.notice(f"{error}; replies of this run are not kept")
            journal = Journal(None)
        return self._stack.enter_context(journal)


def _expanded(spec: str) -> str:
    """Return a spec with the home folder in place of `~`, which a shell leaves after a colon."""
    kinds = ("scan:@", "scan:", "fm9:", "tokens:", "infini-gram:")
    kind = next((kind for kind in kinds if spec.startswith(kind)), "")
    if kind == spec:
        raise InputError(OptionUse("index", spec), f"nothing after the colon; expected {_FORMS}")
    return kind + os.path.expanduser(spec.removeprefix(kind))


# Messages that lead on


def _refuse_unused(options: IndexOptions, names: Collection[str]) -> None:
    """Raise an InputError for an option that would change counts, but that no index takes."""
    defaults = IndexOptions()
    for option, takers in _TAKERS.items():
        value = getattr(options, option, None)
        # A value in the environment is meant for all commands, though some have no use for it.
        unset = getattr(defaults, option, None), os.environ.get(f"NGRAMSCAN_{option.upper()}")
        if value and value not in unset and not any(name.startswith(takers) for name in names):
            verb = "takes" if len(takers) == 1 else "take"
            problem = f"only {' and '.join(takers)} {verb} it, not {', '.join(names)}"
            raise InputError(OptionUse(option), problem)


@contextmanager
def suggest_spec(where: object, place: str, kind: str) -> Iterator[None]:
    """Where a place can't be opened as one kind of index, say how it can be as another."""
    try:
        yield
    except InputError as error:
        found = _kind_at(place) if type(error) is InputError else ""
        if found in {"", kind}:
            raise
        raise InputError(where, _lead(found, place)) from error


def _kind_at(place: str) -> str:
    """Return how a path or glob can be opened; empty: not at all, or it is an address."""
    from ngramscan.corpora import open_corpus

    folder = index_folder(place)
    if is_shard(folder):
        return "fm9"
    if (folder / "tokenized.0").is_file():
        return "tokens"
    try:
        if "://" in place:
            return ""
        # The manifest of an index is JSON, too.
        open_corpus(place, ("*/manifest.json", "*/plan.json"), skip_unknown=True)
        return "scan"
    except InputError:
        return "fm9" if folder.is_dir() and any(map(is_shard, folder.iterdir())) else ""


def _names_corpus(name: str) -> bool:
    """Tell whether a name is that of a corpus file, or of a list of them."""
    from ngramscan.corpora.files import LISTS
    from ngramscan.corpora.formats import format_of

    return name.endswith(LISTS) or format_of(name) is not None


def _lead(kind: str, place: str) -> Message:
    return message_of(_LEADS[kind]) + OptionUse("index", f"{kind}:{place}")


def _unknown(spec: str) -> Text:
    if kind := _kind_at(spec):
        return _lead(kind, spec)
    if "://" in spec:
        return "to read a corpus there: " + OptionUse("index", f"scan:{spec}")
    if Path(spec).exists():
        return "neither an index nor a corpus in a known format"
    if re.match(r"[\w.-]+:\d+/", spec):
        return f"an address begins with http://; did you mean http://{spec}?"
    kind, colon, place = spec.partition(":")
    near = nearest(kind, ("scan", "fm9", "tokens", "infini-gram", "https")) if colon else ""
    if near := f"{near}:{place}" if near else " or ".join(nearest_names(spec)):
        return f"no index of this name; did you mean {near}? (all: ngramscan index list)"
    return f"no index of this name; expected {_FORMS}"
