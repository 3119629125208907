"""How fast one endpoint is asked: a highest rate, and pauses that all threads keep.

A server that says "slow down" says it to the client, not to a request. So one such answer pauses
everything, and pauses grow while no answer comes between them. No request is given up for such
answers as long as others are answered: each of those brings the end nearer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from ngramscan.errors import RemoteUnavailable

LONGEST_PAUSE_S = 600.0
"""A server that wants a longer one is asked again by the next run."""

FRUITLESS_PAUSES = 9
"""So many without an answer between them, together about three minutes, end it."""

_FIRST_PAUSE_S = 1.0
_LONGEST_GROWN_S = 60.0


class Clock(Protocol):
    """Time, and waiting in it."""

    def now(self) -> float:
        """Return seconds, monotonic."""

    def wait(self, seconds: float) -> None:
        """Let some seconds pass."""


class SystemClock:
    """The clock of this machine; to wait ends at once when `closed` is set."""

    def __init__(self, closed: threading.Event) -> None:
        self._closed = closed

    def now(self) -> float:
        """Return seconds, monotonic."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Let some seconds pass; raise RemoteUnavailable where the wait was ended."""
        if self._closed.wait(seconds):
            raise RemoteUnavailable("interrupted")


class Pace:
    """The right to send requests, given out one at a time.

    Parameters
    ----------
    rate : float or None
        Requests per second at most; None: no limit.
    clock : Clock
        What time is, and how to wait; waiting may raise to end it.
    on_pause : callable
        Told what to show while nothing is sent: a text, or an empty one when it goes on.
    """

    def __init__(self, rate: float | None, clock: Clock, on_pause: Callable[[str], None]) -> None:
        self._interval = 1 / rate if rate else 0.0
        self._clock = clock
        self._on_pause = on_pause
        self._lock = threading.Lock()
        self._next_at = float("-inf")
        self._resume_at = float("-inf")
        self._pauses = 0
        self._fruitless = 0

    def acquire(self) -> int:
        """Wait for a turn; return how many pauses there were before it."""
        while True:
            with self._lock:
                now = self._clock.now()
                due = max(self._next_at, self._resume_at)
                if due <= now:
                    self._next_at = now + self._interval
                    return self._pauses
                paused = self._resume_at > now
            self._clock.wait(due - now)
            if paused:
                self._on_pause("")

    def answered(self) -> None:
        """Take note of an answer that was no request to slow down."""
        with self._lock:
            self._fruitless = 0

    def slow_down(self, turn: int, retry_after: float | None, answer: str) -> bool:
        """Pause after an answer that said so; tell whether it makes sense to go on.

        Parameters
        ----------
        turn : int
            What `acquire` returned for the request that was answered so. What was sent before the
            last pause is no news: it may lengthen that pause, but does not count as another.
        retry_after : float or None
            Seconds, as the server asks; None: it names no time.
        answer : str
            The answer, for people.

        Returns
        -------
        bool
            False where pauses have been fruitless again and again.
        """
        with self._lock:
            now = self._clock.now()
            if turn < self._pauses:
                self._resume_at = max(self._resume_at, now + (retry_after or 0.0))
                return True
            grown = _FIRST_PAUSE_S * 2 ** (self._fruitless - 1) if self._fruitless else 0.0
            asked = _FIRST_PAUSE_S if retry_after is None else retry_after
            pause = max(asked, min(grown, _LONGEST_GROWN_S))
            self._resume_at = max(self._resume_at, now + pause)
            self._pauses += 1
            self._fruitless += 1
            goes_on = self._fruitless < FRUITLESS_PAUSES
        if pause >= _FIRST_PAUSE_S:
            self._on_pause(f"paused {pause:.0f} s: the server answers {answer}")
        return goes_on
