"""Several logs → one table of scores in which nothing is counted twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evalcore.log_files.base import LAYOUTS, MISSING, LogFile, LogOptions, UsageRow
from evalcore.log_files.finding import find_logs
from evalcore.log_files.inspect_logs import read_inspect
from evalcore.log_files.lm_eval_logs import read_lm_eval
from evalcore.log_files.own_scores import read_own, read_simple
from evalcore.score_runs import count_runs, describe_runs
from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError

_READERS: dict[str, Callable[[Path, LogOptions], LogFile]] = {
    "inspect": read_inspect,
    "lm-eval": read_lm_eval,
    "own": read_own,
    "simple": read_simple,
}
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
    """Read per-sample results of lm-evaluation-harness, Inspect or this package.

    Parameters
    ----------
    paths : iterable of str or Path
        Logs, or folders of them.
    options : LogOptions or None
        How they are read; None: by default.

    Returns
    -------
    LogScores
        One row per sample and rule. Samples that failed have no value, unless the options say that
        they keep what is recorded.

    Raises
    ------
    InputError
        A log is damaged or can't be read as scores, two of them have the same samples of one run,
        or a rule that was asked for is in none.
    """
    options = options or LogOptions()
    _check(options)
    search = find_logs([Path(path) for path in paths], options.layout, options.most_line_bytes)
    files = [_READERS[log.kind](log.path, options) for log in search.logs]
    _refuse_same_run(files)
    _refuse_unknown_rules(files, options)
    _refuse_duplicates(files)
    rows = [row for file in files for row in file.rows]
    notices = [*search.notices, *(notice for file in files for notice in file.notices)]
    if any(log.kind == "lm-eval" for log in search.logs):
        notices.append(_LM_EVAL_LIMITS)
    notices += _describe_split_benchmarks(rows)
    notices += [f"{told}; `compare` takes one (--run)" for told in describe_runs(count_runs(rows))]
    return LogScores(rows, [row for file in files for row in file.usage], notices)


def _check(options: LogOptions) -> None:
    if options.layout not in LAYOUTS:
        raise InputError(f"--layout {options.layout}", f"one of {', '.join(LAYOUTS)} was expected")
    if options.max_line < 1:
        raise InputError(f"--max-line {options.max_line}", "at least 1 MB was expected")
    if options.missing not in MISSING:
        raise InputError(
            f"--missing {options.missing}", f"one of {', '.join(MISSING)} was expected"
        )


def _refuse_same_run(files: Sequence[LogFile]) -> None:
    first: dict[str, Path] = {}
    for file in files:
        if file.run is not None and first.setdefault(file.run, file.path) != file.path:
            raise InputError(
                str(file.path), f"it is the same run as {first[file.run]}; name one of them"
            )


def _refuse_unknown_rules(files: Sequence[LogFile], options: LogOptions) -> None:
    known = dict.fromkeys(rule for file in files for rule in file.rules)
    for rule in options.rules:
        if rule not in known:
            raise InputError(f"--rule {rule}", f"not in these logs; there are {', '.join(known)}")


def _refuse_duplicates(files: Sequence[LogFile]) -> None:
    seen: dict[tuple[object, ...], Path] = {}
    for file in files:
        for row in file.rows:
            key = (row.dataset, row.model, row.method, row.run, row.rule, row.id, row.epoch)
            if key not in seen:
                seen[key] = file.path
                continue
            which = f"{row.dataset}/{row.model}/{row.method}, id {row.id!r}, {row.rule}"
            if seen[key] == file.path:
                raise InputError(str(file.path), f"{which}: there twice")
            raise InputError(
                str(file.path),
                f"{which}: also in {seen[key]}; name one of them, or tell them apart by names",
            )


def _describe_split_benchmarks(rows: Sequence[ScoreRow]) -> Iterator[str]:
    """Tell of tasks that look like one benchmark: tools name each way of prompting a task."""
    ids: dict[str, set[str]] = {}
    methods: dict[str, set[str]] = {}
    for row in rows:
        ids.setdefault(row.dataset, set()).add(row.id)
        methods.setdefault(row.dataset, set()).add(row.method)
    alike: dict[frozenset[str], list[str]] = {}
    for dataset, found in ids.items():
        alike.setdefault(frozenset(found), []).append(dataset)
    for names in alike.values():
        if len(names) > 1 and not set.intersection(*(methods[name] for name in names)):
            yield (
                f"{', '.join(names)} have the same ids and other methods: "
                "--dataset NAME reads them as one benchmark, so that they can be compared"
            )
