"""A server's own words about an error, as makers of servers write them."""

from typing import Any

import httpx
import pytest

from ngramscan.remote.error_words import error_words


def words(body: object, content: str = "", kind: str = "application/json") -> str:
    response = httpx.Response(500, text=content, headers={"content-type": kind})
    return error_words(body, response)


def nested(depth: int) -> Any:
    body: Any = "the words"
    for _ in range(depth):
        body = {"error": body}
    return body


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({"error": "a"}, "a", id="a text"),
        pytest.param({"error": {"message": "a", "code": 5}}, "a", id="a message"),
        pytest.param({"detail": "b", "error": "a"}, "a", id="the most telling field"),
        pytest.param({"error": "", "detail": "b"}, "b", id="an empty field"),
        pytest.param({"error": {"code": "é"}}, '{"code": "é"}', id="an error without words"),
        pytest.param({"error": {}}, "", id="an empty error"),
        pytest.param({"errors": ["a", "", "b"]}, "a; b", id="several errors"),
        pytest.param(
            {"detail": [{"loc": ["body", 0, "n"], "msg": "too large"}]},
            "body.0.n: too large",
            id="a place",
        ),
        pytest.param({"detail": [{"loc": "body", "msg": "m"}]}, "m", id="a place that is none"),
        pytest.param({"error": "a\n  b\t c"}, "a b c", id="on one line"),
        pytest.param({"error": "x" * 2001}, "x" * 2000, id="at most 2,000 characters"),
        pytest.param(
            {"error": {"message": "a", "metadata": {"provider_name": "P", "raw": "b"}}},
            "a (P: b)",
            id="a gateway and a text",
        ),
        pytest.param(
            {"error": {"message": "a", "metadata": {"raw": '{"error": {"message": "b"}}'}}},
            "a (b)",
            id="a gateway and JSON",
        ),
        pytest.param(
            {"error": {"message": "a", "metadata": {"raw": "{b", "reasons": ["c", "d"]}}},
            "a ({b; c; d)",
            id="a gateway and reasons",
        ),
        pytest.param(
            {"error": {"message": "a b", "metadata": {"raw": "b"}}}, "a b", id="said before"
        ),
        pytest.param(
            {"error": {"message": "a", "innererror": {"message": "b"}}}, "a (b)", id="an inner one"
        ),
        pytest.param(
            {"error": {"message": "a", "inner_error": {"code": "C"}}}, "a (C)", id="an inner code"
        ),
        pytest.param({"ok": True}, "", id="no error"),
        pytest.param(5, "", id="a number"),
        pytest.param(nested(7), "the words", id="deep"),
        pytest.param(nested(8), '{"error": "the words"}', id="too deep"),
    ],
)
def test_the_words_of_a_body(body: object, expected: str) -> None:
    assert words(body) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("text/html; charset=utf-8", "an HTML page"),
        ("text/plain", "busy now"),
        ("application/octet-stream", ""),
    ],
)
def test_the_words_of_a_body_that_is_no_json(kind: str, expected: str) -> None:
    assert words(None, "busy\nnow", kind) == expected
