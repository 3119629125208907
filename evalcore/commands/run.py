"""`evalcore run`: ask a model the problems of a benchmark by several methods; keep every answer."""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from evalcore import records
from evalcore.benchmarks import chosen_benchmark, load_dataset
from evalcore.endpoint import (
    Ask,
    PromptRequest,
    ask_and_keep,
    open_endpoint,
    read_key,
    request_parameters,
)
from evalcore.finish_reasons import Ending, classify_finish_reason
from evalcore.formats import Benchmark, Problem
from evalcore.options import Limit, OptionalFile, RunOptions
from evalcore.prompts import PromptSet, load_templates, sha256_of
from evalcore.records import Record, read_records
from evalcore.rules import RULES, FormulaRule
from ngramscan.clock import now
from ngramscan.errors import InputError, RemoteError, RemoteRefused
from ngramscan.messages import OptionUse
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import Option, Result, Shared, command

_NOTE_EVERY_S = 10.0
_TokenPrice = Annotated[float | None, Option(metavar="P", least=0, most=10**9)]


@dataclass(slots=True)
class Spending:
    """The tokens that a command has used, their cost, and the budget."""

    token_budget: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted_answers: int = 0

    def add(self, record: Record) -> None:
        """Count an answer."""
        self.uncounted_answers += None in {record.prompt_tokens, record.completion_tokens}
        self.prompt_tokens += record.prompt_tokens or 0
        self.completion_tokens += record.completion_tokens or 0

    def why_exhausted(self) -> str:
        """Return why no more questions may be asked; empty if they may."""
        if self.token_budget and self.uncounted_answers:
            return "the server does not count tokens, so --token-budget can't be kept"
        if self.prompt_tokens + self.completion_tokens < (self.token_budget or math.inf):
            return ""
        return f"the token budget of {self.token_budget:,} is used up"

    def __str__(self) -> str:
        words = f"{self.prompt_tokens:,} prompt and {self.completion_tokens:,} completion tokens"
        if self.price_in is not None and self.price_out is not None:
            spent = self.prompt_tokens * self.price_in + self.completion_tokens * self.price_out
            words += f", cost {spent / 1e6:,.2f}"
        if self.uncounted_answers:
            words += f"; without those of {self.uncounted_answers:,} answers, which are unknown"
        return words


def replay_from(path: Path, model: str, on_notice: Callable[[str], None] = lambda _: None) -> Ask:
    """Return recorded outputs that answer instead of a model."""
    recorded = {
        (record.dataset, record.method, record.key): record
        for record in read_records(path, on_notice=on_notice)
        if records.folder_name(record.model) == records.folder_name(model)
    }
    if not recorded:
        raise InputError(path, f"no recorded outputs of {model!r} in it")
    copied_fields = ("model", "parameters", "messages_sha256", "prompts_sha256", "dataset_sha256")

    def answer(question: PromptRequest) -> Record:
        sent_record = question.record
        recorded_output = recorded.get((sent_record.dataset, sent_record.method, sent_record.key))
        epoch = f", epoch {sent_record.epoch}" if sent_record.epoch else ""
        names = ", ".join((sent_record.dataset, sent_record.method, sent_record.id))
        named = f"recorded output of {names}{epoch}"
        if recorded_output is None:
            raise RemoteRefused(f"{path}: no {named}")
        if recorded_output.messages_sha256 not in {None, sent_record.messages_sha256}:
            raise RemoteRefused(f"{path}: the {named} answers other messages")
        question_fields = {name: getattr(sent_record, name) for name in copied_fields}
        return replace(
            recorded_output,
            asked_at=now(),
            attempts=recorded_output.attempts or 1,
            **question_fields,
        )

    return answer


def ask_missing(
    ask: Ask,
    path: Path,
    questions: Sequence[PromptRequest],
    usage: Spending,
    size: int,
    progress: Progress,
) -> tuple[str, str]:
    """Append the answers that a file lacks; return what was done, and what is missing."""
    noted_at = time.monotonic()
    with records.open_records(path, progress.notice) as file:
        todo = _unanswered(file, questions)
        done = Counter({"answered": 0, "already answered": len(questions) - len(todo)})

        def ask_within_budget(question: PromptRequest) -> Record:
            if reason := usage.why_exhausted():
                raise RemoteError(reason)
            return ask(question)

        def keep(_: PromptRequest, answer: Record) -> str:
            nonlocal noted_at
            file.write(answer)
            usage.add(answer)
            done["answered"] += 1
            ending, incomplete = classify_finish_reason(answer.finish_reason)
            if answer.refusal is not None or ending is Ending.REFUSED:
                done["refused"] += 1
            elif incomplete:
                done[incomplete] += 1
            if time.monotonic() - noted_at >= _NOTE_EVERY_S:
                noted_at = time.monotonic()
                progress.note(str(usage))
            return ""

        missing = ask_and_keep(ask_within_budget, todo, keep, size, progress, "problems")
        progress.note("")
    counts = [f"{count:,} {name}" for name, count in done.items() if count or name == "answered"]
    notice = f"{path}: {', '.join(counts)} of {len(questions):,}"
    reasons = Counter(missing.values())
    words = [f"{count} × {reason}" for reason, count in reasons.most_common(3)]
    words += [f"{len(reasons) - 3} other reasons"] if len(reasons) > 3 else []
    failure = f"{len(missing)} of {len(questions)} answers are missing ({'; '.join(words)})"
    return notice, (f"{path}: {failure}; run again to request only these" if missing else "")


def _unanswered(
    file: records.RecordFile, questions: Sequence[PromptRequest]
) -> list[PromptRequest]:
    """Return the questions without a record; refuse a file of another run."""
    records_by_key = {question.record.key: question.record for question in questions}
    first, there = questions[0].record, set()
    for record in file.records:
        names, expected = [[*answer.names.values()][:3] for answer in (record, first)]
        problem = ""
        if bool(record.epoch) != bool(first.epoch):
            problem = f"of {'several epochs' if record.epoch else 'one epoch'}"
        elif names != expected:
            problem = f"of {', '.join(names)}"
        elif record.parameters != first.parameters:
            problem = f"under other parameters (id {record.id!r}: {record.parameters})"
        elif record.messages_sha256 != records_by_key.get(record.key, record).messages_sha256:
            problem = f"to other prompts (id {record.id!r})"
        if problem:
            raise InputError(
                file.path, f"contains answers {problem}; choose another " + OptionUse("output")
            )
        if record.key in there:
            raise InputError(file.path, f"it has the id {record.id!r} twice")
        there.add(record.key)
    return [question for question in questions if question.record.key not in there]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message about the first problem, as a model would get it."""

    dataset: str
    id: str
    method: str
    role: str
    content: str


def compares_formulas(benchmark: Benchmark) -> bool:
    """Tell whether the usual rule of a benchmark needs the library that compares formulas."""
    return any(isinstance(RULES.get(name), FormulaRule) for name in benchmark.rules[:1])


def _dry_run(problem: Problem, prompts: PromptSet, methods: Sequence[str]) -> Result[MessageRow]:
    rows, lines = [], []
    for method in methods:
        template = prompts.methods[method]
        remark = f" ({template.note or 'not printed in the paper'})" if template.ours else ""
        lines.append(f"# {prompts.dataset}, {problem.id}, {method}{remark}")
        for message in prompts.render(method, problem):
            rows.append(MessageRow(prompts.dataset, problem.id, method, **message))
            lines.append(f"[{message['role']}]\n{message['content']}\n")
    text = "\n".join(lines)
    return Result(rows, MessageRow, print_table=lambda screen: screen.out(text, highlight=False))


@command
def run(
    *,
    model: Annotated[str, Option(metavar="NAME")],
    methods: Annotated[str | Sequence[str], Option("--method", "NAME,...")] = (),
    prompts: OptionalFile = None,
    limit: Limit = None,
    epochs: Annotated[int, Option(least=1)] = 1,
    token_budget: Limit = None,
    price_in: _TokenPrice = None,
    price_out: _TokenPrice = None,
    replay: Annotated[str | Path | None, Option(metavar="FOLDER")] = None,
    dry_run: bool = False,
    output: Annotated[
        str | Path, Option(flags="-o --output", metavar="FOLDER", is_folder=True)
    ] = "outputs",
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(RunOptions)],
) -> Result[Record] | Result[MessageRow]:
    r"""Ask a model the problems of a benchmark by one or several prompting methods.

    Each answer is kept as it comes; run the same command again to request only the missing ones.

    Parameters
    ----------
    model : str
        The model, as the endpoint calls it; with `replay`, the name of its folder.
    methods : str or sequence of str
        Prompting method, such as cot, pot or f-1. By default those of `prompts`.
    prompts : str or Path, optional
        Your own methods: a YAML file, or a text (.txt, .md) with {{problem}} in it, which is one
        method of the file's name.
    limit : int, optional
        Ask only the first N problems.
    epochs : int
        Number of answers to request for each problem.
    token_budget : int, optional
        Send no more requests after this many tokens.
    price_in : float, optional
        Price per million prompt tokens.
    price_out : float, optional
        Price per million output tokens.
    replay : str or Path, optional
        Folder of recorded outputs that answer instead of a model.
    dry_run : bool
        Show the messages about the first problem, and send nothing.
    output : str or Path
        Folder that keeps the outputs, as FOLDER/DATASET/MODEL/METHOD.jsonl.
    progress : Progress
        Callbacks for answered problems.

    Returns
    -------
    DataFrame
        One record per problem and epoch, in the order of the benchmark.

    Raises
    ------
    IncompleteError
        Some answers are missing; the others are kept, and in its rows.

    Examples
    --------
    $ evalcore run --dataset financemath --model NAME --method cot,pot,f-1 \
          --base-url http://localhost:8000/v1 -o outputs/
    """
    run_options = RunOptions(**options)
    benchmark = chosen_benchmark(run_options)
    problems = load_dataset(benchmark, run_options.data)
    templates = load_templates(benchmark, Path(prompts) if prompts else None)
    chosen = list(dict.fromkeys(templates.resolve(name) for name in methods))
    if not chosen and prompts:
        shipped_methods = load_templates(benchmark).methods
        chosen = [name for name in templates.methods if name not in shipped_methods]
    if not chosen:
        raise InputError(
            OptionUse("methods"), f"missing; {problems.name} has {', '.join(templates.methods)}"
        )
    if dry_run:
        return _dry_run(problems.problems[0], templates, chosen)
    parameters = (
        {"replayed": True}
        if replay
        else request_parameters(run_options.temperature, run_options.max_tokens, run_options.params)
    )
    numbers = range(1, epochs + 1) if epochs > 1 else [None]
    tasks: dict[Path, list[PromptRequest]] = defaultdict(list)
    for name, epoch, problem in product(chosen, numbers, problems.problems[:limit]):
        messages = templates.render(name, problem)
        record = Record(
            id=problem.id,
            dataset=problems.name,
            model=model,
            method=name,
            epoch=epoch,
            output=None,
            parameters=parameters,
            messages_sha256=sha256_of(messages),
            prompts_sha256=templates.sha256,
            dataset_sha256=problems.sha256,
        )
        path = records.record_path(Path(output), problems.name, model, name)
        tasks[path].append(PromptRequest(record, messages))
    usage = Spending(token_budget, price_in, price_out)
    replayed = nullcontext(replay_from(Path(replay), model, progress.notice)) if replay else None
    key = read_key(run_options.api_key_env)
    endpoint = replayed or open_endpoint(
        run_options.base_url, key, run_options.rate, run_options.timeout_s, progress
    )
    with endpoint as ask:
        done = [
            ask_missing(ask, *task, usage, run_options.concurrency, progress)
            for task in tasks.items()
        ]
    notices = [notice for notice, _ in done]
    notices += [str(usage)] if usage.prompt_tokens or usage.uncounted_answers else []
    if compares_formulas(benchmark) and find_spec("math_verify") is None:
        notices.insert(0, "Note: to score the outputs, pip install 'ngramscan[eval]'")
    failures = [failure for _, failure in done if failure]
    written = (read_records(path) for path in tasks if path.stat().st_size)
    rows = (row for method in written for row in records.in_order(method, problems))
    return Result(rows, Record, notices, failures, is_silent=True)
