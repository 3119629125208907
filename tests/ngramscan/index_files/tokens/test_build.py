"""Building indexes over tokens: the same files as infini-gram's builder makes."""

import json
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import CorpusError, IndexFormatError, InputError
from ngramscan.index_files.tokens import build
from ngramscan.index_files.tokens.build import (
    BuiltVersion,
    TokenBuildRow,
    build_token_index,
    sort_table,
)
from ngramscan.index_files.tokens.layout import pointer_bytes_for
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.index_files.tokens.verify import verify_tokens
from ngramscan.progress import SILENT
from tests.support.command import NGRAMSCAN
from tests.support.dask_cluster import wait_until
from tests.support.places import TOKENS
from tests.support.sizes import slow
from tests.support.started import started

PLAIN = ReadOptions()
CORPUS = TOKENS / "corpus_small.jsonl"
NEOX = "allenai_gpt-neox-olmo-dolma-v1_5.json.gz"


def built(
    corpus: Path,
    directory: Path,
    tokenizer: Path | None,
    read: ReadOptions = PLAIN,
    version: BuiltVersion = "4",
) -> TokenBuildRow:
    [row] = build_token_index(
        open_corpus(str(corpus)), directory, load_tokenizer(tokenizer), read, SILENT, version
    )
    return row


def write_corpus(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


# The table


def brute_force(tokenized: bytes, width: int) -> bytes:
    size, positions = pointer_bytes_for(len(tokenized)), range(0, len(tokenized), width)
    ordered = sorted(positions, key=lambda at: tokenized[at : at + 999])
    return b"".join(position.to_bytes(size, "little") for position in ordered)


@given(
    st.lists(st.sampled_from([0, 1, 2, 0xFF]), min_size=1, max_size=80), st.sampled_from([1, 2, 4])
)
def test_a_table_has_all_positions_in_the_order_of_the_bytes(tokens: list[int], width: int) -> None:
    """Bytes of few values: suffixes that begin with each other, and order beside the tokens'."""
    tokenized = bytes(tokens * width)
    assert sort_table(tokenized, width).tobytes() == brute_force(tokenized, width)


@pytest.mark.parametrize("size", [256, 258, 65536, 65538])
def test_pointers_are_as_wide_as_they_have_to_be(size: int) -> None:
    tokenized = bytes(np.random.default_rng(size).integers(0, 256, size, np.uint8))
    table = sort_table(tokenized, 2).tobytes()
    assert len(table) == size // 2 * {256: 1, 258: 2, 65536: 2, 65538: 3}[size]
    assert table == brute_force(tokenized, 2)


@pytest.mark.parametrize(
    "path",
    sorted(TOKENS.glob("v*/tokenized.*")),
    ids=lambda path: f"{path.parent.name} {path.name}",
)
def test_a_table_is_that_of_the_original(path: Path) -> None:
    width = 4 if "olmo2" in path.parent.name else 2
    table = path.with_name(path.name.replace("tokenized", "table"))
    assert sort_table(path.read_bytes(), width).tobytes() == table.read_bytes()


def test_all_recorded_tables_are_those_of_the_original(
    shared: Path, subtests: pytest.Subtests
) -> None:
    paths = sorted((shared / "tokens" / "index").glob("*/tokenized.*"))
    assert len(paths) == 8
    for path in paths:
        width = {"olmo2": 4, "bytes": 1}.get(path.parent.name.rpartition("_")[2], 2)
        table = path.with_name(path.name.replace("tokenized", "table"))
        with subtests.test(index=path.parent.name, file=path.name):
            assert sort_table(path.read_bytes(), width).tobytes() == table.read_bytes()


# Whole indexes


def differing(directory: Path, originals: Mapping[str, Path]) -> list[str]:
    """Return the names of files whose content is not that of the original."""
    return [
        name
        for name, original in originals.items()
        if (directory / name).read_bytes() != original.read_bytes()
    ]


def test_an_index_is_that_of_the_original_with_every_column_of_its_row(tmp_path: Path) -> None:
    row = built(CORPUS, tmp_path / "x", TOKENS / "allenai_dolma2.json.gz")
    originals = list((TOKENS / "v4_pysmall_olmo2").iterdir())
    assert originals
    assert differing(tmp_path / "x", {path.name: path for path in originals}) == []
    tokens = np.fromfile(tmp_path / "x" / "tokenized.0", "<u4").tolist()
    unigrams = (tmp_path / "x" / "unigram.0").read_text().splitlines()
    counted = sorted(Counter(tokens).items())
    assert unigrams == [f"{token} {count}" for token, count in counted]
    index_bytes = sum(path.stat().st_size for path in (tmp_path / "x").iterdir())
    assert (row.shard, row.documents, row.tokens) == (0, 676, len(tokens) - 676)
    assert row.index_bytes == index_bytes
    assert row.bytes_per_token == pytest.approx(index_bytes / (len(tokens) - 676), abs=5e-4)
    assert row.seconds is not None
    assert row.seconds > 0
    assert verify_tokens(tmp_path / "x", True, SILENT) == []


@pytest.mark.parametrize("shard", [0, 1, 2])
def test_a_shard_of_the_original_is_an_index_of_its_documents(shard: int, tmp_path: Path) -> None:
    lines = CORPUS.read_text().splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[shard::3]))
    built(part, tmp_path / "x", TOKENS / "llamalike.model")
    originals = {
        f"{name}.0": TOKENS / "v4_pysmall_llama_s3" / f"{name}.{shard}"
        for name in ("tokenized", "table", "offset")
    }
    assert differing(tmp_path / "x", originals) == []


def test_version_6_has_the_files_of_version_4_without_a_number(tmp_path: Path) -> None:
    tokenizer = TOKENS / "allenai_dolma2.json.gz"
    row = built(CORPUS, tmp_path / "six", tokenizer, version="6")
    originals = {path.stem: path for path in (TOKENS / "v4_pysmall_olmo2").iterdir()}
    assert {"tokenized", "table", "offset", "metadata", "metaoff"} <= originals.keys()
    assert differing(tmp_path / "six", originals) == []
    names = {path.name for path in (tmp_path / "six").iterdir()}
    assert names == {"tokenized", "table", "offset", "metadata", "metaoff", "unigram"}
    assert row.index_bytes == sum(path.stat().st_size for path in (tmp_path / "six").iterdir())
    again = built(CORPUS, tmp_path / "six", tokenizer, version="6")
    assert (again.seconds, again.index_bytes) == (None, row.index_bytes)
    four = built(CORPUS, tmp_path / "four", tokenizer)
    assert (four.documents, four.tokens) == (row.documents, row.tokens)
    six_text = (tmp_path / "six" / "unigram").read_bytes()
    assert six_text == (tmp_path / "four" / "unigram.0").read_bytes()
    assert verify_tokens(tmp_path / "six", True, SILENT) == []


@pytest.mark.parametrize("first", ["4", "6"])
def test_a_folder_keeps_the_version_that_it_has(first: BuiltVersion, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", ["text"])
    built(corpus, tmp_path / "x", None, version=first)
    before = {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()}
    second: BuiltVersion = "6" if first == "4" else "4"
    with pytest.raises(InputError, match=f"x: the folder has an index in version {first} of the"):
        built(corpus, tmp_path / "x", None, version=second)
    assert {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()} == before
    (tmp_path / "x" / ("unigram" if first == "6" else "unigram.0")).unlink()
    with pytest.raises(InputError, match=r"the index there lacks unigram(\.0)?; delete it"):
        built(corpus, tmp_path / "x", None, version=first)


def test_shards_of_version_6_are_built_one_by_one_into_one_index(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    texts = [["step by step"], ["a step", ""]]
    for number, shard in enumerate(texts):
        corpus = write_corpus(tmp_path / f"{number}.jsonl", shard)
        built(corpus, tmp_path / "x" / str(number), None, version="6")
    # A build that goes on, or was killed, is no shard.
    shutil.copytree(tmp_path / "x" / "1", tmp_path / "x" / ".2.building-0123abcd")
    folder = open_token_folder(tmp_path / "x")
    shown = [bytes(folder.tokens_of(number).tolist()).decode() for number in range(3)]
    assert (folder.documents, shown) == (3, ["step by step", "a step", ""])


def test_documents_without_text_are_separators(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", ["", "", ""])
    row = built(corpus, tmp_path / "x", None)
    assert (row.documents, row.tokens, row.bytes_per_token) == (3, 0, None)
    assert (tmp_path / "x" / "tokenized.0").read_bytes() == b"\xff\xff\xff"
    assert (tmp_path / "x" / "table.0").read_bytes() == b"\2\1\0"
    assert (tmp_path / "x" / "unigram.0").read_text() == "255 3\n"


def test_metadata_are_the_other_fields_with_the_path_and_the_line(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "a.jsonl").write_text(
        '{"z": {"é": 1}, "body": "ä", "text": "t", "b": null}\n'
    )
    (tmp_path / "c" / "b.jsonl").write_text('{"body": "x"}\n{}\n{"body": "y"}\n')
    read = ReadOptions("body", skip_bad_lines=True)
    built(tmp_path / "c", tmp_path / "x", None, read)
    assert (tmp_path / "x" / "tokenized.0").read_bytes() == b"\xff\xc3\xa4\xffx\xffy"
    lines = (tmp_path / "x" / "metadata.0").read_text().splitlines(keepends=True)
    assert lines[0].endswith(r'"metadata": {"z": {"\u00e9": 1}, "text": "t", "b": null}}' + "\n")
    places = [(json.loads(line)["path"], json.loads(line)["linenum"]) for line in lines]
    assert places == [("a.jsonl", 0), ("b.jsonl", 0), ("b.jsonl", 2)]
    starts = np.fromfile(tmp_path / "x" / "metaoff.0", "<u8").tolist()
    assert starts == [0, len(lines[0]), len(lines[0] + lines[1])]


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        slow("v4_pystdlib_llama", "llamalike.model"),
        slow("v4_pysmall_olmo", NEOX),
        ("v4_pysmall_olmo2", "allenai_dolma2.json.gz"),
        ("v4_pysmall_bytes", None),
    ],
)
def test_all_files_are_those_of_the_original_which_are_sound(
    name: str, tokenizer: str | None, shared: Path, tmp_path: Path
) -> None:
    folder, corpus = shared / "tokens", "corpus" if "stdlib" in name else "corpus_small"
    path = tokenizer and folder / "tokenizers" / tokenizer
    built(folder / corpus / f"{corpus}.jsonl", tmp_path / "x", cast(Any, path))
    original = {path.name: path.read_bytes() for path in (folder / "index" / name).iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()} == original
    assert len(original) == 6
    assert [verify_tokens(folder / "index" / name, deep, SILENT) for deep in (False, True)] == [
        [],
        [],
    ]


# What can't be built


def test_a_folder_has_to_be_new(tmp_path: Path, subtests: pytest.Subtests) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", ["text"])
    (tmp_path / "empty").mkdir()
    assert built(corpus, tmp_path / "empty", None).documents == 1
    write_corpus(corpus, ["other text"])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").touch()
    for where, problem in {
        "empty": "the folder has an index of other documents, or with other tokens; give a new"
        " folder, or delete this one",
        "full": "the folder is not empty; expected a new one",
        "c.jsonl": "it is a file; expected a new folder",
        "no/x": f"no such folder: {tmp_path / 'no'}",
    }.items():
        with subtests.test(where=where):
            with pytest.raises(InputError) as raised:
                built(corpus, tmp_path / where, None)
            assert str(raised.value) == f"{tmp_path / where}: {problem}"
    with pytest.raises(InputError, match=r"s3://a/b: expected a folder of this machine"):
        build_token_index(
            open_corpus(str(corpus)), "s3://a/b", load_tokenizer(None), ReadOptions(), SILENT
        )


def test_nothing_is_left_of_a_build_that_fails(tmp_path: Path) -> None:
    corpus = tmp_path / "c.jsonl"
    corpus.write_text('{"text": "a"}\n{"text": 3}\n')
    with pytest.raises(CorpusError, match=r"c\.jsonl:2"):
        built(corpus, tmp_path / "x", None)
    corpus.write_text("\n")
    with pytest.raises(InputError, match="contains no documents"):
        built(corpus, tmp_path / "x", None)
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]


def test_short_memory_is_said_before_sorting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", ["x" * 9_999])
    monkeypatch.setattr(build, "usable_memory", lambda: 50_000)
    problem = r"x: not enough memory: sorting 10,000 tokens takes 72 kB, and 50 kB are available$"
    with pytest.raises(InputError, match=problem):
        built(corpus, tmp_path / "x", None)
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]


@pytest.mark.integration
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_leaves_no_index(end: signal.Signals, tmp_path: Path) -> None:
    out, line = tmp_path / "x", json.dumps({"text": "words of a text " * 1000}) + "\n"
    command = [*NGRAMSCAN, "index", "build", "scan:-", "-o", f"tokens:{out}"]
    with started(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(line * 500)
        process.stdin.flush()  # more than buffers hold, and the pipe stays open
        wait_until(lambda: any(tmp_path.glob(".x.building-*/tokenized.0")))
        process.send_signal(end)
        process.stdin.close()  # what comes between two steps of Python is seen when it reads on
        said = process.stderr.read()
    assert not out.exists()
    if end == signal.SIGINT:
        assert (process.returncode, [*tmp_path.iterdir()]) == (130, [])
        assert said.endswith("Interrupted; nothing was kept.\n")
        return
    [left] = tmp_path.iterdir()
    with pytest.raises((InputError, IndexFormatError)):
        open_token_folder(left)
    corpus = write_corpus(tmp_path / "c.jsonl", ["text"])
    assert built(corpus, out, None).documents == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.jsonl", "x"]


def test_a_build_leaves_the_folder_of_another_one_that_goes_on(tmp_path: Path) -> None:
    command = [*NGRAMSCAN, "index", "build", "scan:-", "-o", f"tokens:{tmp_path / 'x'}", "-q"]
    with started(command, stdin=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(json.dumps({"text": "words of a text " * 9000}) + "\n")
        process.stdin.flush()
        wait_until(lambda: any(tmp_path.glob(".x.building-*/tokenized.0")))
        [other] = tmp_path.glob(".x.building-*")
        built(write_corpus(tmp_path / "c.jsonl", ["text"]), tmp_path / "x", None)
        assert (other / "tokenized.0").exists()
        process.kill()
    shutil.rmtree(tmp_path / "x")
    built(tmp_path / "c.jsonl", tmp_path / "x", None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.jsonl", "x"]
