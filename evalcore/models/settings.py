"""What a user says about an endpoint: its address, the key, the parameters of each request."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlsplit

from ngramscan.errors import InputError

_SHORTEST_SECRET = 8
_SECRET = re.compile(r"api.?key|secret|password|authorization|access.?token|bearer", re.IGNORECASE)
_RESERVED = {"model", "messages", "stream", "n"}


class ApiKey:
    """A key that shows itself nowhere but in the header of a request.

    Parameters
    ----------
    secret : str
        The key.
    source : str
        Where it comes from, for messages.

    Raises
    ------
    InputError
        This can't be a key; the message does not show it.
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
        if len(self._secret) < _SHORTEST_SECRET:
            return text
        return text.replace(self._secret, "[key]")


def read_key(variable: str) -> ApiKey | None:
    """Return the key that an environment variable holds; None where it is not set, or empty.

    Raises
    ------
    InputError
        It holds what can't be a key; the message does not say what.
    """
    secret = os.environ.get(variable, "").strip()
    return ApiKey(secret, f"environment variable {variable}") if secret else None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model of one server.

    >>> Endpoint("http://localhost:8000/v1", "llama-3", {"temperature": 0, "max_tokens": 4096})
    """

    base_url: str
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
        """Return the address that is asked.

        Raises
        ------
        InputError
            The base URL is none, or holds something that would show in messages.
        """
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
    """Return the parameters of each request.

    Parameters
    ----------
    temperature : float or None
        None: leave it to the server.
    max_tokens : int or None
        Of an answer, its reasoning included; None: leave it to the server.
    extras : iterable of str
        `name=value`, each value JSON where it can be read as such, else a text. They win over the
        others; `null` leaves a parameter out.

    Raises
    ------
    InputError
        An extra has another form, or names what is no parameter here.
    """
    parameters: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
    for extra in extras:
        name, equals, value = extra.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--param {extra}", "KEY=VALUE was expected")
        if _SECRET.search(name):
            problem = "a secret would be kept with the outputs; --api-key-env takes one"
            raise InputError(f"--param {name.strip()}", problem)
        if name.strip() in _RESERVED:
            raise InputError(f"--param {extra}", f"{name.strip()!r} can't be set this way")
        parameters[name.strip()] = _json_or_text(value)
    return {name: value for name, value in parameters.items() if value is not None}


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
