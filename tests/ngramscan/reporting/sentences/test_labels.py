"""The sentences about labels of judges and their agreement: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

LABELLED_ROW: dict[str, Any] = {
    "rule": "judge:a",
    "label": "C",
    "population": 300,
    "drawn": 60,
    "count": 41,
    "share": 0.7,
    "share_low": 0.581504,
    "share_high": 0.791372,
    "per": "model,method",
}


def labelled(**columns: Any) -> dict[str, Any]:
    return LABELLED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [
                labelled(),
                labelled(label="A", count=19, share=0.3, share_low=0.208628, share_high=0.418496),
            ],
            [
                "judge:a gives C to 70.0% [58.2%, 79.1%] and A to 30.0% [20.9%, 41.8%] of "
                "300 outputs, estimated from 60.",
                "Brackets enclose intervals.",
            ],
            id="labels of a sample",
        ),
    ],
)
def test_labels_are_said_with_their_estimated_shares(
    rows: list[dict[str, Any]], said: list[str]
) -> None:
    assert texts_of(results_of("Estimated shares of the judges' labels", rows)) == said


AGREED_ROW: dict[str, Any] = {
    "statistic": "cohen_kappa",
    "judges": "a · b",
    "items": 50,
    "label": None,
    "count": None,
    "value": 0.62,
    "low": 0.481504,
    "high": 0.741372,
}


def agreed(**columns: Any) -> dict[str, Any]:
    return AGREED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [
                agreed(),
                agreed(statistic="unanimous", judges="all", count=25, value=0.5),
                agreed(statistic="majority", judges="all"),
            ],
            [
                "Cohen's kappa of a and b is 0.62 [0.482, 0.741] over 50 items.",
                "All judges give the same label to 50.0% [48.2%, 74.1%] of 50 items.",
                "Brackets enclose intervals.",
            ],
            id="agreement",
        ),
        pytest.param(
            [
                agreed(),
                agreed(statistic="majority"),
                agreed(statistic="share"),
                agreed(statistic="missing"),
            ],
            [
                "Cohen's kappa of a and b is 0.62 [0.482, 0.741] over 50 items.",
                "Brackets enclose intervals.",
            ],
            id="agreement, and statistics that need no sentence",
        ),
    ],
)
def test_agreement_is_said_with_the_names_of_coefficients(
    rows: list[dict[str, Any]], said: list[str]
) -> None:
    assert texts_of(results_of("Agreement of judges", rows)) == said


@pytest.mark.parametrize(
    ("statistic", "name"),
    [
        ("krippendorff_alpha", "Krippendorff's alpha"),
        ("fleiss_kappa", "Fleiss' kappa"),
        ("cohen_kappa", "Cohen's kappa"),
        ("weighted_kappa", "Weighted kappa"),
    ],
)
def test_each_coefficient_is_said_by_its_name(statistic: str, name: str) -> None:
    said = texts_of(results_of("Agreement of judges", [agreed(statistic=statistic)]))
    assert said[0] == f"{name} of a and b is 0.62 [0.482, 0.741] over 50 items."


VOTED_ROW: dict[str, Any] = {
    "label": "yes",
}


def voted(**columns: Any) -> dict[str, Any]:
    return VOTED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [voted(), voted(label=None)],
            ["The label with the most votes is yes for 1 of 2 items; 1 has tied votes or none."],
            id="votes",
        ),
    ],
)
def test_votes_say_which_label_has_most(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Votes on each item", rows)) == said


def test_coefficients_of_all_judges_name_them_and_come_first() -> None:
    rows = [
        *(agreed(judges=f"a · {name}") for name in "bcdef"),
        agreed(statistic="fleiss_kappa", judges="all", low=None, high=None),
        agreed(statistic="krippendorff_alpha", judges="all"),
        agreed(statistic="share", judges="anna", label="yes"),
        agreed(statistic="share", judges="anna", label="no"),
        agreed(statistic="share", judges="ben", label="yes"),
    ]
    said = texts_of(results_of("Agreement of judges", rows))
    assert said[:3] == [
        "Krippendorff's alpha of anna and ben is 0.62 [0.482, 0.741] over 50 items.",
        "Fleiss' kappa of anna and ben is 0.62 over 50 items.",
        "Cohen's kappa of a and b is 0.62 [0.482, 0.741] over 50 items.",
    ]
    assert said[5] == "The table has 2 further pairs of judges."


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        pytest.param(
            [None, None],
            "No label has a majority of the votes on 2 items: 2 have tied votes or none.",
            id="no item is decided",
        ),
        pytest.param(
            ["no", "yes", "no"],
            "The label with the most votes is no for 2 and yes for 1 of 3 items.",
            id="every item is decided",
        ),
    ],
)
def test_items_without_a_majority_are_counted(labels: list[str | None], said: str) -> None:
    rows = [voted(label=label) for label in labels]
    assert texts_of(results_of("Votes on each item", rows)) == [said]


def test_replies_without_a_label_are_named_as_such() -> None:
    rows = [labelled(label=None)]
    said = texts_of(results_of("Estimated shares of the judges' labels", rows))
    assert said[0].startswith("judge:a gives no usable label to ")
