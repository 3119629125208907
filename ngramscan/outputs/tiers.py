"""Check with recorded outputs whether a pattern is as specific to its method as its tier says.

The paper sets tiers by how much more frequent a pattern is in the outputs of its own method than in
those of other methods: T1 above 10 times, T2 0.7 to 1.7 times, T3 less than once. These leave a gap
(1.7 to 10) and overlap (0.7 to 1): in the gap a pattern has no tier, in the overlap it has both.
The paper does not say what "frequent" counts; here it is occurrences per output, or on request the
share of outputs that have the pattern.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ngramscan.messages import Text
from ngramscan.outputs.markers import LEVEL, REGEX_TIER, MarkerCounts, mark_outputs
from ngramscan.outputs.reading import OutputSet
from ngramscan.outputs.tokens import Booleans, Floats, Ints
from ngramscan.patterns.model import PatternSet
from ngramscan.rows import Label, Plot, row_kind
from ngramscan.statistics.estimates import Estimate, fields_of


@row_kind(
    "tiers",
    "Specificity of each pattern",
    Plot(
        "ratio",
        panel=("dataset", "model", "measure"),
        label=("method", "pattern"),
        scale="log",
        series="tier",
    ),
    key=("measure", "tier", "tier_by_ratio"),
)
@dataclass(frozen=True, slots=True)
class TierRow:
    """One row: a pattern in the outputs of its own method and of others."""

    dataset: Label
    model: Label
    method: Label
    pattern: Label
    outputs_own: int
    outputs_others: int
    with_pattern_own: int
    with_pattern_others: int
    occurrences_own: int
    occurrences_others: int
    measure: str
    """`occurrences`, or `outputs` with any."""
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
    interval_spans_tiers: bool | None
    """The interval reaches into other tiers."""
    clusters: int
    """Number of problems; outputs for the same one are not independent."""
    level: float
    note: str


@dataclass(slots=True)
class TierResult:
    """All rows, and notices on them."""

    rows: list[TierRow]
    notices: list[Text]


def run_tiers(
    outputs_read: OutputSet,
    patterns: PatternSet,
    measure: str = "occurrences",
    case_sensitive: bool = False,
) -> TierResult:
    """Compare how frequent each pattern is in outputs of its own method and of others.

    `measure` is `occurrences` per output, or the share of `outputs` with any. There are rows for
    each dataset and model, then pooled ones; none for regexes, which have no tier.
    """
    counts = mark_outputs(outputs_read, patterns, case_sensitive)
    rows = [
        _row(scope, part, number, measure)
        for scope, part in counts.scopes()
        for number, marker in enumerate(part.markers)
        if marker.tier != REGEX_TIER
    ]
    return TierResult(rows, [*outputs_read.notices, *counts.notices()])


def tier_of(ratio: float) -> str:
    """Return the tiers that a ratio belongs to, by the paper's thresholds."""
    if ratio >= 10:
        return "T1"
    if ratio > 1.7:
        return "-"
    if ratio >= 1:
        return "T2"
    return "T2/T3" if ratio >= 0.7 else "T3"


def rate_ratio(values: Ints, is_own: Booleans, clusters: Ints, level: float = LEVEL) -> Estimate:
    """Estimate how many times larger a mean is in some outputs than in the others.

    `values` are occurrences in each output, or 0 and 1; `clusters` are the problems. Where a sum is
    zero, a half is added to both. The interval is one of *t* on the log scale, from the linearised
    variance between problems. The variance is never less than with as many independent counts:
    outputs in which nothing occurs do not vary, and yet prove nothing.

    Sources: Cochran 1977, Sampling Techniques, chapter 6 (linearised variance of ratios); Walter
    1975, doi:10.1093/biomet/62.2.371 (halves).
    """
    from scipy.special import stdtrit

    sums = np.array([values[is_own].sum(), values[~is_own].sum()], dtype=np.float64)
    sizes = np.array([is_own.sum(), (~is_own).sum()], dtype=np.float64)
    if not sizes.all():
        raise ValueError("outputs of both kinds are needed")
    means = (sums + 0.5) / sizes
    # What each output adds to the log of the ratio.
    side = np.where(is_own, 0, 1)
    parts = (values - (sums / sizes)[side]) / (means * sizes)[side] * (1 - 2 * side)
    _, numbers = np.unique(clusters, return_inverse=True)
    n_clusters = int(numbers.max()) + 1
    degrees = max(n_clusters - 1, 1)
    between = float((np.bincount(numbers, weights=parts) ** 2).sum()) * n_clusters / degrees
    binary = int(values.max()) <= 1
    least = float((1 / (sums + 0.5)).sum() - (1 / (sizes + 0.5)).sum() * binary)
    factor = math.exp(float(stdtrit(degrees, (1 + level) / 2)) * math.sqrt(max(between, least)))
    middle = _quotient(sums + 0.5, sizes)
    low, high = middle / factor, middle * factor
    if sums.all():
        value = _quotient(sums, sizes)
        return Estimate(value, min(low, value), max(high, value), level)
    return Estimate(middle, low, high, level, note="a half is added, since a sum is zero")


def _quotient(sums: Floats, sizes: Floats) -> float:
    """Return the first mean divided by the second.

    Products of counts are exact, so the quotient is rounded once: of 10 in 45 and 1 in 45 it is 10,
    and not just below this bound of a tier, as the quotient of the two means is.
    """
    return float((sums[0] * sizes[1]) / (sums[1] * sizes[0]))


def _row(scope: tuple[str, str], part: MarkerCounts, number: int, measure: str) -> TierRow:
    marker, counts_by_output = part.markers[number], part.counts[:, number]
    is_own, has = part.is_own(marker.method), (counts_by_output > 0).astype(np.int64)
    values = counts_by_output if measure == "occurrences" else has
    ratio, note = None, "no occurrence"
    if not is_own.any() or is_own.all():
        note = "no outputs of other methods" if is_own.any() else "no outputs of its method"
    elif values.any():
        ratio = rate_ratio(values, is_own, part.problems)
        note = ratio.note
    fields = fields_of("ratio", ratio)
    tiers = [tier_of(end) for end in fields.values() if end is not None]
    return TierRow(
        *scope,
        method=marker.method,
        pattern=marker.name,
        outputs_own=int(is_own.sum()),
        outputs_others=int((~is_own).sum()),
        with_pattern_own=int(has[is_own].sum()),
        with_pattern_others=int(has[~is_own].sum()),
        occurrences_own=int(counts_by_output[is_own].sum()),
        occurrences_others=int(counts_by_output[~is_own].sum()),
        measure=measure,
        rate_own=float(values[is_own].mean()) if is_own.any() else None,
        rate_others=float(values[~is_own].mean()) if not is_own.all() else None,
        **fields,
        tier=marker.tier,
        tier_by_ratio=tiers[0] if tiers else None,
        agrees=marker.tier in tiers[0].split("/") if tiers else None,
        interval_spans_tiers=tiers[1] != tiers[2] if tiers else None,
        clusters=np.unique(part.problems).size,
        level=LEVEL,
        note=note,
    )
