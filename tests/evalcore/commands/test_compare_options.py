"""Groups, weights, thresholds and logs in comparisons, by pandas."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import evalcore
from ngramscan.errors import InputError
from tests.support.command import invoke
from tests.support.made_logs import header, sample, write_inspect
from tests.support.tiered_scores import GROUP, METHODS, SCORES, found_by, side_by_side

PAIR: dict[str, Any] = {"baseline": "cot", "treatment": "f-1"}
OUTCOME: dict[str, Any] = {"baselines": "cot", "adaptive": "f-1"}


def test_groups_cross_benchmarks_and_models_in_all_three_commands(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    right = SCORES.assign(value=(SCORES["value"] >= 6 / 7).astype(float))
    pairs = side_by_side(right)
    options: dict[str, Any] = {"by": "tier", "right_from": 6 / 7}
    compared = found_by(evalcore.compare(SCORES, **PAIR, **options))
    outcomes = found_by(evalcore.outcomes(SCORES, **OUTCOME, **options))
    usage = SCORES.assign(completion_tokens=SCORES.index + 10, prompt_tokens=5, epoch=None)
    usage = usage.assign(reasoning_tokens=None)
    usage.to_json(tmp_path / "u.jsonl", orient="records", lines=True)
    costs = evalcore.efficiency(SCORES, usage=tmp_path / "u.jsonl", **options)
    cost = found_by(costs, "dataset", "model", "group", "method")
    assert len(compared) == 4 * 2 + 2 * 2  # and all models together
    for key, pair in pairs.groupby(GROUP):
        with subtests.test(key=key):
            first, second = pair["cot"], pair["f-1"]
            more, less = int((second > first).sum()), int((first > second).sum())
            row, outcome = compared[key], outcomes[key]
            assert (row["n"], row["treatment_only"], row["baseline_only"]) == (
                len(pair),
                more,
                less,
            )
            assert row["accuracy_treatment"] == pytest.approx(second.mean())
            tail = 2 * binom.cdf(min(more, less), more + less, 0.5)
            mid = min(tail, 1) - binom.pmf(min(more, less), more + less, 0.5) * (more != less)
            assert more == less or row["p"] == pytest.approx(mid)
            assert (outcome["only_adaptive"], outcome["adaptive_wrong"]) == (more, less)
            accuracies = [cost[*key, method]["accuracy"] for method in METHODS]
            assert accuracies == pytest.approx([pair[method].mean() for method in METHODS])
            used = [
                usage[(usage[[*GROUP, "method"]] == [*key, method]).all(axis=1)]
                for method in METHODS
            ]
            means = [tokens["completion_tokens"].mean() for tokens in used]
            assert [cost[*key, method]["mean_tokens"] for method in METHODS] == means
    pooled = found_by(evalcore.compare(SCORES, **PAIR, by="tier,model", right_from=6 / 7))
    pooled_means = {
        ("all", *key): pair["cot"].mean() for key, pair in pairs.groupby(["model", "tier"])
    }
    pooled_accuracies = {key: pooled[key]["accuracy_baseline"] for key in pooled_means}
    assert pooled_accuracies == pytest.approx(pooled_means)
    family = [row["p_holm"] for key, row in compared.items() if key[1] != "all"]
    assert max(family) == 1  # Holm's factor of eight tests, not of one a group


def test_points_weigh_problems_and_their_scale_changes_nothing(subtests: pytest.Subtests) -> None:
    points = SCORES["points"]
    frame = evalcore.compare(SCORES, **PAIR, weight="points")
    rows = found_by(frame, "dataset", "model")
    scaled = evalcore.compare(SCORES.assign(points=points / 1000), **PAIR, weight="points")
    pd.testing.assert_frame_equal(frame, scaled)
    pairs = side_by_side(SCORES).reset_index()
    for key, pair in pairs.groupby(["dataset", "model"]):
        with subtests.test(key=key):
            first, second = (np.average(pair[name], weights=pair["points"]) for name in METHODS)
            row = rows[key]
            assert row["accuracy_baseline"] == pytest.approx(first)
            assert row["difference"] == pytest.approx(second - first)
            assert row["difference_low"] < row["difference"] < row["difference_high"]
    # A problem of n points weighs as much as n problems of one, but is one problem.
    whole = SCORES.assign(points=(2 * points).astype(int))
    repeated = whole.loc[whole.index.repeat(whole["points"])]
    repeated = repeated.assign(
        id=repeated["id"] + "-" + repeated.groupby(level=0).cumcount().astype(str)
    )
    apart = found_by(evalcore.compare(repeated, **PAIR), "dataset", "model")
    width = "difference_high", "difference_low"
    for key, row in rows.items():
        with subtests.test(key=key):
            assert row["difference"] == pytest.approx(apart[key]["difference"])
            assert row[width[0]] - row[width[1]] > 1.5 * (
                apart[key][width[0]] - apart[key][width[1]]
            )
    equal = evalcore.compare(SCORES.assign(points=7), **PAIR, weight="points")
    assert equal.pop("weight").unique() == ["points"]
    unweighted = evalcore.compare(SCORES, **PAIR)
    assert "weight" in unweighted.attrs["left_out"]
    pd.testing.assert_frame_equal(equal, unweighted)


def test_intervals_of_points_cover_the_mean_over_points() -> None:
    generator, n, tables = np.random.default_rng(8), 40, []
    population = pd.DataFrame({"points": generator.choice([5, 10, 40], 5000)})
    population["cot"] = generator.random(5000)
    shift = 0.3 * (population["points"] == 40) * generator.random(5000)
    population["f-1"] = (population["cot"] + shift + generator.normal(0, 0.2, 5000)).clip(0, 1)
    truth = np.average(population["f-1"] - population["cot"], weights=population["points"])
    for number in range(30):
        drawn = population.sample(n, random_state=generator).reset_index(names="id")
        long = drawn.melt(["id", "points"], METHODS, var_name="method")
        tables.append(long.assign(dataset=f"d{number}", model="m", rule="r"))
    found = evalcore.compare(pd.concat(tables), **PAIR, weight="points")
    inside = (found["difference_low"] <= truth) & (truth <= found["difference_high"])
    assert len(found) == 30
    assert inside.sum() >= 25  # by chance 28.5 ± 1.2


def test_logs_of_other_tools_are_read_beside_scores(tmp_path: Path) -> None:
    log = write_inspect(tmp_path / "cot.eval", [sample(f"s{n}", "CI"[n % 2]) for n in (1, 2, 3)])
    other = header(metadata={"method": "f-1"}, eval_id="E2")
    second = write_inspect(tmp_path / "f1.json", [sample(f"s{n}") for n in (1, 2, 3)], other)
    names = {"dataset": "sums", "model": "lab/made", "method": "pot", "rule": "answer", "value": 1}
    scores = tmp_path / "pot.jsonl"
    pd.DataFrame([names | {"id": f"s{n}"} for n in (1, 2, 3)]).to_json(
        scores, orient="records", lines=True
    )
    direct = evalcore.compare([log, second, scores], baseline="cot")
    converted = tmp_path / "converted.jsonl"
    evalcore.logs(log, second).to_json(converted, orient="records", lines=True)
    pd.testing.assert_frame_equal(direct, evalcore.compare([converted, scores], baseline="cot"))
    assert [*direct["treatment"]] == ["f-1", "pot"]
    assert direct["accuracy_baseline"].tolist() == pytest.approx([1 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        pytest.param(
            {},
            {"by": "colour"},
            'by="colour": expected one of dataset, id, .*',
            id="no such column",
        ),
        pytest.param(
            {},
            {"by": "answer"},
            r"id \d+ of a has several values of answer; expected a column that describes",
            id="a column of answers",
        ),
        pytest.param(
            {"tier": None},
            {"by": "tier"},
            "data frame, row 1: no tier, which by needs",
            id="an empty group",
        ),
        pytest.param(
            {},
            {"weight": "wieght"},
            'weight="wieght": expected one of dataset',
            id="no such weight",
        ),
        pytest.param({"points": "many"}, {"weight": "points"}, "row 1: weight: ", id="a word"),
        pytest.param({"points": 0}, {"weight": "points"}, "row 1: weight: .*> 0", id="no points"),
        pytest.param(
            {"points": math.nan}, {"weight": "points"}, "row 1: no points, which", id="nan"
        ),
        pytest.param(
            {"points": math.inf}, {"weight": "points"}, "row 1: weight: .*<= 1", id="infinite"
        ),
    ],
)
def test_columns_that_can_not_group_or_weigh_are_refused(
    changed: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        evalcore.compare(SCORES.assign(**changed), **PAIR, **options)
    assert "\n" not in str(caught.value)


def test_a_group_with_one_method_is_named_and_the_others_are_compared(tmp_path: Path) -> None:
    is_alone = (SCORES["tier"] == "T1") & (SCORES["method"] == "f-1")
    path = tmp_path / "s.jsonl"
    SCORES[~is_alone & (SCORES["model"] == "m1")].to_json(path, orient="records", lines=True)
    ran = invoke("compare", path, "--baseline", "cot", "--by", "tier", "--format", "csv")
    assert ran.code == 0
    assert {row["group"] for row in ran.rows} == {"T2"}
    assert "a, m1, T1, r: no f-1" in ran.stderr
