"""Limits of whole words from draws: they have the true number in 95 of 100 simulations."""

import numpy as np
import pytest

from ngramscan.indexes.base import Occurrences, Segment
from ngramscan.prevalence.draws import DRAWS, draw_places
from ngramscan.prevalence.hosted_rules import whole_word_estimate

RUNS = 400


@pytest.mark.parametrize("n_all", [20, 300, 10**4, 10**6])
@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.86, 1])
def test_limits_cover_the_true_number(n_all: int, share: float) -> None:
    n_whole = round(share * n_all)
    is_whole = np.random.default_rng(7).permutation(np.arange(n_all) < n_whole)
    located = Occurrences("us", (Segment(0, 0, n_all),))
    hits = 0
    for seed in range(RUNS):
        places = draw_places(located, DRAWS, seed, "x", with_replacement=False)
        n_seen = int(is_whole[[place.rank for place in places]].sum())
        if len(places) == n_all:
            hits += n_seen == n_whole
            continue
        low, high = whole_word_estimate(n_seen, len(places), n_all).limits
        hits += low <= n_whole <= high
    assert hits / RUNS >= 0.93
