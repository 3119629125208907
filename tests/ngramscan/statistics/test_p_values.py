"""P-values of several tests, and what they say beside intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.p_values import ComputedPValue, benjamini_hochberg, disagreement, holm


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.5, 1.0])))
def test_holm_is_its_definition(p_values: list[float]) -> None:
    defined = [
        max(min(1.0, p * sum(q >= p for q in p_values)) for p in p_values if p <= own)
        for own in p_values
    ]
    *found, not_made = holm([*p_values, None])
    assert found == pytest.approx(defined)
    assert (not_made, holm([])) == (None, [])


@pytest.mark.parametrize(
    "p_values",
    [
        pytest.param([0.01, 0.04, 0.03, 0.005], id="four"),
        pytest.param([0.5, 0.9, 0.02, 0.02, 1.0, 0.0], id="ties, 0 and 1"),
        pytest.param([0.2], id="one"),
    ],
)
def test_benjamini_and_hochberg_is_its_definition(p_values: list[float]) -> None:
    n = len(p_values)
    defined = [
        min(n / sum(p <= least for p in p_values) * least for least in p_values if least >= own)
        for own in p_values
    ]
    *found, not_made = benjamini_hochberg([*p_values, None])
    assert found == pytest.approx(defined)
    assert found == pytest.approx([*multipletests(p_values, method="fdr_bh")[1]])
    assert (not_made, benjamini_hochberg([])) == (None, [])


def test_an_interval_and_a_test_disagree_if_only_one_excludes_zero() -> None:
    cases = ((0.0, 0.05), (0.01, 0.06), (0.01, 0.05))
    said = [
        disagreement(Estimate(0.1, low, 0.2, 0.95), ComputedPValue(p, "a test", 9))
        for low, p in cases
    ]
    told = "interval and test disagree: the interval"
    assert said == [
        f"{told} includes 0, but p is at most 0.05",
        f"{told} excludes 0, but p is above 0.05",
        "",
    ]
    assert disagreement(Estimate(0.1, None, None, 0.95), ComputedPValue(0.01, "a test", 9)) == ""


@pytest.mark.parametrize("p", [float("nan"), -0.1, 1.1])
def test_what_is_no_p_value_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        holm([0.2, p, 0.1])
