"""Answers of a service that can't be true fail, and each kind is known."""

from typing import Any

import httpx
import pytest

from ngramscan.errors import RemoteRefused
from ngramscan.indexes.base import Place
from ngramscan.indexes.http.replies import read_count, read_found, read_reply, read_window
from ngramscan.remote.exchange import RateLimitedError, TransientError
from tests.support.cases import case_table, objects

KINDS = {each.__name__: each for each in (RemoteRefused, TransientError, RateLimitedError)}
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    *case_table(
        "short_replies",
        (200, DEEP, {}, "TransientError", "200, but not a JSON object"),
        (200, f'{{"error": {DEEP}}}', {}, "TransientError", "not a JSON object"),
    )
)
def test_what_a_server_may_send_is_one_short_line(
    status: int, body: str, headers: dict[str, str], kind: str, words: str
) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    with pytest.raises(KINDS[kind]) as error:
        read_reply(httpx.Response(status, headers=raw, content=body.encode()))
    assert words in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("count", [-1, 3.5, "3", True, None, 101, 10**4000])
def test_a_reply_without_a_count_is_refused(count: object) -> None:
    words = "more occurrences" if type(count) is int and count > 0 else "no count in the reply"
    with pytest.raises(RemoteRefused, match=words) as error:
        read_count({"count": count}, 100)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(*case_table("wrong_segments"))
def test_segments_that_are_none_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(RemoteRefused, match=words):
        read_found(wrong, "q", 2**46)


(GOOD,) = objects("good_window")
PLACE = Place("key", 0, 5)


@pytest.mark.parametrize(*case_table("wrong_windows"))
def test_a_window_of_something_else_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(RemoteRefused, match=words):
        read_window({**GOOD, **change}, PLACE, 10)
