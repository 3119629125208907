"""Pieces of remote files on disk belong to one version of a file."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ngramscan.progress import SILENT
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.range_cache import RangeCache

URL = "https://example.org/index/data.fm9"
FILE = RemoteFile(url=URL, size=5000, etag='"a1"', head=b"first bytes", origin=URL)
PIECE = b"the bytes of a piece"


@contextmanager
def cache(folder: Path) -> Iterator[RangeCache]:
    with closing(RangeCache(folder, 10_000_000, SILENT)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("later", "is_changed", "found"),
    [
        pytest.param(replace(FILE), False, PIECE, id="the same file"),
        pytest.param(
            replace(FILE, head=b"other bytes"), True, None, id="equal tag and size, another head"
        ),
        pytest.param(replace(FILE, head=b""), True, None, id="equal tag and size, no head"),
        pytest.param(replace(FILE, size=5001), True, None, id="equal tag and head, another size"),
        pytest.param(replace(FILE, etag='"a2"'), True, None, id="equal size and head, another tag"),
        pytest.param(replace(FILE, etag=""), True, None, id="equal size and head, no tag any more"),
        pytest.param(
            replace(FILE, origin=f"{URL}.other"), False, None, id="an equal file at another address"
        ),
    ],
)
def test_a_later_run_finds_a_piece_only_of_the_same_version(
    tmp_path: Path, later: RemoteFile, is_changed: bool, found: bytes | None
) -> None:
    with cache(tmp_path) as kept:
        assert not kept.add(FILE)
        kept.put(FILE, 1000, PIECE)
    with cache(tmp_path) as kept:
        assert kept.add(later) is is_changed
        assert kept.get(later, 1000, 1000 + len(PIECE)) == found


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(replace(FILE, head=b"other bytes"), id="another head"),
        pytest.param(replace(FILE, size=5001), id="another size"),
        pytest.param(replace(FILE, etag='"a2"'), id="another tag"),
    ],
)
def test_pieces_of_a_version_that_was_replaced_do_not_come_back(
    tmp_path: Path, between: RemoteFile
) -> None:
    with cache(tmp_path) as kept:
        kept.add(FILE)
        kept.put(FILE, 1000, PIECE)
    for version, is_changed in ((between, True), (replace(FILE), True)):
        with cache(tmp_path) as kept:
            assert kept.add(version) is is_changed
            assert kept.get(version, 1000, 1000 + len(PIECE)) is None


def test_two_runs_that_opened_other_versions_do_not_share_bytes(tmp_path: Path) -> None:
    new = replace(FILE, etag='"a2"')
    with cache(tmp_path) as first, cache(tmp_path) as second:
        assert not first.add(FILE)
        assert second.add(new)
        first.put(FILE, 0, PIECE)
    with cache(tmp_path) as kept:
        assert not kept.add(new)
        assert kept.get(new, 0, len(PIECE)) is None


def test_pieces_are_on_disk_as_soon_as_they_are_a_megabyte(tmp_path: Path) -> None:
    """So a run that is killed leaves what it had read until then."""
    half = b"x" * 500_000
    with cache(tmp_path) as kept, cache(tmp_path) as other:
        kept.add(FILE)
        other.add(later := replace(FILE))
        kept.put(FILE, 0, half)
        assert other.get(later, 0, 500_000) is None
        kept.put(FILE, 500_000, half)
        assert other.get(later, 0, 500_000) == other.get(later, 500_000, 1_000_000) == half


def test_nothing_is_stored_beyond_the_limit(tmp_path: Path) -> None:
    empty_bytes = 60_000
    """More than an empty database has."""
    with closing(RangeCache(tmp_path, empty_bytes + 100_000, SILENT)) as kept:
        kept.add(FILE)
        for start in range(0, 400_000, 50_000):
            kept.put(FILE, start, b"x" * 50_000)
    with cache(tmp_path) as kept:
        kept.add(again := replace(FILE))
        found = [kept.get(again, at, at + 50_000) is not None for at in range(0, 400_000, 50_000)]
    assert found == [True, True, False, False, False, False, False, False]
