"""`evalcore logs`: per-sample results of other tools, which need not be installed, as scores."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from evalcore import scores
from evalcore.commands.logs.inspect import read_inspect
from evalcore.commands.logs.lm_eval import read_lm_eval
from evalcore.commands.logs.readers import Log, LogFile, UsageRow, decode
from evalcore.commands.logs.unnamed_methods import name_methods
from evalcore.documents import join_tasks
from evalcore.formats import Fields
from evalcore.options import Name, Names
from ngramscan.errors import InputError
from ngramscan.reading.yaml_files import input_errors
from ngramscan.reporting import refuse_other
from ngramscan.reporting.command import Option, Result, RowsFile, command

__all__ = ["UsageRow", "logs", "read_logs"]


def _read_scores(file: LogFile) -> Log:
    rows = scores.read_scores(file.path, scores.ScoreRow)
    kept = [replace(row, **file.given) for row in rows if file.wants(row.rule)]
    return Log(rules={row.rule for row in rows}, rows=kept)


class _Line(msgspec.Struct):
    id: str | int
    correct: bool | None


def _read_lines(file: LogFile) -> Log:
    names = file.names(None, [{"method": file.path.stem}], dataset=None, model=None)
    log = Log(rules={"correct"})
    for place, content in file.lines() if file.wants("correct") else ():
        line = decode(place, content, _Line)
        row = scores.ScoreRow(
            **names,
            id=str(line.id),
            epoch=None,
            rule="correct",
            value=None if line.correct is None else float(line.correct),
            reason="recorded as unknown" if line.correct is None else "as recorded",
        )
        log.rows.append(row)
    return log


_SUFFIXES = {".eval", ".json", ".jsonl"}
_INSPECT = "a log of Inspect"
_SAMPLES = "samples of lm-evaluation-harness"
_RESULTS = "results of lm-evaluation-harness without the samples, which are in files beside it"
_NO_ERRORS = "lm-evaluation-harness records no errors: empty or cut replies may be failed requests"
_NO_LOG = "not a known log"
_OUTPUTS = "outputs of models; `evalcore score` reads them"
_ROW = "".join(rf"(?=.* {name} )" for name in ("dataset", "model", "method", "id", "rule"))
_LINE = r"\.jsonl(?=.* id )(?=.* correct )"
_SCORES = rf"\.csv |\.parquet |\S*{_ROW}|{_LINE}(?=.* (?:dataset|model|method|rule) )"
_KINDS: dict[str, tuple[str, str, Callable[[LogFile], Log]]] = {
    _INSPECT: ("inspect", r"\.eval |\S* version status eval ", read_inspect),
    _SAMPLES: ("lm-eval", r"\.jsonl(?=.* doc_id )(?=.* filtered_resps )", read_lm_eval),
    "scores": ("scores", _SCORES, _read_scores),
    'lines of "id" and "correct"': ("scores", _LINE, _read_lines),
    _RESULTS: ("", r"\S* results ", read_lm_eval),
    _OUTPUTS: ("", r"\.jsonl(?=.* id )(?=.* output )", _read_lines),
}
"""Kinds of files: the layout, a pattern of the suffix and the first fields, and the reader."""


def read_logs(paths: Iterable[str | Path], layout: str = "auto", **options: Any) -> Log:
    """Read logs, or folders of them, with the options of a `LogFile`: a row per sample and rule."""
    found: dict[Path, tuple[LogFile, str]] = {}
    together, seen = Log(), dict[object, Path]()
    for path in map(Path, paths):
        with input_errors(path):
            for place, kind in _find(path, layout, together.notices, options).items():
                found.setdefault(place.resolve(), (LogFile(place, **options), kind))
    logs_read = list[tuple[Path, Log]]()
    for file, kind in found.values():
        with input_errors(file.path):
            logs_read.append((file.path, _KINDS[kind][2](file)))
    of_methods = name_methods(logs_read)
    for place, log in logs_read:
        _refuse_twice(log, place, seen)
        together.add(log, place)
    together.notices += of_methods
    refuse_other("--rule", options.get("wanted", ()), sorted(together.rules))
    if _SAMPLES in {kind for _, kind in found.values()}:
        together.notices.append(_NO_ERRORS)
    together.notices += _describe_split_benchmarks(together.rows)
    for runs in scores.describe_runs(scores.count_runs(together.rows)):
        together.notices.append(f"{runs}; `compare` takes one of them (--run)")
    return together


def _refuse_twice(log: Log, path: Path, seen: dict[object, Path]) -> None:
    """Raise an InputError if a row was seen before, here or in another file."""
    row: Any
    for row in (*log.rows, *log.usage):
        rule = getattr(row, "rule", "tokens")
        key = (*scores.key_of(row), rule, row.run)
        if key in seen:
            also = f"also in {seen[key]}; give only one of them, or name them differently"
            problem = "it is there twice" if seen[key] == path else also
            place = f"{row.dataset}/{row.model}/{row.method}, id {row.id!r}, {rule}"
            raise InputError(path, f"{place}: {problem}")
        seen[key] = path


def _find(path: Path, layout: str, notices: list[str], options: Fields) -> dict[Path, str]:
    """Return the logs in a file or folder and their kinds; add a notice on other files."""
    if not path.exists():
        raise InputError(path, "no such file or folder")
    paths = [path]
    if path.is_dir():
        there = sorted(path.rglob("*"))
        paths = [file for file in there if file.suffix in _SUFFIXES and file.is_file()]
    wanted = [kind for kind, (name, *_) in _KINDS.items() if name and layout in {"auto", name}]
    kinds = {file: _recognise(LogFile(file, **options)) for file in paths}
    if kinds.get(path) == _NO_LOG and layout in {"inspect", "lm-eval"}:
        kinds[path] = wanted[0]  # rewritten by hand, it may begin with other fields
    logs = {file: kind for file, kind in kinds.items() if kind in wanted}
    if not logs:
        is_outputs = _OUTPUTS in kinds.values()
        problem = _OUTPUTS if is_outputs else kinds.get(path, "contains no logs")
        raise InputError(path, f"{problem}; expected {', or '.join(wanted)}")
    if others := [file for file in kinds if kinds[file] not in {*wanted, _RESULTS}]:
        shown = [str(file.relative_to(path)) for file in others[:3]] + ["…"] * (len(others) > 3)
        notices.append(f"{path}: not logs, and not read: {', '.join(shown)}")
    return logs


def is_log(path: Path) -> bool:
    """Tell whether a file, or a folder, has results of another tool."""
    if not path.is_file() or path.suffix not in _SUFFIXES:
        return path.is_dir()
    return _recognise(LogFile(path)) in {_INSPECT, _SAMPLES, _RESULTS}


def _recognise(file: LogFile) -> str:
    names: Iterable[str] = ()
    if file.path.suffix == ".jsonl":
        first = next(file.lines(), ("", b""))
        with suppress(InputError):
            names = decode(*first, Fields)
    else:
        with file.path.open("rb") as opened, input_errors(file.path):
            names = re.findall(r'"(\w+)"\s*:', opened.read(4096).decode(errors="replace"))
    begin = " ".join([file.path.suffix, *names, ""])
    return next((kind for kind, (_, like, _) in _KINDS.items() if re.match(like, begin)), _NO_LOG)


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


def _describe_joined_tasks(rows: Sequence[scores.ScoreRow]) -> Iterator[str]:
    """Describe tasks that are prompts of the same documents."""
    tasks = defaultdict[str, list[str]](list)
    for task, benchmark in join_tasks(rows).items():
        tasks[benchmark].append(task)
    for benchmark, names in tasks.items():
        if len(names) > 1:
            same = f"{', '.join(names)} have documents in common"
            yield f"{same}: `compare` takes them as one benchmark, {benchmark}"


@command
def logs(
    *paths: Annotated[str | Path, Option(metavar="PATH...")],
    layout: Literal["auto", "inspect", "lm-eval", "scores"] = "auto",
    dataset: Name = None,
    model: Name = None,
    method: Name = None,
    rule: Names = (),
    missing: Literal["apart", "as-recorded"] = "apart",
    usage: RowsFile = None,
    max_line: Annotated[int, Option(metavar="MB", least=1)] = 256,
) -> Result[scores.ScoreRow]:
    """Read per-sample results of other tools as scores.

    Reads logs of Inspect (.eval, .json), samples of lm-evaluation-harness (samples_*.jsonl, with
    results_*.json beside them), rows of `evalcore score`, and lines of "id" and "correct"; or
    folders of them. Names that you give replace those of the logs.

    Refusals, empty and cut replies (no answer) and errors (unknown) have no value. The terminal
    shows accuracy per model and method; files have one row per sample and rule.

    Parameters
    ----------
    *paths : str or Path
        Logs, or folders of them.
    layout : str
        Tool that wrote the logs; `auto` recognises it, `scores` is this package.
    dataset : str, optional
        Name of the benchmark. By default the name of the task.
    model : str, optional
        Name of the model. By default the one in the log.
    method : str, optional
        The prompting method. By default the one in the metadata of the log.
    rule : str or sequence of str
        Read only this scorer, filter or metric. By default all.
    missing : str
        Errors, refusals, empty and cut replies have no value (`apart`), or the recorded one
        (`as-recorded`).
    usage : str or Path, optional
        Write the tokens of each answer to this file, if the logs record them.
    max_line : int
        Maximum length of a line, sample or file of JSON, in MB; a longer one is an error.

    Returns
    -------
    DataFrame
        One row per sample and rule, as `score` returns them.

    Examples
    --------
    $ evalcore logs logs/cot.eval logs/pot.eval -o scores.jsonl
    $ evalcore logs results/ --dataset gsm8k --method cot --rule strict-match -o scores.jsonl
    """
    named = {"dataset": dataset, "model": model, "method": method}
    found = read_logs(
        paths,
        layout,
        given={kind: name for kind, name in named.items() if name},
        wanted=tuple(rule),
        missing=missing,
        max_line=max_line,
    )
    if usage and not found.usage:
        found.notices.append("these logs do not record tokens")
    found.notices += _describe_joined_tasks(found.rows)
    shown = partial(scores.print_summaries, rows=found.rows)
    return Result(
        found.rows,
        scores.ScoreRow,
        notices=found.notices,
        print_table=shown,
        is_summary=True,
        files=[(usage, found.usage, UsageRow)],
    )
