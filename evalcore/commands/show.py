"""`evalcore show`: the outputs of all methods for one problem, with answers and verdicts."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from evalcore.commands.logs import refuse_logs
from evalcore.judgements import JudgeRow
from evalcore.options import Name
from evalcore.records import Record, read_records
from evalcore.scores import ScoreKey, key_of, read_scores
from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse
from ngramscan.progress import visible_line
from ngramscan.reading.reasoning import split_reasoning
from ngramscan.reading.row_files import GivenTables, as_tables
from ngramscan.reporting import refuse_other
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.layout import print_line
from ngramscan.rows import LABEL, Label, row_kind

_LEAST_WIDTH, _MOST_WIDTH = 40, 100
"""Lines of fewer or more characters are hard to read; below that, outputs follow one another."""


@row_kind(
    "show",
    "Outputs for a problem, side by side",
    key=("output", "value", "status", "answer", "reason", "reply"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRow:
    """One output for the problem, and what one rule or judge says of it."""

    dataset: Label
    model: Label
    method: Label
    id: Label
    epoch: Annotated[int | None, LABEL]
    output: str | None
    """With its reasoning, if any. None: the model refused, or gave no text."""
    rule: Label | None = None
    """None: the output has no score."""
    value: float | None = None
    status: str = ""
    answer: str | None = None
    reason: str = ""
    reply: str | None = None
    """The judge's words."""


def _rows(records: Sequence[Record], scores: Sequence[JudgeRow]) -> Iterator[ShowRow]:
    columns = ("rule", "value", "status", "answer", "reason", "reply")
    verdicts = defaultdict[ScoreKey, list[dict[str, Any]]](list)
    for score in scores:
        verdicts[key_of(score)].append({name: getattr(score, name) for name in columns})
    for record in records:
        for verdict in verdicts.get(key_of(record), [{}]):
            yield ShowRow(**record.names, output=record.output, **verdict)


@dataclass(frozen=True, slots=True)
class _WrappedLines:
    """Lines that are wrapped one by one: rich copies what is left of one text for each line."""

    lines: Sequence[Text]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            for wrapped in line.wrap(console, options.max_width, overflow=options.overflow):
                yield from wrapped.render(console, end="\n")


def _lines(rows: Sequence[ShowRow]) -> Iterator[Text]:
    """Yield what is known of one output: its name, the verdicts, and the text."""
    first = rows[0]
    epoch = "" if first.epoch is None else f", epoch {first.epoch}"
    yield Text(f"{first.method}{epoch}", style="bold")
    for row in rows:
        if row.rule:
            value = row.status.replace("_", " ") if row.value is None else f"{row.value:g}"
            parts = [f"{row.rule}: {value}", row.answer and f"answer {row.answer}", row.reason]
            yield Text(visible_line("; ".join(filter(None, parts))), style="cyan")
        yield from map(Text, _visible_lines(row.reply or ""))
    yield Text()
    yield from _output_lines(first.output)


def _output_lines(output: str | None) -> Iterator[Text]:
    """Yield the lines of an output, with the size of its reasoning instead of its words."""
    if output is None or not output.strip():
        yield Text("(no output)")
        return
    reasoning, answer = split_reasoning(output)
    if reasoning:
        yield Text(f"({len(reasoning.split()):,} words of reasoning)", style="dim")
    if answer is None:
        yield Text("(it ends within its reasoning)", style="dim")
    yield from map(Text, _visible_lines(answer or ""))


def _visible_lines(text: str) -> list[str]:
    return [*map(visible_line, text.splitlines())]


def _print(console: Console, rows: Sequence[ShowRow]) -> None:
    for names, members in groupby(rows, attrgetter("dataset", "model", "id")):
        print_line(console, " · ".join(names), "bold")
        cells = [
            _WrappedLines([*_lines([*output])])
            for _, output in groupby(members, attrgetter("method", "epoch"))
        ]
        is_wide = console.width >= _LEAST_WIDTH * len(cells)
        grid = Grid.grid(padding=(0, 2, 1, 0), expand=True)
        grid.width = min(console.width, _MOST_WIDTH * len(cells))
        for row in [cells] if is_wide else [[cell] for cell in cells]:
            grid.add_row(*row)
        for column in grid.columns:
            column.ratio, column.overflow = 1, "fold"
        console.print(grid)


@command
def show(
    id: str,
    *,
    outputs: Annotated[str | Path, Option(metavar="PATH")] = "outputs",
    scores: Annotated[GivenTables, Option(metavar="FILE")] = (),
    dataset: Name = None,
    model: Name = None,
) -> Result[ShowRow]:
    """Show all outputs for one problem, with the answers found, verdicts, and judges' words.

    Methods are side by side where the terminal is wide enough, and below each other otherwise. The
    terminal leaves out reasoning, and says how long it is; the rows have it.

    Parameters
    ----------
    id : str
        Id of the problem.
    outputs : str or Path
        Recorded outputs: a file, or a folder such as `evalcore run` writes.
    scores : str, Path or DataFrame, or several of them
        Rows of `evalcore score` or `judge`.
    dataset : str, optional
        Only outputs for this benchmark.
    model : str, optional
        Only outputs of this model.

    Returns
    -------
    DataFrame
        One row per output and rule.

    Examples
    --------
    $ evalcore show validation-8 --outputs outputs/financemath
    """
    refuse_logs(Path(outputs))
    notices = list[str]()
    records = read_records(Path(outputs), on_notice=notices.append)
    for name, wanted in (("dataset", dataset), ("model", model)):
        if wanted:
            refuse_other(name, wanted, (getattr(record, name) for record in records))
            records = [record for record in records if getattr(record, name) == wanted]
    outputs_of_problem = [record for record in records if record.id == id]
    if not outputs_of_problem and Path(id).exists():
        cure = "expected the ID of a problem; for files give " + OptionUse("outputs", id)
        raise InputError(OptionUse("id", id), cure + f", and `evalcore logs {id}` reads logs")
    if not outputs_of_problem:
        available_ids = some_of(dict.fromkeys(record.id for record in records))
        raise InputError(
            OptionUse("id", id), f"no output for it in {outputs}; it has {available_ids}"
        )
    judged = [row for table in as_tables(scores) for row in read_scores(table, JudgeRow)]
    rows = [*_rows(sorted(outputs_of_problem, key=attrgetter("dataset", "model")), judged)]
    return Result(rows, ShowRow, notices, print_table=partial(_print, rows=rows))
