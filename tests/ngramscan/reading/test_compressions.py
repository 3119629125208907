"""Compressed corpora: read as their first bytes say, refused with a cure, never partly read."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import lz4.frame
import pytest

from ngramscan.corpora import open_corpus
from ngramscan.errors import CorpusError, InputError
from ngramscan.reading.compressions import (
    COMPRESSIONS,
    PACKED,
    Compression,
    compression_of,
    window_bytes,
)
from ngramscan.reading.streams import read_bytes, unpacked_path
from tests.support.corpus_documents import read_documents
from tests.support.packers import PACKERS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LINES = b'{"text": "step by step"}\n{"text": "and then"}\n'
TEXTS, NUMBERS = ["step by step", "and then"], [1, 2]


def test_every_suffix_has_a_test() -> None:
    assert set(PACKERS) == set(PACKED)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["c.jsonl", "C.JSONL", "c.Json"])
def test_a_compressed_file_is_read_in_small_and_large_letters(
    tmp_path: Path, name: str, suffix: str
) -> None:
    path = tmp_path / (name + (suffix.upper() if name.isupper() else suffix))
    path.write_bytes(PACKERS[suffix](LINES))
    assert read_documents(path) == (TEXTS, NUMBERS, {})
    assert unpacked_path(path).name == name


@pytest.mark.parametrize("suffix", PACKERS)
def test_members_behind_each_other_and_padding_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c.jsonl{suffix}"
    first, second = (PACKERS[suffix](line) for line in LINES.splitlines(keepends=True))
    path.write_bytes(first + second + bytes(70_000))
    assert read_documents(path) == (TEXTS, NUMBERS, {})


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize(
    "part",
    [
        pytest.param(slice(0), id="nothing"),
        pytest.param(slice(1), id="one byte"),
        pytest.param(slice(30), id="a beginning"),
        pytest.param(slice(-1), id="all but one byte"),
    ],
)
def test_a_truncated_or_empty_compressed_file_is_an_error(
    tmp_path: Path, suffix: str, part: slice
) -> None:
    path = tmp_path / f"c.jsonl{suffix}"
    path.write_bytes(PACKERS[suffix](LINES)[part])
    with pytest.raises(CorpusError, match="the file is truncated: it"):
        read_documents(path)


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_damaged_byte_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c.jsonl{suffix}"
    content = bytearray(PACKERS[suffix](LINES * 50))
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"can't be read|truncated|not valid JSON|not UTF-8"):
        read_documents(path)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "c.jsonl.zst"])
def test_the_first_bytes_count_where_the_name_is_wrong(
    tmp_path: Path, name: str, suffix: str
) -> None:
    path = tmp_path / name
    path.write_bytes(PACKERS[suffix](LINES))
    assert read_documents(path) == (TEXTS, NUMBERS, {})


def test_a_large_file_that_is_compressed_without_a_suffix_is_not_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ngramscan.corpora.jsonl.PART_BYTES", 10)
    path = tmp_path / "c.jsonl"
    path.write_bytes(gzip.compress(LINES))
    assert read_documents(path) == (TEXTS, NUMBERS, {})
    path.write_bytes(LINES)
    assert len(open_corpus(str(path)).pieces()) > 1


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_plain_file_with_the_name_of_a_compressed_one_is_refused(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"c.jsonl{suffix}"
    path.write_bytes(LINES)
    with pytest.raises(CorpusError, match=r"it is not \w+, whatever its name says; rename it"):
        read_documents(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
@pytest.mark.parametrize(
    ("tail", "n_bytes"),
    [
        pytest.param(b"signature", 9, id="some bytes"),
        pytest.param(bytes(512) + b"end", 3, id="padding and bytes"),
        pytest.param(b"x" * 900_000, 900_000, id="more than a chunk"),
    ],
)
def test_bytes_behind_compressed_data_are_counted(
    tmp_path: Path, suffix: str, tail: bytes, n_bytes: int
) -> None:
    path = tmp_path / f"c.jsonl{suffix}"
    path.write_bytes(PACKERS[suffix](LINES) + tail)
    name = {".gz": "gzip", ".bz2": "bzip2"}[suffix]
    assert read_documents(path) == (
        TEXTS,
        NUMBERS,
        {f"bytes behind the end of {name} data": n_bytes},
    )
    with pytest.raises(InputError, match=r"can't be read|truncated"):
        read_bytes(path)  # no corpus: nothing could say that they were left out


@pytest.mark.parametrize("suffix", [".zst", ".xz", ".lz4"])
def test_bytes_behind_compressed_data_are_an_error_where_its_tool_says_so(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"c.jsonl{suffix}"
    path.write_bytes(PACKERS[suffix](LINES) + b"signature, as long as a header is")
    with pytest.raises(CorpusError, match="can't be read"):
        read_documents(path)


def dictionary_frame(content: bytes) -> bytes:
    return b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


@pytest.mark.parametrize("is_packed", [False, True], ids=["dictionary", "compressed dictionary"])
def test_a_dictionary_at_the_start_of_a_zstd_file_serves_all_frames(
    tmp_path: Path, is_packed: bool
) -> None:
    samples = [b"WARC/1.0 page %d of many pages that are alike" % n for n in range(2000)]
    dictionary = zstd.train_dict(samples, 4000)
    content = dictionary.dict_content
    frames = [zstd.compress(line, zstd_dict=dictionary) for line in LINES.splitlines(keepends=True)]
    frame = dictionary_frame(zstd.compress(content) if is_packed else content)
    path = tmp_path / "c.jsonl.zst"
    path.write_bytes(frame + b"".join(frames))
    assert read_documents(path) == (TEXTS, NUMBERS, {})
    path.write_bytes(b"".join(frames))
    with pytest.raises(CorpusError, match="can't be read"):
        read_documents(path)
    path.write_bytes(frame[:-10])
    with pytest.raises(CorpusError, match="truncated"):
        read_documents(path)


@pytest.mark.parametrize("kind", range(0x50, 0x60))
def test_skippable_frames_of_zstd_are_no_text(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "c.jsonl.zst"
    frame = bytes([kind]) + b"\x2a\x4d\x18\x04\0\0\0note"
    path.write_bytes(frame + zstd.compress(LINES))
    assert read_documents(path) == (TEXTS, NUMBERS, {})


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs the program zstd")
def test_long_windows_of_zstd_are_read_and_say_what_memory_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pack(*options: str) -> bytes:
        command = ["zstd", "-q", "-c", *options]
        return subprocess.run(command, input=LINES, capture_output=True, check=True).stdout

    path = tmp_path / "RC.jsonl.zst"
    path.write_bytes(pack("--long=31"))
    assert window_bytes(path.read_bytes()) == 1 << 31
    assert read_documents(path) == (TEXTS, NUMBERS, {})
    assert open_corpus(str(path)).notices == []
    monkeypatch.setattr("ngramscan.corpora.files._WINDOW_LOOK_BYTES", 0)
    (notice,) = open_corpus(str(path)).notices
    assert "in 1 files: up to 2,048 MiB of memory for each worker; the first is" in notice
    path.write_bytes(pack())
    assert open_corpus(str(path)).notices == []


@pytest.mark.parametrize(
    ("compression", "start"),
    [
        pytest.param(compression, start, id=f"{compression.name} {start.hex()}")
        for compression in COMPRESSIONS
        for start in compression.starts
    ],
)
def test_compressions_are_told_apart_by_their_first_bytes(
    compression: Compression, start: bytes
) -> None:
    assert compression_of("c", start + bytes(20)) is compression


def test_a_text_that_begins_like_bzip2_is_not_compressed() -> None:
    assert compression_of("c", b"BZh is how this text begins") is None


def test_lz4_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.jsonl.lz4"
    path.write_bytes(lz4.frame.compress(LINES))
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    with pytest.raises(InputError, match=r"lz4.* is not installed; pip install 'ngramscan\[lz4\]'"):
        read_documents(path)


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        pytest.param("c.jsonl.br", "Brotli is not read; brotli -d", id="Brotli"),
        pytest.param("c.jsonl.zip", "a ZIP archive is not read; unzip", id="ZIP"),
        pytest.param("c.tar.gz", "a tar archive is not read; tar -xf", id="tar.gz"),
        pytest.param("c.tgz", "a tar archive is not read; tar -xf", id="tgz"),
        pytest.param("c.jsonl.7z", "a 7z archive is not read; 7z x", id="7z"),
        pytest.param("c.jsonl.Z", "compressed by compress is not read; uncompress", id="compress"),
        pytest.param(
            "c.parquet.gz",
            "compressed Parquet is not read as a whole; decompress it first",
            id="Parquet",
        ),
        pytest.param(
            "enwiki-pages-articles.xml.bz2",
            "XML of Wikipedia is not read; WikiExtractor",
            id="Wikipedia",
        ),
        pytest.param("crawl.ARC.gz", "ARC is not read; warcio", id="ARC"),
    ],
)
def test_what_is_not_read_is_refused_with_the_tool_that_converts_it(
    tmp_path: Path, name: str, cure: str
) -> None:
    (tmp_path / name).write_bytes(b"content")
    with pytest.raises(InputError, match=cure):
        open_corpus(str(tmp_path / name))


TOOLS = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz", "lz4": ".lz4"}


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=lambda each: each.name)
@pytest.mark.parametrize("parts", [[], [b""], [LINES], [LINES[:7], b"", bytes(3_000_000), LINES]])
def test_what_is_packed_is_read_by_other_programs(
    tmp_path: Path, compression: Compression, parts: list[bytes]
) -> None:
    packed = set[bytes]()
    for _ in range(2):
        packer = compression.new_packer()
        packed.add(b"".join(packer.compress(part) for part in parts) + packer.flush())
    (content,) = packed
    path = tmp_path / f"c.jsonl{compression.suffixes[0]}"
    path.write_bytes(content)
    assert read_bytes(path) == b"".join(parts)
    assert compression.begins(content)
    tool = next(name for name, suffix in TOOLS.items() if suffix in compression.suffixes)
    if shutil.which(tool):
        done = subprocess.run([tool, "-dc", path], capture_output=True, check=True)
        assert done.stdout == b"".join(parts)
    if compression.name == "gzip":
        assert (content[3], content[4:8]) == (0, bytes(4))  # neither a name nor a time
