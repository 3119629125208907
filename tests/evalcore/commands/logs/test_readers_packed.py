"""Logs that are compressed, and archives of which a part is damaged."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalcore.commands.logs import read_logs
from ngramscan.errors import InputError
from ngramscan.reading.streams import open_unpacked
from tests.support.command import invoke
from tests.support.made_logs import (
    eval_members,
    instance,
    promptfoo_result,
    refused,
    row,
    sample,
    write_inspect,
    write_json_lines,
    write_lm_eval,
    write_promptfoo,
    zip_bytes,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd.compress}


def packed(path: Path, suffix: str) -> Path:
    """Put a compressed file in the place of a file."""
    whole = path.with_name(path.name + suffix)
    whole.write_bytes(PACKERS[suffix](path.read_bytes()))
    path.unlink()
    return whole


def write_table(folder: Path, content: str, name: str = "cot.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


WRITERS: dict[str, Callable[[Path], Path]] = {
    "samples of lm-evaluation-harness": lambda folder: write_lm_eval(
        folder, [row(1), row(2, 0.0), row(3)]
    ),
    "a log of Inspect in JSON": lambda folder: write_inspect(
        folder / "cot.json", [sample(one) for one in ("s1", "s2", "s3")]
    ),
    "lines of Every Eval Ever": lambda folder: write_json_lines(
        folder / "cot_samples.jsonl", [instance(1), instance(2)]
    ),
    "results of promptfoo": lambda folder: write_promptfoo(
        folder / "cot.json", [promptfoo_result(0, True)]
    ),
    "a table": lambda folder: write_table(folder, "id,correct\n1,1\n2,0\n"),
    "a list": lambda folder: write_table(folder, '[{"id": 1, "correct": true}]', "cot.json"),
}


@pytest.mark.parametrize("suffix", list(PACKERS))
@pytest.mark.parametrize("kind", list(WRITERS))
def test_a_compressed_log_is_read_like_the_plain_one(
    tmp_path: Path, kind: str, suffix: str
) -> None:
    plain = WRITERS[kind](tmp_path)
    rows = read_logs([plain]).rows
    path = packed(plain, suffix)
    assert read_logs([path]).rows == read_logs([tmp_path]).rows == rows != []


def test_a_truncated_compressed_log_is_refused(tmp_path: Path) -> None:
    path = packed(write_json_lines(tmp_path / "x.jsonl", [instance(n) for n in range(99)]), ".gz")
    path.write_bytes(path.read_bytes()[:-20])
    refused(r"x\.jsonl\.gz: the file is truncated", [path])


def test_a_long_compressed_log_is_refused(tmp_path: Path) -> None:
    path = write_inspect(tmp_path / "cot.json", [sample("s1", text="5" * 2_000_000)])
    refused("longer than 1 MB; see --max-line", [packed(path, ".gz")], max_line=1)


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        pytest.param("5" * 2_000_000, ".eval", id="a sample that is packed to less"),
        pytest.param("5" * 2_000_000, ".json", id="a log in JSON"),
    ],
)
def test_a_long_sample_of_inspect_is_refused_unread(tmp_path: Path, text: str, suffix: str) -> None:
    path = write_inspect(tmp_path / f"cot{suffix}", [sample("s1", text=text)])
    refused("longer than 1 MB; see --max-line", [path], max_line=1)
    assert read_logs([path], max_line=9).rows[0].id == "s1"


def test_an_unpacked_file_gives_the_bytes_that_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\nthree"))
    with open_unpacked(path) as file:
        assert [file.read(2), file.readline(), file.readline(2), file.read()] == [
            *(b"on", b"e\n", b"tw", b"o\nthree")
        ]
    path.write_bytes(b"")
    with (
        open_unpacked(path) as file,
        pytest.raises(InputError, match=r"x\.gz: the file is truncated: it is empty"),
    ):
        file.read()


# Archives of Inspect


def write_damaged(path: Path, *names: str) -> Path:
    """Write a log of three samples, and change bytes in the content of some members."""
    samples = [sample(one, "I" if one == "s2" else "C") for one in ("s1", "s2", "s3")]
    members = eval_members(samples)
    content = bytearray(zip_bytes(members, 0))
    for name in names:
        start = content.index(name.encode()) + len(name) + 8
        content[start : start + 4] = b"\0\0\0\0"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_damaged_sample_is_unknown_and_the_others_are_read(tmp_path: Path, place: int) -> None:
    path = write_damaged(tmp_path / "cot.eval", f"samples/s{place}_epoch_1.json")
    log = read_logs([path])
    recorded = {"s1": 1.0, "s2": 0.0, "s3": 1.0}
    assert {row.id: row.value for row in log.rows} == recorded | {f"s{place}": None}
    damaged = next(row for row in log.rows if row.id == f"s{place}")
    assert damaged.status == "unknown"
    assert damaged.reason.startswith("error: damaged in the log (Bad CRC-32 for file 'samples/s")
    notice = f"damaged, so their results are unknown: s{place}, epoch 1; copy it again"
    assert f"{path}: {notice}" in log.notices
    assert invoke("logs", path).code == 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        pytest.param(["header.json"], "header.json: damaged", id="the header"),
        pytest.param(
            [f"samples/s{place}_epoch_1.json" for place in (1, 2, 3)],
            r"all its samples are damaged \(s1, epoch 1, s2, epoch 1, s3, epoch 1\); copy it",
            id="all samples",
        ),
    ],
)
def test_an_archive_without_a_header_or_samples_is_refused(
    tmp_path: Path, names: list[str], message: str
) -> None:
    path = write_damaged(tmp_path / "cot.eval", *names)
    with pytest.raises(InputError, match=message):
        read_logs([path])
