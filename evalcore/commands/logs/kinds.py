"""The kinds of files that tools write: how each is recognised, and what reads it.

A kind without a reader says in its name what the files lack, and where to find it.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

import msgspec

from evalcore.commands.logs.every_eval_ever import read_every_eval_ever
from evalcore.commands.logs.helm import read_helm
from evalcore.commands.logs.inspect import read_inspect
from evalcore.commands.logs.lighteval import read_lighteval
from evalcore.commands.logs.lm_eval import read_lm_eval
from evalcore.commands.logs.openai_evals import read_openai_evals
from evalcore.commands.logs.promptfoo import read_promptfoo
from evalcore.commands.logs.readers import Log, LogFile
from evalcore.commands.logs.score_rows import read_score_rows
from evalcore.simple_tables import ID_NAMES
from ngramscan.reading.row_files import VALUE_NAMES, is_json_list, separator_of
from ngramscan.reading.streams import open_unpacked, unpacked_path
from ngramscan.reading.yaml_files import input_errors

_START_BYTES = 4096
_MOST_BYTES = 1 << 28
_Keys = dict[str, msgspec.Raw]


class Shape(Enum):
    """How a file holds its content."""

    ARCHIVE = auto()
    OBJECT = auto()
    """One JSON object."""
    ROWS = auto()
    """JSON lines, or a JSON list."""
    TABLE = auto()
    """CSV or Parquet."""


_SHAPES = {
    ".eval": Shape.ARCHIVE,
    ".json": Shape.OBJECT,
    ".jsonl": Shape.ROWS,
    ".csv": Shape.TABLE,
    ".parquet": Shape.TABLE,
}
"""The suffixes of logs. A `.json` file may also have rows."""


def shape_of(path: Path) -> Shape | None:
    """Return the shape that a name says, compressed or not; None if it is not that of a log."""
    unpacked = unpacked_path(path)
    shape = _SHAPES.get(unpacked.suffix)
    is_packed = unpacked.suffix != path.suffix
    return None if shape is Shape.ARCHIVE and is_packed else shape


@dataclass(frozen=True)
class FileForm:
    """The shape, some fields and the name that the files of a kind share."""

    shape: Shape
    fields: Collection[str] = ()
    name: str = "*"


@dataclass(frozen=True)
class LogKind:
    """A kind of files."""

    name: str
    forms: tuple[FileForm, ...]
    layout: str = ""
    """The value of the option `layout` that asks for it; empty if it can't be read."""
    reader: Callable[[LogFile], Log] | None = None
    is_companion: bool = False
    """Whether such files are expected where logs are, and need no mention."""


@dataclass(frozen=True)
class Beginning:
    """The fields of a file's object, or of its first row, by which its kind is recognised."""

    path: Path
    shape: Shape
    fields: Collection[str] = field(default_factory=frozenset)

    def has(self, form: FileForm) -> bool:
        """Tell whether the file has a form."""
        has_fields = set(form.fields) <= set(self.fields)
        is_named = fnmatch(unpacked_path(self.path).name, form.name)
        return self.shape == form.shape and has_fields and is_named


INSPECT = LogKind(
    "a log of Inspect",
    (FileForm(Shape.ARCHIVE), FileForm(Shape.OBJECT, ("eval", "status"))),
    "inspect",
    read_inspect,
)
LM_EVAL = LogKind(
    "samples of lm-evaluation-harness",
    (FileForm(Shape.ROWS, ("doc_id", "filtered_resps")),),
    "lm-eval",
    read_lm_eval,
)
EVERY_EVAL_EVER = LogKind(
    "samples of Every Eval Ever",
    (FileForm(Shape.ROWS, ("schema_version", "sample_id", "evaluation")),),
    "every-eval-ever",
    read_every_eval_ever,
)
HELM = LogKind(
    "statistics per instance of HELM",
    (
        FileForm(Shape.ROWS, ("instance_id", "stats"), "per_instance_stats*"),
        FileForm(Shape.ROWS, ("instance_id", "train_trial_index", "stats")),
    ),
    "helm",
    read_helm,
)
LIGHTEVAL = LogKind(
    "details of lighteval",
    (
        FileForm(Shape.TABLE, ("metric", "model_response")),
        FileForm(Shape.TABLE, ("metrics", "predictions")),
        FileForm(Shape.TABLE, name="details_*.parquet"),
    ),
    "lighteval",
    read_lighteval,
)
OPENAI_EVALS = LogKind(
    "events of OpenAI evals",
    (FileForm(Shape.ROWS, ("spec",)), FileForm(Shape.ROWS, ("run_id", "event_id", "sample_id"))),
    "openai-evals",
    read_openai_evals,
)
PROMPTFOO = LogKind(
    "results of promptfoo",
    (
        FileForm(Shape.OBJECT, ("results", "shareableUrl")),
        FileForm(Shape.OBJECT, ("results", "evalId")),
        FileForm(Shape.OBJECT, ("results", "stats", "version")),
        FileForm(Shape.ROWS, ("promptIdx", "testIdx")),
        FileForm(Shape.ROWS, ("gradingResult", "success")),
    ),
    "promptfoo",
    read_promptfoo,
)
_ROW_FIELDS = ("dataset", "model", "method", "id", "rule")
SCORES = LogKind(
    "scores",
    (FileForm(Shape.ROWS, _ROW_FIELDS), FileForm(Shape.TABLE, _ROW_FIELDS)),
    "scores",
    read_score_rows,
)
LINES = LogKind(
    'lines of "id" and "correct"',
    tuple(
        FileForm(shape, (id_name, value_name))
        for shape in (Shape.ROWS, Shape.TABLE)
        for id_name in ID_NAMES
        for value_name in VALUE_NAMES
    ),
    "scores",
    read_score_rows,
)
OUTPUTS = LogKind(
    "outputs of models; `evalcore score` reads them",
    (FileForm(Shape.ROWS, ("id", "output")), FileForm(Shape.ROWS, ("question_id", "output"))),
)
OTHER_TABLES = LogKind("scores", (FileForm(Shape.TABLE),), "scores", read_score_rows)
"""Tables with a column for each method; or without a needed column, which their reader names."""
UNKNOWN = LogKind("not a known log", ())
_HELM_PARTS = LogKind(
    "a file of a HELM run without scores, which are in per_instance_stats.json beside it",
    (
        FileForm(Shape.OBJECT, ("adapter_spec", "request_states")),
        FileForm(Shape.OBJECT, ("adapter_spec", "scenario_spec")),
        FileForm(Shape.OBJECT, ("name", "description"), "scenario.json"),
        FileForm(Shape.ROWS, ("name", "count"), "stats.json"),
        FileForm(Shape.ROWS, ("input", "references"), "instances.json"),
        FileForm(Shape.ROWS, ("instance_id",), "*predictions.json"),
        FileForm(Shape.ROWS, ("instance_id",), "display_requests.json"),
    ),
    is_companion=True,
)
_AGGREGATES = (
    LogKind(
        "results of Every Eval Ever without the samples, which are in a *_samples.jsonl file",
        (FileForm(Shape.OBJECT, ("schema_version", "evaluation_results")),),
        is_companion=True,
    ),
    LogKind(
        "results of lighteval without the samples; run it with --save-details, which writes them "
        "to details_*.parquet",
        (FileForm(Shape.OBJECT, ("config_general", "results")),),
        is_companion=True,
    ),
    LogKind(
        "results of simple-evals, which have no scores of single problems; give lines of "
        '"id" and "correct"',
        (
            FileForm(Shape.OBJECT, ("score", "score:std")),
            FileForm(Shape.OBJECT, ("score", "metrics", "htmls")),
        ),
    ),
    LogKind(
        "preferences of alpaca_eval between two outputs, which are not scores of one; "
        "`evalcore score` scores the outputs in model_outputs.json",
        (FileForm(Shape.ROWS, ("output_1", "output_2")),),
    ),
    LogKind(
        "outputs of alpaca_eval without scores; give each the id of its question, and "
        "`evalcore score` reads them",
        (FileForm(Shape.ROWS, ("instruction", "output", "generator")),),
    ),
    LogKind(
        "results of lm-evaluation-harness without the samples, which are in files beside it",
        tuple(
            FileForm(Shape.OBJECT, ("results", other))
            for other in ("configs", "versions", "n-shot")
        ),
        is_companion=True,
    ),
)
KINDS = (
    INSPECT,
    LM_EVAL,
    EVERY_EVAL_EVER,
    HELM,
    LIGHTEVAL,
    OPENAI_EVALS,
    PROMPTFOO,
    SCORES,
    LINES,
    _HELM_PARTS,
    *_AGGREGATES,
    OUTPUTS,
    OTHER_TABLES,
)
"""The first kind that fits is meant."""


def recognise(path: Path) -> tuple[LogKind, Beginning]:
    """Return the kind of a file, and its beginning."""
    with input_errors(path):
        beginning = _read_beginning(path)
    fits = (kind for kind in KINDS if any(beginning.has(form) for form in kind.forms))
    return next(fits, UNKNOWN), beginning


def _read_beginning(path: Path) -> Beginning:
    shape = shape_of(path)
    if shape is Shape.TABLE:
        is_csv = unpacked_path(path).suffix == ".csv"
        columns = _csv_columns(path) if is_csv else _parquet_columns(path)
        return Beginning(path, shape, columns)
    if shape is Shape.ROWS:
        return Beginning(path, shape, _fields_of_first(_first_line_or_list(path))[0])
    if shape is Shape.OBJECT:
        with open_unpacked(path) as file:
            return _read_object(path, file.read(_MOST_BYTES))
    return Beginning(path, shape or Shape.OBJECT)


def _first_line_or_list(path: Path) -> bytes:
    with open_unpacked(path) as file:
        line = next((line for line in file if line.strip()), b"")
        more = file.read(_START_BYTES) if line.lstrip().startswith(b"[") else b""
        return line + more + file.read(_MOST_BYTES) if is_json_list(line + more) else line


def _read_object(path: Path, content: bytes) -> Beginning:
    with suppress(ValueError, RecursionError):  # much quicker, but knows no NaN
        return Beginning(path, Shape.OBJECT, msgspec.json.decode(content, type=_Keys).keys())
    fields, has_more = _fields_of_first(content)
    return Beginning(path, Shape.ROWS if has_more else Shape.OBJECT, fields)


def _fields_of_first(content: bytes) -> tuple[Collection[str], bool]:
    """Return the fields of the first object of JSON, and whether others follow or could.

    If it is damaged, those near the beginning are all that can be known.
    """
    text = content.decode("utf-8-sig", errors="replace").lstrip()
    is_list = text.startswith("[")
    text = text.removeprefix("[").lstrip()
    try:
        first, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return re.findall(r'"(\w+)"\s*:', text[:_START_BYTES]), is_list
    fields = first.keys() if isinstance(first, dict) else ()
    return fields, is_list or bool(text[end:].strip())


def _csv_columns(path: Path) -> Collection[str]:
    unpacked = open_unpacked(path)
    opened = io.TextIOWrapper(unpacked, "utf-8-sig", "replace", newline="")
    with opened as file, suppress(csv.Error):  # its reader says what is wrong with it
        first = file.readline()
        lines = chain([first], file)  # a quoted name may go on in the next line
        return next(csv.reader(lines, delimiter=separator_of(first)), [])
    return ()


def _parquet_columns(path: Path) -> Collection[str]:
    import pyarrow
    import pyarrow.parquet

    with suppress(pyarrow.ArrowException, OSError):
        return [*pyarrow.parquet.read_schema(path).names]
    return ()
