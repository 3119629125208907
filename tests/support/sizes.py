"""How much simulations draw: less while one works, more where it is proved."""

import os
from functools import partial

import pytest

from ngramscan.statistics.estimates import Estimate

slow = partial(pytest.param, marks=pytest.mark.slow)
"""A case that takes long, and runs on request."""


def sets(n: int) -> int:
    """Return how many sets a simulation has: four times as many with NGRAMSCAN_FULL=1."""
    return 4 * n if os.environ.get("NGRAMSCAN_FULL") == "1" else n


def holds(found: Estimate, truth: float) -> bool:
    low, high = found.limits
    return low <= truth <= high
