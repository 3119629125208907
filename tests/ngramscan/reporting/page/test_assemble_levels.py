"""From scores to a page: which tests are adjusted together, how differences are called, and how
the page says what it claims by."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

import pandas as pd
import pytest

import evalcore
import ngramscan
from evalcore.commands.link import PatternCount
from ngramscan.reporting import to_frame

Rows = list[dict[str, Any]]


def scores(
    baseline: Sequence[float],
    treatment: Sequence[float],
    model: str = "m",
    dataset: str = "d",
    **columns: Any,
) -> Rows:
    """Return rows of scores of two methods."""
    return [
        {
            "dataset": dataset,
            "model": model,
            "method": method,
            "id": f"{dataset} {columns.get('topic', '')} {number}",
            "rule": "strict",
            "value": value,
            "points": 1 + number % 2,
            **columns,
        }
        for method, values in (("cot", baseline), ("pot", treatment))
        for number, value in enumerate(values)
    ]


def compare(rows: Rows, **options: Any) -> Any:
    return evalcore.compare(pd.DataFrame(rows), baseline="cot", **options)


def page_of(*frames: Any) -> str:
    """Return the text of a page, without marks, in one line."""
    page = ngramscan.report(*frames).html
    text = re.sub(r"<(style|script)[^>]*>.*?</\1>", " ", page, flags=re.DOTALL)
    return unescape(" ".join(re.sub("<[^>]*>", "", text).split()))


ALL_BETTER = [0.0] * 20 + [1.0] * 20, [1.0] * 40
GRADED = [0.25, 0.5] * 20, [0.75, 1.0] * 20


def test_rows_of_compare_name_their_family_and_count_its_tests() -> None:
    rows = [
        row
        for dataset in ("d", "e", "f")
        for model in ("m", "n")
        for row in scores(*ALL_BETTER, model=model, dataset=dataset)
    ]
    apart = compare(rows, family="dataset")
    together = compare(rows)
    named = [f"rule strict, dataset {name}, single models" for name in "ddeeff"]
    named += [f"rule strict, dataset {name}, all models" for name in "def"]
    assert [*apart["family"]] == named
    assert [*apart["family_tests"]] == [2] * 6 + [1] * 3
    assert [*dict.fromkeys(together["family"])] == [
        "rule strict, single models",
        "rule strict, all models",
    ]
    assert [*together["family_tests"]] == [6] * 6 + [3] * 3
    assert "This page has 6 families of tests, so each has a level of 0.00833" in page_of(apart)
    assert "This page has 2 families of tests, so each has a level of 0.025" in page_of(together)


def test_rows_of_all_models_count_problems() -> None:
    rows = [row for model in "mno" for row in scores(*ALL_BETTER, model=model)]
    pooled = compare(rows).iloc[-1]
    assert (pooled["model"], pooled["n"], pooled["n_problems"]) == ("all", 120, 40)
    assert ", n = 40 problems (120 pairs of answers)" in page_of(compare(rows))


def test_epochs_are_no_problems() -> None:
    rows = [row for epoch in (1, 2, 3) for row in scores(*ALL_BETTER, epoch=epoch)]
    (row,) = compare(rows).to_dict("records")
    assert (row["n"], row["n_problems"], row["scale"]) == (120, 40, "right or wrong")


@pytest.mark.parametrize(
    ("values", "options", "columns", "sentence"),
    [
        pytest.param(
            ALL_BETTER,
            {},
            ("right or wrong", "", None),
            "pot is more accurate than cot with m on d, scored by strict: 100.0%",
            id="right and wrong answers are more accurate",
        ),
        pytest.param(
            GRADED,
            {},
            ("graded", "", None),
            "pot has a higher mean score than cot with m on d, scored by strict: 87.5%",
            id="graded answers have a higher mean score",
        ),
        pytest.param(
            ALL_BETTER,
            {"weight": "points"},
            ("right or wrong", "points", None),
            "has a higher mean score than cot with m on d, scored by strict, weighted by points",
            id="weights are named",
        ),
        pytest.param(
            GRADED,
            {"right_from": 0.75},
            ("right or wrong", "", 0.75),
            "is more accurate than cot with m on d, scored by strict, right from 0.75",
            id="the threshold is named",
        ),
    ],
)
def test_a_difference_is_called_by_what_the_scores_are(
    values: tuple[list[float], list[float]],
    options: dict[str, Any],
    columns: tuple[str, str, float | None],
    sentence: str,
) -> None:
    found = compare(scores(*values), **options)
    (row,) = found.astype(object).where(found.notna(), None).to_dict("records")
    assert (row["scale"], row.get("weight", ""), row.get("right_from")) == columns
    assert sentence in page_of(found)


def grouped() -> Any:
    rows = scores(*ALL_BETTER, topic="algebra") + scores(
        ALL_BETTER[1], ALL_BETTER[0], topic="geometry"
    )
    return compare(rows, by="topic")


def test_opposite_differences_of_two_topics_name_them() -> None:
    page = page_of(grouped())
    assert "is more accurate than cot with m on d for algebra, scored by strict: 100.0%" in page
    assert "is less accurate than cot with m on d for geometry, scored by strict: 50.0%" in page


def test_linked_comparisons_keep_their_topics() -> None:
    counts = [
        PatternCount("i", method, "T1", f"{method} {number}", 10 * number)
        for method in ("cot", "pot")
        for number in range(5)
    ]
    compared = grouped()
    linked = evalcore.link(to_frame(counts, PatternCount), compared)
    assert [*linked["group"]] == ["algebra", "geometry"]
    assert [*linked["family"]] == ["rule strict, single models"] * 2
    page = page_of(compared, linked)
    assert "is more accurate than cot with m on d for algebra, scored by strict" in page
    assert "is less accurate than cot with m on d for geometry, scored by strict" in page
    assert "families of tests, so each" not in page  # both files have the same tests


@pytest.mark.parametrize(
    ("values", "options", "explained", "others"),
    [
        pytest.param(ALL_BETTER, {}, "mid-p McNemar:", "nonparametric tilting:", id="McNemar's"),
        pytest.param(GRADED, {}, "nonparametric tilting:", "mid-p McNemar:", id="tilting"),
        pytest.param(
            GRADED,
            {"graded_test": "signed-rank"},
            "signed-rank:",
            "nonparametric tilting:",
            id="signed ranks",
        ),
    ],
)
def test_the_methods_section_explains_the_tests_of_the_rows_and_no_others(
    values: tuple[list[float], list[float]], options: dict[str, Any], explained: str, others: str
) -> None:
    page = page_of(compare(scores(*values), **options))
    assert explained in page
    assert others not in page
    assert "bootstrap-t:" not in page


def test_p_values_are_those_of_rows_on_a_page_of_several_families() -> None:
    first = compare(scores([0.0] * 40, [1.0] * 7 + [0.0] * 33))
    second = compare(scores([0.0] * 40, [1.0] * 6 + [0.0] * 34, dataset="e"))
    page = page_of(first, second)
    (p, smaller), text = (float(found["p_holm"].iloc[0]) for found in (second, first)), "0.016"
    assert (p, smaller) == (2 / 2**6 / 2, 2 / 2**7 / 2)
    assert "This page has 2 families of tests, so each has a level of 0.025" in page
    assert f"adjusted p = {text}, n = 40" in page
    assert f"n = 40, p = {text} (Holm)" in page


def test_a_p_value_above_the_level_of_a_family_makes_no_claim() -> None:
    first = compare(scores([0.0] * 40, [1.0] * 5 + [0.0] * 35))
    second = compare(scores([0.0] * 40, [1.0] * 5 + [0.0] * 35, dataset="e"))
    assert float(first["p_holm"].iloc[0]) == 0.03125
    assert "is more accurate" in page_of(first)
    page = page_of(first, second)
    assert "is more accurate" not in page
    assert "adjusted p = 0.031, n = 40; this page claims a difference if p is at most 0.025" in page
