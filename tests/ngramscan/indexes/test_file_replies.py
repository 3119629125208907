"""Replies from files in place: kept as long as the files are the same, and never of other ones."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import IndexChangedError, RemoteUnavailable
from ngramscan.indexes.file_replies import FileReplies, OpenedFiles, whole
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.progress import SILENT
from ngramscan.remote.ranges import RangeOptions, Ranges

SPEC = "made:index"


@dataclass(frozen=True)
class MadeShard:
    """A shard of which nothing but its version is looked at."""

    fingerprint: str
    has_validators: bool = True


@dataclass
class MadeStore:
    """Opens an index of some shards, unless it can't be reached."""

    shards: Sequence[MadeShard]
    is_reachable: bool = True
    opened: int = 0
    facts: dict[str, Any] = field(default_factory=lambda: {"size": 7})

    def open(self, _: Ranges) -> OpenedFiles[str]:
        self.opened += 1
        if not self.is_reachable:
            raise RemoteUnavailable("the store: no connection")
        return OpenedFiles("the files", self.shards, self.facts)


@pytest.fixture
def ranges() -> Iterator[Ranges]:
    with Ranges(RangeOptions(), SILENT) as started_ranges:
        yield started_ranges


@pytest.fixture
def replies_of(tmp_path: Path, ranges: Ranges) -> Iterator[Callable[..., FileReplies[str]]]:
    """Return a function that makes the replies of a store, all with one journal."""
    with Journal(tmp_path / "journal") as journal:

        def make(store: MadeStore, refresh: bool = False) -> FileReplies[str]:
            options = IndexOptions(refresh=refresh)
            return FileReplies(SPEC, store.open, lambda: ranges, journal, options, SILENT)

        yield make


def form(item: str) -> list[Any]:
    return ["find", item]


def read_number(_: str, reply: Any) -> int:
    return whole(reply)


def stored(replies: FileReplies[str], *items: str) -> dict[str, int]:
    return {item: reply for item, (reply, _) in replies.stored(items, form, read_number).items()}


def keep_some(replies: FileReplies[str]) -> None:
    replies.look_again(lambda facts: facts["size"])
    replies.keep(form("a"), 1)
    replies.keep(form("b"), 2)


def test_replies_are_kept_for_the_same_files(replies_of: Callable[..., FileReplies[str]]) -> None:
    store = MadeStore([MadeShard("x"), MadeShard("y")])
    keep_some(replies_of(store))
    again = replies_of(store)
    again.look_again(lambda facts: facts["size"])
    assert stored(again, "a", "b", "c") == {"a": 1, "b": 2}
    assert again.facts == {"size": 7}
    assert again.notes == ()
    assert store.opened == 2, "once each"


@pytest.mark.parametrize(
    "shards",
    [
        pytest.param([MadeShard("x"), MadeShard("z")], id="another version"),
        pytest.param([MadeShard("y"), MadeShard("x")], id="another order"),
        pytest.param([MadeShard("x")], id="fewer"),
        pytest.param([MadeShard("x"), MadeShard("y"), MadeShard("y")], id="more"),
    ],
)
def test_replies_are_not_those_of_other_files(
    shards: list[MadeShard], replies_of: Callable[..., FileReplies[str]]
) -> None:
    sound = [MadeShard("x"), MadeShard("y")]
    keep_some(replies_of(MadeStore(sound)))
    others = replies_of(MadeStore(shards, facts={"size": 9}))
    others.look_again(lambda facts: facts["size"])
    assert stored(others, "a", "b") == {}
    assert others.facts == {"size": 9}
    # Those of the first files are not lost.
    back = replies_of(MadeStore(sound))
    back.look_again(lambda facts: facts["size"])
    assert stored(back, "a", "b") == {"a": 1, "b": 2}


def test_nothing_is_kept_of_files_without_validators(
    replies_of: Callable[..., FileReplies[str]], tmp_path: Path
) -> None:
    store = MadeStore([MadeShard("x"), MadeShard("y", has_validators=False)])
    replies = replies_of(store)
    keep_some(replies)
    assert stored(replies, "a") == {}
    with closing(sqlite3.connect(tmp_path / "journal")) as journal:
        assert journal.execute("SELECT request FROM replies").fetchall() == [("files",)]
    assert "counts are not kept" in replies.notes[0].text
    # Nor are they answered if the store can't be reached.
    store.is_reachable = False
    with pytest.raises(RemoteUnavailable):
        replies_of(store).look_again(lambda facts: facts["size"])


def replies_without_store(
    replies_of: Callable[..., FileReplies[str]], store: MadeStore
) -> FileReplies[str]:
    """Store some replies; return them as a later run has them, which can't reach the store."""
    keep_some(replies_of(store))
    store.is_reachable = False
    replies = replies_of(store)
    replies.look_again(lambda facts: facts["size"])
    return replies


def test_stored_replies_are_given_where_the_store_cant_be_reached(
    replies_of: Callable[..., FileReplies[str]],
) -> None:
    store = MadeStore([MadeShard("x")])
    replies = replies_without_store(replies_of, store)
    assert stored(replies, "a", "b") == {"a": 1, "b": 2}
    with pytest.raises(RemoteUnavailable):
        stored(replies, "a", "c")
    # But not if what the journal says of the files can't be read, or after --refresh.
    with pytest.raises(RemoteUnavailable):
        replies_of(store).look_again(lambda facts: facts["another fact"])
    with pytest.raises(RemoteUnavailable):
        replies_of(store, refresh=True).look_again(lambda facts: facts["size"])


def test_files_that_are_others_after_some_replies_are_an_error(
    replies_of: Callable[..., FileReplies[str]],
) -> None:
    store = MadeStore([MadeShard("x")])
    replies = replies_without_store(replies_of, store)
    assert stored(replies, "a") == {"a": 1}
    store.is_reachable, store.shards = True, [MadeShard("z")]
    with pytest.raises(IndexChangedError, match="changed since the journal stored its replies"):
        stored(replies, "c")


def test_a_refresh_asks_again(replies_of: Callable[..., FileReplies[str]]) -> None:
    store = MadeStore([MadeShard("x")])
    keep_some(replies_of(store))
    refreshed = replies_of(store, refresh=True)
    refreshed.look_again(lambda facts: facts["size"])
    assert stored(refreshed, "a", "b") == {}
    refreshed.keep(form("a"), 5)
    again = replies_of(store)
    again.look_again(lambda facts: facts["size"])
    assert stored(again, "a", "b") == {"a": 5, "b": 2}


@pytest.mark.parametrize("value", [-1, 2.5, True, None, "4", float("nan"), float("inf"), [1]])
def test_what_is_no_place_is_a_damaged_reply(
    value: Any, replies_of: Callable[..., FileReplies[str]]
) -> None:
    with pytest.raises((ValueError, TypeError)):
        whole(value)
    store = MadeStore([MadeShard("x")])
    replies = replies_of(store)
    keep_some(replies)
    replies.keep(form("a"), json.loads(json.dumps(value)))
    assert stored(replies, "a", "b") == {"b": 2}
