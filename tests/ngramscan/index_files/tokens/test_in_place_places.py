"""Where the files of an index over tokens in place are found, and what is said if they are not."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import numpy as np
import pytest

from ngramscan.errors import IndexFormatError, InputError, NgramscanError, RemoteRefused
from ngramscan.index_files.formats import TOKEN_NAMES
from ngramscan.index_files.tokens.in_place import InPlaceTokenFolder
from ngramscan.index_files.tokens.in_place_places import open_tokens_in_place
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.progress import SILENT
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.range_server import Faults, RangeServer
from tests.support.token_folders import write_folder

PATTERNS = [[0], [1, 2], [3]]


@contextmanager
def opened(url: str, memory: int = 1 << 30) -> Iterator[InPlaceTokenFolder]:
    with Ranges(RangeOptions(), SILENT) as ranges:
        yield open_tokens_in_place(ranges, [url], memory)


def write_shards(folder: Path, shards: int) -> Path:
    """Write an index whose shards have different numbers of tokens."""
    return write_folder(folder, [[[n] * (3 * n + 1), [1, 2], []] for n in range(shards)], 2)


def in_folders(numbered: Path, target: Path, name_of: Callable[[int], str]) -> Path:
    """Copy the shards of an index to a folder each."""
    for path in numbered.iterdir():
        place = target / name_of(int(path.suffix[1:])) / path.stem
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return target


def put_in_memory(folder: Path, name: str) -> str:
    """Copy a folder to a store that can be listed; return its URL there."""
    store, url = fsspec.filesystem("memory"), f"memory://{name}"
    for path in folder.rglob("*"):
        if path.is_file():
            store.pipe(f"/{name}/{path.relative_to(folder)}", path.read_bytes())
    return url


def check_same(far: InPlaceTokenFolder, near: TokenFolder) -> None:
    """Check that two indexes have the same shards in the same order."""
    assert far.shard_tokens == near.shard_tokens
    assert far.index_bytes == near.index_bytes
    assert far.find(PATTERNS).tolist() == near.find(PATTERNS).tolist()
    numbers = range(near.documents)
    assert far.metadata_of(numbers) == [near.metadata(n) for n in numbers]


LAYOUTS: dict[str, Callable[[int], str]] = {
    "0/": str,
    "00/": "{:02}".format,
    "only": lambda _: "",
}


@pytest.mark.parametrize("layout", ["numbered", *LAYOUTS])
@pytest.mark.parametrize("is_listed", [False, True], ids=["probed", "listed"])
def test_shards_are_found_in_their_order(layout: str, is_listed: bool, tmp_path: Path) -> None:
    shards = 1 if layout == "only" else 12
    folder = write_shards(tmp_path / "numbered", shards)
    if layout != "numbered":
        folder = in_folders(folder, tmp_path / "folders", LAYOUTS[layout])
    near = open_token_folder(folder)
    assert len(set(near.shard_tokens)) == shards
    if is_listed:
        with opened(put_in_memory(folder, f"places-{layout.strip('/')}")) as far:
            check_same(far, near)
        return
    with RangeServer(folder) as server, opened(server.url.rstrip("/")) as far:
        check_same(far, near)


def test_folders_of_any_names_are_shards_where_a_store_is_listed(tmp_path: Path) -> None:
    names = ["corpus", "2", "10", "0", "annex"]
    numbered = write_shards(tmp_path / "numbered", len(names))
    folder = in_folders(numbered, tmp_path / "folders", lambda number: names[number])
    near = open_token_folder(folder)
    (folder / "notes").mkdir()
    (folder / "notes" / "README").write_text("not a shard")
    with opened(put_in_memory(folder, "places-named")) as far:
        check_same(far, near)


@pytest.mark.parametrize("is_listed", [False, True], ids=["probed", "listed"])
@pytest.mark.parametrize(
    ("missing", "said"),
    [
        pytest.param("*.3", "/tokenized.3: missing; copy it there", id="a shard"),
        pytest.param("table.3", "/table.3: missing; copy it there", id="a table"),
        pytest.param("offset.11", "/offset.11: missing; copy it there", id="offsets of the last"),
    ],
)
def test_a_gap_is_no_smaller_index(
    missing: str, said: str, is_listed: bool, tmp_path: Path
) -> None:
    folder = write_shards(tmp_path / "index", 12)
    for path in folder.glob(missing):
        path.unlink()
    with RangeServer(folder) as server:
        name = f"places-gap-{missing.strip('*')}"
        url = put_in_memory(folder, name) if is_listed else server.url
        with pytest.raises(IndexFormatError, match=said), opened(url):
            pass


@pytest.mark.parametrize("missing", ["00/table", "01/tokenized"])
def test_a_folder_without_a_file_is_no_smaller_index(missing: str, tmp_path: Path) -> None:
    folder = in_folders(write_shards(tmp_path / "index", 3), tmp_path / "folders", "{:02}".format)
    (folder / missing).unlink()
    with (
        RangeServer(folder) as server,
        pytest.raises(IndexFormatError, match=f"/{missing}: missing"),
        opened(server.url),
    ):
        pass


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param("404", r"or tokenized in folders$", id="nothing"),
        pytest.param("html", "the server answers HTML to names it lacks", id="pages"),
    ],
)
def test_where_there_is_no_index_the_files_that_it_lacks_are_named(
    fault: str, said: str, tmp_path: Path
) -> None:
    write_shards(tmp_path / "index", 1)
    with RangeServer(tmp_path, faults=Faults(always={"index/": fault})) as server:
        url = server.url.replace("//", "//me:secret@") + "index/?signature=secret"
        with pytest.raises(NgramscanError, match=said) as raised, opened(url):
            pass
    assert isinstance(raised.value, InputError)
    assert "it lacks tokenized.0, table.0, offset.0" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_page_in_place_of_metadata_is_no_file(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "index", 1)
    faults = Faults(always={"metadata.0": "html", "metaoff.0": "html"})
    with RangeServer(folder, faults=faults) as server, opened(server.url) as far:
        assert far.find(PATTERNS).tolist() == open_token_folder(folder).find(PATTERNS).tolist()
        assert far.metadata_of([0]) == [""]


def test_memory_is_shared_by_all_shards(tmp_path: Path) -> None:
    folder = write_shards(tmp_path, 4)
    sizes = [
        sum((folder / f"{name}.{number}").stat().st_size for name in ("tokenized", "table"))
        for number in range(4)
    ]
    near = open_token_folder(folder)
    for limit in (0, min(sizes) - 1, max(sizes)):
        with RangeServer(folder) as server, opened(server.url, 4 * limit) as far:
            expected = [size if size <= limit else 0 for size in sizes]
            assert [shard.kept_bytes for shard in far.shards] == expected
            assert far.find(PATTERNS).tolist() == near.find(PATTERNS).tolist()


def test_an_index_without_documents_is_refused(tmp_path: Path) -> None:
    for name in ("tokenized.0", "table.0", "offset.0"):
        np.zeros(0).tofile(tmp_path / name)
    with (
        RangeServer(tmp_path) as server,
        pytest.raises(IndexFormatError, match="contains no documents"),
        opened(server.url),
    ):
        pass


# Stores that can't be listed


def test_a_store_that_refuses_files_that_are_not_there_has_the_others(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1, 2, 3]], [[4, 5]]], 2)
    absent = {f"{name}.1{digit}": "403" for name in TOKEN_NAMES for digit in range(6)}
    present = {path.name: "" for path in tmp_path.iterdir()}
    faults = Faults(always={**absent, **present, "": "403"})
    with RangeServer(tmp_path, faults=faults) as server, opened(server.url) as far:
        assert (far.documents, far.tokens) == (2, 7)


@pytest.mark.parametrize("refused", ["unigram.", "metadata.1", "table.9"])
def test_a_server_that_says_what_is_missing_refuses_nothing_else(
    refused: str, tmp_path: Path
) -> None:
    shards = [[[number + 1]] for number in range(10)]
    write_folder(tmp_path, shards, 2)
    with (
        RangeServer(tmp_path, faults=Faults(always={refused: "403"})) as server,
        pytest.raises(RemoteRefused, match=f"{refused}.*HTTP 403"),
        opened(server.url),
    ):
        pass


def test_shards_that_are_refused_make_no_smaller_index(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[number + 1]] for number in range(10)], 2)
    later_shards = [f"{name}.{number}" for name in TOKEN_NAMES for number in (8, 9)]
    with (
        RangeServer(tmp_path, faults=Faults(always=dict.fromkeys(later_shards, "403"))) as server,
        pytest.raises(RemoteRefused, match="HTTP 403"),
        opened(server.url),
    ):
        pass


@pytest.mark.parametrize("name", ["table.1", "offset.0"])
def test_a_needed_file_that_is_refused_is_named(name: str, tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1, 2, 3]], [[4, 5]]], 2)
    faults = Faults(always={name: "403"})
    with (
        RangeServer(tmp_path, faults=faults) as server,
        pytest.raises(RemoteRefused, match=f"{name}: HTTP 403"),
        opened(server.url),
    ):
        pass


def test_where_all_is_refused_the_reader_is_told(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1, 2, 3]]], 2)
    with (
        RangeServer(tmp_path, faults=Faults(always={"": "403"})) as server,
        pytest.raises(RemoteRefused, match="HTTP 403, access denied"),
        opened(server.url),
    ):
        pass
