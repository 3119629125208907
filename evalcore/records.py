"""Recorded answers of models: one record per problem and epoch, in our own and others' files.

Runs write `OUTPUTS/<dataset>/<model>/<method>.jsonl`, with `--` for a `/` in the name of a model.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from evalcore.benchmarks import Dataset
from ngramscan.errors import InputError
from ngramscan.surrogates import describe_halves, replace_halves

_OPENING = b'{"id": '
"""How each of our lines begins."""
_NOT_ENDED = "the last line was not written to its end"
_Placed = Iterator[tuple[str, dict[str, Any]]]
"""The fields of records, each after the place where it stands."""
_T = TypeVar("_T")
CUT_REASONS = frozenset({"length", "max_tokens"})
"""How servers say that an answer was cut at the token limit."""
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""A number of tokens, epochs or attempts, as files may have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One answer, and all that is known of how it came about. None: not known."""

    id: str
    """The problem's id."""
    epoch: Number | None = None
    """Which of repeated answers, from 1; None where each problem was asked once."""
    dataset: str
    model: str
    """As the user calls it."""
    method: str
    messages_sha256: str | None = None
    output: str | None
    """None: refused, or no text at all."""
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str | None = None
    prompt_tokens: Number | None = None
    completion_tokens: Number | None = None
    """Those of the reasoning among them."""
    reasoning_tokens: Number | None = None
    latency_s: float | None = None
    reported_model: str | None = None
    """As the server calls it."""
    asked_at: str | None = None
    """ISO 8601, UTC."""
    prompts_sha256: str | None = None
    dataset_sha256: str | None = None
    parameters: dict[str, Any] | None = None
    """What was sent beside the messages."""
    attempts: Number | None = None
    """Requests that were sent, the answered one among them."""

    @property
    def key(self) -> tuple[str, int | None]:
        """Return what there is one record of in each file."""
        return self.id, self.epoch

    @property
    def is_cut(self) -> bool:
        """Tell whether the answer ends at the token limit."""
        return self.finish_reason in CUT_REASONS

    @property
    def not_scorable(self) -> str | None:
        """Return why the output can't be scored as an answer; None: it can."""
        if self.refusal is not None:
            return f"refused: {' '.join(self.refusal.split())[:200]}"
        if self.is_cut:
            return "cut at the token limit"
        return None if (self.output or "").strip() else "no output"

    def line(self) -> bytes:
        """Return the line of a file, with its end."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def messages_sha256(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the hash of what a model is asked, in hexadecimal: that of its canonical JSON."""
    canonical = json.dumps([dict(message) for message in messages], sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def folder_name(model: str) -> str:
    """Return the name of a model as a folder has it."""
    return model.replace("/", "--")


def record_path(folder: Path, dataset: str, model: str, method: str) -> Path:
    """Return the file of one method put to one model; an InputError: a name can't be a file's."""
    for name in (dataset, folder_name(model), method):
        if not name.strip(". ") or "/" in name or not name.isprintable():
            raise InputError(repr(name), "can't be the name of a file or folder")
    return folder / dataset / folder_name(model) / f"{method}.jsonl"


class _Question(msgspec.Struct):
    question_id: str | int
    output: str | Annotated[list[str], msgspec.Meta(max_length=1)] | None


class _Prediction(msgspec.Struct):
    prediction: str | None


class _Task(msgspec.Struct):
    outputs: list[_Prediction]


def _taken(place: str, content: bytes | dict[str, Any], kind: type[_T]) -> _T:
    """Return JSON, or what it says, as a type; an InputError names the part that is another."""
    try:
        value = json.loads(content) if isinstance(content, bytes) else content
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError(place, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"not valid JSON: {error}") from error


def _own(file: Path, content: bytes) -> _Placed:
    tail, is_ours = _cut_line(content)
    if tail:
        cure = "run `evalcore run` again, or delete the line" if is_ours else "delete it"
        line = content.count(b"\n") + 1
        raise InputError(f"{file}:{line}", f"{_NOT_ENDED}; {cure}")
    folder = file.absolute().parent
    named = {"dataset": folder.parent.name, "model": folder.name, "method": file.stem}
    for number, text in enumerate(content.split(b"\n"), 1):
        if text.strip():
            fields = _taken(f"{file}:{number}", text, dict[str, Any])
            if isinstance(fields.get("id"), int):
                fields["id"] = str(fields["id"])
            yield f"{file}:{number}", named | fields


def _cut_line(content: bytes) -> tuple[bytes, bool]:
    """Return a last line that was not written to its end, and whether a run was writing it."""
    tail = content.rpartition(b"\n")[2]
    try:
        json.loads(tail.strip() or b"0")
    except (ValueError, RecursionError):
        return tail, _OPENING.startswith(tail[: len(_OPENING)])
    return b"", False


def _financemath(file: Path, content: bytes) -> _Placed:
    for number, row in enumerate(_taken(str(file), content, list[_Question]), 1):
        fields = {"id": str(row.question_id), "output": "".join(row.output or ()) or None}
        yield f"{file}[{number}]", {"model": file.stem} | fields


def _bbh(file: Path, content: bytes) -> _Placed:
    model, _, method = file.absolute().parent.name.rpartition("-")
    if not model:
        raise InputError(str(file), "it was expected in a folder named MODEL-METHOD")
    task, named = file.stem.partition("_few_shot")[0], {"model": model, "method": method}
    for number, row in enumerate(_taken(str(file), content, _Task).outputs):
        yield f"{file}[{number + 1}]", {"id": f"{task}-{number}", "output": row.prediction, **named}


_LAYOUTS: dict[str, tuple[str, Callable[[Path, bytes], _Placed], dict[str, str | None]]] = {
    "evalcore": (".jsonl", _own, {}),
    "financemath": (".json", _financemath, {"dataset": "financemath", "method": None}),
    "bbh": (".json", _bbh, {"dataset": "bbh-word-sorting"}),
}
"""Ours; FinanceMath's `<model>.json`; BIG-Bench Hard's `<model>-<method>/<task>.json`: the suffix,
how files are read, and what they are known for; None has to be told."""


def read_records(
    path: Path,
    layout: str = "evalcore",
    method: str | None = None,
    dataset: str | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> list[Record]:
    """Read all records of a file, or of a folder and those in it.

    In our layout, `method` and `dataset` choose among the records; in others they say what the
    files do not. `on_notice` gets a line for each file in which halves of characters were replaced.
    """
    suffix, read, known = _LAYOUTS[layout]
    told = {name: value for name, value in [("dataset", dataset), ("method", method)] if value}
    given = {**known, **told} if known else {}
    records: dict[tuple[object, ...], tuple[str, Record]] = {}
    others: dict[str, None] = {}
    for file in _files(path, suffix):
        if None in given.values():
            raise InputError(str(file), "this layout does not name the method; --method does")
        for place, fields in read(file, _content(file, on_notice)):
            record = _taken(place, fields | given, Record)
            if method not in {None, record.method} or dataset not in {None, record.dataset}:
                others[f"{record.method} of {record.dataset}"] = None
                continue
            question = (record.dataset, record.model, record.method, *record.key)
            first, _ = records.setdefault(question, (place, record))
            if first != place:
                raise InputError(place, f"id {record.id!r} is also at {first}")
    if not records:
        wanted = " of ".join(filter(None, ("records", method, dataset)))
        there = f"; there are {', '.join(others)}" if others else ""
        raise InputError(str(path), f"no {wanted} there{there}")
    return [record for _, record in records.values()]


def _files(path: Path, suffix: str) -> list[Path]:
    files = [path] if path.is_file() else sorted(path.rglob(f"*{suffix}"))
    if not files:
        problem = f"no files there whose names end in {suffix}"
        raise InputError(str(path), problem if path.is_dir() else "no such file or folder")
    return files


def _content(file: Path, on_notice: Callable[[str], None] | None) -> bytes:
    content, halves = replace_halves(file.read_bytes())
    if halves and on_notice:
        on_notice(describe_halves(str(file), halves))
    if not content.strip():
        problem = "it is empty; delete it, or write it again (`evalcore run` asks what is missing)"
        raise InputError(str(file), problem)
    return content


@contextmanager
def _refusals(path: Path, what: str, cure: str = "") -> Iterator[None]:
    """Say what the system did not let us do with a file."""
    try:
        yield
    except BlockingIOError as error:
        raise InputError(str(path), "another run is writing it") from error
    except OSError as error:
        raise InputError(str(path), f"can't be {what} ({error.strerror}){cure}") from error


@dataclass(frozen=True, slots=True)
class RecordFile:
    """An open file of records, and those that were there when it was opened."""

    path: Path
    descriptor: int
    records: list[Record]

    def write(self, record: Record) -> None:
        """Hand a record to the system, so that a killed process loses none."""
        remaining = memoryview(record.line())
        with _refusals(self.path, "written"):
            while remaining:
                remaining = remaining[os.write(self.descriptor, remaining) :]


@contextmanager
def open_records(path: Path, on_notice: Callable[[str], None]) -> Iterator[RecordFile]:
    """Open a file of records, or a new one, to append to it; no other run may have it open.

    `on_notice` gets a line where one was dropped that a killed run had not written to its end.
    """
    with _refusals(path, "opened"):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        with _refusals(path, "locked", "; a local folder was expected"):
            # The lock goes when the process ends, however it ends.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        content = path.read_bytes()
        tail, is_torn = _cut_line(content)
        whole = content[: -len(tail)] if is_torn else content
        records = [_taken(place, fields, Record) for place, fields in _own(path, whole)]
        if is_torn:
            os.ftruncate(descriptor, len(whole))
            on_notice(f"{path}: {_NOT_ENDED}; it is dropped")
        elif whole and not whole.endswith(b"\n"):
            os.write(descriptor, b"\n")
        yield RecordFile(path, descriptor, records)
    finally:
        os.close(descriptor)


def in_order(records: Sequence[Record], dataset: Dataset) -> list[Record]:
    """Return records by run, in the order of the benchmark, which must have all their problems."""
    places = {problem.id: place for place, problem in enumerate(dataset.problems)}
    runs: dict[tuple[str, str, str], int] = {}

    def order(record: Record) -> tuple[int, int, int]:
        run = (record.dataset, record.model, record.method)
        if record.id not in places:
            problem = f"id {record.id!r} is no problem of {dataset.name}"
            raise InputError("/".join(run), problem)
        return runs.setdefault(run, len(runs)), places[record.id], record.epoch or 0

    return sorted(records, key=order)
