"""The sentences about joint outcomes, agreements, wins and costs: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

OUTCOME_ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "adaptive": "f-1",
    "baselines": "cot",
    "selection_accuracy": 0.62,
    "selection_low": 0.481504,
    "selection_high": 0.741372,
    "n": 100,
    "all_fail": 12,
    "all_solve": 40,
    "only_adaptive": 5,
}


def outcome(**columns: Any) -> dict[str, Any]:
    return OUTCOME_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [
                outcome(),
                outcome(
                    model="n", selection_accuracy=0.0004, selection_low=0.0, selection_high=0.0009
                ),
            ],
            [
                "No method among f-1 and cot solves 12 of 100 problems with m on d, scored "
                "by r; all solve 40, and f-1 alone solves 5.",
                "Where cot is right but not every method is, f-1 is right in 62.0% [48.2%, "
                "74.1%] of problems with m on d, scored by r.",
                "No method among f-1 and cot solves 12 of 100 problems with n on d, scored "
                "by r; all solve 40, and f-1 alone solves 5.",
                "Where cot is right but not every method is, f-1 is right in 0.04% [0.0%, "
                "0.1%] of problems with n on d, scored by r.",
                "Brackets enclose intervals.",
            ],
            id="outcomes",
        ),
        pytest.param(
            [outcome(), outcome(baselines="cot, pot", selection_accuracy=0.6)],
            [
                "No method among f-1 and cot solves 12 of 100 problems with m on d, scored "
                "by r; all solve 40, and f-1 alone solves 5.",
                "Where cot is right but not every method is, f-1 is right in 62.0% [48.2%, "
                "74.1%] of problems with m on d, scored by r.",
                "No method among f-1, cot and pot solves 12 of 100 problems with m on d, "
                "scored by r; all solve 40, and f-1 alone solves 5.",
                "Where cot or pot is right but not every method is, f-1 is right in 60.0% "
                "[48.2%, 74.1%] of problems with m on d, scored by r.",
                "Brackets enclose intervals.",
            ],
            id="outcomes of one method with two sets of baselines",
        ),
    ],
)
def test_outcomes_say_what_is_solved_and_how_well_the_method_chooses(
    rows: list[dict[str, Any]], said: list[str]
) -> None:
    assert (
        texts_of(results_of("Joint outcomes of the adaptive method and its baselines", rows))
        == said
    )


WON_ROW: dict[str, Any] = {
    "model": "m",
    "treatment": "f-1",
    "baseline": "cot",
    "cells": 3,
    "wins": 1,
    "ties": 0,
    "losses": 2,
    "wins_by_test": 1,
    "ties_by_test": 2,
    "losses_by_test": 0,
    "alpha": 0.05,
}


def won(**columns: Any) -> dict[str, Any]:
    return WON_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [won(), won(model="all", cells=1, wins=0, ties=1, losses=1), won()],
            [
                "f-1 wins on 0 of 1 set of problems against cot with all models together, "
                "ties on 1 and loses on 1; tests at a level of 0.05 each, uncorrected, find"
                " 1 win and 0 losses.",
                "f-1 wins on 1 of 3 sets of problems against cot with m, ties on 0 and "
                "loses on 2; tests at a level of 0.05 each, uncorrected, find 1 win and 0 "
                "losses.",
                "The table has one further pair of methods.",
            ],
            id="wins",
        ),
    ],
)
def test_wins_are_counted_with_and_without_tests(
    rows: list[dict[str, Any]], said: list[str]
) -> None:
    assert texts_of(results_of("Wins, ties and losses", rows)) == said


COST_ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "method": "cot",
    "rule": "r",
    "n": 50,
    "n_tokens": 48,
    "accuracy": 0.62,
    "accuracy_low": 0.481504,
    "accuracy_high": 0.741372,
    "mean_tokens": 512.25,
    "mean_tokens_low": 480.5,
    "mean_tokens_high": 550.0,
    "on_frontier": True,
}


def cost(**columns: Any) -> dict[str, Any]:
    return COST_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [cost()],
            [
                "With m on d, scored by r, cot needs 512 [480, 550] tokens for an answer at"
                " an accuracy of 62.0% [48.2%, 74.1%].",
                "Brackets enclose intervals.",
            ],
            id="costs",
        ),
    ],
)
def test_costs_are_said_with_accuracies(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Accuracy and tokens", rows)) == said


AGREED_ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "baseline": "cot",
    "adaptive": "f-1",
    "n": 100,
    "n_agree": 62,
    "agree": 0.62,
    "agree_low": 0.52,
    "agree_high": 0.71,
    "accuracy_agree": 0.81,
    "accuracy_agree_low": 0.7,
    "accuracy_agree_high": 0.88,
    "accuracy_baseline_differ": 0.2,
    "accuracy_baseline_differ_low": 0.1,
    "accuracy_baseline_differ_high": 0.35,
    "accuracy_adaptive_differ": 0.4,
    "accuracy_adaptive_differ_low": None,
    "accuracy_adaptive_differ_high": None,
}


def test_outcomes_of_several_models_count_each_with_each_problem() -> None:
    rows = [outcome(model="all")]
    said = texts_of(results_of("Joint outcomes of the adaptive method and its baselines", rows))
    assert said == [
        "No method among f-1 and cot solves 12 of 100 pairs of a problem and a model with all"
        " models together on d, scored by r; all solve 40, and f-1 alone solves 5.",
        "Where cot is right but not every method is, f-1 is right in 62.0% [48.2%, 74.1%] of pairs"
        " of a problem and a model with all models together on d, scored by r.",
        "Brackets enclose intervals.",
    ]


def test_agreements_say_how_often_shared_answers_are_right_and_the_others() -> None:
    assert texts_of(results_of("Accuracy where two methods agree", [AGREED_ROW])) == [
        "Where cot and f-1 give the same answer with m on d, scored by r (62.0% [52.0%, 71.0%] of"
        " 100 problems), it is right in 81.0% [70.0%, 88.0%].",
        "Where the answers of cot and f-1 are not the same with m on d, scored by r, cot is right"
        " in 20.0% [10.0%, 35.0%] and f-1 is right in 40.0%.",
        "Brackets enclose intervals.",
    ]


def test_rows_of_all_models_come_first_and_unknown_shares_are_left_out() -> None:
    unknown = {"agree": None, "accuracy_baseline_differ": None}
    rows = [
        AGREED_ROW,
        AGREED_ROW | unknown | {"model": "all", "dataset": "all"},
        AGREED_ROW | {"accuracy_agree": None},
    ]
    first, _, _, last, _ = texts_of(results_of("Accuracy where two methods agree", rows))
    assert first == (
        "Where cot and f-1 give the same answer with all models together on all benchmarks"
        " together, scored by r (62 of 100 pairs of a problem and a model), it is right in 81.0%"
        " [70.0%, 88.0%]."
    )
    assert last == "The table has one further pair of methods."


def test_costs_are_in_order_and_the_frontier_is_named() -> None:
    rows = [
        cost(mean_tokens=700, method="f-1", frontier_share=0.9),
        cost(),
        cost(mean_tokens=600, method="pot", on_frontier=False, accuracy_low=None, n_tokens=1),
        cost(mean_tokens=None, method="sc"),
    ]
    assert texts_of(results_of("Accuracy and tokens", rows)) == [
        "With m on d, scored by r, cot needs 512 [480, 550] tokens for an answer at an accuracy of"
        " 62.0% [48.2%, 74.1%]; pot needs 600 [480, 550] at 62.0% [no limit, 74.1%]; f-1 needs 700"
        " [480, 550] at 62.0% [48.2%, 74.1%].",
        "No other method equals cot or f-1 (90.0% of resamples) in both accuracy and tokens with m"
        " on d, scored by r.",
        "Brackets enclose intervals.",
    ]


def test_wins_without_tests_are_said_to_be_so() -> None:
    (said,) = texts_of(results_of("Wins, ties and losses", [won(alpha=None)]))
    assert said == (
        "f-1 wins on 1 of 3 sets of problems against cot with m, ties on 0 and loses on 2, without"
        " a test."
    )
