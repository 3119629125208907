"""Time that passes only while somebody waits, so that pauses are tested exactly and at once."""

import threading

from ngramscan.remote.pace import Clock


class FakeClock(Clock):
    def __init__(self) -> None:
        self._now = 100.0
        self._lock = threading.Lock()
        self.waits: list[float] = []

    def now(self) -> float:
        return self._now

    def wait(self, seconds: float) -> None:
        with self._lock:
            self.waits.append(round(seconds, 6))
            self._now += seconds
