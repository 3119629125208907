"""Intervals are held against populations whose documents are known, and against scipy's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ngramscan.prevalence.estimators import (
    Bounds,
    Draws,
    coincidences,
    documents_of_draws,
    documents_of_union,
    is_without_replacement,
    mean_share,
    ratio_of_documents,
    required_draws,
)
from ngramscan.statistics.estimates import Estimate
from tests.populations import (
    CONSTANT,
    RARE_KINDS,
    VARIED,
    Drawn,
    Floats,
    Population,
    Shares,
    correlated_patterns,
    population,
    texts,
)

MANY = 10**9  # occurrences, of which no sample is a large part

# How many sets of draws: enough to see a mistake, or enough to see a hundredth.
ROUNDS = pytest.mark.parametrize(
    "sets",
    [
        pytest.param(300, id="300 sets"),
        pytest.param(20_000, id="20,000 sets", marks=pytest.mark.slow),
    ],
)


@dataclass(frozen=True, slots=True)
class Simulated:
    """What came of many sets of draws, relative to the true number."""

    values: Floats
    lows: Floats
    highs: Floats
    errors: Floats

    @classmethod
    def of(cls, bounds: Sequence[Bounds], truth: float) -> Simulated:
        rows = [(one.value, one.low, one.high, one.standard_error) for one in bounds]
        return cls(*(np.array(rows) / truth).T)

    @property
    def coverage(self) -> float:
        # Rounding of the last digit is no miss.
        return float(np.mean((self.lows <= 1 + 1e-9) & (self.highs >= 1 - 1e-9)))

    @property
    def half_width(self) -> float:
        return float((self.highs - self.lows).mean() / 2)

    def check_error(self) -> None:
        """The mean is the truth and the printed standard error the spread, up to chance."""
        spread = float(self.values.std())
        assert abs(self.values.mean() - 1) <= self.errors.mean()
        assert abs(self.values.mean() - 1) <= 3.5 * spread / math.sqrt(self.values.size) + 1e-9
        assert spread == pytest.approx(self.errors.mean(), rel=0.1, abs=1e-9)


def draws_of(shares: Sequence[tuple[float, float]], occurrences: int) -> Draws:
    """Return draws whose shares are all of one kind, each a lower and an upper bound."""
    lowest, highest = np.array(shares, dtype=np.float64).T
    return Draws(lowest, highest, occurrences)


def seen(documents: Sequence[int]) -> int:
    return len(set(documents))


def estimates(drawn: Drawn, shares: Floats, occurrences: int) -> Iterator[Bounds]:
    for documents, row in zip(drawn.documents.tolist(), shares, strict=True):
        yield documents_of_draws(Draws(row, row, occurrences), seen(documents))


def simulate(shape: str, n: int, sets: int, rule: str = "shares") -> Simulated:
    """Draw from a shape; `rule` is `shares` (one over the occurrences) or `first`."""
    documents = population(shape)
    drawn = documents.draw(np.random.default_rng(n), sets, n, repeats=True)
    found = estimates(drawn, getattr(drawn, rule), documents.occurrences)
    return Simulated.of(list(found), documents.documents)


# One pattern


def test_the_case_that_the_documentation_does_by_hand() -> None:
    shares = [1 / count for count in (1, 2, 2, 4, 4, 4, 8, 8)]
    bounds = documents_of_draws(draws_of([(share, share) for share in shares], 1000), 8)
    assert bounds.value == 1000 * 3 / 8
    assert bounds.standard_error == pytest.approx(1000 * stats.sem(shares))
    # Eight draws are few: as if three of eight had been a document's first.
    interval = stats.binomtest(3, 8).proportion_ci(0.95, "exact")
    assert bounds.low == pytest.approx(1000 * interval.low) == pytest.approx(85.2, abs=0.1)
    assert bounds.high == pytest.approx(1000 * interval.high) == pytest.approx(755.1, abs=0.1)
    # The last document is cut, and may or may not have an occurrence before the one that was drawn.
    cut = documents_of_draws(draws_of([(s, s) for s in shares[:-1]] + [(0, 1)], 1000), 8)
    assert (cut.lower.value, cut.value, cut.upper.value) == (359.375, 421.875, 484.375)
    assert cut.low == pytest.approx(77.5, abs=0.1)
    assert cut.high == pytest.approx(832.9, abs=0.1)


@pytest.mark.parametrize("n", [30, 100, 200, 1000])
@pytest.mark.parametrize("shape", [*VARIED, *RARE_KINDS])
@ROUNDS
def test_from_30_draws_on_the_interval_covers(shape: str, n: int, sets: int) -> None:
    # In fewer sets, chance alone makes a difference of 0.02.
    assert simulate(shape, n, sets).coverage >= (0.92 if sets > 1000 else 0.9)


@pytest.mark.parametrize("shape", VARIED)
def test_the_mean_estimate_is_the_truth_and_the_error_is_the_spread(shape: str) -> None:
    simulate(shape, 200, 1000).check_error()


@pytest.mark.parametrize(
    ("shape", "n", "cost"),
    [
        ("narrative-like", 30, 1.01),
        ("narrative-like", 200, 1.01),
        ("geometric, mean 5", 30, 1.30),
        ("geometric, mean 5", 200, 1.05),
        ("Poisson-gamma", 200, 1.07),
        ("Zipf", 200, 1.06),
        ("mixture", 200, 1.06),
        ("lognormal", 200, 1.14),
        ("geometric", 200, 1.28),
        ("geometric", 1000, 1.06),
    ],
)
def test_the_added_draw_costs_as_much_width_as_the_documentation_says(
    shape: str, n: int, cost: float
) -> None:
    documents = population(shape)
    drawn = documents.draw(np.random.default_rng(n), 200, n, repeats=True)
    widths, plain = [], []
    for bounds in estimates(drawn, drawn.shares, documents.occurrences):
        assert bounds.without_added_draw is not None
        widths.append(bounds.high - bounds.low)
        plain.append(bounds.without_added_draw.high - bounds.without_added_draw.low)
    assert np.mean(widths) <= cost * np.mean(plain)


Kinds = dict[int, int]
"""How many documents have how many occurrences."""


def exactly(kinds: Kinds, n: int) -> tuple[float, float, float, float]:
    """Return the coverage, mean estimate over truth, mean squared printed error, and variance.

    No simulation: every sample that n independent draws can give, with its probability.
    """
    counts = np.array(list(kinds))
    chances = counts * np.array(list(kinds.values()))
    truth, chances = sum(kinds.values()) / chances.sum(), chances / chances.sum()
    rows = []
    for bars in combinations(range(n + len(kinds) - 1), len(kinds) - 1):
        times = np.diff([-1, *bars, n + len(kinds) - 1]) - 1
        estimate, error = mean_share(np.repeat(1 / counts, times), MANY)
        assert estimate.low is not None
        assert estimate.high is not None
        holds = estimate.low <= truth * (1 + 1e-9) and truth <= estimate.high * (1 + 1e-9)
        rows.append((stats.multinomial.pmf(times, n, chances), holds, estimate.value, error**2))
    weights, holds, values, squares = np.array(rows).T
    assert weights.sum() == pytest.approx(1)
    return (
        float(weights @ holds),
        float(weights @ values) / truth,
        float(weights @ squares),
        float(weights @ (values - truth) ** 2),
    )


@pytest.mark.parametrize(
    ("kinds", "n"),
    [
        *[({1: 1, 200: 1}, n) for n in (30, 100, 200, 500)],
        *[({1: 9, 1000: 1}, n) for n in (30, 200)],
        *[({1: 1, 15: 1}, n) for n in (30, 200)],
        *[({1: 1, 2: 1}, n) for n in (30, 200)],
        ({1: 1, 15: 1, 200: 1}, 30),
        ({2: 10, 3: 10, 1000: 1}, 30),
        ({1: 1, 190: 1, 210: 1}, 30),
        ({1: 20, 14: 40, 16: 40}, 30),
    ],
)
def test_over_all_samples_of_few_kinds_the_estimate_is_right_and_the_interval_covers(
    kinds: Kinds, n: int
) -> None:
    coverage, mean, mean_square_error, variance = exactly(kinds, n)
    assert coverage >= 0.92
    assert mean == pytest.approx(1)
    assert mean_square_error == pytest.approx(variance)


def test_counts_that_are_all_the_same_but_for_a_few_are_the_worst_case() -> None:
    # Two draws of 200 are expected to show the few with one occurrence; none does in 12 % of
    # samples. docs/documents.md tells how much less than it says the interval covers then.
    assert exactly({15: 1000, 1: 150}, 200)[0] >= 0.99
    assert 0.86 <= exactly({15: 1000, 1: 162}, 200)[0] <= 0.9


@pytest.mark.parametrize("shape", CONSTANT)
def test_where_counts_do_not_vary_the_estimate_is_the_truth(shape: str) -> None:
    # Every draw says the same share, which is the mean, so no interval around it can miss. It still
    # has a width: 200 draws can't exclude that other documents are different.
    simulated = simulate(shape, 200, 100)
    assert simulated.values == pytest.approx(1)
    assert simulated.coverage == 1
    assert simulated.half_width > 0.005


@pytest.mark.parametrize("n", [30, 200, 500])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 15, 49])
def test_draws_that_are_all_the_same_have_the_interval_of_the_added_draw(
    count: int, n: int
) -> None:
    # A mean of equal shares may differ from them in the last digit; that is no variance.
    estimate, error = mean_share([1 / count] * n, MANY)
    effective = float(n)
    if count > 1:
        effective = korn_and_graubard(np.repeat(1 / count, n), 0.95)
    hits = effective / count
    assert estimate.low == pytest.approx(stats.beta.ppf(0.025, hits, effective - hits + 1))
    high = stats.beta.ppf(0.975, hits + 1, effective - hits) if count > 1 else 1
    assert estimate.high == pytest.approx(high)
    assert error == pytest.approx(0, abs=1e-12)


def test_an_interval_that_leans_on_the_added_draw_is_known() -> None:
    same = documents_of_draws(draws_of([(1 / 15, 1 / 15)] * 200, MANY), 1)
    assert same.leans_on_added_draw
    # A first of its document, or a document with a single occurrence, needs no added draw.
    assert not documents_of_draws(draws_of([(1, 1)] * 200, MANY), 1).leans_on_added_draw
    firsts = draws_of([(0, 0)] * 195 + [(1, 1)] * 5, MANY)
    assert not documents_of_draws(firsts, 1).leans_on_added_draw
    # Fewer than 30 draws have the guaranteed interval, which no added draw is in.
    few = documents_of_draws(draws_of([(1 / 15, 1 / 15)] * 29, MANY), 1)
    assert not few.leans_on_added_draw
    varied = documents_of_draws(draws_of([(1 / c, 1 / c) for c in range(1, 201)], MANY), 1)
    assert not varied.leans_on_added_draw
    assert documents_of_union([draws_of([(1 / 15, 1 / 15)] * 200, MANY)] * 2, 1).leans_on_added_draw
    ratio, inverse = ratio_of_documents(same, varied), ratio_of_documents(varied, same)
    assert ratio is not None
    assert inverse is not None
    assert ratio.leans_on_added_draw == inverse.leans_on_added_draw is False
    of_same = ratio_of_documents(same, same)
    assert of_same is not None
    assert of_same.leans_on_added_draw


@pytest.mark.parametrize("n", [30, 100, 199, 1000])
def test_no_interval_is_wider_than_the_guaranteed_one(n: int) -> None:
    random = np.random.default_rng(n)
    for _ in range(50):
        by_first = random.random(n) < random.random()
        shares = np.where(by_first, random.random(n) < 0.1, 1 / random.geometric(1 / 15, n))
        estimate, _ = mean_share(shares, MANY, 0.95, by_first)
        hits = shares.mean() * n
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low >= stats.beta.ppf(0.025, hits, n - hits + 1) * (1 - 1e-9)
        assert estimate.high <= stats.beta.ppf(0.975, hits + 1, n - hits) * (1 + 1e-9)


@pytest.mark.parametrize("shape", [*CONSTANT, *VARIED, *RARE_KINDS])
@ROUNDS
def test_the_interval_from_29_draws_is_the_guaranteed_one(shape: str, sets: int) -> None:
    simulated = simulate(shape, 29, sets)
    assert simulated.values.mean() == pytest.approx(1, abs=max(simulated.errors.mean(), 1e-9))
    assert simulated.coverage >= 0.95


@pytest.mark.parametrize("n", [30, 200])
@pytest.mark.parametrize("shape", [*CONSTANT, *VARIED, *RARE_KINDS])
def test_first_occurrences_have_a_binomial_interval(shape: str, n: int) -> None:
    simulated = simulate(shape, n, 300, "first")
    assert simulated.values.mean() == pytest.approx(1, abs=simulated.errors.mean() + 1e-9)
    assert simulated.coverage >= 0.92


@given(st.integers(1, 500), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_shares_of_0_and_1_have_the_interval_of_clopper_and_pearson(
    n: int, data: st.DataObject, level: float
) -> None:
    hits = data.draw(st.integers(0, n))
    estimate, error = mean_share([1] * hits + [0] * (n - hits), MANY, level)
    interval = stats.binomtest(hits, n).proportion_ci(level, "exact")
    assert estimate.low == pytest.approx(interval.low)
    assert estimate.high == pytest.approx(interval.high)
    assert (estimate.value, estimate.level) == (hits / n, level)
    assert error == pytest.approx(math.sqrt(hits * (n - hits) / max(n - 1, 1)) / n)


def korn_and_graubard(shares: Floats, level: float) -> float:
    """Return the effective number of draws, with the variance of one more, whose share is 1."""
    n, p, tail = shares.size, shares.mean(), (1 - level) / 2
    error = np.append(shares, 1).std(ddof=1) / math.sqrt(n)
    quantiles = stats.norm.ppf(1 - tail) / stats.t.ppf(1 - tail, n - 1)
    return float(max(n, p * (1 - p) / error**2 * quantiles**2))


@given(
    st.lists(st.integers(1, 1000), min_size=2, max_size=5, unique=True),
    st.integers(30, 600),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_from_30_draws_on_the_interval_is_that_of_korn_and_graubard_with_the_added_draw(
    counts: list[int], n: int, level: float
) -> None:
    shares = 1 / np.resize(counts, n)
    estimate, error = mean_share(shares, MANY, level)
    effective, tail = korn_and_graubard(shares, level), (1 - level) / 2
    hits = shares.mean() * effective
    assert estimate.low == pytest.approx(stats.beta.ppf(tail, hits, effective - hits + 1))
    assert estimate.high == pytest.approx(stats.beta.ppf(1 - tail, hits + 1, effective - hits))
    assert (estimate.value, error) == pytest.approx((shares.mean(), stats.sem(shares)))


@given(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=199))
def test_an_interval_holds_its_estimate_and_lies_within_0_and_1(shares: list[float]) -> None:
    estimate, error = mean_share(shares, MANY)
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert error >= 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=29), st.data())
def test_a_larger_share_moves_the_guaranteed_interval_up(
    shares: list[float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(shares) - 1))
    larger = list(shares)
    larger[place] = data.draw(st.floats(shares[place], 1))
    one, other = mean_share(shares, MANY)[0], mean_share(larger, MANY)[0]
    for less, more in ((one.low, other.low), (one.value, other.value), (one.high, other.high)):
        assert less is not None
        assert more is not None
        assert less <= more + 1e-9  # the quantiles of the beta distribution are not finer


@pytest.mark.parametrize("n", [5, 20, 29])
@pytest.mark.parametrize("shares", [(1, 1 / 2), (1, 1 / 15), (1, 1e-3), (1 / 2, 0), (0.99, 0)])
def test_the_guaranteed_interval_covers_for_any_mixture_of_two_shares(
    shares: tuple[float, float], n: int
) -> None:
    # No simulation: the draws with the one share are binomial.
    limits = [mean_share([shares[0]] * k + [shares[1]] * (n - k), MANY)[0] for k in range(n + 1)]
    low, high = np.array([(limit.low, limit.high) for limit in limits]).T
    for chance in np.linspace(0.004, 0.996, 125):
        truth = chance * shares[0] + (1 - chance) * shares[1]
        holds = (low <= truth + 1e-12) & (truth <= high + 1e-12)
        assert stats.binom.pmf(np.arange(n + 1), n, chance)[holds].sum() >= 0.95


@pytest.mark.parametrize("shares", [[], [0.5, 1.1], [-0.1]])
def test_shares_that_can_not_be_are_refused(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="each from 0 to 1"):
        mean_share(shares, MANY)


def test_there_are_no_fewer_documents_than_were_seen() -> None:
    draws = draws_of([(0.01, 0.01)] * 199, 5000)
    assert documents_of_draws(draws, 1).low < 190
    bounds = documents_of_draws(draws, 190)
    assert (bounds.low, bounds.value) == (190, 190)
    assert bounds.high >= 190


# Without replacement


def test_draws_are_without_replacement_from_a_twentieth_on() -> None:
    assert not is_without_replacement(200, 4000)
    assert is_without_replacement(200, 3999)
    assert is_without_replacement(200, 100)


SMALL = [("narrative-like", 1000, 200), ("geometric", 60, 200), ("lognormal", 60, 250)]
SMALL += [("Zipf", 300, 400), ("mixture", 200, 1000)]


def without_replacement(shape: str, n_documents: int, n: int, sets: int) -> Iterator[Simulated]:
    """Yield what comes of 1 over the occurrences, and of first occurrences; limits as in rows."""
    documents = population(shape, n_documents)
    drawn = documents.draw(np.random.default_rng(n), sets, n, repeats=False)
    for shares in (drawn.shares, drawn.first):
        found = list(estimates(drawn, shares, documents.occurrences))
        simulated = Simulated.of(found, n_documents)
        # Documents are whole, and so are the limits that are printed. Unrounded ones would say too
        # much where all but a few occurrences were drawn.
        lows = np.floor(simulated.lows * n_documents + 1e-9) / n_documents
        highs = np.ceil(simulated.highs * n_documents - 1e-9) / n_documents
        yield Simulated(simulated.values, lows, highs, simulated.errors)


@pytest.mark.parametrize(("shape", "n_documents", "n"), SMALL)
def test_without_replacement_the_interval_covers_and_is_narrower(
    shape: str, n_documents: int, n: int
) -> None:
    shares, first = without_replacement(shape, n_documents, n, 600)
    shares.check_error()
    assert 0.93 <= shares.coverage <= 0.999
    assert first.coverage >= 0.945
    documents = population(shape, n_documents)
    drawn = documents.draw(np.random.default_rng(n), 1, n, repeats=False).shares[0]
    few, _ = mean_share(drawn, documents.occurrences)
    many, _ = mean_share(drawn, MANY)
    assert few.value == many.value
    for limit, other in ((few.low, many.low), (few.high, many.high)):
        assert limit is not None
        assert other is not None
        gap = math.sqrt(1 - n / documents.occurrences)
        assert (limit - few.value) / (other - few.value) == pytest.approx(gap, rel=0.15)


@pytest.mark.parametrize("occurrences", [60, 220, 1000])
@pytest.mark.parametrize("left", [1, 2, 10, 30])
def test_where_few_occurrences_are_left_the_whole_numbers_still_cover(
    occurrences: int, left: int
) -> None:
    # No simulation: first occurrences among the draws are hypergeometric.
    n = occurrences - left
    limits = [mean_share([1] * k + [0] * (n - k), occurrences)[0] for k in range(n + 1)]
    low, high = np.array([(limit.low, limit.high) for limit in limits]).T * occurrences
    low, high = np.floor(low + 1e-9), np.ceil(high - 1e-9)
    for documents in range(1, occurrences + 1, max(1, occurrences // 100)):
        holds = (low <= documents) & (documents <= high)
        chances = stats.hypergeom.pmf(np.arange(n + 1), occurrences, documents, n)
        assert chances[holds].sum() >= 0.95


@pytest.mark.parametrize("shape", VARIED)
def test_all_occurrences_give_the_documents_themselves(shape: str) -> None:
    documents = population(shape, 50)
    total = documents.occurrences
    drawn = documents.at(np.arange(total))
    for shares in (drawn.shares, drawn.first):
        share, error = mean_share(shares, total)
        assert error == 0
        assert share.low == share.high == share.value == pytest.approx(50 / total)
        bounds = documents_of_draws(Draws(shares, shares, total), seen(drawn.documents.tolist()))
        assert (bounds.low, bounds.value, bounds.high, bounds.standard_error) == (50, 50, 50, 0)


def test_all_occurrences_are_exact_even_where_documents_are_cut() -> None:
    # 30 occurrences, none of which shows whether it is the first of its document.
    bounds = documents_of_draws(draws_of([(0, 1)] * 30, 30), 7)
    assert (bounds.low, bounds.value, bounds.high) == (7, 7, 7)
    # More draws than occurrences: the caller asked for 200, and there are 30.
    assert documents_of_draws(draws_of([(1, 1)] * 40, 30), 7) == bounds


# Documents seen in part


HIDDEN = [pytest.param((3000, 18), id="half are cut"), pytest.param((12_000, 70), id="most are")]
RULES = ["first", "size_bias", "combined"]


def simulate_hidden(
    shares: Shares, n_documents: int, documents: np.ndarray, n: int = 200
) -> Simulated:
    random = np.random.default_rng(7)
    found = []
    for _ in range(600):
        drawn = random.integers(0, documents.size, n)
        by_first = None if shares.by_first is None else shares.by_first[drawn]
        draws = Draws(shares.lowest[drawn], shares.highest[drawn], documents.size, by_first)
        found.append(documents_of_draws(draws, seen(documents[drawn].tolist())))
    return Simulated.of(found, n_documents)


@pytest.mark.parametrize("size", HIDDEN)
@pytest.mark.parametrize("rule", RULES)
def test_the_truth_lies_between_the_two_bounds(size: tuple[int, int], rule: str) -> None:
    # Over all occurrences, without any chance in it.
    shown = texts(*size)
    shares: Shares = getattr(shown, rule)()
    assert shares.lowest.sum() <= shown.n_documents <= shares.highest.sum()
    assert (shares.lowest <= shares.highest).all()


@pytest.mark.parametrize("n", [30, 200])
@pytest.mark.parametrize("size", HIDDEN)
@pytest.mark.parametrize("rule", RULES)
def test_an_interval_covers_what_is_hidden_too(size: tuple[int, int], rule: str, n: int) -> None:
    shown = texts(*size)
    simulated = simulate_hidden(getattr(shown, rule)(), shown.n_documents, shown.documents, n)
    # The combined rule leaves next to nothing between its bounds that could make up for chance.
    assert simulated.coverage >= (0.93 if rule == "combined" else 0.95)
    assert (simulated.lows <= simulated.values).all()
    assert (simulated.values <= simulated.highs).all()


def test_one_over_what_is_seen_alone_misses_the_truth() -> None:
    shown = texts(12_000, 70)
    seen_only = shown.size_bias().highest
    ignoring = Shares(seen_only, seen_only)
    simulated = simulate_hidden(ignoring, shown.n_documents, shown.documents, 500)
    assert simulated.values.mean() > 1.5
    assert simulated.coverage < 0.05


def test_the_bounds_of_a_cut_document_are_carried_to_the_end() -> None:
    shares = [(0.25, 0.5)] * 150 + [(1, 1)] * 150
    bounds = documents_of_draws(draws_of(shares, 10_000), 300)
    lower = documents_of_draws(draws_of([(low, low) for low, _ in shares], 10_000), 300)
    upper = documents_of_draws(draws_of([(high, high) for _, high in shares], 10_000), 300)
    assert (lower.value, bounds.value, upper.value) == (6250, 6875, 7500)
    assert (bounds.low, bounds.high) == (lower.low, upper.high)
    assert bounds.standard_error == max(lower.standard_error, upper.standard_error)
    assert bounds.level == 0.95


def mixed_draws(n_shares: int, n_first: int, of_first: int) -> Draws:
    """Return draws by both rules, of which some are first occurrences."""
    shares = [(1 / (2 + n % 7), 1 / (2 + n % 7), False) for n in range(n_shares)]
    shares += [(float(n < of_first), float(n < of_first), True) for n in range(n_first)]
    return Draws.of(shares, MANY)


def test_each_rule_has_its_own_interval_where_draws_are_of_both() -> None:
    draws = mixed_draws(180, 120, 9)
    assert draws.by_first is not None
    estimate, error = mean_share(draws.lowest_shares, MANY, 0.95, draws.by_first)
    alone = [np.where(draws.by_first, 0, draws.lowest_shares)]
    alone += [np.where(draws.by_first, draws.lowest_shares, 0)]
    parts = [mean_share(shares, MANY)[0] for shares in alone]
    assert estimate.value == pytest.approx(sum(part.value for part in parts))
    below = math.hypot(*(part.value - (part.low or 0) for part in parts))
    above = math.hypot(*((part.high or 0) - part.value for part in parts))
    assert estimate.low == pytest.approx(estimate.value - below)
    assert estimate.high == pytest.approx(estimate.value + above)
    assert error == pytest.approx(stats.sem(draws.lowest_shares))


def test_first_occurrences_that_were_not_drawn_may_still_be_there() -> None:
    # 280 draws say nearly the same; 20 are in the middle of documents that are cut. Up to one draw
    # in a hundred could be the first of such a document, and that is more than the others say.
    shares = [(1 / (300 + n % 5), 1 / (300 + n % 5), False) for n in range(280)]
    draws = Draws.of(shares + [(0, 0, True)] * 20, MANY)
    of_both = documents_of_draws(draws, 1)
    of_one = documents_of_draws(Draws(draws.lowest_shares, draws.highest_shares, MANY), 1)
    assert of_both.without_added_draw is not None
    assert of_one.without_added_draw is not None
    assert of_both.value == of_one.value
    assert of_one.without_added_draw.high < 1.1 * of_one.value
    rare = MANY * stats.beta.ppf(0.975, 1, 300)
    assert of_both.high > of_both.without_added_draw.high > rare > 3 * of_both.value


def test_draws_of_both_rules_are_few_below_30() -> None:
    draws = mixed_draws(20, 9, 4)
    shares = draws.lowest_shares
    assert mean_share(shares, MANY, 0.95, draws.by_first) == mean_share(shares, MANY)


@pytest.mark.parametrize("by_first", [True, False])
def test_a_single_rule_needs_no_telling(by_first: bool) -> None:
    draws = mixed_draws(250, 0, 0)
    told = Draws.of([(share, share, by_first) for share in draws.lowest_shares], MANY)
    assert documents_of_draws(told, 1) == documents_of_draws(draws, 1)
    untold = Draws(draws.lowest_shares, draws.highest_shares, MANY)
    assert documents_of_draws(untold, 1) == documents_of_draws(draws, 1)
    assert documents_of_union([told], 1) == documents_of_union([untold], 1)


SHARE = st.tuples(st.floats(0, 1, allow_subnormal=False), st.floats(0, 1, allow_subnormal=False))


@given(
    st.lists(SHARE.map(lambda pair: (min(pair), max(pair))), min_size=1, max_size=199),
    st.integers(0, 199),
)
def test_an_estimate_lies_between_its_limits(shares: list[tuple[float, float]], more: int) -> None:
    draws = draws_of(shares, 1000 + more)
    for bounds in (documents_of_draws(draws, 1), documents_of_union([draws, draws], 1)):
        assert 1 <= bounds.low <= bounds.lower.value <= bounds.value * (1 + 1e-12)
        assert bounds.value <= bounds.upper.value * (1 + 1e-12)
        assert bounds.upper.value <= bounds.high
        assert bounds.standard_error >= 0
    assert documents_of_draws(draws, 1).high <= draws.occurrences * (1 + 1e-12)


# Several patterns


def simulate_union(n: int, sets: int, rule: str = "shares") -> Simulated:
    patterns = correlated_patterns()
    random = np.random.default_rng(n)
    drawn = [patterns.draw(random, pattern, sets, n) for pattern in range(3)]
    found = []
    for row in range(sets):
        draws = [
            Draws(getattr(one, rule)[row], getattr(one, rule)[row], total) for one, total in drawn
        ]
        documents = np.concatenate([one.documents[row] for one, _ in drawn])
        found.append(documents_of_union(draws, seen(documents.tolist())))
    return Simulated.of(found, patterns.documents)


@pytest.mark.parametrize("rule", ["shares", "first"])
@ROUNDS
def test_the_union_of_three_patterns_that_share_documents_is_covered(sets: int, rule: str) -> None:
    patterns = correlated_patterns()
    each = sum(patterns.of(pattern)[0].documents for pattern in range(3))
    assert 1.5 <= each / patterns.documents <= 1.6
    simulated = simulate_union(200, min(sets * 2, 10_000), rule)
    simulated.check_error()
    assert abs(simulated.values.mean() - 1) < 0.01
    assert 0.92 <= simulated.coverage <= 0.98


@pytest.mark.parametrize("rule", ["shares", "first"])
def test_the_union_is_covered_from_few_draws_too(rule: str) -> None:
    simulated = simulate_union(30, 300, rule)
    assert abs(simulated.values.mean() - 1) < 0.03
    assert simulated.coverage >= 0.93


def test_a_union_done_by_hand() -> None:
    one = draws_of([(0.5, 0.5)] * 2 + [(1, 1)] * 2, 100)
    other = draws_of([(0.25, 0.5), (1, 1)], 40)
    bounds = documents_of_union([one, other], 1)
    assert (bounds.lower.value, bounds.upper.value) == (75 + 25, 75 + 30)
    first, _ = mean_share(one.lowest_shares, 100)
    second, _ = mean_share(other.lowest_shares, 40)
    assert first.low is not None
    assert second.low is not None
    below = math.hypot(75 - 100 * first.low, 25 - 40 * second.low)
    assert bounds.low == pytest.approx(100 - below)
    errors = (mean_share(one.lowest_shares, 100)[1], mean_share(other.lowest_shares, 40)[1])
    assert bounds.standard_error == pytest.approx(math.hypot(100 * errors[0], 40 * errors[1]))


def test_a_pattern_whose_draws_do_not_vary_still_widens_the_union() -> None:
    varied = draws_of([(1 / count, 1 / count) for count in range(1, 301)], 50_000)
    constant = draws_of([(0.5, 0.5)] * 300, 50_000)
    alone = documents_of_union([varied], 1)
    both = documents_of_union([varied, constant], 1)
    assert both.high - both.value > 1.03 * (alone.high - alone.value)
    assert both.value - both.low > 1.03 * (alone.value - alone.low)
    assert both.standard_error == pytest.approx(alone.standard_error)


@pytest.mark.parametrize("n", [100, 300])
def test_a_union_of_one_pattern_is_that_pattern(n: int) -> None:
    drawn = population("geometric").draw(np.random.default_rng(1), 1, n, repeats=True)
    draws = Draws(drawn.shares[0] / 2, drawn.shares[0], 10**6)
    union, single = documents_of_union([draws], 50), documents_of_draws(draws, 50)
    for name in ("low", "value", "high", "standard_error", "level"):
        assert getattr(union, name) == pytest.approx(getattr(single, name))


def test_a_union_has_no_fewer_documents_than_were_seen() -> None:
    draws = draws_of([(0.01, 0.01)] * 199, 5000)
    bounds = documents_of_union([draws, draws], 380)
    assert (bounds.low, bounds.value) == (380, 380)


def test_a_pattern_that_was_read_whole_adds_no_uncertainty() -> None:
    whole = draws_of([(1, 1)] * 10 + [(0, 0)] * 30, 40)
    varied = draws_of([(1 / count, 1 / count) for count in range(1, 301)], 50_000)
    with_whole, alone = documents_of_union([varied, whole], 1), documents_of_union([varied], 1)
    assert with_whole.value == pytest.approx(alone.value + 10)
    assert with_whole.high - with_whole.low == pytest.approx(alone.high - alone.low)


# Ratios


def bounds_of(low: float, value: float, high: float) -> Bounds:
    estimate = Estimate(value, low, high, 0.95)
    return Bounds(estimate, estimate)


@pytest.mark.parametrize(
    "shapes",
    [("geometric", "lognormal"), ("Zipf", "mixture"), ("always 15", RARE_KINDS[1])],
)
@pytest.mark.parametrize("rule", ["shares", "first"])
@pytest.mark.parametrize("n", [30, 200])
def test_the_interval_of_a_ratio_covers_the_ratio(
    shapes: tuple[str, str], rule: str, n: int
) -> None:
    random = np.random.default_rng(11)
    both = []
    for shape in shapes:
        documents = population(shape)
        drawn = documents.draw(random, 400, n, repeats=True)
        both.append(list(estimates(drawn, getattr(drawn, rule), documents.occurrences)))
    ratios = [ratio_of_documents(one, other) for one, other in zip(*both, strict=True)]
    simulated = Simulated.of([ratio for ratio in ratios if ratio is not None], 1)
    assert simulated.values.size == 400
    assert simulated.coverage >= 0.93


def test_a_ratio_done_by_hand() -> None:
    # One is off by a factor of 2 either way, the other by 3: e to the root of ln²2 + ln²3.
    ratio = ratio_of_documents(bounds_of(50, 100, 200), bounds_of(10, 30, 90))
    assert ratio is not None
    factor = math.exp(math.hypot(math.log(2), math.log(3)))
    assert ratio.value == pytest.approx(100 / 30)
    assert ratio.low == pytest.approx(100 / 30 / factor)
    assert ratio.high == pytest.approx(100 / 30 * factor)


def test_what_is_hidden_widens_a_ratio_on_its_own_side() -> None:
    exact = bounds_of(10, 10, 10)
    hidden = Bounds(Estimate(20, 20, 20, 0.95), Estimate(40, 40, 40, 0.95))
    ratio, inverse = ratio_of_documents(hidden, exact), ratio_of_documents(exact, hidden)
    assert ratio is not None
    assert inverse is not None
    assert (ratio.low, ratio.value, ratio.high) == (2, 3, 4)
    assert (inverse.low, inverse.high) == (0.25, 0.5)


def test_a_ratio_has_no_upper_limit_where_the_other_may_be_none() -> None:
    ratio = ratio_of_documents(bounds_of(50, 100, 200), bounds_of(0, 3, 9))
    assert ratio is not None
    assert ratio.high == math.inf
    assert 0 < ratio.low < ratio.value < ratio.high
    from_zero = ratio_of_documents(bounds_of(0, 100, 200), bounds_of(10, 30, 90))
    assert from_zero is not None
    assert from_zero.low == 0


def test_there_is_no_ratio_to_none() -> None:
    none, some = bounds_of(0, 0, 5), bounds_of(10, 30, 90)
    assert ratio_of_documents(some, none) is None
    assert ratio_of_documents(none, none) is None


# Planning


def pilots(shape: str, sets: int) -> Iterator[Draws]:
    documents = population(shape)
    drawn = documents.draw(np.random.default_rng(13), sets, 100, repeats=True)
    for row in drawn.shares:
        yield Draws(row, row, documents.occurrences)


@pytest.mark.parametrize(
    ("shape", "half_width"),
    [
        ("geometric", 0.1),
        ("lognormal", 0.1),
        ("lognormal", 0.25),
        ("Zipf", 0.25),
        ("mixture", 0.25),
    ],
)
def test_the_draws_that_a_pilot_asks_for_give_the_width(shape: str, half_width: float) -> None:
    documents, random = population(shape), np.random.default_rng(17)
    widths, covered = [], []
    for pilot in pilots(shape, 150):
        n = required_draws(pilot, half_width, 10**6)
        more = documents.draw(random, 1, n - 100, repeats=True).shares[0]
        shares = np.concatenate([pilot.lowest_shares, more])
        bounds = documents_of_draws(Draws(shares, shares, documents.occurrences), 1)
        widths.append((bounds.high - bounds.low) / 2 / bounds.value)
        covered.append(bounds.low <= documents.documents <= bounds.high)
    assert np.median(widths) == pytest.approx(half_width, rel=0.15)
    # That the pilot decides how many follow, and is one of them, costs little coverage.
    assert np.mean(covered) >= 0.89


def test_where_30_draws_do_fewer_do_not() -> None:
    # From 30 on the interval uses the variance, which makes it narrower for these documents.
    pilot = draws_of([(1 / 4, 1 / 4), (1 / 5, 1 / 5)] * 5, MANY)
    assert required_draws(pilot, 0.4, 10**6) == 30


def test_the_number_is_the_first_that_suffices() -> None:
    pilot = draws_of([(0.5, 0.5)] * 50 + [(1, 1)] * 50, MANY)
    n = required_draws(pilot, 0.02, 10**6)

    def half_width(k: int) -> float:
        # The mean of the pilot and, but for a few in a thousand, its deviation.
        estimate, _ = mean_share(np.resize([0.5, 1], k), MANY)
        assert estimate.low is not None
        assert estimate.high is not None
        return (estimate.high - estimate.low) / 2 / estimate.value

    assert 900 < n < 1300
    assert half_width(n + 10) <= 0.02
    assert half_width(n - 20) > 0.02


def test_a_pilot_that_suffices_is_enough() -> None:
    assert {required_draws(pilot, 0.1, 10**6) for pilot in pilots("narrative-like", 20)} == {100}


def test_no_more_are_asked_for_than_allowed_or_than_there_are() -> None:
    pilot = next(pilots("mixture", 1))
    assert required_draws(pilot, 0.001, 777) == 777
    assert required_draws(pilot, 0.001, 150) == 150
    assert required_draws(pilot, 0.001, 50) == 50
    few = Draws(pilot.lowest_shares, pilot.highest_shares, 400)
    assert required_draws(few, 1e-9, 10**6) == 400
    assert required_draws(few, 0.1, 10**6) < 400


def test_what_is_hidden_can_not_be_drawn_away() -> None:
    pilot = draws_of([(0, 1)] * 50 + [(1, 1)] * 50, MANY)
    assert required_draws(pilot, 0.1, 5000) == 5000


def test_a_narrower_interval_needs_no_fewer_draws() -> None:
    for pilot in pilots("lognormal", 20):
        asked = [required_draws(pilot, width, 10**6) for width in (0.8, 0.4, 0.2, 0.1, 0.05)]
        assert all(one <= other for one, other in pairwise(asked))
        assert asked[0] >= 100


@pytest.mark.parametrize("shares", [[(1.0, 1.0)], [(0.5, 0.5)], [(0.0, 1.0)]])
def test_a_pilot_of_one_draw_asks_for_more(shares: list[tuple[float, float]]) -> None:
    # One draw has no variance, and a warning on stderr is no answer.
    assert 1 < required_draws(draws_of(shares, MANY), 0.1, 5000) <= 5000


# Repeated documents


def repeated(shape: str, n_documents: int, n: int, sets: int) -> tuple[float, float, float]:
    """Return mean K/U, how often the limit is right, and the mean limit over the truth."""
    documents = Population.of(population(shape).counts[:n_documents])
    drawn = documents.draw(np.random.default_rng(19), sets, n, repeats=True)
    found = [coincidences([str(one) for one in row]) for row in drawn.documents.tolist()]
    at_least = np.array([one.documents_at_least for one in found])
    ratios = np.mean([one.ratio for one in found])
    holds = (at_least <= n_documents).mean()
    return float(ratios), float(holds), float(at_least.mean()) / n_documents


def test_repeated_documents_can_not_tell_1_from_15() -> None:
    one, other = (repeated(shape, 100_000, 100, 500)[0] for shape in CONSTANT)
    assert one == pytest.approx(1, abs=0.002)
    assert other == pytest.approx(1, abs=0.002)


@pytest.mark.parametrize("n_documents", [300, 1000, 10_000])
@pytest.mark.parametrize("shape", [*CONSTANT, "geometric", "Zipf"])
def test_there_are_at_least_as_many_documents_as_repeats_say(shape: str, n_documents: int) -> None:
    _, holds, relative = repeated(shape, n_documents, 200, 500)
    assert holds >= 0.93
    # It says something where documents are as likely as each other, and little elsewhere.
    if shape in CONSTANT and n_documents <= 1000:
        assert relative > 0.5


def test_coincidences_done_by_hand() -> None:
    found = coincidences(["a", "b", "a", "c", "a", "b"])
    assert (found.draws, found.unique_documents, found.pairs) == (6, 3, 3 + 1)
    assert found.ratio == 2
    # 15 pairs of draws; no more than 9.15 coincidences were to be expected, at 95 %.
    most = stats.chi2.ppf(0.95, 2 * (4 + 1)) / 2
    assert most == pytest.approx(9.15, abs=0.01)
    assert found.documents_at_least == 3 > 15 / most
    none = coincidences([str(n) for n in range(100)])
    assert (none.pairs, none.ratio) == (0, 1)
    assert none.documents_at_least == pytest.approx(4950 / -math.log(0.05))
    assert coincidences(["a"]).documents_at_least == 1


@settings(max_examples=50)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_pairs_are_counted_as_brute_force_counts_them(documents: list[int]) -> None:
    found = coincidences([str(one) for one in documents])
    pairs = sum(one == other for i, one in enumerate(documents) for other in documents[:i])
    assert (found.pairs, found.unique_documents) == (pairs, len(set(documents)))
    assert found.documents_at_least >= found.unique_documents
