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

import json
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from ngramscan import __version__
from ngramscan.errors import RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.indexes.base import ApiSettings, split_login
from ngramscan.indexes.http.replies import Reply
from ngramscan.pace.exchange import (
    RateLimitedError,
    Service,
    Terms,
    TransientError,
    error_words,
    read_object,
    retry_after_s,
)
from ngramscan.pace.pace import Clock, HostPace
from ngramscan.progress import Progress

LONGEST_REPLY_BYTES = 1_000_000
"""A count takes a hundred; a window of 10,000 bytes on each side, escaped and given twice, less
than 400,000 and its metadata."""
UNREACHABLE_AFTER_S = 8.0
SLOW_DOWNS = 4
"""How often one question may be told to slow down while others are answered."""

_CUT_CHARACTER = "Failed to decode document text"
_SLOW_DOWN = {403, 429}
_MAY_PASS = {408, 500, 502, 503, 504}

T = TypeVar("T")


class CutCharacterError(RemoteRefused):
    """The window that was asked for begins or ends inside a character; another may not."""


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
        terms = Terms(
            most_bytes=LONGEST_REPLY_BYTES,
            within_s=settings.timeout_s,
            rate=settings.rate_for(host),
            pace=HostPace,
            slow_downs=SLOW_DOWNS,
            jitter_s=0.5,
        )
        agent = {"User-Agent": f"ngramscan/{__version__}"}
        self._service = Service(
            self.url, terms, progress, clock, auth=login, transport=transport, headers=agent
        )
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._open: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._sent = False
        self._answered = False

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
                if self._service.given_up:
                    raise self._service.given_up
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
        if self._service.closed.wait(UNREACHABLE_AFTER_S) or self._answered:
            return
        reason = self._service.connection_error
        if reason or not self._sent:
            problem = f"can't be reached ({reason or 'no connection'})"
            self._fail_open(self._service.give_up(RemoteUnavailable, problem))

    def _fail_open(self, error: RemoteError) -> None:
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
        # Whether a request got as far as being sent is asked only until something was answered.
        extensions = {} if self._answered else {"trace": self._trace}
        try:
            return self._service.ask(json.dumps(question), self._read, extensions)[0]
        except RemoteError:
            if self._service.given_up:
                self._fail_open(self._service.given_up)
            raise

    def _read(self, response: httpx.Response) -> Reply:
        self._answered = True
        return read_reply(response)

    def _trace(self, event: str, _info: dict[str, Any]) -> None:
        if event == "http11.send_request_headers.started":
            self._sent = True

    # Ending

    def close(self) -> None:
        """End the threads; requests under way are left to themselves."""
        self._service.close()
        for _ in self._threads:
            self._tasks.put(None)
        self._fail_open(RemoteUnavailable(f"{self.url}: interrupted"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_reply(response: httpx.Response) -> Reply:
    """Return the JSON object of an answer, or raise for what it is instead."""
    status = response.status_code
    body = read_object(response.content)
    words = error_words(body, response)[:200]
    said = f"HTTP {status}" + (f": {words}" if words else "")
    if status in _SLOW_DOWN:
        error = RateLimitedError(said, retry_after_s(response))
        error.final = RemoteRefused if status == httpx.codes.FORBIDDEN else RemoteUnavailable
        raise error
    if status in _MAY_PASS:
        raise TransientError(said, retry_after_s(response))
    if status != httpx.codes.OK:
        raise RemoteRefused(said)
    if body is None:
        raise TransientError(said.replace("200", "200, but no JSON object", 1))
    if "error" in body:
        if _CUT_CHARACTER in words:
            raise CutCharacterError(words)
        raise TransientError(said.replace("200", "200 with an error", 1))
    return body
