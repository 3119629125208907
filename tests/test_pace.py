from __future__ import annotations

import pytest

from ngramscan.remote.pace import FRUITLESS_PAUSES, LOWEST_RATE, HostPace, Pace
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


@pytest.mark.parametrize(("rate", "waits"), [(4.0, [0.25, 0.25, 0.25]), (0, [])])
def test_requests_are_spaced_by_the_rate(rate: float, waits: list[float]) -> None:
    clock = Clock(rate)
    for _ in range(4):
        clock.pace.acquire()
    assert clock.waits == waits


def test_slow_down_pauses_everything_and_lowers_the_rate_by_a_third() -> None:
    clock = Clock(6.0)
    assert not clock.slow_down()
    assert clock.pace.rate == pytest.approx(4.0)
    clock.pace.acquire()
    assert clock.waits == [60.0]
    assert clock.notes == ["paused 60 s: the server answers HTTP 403; then 4.0 requests/s", ""]
    clock.pace.acquire()
    assert clock.waits == [60.0, 0.25]


def test_the_pause_is_as_long_as_the_host_asks() -> None:
    clock = Clock(4.0)
    clock.slow_down(7.0)
    clock.pace.acquire()
    assert clock.waits == [7.0]
    assert clock.slow_down(601.0) == "; it asks to come back in 601 s"


def test_requests_that_were_under_way_are_the_same_event() -> None:
    clock = Clock(6.0)
    turns = [clock.pace.acquire() for _ in range(3)]
    assert not any(clock.pace.slow_down(turn, 1.0, "HTTP 403") for turn in turns)
    assert clock.pace.rate == pytest.approx(4.0)


def test_the_rate_recovers_slowly_and_no_further_than_it_was() -> None:
    clock = Clock(3.0)
    clock.slow_down(1.0)
    clock.pace.acquire()
    for _ in range(25):
        clock.pace.answered()
    assert clock.pace.rate == pytest.approx(2.5)
    for _ in range(100):
        clock.pace.answered()
    assert clock.pace.rate == 3.0


@pytest.mark.parametrize(
    ("rate", "retry_after", "before_the_last"),
    [
        pytest.param(4.0, None, [8 / 3, LOWEST_RATE], id="at the lowest rate"),
        pytest.param(0.1, 1.0, [0.1], id="below the lowest, which is kept"),
        pytest.param(0, 2.0, [0, 0, 0], id="without a limit, three fruitless ones"),
    ],
)
def test_a_host_that_says_it_again_is_given_up(
    rate: float, retry_after: float | None, before_the_last: list[float]
) -> None:
    clock = Clock(rate)
    for left in before_the_last:
        assert not clock.slow_down(retry_after)
        assert clock.pace.rate == pytest.approx(left)
    assert clock.slow_down(retry_after) == ", also after pauses at the lowest rate"
    assert ("requests/s" in clock.notes[0]) == bool(rate)


def test_an_answer_between_two_pauses_is_a_new_start() -> None:
    clock = Clock(1.0)
    for _ in range(10):
        assert not clock.slow_down(1.0)
        clock.pace.acquire()
        clock.pace.answered()


def test_pauses_of_other_servers_grow_until_it_is_in_vain() -> None:
    clock = Clock(0, Pace)
    ends = [clock.slow_down() for _ in range(FRUITLESS_PAUSES)]
    assert ends == [""] * (FRUITLESS_PAUSES - 1) + [", also after long pauses"]
    assert clock.waits == [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
