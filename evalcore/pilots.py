"""How answers to the problems of a planned comparison vary: from a pilot, or from assumptions.

The variance of a problem's difference has two parts: problems differ, and so do repeated answers to
one problem. More answers to each reduce only the second part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evalcore.answer_table import Frame
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.planning import Design, McNemarDesign, TiltingDesign, normal_sample
from ngramscan.statistics.resampling import Floats
from ngramscan.statistics.two_samples import is_binary

_VALUES = ["value_baseline", "value_treatment"]


@dataclass(frozen=True, slots=True)
class Variation:
    """How the difference of two methods varies over problems, and over answers to one problem."""

    between: float
    """Variance of the problems' true differences; of single answers, if `within` is unknown."""
    within: float | None
    """Variance of the difference of two single answers around the problem's true difference. None:
    it is unknown, since each problem has one answer of each method."""
    discordance: float | None
    """Share of pairs of single answers with exactly one right. None: answers are graded."""
    deviations: Floats | None
    """Differences of the pilot's problems, minus their mean. None: taken as normal."""
    problems: int | None
    """Number of problems of the pilot."""
    epochs: int
    """Answers of each method to each problem of the pilot."""

    def variance(self, epochs: int) -> float:
        """Return the variance of a problem's difference; `epochs` answers of each method."""
        return self.between + (self.within or 0.0) / epochs


@dataclass(frozen=True, slots=True)
class AssumedClusters:
    """Clusters of problems, such as the questions about one text."""

    size: int = 1
    correlation: float = 0.0
    """Intraclass correlation of the problems' differences."""

    @property
    def variance_factor(self) -> float:
        """How much larger the variance of a mean is than with independent problems (Kish 1965)."""
        return 1 + (self.size - 1) * self.correlation


def make_design(variation: Variation, epochs: int, clusters: AssumedClusters) -> Design:
    """Return the design of a comparison; its units are clusters of problems.

    Single right and wrong answers to independent problems get McNemar's test, all others tilting.
    """
    is_single = epochs == 1 and clusters.size == 1
    if variation.discordance is not None and is_single:
        return McNemarDesign(variation.discordance)
    unit_variance = variation.variance(epochs) * clusters.variance_factor / clusters.size
    spread = math.sqrt(unit_variance)
    if variation.deviations is None:
        return TiltingDesign(normal_sample(spread))
    deviations = variation.deviations * (spread / variation.deviations.std(ddof=1))
    return TiltingDesign(BoundedMean(deviations.clip(-1, 1), -1, 1))


def measure_pilot(pairs: Frame) -> Variation | None:
    """Return how answers of a pilot vary; None: fewer than two problems, or no pair differs.

    `pairs` are those of `find_pairs` whose results are known. A missing answer is wrong. If one
    method has a single answer to each problem, only the first answers of the other count.
    """
    pairs = pairs.assign(**{name: pairs[name].fillna(0.0) for name in _VALUES})
    by_problem = [
        pairs.drop_duplicates(f"position_{side}").groupby("problem")[f"value_{side}"]
        for side in ("baseline", "treatment")
    ]
    counts = np.stack([grouped.count() for grouped in by_problem])
    is_repeated = (counts > 1).all(axis=0)
    if not is_repeated.any() and counts.max() > 1:
        return measure_pilot(pairs.drop_duplicates("problem"))
    baseline, treatment = (grouped.mean().to_numpy() for grouped in by_problem)
    differences = treatment - baseline
    if differences.size < 2 or not np.ptp(differences):
        return None
    between, within, epochs = float(differences.var(ddof=1)), None, 1
    if is_repeated.any():
        variances = np.stack([grouped.var(ddof=1) for grouped in by_problem])[:, is_repeated]
        noise = variances / counts[:, is_repeated]
        within, epochs = float(variances.sum(axis=0).mean()), round(float(counts.mean()))
        between = max(0.0, between - float(noise.sum(axis=0).mean()))
    values = pairs[_VALUES].to_numpy()
    discordant = baseline * (1 - treatment) + treatment * (1 - baseline)
    return Variation(
        between=between,
        within=within,
        discordance=float(discordant.mean()) if is_binary(values) else None,
        deviations=differences - differences.mean(),
        problems=differences.size,
        epochs=epochs,
    )


def assume_variation(
    accuracies: tuple[float, float], agreement: float | None, self_agreement: float | None
) -> Variation:
    """Return how right and wrong answers vary, given what is assumed about them.

    `agreement` is the share of problems on which both methods are right or both are wrong; None:
    as if they were independent. `self_agreement` is the same of two answers of one method.
    """
    baseline, treatment = accuracies
    discordance = baseline * (1 - treatment) + treatment * (1 - baseline)
    if agreement is not None:
        discordance = 1 - agreement
        _check_agreement(baseline, treatment, agreement)
    variance = discordance - (treatment - baseline) ** 2
    within = None
    if self_agreement is not None:
        within = 1 - self_agreement
        if round(within - variance, 9) > 0:
            problem = "a method can't agree with itself less than with another one"
            least = f"expected at least {1 - variance:.3g}"
            raise InputError(OptionUse("self_agreement", self_agreement), f"{problem}; {least}")
    return Variation(
        between=max(0.0, variance - (within or 0.0)),
        within=within,
        discordance=discordance,
        deviations=None,
        problems=None,
        epochs=1,
    )


def _check_agreement(baseline: float, treatment: float, agreement: float) -> None:
    least, most = abs(1 - baseline - treatment), 1 - abs(treatment - baseline)
    if not round(least, 9) <= round(agreement, 9) <= round(most, 9):
        problem = (
            f"expected {least:.3g} to {most:.3g} for accuracies of {baseline:g} and {treatment:g}"
        )
        raise InputError(OptionUse("agreement", agreement), problem)
