"""Which format an index has, by the names of its files."""

from pathlib import Path

import pytest

from ngramscan.index_files.formats import is_shard, is_token_folder, token_files


@pytest.mark.parametrize(
    ("name", "over_bytes", "over_tokens"),
    [
        ("data.fm9", True, False),
        ("data_offset", True, False),
        ("meta.fm9", True, False),
        ("meta_offset", True, False),
        ("data.fm9x", False, False),
        ("tokenized.0", False, True),
        ("table.10", False, True),
        ("offset.1", False, True),
        ("metadata.0", False, True),
        ("metaoff.0", False, True),
        ("unigram.0", False, True),
        ("tokenized.01", False, False),
        ("tokenized.0.gz", False, False),
        ("xtokenized.0", False, False),
        ("tokenized", False, True),
        ("table", False, False),
    ],
)
def test_a_file_tells_the_format_of_its_folder(
    tmp_path: Path, name: str, over_bytes: bool, over_tokens: bool
) -> None:
    (tmp_path / "other").write_bytes(b"other")
    (tmp_path / name).write_bytes(b"12345")
    assert (is_shard(tmp_path), is_token_folder(tmp_path)) == (over_bytes, over_tokens)
    assert [*token_files(tmp_path)] == [(name, 5)] * over_tokens


@pytest.mark.parametrize("name", ["", "file", "nothing"], ids=["folders", "a file", "nothing"])
def test_what_is_no_folder_or_has_only_folders_has_no_format(name: str, tmp_path: Path) -> None:
    (tmp_path / "tokenized.0").mkdir()
    (tmp_path / "file").write_bytes(b"")
    assert (is_shard(tmp_path / name), is_token_folder(tmp_path / name)) == (False, False)
