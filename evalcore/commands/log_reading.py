"""`evalcore logs`: per-sample results of other tools as rows of scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from evalcore.logs import LAYOUTS, MAX_LINE, MISSING, LogOptions, LogScores, UsageRow, read_logs
from evalcore.scoring.base import ScoreRow
from ngramscan.output import (
    Target,
    optional_target,
    several,
    strict_keywords,
    to_frame,
    write_rows,
)

if TYPE_CHECKING:
    import pandas as pd


class LogNames(TypedDict, total=False):
    """All options of `logs` but the logs, the rules and the file of tokens."""

    layout: str
    dataset: str | None
    model: str | None
    method: str | None
    missing: str
    max_line: int


def logs_with(
    paths: Sequence[Path], rules: Sequence[str], usage: Target | None, options: LogNames
) -> LogScores:
    """Read logs; write the tokens of their answers where a file is named for them."""
    scores = read_logs(paths, LogOptions(rules=tuple(rules), **options))
    if usage:
        write_rows(scores.usage, UsageRow, usage)
        if not scores.usage:
            scores.notices.append("these logs do not record tokens")
    return scores


@strict_keywords
def logs(
    *paths: str | Path,
    layout: str = LAYOUTS[0],
    dataset: str | None = None,
    model: str | None = None,
    method: str | None = None,
    rule: str | Sequence[str] = (),
    missing: str = MISSING[0],
    usage: str | Path | None = None,
    max_line: int = MAX_LINE,
) -> pd.DataFrame:
    """Read per-sample results of lm-evaluation-harness, Inspect or this package.

    Parameters
    ----------
    *paths : str or Path
        Logs, or folders of them.
    layout : str
        Which tool wrote the logs: `inspect`, `lm-eval`, `scores` for this package, or `auto`, which
        tells it from the files.
    dataset : str, optional
        The benchmark. By default the task's name.
    model : str, optional
        The model. By default as the log names it.
    method : str, optional
        The prompting method. By default `method` in the metadata of the log.
    rule : str or sequence of str
        Read only these scorers, filters or metrics.
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
    """
    target = optional_target(usage)
    options = LogNames(
        layout=layout,
        dataset=dataset,
        model=model,
        method=method,
        missing=missing,
        max_line=max_line,
    )
    scores = logs_with([Path(path) for path in paths], several(rule), target, options)
    return to_frame(scores.rows, ScoreRow)
