"""Put the problems of one benchmark, after one method, to one model; keep each answer as it comes.

Only the thread that called writes, so that Ctrl-C can't leave half a line.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evalcore.crew import Answer, Crew, Question
from evalcore.models.base import (
    EndpointRefused,
    EndpointUnavailable,
    Messages,
    Model,
    ProblemKey,
    Reply,
)
from evalcore.record_files import RecordFile, open_records
from evalcore.records import Record, messages_sha256, record_path
from evalcore.usage import Allowance, Usage
from ngramscan.errors import InputError
from ngramscan.progress import Progress

_NOTE_EVERY_S = 10.0
_REASONS_SHOWN = 3
_USE_ANOTHER = "use another -o or move it away"


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked: the problems of a benchmark, as messages of one method."""

    dataset: str
    method: str
    questions: Sequence[tuple[str, Messages]]
    """The id of each problem, and the exact messages."""
    dataset_sha256: str | None = None
    prompts_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How it is asked, and where answers are kept."""

    folder: Path
    """Files are `folder/<dataset>/<model>/<method>.jsonl`."""
    concurrency: int = 16
    """Questions under way at once."""
    epochs: int = 1
    """How often each problem is asked."""
    allowance: Allowance = field(default_factory=Allowance)
    """Questions that are under way when it is used up are still answered."""


class Missing(NamedTuple):
    """A question without an answer, and why."""

    id: str
    epoch: int | None
    reason: str


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
    missing: list[Missing] = field(default_factory=list)
    stopped: str | None = None
    """Why not everything was asked; the next task of the same model would fare no better."""

    @property
    def problem(self) -> str | None:
        """Return how many answers are missing and why, in one line; None: none is."""
        if not self.missing:
            return None
        reasons = Counter(missing.reason for missing in self.missing).most_common()
        words = [f"{count} × {reason}" for reason, count in reasons[:_REASONS_SHOWN]]
        if len(reasons) > _REASONS_SHOWN:
            words.append(f"{len(reasons) - _REASONS_SHOWN} other reasons")
        count = f"{len(self.missing)} of {self.questions} answers are missing"
        return f"{self.file}: {count} ({'; '.join(words)}); run again to ask only these"


def run_task(
    model: Model,
    task: Task,
    settings: RunSettings,
    progress: Progress,
    usage: Usage | None = None,
) -> RunResult:
    """Ask a model what its file does not answer yet.

    Parameters
    ----------
    model : Model
        Whom to ask.
    task : Task
        What to ask.
    settings : RunSettings
        How, and where answers are kept.
    progress : Progress
        Told of each problem.
    usage : Usage or None
        What earlier tasks have used of the same allowance; this one adds to it.

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
    questions = list(_questions(task, settings.epochs))
    path = record_path(settings.folder, task.dataset, model.name, task.method)
    with open_records(path, progress.notice) as file:
        there = _check(file, questions, task, model)
        todo = [question for question in questions if _file_key(question) not in there]
        result = RunResult(path, len(questions), len(questions) - len(todo))
        writer = _Writer(model, task, file, result, usage or Usage())
        _ask(todo, writer, settings, progress)
    order = {_file_key(question): place for place, question in enumerate(questions)}
    result.missing.sort(key=lambda missing: order[missing[:2]])
    return result


def _questions(task: Task, epochs: int) -> Iterator[Question]:
    ids = Counter(problem_id for problem_id, _ in task.questions)
    if repeated := [problem_id for problem_id, count in ids.items() if count > 1]:
        raise InputError(f"{task.dataset}, {task.method}", f"id {repeated[0]!r} stands there twice")
    for epoch in range(1, epochs + 1):
        for problem_id, messages in task.questions:
            number = epoch if epochs > 1 else None
            key = ProblemKey(task.dataset, task.method, problem_id, number)
            yield Question(key, messages, messages_sha256(messages))


def _file_key(question: Question) -> tuple[str, int | None]:
    return question.key.id, question.key.epoch


# What is there


def _check(
    file: RecordFile, questions: Sequence[Question], task: Task, model: Model
) -> set[tuple[str, int | None]]:
    """Return the keys of the records in a file; refuse one that this run must not add to."""
    hashes = {_file_key(question): question.sha256 for question in questions}
    numbered = any(question.key.epoch for question in questions)
    there: set[tuple[str, int | None]] = set()
    for record in file.records:
        problem = _mismatch(record, hashes, task, model)
        if (record.epoch is not None) != numbered:
            problem = "it holds answers of " + ("one epoch" if numbered else "several epochs")
        if problem:
            raise InputError(str(file.path), f"{problem}; {_USE_ANOTHER}")
        if record.key in there:
            raise InputError(str(file.path), f"id {record.id!r} stands in it twice")
        there.add(record.key)
    return there


def _mismatch(
    record: Record, hashes: Mapping[tuple[str, int | None], str], task: Task, model: Model
) -> str | None:
    written = (record.dataset, record.model, record.method)
    if written != (task.dataset, model.name, task.method):
        return f"it holds answers of {', '.join(written)}"
    if record.parameters != dict(model.parameters):
        return f"it holds answers under other parameters (id {record.id!r}: {record.parameters})"
    if hashes.get(record.key, record.messages_sha256) != record.messages_sha256:
        return f"it holds answers to other prompts (id {record.id!r})"
    return None


# Asking


@dataclass(frozen=True, slots=True)
class _Writer:
    """Puts answers where they belong: into the file, or among those that are missing."""

    model: Model
    task: Task
    file: RecordFile
    result: RunResult
    usage: Usage

    def take(self, answer: Answer) -> None:
        if not isinstance(answer.result, Reply):
            self.miss(answer.question, str(answer.result))
            if isinstance(answer.result, EndpointRefused | EndpointUnavailable):
                self.result.stopped = self.result.stopped or str(answer.result)
            return
        record = self._record(answer, answer.result)
        self.file.write(record)
        self.usage.add(answer.result)
        self.result.answered += 1
        self.result.refused += record.refusal is not None
        self.result.cut += record.is_cut

    def miss(self, question: Question, reason: str) -> None:
        self.result.missing.append(Missing(*_file_key(question), reason))

    def _record(self, answer: Answer, reply: Reply) -> Record:
        return Record(
            id=answer.question.key.id,
            epoch=answer.question.key.epoch,
            dataset=self.task.dataset,
            model=self.model.name,
            method=self.task.method,
            messages_sha256=answer.question.sha256,
            output=reply.output,
            reasoning=reply.reasoning,
            refusal=reply.refusal,
            finish_reason=reply.finish_reason,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            reasoning_tokens=reply.reasoning_tokens,
            latency_s=reply.latency_s,
            reported_model=reply.model,
            asked_at=answer.asked_at,
            prompts_sha256=self.task.prompts_sha256,
            dataset_sha256=self.task.dataset_sha256,
            parameters=dict(self.model.parameters),
            attempts=reply.attempts,
        )


def _ask(
    todo: Sequence[Question], writer: _Writer, settings: RunSettings, progress: Progress
) -> None:
    """Ask until everything is, or it makes no sense to go on."""
    waiting = deque(todo)
    result, usage = writer.result, writer.usage
    progress.expect(len(waiting), "problems")
    noted_at = time.monotonic()
    with Crew(writer.model, settings.concurrency) as crew:
        while waiting or crew.under_way:
            result.stopped = result.stopped or usage.exhausts(settings.allowance)
            if waiting and not result.stopped and not crew.is_full:
                crew.submit(waiting.popleft())
                continue
            if not crew.under_way:
                break
            writer.take(crew.next_answer())
            progress.advance(1, "problems")
            if time.monotonic() - noted_at >= _NOTE_EVERY_S:
                noted_at = time.monotonic()
                progress.note(usage.describe(settings.allowance))
    if result.stopped:
        for question in waiting:
            writer.miss(question, result.stopped)
    progress.note("")
