"""Folders that a copy is written to: killed at any time, a run goes on and makes the same files."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ngramscan.corpora.folders import MANIFEST
from ngramscan.corpora.rewriting.clean_folder import open_clean_folder
from ngramscan.errors import InputError
from tests.support import corpus_files
from tests.support.packers import PACKERS
from tests.support.places import ROOT
from tests.support.started import started

PROGRAM = [sys.executable, "-m", "tests.support.programs.write_clean"]
KILLS = 20
TEXTS = 150


def write_corpus(folder: Path) -> None:
    """Write files of all kinds, so that a copy takes about a second."""
    folder.mkdir()
    draw = random.Random(1)
    words = [f"word{number}" for number in range(2000)]
    texts = [" ".join(draw.choices(words, k=400)) for _ in range(400)]
    lines = corpus_files.jsonl(texts)
    for suffix, pack in {"": bytes, **PACKERS}.items():
        (folder / f"c.jsonl{suffix}").write_bytes(pack(lines))
    (folder / "p.parquet").write_bytes(corpus_files.parquet(texts, rows=50))
    (folder / "many").mkdir()
    for number in range(TEXTS):
        (folder / "many" / f"{number}.txt").write_text(texts[number])


def names_and_contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def run_for(folder: str, tmp_path: Path, seconds: float) -> float | None:
    """Write a copy, and return how long it took; None: it took longer, and was killed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*PROGRAM, folder]
    with started(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        ready_at = time.monotonic()
        try:
            assert process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return None
        return time.monotonic() - ready_at


@pytest.mark.integration
def test_a_run_that_is_killed_goes_on_and_makes_the_same(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus")
    span_s = run_for("whole", tmp_path, 60)
    assert span_s
    expected = names_and_contents(tmp_path / "whole")
    sources = names_and_contents(tmp_path / "corpus")
    assert expected.keys() < sources.keys()
    assert len(sources) - len(expected) == TEXTS // 3
    draw = random.Random(2)
    n_kills = n_finished = n_between = 0
    while n_kills < KILLS:
        folder = f"killed{n_finished}"
        if run_for(folder, tmp_path, draw.uniform(0, span_s / 2)):
            assert names_and_contents(tmp_path / folder) == expected
            n_finished += 1
            continue
        n_kills += 1
        contents = names_and_contents(tmp_path / folder)
        complete = {name: content for name, content in contents.items() if "-part" not in name}
        assert complete.items() <= expected.items()
        n_between += 0 < len(complete) < len(expected)
    assert run_for(folder, tmp_path, 60)
    assert names_and_contents(tmp_path / folder) == expected
    assert n_between >= KILLS / 2, "the kills came before there was a file, or after the last one"


# Folders and their manifests


def test_finished_files_are_not_written_again_unless_they_differ(tmp_path: Path) -> None:
    folder = tmp_path / "clean"
    with open_clean_folder(folder, "job", ["a", "s/b"]) as target:
        for name in ("a", "s/b"):
            assert target.finished_size(name) is None
            with target.new_file(name) as part:
                part.write_text(name)
            assert target.finished_size(name) is None
            target.finish(name, len(name))
    assert names_and_contents(folder) == {"a": b"a", "s/b": b"s/b"}
    with open_clean_folder(folder, "job", ["a", "s/b"]) as target:
        assert [target.finished_size(name) for name in ("a", "s/b", "s")] == [1, 3, None]
        (folder / "a").write_text("longer")
        (folder / "s" / "b").unlink()
        assert [target.finished_size(name) for name in ("a", "s/b")] == [None, None]


def test_a_line_that_was_being_written_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "clean"
    with open_clean_folder(folder, "job", ["a"]) as target, target.new_file("a") as part:
        part.write_text("aaa")
        target.finish("a", 3)
    whole = (folder / MANIFEST).read_bytes()
    for length in range(len(whole) + 1):
        (folder / MANIFEST).write_bytes(whole[:length])
        with open_clean_folder(folder, "job", ["a"]) as target:
            assert target.finished_size("a") == (3 if length == len(whole) else None)
            target.finish("more", 4)
        lines = (folder / MANIFEST).read_text().splitlines()
        assert [json.loads(line) for line in lines][-1] == {"file": "more", "size": 4}


def test_what_a_killed_run_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "clean"
    with open_clean_folder(folder, "job", ["s/a"]), pytest.raises(KeyboardInterrupt):
        raise KeyboardInterrupt
    (folder / "s").mkdir()
    (folder / "s" / ".0123.ngramscan-part").write_text("half")
    (folder / "s" / "a").write_text("a")
    with open_clean_folder(folder, "job", ["s/a"]):
        assert names_and_contents(folder) == {"s/a": b"a"}


def test_one_process_writes_to_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "clean"
    message = "clean: another process is writing to it right now"
    with open_clean_folder(folder, "job", []), pytest.raises(InputError, match=message):
        open_clean_folder(folder, "job", []).__enter__()
    with open_clean_folder(folder, "job", []) as target:
        assert target.finished_size("a") is None


def test_a_file_with_the_longest_name_is_written(tmp_path: Path) -> None:
    name = "n" * 255
    with open_clean_folder(tmp_path / "clean", "job", [name]) as target:
        with target.new_file(name) as part:
            part.write_text("a")
        message = r"can't be written \(file name too long\)"
        with pytest.raises(InputError, match=message), target.new_file(f"{name}n") as part:
            part.write_text("a")
    assert names_and_contents(tmp_path / "clean") == {name: b"a"}


def test_a_folder_that_can_not_be_written_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file")
    with open_clean_folder(tmp_path / "clean", "job", ["a", "a/b"]) as target:
        with target.new_file("a") as part:
            part.write_text("a")
        message = r"a/b: can't be written \((file exists|not a directory)\)"
        with pytest.raises(InputError, match=message), target.new_file("a/b") as part:
            part.write_text("a")
    (tmp_path / "dangling").symlink_to(tmp_path / "none" / "x")
    (tmp_path / "device").mkdir()
    (tmp_path / "device" / MANIFEST).symlink_to("/dev/full")
    for name, problem in (("dangling", "can't be written"), ("device", "damaged")):
        with pytest.raises(InputError, match=f"{name}.*: {problem}"):
            open_clean_folder(tmp_path / name, "job", []).__enter__()
