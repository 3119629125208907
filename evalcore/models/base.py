"""What a model is to those who ask it: messages in, a reply or an error out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ngramscan.errors import RemoteRefused, RemoteUnavailable

Messages = Sequence[Mapping[str, str]]
"""Each with `role` and `content`."""


class ProblemKey(NamedTuple):
    """Which problem is asked, and after which method."""

    dataset: str
    method: str
    id: str
    epoch: int | None = None
    """Which of repeated questions, from 1; None where each problem is asked once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered. None: the server did not say."""

    output: str | None
    """None: refused, or no text at all."""
    reasoning: str | None = None
    """What the model wrote before its answer, where the server tells."""
    refusal: str | None = None
    """The words of a refusal; `content_filter` where a filter of the server gave none."""
    finish_reason: str | None = None
    """`length`: cut at the token limit."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    """Those of the reasoning among them."""
    reasoning_tokens: int | None = None
    model: str | None = None
    """As the server calls it."""
    latency_s: float | None = None
    """Of the request that was answered, without the ones before it."""
    attempts: int = 1
    """Requests that were sent, the answered one among them."""


class Model(Protocol):
    """Anything that answers messages; safe to ask from several threads."""

    @property
    def name(self) -> str:
        """As the user calls it."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is sent beside the messages; answers under other parameters are other answers."""

    def ask(self, messages: Messages, key: ProblemKey, /) -> Reply:
        """Return the reply, or raise a RemoteError; retries are over by then."""


class EndpointRefused(RemoteRefused):
    """No question would be answered here: the key is wrong, or there is no such model."""


class EndpointUnavailable(RemoteUnavailable):
    """No question is answered at present: the endpoint is away, or wants a long pause."""
