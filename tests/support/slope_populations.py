"""Populations of groups whose accuracies rise with log counts by a known slope.

The tests of slopes draw from them, and benchmarks/levels_links.py, which prints
the tables of docs/methods/comparing.md.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

C4 = [59, 21, 117, 5, 15, 12, 6, 3, 1, 3, 3, 7, 1225, 5, 2, 4, 2, 2, 1, 1, 4, 2, 17, 3, 7]
"""How often each shift cipher is named in C4: one group is far from the others."""
SLOPES = (0.08, 0.12)
"""The slopes of two methods, per tenfold count, where there are any."""
NO_SLOPES = (0.0, 0.0)


@dataclass(frozen=True)
class Population:
    """Two methods answer the same problems; groups of problems have one count each."""

    title: str
    counts: Literal["ciphers", "lognormal", "ties", "far"] = "lognormal"
    groups: int = 25
    answers: Literal["equal", "dominant", "scarce", "lognormal"] = "equal"
    """`dominant`: the group with the highest count has ten times as many as others; `scarce`: it
    has one."""
    usual_answers: int = 20
    spread: float = 0.1
    """Standard deviation of the groups' accuracies, most of it shared by the methods."""
    grows: bool = False
    """Whether that spread grows with the count."""
    has_floor: bool = False
    """Whether accuracy is near 0 for rare groups: a logistic curve, not a line."""
    is_graded: bool = False
    cluster_size: int = 1
    """Groups in a cluster, which share a part of their accuracy and of their count."""

    def draw(self, random: np.random.Generator, slopes: tuple[float, float]) -> "Sample":
        """Draw groups whose accuracies have these slopes."""
        n = self.groups
        clusters = np.arange(n) // self.cluster_size
        x = np.log10(self._draw_counts(random, clusters) + 0.5)
        answers = self._draw_answers(random, x)
        shared = 0.7 * random.normal(0, 1, n)
        if self.cluster_size > 1:
            shared = 0.7 * random.normal(0, 1, n)[clusters] + 0.2 * random.normal(0, 1, n)
        apart = shared + 0.5 * random.normal(0, 1, (2, n))
        spread = 0.04 * (1 + np.clip(x, 0, 4)) if self.grows else self.spread
        rates = (self._means(x, slopes) + spread * apart).clip(0.01, 0.99)
        return Sample(x, answers, self._draw_means(random, answers, rates), clusters)

    def true_slopes(self, slopes: tuple[float, float]) -> tuple[float, float]:
        """Return the slopes of the population: of a curve, those of the nearest line."""
        if not self.has_floor or slopes == NO_SLOPES:
            return slopes
        return _slopes_of_curve(self)

    def _means(self, x: Any, slopes: tuple[float, float]) -> Any:
        if not self.has_floor:
            return 0.4 + np.outer(slopes, x - 1)
        if slopes == NO_SLOPES:
            return np.full((2, x.size), 0.05)
        return np.stack([0.02 + top / (1 + np.exp(-2 * (x - 2.5))) for top in (0.5, 0.8)])

    def _draw_counts(self, random: np.random.Generator, clusters: Any) -> Any:
        n = clusters.size
        if self.counts == "ciphers":
            return np.array(C4) if n == len(C4) else random.choice(C4, n, replace=n > len(C4))
        if self.counts == "ties":
            return random.choice([0, 0, 0, 1, 1, 2, 10], n)
        if self.counts == "far":
            return np.append(random.poisson(5, n - 1), 10**5)
        own = random.normal(0, 2.5, n)
        if self.cluster_size > 1:
            own = 0.8 * random.normal(0, 2.5, n)[clusters] + 0.6 * own
        return np.exp(3 + own).astype(int)

    def _draw_answers(self, random: np.random.Generator, x: Any) -> Any:
        answers = np.full(x.size, self.usual_answers)
        if self.answers == "dominant":
            answers[x.argmax()] *= 10
        elif self.answers == "scarce":
            answers[x.argmax()] = 1
        elif self.answers == "lognormal":
            drawn = self.usual_answers * np.exp(random.normal(0, 1, x.size))
            answers = np.maximum(drawn.astype(int), 1)
        return answers

    def _draw_means(self, random: np.random.Generator, answers: Any, rates: Any) -> Any:
        """Return the mean accuracies of both methods, some of whose luck is the same."""
        shape = (2, answers.size, int(answers.max()))
        is_there = np.arange(shape[2]) < answers[:, None]
        if self.is_graded:
            values = random.beta(2 * rates[:, :, None], 2 - 2 * rates[:, :, None], shape)
        else:
            luck, is_same = random.random(shape), random.random(shape[1:]) < 0.5
            values = np.where(is_same, luck[0], luck) < rates[:, :, None]
        return (values * is_there).sum(axis=2) / answers


@dataclass(frozen=True)
class Sample:
    """Groups that were drawn."""

    x: Any
    """Logarithms of counts."""
    answers: Any
    means: Any
    """Mean accuracies of two methods, shape (2, groups)."""
    clusters: Any


@cache
def _slopes_of_curve(population: Population) -> tuple[float, float]:
    random = np.random.default_rng(7)
    counts = population._draw_counts(random, np.arange(200_000))
    x = np.log10(counts + 0.5)
    first, second = (np.polyfit(x, means, 1)[0] for means in population._means(x, SLOPES))
    return float(first), float(second)


UNEQUAL = [
    Population("one group of 10 × the answers", answers="dominant"),
    Population("the same, counts of ciphers", counts="ciphers", answers="dominant"),
    Population("the same, 15 groups", groups=15, answers="dominant"),
    Population("the same, 100 groups", groups=100, answers="dominant"),
    Population("the group with the highest count has 1 answer", answers="scarce"),
    Population("lognormal answers", answers="lognormal"),
    Population("lognormal answers, 100 groups", groups=100, answers="lognormal"),
    Population("lognormal answers, counts of ciphers", counts="ciphers", answers="lognormal"),
    Population("spread grows with the count", grows=True),
    Population("spread grows, 100 groups", groups=100, grows=True),
    Population("spread grows, counts of ciphers", counts="ciphers", grows=True),
    Population("logistic floor, 15 groups", groups=15, spread=0.0, has_floor=True),
    Population("logistic floor, 25 groups", spread=0.02, has_floor=True),
    Population("counts with ties", counts="ties"),
    Population("one count far from the others", counts="far"),
    Population("one answer a group, 100 groups", groups=100, usual_answers=1, spread=0.0),
]
"""Populations in which something is unequal."""
CLUSTERED = [
    Population("20 clusters of 5 groups", groups=100, cluster_size=5),
    Population("8 clusters of 5 groups", groups=40, cluster_size=5),
    Population("50 clusters of 2 groups", groups=100, cluster_size=2),
]
"""Populations whose clusters of groups are independent, and groups are not."""
EQUAL = [
    Population("equal answers, 15 groups", groups=15),
    Population("equal answers, 25 groups"),
    Population("equal answers, 100 groups", groups=100),
    Population("one answer, 100 groups", groups=100, usual_answers=1),
]
"""Populations in which nothing is unequal."""
