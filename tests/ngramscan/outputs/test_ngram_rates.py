"""Rates of n-grams: log-likelihood as scipy's, dispersion by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from ngramscan.outputs.keyness import (
    compared_ngrams,
)
from ngramscan.outputs.ngram_rates import log_likelihood
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.outputs.presence import PresenceTest
from ngramscan.outputs.tokens import split_words
from tests.support.keyness_sides import OPTIONS, unpaired

EVERY_WORD = replace(OPTIONS, lengths=(1, 1), minimum=MinFrequency(1, 1), q=1.0)


def words_of(texts: Sequence[str], own: int) -> dict[str, NDArray[Any]]:
    """Return the table of all words of the first texts against the others."""
    tokens = split_words(texts)
    test = PresenceTest(unpaired(own, len(texts) - own), tokens.sizes)
    return compared_ngrams(tokens, test, EVERY_WORD)[0]


@pytest.mark.parametrize("table", [(30, 5, 1000, 2000), (0, 7, 50, 80), (3, 3, 10, 10)], ids=str)
def test_g2_is_that_of_scipy(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    cells = [[a, b], [c - a, d - b]]
    expected = chi2_contingency(cells, correction=False, lambda_="log-likelihood").statistic
    assert log_likelihood([a], [b], c, d)[0] == pytest.approx(expected, abs=1e-9)


def test_dispersion_of_even_and_of_concentrated_words() -> None:
    table = words_of(["x a b", "x a b", "x a b", "y y y", *["c c c"] * 4], 4)
    # y: all in one of four equal documents: (1 - 1/4) / (1 - 1/4); x: DP 1/4, normalised 1/3.
    found = sorted(v for v in table["dispersion"].tolist() if not np.isnan(v))
    assert found == pytest.approx([1 / 3] * 3 + [1.0])
    # A single text has them all, as evenly as can be.
    assert words_of(["x x y", "z"], 1)["dispersion"][:2].tolist() == [0, 0]


def bursty(draw: np.random.Generator, sizes: Sequence[int], words: int, rate: float) -> list[str]:
    """Return texts whose words come in bursts: a gamma factor for each text and word."""
    texts = []
    for size in sizes:
        counts = draw.poisson(rate * draw.gamma(0.3, 1 / 0.3, words) * size)
        pieces = [f"w{number}" for number in np.repeat(np.arange(words), counts)]
        # A filler keeps the length what it is to be.
        texts.append(" ".join([*pieces, *["f"] * max(size - len(pieces), 1)]))
    return texts


def test_intervals_cover_ratios_of_clustered_words() -> None:
    draw = np.random.default_rng(3)
    sizes = draw.integers(400, 1600, 300).tolist()
    texts = bursty(draw, sizes[:150], 1000, 7.5e-4) + bursty(draw, sizes[150:], 1000, 3.75e-4)
    tokens = split_words(texts)
    table = words_of(texts, 150)
    is_word = np.array([tokens.names[tokens.ids[place]] != "f" for place in table["first"]])
    covered = (table["log_ratio_low"] <= 1) & (table["log_ratio_high"] >= 1)
    assert is_word.sum() == 1000
    assert 0.93 <= covered[is_word].mean() <= 0.97
