"""Damaged files of an index over tokens in place: an error, and never a wrong count."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import Ran, without
from tests.support.in_place_kinds import OF_A_RUN, TOKEN_KIND
from tests.support.range_server import Asked, RangeServer
from tests.support.sizes import slow

FLIPS = 40
POINTER_BYTES = {"table.0": 2, "table.1": 2, "table.2": 3, "table.3": 2}
BYTE_TOKENS = 3
"""The token of the byte 0."""
LEAN = TOKEN_KIND.lean_options
MEMORY = pytest.mark.parametrize("memory", [LEAN, ()], ids=["in parts", "whole files"])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RangeServer]:
    """Serve a copy of an index of four shards."""
    TOKEN_KIND.write_shards(tmp_path / "index")
    with RangeServer(tmp_path) as started_server:
        yield started_server


def ask(server: RangeServer, journal: Path, *options: str, command: str = "count") -> Ran:
    """Run a command with a journal of its own."""
    journal.unlink(missing_ok=True)
    return TOKEN_KIND.run(command, f"{server.url}index", "--journal", journal, *options)


def reads_of(server: RangeServer, folder: Path) -> list[Asked]:
    """Return the requests for parts of files that are not their beginnings."""
    requests = server.record().requests
    return [read for read in requests if read.start and (folder / read.path).is_file()]


@pytest.mark.parametrize("seed", [1, slow(2), slow(3)])
def test_a_flipped_byte_that_a_count_reads_is_an_error_or_changes_nothing(
    seed: int, server: RangeServer, tmp_path: Path
) -> None:
    draw, journal = random.Random(seed), tmp_path / "journal"
    sound = without(ask(server, journal, *LEAN).rows, *OF_A_RUN)
    reads, codes = reads_of(server, tmp_path), Counter[int]()
    for _ in range(FLIPS):
        read = draw.choice(reads)
        path = tmp_path / read.path
        content = path.read_bytes()
        damaged, place = bytearray(content), draw.randrange(read.start, read.stop)
        damaged[place] ^= draw.choice([0xFF, 1 << draw.randrange(8)])
        path.write_bytes(damaged)
        ran = ask(server, journal, *LEAN)
        path.write_bytes(content)
        codes[ran.code] += 1
        assert without(ran.rows, *OF_A_RUN) == ([] if ran.code else sound), (path, place)
    assert {0, 1} <= {*codes} <= {0, 1, 2}
    assert codes[0] < FLIPS - 2


@MEMORY
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("is_odd", [False, True], ids=["behind the end", "inside a token"])
def test_pointers_that_lead_to_no_token_are_an_error(
    is_odd: bool, number: int, memory: tuple[str, ...], server: RangeServer, tmp_path: Path
) -> None:
    path = tmp_path / "index" / f"table.{number}"
    table = np.fromfile(path, np.uint8).reshape(-1, POINTER_BYTES[path.name])
    if is_odd:
        table[:, 0] |= 1
    else:
        table[:] = 0xFF
    table.tofile(path)
    ran = ask(server, tmp_path / "journal", *memory)
    assert (ran.code, ran.stdout) == (1, "")
    assert f"{server.url}index/table.{number}: rank " in ran.stderr
    assert "the pointer leads to no token" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@MEMORY
@pytest.mark.parametrize("name", ["table", "tokenized"])
def test_the_table_of_another_text_is_an_error(
    name: str, memory: tuple[str, ...], server: RangeServer, tmp_path: Path
) -> None:
    path = tmp_path / "index" / f"{name}.1"
    content = np.fromfile(path, np.uint8).reshape(-1, 2)
    np.random.default_rng(1).shuffle(content)  # of the same size
    content.tofile(path)
    ran = ask(server, tmp_path / "journal", *memory)
    assert (ran.code, ran.stdout) == (1, "")
    assert f"{server.url}index" in ran.stderr


@MEMORY
def test_an_entry_of_another_document_is_an_error_of_its_contexts(
    memory: tuple[str, ...], server: RangeServer, tmp_path: Path
) -> None:
    options = ("-n", "400", *memory)
    sound = ask(server, tmp_path / "journal", *options, command="contexts").rows
    document = next(row["document"] for row in sound if row["shard"] == "1")
    path = tmp_path / "index" / "offset.1"
    entry = int(document) - (tmp_path / "index" / "offset.0").stat().st_size // 8
    offsets = np.fromfile(path, "<u8")
    offsets[entry] += 2
    offsets.tofile(path)
    ran = ask(server, tmp_path / "journal", *options, command="contexts")
    assert ran.code == 1
    assert f"{server.url}index/offset.1: entry {entry}: no separator at byte" in ran.stderr
    expected = [row for row in sound if row["document"] not in {document, f"{int(document) - 1}"}]
    assert 0 < len(expected) < len(sound)
    assert without(ran.rows, *OF_A_RUN) == without(expected, *OF_A_RUN)


def test_contexts_show_bytes_that_are_no_text(server: RangeServer, tmp_path: Path) -> None:
    literal = TOKEN_KIND.literals[0]
    sound, *_ = ask(server, tmp_path / "journal", "-n", "1", command="contexts").rows
    assert sound["match"] == literal
    table = tmp_path / "index" / f"table.{sound['shard']}"
    start = int(sound["rank"]) * POINTER_BYTES[table.name]
    raw = table.read_bytes()[start : start + POINTER_BYTES[table.name]]
    text = table.with_name(f"tokenized.{sound['shard']}")
    tokens = np.fromfile(text, "<u2")
    tokens[int.from_bytes(raw, "little") // 2 - 1] = BYTE_TOKENS + 0xFD
    tokens.tofile(text)
    shown, *_ = ask(server, tmp_path / "journal", "-n", "1", command="contexts").rows
    assert "\N{REPLACEMENT CHARACTER}" in shown["left"]
    assert (shown["match"], shown["right"]) == (sound["match"], sound["right"])
