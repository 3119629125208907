"""Answers of a service that can't be true fail, and each kind is known."""

import json
from typing import Any

import httpx
import pytest

from ngramscan.errors import RemoteError, RemoteRefused
from ngramscan.indexes.base import Place, Window
from ngramscan.indexes.http.replies import (
    CutCharacterError,
    UnknownIndexError,
    read_count,
    read_found,
    read_reply,
    read_window,
)
from ngramscan.remote.exchange import RateLimitedError, TransientError
from tests.support.places import RECORDED

DEEP = "[" * 100_000 + "]" * 100_000


RECORDINGS = {path.stem: json.loads(path.read_bytes()) for path in RECORDED.glob("*.json")}
"""What the original answers to a request, by the name of the file."""
ANSWERED = sorted(name for name in RECORDINGS if RECORDINGS[name]["response"]["status"])


def kind_of(status: int, said: str) -> type[Exception] | None:
    """Return what an answer means, by what the original's documentation says; None: an answer."""
    if "Failed to decode" in said:
        return CutCharacterError
    if status == 500 or (status == 200 and (not said or "error" in said)):
        return TransientError
    if "Invalid index" in said:
        return UnknownIndexError
    return None if status == 200 else RemoteRefused


@pytest.mark.parametrize("name", ANSWERED)
def test_every_recorded_answer_of_the_original_is_classified(name: str) -> None:
    request, said = RECORDINGS[name]["request"], RECORDINGS[name]["response"]
    content = json.dumps(said["json"]) if "json" in said else said["text"]
    response = httpx.Response(said["status"], headers=said["headers"], content=content.encode())
    kind = kind_of(said["status"], str(said.get("json", "")))
    about = f"{request}\nanswered: {said}"
    if kind is None:
        reply = read_reply(response)
        assert reply.items() <= said["json"].items(), f"{about}\nread: {reply}"
    else:
        with pytest.raises(kind) as error:
            read_reply(response)
        assert error.type is kind, f"{about}\nread: {error.value!r}"
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "words"),
    [
        pytest.param(
            200,
            f'{{"count": 1{"0" * 5000}}}',
            {},
            TransientError,
            "not a JSON object",
            id="long int",
        ),
        pytest.param(503, "", {"Retry-After": "²"}, TransientError, "HTTP 503", id="no number"),
        pytest.param(
            503, "", {"Retry-After": "9" * 5000}, TransientError, "HTTP 503", id="a long time"
        ),
        pytest.param(
            403,
            "<h1>",
            {"Content-Type": "text/html"},
            RateLimitedError,
            "403: an HTML page",
            id="a page",
        ),
        pytest.param(
            400, f'{{"error": "{"x" * 5000}"}}', {}, RemoteRefused, "xxx", id="a long problem"
        ),
        pytest.param(200, DEEP, {}, TransientError, "200, but not a JSON object", id="deep"),
        pytest.param(
            200,
            f'{{"error": {DEEP}}}',
            {},
            TransientError,
            "not a JSON object",
            id="a deep problem",
        ),
    ],
)
def test_what_a_server_may_send_is_one_short_line(
    status: int, body: str, headers: dict[str, str], kind: type[RemoteError], words: str
) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    with pytest.raises(kind) as error:
        read_reply(httpx.Response(status, headers=raw, content=body.encode()))
    assert words in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("count", [-1, 3.5, "3", True, None, 101, 10**4000])
def test_a_reply_without_a_count_is_refused(count: object) -> None:
    words = "more occurrences" if type(count) is int and count > 0 else "no count in the reply"
    with pytest.raises(RemoteRefused, match=words) as error:
        read_count({"count": count}, 100)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("segments", [[], [[5, 5], [9, 9]], [[1, 1]]], ids=ascii)
def test_no_occurrence_has_no_segment(segments: list[list[int]]) -> None:
    found = read_found({"cnt": 0, "segment_by_shard": segments}, "q", 100)
    assert (found.segments, found.occurrences) == ((), 0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "no segments"),
        ({"cnt": 2}, "no segments"),
        ({"cnt": 2, "segment_by_shard": [[0, 1]]}, "do not sum"),
        ({"cnt": True, "segment_by_shard": [[3, 2]]}, "no segments"),
        ({"cnt": 1, "segment_by_shard": [[0, 1, 2]]}, "no segments"),
        ({"cnt": 1, "segment_by_shard": [[-1, 0]]}, "no segments"),
        ({"cnt": 1, "segment_by_shard": ["01"]}, "no segments"),
        ({"cnt": 1, "segment_by_shard": [[False, True]]}, "no segments"),
        ({"cnt": 1, "segment_by_shard": {"0": [0, 1]}}, "no segments"),
        (
            {"cnt": 1180591620717411303421, "segment_by_shard": [[3, 1180591620717411303424]]},
            "no segments",
        ),
        ({"cnt": 140737488355328, "segment_by_shard": [[0, 140737488355328]]}, "more occurrences"),
    ],
    ids=ascii,
)
def test_segments_that_are_none_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(RemoteRefused, match=words):
        read_found(wrong, "q", 2**46)


GOOD = {
    "doc_ix": 3,
    "doc_len": 7,
    "disp_len": 7,
    "needle_offset": 2,
    "text": "a key b",
    "metadata": "",
}
"""A reply that shows a whole document around `key`."""
PLACE = Place("key", 0, 5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"doc_ix": None}, "no window in the reply"),
        ({"doc_len": None}, "no window in the reply"),
        ({"disp_len": None}, "no window in the reply"),
        ({"needle_offset": None}, "no window in the reply"),
        ({"text": None}, "no window in the reply"),
        ({"metadata": None}, "no window in the reply"),
        ({"doc_ix": -1}, "no window in the reply"),
        ({"doc_ix": True}, "no window in the reply"),
        ({"doc_len": "7"}, "no window in the reply"),
        ({"metadata": {}}, "no window in the reply"),
        ({"disp_len": 6}, "contradictory lengths"),
        ({"doc_len": 6}, "contradictory lengths"),
        ({"needle_offset": 18446744073709551615}, "no window in the reply"),
        ({"needle_offset": 1099511627776}, "contradictory lengths"),
        pytest.param(
            {"text": "a key " + "x" * 99, "disp_len": 105, "doc_len": 105},
            "contradictory lengths",
            id="more than was asked for",
        ),
        ({"text": "a key \ud800"}, "half a character"),
        ({"metadata": "\udfff"}, "half a character"),
        ({"needle_offset": 1}, "does not show 'key'"),
        ({"needle_offset": 5}, "does not show 'key'"),
        ({"text": "a kez b"}, "does not show 'key'"),
    ],
    ids=ascii,
)
def test_a_window_of_something_else_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(RemoteRefused, match=words):
        read_window({**GOOD, **change}, PLACE, 10)


def test_a_good_reply_is_read() -> None:
    assert read_window(GOOD, PLACE, 10) == Window(PLACE, "3", 7, b"a key b", 2, True, "")


def test_a_document_that_begins_where_the_window_does_may_be_cut() -> None:
    shown = {**GOOD, "doc_len": 90}
    assert not read_window(shown, PLACE, 2).starts_document
    assert read_window(shown, PLACE, 3).starts_document
    assert read_window(GOOD, PLACE, 2).starts_document
