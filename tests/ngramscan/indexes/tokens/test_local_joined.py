"""`tokens:DIR,DIR`: the shards of several folders as one index.

A genuine index of three shards is put into folders; what commands say of them together must be what
they say of the original, and the sum of what they say of each.
"""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from ngramscan.errors import InputError
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.indexes.tokens.base import TokenOccurrences
from ngramscan.indexes.tokens.local import open_tokens
from ngramscan.progress import SILENT
from tests.support.command import Ran, invoke
from tests.support.places import TOKENS
from tests.support.serve_process import JSON, serving
from tests.support.token_folders import some_documents, write_folder
from tests.support.token_oracle import TokenOracle

WHOLE = TOKENS / "v4_pysmall_llama_s3"
LLAMA = TOKENS / "llamalike.model"
FILES = ("tokenized", "table", "offset", "metadata", "metaoff")


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Path, Path]:
    """The first shard of an index in a folder, and the other two in another."""
    base, post = tmp_path / "base", tmp_path / "post"
    for folder, shards in ((base, ("0",)), (post, ("1", "2"))):
        folder.mkdir()
        for number, shard in enumerate(shards):
            for name in FILES:
                shutil.copy(WHOLE / f"{name}.{shard}", folder / f"{name}.{number}")
    return base, post


def run(command: Sequence[str], spec: str, *options: str) -> Ran:
    done = invoke(*command, "--index", spec, "--tokenizer", LLAMA, "-q", *options)
    assert done.code == 0, done.stderr
    return done


def rows_of(command: Sequence[str], spec: str) -> list[dict[str, Any]]:
    """Return rows, without their time and the version of the program."""
    rows = [
        json.loads(line) for line in run(command, spec, "--format", "jsonl").stdout.splitlines()
    ]
    return [{key: row[key] for key in row if key != "asked_at"} for row in rows]


@pytest.mark.parametrize(
    "command",
    [
        ("count", "-e", "the list", "-e", "step", "-e", "xylofrumptious"),
        ("docnorm", "-e", "the list", "-e", "step by step"),
        ("docnorm", "-e", "step by step", "--exact-up-to", "0", "--draws", "50"),
        ("contexts", "-e", "the list", "-n", "50"),
        ("contexts", "-e", "step", "-n", "5"),
        ("sources", "-e", "the list", "--by", "license"),
        ("trace", "Return the list of turtles on the screen."),
    ],
    ids=" ".join,
)
def test_folders_together_give_the_rows_of_the_whole_index(
    command: tuple[str, ...], parts: tuple[Path, Path], tmp_path: Path
) -> None:
    base, post = parts
    # Draws depend on the names of folders, which are the same here.
    whole = shutil.copytree(WHOLE, tmp_path / "whole" / f"{base.name},{post.name}")
    joined = rows_of(command, f"same=tokens:{base},{post}")
    assert joined == rows_of(command, f"same=tokens:{whole}") != []


def test_counts_are_the_sums_of_the_folders_and_those_of_brute_force(
    parts: tuple[Path, Path],
) -> None:
    base, post = parts
    queries = ["the list", "step by step", "Return", "such as", "xylofrumptious"]
    command = ["count", *(part for query in queries for part in ("-e", query))]
    joined = rows_of(command, f"tokens:{base},{post}")
    of_base, of_post = (rows_of(command, f"tokens:{folder}") for folder in parts)
    sums = [
        row_of_base["occurrences"] + row_of_post["occurrences"]
        for row_of_base, row_of_post in zip(of_base, of_post, strict=True)
    ]
    assert [row["occurrences"] for row in joined] == sums
    tokenizer, oracles = load_tokenizer(LLAMA), [TokenOracle(folder) for folder in parts]
    assert [row["occurrences_after_space"] for row in joined] == [
        sum(oracle.count(tokenizer.after_space(query)) for oracle in oracles) for query in queries
    ]
    assert {row["index"] for row in joined} == {f"tokens:{base},{post}"}
    two = rows_of(command, f"tokens:{base},tokens:{post}")
    assert [row["occurrences"] for row in two] == [
        row["occurrences"] for row in (*of_base, *of_post)
    ]


def test_documents_are_numbered_over_the_folders_in_their_order(parts: tuple[Path, Path]) -> None:
    base, post = parts
    whole, joined = open_token_folder(WHOLE), open_token_folder(base, post)
    reverse, alone = open_token_folder(post, base), open_token_folder(base)
    assert joined.documents == reverse.documents == whole.documents
    assert (joined.shard_tokens, joined.index_bytes) == (whole.shard_tokens, _bytes_in(parts))
    for document in range(0, whole.documents, 7):
        tokens = whole.tokens_of(document).tolist()
        moved = (document - alone.documents) % whole.documents
        assert joined.tokens_of(document).tolist() == tokens
        assert reverse.tokens_of(moved).tolist() == tokens
        assert joined.metadata(document) == reverse.metadata(moved) == whole.metadata(document)
    assert list(joined.documents_by_folder.values()) == [
        range(alone.documents),
        range(alone.documents, whole.documents),
    ]


def _bytes_in(folders: Sequence[Path]) -> int:
    return sum(file.stat().st_size for folder in folders for file in folder.iterdir())


def test_info_shows_the_size_of_all_folders(parts: tuple[Path, Path]) -> None:
    base, post = parts
    spec = f"both=tokens:{base},{post}"
    done = invoke("index", "info", spec, "--tokenizer", LLAMA, "--format", "csv")
    (row,) = done.rows
    whole = open_token_folder(WHOLE)
    assert (row["name"], row["shards"]) == ("both", "3")
    assert int(row["documents"]) == whole.documents
    assert int(row["index_bytes"]) == _bytes_in(parts)


def test_verify_checks_each_folder(parts: tuple[Path, Path]) -> None:
    base, post = parts
    spec = f"tokens:{base},{post}"
    sound = invoke("index", "verify", spec, "--deep")
    assert (sound.code, sound.stdout) == (0, "")
    assert f"{spec}: no damage found" in sound.stderr
    table = post / "table.1"
    table.write_bytes(table.read_bytes()[:-3])
    damaged = invoke("index", "verify", spec, "--format", "csv")
    assert damaged.code == 1
    assert [(row["shard"], row["file"]) for row in damaged.rows] == [(str(post), "table.1")]


def test_served_folders_are_one_index(parts: tuple[Path, Path]) -> None:
    base, post = parts
    refused = invoke("serve", f"tokens:{base},{post}", "--tokenizer", LLAMA)
    assert refused.code == 2
    problem = f"an index in several folders needs a name: NAME=tokens:{base},{post}"
    assert f"{base},{post}: {problem}" in refused.stderr
    body = {"index": "both", "query_type": "count", "query": "the list"}
    with serving(f"both=tokens:{base},{post}", "--tokenizer", str(LLAMA)) as server:
        reply = httpx.post(server.url, content=json.dumps(body), headers=JSON).json()
    tokens = load_tokenizer(LLAMA).after_space("the list")
    assert reply["count"] == TokenOracle(WHOLE).count(tokens)


# Folders that don't fit


def test_a_folder_is_not_counted_twice(parts: tuple[Path, Path], tmp_path: Path) -> None:
    base, post = parts
    link, hard = tmp_path / "link", tmp_path / "hard"
    link.symlink_to(base)
    hard.mkdir()
    for file in base.iterdir():
        os.link(file, hard / file.name)
    twice = "documents would be counted twice; give each folder once"
    with pytest.raises(InputError, match=f"{base}: given twice: {twice}"):
        open_token_folder(base, post, base)
    for same in (link, hard, tmp_path / "post" / ".." / "base"):
        with pytest.raises(InputError, match=f"it has files of {base}, too: {twice}"):
            open_token_folder(base, post, same)


def test_a_shard_of_version_6_is_not_counted_with_its_index(tmp_path: Path) -> None:
    for shard in ("0", "1"):
        (tmp_path / "index" / shard).mkdir(parents=True)
        for name in FILES:
            shutil.copy(WHOLE / f"{name}.{shard}", tmp_path / "index" / shard / name)
    with pytest.raises(InputError, match="documents would be counted twice"):
        open_token_folder(tmp_path / "index", tmp_path / "index" / "1")
    shards = [tmp_path / "index" / shard for shard in ("0", "1")]
    assert open_token_folder(*shards).tokens == open_token_folder(tmp_path / "index").tokens


def test_folders_of_different_widths_are_no_index(parts: tuple[Path, Path]) -> None:
    base, _ = parts
    wide = TOKENS / "v4_pysmall_olmo2"
    done = invoke("count", "-e", "a", "--index", f"tokens:{base},{wide}", "--tokenizer", LLAMA)
    problem = f"tokens of 4 bytes, but {base} has tokens of 2; give each folder as an index of its"
    assert (done.code, f"{wide}: {problem} own\n" in done.stderr) == (2, True)


def test_folders_of_both_directions_are_no_index(parts: tuple[Path, Path]) -> None:
    base, _ = parts
    backwards = TOKENS / "v5_pysmall_llama"
    for folders in ([base, backwards], [backwards, base]):
        with pytest.raises(InputError) as error:
            open_tokens(folders, LLAMA, SILENT)
        problem = f"the documents of {backwards} are stored backwards, those of {base} are not"
        assert str(error.value) == (
            f"{folders[1]}: {problem}; give each folder as an index of its own"
        )


def test_a_small_folder_of_another_tokenizer_is_noticed(
    parts: tuple[Path, Path], tmp_path: Path
) -> None:
    other = write_folder(tmp_path / "other", [some_documents(1, 12, 30_000)], 2)
    for folders in ([*parts, other], [other, *parts]):
        with pytest.raises(InputError, match=f"the tokens of {other} aren't made by it"):
            open_tokens(folders, LLAMA, SILENT)


def test_bytes_are_joined_without_a_tokenizer(tmp_path: Path) -> None:
    texts = [["step by step", ""], ["a step"], ["Schritt", "stepstep"]]
    folders = [
        write_folder(tmp_path / str(number), [[[*text.encode()] for text in some]], 1)
        for number, some in enumerate(texts)
    ]
    index = open_tokens(folders, None, SILENT)
    (lookup,) = index.lookups(["step"])
    assert isinstance(lookup, TokenOccurrences)
    assert lookup.occurrences == sum(text.count("step") for some in texts for text in some)
