"""Checks of an index: decoding against sorted suffixes, and every kind of damage."""

import json
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ngramscan.index_files.findings import Finding
from ngramscan.index_files.fm9 import checks, verify
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.manifest import (
    MANIFEST,
    PLAN,
    describe_shard,
    in_folder,
    to_manifest,
)
from ngramscan.index_files.fm9.reader import Fm9File
from ngramscan.index_files.fm9.verify import verify_index, verify_shard
from ngramscan.progress import SILENT
from tests.support.command import NGRAMSCAN, invoke
from tests.support.dask_cluster import wait_until
from tests.support.fm9_shards import write_shard, written
from tests.support.places import FM9, ROOT
from tests.support.sizes import slow
from tests.support.started import started

D5 = FM9 / "d5" / "index"
DLIT = FM9 / "dlit" / "index"
BROKEN = FM9 / "broken_dwin_cpus2"
DAMAGED = "not a manifest of an index; build the index again, or remove this file"


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_AT_ONCE", 128)
    monkeypatch.setattr(checks, "_SUPERBLOCKS_AT_ONCE", 2)


def steps_by_sorting(text: bytes) -> list[int]:
    positions = sorted(range(len(text)), key=lambda position: text[position:])
    ranks = np.argsort(positions)
    return [int(ranks[position - 1]) for position in positions]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"\xff\xfa", id="one empty document"),
        pytest.param(b"\xffa\xfa", id="one letter"),
        pytest.param(b"\xff" + b"a" * 5_000 + b"\xfa", id="one letter again and again"),
        pytest.param(b"ab" * 3_000 + b"\xfa", id="two letters in turn"),
        pytest.param(random.Random(1).randbytes(6_000).replace(b"\xfa", b"") + b"\xfa", id="noise"),
    ],
)
@pytest.mark.usefixtures("small_parts")
def test_a_text_is_decoded_as_it_was_written(text: bytes, tmp_path: Path) -> None:
    written(text, tmp_path / "x.fm9")
    file = Fm9File(tmp_path / "x.fm9")
    steps = checks.find_steps(file, SILENT)
    assert steps.tolist() == steps_by_sorting(text)
    parts = [checks.decode_part(file, steps, start) for start in range(0, file.n, 128)]
    assert b"".join(part.tobytes() for _, part in parts) == text
    assert sum(met for met, _ in parts) == -(-len(text) // 32)


@pytest.mark.slow
def test_ranks_of_64_bits_are_followed_as_those_of_32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_LONG", 0)
    assert checks.find_steps(Fm9File(DLIT / "data.fm9"), SILENT).itemsize == 8
    assert verify_shard(DLIT, True, SILENT) == []


def build(folder: Path, documents: list[bytes], lines: list[bytes] | None = None) -> Path:
    """Write a shard from its texts; without `lines`, each is an empty object."""
    content = partial(written, path=folder.with_name("written"))
    return write_shard(folder, documents, lines or [b"{}"] * len(documents), content)


# A bit vector that ends at, before and behind the end of a block and of a superblock.
@pytest.mark.parametrize("n", [2, 64, 127, 128, 4063, 4064, 4065, 8128])
@pytest.mark.usefixtures("small_parts")
def test_shards_of_every_size_are_sound(tmp_path: Path, n: int) -> None:
    assert verify_shard(build(tmp_path / "x", [b""] * (n - 1)), True, SILENT) == []


def test_every_line_of_metadata_is_read_by_a_deep_check(tmp_path: Path) -> None:
    lines = [json.dumps({"line": n, "é": "x" * (n % 70)}).encode() for n in range(3_000)]
    lines[2_777] = b'["no object"]'
    folder = build(tmp_path / "x", [b"a"] * len(lines), lines)
    problem = "not a JSON object: b'[\"no object\"]'"
    expected = Finding(str(folder), "meta.fm9", "line 2777", problem)
    assert verify_shard(folder, False, SILENT) == []
    assert verify_shard(folder, True, SILENT) == [expected]


@pytest.mark.integration
@pytest.mark.parametrize("rounds", [1, slow(20)])
def test_damage_in_each_field_is_found_and_ends_no_process(tmp_path: Path, rounds: int) -> None:
    folders = [shutil.copytree(source, tmp_path / source.parent.name) for source in (D5, DLIT)]
    command = [sys.executable, "-m", "tests.support.programs.damage_fields", str(rounds)]
    command += [str(folder) for folder in folders]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=1800, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-2000:]


# Files against their manifest


def with_manifests(directory: Path, sources: list[Path]) -> Path:
    """Copy shards to an index whose folders and root have manifests."""
    entries = []
    for number, source in enumerate(sources):
        folder = directory / str(number)
        shutil.copytree(source, folder)
        documents = (folder / "data_offset").stat().st_size // 8
        n = int.from_bytes((folder / "data.fm9").read_bytes()[:8], "little")
        entry = describe_shard(folder, documents, n - documents - 1)
        (folder / MANIFEST).write_bytes(to_manifest([entry]))
        entries.append(in_folder(entry, str(number)))
    (directory / MANIFEST).write_bytes(to_manifest(entries))
    return directory


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return with_manifests(tmp_path / "x", [D5, DLIT])


def test_what_was_compared_is_said(index: Path) -> None:
    def said(*options: str) -> str:
        ran = invoke("index", "verify", index, *options)
        assert (ran.code, ran.stdout) == (0, "")
        return ran.stderr.removeprefix(f"{index}: ")

    plain = said()
    assert plain == ("no damage found (checksums of all files; all tables, a sample of the text)\n")
    assert said("--deep") == "no damage found (checksums of all files; every bit)\n"
    (index / MANIFEST).unlink()  # the shards have theirs
    assert said() == plain
    (index / "1" / MANIFEST).unlink()
    assert said().endswith("; no manifest.json to compare with)\n")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[random.Random(2).randrange(len(data))] ^= 4
    path.write_bytes(data)


CHANGES: dict[str, Callable[[Path], object]] = {
    "changed: its SHA-256 is ": flip,
    "0 bytes, but ": lambda path: path.write_bytes(b""),
    "1 bytes, but ": lambda path: path.write_bytes(b"\0"),
    "missing": Path.unlink,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("problem", CHANGES)
def test_a_file_unlike_its_manifest_is_one_finding(index: Path, name: str, problem: str) -> None:
    CHANGES[problem](index / "1" / name)
    (found,) = verify_index(index, False, SILENT)
    assert (found.shard, found.file, found.place) == (str(index / "1"), name, "file")
    assert found.problem.startswith(problem)


def test_a_manifest_does_not_excuse_an_index_that_was_built_wrongly(tmp_path: Path) -> None:
    index = with_manifests(tmp_path / "x", [BROKEN])
    assert {found.file for found in verify_index(index, False, SILENT)} == {"data.fm9", "meta.fm9"}


def test_an_index_that_is_not_finished_is_checked_as_far_as_it_is(index: Path) -> None:
    (index / MANIFEST).unlink()
    plan = {"shards": [{"folder": str(number)} for number in range(12)]}
    (index / PLAN).write_text(json.dumps(plan))
    flip(index / "1" / "data_offset")
    first, second = verify_index(index, True, SILENT)
    assert "incomplete: 2 of 12 shards are built" in first.problem
    assert (second.shard, second.file) == (str(index / "1"), "data_offset")
    assert invoke("index", "verify", index).code == 1


def test_all_changed_files_are_found(index: Path) -> None:
    for name in FILES:
        with (index / "0" / name).open("ab") as file:
            file.write(b"\0")
    flip(index / "1" / "data.fm9")
    ran = invoke("index", "verify", index, "--format", "csv")
    assert ran.code == 1
    found = [(Path(row["shard"]).name, row["file"]) for row in ran.rows]
    assert found == [*(("0", name) for name in FILES), ("1", "data.fm9")]


def test_manifests_that_are_damaged_or_contradict_are_found(index: Path) -> None:
    shard, root, own = index / "1", index / MANIFEST, (index / "1" / MANIFEST).read_bytes()
    documents, text_bytes = json.loads(own)["shards"][0]["documents"], b'"documents": 40, "bytes": '
    assert (documents, own.count(text_bytes)) == (40, 1)
    wrong = own.replace(text_bytes, text_bytes + b"1")

    def finding(content: bytes) -> tuple[str, str]:
        (shard / MANIFEST).write_bytes(content)
        (found,) = verify_index(index, False, SILENT)
        assert (found.shard, found.file) == (str(shard), MANIFEST)
        return found.place, found.problem

    place, problem = finding(wrong)
    assert (place, problem.startswith(f"contradicts {root}")) == ("file", True)
    assert finding(own[:99]) == ("file", DAMAGED)
    root.unlink()
    place, problem = finding(wrong)
    assert (place, problem.startswith("(40, ")) == ("documents", True)
    root.write_bytes(b"{}")
    assert Finding(str(index), MANIFEST, "file", DAMAGED) in verify_index(index, False, SILENT)


def test_a_shard_that_is_missing_is_found(index: Path) -> None:
    shutil.rmtree(index / "1")
    first, *files = verify_index(index, False, SILENT)
    assert str(index / "1") in first.problem
    assert [(found.file, found.problem) for found in files] == [(n, "missing") for n in FILES]


def test_a_file_that_cannot_be_read_is_a_finding(index: Path) -> None:
    (index / "1" / "meta.fm9").unlink()
    (index / "1" / "meta.fm9").symlink_to("meta.fm9")
    (found,) = verify_index(index, False, SILENT)
    assert found.problem.startswith("can't be read: ")


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_does_not_wait_for_a_large_file(tmp_path: Path) -> None:
    index = with_manifests(tmp_path / "x", [D5]) / "0"
    size = (index / "data.fm9").stat().st_size
    manifest = (index / MANIFEST).read_text()
    large = manifest.replace(f'"bytes": {size}', f'"bytes": {10**11}')
    (index / MANIFEST).write_text(large)
    with (index / "data.fm9").open("r+b") as file:
        file.truncate(10**11)
    command = [*NGRAMSCAN, "index", "verify", str(index)]
    with started(command, stderr=subprocess.PIPE) as process:
        descriptors = Path(f"/proc/{process.pid}/fd")
        wait_until(lambda: any("data.fm9" in str(path.resolve()) for path in descriptors.iterdir()))
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr


def test_an_index_in_place_is_not_verified() -> None:
    ran = invoke("index", "verify", "fm9:https://host/index")
    problem = "verify reads all of an index: copy it to this machine, then verify the copy"
    assert ran == (2, "", f"Error: fm9:https://host/index: {problem}\n")


def test_more_memory_than_is_free_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "usable_memory", lambda: 40_000)
    ran = invoke("index", "verify", "--deep", DLIT)
    free = "but 40 kB are free; without it the files are compared with manifest.json"
    assert (ran.code, ran.stdout) == (2, "")
    assert re.fullmatch(f"Error: --deep: needs up to .* of memory, {free}, .*\n", ran.stderr)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_short_memory_is_said_in_one_line(tmp_path: Path) -> None:
    folder = build(tmp_path / "x", [b"a" * 17_000_000])
    program = "tests.support.programs.verify_in_little_memory"
    command = [sys.executable, "-m", program, str(D5), str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=900, cwd=ROOT
    )
    assert done.returncode == 2
    needed = "--deep needs 70.1 MB for 17 MB of text; all other checks passed"
    assert done.stderr == f"Error: {folder / 'data.fm9'}: not enough memory: {needed}\n"
