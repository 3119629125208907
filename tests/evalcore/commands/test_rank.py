"""`evalcore rank`: lists of models and methods, the problems that count, and what is printed."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

import evalcore
from evalcore.commands.rank import RankedRow
from ngramscan.errors import IncompleteError, InputError
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.two_samples import estimate_clustered_accuracy
from tests.support.command import invoke

ACCURACIES = {"a": 0.9, "b": 0.6, "c": 0.58}
N = 80


def made(**columns: str) -> pd.DataFrame:
    """Return scores of three methods on the same problems."""
    hardness = np.random.default_rng(2).random(N)
    rows = [
        {"id": str(number), "method": method, "value": float(hardness[number] < accuracy)}
        for method, accuracy in ACCURACIES.items()
        for number in range(N)
    ]
    named = {"dataset": "d", "model": "m", "rule": "r"} | columns
    return pd.DataFrame(rows).assign(**named)


SCORES = made()


def test_a_row_has_the_accuracy_of_wilson_and_the_rank_of_paired_tests() -> None:
    rows = evalcore.rank(SCORES)
    assert [*rows["method"]] == ["a", "b", "c"]
    wide = SCORES.pivot_table(index="id", columns="method", values="value")
    expected = [wilson(wide[method].sum(), N) for method in rows["method"]]
    assert rows["accuracy"].tolist() == [share.value for share in expected]
    assert rows["accuracy_low"].tolist() == [share.low for share in expected]
    assert rows["accuracy_high"].tolist() == [share.high for share in expected]
    # All differences are in one direction, so that the exact tail decides.
    n_differ = int((wide["b"] != wide["c"]).sum())
    assert 2 * binom.cdf(0, n_differ, 0.5) - binom.pmf(0, n_differ, 0.5) > 0.05
    limits = rows[["rank", "rank_low", "rank_high", "better", "worse"]].to_numpy().tolist()
    assert limits == [[1, 1, 1, 0, 2], [2, 2, 3, 1, 0], [3, 2, 3, 1, 0]]
    assert ({*rows["rank_of"]}, {*rows["n"]}, {*rows["level"]}) == ({3}, {N}, {0.95})


def test_each_column_of_a_rank_is_as_by_hand() -> None:
    scores = SCORES.assign(topic=[f"t{int(id_) % 2}" for id_ in SCORES["id"]])
    rows = evalcore.rank(scores, by="topic", level=0.9)
    own = scores[(scores["topic"] == "t1") & (scores["method"] == "a")]
    row = rows[(rows["group"] == "t1") & (rows["method"] == "a")].to_dict("records")[0]
    low, high = proportion_confint(own["value"].sum(), len(own), alpha=0.1, method="wilson")
    expected = {
        "dataset": "d",
        "model": "m",
        "group": "t1",
        "method": "a",
        "rule": "r",
        "n": 40,
        "accuracy": pytest.approx(own["value"].mean()),
        "accuracy_low": pytest.approx(low),
        "accuracy_high": pytest.approx(high),
        "rank": 1,
        "rank_low": 1,
        "rank_high": 1,
        "rank_of": 3,
        "better": 0,
        "worse": 2,
        "level": 0.9,
    }
    of_labels = {"n_labelled", "judge_weight", "accuracy_judged"}
    assert {*expected, *of_labels, "note"} == {field.name for field in fields(RankedRow)}
    assert {name: row[name] for name in expected} == expected
    assert of_labels <= {*rows.attrs["left_out"]}


@pytest.mark.parametrize(
    ("of", "lists"),
    [
        pytest.param("both", {("d",): 6}, id="each model with each method"),
        pytest.param("methods", {("d", "m"): 3, ("d", "n"): 3}, id="methods of each model"),
        pytest.param(
            "models", {("d", "a"): 2, ("d", "b"): 2, ("d", "c"): 2}, id="models by method"
        ),
    ],
)
def test_lists_are_of_what_is_ranked(of: str, lists: dict[tuple[str, ...], int]) -> None:
    options: Any = {"of": of}
    rows = evalcore.rank(pd.concat([SCORES, made(model="n")]), **options)
    keys = {"both": ["dataset"], "methods": ["dataset", "model"], "models": ["dataset", "method"]}
    assert {key: part["rank_of"].iloc[0] for key, part in rows.groupby(keys[of])} == lists
    assert {key: len(part) for key, part in rows.groupby(keys[of])} == lists


def test_only_problems_with_a_known_result_of_all_count() -> None:
    scores = SCORES.assign(value=SCORES["value"].mask(SCORES.index == 0))
    rows = evalcore.rank(scores[(scores["id"] != "5") | (scores["method"] != "b")])
    assert {*rows["n"]} == {N - 2}


def test_answers_to_one_problem_are_averaged() -> None:
    twice = pd.concat([SCORES.assign(epoch=1), SCORES.assign(epoch=2, value=1 - SCORES["value"])])
    rows = evalcore.rank(twice)
    assert [*rows["accuracy"]] == [0.5] * 3
    assert ({*rows["n"]}, {*rows["rank"]}, {*rows["rank_high"]}) == ({N}, {1}, {3})


def test_methods_without_a_common_problem_are_an_error() -> None:
    apart = SCORES[(SCORES["method"] == "a") == (SCORES["id"].astype(int) < 40)]
    with pytest.raises(InputError, match="nothing to rank; d, r: no problem has a known result"):
        evalcore.rank(apart)


def test_a_list_that_cannot_be_ranked_does_not_hide_the_others() -> None:
    apart = SCORES[(SCORES["method"] == "a") == (SCORES["id"].astype(int) < 40)]
    both = pd.concat([SCORES, apart.assign(dataset="e")])
    with pytest.raises(IncompleteError, match="e, r: no problem has a known result") as error:
        evalcore.rank(both)
    assert {*error.value.rows["dataset"]} == {"d"}


def test_the_table_shows_ranks_with_their_limits(tmp_path: Path) -> None:
    SCORES.to_csv(tmp_path / "s.csv", index=False)
    figure = tmp_path / "ranks.svg"
    done = invoke("rank", tmp_path / "s.csv", "--figure", figure)
    assert done.code == 0
    assert "a       80  1 [1, 1]" in done.stdout
    assert "b       80  2 [2, 3]" in done.stdout
    assert figure.read_text().startswith("<?xml")


@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_comparisons_have_the_column_of_their_adjustment(adjust: str) -> None:
    options: Any = {"adjust": adjust}
    rows = evalcore.compare(SCORES, all_pairs=True, **options)
    p = np.sort(rows["p"])
    factors = {"holm": [3, 2, 1], "bh": [3, 1.5, 1]}[adjust]
    expected = p * factors
    in_steps = np.maximum.accumulate(expected)
    if adjust == "bh":
        in_steps = np.minimum.accumulate(expected[::-1])[::-1]
    assert np.sort(rows[f"p_{adjust}"].astype(float)) == pytest.approx(np.minimum(in_steps, 1))
    other = {"holm": "p_bh", "bh": "p_holm"}[adjust]
    assert other in rows.attrs["left_out"] or rows[other].isna().all()


def test_clusters_of_problems_are_what_is_independent() -> None:
    scores = SCORES.assign(passage=SCORES["id"].astype(int) // 4)
    rows = evalcore.rank(scores, cluster="passage").set_index("method")
    own = scores[scores["method"] == "b"]
    expected = estimate_clustered_accuracy(own["value"], own["passage"])
    assert rows.loc["b", "accuracy_low"] == pytest.approx(expected.low)
    assert rows.loc["b", "accuracy_high"] == pytest.approx(expected.high)
