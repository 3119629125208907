"""Rows of `evalcore score`, and of `evalcore logs` itself."""

from dataclasses import replace

from evalcore import scores
from evalcore.commands.logs.readers import Log, LogFile

ROW_FIELDS = ("dataset", "model", "method", "id", "rule")
"""The columns that tell such rows from other tables."""


def read_score_rows(file: LogFile) -> Log:
    """Read rows of scores, with the names and rules that were asked for."""
    rows = scores.read_scores(file.path, scores.ScoreRow)
    kept = [replace(row, **file.given) for row in rows if file.wants(row.rule)]
    return Log(rules={row.rule for row in rows}, rows=kept)
