"""`ngramscan tiers`: counts against brute force, ratios by hand, intervals by simulation."""

import math
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pytest
from scipy.stats import t

from ngramscan.outputs.tiers import TierResult, TierRow, rate_ratio, run_tiers
from ngramscan.patterns.files import parse_patterns
from tests.support.outputs import outputs_of
from tests.support.sizes import sets

PATTERNS = """
name: own
patterns:
  - {method: A, tier: T1, kind: narrative, text: alpha}
  - {method: A, tier: T2, kind: narrative, text: both}
  - {method: A, tier: T3, kind: narrative, text: never}
  - {method: B, tier: T3, kind: narrative, text: beta}
  - {method: C, tier: T1, kind: narrative, text: gamma}
regexes:
  - {method: A, name: r, regex: a}
"""
SET = parse_patterns(PATTERNS, "own.yaml")


def tiers_of(measure: str = "occurrences") -> TierResult:
    own: list[str | None] = [*["alpha alpha both"] * 20, *["Both"] * 5, None]
    others = ["both"] * 21 + ["beta"] * 4
    found = outputs_of({("d", "m", "a"): own, ("d", "m", "b"): others})
    return run_tiers(found, SET, measure)


def row_of(result: TierResult, pattern: str) -> TierRow:
    (row,) = [row for row in result.rows if row.pattern == pattern]
    return row


def test_a_pattern_only_in_its_own_outputs_has_a_ratio_with_halves() -> None:
    row = row_of(tiers_of(), "alpha")
    assert (row.occurrences_own, row.with_pattern_own, row.rate_own) == (40, 20, 1.6)
    assert row.ratio == pytest.approx(40.5 / 0.5)
    assert "a half is added" in row.note
    assert (row.tier_by_ratio, row.agrees, row.interval_spans_tiers) == ("T1", True, True)
    shares = row_of(tiers_of("outputs"), "alpha")
    assert (shares.rate_own, shares.ratio) == pytest.approx((0.8, 20.5 / 0.5))
    other = row_of(tiers_of(), "beta")
    assert (other.tier, other.tier_by_ratio, other.agrees) == ("T3", "-", False)


def test_without_anything_to_compare_there_is_no_ratio() -> None:
    notes = {"never": "no occurrence", "gamma": "no outputs of its method"}
    found = [row_of(tiers_of(), pattern) for pattern in notes]
    assert [row.note for row in found] == [*notes.values()]
    unknown = attrgetter("ratio", "ratio_low", "tier_by_ratio", "agrees", "interval_spans_tiers")
    assert [unknown(row) for row in found] == [(None,) * 5] * 2
    own = outputs_of({("d", "m", "a"): ["alpha"]})
    assert row_of(run_tiers(own, SET), "alpha").note == "no outputs of other methods"
    with pytest.raises(ValueError, match="both kinds"):
        rate_ratio(np.array([1, 2]), np.array([True, True]), np.array([0, 1]))


@pytest.mark.parametrize(
    ("own", "others", "tier"),
    [
        pytest.param((20, 200), (2, 200), "T1", id="10 is in T1"),
        pytest.param((10, 45), (1, 45), "T1", id="10 is in T1, though the means are rounded"),
        pytest.param((199, 200), (20, 200), "-", id="9.95 has no tier"),
        pytest.param((171, 200), (100, 200), "-", id="1.71 has no tier"),
        pytest.param((17, 200), (10, 200), "T2", id="1.7 is in T2"),
        pytest.param((5, 50), (3, 51), "T2", id="1.7 is in T2, though the means are rounded"),
        pytest.param((10, 200), (10, 200), "T2", id="1 is in T2 alone"),
        pytest.param((99, 200), (100, 200), "T2/T3", id="0.99 is in both"),
        pytest.param((7, 200), (10, 200), "T2/T3", id="0.7 is in both"),
        pytest.param((7, 147), (10, 147), "T2/T3", id="0.7 is in both, though means are rounded"),
        pytest.param((69, 200), (100, 200), "T3", id="0.69 is in T3"),
        # With halves: 0.5 in 20 against 4.5 in 126, and 9.5 in 190 against 0.5 in 100.
        pytest.param((0, 20), (4, 126), "T2/T3", id="0.7 with halves is in both"),
        pytest.param((9, 190), (0, 100), "T1", id="10 with halves is in T1"),
    ],
)
@pytest.mark.parametrize("measure", ["occurrences", "outputs"])
def test_a_ratio_at_a_bound_is_in_the_tier_that_is_documented(
    own: tuple[int, int], others: tuple[int, int], tier: str, measure: str
) -> None:
    """Some of the outputs of each method have the word once."""
    texts = {
        ("d", "m", method): ["both"] * n + ["none"] * (size - n)
        for method, (n, size) in (("a", own), ("b", others))
    }
    row = row_of(run_tiers(outputs_of(texts), SET, measure), "both")
    assert (row.occurrences_own, row.with_pattern_own, row.outputs_own) == (own[0], *own)
    found = row.occurrences_others, row.with_pattern_others, row.outputs_others
    assert found == (others[0], *others)
    assert row.rate_own == pytest.approx(own[0] / own[1])
    assert row.rate_others == pytest.approx(others[0] / others[1])
    half = Fraction(1, 2) if not own[0] * others[0] else 0
    ratio = (own[0] + half) / Fraction(own[1]) / ((others[0] + half) / Fraction(others[1]))
    assert row.ratio == float(ratio)
    assert row.tier_by_ratio == tier
    # The pattern is declared to be of T2.
    assert row.agrees == (tier in {"T2", "T2/T3"})


@pytest.mark.parametrize(
    ("pattern", "own", "others", "tier", "agrees"),
    [
        pytest.param("beta", 9, 10, "T2/T3", True, id="T3 is one of two tiers"),
        pytest.param("beta", 10, 10, "T2", False, id="T3 is none from 1"),
        pytest.param("alpha", 9, 10, "T2/T3", False, id="T1 is neither of two tiers"),
    ],
)
def test_a_pattern_in_an_overlap_agrees_with_both_tiers(
    pattern: str, own: int, others: int, tier: str, agrees: bool
) -> None:
    methods = ("b", "a") if pattern == "beta" else ("a", "b")
    numbers = dict(zip(methods, (own, others), strict=True))
    texts = {("d", "m", name): [pattern] * n + ["x"] * (40 - n) for name, n in numbers.items()}
    row = row_of(run_tiers(outputs_of(texts), SET), pattern)
    assert (row.tier_by_ratio, row.agrees) == (tier, agrees)


def test_clusters_are_problems_or_outputs_without_an_id() -> None:
    assert row_of(tiers_of(), "both").clusters == 25
    texts: dict[tuple[str, str, str], list[str | None]] = {
        ("d", "m", "a"): ["both"] * 25,
        ("d", "m", "b"): ["both"] * 25,
    }
    assert row_of(run_tiers(outputs_of(texts, ids=False), SET), "both").clusters == 50


def test_regexes_have_no_tier() -> None:
    assert [row.pattern for row in tiers_of().rows] == [p.text for p in SET.patterns]


@pytest.mark.parametrize(
    ("kind", "ratio"), [("independent", 0.8), ("clustered", 1.5), ("zero or one", 12.0)]
)
def test_the_interval_of_a_ratio_of_rates_covers_it(kind: str, ratio: float) -> None:
    random = np.random.default_rng(4)
    n, mean, runs = 150, 0.06, sets(300)
    is_own, problems = np.repeat([True, False], n), np.tile(np.arange(n), 2)
    hits = []
    for _ in range(runs):
        level = random.gamma(1, 1, n) if kind == "clustered" else np.ones(n)
        means = np.concatenate([level * mean * ratio, level * mean])
        drawn = random.random(2 * n) < means if kind == "zero or one" else random.poisson(means)
        found = rate_ratio(drawn.astype(np.int64), is_own, problems)
        hits.append((found.low or 99) <= ratio <= (found.high or 0))
    chance = 2.5 * (0.95 * 0.05 / runs) ** 0.5
    assert 0.94 - chance <= np.mean(hits) <= 0.97 + chance


def test_limits_of_a_ratio_are_those_done_by_hand() -> None:
    own, others = [3, 0, 1, 2, 0, 4], [1, 0, 0, 2, 1, 0]
    texts = {
        ("d", "m", method): [" ".join(["both"] * n) or "x" for n in numbers]
        for method, numbers in (("a", own), ("b", others))
    }
    row = row_of(run_tiers(outputs_of(texts), SET), "both")
    assert (row.dataset, row.model, row.method, row.tier) == ("d", "m", "A", "T2")
    assert (row.measure, row.level, row.clusters) == ("occurrences", 0.95, 6)
    assert row.ratio == pytest.approx(10 / 4)
    # What each problem adds to the logarithm of the ratio, with halves in the means.
    parts = [(k - 10 / 6) / 10.5 - (j - 4 / 6) / 4.5 for k, j in zip(own, others, strict=True)]
    variance = max(6 / 5 * sum(part**2 for part in parts), 1 / 10.5 + 1 / 4.5)
    factor = math.exp(t.ppf(0.975, 5) * math.sqrt(variance))
    assert row.ratio_low == pytest.approx(10.5 / 4.5 / factor)
    assert row.ratio_high == pytest.approx(10.5 / 4.5 * factor)
