"""Counts of single tokens: from files of the original tools, and by counting all tokens."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.unigrams import count_tokens, read_unigrams
from tests.support.token_folders import some_documents, write_folder


def counted_directly(folder: Path, width: int) -> dict[int, int]:
    """Return how often each token is in the files of an index."""
    texts = [np.fromfile(path, f"<u{width}") for path in folder.glob("tokenized*")]
    tokens, counts = np.unique(np.concatenate(texts), return_counts=True)
    return dict(zip(tokens.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("v4_pysmall_bytes", 1),
        ("v4_pysmall_llama_s3", 2),
        ("v4_pysmall_olmo2", 4),
        ("v5_pysmall_llama", 2),
    ],
)
def test_counts_of_genuine_files_are_those_of_the_tokens(
    shared: Path, tmp_path: Path, name: str, width: int
) -> None:
    folder = shared / "tokens" / "index" / name
    counts = counted_directly(folder, width)
    ids = [*counts, max(counts) - 1]
    expected = {token: counts.get(token, 0) for token in ids}
    assert count_tokens(open_token_folder(folder), ids) == expected
    # The files are read, and without one of them the tables are.
    copy = shutil.copytree(folder, tmp_path / name)
    first = next(iter(sorted(copy.glob("unigram*"))))
    first.chmod(0o644)
    first.write_text("".join(f"{token} 1000000\n" for token in ids))
    assert min(count_tokens(open_token_folder(copy), ids).values()) >= 1_000_000
    copy.chmod(0o755)
    first.unlink()
    assert count_tokens(open_token_folder(copy), ids) == expected


@pytest.mark.parametrize("width", [1, 2, 4])
def test_counts_of_all_shards_add_up(tmp_path: Path, width: int) -> None:
    shards = [some_documents(width, 9, 4), [], some_documents(width + 1, 7, 5)]
    folder = write_folder(tmp_path, shards, width)
    tokens = [token for shard in shards for document in shard for token in document]
    expected = {token: tokens.count(token) for token in range(6)}
    assert count_tokens(open_token_folder(folder), range(6)) == expected
    for number, shard in enumerate(shards):
        lines = [
            f"{token} {sum(document.count(token) for document in shard)}\n" for token in range(5)
        ]
        (folder / f"unigram.{number}").write_text("".join(lines))
    assert count_tokens(open_token_folder(folder), range(6)) == expected


def test_older_files_have_a_count_in_each_line(tmp_path: Path) -> None:
    path = tmp_path / "unigram.0"
    path.write_text("3\n0\n7\n")
    assert read_unigrams(path) == {0: 3, 1: 0, 2: 7}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param("1 2\nx 3\n", "line 2: not a token and its count: 'x 3'", id="a word"),
        pytest.param("1 2\n\n", "line 2: not a token and its count: ''", id="an empty line"),
        pytest.param("1 2 3\n", "line 1: not a token", id="three numbers"),
        pytest.param("1 -2\n", "line 1: not a token", id="a negative count"),
        pytest.param("é 1\n", "can't be read", id="not ASCII"),
    ],
)
def test_a_bad_line_is_an_error_with_its_place(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "unigram.0"
    path.write_text(content)
    with pytest.raises(IndexFormatError) as raised:
        read_unigrams(path)
    assert problem in str(raised.value)
    assert str(path) in str(raised.value)
