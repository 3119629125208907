"""Questions to a model, so many at once; recorded outputs in its place; what answers have used."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evalcore.endpoint import Messages, Model, ProblemKey
from evalcore.records import folder_name, messages_sha256, read_records
from evalcore.replies import Reply
from ngramscan.errors import InputError, RemoteError, RemoteRefused
from ngramscan.journal import now


class Question(NamedTuple):
    """What is asked of one problem."""

    key: ProblemKey
    messages: Messages
    sha256: str
    """Of the messages."""


class Answer(NamedTuple):
    """What came of a question: a reply, or why there is none."""

    question: Question
    asked_at: str
    result: Reply | RemoteError


def ask_all(model: Model, questions: Iterator[Question], size: int) -> Iterator[Answer]:
    """Put questions to a model, so many at once, and yield the answers as they come.

    A question is taken when one can be asked, so that whoever has the answers can end the asking.
    The threads are our own: those of an executor are joined at the end of the process, so Ctrl-C
    would wait for a stalled request.
    """
    todo: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Answer | Exception] = queue.SimpleQueue()
    threads = under_way = 0
    try:
        while True:
            while under_way < size and (question := next(questions, None)):
                under_way += 1
                todo.put(question)
                if threads < under_way:
                    threads += 1
                    threading.Thread(target=_work, args=(model, todo, done), daemon=True).start()
            if not under_way:
                return
            answer = done.get()
            under_way -= 1
            if isinstance(answer, Exception):
                raise answer
            yield answer
    finally:
        for _ in range(threads):
            todo.put(None)


def _work(
    model: Model,
    todo: queue.SimpleQueue[Question | None],
    done: queue.SimpleQueue[Answer | Exception],
) -> None:
    while (question := todo.get()) is not None:
        asked_at = now()
        try:
            done.put(Answer(question, asked_at, model.ask(question.messages, question.key)))
        except RemoteError as error:
            done.put(Answer(question, asked_at, error))
        except Exception as error:  # noqa: BLE001 - raised in the thread that takes the answers
            done.put(error)


class Replay:
    """Recorded outputs in the place of a model: it answers as that one did."""

    parameters: Mapping[str, Any] = {"replayed": True}
    """What tells these answers from those of a model that was asked now."""

    def __init__(self, path: Path, model: str) -> None:
        self.name = model
        self._path = path
        folder = folder_name(model)
        self._records = {
            ProblemKey(record.dataset, record.method, record.id, record.epoch): record
            for record in read_records(path)
            if folder_name(record.model) == folder
        }
        if not self._records:
            raise InputError(str(path), f"no recorded outputs of {model!r} there")

    def ask(self, messages: Messages, key: ProblemKey, /) -> Reply:
        """Return what was recorded; raise RemoteRefused where nothing is, or to other messages."""
        epoch = "" if key.epoch is None else f", epoch {key.epoch}"
        named = f"{key.dataset}, {key.method}, {key.id}{epoch}"
        record = self._records.get(key)
        if record is None:
            raise RemoteRefused(f"{self._path}: no recorded output of {named}")
        if record.messages_sha256 not in {None, messages_sha256(messages)}:
            problem = f"the recorded output of {named} was written to other messages"
            raise RemoteRefused(f"{self._path}: {problem}")
        fields = {name: getattr(record, name) for name in Reply.__dataclass_fields__}
        return Reply(**fields | {"attempts": record.attempts or 1})


@dataclass(slots=True)
class Usage:
    """What the answers of a command have used, what that costs, and what it may use."""

    token_budget: int | None = None
    """Tokens of prompts and answers; None: any number."""
    price_in: float | None = None
    """Of a million prompt tokens."""
    price_out: float | None = None
    """Of a million tokens of answers, those of their reasoning among them."""
    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    """Answers of which the server did not say how many tokens they took."""

    def add(self, reply: Reply) -> None:
        """Count an answer."""
        self.answers += 1
        self.uncounted += reply.prompt_tokens is None or reply.completion_tokens is None
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0

    def why_exhausted(self) -> str:
        """Return why nothing more may be asked; empty: more may."""
        if self.token_budget is None:
            return ""
        if self.uncounted:
            return "the server does not count tokens, so no token budget can be kept"
        is_used_up = self.prompt_tokens + self.completion_tokens >= self.token_budget
        return f"the token budget of {self.token_budget:,} is used up" if is_used_up else ""

    def __str__(self) -> str:
        words = f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        if self.price_in is not None and self.price_out is not None:
            spent = self.prompt_tokens * self.price_in + self.completion_tokens * self.price_out
            words += f", cost {spent / 1e6:,.2f}"
        if self.uncounted:
            words += f"; the server did not count those of {self.uncounted:,} answers"
        return words
