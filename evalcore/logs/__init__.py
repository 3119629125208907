"""Per-sample results of other tools, read into score rows.

The tools are no dependency: their files are read as they are documented and as they were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from evalcore.logs.files import convert, find_logs, read_lines
from evalcore.logs.inspect import read_inspect
from evalcore.logs.lm_eval import read_lm_eval
from evalcore.logs.log import MAX_LINE, Log, LogOptions, UsageRow
from evalcore.scores import (
    ScoreRow,
    count_runs,
    describe_runs,
    print_summaries,
    read_scores,
)
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.options import save

__all__ = ["LogOptions", "LogScores", "UsageRow", "logs", "read_logs"]

_LM_EVAL_LIMITS = (
    "lm-evaluation-harness records no errors and no stop reasons: an empty reply may be a failed "
    "request, and replies that were cut can't be told from others"
)


class LogScores(NamedTuple):
    """The scores of some logs, and what is to be known of them."""

    rows: list[ScoreRow]
    usage: list[UsageRow]
    """Of the logs that record tokens."""
    notices: list[str]


def read_logs(paths: Iterable[str | Path], options: LogOptions | None = None) -> LogScores:
    """Read logs, or folders of them, so that nothing is counted twice; one row per sample and rule.

    Samples that failed have no value, unless the options say that they keep what is recorded.
    """
    options = options or LogOptions()
    found, notices = find_logs([Path(path) for path in paths], options)
    readers = {"inspect": read_inspect, "lm-eval": read_lm_eval, "own": _own, "simple": _simple}
    logs = [readers[kind](path, options) for path, kind in found.items()]
    _refuse_same_run(logs)
    known = dict.fromkeys(rule for log in logs for rule in log.rules)
    for rule in options.rules:
        if rule not in known:
            raise InputError(f"--rule {rule}", f"not in these logs; there are {', '.join(known)}")
    _refuse_same_samples(logs)
    rows = [row for log in logs for row in log.rows]
    notices += [notice for log in logs for notice in log.notices]
    notices += [_LM_EVAL_LIMITS] if "lm-eval" in found.values() else []
    notices += _describe_split_benchmarks(rows)
    notices += [f"{told}; `compare` takes one (--run)" for told in describe_runs(count_runs(rows))]
    return LogScores(rows, [row for log in logs for row in log.usage], notices)


def _own(path: Path, options: LogOptions) -> Log:
    """Read score rows of this package, which say themselves what is missing."""
    rows = read_scores(path)
    given = {name: getattr(options, name) for name in ("dataset", "model", "method")}
    names: dict[str, Any] = {name: value for name, value in given.items() if value}
    kept = [replace(row, **names) for row in rows if options.wants(row.rule)]
    return Log(path, options, kept, rules=dict.fromkeys(row.rule for row in rows))


class _Line(msgspec.Struct):
    id: str | int
    correct: bool | None


def _simple(path: Path, options: LogOptions) -> Log:
    """Read lines that only say of each id whether the answer is correct; null: not known."""
    log = Log(path, options, rules=["correct"])
    log.set_names(dataset=None, model=None, method=path.stem)
    for place, value in read_lines(path, options.most) if options.wants("correct") else ():
        line = convert(place, value, _Line)
        correct = None if line.correct is None else float(line.correct)
        reason = "recorded as unknown" if correct is None else "as recorded"
        given: dict[str, Any] = {"rule": "correct", "value": correct, "reason": reason}
        given |= dict.fromkeys(("epoch", "answer", "extraction"))
        log.rows.append(ScoreRow(**log.names, id=str(line.id), **given))
    return log


def _refuse_same_run(logs: Sequence[Log]) -> None:
    first: dict[str, Path] = {}
    for log in logs:
        if log.run_id is not None and first.setdefault(log.run_id, log.path) != log.path:
            problem = f"it is the same run as {first[log.run_id]}; name one of them"
            raise InputError(str(log.path), problem)


def _refuse_same_samples(logs: Sequence[Log]) -> None:
    seen: dict[tuple[object, ...], Path] = {}
    for log in logs:
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
    max_line: Annotated[int, Option(metavar="MB", least=1)] = MAX_LINE,
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
    options = LogOptions(
        layout=layout,
        dataset=dataset,
        model=model,
        method=method,
        rules=tuple(rule),
        missing=missing,
        max_line=max_line,
    )
    scores = read_logs(paths, options)
    save(scores.usage, UsageRow, target)
    if target and not scores.usage:
        scores.notices.append("these logs do not record tokens")
    return Result(
        scores.rows,
        ScoreRow,
        notices=scores.notices,
        print_table=partial(print_summaries, rows=scores.rows),
    )
