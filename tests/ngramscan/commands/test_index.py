"""`ngramscan index verify`, `index info` and `index build`, as a person runs them."""

import json
import re
import sys
from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import InputError
from ngramscan.indexes.options import parse_size
from tests.support.command import invoke
from tests.support.outputs import refusal
from tests.support.places import REPLAY, TOKENS


@pytest.mark.parametrize(
    ("library", "command", "extra"),
    [
        ("numba", "index verify .", "index"),
        ("numba", "index build . -o x", "index"),
        ("pydivsufsort", "index build . -o x", "index"),
        ("numba", "count f1 --index fm9:/work/wt/tests5/tests/fm9/d5/index", "index"),
        ("numba", "serve .", "serve"),
        ("uvicorn", "serve .", "serve"),
        ("starlette.applications", "serve .", "serve"),
    ],
)
def test_a_library_that_is_not_there_is_one_line(
    library: str, command: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in filter(
        re.compile(r"ngramscan\.(serve|index_files|indexes\.fm9)").match, list(sys.modules)
    ):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    told = refusal(*command.split())
    assert f"is not installed; pip install 'ngramscan[{extra}]'" in told


def test_sizes_have_units() -> None:
    sizes: dict[str | int, int] = {"500MB": 500_000_000, "20kB": 20_000, 77: 77, "8B": 8}
    sizes["1.5 gb"] = 1_500_000_000
    assert {text: parse_size(text) for text in sizes} == sizes
    for wrong in ("", "GB", "1TB", "-1MB", "1 MiB", "1e9"):
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
