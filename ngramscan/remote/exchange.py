"""Requests to one server over HTTP: at its pace, and repeated where that may help.

The whole exchange has a time limit, and the decoded body a length limit. Only gzip is decoded, up
to that length: other encodings could turn one piece into gigabytes. A failure on the way is a
TransientError.
"""

from __future__ import annotations

import email.utils
import json
import math
import random
import re
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from ngramscan.errors import RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.progress import Progress
from ngramscan.remote.pace import LONGEST_PAUSE_S, Clock, Pace
from ngramscan.remote.retries import Retries, RetryPolicy
from ngramscan.remote.transport import TimedTransport, time_limit

_CONNECT_TIMEOUT_S = 10.0
_OF_TRANSFER = {b"content-encoding", b"content-length", b"transfer-encoding"}

T = TypeVar("T")


class TransientError(Exception):
    """An exchange failed, perhaps temporarily."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NoConnectionError(TransientError):
    """The request could not be sent."""


class BadBodyError(TransientError):
    """A body is too long, or contradicts its header."""


class RateLimitedError(TransientError):
    """The server asks for fewer requests."""

    final: type[RemoteError] = RemoteUnavailable
    """The error in the end, if pauses don't help."""


class ServiceUnusable(RemoteRefused):
    """The endpoint is unusable; further requests would fail."""


RETRIES = RetryPolicy(retryable=TransientError, attempts=7, first_pause_s=0.5, growth=2.0)
"""For one question; answers that ask to slow down don't count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How fast and how patiently a server is asked."""

    most_bytes: int
    """Maximum length of a body, decompressed."""
    within_s: float
    """Time limit of a whole exchange, from connecting to the last byte."""
    rate: float | None = None
    pace: type[Pace] = Pace
    retries: RetryPolicy[TransientError] = RETRIES
    exhausted_in_a_row: int = 1
    """If this many questions in a row use up all their attempts, no more are asked."""
    slow_downs: float = math.inf
    """How many requests to slow down one question may get while others are answered."""
    jitter_s: float = 0.0


class Service:
    """One server; safe to ask from several threads.

    `hide` removes secrets from a message; `on_give_up` gets the error that every further question
    raises; `options` are those of `httpx.Client`.
    """

    def __init__(
        self,
        url: str,
        terms: Terms,
        progress: Progress,
        clock: Clock | None = None,
        hide: Callable[[str], str] = str,
        on_give_up: Callable[[RemoteError], None] = lambda _: None,
        **options: Any,
    ) -> None:
        self._url, self._terms, self._progress, self._hide = url, terms, progress, hide
        self.most_bytes = terms.most_bytes
        self._on_give_up = on_give_up
        self.closed = threading.Event()
        self._clock = clock or Clock(self.closed)
        self._pace = terms.pace(terms.rate or 0.0, self._clock, progress.note)
        timeout = httpx.Timeout(terms.within_s, connect=_CONNECT_TIMEOUT_S)
        options["transport"] = options.get("transport") or TimedTransport(httpx.URL(url))
        self._client = httpx.Client(timeout=timeout, **options)
        self._client.headers.update({"Accept-Encoding": "gzip", "Content-Type": "application/json"})
        self._lock = threading.Lock()
        self._under_way = 0
        self._last_answer_at = -math.inf
        self._exhausted = 0
        self.unreachable = "no connection"
        """Why nothing could be sent so far; empty once something was."""
        self.given_up: RemoteError | None = None

    def ask(self, content: str, parse_reply: Callable[[httpx.Response], T]) -> tuple[T, int, float]:
        """Return the parsed answer, the number of requests, and the seconds of the last.

        `parse_reply` raises a TransientError to have the question repeated, a RemoteRefused if it
        can't be answered, and a ServiceUnusable if no question can. `ask` raises a RemoteError.
        """
        started_at, sent = self._clock.now(), 0
        retries = Retries(self._terms.retries)
        while True:
            turn, sent, sent_at = self._take_turn(), sent + 1, self._clock.now()
            with retries:
                answer = self._ask_once(content, parse_reply)
                return answer, sent, self._clock.now() - sent_at
            if isinstance(retries.error, RateLimitedError):
                retries.forgive()
                is_last = sent - retries.failures > self._terms.slow_downs
                self._slow_down(turn, retries.error, is_last)
            else:
                self._wait_after(retries, started_at)

    def _ask_once(self, content: str, parse_reply: Callable[[httpx.Response], T]) -> T:
        """Return the parsed answer; a TransientError may pass."""
        try:
            answer = parse_reply(self.post(content))
        except ServiceUnusable as error:
            raise self.give_up(RemoteRefused, str(error)) from error
        except RemoteRefused as error:
            self._note_answer()
            raise type(error)(f"{self._url}: {error}") from error
        self._note_answer()
        return answer

    def _take_turn(self) -> int:
        self._check_open()
        turn = self._pace.acquire()
        self._check_open()  # the turn may have taken long
        return turn

    def _check_open(self) -> None:
        if self.given_up:
            raise self.given_up

    def _note_answer(self) -> None:
        self._pace.answered()
        self._last_answer_at = self._clock.now()
        self._exhausted = 0

    def _slow_down(self, turn: int, error: RateLimitedError, is_last: bool) -> None:
        if why := self._pace.slow_down(turn, error.retry_after, str(error)):
            raise self.give_up(error.final, f"{error}{why}") from error
        if is_last:
            raise error.final(f"{self._url}: {error}, repeatedly, to this question") from error

    def _wait_after(self, retries: Retries[TransientError], started_at: float) -> None:
        """Wait before the next attempt, or raise if that was the last."""
        error, problem = retries.error, self._hide(str(retries.error))
        no_answers = self._last_answer_at < started_at
        nobody_there = isinstance(error, NoConnectionError) and self._last_answer_at == -math.inf
        if retries.are_exhausted(nobody_there):
            problem += f", after {retries.failures} attempts"
            self._exhausted += 1
            is_away = no_answers and self._exhausted >= self._terms.exhausted_in_a_row
            if nobody_there or is_away:
                raise self.give_up(RemoteUnavailable, problem) from error
            raise RemoteUnavailable(f"{self._url}: {problem}") from error
        pause = self._terms.retries.pause_s(retries.failures)
        pause += random.uniform(0.0, self._terms.jitter_s)
        seconds = max(pause, min(error.retry_after or 0.0, LONGEST_PAUSE_S))
        self._progress.detail(f"{self._url}: {problem}; again in {seconds:.1f} s")
        self._clock.wait(seconds)

    def give_up(self, kind: type[RemoteError], problem: str) -> RemoteError:
        """Return the error that every further question raises."""
        self.given_up = kind(f"{self._url}: {problem}")
        self._on_give_up(self.given_up)
        return self.given_up

    def post(self, content: str) -> httpx.Response:
        """Send JSON once; return the answer with its body read and decoded."""
        return self._send("POST", "", content)

    def get(self, path: str) -> httpx.Response:
        """Get once what is at a path below the address."""
        return self._send("GET", path, None)

    def _send(self, method: str, path: str, content: str | None) -> httpx.Response:
        with self._lock:
            self._under_way += 1
        extensions = {"trace": self._trace} if self.unreachable else {}
        try:
            with (
                time_limit(self._terms.within_s),
                self._client.stream(
                    method, f"{self._url}{path}", content=content, extensions=extensions
                ) as response,
            ):
                return _read_whole(response, self.most_bytes)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            reason = str(error) or "timeout"
            self.unreachable = self.unreachable and reason
            raise NoConnectionError(f"no connection ({reason})") from _without_frames(error)
        except httpx.TimeoutException as error:
            message = f"no answer in {self._terms.within_s:g} s"
            raise TransientError(message) from _without_frames(error)
        except httpx.RequestError as error:
            message = f"connection lost ({error or type(error).__name__})"
            raise TransientError(message) from _without_frames(error)
        finally:
            with self._lock:
                self._under_way -= 1
            self._close_if_idle()

    def _trace(self, event: str, _info: dict[str, Any]) -> None:
        if event == "http11.send_request_headers.started":
            self.unreachable = ""

    def close(self) -> None:
        """End all waiting; requests in flight are abandoned."""
        self.give_up(RemoteUnavailable, "interrupted")
        self.closed.set()
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        """Close the connections at the end, but none that a thread still reads from."""
        with self._lock:
            is_idle = self.closed.is_set() and not self._under_way
        if is_idle:
            self._client.close()


def _without_frames(error: Exception) -> Exception:
    """Return an error without its frames: a traceback may show variables, and so the login."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error


def read_json(content: bytes) -> Any:
    """Return the JSON of a body, or None if it is not valid JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def read_object(content: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a body, or None if it is something else."""
    body = read_json(content)
    return body if isinstance(body, dict) else None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header, which has a number or a date."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,20})?", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _read_whole(response: httpx.Response, most_bytes: int) -> httpx.Response:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if response.is_stream_consumed:  # by a transport without a network
        parts, encoding = iter([response.content]), "identity"
    else:
        parts = response.iter_raw()
    if encoding not in {"identity", "", "gzip"}:
        raise BadBodyError(f"a body in the unknown encoding {encoding[:40]!r}")
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
    body = bytearray()
    for raw in parts:
        try:
            body += unzip.decompress(raw, most_bytes - len(body) + 1) if unzip else raw
        except zlib.error as error:
            raise BadBodyError("a body that is not gzip, as its header says") from error
        if len(body) > most_bytes:
            raise BadBodyError(f"a body of more than {most_bytes:,} bytes")
    if unzip and not unzip.eof:
        raise BadBodyError("a gzip body without its end")
    # As bytes: a header may have any, and httpx accepts only ASCII as text.
    headers = [pair for pair in response.headers.raw if pair[0].lower() not in _OF_TRANSFER]
    request = response.request
    return httpx.Response(
        response.status_code, headers=headers, content=bytes(body), request=request
    )
