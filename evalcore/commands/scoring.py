"""`evalcore score`: recorded outputs against the golds of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from evalcore.benchmarks import Dataset, benchmarks, load_dataset
from evalcore.figures import draw_accuracy
from evalcore.records import LAYOUTS, Record, read_records
from evalcore.sandbox import Limits, Outcome, Program, Sandbox
from evalcore.scorers import Tools, choose_reading, choose_rules, score_records
from evalcore.scoring.base import ScoreRow, Verdict
from evalcore.scoring.grading_workers import Graders
from evalcore.scoring.mathematics import MathTask
from evalcore.summaries import for_figure, summarise
from ngramscan.errors import IncompleteError, InputError
from ngramscan.output import refuse_other, several, strict_keywords, to_frame
from ngramscan.output.canvas import check_target, save_figure
from ngramscan.progress import Progress, Silent

if TYPE_CHECKING:
    import pandas as pd


class ScoreOptions(TypedDict, total=False):
    """All options of `score` but the outputs and the rules."""

    dataset: str
    data: str | Path | None
    layout: str
    method: str | None
    extraction: Sequence[str]
    program_seconds: float
    allow_weak_sandbox: bool
    figure: str | Path | None


class Scored(NamedTuple):
    """The rows of a command, and what to say beside them."""

    rows: list[ScoreRow]
    notices: list[str]
    failures: list[str]


class _Workshop:
    """Starts the processes that scoring needs, when they are needed first."""

    def __init__(self, stack: ExitStack, options: ScoreOptions, progress: Progress) -> None:
        self._stack = stack
        self._progress = progress
        self._limits = Limits(seconds=options.get("program_seconds", 30.0))
        self._allow_weak = options.get("allow_weak_sandbox", False)
        self._sandbox: Sandbox | None = None
        self.layers: Mapping[str, str] = {}

    def run_programs(self, programs: Sequence[Program]) -> Sequence[Outcome]:
        if self._sandbox is None:
            sandbox = Sandbox(limits=self._limits, allow_weak=self._allow_weak)
            self._sandbox = self._stack.enter_context(sandbox)
            self.layers = self._sandbox.layers
        return list(self._counted(self._sandbox.run(programs), len(programs), "programs"))

    def grade_math(self, tasks: Iterable[MathTask]) -> Iterator[Verdict]:
        listed = list(tasks)
        graders = self._stack.enter_context(Graders())
        yield from self._counted(graders.grade(listed), len(listed), "answers")

    def _counted(self, results: Iterator[Any], total: int, unit: str) -> Iterator[Any]:
        self._progress.expect(total, unit)
        for result in results:
            self._progress.advance(1, unit)
            yield result


def score_with(
    outputs: Path, rules: Sequence[str], options: ScoreOptions, progress: Progress
) -> Scored:
    """Score the outputs of a folder or file."""
    figure = options.get("figure")
    check_target(Path(figure) if figure else None)
    dataset_name = options["dataset"]
    refuse_other("--dataset", dataset_name, benchmarks())
    chosen = choose_rules(dataset_name, rules)
    reading = choose_reading(dataset_name, options.get("extraction", ()))
    data = options.get("data")
    dataset = load_dataset(dataset_name, Path(data) if data else None)
    records = read_records(
        Path(outputs),
        options.get("layout", "evalcore"),
        options.get("method"),
        dataset_name,
        progress.notice,
    )
    with ExitStack() as stack:
        workshop = _Workshop(stack, options, progress)
        tools = Tools(workshop.run_programs, workshop.grade_math)
        scores = score_records(records, dataset, chosen, tools, reading)
    if figure:
        save_figure_of(scores.rows, Path(figure))
    notices = [*_describe_layers(workshop.layers), *_describe_absent(records, dataset)]
    notices += [f"{dataset_name}: {fault}" for fault in dataset.faults]
    return Scored(scores.rows, notices, scores.failures)


def _describe_layers(layers: Mapping[str, str]) -> Iterator[str]:
    for name, state in layers.items():
        if state != "ok":
            yield f"Warning: sandbox without {name} ({state})"


def _describe_absent(records: Sequence[Record], dataset: Dataset) -> Iterator[str]:
    """Tell which runs do not have every problem: their accuracy is of those they have."""
    runs: dict[tuple[str, str, str], set[str]] = {}
    for record in records:
        run = (record.dataset, record.model, record.method)
        runs.setdefault(run, set()).add(record.id)
    for run, ids in runs.items():
        if len(ids) < len(dataset):
            absent = len(dataset) - len(ids)
            yield f"{'/'.join(run)}: no output for {absent} of {len(dataset)} problems"


def save_figure_of(rows: Sequence[ScoreRow], path: Path) -> None:
    """Draw how each model did, where something is known of it."""
    known = [row for row in summarise(rows) if row.accuracy is not None]
    if not known:
        raise InputError(str(path), "nothing to draw: nothing is known of any output")
    save_figure(draw_accuracy(for_figure(known)), path)


@strict_keywords
def score(
    outputs: str | Path,
    *,
    dataset: str,
    data: str | Path | None = None,
    layout: str = LAYOUTS[0],
    method: str | None = None,
    rule: str | Sequence[str] = (),
    extraction: str | Sequence[str] = (),
    program_seconds: float = 30.0,
    allow_weak_sandbox: bool = False,
    figure: str | Path | None = None,
) -> pd.DataFrame:
    """Score recorded outputs against the reference answers of a benchmark.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, or a file.
    dataset : str
        The benchmark; see `evalcore datasets list`.
    data : str or Path, optional
        A local copy of the benchmark. By default the one that was fetched.
    layout : str
        How the files of the outputs are laid out: `evalcore`, `financemath` or `bbh`.
    method : str, optional
        Only outputs of this method; in other layouts than ours, the method that they were written
        after.
    rule : str or sequence of str
        How answers are compared, by several rules side by side. By default the benchmark's.
    extraction : str or sequence of str
        How the answer is found in a text: rules that are tried in this order. By default the
        benchmark's.
    program_seconds : float
        How many seconds a program may run.
    allow_weak_sandbox : bool
        Run programs even where this system can't keep them from doing harm.
    figure : str or Path, optional
        Draw accuracies with their intervals: .svg or .png.

    Returns
    -------
    DataFrame
        One row per output and rule.

    Raises
    ------
    InputError
        An argument, an output or the benchmark is wrong.
    SandboxError
        Programs can't be run safely here.
    IncompleteError
        A grader crashed or ran out of time, or the sandbox failed; the rows are in it.
    """
    options = ScoreOptions(
        dataset=dataset,
        data=data,
        layout=layout,
        method=method,
        extraction=several(extraction),
        program_seconds=program_seconds,
        allow_weak_sandbox=allow_weak_sandbox,
        figure=figure,
    )
    scored = score_with(Path(outputs), several(rule), options, Silent())
    frame = to_frame(scored.rows, ScoreRow)
    if scored.failures:
        raise IncompleteError("; ".join(scored.failures), frame)
    return frame
