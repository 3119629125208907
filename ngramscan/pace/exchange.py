"""Questions to one server over HTTP, at its pace, and again where that may help.

A time-out of httpx is one between two pieces: a server that sends a byte per second keeps it from
ever coming, and a body of any size would be read. Here the whole exchange has a time, and the body,
decoded, a length. Only gzip is decoded, as far as the length goes: other encodings could make
gigabytes of one piece. What goes wrong on the way is a TransientError.
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpcore
import httpx

from ngramscan.errors import RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.pace.pace import LONGEST_PAUSE_S, Clock, Pace, SystemClock
from ngramscan.progress import Progress

ATTEMPTS = 7
"""For one question; those that were told to slow down don't count."""
_CONNECT_TIMEOUT_S, _LONGEST_BACKOFF_S = 10.0, 30.0
_LIMITS = threading.local()

T = TypeVar("T")


class TransientError(Exception):
    """An exchange failed in a way that may pass."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NoConnectionError(TransientError):
    """Nobody took the request."""


class BadBodyError(TransientError):
    """A body is longer than it may be, or is not what its header says."""


class RateLimitedError(TransientError):
    """The server wants fewer requests."""

    final: type[RemoteError] = RemoteUnavailable
    """What it becomes where pauses don't help."""


class ServiceUnusable(RemoteRefused):
    """Nor will any other question be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a server may be asked, and how patiently."""

    most_bytes: int
    """The longest body, decompressed."""
    within_s: float
    """For a whole exchange, from the connection to the last byte."""
    rate: float | None = None
    pace: type[Pace] = Pace
    attempts_to_connect: int = ATTEMPTS
    """While the server never answered anything: nobody is there, most likely."""
    exhausted_in_a_row: int = 1
    """So many questions used up all their attempts, with no answer to any other: it is away."""
    slow_downs: float = math.inf
    """How often one question may be told to slow down while others are answered."""
    jitter_s: float = 0.0


class Service:
    """One server; safe to ask from several threads. One that is given up is so for all questions.

    `hide` takes out of a message what nobody may see; options are those of `httpx.Client`.
    """

    def __init__(
        self,
        url: str,
        terms: Terms,
        progress: Progress,
        clock: Clock | None = None,
        hide: Callable[[str], str] = str,
        **options: Any,
    ) -> None:
        self._url, self._terms, self._progress, self._hide = url, terms, progress, hide
        self.closed = threading.Event()
        self._clock = clock or SystemClock(self.closed)
        self._pace = terms.pace(terms.rate or 0.0, self._clock, progress.note)
        # As many connections as there are threads: whoever asks bounds them.
        timeout, limits = httpx.Timeout(terms.within_s, connect=_CONNECT_TIMEOUT_S), httpx.Limits()
        self._client = httpx.Client(timeout=timeout, limits=limits, **options)
        self._client.headers["Accept-Encoding"] = "gzip"
        self._client.headers["Content-Type"] = "application/json"
        # httpx has no setting for it; its pools of connections, those of proxies too, take one.
        for transport in (self._client._transport, *self._client._mounts.values()):
            pool: Any = getattr(transport, "_pool", None)
            if pool is not None:
                pool._network_backend = _Backend(pool._network_backend)
        self._lock = threading.Lock()
        self._under_way = 0
        self._last_answer_at = -math.inf
        self._exhausted = 0
        self.connection_error = ""
        self.given_up: RemoteError | None = None
        """What every further question would raise."""

    def ask(
        self,
        content: str,
        read: Callable[[httpx.Response], T],
        extensions: dict[str, Any] | None = None,
    ) -> tuple[T, int, float]:
        """Return what `read` makes of the answer, how many requests it took, and the last's time.

        It may raise a TransientError; a RemoteRefused: this question will not be answered; or a
        ServiceUnusable. Raised is a RemoteError.
        """
        started_at = self._clock.now()
        sent = failures = 0
        while True:
            self._check_open()
            turn = self._pace.acquire()
            self._check_open()
            sent_at = self._clock.now()
            sent += 1
            try:
                answer = read(self.post(content, extensions))
            except RateLimitedError as error:
                self._slow_down(turn, error, is_last=sent - failures > self._terms.slow_downs)
            except TransientError as error:
                failures += 1
                self._wait_after(error, failures, started_at)
            except ServiceUnusable as error:
                raise self.give_up(RemoteRefused, str(error)) from error
            except RemoteRefused as error:
                self._note_answer()
                raise type(error)(f"{self._url}: {error}") from error
            else:
                self._note_answer()
                return answer, sent, self._clock.now() - sent_at

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
            raise error.final(f"{self._url}: {error}, to this question again and again") from error

    def _wait_after(self, error: TransientError, failures: int, started_at: float) -> None:
        """Wait before the next attempt, or raise where there is none."""
        problem = self._hide(str(error))
        no_answers = self._last_answer_at < started_at
        nobody_there = isinstance(error, NoConnectionError) and self._last_answer_at == -math.inf
        if failures >= (self._terms.attempts_to_connect if nobody_there else ATTEMPTS):
            problem += f", after {failures} attempts"
            self._exhausted += 1
            is_away = no_answers and self._exhausted >= self._terms.exhausted_in_a_row
            if nobody_there or is_away:
                raise self.give_up(RemoteUnavailable, problem) from error
            raise RemoteUnavailable(f"{self._url}: {problem}") from error
        grown = min(0.5 * 2.0 ** (failures - 1), _LONGEST_BACKOFF_S)
        grown += random.uniform(0.0, self._terms.jitter_s)
        seconds = max(grown, min(error.retry_after or 0.0, LONGEST_PAUSE_S))
        self._progress.detail(f"{self._url}: {problem}; again in {seconds:.1f} s")
        self._clock.wait(seconds)

    def give_up(self, kind: type[RemoteError], problem: str) -> RemoteError:
        """Raise this for every further question; return it."""
        self.given_up = kind(f"{self._url}: {problem}")
        return self.given_up

    def post(self, content: str, extensions: dict[str, Any] | None = None) -> httpx.Response:
        """Send JSON once and return the answer with the body read and decoded."""
        with self._lock:
            self._under_way += 1
        try:
            return self._post(content, extensions)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            self.connection_error = str(error) or "timeout"
            problem = f"no connection ({self.connection_error})"
            raise NoConnectionError(problem) from _without_frames(error)
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

    def _post(self, content: str, extensions: dict[str, Any] | None) -> httpx.Response:
        _LIMITS.until = time.monotonic() + self._terms.within_s
        try:
            with self._client.stream(
                "POST", self._url, content=content, extensions=extensions
            ) as response:
                encoding = response.headers.get("content-encoding", "identity").strip().lower()
                # A transport that is no network may hand over a body that is read already.
                whole = response.is_stream_consumed
                raw = [response.content] if whole else response.iter_raw()
                parts = _decoded(raw, "identity" if whole else encoding, self._terms.most_bytes)
                body = b"".join(parts)
        finally:
            _LIMITS.until = None
        # As bytes: a header may hold any, and httpx takes only ASCII as text.
        kept = [pair for pair in response.headers.raw if pair[0].lower() not in _OF_TRANSFER]
        return httpx.Response(
            response.status_code, headers=kept, content=body, request=response.request
        )

    def close(self) -> None:
        """End all waiting; requests under way are left to themselves."""
        self.give_up(RemoteUnavailable, "interrupted")
        self.closed.set()
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        """Close the connections in the end, but none under the thread that reads from it."""
        with self._lock:
            is_idle = self.closed.is_set() and not self._under_way
        if is_idle:
            self._client.close()


def _without_frames(error: Exception) -> Exception:
    """Return an error without its frames: some tracebacks show local variables, so the login."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error


def read_object(content: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a body is; None: it is none."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def error_words(body: Mapping[str, Any] | None, response: httpx.Response) -> str:
    """Return what a server says of an error, on one line; empty: nothing."""
    error = (body or {}).get("error") or (body or {}).get("detail")
    said = error.get("message", error) if isinstance(error, Mapping) else error
    if not said and "html" in response.headers.get("content-type", ""):
        said = "an HTML page"
    return " ".join(str(said or "").split())


def retry_after_s(response: httpx.Response) -> float | None:
    """Return the seconds of a Retry-After header, in both of its forms."""
    value = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,20})?", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


_OF_TRANSFER = {b"content-encoding", b"content-length", b"transfer-encoding"}


def _decoded(parts: Iterable[bytes], encoding: str, most_bytes: int) -> Iterator[bytes]:
    if encoding not in {"identity", "", "gzip"}:
        raise BadBodyError(f"a body in the unknown encoding {encoding[:40]!r}")
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
    length = 0
    for raw in parts:
        try:
            part = unzip.decompress(raw, most_bytes - length + 1) if unzip else raw
        except zlib.error as error:
            raise BadBodyError("a body that is not gzip, as its header says") from error
        length += len(part)
        if length > most_bytes:
            raise BadBodyError(f"a body of more than {most_bytes:,} bytes")
        yield part
    if unzip and not unzip.eof:
        raise BadBodyError("a gzip body without its end")


def _left(timeout: float | None) -> float | None:
    """Return how long one step may take: no longer than its own time-out and the exchange's."""
    until: float | None = getattr(_LIMITS, "until", None)
    if until is None:
        return timeout
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time of the request is over")
    return left if timeout is None else min(left, timeout)


class _Backend(httpcore.NetworkBackend):
    """Connects as another backend does, to streams that keep the time of the exchange."""

    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *others: Any, **options: Any
    ) -> httpcore.NetworkStream:
        connected = self._backend.connect_tcp(host, port, _left(timeout), *others, **options)
        return _Stream(connected)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, *others: Any, **options: Any
    ) -> httpcore.NetworkStream:
        connected = self._backend.connect_unix_socket(path, _left(timeout), *others, **options)
        return _Stream(connected)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
