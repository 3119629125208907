"""`evalcore logs`: per-sample results of other tools, which need not be installed, as scores."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, Literal

from evalcore import scores
from evalcore.commands.logs.readers import Log, UsageRow
from evalcore.commands.logs.reading import is_log, read_logs, refuse_logs
from evalcore.documents import join_tasks
from evalcore.options import ColumnName, Name, OptionNames
from evalcore.scales import ScoreScale
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reporting.command import Option, Result, RowsFile, command

__all__ = ["Log", "UsageRow", "is_log", "logs", "read_logs", "refuse_logs"]

LogLayout = Literal[
    "auto",
    "inspect",
    "lm-eval",
    "every-eval-ever",
    "helm",
    "lighteval",
    "openai-evals",
    "promptfoo",
    "scores",
]


def _refuse_absent_clusters(rows: Sequence[scores.ScoreRow], cluster: str) -> None:
    """Raise an InputError if the reader of a log knows no clusters."""
    row = next((row for row in rows if row.cluster is None), None)
    if row is not None:
        named = f"{row.dataset}, {row.method}, id {row.id}"
        with_clusters = "logs of Inspect and lm-evaluation-harness, and scores, have clusters"
        raise InputError(OptionUse("cluster", cluster), f"{named} has none; {with_clusters}")


def _describe_joined_tasks(rows: Sequence[scores.ScoreRow]) -> Iterator[str]:
    """Describe tasks that are prompts of the same documents."""
    tasks = defaultdict[str, list[str]](list)
    for task, benchmark in join_tasks(rows).items():
        tasks[benchmark].append(task)
    for benchmark, names in tasks.items():
        if len(names) > 1:
            same = f"{', '.join(names)} have documents in common"
            yield f"{same}: `compare` takes them as one benchmark, {benchmark}"


_Score = Annotated[float, Option(metavar="N", least=-(10**9), most=10**9)]


@command
def logs(
    *paths: Annotated[str | Path, Option(metavar="PATH...")],
    layout: LogLayout = "auto",
    dataset: Name = None,
    model: Name = None,
    method: Name = None,
    rule: OptionNames = (),
    missing: Literal["apart", "as-recorded"] = "apart",
    min_score: _Score = 0.0,
    max_score: _Score = 1.0,
    usage: RowsFile = None,
    max_line: Annotated[int, Option(metavar="MB", least=1)] = 256,
    cluster: ColumnName = None,
) -> Result[scores.ScoreRow]:
    """Read per-sample results of other tools as scores.

    Reads logs of Inspect, lm-evaluation-harness, Every Eval Ever, HELM, lighteval, OpenAI evals
    and promptfoo, rows of `evalcore score`, and tables of "id" and "correct"; or folders of them.
    Names that you give replace those of the logs.

    Refusals, empty and cut replies (no answer), errors and unscored samples (unknown) have no
    value. The terminal shows accuracy per model and method; files have one row per sample and
    rule.

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
    min_score, max_score : float
        The scores of a wrong and of a right answer, where the tool has another scale than 0 to 1,
        such as points; letters and truth values stay as they are.
    usage : str or Path, optional
        Write the tokens of each answer to this file, if the logs record them.
    max_line : int
        Maximum length of a line, sample or file of JSON, in MB; a longer one is an error.
    cluster : str, optional
        Write the cluster of each problem, such as its passage, from this field: of the metadata of
        a sample (Inspect), or of the document (lm-evaluation-harness).

    Returns
    -------
    DataFrame
        One row per sample and rule, as `score` returns them.

    Examples
    --------
    $ evalcore logs logs/cot.eval logs/pot.eval -o scores.jsonl
    $ evalcore logs logs/cot.eval --max-score 10 -o scores.jsonl
    $ evalcore logs results/ --dataset gsm8k --method cot --rule strict-match -o scores.jsonl
    """
    if not -inf < min_score < max_score < inf:
        problem = "expected a number above " + OptionUse("min_score") + f", which is {min_score:g}"
        raise InputError(OptionUse("max_score", max_score), problem)
    named = {"dataset": dataset, "model": model, "method": method}
    log = read_logs(
        paths,
        layout,
        replaced_names={kind: name for kind, name in named.items() if name},
        wanted=tuple(rule),
        missing=missing,
        max_line=max_line,
        scale=ScoreScale(min_score, max_score),
        cluster=cluster,
    )
    if cluster is not None:
        _refuse_absent_clusters(log.rows, cluster)
    if usage and not log.usage:
        log.notices.append("these logs do not record tokens")
    log.notices += _describe_joined_tasks(log.rows)
    print_table = partial(scores.print_summaries, rows=log.rows)
    return Result(
        log.rows,
        scores.ScoreRow,
        notices=log.notices,
        failures=[str(failure) for failure in log.failures],
        print_table=print_table,
        is_summary=True,
        files=[(usage, log.usage, UsageRow)],
    )
