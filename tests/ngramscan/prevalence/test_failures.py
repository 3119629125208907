"""Failures in words: a line per reason, and a hint where there seems to be no network."""

import pytest

from ngramscan.errors import NgramscanError, RemoteUnavailable, RemoteUnreachable
from ngramscan.prevalence.failures import OFFLINE_HINT, describe_lost

BUSY = RemoteUnavailable("http://x: too many requests")
NOWHERE = RemoteUnreachable("http://x: can't be reached (no route)")
SAME_WORDS = NgramscanError("http://x: can't be reached (no route)")


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        pytest.param(BUSY, "", id="a service that is busy"),
        pytest.param(NOWHERE, f"; {OFFLINE_HINT}", id="no connection was ever made"),
        pytest.param(SAME_WORDS, "", id="an error of the same words"),
    ],
)
def test_what_works_without_a_network_is_said_by_the_type_of_an_error(
    error: NgramscanError, hint: str
) -> None:
    [line] = describe_lost([(error, "pile")], "text")
    assert str(line) == f"{error}; 1 text missing (pile){hint}"


def test_failures_are_counted_by_reason_and_index() -> None:
    lost = [(BUSY, "pile"), (BUSY, "dclm"), (BUSY, "pile"), (SAME_WORDS, "pile")]
    assert [*map(str, describe_lost(lost, "window"))] == [
        f"{BUSY}; 2 windows missing (pile)",
        f"{BUSY}; 1 window missing (dclm)",
        f"{SAME_WORDS}; 1 window missing (pile)",
    ]
    [line] = describe_lost(lost[:1], "context", {"pile": 9})
    assert str(line) == f"{BUSY}; 1 of 9 contexts missing (pile)"


@pytest.mark.parametrize(("n", "last"), [(6, "and 1 more reason"), (8, "and 3 more reasons")])
def test_of_many_reasons_five_are_said(n: int, last: str) -> None:
    lost = [(NgramscanError(f"reason {number}"), "pile") for number in range(n)]
    lines = [*map(str, describe_lost(lost, "text"))]
    assert lines[4] == "reason 4; 1 text missing (pile)"
    assert lines[5:] == [last]
