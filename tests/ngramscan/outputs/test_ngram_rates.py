"""Rates of n-grams: log-likelihood as scipy's, dispersion by hand."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, t

from ngramscan.outputs.keyness import compared_ngrams
from ngramscan.outputs.ngram_rates import log_likelihood
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.outputs.presence import PresenceTest, Sides
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


def ratio_by_hand(own: Sequence[str], others: Sequence[str]) -> tuple[float, float, float]:
    """Return the log ratio of the word x and its limits: texts are all of a side to a problem."""
    logs, variances, spread = [], [], 0.0
    for texts in (own, others):
        counts = [text.split().count("x") for text in texts]
        sizes = [len(text.split()) for text in texts]
        rate = sum(counts) / sum(sizes)
        squares = sum((count - rate * size) ** 2 for count, size in zip(counts, sizes, strict=True))
        squares *= len(texts) / max(len(texts) - 1, 1)
        variances.append((squares + 0.5) / (sum(counts) + 0.5) ** 2)
        logs.append(math.log2((sum(counts) + 0.5) / (sum(sizes) + 0.5)))
        n_with = sum(count > 0 for count in counts)
        if n_with:
            spread += variances[-1] ** 2 / max(n_with - 1, 1)
    half = t.ppf(0.975, sum(variances) ** 2 / spread) * math.sqrt(sum(variances)) / math.log(2)
    ratio = logs[0] - logs[1]
    return ratio, ratio - half, ratio + half


@pytest.mark.parametrize(
    ("own", "others"),
    [
        pytest.param(["x x a", "x b c d", "a b"], ["x c", "x x x d e"], id="two texts of a side"),
        pytest.param(["x a", "b"], ["x c d", "a"], id="one text of each side"),
        pytest.param(["x a", "x x b", "x"], ["c d", "a b c"], id="none of the others"),
        pytest.param(["a b", "a"], ["x d", "x x b c"], id="none of the method"),
        pytest.param(["x a b"], ["c d x x", "a b c"], id="the method has a single text"),
        pytest.param(["a x"] * 5 + ["b"] * 2, ["a x c"] * 3 + ["b"] * 4, id="several texts"),
    ],
)
def test_a_ratio_and_its_limits_are_those_done_by_hand(own: list[str], others: list[str]) -> None:
    tokens = split_words([*own, *others])
    table = words_of([*own, *others], len(own))
    (row,) = [
        row for row, place in enumerate(table["first"]) if tokens.names[tokens.ids[place]] == "x"
    ]
    names = ("log_ratio", "log_ratio_low", "log_ratio_high")
    assert [table[name][row] for name in names] == pytest.approx(ratio_by_hand(own, others))


def test_all_outputs_of_a_side_to_a_problem_are_one_text() -> None:
    # Problem 0: two outputs of the method and one of the others; problem 1: one and two.
    texts = ["x a", "x x b", "x c", "a b c", "x d", "b x x"]
    sides = Sides([True, True, False, True, False, False], [0, 0, 0, 1, 1, 1])
    tokens = split_words(texts)
    options = replace(EVERY_WORD, all=True)
    table = compared_ngrams(tokens, PresenceTest(sides, tokens.sizes), options)[0]
    (row,) = [
        row for row, place in enumerate(table["first"]) if tokens.names[tokens.ids[place]] == "x"
    ]
    expected = ratio_by_hand(["x a x x b", "a b c"], ["x c", "x d b x x"])
    names = ("log_ratio", "log_ratio_low", "log_ratio_high")
    assert [table[name][row] for name in names] == pytest.approx(expected)
    counts = ("count", "documents", "other_count", "other_documents")
    assert [table[name][row] for name in counts] == [3, 2, 4, 3]
