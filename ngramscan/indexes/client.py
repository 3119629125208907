"""One HTTP host of the infini-gram-mini protocol: questions in, replies out.

Asks in parallel at the host's pace, and again where that may help. What can go wrong on the way is
told apart here and nowhere else:

* 403, 429          slow down: the host pauses (see `pace`)
* connection lost, timeout, 408, 500, 502, 503, 504, 200 with an `error`, a body that is no JSON
                    may pass: asked again, with growing pauses
* 200, a character would be cut
                    only another window may do: CutCharacterError
* anything else     will not pass: RemoteRefused
* no connection within a few seconds of the first question, or a question that used up all its
  attempts while no other was answered
                    the host is given up, for all questions

Threads are our own rather than a ThreadPoolExecutor's: those are joined at the end of the process,
so Ctrl-C would wait for a stalled request.
"""

from __future__ import annotations

import email.utils
import json
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential, wait_random

from ngramscan import __version__, exchange
from ngramscan.errors import (
    NgramscanError,
    RemoteError,
    RemoteRefused,
    RemoteUnavailable,
)
from ngramscan.indexes.base import ApiSettings, split_login
from ngramscan.indexes.replies import Reply
from ngramscan.pace import Clock, HostPace, SystemClock
from ngramscan.progress import Progress

ATTEMPTS = 7
CONNECT_TIMEOUT_S = 10.0
LONGEST_REPLY_BYTES = 1_000_000
"""A count takes a hundred; a window of 10,000 bytes on each side, escaped and given twice, less
than 400,000 and its metadata."""
UNREACHABLE_AFTER_S = 8.0
LONGEST_PAUSE_S = 600.0
SLOW_DOWNS = 4
"""How often one question may be told to slow down while others are answered."""

_CUT_CHARACTER = "Failed to decode document text"
_SLOW_DOWN = {403, 429}
_MAY_PASS = {408, 500, 502, 503, 504}

T = TypeVar("T")


class CutCharacterError(RemoteRefused):
    """The window that was asked for begins or ends inside a character; another may not."""


class MayPassError(Exception):
    """An attempt failed in a way that may pass. Never leaves this module's client."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class _Task:
    work: Callable[[], Any]
    future: Future[Any]


class ApiClient:
    """Asks one host, with a bounded number of threads.

    >>> with ApiClient("http://127.0.0.1:8787/", ApiSettings(), progress) as client:
    ...     question = {"index": "pile", "query_type": "count", "query": "the"}
    ...     future = client.submit(lambda: client.ask(question))
    ...     future.result()
    """

    def __init__(
        self,
        url: str,
        settings: ApiSettings,
        progress: Progress,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url, login = split_login("--api-url", url)
        host = urlsplit(self.url).hostname or ""
        self._settings = settings
        self._progress = progress
        self._closed = threading.Event()
        self._clock = clock or SystemClock(self._closed)
        self._pace = HostPace(settings.rate_for(host), self._clock, progress.note)
        http = httpx.Client(
            transport=transport,
            timeout=httpx.Timeout(settings.timeout_s, connect=CONNECT_TIMEOUT_S),
            auth=login,
            limits=httpx.Limits(max_connections=settings.concurrency),
            headers={"User-Agent": f"ngramscan/{__version__}", **exchange.ENCODINGS},
        )
        self._http = exchange.keep_time(http)
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._open: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._under_way = 0
        self._sent = False
        self._answered = False
        self._connection_error = ""
        self._last_reply_at = float("-inf")
        self._given_up: NgramscanError | None = None

    # Many questions

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Do some work, which calls `ask`, as soon as a thread is free.

        Returns
        -------
        Future
            What `work` returns or raises; what ended the host where it was given up.
        """
        task = _Task(work, Future())
        with self._lock:
            self._open.add(task.future)
        if not self._threads:
            self._start()
        self._tasks.put(task)
        return task.future

    def _start(self) -> None:
        targets = [self._work] * self._settings.concurrency + [self._watch]
        self._threads = [threading.Thread(target=target, daemon=True) for target in targets]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                if self._given_up:
                    raise self._given_up
                result = task.work()
            except Exception as error:  # noqa: BLE001 - handed to whoever waits for the future
                self._settle(task.future, error=error)
            else:
                self._settle(task.future, result)

    def _settle(
        self, future: Future[Any], result: Any = None, error: BaseException | None = None
    ) -> None:
        with self._lock:
            if future not in self._open:
                return  # the host was given up meanwhile
            self._open.discard(future)
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    def _watch(self) -> None:
        """Give up a host to which there is no connection; even a name look-up can hang for long."""
        if self._closed.wait(UNREACHABLE_AFTER_S) or self._answered:
            return
        if self._connection_error or not self._sent:
            reason = self._connection_error or "no connection"
            self._give_up(RemoteUnavailable(f"{self.url}: can't be reached ({reason})"))

    def _give_up(self, error: NgramscanError) -> None:
        self._given_up = error
        with self._lock:
            open_futures = list(self._open)
            self._open.clear()
        for future in open_futures:
            future.set_exception(error)

    # One question

    def ask(self, question: dict[str, Any]) -> Reply:
        """Ask once, and again where that may help; return the reply, a JSON object without `error`.

        Raises
        ------
        RemoteRefused
            The host will not answer this.
        RemoteUnavailable
            It did not answer after all attempts, or was given up.
        """
        started_at = self._clock.now()
        attempts = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=_backoff,
            sleep=self._clock.wait,
            before_sleep=self._tell_retry,
            retry=retry_if_exception_type(MayPassError),
            reraise=True,
        )
        try:
            reply: Reply = attempts(self._attempt, question)
        except MayPassError as error:
            failure = RemoteUnavailable(f"{self.url}: {error}, after {ATTEMPTS} attempts")
            if self._last_reply_at < started_at:
                self._give_up(failure)
            raise failure from error
        except RemoteRefused:
            self._last_reply_at = self._clock.now()  # a refusal is an answer
            raise
        self._last_reply_at = self._clock.now()
        return reply

    def _tell_retry(self, state: RetryCallState) -> None:
        if state.outcome and state.next_action:
            error, seconds = state.outcome.exception(), state.next_action.sleep
            self._progress.detail(f"{self.url}: {error}; again in {seconds:.1f} s")

    def _attempt(self, question: dict[str, Any]) -> Reply:
        for _ in range(SLOW_DOWNS + 1):
            turn = self._pace.acquire()
            if self._given_up:
                raise self._given_up
            response = self._post(question)
            if response.status_code not in _SLOW_DOWN:
                self._pace.answered()
                return read_reply(response)
            self._slow_down(turn, response)
        raise self._unwanted(response, "to this question again and again")

    def _post(self, question: dict[str, Any]) -> httpx.Response:
        # Whether a request got as far as being sent is asked only until something was answered.
        extensions = {} if self._answered else {"trace": self._trace}
        with self._lock:
            self._under_way += 1
        try:
            response = exchange.post(
                self._http,
                self.url,
                json.dumps(question),
                LONGEST_REPLY_BYTES,
                self._settings.timeout_s,
                extensions,
            )
        except exchange.BadBodyError as error:
            raise MayPassError(str(error)) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            self._connection_error = str(error) or "timeout"
            raise MayPassError(f"no connection ({self._connection_error})") from error
        except httpx.TimeoutException as error:
            raise MayPassError("timeout") from error
        except httpx.TransportError as error:
            raise MayPassError(f"connection lost ({error or type(error).__name__})") from error
        finally:
            with self._lock:
                self._under_way -= 1
            self._close_if_idle()
        self._answered = True
        return response

    def _trace(self, event: str, _info: dict[str, Any]) -> None:
        if event == "http11.send_request_headers.started":
            self._sent = True

    def _slow_down(self, turn: int, response: httpx.Response) -> None:
        retry_after = _retry_after(response)
        if retry_after is not None and retry_after > LONGEST_PAUSE_S:
            error = self._unwanted(response, f"it asks to come back in {retry_after:.0f} s")
        elif self._pace.slow_down(turn, retry_after, f"HTTP {response.status_code}"):
            return
        else:
            error = self._unwanted(response, "also after pauses at the lowest rate")
        self._give_up(error)
        raise error

    def _unwanted(self, response: httpx.Response, circumstance: str) -> RemoteError:
        forbidden = response.status_code == httpx.codes.FORBIDDEN
        kind = RemoteRefused if forbidden else RemoteUnavailable
        status = f"HTTP {response.status_code}{_words(response)}"
        return kind(f"{self.url}: {status}, {circumstance}")

    # Ending

    def close(self) -> None:
        """End the threads; requests under way are left to themselves."""
        self._closed.set()
        for _ in self._threads:
            self._tasks.put(None)
        self._give_up(RemoteUnavailable(f"{self.url}: interrupted"))
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


_exponential = wait_exponential(multiplier=0.5, max=30.0) + wait_random(0.0, 0.5)


def _backoff(state: RetryCallState) -> float:
    assert state.outcome is not None
    error = state.outcome.exception()
    asked = error.retry_after if isinstance(error, MayPassError) else None
    return max(_exponential(state), min(asked or 0.0, LONGEST_PAUSE_S))


def read_reply(response: httpx.Response) -> Reply:
    """Return the JSON object of an answer, or raise for what it is instead.

    Raises
    ------
    MayPassError
        Asking again may help.
    RemoteRefused
        It will not.
    CutCharacterError
        It will not, but asking for another window may.
    """
    status = response.status_code
    url = response.request.url
    body = _json_object(response)
    words = _words(response)
    if status in _MAY_PASS:
        raise MayPassError(f"HTTP {status}{words}", _retry_after(response))
    if status != httpx.codes.OK:
        raise RemoteRefused(f"{url}: HTTP {status}{words}")
    if body is None:
        raise MayPassError(f"HTTP {status}, but no JSON object{words}")
    if "error" in body:
        if _CUT_CHARACTER in words:
            raise CutCharacterError(f"{url}{words}")
        raise MayPassError(f"HTTP {status} with an error{words}")
    return body


def _json_object(response: httpx.Response) -> Reply | None:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _words(response: httpx.Response) -> str:
    """Return what the server says, short and on one line."""
    body = _json_object(response)
    said = str(body["error"]) if body and "error" in body else ""
    if not said and "html" in response.headers.get("content-type", ""):
        said = "an HTML page"
    said = " ".join(said.split())
    return f": {said[:200]}" if said else ""


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of a Retry-After header, in both of its forms."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdecimal():
        return float(value[:20])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
