"""Finding logs in files and folders, and reading them together."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalcore import scores
from evalcore.commands.logs.kinds import (
    KINDS,
    LINES,
    LM_EVAL,
    OTHER_TABLES,
    OUTPUTS,
    SCORES,
    UNKNOWN,
    LogKind,
    Shape,
    recognise,
    shape_of,
)
from evalcore.commands.logs.readers import Log, LogFile
from evalcore.commands.logs.unnamed_methods import name_methods
from evalcore.simple_tables import name_tables
from ngramscan.errors import InputError
from ngramscan.reading.yaml_files import input_errors
from ngramscan.reporting import refuse_other

_NO_ERRORS = "lm-evaluation-harness records no errors: empty or cut replies may be failed requests"
_OWN = (SCORES, LINES, OTHER_TABLES, OUTPUTS, UNKNOWN)
"""Kinds that no other tool writes."""


def read_logs(paths: Iterable[str | Path], layout: str = "auto", **options: Any) -> Log:
    """Read logs, or folders of them, with the options of a `LogFile`: a row per sample and rule.

    A log that can't be read is one of the `failures`, unless there is no other.
    """
    together = Log()
    logs: dict[Path, tuple[Path, LogKind]] = {}
    for path in map(Path, paths):
        for place, kind in _find(path, layout, together.notices).items():
            logs.setdefault(place.resolve(), (place, kind))
    _read_each(logs.values(), together, options)
    refuse_other("rule", options.get("wanted", ()), sorted(together.rules))
    if LM_EVAL in {kind for _, kind in logs.values()}:
        together.notices.append(_NO_ERRORS)
    together.notices += _describe_split_benchmarks(together.rows)
    for runs in scores.describe_runs(scores.count_runs(together.rows)):
        together.notices.append(f"{runs}; `compare` takes one of them (--run)")
    return together


def _read_each(
    logs: Iterable[tuple[Path, LogKind]], together: Log, options: dict[str, Any]
) -> None:
    logs_by_path = list[tuple[Path, Log]]()
    logs = list(logs)
    named_tables = name_tables(path for path, kind in logs if kind in {LINES, OTHER_TABLES})
    for path, kind in logs:
        file = LogFile(path, **options, named=named_tables.get(path))
        try:
            logs_by_path.append((path, _read_one(file, kind)))
        except InputError as error:
            together.failures.append(error)
    if together.failures and not logs_by_path:
        raise together.failures[0]
    on_methods = name_methods(logs_by_path)
    seen: dict[object, Path] = {}
    for path, log in logs_by_path:
        _refuse_other_files(log, path, seen)
        together.add(log, path)
    together.notices += on_methods


def _read_one(file: LogFile, kind: LogKind) -> Log:
    if kind.reader is None:
        raise InputError(file.path, kind.name)
    with input_errors(file.path):
        log = kind.reader(file)
    _refuse_twice(log, file.path)
    return log


def _refuse_twice(log: Log, path: Path) -> None:
    seen: set[object] = set()
    for row, key in _keyed_rows(log):
        if key in seen:
            raise InputError(path, f"{_describe_row(row, key)}: it is there twice")
        seen.add(key)


def _refuse_other_files(log: Log, path: Path, seen: dict[object, Path]) -> None:
    """Raise an InputError if another file has a row of this one: which to keep is a choice."""
    for row, key in _keyed_rows(log):
        if (other := seen.setdefault(key, path)) != path:
            cure = f"also in {other}; give only one of them, or name them differently"
            raise InputError(path, f"{_describe_row(row, key)}: {cure}")


def _keyed_rows(log: Log) -> Iterator[tuple[Any, tuple[object, ...]]]:
    row: Any
    for row in (*log.rows, *log.usage):
        yield row, (*scores.key_of(row), getattr(row, "rule", "tokens"), row.run)


def _describe_row(row: Any, key: tuple[object, ...]) -> str:
    return f"{row.dataset}/{row.model}/{row.method}, id {row.id!r}, {key[-2]}"


def _find(path: Path, layout: str, notices: list[str]) -> dict[Path, LogKind]:
    """Return the logs in a file or folder and their kinds; add a notice on other files."""
    if not path.exists():
        raise InputError(path, "no such file or folder")
    wanted = [kind for kind in KINDS if kind.layout and layout in {"auto", kind.layout}]
    kinds = _kinds_in(path)
    if kinds.get(path) == UNKNOWN and layout not in {"auto", "scores"}:
        kinds[path] = wanted[0]  # rewritten by hand, it may have other fields
    logs = {file: kind for file, kind in kinds.items() if kind in wanted}
    if not logs:
        expected = ", or ".join(dict.fromkeys(kind.name for kind in wanted))
        raise InputError(path, f"{_describe_others(path, kinds)}; expected {expected}")
    others = [
        str(file.relative_to(path))
        for file, kind in kinds.items()
        if kind not in wanted and not kind.is_companion
    ]
    if others:
        more = ["…"] if len(others) > 3 else []
        notices.append(f"{path}: not logs, and not read: {', '.join(others[:3] + more)}")
    return logs


def _describe_others(path: Path, kinds: Mapping[Path, LogKind]) -> str:
    """Say what a file or a folder has in place of logs: what may lead to them, if anything."""
    if not path.is_dir():
        return kinds[path].name if path.stat().st_size else "it is empty"
    lacking = [kind.name for kind in kinds.values() if not kind.reader and kind != UNKNOWN]
    if lacking and not any(kind.reader for kind in kinds.values()):
        return lacking[0]
    return OUTPUTS.name if OUTPUTS in kinds.values() else "contains no logs"


def _kinds_in(path: Path) -> dict[Path, LogKind]:
    """Return the kind of a file, or of the files of a folder that may be logs."""
    if not path.is_dir():
        kind, beginning = recognise(path)
        # In a folder, rows with an id may be anything, such as questions.
        is_table = beginning.shape is Shape.ROWS and "id" in beginning.fields
        return {path: OTHER_TABLES if kind == UNKNOWN and is_table else kind}
    files = [file for file in sorted(path.rglob("*")) if shape_of(file) and file.is_file()]
    kinds = {file: recognise(file)[0] for file in files}
    return {
        file: kind
        for file, kind in kinds.items()
        # Tables that this package or others wrote lie about in many folders.
        if shape_of(file) is not Shape.TABLE or kind not in _OWN or kind == LINES
    }


def is_log(path: Path) -> bool:
    """Tell whether a file has results of another tool, or a path is that of a folder."""
    if not path.is_file() or not shape_of(path):
        return path.is_dir()
    return recognise(path)[0] not in _OWN


def refuse_logs(path: Path) -> None:
    """Raise an InputError if a file or folder has scores or logs of a tool, and no outputs."""
    if not path.is_file() and not path.is_dir():
        return
    kinds = list[LogKind]()
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if shape_of(file) and file.is_file():
            kind, beginning = recognise(file)
            if kind == OUTPUTS or "output" in beginning.fields:
                return
            kinds.append(kind)
    scored = [kind.name for kind in kinds if kind.reader]
    if scored:
        problem = f"{scored[0]}, already scored; not outputs"
        cure = f"`evalcore logs {path}` reads them, `evalcore compare {path}` compares methods"
        raise InputError(path, f"{problem}; {cure}")


def _describe_split_benchmarks(rows: Sequence[scores.ScoreRow]) -> Iterator[str]:
    """Describe tasks without hashes that look like one benchmark."""
    ids, methods = defaultdict(set), defaultdict(set)
    for row in rows:
        if row.hash is None:
            ids[row.dataset].add(row.id)
            methods[row.dataset].add(row.method)
    for names in dict.fromkeys(
        tuple(two for two in ids if ids[two] == those) for those in ids.values()
    ):
        if len(names) > 1 and not set.intersection(*(methods[name] for name in names)):
            cure = "--dataset NAME reads them as one benchmark, which makes them comparable"
            yield f"{', '.join(names)} have the same ids but different methods: {cure}"
