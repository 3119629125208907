"""`ngramscan index verify` and `index info` on local indexes, as a person runs them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import InputError
from tests.support.command import run

HERE = Path(__file__).parent
REPLAY = HERE / "replay" / "index"
BROKEN = HERE / "fm9" / "broken_dwin_cpus2"


@pytest.mark.parametrize("deep", [[], ["--deep"]])
@pytest.mark.parametrize("name", ["replay", "replay2"])
def test_a_sound_index_is_told_to_be(name: str, deep: list[str]) -> None:
    ran = run("index", "verify", REPLAY / name, *deep)
    assert (ran.code, ran.stdout) == (0, "")
    assert ran.stderr.startswith(f"{REPLAY / name}: sound (")
    assert ("every bit" in ran.stderr) == bool(deep)
    quiet = run("index", "verify", REPLAY / name, "-q", *deep)
    assert (quiet.code, quiet.stdout, quiet.stderr) == (0, "", "")


def test_an_index_that_was_written_wrongly_is_found() -> None:
    ran = run("index", "verify", BROKEN, "--format", "csv")
    assert ran.code == 1
    assert {row["file"] for row in ran.rows} >= {"data.fm9"}
    assert all(row["shard"] == str(BROKEN) and row["place"] and row["problem"] for row in ran.rows)
    frame = ngramscan.index_verify(BROKEN)
    assert frame.to_dict("records") == ran.rows
    table = run("index", "verify", BROKEN)
    assert table.code == 1
    assert "data.fm9" in table.stdout


def test_a_corrupt_shard_among_others_is_named(tmp_path: Path) -> None:
    shutil.copytree(REPLAY / "replay2", tmp_path / "x")
    (tmp_path / "x" / "1" / "meta_offset").unlink()
    ran = run("index", "verify", tmp_path / "x", "-o", tmp_path / "found.jsonl")
    assert (ran.code, ran.stdout) == (1, "")
    (found,) = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert (found["shard"], found["file"]) == (str(tmp_path / "x" / "1"), "meta_offset")


def test_what_is_no_index_is_one_line(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "nothing"):
        for command in (("verify", str(directory)), ("info", f"fm9:{directory}")):
            ran = run("index", *command)
            assert ran.code in {1, 2}
            assert ran.stdout == ""
            assert str(directory) in ran.stderr
            assert ran.stderr.count("\n") == 1
    with pytest.raises(InputError):
        ngramscan.index_verify(tmp_path)


def test_the_size_of_an_index_is_told() -> None:
    (info,) = run("index", "info", f"fm9:{REPLAY / 'replay2'}", "--format", "csv").rows
    assert (info["documents"], info["shards"]) == ("257", "2")
    texts = [
        json.loads(line)["text"]
        for file in (HERE / "replay" / "docs").glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").split("\n")
        if line
    ]
    text_bytes = sum(len(text.encode()) for text in texts)
    assert int(info["bytes"]) == text_bytes
    index_bytes = sum(path.stat().st_size for path in (REPLAY / "replay2").glob("*/*"))
    assert int(info["index_bytes"]) == index_bytes
    assert float(info["size_ratio"]) == index_bytes / text_bytes
    table = run("index", "info", f"fm9:{REPLAY / 'replay2'}")
    assert "shards" in table.stdout
    assert "shards" not in run("index", "info", f"scan:{HERE / 'replay' / 'docs'}").stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["index", "verify", "."], "index"),
        (["index", "build", ".", "-o", "x"], "index"),
        (["count", "f1", "--index", "fm9:."], "index"),
        (["serve", "."], "index"),
    ],
)
def test_a_library_that_is_not_there_is_one_line(arguments: list[str], extra: str) -> None:
    program = (
        "import sys; sys.modules['numba'] = sys.modules['pydivsufsort'] = None\n"
        f"from ngramscan.cli import main; main({arguments})"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"ngramscan[{extra}]" in done.stderr or "ngramscan[serve]" in done.stderr


# The commands on an index that the command built


def test_a_built_index_is_counted_sampled_and_shown_as_the_corpus_is(tmp_path: Path) -> None:
    docs = HERE / "replay" / "docs"
    index = f"fm9:{tmp_path / 'x'}"
    ngramscan.index_build(str(docs), output=tmp_path / "x", shard_size="300KB")
    read = ngramscan.count("f1", index=f"scan:{docs}", journal=tmp_path / "j")
    counted = ngramscan.count("f1", index=index)
    assert list(counted["occurrences"]) == list(read["occurrences"])
    assert set(counted["source"]) == {"fm9"}
    exact = dict(zip(read["pattern"], read["documents"], strict=True))
    options: dict[str, Any] = {"index": index, "samples": 40, "journal": tmp_path / "j"}
    whole = ngramscan.docnorm("f1", context=10**6, **options)
    assert not whole["truncated_share"].fillna(0).any()
    within = [
        row.documents_low <= exact[row.pattern] <= row.documents_high for row in whole.itertuples()
    ]
    assert sum(within) >= 43
    cut = ngramscan.docnorm("f1", context=1000, **options)
    assert cut["truncated_share"].fillna(0).max() > 0.5
    shown = ngramscan.contexts("step by step", index=index, n=30, width=40)
    assert len(shown) == 30
    assert set(shown["match"]) == {"step by step"}
    assert all(json.loads(line)["path"] in {"a.jsonl", "b.jsonl"} for line in shown["metadata"])
