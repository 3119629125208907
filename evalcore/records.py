"""Recorded answers of models: one record per problem and epoch, in our own and others' files.

`OUTPUTS/<dataset>/<model>/<method>.jsonl` is the layout that runs write; a `/` in the name of a
model is `--` in that of its folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from evalcore.benchmarks import Dataset
from ngramscan.errors import InputError
from ngramscan.surrogates import describe_halves, replace_halves

LAYOUTS = ("evalcore", "financemath", "bbh")
"""Ours; FinanceMath's `<model>.json`; BIG-Bench Hard's `<model>-<method>/<task>.json`."""

_OPENING = b'{"id": '
"""How each of our lines begins."""

CUT_REASONS = frozenset({"length", "max_tokens"})
"""How servers say that an answer was cut at the token limit."""


Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""Of tokens, epochs and attempts, as a file may have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One answer, and all that is known of how it came about. None: not known."""

    id: str
    """Of the problem."""
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
        if not (self.output or "").strip():
            return "no output"
        return None

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
            raise InputError(repr(name), "no name for a file or folder")
    return folder / dataset / folder_name(model) / f"{method}.jsonl"


# Reading


def read_records(
    path: Path,
    layout: str = "evalcore",
    method: str | None = None,
    dataset: str | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> list[Record]:
    """Read all records of a file, or of a folder and those in it.

    Parameters
    ----------
    path : Path
        A file or folder.
    layout : str
        One of `LAYOUTS`.
    method, dataset : str or None
        Which records to read, in our layout; in others, what theirs are, which FinanceMath's files
        do not say of the method, nor any of the dataset: by default that which they are known for.
    on_notice : callable, optional
        Told of each file in which halves of characters were replaced.

    Raises
    ------
    InputError
        Nothing is there, a record is malformed, or two are of the same question; says where.
    """
    suffix = ".jsonl" if layout == "evalcore" else ".json"
    readers: dict[str, Callable[[Path, bytes], Iterator[tuple[str, Record]]]] = {
        "evalcore": _own,
        "financemath": lambda file, content: _financemath(
            file, content, method, dataset or "financemath"
        ),
        "bbh": lambda file, content: _bbh(file, content, method, dataset or "bbh-word-sorting"),
    }
    if layout not in readers:
        raise InputError(f"--layout {layout}", f"one of {', '.join(LAYOUTS)} was expected")
    placed = [
        found
        for file in _files(path, suffix)
        for found in readers[layout](file, _content(file, on_notice))
    ]
    there = dict.fromkeys(f"{record.method} of {record.dataset}" for _, record in placed)
    if layout == "evalcore":
        placed = [found for found in placed if _is_of(found[1], method, dataset)]
    if not placed:
        wanted = " of ".join(filter(None, ("records", method, dataset)))
        others = f"; there are {', '.join(there)}" if there else ""
        raise InputError(str(path), f"no {wanted} there{others}")
    _refuse_duplicates(placed)
    return [record for _, record in placed]


def _files(path: Path, suffix: str) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(str(path), "no such file or folder")
    files = sorted(path.rglob(f"*{suffix}"))
    if not files:
        raise InputError(str(path), f"no files there whose names end in {suffix}")
    return files


def _is_of(record: Record, method: str | None, dataset: str | None) -> bool:
    return method in {None, record.method} and dataset in {None, record.dataset}


def _refuse_duplicates(placed: Iterable[tuple[str, Record]]) -> None:
    seen: dict[tuple[object, ...], str] = {}
    for place, record in placed:
        question = (record.dataset, record.model, record.method, *record.key)
        first = seen.setdefault(question, place)
        if first != place:
            raise InputError(place, f"id {record.id!r} is also at {first}")


def _own(file: Path, content: bytes) -> Iterator[tuple[str, Record]]:
    tail = content.rpartition(b"\n")[2]
    if tail.strip() and not _is_json(tail):
        cure = "run `evalcore run` again, or delete the line" if _is_torn(tail) else "delete it"
        line = content.count(b"\n") + 1
        raise InputError(f"{file}:{line}", f"the last line was not written to its end; {cure}")
    yield from _lines(file, content)


def _content(file: Path, on_notice: Callable[[str], None] | None) -> bytes:
    content, halves = replace_halves(file.read_bytes())
    if halves and on_notice:
        on_notice(describe_halves(str(file), halves))
    if not content.strip():
        problem = "it is empty; delete it, or write it again (`evalcore run` asks what is missing)"
        raise InputError(str(file), problem)
    return content


def _is_torn(tail: bytes) -> bool:
    """Tell whether the last line of a file in our layout, which has no end, was cut while written.

    What does not begin as our lines do was not cut by us.
    """
    is_ours = tail.startswith(_OPENING) or _OPENING.startswith(tail)
    return bool(tail) and is_ours and not _is_json(tail)


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def _lines(file: Path, content: bytes) -> Iterator[tuple[str, Record]]:
    """Yield the records of lines in our layout, each after its place; the folder says who wrote."""
    folder = file.absolute().parent
    named = {"dataset": folder.parent.name, "model": folder.name, "method": file.stem}
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            place = f"{file}:{number}"
            yield place, _record(place, named | _object(place, _json(place, line)))


def _record(place: str, fields: dict[str, Any]) -> Record:
    if "output" not in fields:
        raise InputError(place, "no field 'output'")
    if isinstance(fields.get("id"), int):
        fields["id"] = str(fields["id"])
    try:
        return msgspec.convert(fields, Record)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(place, str(error)) from error


def _json(place: str, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"no JSON: {error}") from error


def _object(place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(place, "no JSON object; a record was expected")
    return value


# The layouts of others


def _financemath(
    file: Path, content: bytes, method: str | None, dataset: str
) -> Iterator[tuple[str, Record]]:
    if method is None:
        raise InputError(str(file), "this layout does not name the method; --method does")
    rows = _json(str(file), content)
    if not isinstance(rows, list):
        raise InputError(str(file), "a JSON list was expected")
    for number, row in enumerate(rows, 1):
        place = f"{file}[{number}]"
        fields = _object(place, row)
        if "question_id" not in fields or "output" not in fields:
            raise InputError(place, "fields 'question_id' and 'output' were expected")
        output = fields["output"]
        if isinstance(output, list) and len(output) <= 1:
            output = output[0] if output else None
        known = {"dataset": dataset, "model": file.stem, "method": method}
        yield place, _record(place, {"id": fields["question_id"], "output": output, **known})


def _bbh(
    file: Path, content: bytes, method: str | None, dataset: str
) -> Iterator[tuple[str, Record]]:
    model, _, written = file.absolute().parent.name.rpartition("-")
    if not model:
        raise InputError(str(file), "it was expected in a folder named MODEL-METHOD")
    rows = _object(str(file), _json(str(file), content)).get("outputs")
    if not isinstance(rows, list):
        raise InputError(str(file), "no list 'outputs' in it")
    task = file.stem.partition("_few_shot")[0]
    for number, row in enumerate(rows):
        place = f"{file}[{number + 1}]"
        fields = _object(place, row)
        if "prediction" not in fields:
            raise InputError(place, "no field 'prediction'")
        known = {"dataset": dataset, "model": model, "method": method or written}
        answer = {"output": fields["prediction"]}
        yield place, _record(place, {"id": f"{task}-{number}", **answer, **known})


# The file that a run writes: appended to, one line per answer, by one run at a time


class RecordFile:
    """An open file of records, and those that were there when it was opened.

    Each record is handed to the system as it comes, so that a killed process loses none; a line
    that was being written then is dropped the next time.
    """

    def __init__(self, path: Path, descriptor: int, records: list[Record]) -> None:
        self.path = path
        self.records = records
        self._descriptor = descriptor

    def write(self, record: Record) -> None:
        """Append a record; raise InputError where the disk does not take it."""
        remaining = memoryview(record.line())
        try:
            while remaining:
                remaining = remaining[os.write(self._descriptor, remaining) :]
        except OSError as error:
            problem = f"can't be written ({error.strerror})"
            raise InputError(str(self.path), problem) from error


@contextmanager
def open_records(path: Path, on_notice: Callable[[str], None]) -> Iterator[RecordFile]:
    """Open a file of records to append to it; it and its folders are made where they are missing.

    Parameters
    ----------
    path : Path
        The file.
    on_notice : callable
        Told when a line was dropped that a killed run had not written to its end.

    Raises
    ------
    InputError
        Another run has the file open, it can't be opened, or a line is malformed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(str(path), f"can't be opened ({error.strerror})") from error
    try:
        _lock(path, descriptor)
        yield RecordFile(path, descriptor, _read_own(path, descriptor, on_notice))
    finally:
        os.close(descriptor)


def _lock(path: Path, descriptor: int) -> None:
    """Keep other runs out; the lock goes when the process ends, however it ends."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(str(path), "another run is writing it") from error
    except OSError as error:
        problem = f"can't be locked ({error.strerror}); a local folder was expected"
        raise InputError(str(path), problem) from error


def _read_own(path: Path, descriptor: int, on_notice: Callable[[str], None]) -> list[Record]:
    content = path.read_bytes()
    whole, tail = content[: content.rfind(b"\n") + 1], content[content.rfind(b"\n") + 1 :]
    records = [record for _, record in _lines(path, whole)]
    if _is_torn(tail):
        os.ftruncate(descriptor, len(whole))
        on_notice(f"{path}: the last line was not written to its end; it is dropped")
    elif tail:
        number = whole.count(b"\n") + 1
        # Read at its own line number; an empty line gives no record.
        records += [record for _, record in _lines(path, b"\n" * (number - 1) + tail)]
        os.write(descriptor, b"\n")
    return records


def in_order(records: Sequence[Record], dataset: Dataset) -> list[Record]:
    """Return records by run, and within it in the order of the benchmark: they come in any.

    Raises
    ------
    InputError
        One is of a problem that the benchmark does not have.
    """
    places = {problem.id: place for place, problem in enumerate(dataset.problems)}
    runs: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        run = (record.dataset, record.model, record.method)
        if record.id not in places:
            problem = f"id {record.id!r} is no problem of {dataset.name}"
            raise InputError("/".join(run), problem)
        runs.setdefault(run, []).append(record)
    return [
        record
        for run in runs.values()
        for record in sorted(run, key=lambda one: (places[one.id], one.epoch or 0))
    ]
