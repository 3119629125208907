"""How fast one server is asked: a maximum rate, and pauses that all threads keep.

A server that says "slow down" means the client, not one request. So one such answer pauses
everything; such answers to requests that were in flight when the pause began are the same event.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from ngramscan.errors import RemoteUnavailable

LONGEST_PAUSE_S = 600.0
"""If a server asks for a longer pause, this run sends it no more requests."""
FRUITLESS_PAUSES = 9
"""This many growing pauses, about three minutes, without an answer are the last."""
_FIRST_PAUSE_S = 1.0
_LONGEST_GROWN_S = 60.0

HOST_PAUSE_S = 60.0
"""The pause if the host of an index doesn't say how long."""
LOWEST_RATE = 1.0
"""Requests per second; asked to slow down at this rate, twice in a row, we stop."""
FRUITLESS_HOST_PAUSES = 3
"""Without a rate limit, this many pauses without an answer are the last."""
_DROP = 2 / 3
_FEW_REFUSALS = 8
_RECOVERY = 1 / 150  # share of the full rate per answer: a third takes fifty answers


class Clock:
    """The system's clock; waiting raises RemoteUnavailable as soon as `closed` is set."""

    def __init__(self, closed: threading.Event) -> None:
        self._closed = closed

    def now(self) -> float:
        """Return seconds, monotonic."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Let some seconds pass."""
        if self._closed.wait(seconds):
            raise RemoteUnavailable("interrupted")


class Pace:
    """Hands out turns to send requests; pauses grow while no answer comes between them.

    A request may be answered with "slow down" any number of times as long as others are answered:
    each of those brings the end nearer.

    `rate` is the maximum of requests per second, 0 or None for no limit; waiting on the clock may
    raise; `on_pause` gets a text to show during a pause, and an empty one afterwards.
    """

    _in_vain = ", also after long pauses"

    def __init__(self, rate: float | None, clock: Clock, on_pause: Callable[[str], None]) -> None:
        self.rate = rate or 0.0
        self._clock = clock
        self._on_pause = on_pause
        self._lock = threading.Lock()
        self._next_at = self._paused_at = self._resume_at = float("-inf")
        self._pauses = self._fruitless = 0

    def acquire(self) -> int:
        """Wait for a turn; return the number of pauses before it."""
        while True:
            with self._lock:
                now = self._clock.now()
                due = max(self._next_at, self._resume_at)
                if due <= now:
                    self._next_at = now + (1 / self.rate if self.rate else 0.0)
                    return self._pauses
                paused = self._resume_at > now
            self._clock.wait(due - now)
            if paused:
                self._on_pause("")

    def answered(self) -> None:
        """Take note of an answer that did not ask to slow down."""
        with self._lock:
            self._fruitless = 0

    def slow_down(self, turn: int, retry_after: float | None, answer: str) -> str:
        """Pause after an answer that asks for it, for `retry_after` seconds if it says how long.

        The answer to a request whose `turn` was before the last pause may lengthen that pause, but
        doesn't begin another. Returns why further pauses make no sense, as a continuation of
        `answer`; an empty text if they do.
        """
        if retry_after is not None and retry_after > LONGEST_PAUSE_S:
            return f"; it says to retry in {retry_after:.0f} s"
        with self._lock:
            now = self._clock.now()
            if self._is_same_event(turn, now):
                self._resume_at = max(self._resume_at, now + (retry_after or 0.0))
                return ""
            pause = self._pause_s(retry_after)
            self._resume_at = max(self._resume_at, now + pause)
            end = self._in_vain if self._is_exhausted() else ""
            then = self._change_rate()
            self._paused_at = now
            self._pauses += 1
            self._fruitless += 1
        if pause >= _FIRST_PAUSE_S:
            self._on_pause(f"paused {pause:.0f} s: the server answers {answer}{then}")
        return end

    def _is_same_event(self, turn: int, now: float) -> bool:  # noqa: ARG002
        return turn < self._pauses

    def _pause_s(self, retry_after: float | None) -> float:
        grown = _FIRST_PAUSE_S * 2 ** (self._fruitless - 1) if self._fruitless else 0.0
        requested_s = _FIRST_PAUSE_S if retry_after is None else retry_after
        return max(requested_s, min(grown, _LONGEST_GROWN_S))

    def _is_exhausted(self) -> bool:
        return self._fruitless + 1 >= FRUITLESS_PAUSES

    def _change_rate(self) -> str:
        """Change the rate after a pause; return a note about it."""
        return ""


class RequestRate:
    """How often requests may start where several are under way at a time.

    There is no limit before a server refuses more requests than it answers: then it is a part of
    what it answered until then. Answers raise the limit again, slowly. Stores refuse a request now
    and then at any rate, so a few refusals change nothing.

    `most` is the maximum of requests per second, 0 for no limit.
    """

    def __init__(self, most: float, now: float) -> None:
        self._most = most or math.inf
        self.rate = self._most
        self._next_at = self._changed_at = now
        self._answers = self._refusals = 0

    def take_turn(self, now: float) -> float:
        """Return when the next request may start."""
        turn_at = max(now, self._next_at)
        self._next_at = turn_at + 1 / self.rate
        return turn_at

    def answered(self) -> None:
        """Take note of an answer that did not ask to slow down."""
        self._answers += 1
        self.rate = min(self._most, self.rate * (1 + _RECOVERY))

    def slow_down(self, now: float, asked_at: float) -> bool:
        """Lower the rate if too much is refused that was sent since it changed; tell whether."""
        self._refusals += asked_at >= self._changed_at
        if self._refusals < max(_FEW_REFUSALS, self._answers):
            return False
        measured = self._answers / max(1.0, now - self._changed_at)
        self.rate = max(LOWEST_RATE, min(self.rate, measured) * _DROP)
        self._next_at = self._changed_at = now
        self._answers = self._refusals = 0
        return True


class HostPace(Pace):
    """The pace for a host of indexes, whose gateway bans clients that ask too fast.

    A pause lowers the rate by a third; later answers raise it again, slowly.
    """

    _in_vain = ", also after pauses at the lowest rate"

    def __init__(self, rate: float, clock: Clock, on_pause: Callable[[str], None]) -> None:
        super().__init__(rate, clock, on_pause)
        self._full_rate = rate
        # A rate at or above the lowest can be halved at least once; a lower one was chosen so.
        self._lowest_rate = min(LOWEST_RATE, rate / 2) if rate >= LOWEST_RATE else rate

    def answered(self) -> None:
        """Take note of an answer that did not ask to slow down."""
        with self._lock:
            self._fruitless = 0
            self.rate = min(self._full_rate, self.rate + self._full_rate * _RECOVERY)

    def _is_same_event(self, turn: int, now: float) -> bool:
        # A gateway rejects some questions forever, and asks for a pause of zero seconds.
        return turn < self._pauses or now <= self._paused_at

    def _pause_s(self, retry_after: float | None) -> float:
        return HOST_PAUSE_S if retry_after is None else retry_after

    def _is_exhausted(self) -> bool:
        if not self.rate:
            return self._fruitless >= FRUITLESS_HOST_PAUSES
        return bool(self._fruitless) and self.rate <= self._lowest_rate

    def _change_rate(self) -> str:
        # Without an answer since the last pause, another third would only cost another pause.
        dropped = 0.0 if self._fruitless else self.rate * _DROP
        self.rate = max(dropped, self._lowest_rate)
        return f"; then {self.rate:.1f} requests/s" if self.rate else ""
