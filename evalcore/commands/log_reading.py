"""`evalcore logs`: per-sample results of other tools as rows of scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from evalcore.log_files import LogOptions, LogScores, UsageRow, read_logs
from evalcore.scoring.base import ScoreRow
from ngramscan.output import Target, optional_target, to_frame, write_rows

if TYPE_CHECKING:
    import pandas as pd


class LogNames(TypedDict, total=False):
    """All options of `logs` but the logs, the rules and the file of tokens."""

    layout: str
    dataset: str | None
    model: str | None
    method: str | None
    missing: str


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


def logs(
    *paths: str | Path,
    rule: str | Sequence[str] = (),
    usage: str | Path | None = None,
    **options: Unpack[LogNames],
) -> pd.DataFrame:
    """Read per-sample results of lm-evaluation-harness, Inspect or this package.

    Parameters
    ----------
    *paths : str or Path
        Logs, or folders of them.
    rule : str or sequence of str
        Which scorers, filters or metrics to read; none: all.
    usage : str, Path or None
        A file for the tokens of each answer, where the logs record them.
    **options
        `layout`, `dataset`, `model`, `method`, `missing`, as the command has them.

    Returns
    -------
    DataFrame
        One row per sample and rule, as `score` gives them.

    Raises
    ------
    InputError
        A log can't be read, or two have the same samples.
    """
    rules = [rule] if isinstance(rule, str) else rule
    target = optional_target(usage)
    scores = logs_with([Path(path) for path in paths], rules, target, options)
    return to_frame(scores.rows, ScoreRow)
