"""`evalcore logs`: per-sample results of other tools, which need not be installed, as scores."""

from __future__ import annotations

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
from evalcore.logs.readers import Log, UsageRow, decode, read_inspect, read_lm_eval
from ngramscan.errors import InputError
from ngramscan.reading.yaml_files import input_errors
from ngramscan.reporting import optional_target, refuse_other
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.options import save

__all__ = ["UsageRow", "logs", "read_logs"]


def _read_scores(log: Log) -> None:
    rows = scores.read_scores(log.path)
    log.rows = [replace(row, **log.given) for row in rows if log.wants(row.rule)]


class _Line(msgspec.Struct):
    id: str | int
    correct: bool | None


def _read_lines(log: Log) -> None:
    log.set_names(None, [{"method": log.path.stem}], dataset=None, model=None)
    for place, content in log.lines() if log.wants("correct") else ():
        line = decode(place, content, _Line)
        value = None if line.correct is None else float(line.correct)
        reason = "recorded as unknown" if value is None else "as recorded"
        row: dict[str, Any] = {"id": str(line.id), "epoch": None, "rule": "correct", "value": value}
        row |= {**log.names, "answer": None, "extraction": None, "reason": reason}
        log.rows.append(scores.ScoreRow(**row))


_SAMPLES = "samples of lm-evaluation-harness"
_RESULTS = "results of lm-evaluation-harness without the samples, which are in files beside it"
_NO_ERRORS = "lm-evaluation-harness records no errors: empty or cut replies may be failed requests"
_OUTPUTS = "outputs of models; `evalcore score` reads them"
_ROW = "".join(rf"(?=.* {name} )" for name in ("dataset", "model", "method", "id", "rule"))
_LINE = r"\.jsonl(?=.* id )(?=.* correct )"
_SCORES = rf"\.csv |\.parquet |\S*{_ROW}|{_LINE}(?=.* (?:dataset|model|method|rule) )"
_KINDS: dict[str, tuple[str, str, Callable[[Log], None]]] = {
    "a log of Inspect": ("inspect", r"\.eval |\S* version status eval ", read_inspect),
    _SAMPLES: ("lm-eval", r"\.jsonl(?=.* doc_id )(?=.* filtered_resps )", read_lm_eval),
    "scores": ("scores", _SCORES, _read_scores),
    'lines of "id" and "correct"': ("scores", _LINE, _read_lines),
    _RESULTS: ("", r"\S* results ", read_lm_eval),
    _OUTPUTS: ("", r"\.jsonl(?=.* id )(?=.* output )", _read_lines),
}
"""Kinds of files: the layout, a pattern of the suffix and the first fields, and the reader."""


def read_logs(paths: Iterable[str | Path], layout: str = "auto", **options: Any) -> Log:
    """Read logs, or folders of them, with the options of a `Log`; one row per sample and rule."""
    together = Log(Path("logs"), **options)
    found: dict[Path, tuple[Log, str]] = {}
    for path in map(Path, paths):
        with input_errors(path):
            for file, kind in _find(path, layout, together).items():
                found.setdefault(file.resolve(), (Log(file, **options), kind))
    seen: dict[object, Path] = {}
    for log, kind in found.values():
        with input_errors(log.path):
            _KINDS[kind][2](log)
        log.tell_failures()
        row: Any
        for row in (*log.rows, *log.usage):
            rule = getattr(row, "rule", "tokens")
            key = (*scores.key_of(row), rule, row.run)
            if key in seen:
                also = f"also in {seen[key]}; give only one of them, or name them differently"
                problem = "it is there twice" if seen[key] == log.path else also
                which = f"{row.dataset}/{row.model}/{row.method}, id {row.id!r}, {rule}"
                raise InputError(str(log.path), f"{which}: {problem}")
            seen[key] = log.path
        together.rules |= log.rules
        together.rows += log.rows
        together.usage += log.usage
        together.notices += log.notices
    refuse_other("--rule", together.wanted, together.rules)
    if _SAMPLES in {kind for _, kind in found.values()}:
        together.notices.append(_NO_ERRORS)
    together.notices += _describe_split_benchmarks(together.rows)
    for told in scores.describe_runs(scores.count_runs(together.rows)):
        together.notices.append(f"{told}; `compare` takes one of them (--run)")
    return together


def _find(path: Path, layout: str, together: Log) -> dict[Path, str]:
    """Return the logs in a file or folder and their kinds; add a notice on other files."""
    if not path.exists():
        raise InputError(str(path), "no such file or folder")
    files = [path]
    if path.is_dir():
        files = [one for one in sorted(path.rglob("*")) if one.is_file()]
        files = [one for one in files if one.suffix in {".eval", ".json", ".jsonl"}]
    wanted = [kind for kind, (own, *_) in _KINDS.items() if own and layout in {"auto", own}]
    kinds = {file: _recognise(replace(together, path=file)) for file in files}
    if kinds.get(path, "") is None and layout in {"inspect", "lm-eval"}:
        kinds[path] = wanted[0]  # rewritten by hand, it may begin with other fields
    logs = {file: kind for file, kind in kinds.items() if kind in wanted}
    if not logs:
        is_outputs = _OUTPUTS in kinds.values()
        problem = _OUTPUTS if is_outputs else kinds.get(path, "no logs in it") or "not a known log"
        raise InputError(str(path), f"{problem}; expected {', or '.join(wanted)}")
    if others := [file for file in kinds if kinds[file] not in {*wanted, _RESULTS}]:
        shown = [str(file.relative_to(path)) for file in others[:3]] + ["…"] * (len(others) > 3)
        together.notices.append(f"{path}: not logs, and not read: {', '.join(shown)}")
    return logs


def _recognise(log: Log) -> str | None:
    names: Iterable[str] = ()
    if log.path.suffix == ".jsonl":
        first = next(log.lines(), ("", b""))
        with suppress(InputError):
            names = decode(*first, dict[str, Any])
    else:
        with log.path.open("rb") as file, input_errors(log.path):
            names = re.findall(r'"(\w+)"\s*:', file.read(4096).decode(errors="replace"))
    begin = " ".join([log.path.suffix, *names, ""])
    return next((kind for kind, (_, like, _) in _KINDS.items() if re.match(like, begin)), None)


def _describe_split_benchmarks(rows: Sequence[scores.ScoreRow]) -> Iterator[str]:
    """Describe tasks that look like one benchmark: tools name each way of prompting a task."""
    ids, methods = defaultdict(set), defaultdict(set)
    for row in rows:
        ids[row.dataset].add(row.id)
        methods[row.dataset].add(row.method)
    for names in dict.fromkeys(tuple(two for two in ids if ids[one] == ids[two]) for one in ids):
        if len(names) > 1 and not set.intersection(*(methods[name] for name in names)):
            cure = "--dataset NAME reads them as one benchmark, which makes them comparable"
            yield f"{', '.join(names)} have the same ids but different methods: {cure}"


@command
def logs(
    *paths: Annotated[str | Path, Option(metavar="PATH...")],
    layout: Literal["auto", "inspect", "lm-eval", "scores"] = "auto",
    dataset: Annotated[str | None, Option(metavar="NAME")] = None,
    model: Annotated[str | None, Option(metavar="NAME")] = None,
    method: Annotated[str | None, Option(metavar="NAME")] = None,
    rule: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    missing: Literal["apart", "as-recorded"] = "apart",
    usage: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    max_line: Annotated[int, Option(metavar="MB", least=1)] = 256,
    for_table: bool = True,
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
    target = optional_target(usage)
    named = {"dataset": dataset, "model": model, "method": method}
    given = {name: said for name, said in named.items() if said}
    options = {"given": given, "wanted": tuple(rule), "missing": missing, "max_line": max_line}
    found = read_logs(paths, layout, **options)
    save(found.usage, UsageRow, target)
    if target and not found.usage:
        found.notices.append("these logs do not record tokens")
    found.notices += [] if for_table else scores.describe_summaries(found.rows)
    shown = partial(scores.print_summaries, rows=found.rows)
    return Result(found.rows, scores.ScoreRow, notices=found.notices, print_table=shown)
