"""Tables of scores: rows of this package, and the simplest tables of ids and verdicts."""

from dataclasses import replace
from typing import Any

from evalcore import scores
from evalcore.commands.logs.readers import Log, LogFile
from evalcore.path_names import named_part
from evalcore.simple_tables import complete_table


def read_score_rows(file: LogFile) -> Log:
    """Read rows of scores, with the names and rules that were asked for.

    The folder names the benchmark if nothing else does.
    """
    described = [] if file.cluster is None else [file.cluster]
    folder = named_part(file.path).parent.name
    table = complete_table(file.path, described, file.scale, folder, file.named)
    placed: Any = table.rows
    if file.cluster is not None:
        placed = [*scores.with_clusters(table.rows, file.cluster)]
    rows = scores.read_scores(placed, scores.ScoreRow)
    wanted_rows = [replace(row, **file.replaced_names) for row in rows if file.wants(row.rule)]
    return Log(rules={row.rule for row in rows}, rows=wanted_rows, notices=table.remarks)
