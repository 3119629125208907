"""A model behind an endpoint that speaks the protocol of OpenAI's chat completions."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Protocol, Self
from urllib.parse import urlsplit

import httpx

from evalcore.replies import EndpointRefused, MayPassError, Reply, SlowDownError, read_response
from ngramscan import __version__, exchange
from ngramscan.errors import InputError, RemoteRefused, RemoteUnavailable
from ngramscan.pace import LONGEST_PAUSE_S, Clock, Pace, SystemClock
from ngramscan.progress import SILENT, Progress

Messages = Sequence[Mapping[str, str]]
"""Each with `role` and `content`."""

ATTEMPTS = 7
"""Of one question, those that were told to slow down not counted."""
ATTEMPTS_TO_CONNECT = 4
"""While the endpoint never answered anything: nobody is there, most likely."""
EXHAUSTED_IN_A_ROW = 3
"""So many questions that used up all their attempts, with no answer to any other since the first:
the endpoint is away. One alone may be a question that it can't cope with."""
LONGEST_REPLY_BYTES = 16_000_000
"""Of a completion: more than any model writes."""

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 30.0
_SHORTEST_SECRET = 8
_SECRET = re.compile(r"api.?key|secret|password|authorization|access.?token|bearer", re.IGNORECASE)
_RESERVED = {"model", "messages", "stream", "n"}


class ProblemKey(NamedTuple):
    """Which problem is asked, and after which method."""

    dataset: str
    method: str
    id: str
    epoch: int | None = None
    """Which of repeated questions, from 1; None where each problem is asked once."""


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


class EndpointUnavailable(RemoteUnavailable):
    """No question is answered at present: the endpoint is away, or wants a long pause."""


class _NoConnectionError(MayPassError):
    """Nobody took the request."""


# What a user says about it


class ApiKey:
    """A key that shows itself nowhere but in the header of a request.

    Raises
    ------
    InputError
        This can't be a key; the message names its source and does not show it.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str, source: str = "API key") -> None:
        # Checked here because the HTTP library would show a header that it refuses.
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise InputError(source, "empty, or blanks or unusual characters in it")
        self._secret = secret

    def __repr__(self) -> str:
        return "ApiKey(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not passed to other processes")

    def header(self) -> dict[str, str]:
        """Return the header that proves who asks."""
        return {"Authorization": f"Bearer {self._secret}"}

    def hide_in(self, text: str) -> str:
        """Return a text without the key, should a server have repeated it.

        Very short ones, such as `none` or `EMPTY`, only fill the header of servers that want no
        key; taking those words out would damage answers.
        """
        is_filler = len(self._secret) < _SHORTEST_SECRET
        return text if is_filler else text.replace(self._secret, "[key]")


def read_key(variable: str) -> ApiKey | None:
    """Return the key that an environment variable holds; None where it is not set, or empty."""
    secret = os.environ.get(variable, "").strip()
    return ApiKey(secret, f"environment variable {variable}") if secret else None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model of one server.

    >>> Endpoint("http://localhost:8000/v1", "llama-3", {"temperature": 0, "max_tokens": 4096})
    """

    base_url: str | None
    """Of an API like OpenAI's, usually ending in /v1."""
    model: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})
    """Further fields of each request."""
    rate: float | None = None
    """Requests per second at most; None: no limit."""
    timeout_s: float = 600.0
    """For a whole answer; models that reason may be silent for minutes."""

    @property
    def url(self) -> str:
        """The address that is asked; an InputError where the base URL is none, or holds more."""
        if not self.base_url:
            raise InputError("--base-url", "missing; the address of an endpoint was expected")
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            problem = "no URL; http://… or https://… was expected"
            raise InputError(f"--base-url {self.base_url}", problem)
        if parts.username or parts.password or parts.query or parts.fragment:
            problem = "it holds more than an address; a key belongs into an environment variable"
            raise InputError(f"--base-url of {parts.hostname}", problem)
        return self.base_url.rstrip("/") + "/chat/completions"


def request_parameters(
    temperature: float | None, max_tokens: int | None, extras: Iterable[str]
) -> dict[str, Any]:
    """Return the parameters of each request; None, and `null` in an extra, leaves one out.

    Extras are `name=value`, each value JSON where it can be read as such, else a text. They win
    over the others; an InputError: one has another form, or names what is no parameter here.
    """
    parameters: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
    for extra in extras:
        name, equals, value = extra.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"--param {extra}", "KEY=VALUE was expected")
        if _SECRET.search(name):
            problem = "a secret would be kept with the outputs; --api-key-env takes one"
            raise InputError(f"--param {name}", problem)
        if name in _RESERVED:
            raise InputError(f"--param {extra}", f"{name!r} can't be set this way")
        parameters[name] = _json_or_text(value)
    return {name: value for name, value in parameters.items() if value is not None}


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


# Asking


class ChatModel:
    """Asks one model; safe to use from several threads, which keep one pace.

    >>> with ChatModel(Endpoint("http://localhost:8000/v1", "llama-3"), key) as model:
    ...     model.ask([{"role": "user", "content": "2 + 2?"}], ProblemKey("sums", "direct", "1"))
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: ApiKey | None = None,
        progress: Progress = SILENT,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.name, self.parameters = endpoint.model, endpoint.parameters
        self._url, self._timeout_s = endpoint.url, endpoint.timeout_s
        self._hide: Callable[[str], str] = key.hide_in if key else str
        self._progress = progress
        self._closed = threading.Event()
        self._clock = clock or SystemClock(self._closed)
        self._pace = Pace(endpoint.rate, self._clock, progress.note)
        agent = {"User-Agent": f"evalcore/{__version__}", "Content-Type": "application/json"}
        http = httpx.Client(
            transport=transport,
            timeout=httpx.Timeout(endpoint.timeout_s, connect=10.0, pool=None),
            # As many as there are threads: whoever asks bounds them.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
            headers=agent | exchange.ENCODINGS | (key.header() if key else {}),
        )
        self._http = exchange.keep_time(http)
        self._lock = threading.Lock()
        self._under_way = 0
        self._ever_answered = False
        self._exhausted = 0
        self._given_up: EndpointRefused | EndpointUnavailable | None = None

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
        asked = {"model": self.name, "messages": [dict(message) for message in messages]}
        request = {**self.parameters, **asked}
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
            return exchange.post(
                self._http, self._url, content, LONGEST_REPLY_BYTES, self._timeout_s
            )
        except exchange.BadBodyError as error:
            raise MayPassError(str(error)) from error
        except httpx.RequestError as error:
            said = self._hide(str(error))
            if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
                failure: MayPassError = _NoConnectionError(f"no connection ({said or 'timeout'})")
            elif isinstance(error, httpx.TimeoutException):
                failure = MayPassError(f"no answer in {self._timeout_s:g} s")
            else:
                failure = MayPassError(f"connection lost ({said or type(error).__name__})")
            raise failure from _without_frames(error)
        finally:
            with self._lock:
                self._under_way -= 1
            self._close_if_idle()

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
        """End all waiting; requests under way are left to themselves."""
        self._closed.set()
        self._close_if_idle()


def _without_frames(error: Exception) -> Exception:
    """Return an error without its frames: some tracebacks show local variables, so the key."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error
