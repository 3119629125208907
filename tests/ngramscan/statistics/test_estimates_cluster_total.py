"""The total of a population of which only some clusters were drawn, each with a known chance."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from ngramscan.statistics.estimates import cluster_total


def test_an_estimate_done_by_hand() -> None:
    # Two files are certain; ten of 40 were drawn, the larger ones with twice the chance.
    counts = [100, 50, 10, 20, 4, 5, 9, 11, 7, 3, 12, 8]
    sizes = [50, 40, 2, 2, 1, 1, 1, 1, 1, 1, 2, 1]
    chances = [1, 1, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.4, 0.2]
    estimate = cluster_total(counts, sizes, chances, 90 + 60)
    y, x, p = (np.array(column[2:], dtype=float) for column in (counts, sizes, chances))
    per_size = (y / p).sum() / (x / p).sum()
    assert (x / p).sum() == pytest.approx(50)
    assert estimate.value == pytest.approx(150 + per_size * 60)
    residuals = 60 / 50 * (y - per_size * x) / p
    squares = (1 - p) * residuals**2
    error = math.sqrt(10 / 9 * (squares.sum() + 2 * squares.max()))
    factor = math.exp(stats.t.ppf(0.975, 9) * error / (per_size * 60))
    assert estimate.high == pytest.approx(150 + per_size * 60 * factor)
    assert estimate.low == pytest.approx(150 + per_size * 60 / factor)
    assert estimate.note == "unreliable interval: one file makes up 12% of the estimate"
    assert not estimate.is_trusted


def test_the_mean_estimate_over_all_equal_samples_is_the_total() -> None:
    counts = [0, 3, 4, 9, 30, 2, 2]
    estimates = [
        cluster_total([counts[i] for i in drawn], [1] * 3, [3 / 7] * 3, 7).value
        for drawn in combinations(range(7), 3)
    ]
    assert np.mean(estimates) == pytest.approx(50)


@pytest.mark.parametrize(
    ("certain", "counts", "n_all"),
    [
        pytest.param([], [10, 20, 0, 5, 9, 11, 7, 3, 12, 8, 15, 20], 100, id="12 of 100"),
        pytest.param([9] * 10, [1, 3], 4, id="10 that are always drawn, and 2 of 4"),
    ],
)
def test_with_equal_chances_it_is_the_estimate_of_the_text_books(
    certain: list[int], counts: list[int], n_all: int
) -> None:
    n, known, y = len(counts), sum(certain), np.array(counts)
    chances = [1.0] * len(certain) + [n / n_all] * n
    estimate = cluster_total([*certain, *y], np.ones(len(chances)), chances, len(certain) + n_all)
    total = n_all * y.mean()
    assert estimate.value == pytest.approx(known + total)
    squares = (y - y.mean()) ** 2
    variance = (squares.sum() + 2 * squares.max()) / (n - 1)
    error = n_all * math.sqrt((1 - n / n_all) / n * variance)
    factor = math.exp(stats.t.ppf(0.975, n - 1) * error / total)
    low = max(known + total / factor, known + y.sum())
    assert estimate.limits == pytest.approx((low, known + total * factor))


NINE_OR_ELEVEN = [9, 11] * 10


@pytest.mark.parametrize(
    ("counts", "sizes", "chances", "size_of_all", "value", "note"),
    [
        pytest.param(
            [5] * 9,
            [1] * 9,
            [0.09] * 9,
            100,
            500,
            "no interval: only 9 files were read",
            id="few clusters",
        ),
        pytest.param(
            [0] * 41 + [1] * 9,
            [1] * 50,
            [0.5] * 50,
            100,
            18,
            "no interval: it is in 9 of 50 files, t",
            id="rare",
        ),
        pytest.param(
            [9] * 12 + [1] + [0] * 19,
            [1] * 32,
            [1.0] * 12 + [0.1] * 20,
            212,
            118,
            "no interval: it is in 1 of 20 files drawn by chance",
            id="rare in what chance draws",
        ),
        pytest.param(
            [4] * 20,
            [1] * 20,
            [0.2] * 20,
            100,
            400,
            "no interval: the counts of the files do not vary",
            id="all alike",
        ),
        pytest.param(NINE_OR_ELEVEN, [1] * 20, [0.1] * 20, 200, 2000, "", id="enough"),
        pytest.param(
            [*NINE_OR_ELEVEN, 40],
            [1] * 21,
            [0.1] * 21,
            210,
            2400,
            "unreliable interval: one file makes up 17%",
            id="one with much",
        ),
        pytest.param(
            [*NINE_OR_ELEVEN, 40],
            [1] * 20 + [4],
            [0.1] * 20 + [1],
            204,
            2040,
            "",
            id="one with much that is always drawn",
        ),
    ],
)
def test_few_or_rare_clusters_have_no_interval_and_a_large_one_is_told(
    counts: list[int],
    sizes: list[int],
    chances: list[float],
    size_of_all: int,
    value: float,
    note: str,
) -> None:
    estimate = cluster_total(counts, sizes, chances, size_of_all)
    assert estimate.value == pytest.approx(value)
    assert estimate.note.startswith(note)
    assert bool(estimate.note) == bool(note)
    assert estimate.is_trusted == (not note.startswith("unreliable"))
    assert (estimate.low is None) == (estimate.high is None) == note.startswith("no interval")


@pytest.mark.parametrize(
    ("counts", "sizes", "chances"),
    [
        pytest.param([], [], [], id="none"),
        pytest.param([1, 2], [1, 0], [1, 1], id="an empty one"),
        pytest.param([1, 2], [1, 1], [0.5, 1.1], id="a chance above 1"),
        pytest.param([1], [1], [0], id="no chance"),
    ],
)
def test_clusters_that_can_not_be_are_refused(
    counts: list[int], sizes: list[int], chances: list[float]
) -> None:
    with pytest.raises(ValueError, match="clusters of positive size"):
        cluster_total(counts, sizes, chances, 10)
