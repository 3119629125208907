"""What a response of a chat endpoint means: a reply, or which kind of failure.

* 429                       slow down: everything pauses
* 408, 409, 425, 5xx, a body that is no JSON object, an `error` in it, no choice in it
                            may pass: asked again
* 401, 402, 404, 405, redirects, 429 because nothing is left to spend
                            nothing will be answered here
* anything else, 400 above all
                            this question will not be answered
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from ngramscan.errors import RemoteRefused

Hide = Callable[[str], str]
"""Takes out of a text what nobody may see."""

_MAY_PASS = {408, 409, 425}
_PARAMETERS_HINT = "; parameters can be set, or left out by null, with --param"
_HINTS = {
    400: _PARAMETERS_HINT,
    401: "; --api-key-env names the variable that holds the key",
    404: "; is the base URL right (…/v1), and the name of the model?",
    422: _PARAMETERS_HINT,
}
_NOTHING_LEFT = {"insufficient_quota", "billing_hard_limit_reached"}
_SAID_AT_MOST = 300
_MOST_TOKENS = 10**9


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
    reported_model: str | None = None
    """As the server calls it."""
    latency_s: float | None = None
    """Of the request that was answered, without the ones before it."""
    attempts: int = 1
    """Requests that were sent, the answered one among them."""


class EndpointRefused(RemoteRefused):
    """No question would be answered here: the key is wrong, or there is no such model."""


class MayPassError(Exception):
    """An attempt failed in a way that may pass."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SlowDownError(MayPassError):
    """The server wants fewer requests."""


def read_response(response: httpx.Response, hide: Hide) -> Reply:
    """Return the reply in a response whose body was read.

    Parameters
    ----------
    response : httpx.Response
        The response.
    hide : callable
        Applied to every text that comes from the server.

    Raises
    ------
    SlowDownError, MayPassError
        Asking again may help.
    EndpointRefused
        No question will be answered here.
    RemoteRefused
        This one will not.
    """
    body = _json_object(response)
    if response.status_code != httpx.codes.OK:
        raise _failure(response, body, hide)
    if body is None:
        raise MayPassError(f"HTTP 200, but no JSON object{_said(response, body, hide)}")
    if body.get("error"):
        raise MayPassError(f"HTTP 200 with an error{_said(response, body, hide)}")
    return _reply(body, hide)


def _failure(response: httpx.Response, body: dict[str, Any] | None, hide: Hide) -> Exception:
    status = response.status_code
    text = f"HTTP {status}{_said(response, body, hide)}"
    if status == httpx.codes.TOO_MANY_REQUESTS:
        error = (body or {}).get("error")
        code = str(error.get("code") or error.get("type")) if isinstance(error, Mapping) else ""
        if code in _NOTHING_LEFT:
            return EndpointRefused(text)
        return SlowDownError(text, retry_after_s(response))
    if status in _MAY_PASS or status >= 500:
        return MayPassError(text, retry_after_s(response))
    text += _HINTS.get(status, "")
    if response.is_redirect:
        return EndpointRefused(f"{text}; it is not followed, since the key would go along")
    return EndpointRefused(text) if status in {401, 402, 404, 405} else RemoteRefused(text)


def _json_object(response: httpx.Response) -> dict[str, Any] | None:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _said(response: httpx.Response, body: dict[str, Any] | None, hide: Hide) -> str:
    """Return what the server says, short and on one line."""
    error = (body or {}).get("error") or (body or {}).get("detail")
    said = error.get("message") if isinstance(error, Mapping) else error
    if not said and "html" in response.headers.get("content-type", ""):
        said = "an HTML page"
    said = " ".join(hide(str(said or "")).split())
    return f": {said[:_SAID_AT_MOST]}" if said else ""


def retry_after_s(response: httpx.Response) -> float | None:
    """Return the seconds of a Retry-After header, in both of its forms."""
    value = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,20})?", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _reply(body: dict[str, Any], hide: Hide) -> Reply:
    choice = _first_choice(body, hide)
    message = choice["message"]
    finish_reason = _text(choice.get("finish_reason"), hide)
    output, refusal = _content(message.get("content"), hide)
    refusal = _text(message.get("refusal"), hide) or refusal
    if refusal is None and finish_reason == "content_filter":
        refusal = "content_filter"
    usage = body.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, Mapping) else None
    reasoning = _text(message.get("reasoning_content"), hide)
    return Reply(
        # What a filter has let pass of a refused answer is no answer.
        output=None if refusal else output,
        reasoning=reasoning or _text(message.get("reasoning"), hide),
        refusal=refusal,
        finish_reason=finish_reason,
        prompt_tokens=_number(usage, "prompt_tokens"),
        completion_tokens=_number(usage, "completion_tokens"),
        reasoning_tokens=_number(details, "reasoning_tokens"),
        reported_model=_text(body.get("model"), hide),
    )


def _first_choice(body: dict[str, Any], hide: Hide) -> dict[str, Any]:
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise MayPassError("HTTP 200, but no answer in it")
    if choice.get("error") or choice.get("finish_reason") == "error":
        error = choice.get("error")
        said = error.get("message") if isinstance(error, dict) else error
        said = " ".join(hide(str(said or "no reason given")).split())
        raise MayPassError(f"HTTP 200, broken off: {said[:_SAID_AT_MOST]}")
    return choice


def _content(content: object, hide: Hide) -> tuple[str | None, str | None]:
    """Return text and refusal of a message's content, which is a text or a list of parts."""
    if content is None or isinstance(content, str):
        return _text(content, hide), None
    if not isinstance(content, list):
        raise MayPassError("HTTP 200, but the answer is no text")
    texts: list[str] = []
    refusals: list[str] = []
    for part in content:
        match part:
            case {"type": "text" | "output_text", "text": str(text)}:
                texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                refusals.append(text)
            case {"type": "thinking" | "reasoning"}:
                pass
            case _:
                problem = "a part of the answer is no text; only texts are understood"
                raise RemoteRefused(f"HTTP 200, but {problem}")
    return _text("".join(texts) if texts else None, hide), _text("".join(refusals) or None, hide)


def _text(value: object, hide: Hide) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        # Half a character, which JSON can escape but no file can hold.
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return hide(value)


def _number(counts: object, name: str) -> int | None:
    value = counts.get(name) if isinstance(counts, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if not 0 <= value <= _MOST_TOKENS:
        raise MayPassError(f"HTTP 200, but {name} can't be true")
    return value
