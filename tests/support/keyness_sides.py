"""Two sides of outputs that keyness compares, where each output answers a problem of its own."""

import numpy as np

from ngramscan.outputs.keyness import KeynessOptions
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.outputs.presence import Sides

OPTIONS = KeynessOptions("PoT", ("CoT",), "word", (1, 6), MinFrequency(10, 5), 50, 0.05, False)


def unpaired(own: int, others: int) -> Sides:
    """Return outputs that each answer a problem of their own."""
    return Sides(np.arange(own + others) < own, np.arange(own + others))
