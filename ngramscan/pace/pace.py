"""How fast one server is asked: a highest rate, and pauses that all threads keep.

A server that says "slow down" says it to the client, not to a request. So one such answer pauses
everything; the answers to requests that were under way when the pause began are the same event.
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
"""So many growing pauses without an answer between them, about three minutes, end it."""

_FIRST_PAUSE_S = 1.0
_LONGEST_GROWN_S = 60.0

HOST_PAUSE_S = 60.0
"""The pause where the host of an index names none."""

LOWEST_RATE = 1.0
"""Requests per second; a client that is told to slow down here, and again after, is not wanted."""

FRUITLESS_HOST_PAUSES = 3
"""Without a rate limit there is no lowest rate: so many pauses with no answer between them."""

_DROP = 2 / 3
_RECOVERY = 1 / 150  # of the full rate, per answer: a third takes fifty answers


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
    """The right to send requests; pauses grow while no answer comes between them.

    No request is given up for such answers as long as others are answered: each of those brings the
    end nearer.

    Parameters
    ----------
    rate : float or None
        Requests per second at most; None or 0: no limit.
    clock : Clock
        What time is, and how to wait; waiting may raise to end it.
    on_pause : callable
        Told what to show while nothing is sent: a text, or an empty one when it goes on.
    """

    _in_vain = ", also after long pauses"

    def __init__(self, rate: float | None, clock: Clock, on_pause: Callable[[str], None]) -> None:
        self.rate = rate or 0.0
        self._clock = clock
        self._on_pause = on_pause
        self._lock = threading.Lock()
        self._next_at = float("-inf")
        self._paused_at = self._resume_at = float("-inf")
        self._pauses = 0
        self._fruitless = 0

    def acquire(self) -> int:
        """Wait for a turn; return how many pauses there were before it."""
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
        """Take note of an answer that was no request to slow down."""
        with self._lock:
            self._fruitless = 0

    def slow_down(self, turn: int, retry_after: float | None, answer: str) -> str:
        """Pause after an answer that said so; return why that makes no sense any more.

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
        str
            To follow the answer: pauses have been fruitless again and again, or the server wants
            one that is too long. Empty: go on.
        """
        if retry_after is not None and retry_after > LONGEST_PAUSE_S:
            return f"; it asks to come back in {retry_after:.0f} s"
        with self._lock:
            now = self._clock.now()
            if self._is_same_event(turn, now):
                self._resume_at = max(self._resume_at, now + (retry_after or 0.0))
                return ""
            pause = self._pause_s(retry_after)
            self._resume_at = max(self._resume_at, now + pause)
            end = self._in_vain if self._is_exhausted() else ""
            then = self._slow_after_it()
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
        asked = _FIRST_PAUSE_S if retry_after is None else retry_after
        return max(asked, min(grown, _LONGEST_GROWN_S))

    def _is_exhausted(self) -> bool:
        return self._fruitless + 1 >= FRUITLESS_PAUSES

    def _slow_after_it(self) -> str:
        """Change the rate after a pause; return what to say of it."""
        return ""


class HostPace(Pace):
    """The pace of a host of indexes, whose gateway bans those who ask too fast.

    A pause lowers the rate by a third; answers that come after raise it again, slowly.
    """

    _in_vain = ", also after pauses at the lowest rate"

    def __init__(self, rate: float, clock: Clock, on_pause: Callable[[str], None]) -> None:
        super().__init__(rate, clock, on_pause)
        self._full_rate = rate

    def answered(self) -> None:
        """Take note of an answer that was no request to slow down."""
        with self._lock:
            self._fruitless = 0
            self.rate = min(self._full_rate, self.rate + self._full_rate * _RECOVERY)

    def _is_same_event(self, turn: int, now: float) -> bool:
        # A gateway forbids some questions for ever, with a pause of no time at all.
        return turn < self._pauses or now <= self._paused_at

    def _pause_s(self, retry_after: float | None) -> float:
        return HOST_PAUSE_S if retry_after is None else retry_after

    def _is_exhausted(self) -> bool:
        if not self.rate:
            return self._fruitless >= FRUITLESS_HOST_PAUSES
        return bool(self._fruitless) and self.rate <= min(LOWEST_RATE, self._full_rate)

    def _slow_after_it(self) -> str:
        lowest = min(LOWEST_RATE, self._full_rate)
        # No answer at all since the last pause: another third would only cost another pause.
        self.rate = max(lowest if self._fruitless else self.rate * _DROP, lowest)
        return f"; then {self.rate:.1f} requests/s" if self.rate else ""
