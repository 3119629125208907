"""Accuracies on clean and dirty entries, by hand; their intervals are in test_two_samples."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from ngramscan.errors import InputError
from ngramscan.prevalence.contamination.effects import (
    EffectRow,
    GivenScore,
    check_scores,
    make_effects,
)
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.statistics.p_values import holm
from tests.support.contaminated_entries import entries, entry, judged_entry, score


def scores(values: Sequence[float]) -> list[GivenScore]:
    return [score(number, value) for number, value in enumerate(values)]


def only(rows: list[EffectRow]) -> EffectRow:
    (row,) = rows
    return row


def test_missing_answers_are_wrong_and_unknown_ones_left_out() -> None:
    rows = [*entries(clean=4, dirty=2), entry("open", None)]
    given = [
        score(0, 1),
        score(1, 0, "not_found"),
        score(2, None, "no_answer"),
        score(3, None, "unknown"),
        score(4, 1, "scored"),
        score("open", 1),
        score("elsewhere", 0),
        score("elsewhere, too", None),
    ]
    row = only(make_effects(rows, given))
    assert (row.n, row.n_clean, row.n_dirty) == (4, 3, 1)
    assert row.accuracy_clean == pytest.approx(1 / 3)
    assert row.accuracy_dirty == 1
    # 3 is unknown and 5 was not scored; `open` and `elsewhere` have no verdict.
    assert (row.n_without_score, row.n_without_verdict) == (2, 2)
    assert only(make_effects(rows, [*given[:3], score(3, None), *given[4:]])) == row


def test_a_part_without_entries_is_not_compared() -> None:
    row = only(make_effects(entries(clean=3), scores([1, 0, 1])))
    assert (row.n_dirty, row.accuracy_dirty, row.accuracy_dirty_low) == (0, None, None)
    assert (row.difference, row.difference_low, row.p) == (None, None, None)
    assert (row.test, row.detectable, row.p_adjusted, row.family) == ("", None, None, "")
    assert row.note == "no dirty entries with a score"
    row = only(make_effects(entries(clean=0, suspicious=2), scores([1, 0])))
    assert row.note == "no clean and no dirty entries with a score"
    given = [*scores([1, 0]), replace(score("x", 1), dataset="other")]
    _, other = make_effects(entries(clean=1, dirty=1), given)
    assert (other.n, other.accuracy, other.n_without_verdict) == (0, None, 1)
    assert other.note == "no entry has a verdict and a score"


def test_a_note_says_if_only_a_large_gain_would_have_been_found() -> None:
    few = only(make_effects(entries(200, 0, 8), scores([1, 0] * 104)))
    assert few.detectable == pytest.approx(0.46, abs=0.005)
    assert few.note == "too few entries: only a gain of 46 points or more would have been found"
    fewer = only(make_effects(entries(200, 0, 3), scores([1, 1, 1, 0] * 50 + [1, 1, 0])))
    assert fewer.detectable is None
    assert fewer.note == "no gain would have been found reliably, however large"
    more = only(make_effects(entries(200, 0, 60), scores([1, 0] * 130)))
    assert more.note == "too few entries: only a gain of 21 points or more would have been found"
    many = only(make_effects(entries(200, 0, 200), scores([1, 0] * 200)))
    assert many.detectable == pytest.approx(0.1, abs=0.1)
    found = only(make_effects(entries(200, 0, 8), scores([0, 0, 0, 0, 1] * 40 + [1] * 8)))
    assert found.p == pytest.approx(0, abs=0.001)
    assert found.detectable == pytest.approx(0.6, abs=0.4)
    assert many.note == found.note == ""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [{"id": "x", "value": 1}, {"id": "y", "value": 0}],
            (
                "scores: no id belongs to an entry; ids of the scores: x, y, …; ids of the "
                "entries: 0, 1, 2, …"
            ),
        ),
        (
            [],
            (
                "scores: no id belongs to an entry; ids of the scores: none, …; ids of the "
                "entries: 0, 1, 2, …"
            ),
        ),
        (
            [{"id": "0", "value": 1}, {"id": "1", "rule": "judge", "value": 1}],
            "gsm8k, m, cot: scored by exact, judge; choose one with --score-rule",
        ),
        (
            [{"id": "0", "value": 1, "run": "monday"}, {"id": "0", "value": 0}],
            "gsm8k, m, cot: several runs: monday, one without a name; keep one in the file",
        ),
        (
            [{"id": "0", "value": 1}, {"id": "0", "value": 1}],
            "gsm8k, m, cot: id 0 is scored twice; was a file given twice?",
        ),
        (
            [{"id": "0", "value": 62.5}],
            "gsm8k, m, cot, id 0: value 62.5; expected a number from 0 to 1",
        ),
        (
            [{"id": "0", "value": math.nan}],
            "gsm8k, m, cot, id 0: value nan; expected a number from 0 to 1",
        ),
        (
            [{"id": "0", "value": None, "status": "scored"}],
            ("gsm8k, m, cot, id 0: status scored, but no value; expected unknown or no_answer"),
        ),
        (
            [{"id": "0", "value": 1, "status": "unknown"}],
            ("gsm8k, m, cot, id 0: status unknown, but value 1; expected scored or not_found"),
        ),
    ],
    ids=[
        "ids of others",
        "no scores",
        "two rules",
        "two runs",
        "one twice",
        "a percentage",
        "not a number",
        "scored without a value",
        "a value of unknown status",
    ],
)
def test_scores_that_cannot_be_used_are_named(given: list[dict[str, Any]], message: str) -> None:
    found = [replace(score(0, 1), **fields) for fields in given]
    with pytest.raises(InputError) as error:
        make_effects(entries(clean=3, dirty=1), found)
    assert str(error.value) == message
    with pytest.raises(InputError) as error:
        check_scores(found, iter(["0", "1", "2", "3"]))
    assert str(error.value) == message


def test_dirty_entries_with_and_without_answer_are_compared_with_clean() -> None:
    near = ["near", "near", "not near", None]
    rows = [
        replace(row, answer=answer)
        for row, answer in zip(entries(clean=4, dirty=4), [None] * 4 + near, strict=True)
    ]
    found = make_effects(rows, scores([1, 0, 0, 0, 1, 1, 0, 1]), answers=("near", "not near"))
    assert [
        (row.answer, row.n_clean, row.n_dirty, row.difference, row.n_without_verdict)
        for row in found
    ] == [("", 4, 4, 0.5, 0), ("near", 4, 2, 0.75, 2), ("not near", 4, 1, -0.25, 3)]
    assert {row.family for row in found} == {"3 comparisons of this table"}


def test_accuracies_of_each_verdict_are_those_of_its_own_entries() -> None:
    values = [1, 0, 0, 0, *[1, 1, 0], *[1, 1, 1, 1, 0]]
    row = only(make_effects(entries(clean=4, suspicious=3, dirty=5), scores(values)))
    assert (row.n, row.n_clean, row.n_suspicious, row.n_dirty) == (12, 4, 3, 5)
    assert row.accuracy == pytest.approx(7 / 12)
    assert (row.score_rule, row.level) == ("exact", 0.95)
    clean = (row.accuracy_clean, row.accuracy_clean_low, row.accuracy_clean_high)
    assert clean == pytest.approx((1 / 4, *proportion_confint(1, 4, method="wilson")))
    suspicious = (
        row.accuracy_suspicious,
        row.accuracy_suspicious_low,
        row.accuracy_suspicious_high,
    )
    assert suspicious == pytest.approx((2 / 3, *proportion_confint(2, 3, method="wilson")))
    dirty = (row.accuracy_dirty, row.accuracy_dirty_low, row.accuracy_dirty_high)
    assert dirty == pytest.approx((4 / 5, *proportion_confint(4, 5, method="wilson")))
    # Suspicious entries are no part of the comparison.
    assert row.difference == pytest.approx(4 / 5 - 1 / 4)
    limits = confint_proportions_2indep(4, 5, 1, 4, method="newcomb", compare="diff")
    assert (row.difference_low, row.difference_high) == pytest.approx(limits)
    assert row.test == "Fisher's exact test"
    table = np.array([[4, 1], [1, 3]])
    assert row.p == pytest.approx(fisher_exact(table).pvalue)


def test_answers_to_one_problem_are_averaged_first() -> None:
    values: dict[int, list[float | None]] = {
        0: [1, 1],
        1: [0, None],
        2: [None, None],
        3: [1, 0],
        4: [1, 1],
        5: [1, 0],
    }
    given = [
        replace(score(id_, value), epoch=epoch)
        for id_, both in values.items()
        for epoch, value in enumerate(both)
    ]
    row = only(make_effects(entries(clean=4, dirty=2), given))
    assert (row.n_clean, row.accuracy_clean, row.accuracy_dirty) == (3, 0.5, 0.75)
    assert (row.difference, row.test) == (0.25, "nonparametric tilting")
    assert row == only(make_effects(entries(clean=4, dirty=2), given[::-1]))


def test_each_index_model_and_method_has_its_row() -> None:
    rows = entries(30, 0, 10)
    rows += [replace(row, index="b") for row in entries(30, 0, 10)]
    rows += [replace(row, index=UNION) for row in entries(20, 0, 20)]
    values = np.random.default_rng(1).random(40).tolist()
    given = scores(values)
    given += [replace(score, model="other") for score in scores(values)]
    given += [replace(score, method="other") for score in scores(values)]
    given += [replace(score, dataset="other") for score in scores(values)]
    found = make_effects(rows, given)
    assert [row.index for row in found] == ["a"] * 4 + ["b"] * 4 + [UNION] * 4
    assert {(row.dataset, row.model, row.method) for row in found} == {
        *(("gsm8k", "m", "cot"), ("gsm8k", "other", "cot")),
        *(("gsm8k", "m", "other"), ("other", "m", "cot")),
    }
    assert len({row.p for row in found[:8]}) == 1
    # Indexes a and b have the same dirty entries: eight different tests, not twelve.
    assert {row.family for row in found} == {"8 comparisons of this table"}
    p, p_of_union = found[0].p, found[8].p
    assert p is not None
    assert p_of_union is not None
    adjusted = holm([p] * 4 + [p_of_union] * 4)
    assert [row.p_adjusted for row in found] == [adjusted[0]] * 8 + [adjusted[4]] * 4


def test_intervals_have_the_level_that_is_asked_for() -> None:
    values = [1.0] * 22 + [0.0] * 18 + [1.0] * 18 + [0.0] * 2
    row = only(make_effects(entries(clean=40, dirty=20), scores(values), level=0.8))
    limits = (row.accuracy_clean_low, row.accuracy_clean_high)
    assert limits == pytest.approx(proportion_confint(22, 40, alpha=0.2, method="wilson"))
    difference = confint_proportions_2indep(18, 20, 22, 40, method="newcomb", alpha=0.2)
    assert (row.difference_low, row.difference_high) == pytest.approx(difference)
    assert row.level == 0.8


def test_a_note_says_why_interval_and_test_differ() -> None:
    right = [1.0] * 6 + [0.0] * 14
    row = only(make_effects(entries(clean=20, dirty=20), scores([1.0] + [0.0] * 19 + right)))
    low, _ = confint_proportions_2indep(6, 20, 1, 20, method="newcomb")
    assert (row.difference_low, row.p) == pytest.approx((low, 0.0915), abs=1e-4)
    assert low > 0
    said = "interval and test disagree: the interval excludes 0, but p is above 0.05"
    why = f"{said}, as Fisher's test is exact and the interval is not"
    assert row.note.endswith(f" or more would have been found; {why}")


def test_a_note_says_nothing_where_interval_and_test_agree() -> None:
    right = [1.0] * 6 + [0.0] * 14
    row = only(make_effects(entries(clean=20, dirty=20), scores([0.0] * 20 + right)))
    assert row.p == pytest.approx(fisher_exact(np.array([[20, 0], [14, 6]])).pvalue)
    assert row.note == ""


def test_copied_entries_are_compared_with_clean_ones_as_dirty_ones_are() -> None:
    rows = [
        *(judged_entry(str(n), "clean") for n in range(3)),
        judged_entry("3", "shared"),
        *(judged_entry(str(n), "variant", answer="near") for n in (4, 5, 6)),
        *(judged_entry(str(n), "copied", answer="near") for n in (7, 8, 9, 10)),
        judged_entry("11", "copied", answer="not near"),
        judged_entry("12", None),
    ]
    values = [1, 0, 0, 0, *[1, 1, 0], *[1, 1, 1, 1, 0], 1]
    row, near = make_effects(rows, scores(values), answers=("near",))
    assert (row.n, row.n_clean, row.n_suspicious, row.n_dirty) == (12, 4, 3, 5)
    assert (row.accuracy_clean, row.accuracy_dirty) == (0.25, 0.8)
    assert row.accuracy_suspicious == pytest.approx(2 / 3)
    assert row.n_without_verdict == 1
    published = only(make_effects(entries(clean=4, suspicious=3, dirty=5), scores([*values[:12]])))
    assert replace(row, n_without_verdict=0, family="", p_adjusted=None, rule="") == replace(
        published, family="", p_adjusted=None, rule=""
    )
    assert (near.n_dirty, near.accuracy_dirty, near.n_without_verdict) == (4, 1, 2)
    assert near.n_suspicious == 3


def test_a_part_without_entries_is_named_as_the_rule_names_it() -> None:
    judged = [judged_entry("0", "variant"), judged_entry("1", "clean")]
    row = only(make_effects(judged, scores([1])))
    assert row.note == "no clean and no copied entries with a score"
