"""`evalcore run`: problems × prompting methods × a model → outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from evalcore.commands.access import DEFAULT_CONCURRENCY, ModelOptions, open_model
from evalcore.datasets import Dataset, Problem, load_dataset
from evalcore.models.base import Model
from evalcore.models.replay import Replay
from evalcore.prompts import PromptSet, load_templates
from evalcore.records import Record, read_records
from evalcore.runner import RunResult, RunSettings, Task, run_task
from evalcore.scorers import in_order
from evalcore.usage import Allowance, Usage
from ngramscan.errors import IncompleteError, InputError
from ngramscan.output import to_frame
from ngramscan.progress import Progress, Silent, Terminal

if TYPE_CHECKING:
    import pandas as pd


class RunOptions(ModelOptions, total=False):
    """All options of `run`."""

    dataset: str
    data: str | Path | None
    model: str
    methods: Sequence[str]
    prompts: str | Path | None
    limit: int | None
    epochs: int
    token_budget: int | None
    price_in: float | None
    price_out: float | None
    replay: str | Path | None
    output: str | Path


def dry_run(options: RunOptions) -> Iterator[str]:
    """Yield, line by line, the exact messages of the first problem after each method."""
    dataset, prompts, methods = _load(options)
    problem = dataset.problems[0]
    for method in methods:
        template = prompts.methods[method]
        yield f"# {dataset.name}, {problem.id}, {method}" + (
            f" ({template.note or 'not printed in the paper'})" if template.ours else ""
        )
        for message in prompts.render(method, problem):
            yield f"[{message['role']}]"
            yield message["content"]
            yield ""


def run_with(options: RunOptions, quiet: bool, verbose: bool) -> list[str]:
    """Run as the command does; return what could not be done."""
    with Terminal(quiet, verbose) as progress:
        if find_spec("math_verify") is None:
            progress.notice("Note: to score the outputs, pip install 'ngramscan[eval]'")
        results, usage = _run_all(options, progress)
        allowance = _allowance(options)
        for result in results:
            progress.notice(_describe(result))
        if usage.answers:
            progress.notice(usage.describe(allowance))
    return [result.problem for result in results if result.problem]


def run(**options: Unpack[RunOptions]) -> pd.DataFrame:
    """Put the problems of a benchmark to a model, as `evalcore run` does.

    Parameters
    ----------
    **options
        `dataset`, `model`, `methods` (needed); `base_url` or `replay`; the others as the command
        has them, with `output` for the folder of the outputs and `params` for `--param`.

    Returns
    -------
    DataFrame
        The records of these methods: one row per problem and epoch, in the order of the benchmark.

    Raises
    ------
    InputError
        An argument is wrong, or the files hold answers to other prompts.
    IncompleteError
        Some answers are missing; those that are there are kept, and in its rows.
    """
    dataset, _, _ = _load(options)
    results, _ = _run_all(options, Silent())
    records: list[Record] = []
    for result in results:
        if result.already_there + result.answered:
            records += in_order(read_records(result.file), dataset)
    frame = to_frame(records, Record)
    if problems := [result.problem for result in results if result.problem]:
        raise IncompleteError("; ".join(problems), frame)
    return frame


def _run_all(options: RunOptions, progress: Progress) -> tuple[list[RunResult], Usage]:
    dataset, prompts, methods = _load(options)
    settings = RunSettings(
        folder=Path(options.get("output", "outputs")),
        concurrency=options.get("concurrency", DEFAULT_CONCURRENCY),
        epochs=options.get("epochs", 1),
        allowance=_allowance(options),
    )
    results: list[RunResult] = []
    usage = Usage()
    with _open(options, progress) as model:
        for method in methods:
            task = _task(dataset, prompts, method, options.get("limit"))
            results.append(run_task(model, task, settings, progress, usage))
    return results, usage


def _load(options: RunOptions) -> tuple[Dataset, PromptSet, list[str]]:
    data, own = options.get("data"), options.get("prompts")
    dataset = load_dataset(options["dataset"], Path(data) if data else None)
    prompts = load_templates(dataset.name, Path(own) if own else None)
    named = [name.strip() for names in options["methods"] for name in names.split(",")]
    methods = list(dict.fromkeys(prompts.resolve(name) for name in named if name))
    if not methods:
        raise InputError("--method", f"none named; {dataset.name} has {', '.join(prompts.methods)}")
    return dataset, prompts, methods


def _task(dataset: Dataset, prompts: PromptSet, method: str, limit: int | None) -> Task:
    problems: Sequence[Problem] = dataset.problems[:limit]
    return Task(
        dataset=dataset.name,
        method=method,
        questions=[(problem.id, prompts.render(method, problem)) for problem in problems],
        prompts_sha256=prompts.sha256,
        dataset_sha256=dataset.sha256,
    )


@contextmanager
def _open(options: RunOptions, progress: Progress) -> Iterator[Model]:
    if replay := options.get("replay"):
        yield Replay(Path(replay), options["model"])
        return
    with open_model(options["model"], options, progress) as model:
        yield model


def _allowance(options: RunOptions) -> Allowance:
    return Allowance(options.get("token_budget"), options.get("price_in"), options.get("price_out"))


def _describe(result: RunResult) -> str:
    parts = [f"{result.answered:,} answered"]
    if result.already_there:
        parts.append(f"{result.already_there:,} there before")
    if result.refused:
        parts.append(f"{result.refused:,} refused")
    if result.cut:
        parts.append(f"{result.cut:,} cut at the token limit")
    return f"{result.file}: {', '.join(parts)} of {result.questions:,}"
