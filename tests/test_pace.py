from __future__ import annotations

import pytest

from ngramscan.pace.pace import LOWEST_RATE, HostPace
from tests.support.fake_clock import FakeClock


class Clock(FakeClock):
    """A fake clock with a pace on it, and what the pace told."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []

    def pace(self, rate: float) -> HostPace:
        return HostPace(rate, self, self.notes.append)


def test_requests_are_spaced_by_the_rate() -> None:
    clock = Clock()
    pace = clock.pace(4.0)
    for _ in range(4):
        pace.acquire()
    assert clock.waits == [0.25, 0.25, 0.25]


def test_without_a_limit_nothing_waits() -> None:
    clock = Clock()
    pace = clock.pace(0)
    for _ in range(100):
        pace.acquire()
    assert clock.waits == []


def test_slow_down_pauses_everything_and_lowers_the_rate_by_a_third() -> None:
    clock = Clock()
    pace = clock.pace(6.0)
    ticket = pace.acquire()
    assert not pace.slow_down(ticket, None, "HTTP 403")
    assert pace.rate == pytest.approx(4.0)
    pace.acquire()
    assert clock.waits == [60.0]
    assert clock.notes == ["paused 60 s: the server answers HTTP 403; then 4.0 requests/s", ""]
    pace.acquire()
    assert clock.waits == [60.0, 0.25]


def test_the_pause_is_as_long_as_the_host_asks() -> None:
    clock = Clock()
    pace = clock.pace(4.0)
    pace.slow_down(pace.acquire(), 7.0, "HTTP 429")
    pace.acquire()
    assert clock.waits == [7.0]


def test_requests_that_were_under_way_are_the_same_event() -> None:
    clock = Clock()
    pace = clock.pace(6.0)
    tickets = [pace.acquire() for _ in range(3)]
    assert not any(pace.slow_down(ticket, 1.0, "HTTP 403") for ticket in tickets)
    assert pace.rate == pytest.approx(4.0)


def test_the_rate_recovers_slowly_and_no_further_than_it_was() -> None:
    clock = Clock()
    pace = clock.pace(3.0)
    pace.slow_down(pace.acquire(), 1.0, "HTTP 403")
    pace.acquire()
    for _ in range(25):
        pace.answered()
    assert pace.rate == pytest.approx(2.5)
    for _ in range(100):
        pace.answered()
    assert pace.rate == 3.0


def test_a_host_that_says_it_again_at_the_lowest_rate_is_given_up() -> None:
    clock = Clock()
    pace = clock.pace(4.0)
    assert not pace.slow_down(pace.acquire(), None, "HTTP 403")
    assert not pace.slow_down(pace.acquire(), None, "HTTP 403")
    assert pace.rate == LOWEST_RATE
    assert pace.slow_down(pace.acquire(), None, "HTTP 403")


def test_an_answer_between_two_pauses_is_a_new_start() -> None:
    clock = Clock()
    pace = clock.pace(1.0)
    for _ in range(10):
        assert not pace.slow_down(pace.acquire(), 1.0, "HTTP 403")
        pace.acquire()
        pace.answered()


def test_a_rate_below_the_lowest_is_kept() -> None:
    clock = Clock()
    pace = clock.pace(0.1)
    assert not pace.slow_down(pace.acquire(), 1.0, "HTTP 403")
    assert pace.rate == pytest.approx(0.1)
    assert pace.slow_down(pace.acquire(), 1.0, "HTTP 403")


def test_without_a_limit_a_pause_changes_no_rate_and_three_fruitless_ones_are_enough() -> None:
    clock = Clock()
    pace = clock.pace(0)
    assert not pace.slow_down(pace.acquire(), 2.0, "HTTP 403")
    assert pace.rate == 0
    assert not pace.slow_down(pace.acquire(), 2.0, "HTTP 403")
    assert not pace.slow_down(pace.acquire(), 2.0, "HTTP 403")
    assert pace.slow_down(pace.acquire(), 2.0, "HTTP 403")
    assert clock.notes[0] == "paused 2 s: the server answers HTTP 403"
