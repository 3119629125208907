"""Levels and coverage with clusters of problems, and of pass@k and pass^k, as tables.

    python benchmarks/levels_clusters.py [--sets 600] [--table differences]

They are in docs/methods/comparing.md; some of them are drawn by day in
`tests/ngramscan/statistics/test_clustered_means.py`.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from evalcore.paired_tests import compare_pairs
from ngramscan.statistics.clustered_means import ClusteredMean
from ngramscan.statistics.pass_rates import PassRate
from ngramscan.statistics.two_samples import estimate_accuracy, estimate_clustered_accuracy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Generator = np.random.Generator
PairsInClusters = tuple[Integers, Floats, Floats]
MakePairs = Callable[[Generator], PairsInClusters]

SIZES: dict[str, Callable[[Generator, int], Integers]] = {
    "5 problems each": lambda _, n: np.full(n, 5),
    "1 or 9 problems": lambda _, n: np.where(np.arange(n) % 2, 1, 9),
    "geometric, mean 5": lambda draw, n: draw.geometric(0.2, n),
    "lognormal, log-sd 1": lambda draw, n: np.ceil(4 * np.exp(draw.normal(0, 1, n))).astype(int),
    "one has a third": lambda _, n: np.append(np.full(n - 1, 3), 3 * (n - 1) // 2),
}
"""The number of problems in each cluster."""
CORRELATIONS = (0.0, 0.3, 0.6)
ACCURACIES = (0.5, 0.9)
CLUSTERS = (20, 60)


class Share(NamedTuple):
    """In which share of sets something was so."""

    value: float
    error: float

    def __str__(self) -> str:
        """Show the share with its standard error."""
        return f"{self.value:.3f} ± {self.error:.3f}"


def estimate_share(n_held: int, n_sets: int) -> Share:
    """Return a share with its standard error."""
    value = n_held / n_sets
    return Share(value, float(np.sqrt(value * (1 - value) / n_sets)))


def draw_scores(
    draw: Generator, sizes: Integers, accuracy: float, correlation: float
) -> tuple[Integers, Floats]:
    """Draw the cluster and the value of each problem; clusters have beta-distributed accuracies."""
    clusters = np.repeat(np.arange(sizes.size), sizes)
    chances = np.full(sizes.size, accuracy)
    if correlation:
        total = 1 / correlation - 1
        chances = draw.beta(accuracy * total, (1 - accuracy) * total, sizes.size)
    return clusters, (draw.random(clusters.size) < chances[clusters]).astype(np.float64)


def draw_pairs(
    draw: Generator, sizes: Integers, accuracies: tuple[float, float], correlation: float
) -> PairsInClusters:
    """Draw the cluster of each problem, and whether each of two methods is right.

    Latent difficulties have parts of the cluster and of the problem, each half of which the methods
    have in common. `correlation` is that of two problems of a cluster.
    """
    clusters = np.repeat(np.arange(sizes.size), sizes)
    of_cluster, of_problem = draw.normal(size=sizes.size), draw.normal(size=clusters.size)
    methods = list[Floats]()
    for accuracy in accuracies:
        cluster = of_cluster + draw.normal(size=sizes.size)
        problem = of_problem + draw.normal(size=clusters.size)
        latent = np.sqrt(correlation / 2) * cluster[clusters]
        latent += np.sqrt((1 - correlation) / 2) * problem
        methods.append((latent < norm.ppf(accuracy)).astype(np.float64))
    return clusters, methods[0], methods[1]


def draw_rare_losses(draw: Generator, sizes: Integers) -> PairsInClusters:
    """Draw graded answers of two equally good methods: one loses much in a tenth of the clusters.

    It gains a little in the others.
    """
    clusters = np.repeat(np.arange(sizes.size), sizes)
    loses = (draw.random(sizes.size) < 0.1)[clusters]
    return clusters, np.where(loses, 0.9, 0.0), np.where(loses, 0.0, 0.1)


def cover_accuracy(
    draw: Generator, sets: int, n: int, sizes: str, accuracy: float, correlation: float
) -> tuple[Share, Share, float]:
    """Return the coverage of an accuracy, by clusters and by problems, and the mean width."""
    by_cluster = by_problem = 0
    width = 0.0
    for _ in range(sets):
        clusters, values = draw_scores(draw, SIZES[sizes](draw, n), accuracy, correlation)
        low, high = estimate_clustered_accuracy(values, clusters).limits
        by_cluster += low <= accuracy <= high
        width += (high - low) / sets
        low, high = estimate_accuracy(values, np.arange(values.size)).limits
        by_problem += low <= accuracy <= high
    return estimate_share(by_cluster, sets), estimate_share(by_problem, sets), width


def reject_differences(
    draw: Generator,
    sets: int,
    make: MakePairs,
) -> tuple[Share, Share]:
    """Return how often a difference is found at .05, by clusters and by problems."""
    by_cluster = by_problem = 0
    for _ in range(sets):
        clusters, first, second = make(draw)
        by_cluster += ClusteredMean(second - first, clusters, -1, 1).test(0.0).value <= 0.05
        by_problem += compare_pairs(first, second, draw).p.value <= 0.05
    return estimate_share(by_cluster, sets), estimate_share(by_problem, sets)


CHANCES: dict[str, Callable[[Generator, int], Floats]] = {
    "all .3": lambda _, n: np.full(n, 0.3),
    "beta(.5, .5)": lambda draw, n: draw.beta(0.5, 0.5, n),
    "beta(.3, 1.2)": lambda draw, n: draw.beta(0.3, 1.2, n),
    "half 0, half .5": lambda draw, n: np.where(draw.random(n) < 0.5, 0.0, 0.5),
    "a tenth .9, others .02": lambda draw, n: np.where(draw.random(n) < 0.1, 0.9, 0.02),
}
"""The chance that an answer to each problem is right."""


def true_rate(rate: PassRate, chances: Floats) -> float:
    """Return the mean pass rate of problems with these chances."""
    passed = chances**rate.k if rate.all_right else 1 - (1 - chances) ** rate.k
    return float(passed.mean())


def cover_pass_rate(
    draw: Generator, sets: int, n: int, epochs: int, rate: PassRate, chances: str
) -> Share:
    """Return the coverage of a pass rate from so many problems and epochs."""
    truth = true_rate(rate, CHANCES[chances](np.random.default_rng(0), 1_000_000))
    n_held = 0
    for _ in range(sets):
        right = draw.binomial(epochs, CHANCES[chances](draw, n))
        values = [rate.estimate(epochs, n_right) for n_right in right.tolist()]
        low, high = estimate_accuracy(values, np.arange(n)).limits
        n_held += low - 1e-6 <= truth <= high + 1e-6
    return estimate_share(n_held, sets)


def print_accuracies(sets: int) -> None:
    """Print the coverage of accuracies."""
    print("| clusters | sizes | accuracy | correlation | by clusters | by problems | width |")
    for n in CLUSTERS:
        for sizes in SIZES:
            for accuracy in ACCURACIES:
                for correlation in CORRELATIONS:
                    draw = np.random.default_rng(1)
                    own, naive, width = cover_accuracy(draw, sets, n, sizes, accuracy, correlation)
                    named = f"{n} | {sizes} | {accuracy} | {correlation}"
                    print(f"| {named} | {own} | {naive} | {width:.3f} |", flush=True)


def difference_settings(n: int) -> Iterator[tuple[str, MakePairs]]:
    """Yield the name and the maker of each population of pairs with so many clusters."""
    better = 0.7 if n <= 20 else 0.62
    for sizes in SIZES:
        for correlation in CORRELATIONS:
            for accuracies in ((0.5, 0.5), (0.9, 0.9), (0.5, better)):
                first, second = accuracies
                make = partial(
                    make_pairs, n=n, sizes=sizes, accuracies=accuracies, correlation=correlation
                )
                yield f"{sizes} | {correlation} | {first}, {second}", make
        yield f"{sizes} | 1 | graded, rare losses", partial(make_rare_losses, n=n, sizes=sizes)


def make_pairs(
    draw: Generator, *, n: int, sizes: str, accuracies: tuple[float, float], correlation: float
) -> PairsInClusters:
    """Draw right and wrong answers to problems of n clusters."""
    return draw_pairs(draw, SIZES[sizes](draw, n), accuracies, correlation)


def make_rare_losses(draw: Generator, *, n: int, sizes: str) -> PairsInClusters:
    """Draw graded answers with rare losses to problems of n clusters."""
    return draw_rare_losses(draw, SIZES[sizes](draw, n))


def print_differences(sets: int) -> None:
    """Print levels and powers of comparisons."""
    print("| clusters | sizes | correlation | accuracies | by clusters | by problems |")
    for n in CLUSTERS:
        for name, make in difference_settings(n):
            own, naive = reject_differences(np.random.default_rng(2), sets, make)
            print(f"| {n} | {name} | {own} | {naive} |", flush=True)


def print_pass_rates(sets: int) -> None:
    """Print the coverage of pass rates."""
    print("| problems | epochs | rate | chances | covers |")
    for n in (20, 100):
        for epochs, k in ((5, 5), (10, 2)):
            for rate in (PassRate(k), PassRate(k, all_right=True)):
                for chances in CHANCES:
                    draw = np.random.default_rng(3)
                    found = cover_pass_rate(draw, sets, n, epochs, rate, chances)
                    print(f"| {n} | {epochs} | {rate.name} | {chances} | {found} |", flush=True)


def main() -> None:
    """Print all tables, or one."""
    tables = {
        "differences": print_differences,
        "pass-rates": print_pass_rates,
        "accuracies": print_accuracies,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=600)
    parser.add_argument("--table", choices=tables)
    given = parser.parse_args()
    for name, print_table in tables.items():
        if given.table in {None, name}:
            print_table(given.sets)


if __name__ == "__main__":
    main()
