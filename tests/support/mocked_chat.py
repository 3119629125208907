"""A chat endpoint whose answers are given, without a server and without waiting."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any
from unittest.mock import Mock

import httpx

from evalcore.endpoint import ApiKey, Ask, PromptRequest, open_endpoint
from evalcore.records import Record
from tests.support.fake_clock import FakeClock

BASE = "http://127.0.0.1:1/v1"
URL = f"{BASE}/chat/completions"
BLANK = Record(id="1", dataset="sums", model="lab/made-1", method="cot", output=None)
QUESTION = PromptRequest(BLANK, [{"role": "user", "content": "2 + 2?"}])


def ok(message: Any = None, finish_reason: str = "stop", **fields: Any) -> httpx.Response:
    """Return a reply with one choice: 4, unless it has another message."""
    choice = {"message": message or {"content": "4"}, "finish_reason": finish_reason}
    # JSON of Python, since that of httpx takes no half of a character.
    return httpx.Response(200, content=json.dumps({"choices": [choice], **fields}).encode())


@contextmanager
def asking(
    answers: Sequence[httpx.Response | Exception], key: str = "", **options: Any
) -> Iterator[Ask]:
    """Lend an endpoint that gives these answers in turn, the last one for ever."""
    handle = Mock(side_effect=chain(answers, repeat(answers[-1])))
    options = {"transport": httpx.MockTransport(handle), "clock": FakeClock(), **options}
    with open_endpoint(BASE, ApiKey(key), **options) as ask:
        yield ask
