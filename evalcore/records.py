"""Recorded answers of models: one record per problem and epoch, in several layouts of files."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Annotated

import msgspec

from evalcore.benchmarks import Dataset, benchmarks, chosen_benchmark
from evalcore.finish_reasons import describe_finish_reason
from evalcore.formats import Benchmark, JsonFields
from evalcore.options import RecordOptions
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Wording, joined
from ngramscan.reading.output_paths import group_of
from ngramscan.reading.reasoning import split_reasoning
from ngramscan.reading.row_files import decoded_as, is_json_list, list_items
from ngramscan.reading.streams import is_stream, name_of, read_bytes
from ngramscan.reading.surrogates import describe_halves, replace_halves
from ngramscan.reading.yaml_files import as_type, input_errors

_OPENING = b'{"id": '  # how each of our lines begins
_NOT_ENDED = "the last line was not written to its end"
_CURE = "run `evalcore run` again, which resumes there, or delete"
WholeNumber = Annotated[int, msgspec.Meta(ge=0, le=2**53)]  # of tokens, epochs, attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One answer of a model, with its circumstances. None means not known."""

    id: str
    epoch: WholeNumber | None = None
    """Number of a repeated answer, from 1; None if each problem has one answer."""
    dataset: str
    model: str
    """As the user calls it."""
    method: str
    messages_sha256: str | None = None
    output: str | None
    """As the model wrote it; None: the model refused, or gave no text at all."""
    reasoning: str | None = None
    """As the server reports it, apart from the output, which may have reasoning, too."""
    refusal: str | None = None
    finish_reason: str | None = None
    prompt_tokens: WholeNumber | None = None
    completion_tokens: WholeNumber | None = None
    """Includes those of the reasoning."""
    reasoning_tokens: WholeNumber | None = None
    latency_s: float | None = None
    reported_model: str | None = None
    """As the server calls it."""
    asked_at: str | None = None
    """ISO 8601, UTC."""
    prompts_sha256: str | None = None
    dataset_sha256: str | None = None
    parameters: JsonFields | None = None
    """The parameters that were sent with the messages."""
    attempts: WholeNumber | None = None
    """Number of requests, including the answered one."""

    @property
    def key(self) -> tuple[str, int | None]:
        """Return id and epoch, which identify a record within a file."""
        return self.id, self.epoch

    @property
    def names(self) -> JsonFields:
        """Return what names the output in rows about it."""
        names = ("dataset", "model", "method", "id", "epoch")
        return {name: getattr(self, name) for name in names}

    @property
    def answer_text(self) -> str | None:
        """Return the output without its reasoning; None if it ends there, or there is none."""
        return None if self.output is None else split_reasoning(self.output).answer

    @property
    def not_scorable(self) -> str | None:
        """Return why the output can't be scored; None if it can."""
        if self.refusal is not None:
            return f"refused: {' '.join(self.refusal.split())[:200]}"
        if incomplete := describe_finish_reason(self.finish_reason):
            return incomplete
        if not (self.output or "").strip():
            return "no output"
        answer = self.answer_text
        if answer is None:
            return "the output ends within its reasoning"
        return None if answer.strip() else "no output but reasoning"

    def line(self) -> bytes:
        """Return the record as a line of a file."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def folder_name(model: str) -> str:
    """Return the name of a model's folder, with `--` for `/`."""
    return model.replace("/", "--")


def record_path(folder: Path, dataset: str, model: str, method: str) -> Path:
    """Return FOLDER/DATASET/MODEL/METHOD.jsonl; raise an InputError if that is not a valid path."""
    for name in (dataset, folder_name(model), method):
        if not name.strip(". ") or "/" in name or not name.isprintable():
            raise InputError(repr(name), "can't be the name of a file or folder")
    return folder / dataset / folder_name(model) / f"{method}.jsonl"


_PlacedFields = Iterator[tuple[str, JsonFields]]  # the fields of each record after its place
_Tell = Callable[[str], None]


def _evalcore(file: Path, content: bytes) -> _PlacedFields:
    folder = file.absolute().parent
    named = {"dataset": folder.parent.name, "model": folder.name, "method": file.stem}
    objects = _list_objects if is_json_list(content) else _line_objects
    for place, fields in objects(file, content):
        # With a method of its own in each line, the file is not DATASET/MODEL/METHOD.jsonl.
        is_whole = fields.get("model") and fields.get("method") not in {None, file.stem}
        complete = ({"dataset": Path(name_of(file)).stem} if is_whole else named) | fields
        if isinstance(complete.get("id"), int):
            complete["id"] = str(complete["id"])
        yield place, complete


def _list_objects(file: Path, content: bytes) -> _PlacedFields:
    for place, item in list_items(name_of(file), content):
        fields = as_type(item, JsonFields, place)
        if "id" not in fields:
            raise InputError(place, "no field 'id'; add to each output the id of its question")
        yield place, fields


def _line_objects(file: Path, content: bytes) -> _PlacedFields:
    lines = content.split(b"\n")
    if torn := _torn(content):
        cure = f"{_CURE} that line" if _OPENING.startswith(torn[: len(_OPENING)]) else "delete it"
        raise InputError(f"{name_of(file)}:{len(lines)}", f"{_NOT_ENDED}; {cure}")
    for number, line in enumerate(lines, 1):
        place = f"{name_of(file)}:{number}"
        if line.strip():
            yield place, decoded_as(JsonFields, place, line)


def _torn(content: bytes) -> bytes:
    last = content.rpartition(b"\n")[2]
    with suppress(ValueError, RecursionError):
        json.loads(last.strip() or b"0")
        return b""
    return last


class _RecordedAnswer(msgspec.Struct):
    question_id: str | int
    output: str | Annotated[list[str], msgspec.Meta(max_length=1)] | None


def _financemath(file: Path, content: bytes) -> _PlacedFields:
    """Read the list of answers in `raw_<method>_outputs/<model>.json`, of FinanceMath."""
    rows = decoded_as(list[_RecordedAnswer], file, content)
    group = group_of(file)
    named = {"dataset": group.dataset, "method": group.prompt} if group else {}
    for number, row in enumerate(rows, 1):
        output = "".join(row.output or ()) or None
        fields = {"model": file.stem, "id": str(row.question_id), "output": output}
        yield f"{file}[{number}]", named | fields


class _Prediction(msgspec.Struct):
    prediction: str | None


def _bbh(file: Path, content: bytes) -> _PlacedFields:
    """Read the answers in `<model>-<method>/<task>.json`, of BIG-Bench Hard."""
    model, _, method = file.absolute().parent.name.rpartition("-")
    if not model:
        raise InputError(file, "its folder must be named MODEL-METHOD")
    task = file.stem.partition("_few_shot")[0]
    rows = decoded_as(JsonFields, file, content).get("outputs")
    for number, row in enumerate(as_type(rows, list[_Prediction], f"{file}: outputs")):
        fields = {"dataset": _BBH, "model": model, "method": method, "output": row.prediction}
        yield f"{file}[{number + 1}]", {"id": f"{task}-{number}", **fields}


_BBH = "bbh"
_OURS, _FINANCEMATH = "evalcore", "financemath"
_LAYOUTS = {_OURS: _evalcore, _FINANCEMATH: _financemath, _BBH: _bbh}


def find_layout(path: Path) -> str:
    """Return the layout of a file or folder of outputs: our own, unless others are recognised."""
    if path.is_dir():
        files = [] if any(path.rglob("*.jsonl")) else sorted(path.rglob("*.json"))
    else:
        files = [path] if path.suffix == ".json" and path.is_file() else []
    layouts = {layout for file in files if (layout := _layout_of(file))} or {_OURS}
    if len(layouts) > 1:
        problem = f"it has outputs in the layouts {', '.join(sorted(layouts))}"
        raise InputError(
            path, f"{problem}; choose one with " + OptionUse("layout") + ", or give them apart"
        )
    return layouts.pop()


def _layout_of(file: Path) -> str | None:
    """Return the layout of a JSON file, None if it has none that is known."""
    try:
        content = json.loads(read_bytes(file))
    except (ValueError, RecursionError):
        return None  # the reader of the layout that others have says what is wrong
    if isinstance(content, dict):
        return _BBH if isinstance(content.get("outputs"), list) else None
    first = content[0] if isinstance(content, list) and content else None
    if not isinstance(first, dict) or "output" not in first:
        return None
    return _FINANCEMATH if "question_id" in first and "id" not in first else _OURS


def read_records(
    path: Path,
    layout: str = "auto",
    method: str | None = None,
    dataset: str | None = None,
    on_notice: _Tell = lambda _: None,
    is_named: bool = True,
) -> list[Record]:
    """Read all records of a file, or of a folder with its subfolders.

    In our own layout, `method` and `dataset` select records; in the others they name what the files
    don't. A dataset that is not `is_named` gives way to the only one that the outputs have, unless
    that is a shipped one. `on_notice` gets a line for each file with replaced characters, and for
    each empty one of a folder, which has no records.
    """
    wanted = {name: value for name, value in (("method", method), ("dataset", dataset)) if value}
    layout = find_layout(path) if layout == "auto" else layout
    placed_records = [
        (place, as_type(_complete(path, layout, fields, wanted), Record, place))
        for file, content in _contents(path, layout, on_notice)
        for place, fields in _LAYOUTS[layout](file, content)
    ]
    names = {record.dataset for _, record in placed_records}
    if not is_named and len(names) == 1 and not names & benchmarks().keys():
        wanted["dataset"] = names.pop()
    places: dict[tuple[object, ...], str] = {}
    records = []
    for place, record in placed_records:
        if all(getattr(record, name) == value for name, value in wanted.items()):
            records.append(record)
            question = (record.dataset, record.model, record.method, *record.key)
            if (first := places.setdefault(question, place)) != place:
                raise InputError(place, f"id {record.id!r} is also at {first}")
    if not records:
        others = dict.fromkeys(
            f"{record.method} of {record.dataset}" for _, record in placed_records
        )
        there = f"; it has {', '.join(others)}" if others else ""
        raise InputError(path, f"no {' of '.join(['outputs', *wanted.values()])} in it{there}")
    return records


def _complete(path: Path, layout: str, fields: JsonFields, wanted: JsonFields) -> JsonFields:
    """Return the fields of a record; in layouts of others, options name what files don't."""
    if layout == _OURS:
        return fields
    if "method" not in fields | wanted:
        raise InputError(
            path, "this layout does not name the method; give it with " + OptionUse("method")
        )
    return fields | wanted


def benchmark_of(outputs: Path, options: RecordOptions) -> Benchmark:
    """Return the benchmark that options choose; an InputError says which the outputs are of."""
    if not options.dataset and not options.data and options.layout in {"auto", _OURS}:
        records = read_records(outputs, options.layout, options.method)
        names = list(dict.fromkeys(record.dataset for record in records))
        problem = f"it has outputs of {', '.join(names)}; add "
        if shipped := [OptionUse("dataset", name) for name in names if name in benchmarks()]:
            raise InputError(outputs, problem + joined(shipped, " or "))
        cure = OptionUse("data", placeholder="FILE") + ", the file with the questions"
        raise InputError(outputs, problem + cure)
    benchmark = chosen_benchmark(options)
    if options.cluster is None or options.cluster in benchmark.columns:
        return benchmark
    columns = {**benchmark.columns, options.cluster: options.cluster}
    return replace(benchmark, columns=columns)


def read_chosen(
    outputs: Path, options: RecordOptions, dataset: str, on_notice: _Tell
) -> list[Record]:
    """Read the records of a benchmark that options choose."""
    is_named = bool(options.dataset)
    return read_records(outputs, options.layout, options.method, dataset, on_notice, is_named)


def _files_of(path: Path, layout: str) -> list[Path]:
    """Return the files of outputs in a folder, or the file itself."""
    suffix = ".jsonl" if layout == _OURS else ".json"
    files = [path] if path.is_file() or is_stream(path) else sorted(path.rglob(f"*{suffix}"))
    if not files and layout == _OURS:
        files = [file for file in sorted(path.rglob("*.json")) if _layout_of(file) == _OURS]
    if not files:
        run = Wording("`evalcore run -o FOLDER`", "`evalcore.run(output=FOLDER)`")
        problem = "contains no outputs; " + run + " writes them"
        if others := sorted(path.rglob("*.json*")):
            cure = "another " + OptionUse("layout") + f" may fit {others[0].name}"
            problem = f"no {suffix} files in it; " + cure
        raise InputError(path, problem if path.is_dir() else "no such file or folder")
    return files


def _contents(path: Path, layout: str, on_notice: _Tell) -> Iterator[tuple[Path, bytes]]:
    files = _files_of(path, layout)
    empty = list[Path]()
    for file in files:
        content, halves = replace_halves(read_bytes(file))
        if halves:
            on_notice(describe_halves(name_of(file), halves))
        if content.strip():
            yield file, content
        else:
            empty.append(file)
    if len(empty) == len(files):
        raise InputError(name_of(empty[0]), f"it is empty; {_CURE} it")
    for file in empty:
        on_notice(f"{name_of(file)}: it is empty, as a run without answers leaves it; skipped")


@dataclass(frozen=True, slots=True)
class RecordFile:
    """An open file of records, and the records that it held when it was opened."""

    path: Path
    file: FileIO
    records: list[Record]

    def write(self, record: Record) -> None:
        """Write a record at once, so that a killed process loses none."""
        remaining = memoryview(record.line())
        with input_errors(self.path):
            while remaining:
                remaining = remaining[self.file.write(remaining) :]


@contextmanager
def open_records(path: Path, on_notice: _Tell) -> Iterator[RecordFile]:
    """Open a file of records for appending, locked; drop an incomplete last line with a notice."""
    with input_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "ab", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the process ends, however
        except OSError as error:
            raise InputError(path, f"another run writes it ({error.strerror})") from error
        content = path.read_bytes()
        torn = _torn(content)
        if torn and _OPENING.startswith(torn[: len(_OPENING)]):
            content = content.removesuffix(torn)
            file.truncate(len(content))
            on_notice(f"{path}: {_NOT_ENDED}; it is dropped")
        records = [as_type(fields, Record, place) for place, fields in _evalcore(path, content)]
        if content and not content.endswith(b"\n"):
            file.write(b"\n")
        yield RecordFile(path, file, records)


def in_order(records: Sequence[Record], dataset: Dataset) -> list[Record]:
    """Return records by run, in the order of the benchmark, which must have their problems."""
    places = {problem.id: place for place, problem in enumerate(dataset.problems)}
    runs: dict[tuple[str, ...], int] = {}  # in the order of their first records

    def place(record: Record) -> tuple[int, int, int]:
        run = (record.dataset, record.model, record.method)
        if record.id not in places:
            problem = f"{dataset.name} has no problem with the id {record.id!r}"
            raise InputError("/".join(run), problem)
        return runs.setdefault(run, len(runs)), places[record.id], record.epoch or 0

    return sorted(records, key=place)
