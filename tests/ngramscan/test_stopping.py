"""Searches end soon after they are stopped, and those that are interrupted find the same."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from ngramscan.index_files.fm9.reader import Shard
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.indexes.base import MatchesSuffixes
from ngramscan.indexes.fm9 import LocalFm9Index
from ngramscan.progress import SILENT
from ngramscan.stopping import PAUSE, STOP, Work, current_work, on_any_thread, working_on
from tests.support.dask_cluster import wait_until
from tests.support.places import TOKENS
from tests.support.repeated_texts import REPEATED_DOCUMENTS, match_starts, word_ends

LETTERS = random.Random(1).choices("ab", k=5000)
TEXTS = {
    "one word": "a " * 5000,
    "two in turn": "a b " * 2500,
    "a period of three": "x y z " * 1600,
    "no space": "q" * 10_000,
    "a period of a sentence": "the cat sat on a mat and " * 400,
    "runs of several lengths": "a " * 1500 + "a b " * 700 + "b " * 300 + "a " * 2500,
    "letters at random": " ".join(LETTERS),
    "no repetition": " ".join(map(str, range(2000))),
}


@pytest.fixture(scope="module")
def folder() -> TokenFolder:
    opened = open_token_folder(TOKENS / "v4_pysmall_llama_s3")
    opened.match_ends([1])
    return opened


# --- repeated text ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTS)
def test_the_longest_match_at_each_end_is_that_of_a_plain_search(shard: Shard, name: str) -> None:
    text = TEXTS[name]
    ends, starts = word_ends(text).tolist(), match_starts(shard, text)
    some = random.Random(3).sample(range(len(ends)), min(len(ends), 150))
    for start, end in [(starts[number], ends[number]) for number in some]:
        assert any(text[start:end] in document for document in REPEATED_DOCUMENTS)
        assert start == 0 or not any(text[start - 1 : end] in one for one in REPEATED_DOCUMENTS)


def test_texts_that_are_searched_together_are_not_confused(shard: Shard) -> None:
    texts = ["a " * 3000, "b", "a " * 3000, "x y z " * 900, "a " * 10]
    index = LocalFm9Index("fm9:x", [shard], SILENT, readers=1)
    assert isinstance(index, MatchesSuffixes)
    together = index.match_starts([text.encode() for text in texts], [*map(word_ends, texts)])
    assert [each.tolist() for each in together] == [match_starts(shard, text) for text in texts]


@pytest.mark.parametrize("text", ["a ", "a b ", "x y z ", "the cat sat on a mat and "])
def test_a_long_text_that_repeats_itself_is_searched_in_linear_time(
    shard: Shard, text: str
) -> None:
    began_at = time.process_time()
    match_starts(shard, text * (200_000 // len(text)))
    assert time.process_time() - began_at < 5  # a search from each word takes an hour


# --- interruptions ------------------------------------------------------------------------------


class Interrupted(Work):
    """Work that is asked to pause all the time."""

    def __init__(self) -> None:
        super().__init__()
        self.flag[0], self.looks = PAUSE, 0

    def look(self) -> None:
        self.looks += 1


def extract(shard: Shard) -> list[bytes]:
    rng = random.Random(5)
    starts = [rng.randrange(shard.data.n - 200) for _ in range(50)]
    return shard.data.extract(starts, [start + rng.randrange(200) for start in starts])


def beginnings() -> list[bytes]:
    return [text[:size].encode() for text in TEXTS.values() for size in (0, 1, 7, 900, 901)]


Search = Callable[[Shard, TokenFolder], Any]
SEARCHES: dict[str, Search] = {
    "find": lambda shard, _: shard.find(beginnings()),
    "match": lambda shard, _: [match_starts(shard, text[:1200]) for text in TEXTS.values()],
    "locate": lambda shard, _: shard.data.locate(range(0, shard.data.n, 50)),
    "extract": lambda shard, _: extract(shard),
    "windows": lambda shard, _: shard.windows(range(0, shard.ranks, 500), 3, 100),
    "find tokens": lambda _, folder: folder.find(
        [[token] * length for token in range(300, 320) for length in (0, 1, 2)]
    ),
    "match tokens": lambda _, folder: folder.match_ends(
        folder.tokens_of(0).tolist()[:300] + folder.tokens_of(1).tolist()[:300]
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_is_interrupted_at_each_step_finds_the_same(
    shard: Shard, folder: TokenFolder, name: str
) -> None:
    search, work = SEARCHES[name], Interrupted()
    expected = search(shard, folder)
    with working_on(work):
        found = search(shard, folder)
    assert work.looks > 40
    assert str(found) == str(expected)
    if isinstance(expected, np.ndarray):
        assert np.array_equal(found, expected)


class StoppedWorkError(Exception):
    """The work was stopped."""


class Stoppable(Work):
    """Work that a test stops."""

    def look(self) -> None:
        raise StoppedWorkError


def long_searches(shard: Shard, folder: TokenFolder) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield calls that take many seconds; one that has no repetition matches at each word."""
    pairs = "".join("a " * 1900 + f"{n} " for n in range(300)).encode()
    ends = word_ends(pairs.decode())
    ranks = np.tile(np.arange(shard.ranks), 400)
    patterns = [document.encode() for document in REPEATED_DOCUMENTS]
    yield "find", lambda: shard.find(patterns)
    yield "match", lambda: shard.data.match_starts(pairs, ends * 0, ends)
    yield "locate", lambda: shard.data.locate(ranks)
    yield "extract", lambda: shard.data.extract([0] * 2000, [shard.data.n] * 2000)
    ids = folder.tokens_of(0).tolist()
    yield "find tokens", lambda: folder.find([ids[:40]] * 50_000)
    tokens = ids[:50] * 2000
    yield "match tokens", lambda: folder.match_ends(tokens)


@pytest.mark.parametrize("number", range(6), ids=list(SEARCHES)[:4] + list(SEARCHES)[5:])
def test_a_long_search_ends_soon_after_it_is_stopped(
    shard: Shard, folder: TokenFolder, number: int
) -> None:
    _, search = list(long_searches(shard, folder))[number]
    work, ended = Stoppable(), list[float]()

    def run() -> None:
        with working_on(work), suppress(StoppedWorkError):
            while True:
                search()
        ended.append(time.process_time())

    began_at = time.process_time()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    # What is prepared before the search takes a part of it.
    wait_until(lambda: time.process_time() - began_at > 1)
    assert not ended
    stopped_at = time.process_time()
    work.flag[0] = STOP
    thread.join(timeout=300)
    assert ended
    assert ended[0] - stopped_at < 0.5  # of the processor; 0.1 s for the most part


def test_parts_of_work_on_other_threads_belong_to_it() -> None:
    work, seen = Stoppable(), list[Work]()

    def note() -> None:
        seen.append(current_work())

    with working_on(work):
        thread = threading.Thread(target=on_any_thread(note))
    thread.start()
    thread.join()
    assert seen == [work]
    assert current_work() is not work


def test_helpers_of_a_search_in_several_shards_are_stopped_too(shard: Shard) -> None:
    index = LocalFm9Index("fm9:x", [shard, shard, shard], SILENT, readers=2)
    work = Stoppable()
    work.flag[0] = STOP
    queries: Sequence[str] = ["a a a"]
    with working_on(work), pytest.raises(StoppedWorkError):
        list(index.find(queries))
