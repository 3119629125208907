"""`ngramscan index verify`, `index info` and `index build`, as a person runs them."""

import csv
import io
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

import ngramscan
from ngramscan.errors import InputError
from ngramscan.index_files.sorting import memory_for
from ngramscan.indexes.options import parse_size
from ngramscan.indexes.sizes import memory_to_build
from ngramscan.reporting.tables.index_list import print_catalog
from tests.support.command import invoke
from tests.support.outputs import refusal
from tests.support.places import FM9, REPLAY, TOKENS
from tests.support.sandbox_programs import PROGRAMS

D5 = FM9 / "d5" / "index"
BROKEN = FM9 / "broken_dwin_cpus2"


def bytes_below(folder: Path, pattern: str = "*") -> int:
    """Return the size of the files in a folder and its folders."""
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


# Sizes


def test_every_column_of_the_size_of_an_index_is_that_of_its_files() -> None:
    index = REPLAY / "index" / "replay2"
    shard_bytes = [
        sum(len(json.loads(line)["text"].encode()) for line in path.read_bytes().splitlines())
        for path in sorted((REPLAY / "docs").glob("*.jsonl"))
    ]
    began_at = time.perf_counter()
    (info,) = ngramscan.index_info(f"fm9:{index}").to_dict("records")
    assert 0 <= info.pop("answered_in_s") <= time.perf_counter() - began_at
    assert info == {
        "name": f"fm9:{index}",
        "documents": 257,
        "bytes": sum(shard_bytes),
        "shards": 2,
        "index_bytes": bytes_below(index),
        "size_ratio": pytest.approx(bytes_below(index) / sum(shard_bytes)),
        "memory_to_ask": 150_000_000 + 2 * 60_000,
        "memory_to_build": 200_000_000 + round(5.6 * max(shard_bytes)),
    }


def test_a_corpus_has_a_size_but_no_files_of_an_index() -> None:
    (info,) = ngramscan.index_info(f"scan:{REPLAY / 'docs'}").to_dict("records")
    assert (info["documents"], info["bytes"]) == (257, 360_899)
    assert info["answered_in_s"] >= 0
    unknown = {"shards", "index_bytes", "size_ratio", "memory_to_ask", "memory_to_build", "tokens"}
    assert not unknown & info.keys()
    told = invoke("index", "info", f"scan:{FM9 / 'd5' / 'docs.jsonl'}").stderr
    assert "docs.jsonl: an index takes about 10 kB of files in 1 shard, 200 MB of memory" in told


@pytest.mark.parametrize(
    "size", [10**6, (1 << 31) - 1, 1 << 31, 10**10], ids=["1 MB", "2 GiB", "over 2 GiB", "10 GB"]
)
def test_building_is_said_to_take_at_least_what_sorting_does(size: int) -> None:
    assert memory_for(size) < memory_to_build(size) < 1.1 * memory_for(size) + 250_000_000


def test_the_list_has_every_column_of_the_catalogs(shared: Path) -> None:
    with (shared / "paper" / "corpora.csv").open(encoding="utf-8", newline="") as file:
        documented = {row["index_name"]: row for row in csv.DictReader(file)}
    rows = invoke("index", "list", "--format", "csv").rows
    listed = {row[column]: row for column in ("name", "alias") for row in rows}
    assert documented.keys() <= listed.keys()
    columns = {
        "bytes": "bytes_of_text",
        "documents": "documents",
        "corpus": "corpus",
        "kind": "kind",
    }
    shown = {name: {column: listed[name][column] for column in columns} for name in documented}
    assert shown == {
        name: {column: row[source] for column, source in columns.items()}
        for name, row in documented.items()
    }


def test_the_list_has_an_index_over_tokens_with_its_tokenizer() -> None:
    listed = {row["name"]: row for row in invoke("index", "list", "--format", "csv").rows}
    row = listed["infini-gram:v4_dclm-baseline_llama"]
    assert (row["alias"], row["tokenizer"], row["bytes"]) == ("infini-gram:dclm", "Llama-2", "")
    assert row["documents"] == "2948096911"
    # The service's documentation counts a separator per document among the tokens.
    assert int(row["tokens"]) == 4_341_627_197_578 - 2_948_096_911


def test_the_list_has_published_files_with_who_pays_for_reading_them() -> None:
    listed = {row["name"]: row for row in invoke("index", "list", "--format", "csv").rows}
    row = listed["tokens:public/v4_rpj_llama_s4"]
    assert (row["alias"], row["tokenizer"]) == ("tokens:public/rpj", "Llama-2")
    assert (row["access"], row["url"]) == (
        "requester pays",
        "s3://infini-gram/index/v4_rpj_llama_s4",
    )
    assert float(row["index_bytes"]) == pytest.approx(8.9 * 2**40)
    assert listed["tokens:public/v4_pileval_gpt2"]["access"] == "free"
    assert listed["infini-gram:v4_pileval_gpt2"]["access"] == ""


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_screen_of_the_list_has_sizes_and_who_pays_at_any_width(width: int) -> None:
    screen = io.StringIO()
    print_catalog(Console(file=screen, width=width))
    lines = [
        line for line in screen.getvalue().splitlines() if line.startswith("  v4_rpj_llama_s4")
    ]
    # In a narrow terminal the table is folded.
    shown = " ".join(line.split(maxsplit=1)[1] for line in lines)
    for value in ("Llama-2", "requester pays", "8.9 TiB"):
        assert value in shown
    if width >= 80:
        assert len(lines) == 1
    assert ("1,385,011,586,662" in shown) == (width == 200)


# Checks


def test_what_was_checked_is_said_where_no_damage_is_found() -> None:
    plain = invoke("index", "verify", REPLAY / "index" / "replay2")
    assert (plain.code, plain.stdout) == (0, "")
    said = "no damage found (all tables, a sample of the text; --deep also finds changed bits "
    assert plain.stderr.startswith(f"{REPLAY / 'index' / 'replay2'}: {said}")
    assert plain.stderr.endswith("; no manifest.json to compare with)\n")
    deep = invoke("index", "verify", D5, "--deep")
    said = "no damage found (every bit; no manifest.json to compare with)"
    assert deep == (0, "", f"{D5}: {said}\n")
    assert invoke("index", "verify", D5, "-q") == (0, "", "")


def test_an_index_that_was_written_wrongly_is_found_with_every_column() -> None:
    ran = invoke("index", "verify", BROKEN, "--format", "csv")
    assert (ran.code, [row["file"] for row in ran.rows]) == (1, ["data.fm9", "meta.fm9"])
    assert {row["shard"] for row in ran.rows} == {str(BROKEN)}
    assert {row["place"] for row in ran.rows} == {"field isa_sample"}
    assert all("does not end" in row["problem"] for row in ran.rows)
    assert ngramscan.index_verify(BROKEN).to_dict("records") == ran.rows
    table = invoke("index", "verify", BROKEN)
    assert table.code == 1
    assert "data.fm9" in table.stdout


# Usage


@pytest.mark.parametrize(
    ("library", "command", "extra"),
    [
        ("numba", "index verify .", "index"),
        ("numba", "index build . -o x", "index"),
        ("pydivsufsort", "index build . -o x", "index"),
        ("numba", f"count f1 --index fm9:{D5}", "index"),
        ("numba", "serve .", "serve"),
        ("uvicorn", "serve .", "serve"),
        ("starlette.applications", "serve .", "serve"),
    ],
)
def test_a_library_that_is_not_there_is_one_line(library: str, command: str, extra: str) -> None:
    program = PROGRAMS / "without_library.py"
    # In a process of its own, as modules that are imported again would not be those of other tests.
    done = subprocess.run(
        [sys.executable, program, library, *command.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert f"is not installed; pip install 'ngramscan[{extra}]'" in done.stderr


def test_sizes_have_units() -> None:
    sizes: dict[str | int, int] = {"500MB": 500_000_000, "20kB": 20_000, 77: 77, "8B": 8}
    sizes["1.5 gb"] = 1_500_000_000
    assert {text: parse_size(text) for text in sizes} == sizes


@pytest.mark.parametrize("wrong", ["", "GB", "1TB", "-1MB", "1 MiB", "1e9"])
def test_a_size_without_a_number_or_with_another_unit_is_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="--shard-size"):
        parse_size(wrong)


def test_a_built_index_is_counted_and_shown_as_the_corpus_is(tmp_path: Path) -> None:
    docs, index = REPLAY / "docs", f"fm9:{tmp_path / 'x'}"
    built = invoke("index", "build", docs, "-o", tmp_path / "x", "--shard-size", "300KB")
    assert (built.code, "needs up to" in built.stderr) == (0, True)
    read = ngramscan.count("f1", index=f"scan:{docs}", workers=1, journal=tmp_path / "j")
    counted = ngramscan.count("f1", index=index)
    assert list(counted["occurrences"]) == list(read["occurrences"])
    assert set(counted["source"]) == {"fm9"}
    shown = ngramscan.contexts("step by step", index=index, n=30, width=40)
    assert len(shown) == 30
    assert set(shown["match"]) == {"step by step"}
    assert all(json.loads(line)["path"] in {"a.jsonl", "b.jsonl"} for line in shown["metadata"])


# Indexes over tokens


def test_an_index_over_tokens_is_built_verified_and_described(tmp_path: Path) -> None:
    corpus, index = TOKENS / "corpus_small.jsonl", tmp_path / "x"
    spec, llama = f"tokens:{index}", TOKENS / "llamalike.model"
    built = invoke("index", "build", corpus, "-o", spec, "--tokenizer", llama, "--format", "csv")
    assert built.code == 0
    assert built.stderr.startswith("sorting 113,764 tokens\n")
    (row,) = built.rows
    assert (row["shard"], row["documents"], row["tokens"]) == ("0", "676", "113088")
    assert int(row["index_bytes"]) == bytes_below(index, "*.0")
    assert float(row["bytes_per_token"]) == pytest.approx(bytes_below(index) / 113_088, abs=5e-4)
    assert float(row["seconds"]) > 0
    sound = invoke("index", "verify", spec)
    assert (sound.code, sound.stdout) == (0, "")
    assert sound.stderr.startswith(f"{spec}: no damage found (all offsets, and a sample of tables")
    info = ngramscan.index_info(spec, tokenizer=llama).to_dict("records")[0]
    assert (info["name"], info["documents"], info["tokens"]) == (spec, 676, 113_088)
    assert (info["shards"], info["index_bytes"]) == (1, bytes_below(index))
    unknown = ("bytes", "size_ratio", "memory_to_ask", "memory_to_build")
    assert [name for name in unknown if not pd.isna(info.get(name))] == []
    table = index / "table.0"
    table.write_bytes(table.read_bytes()[::-1])
    broken = invoke("index", "verify", spec, "--format", "csv")
    assert (broken.code, broken.rows[0]["file"]) == (1, "table.0")


@pytest.mark.parametrize("version", ["4", "6"])
def test_an_index_of_either_version_is_verified_described_and_counted(
    version: str, tmp_path: Path
) -> None:
    corpus, spec = TOKENS / "corpus_small.jsonl", f"tokens:{tmp_path / 'x'}"
    options = ("--tokenizer", TOKENS / "llamalike.model")
    built = invoke("index", "build", corpus, "-o", spec, *options, "--index-version", version)
    assert built.code == 0
    assert (tmp_path / "x" / ("table" if version == "6" else "table.0")).is_file()
    sound = invoke("index", "verify", spec, "--deep")
    assert (sound.code, "no damage found" in sound.stderr) == (0, True)
    (info,) = invoke("index", "info", spec, *options, "--format", "csv").rows
    assert (info["documents"], info["tokens"]) == ("676", "113088")
    assert int(info["index_bytes"]) == bytes_below(tmp_path / "x")
    ran = invoke("count", "-e", "step by step", "--index", spec, *options, "--format", "csv")
    assert [row["occurrences"] for row in ran.rows] == ["627"]
    in_python: dict[str, Any] = {"tokenizer": options[1], "index_version": int(version)}
    ngramscan.index_build(str(corpus), f"tokens:{tmp_path / 'y'}", **in_python)
    for file in (tmp_path / "x").iterdir():
        assert file.read_bytes() == (tmp_path / "y" / file.name).read_bytes()


def test_other_versions_are_not_built(tmp_path: Path) -> None:
    corpus, spec = TOKENS / "corpus_small.jsonl", f"tokens:{tmp_path / 'x'}"
    refused = invoke("index", "build", corpus, "-o", spec, "--index-version", "5")
    assert (refused.code, "'5' is not one of 4, 6" in refused.stderr) == (2, True)


def test_without_a_tokenizer_tokens_are_bytes(tmp_path: Path) -> None:
    corpus, spec = TOKENS / "corpus_small.jsonl", f"tokens:{tmp_path / 'x'}"
    assert invoke("index", "build", corpus, "-o", spec, "-q").code == 0
    (info,) = ngramscan.index_info(spec).to_dict("records")
    assert (info["documents"], info["tokens"]) == (676, 474_483)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("build {c} -o tokens:x --shard-size 3MB", "--shard-size 3MB: an index over tokens is"),
        ("build {c} -o tokens:x --memory 3GB", "--memory 3GB: an index over tokens is built in"),
        ("build {c} -o tokens:x --workers 2", "--workers 2: an index over tokens is built in one"),
        ("build {c} -o tokens:x --scheduler a:1", "--scheduler a:1: an index over tokens is built"),
        ("build {c} -o tokens:", "tokens:: nothing after the colon; expected a folder"),
        (
            "build {c} -o x --tokenizer y",
            "--tokenizer y: only an index over tokens takes it: -o to",
        ),
        (
            "build {c} -o tokens:x --version 6",
            "--version: no such option; the version of the files is --index-version 6",
        ),
        (
            "build {c} -o x --index-version 6",
            "--index-version 6: only an index over tokens takes it: -o tokens:x",
        ),
        ("build {c} -o tokens:x --tokenizer {c}", "--tokenizer {c}: not a tokenizer.json; "),
        ("add {c} tokens:x", "tokens:x: an index over tokens can't grow; build one of all"),
        ("info tokens:{t}/v5_pysmall_llama", "--tokenizer FILE: tokens of 2 bytes"),
        (
            "info tokens:{t}/v5_pysmall_llama --tokenizer {t}/allenai_dolma2.json.gz",
            "--tokenizer {t}/allenai_dolma2.json.gz: its 100,278 tokens aren't those of the index",
        ),
    ],
)
def test_wrong_usage_of_indexes_over_tokens_is_one_line(
    options: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"c": TOKENS / "corpus_small.jsonl", "t": TOKENS}
    told = refusal("index", *options.format_map(names).split())
    assert told.startswith(problem.format_map(names))
    assert not [*tmp_path.iterdir()]


def test_an_index_may_stand_before_the_corpus_that_is_added(tmp_path: Path) -> None:
    (tmp_path / "first.jsonl").write_text('{"text": "step by step"}\n')
    (tmp_path / "second.jsonl").write_text('{"text": "one step"}\n')
    index, added = tmp_path / "index", tmp_path / "second.jsonl"
    assert invoke("index", "build", tmp_path / "first.jsonl", "-o", index).code == 0
    ran = invoke("index", "add", index, added, "--format", "csv")
    assert ran.code == 0
    assert [row["documents"] for row in ran.rows] == ["1", "1"]
    (counted,) = invoke("count", "-estep", "--index", index, "--format", "csv").rows
    assert counted["occurrences"] == "3"
