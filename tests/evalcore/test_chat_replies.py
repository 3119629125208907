"""Bodies as servers write them: the answer that is read, or the error, with the server's words."""

import json
from typing import Any

import httpx
import pytest

from evalcore.endpoint import ApiKey, open_endpoint
from evalcore.records import Record
from ngramscan.errors import RemoteError, RemoteRefused, RemoteUnavailable
from tests.support.fake_clock import FakeClock
from tests.support.mocked_chat import QUESTION, URL, asking, ok

CHAT_CURE = "give --base-url the address of an OpenAI-compatible chat endpoint (…/v1)"
PARAM = "parameters can be set, or left out by null, with --param"
ADDRESS = "check the base URL (…/v1) and the name of the model"
KEY = "put the key into OPENAI_API_KEY, or name its variable with --api-key-env"


def choice(content: Any = "4", **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"index": 0, "message": message, "finish_reason": "stop", **fields}


def response(status: int, body: Any, content_type: str = "application/json") -> httpx.Response:
    text = body if isinstance(body, str) else json.dumps(body)
    headers = {"content-type": content_type}
    return httpx.Response(status, headers=headers, content=text.encode())


def first_answer(answer: httpx.Response) -> tuple[Record | RemoteError, int]:
    """Return what a server's first answer leads to, and the number of requests."""
    requests = list[httpx.Request]()

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return answer

    options: Any = {"transport": httpx.MockTransport(handle), "clock": FakeClock()}
    with open_endpoint(URL.removesuffix("/chat/completions"), ApiKey(), **options) as ask:
        try:
            return ask(QUESTION), len(requests)
        except RemoteError as error:
            return error, len(requests)


@pytest.mark.parametrize(
    ("body", "output"),
    [
        pytest.param([choice("4")], "4", id="the only choice"),
        pytest.param([choice("5", index=1), choice("4")], "4", id="index 0 comes second"),
        pytest.param([choice("4", index=1), choice("5", index=2)], "4", id="indexes from 1"),
        pytest.param([choice("4", index=7)], "4", id="one with another index"),
        pytest.param([choice("4", index=None), choice("5", index=None)], "4", id="no index at all"),
        pytest.param([None, choice("4")], "4", id="null before it"),
        pytest.param([choice("4", logprobs=None, text="5")], "4", id="text next to the message"),
        pytest.param([choice(None)], None, id="no content"),
    ],
)
def test_the_first_choice_by_its_index_is_the_answer(body: list[Any], output: str | None) -> None:
    record, requests = first_answer(response(200, {"choices": body}))
    assert isinstance(record, Record)
    assert (record.output, requests) == (output, 1)


@pytest.mark.parametrize(
    ("word", "refusal", "output"),
    [
        pytest.param("stop", None, "4", id="a complete one"),
        pytest.param("length", None, "4", id="one cut at the limit is kept"),
        pytest.param("MAX_TOKENS", None, "4", id="also by another word"),
        pytest.param("SAFETY", "SAFETY", None, id="one that a filter stopped"),
        pytest.param("content_filter: OTHER", "content_filter: OTHER", None, id="with details"),
        pytest.param({"type": "length", "length": 5}, None, "4", id="the word in an object"),
    ],
)
def test_an_answer_is_kept_with_its_finish_reason(
    word: Any, refusal: str | None, output: str | None
) -> None:
    record, requests = first_answer(response(200, {"choices": [choice(finish_reason=word)]}))
    assert isinstance(record, Record)
    kept = word["type"] if isinstance(word, dict) else word
    found = (record.finish_reason, record.refusal, record.output, requests)
    assert found == (kept, refusal, output, 1)


REFUSED = [
    pytest.param(
        response(404, {"object": "error", "message": "The model `m` does not exist.", "code": 404}),
        f"HTTP 404: The model `m` does not exist.; {ADDRESS}",
        True,
        id="vLLM: error at the top",
    ),
    pytest.param(
        response(
            400,
            {"error": {"message": "maximum context length is 8", "type": "BadRequestError"}},
        ),
        f"HTTP 400: maximum context length is 8; {PARAM}",
        False,
        id="vLLM: a question that is too long",
    ),
    pytest.param(
        response(200, {"object": "error", "message": "max_tokens is 0", "code": 400}),
        f"HTTP 200 with an error 400: max_tokens is 0; {PARAM}",
        False,
        id="vLLM: an error with status 200",
    ),
    pytest.param(
        response(404, {"error": "model 'm' not found, try pulling it first"}),
        f"HTTP 404: model 'm' not found, try pulling it first; {ADDRESS}",
        True,
        id="Ollama: no such model",
    ),
    pytest.param(
        response(400, {"error": {"code": 400, "message": "exceeds the context", "type": "x"}}),
        f"HTTP 400: exceeds the context; {PARAM}",
        False,
        id="llama.cpp: a question that is too long",
    ),
    pytest.param(
        response(501, {"error": {"code": 501, "message": "no chat", "type": "not_supported"}}),
        "HTTP 501: no chat",
        True,
        id="llama.cpp: a server without chat",
    ),
    pytest.param(
        response(422, {"error": "`inputs` must be short", "error_type": "validation"}),
        f"HTTP 422: `inputs` must be short; {PARAM}",
        False,
        id="TGI: a question that is too long",
    ),
    pytest.param(
        response(200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
        f"HTTP 200 with an error: Unexpected endpoint or method. (POST /chat/completions); "
        f"{CHAT_CURE}",
        True,
        id="LM Studio: a wrong address, with status 200",
    ),
    pytest.param(
        response(200, {"error": "prompt is too long"}),
        "HTTP 200 with an error: prompt is too long",
        False,
        id="an error in words, with status 200",
    ),
    pytest.param(
        response(
            400,
            {
                "error": {
                    "code": "content_filter",
                    "message": "The prompt was filtered",
                    "innererror": {"code": "ResponsibleAIPolicyViolation"},
                }
            },
        ),
        f"HTTP 400: The prompt was filtered (ResponsibleAIPolicyViolation); {PARAM}",
        False,
        id="Azure: an inner error",
    ),
    pytest.param(
        response(404, {"error": {"code": "DeploymentNotFound", "message": "No deployment"}}),
        f"HTTP 404: No deployment; {ADDRESS}",
        True,
        id="Azure: no deployment",
    ),
    pytest.param(
        response(404, {"statusCode": 404, "message": "Resource not found"}),
        f"HTTP 404: Resource not found; {ADDRESS}",
        True,
        id="Azure: a message at the top",
    ),
    pytest.param(
        response(400, [{"error": {"code": 400, "message": "API key not valid", "status": "X"}}]),
        f"HTTP 400: API key not valid; {PARAM}",
        False,
        id="Gemini: a list with one error",
    ),
    pytest.param(
        response(
            403,
            {
                "error": {
                    "code": 403,
                    "message": "Provider returned error",
                    "metadata": {"provider_name": "P", "raw": '{"error": {"message": "No."}}'},
                }
            },
        ),
        "HTTP 403: Provider returned error (P: No.)",
        False,
        id="OpenRouter: the provider's words in JSON",
    ),
    pytest.param(
        response(200, {"error": {"code": 402, "message": "Insufficient credits"}}),
        "HTTP 200 with an error 402: Insufficient credits",
        True,
        id="OpenRouter: no credit, with status 200",
    ),
    pytest.param(
        response(
            404, {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}
        ),
        f"HTTP 404: model: m; {ADDRESS}",
        True,
        id="Anthropic: no such model",
    ),
    pytest.param(
        response(200, {"error": {"code": "insufficient_quota", "message": "No credit"}}),
        "HTTP 200 with an error 429: No credit",
        True,
        id="OpenAI: no credit, with status 200",
    ),
    pytest.param(
        response(
            200, {"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}
        ),
        f"HTTP 200 with an error 400: x; {PARAM}",
        False,
        id="Anthropic: an error by its type, with status 200",
    ),
    pytest.param(
        response(
            422,
            {
                "detail": [
                    {"loc": ["body", "temperature"], "msg": "Input should be a number"},
                    {"loc": ["body", "seed"], "msg": "too large"},
                ]
            },
        ),
        f"HTTP 422: body.temperature: Input should be a number; body.seed: too large; {PARAM}",
        False,
        id="FastAPI: a list of mistakes",
    ),
    pytest.param(
        response(404, {"detail": "Not Found"}),
        f"HTTP 404: Not Found; {ADDRESS}",
        True,
        id="FastAPI: no such path",
    ),
    pytest.param(
        response(200, {"detail": "Not Found"}),
        "HTTP 200 with an error: Not Found",
        False,
        id="FastAPI: a detail, with status 200",
    ),
    pytest.param(
        response(
            422,
            {
                "object": "error",
                "message": {"detail": [{"loc": ["body", "n"], "msg": "Extra inputs"}]},
            },
        ),
        f"HTTP 422: body.n: Extra inputs; {PARAM}",
        False,
        id="Mistral: details in the message",
    ),
    pytest.param(
        response(401, {"message": "invalid api token"}),
        f"HTTP 401: invalid api token; {KEY}",
        True,
        id="Cohere: a wrong key",
    ),
    pytest.param(
        response(400, {"success": False, "errors": [{"code": 7003, "message": "No route"}]}),
        f"HTTP 400: No route; {PARAM}",
        False,
        id="Cloudflare: a list of errors",
    ),
    pytest.param(
        response(404, "404 page not found", "text/plain"),
        f"HTTP 404: 404 page not found; {ADDRESS}",
        True,
        id="a page in plain text",
    ),
    pytest.param(
        response(404, "<html><h1>Not here</h1>", "text/html"),
        f"HTTP 404: an HTML page; {ADDRESS}",
        True,
        id="a page in HTML",
    ),
    pytest.param(
        response(400, {"error": {"message": "a\n\x1b[31mred\x07"}}),
        f"HTTP 400: a \\x1b[31mred\\x07; {PARAM}",
        False,
        id="control characters are escaped",
    ),
    pytest.param(
        response(400, {"error": {"message": "long " * 1000}}),
        f"HTTP 400: {'long ' * 60}; {PARAM}",
        False,
        id="long words are cut",
    ),
    pytest.param(
        response(400, {"error": {"code": "odd", "param": None}}),
        f'HTTP 400: {{"code": "odd", "param": null}}; {PARAM}',
        False,
        id="an error without words is shown",
    ),
    pytest.param(
        response(200, {"choices": []}),
        "HTTP 200, but without an answer: its list of choices is empty",
        False,
        id="no choice",
    ),
    pytest.param(
        response(200, {"choices": None, "id": "x"}),
        "HTTP 200, but without an answer: only choices, id",
        False,
        id="choices null",
    ),
    pytest.param(
        response(200, {"choices": [{"index": 0, "finish_reason": "stop"}]}),
        "HTTP 200, but without an answer: no message in its choice",
        False,
        id="a choice without a message",
    ),
    pytest.param(
        response(200, {}), "HTTP 200, but without an answer: only an empty object", False, id="{}"
    ),
    pytest.param(
        response(200, {"message": "no Route matched with those values"}),
        "HTTP 200, but without an answer: no Route matched with those values",
        False,
        id="a gateway's message",
    ),
]


@pytest.mark.parametrize(("answer", "words", "ends_all"), REFUSED)
def test_what_the_server_refuses_fails_at_once_with_its_words(
    answer: httpx.Response, words: str, ends_all: bool
) -> None:
    with asking([answer, ok()]) as ask:
        with pytest.raises(RemoteRefused) as caught:
            ask(QUESTION)
        assert str(caught.value) == f"{URL}: {words}"
        if ends_all:
            with pytest.raises(RemoteRefused):
                ask(QUESTION)
        else:
            assert ask(QUESTION).attempts == 1


OTHERS = [
    ("the legacy completions API", {"choices": [{"index": 0, "text": "4"}]}),
    ("a stream of events", {"object": "x", "choices": [{"delta": {"content": "4"}}]}),
    ("a stream of events", 'data: {"choices": [{"delta": {"content": "4"}}]}\n\ndata: [DONE]\n\n'),
    ("a stream of events", ": PROCESSING\n\ndata: {}\n\n"),
    ("a stream of events", "event: message_start\ndata: {}\n\n"),
    ("a stream of JSON lines", '{"message": {"content": "4"}, "done": false}\n{"done": true}\n'),
    ("Ollama's own API", {"model": "m", "message": {"content": "4"}, "done": True}),
    ("Ollama's own API", {"model": "m", "response": "4", "done": True}),
    ("Anthropic's own API", {"content": [{"type": "text", "text": "4"}], "stop_reason": "end"}),
    ("Gemini's own API", {"candidates": [{"content": {"parts": [{"text": "4"}]}}]}),
    ("Bedrock's own API", {"output": {"message": {}}, "stopReason": "end_turn"}),
    ("Cohere's own API", {"message": {"content": []}, "finish_reason": "COMPLETE"}),
    ("OpenAI's responses API", {"object": "response", "output": []}),
    ("llama.cpp's own API", {"content": "4", "stop": True}),
    ("SGLang's own API", {"text": "4", "meta_info": {}}),
    ("TGI's own API", [{"generated_text": "4"}]),
    ("TGI's own API", {"generated_text": "4"}),
    ("a list of models", {"object": "list", "data": []}),
    ("an API of text generation", {"response": "4"}),
    ("a website, with an HTML page", "<!DOCTYPE html><html><body>Chat</body></html>"),
    ("a website, with an HTML page", "\n<html lang=en>"),
    ("something else, with 'JSON that is not an object'", [1, 2]),
    ("something else, with 'try later'", '"try later"'),
]


@pytest.mark.parametrize(
    ("name", "body"),
    [pytest.param(name, body, id=f"{n}: {name}") for n, (name, body) in enumerate(OTHERS)],
)
def test_another_protocol_is_named_at_once_with_the_cure(name: str, body: Any) -> None:
    with asking([response(200, body), ok()]) as ask:
        with pytest.raises(RemoteRefused) as caught:
            ask(QUESTION)
        start = f"{URL}: HTTP 200, but the server answers as {name}"
        assert str(caught.value).startswith(start)
        assert str(caught.value).endswith(f"; {CHAT_CURE}")
        with pytest.raises(RemoteRefused, match="answers as"):
            ask(QUESTION)
    # Once the server has answered, a page of a gateway ends one question, not the run.
    with asking([ok(), response(200, body), ok()]) as ask:
        ask(QUESTION)
        with pytest.raises(RemoteRefused, match="answers as"):
            ask(QUESTION)
        assert ask(QUESTION).output == "4"


def test_plain_text_is_another_protocol_but_a_cut_body_is_not() -> None:
    error, requests = first_answer(response(200, "Ollama is running", "text/plain"))
    assert "answers as something else, with 'Ollama is running'" in str(error)
    assert requests == 1
    error, requests = first_answer(response(200, '{"choices": [{"mess', "text/plain"))
    assert "HTTP 200, but not a JSON object, after 7 attempts" in str(error)
    assert (type(error), requests) == (RemoteUnavailable, 7)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(
            response(200, {"choices": [choice("It is", finish_reason=word)]}),
            f"HTTP 200, broken off: no reason given ({word})",
            id=f"broken off: {word}",
        )
        for word in ("insufficient_system_resource", "abort", "error", "timeout", "cancelled")
    ]
    + [
        pytest.param(
            response(200, {"choices": [choice("It", error={"code": 502, "message": "lost"})]}),
            "HTTP 200, broken off: lost (stop)",
            id="OpenRouter: an error in the choice",
        ),
        pytest.param(
            response(200, {"error": {"code": 502, "message": "Provider returned error"}}),
            "HTTP 200 with an error 502: Provider returned error",
            id="OpenRouter: a failure, with status 200",
        ),
        pytest.param(
            response(200, {"type": "error", "error": {"type": "overloaded_error", "message": "O"}}),
            "HTTP 200 with an error 503: O",
            id="Anthropic: overloaded, with status 200",
        ),
        pytest.param(
            response(503, {"error": {"code": 503, "message": "Loading model", "type": "x"}}),
            "HTTP 503: Loading model",
            id="llama.cpp: it loads the model",
        ),
        pytest.param(
            response(500, "Internal Server Error", "text/plain"),
            "HTTP 500: Internal Server Error",
            id="an error in plain text",
        ),
        pytest.param(response(200, ""), "HTTP 200, but not a JSON object", id="no body"),
        pytest.param(response(200, "null"), "HTTP 200, but not a JSON object", id="null"),
    ],
)
def test_a_failure_that_may_pass_is_tried_again_and_never_an_answer(
    answer: httpx.Response, words: str
) -> None:
    with asking([answer, answer, ok()]) as ask:
        assert ask(QUESTION).attempts == 3
    error, requests = first_answer(answer)
    assert (type(error), requests) == (RemoteUnavailable, 7)
    assert str(error) == f"{URL}: {words}, after 7 attempts"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"error": {"a": json.loads("[" * 400 + "]" * 400)}}, id="nested lists"),
        pytest.param({"error": {"error": {"error": {"error": {"error": {}}}}}}, id="errors"),
        pytest.param({"error": {"metadata": {"raw": "[" * 5000}}}, id="JSON that ends nowhere"),
        pytest.param({"error": 5, "message": 7, "detail": [None, [], {"loc": "x"}]}, id="numbers"),
        pytest.param({"error": {"code": "9" * 5000, "message": "m"}}, id="a code without an end"),
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_an_error_of_any_shape_is_one_short_line(status: int, body: Any) -> None:
    error, _ = first_answer(response(status, body))
    assert isinstance(error, RemoteError)
    assert len(str(error)) < 600
    assert "\n" not in str(error)
