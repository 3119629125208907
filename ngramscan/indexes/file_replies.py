"""Replies from files in place, kept in the journal for as long as the files are the same.

They are kept with the sizes and validators of the files: other files have other replies. Each run
opens the files, and so sees whether they are still the same; where the server can't be reached,
stored replies are given. Without validators nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ngramscan.errors import IndexChangedError, RemoteUnavailable
from ngramscan.indexes.http.replies import is_size
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import DAMAGED, Journal
from ngramscan.messages import OptionUse, counted
from ngramscan.progress import Progress
from ngramscan.remote.ranges import Ranges
from ngramscan.rows import Note

_FILES = "files"  # under which the journal has what identifies the files, and facts about them
_UNMARKED = Note(
    "its server sends no ETag and no date, or the files have just changed: counts are not kept",
    "index",
)

Files = TypeVar("Files")
Item = TypeVar("Item", bound=Hashable)
T = TypeVar("T")


class ShardInPlace(Protocol):
    """The files of a shard that were opened."""

    @property
    def fingerprint(self) -> str:
        """The sizes and validators of the files, which change with their content."""

    @property
    def has_validators(self) -> bool:
        """Whether a file that is replaced by one of the same size is detected."""


@dataclass(frozen=True)
class OpenedFiles(Generic[Files]):
    """The files of an index that were opened."""

    files: Files
    shards: Sequence[ShardInPlace]
    facts: Mapping[str, Any]
    """Known without opening them again: JSON values by name."""


class FileReplies(Generic[Files]):
    """The replies about one index in place. `spec` is its name in the journal.

    The files are opened for the first question that the journal can't answer.
    """

    def __init__(
        self,
        spec: str,
        open_files: Callable[[Ranges], OpenedFiles[Files]],
        ranges: Callable[[], Ranges],
        journal: Journal,
        options: IndexOptions,
        progress: Progress,
    ) -> None:
        self._spec, self._open_files, self._ranges = spec, open_files, ranges
        self._journal, self._options, self._progress = journal, options, progress
        self._files: Files | None = None
        self._fingerprint, self._is_marked, self._has_answered = "", True, False
        self.facts: Mapping[str, Any] = {}
        self.opening_requests = 0
        """Requests that opening the index took."""
        self.opening_bytes = 0
        """Bytes that were read for this."""
        stored_replies = {} if options.refresh else journal.get(spec, spec, [_FILES])
        with suppress(*DAMAGED):
            self.facts = {**json.loads(stored_replies[_FILES].text)}
            self._fingerprint = str(self.facts["fingerprint"])
            self._is_marked = bool(self.facts.get("has_validators", True))

    def look_again(self, can_read: Callable[[Mapping[str, Any]], object]) -> None:
        """Open the files, which may be others than those that the journal has replies of.

        Where they can't be reached, the stored facts are used, if they can be read.
        """
        try:
            self.opened()
        except RemoteUnavailable as error:
            is_usable = False
            with suppress(*DAMAGED):
                is_usable = can_read(self.facts) is not None
            if not (self._fingerprint and self._is_marked and is_usable):
                raise
            self._progress.notice(f"{error}; using the replies in the journal")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on each reply."""
        return () if self._is_marked else (_UNMARKED,)

    def opened(self) -> Files:
        """Return the open files, which may differ from the files in the journal."""
        if self._files is not None:
            return self._files
        ranges = self._ranges()
        with self.opening():
            opened = self._open_files(ranges)
        if changed := ranges.changed:
            what_changed = f"{counted(len(changed), 'file')} changed since an earlier run"
            removed = "the parts of them in " + OptionUse("index_cache") + " are removed"
            self._progress.notice(f"{self._spec}: {what_changed}; " + removed)
            changed.clear()
        fingerprints = "\n".join(shard.fingerprint for shard in opened.shards)
        fingerprint = hashlib.sha256(fingerprints.encode()).hexdigest()[:16]
        is_marked = all(shard.has_validators for shard in opened.shards)
        if (fingerprint, is_marked) != (self._fingerprint, self._is_marked):
            if self._has_answered:
                problem = "it has changed since the journal stored its replies"
                raise IndexChangedError(self._spec, f"{problem}; add " + OptionUse("refresh"))
            self._fingerprint, self._is_marked = fingerprint, is_marked
            description = {"fingerprint": fingerprint, **opened.facts, "has_validators": is_marked}
            self._journal.put(self._spec, self._spec, _FILES, json.dumps(description))
        self.facts, self._files = opened.facts, opened.files
        return opened.files

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Count the requests and bytes of what is a part of opening the index."""
        ranges = self._ranges()
        requests, received = ranges.requests, ranges.bytes
        yield
        self.opening_requests += ranges.requests - requests
        self.opening_bytes += ranges.bytes - received

    def check(self) -> None:
        """Raise an IndexChangedError if a file without tag and date has changed."""
        self._ranges().check()

    def stored(
        self,
        items: Sequence[Item],
        form: Callable[[Item], list[Any]],
        read_stored: Callable[[Item, Any], T],
    ) -> dict[Item, tuple[T, str]]:
        """Return stored results and when they were asked for; open the files if any are missing."""
        while True:
            stored_results: dict[Item, tuple[T, str]] = {}
            items_to_read = items if self._is_marked and not self._options.refresh else []
            requests = {self._request(form(item)): item for item in items_to_read}
            for request, reply in self._journal.get(self._spec, self._spec, requests).items():
                with suppress(*DAMAGED):
                    item = requests[request]
                    stored_results[item] = read_stored(item, json.loads(reply.text)), reply.asked_at
            if self._files is not None or len(stored_results) == len({*items}):
                self._has_answered |= bool(items)
                return stored_results
            self.opened()  # and they may be others by now

    def keep(self, form: list[Any], reply: Any) -> None:
        """Store a reply."""
        if self._is_marked:
            self._journal.put(self._spec, self._spec, self._request(form), json.dumps(reply))

    def _request(self, form: list[Any]) -> str:
        return json.dumps([self._fingerprint, *form])


def whole(value: Any) -> int:
    """Return a kept number of bytes, words or places; a journal may have been edited."""
    if not is_size(value):
        raise ValueError(f"{value!r} is not a place")
    return int(value)
