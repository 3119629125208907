"""Mapped files that change, or are too many: no answer, and an error with the cure."""

import os
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ngramscan.errors import IndexChangedError, IndexFormatError
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.reader import Shard
from ngramscan.index_files.mapped import MappedFile, unchanged
from tests.support.places import FM9
from tests.support.resource_limits import limited

SMALL = FM9 / "d5" / "index"


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"?")


def replace_by_a_copy(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.replace(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "overwritten": overwrite,
    "longer": lambda path: os.truncate(path, path.stat().st_size + 8),
    "cut": lambda path: os.truncate(path, 8),
    "replaced": replace_by_a_copy,
    "removed": Path.unlink,
    "its folder removed": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_changed_gives_no_answer(tmp_path: Path, name: str, how: str) -> None:
    """Also where the file that is mapped is another one than that at its path by then."""
    shutil.copytree(SMALL, tmp_path / "x")
    os.link(tmp_path / "x" / name, tmp_path / "mapped")
    shard = Shard(tmp_path / "x")
    (window,) = shard.windows([5], 1, 1)
    shard.metadata([window.document])
    CHANGES[how](tmp_path / "x" / name)
    os.truncate(tmp_path / "mapped", 0)  # reading it now would end this process
    with pytest.raises(IndexChangedError, match="was changed or removed while the index"):
        shard.find([b"lo"]), shard.metadata([w.document for w in shard.windows([5], 1, 1)])


@pytest.mark.parametrize("name", FILES[1:])
def test_files_of_two_indexes_are_never_read_together(tmp_path: Path, name: str) -> None:
    shard = Shard(Path(shutil.copytree(SMALL, tmp_path / "x")))
    shutil.copy(SMALL / name, tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / "x" / name)
    with pytest.raises(IndexChangedError, match=f"{name}: was changed or removed"):
        shard.metadata([window.document for window in shard.windows([5], 1, 1)])


def test_a_file_that_changes_while_it_is_read_gives_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345678")
    os.utime(path, (0, 0))  # the clock of a disk may not have moved on until it is written again
    file = MappedFile(path)
    with pytest.raises(IndexChangedError, match="file: was changed or removed"), unchanged([file]):
        overwrite(path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of addresses")
def test_a_limit_of_mapped_files_is_one_line_with_the_cure(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    said = r"large: no memory left.*max_map_count=\d+$"
    with limited(resource.RLIMIT_AS, 1 << 39), pytest.raises(IndexFormatError, match=said):
        MappedFile(tmp_path / "large")
