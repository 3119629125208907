"""How often requests are repeated, and the pauses between attempts, wherever they are sent."""

from typing import Any

import pytest

from ngramscan.index_files import places
from ngramscan.remote import exchange, ranges
from ngramscan.remote.exchange import NoConnectionError, TransientError
from ngramscan.remote.retries import Retries, RetryPolicy

POLICY = RetryPolicy(
    retryable=TransientError, attempts=3, attempts_to_connect=2, first_pause_s=1.0, growth=3.0
)


def failed(retries: Retries[Any], error: Exception) -> None:
    """Fail once."""
    with retries:
        raise error


@pytest.mark.parametrize(
    ("policy", "pauses"),
    [
        pytest.param(exchange.RETRIES, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0], id="a service"),
        pytest.param(
            ranges.RETRIES,
            [0.03, 0.075, 0.1875, 0.46875, 1.171875, 2.929688, 7.324219, 18.310547, 45.776367],
            id="parts of files",
        ),
        pytest.param(places.RETRIES, [2.0, 10.0], id="a store that is written to"),
    ],
)
def test_pauses_grow(policy: RetryPolicy[Any], pauses: list[float]) -> None:
    assert [round(policy.pause_s(number), 6) for number in range(1, policy.attempts)] == pauses
    assert policy.pause_s(0) == 0


def test_the_last_attempt_is_known() -> None:
    retries = Retries(POLICY)
    seen = []
    for number in range(3):
        failed(retries, TransientError(f"attempt {number}"))
        seen.append((retries.failures, str(retries.error), retries.are_exhausted()))
    assert seen == [(1, "attempt 0", False), (2, "attempt 1", False), (3, "attempt 2", True)]


@pytest.mark.parametrize(
    ("to_connect", "is_away", "exhausted_after"),
    [(2, True, 2), (2, False, 3), (None, True, 3)],
    ids=["never answered", "has answered", "no difference"],
)
def test_a_server_that_never_answered_gets_fewer_attempts(
    to_connect: int | None, is_away: bool, exhausted_after: int
) -> None:
    policy = RetryPolicy(
        retryable=TransientError,
        attempts=3,
        attempts_to_connect=to_connect,
        first_pause_s=1.0,
        growth=1.0,
    )
    retries = Retries(policy)
    while not retries.are_exhausted(is_away):
        failed(retries, NoConnectionError("away"))
    assert retries.failures == exhausted_after


def test_a_failure_that_is_forgiven_does_not_count() -> None:
    retries = Retries(POLICY)
    for _ in range(10):
        failed(retries, TransientError("slow down"))
        retries.forgive()
    assert (retries.failures, retries.are_exhausted()) == (0, False)


def test_another_error_is_not_held_back() -> None:
    retries = Retries(POLICY)
    with pytest.raises(ValueError, match="wrong"):
        failed(retries, ValueError("wrong"))
    assert retries.failures == 0


def test_an_attempt_that_succeeds_ends_the_attempts() -> None:
    retries = Retries(POLICY)
    errors = [TransientError("once"), TransientError("twice")]

    def ask() -> str:
        while True:
            with retries:
                if errors:
                    raise errors.pop()
                return "answer"
            assert not retries.are_exhausted()

    assert ask() == "answer"
    assert retries.failures == 2
