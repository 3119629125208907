"""Answers of several models to the same problems with two methods, drawn at random."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]


def graded(
    draw: np.random.Generator, problems: int, models: int, correlation: float, effect: float = 0.0
) -> tuple[Floats, Floats]:
    """Return values of two methods; differences on one problem have the correlation."""
    baseline = draw.normal(size=(problems, models))
    shared = draw.normal(size=(problems, 1)) * np.sqrt(correlation)
    own = draw.normal(size=(problems, models)) * np.sqrt(1 - correlation)
    return baseline, baseline + shared + own + effect


def right_or_wrong(
    draw: np.random.Generator, problems: int, models: int, shares: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return right and wrong answers of two methods, some problems easier for all models.

    Some problems also suit all models better with one of the methods: a correlation of one half.
    """
    easy = draw.normal(size=(problems, 1)) * np.sqrt(0.3)
    answers = []
    for share in shares:
        suited = easy + draw.normal(size=(problems, 1)) * np.sqrt(0.5)
        own = draw.normal(size=(problems, models)) * np.sqrt(0.2)
        answers.append((suited + own < special.ndtri(share)).astype(np.float64))
    return answers[0], answers[1]


def answers_in_epochs(
    draw: np.random.Generator, n: int, epochs: int, correlation: float
) -> tuple[Floats, Floats, Floats]:
    """Return two methods' answers to problems whose chances go together, and the problems."""
    common = draw.beta(1, 1, n)
    gain = np.where(draw.random(n) < correlation, 0.1, 0.0)
    chances = np.stack([common, np.minimum(common + gain, 1)])
    answers = (draw.random((2, epochs, n)) < chances[:, None, :]).astype(float)
    return answers[0].ravel(), answers[1].ravel(), np.tile(np.arange(n), epochs).astype(float)
