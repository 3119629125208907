import pytest

from ngramscan.remote.pace import HostPace, Pace, RequestRate
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


def turns(clock: Clock, n: int) -> list[float]:
    """Return how long each of some requests waits for its turn."""
    before = len(clock.waits)
    for _ in range(n):
        clock.pace.acquire()
    return clock.waits[before:]


def test_a_pause_lowers_the_rate_by_a_third_and_requests_keep_it() -> None:
    clock = Clock(6.0)
    assert turns(clock, 3) == [0.166667, 0.166667]
    clock.slow_down(7.0)
    assert clock.pace.rate == pytest.approx(4.0)
    assert clock.notes == ["paused 7 s: the server answers HTTP 403; then 4.0 requests/s"]
    assert turns(clock, 3) == [7.0, 0.25, 0.25]


def test_answers_raise_the_rate_again_and_never_above_the_full_one() -> None:
    clock = Clock(6.0)
    clock.slow_down(7.0)
    for _ in range(25):
        clock.pace.answered()
    assert clock.pace.rate == pytest.approx(5.0)  # 25 answers of 6 / 150 each
    for _ in range(26):
        clock.pace.answered()
    assert clock.pace.rate == 6.0


def test_each_pause_after_an_answer_lowers_the_rate_of_a_host_once_more() -> None:
    clock, rates = Clock(6.0), []
    for _ in range(6):
        clock.slow_down(7.0)
        clock.pace.answered()  # which raises it by 0.04
        rates.append(clock.pace.rate)
    assert rates == pytest.approx([4.04, 2.733333, 1.862222, 1.281481, 1.04, 1.04], abs=1e-6)


def test_a_silent_host_is_asked_at_the_lowest_rate_and_then_no_more() -> None:
    clock = Clock(6.0)
    ends = [clock.slow_down(7.0) for _ in range(3)]
    assert ends == ["", "", ", also after pauses at the lowest rate"]
    assert clock.pace.rate == 1.0


def test_requests_under_way_when_a_pause_began_lower_the_rate_once() -> None:
    clock = Clock(6.0)
    sent = [clock.pace.acquire() for _ in range(3)]
    for turn in sent:
        clock.pace.slow_down(turn, 7.0, "HTTP 429")
    assert clock.pace.rate == pytest.approx(4.0)
    assert len(clock.notes) == 1


def test_pauses_grow_until_an_answer_comes_or_nine_were_in_vain() -> None:
    clock = Clock(0.0, Pace)
    assert [clock.slow_down() for _ in range(4)] == [""] * 4
    clock.pace.acquire()
    assert clock.waits == [1.0, 1.0, 2.0, 4.0]
    clock.pace.answered()
    assert [clock.slow_down() for _ in range(9)] == [""] * 8 + [", also after long pauses"]
    clock.pace.acquire()
    assert clock.waits[4:] == [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


def seconds_between(rate: RequestRate, now: float) -> float:
    """Return the time between two requests that may start one after the other."""
    first = rate.take_turn(now)
    return rate.take_turn(now) - first


@pytest.mark.parametrize(
    ("most", "answers", "refusals", "seconds", "expected"),
    [
        # 40 answers in 10 s, of which two thirds.
        pytest.param(0.0, 40, 40, 10.0, 8 / 3, id="as many refusals as answers"),
        pytest.param(100.0, 40, 40, 10.0, 8 / 3, id="and a maximum above what was answered"),
        pytest.param(3.0, 40, 40, 10.0, 2.0, id="a maximum below what was answered"),
        pytest.param(90.0, 0, 8, 10.0, 1.0, id="no answers: the lowest rate"),
        pytest.param(90.0, 40, 39, 10.0, 90.0, id="fewer refusals than answers"),
        pytest.param(90.0, 0, 7, 10.0, 90.0, id="few refusals"),
    ],
)
def test_more_refusals_than_answers_lower_the_rate_to_a_part_of_these(
    most: float, answers: int, refusals: int, seconds: float, expected: float
) -> None:
    rate = RequestRate(most, 100.0)
    for _ in range(answers):
        rate.answered()
    now = 100.0 + seconds
    lowered = [rate.slow_down(now, 101.0) for _ in range(refusals)]
    assert rate.rate == pytest.approx(expected)
    assert seconds_between(rate, now) == pytest.approx(1 / expected)
    assert any(lowered) is (expected != most)


def test_refusals_of_what_was_sent_before_a_change_lower_it_no_further() -> None:
    rate = RequestRate(90.0, 100.0)
    assert [rate.slow_down(110.0, 101.0) for _ in range(8)] == [False] * 7 + [True]
    rate.rate = 30.0
    assert not any(rate.slow_down(111.0, 109.0) for _ in range(20))
    assert rate.rate == 30.0


def test_answers_raise_a_lowered_rate_and_never_above_the_maximum() -> None:
    rate = RequestRate(3.0, 100.0)
    for _ in range(8):
        rate.slow_down(110.0, 101.0)
    assert rate.rate == 1.0
    rate.answered()
    assert rate.rate == pytest.approx(151 / 150)
    for _ in range(300):
        rate.answered()
    assert rate.rate == 3.0
