"""How many requests have to wait for each other: those of a round are answered all together."""

import asyncio
from typing import Any

import pytest

from ngramscan.remote.files import RemoteFile, Source

_IDLE_TURNS = 20
"""Turns of the event loop without a new request, after which all of a round are under way."""


class InRounds:
    """Counts rounds: an answer is handed out when all requests of its round have been sent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = self._sent = self._running = 0
        self._answered: list[asyncio.Future[None]] = []
        fetch = Source.fetch

        async def in_round(source: Source, file: RemoteFile, *place: Any) -> bytes:
            loop = asyncio.get_running_loop()
            self._running, self._sent = self._running + 1, self._sent + 1
            try:
                body = await fetch(source, file, *place)
            finally:
                self._running -= 1
            self._answered.append(loop.create_future())
            if len(self._answered) == 1:
                loop.call_soon(self._end_round, loop, 0, self._sent)
            await self._answered[-1]
            return body

        monkeypatch.setattr(Source, "fetch", in_round)

    def _end_round(self, loop: asyncio.AbstractEventLoop, turns: int, sent: int) -> None:
        if self._running or sent != self._sent:
            loop.call_later(0.0005, self._end_round, loop, 0, self._sent)
        elif turns < _IDLE_TURNS:
            loop.call_soon(self._end_round, loop, turns + 1, sent)
        else:
            self.number += 1
            answered, self._answered = self._answered, []
            for future in answered:
                if not future.done():
                    future.set_result(None)
