"""Random generators and samples, decided by a seed and names, independent of order."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return a generator for what the names say, such as a dataset, a model and a method.

    The same seed and names give the same numbers, whatever else is drawn and in which order.
    """
    words = np.frombuffer(hashlib.sha256("\0".join(names).encode()).digest(), np.uint32)
    return np.random.default_rng([seed, *words.tolist()])


def draw_sample(items: Sequence[T], number: int | None, seed: int) -> list[T]:
    """Return `number` items drawn at random, in their order.

    All are returned if there are no more, or if `number` is None. The draw depends only on the seed
    and the number of items.
    """
    if number is None or number >= len(items):
        return list(items)
    positions = random.Random(seed).sample(range(len(items)), number)
    return [items[position] for position in sorted(positions)]
