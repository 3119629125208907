"""The sentences about prevalence and accuracy: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import CLAIM, results_of, texts_of

LINKED_ROW: dict[str, Any] = {
    "index": "i",
    "measure": "occurrences",
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "baseline": "cot",
    "treatment": "pot",
    "difference": 0.05123,
    "difference_low": 0.010009,
    "difference_high": 0.09211,
    "p": 0.0041,
    "p_adjusted": 0.0123,
    "prevalence_ratio": 4.0,
    "prevalence_low": 2.5,
    "prevalence_high": 6.25,
}


def linked(**columns: Any) -> dict[str, Any]:
    return LINKED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [
                linked(p_adjusted=0.0246),
                linked(
                    index="j",
                    p_adjusted=0.0246,
                    prevalence_ratio=0.5,
                    prevalence_low=0.3,
                    prevalence_high=0.8,
                ),
                linked(
                    model="n",
                    difference=0.01,
                    difference_low=-0.041,
                    difference_high=0.06,
                    p_adjusted=1.0,
                    p_holm=1.0,
                ),
            ],
            [
                "The phrases of pot occur 4 [2.5, 6.25] times as often as those of cot in i"
                " and 0.5 [0.3, 0.8] times in j (ratio of geometric means).",
                "pot is more accurate than cot with m on d, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.025.",
                "No difference is shown between pot and cot with n on d, scored by r: 1.0 "
                "points [−4.1, 6.0], adjusted p = 1.",
                "Prevalence and accuracy in one row do not imply a link.",
                "Brackets enclose intervals.",
            ],
            id="prevalence and accuracy, a comparison in two indexes",
        ),
        pytest.param(
            [linked(p_adjusted=None)],
            [
                "The phrases of pot occur 4 [2.5, 6.25] times as often as those of cot in i"
                " (ratio of geometric means).",
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, 9.2].",
                "The p-value is not adjusted for the number of tests, so nothing is claimed.",
                "Prevalence and accuracy in one row do not imply a link.",
                "Brackets enclose intervals.",
            ],
            id="prevalence and accuracy of a file without adjusted p",
        ),
        pytest.param(
            [
                linked(
                    sum_ratio=None,
                    same_direction=True,
                    family="rule r, single models",
                    family_tests=2,
                    group="algebra",
                ),
                linked(
                    sum_ratio=None,
                    same_direction=True,
                    difference=-0.05123,
                    difference_low=-0.09211,
                    difference_high=-0.010009,
                    family="rule r, single models",
                    family_tests=2,
                    group="geometry",
                ),
            ],
            [
                "The phrases of pot occur 4 [2.5, 6.25] times as often as those of cot in i"
                " (ratio of geometric means).",
                "pot is more accurate than cot with m on d for algebra, scored by r: 5.1 "
                "points [1.0, 9.2], adjusted p = 0.012.",
                "pot is less accurate than cot with m on d for geometry, scored by r: −5.1 "
                "points [−9.2, −1.0], adjusted p = 0.012.",
                "Prevalence and accuracy have the same direction in 2 of 2 rows; that does "
                "not imply a link.",
                "Brackets enclose intervals.",
            ],
            id="opposite differences of two groups, linked",
        ),
        pytest.param(
            [
                linked(
                    sum_ratio=None,
                    same_direction=True,
                    family="rule r, single models",
                    family_tests=2,
                    scale="graded",
                    test="nonparametric tilting",
                    n_problems=100,
                ),
                linked(
                    index="j",
                    sum_ratio=None,
                    same_direction=True,
                    family="rule r, single models",
                    family_tests=2,
                    scale="graded",
                    test="nonparametric tilting",
                    n_problems=100,
                ),
            ],
            [
                "The phrases of pot occur 4 [2.5, 6.25] times as often as those of cot in i"
                " and 4 [2.5, 6.25] times in j (ratio of geometric means).",
                "pot has a higher mean score than cot with m on d, scored by r: 5.1 points "
                "[1.0, 9.2], adjusted p = 0.012, n = 100.",
                "Prevalence and accuracy have the same direction in 2 of 2 rows; that does "
                "not imply a link.",
                "Brackets enclose intervals.",
            ],
            id="a comparison of graded answers, linked in two indexes",
        ),
    ],
)
def test_links_say_ratios_and_differences(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Prevalence and accuracy of pairs of methods", rows)) == said


SLOPE_ROW: dict[str, Any] = {
    "counts": "prevalence",
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "method": "pot",
    "baseline": None,
    "groups": 25,
    "n": 2500,
    "slope": 0.26401,
    "slope_low": 0.055,
    "slope_high": 0.476,
    "p": 0.007,
    "p_adjusted": 0.014,
    "level": 0.95,
}


def slope(**columns: Any) -> dict[str, Any]:
    return SLOPE_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [
                slope(method="cot"),
                slope(slope=-0.1, slope_low=-0.2, slope_high=-0.05, p_adjusted=0.02),
                slope(
                    baseline="cot",
                    slope=-0.364,
                    slope_low=-0.5,
                    slope_high=-0.2,
                    p=0.001,
                    p_adjusted=0.003,
                ),
            ],
            [
                "Problems with ten times the count have higher mean scores than others, with"
                " m and cot on d, scored by r: 26.4 points [5.5, 47.6], adjusted p = 0.014,"
                " n = 25 groups.",
                "Problems with ten times the count have lower mean scores than others, with "
                "m and pot on d, scored by r: −10.0 points [−20.0, −5.0], adjusted p = "
                "0.020, n = 25 groups.",
                "The slope of pot is smaller than that of cot with m on d, scored by r: "
                "−36.4 points [−50.0, −20.0], adjusted p = 0.003, n = 25 groups.",
                "A slope is the difference in mean scores for ten times the count; it does "
                "not say why.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="slopes of two prompts",
        ),
        pytest.param(
            [slope(method="cot", slope_low=-0.428, p=0.001, p_adjusted=0.003)],
            [
                "No difference is shown between problems with ten times the count and "
                "others, with m and cot on d, scored by r: 26.4 points [−42.8, 47.6], "
                "adjusted p = 0.003, n = 25 groups; interval and test disagree: the "
                "interval includes 0, but p is at most 0.05.",
                "A slope is the difference in mean scores for ten times the count; it does "
                "not say why.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a slope whose interval includes 0",
        ),
        pytest.param(
            [slope(method="cot", p_adjusted=0.06)],
            [
                "No difference is shown between problems with ten times the count and "
                "others, with m and cot on d, scored by r: 26.4 points [5.5, 47.6], adjusted"
                " p = 0.060, n = 25 groups; the interval is not adjusted for the number of "
                "tests.",
                "A slope is the difference in mean scores for ten times the count; it does "
                "not say why.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a slope that only the unadjusted test shows",
        ),
        pytest.param(
            [
                slope(baseline="cot", slope_low=-0.1, p=0.3, p_adjusted=0.3),
                slope(
                    baseline="sc",
                    slope=0.1,
                    slope_low=0.05,
                    slope_high=0.2,
                    p=0.001,
                    p_adjusted=0.002,
                ),
            ],
            [
                "The slope of pot is greater than that of sc with m on d, scored by r: 10.0"
                " points [5.0, 20.0], adjusted p = 0.002, n = 25 groups.",
                "No difference is shown between the slope of pot and that of cot with m on "
                "d, scored by r: 26.4 points [−10.0, 47.6], adjusted p = 0.300, n = 25 "
                "groups.",
                "A slope is the difference in mean scores for ten times the count; it does "
                "not say why.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="slopes that are alike",
        ),
        pytest.param(
            [
                slope(role="placebo", counts="placebo", method="cot"),
                slope(role="placebo", counts="placebo", slope_low=-0.4),
            ],
            [
                "In 1 of 2 tests with placebo counts, which can't matter, a slope is shown, too.",
                "A slope is the difference in mean scores for ten times the count; it does "
                "not say why.",
            ],
            id="a placebo is no finding",
        ),
    ],
)
def test_slopes_are_claimed_and_placebos_are_not(
    rows: list[dict[str, Any]], said: list[str]
) -> None:
    assert texts_of(results_of("Accuracy per tenfold count", rows)) == said


ORDERED_ROW: dict[str, Any] = {
    "index": "i",
    "measure": "occurrences",
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "methods": 4,
    "tau": 0.667,
    "p": None,
}


def ordered(**columns: Any) -> dict[str, Any]:
    return ORDERED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [
                ordered(p=0.0417),
                ordered(index="j", tau=-0.333, p=0.75),
                ordered(index="k", tau=None),
            ],
            [
                "Kendall's tau of prevalence and accuracy of 4 methods with m on d in j, "
                "scored by r, is −0.333.",
                "Kendall's tau of prevalence and accuracy of 4 methods with m on d in i, "
                "scored by r, is 0.667.",
                "Tau could not be computed for 1 of 3 rows.",
                "The smallest p-value, adjusted for 2 tests (Bonferroni): p = 0.083.",
            ],
            id="ranks",
        ),
        pytest.param(
            [ordered(p=0.6), ordered(index="j", p=0.6)],
            [
                "Kendall's tau of prevalence and accuracy of 4 methods with m on d in i, "
                "scored by r, is 0.667.",
                "Kendall's tau of prevalence and accuracy of 4 methods with m on d in j, "
                "scored by r, is 0.667.",
                "The smallest p-value, adjusted for 2 tests (Bonferroni): p = 1.",
            ],
            id="ranks whose adjusted p-value is 1",
        ),
        pytest.param(
            [ordered()],
            [
                "Kendall's tau of prevalence and accuracy of 4 methods with m on d in i, "
                "scored by r, is 0.667."
            ],
            id="ranks that were not tested",
        ),
    ],
)
def test_orders_of_methods_are_said_with_tau(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Prevalence and accuracy, ranks of methods", rows)) == said


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("baseline", [None, "cot"])
def test_simulations_recognise_the_claim_of_a_slope(sign: int, baseline: str | None) -> None:
    ends = sorted([sign * 0.1, sign * 0.3])
    row = slope(baseline=baseline, slope=sign * 0.2, slope_low=ends[0], slope_high=ends[1])
    assert CLAIM.search(texts_of(results_of("Accuracy per tenfold count", [row]))[0])
    row |= {"p_adjusted": 0.9}
    assert not CLAIM.search(texts_of(results_of("Accuracy per tenfold count", [row]))[0])


def test_ratios_of_documents_are_called_so_and_further_ones_counted() -> None:
    rows = [
        linked(measure="documents", index=index, treatment=treatment)
        for treatment in ("pot", "f-1", "sc")
        for index in "ijklm"
    ]
    said = texts_of(results_of("Prevalence and accuracy of pairs of methods", rows))
    assert said[0] == (
        "The phrases of pot are in 4 [2.5, 6.25] times as many documents as those of cot in i, 4"
        " [2.5, 6.25] times in j, 4 [2.5, 6.25] times in k, 4 [2.5, 6.25] times in l and 1 other"
        " (ratio of geometric means)."
    )
    assert said[2] == "The table has one further pair of methods."
    assert sum("is more accurate" in text for text in said) == 3


def test_placebo_counts_without_a_slope_are_said_and_others_named() -> None:
    rows = [slope(role="placebo", slope_low=-0.1), slope(counts="topics without 13", role="also")]
    said = texts_of(results_of("Accuracy per tenfold count", rows))
    assert said[0].startswith(
        "Problems with ten times the count have higher mean scores than others, with m and pot on"
        " d, scored by r, by the counts topics, without “13”: 26.4 points"
    )
    assert said[1] == "No slope is shown in 1 test with placebo counts, which can't matter."


def test_the_extremes_of_many_orders_are_said() -> None:
    rows = [ordered(index=name, tau=place / 10, p=0.04) for place, name in enumerate("ijklm")]
    assert texts_of(results_of("Prevalence and accuracy, ranks of methods", rows)) == [
        "Kendall's tau of prevalence and accuracy of 4 methods with m on d in i, scored by r, is"
        " 0.",
        "Kendall's tau of prevalence and accuracy of 4 methods with m on d in m, scored by r, is"
        " 0.4.",
        "These are the smallest and the largest of 5 values.",
        "The smallest p-value, adjusted for 5 tests (Bonferroni): p = 0.200.",
    ]


def test_a_lone_order_has_its_p_value() -> None:
    (said,) = texts_of(results_of("Prevalence and accuracy, ranks of methods", [ordered(p=0.04)]))
    assert said.endswith(", scored by r, is 0.667 (p = 0.040).")
