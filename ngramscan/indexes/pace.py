"""How fast one host is asked: an adaptive rate that all threads share.

A gateway that says "slow down" says it to the client, not to a request. So one such answer pauses
everything for a while and lowers the rate by a third; answers that come after raise it again,
slowly. One client is one event: the answers to requests that were under way when the pause began
do not count again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

PAUSE_S = 60.0
"""The pause where the host names none."""

LOWEST_RATE = 1.0
"""Requests per second; a client that is told to slow down here, and again after, is not wanted."""

FRUITLESS_PAUSES = 3
"""Without a rate limit there is no lowest rate: so many pauses with no answer between them."""

_DROP = 2 / 3
_RECOVERY = 1 / 150  # of the full rate, per answer: a third takes fifty answers


class Clock(Protocol):
    """Time, and waiting in it."""

    def now(self) -> float:
        """Return seconds, monotonic."""

    def wait(self, seconds: float) -> None:
        """Let some seconds pass."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to send one request."""

    sent_at: float


class Pace:
    """The rate limit of one host.

    Parameters
    ----------
    rate : float
        Requests per second at most; 0 for no limit: then a host that says "slow down" gets its
        pause, but no lower rate after it.
    clock : Clock
        What time is, and how to wait; waiting may raise to end it.
    on_pause : callable
        Told what to show while nothing is sent: a text, or an empty one when it goes on.
    """

    def __init__(self, rate: float, clock: Clock, on_pause: Callable[[str], None]) -> None:
        self._full_rate = rate
        self.rate = rate
        self._clock = clock
        self._on_pause = on_pause
        self._lock = threading.Lock()
        self._next_at = 0.0
        self._paused_at = float("-inf")
        self._resume_at = float("-inf")
        self._fruitless_pauses = 0

    def acquire(self) -> Ticket:
        """Wait for a turn."""
        while True:
            with self._lock:
                now = self._clock.now()
                due = max(self._next_at, self._resume_at)
                if due <= now:
                    return self._send(now)
                paused = self._resume_at > now
            self._clock.wait(due - now)
            if paused:
                self._on_pause("")

    def _send(self, now: float) -> Ticket:
        self._next_at = now + (1 / self.rate if self.rate else 0)
        return Ticket(now)

    def answered(self) -> None:
        """Take note of an answer that was no request to slow down."""
        with self._lock:
            self._fruitless_pauses = 0
            self.rate = min(self._full_rate, self.rate + self._full_rate * _RECOVERY)

    def slow_down(self, ticket: Ticket, retry_after: float | None, answer: str) -> bool:
        """Pause the host after an answer that said so; tell whether it makes sense to go on.

        Parameters
        ----------
        ticket : Ticket
            Of the request that was answered so.
        retry_after : float or None
            Seconds, as the host asks; None: it names no time.
        answer : str
            The answer, for people.

        Returns
        -------
        bool
            False where the host says it at the lowest rate, with no other answer since the last
            pause.
        """
        pause = PAUSE_S if retry_after is None else retry_after
        with self._lock:
            now = self._clock.now()
            self._resume_at = max(self._resume_at, now + pause)
            if ticket.sent_at <= self._paused_at:
                return True
            self._paused_at = now
            goes_on = not self._is_exhausted()
            self._lower_rate()
            self._fruitless_pauses += 1
            then = f"; then {self.rate:.1f} requests/s" if self.rate else ""
        self._on_pause(f"paused {pause:.0f} s: the host answers {answer}{then}")
        return goes_on

    def _is_exhausted(self) -> bool:
        if not self.rate:
            return self._fruitless_pauses >= FRUITLESS_PAUSES
        return bool(self._fruitless_pauses) and self.rate <= min(LOWEST_RATE, self._full_rate)

    def _lower_rate(self) -> None:
        lowest = min(LOWEST_RATE, self._full_rate)
        # No answer at all since the last pause: another third would only cost another pause.
        lowered = lowest if self._fruitless_pauses else self.rate * _DROP
        self.rate = max(lowered, lowest)
