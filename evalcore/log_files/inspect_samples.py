"""One sample of a log of Inspect: its scores as numbers, why it has none, and its tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from evalcore.log_files.base import Failure
from evalcore.records import Number
from ngramscan.errors import InputError

NUMBERS = {
    "C": 1.0,
    "P": 0.5,
    "I": 0.0,
    "N": 0.0,
    "yes": 1.0,
    "true": 1.0,
    "no": 0.0,
    "false": 0.0,
}
"""Correct, partly correct, incorrect, no answer; and the words that Inspect reads too. The numbers
are those of Inspect's own metrics, unless a task changes them."""

_CUTS = {"max_tokens": "cut at the token limit", "model_length": "cut at the model's context limit"}
_MESSAGE_CHARACTERS = 200


class Usage(msgspec.Struct):
    """Tokens that one model took."""

    input_tokens: Number = 0
    output_tokens: Number = 0
    input_tokens_cache_read: Number | None = None
    input_tokens_cache_write: Number | None = None
    reasoning_tokens: Number | None = None

    @property
    def prompt_tokens(self) -> int:
        """Return all tokens of prompts: those of the cache are not in `input_tokens`."""
        from_cache = self.input_tokens_cache_read or 0
        return self.input_tokens + from_cache + (self.input_tokens_cache_write or 0)


class Score(msgspec.Struct):
    """What a scorer said."""

    value: Any = None
    answer: Any = None


class _Choice(msgspec.Struct):
    stop_reason: str | None = None
    message: dict[str, Any] = {}


class _Output(msgspec.Struct):
    choices: list[_Choice] = []
    completion: str | None = None
    error: str | None = None


class _Error(msgspec.Struct):
    message: str


class _Limit(msgspec.Struct):
    type: str


class Sample(msgspec.Struct):
    """What is read of a sample. Errors that a later attempt made good are no failure."""

    id: str | int
    epoch: int = 1
    output: _Output = msgspec.field(default_factory=_Output)
    scores: dict[str, Score] | None = None
    error: _Error | None = None
    limit: _Limit | None = None
    invalidation: Any = None
    model_usage: dict[str, Usage] | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Return what there is one sample of in each run."""
        return str(self.id), self.epoch

    @property
    def replies(self) -> tuple[str, ...]:
        """Return the text that was scored; none where the model ended by calling a tool."""
        if not self.output.choices or self.output.choices[0].message.get("tool_calls"):
            return ()
        return (self.output.completion or "",)

    def values(self) -> Iterator[tuple[str, Any, str | None]]:
        """Yield rule, value and answer of each score; one that names several values is several."""
        for scorer, score in (self.scores or {}).items():
            answer = None if score.answer is None else str(score.answer)
            if isinstance(score.value, dict):
                for name, value in score.value.items():
                    yield f"{scorer}.{name}", value, answer
            else:
                yield scorer, score.value, answer

    def broken(self) -> Failure | None:
        """Return an error or a refusal that the log tells of."""
        if self.error:
            return Failure("error", f"error: {_one_line(self.error.message)}")
        if self.invalidation:
            return Failure("invalidated sample", "invalidated after the run")
        if self.limit and self.limit.type == "operator":
            return Failure("interrupted sample", "stopped by the person who ran it")
        if self.output.error:
            return Failure("refusal", f"refused: {_one_line(self.output.error)}")
        if self._stop_reason == "content_filter":
            return Failure("refusal", "refused: stopped by a content filter")
        return None

    def cut(self) -> Failure | None:
        """Return that a limit ended the reply, or the sample."""
        if self._stop_reason in _CUTS:
            return Failure("cut reply", _CUTS[self._stop_reason])
        if self.limit:
            return Failure("stopped sample", f"stopped at its {self.limit.type} limit")
        return None

    @property
    def _stop_reason(self) -> str:
        choices = self.output.choices
        return (choices[0].stop_reason if choices else None) or "unknown"


def to_number(place: str, value: Any) -> float | None:
    """Return a score as a number from 0 to 1.

    Parameters
    ----------
    place : str
        Where it stands.
    value : any
        As recorded: a letter or word of `NUMBERS`, or a number, also as text.

    Returns
    -------
    float or None
        None: the scorer said that it could not tell, which Inspect writes as NaN.

    Raises
    ------
    InputError
        It is something else.
    """
    if value is None:
        return None
    if isinstance(value, str):
        value = NUMBERS.get(value, NUMBERS.get(value.lower(), _parsed(value)))
    if not isinstance(value, (int, float)):
        raise InputError(place, "no number, nor one of C, P, I, N; --rule reads other scores")
    if math.isnan(value):
        return None
    if not 0 <= value <= 1:
        raise InputError(place, "a number from 0 to 1 was expected; --rule reads other scores")
    return float(value)


def _parsed(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MESSAGE_CHARACTERS]
