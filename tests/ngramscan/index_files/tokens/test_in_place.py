"""Indexes over tokens in place: the answers of the local reader, few requests, and its errors."""

import random
import shutil
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.tokens import in_place
from ngramscan.index_files.tokens.in_place import InPlaceTokenFolder
from ngramscan.index_files.tokens.in_place_places import open_tokens_in_place
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.progress import SILENT
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.places import TOKENS
from tests.support.range_server import Faults, RangeServer
from tests.support.rounds import InRounds
from tests.support.sizes import slow
from tests.support.token_folders import MADE_SHAPES, genuine, some_documents, write_folder

UNLUCKY = Faults(seed=3, rate=0.2)
PLENTY = 1 << 30
MEMORY = pytest.mark.parametrize("memory", [0, PLENTY], ids=["nothing kept", "whole files"])
SHARDED = "v4_pysmall_llama_s3"


@contextmanager
def opened(
    *urls: str, memory: int = PLENTY, backwards: bool = False
) -> Iterator[InPlaceTokenFolder]:
    # Nothing is kept of what was read, as if the index were much larger.
    options = RangeOptions() if memory else RangeOptions(cache_bytes=0)
    with Ranges(options, SILENT) as ranges:
        folder = open_tokens_in_place(ranges, urls, memory)
        folder.backwards = backwards
        yield folder


def drawn_patterns(folder: TokenFolder, seed: int, amount: int) -> list[list[int]]:
    """Return parts of documents, some with another last token; separators; and all at the ends."""
    draw, end = random.Random(seed), folder.separator
    patterns = [[], [end], [end, end], [0]]
    for shard in folder.shards:
        words = shard.words.tolist() if shard.tokens else []
        patterns += [words[-length:] for length in (1, 2, 5, 70) if words]
    for number in draw.choices(range(folder.documents), k=amount):
        tokens = [*folder.tokens_of_documents([number])[0].tolist(), end]
        start = draw.randrange(len(tokens))
        part = tokens[start : start + draw.choice([1, 2, 3, 8, 60])]
        patterns += [part, [*part[:-1], (part[-1] + 1) % end]]
    return patterns


def drawn_texts(folder: TokenFolder, seed: int, longest: int) -> list[list[int]]:
    """Return texts of no, of one and of many tokens, with parts of documents in them."""
    draw = random.Random(seed)
    documents = [tokens.tolist() for tokens in folder.tokens_of_documents(range(folder.documents))]
    tokens = [token for document in documents[:50] for token in document]
    texts = [[], [tokens[0]], [folder.separator - 1], max(documents, key=len)[:longest]]
    for _ in range(3):
        parts = [draw.choice(documents)[:longest] for _ in range(3)]
        texts.append([token for part in parts for token in [*part, draw.choice(tokens)]])
    return texts


def check_same(far: InPlaceTokenFolder, near: TokenFolder, seed: int, amount: int) -> None:
    """Check that all answers about some patterns, texts, ranks and documents are the same."""
    for name in ("width", "separator", "documents", "tokens", "shard_tokens", "index_bytes"):
        assert getattr(far, name) == getattr(near, name), name
    patterns = drawn_patterns(near, seed, amount)
    assert far.find(patterns).tolist() == near.find(patterns).tolist()
    assert far.find([]).shape == near.find([]).shape
    assert far.count_separators() == near.count_separators() == near.documents
    texts = drawn_texts(near, seed, longest=20 * amount)
    for ends, expected in zip(far.match_ends_of(texts), near.match_ends_of(texts), strict=True):
        assert ends.tolist() == expected.tolist()
    draw = random.Random(seed)
    for shard, tokens in enumerate(near.shard_tokens):
        for rank in {0, tokens - 1, *draw.choices(range(max(tokens, 1)), k=amount)} - {-1}:
            if not tokens:
                continue
            around = (shard, rank, draw.randrange(1, 5), draw.randrange(9), draw.randrange(9))
            seen, near_excerpt = far.excerpt(*around), near.excerpt(*around)
            assert seen.tokens.tolist() == near_excerpt.tokens.tolist(), around
            for name in ("document", "length", "start", "offset"):
                assert getattr(seen, name) == getattr(near_excerpt, name), (name, around)
    numbers = [0, near.documents - 1, *draw.choices(range(near.documents), k=amount)]
    assert far.metadata_of(numbers) == [near.metadata(n) for n in numbers]
    documents = zip(
        far.tokens_of_documents(numbers), near.tokens_of_documents(numbers), strict=True
    )
    assert all(seen.tolist() == expected.tolist() for seen, expected in documents)


@MEMORY
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@MADE_SHAPES
def test_answers_are_those_of_the_local_reader(
    width: int, amounts: list[int], ids: int, backwards: bool, memory: int, tmp_path: Path
) -> None:
    shards = [some_documents(number, amount, ids) for number, amount in enumerate(amounts)]
    near = open_token_folder(write_folder(tmp_path, shards, width, backwards))
    near.backwards = backwards
    with (
        RangeServer(tmp_path) as server,
        opened(server.url, memory=memory, backwards=backwards) as far,
    ):
        check_same(far, near, seed=1, amount=8)


@pytest.mark.parametrize("documents", [[[]], [[], []], [[7]], [[7] * 400], [[7] * 9, [7] * 9]])
@MEMORY
def test_indexes_of_little_or_equal_text(
    documents: list[list[int]], memory: int, tmp_path: Path
) -> None:
    near = open_token_folder(write_folder(tmp_path, [documents], 2))
    with RangeServer(tmp_path) as server, opened(server.url, memory=memory) as far:
        patterns = [[7] * length for length in (1, 2, 8, 9, 10, 399, 400, 401)]
        patterns += [[near.separator], [7, near.separator], [8], [6]]
        counts = np.diff(far.find(patterns)).sum(axis=(1, 2)).tolist()
        text = [token for document in documents for token in [near.separator, *document]]
        assert counts == [
            sum(text[at : at + len(part)] == part for at in range(len(text))) for part in patterns
        ]
        texts = [[], [7], [8], [7] * 500, [7] * 8 + [8] + [7] * 12]
        ends = [ends.tolist() for ends in far.match_ends_of(texts)]
        longest = max(map(len, documents))
        assert ends == [longest_matches(part, longest) for part in texts]


def longest_matches(text: list[int], longest: int) -> list[int]:
    """Return the end of the longest part of sevens at each token, by brute force."""
    ends = []
    for start in range(len(text)):
        stop = start
        while stop < len(text) and text[stop] == 7 and stop - start < longest:
            stop += 1
        ends.append(stop)
    return ends


@pytest.mark.parametrize(
    ("name", "memory"),
    [
        pytest.param(SHARDED, 0, id="three shards"),
        pytest.param("v5_pysmall_llama", 0, id="backwards"),
        pytest.param("v4_pysmall_olmo2", 0, id="wide tokens"),
        pytest.param(SHARDED, PLENTY, id="three shards, whole files", marks=pytest.mark.slow),
    ],
)
def test_indexes_of_the_original_tools_where_a_fifth_of_replies_fails(
    name: str, memory: int
) -> None:
    near = genuine(TOKENS / name)
    with (
        RangeServer(TOKENS / name, 0.001, UNLUCKY) as server,
        opened(server.url, memory=memory, backwards=near.backwards) as far,
    ):
        check_same(far, near, seed=2, amount=15)
        faults = {request.fault for request in server.record().requests}
    assert {"500", "cut", "wrong_range"} <= faults


DOCUMENTS = [[1, 2, 3], [4], [1, 2], [], [5, 1]]
"""In an index of tokens of two bytes: their separators are at the bytes 0, 8, 12, 18 and 20."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "index", [DOCUMENTS], 2)


# Requests


def requests_for(server: RangeServer, run: Callable[[], object]) -> list[tuple[str, int, int]]:
    before = len(server.record().requests)
    run()
    return [(read.path, read.start, read.stop) for read in server.record().requests[before:]]


def test_small_files_are_read_once_and_whole(tmp_path: Path) -> None:
    folder, near = TOKENS / SHARDED, genuine(TOKENS / SHARDED)
    patterns = drawn_patterns(near, seed=3, amount=20)
    with RangeServer(folder) as server, opened(server.url) as far:
        assert [shard.kept_bytes > 0 for shard in far.shards] == [True] * 3
        loads = sum(shard.missing_loads for shard in far.shards)
        missing_bytes = sum(shard.missing_bytes for shard in far.shards)
        reads = requests_for(server, lambda: far.find(patterns))
        assert sum(stop - start for _, start, stop in reads) == missing_bytes
        assert len(reads) == loads == 6
        assert sum(shard.missing_bytes for shard in far.shards) == 0
        assert requests_for(server, lambda: far.find(patterns)) == []


def test_a_phrase_takes_few_rounds_and_a_batch_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    near, rounds = genuine(TOKENS / SHARDED), InRounds(monkeypatch)
    patterns = [part for part in drawn_patterns(near, 4, 60) if len(part) == 2][:30]
    levels, ahead = max(near.shard_tokens).bit_length(), 4
    with RangeServer(TOKENS / SHARDED, 0.03) as server, opened(server.url, memory=0) as far:
        assert 1 << ahead <= far.requests_per_round + 1
        rounds.number = 0
        far.find(patterns[:1])
        alone = rounds.number
        # All shards at once: a pointer and a text for each step of some levels.
        assert alone <= 2 * -(-levels // ahead) + 3
        rounds.number = 0
        far.find(patterns)
        assert rounds.number <= 2 * levels


def find_ends(far: InPlaceTokenFolder, text: list[int], ends: list[Integers]) -> None:
    ends += far.match_ends_of([text])


def test_copied_parts_are_jumped_over() -> None:
    served, draw = TOKENS / "v4_pysmall_olmo2", random.Random(5)
    near = genuine(served)
    documents = [tokens.tolist() for tokens in near.tokens_of_documents(range(near.documents))]
    longest = max(documents, key=len)[5:1305]
    assert len(longest) > 1000
    mixed = draw.choices([token for document in documents for token in document], k=1300)
    with RangeServer(served) as server, opened(server.url, memory=0) as far:
        reads = {}
        for name, text in {"copied": longest, "mixed": mixed}.items():
            ends: list[Integers] = []
            reads[name] = requests_for(server, partial(find_ends, far, text, ends))
            assert [each.tolist() for each in ends] == [near.match_ends(text).tolist()]
        parts = [longest[at : at + 8] for at in range(len(longest))]
        searches = requests_for(server, partial(far.find, parts))
        size_of_searches = sum(stop - start for _, start, stop in searches)
    assert len(reads["copied"]) < len(reads["mixed"]) / 5
    assert sum(stop - start for _, start, stop in reads["copied"]) < 2 * size_of_searches


def test_long_texts_take_little_memory(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    draw = random.Random(6)
    text = [draw.choice([1, 2, 3, 9]) for _ in range(30_000)]
    near = open_token_folder(folder)
    monkeypatch.setattr(in_place, "_RESTS_BYTES", 1_000_000)
    with RangeServer(folder) as server, opened(server.url) as far:
        far.find([[1]])
        tracemalloc.start()
        (ends,) = far.match_ends_of([text])
        _, most_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert ends.tolist() == near.match_ends(text).tolist()
    # All rests from each thirty-second token on are 28 MB.
    assert most_bytes < 12_000_000


# What is wrong


def change(path: Path, edit: Callable[[bytes], bytes]) -> None:
    path.write_bytes(edit(path.read_bytes()))


def offsets(*values: int) -> Callable[[bytes], bytes]:
    return lambda _: np.array(values, "<u8").tobytes()


def look_around(far: InPlaceTokenFolder) -> None:
    """Ask for all that an index has."""
    far.find([[1], [1, 2], [5]])
    far.count_separators()
    far.match_ends_of([[9, 1, 2, 3]])
    for rank in range(far.tokens):
        far.excerpt(0, rank, 1, 9, 9)
    far.tokens_of_documents(range(far.documents))
    far.metadata_of(range(far.documents))


def test_what_is_sound_can_be_looked_at(folder: Path) -> None:
    with RangeServer(folder) as server, opened(server.url, memory=0) as far:
        look_around(far)


@MEMORY
@pytest.mark.parametrize(
    ("name", "edit", "problem"),
    [
        pytest.param(
            "offset.0", offsets(2, 8, 12, 18, 20), "does not begin at 0", id="a late first document"
        ),
        pytest.param(
            "offset.0", offsets(0, 12, 8, 18, 20), "the entries do not increase", id="swapped"
        ),
        pytest.param(
            "offset.0", offsets(0, 8, 8, 18, 20), "the entries do not increase", id="repeated"
        ),
        pytest.param(
            "offset.0", offsets(0, 8, 12, 18, 999), "the entries do not increase", id="out of it"
        ),
        pytest.param(
            "offset.0",
            offsets(0, 8, 12, 18, 1 << 63),
            "the entries do not increase",
            id="beyond what a number can be",
        ),
        pytest.param(
            "offset.0",
            offsets(0, 10, 12, 18, 20),
            "entry 1: no separator at byte 10",
            id="a token further",
        ),
        pytest.param(
            "offset.0", offsets(0, 8, 11, 18, 20), "entry 2: no separator at byte 11", id="odd"
        ),
        pytest.param(
            "offset.0", offsets(0, 8, 12, 18, 26), "entry 4: no separator at byte 26", id="the end"
        ),
        pytest.param(
            "offset.0",
            offsets(0, 8, 18, 20),
            "a document continues past a separator",
            id="an entry missing",
        ),
        pytest.param("offset.0", lambda raw: raw[:-1], "a multiple of 8", id="a cut entry"),
        pytest.param("table.0", lambda raw: raw[:-1], "one of them is cut", id="a cut table"),
        pytest.param(
            "table.0", lambda raw: b"\x03" + raw[1:], "leads to no token", id="an odd pointer"
        ),
        pytest.param(
            "table.0", lambda raw: raw[:-1] + b"\x1a", "leads to no token", id="a pointer out of it"
        ),
        pytest.param(
            "metadata.0", lambda raw: b"\xff" + raw[1:], "document 0: not UTF-8", id="no text"
        ),
        pytest.param(
            "metaoff.0", lambda raw: raw[:-8], "32 bytes, but the index has 5", id="a line missing"
        ),
        pytest.param(
            "metaoff.0", lambda raw: raw[8:] + raw[:8], "the entries do not increase", id="lines"
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_an_error(
    name: str, edit: Callable[[bytes], bytes], problem: str, memory: int, folder: Path
) -> None:
    change(folder / name, edit)
    with (
        RangeServer(folder) as server,
        pytest.raises(IndexFormatError, match=rf"{name}: .*{problem}"),
        opened(server.url, memory=memory) as far,
    ):
        look_around(far)


def test_both_files_of_metadata_are_needed_or_none(folder: Path, tmp_path: Path) -> None:
    for name in ("metadata", "metaoff"):
        place = shutil.copytree(folder, tmp_path / f"tokenized of {name}")
        (place / f"{name}.0").unlink()
        with (
            RangeServer(tmp_path) as server,
            opened(f"{server.url}tokenized of {name}") as far,
            pytest.raises(IndexFormatError, match=rf"/tokenized of {name}/{name}\.0: missing"),
        ):
            far.metadata_of([0])
        (place / "metadata.0").unlink(missing_ok=True)
        (place / "metaoff.0").unlink(missing_ok=True)
        with RangeServer(place) as server, opened(server.url) as far:
            assert far.metadata_of([0]) == [""]


def test_numbers_out_of_the_index_are_refused(folder: Path) -> None:
    with RangeServer(folder) as server, opened(server.url) as far:
        for place in ((1, 0), (-1, 0), (0, far.tokens), (0, -1)):
            with pytest.raises(IndexError):
                far.excerpt(*place, 1, 1, 1)
        for document in (-1, 5):
            with pytest.raises(IndexError, match="documents are 0 to 4"):
                far.metadata_of([document])
            with pytest.raises(IndexError, match="documents are 0 to 4"):
                far.tokens_of_documents([document])
        for token in (-1, 1 << 16):
            with pytest.raises(InputError, match=f"no token has the id {token}: ids take 16 bits"):
                far.find([[1], [1, token]])
            with pytest.raises(InputError, match=f"no token has the id {token}"):
                far.match_ends_of([[token]])


# Several addresses


def test_several_addresses_are_one_index(tmp_path: Path) -> None:
    folders = [
        write_folder(tmp_path / "a", [some_documents(1, 9, 5), some_documents(2, 8, 5)], 2),
        write_folder(tmp_path / "b", [some_documents(3, 7, 5)], 2),
    ]
    near = open_token_folder(*folders)
    with (
        RangeServer(tmp_path) as server,
        opened(f"{server.url}a/", f"{server.url}b", memory=0) as far,
    ):
        check_same(far, near, seed=1, amount=8)
        assert far.place == f"{server.url}a,{server.url}b"
        assert far.documents_by_folder == {
            f"{server.url}a": range(17),
            f"{server.url}b": range(17, 24),
        }


def joined_error(tmp_path: Path, shards: Sequence[list[list[int]]], width: int) -> str:
    write_folder(tmp_path / "a", [[[1], [2]]], 2)
    write_folder(tmp_path / "b", shards, width)
    with (
        RangeServer(tmp_path) as server,
        pytest.raises(IndexFormatError) as raised,
        opened(f"{server.url}a", f"{server.url}b"),
    ):
        pass
    return str(raised.value).replace(server.url, "/")


def test_addresses_of_other_widths_or_without_documents_are_refused(tmp_path: Path) -> None:
    other = joined_error(tmp_path / "other", [[[1], [2]]], 4)
    assert other == "/a,/b: a shard has tokens of 2 bytes, another of 4"
    assert joined_error(tmp_path / "empty", [[]], 2) == "/b: contains no documents"


# Numbers about the files


def test_a_fingerprint_changes_with_the_content_of_each_file(folder: Path) -> None:
    def fingerprint() -> str:
        with RangeServer(folder) as server, opened(server.url) as far:
            (shard,) = far.shards
            assert shard.has_validators
            return shard.fingerprint

    fingerprints = [fingerprint()]
    for path in sorted(folder.iterdir()):
        change(path, lambda raw: raw)
        fingerprints.append(fingerprint())
    assert len(set(fingerprints)) == 6


@pytest.mark.parametrize("fault", ["no_etag", slow("weak")])
def test_files_without_a_tag_have_no_validators(fault: str, folder: Path) -> None:
    with (
        RangeServer(folder, faults=Faults(always={"": fault})) as server,
        opened(server.url) as far,
    ):
        (shard,) = far.shards
        assert shard.has_validators == (fault == "weak")
        assert shard.index_bytes == sum(path.stat().st_size for path in folder.iterdir())
