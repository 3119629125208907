"""Search by rules in place: the occurrences of the local index, in few requests."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import NgramscanError
from ngramscan.index_files.fm9 import in_place_shards
from ngramscan.index_files.fm9.in_place_rules import extend_in_place, find_neighbours
from ngramscan.index_files.fm9.in_place_shards import open_in_place
from ngramscan.index_files.fm9.reader import extend_in_all, open_shards
from ngramscan.index_files.fm9.rules import RuleSearch
from ngramscan.matching.rules import MatchRule
from ngramscan.progress import SILENT
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support import fm9_reference, match_oracle
from tests.support.fm9_shards import write_shard, written
from tests.support.range_server import RangeServer
from tests.support.rounds import InRounds
from tests.support.rule_cases import CHARACTERS, PHRASES, RULES

QUERIES = [*PHRASES, "no such text"]


def drawn_texts(seed: int, number: int, longest: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(CHARACTERS, k=draw.randint(1, longest))) for _ in range(number)]


def write_two(
    folder: Path, texts: list[str], build: Callable[[bytes], bytes] = fm9_reference.build_fm9
) -> None:
    """Write an index in two shards."""
    half = len(texts) // 2
    for name, part in (("0", texts[:half]), ("1", texts[half:])):
        lines = [b"{}"] * len(part)
        write_shard(folder / name, [text.encode() for text in part], lines, build)


def write_by_ours(folder: Path) -> Callable[[bytes], bytes]:
    """Return a function that makes an index of a text with our writer, which is fast."""
    return partial(written, path=folder / "written")


def counts_of(search: RuleSearch, query: str) -> list[int]:
    """Return the occurrences of a query by shard."""
    ranks = [branch.ranks for branch in search.find(query)]
    return (
        [sum(int(high - low) for low, high in of_shard) for of_shard in np.stack(ranks, axis=1)]
        if ranks
        else [0, 0]
    )


# Files that are kept whole are searched in memory; of others, parts are read.
@pytest.mark.parametrize("kept_bytes", [4_000_000, 0], ids=["whole files", "parts"])
@pytest.mark.parametrize("seed", range(2))
def test_occurrences_are_those_of_the_definition(
    tmp_path: Path, seed: int, kept_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_place_shards, "_KEPT_BYTES", kept_bytes)
    texts = drawn_texts(seed, 12, 25)
    halves = texts[:6], texts[6:]
    write_two(tmp_path, texts)
    with RangeServer(tmp_path) as server, Ranges(RangeOptions(), SILENT) as ranges:
        far = open_in_place(ranges, server.url, 1 << 30)
        all_ranks = np.array([[0, shard.ranks] for shard in far], np.int64)
        for rule in RULES:
            search = RuleSearch(
                rule,
                partial(extend_in_place, ranges, far),
                all_ranks,
                find_neighbours=partial(find_neighbours, ranges, far),
            )
            for query in dict.fromkeys([*QUERIES, *drawn_texts(seed + 10, 8, 3)]):
                if rule.any_space and query.isspace():
                    continue
                expected = [match_oracle.tally([query], list(half), rule)[0][0] for half in halves]
                assert (rule, query, counts_of(search, query)) == (rule, query, expected)


# Neighbours of all kinds: of one byte and several, whole blocks of characters, and all characters.
GROUPS = [(0x20, 0x2F), (0x7B, 0xA9), (0xD7, 0xD7), (0x2000, 0x206F), (0x4E00, 0x9FFF)]
GROUPS += [(0x3000, 0x3004), (0x1F300, 0x1F5FF), (0x10400, 0x10400), (0x2E80, 0xFFFF)]


@pytest.mark.parametrize("kept_bytes", [4_000_000, 0], ids=["whole files", "parts"])
def test_neighbours_are_found_by_their_ends(
    tmp_path: Path, kept_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_place_shards, "_KEPT_BYTES", kept_bytes)
    texts = drawn_texts(5, 20, 30)
    write_two(tmp_path, texts)
    # The first and the last character are enough, whether they occur or not.
    groups = [[chr(first).encode(), chr(last).encode()] for first, last in GROUPS]
    with RangeServer(tmp_path) as server, Ranges(RangeOptions(), SILENT) as ranges:
        located = find_neighbours(ranges, open_in_place(ranges, server.url, 1 << 30), groups)
    expected = [
        [
            sum(first <= ord(character) <= last for text in half for character in text)
            for half in (texts[:10], texts[10:])
        ]
        for first, last in GROUPS
    ]
    numbers = located[..., 1] - located[..., 0]
    # Suffixes that begin within a character are between ASCII and the others; no search meets them.
    continuing = [
        sum(byte & 0xC0 == 0x80 for text in half for byte in text.encode())
        for half in (texts[:10], texts[10:])
    ]
    expected[1] = [number + more for number, more in zip(expected[1], continuing, strict=True)]
    assert numbers.tolist() == expected


def test_a_step_is_that_of_the_local_index(tmp_path: Path) -> None:
    write_two(tmp_path, drawn_texts(3, 10, 30))
    shards = open_shards(tmp_path)
    draw = random.Random(4)
    texts = [draw.choice([b"a", b"a b", b"\xc3", b"\xe2\x80", b"q", b"\xff"]) for _ in range(40)]
    segments = np.array(
        [[sorted(draw.choices(range(shard.ranks + 1), k=2)) for shard in shards] for _ in texts],
        np.int64,
    )
    expected = extend_in_all(shards, texts, segments)
    with RangeServer(tmp_path) as server, Ranges(RangeOptions(), SILENT) as ranges:
        extended = extend_in_place(
            ranges, open_in_place(ranges, server.url, 1 << 30), texts, segments
        )
    occurs = expected[..., 0] < expected[..., 1]
    assert occurs.any()
    assert ((extended[..., 0] < extended[..., 1]) == occurs).all()
    assert (extended[occurs] == expected[occurs]).all()


def test_whole_words_begin_with_few_requests_and_share_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_place_shards, "_KEPT_BYTES", 0)
    # Characters of many scripts, and more than the first bytes, which are read with the header.
    draw, first_codes = random.Random(2), [0x20, 0x41, 0xC0, 0x900, 0x2010, 0x3000, 0x4E00, 0x1F300]
    many_scripts = [
        "".join(chr(draw.choice(first_codes) + draw.randrange(26)) for _ in range(30_000))
        for _ in range(2)
    ]
    texts = [many_scripts[0], "let us go, let us see. Outlet us? " * 20]
    texts += [many_scripts[1], "let us: é “us” 中 " * 20]
    write_two(tmp_path, texts, write_by_ours(tmp_path))
    rounds = InRounds(monkeypatch)
    with RangeServer(tmp_path) as server, Ranges(RangeOptions(), SILENT) as ranges:
        far = open_in_place(ranges, server.url, 1 << 30)
        search = RuleSearch(
            MatchRule(whole_words=True),
            partial(extend_in_place, ranges, far),
            np.array([[0, shard.ranks] for shard in far], np.int64),
            find_neighbours=partial(find_neighbours, ranges, far),
        )
        before = ranges.requests
        rounds.number = 0
        search.prepare("us")
        first, first_rounds = ranges.requests - before, rounds.number
        levels = max(max(shard.data.steps) for shard in far)
        # Up to three further bytes, each after the one before it; what they share is looked up too.
        assert first_rounds <= 2 * levels * (1 + 2 + 3)
        search.prepare("see")
        assert ranges.requests == before + first
        assert counts_of(search, "us") == [60, 40]
    # Reads of the same round that are near each other are one request.
    assert 0 < first < 100


def test_a_failed_request_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place_shards, "_KEPT_BYTES", 0)
    # More than the first bytes, which are read when a file is opened.
    write_two(tmp_path, drawn_texts(3, 12, 20_000), write_by_ours(tmp_path))
    with RangeServer(tmp_path) as server, Ranges(RangeOptions(), SILENT) as ranges:
        far = open_in_place(ranges, server.url, 1 << 30)
        (tmp_path / "0" / "data.fm9").write_bytes(b"another file")
        groups = [[b" ", b"/"], ["\u2000".encode(), "\u206f".encode()]]
        with pytest.raises(NgramscanError):
            find_neighbours(ranges, far, groups)
        everything = np.array([[[0, shard.ranks - 1] for shard in far]], np.int64)
        with pytest.raises(NgramscanError):
            extend_in_place(ranges, far, [b"a b"], everything)
