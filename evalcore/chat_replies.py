"""A server's response to a question: the fields of the answer, or the error that fits.

Servers and the gateways before them differ in where they put an error, and some answer in another
protocol altogether. Only a failure that may be temporary is a TransientError, after which the
question is sent again; all others end it at once.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from evalcore.finish_reasons import Ending, classify_finish_reason
from evalcore.formats import JsonFields
from ngramscan.errors import RemoteRefused
from ngramscan.messages import OptionUse, Text, Wording
from ngramscan.progress import visible_line
from ngramscan.reading.surrogates import replace_halves
from ngramscan.remote import exchange
from ngramscan.remote.error_words import error_words
from ngramscan.remote.exchange import RateLimitedError, ServiceUnusable, TransientError

_MOST_WORDS = 300
"""Characters of a server's words in a message."""
_NOTHING_LEFT = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "exceeded_current_quota_error",  # Moonshot
}
_REFUSES_ALL: Mapping[int, Text] = {
    **dict.fromkeys(range(300, 400), "; redirects are not followed, to keep the key here"),
    **dict.fromkeys((402, 405, 501), ""),
    401: "; put the key into OPENAI_API_KEY, or name its variable with " + OptionUse("api_key_env"),
    404: "; check the base URL (…/v1) and the name of the model",
}
"""Statuses after which the endpoint is unusable, and what to do."""
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "badrequesterror": 400,
    "context_length_exceeded": 400,
    "invalid_argument": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "permission_error": 403,
    "permission_denied": 403,
    "not_found_error": 404,
    "notfounderror": 404,
    "not_found": 404,
    "model_not_found": 404,
    **dict.fromkeys(_NOTHING_LEFT, 429),
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "overloaded_error": 503,
    "unavailable_error": 503,
    "unavailable": 503,
}
"""The status that belongs to the type of an error, for servers that send it with status 200."""
_CHAT_CURE = (
    "give " + OptionUse("base_url") + " the address of an OpenAI-compatible chat endpoint (…/v1)"
)
_OTHER_APIS: Mapping[str, tuple[set[str], ...]] = {
    "Ollama's own API": ({"message", "done"}, {"response", "done"}),
    "Anthropic's own API": ({"content", "stop_reason"}, {"completion", "stop_reason"}),
    "Gemini's own API": ({"candidates"},),
    "Bedrock's own API": ({"output", "stopReason"},),
    "Cohere's own API": ({"message", "finish_reason"}, {"text", "generation_id"}),
    "DashScope's own API": ({"output", "request_id"},),
    "OpenAI's responses API": ({"object", "output"},),
    "llama.cpp's own API": ({"content", "stop"}, {"content", "tokens_predicted"}),
    "SGLang's own API": ({"text", "meta_info"},),
    "TGI's own API": ({"generated_text"},),
    "a list of models": ({"object", "data"},),
    "an API of text generation": ({"text"}, {"response"}, {"output"}, {"content"}, {"results"}),
}
"""Fields by which an answer in another protocol is recognized, the most telling first."""


class OtherProtocolError(RemoteRefused):
    """The response is not one of chat completions, so the address may be wrong."""


def read_response(response: httpx.Response, hide: Callable[[str], str]) -> JsonFields:
    """Return the fields of a record that a response has.

    Parameters
    ----------
    response : httpx.Response
        With its body read.
    hide : function
        Removes the key from a text, in case the server repeats it.

    Returns
    -------
    dict
        Fields of a `Record`, from `output` to the counts of tokens.

    Raises
    ------
    TransientError
        The same question may get an answer later; a RateLimitedError asks for a pause.
    RemoteRefused
        It will get none. A ServiceUnusable: nor will any other.
    OtherProtocolError
        The body is none of chat completions.
    """
    content = replace_halves(response.content)[0]
    body = exchange.read_json(content)
    if isinstance(body, list) and len(body) == 1:  # as Gemini wraps an error
        body = body[0]
    words = hide(error_words(body, response))[:_MOST_WORDS]
    status = response.status_code
    if status != httpx.codes.OK:
        raise _error_of_status(status, f"HTTP {status}", words, body, response)
    if not isinstance(body, dict):
        raise _error_of_text(body, content, words)
    if _is_error(body):
        raise _error_in(body, words, response)
    fields = ", ".join(map(visible_line, body)) or "an empty object"
    choice = _choice_of(body, words or hide(f"only {fields}")[:_MOST_WORDS])
    finish_reason = _finish_word(choice.get("finish_reason"))
    ending = classify_finish_reason(finish_reason).ending
    if choice.get("error") or ending is Ending.BROKEN_OFF:
        words = error_words({"error": choice.get("error")}, response) or "no reason given"
        reason = f" ({finish_reason[:60]})" if finish_reason else ""
        raise TransientError(f"HTTP 200, broken off: {hide(words)[:_MOST_WORDS]}{hide(reason)}")
    reply = _read_reply(body, choice, finish_reason, is_refused=ending is Ending.REFUSED)
    return {name: hide(value) if isinstance(value, str) else value for name, value in reply.items()}


def _error_of_status(
    status: int, problem: str, words: str, body: object, response: httpx.Response
) -> Exception:
    """Return the error of a status; `problem` names it."""
    problem = f"{problem}: {words}" if words else problem
    if status == httpx.codes.TOO_MANY_REQUESTS:
        if {_at(body, str, "error", "code"), _at(body, str, "error", "type")} & _NOTHING_LEFT:
            return ServiceUnusable(problem)
        return RateLimitedError(problem, exchange.retry_after_s(response.headers))
    if status in _REFUSES_ALL:
        return ServiceUnusable(problem + _REFUSES_ALL[status])
    if status >= 500 or status in {408, 409, 425}:
        return TransientError(problem, exchange.retry_after_s(response.headers))
    if status in {400, 422}:
        cure = "parameters can be set, or left out by null, with " + Wording("--param", "params")
        return RemoteRefused(f"{problem}; " + cure)
    return RemoteRefused(problem)


def _error_of_text(body: object, content: bytes, words: str) -> Exception:
    """Return the error of a body that is not a JSON object: cut on its way, or something else."""
    start = content.lstrip()
    first_line = start.partition(b"\n")[0]
    if re.match(rb"(?:data|event|id):|: ", start):
        return _other_protocol("a stream of events, which was not asked for")
    if body is None and exchange.read_object(first_line):
        return _other_protocol("a stream of JSON lines, which was not asked for")
    if re.match(rb"<(?:!doctype|html|head|body|\?xml)", start, re.IGNORECASE):
        return _other_protocol("a website, with an HTML page")
    if body is not None or (words and not start.startswith((b"{", b"["))):
        return _other_protocol(f"something else, with {words or 'JSON that is not an object'!r}")
    return TransientError("HTTP 200, but not a JSON object")


def _other_protocol(described: str) -> OtherProtocolError:
    return OtherProtocolError(f"HTTP 200, but the server answers as {described}; " + _CHAT_CURE)


def _is_error(body: JsonFields) -> bool:
    """Tell whether a body with status 200 is an error."""
    if body.get("error"):
        return True
    return "choices" not in body and (body.get("object") == "error" or "detail" in body)


def _error_in(body: JsonFields, words: str, response: httpx.Response) -> Exception:
    """Return the error that a body with status 200 has."""
    error, problem = body.get("error"), "HTTP 200 with an error"
    if status := _status_in(error) or _status_in(body):
        return _error_of_status(status, f"{problem} {status}", words, body, response)
    problem = f"{problem}: {words}" if words else problem
    if "unexpected endpoint" in words.lower():  # LM Studio
        return OtherProtocolError(f"{problem}; " + _CHAT_CURE)
    return TransientError(problem) if isinstance(error, dict) else RemoteRefused(problem)


def _status_in(error: object) -> int | None:
    """Return the HTTP status that an error names, by number or by its type."""
    if not isinstance(error, Mapping):
        return None
    for name in ("code", "status", "status_code", "type"):
        value = str(error.get(name)).lower()
        if re.fullmatch("[45][0-9][0-9]", value):
            return int(value)
        if value in _STATUS_OF_TYPE:
            return _STATUS_OF_TYPE[value]
    return None


def _choice_of(body: JsonFields, content: str) -> JsonFields:
    """Return the choice that was asked for: the first by its index, in whatever order they come.

    `content` describes a body without choices.
    """
    choices = body.get("choices")
    if not isinstance(choices, list):
        raise _error_without_choices(body, content)
    objects = [choice for choice in choices if isinstance(choice, dict)]
    if not objects:
        raise RemoteRefused("HTTP 200, but without an answer: its list of choices is empty")
    return min(objects, key=lambda choice: _at(choice, int, "index") or 0)


def _error_without_choices(body: JsonFields, content: str) -> RemoteRefused:
    for name, alternatives in _OTHER_APIS.items():
        if any(fields <= body.keys() for fields in alternatives):
            return _other_protocol(name)
    return RemoteRefused(f"HTTP 200, but without an answer: {content}")


def _read_reply(
    body: JsonFields, choice: JsonFields, finish_reason: str | None, is_refused: bool
) -> JsonFields:
    message = _at(choice, dict, "message")
    if message is None:
        raise _error_without_message(choice)
    output, refusal = _read_content(message.get("content"))
    refusal = _at(message, str, "refusal") or refusal or (finish_reason if is_refused else None)
    usage = _at(body, dict, "usage") or {}
    usage |= _at(usage, dict, "completion_tokens_details") or {}
    names = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
    counts = {name: _at(usage, int, name) for name in names}
    if wrong := [name for name, count in counts.items() if not 0 <= (count or 0) <= 10**9]:
        raise TransientError(f"HTTP 200, but {wrong[0]} can't be true")
    return {
        # The part of a refused answer that a filter let pass is not an answer.
        "output": None if refusal else output,
        "reasoning": _at(message, str, "reasoning_content") or _at(message, str, "reasoning"),
        "refusal": refusal,
        "finish_reason": finish_reason,
        "reported_model": _at(body, str, "model"),
        **counts,
    }


def _finish_word(value: object) -> str | None:
    """Return the reason for the end; what is not a word is shown, and so known by no table."""
    if isinstance(value, Mapping):  # as SGLang has it in its own API
        value = value.get("type") or value.get("reason")
    return value if value is None or isinstance(value, str) else repr(value)


def _error_without_message(choice: JsonFields) -> RemoteRefused:
    if "text" in choice:
        return _other_protocol("the legacy completions API, with `text` instead of `message`")
    if "delta" in choice:
        return _other_protocol("a stream of events, which was not asked for")
    return RemoteRefused("HTTP 200, but without an answer: no message in its choice")


def _read_content(content: object) -> tuple[str | None, str | None]:
    if content is None or isinstance(content, str):
        return content, None
    if not isinstance(content, list):
        raise TransientError("HTTP 200, but the answer is not text")
    texts, refusals = [], []
    for part in content:
        match part:
            case {"type": "text" | "output_text", "text": str(text)}:
                texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                refusals.append(text)
            case {"type": "thinking" | "reasoning"}:
                pass
            case _:
                raise RemoteRefused("HTTP 200, but a part of the answer is not text")
    return "".join(texts) if texts else None, "".join(refusals) or None


def _at(value: Any, kind: type, *path: str | int) -> Any:
    """Return the value at a path of a body; None if there is none of this type."""
    try:
        for step in path:
            value = value[step]
    except (LookupError, TypeError):
        return None
    return value if type(value) is kind else None
