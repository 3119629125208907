"""Details of lighteval: `details/MODEL/TIME/details_TASK_TIME.parquet`, written on request.

Columns are `doc`, `model_response` and `metric`; before version 0.10, `predictions` and `metrics`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evalcore.commands.logs.readers import Log, LogFile, Recorded, add_scores
from evalcore.formats import JsonFields, hash_document
from ngramscan.errors import InputError

_NAME = re.compile(r"details_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)")
_POSITIONS = "no ids, so ids are positions, which must mean the same in runs to compare"


def read_lighteval(file: LogFile) -> Log:
    """Read a file of details: one rule per metric."""
    log, scores = Log(), list[Recorded]()
    rows = [fields for _, fields in file.records()]
    if not {"metric", "metrics"} & rows[0].keys():
        problem = f"no column 'metric' or 'metrics'; it has {', '.join(rows[0])}"
        raise InputError(file.path, problem)
    match = _NAME.fullmatch(file.path.stem)
    task, time = (match["task"], match["time"]) if match else (None, None)
    task = task or _doc_of(rows[0]).get("task_name")
    notes: list[JsonFields | None] = [{"method": _shots_of(task or "")}]
    names = file.names(time, notes, dataset=task, model=_model_in(file.path))
    log.rules = {name for fields in rows for name in _metrics_of(fields)}
    for (position, fields), id_ in zip(enumerate(rows), _ids(rows, log), strict=True):
        place = f"{file.path}[{position + 1}]"
        identity = {"id": id_, "epoch": None, "hash": _hash_of(fields)}
        scores += _scores(file, place, fields, names | identity)
    add_scores(log, file, scores)
    return log


def _model_in(path: Path) -> str | None:
    """Return the model's name, whose parts are the folders below `details`."""
    folders = path.absolute().parent.parts
    if "details" not in folders:
        return None
    start = len(folders) - folders[::-1].index("details")
    return "/".join(folders[start:-1]) or None


def _shots_of(task: str) -> str | None:
    """Return what tells ways of prompting a task apart: its number of examples, if it has one."""
    shots = task.rpartition("|")[2]
    return f"{shots}-shot" if shots.isdecimal() else None


def _doc_of(fields: JsonFields) -> JsonFields:
    doc = fields.get("doc")
    return doc if isinstance(doc, dict) else {}


def _hash_of(fields: JsonFields) -> str | None:
    """Return the hash of the problem and its choices, which may be in any order."""
    doc = _doc_of(fields)
    text = doc.get("original_query") or doc.get("query") or fields.get("example")
    choices = doc.get("choices") or fields.get("choices")
    listed = choices if isinstance(choices, list) else []
    return hash_document(str(text), *sorted(map(str, listed))) if text else None


def _metrics_of(fields: JsonFields) -> JsonFields:
    metrics = fields.get("metric") or fields.get("metrics")
    return metrics if isinstance(metrics, dict) else {}


def _ids(rows: Sequence[JsonFields], log: Log) -> list[str]:
    ids = [_doc_of(fields).get("id") for fields in rows]
    if any(id_ in {None, ""} for id_ in ids) or len(set(ids)) < len(ids):
        log.notices.append(_POSITIONS)
        return [str(position) for position in range(len(rows))]
    return [str(id_) for id_ in ids]


def _scores(file: LogFile, place: str, fields: JsonFields, names: JsonFields) -> Iterator[Recorded]:
    replies = _replies_of(fields)
    for rule, score in _metrics_of(fields).items():
        if file.wants(rule):
            yield Recorded(file.row(place, names, rule, score), replies, False)


def _replies_of(fields: JsonFields) -> list[str]:
    """Return the texts of the model; none if it only rated the likelihood of given ones."""
    response = fields.get("model_response")
    texts: Any = (
        fields.get("predictions") if not isinstance(response, dict) else response.get("text")
    )
    texts = texts if isinstance(texts, list) else [texts]
    return [text for text in texts if isinstance(text, str)]
