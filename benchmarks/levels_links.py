"""Levels and coverage of `evalcore link --problems`, as tables of docs/methods/comparing.md.

    python benchmarks/levels_links.py [SETS]

Each population is drawn SETS times (600), once with slopes and once without any.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ngramscan.statistics.instrumental_slopes import instrumental_slope
from ngramscan.statistics.slopes import residuals, slope_test
from tests.support.slope_populations import (
    CLUSTERED,
    EQUAL,
    NO_SLOPES,
    SLOPES,
    UNEQUAL,
    Population,
)

DRAWS = 499
TRUE_SLOPE = 0.1
NOISES = ((25, 0.3, 0.9), (25, 0.9, 0.3), (100, 0.3, 0.9), (100, 0.9, 0.3), (25, 0.9, 3.0))
"""Groups, and the noise of the counts that are asked about and of the other corpus."""


def rates(population: Population, sets: int, seed: int = 20261129) -> dict[str, float]:
    """Return how often intervals cover the slope and the difference of slopes, and tests reject."""
    random = np.random.default_rng(seed)
    found: dict[str, list[bool]] = {}
    for _ in range(sets):
        for slopes in (SLOPES, NO_SLOPES):
            sample = population.draw(random, slopes)
            first, second = population.true_slopes(slopes)
            difference = sample.means[1] - sample.means[0]
            cases = (("slope", sample.means[0], first), ("difference", difference, second - first))
            clusters = sample.clusters if population.cluster_size > 1 else None
            for name, y, truth in cases:
                design = residuals(sample.x, y, np.ones(y.size))
                is_pair = name == "difference"
                slope, p = slope_test(design, random, is_pair, DRAWS, clusters=clusters)
                if slopes == SLOPES and slope and slope.low is not None:
                    low, high = slope.limits
                    found.setdefault(f"{name} covered", []).append(low <= truth <= high)
                if slopes == NO_SLOPES and p:
                    found.setdefault(f"{name} rejected", []).append(p.value <= 0.05)
    return {name: float(np.mean(values)) for name, values in found.items()}


def corrected(groups: int, noise: float, other_noise: float, sets: int) -> tuple[float, ...]:
    """Return the median corrected slope, coverage, and the share of unbounded intervals."""
    random = np.random.default_rng(20261129)
    values, is_covered, is_unbounded = [], [], []
    for _ in range(sets):
        true = random.normal(2, 1, groups)
        x = true + random.normal(0, noise, groups)
        other = 0.7 * true + random.normal(0, other_noise, groups)
        y = TRUE_SLOPE * true + random.normal(0, 0.1, groups)
        slope = instrumental_slope(x, y, other)
        if slope is None:
            continue
        values.append(slope.value)
        is_unbounded.append(slope.low is None)
        if slope.low is not None:
            low, high = slope.limits
            is_covered.append(low <= TRUE_SLOPE <= high)
    return float(np.median(values)), float(np.mean(is_covered)), float(np.mean(is_unbounded))


def share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def print_tables(sets: int) -> None:
    error = math.sqrt(0.05 * 0.95 / sets)
    print(f"{sets} sets; standard error {share(error)} where a rate is as it should be\n")
    print("| population | slope: covers | rejects | difference: covers | rejects |")
    print("|---|---:|---:|---:|---:|")
    for population in (*EQUAL, *UNEQUAL, *CLUSTERED):
        found = rates(population, sets)
        names = [
            f"{one} {what}" for one in ("slope", "difference") for what in ("covered", "rejected")
        ]
        cells = [share(found[name]) for name in names]
        print(f"| {' | '.join([population.title, *cells])} |", flush=True)
    print("\n| groups | noise | of the other | median corrected slope | covers | unbounded |")
    print("|---:|---:|---:|---:|---:|---:|")
    for groups, noise, other in NOISES:
        value, covers, unbounded = corrected(groups, noise, other, sets)
        cells = [str(groups), str(noise), str(other)]
        cells += [f"{value:.4f}", share(covers), share(unbounded)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    print_tables(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
