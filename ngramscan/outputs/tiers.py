"""Whether a pattern is as specific to its method as its tier says, read off recorded outputs.

The paper sets tiers by how much more frequent a pattern is in the outputs of its own method than in
those of other methods: T1 above 10 times, T2 0.7 to 1.7 times, T3 below once. These leave a gap
(1.7 to 10) and overlap (0.7 to 1): in the gap a pattern has no tier, in the overlap it has both.
What "frequent" counts, the paper does not say; here it is occurrences per output, or on request the
share of outputs that have the pattern.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ngramscan.outputs.blend import describe_unknown
from ngramscan.outputs.marker_counts import Marked, Numbers, Scope, mark, scopes
from ngramscan.outputs.markers import REGEX_TIER
from ngramscan.outputs.reading import OutputSet
from ngramscan.patterns.model import PatternSet
from ngramscan.statistics.estimates import Estimate

LEVEL = 0.95
MEASURES = ("occurrences", "outputs")
THRESHOLDS = (0.7, 1.0, 1.7, 10.0)
"""Where a ratio changes its tiers."""
NO_TIER = "-"


@dataclass(frozen=True, slots=True)
class TierRatio:
    """One row: a pattern in the outputs of its own method and of others."""

    dataset: str
    """`all`: pooled."""
    model: str
    method: str
    pattern: str
    outputs_own: int
    outputs_others: int
    with_pattern_own: int
    with_pattern_others: int
    occurrences_own: int
    occurrences_others: int
    measure: str
    """What the rates count: occurrences, or outputs with any."""
    rate_own: float | None
    """Per output."""
    rate_others: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    tier: str
    """The declared one."""
    tier_by_ratio: str | None
    """`T1`, `T2`, `T3`, `T2/T3` from 0.7 to below 1, `-` from 1.7 to 10."""
    agrees: bool | None
    """The ratio is one of the declared tier."""
    spans: bool | None
    """The interval has ratios of other tiers too."""
    clusters: int
    """Problems; outputs to the same one are not taken as independent."""
    level: float
    note: str


@dataclass(slots=True)
class Tiering:
    """All rows, and what is to be said about them."""

    rows: list[TierRatio] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def compare_tiers(
    found: OutputSet,
    patterns: PatternSet,
    measure: str = MEASURES[0],
    case_sensitive: bool = False,
) -> Tiering:
    """Compare how frequent each pattern is in outputs of its own method and of others.

    Parameters
    ----------
    found : OutputSet
        The outputs.
    patterns : PatternSet
        What to look for; regexes, which have no tier, are left out.
    measure : str
        One of `MEASURES`.
    case_sensitive : bool
        Upper and lower case differ.

    Returns
    -------
    Tiering
        Rows of each dataset and model, then pooled ones.
    """
    marked = mark(found, patterns, case_sensitive)
    tiering = Tiering(notices=[*found.notices, *describe_unknown(marked)])
    for scope in scopes(marked):
        tiering.rows += _rows(scope, measure)
    return tiering


def tier_of(ratio: float) -> str:
    """Return the tiers that a ratio is of, by the paper's thresholds."""
    if ratio >= 10:
        return "T1"
    if ratio > 1.7:
        return NO_TIER
    if ratio >= 1:
        return "T2"
    return "T2/T3" if ratio >= 0.7 else "T3"


def rate_ratio(
    values: NDArray[np.int64], own: NDArray[np.bool_], clusters: Numbers, level: float = LEVEL
) -> Estimate:
    """Estimate how many times larger a mean is in some outputs than in the others.

    Parameters
    ----------
    values : array of int, shape (n,)
        Occurrences in each output, or 0 and 1.
    own : array of bool, shape (n,)
        Which outputs the ratio is of; some, not all.
    clusters : array of int, shape (n,)
        Which problem an output answers.
    level : float
        Probability that the interval covers the ratio.

    Returns
    -------
    Estimate
        The ratio of the means; where a sum is zero, that with a half added to both. The interval is
        one of *t* on the log scale, from the linearised variance between problems, which is not
        taken smaller than that of as many independent counts: outputs in which nothing occurs do
        not vary, and yet are no proof.

    Raises
    ------
    ValueError
        One of the two has no outputs.

    Notes
    -----
    Sources: Cochran 1977, Sampling Techniques, chapter 6 (linearised variance of ratios); Walter
    1975, doi:10.1093/biomet/62.2.371 (halves).
    """
    from scipy.special import stdtrit

    sums = np.array([values[own].sum(), values[~own].sum()], dtype=np.float64)
    sizes = np.array([own.sum(), (~own).sum()], dtype=np.float64)
    if not sizes.all():
        raise ValueError("outputs of both kinds were expected")
    means = (sums + 0.5) / sizes
    # What each output adds to the log of the ratio.
    parts = np.where(
        own, (values - sums[0] / sizes[0]) / means[0] / sizes[0],
        -(values - sums[1] / sizes[1]) / means[1] / sizes[1],
    )  # fmt: skip
    _, numbers = np.unique(clusters, return_inverse=True)
    n_clusters = int(numbers.max()) + 1
    between = float((np.bincount(numbers, weights=parts) ** 2).sum())
    between *= n_clusters / max(n_clusters - 1, 1)
    binary = int(values.max()) <= 1
    least = float((1 / (sums + 0.5)).sum() - (1 / (sizes + 0.5)).sum() * binary)
    degrees = max(n_clusters - 1, 1)
    half_width = float(stdtrit(degrees, (1 + level) / 2)) * math.sqrt(max(between, least))
    middle = float(means[0] / means[1])
    low, high = middle * math.exp(-half_width), middle * math.exp(half_width)
    if sums.all():
        value = float((sums / sizes)[0] / (sums / sizes)[1])
        return Estimate(value, min(low, value), max(high, value), level)
    return Estimate(middle, low, high, level, "a half is added, since a sum is zero")


def _rows(scope: Scope, measure: str) -> Iterator[TierRatio]:
    marked = scope.marked
    for number, marker in enumerate(marked.markers):
        if marker.tier != REGEX_TIER:
            yield _row(scope, number, _is_own(marked, marker.method), measure)


def _is_own(marked: Marked, method: str) -> NDArray[np.bool_]:
    variants = set(marked.own_variants(method))
    return np.array([output.group.variant in variants for output in marked.outputs], dtype=bool)


def _row(scope: Scope, number: int, own: NDArray[np.bool_], measure: str) -> TierRatio:
    marked = scope.marked
    marker, found = marked.markers[number], marked.counts[:, number]
    has = (found > 0).astype(np.int64)
    values = found if measure == MEASURES[0] else has
    ratio = _ratio(values, own, marked.problems)
    by_ratio = None if ratio.low is None else tier_of(ratio.value)
    return TierRatio(
        dataset=scope.dataset,
        model=scope.model,
        method=marker.method,
        pattern=marker.name,
        outputs_own=int(own.sum()),
        outputs_others=int((~own).sum()),
        with_pattern_own=int(has[own].sum()),
        with_pattern_others=int(has[~own].sum()),
        occurrences_own=int(found[own].sum()),
        occurrences_others=int(found[~own].sum()),
        measure=measure,
        rate_own=float(values[own].mean()) if own.any() else None,
        rate_others=float(values[~own].mean()) if not own.all() else None,
        ratio=None if by_ratio is None else ratio.value,
        ratio_low=ratio.low,
        ratio_high=ratio.high,
        tier=marker.tier,
        tier_by_ratio=by_ratio,
        agrees=None if by_ratio is None else marker.tier in by_ratio.split("/"),
        spans=_spans(ratio),
        clusters=len(set(marked.problems.tolist())),
        level=LEVEL,
        note=ratio.note,
    )


def _ratio(values: Numbers, own: NDArray[np.bool_], clusters: Numbers) -> Estimate:
    if not own.any() or own.all():
        which = "of its method" if not own.any() else "of other methods"
        return Estimate(math.nan, None, None, LEVEL, f"no outputs {which}")
    if not values.any():
        return Estimate(math.nan, None, None, LEVEL, "no occurrence")
    return rate_ratio(values, own, clusters)


def _spans(ratio: Estimate) -> bool | None:
    if ratio.low is None or ratio.high is None:
        return None
    return tier_of(ratio.low) != tier_of(ratio.high) or any(
        ratio.low < threshold < ratio.high for threshold in THRESHOLDS
    )
