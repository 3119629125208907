"""One host of indexes: cached replies, and rate-limited requests for the rest."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain
from typing import Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

import httpx

from ngramscan import __version__
from ngramscan.clock import now
from ngramscan.errors import InputError, NgramscanError, RemoteError, RemoteUnreachable
from ngramscan.indexes.catalog import INFINI_GRAM_MINI, ApiProtocol, HostedService, service_at
from ngramscan.indexes.http.questions import Answer, HostQuestion, Lookup, Questions
from ngramscan.indexes.http.replies import Reply, read_reply
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import DAMAGED, Journal
from ngramscan.messages import OptionUse
from ngramscan.progress import Progress
from ngramscan.remote.exchange import RETRIES, Service, Terms, TransientError
from ngramscan.remote.pace import Clock, HostPace

LONGEST_REPLY_BYTES = 1_000_000
"""A count takes a hundred bytes; a window of 10,000 bytes on each side, which is escaped and sent
twice, takes less than 400,000 and its metadata."""
UNREACHABLE_AFTER_S = 8.0
SLOW_DOWNS = 4
"""How many requests to slow down one question may get while others are answered."""
_CONCURRENCY = 4
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}

T = TypeVar("T")
A = TypeVar("A")
F = TypeVar("F")


class ApiClient:
    """One host: its address, its pace, the journal of its replies, and the threads that query it.

    All questions to the host fail if there is no connection within a few seconds of the first one,
    or if a question uses up all its attempts while no other is answered.
    """

    def __init__(
        self,
        url: str,
        options: IndexOptions,
        journal: Journal,
        progress: Progress,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url, login = split_login("api_url", url)
        self.journal, self.progress = journal, progress
        self.refresh, self._concurrency = options.refresh, options.concurrency or _CONCURRENCY
        self.chosen_rate = options.rate or None
        """Requests per second by `--rate`; None: the usual rate of the service, or no limit."""
        is_loopback = urlsplit(self.url).hostname in _LOOPBACK
        self._may_be_ours = is_loopback and url != options.api_url
        usual_rate = 0.0 if is_loopback else (service_at(self.url) or INFINI_GRAM_MINI).rate
        terms = Terms(
            most_bytes=LONGEST_REPLY_BYTES,
            within_s=options.timeout_s,
            rate=usual_rate if options.rate is None else options.rate,
            pace=HostPace,
            retries=RETRIES,
            slow_downs=SLOW_DOWNS,
            jitter_s=0.5,
        )
        agent = {"User-Agent": f"ngramscan/{__version__}"}
        more: dict[str, Any] = {"auth": login, "transport": transport, "headers": agent}
        self.service = Service(self.url, terms, progress, clock, on_give_up=self._fail_all, **more)
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
        self._tasks = queue.SimpleQueue()
        self._futures: set[Future[Any]] = set()
        self._threads: list[threading.Thread] = []

    def public(self, protocol: ApiProtocol) -> HostedService | None:
        """Return the public service at the host, if it has this protocol."""
        service = service_at(self.url)
        return service if service and service.protocol == protocol else None

    def planned_rate(self, usual: HostedService) -> float:
        """Return the requests per second of a plan: `--rate`, or the usual rate of the service."""
        return self.chosen_rate or (self.public(usual.protocol) or usual).rate

    @cached_property
    def served(self) -> dict[str, dict[str, Any]]:
        """The indexes that the host lists, by name; only `ngramscan serve` lists any."""
        try:
            listed = read_reply(self.service.get("indexes"))["indexes"]
            return {str(entry["name"]): dict(entry) for entry in listed}
        except (RemoteError, TransientError, *DAMAGED):
            return {}

    def answers(
        self,
        index: str,
        items: Iterable[A],
        questions_about: Callable[[A], Questions[T]],
        failure: Callable[[A, NgramscanError], F],
        announce: Callable[[int], None] | None = None,
    ) -> Iterator[T | F]:
        """Start to look up each item once; yield the results, or errors, as they come.

        All is looked up in the journal first: a host may be away that isn't needed. `announce` gets
        the number of items to ask about, before any of them is.
        """
        answered: list[T | F] = []
        unanswered: dict[A, Lookup[T]] = {}
        for item in dict.fromkeys(items):
            lookup = Lookup(questions_about(item))
            try:
                if lookup.advance(partial(self.look_up, index)):
                    answered.append(lookup.result)
                else:
                    unanswered[item] = lookup
            except NgramscanError as error:
                answered.append(failure(item, error))
        if announce and unanswered:
            announce(len(unanswered))
        self.progress.expect(len(unanswered), "answers")
        self.progress.detail(
            f"{index}: from the journal: {len(answered)}, to ask: {len(unanswered)}"
        )

        def finish(lookup: Lookup[T]) -> T:
            try:
                lookup.advance(partial(self.answer, index))
                return lookup.result
            finally:
                self.progress.advance(1, "answers")

        futures = {
            self.submit(partial(finish, lookup)): item for item, lookup in unanswered.items()
        }
        answered_later = _collect(futures, failure)
        return chain(answered, answered_later)

    def look_up(self, index: str, question: HostQuestion[T]) -> Answer[T] | None:
        """Return the answer of a stored reply; None if there is none, or one that can't be true."""
        request = question.request
        stored = {} if self.refresh else self.journal.get(self.url, index, [request])
        if reply := stored.get(request):
            with suppress(RemoteError, *DAMAGED):
                return question.read(json.loads(reply.text)), "journal", reply.asked_at
        return None

    def answer(self, index: str, question: HostQuestion[T]) -> Answer[T]:
        """Return the answer of a stored reply, which may be new by now, or ask the host."""
        return self.look_up(index, question) or question.ask()

    def ask(
        self,
        index: str,
        request: str,
        body: Reply,
        parse: Callable[[httpx.Response], Reply],
        read_content: Callable[[Reply], T],
    ) -> tuple[Reply, Answer[T]]:
        """Ask the host; keep the reply under the request. `parse` and `read` refuse wrong ones."""

        def accept(response: httpx.Response) -> tuple[Reply, T]:
            reply = parse(response)
            return reply, read_content(reply)

        (reply, content), _, _ = self.service.ask(json.dumps(body), accept)
        self.journal.put(self.url, index, request, json.dumps(reply))
        return reply, (content, "api", now())

    def submit(self, task: Callable[[], T]) -> Future[T]:
        """Run a task as soon as a thread is free."""
        future: Future[T] = Future()
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if not self._threads:
            # An executor joins its threads at exit: Ctrl-C would wait for a stalled request.
            targets = [self._work] * self._concurrency + [self._watch]
            self._threads = [threading.Thread(target=target, daemon=True) for target in targets]
            for thread in self._threads:
                thread.start()
        self._tasks.put((future, task))
        return future

    def _work(self) -> None:
        while future_and_task := self._tasks.get():
            future, task = future_and_task
            with suppress(InvalidStateError):  # the host has failed in the meantime
                try:
                    result = task()
                except Exception as error:  # noqa: BLE001 - raised in the thread that waits
                    future.set_exception(error)
                else:
                    future.set_result(result)

    def _watch(self) -> None:
        """Give up a host without a connection; even a name look-up can hang for a long time."""
        if not self.service.closed.wait(UNREACHABLE_AFTER_S) and self.service.unreachable:
            hint = "; is ngramscan serve running there?" if self._may_be_ours else ""
            problem = f"can't be reached ({self.service.unreachable}{hint})"
            self.service.give_up(RemoteUnreachable, problem)

    def _fail_all(self, error: RemoteError) -> None:
        for future in self._futures.copy():
            with suppress(InvalidStateError):
                future.set_exception(error)

    def close(self) -> None:
        """End the threads; requests in flight are abandoned."""
        self.service.close()
        for _ in self._threads:
            self._tasks.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _collect(
    futures: dict[Future[T], A], failure: Callable[[A, NgramscanError], F]
) -> Iterator[T | F]:
    """Yield answers as they arrive, or failures."""
    done: queue.SimpleQueue[Future[T]] = queue.SimpleQueue()
    for future in futures:
        future.add_done_callback(done.put)
    while futures:
        try:
            # With a limit, since Ctrl-C just before a wait is only seen after it.
            future = done.get(timeout=1.0)
        except queue.Empty:
            continue
        item = futures.pop(future)  # frees its result
        try:
            yield future.result()
        except NgramscanError as error:
            yield failure(item, error)


def split_login(option: str, url: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address with a slash at its end, and the name and password that it contained."""
    # A malformed address may have a password anywhere.
    refused = OptionUse(option) if "@" in url else OptionUse(option, url)
    problem = "not a URL; expected http://… or https://…"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(refused, problem) from error
    if parts.scheme not in {"http", "https"} or not host:
        raise InputError(refused, problem)
    host = f"[{host}]" if ":" in host else host
    place = host if port is None else f"{host}:{port}"
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    folder = re.sub("/+", "/", f"{parts.path}/")
    return f"{parts.scheme}://{place}{folder}", login if any(login) else None
