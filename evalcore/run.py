"""Put the problems of a benchmark to a model, after one or several methods; keep every answer.

Only the thread that called writes, so that Ctrl-C can't leave half a line.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evalcore.asking import Answer, Question, Replay, Usage, ask_all
from evalcore.benchmarks import Dataset, find_benchmark, load_dataset
from evalcore.endpoint import (
    ChatModel,
    Endpoint,
    EndpointUnavailable,
    Messages,
    Model,
    ProblemKey,
    read_key,
    request_parameters,
)
from evalcore.prompts import PromptSet, load_templates
from evalcore.records import (
    Record,
    RecordFile,
    in_order,
    messages_sha256,
    open_records,
    read_records,
    record_path,
)
from evalcore.replies import EndpointRefused, Reply
from ngramscan.errors import InputError
from ngramscan.output.command import Option, Result, command
from ngramscan.progress import SILENT, Progress

if TYPE_CHECKING:
    from rich.console import Console

_NOTE_EVERY_S = 10.0
_REASONS_SHOWN = 3
_USE_ANOTHER = "use another -o or move it away"


# One method


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked: the problems of a benchmark, as messages of one method."""

    dataset: str
    method: str
    questions: Sequence[tuple[str, Messages]]
    """The id of each problem, and the exact messages."""
    dataset_sha256: str | None = None
    prompts_sha256: str | None = None
    epochs: int = 1
    """How often each problem is asked."""


@dataclass(slots=True)
class RunResult:
    """What became of the questions of one task."""

    file: Path
    questions: int
    already_there: int
    answered: int = 0
    """By this run; refused and cut ones among them."""
    refused: int = 0
    cut: int = 0
    missing: list[tuple[str, int | None, str]] = field(default_factory=list)
    """Problem, epoch, and why there is no answer."""
    stopped: str = ""
    """Why not everything was asked; the next task of the same model would fare no better."""

    @property
    def problem(self) -> str:
        """How many answers are missing and why, in one line; empty: none is."""
        if not self.missing:
            return ""
        reasons = Counter(reason for _, _, reason in self.missing).most_common()
        words = [f"{count} × {reason}" for reason, count in reasons[:_REASONS_SHOWN]]
        if len(reasons) > _REASONS_SHOWN:
            words.append(f"{len(reasons) - _REASONS_SHOWN} other reasons")
        count = f"{len(self.missing)} of {self.questions} answers are missing"
        return f"{self.file}: {count} ({'; '.join(words)}); run again to ask only these"

    def __str__(self) -> str:
        parts = [f"{self.answered:,} answered"]
        if self.already_there:
            parts.append(f"{self.already_there:,} there before")
        if self.refused:
            parts.append(f"{self.refused:,} refused")
        if self.cut:
            parts.append(f"{self.cut:,} cut at the token limit")
        return f"{self.file}: {', '.join(parts)} of {self.questions:,}"


def run_task(
    model: Model,
    task: Task,
    folder: Path,
    usage: Usage,
    concurrency: int = 16,
    progress: Progress = SILENT,
) -> RunResult:
    """Ask a model what its file does not answer yet.

    Parameters
    ----------
    model : Model
        Whom to ask.
    task : Task
        What to ask.
    folder : Path
        Where files are kept: `folder/<dataset>/<model>/<method>.jsonl`.
    usage : Usage
        What earlier tasks have used; this one adds to it. Questions that are under way when it is
        exhausted are still answered.
    concurrency : int
        Questions under way at once.
    progress : Progress
        Told of each problem.

    Returns
    -------
    RunResult
        Questions that failed are in it, not in the file: the next run asks them again.

    Raises
    ------
    InputError
        The file can't be used, or holds answers to other messages or under other parameters. Then
        nothing was asked.
    """
    questions = {(one.key.id, one.key.epoch): one for one in _questions(task)}
    path = record_path(folder, task.dataset, model.name, task.method)
    with open_records(path, progress.notice) as file:
        there = _check(file, questions, task, model)
        todo = deque(question for key, question in questions.items() if key not in there)
        result = RunResult(path, len(questions), len(questions) - len(todo))
        progress.expect(len(todo), "problems")
        noted_at = time.monotonic()
        for answer in ask_all(model, _waiting(todo, result, usage), concurrency):
            _take(answer, file, result, task, model)
            if isinstance(answer.result, Reply):
                usage.add(answer.result)
            progress.advance(1, "problems")
            if time.monotonic() - noted_at >= _NOTE_EVERY_S:
                noted_at = time.monotonic()
                progress.note(str(usage))
    result.missing += [(one.key.id, one.key.epoch, result.stopped) for one in todo]
    progress.note("")
    order = {key: place for place, key in enumerate(questions)}
    result.missing.sort(key=lambda missing: order[missing[:2]])
    return result


def _questions(task: Task) -> Iterator[Question]:
    ids = Counter(problem_id for problem_id, _ in task.questions)
    if repeated := [problem_id for problem_id, count in ids.items() if count > 1]:
        raise InputError(f"{task.dataset}, {task.method}", f"id {repeated[0]!r} stands there twice")
    for epoch in range(1, task.epochs + 1):
        for problem_id, messages in task.questions:
            number = epoch if task.epochs > 1 else None
            key = ProblemKey(task.dataset, task.method, problem_id, number)
            yield Question(key, messages, messages_sha256(messages))


def _check(
    file: RecordFile,
    questions: Mapping[tuple[str, int | None], Question],
    task: Task,
    model: Model,
) -> set[tuple[str, int | None]]:
    """Return the keys of the records in a file; refuse one that this run must not add to."""
    there: set[tuple[str, int | None]] = set()
    for record in file.records:
        asked = questions.get(record.key)
        written = (record.dataset, record.model, record.method)
        problem = ""
        if written != (task.dataset, model.name, task.method):
            problem = f"it holds answers of {', '.join(written)}"
        elif record.parameters != dict(model.parameters):
            others = f"(id {record.id!r}: {record.parameters})"
            problem = f"it holds answers under other parameters {others}"
        elif asked and asked.sha256 != record.messages_sha256:
            problem = f"it holds answers to other prompts (id {record.id!r})"
        if (record.epoch is not None) != (task.epochs > 1):
            problem = "it holds answers of " + ("several epochs" if record.epoch else "one epoch")
        if problem:
            raise InputError(str(file.path), f"{problem}; {_USE_ANOTHER}")
        if record.key in there:
            raise InputError(str(file.path), f"id {record.id!r} stands in it twice")
        there.add(record.key)
    return there


def _waiting(todo: deque[Question], result: RunResult, usage: Usage) -> Iterator[Question]:
    """Yield what is to be asked, as long as it makes sense."""
    while todo:
        result.stopped = result.stopped or usage.why_exhausted()
        if result.stopped:
            return
        yield todo.popleft()


def _take(answer: Answer, file: RecordFile, result: RunResult, task: Task, model: Model) -> None:
    """Put an answer where it belongs: into the file, or among those that are missing."""
    (key, _, sha256), asked_at, reply = answer
    if not isinstance(reply, Reply):
        result.missing.append((key.id, key.epoch, str(reply)))
        if isinstance(reply, EndpointRefused | EndpointUnavailable):
            result.stopped = result.stopped or str(reply)
        return
    record = Record(
        id=key.id,
        epoch=key.epoch,
        dataset=task.dataset,
        model=model.name,
        method=task.method,
        messages_sha256=sha256,
        asked_at=asked_at,
        prompts_sha256=task.prompts_sha256,
        dataset_sha256=task.dataset_sha256,
        parameters=dict(model.parameters),
        **asdict(reply),
    )
    file.write(record)
    result.answered += 1
    result.refused += record.refusal is not None
    result.cut += record.is_cut


# The command


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message of the first problem, as a model would get it."""

    dataset: str
    id: str
    method: str
    role: str
    content: str


@command
def run(
    *,
    dataset: Annotated[str | None, Option(metavar="NAME")] = None,
    data: Annotated[str | Path | None, Option(metavar="PATH")] = None,
    id_field: Annotated[str, Option(metavar="COLUMN")] = "id",
    question_field: Annotated[str, Option(metavar="COLUMN")] = "question",
    answer_field: Annotated[str, Option(metavar="COLUMN")] = "answer",
    model: Annotated[str, Option(metavar="NAME")],
    methods: Annotated[
        str | Sequence[str], Option(flags="--method", metavar="NAME,...", has_commas=True)
    ],
    prompts: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    limit: Annotated[int | None, Option(least=1)] = None,
    epochs: Annotated[int, Option(least=1)] = 1,
    token_budget: Annotated[int | None, Option(least=1)] = None,
    price_in: Annotated[float | None, Option(metavar="P", least=0)] = None,
    price_out: Annotated[float | None, Option(metavar="P", least=0)] = None,
    replay: Annotated[str | Path | None, Option(metavar="FOLDER")] = None,
    dry_run: bool = False,
    output: Annotated[str | Path, Option(flags="-o --output", metavar="FOLDER")] = "outputs",
    base_url: Annotated[str | None, Option(metavar="URL", envvar="OPENAI_BASE_URL")] = None,
    api_key_env: Annotated[str, Option(metavar="VARIABLE")] = "OPENAI_API_KEY",
    concurrency: Annotated[int, Option(least=1)] = 16,
    rate: Annotated[float | None, Option(metavar="N", over=0)] = None,
    timeout_s: Annotated[float, Option(flags="--timeout", metavar="SECONDS", over=0)] = 600.0,
    temperature: Annotated[float | None, Option(metavar="T")] = 0.0,
    max_tokens: Annotated[int | None, Option(least=1)] = None,
    params: Annotated[str | Sequence[str], Option(flags="--param", metavar="KEY=VALUE")] = (),
    progress: Progress = SILENT,
) -> Result:
    r"""Put the problems of a benchmark to a model, after one or several prompting methods.

    Each answer is kept as it comes; the same command, run again, asks only what is missing.

    Parameters
    ----------
    dataset, data, id_field, question_field, answer_field : see score
    model : str
        The model, as the endpoint calls it; with `replay`, as the folder is called.
    methods : str or sequence of str
        Prompting methods: cot,pot,f-1.
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
    dry_run : bool
        Show the messages of the first problem, and ask no one.
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
        Retry where a whole answer takes more seconds than this.
    temperature : float, optional
        Sampling temperature; 0 for the likeliest words. None, and `params` with `temperature=null`,
        leave it out of the requests.
    max_tokens : int, optional
        Maximum tokens of a reply, reasoning included.
    params : str or sequence of str
        One more field of each request, with a value in JSON, or text.
    progress : Progress
        Told how far it is.

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

    Examples
    --------
    $ evalcore run --dataset financemath --model NAME --method cot,pot,f-1 \
          --base-url http://localhost:8000/v1 -o outputs/
    """
    place = Path(data) if data else None
    benchmark = find_benchmark(dataset, place, id_field, question_field, answer_field)
    problems = load_dataset(benchmark, place)
    templates = load_templates(benchmark, Path(prompts) if prompts else None)
    chosen = list(dict.fromkeys(templates.resolve(name) for name in methods))
    if not chosen:
        known = ", ".join(templates.methods)
        raise InputError("--method", f"none named; {problems.name} has {known}")
    if dry_run:
        return _dry_run(problems, templates, chosen)
    notices = []
    if find_spec("math_verify") is None:
        notices.append("Note: to score the outputs, pip install 'ngramscan[eval]'")
    usage = Usage(token_budget, price_in, price_out)
    tasks = [_task(problems, templates, method, limit, epochs) for method in chosen]
    asked: AbstractContextManager[Model]
    if replay:
        asked = nullcontext(Replay(Path(replay), model))
    else:
        parameters = request_parameters(temperature, max_tokens, params)
        endpoint = Endpoint(base_url, model, parameters, rate, timeout_s)
        asked = ChatModel(endpoint, read_key(api_key_env), progress)
    with asked as opened:
        results = [
            run_task(opened, task, Path(output), usage, concurrency, progress) for task in tasks
        ]
    notices += map(str, results)
    return Result(
        _records(results, problems),
        Record,
        notices=[*notices, *([str(usage)] if usage.answers else [])],
        failures=[result.problem for result in results if result.problem],
        is_silent=True,
    )


def _task(
    dataset: Dataset, prompts: PromptSet, method: str, limit: int | None, epochs: int
) -> Task:
    questions = [
        (problem.id, prompts.render(method, problem)) for problem in dataset.problems[:limit]
    ]
    return Task(dataset.name, method, questions, dataset.sha256, prompts.sha256, epochs)


def _records(results: Sequence[RunResult], dataset: Dataset) -> Iterator[Record]:
    """Yield what the files hold; read only where the rows are asked for."""
    for result in results:
        if result.already_there + result.answered:
            yield from in_order(read_records(result.file), dataset)


def _dry_run(dataset: Dataset, prompts: PromptSet, methods: Sequence[str]) -> Result:
    problem = dataset.problems[0]
    rows = [
        MessageRow(dataset.name, problem.id, method, message["role"], message["content"])
        for method in methods
        for message in prompts.render(method, problem)
    ]

    def print_messages(console: Console) -> None:
        for method in methods:
            template = prompts.methods[method]
            remark = f" ({template.note or 'not printed in the paper'})" * template.ours
            console.out(f"# {dataset.name}, {problem.id}, {method}{remark}", highlight=False)
            for row in rows:
                if row.method == method:
                    console.out(f"[{row.role}]\n{row.content}\n", highlight=False)

    return Result(rows, MessageRow, print_table=print_messages)
