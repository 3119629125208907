"""The simplest tables of results: a problem in each row, and whether its answer is right.

Benchmark, model and method may be columns; otherwise the path names the benchmark and the method.
"""

from pathlib import Path

from evalcore.commands.logs.readers import Log, LogFile, to_number
from evalcore.formats import Fields
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError

ID_FIELDS = ("id", "question_id", "problem_id")
VALUE_FIELDS = ("correct", "is_correct", "score", "acc", "accuracy", "exact_match")
"""How tables call the result, the surest name first."""
_NAMES = ("dataset", "model", "method")
_UNNAMED_MODEL = "unnamed"
_COMMON_STEMS = {"scores", "results", "samples", "outputs", "predictions", "eval", "log"}
"""Names of files that say nothing of the method; their folders may."""


def read_lines(file: LogFile) -> Log:
    """Read a table of ids and results: one rule, named after the column of the results."""
    rows = [*file.records()]
    if not rows:
        raise InputError(file.path, 'it is empty; expected rows of "id" and "correct"')
    first = rows[0][1]
    id_field = next(name for name in ID_FIELDS if name in first)
    value_field = next(name for name in VALUE_FIELDS if name in first)
    columns = [name for name in _NAMES if all(fields.get(name) for _, fields in rows)]
    log = Log()
    known = {name: str(first[name]) for name in columns}
    names = file.complete_names(log, None, known, _names_in(file.path))
    for place, fields in rows:
        rule = str(fields.get("rule") or value_field)
        log.rules.add(rule)
        if not file.wants(rule):
            continue
        given = {name: file.given.get(name, str(fields[name])) for name in columns}
        value = _value_in(file, place, fields, value_field)
        row = ScoreRow(
            **{**names, **given},
            id=_id_in(place, fields, id_field),
            epoch=_epoch_in(place, fields),
            rule=rule,
            value=value,
            reason="recorded as unknown" if value is None else "as recorded",
        )
        log.rows.append(row)
    return log


def _names_in(path: Path) -> dict[str, str]:
    """Return what the path says: FOLDER/METHOD.jsonl, or FOLDER/METHOD/results.jsonl."""
    method = path.absolute()
    if method.stem.lower() in _COMMON_STEMS:
        method = method.parent
    return {"dataset": method.parent.name, "model": _UNNAMED_MODEL, "method": method.stem}


def _value_in(file: LogFile, place: str, fields: Fields, name: str) -> float | None:
    if name not in fields:
        raise InputError(place, f"no {name!r}; write null where the result is unknown")
    value = fields[name]
    if isinstance(value, str) and not value.strip():  # an empty cell of CSV
        value = None
    return to_number(f"{place}: {name} {value!r}", value, file.scale)


def _id_in(place: str, fields: Fields, name: str) -> str:
    if not isinstance(value := fields.get(name), str | int) or value == "":
        raise InputError(place, f"no {name!r} of the problem; expected text or a number")
    return str(value)


def _epoch_in(place: str, fields: Fields) -> int | None:
    epoch = fields.get("epoch")
    if epoch in {None, ""}:
        return None
    if not str(epoch).isdecimal():
        raise InputError(place, f"epoch {epoch!r}; expected a number from 1")
    return int(str(epoch))
