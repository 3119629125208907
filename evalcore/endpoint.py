"""Questions to a model through an OpenAI-compatible endpoint (chat completions)."""

import json
import os
import queue
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import msgspec

from evalcore.chat_replies import OtherProtocolError, read_response
from evalcore.formats import JsonFields
from evalcore.records import Record
from ngramscan import __version__
from ngramscan.clock import now
from ngramscan.errors import InputError, RemoteError
from ngramscan.messages import OptionUse
from ngramscan.progress import SILENT, Progress
from ngramscan.remote import exchange
from ngramscan.remote.exchange import ServiceUnusable

_SECRET = re.compile(r"api.?key|secret|password|authorization|access.?token|bearer", re.IGNORECASE)

LONGEST_COMPLETION_BYTES = 16_000_000
"""More than any model writes."""


class PromptRequest(NamedTuple):
    """Messages, each with `role` and `content`, and the record that the answer will complete."""

    record: Record
    messages: Sequence[Mapping[str, str]]


Ask = Callable[[PromptRequest], Record]  # or it raises a RemoteError


class ApiKey(str):
    """A key that appears only in the header of requests; empty if there is none."""

    def __repr__(self) -> str:
        return "ApiKey(hidden)"

    def headers(self) -> dict[str, str]:
        """Return the headers that identify the client."""
        login = {"Authorization": f"Bearer {self}"} if self else {}
        return {"User-Agent": f"evalcore/{__version__}", **login}

    def hide_in(self, text: str) -> str:
        """Return a text without the key, in case a server repeats it."""
        # Short ones such as `none` or `EMPTY` are placeholders, and may occur in answers as words.
        return text if len(self) < 8 else text.replace(self, "[key]")


def read_key(variable: str) -> ApiKey:
    """Return the key that an environment variable holds."""
    key = ApiKey(os.environ.get(variable, "").strip())
    # Checked here because the HTTP library would show a header that it refuses.
    if not re.fullmatch("[!-~]*", key):
        raise InputError(f"environment variable {variable}", "not a key: blanks or odd characters")
    return key


def request_parameters(
    temperature: float | None, max_tokens: int | None, extras: Iterable[str]
) -> JsonFields:
    """Return the parameters of each request; extras, `name=value` in JSON or text, come last."""
    parameters: JsonFields = {"temperature": temperature, "max_tokens": max_tokens}
    for extra in extras:
        name, _, value = extra.partition("=")
        name, option = name.strip(), OptionUse("params", extra)
        if not name or "=" not in extra:
            raise InputError(option, "expected KEY=VALUE")
        if _SECRET.search(name):
            raise InputError(
                OptionUse("params", name),
                "outputs would keep the secret; see " + OptionUse("api_key_env"),
            )
        if name in {"model", "messages", "stream", "n"}:
            raise InputError(option, f"{name!r} can't be set this way")
        parameters[name] = value
        with suppress(ValueError, RecursionError):
            parameters[name] = msgspec.json.decode(value)
    return {name: value for name, value in parameters.items() if value is not None}


def ask_and_keep(
    ask: Ask,
    questions: Sequence[PromptRequest],
    keep: Callable[[PromptRequest, Record], str],
    size: int,
    progress: Progress,
    unit: str,
) -> dict[Any, str]:
    """Ask questions and keep each answer as it comes; return why others are missing, by record.

    `keep` returns why an answer is unusable, or an empty text.
    """
    missing = {}
    progress.expect(len(questions), unit)
    for question, answer in ask_all(ask, iter(questions), size):
        reason = str(answer) if isinstance(answer, RemoteError) else keep(question, answer)
        if reason:
            missing[question.record.key] = reason
        progress.advance(1, unit)
    return missing


def ask_all(
    ask: Ask, questions: Iterator[PromptRequest], size: int
) -> Iterator[tuple[PromptRequest, Record | RemoteError]]:
    """Ask up to `size` questions at once; yield each with its answer before taking the next."""
    # An executor's threads are joined in the end: Ctrl-C would wait for a stalled request. A thread
    # for each question instead of each place would halve the questions per second.
    todo: queue.SimpleQueue[PromptRequest | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[PromptRequest, Record | Exception]] = queue.SimpleQueue()
    work, under_way, started = partial(_work, ask, todo, done), 0, 0
    try:
        while True:
            for question in islice(questions, size - under_way):
                todo.put(question)
                under_way += 1
                if started < under_way:
                    started += 1
                    threading.Thread(target=work, daemon=True).start()
            if not under_way:
                return
            question, answer = done.get()
            under_way -= 1
            if not isinstance(answer, Record | RemoteError):
                raise answer
            yield question, answer
    finally:
        for _ in range(started):
            todo.put(None)


def _work(ask: Ask, todo: Any, done: Any) -> None:
    while question := todo.get():
        try:
            done.put((question, ask(question)))
        except Exception as error:  # noqa: BLE001 - raised in the thread that takes the answers
            done.put((question, error))


@contextmanager
def open_endpoint(
    base_url: str | None,
    key: ApiKey,
    rate: float | None = None,
    timeout_s: float = 600.0,
    progress: Progress = SILENT,
    **options: Any,
) -> Iterator[Ask]:
    """Open an endpoint for questions from several threads. Options: see `exchange.Service`."""
    terms = exchange.Terms(
        most_bytes=LONGEST_COMPLETION_BYTES,
        within_s=timeout_s,
        rate=rate,
        retries=replace(exchange.RETRIES, attempts_to_connect=4),
        exhausted_in_a_row=3,  # one alone may be a question that it can't cope with
    )

    has_answered = threading.Event()

    def read(answer: httpx.Response) -> JsonFields:
        try:
            return read_response(answer, key.hide_in)
        except OtherProtocolError as error:
            if has_answered.is_set():
                raise  # the address is right, whatever a gateway sent here
            raise ServiceUnusable(str(error)) from error

    def ask(question: PromptRequest) -> Record:
        record, messages = replace(question.record, asked_at=now()), question.messages
        body = {**(record.parameters or {}), "model": record.model, "messages": messages}
        text = json.dumps(body, allow_nan=False)
        reply, attempts, seconds = service.ask(text, read)
        has_answered.set()
        return replace(record, **reply, attempts=attempts, latency_s=round(seconds, 3))

    # No variable here holds the key as a text: a traceback may show them.
    options |= {"url": _completions_url(base_url), "hide": key.hide_in, "progress": progress}
    with closing(exchange.Service(terms=terms, headers=key.headers(), **options)) as service:
        yield ask


def _completions_url(base_url: str | None) -> str:
    try:
        parts, host = urlsplit(base_url or ""), httpx.URL(base_url or "").host.encode("idna")
        is_url = parts.scheme in {"http", "https"} and parts.port != 0
    except (ValueError, httpx.InvalidURL):
        is_url, host = False, b""
    if not (base_url and is_url and re.fullmatch(rb"[!-~]+", host)):
        problem = "not a URL" if base_url else "missing"
        raise InputError(
            OptionUse("base_url"), f"{problem}; expected http://HOST:PORT/v1 or https://…"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            OptionUse("base_url") + f" of {parts.hostname}", "contains more than an address"
        )
    return base_url.rstrip("/") + "/chat/completions"
