"""Questions about one item, each after the answer to the one before; most have one or two."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ngramscan.indexes.base import CountSource
from ngramscan.indexes.http.replies import Reply

T = TypeVar("T")
Answer = tuple[T, CountSource, str]
"""The content of a reply, where the reply is from, and when it was asked for (ISO 8601, UTC)."""


@dataclass(frozen=True, slots=True)
class HostQuestion(Generic[T]):
    """One question to an index."""

    request: str
    """The key of the reply in the journal."""
    read: Callable[[Reply], T]
    """Returns the content of a stored reply."""
    ask: Callable[[], Answer[T]]
    """Asks the host, and keeps the reply in the journal."""


Questions = Generator[HostQuestion[Any], Answer[Any], T]
"""Yields questions, is sent the answer to each, and returns what they say about an item."""


def answer_to(question: HostQuestion[T]) -> Questions[Answer[T]]:
    """Yield one question; return its answer."""
    answer: Answer[T] = yield question
    return answer


class Lookup(Generic[T]):
    """The questions about one item, which wait at the first one that can't be answered yet."""

    result: T
    """The conclusion from the answers, once all questions have one."""

    def __init__(self, questions: Questions[T]) -> None:
        self._questions = questions
        self._pending_question: HostQuestion[Any] | None = None

    def advance(self, find_answer: Callable[[HostQuestion[Any]], Answer[Any] | None]) -> bool:
        """Go on as long as `find_answer` has answers; tell whether all questions have one."""
        try:
            question = self._pending_question or next(self._questions)
            while answer := find_answer(question):
                question = self._questions.send(answer)
        except StopIteration as end:
            self.result = end.value
            return True
        self._pending_question = question
        return False
