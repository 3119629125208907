"""The time that is left for one step of an exchange."""

import time

import httpcore
import pytest

from ngramscan.remote.transport import _shorten, time_limit


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_outside_of_an_exchange_a_step_has_its_own_time(timeout: float | None) -> None:
    assert _shorten(timeout) == timeout
    with time_limit(1000.0):
        pass
    assert _shorten(timeout) == timeout


def test_a_step_has_its_own_time_if_more_is_left_of_the_exchange() -> None:
    with time_limit(1000.0):
        assert _shorten(3.0) == 3.0


@pytest.mark.parametrize("timeout", [None, 2000.0])
def test_a_step_has_what_is_left_of_the_exchange_if_its_own_is_more(timeout: float | None) -> None:
    with time_limit(1000.0):
        left = _shorten(timeout)
    assert left is not None
    assert 900.0 < left <= 1000.0


def test_no_step_begins_when_the_time_is_over() -> None:
    with time_limit(0.0):
        time.sleep(0.001)
        with pytest.raises(httpcore.ReadTimeout, match="the request ran out of time"):
            _shorten(3.0)
