"""The files of shards over tokens: numbered in one folder, or in a folder for each shard."""

import shutil
from pathlib import Path

import pytest

from ngramscan.index_files.tokens.folders import NEEDED, shard_places
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.index_files.tokens.verify import verify_tokens
from ngramscan.progress import SILENT
from tests.support.command import invoke
from tests.support.places import TESTS

VERSION_4 = TESTS / "tokens" / "v4_pysmall_llama_s3"
TOKENIZER = TESTS / "tokens" / "llamalike.model"
FILES = (*NEEDED, "metadata", "metaoff")
SHARDS = ("0", "1", "2")


@pytest.fixture
def version_6(tmp_path: Path) -> Path:
    """The same shards, each in a folder."""
    for number in SHARDS:
        folder = tmp_path / "index" / f"0{number}"
        folder.mkdir(parents=True)
        for name in FILES:
            shutil.copy(VERSION_4 / f"{name}.{number}", folder / name)
    return tmp_path / "index"


def shape(folder: TokenFolder) -> tuple[object, ...]:
    return folder.documents, folder.tokens, folder.shard_tokens, folder.index_bytes, folder.width


def test_shards_in_folders_are_the_same_index(version_6: Path) -> None:
    numbered, in_folders = open_token_folder(VERSION_4), open_token_folder(version_6)
    assert shape(in_folders) == shape(numbered)
    patterns = [[3707, 486, 3707], [1], [29871, 13], [5, 5, 5]]
    assert (in_folders.find(patterns) == numbered.find(patterns)).all()
    assert verify_tokens(version_6, deep=True, progress=SILENT) == []


@pytest.mark.parametrize(
    "command",
    [
        ("count", "-e", "the list", "-e", "step"),
        ("docnorm", "-e", "the list"),
        ("contexts", "-e", "the list", "-n", "50"),
        ("trace", "Return the list of turtles on the screen."),
    ],
    ids=lambda command: command[0],
)
def test_commands_write_the_same_rows(
    command: tuple[str, ...], version_6: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = []
    for place in (VERSION_4, version_6):
        options = ("--tokenizer", TOKENIZER, "-q", "--format", "jsonl")
        done = invoke(*command, "--index", f"same=tokens:{place}", *options)
        assert done.code == 0, done.stderr
        rows.append([line.partition("asked_at")[0] for line in done.stdout.splitlines()])
    assert rows[0] == rows[1] != []


def test_one_shard_may_be_the_index(version_6: Path) -> None:
    one = open_token_folder(version_6 / "01")
    assert one.shard_tokens == open_token_folder(VERSION_4).shard_tokens[1:2]


def test_a_path_without_a_kind_is_recognised(version_6: Path) -> None:
    done = invoke(
        *("count", "-e", "step", "--index", version_6, "--tokenizer", TOKENIZER),
        *("-q", "--format", "csv"),
    )
    assert [row["unit"] for row in done.rows] == ["tokens"]


def test_folders_are_in_the_order_of_their_numbers() -> None:
    numbers = [str(number) for number in range(12)]
    folders = ["extra", *reversed(numbers)]
    names = [f"{folder}/{name}" for folder in folders for name in NEEDED]
    assert [place.number for place in shard_places(names)] == ["extra", *numbers]


def test_numbered_shards_are_in_the_order_of_their_texts() -> None:
    names = [f"{name}.{number}" for number in range(12) for name in NEEDED]
    places = shard_places(names)
    assert [place.number for place in places[:4]] == ["0", "1", "10", "11"]
    assert places[2].file("table") == "table.10"


@pytest.mark.parametrize("name", NEEDED)
def test_a_shard_that_lacks_a_file_is_no_smaller_index(name: str, version_6: Path) -> None:
    (version_6 / "01" / name).unlink()
    done = invoke(
        *("count", "-e", "step", "--index", f"tokens:{version_6}", "--tokenizer", TOKENIZER, "-q")
    )
    assert done.code != 0
    assert f"01/{name}: missing" in done.stderr
