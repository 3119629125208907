"""How often comparisons of weighted and repeated answers err, and their power.

    python benchmarks/levels_means.py --sets 600

Prints tables with standard errors: how often the true mean of problems of unequal sizes is outside
its 95% interval, and how often a gain is found that was called detectable.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.planning import TiltingDesign

Floats = NDArray[np.float64]
Generator = np.random.Generator
Draw = Callable[[Generator, int], Floats]


@dataclass(frozen=True)
class Population:
    """Differences of problems, drawn one by one, and their mean."""

    draw: Draw
    mean: float


def signs(loss: float, gain: float) -> Population:
    """Return right and wrong answers: shares of problems that are lost and gained."""
    values, shares = [-1.0, 0.0, 1.0], [loss, 1 - loss - gain, gain]
    return Population(lambda draw, n: draw.choice(values, n, p=shares), gain - loss)


def uniform(least: float, most: float) -> Population:
    """Return graded differences that are uniform."""
    return Population(lambda draw, n: draw.uniform(least, most, n), (least + most) / 2)


def losses(share: float, loss: float) -> Population:
    """Return small gains and, on a share of the problems, large losses; their mean is 0."""
    gain = share * loss / (1 - share)
    return Population(lambda draw, n: np.where(draw.random(n) < share, -loss, gain), 0.0)


def half_zero(draw: Generator, n: int) -> Floats:
    """Return differences of which seven tenths are 0, and others uniform."""
    return np.where(draw.random(n) < 0.7, 0.0, draw.uniform(-1, 1, n))


DIFFERENCES = {
    "30 % differ, equal": signs(0.15, 0.15),
    "60 % differ, equal": signs(0.3, 0.3),
    "10 % differ, equal": signs(0.05, 0.05),
    "40 % differ, +20": signs(0.1, 0.3),
    "graded, uniform": uniform(-0.5, 0.5),
    "graded, uniform, +20": uniform(-0.4, 0.8),
    "graded, 5 % losses of .9": losses(0.05, 0.9),
    "graded, 70 % zeros": Population(half_zero, 0.0),
}


def fixed(*parts: tuple[int, float]) -> Callable[[Generator], Floats]:
    """Return sizes that are always the same: numbers of problems, and the size of each."""
    sizes = np.concatenate([np.full(n, size) for n, size in parts])
    return lambda _: sizes


SIZES: dict[str, Callable[[Generator], Floats]] = {
    "100 of 1, 3 of 30": fixed((100, 1.0), (3, 30.0)),
    "40 of 1, 1 of 200": fixed((40, 1.0), (1, 200.0)),
    "90 of 1, 10 of 10": fixed((90, 1.0), (10, 10.0)),
    "200 of 1, 50 of 2": fixed((200, 1.0), (50, 2.0)),
    "lognormal, log-sd 1, 100": lambda draw: draw.lognormal(0, 1, 100),
    "lognormal, log-sd 1, 40": lambda draw: draw.lognormal(0, 1, 40),
    "lognormal, log-sd .5, 30": lambda draw: draw.lognormal(0, 0.5, 30),
    "uniform 5 to 30, 18": lambda draw: draw.integers(5, 31, 18).astype(float),
    "uniform 1 to 10, 30": lambda draw: draw.integers(1, 11, 30).astype(float),
    "Pareto, 100": lambda draw: 1 + draw.pareto(1.5, 100),
}

EPOCHS: dict[str, Callable[[Generator], NDArray[np.int64]]] = {
    "2 of 40 have 10, others 1": lambda _: np.repeat([1, 10], [38, 2]),
    "10 of 40 have 10, others 1": lambda _: np.repeat([1, 10], [30, 10]),
    "geometric, mean 2, 40": lambda draw: draw.geometric(0.5, 40),
    "geometric, mean 5, 30": lambda draw: draw.geometric(0.2, 30),
    "1 to 4, 60": lambda draw: draw.integers(1, 5, 60),
}


def draw_weighted(draw: Generator, sizes: str, differences: str) -> tuple[BoundedMean, float]:
    """Return a mean of weighted differences, and the true one."""
    points = SIZES[sizes](draw)
    points = points / points.min()
    population = DIFFERENCES[differences]
    drawn = population.draw(draw, points.size)
    return BoundedMean(drawn * points, -1, 1, points), population.mean


def draw_epochs(draw: Generator, epochs: str, gain: float) -> tuple[BoundedMean, float]:
    """Return a mean of right and wrong answers, several to a problem; difficulty is Beta(1, 1).

    The other method is right where this one is, or where a coin with chance `gain` is.
    """
    numbers = EPOCHS[epochs](draw)
    chance = draw.beta(1, 1, numbers.size)
    first = draw.binomial(numbers, chance)
    second = draw.binomial(numbers, chance + gain * (1 - chance))
    return BoundedMean(second - first, -1, 1, numbers), gain / 2


def misses(make: Callable[[Generator], tuple[BoundedMean, float]], sets: int) -> float:
    """Return how often the true mean is rejected at .05, and so is outside the interval."""
    draw, rejected = np.random.default_rng(7), 0
    for _ in range(sets):
        mean, truth = make(draw)
        rejected += mean.test(truth).value <= 0.05
    return rejected / sets


SPREADS: dict[str, Draw] = {
    "uniform": lambda draw, n: draw.uniform(-0.5, 0.5, n),
    "normal, sd .1": lambda draw, n: draw.normal(0, 0.1, n),
    "normal, sd .03": lambda draw, n: draw.normal(0, 0.03, n),
    "80 % zeros, gains of .3": lambda draw, n: np.where(draw.random(n) < 0.8, -0.06, 0.24),
    "90 % zeros, gains of .5": lambda draw, n: np.where(draw.random(n) < 0.9, -0.05, 0.45),
    "sevenths, half ties": lambda draw, n: draw.choice(
        np.arange(-3, 4) / 7, n, p=[0.02, 0.05, 0.18, 0.5, 0.18, 0.05, 0.02]
    ),
    "10 % losses of .8": lambda draw, n: np.where(draw.random(n) < 0.1, -0.765, 0.085),
}
"""Differences with a mean of 0, which are shifted."""


def power_at_detectable(name: str, n: int, pilots: int, sets: int) -> float:
    """Return how often a gain is found that is detectable by a pilot of as many problems."""
    draw, found = np.random.default_rng(3), 0
    for _ in range(pilots):
        pilot = BoundedMean(SPREADS[name](draw, n).clip(-1, 1), -1, 1)
        gain = TiltingDesign(pilot, is_gain=True).detectable(n) or 1.0
        for _ in range(sets):
            values = (SPREADS[name](draw, n) + gain).clip(-1, 1)
            found += BoundedMean(values, -1, 1).test(0.0).value <= 0.05
    return found / pilots / sets


def _table(head: str, lines: Iterator[str]) -> None:
    print(f"\n{head}")
    for line in lines:
        print(line, flush=True)


def _levels(sets: int) -> Iterator[str]:
    for sizes in SIZES:
        for name in DIFFERENCES:
            share = misses(partial(draw_weighted, sizes=sizes, differences=name), sets)
            yield f"{sizes:28}{name:28}{share:.3f}"
    for epochs in EPOCHS:
        for gain in (0.0, 0.3):
            share = misses(partial(draw_epochs, epochs=epochs, gain=gain), sets)
            yield f"{epochs:28}{f'epochs, {50 * gain:+.0f} points':28}{share:.3f}"


def _powers(sets: int) -> Iterator[str]:
    pilots = max(sets // 15, 1)
    for name in SPREADS:
        for n in (20, 50, 100, 200, 500):
            yield f"{name:28}{n:5}   {power_at_detectable(name, n, pilots, 15):.3f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=600)
    sets = parser.parse_args().sets
    error = math.sqrt(0.05 * 0.95 / sets)
    _table(
        f"Sizes, differences, true means outside the 95% interval (standard error {error:.3f})",
        _levels(sets),
    )
    error = math.sqrt(0.8 * 0.2 / sets)
    _table(
        f"Differences, problems, power at the detectable gain (standard error {error:.3f})",
        _powers(sets),
    )


if __name__ == "__main__":
    main()
