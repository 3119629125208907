"""`evalcore run`: problems × prompting methods × a model → outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evalcore.commands.access import (
    DEFAULT_CONCURRENCY,
    DEFAULT_KEY_VARIABLE,
    DEFAULT_TIMEOUT_S,
    ModelOptions,
    open_model,
)
from evalcore.datasets import Dataset, Problem, load_dataset
from evalcore.models.base import Model
from evalcore.models.replay import Replay
from evalcore.prompts import PromptSet, load_templates
from evalcore.records import Record, read_records
from evalcore.runner import RunResult, RunSettings, Task, run_task
from evalcore.scorers import in_order
from evalcore.usage import Allowance, Usage
from ngramscan.errors import IncompleteError, InputError
from ngramscan.output import listed, several, strict_keywords, to_frame
from ngramscan.progress import Progress, Silent, Terminal

if TYPE_CHECKING:
    import pandas as pd


class RunOptions(ModelOptions, total=False):
    """All options of `run`."""

    dataset: str
    data: str | Path | None
    model: str
    methods: str | Sequence[str]
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


@strict_keywords
def run(
    *,
    dataset: str,
    model: str,
    methods: str | Sequence[str],
    data: str | Path | None = None,
    prompts: str | Path | None = None,
    limit: int | None = None,
    epochs: int = 1,
    token_budget: int | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    replay: str | Path | None = None,
    output: str | Path = "outputs",
    base_url: str | None = None,
    api_key_env: str = DEFAULT_KEY_VARIABLE,
    concurrency: int = DEFAULT_CONCURRENCY,
    rate: float | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    params: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Put the problems of a benchmark to a model, as `evalcore run` does.

    Parameters
    ----------
    dataset : str
        The benchmark; see `evalcore datasets list`.
    model : str
        The model, as the endpoint calls it; with `replay`, as the folder is called.
    methods : str or sequence of str
        Prompting methods: `"cot,pot,f-1"`, or one by one.
    data : str or Path, optional
        A local copy of the benchmark. By default the one that was fetched.
    prompts : str or Path, optional
        Methods and phases of your own, in YAML.
    limit : int, optional
        Ask only this many problems, from the first.
    epochs : int
        How many times each problem is asked.
    token_budget : int, optional
        Ask nothing more when this many tokens were used.
    price_in : float, optional
        Price per million prompt tokens.
    price_out : float, optional
        Price per million output tokens.
    replay : str or Path, optional
        Folder of recorded outputs that answer in the place of a model.
    output : str or Path
        Folder in which outputs are kept: FOLDER/DATASET/MODEL/METHOD.jsonl.
    base_url : str, optional
        Address of an endpoint that speaks the protocol of OpenAI's chat completions.
    api_key_env : str
        The environment variable that holds the key.
    concurrency : int
        Maximum number of requests at a time.
    rate : float, optional
        Maximum number of requests per second. By default no limit.
    timeout_s : float
        Retry after this many silent seconds.
    temperature : float, optional
        Sampling temperature; 0 for the likeliest words. None leaves it out of the requests.
    max_tokens : int, optional
        Maximum tokens of a reply, reasoning included.
    params : str or sequence of str
        Further fields of each request: `"KEY=VALUE"`, with a value in JSON, or text.

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
    options = RunOptions(
        dataset=dataset,
        model=model,
        methods=methods,
        data=data,
        prompts=prompts,
        limit=limit,
        epochs=epochs,
        token_budget=token_budget,
        price_in=price_in,
        price_out=price_out,
        replay=replay,
        output=output,
        base_url=base_url,
        api_key_env=api_key_env,
        concurrency=concurrency,
        rate=rate,
        timeout_s=timeout_s,
        temperature=temperature,
        max_tokens=max_tokens,
        params=several(params),
    )
    return _run(options)


def _run(options: RunOptions) -> pd.DataFrame:
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
    methods = list(dict.fromkeys(prompts.resolve(name) for name in listed(options["methods"])))
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
