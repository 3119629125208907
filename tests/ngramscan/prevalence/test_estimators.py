"""Intervals are held against populations whose documents are known, and against scipy's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from ngramscan.prevalence.docnorm_totals import outward
from ngramscan.prevalence.estimators import (
    BoundedEstimate,
    Draws,
    documents_of_repeats,
    estimate_documents,
    is_without_replacement,
    mean_share,
    ratio_of_documents,
    required_draws,
)
from ngramscan.statistics.estimates import Estimate
from tests.support.sizes import sets, slow

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MANY = 10**9  # occurrences, of which no sample is a large part


def draws_of(*shares: float, occurrences: int = MANY, highest: Sequence[float] = ()) -> Draws:
    """Return draws whose shares are all of one kind."""
    lowest = np.array(shares, dtype=np.float64)
    return Draws(lowest, np.array(highest or shares, dtype=np.float64), occurrences)


def documents_of(draws: Draws, seen_documents: int = 1) -> BoundedEstimate:
    """Return the estimate from the draws of one pattern."""
    return estimate_documents([draws], seen_documents)


def seen(documents: Sequence[int]) -> int:
    return len(set(documents))


# One pattern


def korn_and_graubard(shares: Floats, level: float) -> float:
    """Return the effective number of draws, with the variance of one more, whose share is 1."""
    n, p, tail = shares.size, shares.mean(), (1 - level) / 2
    error = np.append(shares, 1).std(ddof=1) / math.sqrt(n)
    quantiles = stats.norm.ppf(1 - tail) / stats.t.ppf(1 - tail, n - 1)
    return float(max(n, p * (1 - p) / error**2 * quantiles**2))


def beta_limits(p: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the limits of Clopper and Pearson for p n hits of n."""
    tail, hits = (1 - level) / 2, p * n
    high = stats.beta.ppf(1 - tail, hits + 1, n - hits) if p < 1 else 1.0
    return stats.beta.ppf(tail, hits, n - hits + 1), high


@pytest.mark.parametrize("n", [30, 200, 500])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 15, 49])
def test_draws_that_are_all_the_same_have_the_interval_of_the_added_draw(
    count: int, n: int
) -> None:
    # A mean of equal shares may differ from them in the last digit; that is no variance.
    estimate, error = mean_share([1 / count] * n, MANY)
    effective = korn_and_graubard(np.repeat(1 / count, n), 0.95) if count > 1 else n
    assert estimate.limits == pytest.approx(beta_limits(1 / count, effective))
    assert error == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@settings(max_examples=20)
@given(st.lists(st.integers(1, 1000), min_size=2, max_size=5, unique=True), st.integers(30, 600))
def test_from_30_draws_on_the_interval_is_that_of_korn_and_graubard(
    level: float, counts: list[int], n: int
) -> None:
    shares = 1 / np.resize(counts, n)
    estimate, error = mean_share(shares, MANY, level)
    effective = korn_and_graubard(shares, level)
    assert estimate.limits == pytest.approx(beta_limits(shares.mean(), effective, level))
    assert (estimate.value, error) == pytest.approx((shares.mean(), stats.sem(shares)))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@settings(max_examples=20)
@given(st.integers(1, 500), st.data())
def test_shares_of_0_and_1_have_the_interval_of_clopper_and_pearson(
    level: float, n: int, data: st.DataObject
) -> None:
    hits = data.draw(st.integers(0, n))
    estimate, error = mean_share([1] * hits + [0] * (n - hits), MANY, level)
    interval = stats.binomtest(hits, n).proportion_ci(level, "exact")
    assert estimate.limits == pytest.approx((interval.low, interval.high))
    assert (estimate.value, estimate.level) == (hits / n, level)
    assert error == pytest.approx(math.sqrt(hits * (n - hits) / max(n - 1, 1)) / n)


@pytest.mark.parametrize("n", [30, 100, 199, 1000])
def test_no_interval_is_wider_than_the_guaranteed_one(n: int) -> None:
    random = np.random.default_rng(n)
    for _ in range(20):
        by_first = random.random(n) < random.random()
        shares = np.where(by_first, random.random(n) < 0.1, 1 / random.geometric(1 / 15, n))
        low, high = mean_share(shares, MANY, 0.95, by_first)[0].limits
        least, most = beta_limits(shares.mean(), n)
        assert low >= least * (1 - 1e-9)
        assert high <= most * (1 + 1e-9)


@pytest.mark.parametrize(("n", "occurrences"), [(200, 1000), (400, 900), (30, 40)])
def test_without_replacement_the_limits_are_nearer_by_what_was_drawn(
    n: int, occurrences: int
) -> None:
    """As if so many more draws, each worth as much, had been made."""
    shares = 1 / np.resize([1, 2, 5], n)
    estimate, error = mean_share(shares, occurrences)
    left = 1 - n / occurrences
    effective = korn_and_graubard(shares, 0.95) / left
    assert estimate.limits == pytest.approx(beta_limits(shares.mean(), effective))
    assert error == pytest.approx(stats.sem(shares) * math.sqrt(left))


def test_more_than_a_twentieth_is_drawn_without_replacement() -> None:
    assert is_without_replacement(100, 1999)
    assert not is_without_replacement(100, 2000)


# Draws by both rules


def mixed_draws(n_shares: int, n_first: int, of_first: int) -> Draws:
    """Return draws by both rules, of which some are first occurrences."""
    shares = [(1 / (2 + n % 7), 1 / (2 + n % 7), False) for n in range(n_shares)]
    shares += [(float(n < of_first), float(n < of_first), True) for n in range(n_first)]
    return Draws.of(shares, MANY)


def test_each_rule_has_its_own_interval_where_draws_are_of_both() -> None:
    draws = mixed_draws(180, 120, 9)
    assert draws.by_first is not None
    estimate, error = mean_share(draws.lowest, MANY, 0.95, draws.by_first)
    alone = [np.where(draws.by_first, 0, draws.lowest), np.where(draws.by_first, draws.lowest, 0)]
    parts = [mean_share(shares, MANY)[0] for shares in alone]
    assert estimate.value == pytest.approx(sum(part.value for part in parts))
    below = math.hypot(*(part.value - part.limits[0] for part in parts))
    above = math.hypot(*(part.limits[1] - part.value for part in parts))
    assert estimate.limits == pytest.approx((estimate.value - below, estimate.value + above))
    assert error == pytest.approx(stats.sem(draws.lowest))
    assert documents_of(draws).high == pytest.approx(MANY * estimate.limits[1])


def test_first_occurrences_that_were_not_drawn_may_still_be_there() -> None:
    # 280 draws say nearly the same; 20 are in the middle of documents that are cut. Up to one draw
    # in a hundred could be the first of such a document, and that is more than the others say.
    shares = [(1 / (300 + n % 5), 1 / (300 + n % 5), False) for n in range(280)]
    draws = Draws.of([*shares, *[(0.0, 0.0, True)] * 20], MANY)
    of_both, of_one = documents_of(draws), documents_of(Draws(draws.lowest, draws.highest, MANY))
    assert of_both.without_added_draw is not None
    assert of_one.without_added_draw is not None
    assert of_both.documents == of_one.documents
    assert of_one.without_added_draw.high < 1.1 * of_one.lower.value
    rare = MANY * stats.beta.ppf(0.975, 1, 300)
    assert of_both.high > of_both.without_added_draw.high > rare > 3 * of_both.lower.value


def test_below_30_draws_the_rule_does_not_matter() -> None:
    few = mixed_draws(20, 9, 4)
    assert mean_share(few.lowest, MANY, 0.95, few.by_first) == mean_share(few.lowest, MANY)


@pytest.mark.parametrize("by_first", [True, False])
def test_draws_by_a_single_rule_are_as_without_one(by_first: bool) -> None:
    shares = mixed_draws(250, 0, 0).lowest
    told = Draws.of([(share, share, by_first) for share in shares.tolist()], MANY)
    assert documents_of(told) == documents_of(Draws(shares, shares, MANY))


# The added draw


def leans(draws: Draws) -> bool:
    return documents_of(draws).leans_on_added_draw


@pytest.mark.parametrize(
    ("shares", "does_lean"),
    [
        pytest.param([1 / 15] * 200, True, id="all the same"),
        pytest.param([1] * 200, False, id="all alone in their documents"),
        pytest.param([0] * 195 + [1] * 5, False, id="some first occurrences"),
        pytest.param([1 / 15] * 29, False, id="too few for the added draw"),
        pytest.param([1 / count for count in range(1, 201)], False, id="varied"),
    ],
)
def test_an_interval_that_leans_on_the_added_draw_is_known(
    shares: list[float], does_lean: bool
) -> None:
    assert leans(draws_of(*shares)) == does_lean


@pytest.mark.parametrize(("count", "is_wider_than_twice"), [(8, False), (10, True), (15, True)])
def test_more_than_half_of_the_width_is_leaning(count: int, is_wider_than_twice: bool) -> None:
    shares = np.resize([1 / count, 1 / (3 * count)], 200)
    bounds = documents_of(draws_of(*shares))
    plain, _ = mean_share(shares, MANY, added_draw=False)
    low, high = plain.limits
    times = (bounds.high - bounds.low) / (MANY * (high - low))
    assert 1.8 < times < 3.5
    assert (times > 2) == is_wider_than_twice == bounds.leans_on_added_draw


def test_a_union_and_a_ratio_lean_if_their_parts_do() -> None:
    same, varied = draws_of(*[1 / 15] * 200), draws_of(*(1 / c for c in range(1, 201)))
    assert estimate_documents([same, same], 1).leans_on_added_draw
    ratios = {
        (first, second): ratio_of_documents(documents_of(one), documents_of(other))
        for first, one in (("same", same), ("varied", varied))
        for second, other in (("same", same), ("varied", varied))
    }
    assert {names for names, ratio in ratios.items() if ratio and ratio.leans_on_added_draw} == {
        ("same", "same")
    }


# All occurrences, and documents seen in part


def test_all_occurrences_give_the_documents_themselves() -> None:
    counts = np.array([1, 2, 5, 12])
    shares = 1 / np.repeat(counts, counts)
    share, error = mean_share(shares, 20)
    assert (share.low, share.high, error) == (share.value, share.value, 0)
    assert share.value == pytest.approx(4 / 20)
    bounds = documents_of(Draws(shares, shares, 20), 4)
    assert (bounds.low, bounds.documents, bounds.high, bounds.standard_error) == (4, 4, 4, 0)
    # 30 occurrences, none of which shows whether it is the first of its document.
    bounds = documents_of(draws_of(*[0] * 30, highest=[1] * 30, occurrences=30), 7)
    assert (bounds.low, bounds.documents, bounds.high) == (7, 7, 7)


def test_the_bounds_of_a_cut_document_are_carried_to_the_end() -> None:
    low, high = [0.25] * 150 + [1] * 150, [0.5] * 150 + [1] * 150
    bounds = documents_of(draws_of(*low, highest=high, occurrences=10_000), 300)
    lower, upper = (documents_of(draws_of(*one, occurrences=10_000), 300) for one in (low, high))
    assert (bounds.lower.value, bounds.documents, bounds.upper.value) == (6250, None, 7500)
    assert (lower.documents, upper.documents) == (6250, 7500)
    assert (bounds.low, bounds.high) == (lower.low, upper.high)
    assert bounds.standard_error == max(lower.standard_error, upper.standard_error)


def test_the_larger_standard_error_may_be_that_of_the_upper_estimate() -> None:
    low, high = [0.25] * 150 + [0.5] * 150, [0.25] * 150 + [1] * 150
    bounds = documents_of(draws_of(*low, highest=high, occurrences=10_000), 300)
    upper = documents_of(draws_of(*high, occurrences=10_000), 300)
    assert bounds.standard_error == upper.standard_error


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_documents_have_the_level_that_is_asked_for(level: float) -> None:
    shares = np.array([1 / count for count in (1, 2, 5) for _ in range(20)])
    bounds = estimate_documents([Draws(shares, shares, MANY)], 60, level)
    low, high = beta_limits(shares.mean(), korn_and_graubard(shares, level), level)
    assert (bounds.low, bounds.high) == pytest.approx((MANY * low, MANY * high))
    whole = estimate_documents([Draws(shares, shares, 60)], 7, level)
    assert bounds.lower.level == whole.lower.level == level


@pytest.mark.parametrize("shares", [[], [0.5, 1.1], [-0.1]], ids=["none", "above 1", "below 0"])
def test_shares_that_can_not_be_are_refused(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="each from 0 to 1"):
        mean_share(shares, MANY)


# Several patterns


def test_a_pattern_whose_draws_do_not_vary_still_widens_the_union() -> None:
    varied = draws_of(*(1 / count for count in range(1, 301)), occurrences=50_000)
    constant = draws_of(*[0.5] * 300, occurrences=50_000)
    alone, both = estimate_documents([varied], 1), estimate_documents([varied, constant], 1)
    assert both.high - both.upper.value > 1.03 * (alone.high - alone.upper.value)
    assert both.lower.value - both.low > 1.03 * (alone.lower.value - alone.low)
    assert both.standard_error == pytest.approx(alone.standard_error)
    # One that was read whole adds no uncertainty.
    with_whole = estimate_documents([varied, draws_of(*[1] * 10, *[0] * 30, occurrences=40)], 1)
    assert with_whole.lower.value == pytest.approx(alone.lower.value + 10)
    assert with_whole.high - with_whole.low == pytest.approx(alone.high - alone.low)


# Populations whose documents are known

SHAPES: dict[str, Callable[[np.random.Generator, int], Integers]] = {
    "alike": lambda random, n: random.geometric(1 / 1.08, n),
    "geometric": lambda random, n: random.geometric(1 / 5, n),
    "lognormal": lambda random, n: np.ceil(random.lognormal(0.5, 1, n)).astype(np.int64),
    "few are long": lambda random, n: np.where(
        random.random(n) < 0.9, 1, random.poisson(40, n) + 1
    ),
}
RULES = ["size-bias", "first", "cut"]


def shares_by(rule: str, counts: Integers) -> tuple[Floats, Floats]:
    """Return the least and the most that each occurrence tells of its document."""
    every = np.repeat(counts, counts)
    is_first = np.diff(np.repeat(np.arange(counts.size), counts), prepend=-1) > 0
    if rule == "first":
        return is_first.astype(float), is_first.astype(float)
    # What is cut shows six occurrences at most, and nothing tells how many there are.
    is_cut = (every > 6) & (rule == "cut")
    return np.where(is_cut, 0, 1 / every), 1 / np.where(is_cut, 6, every)


def check_coverage(found: Sequence[BoundedEstimate], truth: int) -> None:
    least, most = truth * (1 - 1e-9), truth * (1 + 1e-9)
    hits = [estimate.low <= most and least <= estimate.high for estimate in found]
    assert np.mean(hits) >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / len(hits))
    lower = np.array([estimate.lower.value for estimate in found])
    upper = np.array([estimate.upper.value for estimate in found])
    error = 3.5 * upper.std() / math.sqrt(upper.size) + 1e-9 * truth
    assert lower.mean() - error <= truth <= upper.mean() + error


@pytest.mark.parametrize(
    ("documents", "n"), [(60_000, 30), (60_000, 200), (150, 120), slow(600, 200)]
)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_cover_documents_drawn_with_and_without_replacement(
    shape: str, rule: str, documents: int, n: int
) -> None:
    random = np.random.default_rng(n)
    counts = SHAPES[shape](random, documents)
    low, high = shares_by(rule, counts)
    owners, total, found = np.repeat(np.arange(documents), counts), low.size, []
    for _ in range(sets(60)):
        drawn = (
            random.choice(total, n, replace=False)
            if total < 9999
            else random.integers(total, size=n)
        )
        draws = Draws(low[drawn], high[drawn], total)
        found.append(estimate_documents([draws], np.unique(owners[drawn]).size))
    check_coverage(found, documents)
    if rule == "size-bias" and shape != "alike":
        spread = np.std([estimate.lower.value for estimate in found])
        errors = [estimate.standard_error for estimate in found]
        assert spread == pytest.approx(np.mean(errors), rel=0.25)


@pytest.mark.parametrize("rule", ["size-bias", "first"])
def test_unions_of_patterns_that_share_documents_are_covered(rule: str) -> None:
    random = np.random.default_rng(8)
    level = random.gamma(1, 1, (40_000, 1))
    counts = random.poisson(level * np.array([0.5, 1, 2]))
    together = counts.sum(axis=1)
    found, pools = [], []
    for own, before in zip(counts.T, np.cumsum(counts, axis=1).T - counts.T, strict=True):
        owners = np.repeat(np.arange(own.size), own)
        firsts = (np.diff(owners, prepend=-1) > 0) & (before[owners] == 0)
        shares: Floats = 1 / together[owners] if rule == "size-bias" else firsts.astype(float)
        pools.append((owners, shares))
    for _ in range(sets(80)):
        drawn = [random.integers(0, shares.size, 100) for _, shares in pools]
        pairs = list(zip(pools, drawn, strict=True))
        draws = [Draws(shares[at], shares[at], shares.size) for (_, shares), at in pairs]
        seen_documents = np.unique(np.concatenate([owners[at] for (owners, _), at in pairs]))
        found.append(estimate_documents(draws, seen_documents.size))
    check_coverage(found, int((together > 0).sum()))


@pytest.mark.parametrize(("occurrences", "left"), [*product((60, 220), (1, 2, 10, 30)), (10**9, 0)])
def test_guaranteed_intervals_cover_without_chance(occurrences: int, left: int) -> None:
    """Every number of hits, weighted with its probability; 29 draws of very many occurrences."""
    n = occurrences - left if left else 29
    limits = [mean_share([1] * k + [0] * (n - k), occurrences)[0].limits for k in range(n + 1)]
    low, high = np.array(limits).T * occurrences
    if left:
        documents = np.arange(1, occurrences + 1)[:, None]
        chances = stats.hypergeom.pmf(np.arange(n + 1), occurrences, documents, n)
    else:
        documents = occurrences // 250 * np.arange(1, 250)[:, None]
        chances = stats.binom.pmf(np.arange(n + 1), n, documents / occurrences)
    holds = (np.floor(low + 1e-9) <= documents) & (documents <= np.ceil(high - 1e-9))
    assert ((chances * holds).sum(axis=1) >= 0.95).all()


# Planning


def pilots(counts: Integers, n_sets: int) -> Iterator[Draws]:
    """Yield sets of 100 occurrences drawn from documents that have so many each."""
    shares = 1 / np.repeat(counts, counts)
    for row in np.random.default_rng(13).choice(shares, (n_sets, 100)):
        yield Draws(row, row, shares.size)


def test_where_30_draws_do_fewer_do_not() -> None:
    # From 30 on the interval uses the variance, which makes it narrower for these documents.
    assert required_draws(draws_of(*[1 / 4, 1 / 5] * 5), 0.4, 10**6) == 30


@pytest.mark.parametrize(
    ("shares", "half_width", "draws"),
    [
        pytest.param([1 / 4, 1 / 5] * 5, 0.744, 28, id="28"),
        pytest.param([1 / 4, 1 / 5] * 5, 0.73, 29, id="29, the last with the largest variance"),
        pytest.param([1 / 2] * 20, 0.384, 29, id="29 of equal shares"),
        pytest.param([1 / 4, 1 / 5] * 5, 0.24, 31, id="31, with their own variance"),
    ],
)
def test_the_number_beside_30_may_be_enough(
    shares: list[float], half_width: float, draws: int
) -> None:
    assert required_draws(draws_of(*shares), half_width, 10**6) == draws


def test_no_more_are_asked_for_than_needed_or_allowed_or_than_there_are() -> None:
    random = np.random.default_rng(20261121)
    alike, many = random.geometric(1 / 1.08, 100_000), random.poisson(150, 100_000).clip(1)
    assert {required_draws(pilot, 0.1, 10**6) for pilot in pilots(alike, 20)} == {100}
    kind = random.random(many.size)
    varied = np.where(
        kind < 0.7, 1, np.where(kind < 0.95, random.geometric(1 / 25, kind.size), many)
    )
    pilot = next(pilots(varied, 1))
    limits = [777, 150, 50]
    assert [required_draws(pilot, 0.001, most) for most in limits] == limits
    few = Draws(pilot.lowest, pilot.highest, 400)
    assert required_draws(few, 1e-9, 10**6) == 400
    assert required_draws(few, 0.1, 10**6) < 400
    # What is hidden can't be drawn away.
    hidden = draws_of(*[0] * 50, *[1] * 50, highest=[1] * 100)
    assert required_draws(hidden, 0.1, 5000) == 5000
    # One draw has no variance, and a warning on stderr is no answer.
    found = [
        required_draws(draws_of(low, highest=[high]), 0.1, 5000)
        for low, high in ((1, 1), (0.5, 0.5), (0, 1))
    ]
    assert not [n for n in found if not 1 < n <= 5000]


# Repeated documents


def test_repeats_done_by_hand() -> None:
    found = documents_of_repeats(["a", "b", "a", "c", "a", "b"], 1000)
    assert found.note.startswith("K/U = 6/3, 4 coinciding pairs")
    # 15 pairs of draws; no more than 9.15 coincidences were to be expected, at 95%.
    most = stats.chi2.ppf(0.95, 2 * (4 + 1)) / 2
    assert most == pytest.approx(9.15, abs=0.01)
    assert found.limits == (3, 1000)
    assert found.value == 1000 / 2
    assert 15 / most < 3
    none = documents_of_repeats([str(n) for n in range(100)], 1000)
    assert none.limits[0] == pytest.approx(4950 / -math.log(0.05))
    assert documents_of_repeats(["a"], 1000).limits[0] == 1


@settings(max_examples=25)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_pairs_are_counted_as_brute_force_counts_them(documents: list[int]) -> None:
    found = documents_of_repeats([str(number) for number in documents], 1000)
    pairs = sum(first == second for first, second in combinations(documents, 2))
    assert f"/{seen(documents)}, {pairs} coinciding pairs" in found.note
    assert found.limits[0] >= seen(documents)


def estimated(value: float, low: float, high: float) -> BoundedEstimate:
    estimate = Estimate(value, low, high, 0.95)
    return BoundedEstimate(estimate, estimate)


def test_limits_of_documents_are_rounded_outwards() -> None:
    assert outward(estimated(5.5, 3.9, 7.1)) == (3, 8)


def test_no_limit_is_above_the_documents_of_the_index() -> None:
    found = estimated(12, 11, 15).at_most(10)
    assert (found.value, found.low, found.high) == (10, 10, 10)
    assert estimated(5, 4, 15).at_most(10).low == 4


# Done by hand


def bounds_of(low: float, value: float, high: float) -> BoundedEstimate:
    estimate = Estimate(value, low, high, 0.95)
    return BoundedEstimate(estimate, estimate)


def test_eight_draws_done_by_hand() -> None:
    shares = [1 / count for count in (1, 2, 2, 4, 4, 4, 8, 8)]
    bounds = documents_of(draws_of(*shares, occurrences=1000), 8)
    assert bounds.documents == 1000 * 3 / 8
    assert bounds.standard_error == pytest.approx(1000 * stats.sem(shares))
    # Eight draws are few: as if three of eight had been a document's first.
    interval = stats.binomtest(3, 8).proportion_ci(0.95, "exact")
    assert bounds.low == pytest.approx(1000 * interval.low) == pytest.approx(85.2, abs=0.1)
    assert bounds.high == pytest.approx(1000 * interval.high) == pytest.approx(755.1, abs=0.1)
    # The last document is cut, and may or may not have an occurrence before the one that was drawn.
    open_ends = draws_of(*shares[:-1], 0, highest=[*shares[:-1], 1], occurrences=1000)
    cut = documents_of(open_ends, 8)
    assert (cut.lower.value, cut.documents, cut.upper.value) == (359.375, None, 484.375)
    assert (cut.low, cut.high) == pytest.approx((77.5, 832.9), abs=0.1)


def test_there_are_no_fewer_documents_than_were_seen() -> None:
    draws = draws_of(*[0.01] * 199, occurrences=5000)
    assert documents_of(draws).low < 190
    bounds = documents_of(draws, 190)
    assert (bounds.low, bounds.documents) == (190, 190)
    assert bounds.high >= 190
    union = estimate_documents([draws, draws], 380)
    assert (union.low, union.documents) == (380, 380)


def test_a_union_done_by_hand() -> None:
    exact = draws_of(0.5, 0.5, 1, 1, occurrences=100)
    bounded = draws_of(0.25, 1, highest=[0.5, 1], occurrences=40)
    bounds = estimate_documents([exact, bounded], 1)
    assert (bounds.lower.value, bounds.upper.value) == (75 + 25, 75 + 30)
    (first, error), (second, other_error) = (
        mean_share(exact.lowest, 100),
        mean_share(bounded.lowest, 40),
    )
    below = math.hypot(75 - 100 * first.limits[0], 25 - 40 * second.limits[0])
    assert bounds.low == pytest.approx(100 - below)
    assert bounds.standard_error == pytest.approx(math.hypot(100 * error, 40 * other_error))


def test_ratios_done_by_hand() -> None:
    # One is off by a factor of 2 either way, the other by 3: e to the root of ln²2 + ln²3.
    some = bounds_of(10, 30, 90)
    ratio = ratio_of_documents(bounds_of(50, 100, 200), some)
    assert ratio is not None
    factor = math.exp(math.hypot(math.log(2), math.log(3)))
    expected = (100 / 30 / factor, 100 / 30, 100 / 30 * factor)
    assert (ratio.low, ratio.documents, ratio.high) == pytest.approx(expected)
    # What is hidden widens a ratio on its own side.
    exact = bounds_of(10, 10, 10)
    hidden = BoundedEstimate(Estimate(20, 20, 20, 0.95), Estimate(40, 40, 40, 0.95))
    ratio, inverse = ratio_of_documents(hidden, exact), ratio_of_documents(exact, hidden)
    assert ratio is not None
    assert inverse is not None
    assert (ratio.low, ratio.documents, ratio.high) == (2, None, 4)
    assert (inverse.low, inverse.high) == (0.25, 0.5)
    # There is no upper limit where the other may be none, and no ratio where it is.
    ratio = ratio_of_documents(bounds_of(50, 100, 200), bounds_of(0, 3, 9))
    assert ratio is not None
    assert 0 < ratio.low < ratio.lower.value < ratio.high == math.inf
    ratio, none = ratio_of_documents(bounds_of(0, 100, 200), some), bounds_of(0, 0, 5)
    assert ratio is not None
    assert ratio.low == 0
    assert ratio_of_documents(some, none) is None
    assert ratio_of_documents(none, none) is None


def test_the_number_is_the_first_that_suffices() -> None:
    n = required_draws(draws_of(*[0.5] * 50, *[1] * 50), 0.02, 10**6)

    def half_width(k: int) -> float:
        # The mean of the pilot and, but for a few in a thousand, its deviation.
        estimate, _ = mean_share(np.resize([0.5, 1], k), MANY)
        low, high = estimate.limits
        return (high - low) / 2 / estimate.value

    assert 900 < n < 1300
    assert half_width(n + 10) <= 0.02
    assert half_width(n - 20) > 0.02


@pytest.mark.parametrize("half_width", [0.1, 0.25])
def test_the_draws_that_a_pilot_asks_for_give_the_width(half_width: float) -> None:
    random = np.random.default_rng(17)
    counts = random.geometric(1 / 15, 50_000)
    shares, widths, covered = 1 / np.repeat(counts, counts), [], []
    for pilot in pilots(counts, sets(40)):
        n = required_draws(pilot, half_width, 10**6)
        drawn = np.concatenate([pilot.lowest, random.choice(shares, n - 100)])
        bounds = documents_of(Draws(drawn, drawn, shares.size))
        widths.append((bounds.high - bounds.low) / 2 / bounds.lower.value)
        covered.append(bounds.low <= counts.size <= bounds.high)
    assert np.median(widths) == pytest.approx(half_width, rel=0.15)
    # That the pilot decides how many follow, and is one of them, costs little coverage.
    assert np.mean(covered) >= 0.92 - 2 * math.sqrt(0.92 * 0.08 / len(covered))
