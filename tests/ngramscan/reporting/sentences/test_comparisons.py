"""The sentences about comparisons, averages and ranks of methods: rows and their exact text."""

from typing import Any

import pytest

from ngramscan.reporting.sentences.phrases import ordinal
from tests.support.report_sentences import CLAIM, results_of, texts_of
from tests.support.rows_of_results import compared


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [compared(p_holm=0.0246)],
            [
                "pot is more accurate than cot with m on d, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.025, n = 1,500.",
                "Brackets enclose intervals.",
            ],
            id="a difference that was shown",
        ),
        pytest.param(
            [
                compared(p_holm=0.0246),
                compared(
                    dataset="e",
                    difference=-0.2,
                    difference_low=-0.3,
                    difference_high=-0.1,
                    p_holm=1e-09,
                ),
                compared(
                    dataset="f",
                    difference=-0.25,
                    difference_low=-0.3,
                    difference_high=-0.1,
                    p_holm=1e-09,
                ),
            ],
            [
                "pot is more accurate than cot with m on d, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.025, n = 1,500.",
                "pot is less accurate than cot with m on f, scored by r: −25.0 points "
                "[−30.0, −10.0], adjusted p < 0.001, n = 1,500, the larger of two such "
                "differences.",
                "Brackets enclose intervals.",
            ],
            id="differences in both directions, the largest of each",
        ),
        pytest.param(
            [
                compared(difference=0.3, difference_low=0.2, difference_high=0.4, p_holm=0.0246),
                compared(
                    model="all", p_holm=0.0246, accuracy_baseline=0.1963, accuracy_treatment=0.2475
                ),
            ],
            [
                "pot is more accurate than cot with all models together on d, scored by r: "
                "24.8% against 19.6%, 5.1 points [1.0, 9.2], adjusted p = 0.025, 1,500 "
                "pairs of answers, one of two such differences.",
                "This page has 2 families of tests, so each has a level of 0.025: a "
                "difference is claimed if its adjusted p-value is at most that.",
                "Brackets enclose intervals.",
            ],
            id="all models together before the largest difference, and their accuracies",
        ),
        pytest.param(
            [compared(difference_low=0.0, p_holm=0.0246)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [0.0, 9.2], adjusted p = 0.025, n = 1,500; interval and test "
                "disagree: the interval includes 0, but p is at most 0.05.",
                "Brackets enclose intervals.",
            ],
            id="a difference whose interval has its limit at 0",
        ),
        pytest.param(
            [
                compared(
                    difference=-0.05123, difference_low=-0.09211, difference_high=0.0, p_holm=0.0246
                )
            ],
            [
                "No difference is shown between pot and cot with m on d, scored by r: −5.1 "
                "points [−9.2, 0.0], adjusted p = 0.025, n = 1,500; interval and test "
                "disagree: the interval includes 0, but p is at most 0.05.",
                "Brackets enclose intervals.",
            ],
            id="a difference below 0 whose interval has its limit at 0",
        ),
        pytest.param(
            [compared(difference_low=-0.0004, p_holm=0.0246)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [−0.04, 9.2], adjusted p = 0.025, n = 1,500; interval and test "
                "disagree: the interval includes 0, but p is at most 0.05.",
                "Brackets enclose intervals.",
            ],
            id="a difference whose interval includes 0 though p is small",
        ),
        pytest.param(
            [compared(p=0.06, p_holm=0.06)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, 9.2], adjusted p = 0.060, n = 1,500; interval and test "
                "disagree: the interval excludes 0, but p is above 0.05.",
                "Brackets enclose intervals.",
            ],
            id="a difference whose interval excludes 0 though p is not small",
        ),
        pytest.param(
            [compared(p_holm=0.050001)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, 9.2], adjusted p = 0.050, n = 1,500; the interval is not "
                "adjusted for the number of tests.",
                "Brackets enclose intervals.",
            ],
            id="a difference whose interval excludes 0, but not after adjusting",
        ),
        pytest.param(
            [compared(p_holm=0.05)],
            [
                "pot is more accurate than cot with m on d, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.050, n = 1,500.",
                "Brackets enclose intervals.",
            ],
            id="a difference whose p is exactly at the bound",
        ),
        pytest.param(
            [compared(difference_low=-0.01, p_holm=0.05)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [−1.0, 9.2], adjusted p = 0.050, n = 1,500; interval and test "
                "disagree: the interval includes 0, but p is at most 0.05.",
                "Brackets enclose intervals.",
            ],
            id="a difference whose p is exactly at the bound, its interval including 0",
        ),
        pytest.param(
            [compared(p=0.05, p_holm=0.1)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, 9.2], adjusted p = 0.100, n = 1,500; the interval is not "
                "adjusted for the number of tests.",
                "Brackets enclose intervals.",
            ],
            id="a difference whose p is at the bound, but not after adjusting",
        ),
        pytest.param(
            [compared(difference=0.01, difference_low=-0.041, difference_high=0.06, p_holm=1.0)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 1.0 "
                "points [−4.1, 6.0], adjusted p = 1, n = 1,500.",
                "Brackets enclose intervals.",
            ],
            id="a difference that neither shows",
        ),
        pytest.param(
            [compared(difference_low=None, difference_high=None, p_holm=1e-06)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points, n = 1,500.",
                "The difference has no interval.",
            ],
            id="a difference without an interval",
        ),
        pytest.param(
            [compared(difference_low=None, p_holm=0.0246)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [no limit, 9.2], n = 1,500.",
                "Brackets enclose intervals.",
            ],
            id="a difference without a lower limit",
        ),
        pytest.param(
            [compared(difference_high=None, p_holm=0.0246)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, no limit], n = 1,500.",
                "Brackets enclose intervals.",
            ],
            id="a difference without an upper limit",
        ),
        pytest.param(
            [compared(difference=0.0, difference_low=0.0, difference_high=0.0, p_holm=1.0)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 0.0 "
                "points, adjusted p = 1, n = 1,500."
            ],
            id="a difference that is exact",
        ),
        pytest.param(
            [
                compared(
                    difference=0.0, difference_low=0.0, difference_high=0.0, p=1.0, p_holm=1.0
                ),
                compared(
                    dataset="e",
                    difference=0.0,
                    difference_low=0.0,
                    difference_high=0.0,
                    p=1.0,
                    p_holm=1.0,
                ),
            ],
            ["No difference is shown in either of two comparisons."],
            id="several differences that are exact",
        ),
        pytest.param(
            [compared(difference_low=0.06, p_holm=0.0246)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [6.0, 9.2], adjusted p = 0.025, n = 1,500; the value is outside its"
                " interval.",
                "Brackets enclose intervals.",
            ],
            id="a difference outside its interval, in a damaged file",
        ),
        pytest.param(
            [compared(difference_low=0.06, p_holm=0.05)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [6.0, 9.2], adjusted p = 0.050, n = 1,500; the value is outside its"
                " interval.",
                "Brackets enclose intervals.",
            ],
            id="a difference outside its interval, its p exactly at the bound",
        ),
        pytest.param(
            [compared(p_holm=None)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, 9.2], n = 1,500.",
                "The p-value is not adjusted for the number of tests, so nothing is claimed.",
                "Brackets enclose intervals.",
            ],
            id="a difference without an adjusted p",
        ),
        pytest.param(
            [compared(p=None, p_holm=None)],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, 9.2], n = 1,500; it was not tested.",
                "Brackets enclose intervals.",
            ],
            id="a difference that was not tested",
        ),
        pytest.param(
            [
                compared(p_holm=0.0246),
                compared(
                    dataset="e",
                    difference=0.01,
                    difference_low=-0.041,
                    difference_high=0.06,
                    p_holm=1.0,
                    n_unknown=7,
                ),
            ],
            [
                "pot is more accurate than cot with m on d, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.025, n = 1,500.",
                "No difference is shown between pot and cot with m on e, scored by r: 1.0 "
                "points [−4.1, 6.0], adjusted p = 1, n = 1,500.",
                "Pairs with an unknown result are left out of 1 of 2 comparisons, at most 7 each.",
                "Brackets enclose intervals.",
            ],
            id="one difference of several",
        ),
        pytest.param(
            [
                compared(difference_low=None, difference_high=None, p_holm=0.0246),
                compared(dataset="e", difference_low=None, difference_high=None, p_holm=0.0246),
            ],
            [
                "No difference is shown in either of two comparisons.",
                "2 of 2 differences have no interval.",
            ],
            id="several differences without an interval",
        ),
        pytest.param(
            [compared(p_holm=None), compared(dataset="e", p_holm=None)],
            [
                "No difference is shown in either of two comparisons; the widest interval "
                "is that of pot against cot on d, scored by r: 5.1 points [1.0, 9.2], n = "
                "1,500.",
                "The p-values of 2 comparisons are not adjusted for the number of tests, so"
                " nothing is claimed.",
                "Brackets enclose intervals.",
            ],
            id="several differences without an adjusted p",
        ),
        pytest.param(
            [
                compared(p_holm=0.0246),
                compared(
                    dataset="e",
                    difference=None,
                    difference_low=None,
                    difference_high=None,
                    p=None,
                    p_holm=None,
                ),
            ],
            [
                "pot is more accurate than cot with m on d, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.025, n = 1,500.",
                "No difference could be computed for 1 of 2 rows.",
                "Brackets enclose intervals.",
            ],
            id="differences that are unknown",
        ),
        pytest.param(
            [
                compared(p_holm=0.0246),
                compared(rule="s", p_holm=0.4),
                compared(
                    model="all",
                    difference=0.01,
                    difference_low=-0.041,
                    difference_high=0.06,
                    p_holm=1.0,
                ),
            ],
            [
                "No difference is shown in any of 3 comparisons; for 1 of them, p is at most 0.05,"
                " but above this page's level of 0.0166; the widest interval with 0 is that of pot"
                " against cot with all models together, scored by r: 1.0 points [−4.1, 6.0],"
                " adjusted p = 1, 1,500 pairs of answers.",
                "This page has 3 families of tests, so each has a level of 0.0166: a "
                "difference is claimed if its adjusted p-value is at most that.",
                "Brackets enclose intervals.",
            ],
            id="differences by two rules and for all models",
        ),
        pytest.param(
            [compared(p_holm=0.0246, n_unknown=7), compared(rule="s", p_holm=0.03, n_unknown=3)],
            [
                "pot is more accurate than cot with m on d, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.025, n = 1,500.",
                "No difference is shown between pot and cot with m on d, scored by s: 5.1 "
                "points [1.0, 9.2], adjusted p = 0.030, n = 1,500; this page claims a "
                "difference if p is at most 0.025.",
                "Pairs with an unknown result are left out of 2 of 2 comparisons, at most 7 each.",
                "This page has 2 families of tests, so each has a level of 0.025: a "
                "difference is claimed if its adjusted p-value is at most that.",
                "Brackets enclose intervals.",
            ],
            id="differences by two rules, and unknown results",
        ),
        pytest.param(
            [
                compared(
                    n=100,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                    group="algebra",
                ),
                compared(
                    n=100,
                    difference=-0.05123,
                    difference_low=-0.09211,
                    difference_high=-0.010009,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                    group="geometry",
                ),
            ],
            [
                "pot is more accurate than cot with m on d for algebra, scored by r: 5.1 "
                "points [1.0, 9.2], adjusted p = 0.012, n = 100.",
                "pot is less accurate than cot with m on d for geometry, scored by r: −5.1 "
                "points [−9.2, −1.0], adjusted p = 0.012, n = 100.",
                "Brackets enclose intervals.",
            ],
            id="opposite differences of two groups",
        ),
        pytest.param(
            [
                compared(
                    n=100,
                    n_problems=100,
                    scale="graded",
                    test="nonparametric tilting",
                    family="rule r, single models",
                    family_tests=2,
                )
            ],
            [
                "pot has a higher mean score than cot with m on d, scored by r: 5.1 points "
                "[1.0, 9.2], adjusted p = 0.012, n = 100.",
                "Brackets enclose intervals.",
            ],
            id="graded answers have mean scores",
        ),
        pytest.param(
            [
                compared(
                    n=100,
                    difference=-0.05123,
                    difference_low=-0.09211,
                    difference_high=-0.010009,
                    n_problems=100,
                    scale="right or wrong",
                    test="nonparametric tilting",
                    family="rule r, single models",
                    family_tests=2,
                    weight="points",
                )
            ],
            [
                "pot has a lower mean score than cot with m on d, scored by r, weighted by "
                "points: −5.1 points [−9.2, −1.0], adjusted p = 0.012, n = 100.",
                "Brackets enclose intervals.",
            ],
            id="lower mean scores of weighted right and wrong answers",
        ),
        pytest.param(
            [
                compared(
                    n=100,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                    right_from=0.5,
                )
            ],
            [
                "pot is more accurate than cot with m on d, scored by r, right from 0.5: "
                "5.1 points [1.0, 9.2], adjusted p = 0.012, n = 100.",
                "Brackets enclose intervals.",
            ],
            id="graded answers that are right from a threshold on",
        ),
        pytest.param(
            [
                compared(
                    model="all",
                    n=300,
                    n_problems=100,
                    scale="right or wrong",
                    test="nonparametric tilting",
                    family="rule r, all models",
                    family_tests=1,
                )
            ],
            [
                "pot is more accurate than cot with all models together on d, scored by r: "
                "5.1 points [1.0, 9.2], adjusted p = 0.012, n = 100 problems (300 pairs of "
                "answers).",
                "Brackets enclose intervals.",
            ],
            id="a pooled row counts problems",
        ),
        pytest.param(
            [
                compared(
                    dataset="d0",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, dataset d0, single models",
                    family_tests=1,
                ),
                compared(
                    dataset="d1",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, dataset d1, single models",
                    family_tests=1,
                ),
                compared(
                    dataset="d2",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, dataset d2, single models",
                    family_tests=1,
                ),
                compared(
                    dataset="d3",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, dataset d3, single models",
                    family_tests=1,
                ),
                compared(
                    dataset="d4",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, dataset d4, single models",
                    family_tests=1,
                ),
                compared(
                    dataset="d5",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, dataset d5, single models",
                    family_tests=1,
                ),
            ],
            [
                "No difference is shown in any of 6 comparisons; for each of them, p is at most"
                " 0.05, but above this page's level of 0.00833; the widest interval is that of pot"
                " against cot on d0, scored by r: 5.1 points [1.0, 9.2], adjusted p = 0.012,"
                " n = 100.",
                "This page has 6 families of tests, so each has a level of 0.00833: a "
                "difference is claimed if its adjusted p-value is at most that.",
                "Brackets enclose intervals.",
            ],
            id="six benchmarks that are families of their own",
        ),
        pytest.param(
            [
                compared(
                    dataset="d0",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                ),
                compared(
                    dataset="d1",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                ),
                compared(
                    dataset="d2",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                ),
                compared(
                    dataset="d3",
                    n=100,
                    p=0.0123,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                ),
            ],
            [
                "pot is more accurate than cot with m on d0, scored by r: 5.1 points [1.0, "
                "9.2], adjusted p = 0.012, n = 100, the largest of 4 such differences.",
                "This page has 2 families of tests, so each has a level of 0.025: a "
                "difference is claimed if its adjusted p-value is at most that.",
                "Brackets enclose intervals.",
            ],
            id="a family with the tests of two runs",
        ),
        pytest.param(
            [
                compared(
                    n=100,
                    difference_low=-0.001,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                    level=0.99,
                )
            ],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [−0.1, 9.2], adjusted p = 0.012, n = 100; the 99% interval includes"
                " 0.",
                "Brackets enclose 99% confidence intervals.",
            ],
            id="an interval of another level that includes 0",
        ),
        pytest.param(
            [
                compared(
                    n=100,
                    p=0.07,
                    p_holm=0.14,
                    n_problems=100,
                    scale="right or wrong",
                    test="mid-p McNemar",
                    family="rule r, single models",
                    family_tests=2,
                    level=0.9,
                )
            ],
            [
                "No difference is shown between pot and cot with m on d, scored by r: 5.1 "
                "points [1.0, 9.2], adjusted p = 0.140, n = 100; the 90% interval excludes "
                "0, but p is above 0.05.",
                "Brackets enclose 90% confidence intervals.",
            ],
            id="an interval of a low level that excludes 0",
        ),
        pytest.param(
            [
                {
                    "dataset": "d",
                    "model": "m",
                    "rule": "r",
                    "baseline": "cot",
                    "treatment": "pot",
                    "n": 1500,
                    "difference": 0.05123,
                    "difference_low": 0.0123,
                    "difference_high": 0.09,
                    "p": 0.004,
                    "p_holm": None,
                    "p_bh": 0.031,
                    "accuracy_baseline": 0.5,
                    "accuracy_treatment": 0.55123,
                }
            ],
            [
                "pot is more accurate than cot with m on d, scored by r: 55.1% against "
                "50.0%, 5.1 points [1.2, 9.0], adjusted p = 0.031, n = 1,500.",
                "Brackets enclose intervals.",
            ],
            id="a difference that was shown with Benjamini and Hochberg's adjustment",
        ),
    ],
)
def test_comparisons_say_which_differences_are_shown(
    rows: list[dict[str, Any]], said: list[str]
) -> None:
    assert texts_of(results_of("Differences of methods", rows)) == said


AVERAGED_ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "baseline": "cot",
    "treatment": "pot",
    "n": 1500,
    "difference": 0.05123,
    "difference_low": 0.010009,
    "difference_high": 0.09211,
    "p": 0.0041,
    "p_holm": 0.0246,
    "n_unknown": 0,
    "average": "micro",
}


def averaged(**columns: Any) -> dict[str, Any]:
    return AVERAGED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [averaged()],
            [
                "The micro average of pot minus cot with m on d, scored by r, is 5.1 points"
                " [1.0, 9.2], n = 1,500.",
                "Averages are not tested, so nothing is claimed about them.",
                "Brackets enclose intervals.",
            ],
            id="averages",
        ),
    ],
)
def test_averages_are_said_and_not_claimed(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Average differences of methods", rows)) == said


RANKED_ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "method": "cot",
    "rule": "r",
    "n": 120,
    "accuracy": 0.8,
    "accuracy_low": 0.7,
    "accuracy_high": 0.9,
    "rank": 1,
    "rank_low": 1,
    "rank_high": 2,
    "rank_of": 3,
    "level": 0.95,
}


def ranked(**columns: Any) -> dict[str, Any]:
    return RANKED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [
                ranked(),
                ranked(
                    method="pot",
                    accuracy=0.5,
                    accuracy_low=0.4,
                    accuracy_high=0.6,
                    rank=2,
                    rank_high=3,
                ),
            ],
            [
                "cot ranks 1st [1, 2] of 3 with m on d, scored by r; pot 2nd [1, 3].",
                "The limits of ranks hold for all in a list together.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="ranks with their limits",
        ),
    ],
)
def test_ranks_are_said_with_their_limits(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Ranks", rows)) == said


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({}, id="accuracy"),
        pytest.param({"scale": "graded"}, id="grades"),
        pytest.param({"weight": "points"}, id="points"),
    ],
)
def test_simulations_recognise_a_claim(sign: int, columns: dict[str, Any]) -> None:
    numbers = {"difference": 0.05, "difference_low": 0.04, "difference_high": 0.06}
    row = compared(**{name: sign * value for name, value in numbers.items()}, **columns)
    if sign < 0:
        row |= {"difference_low": -0.06, "difference_high": -0.04}
    shown, _ = texts_of(results_of("Differences of methods", [row]))
    assert CLAIM.search(shown)
    undecided, _ = texts_of(results_of("Differences of methods", [row | {"p_holm": 0.9}]))
    assert not CLAIM.search(undecided)


def test_each_pair_of_methods_has_its_largest_difference() -> None:
    rows = [
        compared(treatment=name, model=model, difference=0.06 if model == "l" else 0.05)
        for name in ("f-1", "pot", "sc", "tot", "zs")
        for model in ("l", "m")
    ]
    rows.append(compared(difference=-0.03, difference_low=-0.04, difference_high=-0.02))
    numbers = "6.0 points [1.0, 9.2], adjusted p = 0.012, n = 1,500, the larger of two such"
    assert texts_of(results_of("Differences of methods", rows), 1) == [
        f"f-1 is more accurate than cot with l on d, scored by r: {numbers} differences.",
        "pot is less accurate than cot with m on d, scored by r: −3.0 points [−4.0, −2.0], adjusted"
        " p = 0.012, n = 1,500.",
        f"pot is more accurate than cot with l on d, scored by r: {numbers} differences.",
        f"sc is more accurate than cot with l on d, scored by r: {numbers} differences.",
        "4 other differences are shown, between other pairs.",
        "Brackets enclose intervals.",
    ]


def test_ranks_of_several_models_and_lists_name_them() -> None:
    rows = [
        ranked(model=model, method=method, dataset=dataset, rank=rank, rank_low=1, rank_high=4)
        for dataset in ("d", "e", "f", "g")
        for rank, (model, method) in enumerate(
            [("m", "pot"), ("l", "cot"), ("l", "pot"), ("m", "cot")], 1
        )
    ]
    said = texts_of(results_of("Ranks", rows))
    assert said[0] == (
        "pot with m ranks 1st [1, 4] of 3 on d, scored by r; cot with l 2nd [1, 4]; pot with l 3rd"
        " [1, 4]; cot with m 4th [1, 4]."
    )
    assert said[3] == "The table has one further list."


def test_a_long_list_of_ranks_ends_with_how_many_follow() -> None:
    rows = [ranked(method=f"m{place}", rank=place) for place in range(1, 9)]
    first, _, _ = texts_of(results_of("Ranks", rows))
    assert first.endswith("; m4 4th [1, 2]; 4 others follow.")


def test_averages_have_their_names_and_those_of_all_models_come_first() -> None:
    names = ("micro", "macro over subtasks", "macro over benchmarks", "mine")
    rows = [averaged(average=name, accuracy_treatment=0.5) for name in names]
    rows[3] |= {"model": "all", "accuracy_baseline": 0.25, "difference_low": None}
    rows[3]["difference_high"] = None
    assert texts_of(results_of("Average differences of methods", rows))[:4] == [
        "The average mine of pot minus cot with all models together on d, scored by r, is 5.1"
        " points, 50.0% against 25.0%, n = 1,500.",
        "The micro average of pot minus cot with m on d, scored by r, is 5.1 points [1.0, 9.2], n ="
        " 1,500.",
        "The macro average over subtasks of pot minus cot with m on d, scored by r, is 5.1 points"
        " [1.0, 9.2], n = 1,500.",
        "The table has one further average.",
    ]


@pytest.mark.parametrize(
    ("place", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st")],
)
def test_places_have_their_endings(place: int, text: str) -> None:
    assert ordinal(place) == text
