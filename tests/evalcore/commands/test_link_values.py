"""`evalcore link`: each column of a row, by hand."""

import math
from dataclasses import fields, replace
from typing import Any

import pytest

import evalcore
from evalcore.commands.link import LinkRow, PatternCount
from evalcore.compare_rows import CompareRow, compare_methods
from evalcore.scores import ScoreRow
from ngramscan.reporting import to_frame

SCORES = [
    ScoreRow("d", "m", method, "1", None, "strict", value) for method, value in (("a", 0), ("b", 1))
]
COMPARED = replace(
    compare_methods(SCORES)[0][0],
    dataset="maths",
    model="small",
    rule="strict",
    group="prompt 2",
    difference=0.25,
    difference_low=0.125,
    difference_high=0.375,
    p=0.01,
    p_holm=0.03,
    p_bh=None,
    test="sign flips",
    n_problems=77,
    scale="graded",
    weight="item",
    right_from=0.6,
    family="of the paper",
    family_tests=3,
)
# By hand: with a half added, each count of b is three times one of a, 1.5 and 7.5.
COUNTS = [
    PatternCount("web", "a", "T1", "rare", 1, 40),
    PatternCount("web", "a", "T2", "often", 7, 60),
    PatternCount("web", "b", "T1", "rare", 4, 8),
    PatternCount("web", "b", "T2", "often", 22, 12),
]
# Both lists of logarithms vary by ln 5, so Welch's test has 2 degrees of freedom, for which the
# quantile of t has a closed form.
T_QUANTILE = 0.95 / math.sqrt(2 * 0.975 * 0.025)
HALF_WIDTH = T_QUANTILE * math.log(5) / math.sqrt(2)


def link(counts: list[PatternCount], compared: CompareRow, **options: Any) -> dict[str, Any]:
    tables = to_frame(counts, PatternCount), to_frame([compared], CompareRow)
    (found,) = evalcore.link(*tables, **options).to_dict("records")
    return {str(name): value for name, value in found.items()}


def reverse(row: CompareRow) -> CompareRow:
    """Return the same comparison with the methods in the other order."""
    return replace(
        row,
        baseline=row.treatment,
        treatment=row.baseline,
        difference=-0.25,
        difference_low=-0.375,
        difference_high=-0.125,
    )


AS_COMPARED = {
    "index": "web",
    "measure": "occurrences",
    "dataset": "maths",
    "model": "small",
    "rule": "strict",
    "p": 0.01,
    "p_adjusted": 0.03,
    "group": "prompt 2",
    "test": "sign flips",
    "n_problems": 77,
    "scale": "graded",
    "weight": "item",
    "right_from": 0.6,
    "family": "of the paper",
    "family_tests": 3,
}
B_TO_A = {
    "baseline": "a",
    "treatment": "b",
    "prevalence_ratio": 3.0,
    "prevalence_low": 3 * math.exp(-HALF_WIDTH),
    "prevalence_high": 3 * math.exp(HALF_WIDTH),
    "sum_ratio": 26 / 8,
    "difference": 0.25,
    "difference_low": 0.125,
    "difference_high": 0.375,
    "same_direction": True,
}
A_TO_B = {
    "baseline": "b",
    "treatment": "a",
    "prevalence_ratio": 1 / 3,
    "prevalence_low": math.exp(-HALF_WIDTH) / 3,
    "prevalence_high": math.exp(HALF_WIDTH) / 3,
    "sum_ratio": 8 / 26,
    "difference": -0.25,
    "difference_low": -0.375,
    "difference_high": -0.125,
    "same_direction": True,
}


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        pytest.param(COMPARED, B_TO_A, id="the treatment is more frequent and more accurate"),
        pytest.param(reverse(COMPARED), A_TO_B, id="the same methods in the other order"),
    ],
)
def test_each_column_of_a_link_is_treatment_to_baseline_as_by_hand(
    compared: CompareRow, expected: dict[str, Any]
) -> None:
    every = AS_COMPARED | expected
    assert {*every} == {field.name for field in fields(LinkRow)}
    found = link(COUNTS, compared)
    numbers = {name for name, value in every.items() if isinstance(value, float)}
    assert {name: found[name] for name in {*every} - numbers} == {
        name: every[name] for name in {*every} - numbers
    }
    assert {name: found[name] for name in numbers} == pytest.approx(
        {name: every[name] for name in numbers}
    )


def test_documents_are_linked_by_the_counts_of_documents() -> None:
    found = link(COUNTS, COMPARED, measure="documents")
    assert (found["measure"], found["sum_ratio"]) == ("documents", 20 / 100)
    by_hand = math.sqrt(8.5 * 12.5 / (40.5 * 60.5))
    assert found["prevalence_ratio"] == pytest.approx(by_hand)


def test_an_adjustment_by_benjamini_and_hochberg_is_the_adjusted_p() -> None:
    assert link(COUNTS, replace(COMPARED, p_holm=None, p_bh=0.02))["p_adjusted"] == 0.02


@pytest.mark.parametrize(
    ("of_a", "of_b", "difference", "expected"),
    [
        pytest.param([1], [9], 0.1, True, id="more frequent and more accurate"),
        pytest.param([9], [1], -0.1, True, id="rarer and less accurate"),
        pytest.param([1], [9], -0.1, False, id="more frequent and less accurate"),
        pytest.param([9], [1], 0.1, False, id="rarer and more accurate"),
        pytest.param([1], [9], 0.0, False, id="equally accurate"),
        pytest.param([5], [5], 0.1, False, id="equally frequent"),
        pytest.param([1, 1, 1, 1], [3], 0.1, True, id="patterns more frequent but fewer"),
        pytest.param([0, 0], [9], 0.1, True, id="the baseline never occurs"),
    ],
)
def test_the_direction_is_that_of_geometric_means_and_accuracy(
    of_a: list[int], of_b: list[int], difference: float, expected: bool
) -> None:
    counts = [
        PatternCount("web", method, "T1", f"{method} {place}", number)
        for method, numbers in (("a", of_a), ("b", of_b))
        for place, number in enumerate(numbers)
    ]
    found = link(counts, replace(COMPARED, difference=difference))
    assert found["same_direction"] is expected
    ratio = (sum(of_b) / sum(of_a)) if sum(of_a) else None
    assert found.get("sum_ratio") == ratio
