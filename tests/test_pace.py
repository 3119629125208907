from ngramscan.remote.pace import HostPace, Pace
from tests.support.fake_clock import FakeClock


class Clock(FakeClock):
    """A fake clock with a pace on it, and what the pace told."""

    def __init__(self, rate: float, kind: type[Pace] = HostPace) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.pace = kind(rate, self, self.notes.append)

    def slow_down(self, retry_after: float | None = None) -> str:
        """Send a request that is answered so."""
        return self.pace.slow_down(self.pace.acquire(), retry_after, "HTTP 403")


def test_the_pause_is_as_long_as_the_host_asks() -> None:
    clock = Clock(4.0)
    clock.slow_down(7.0)
    clock.pace.acquire()
    assert clock.waits == [7.0]
    assert clock.slow_down(601.0) == "; it says to retry in 601 s"
