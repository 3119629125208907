"""Means of values in clusters: their definition, other software, and simulations."""

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

from benchmarks.levels_clusters import (
    cover_accuracy,
    make_pairs,
    make_rare_losses,
    reject_differences,
)
from evalcore.paired_tests import compare_pairs
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.clustered_means import ClusteredMean, intraclass_correlation
from ngramscan.statistics.clusters import describe_few_clusters
from ngramscan.statistics.two_samples import estimate_accuracy, estimate_clustered_accuracy
from tests.support.sizes import sets, slow

Floats = NDArray[np.float64]


def values_in_clusters(sizes: list[int], seed: int = 5) -> tuple[Floats, NDArray[np.int64]]:
    draw = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    own = draw.normal(0, 0.3, len(sizes))[clusters] + draw.normal(0, 0.2, clusters.size)
    return np.clip(own, -1, 1), clusters


def student_by_matrices(values: Floats, clusters: Any) -> tuple[float, float]:
    """Return standard error and degrees of freedom from whole matrices, as Imbens and Kolesár."""
    sizes = np.bincount(clusters).astype(float)
    sums = np.bincount(clusters, weights=values)
    n, total = sizes.size, sizes.sum()
    rho = intraclass_correlation(values, clusters)
    model = np.diag(sizes * (1 + (sizes - 1) * rho))
    annihilator = np.eye(n) - np.outer(sizes, np.ones(n)) / total
    correction = np.diag(1 / np.sqrt(1 - sizes / total))
    residuals = correction @ annihilator @ sums
    covariance = correction @ annihilator @ model @ annihilator.T @ correction
    trace = float(np.trace(covariance))
    variance = float(residuals @ residuals) * float(np.trace(model)) / trace
    return math.sqrt(variance) / total, trace**2 / float((covariance**2).sum())


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([1, 2, 3, 4, 5, 6, 7], id="sizes from 1 to 7"),
        pytest.param([3] * 12 + [30], id="one cluster has almost half of the values"),
        pytest.param([1, 9] * 10, id="clusters of 1 and 9 values"),
    ],
)
def test_error_and_degrees_of_freedom_are_those_of_whole_matrices(sizes: list[int]) -> None:
    values, clusters = values_in_clusters(sizes)
    found = ClusteredMean(values, clusters, -1, 1)
    expected = student_by_matrices(values, clusters)
    assert (found._error, found._degrees) == pytest.approx(expected)


def test_with_many_clusters_the_standard_error_is_that_of_other_software() -> None:
    values, clusters = values_in_clusters([*range(1, 9)] * 60)
    fitted = sm.OLS(values, np.ones(values.size)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}
    )
    found = ClusteredMean(values, clusters, -1, 1)
    assert found.value == pytest.approx(fitted.params[0])
    assert found._error == pytest.approx(fitted.bse[0], rel=0.01)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_an_interval_ends_where_its_p_value_is_one_minus_the_level(level: float) -> None:
    found = ClusteredMean(*values_in_clusters([1, 1, 2, 3, 5, 8, 13, 2, 2, 4]), -1, 1)
    limits = found.estimate(level).limits
    p_values = [found.test(limit).value for limit in limits if abs(limit) < 1]
    assert p_values == pytest.approx([1 - level] * len(p_values), rel=1e-4)


@pytest.mark.parametrize("size", [1, 4])
def test_clusters_of_one_size_have_the_interval_of_their_means(size: int) -> None:
    values, clusters = values_in_clusters([size] * 15)
    means = np.bincount(clusters, weights=values) / size
    found, expected = ClusteredMean(values, clusters, -1, 1), BoundedMean(means, -1, 1)
    assert found.estimate().limits == pytest.approx(expected.estimate().limits)
    assert found.test(0.1).value == pytest.approx(expected.test(0.1).value)


def test_one_cluster_has_no_limits_but_the_bounds() -> None:
    found = ClusteredMean([0, 1, 1], ["a", "a", "a"], 0, 1)
    assert (found.value, *found.estimate().limits) == pytest.approx((2 / 3, 0, 1))
    assert found.test(0.1).value == 1


def test_equal_weights_do_not_matter() -> None:
    values, clusters = values_in_clusters([1, 2, 3] * 4)
    found = ClusteredMean(values, clusters, -1, 1, weights=3.0).estimate()
    assert found.limits == pytest.approx(ClusteredMean(values, clusters, -1, 1).estimate().limits)


@pytest.mark.parametrize(
    ("values", "problem"),
    [([], "no value"), ([0.5, float("nan")], "missing"), ([0.5, 1.5], "not from 0 to 1")],
    ids=["nothing", "missing", "above 1"],
)
def test_values_without_a_mean_are_refused(values: list[float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ClusteredMean(values, range(len(values)), 0, 1)


@pytest.mark.parametrize(
    ("values", "clusters", "expected"),
    [
        pytest.param([0, 0, 1, 1], [0, 0, 1, 1], 1, id="values of a cluster are equal"),
        pytest.param([0, 1, 0, 1], [0, 0, 1, 1], 0, id="clusters are equal"),
        pytest.param([0.3, 0.4, 0.5], [0, 1, 2], 0, id="each cluster has one value"),
        pytest.param([1, 1, 1, 1], [0, 0, 1, 1], 0, id="nothing varies"),
        # Mean squares 11/24 between and 3/24 within: (11 - 3) / (11 + 3).
        pytest.param([0, 0, 1, 1, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3], 4 / 7, id="by hand"),
    ],
)
def test_correlations_within_clusters(
    values: list[float], clusters: list[int], expected: float
) -> None:
    found = intraclass_correlation(np.array(values, dtype=float), clusters)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([5] * 11, "", id="eleven equal ones are enough"),
        pytest.param([5] * 10, "only 10 clusters", id="ten are few"),
        pytest.param([40], "only 1 cluster", id="one"),
        pytest.param(
            [100] + [1] * 30,
            "only 31 clusters, so uneven that they tell as much as 2 of one size",
            id="one outweighs all others",
        ),
    ],
)
def test_few_clusters_are_named(sizes: list[int], expected: str) -> None:
    assert describe_few_clusters(sizes) == expected


# Simulations


@pytest.mark.parametrize(
    ("sizes", "correlation"),
    [
        ("5 problems each", 0.3),
        ("geometric, mean 5", 0.3),
        *(
            slow(*each)
            for each in [
                ("1 or 9 problems", 0.6),
                ("geometric, mean 5", 0.6),
                ("lognormal, log-sd 1", 0.1),
                ("lognormal, log-sd 1", 0.6),
            ]
        ),
    ],
)
def test_accuracies_are_covered_by_clusters_and_not_by_problems(
    sizes: str, correlation: float
) -> None:
    draw, runs = np.random.default_rng(1), sets(150)
    own, naive, _ = cover_accuracy(draw, runs, 40, sizes, 0.5, correlation)
    assert 0.93 - 2 * own.error <= own.value <= 0.995
    assert naive.value < 0.9, "otherwise the simulation shows nothing"


@pytest.mark.parametrize(
    "sizes",
    [
        "5 problems each",
        "geometric, mean 5",
        slow("1 or 9 problems"),
        slow("lognormal, log-sd 1"),
        slow("one has a third"),
    ],
)
def test_clusters_find_no_difference_at_the_level_where_problems_do(sizes: str) -> None:
    def make(draw: np.random.Generator) -> Any:
        return make_pairs(draw, n=40, sizes=sizes, accuracies=(0.5, 0.5), correlation=0.6)

    own, naive = reject_differences(np.random.default_rng(2), sets(150), make)
    assert own.value <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / sets(150))
    assert naive.value > 0.1, "otherwise the simulation shows nothing"


@pytest.mark.parametrize("sizes", ["5 problems each", "geometric, mean 5"])
def test_losses_in_a_few_clusters_are_no_difference_of_equal_means(sizes: str) -> None:
    def make(draw: np.random.Generator) -> Any:
        return make_rare_losses(draw, n=40, sizes=sizes)

    own, _ = reject_differences(np.random.default_rng(2), sets(100), make)
    assert own.value <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / sets(100))


def test_unequal_clusters_leave_most_of_the_power() -> None:
    """Student's t over the means of equal clusters finds .9 of these differences."""

    def make(draw: np.random.Generator) -> Any:
        return make_pairs(
            draw, n=60, sizes="geometric, mean 5", accuracies=(0.5, 0.62), correlation=0.1
        )

    own, _ = reject_differences(np.random.default_rng(3), sets(100), make)
    assert own.value > 0.75


def test_clusters_of_one_problem_each_change_nothing() -> None:
    draw = np.random.default_rng(4)
    first, second = (draw.random(50) < 0.6).astype(float), draw.random(50) < 0.5
    names = [f"passage {number}" for number in range(50)]
    plain = compare_pairs(first, second, np.random.default_rng(1), problems=names)
    found = compare_pairs(
        first, second, np.random.default_rng(1), problems=names, has_clusters=True
    )
    assert found == plain
    assert found.p.procedure == "mid-p McNemar"
    assert estimate_clustered_accuracy(first, names) == estimate_accuracy(first, names)
