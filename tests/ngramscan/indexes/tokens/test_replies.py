"""Answers of a token-level service that can't be true are refused, and others are read."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from ngramscan.errors import RemoteRefused
from ngramscan.indexes.tokens import replies
from ngramscan.indexes.tokens.replies import (
    TokenDocument,
    positions_of,
    read_after_newline,
    read_named_ids,
    read_segments,
    read_token_reply,
    read_total,
)
from ngramscan.remote.exchange import TransientError
from tests.support.cases import case_table


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_a_reply_that_can_not_be_true_is_refused(read: str, reply: dict[str, Any]) -> None:
    more = {"most_shown": 16} if read == "read_document" else {}
    with pytest.raises(RemoteRefused):
        getattr(replies, read)(reply, **more)


@pytest.mark.parametrize(
    "reply",
    [
        {"cnt": 3, "segment_by_shard": [[0, 2]]},
        {"cnt": 2, "segment_by_shard": [[2, 0]]},
        {"cnt": 2, "segment_by_shard": [[0, 2]], "approx": True},
        {"cnt": 20, "segment_by_shard": [[0, 20]]},
        {"count": 2},
    ],
    ids=ascii,
)
def test_segments_that_can_not_be_true_are_refused(reply: dict[str, Any]) -> None:
    with pytest.raises(RemoteRefused):
        read_segments(reply, 10)


@pytest.mark.parametrize(
    ("ids", "pieces", "rest"),
    [
        ([13, 5, 6], ["<0x0A>", "st", "ep"], [5, 6]),
        ([220, 198, 7], ["Ġ", "Ċ", "x"], [7]),
        ([198, 7], ["ĠĊ", "x"], [7]),
        ([198, 7], ["Ċx", "y"], []),
        ([271, 7], ["ĠĊĊ", "x"], []),
        ([13, 13, 7], ["<0x0A>", "<0x0A>", "x"], [13, 7]),
        ([5, 198, 7], ["a", "Ċ", "x"], []),
        ([10, 65], ["\n", "A"], [65]),
        ([5], ["x"], []),
    ],
    ids=ascii,
)
def test_the_tokens_after_a_newline(ids: list[int], pieces: list[str], rest: list[int]) -> None:
    assert read_after_newline({"token_ids": ids, "tokens": pieces}) == tuple(rest)


@pytest.mark.parametrize(
    ("status", "error", "passes"),
    [
        (200, "Some item(s) in your query_ids are out-of-range!", False),
        (200, "maxnum must be an integer in [1, 10]!", False),
        (200, "Web request timed out. Please try again later.", True),
        (200, "engine busy", True),
        (500, "[Flask] Internal server error: x", True),
        (400, "[Flask] Missing required field: 'index'", False),
    ],
)
def test_errors_pass_or_stay(status: int, error: str, passes: bool) -> None:
    request = httpx.Request("POST", "http://x/")
    response = httpx.Response(status, json={"error": error}, request=request)
    with pytest.raises(TransientError if passes else RemoteRefused):
        read_token_reply(response)


def test_the_match_is_found_in_the_text_though_spans_lose_spaces() -> None:
    spans = [("see the", False), ("step by step", True), ("and", False), ("step by step", True)]
    document = TokenDocument(0, 9, 9, 2, spans, "")
    text = "see the step by step and step by step."
    assert positions_of(document, text, "step by step") == [8, 25]
    assert positions_of(document, "other", "step by step") == []


def test_tokens_of_a_text_have_names_and_a_text_may_have_none() -> None:
    reply = {"token_ids": [3707, 486], "tokens": ["▁step", "▁by"]}
    assert read_named_ids(reply) == ((3707, 486), ["▁step", "▁by"])
    assert read_named_ids({"token_ids": [], "tokens": []}) == ((), [])


def test_a_reply_with_an_approximate_count_is_said_to_have_no_exact_one() -> None:
    assert read_total({"count": 5, "approx": False}) == 5
    with pytest.raises(RemoteRefused, match="no exact count in the reply"):
        read_total({"count": 5, "approx": True})
