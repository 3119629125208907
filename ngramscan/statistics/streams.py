"""Random generators seeded by a number and names, independent of the order of draws."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return a generator for what the names say, such as a dataset, a model and a method.

    The same seed and names give the same numbers, whatever else is drawn and in which order.
    """
    words = np.frombuffer(hashlib.sha256("\0".join(names).encode()).digest(), np.uint32)
    return np.random.default_rng([seed, *words.tolist()])
