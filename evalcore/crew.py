"""Threads that ask a model, a bounded number of questions at once.

They are our own rather than a ThreadPoolExecutor's: those are joined at the end of the process, so
Ctrl-C would wait for a stalled request.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from evalcore.models.base import Messages, Model, ProblemKey, Reply
from ngramscan.errors import RemoteError
from ngramscan.journal import now


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one problem."""

    key: ProblemKey
    messages: Messages
    sha256: str
    """Of the messages."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question: a reply, or why there is none."""

    question: Question
    asked_at: str
    result: Reply | RemoteError


class Crew:
    """Puts questions to a model; used by one thread, which also takes the answers.

    >>> with Crew(model, size=16) as crew:
    ...     crew.submit(question)
    ...     crew.next_answer()
    """

    def __init__(self, model: Model, size: int) -> None:
        self._model = model
        self._size = size
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer | Exception] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self.under_way = 0

    @property
    def is_full(self) -> bool:
        """Tell whether one more question would have to wait."""
        return self.under_way >= self._size

    def submit(self, question: Question) -> None:
        """Have a question asked."""
        self.under_way += 1
        self._questions.put(question)
        if len(self._threads) < min(self._size, self.under_way):
            thread = threading.Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()

    def next_answer(self) -> Answer:
        """Wait for an answer, in whatever order they come; raise what is no error of the model."""
        answer = self._answers.get()
        self.under_way -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _work(self) -> None:
        while (question := self._questions.get()) is not None:
            self._answers.put(self._ask(question))

    def _ask(self, question: Question) -> Answer | Exception:
        asked_at = now()
        try:
            return Answer(question, asked_at, self._model.ask(question.messages, question.key))
        except RemoteError as error:
            return Answer(question, asked_at, error)
        except Exception as error:  # noqa: BLE001 - raised in the thread that takes the answers
            return error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for _ in self._threads:
            self._questions.put(None)
