"""A model behind an endpoint that speaks the protocol of OpenAI's chat completions."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import httpx

from evalcore.models.base import (
    EndpointRefused,
    EndpointUnavailable,
    Messages,
    ProblemKey,
    Reply,
)
from evalcore.models.pace import LONGEST_PAUSE_S, Clock, Pace, SystemClock
from evalcore.models.replies import MayPassError, SlowDownError, read_response
from evalcore.models.settings import ApiKey, Endpoint
from ngramscan import __version__, exchange
from ngramscan.errors import RemoteRefused, RemoteUnavailable
from ngramscan.progress import Progress, Silent

ATTEMPTS = 7
"""Of one question, those that were told to slow down not counted."""

ATTEMPTS_TO_CONNECT = 4
"""While the endpoint never answered anything: nobody is there, most likely."""

EXHAUSTED_IN_A_ROW = 3
"""So many questions that used up all their attempts, with no answer to any other since the first:
the endpoint is away. One alone may be a question that it can't cope with."""

LONGEST_REPLY_BYTES = 16_000_000
"""Of a completion: more than any model writes."""

_HEADERS = {"User-Agent": f"evalcore/{__version__}", "Content-Type": "application/json"}
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


class _NoConnectionError(MayPassError):
    """Nobody took the request."""


class ChatModel:
    """Asks one model; safe to use from several threads, which keep one pace.

    >>> with ChatModel(Endpoint("http://localhost:8000/v1", "llama-3"), key) as model:
    ...     model.ask([{"role": "user", "content": "2 + 2?"}], ProblemKey("sums", "direct", "1"))
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: ApiKey | None = None,
        progress: Progress | None = None,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._url = endpoint.url
        self._key = key
        self._progress = progress or Silent()
        self._closed = threading.Event()
        self._clock = clock or SystemClock(self._closed)
        self._pace = Pace(endpoint.rate, self._clock, self._progress.note)
        http = httpx.Client(
            transport=transport,
            timeout=httpx.Timeout(endpoint.timeout_s, connect=10.0, pool=None),
            # As many as there are threads: whoever asks bounds them.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
            headers=_HEADERS | exchange.ENCODINGS | (key.header() if key else {}),
        )
        self._http = exchange.keep_time(http)
        self._lock = threading.Lock()
        self._under_way = 0
        self._ever_answered = False
        self._exhausted = 0
        self._given_up: EndpointRefused | EndpointUnavailable | None = None

    @property
    def name(self) -> str:
        """As the user calls it."""
        return self._endpoint.model

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is sent beside the messages."""
        return self._endpoint.parameters

    def ask(self, messages: Messages, _key: ProblemKey, /) -> Reply:
        """Ask, and again where that may help.

        Raises
        ------
        EndpointRefused, EndpointUnavailable
            Nor will any other question be answered.
        RemoteRefused
            This question will not be answered.
        RemoteUnavailable
            It was not answered after all attempts.
        """
        request = {
            **self.parameters,
            "model": self.name,
            "messages": [dict(message) for message in messages],
        }
        sent = failures = 0
        while True:
            turn = self._pace.acquire()
            self._check_open()
            sent += 1
            try:
                return replace(self._attempt(request), attempts=sent)
            except SlowDownError as error:
                self._slow_down(turn, error)
            except MayPassError as error:
                failures += 1
                self._wait_after(error, failures)
            except EndpointRefused as error:
                self._given_up = error
                raise

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise RemoteUnavailable(f"{self._url}: interrupted")
        if self._given_up:
            raise type(self._given_up)(str(self._given_up))

    def _attempt(self, request: Mapping[str, Any]) -> Reply:
        sent_at = self._clock.now()
        response = self._post(request)
        try:
            reply = read_response(response, self._hide)
        except RemoteRefused as error:
            self._note_answer()
            raise type(error)(f"{self._url}: {error}") from error
        self._note_answer()
        return replace(reply, latency_s=round(self._clock.now() - sent_at, 3))

    def _note_answer(self) -> None:
        self._pace.answered()
        self._ever_answered = True
        self._exhausted = 0

    def _post(self, request: Mapping[str, Any]) -> httpx.Response:
        with self._lock:
            self._under_way += 1
        try:
            content = json.dumps(request, allow_nan=False)
            within_s = self._endpoint.timeout_s
            return exchange.post(self._http, self._url, content, LONGEST_REPLY_BYTES, within_s)
        except exchange.BadBodyError as error:
            raise MayPassError(str(error)) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            reason = self._hide(str(error)) or "timeout"
            raise _NoConnectionError(f"no connection ({reason})") from _without_frames(error)
        except httpx.TimeoutException as error:
            message = f"no answer in {self._endpoint.timeout_s:g} s"
            raise MayPassError(message) from _without_frames(error)
        except httpx.RequestError as error:
            reason = self._hide(str(error)) or type(error).__name__
            raise MayPassError(f"connection lost ({reason})") from _without_frames(error)
        finally:
            with self._lock:
                self._under_way -= 1
            self._close_if_idle()

    def _hide(self, text: str) -> str:
        return self._key.hide_in(text) if self._key else text

    def _wait_after(self, error: MayPassError, failures: int) -> None:
        """Wait before the next attempt, or raise where there is none."""
        nobody_there = isinstance(error, _NoConnectionError) and not self._ever_answered
        if failures >= (ATTEMPTS_TO_CONNECT if nobody_there else ATTEMPTS):
            message = f"{self._url}: {error}, after {failures} attempts"
            self._exhausted += 1
            if nobody_there or self._exhausted >= EXHAUSTED_IN_A_ROW:
                raise self._give_up(message) from error
            raise RemoteUnavailable(message) from error
        grown = min(_FIRST_WAIT_S * 2 ** (failures - 1), _LONGEST_WAIT_S)
        seconds = max(grown, min(error.retry_after or 0.0, LONGEST_PAUSE_S))
        self._progress.detail(f"{self._url}: {error}; again in {seconds:.1f} s")
        self._clock.wait(seconds)

    def _slow_down(self, turn: int, error: SlowDownError) -> None:
        if error.retry_after is not None and error.retry_after > LONGEST_PAUSE_S:
            message = f"{self._url}: {error}; it asks to come back in {error.retry_after:.0f} s"
            raise self._give_up(message) from error
        if not self._pace.slow_down(turn, error.retry_after, str(error)):
            raise self._give_up(f"{self._url}: {error}, also after long pauses") from error

    def _give_up(self, message: str) -> EndpointUnavailable:
        self._given_up = EndpointUnavailable(message)
        return self._given_up

    def close(self) -> None:
        """End all waiting; requests under way are left to themselves."""
        self._closed.set()
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        """Close the connections in the end, but none under the thread that reads from it."""
        with self._lock:
            ended = self._closed.is_set() and not self._under_way
        if ended:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _without_frames(error: Exception) -> Exception:
    """Return an error of a library without its frames: their local variables hold the key.

    Some tracebacks show local variables.
    """
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error
