"""Per-sample results of other tools, read into score rows.

The tools are no dependency: their files are read as they are documented and as they were found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from evalcore.logs.inspect import read_inspect
from evalcore.logs.lm_eval import read_lm_eval
from evalcore.logs.log import Log, LogOptions, UsageRow, decode
from evalcore.scores import ScoreRow, count_runs, describe_runs, print_summaries, read_scores
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.options import save

__all__ = ["LogOptions", "UsageRow", "logs", "read_logs"]

_LM_EVAL_LIMITS = (
    "lm-evaluation-harness records no errors and no stop reasons: an empty reply may be a failed "
    "request, and replies that were cut can't be told from others"
)
_INSPECT, _SAMPLES = "a log of Inspect", "samples of lm-evaluation-harness"
_SCORES, _LINES = "scores", 'lines of "id" and "correct"'
_RESULTS = "results of lm-evaluation-harness without the samples, which are in files beside it"
_SCORE_FIELDS = {"dataset", "model", "method", "id", "rule"}
"""What tells score rows from other files; where the value is missing, their reader says so."""
_HEADS = {
    _INSPECT: rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:',
    _RESULTS: rb'\s*\{\s*"results"\s*:',
    _SCORES: rb'(?s)\s*\[\s*\{(?=.*"dataset")(?=.*"model")(?=.*"method")(?=.*"id")(?=.*"rule")',
}
"""How files of JSON begin."""


def read_logs(paths: Iterable[str | Path], options: LogOptions | None = None) -> Log:
    """Read logs, or folders of them, so that nothing is counted twice; one row per sample and rule.

    Samples that failed have no value, unless the options say that they keep what is recorded.
    """
    together = Log(Path("logs"), options or LogOptions())
    try:
        found = _find([Path(path) for path in paths], together)
        for log, kind in found:
            _READERS[kind][1](log)
            log.tell_failures()
    except OSError as error:
        problem = f"can't be read ({(error.strerror or str(error)).lower()})"
        raise InputError(str(error.filename or "logs"), problem) from error
    _refuse_same([log for log, _ in found])
    for log, _ in found:
        together.rules |= log.rules
        together.rows += log.rows
        together.usage += log.usage
        together.notices += log.notices
    for rule in together.options.rules:
        if rule not in together.rules:
            known = ", ".join(together.rules)
            raise InputError(f"--rule {rule}", f"not in these logs; there are {known}")
    together.notices += [_LM_EVAL_LIMITS] if _SAMPLES in {kind for _, kind in found} else []
    together.notices += _describe_split_benchmarks(together.rows)
    for told in describe_runs(count_runs(together.rows)):
        together.notices.append(f"{told}; `compare` takes one (--run)")
    return together


def _find(paths: Iterable[Path], together: Log) -> list[tuple[Log, str]]:
    """Return the logs among files and in folders with what they are; tell of other files."""
    found: dict[Path, tuple[Log, str]] = {}
    options = together.options
    wanted = [kind for kind, (own, _) in _READERS.items() if options.layout in {"auto", own}]
    for path in paths:
        if not path.exists():
            raise InputError(str(path), "no such file or folder")
        files = [path]
        if path.is_dir():
            files = [one for one in sorted(path.rglob("*")) if one.is_file()]
            files = [one for one in files if one.suffix in {".eval", ".json", ".jsonl"}]
        kinds = {file: _recognise(Log(file, options)) for file in files}
        if path in kinds and kinds[path] is None and options.layout in {"inspect", "lm-eval"}:
            kinds[path] = wanted[0]  # it may begin otherwise, as after being rewritten by hand
        logs = {file: kind for file, kind in kinds.items() if kind in wanted}
        if not logs:
            is_what = kinds.get(path, "no logs there") or "no log that is known"
            raise InputError(str(path), f"{is_what}; expected {', or '.join(wanted)}")
        if others := [file for file in kinds if kinds[file] not in {*wanted, _RESULTS}]:
            shown = ", ".join(str(file.relative_to(path)) for file in others[:3])
            shown += ", …" if len(others) > 3 else ""
            together.notices.append(f"{path}: not read, since they are no such logs: {shown}")
        for file, kind in logs.items():
            found.setdefault(file.resolve(), (Log(file, options), str(kind)))
    return list(found.values())


def _recognise(log: Log) -> str | None:
    """Return what a file is, told from its beginning; None: nothing that is known."""
    if log.path.suffix in {".eval", ".csv", ".parquet"}:
        return _INSPECT if log.path.suffix == ".eval" else _SCORES
    if log.path.suffix != ".jsonl":
        with log.path.open("rb") as file:
            start = file.read(4096)
        return next((kind for kind, head in _HEADS.items() if re.match(head, start)), None)
    first, names = next(log.lines(), ("", b"")), set[str]()
    with suppress(InputError):
        names |= decode(*first, dict[str, Any]).keys()
    if names >= {"doc_id", "filtered_resps"}:
        return _SAMPLES
    if names >= {"id", "correct"}:
        return _SCORES if names & _SCORE_FIELDS > {"id"} else _LINES
    return _SCORES if names >= _SCORE_FIELDS else None


def _read_scores(log: Log) -> None:
    """Read score rows of this package, which say themselves what is missing."""
    rows, given = read_scores(log.path), log.options._asdict()
    names = {name: given[name] for name in ("dataset", "model", "method") if given[name]}
    log.rules = dict.fromkeys((row.rule for row in rows), True)
    log.rows = [replace(row, **names) for row in rows if log.options.wants(row.rule)]


class _Line(msgspec.Struct):
    id: str | int
    correct: bool | None


def _read_lines(log: Log) -> None:
    """Read lines that only say of each id whether the answer is correct; null: not known."""
    log.rules["correct"] = False
    log.set_names(dataset=None, model=None, method=log.path.stem)
    for place, content in log.lines() if log.options.wants("correct") else ():
        line = decode(place, content, _Line)
        value = None if line.correct is None else float(line.correct)
        reason = "recorded as unknown" if value is None else "as recorded"
        row = {"id": str(line.id), "epoch": None, "rule": "correct", "value": value}
        log.add(row | {"answer": None, "reason": reason}, None, False)


_READERS: Mapping[str, tuple[str, Callable[[Log], None]]] = {
    _INSPECT: ("inspect", read_inspect),
    _SAMPLES: ("lm-eval", read_lm_eval),
    _SCORES: ("scores", _read_scores),
    _LINES: ("scores", _read_lines),
}
"""What a file is: of which layout, and what reads it."""


def _refuse_same(logs: Sequence[Log]) -> None:
    """Refuse two files of one run, and two rows of one sample."""
    seen: dict[object, Path] = {}
    for log in logs:
        if log.run_id is not None and seen.setdefault(log.run_id, log.path) != log.path:
            problem = f"it is the same run as {seen[log.run_id]}; name one of them"
            raise InputError(str(log.path), problem)
        for row in log.rows:
            key = (row.dataset, row.model, row.method, row.run, row.rule, row.id, row.epoch)
            if key in seen:
                also = f"also in {seen[key]}; name one of them, or tell them apart by names"
                problem = "there twice" if seen[key] == log.path else also
                which = f"{row.dataset}/{row.model}/{row.method}, id {row.id!r}, {row.rule}"
                raise InputError(str(log.path), f"{which}: {problem}")
            seen[key] = log.path


def _describe_split_benchmarks(rows: Sequence[ScoreRow]) -> Iterator[str]:
    """Tell of tasks that look like one benchmark: tools name each way of prompting a task."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for row in rows:
        ids, methods = found.setdefault(row.dataset, (set(), set()))
        ids.add(row.id)
        methods.add(row.method)
    alike: dict[frozenset[str], list[str]] = {}
    for dataset, (ids, _) in found.items():
        alike.setdefault(frozenset(ids), []).append(dataset)
    for names in alike.values():
        if len(names) > 1 and not set.intersection(*(found[name][1] for name in names)):
            yield (
                f"{', '.join(names)} have the same ids and other methods: "
                "--dataset NAME reads them as one benchmark, so that they can be compared"
            )


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
) -> Result:
    """Read per-sample results of other tools into rows of scores.

    Reads logs of Inspect (.eval, .json), samples of lm-evaluation-harness (samples_*.jsonl, with
    results_*.json beside them), rows of `evalcore score`, and lines of "id" and "correct"; or
    folders of them. Names that you give replace those of the logs.

    Refusals, empty and cut replies (no answer) and errors (unknown) have no value, and are counted
    on stderr. Where rows go to the terminal as a table, it is a summary per model; every other
    format has one row per sample and rule.

    Parameters
    ----------
    *paths : str or Path
        Logs, or folders of them.
    layout : str
        Which tool wrote the logs; `auto` tells it from the files, `scores` is this package.
    dataset : str, optional
        The benchmark. By default the task's name.
    model : str, optional
        The model. By default as the log names it.
    method : str, optional
        The prompting method. By default the one in the metadata of the log.
    rule : str or sequence of str
        Read only these scorers, filters or metrics. By default all.
    missing : str
        Whether errors, refusals, empty and cut replies have no value (`apart`), or the recorded one
        (`as-recorded`).
    usage : str or Path, optional
        Write the tokens of each answer to this file, where the logs record them.
    max_line : int
        The longest line, sample or file of JSON, in MB; a longer one is an error.

    Returns
    -------
    DataFrame
        One row per sample and rule, as `score` gives them.

    Raises
    ------
    InputError
        A log can't be read, or two have the same samples.

    Examples
    --------
    $ evalcore logs logs/cot.eval logs/pot.eval -o scores.jsonl
    $ evalcore logs results/ --dataset gsm8k --method cot --rule strict-match -o scores.jsonl
    """
    target = optional_target(usage)
    options = LogOptions(layout, dataset, model, method, tuple(rule), missing, max_line)
    found = read_logs(paths, options)
    save(found.usage, UsageRow, target)
    if target and not found.usage:
        found.notices.append("these logs do not record tokens")
    shown = partial(print_summaries, rows=found.rows)
    return Result(found.rows, ScoreRow, notices=found.notices, print_table=shown)
