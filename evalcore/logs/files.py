"""Which files are logs, and the JSON in them, with its place in every error."""

from __future__ import annotations

import json
import re
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from evalcore.logs.log import LogOptions, one_line
from ngramscan.errors import InputError

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

Decoded = TypeVar("Decoded")

_LAYOUTS = {
    "auto": "a log of Inspect, samples of lm-evaluation-harness, or scores were",
    "inspect": "a log of Inspect was",
    "lm-eval": "samples of lm-evaluation-harness were",
    "scores": "scores were",
}
_READERS = {"inspect": "inspect", "lm-eval": "lm-eval", "own": "scores", "simple": "scores"}
"""What reads a file, and of which layout it is."""
_RESULTS = "results"
"""Not a log by itself: what lm-evaluation-harness says of a run, read with its samples."""
_SCORE_FIELDS = {"dataset", "model", "method", "id", "rule"}
"""What tells score rows from other files; where the value is missing, their reader says so."""

_PIECE = 16384
"""Bytes of a member read at a time: the first `zipfile` of Python 3.14 decompresses all that it
reads of the file at once, to 537 MB in the worst case."""
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD)
_DAMAGED = (
    *(zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError),
    *(struct.error, zlib.error, ZstdError),
)


def find_logs(paths: Iterable[Path], options: LogOptions) -> tuple[dict[Path, str], list[str]]:
    """Return the logs among files and in folders with what reads each, and notices."""
    found: dict[Path, tuple[Path, str]] = {}
    notices: list[str] = []
    for path in paths:
        logs, others = (_in_folder if path.is_dir() else _named)(path, options)
        for file, kind in logs.items():
            found.setdefault(file.resolve(), (file, kind))
        if others:
            shown = ", ".join(str(file.relative_to(path)) for file in others[:3])
            more = ", …" if len(others) > 3 else ""
            notices.append(f"{path}: not read, since they are no such logs: {shown}{more}")
    return dict(found.values()), notices


def _named(path: Path, options: LogOptions) -> tuple[dict[Path, str], list[Path]]:
    if not path.exists():
        raise InputError(str(path), "no such file or folder")
    kind, layout = _recognise(path, options), options.layout
    if kind is None and layout in {"inspect", "lm-eval"}:
        return {path: layout}, []  # it may begin otherwise, as after being rewritten by hand
    if kind in _READERS and layout in {"auto", _READERS[kind]}:
        return {path: kind}, []
    is_what = "a file of another layout" if kind else "no log that is known"
    if kind == _RESULTS:
        is_what = "results of lm-evaluation-harness without the samples, which are in files "
        is_what += "beside it"
    raise InputError(str(path), f"{is_what}; {_LAYOUTS[layout]} expected")


def _in_folder(folder: Path, options: LogOptions) -> tuple[dict[Path, str], list[Path]]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    kinds = {
        file: _recognise(file, options)
        for file in files
        if file.suffix in {".eval", ".json", ".jsonl"}
    }
    wanted = {kind for kind, layout in _READERS.items() if options.layout in {"auto", layout}}
    logs = {file: kind for file, kind in kinds.items() if kind in wanted}
    if not logs:
        raise InputError(str(folder), "no logs there")
    return logs, [file for file, kind in kinds.items() if kind not in {*wanted, _RESULTS}]


def _recognise(path: Path, options: LogOptions) -> str | None:
    """Return what reads a file, told from its beginning; None: nothing does."""
    if path.suffix in {".eval", ".csv", ".parquet"}:
        return "inspect" if path.suffix == ".eval" else "own"
    is_lines = path.suffix == ".jsonl"
    with _opened(path) as file:
        head = file.readline(options.most + 2) if is_lines else file.read(4096)
    _refuse_long(f"{path}:1", len(head.removesuffix(b"\n")), options.most)
    return _kind_of_line(head) if is_lines else _kind_of_head(head)


def _kind_of_line(line: bytes) -> str | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    names = fields.keys() if isinstance(fields, dict) else set()
    if names >= {"doc_id", "filtered_resps"}:
        return "lm-eval"
    is_simple = names >= {"id", "correct"}
    if names >= _SCORE_FIELDS or (is_simple and names & _SCORE_FIELDS > {"id"}):
        return "own"
    return "simple" if is_simple else None


def _kind_of_head(head: bytes) -> str | None:
    if re.match(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:', head):
        return "inspect"
    if re.match(rb'\s*\{\s*"results"\s*:', head):
        return _RESULTS
    is_list = re.match(rb"\s*\[\s*\{", head)
    return "own" if is_list and all(f'"{n}"'.encode() in head for n in _SCORE_FIELDS) else None


def read_lines(path: Path, most: int) -> Iterator[tuple[str, Any]]:
    """Yield the value of each line of JSON that is not empty, after its place."""
    with _opened(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(most + 1), b""), 1):
            place = f"{path}:{number}"
            _refuse_long(place, len(line.removesuffix(b"\n")), most)
            if line.strip():
                yield place, _decode(place, line)


def read_json(path: Path, most: int) -> Any:
    """Return the value of a file of JSON."""
    with _opened(path) as file:
        content = file.read(most + 1)
    _refuse_long(str(path), len(content), most)
    return _decode(str(path), content)


@contextmanager
def open_members(path: Path, most: int) -> Iterator[tuple[Iterable[str], Callable[[str], Any]]]:
    """Open a zip file of JSON: the names of its members, and a function that reads one."""
    with _opened(path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGED as error:
            problem = f"no zip file, or not a whole one ({one_line(error)})"
            raise InputError(str(path), problem) from error
        yield dict.fromkeys(archive.namelist()), partial(_read_member, path, archive, most)


def _read_member(path: Path, archive: zipfile.ZipFile, most: int, name: str) -> Any:
    place = f"{path}:{name}"
    if name not in archive.NameToInfo:
        raise InputError(str(path), f"no member {name}; the file is not whole")
    member = archive.getinfo(name)
    if member.flag_bits & 1 or member.compress_type not in _COMPRESSIONS:
        raise InputError(place, "encrypted, or compressed by an unknown method")
    _refuse_long(place, max(member.file_size, member.compress_size), most)
    try:
        with archive.open(member) as file:
            content = b"".join(iter(lambda: file.read(_PIECE), b""))
        if len(content) != member.file_size:
            raise zipfile.BadZipFile("its size is another")
    except _DAMAGED as error:
        raise InputError(place, f"damaged ({one_line(error) or 'cut'})") from error
    return _decode(place, content)


def convert(place: str, value: Any, kind: type[Decoded]) -> Decoded:
    """Return a decoded value as a msgspec structure; fields that it does not have are left out."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(place, str(error)) from error


def _decode(place: str, content: bytes) -> Any:
    """Return the value of a JSON text; what is quicker knows no NaN, which tools write."""
    with suppress(msgspec.DecodeError, ValueError, RecursionError):
        return msgspec.json.decode(content)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"no JSON: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        problem = f"can't be read ({(error.strerror or str(error)).lower()})"
        raise InputError(str(path), problem) from error


def _refuse_long(place: str, length: int, most: int) -> None:
    if length > most:
        raise InputError(place, f"more than {most / 1e6:g} MB in one; --max-line MB takes more")
