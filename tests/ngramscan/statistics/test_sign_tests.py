"""Tests of tossed signs, of ranks and of values, against enumeration and scipy."""

import itertools
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test, wilcoxon

from ngramscan.statistics.sign_tests import (
    Zeros,
    _drawn,
    _enumerated,
    mid_p_sign_flips,
    sign_flip_test,
    signed_rank_test,
)

RULES: tuple[Zeros, ...] = ("dropped", "pratt")
FEW_LEVELS = st.lists(st.integers(-3, 3), min_size=1, max_size=9)


def mid_ranks(values: list[int]) -> list[Fraction]:
    """Return the ranks of the sizes by counting who is smaller and who is as large."""
    sizes = [abs(value) for value in values]
    return [
        sum(other < size for other in sizes) + Fraction(sum(o == size for o in sizes) + 1, 2)
        for size in sizes
    ]


def share_as_far(terms: list[Fraction]) -> Fraction:
    """Return the share of all 2 to the n sign assignments with a sum as far from zero."""
    observed = abs(sum(terms, Fraction()))
    sums = [
        abs(sum((s * t for s, t in zip(signs, terms, strict=True)), Fraction()))
        for signs in itertools.product((1, -1), repeat=len(terms))
    ]
    return Fraction(sum(total >= observed for total in sums), len(sums))


@given(FEW_LEVELS, st.sampled_from(RULES))
@settings(max_examples=25)
def test_signed_ranks_are_all_sign_assignments(values: list[int], rule: Zeros) -> None:
    ranked = values if rule == "pratt" else [value for value in values if value]
    signed = [
        rank * (1 if value > 0 else -1)
        for value, rank in zip(ranked, mid_ranks(ranked), strict=True)
        if value
    ]
    found = signed_rank_test(values, rule)
    assert found.value == pytest.approx(float(share_as_far(signed)), rel=1e-10)
    assert (found.n, found.note) == (len(signed), "" if signed else "no pair differs")


@given(st.permutations(range(1, 61)), st.integers(0, 60), st.integers(1, 60))
@settings(max_examples=25)
def test_signed_ranks_without_ties_are_scipy_s(order: list[int], negative: int, n: int) -> None:
    values = [-v if place < negative else v for place, v in enumerate(order)][:n]
    theirs = wilcoxon(values, method="exact").pvalue
    assert signed_rank_test(values).value == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize(
    ("rule", "method", "near"), [("dropped", "wilcox", 1e-10), ("pratt", "pratt", 0.01)]
)
def test_many_differences_have_scipy_s_normal_approximation(
    rule: str, method: str, near: float
) -> None:
    values = np.random.default_rng(4).integers(-40, 44, 1300).astype(float)
    # scipy corrects the mean and variance of the ranks for zeros in its own way.
    how: Any = {"zero_method": method, "correction": True, "method": "approx"}
    found = signed_rank_test(values, cast("Zeros", rule))
    assert "normal approximation" in found.procedure
    assert found.value == pytest.approx(wilcoxon(values, **how).pvalue, rel=near)


def test_the_approximation_begins_where_it_is_close() -> None:
    values = np.random.default_rng(11).normal(0.05, 1, 1001)
    exact, approximate = signed_rank_test(values[:1000]), signed_rank_test(values)
    theirs = wilcoxon(values, method="exact").pvalue
    assert exact.procedure.startswith("exact")
    assert approximate.procedure.startswith("signed-rank, normal")
    assert approximate.value == pytest.approx(theirs, rel=5e-3)
    assert approximate.value > 0.02


def test_tests_of_nothing_or_of_gaps_are_refused() -> None:
    draw = np.random.default_rng(0)
    for values in ([], [float("nan")], [float("inf")]):
        with pytest.raises(ValueError, match="none missing"):
            signed_rank_test(values)
        with pytest.raises(ValueError, match="none missing"):
            sign_flip_test(values, draw)
    with pytest.raises(ValueError, match="'dropped' or 'pratt'"):
        signed_rank_test([1], cast("Any", "split"))
    with pytest.raises(ValueError, match="a draw"):
        sign_flip_test([1.0], draw, 0)


@given(FEW_LEVELS, st.sampled_from([1.0, 1 / 7, 0.05, 1e9, 1e-9]))
@settings(max_examples=25)
def test_sign_flips_are_all_sign_assignments(values: list[int], unit: float) -> None:
    terms = [Fraction(value) for value in values if value]
    found = sign_flip_test([value * unit for value in values], np.random.default_rng(0))
    assert found.value == pytest.approx(float(share_as_far(terms)), rel=1e-10)
    assert (found.procedure, found.standard_error) == ("exact sign flips", None)
    assert found.note == "" if terms else "no problem differs"
    enumerated = _enumerated(np.array(values, dtype=float)) if terms else 1.0
    assert enumerated == pytest.approx(found.value, rel=1e-10)


def test_values_without_a_unit_are_enumerated_as_scipy_does() -> None:
    values = np.random.default_rng(2).normal(0.5, 1, 11)
    theirs = permutation_test(
        [values], np.sum, permutation_type="samples", n_resamples=2**11, vectorized=True, axis=0
    )
    found = sign_flip_test(values, np.random.default_rng(0))
    assert found.value == pytest.approx(theirs.pvalue, rel=1e-10)
    assert found.procedure == "exact sign flips"
    assert sign_flip_test([1.0, 2.0, 1e-12], np.random.default_rng(0)).n == 2


def test_random_draws_come_close_to_the_exact_value() -> None:
    values = np.random.default_rng(6).integers(-5, 7, 40).astype(float)
    exact = sign_flip_test(1e-3 * values, np.random.default_rng(0))
    drawn = _drawn(values[values != 0], np.random.default_rng(1), 50_000)
    assert exact.standard_error is None
    assert drawn.standard_error is not None
    assert drawn.standard_error == pytest.approx(
        (exact.value * (1 - exact.value) / 5e4) ** 0.5, 0.1
    )
    assert abs(drawn.value - exact.value) < 4 * drawn.standard_error


@pytest.mark.parametrize(
    ("values", "p"),
    [
        pytest.param([1, 1, 1], 0.125, id="three gains, as McNemar's mid-p value"),
        pytest.param([1, 1, 1, -1], 0.375, id="a loss"),
        pytest.param([0.5, 0.25], 0.25, id="sizes differ"),
        pytest.param([0.3, 0.1, -0.2, 0, 0], 0.625, id="zeros do not count, and 0.1 + 0.2 is 0.3"),
        pytest.param([1, -1, 0], 1.0, id="a mean of zero"),
        pytest.param([0, 0], 1.0, id="no difference"),
    ],
)
def test_mid_p_values_of_sign_flips_count_ties_half(values: list[float], p: float) -> None:
    assert mid_p_sign_flips(values) == pytest.approx(p, abs=1e-12)


def test_mid_p_values_of_too_many_differences_are_refused() -> None:
    with pytest.raises(ValueError, match="21 sums differ from zero; at most 20 can"):
        mid_p_sign_flips(np.ones(21))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("values", "p"),
    [
        pytest.param([0, 0.4, 0, 0.1], 0.5, id="two gains"),
        pytest.param([1, 2, 3, 4, 5], 0.0625, id="five gains"),
        pytest.param([1, -1], 1.0, id="a gain and a loss"),
        pytest.param([7], 1.0, id="one gain"),
        pytest.param([1.0] * 24, 2 / 2**24, id="ties are never approximated"),
        pytest.param([3.0] * 1000, 2 / 2**1000, id="as many as are computed exactly"),
    ],
)
def test_signed_ranks_known_by_heart(values: list[float], p: float, rule: Zeros) -> None:
    found = signed_rank_test(values, rule)
    assert found.value == pytest.approx(p, rel=1e-12)
    assert found.procedure.startswith("exact signed-rank")


def test_rounding_errors_make_neither_a_difference_nor_break_a_tie() -> None:
    values = [0.3 - 0.2, 0.1 - 0.2, 0.1 + 0.2 - 0.3, 0.7 - 0.6]
    found = signed_rank_test(values)
    assert found == signed_rank_test([1, -1, 0, 1])
    assert sign_flip_test(values, np.random.default_rng(0)).value == found.value


def test_many_values_without_a_unit_are_drawn_and_never_zero() -> None:
    values = np.random.default_rng(3).normal(5, 1, 300)
    found = sign_flip_test(values, np.random.default_rng(5), 999)
    assert (found.value, found.n) == (1 / 1000, 300)
    assert found.procedure == "sign flips, 999 draws"
    assert found == sign_flip_test(values, np.random.default_rng(5), 999)


def test_a_value_far_smaller_than_the_others_is_not_taken_for_their_unit() -> None:
    found = sign_flip_test([1.0, 1.0, 1.0, 1e-7], np.random.default_rng(0))
    assert found.value == 2 / 16
