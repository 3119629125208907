"""How fast one host is asked: an adaptive rate that all threads share.

A gateway that says "slow down" says it to the client, not to a request. So one such answer pauses
everything for a while and lowers the rate by a third; answers that come after raise it again,
slowly. One client is one event: the answers to requests that were under way when the pause began
do not count again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

PAUSE_S = 60.0
"""The pause where the host names none."""

LOWEST_RATE = 1.0
"""Requests per second; a client that is told to slow down here, and again after, is not wanted."""

_DROP = 2 / 3
_RECOVERY = 1 / 300  # of the full rate, per answer: a third takes a hundred answers


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to send one request."""

    sent_at: float


class Pace:
    """The rate limit of one host.

    Parameters
    ----------
    rate : float
        Requests per second at most; 0 for no limit, until the host asks for one.
    wait : callable
        Sleeps for some seconds; may raise to end the waiting.
    on_pause : callable
        Told what to show while nothing is sent: a text, or an empty one when it goes on.
    clock : callable
        Seconds, monotonic.
    """

    def __init__(
        self,
        rate: float,
        wait: Callable[[float], None],
        on_pause: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._full_rate = rate
        self.rate = rate
        self._wait = wait
        self._on_pause = on_pause
        self._clock = clock
        self._lock = threading.Lock()
        self._next_at = 0.0
        self._paused_at = float("-inf")
        self._resume_at = float("-inf")
        self._answered_since_pause = True
        self._recent: deque[float] = deque(maxlen=50)

    def acquire(self) -> Ticket:
        """Wait for a turn."""
        while True:
            with self._lock:
                now = self._clock()
                due = max(self._next_at, self._resume_at)
                if due <= now:
                    return self._send(now)
                paused = self._resume_at > now
            self._wait(due - now)
            if paused:
                self._on_pause("")

    def _send(self, now: float) -> Ticket:
        self._next_at = now + (1 / self.rate if self.rate else 0)
        self._recent.append(now)
        return Ticket(now)

    def answered(self) -> None:
        """Take note of an answer that was no request to slow down."""
        with self._lock:
            self._answered_since_pause = True
            if self.rate:
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
            now = self._clock()
            self._resume_at = max(self._resume_at, now + pause)
            if ticket.sent_at <= self._paused_at:
                return True
            self._paused_at = now
            goes_on = self._answered_since_pause or not self._is_lowest()
            self._lower_rate(now)
            self._answered_since_pause = False
            rate = self.rate
        self._on_pause(f"paused {pause:.0f} s: the host answers {answer}; then {rate:.1f}/s")
        return goes_on

    def _is_lowest(self) -> bool:
        return bool(self.rate) and self.rate <= min(LOWEST_RATE, self._full_rate)

    def _lower_rate(self, now: float) -> None:
        if not self._full_rate:  # no limit was set: start from what was sent of late
            sent = sum(1 for sent_at in self._recent if sent_at > now - 10)
            since = now - self._recent[0] if self._recent else 0
            self._full_rate = self.rate = max(sent / max(min(since, 10), 1), LOWEST_RATE)
        lowest = min(LOWEST_RATE, self._full_rate)
        # No answer at all since the last pause: another third would only cost another pause.
        lowered = self.rate * _DROP if self._answered_since_pause else lowest
        self.rate = max(lowered, lowest)
