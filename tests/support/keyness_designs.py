"""Outputs to problems in which it is known which words are more frequent on one side.

The occurrences of a word are Poisson with a rate that is proportional to the length of an output
and to a factor of the problem, the same for all outputs to it: 1, gamma of shape 1 or 0.2, or
a word that belongs to the topic of a few problems. The share of problems whose output has a word is
.02 to .4, uniform on the log scale.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, hypergeom

from ngramscan.outputs.keyness import adjusted
from ngramscan.outputs.presence import PresenceTest, Sides

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

Q = 0.05
WORDS = 300
FEWEST_OUTPUTS = 5
FACTORS = ("none", "gamma 1", "gamma 0.2", "topics")


@dataclass(frozen=True, slots=True)
class Design:
    """Problems and models on each side."""

    problems: tuple[int, int]
    models: tuple[int, int] = (1, 1)
    shared: bool = False
    """The side with fewer problems answers some of the other's."""

    def outputs(self) -> tuple[Flags, Ints]:
        """Return whether each output is the method's, and its problem; sorted by problem."""
        own, others = self.problems
        first = 0 if self.shared else own
        both = np.arange(own), np.arange(first, first + others)
        problems = np.concatenate(list(map(np.repeat, both, self.models)))
        is_own = np.arange(problems.size) < own * self.models[0]
        order = np.lexsort((~is_own, problems))
        return is_own[order], problems[order]


@dataclass(frozen=True, slots=True)
class Population:
    """Which words are used how."""

    factors: str = "none"
    planted: int = 30
    """So many of the first words are truly more frequent on the method's side."""
    effect: float = 4
    length_ratio: float = 1
    """Mean length of the method's outputs over that of the others'."""

    def draw(
        self, random: np.random.Generator, is_own: Flags, problems: Ints
    ) -> tuple[Ints, Floats]:
        """Return the occurrences of each word in each output, and the lengths of outputs."""
        shares = np.exp(random.uniform(np.log(0.02), np.log(0.4), WORDS))[:, None]
        rates = self._rates(random, shares, int(problems.max()) + 1)[:, problems]
        rates[: self.planted] *= np.where(is_own, self.effect, 1.0)
        lengths = random.gamma(6, 1 / 6, is_own.size) * np.where(is_own, self.length_ratio, 1.0)
        return random.poisson(rates * lengths), lengths

    def _rates(self, random: np.random.Generator, shares: Floats, problems: int) -> Floats:
        shape = (WORDS, problems)
        if self.factors == "topics":
            return np.where(random.random(shape) < shares, 2.0, 0.01)
        rates = np.broadcast_to(-np.log1p(-shares), shape)
        if self.factors == "none":
            return rates.copy()
        spread = float(self.factors.removeprefix("gamma "))
        return rates * random.gamma(spread, 1 / spread, shape)


class Discoveries(NamedTuple):
    """Mean share of false discoveries with its standard error, and of planted words found."""

    false_share: float
    error: float
    power: float


def simulate(
    design: Design, population: Population, runs: int, seed: int = 1
) -> tuple[Discoveries, Discoveries]:
    """Return what the test of presence finds, and what Fisher's test of outputs finds."""
    random = np.random.default_rng(seed)
    is_own, problems = design.outputs()
    sides = Sides(is_own, problems)
    found: tuple[list[Flags], list[Flags]] = ([], [])
    for _ in range(runs):
        counts, lengths = population.draw(random, is_own, problems)
        tested = np.count_nonzero(counts, axis=1) >= FEWEST_OUTPUTS
        words, outputs = np.nonzero(counts[tested])
        starts = np.searchsorted(words, np.arange(tested.sum()))
        test = PresenceTest(sides, lengths)
        p = test.p_values(starts, outputs, counts[tested][words, outputs])
        q = adjusted(p), false_discovery_control(fisher(counts[tested] > 0, is_own))
        for side, values in zip(found, q, strict=True):
            discovered = np.zeros(WORDS, dtype=bool)
            discovered[tested] = values <= Q
            side.append(discovered)
    return summary(found[0], population), summary(found[1], population)


def fisher(presence: Flags, is_own: Flags) -> Floats:
    """Return p-values of Fisher's exact test, which takes outputs as independent."""
    own, every = presence[:, is_own].sum(axis=1), presence.sum(axis=1)
    p: Floats = np.minimum(hypergeom.sf(own - 1, is_own.size, every, is_own.sum()), 1.0)
    return p


def summary(found: list[Flags], population: Population) -> Discoveries:
    each = np.array(found)
    false = each[:, population.planted :].sum(axis=1) / np.maximum(each.sum(axis=1), 1)
    planted = each[:, : population.planted]
    power = float(planted.mean()) if population.planted else 0.0
    return Discoveries(float(false.mean()), float(false.std() / len(found) ** 0.5), power)
