"""Intervals of 100 cells of 2,000 problems with 10,000 draws, beside scipy's bootstrap.

    python benchmarks/bootstrap.py

Prints the wall time of all cells, for right and wrong answers, for sums over five models and for
values that are all different, and in alternating rounds that of single cells with scipy's function.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from ngramscan.statistics.resampling import bootstrap_t

Floats = NDArray[np.float64]
Interval = Callable[[Floats, np.random.Generator], object]
CELLS, PROBLEMS, DRAWS, ROUNDS = 100, 2_000, 10_000, 5


SHAPES = ("right or wrong", "five models", "all different")


def made(shape: str, draw: np.random.Generator) -> Floats:
    """Return the differences of a cell."""
    if shape == "right or wrong":
        return draw.choice(np.array([-1.0, 0.0, 1.0]), PROBLEMS, p=[0.1, 0.7, 0.2])
    if shape == "five models":
        return draw.integers(-5, 6, PROBLEMS).astype(np.float64)
    return draw.normal(size=PROBLEMS)


def seconds(interval: Interval, cells: list[Floats], draw: np.random.Generator) -> float:
    started_at = time.perf_counter()
    for values in cells:
        interval(values, draw)
    return time.perf_counter() - started_at


def main() -> None:
    draw = np.random.default_rng(0)
    for shape in SHAPES:
        cells = [made(shape, draw) for _ in range(CELLS)]
        rounds = [[seconds(f, cells[:1], draw) for f in (ours, scipy_s)] for _ in range(ROUNDS)]
        our_time, their_time = (statistics.median(times) for times in zip(*rounds, strict=True))
        print(
            f"{shape}: {seconds(ours, cells, draw):.1f} s for {CELLS} cells; "
            f"a cell {our_time:.4f} s, with scipy {their_time:.4f} s"
        )


def ours(values: Floats, draw: np.random.Generator) -> object:
    return bootstrap_t(values, draw, draws=DRAWS).estimate


def scipy_s(values: Floats, draw: np.random.Generator) -> object:
    return bootstrap(
        (values,), np.mean, n_resamples=DRAWS, method="percentile", rng=draw, batch=500
    )


if __name__ == "__main__":
    main()
