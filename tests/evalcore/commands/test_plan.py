"""`evalcore plan`: plans from assumptions and from pilots."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalcore
from evalcore.paired_tests import compare_pairs
from ngramscan.errors import IncompleteError, InputError
from ngramscan.statistics.planning import (
    McNemarDesign,
    needed_n,
)
from ngramscan.statistics.power import mcnemar_power
from tests.support.command import invoke, json_rows
from tests.support.paired_answers import answers_in_epochs


def pilot(epochs: int, n: int = 400) -> list[dict[str, Any]]:
    """Return rows of a pilot with several answers to each problem."""
    draw = np.random.default_rng(5)
    first, second, _ = answers_in_epochs(draw, n, epochs, 0.6)
    return [
        {"id": str(number % n), "epoch": number // n + 1, "method": method, "value": value}
        for method, values in (("cot", first), ("pot", second))
        for number, value in enumerate(values.tolist())
    ]


def only_row(*scores: Any, **options: Any) -> dict[str, Any]:
    (row,) = evalcore.plan(*scores, **options).to_dict("records")
    return {str(name): value for name, value in row.items()}


def table(rows: list[dict[str, Any]]) -> Any:
    named = {"dataset": "d", "model": "m", "rule": "r", "status": "scored"}
    frame = pd.DataFrame([named | row for row in rows])
    return frame.assign(answer=None, extraction=None, reason="")


def test_assumptions_become_a_plan() -> None:
    row = only_row(accuracies=[0.6, 0.65], agreement=0.8, problems=500)
    design = McNemarDesign(0.2)
    assert row["needed_n"] == needed_n(design, 0.65 - 0.6)
    assert row["power"] == pytest.approx(mcnemar_power(500, 0.2, 0.05))
    assert row["detectable"] == pytest.approx(design.detectable(500))
    assert (row["n"], row["epochs"], row["needed_answers"]) == (500, 1, row["needed_n"])
    assert (row["test"], row["discordance"]) == ("mid-p McNemar", pytest.approx(0.2))
    assert row["spread"] == pytest.approx(math.sqrt(0.2 - 0.05**2))


def test_clusters_of_a_plan_are_counted_with_the_power_that_it_aims_at() -> None:
    options = {"accuracies": [0.6, 0.7], "agreement": 0.7, "power": 0.9}
    alone, clustered = only_row(**options), only_row(**options, cluster_size=5, icc=0.2)
    assert "needed_clusters" not in alone
    assert alone["cluster_size"] == 1
    assert [alone["difference"], clustered["difference"]] == pytest.approx([0.1, 0.1])
    assert [alone["target_power"], clustered["target_power"]] == [0.9, 0.9]
    assert clustered["cluster_size"] == 5
    assert clustered["needed_n"] > alone["needed_n"]
    assert clustered["needed_clusters"] == math.ceil(clustered["needed_n"] / 5)


def test_names_of_a_plan_are_those_of_its_pilot() -> None:
    row = only_row(table(pilot(1)), baseline="cot", treatment="pot", difference=0.04)
    names = ("dataset", "model", "rule", "baseline", "treatment")
    assert [row[name] for name in names] == ["d", "m", "r", "cot", "pot"]
    assert (row["difference"], row["target_power"]) == (0.04, 0.8)


def test_a_pilot_with_epochs_has_the_variance_of_its_parts() -> None:
    # Of chances p and q, a difference of single answers varies by p(1 - p) + q(1 - q) within.
    (once, four) = evalcore.plan(
        table(pilot(4, 2000)), baseline="cot", treatment="pot", epochs=[1, 4], difference=0.06
    ).to_dict("records")
    draw = np.random.default_rng(5)
    first, second, _ = answers_in_epochs(draw, 200_000, 1, 0.6)
    assert once["discordance"] == pytest.approx(float((first != second).mean()), abs=0.02)
    assert once["spread"] == pytest.approx(float((second - first).std()), rel=0.05)
    averaged = answers_in_epochs(draw, 50_000, 4, 0.6)
    means = [each.reshape(4, -1).mean(axis=0) for each in averaged[:2]]
    assert four["spread"] == pytest.approx(float((means[1] - means[0]).std()), rel=0.05)
    assert four["needed_n"] < once["needed_n"] < four["needed_answers"]
    assert (once["test"], four["test"]) == ("mid-p McNemar", "nonparametric tilting")


def test_the_plan_of_a_pilot_agrees_with_its_comparison() -> None:
    rows = table(pilot(1))
    planned = only_row(rows, baseline="cot", treatment="pot")
    (compared,) = evalcore.compare(rows, baseline="cot").to_dict("records")
    assert planned["detectable"] == pytest.approx(compared["detectable"])
    assert planned["needed_n"] == compared["needed_n"]
    assert planned["n"] == compared["n"] == 400
    assert compared["level"] == 0.95


def test_the_needed_number_does_not_depend_on_what_was_observed() -> None:
    draw = np.random.default_rng(6)
    baseline = draw.uniform(0.2, 0.4, 80)
    noise = draw.uniform(-0.2, 0.2, 80)
    needed = [
        compare_pairs(baseline, baseline + noise + gain, draw).needed_n(0.05)
        for gain in (0.01, 0.2, 0.4)
    ]
    assert needed[0] == needed[1] == needed[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({}, "expected either scores of a pilot or", id="neither pilot nor numbers"),
        pytest.param({"accuracies": 0.5}, "expected two fractions", id="one accuracy"),
        pytest.param({"accuracies": [0.5, 0.5]}, "no difference to find", id="equal accuracies"),
        pytest.param(
            {"accuracies": [0.5, 0.6], "agreement": 0.95},
            "expected 0.1 to 0.9 for accuracies of 0.5 and 0.6",
            id="methods that agree more than their accuracies do",
        ),
        pytest.param(
            {"accuracies": [0.5, 0.6], "agreement": 0.8, "self_agreement": 0.7},
            "expected at least 0.81",
            id="a method that agrees with another one more than with itself",
        ),
        pytest.param(
            {"accuracies": [0.5, 0.6], "epochs": 2},
            "several answers to a problem need self_agreement",
            id="epochs without their variance",
        ),
        pytest.param(
            {"accuracies": [0.5, 0.6], "cluster_size": 5, "icc": 0.1, "problems": 9},
            "fewer than two clusters of 5; expected 10 problems or more",
            id="one cluster",
        ),
        pytest.param(
            {"accuracies": [0.5, 0.6], "icc": 0.1},
            "needs their size: cluster_size=5",
            id="clusters of one problem",
        ),
    ],
)
def test_a_plan_that_can_not_be_made_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evalcore.plan(**options)


def test_clusters_without_a_correlation_are_noticed() -> None:
    words = ["plan", "--accuracies", "0.5,0.6", "--agreement", "0.8", "--cluster-size", "5"]
    notice = "problems of a cluster are taken as independent"
    assert notice in invoke(*words).stderr
    assert notice not in invoke(*words, "--icc", "0.1").stderr


def test_a_pilot_without_differences_is_a_failure() -> None:
    rows = [row | {"value": 1.0} for row in pilot(1, 20)]
    with pytest.raises(IncompleteError, match="d, m, r, cot, pot: no plan"):
        evalcore.plan(table(rows), baseline="cot")


def test_problems_of_a_pilot_without_a_known_result_are_left_out() -> None:
    rows = pilot(1, 40)
    unknown = [
        row | ({"value": None, "status": "unknown"} if row["id"] == "3" else {}) for row in rows
    ]
    assert only_row(table(unknown), baseline="cot")["n"] == 39
    with pytest.raises(IncompleteError, match="nothing to compare; 40 pairs left out"):
        evalcore.plan(
            table([row | {"value": None, "status": "unknown"} for row in rows]), baseline="cot"
        )


def test_a_pilot_with_several_answers_of_one_method_counts_its_first() -> None:
    rows = [row for row in pilot(3) if row["method"] == "cot" or row["epoch"] == 1]
    row = only_row(table(rows), baseline="cot")
    assert (row["epochs"], row["test"], row["n"]) == (1, "mid-p McNemar", 400)


def test_the_screen_of_a_plan() -> None:
    done = invoke("plan", "--accuracies", "0.6,0.65", "--agreement", "0.8", "--power", "0.9")
    assert done.code == 0
    assert "90.0" in done.stdout
    assert "needed n" in done.stdout


def test_the_curve_passes_the_needed_number(tmp_path: Any) -> None:
    path = tmp_path / "curve.csv"
    row = only_row(accuracies=[0.6, 0.7], agreement=0.7, curve=path, figure=tmp_path / "c.svg")
    points = pd.read_csv(path)
    (middle,) = points[points["n"] == row["needed_n"]]["power"]
    assert middle == pytest.approx(0.8, abs=0.01)
    # No pilot has names.
    names = ["dataset", "model", "rule", "baseline", "treatment"]
    assert points[names].isna().all(axis=None)
    assert set(points["epochs"]) == {1}
    assert points["difference"].tolist() == pytest.approx([0.1] * len(points))
    assert points["power"].tolist() == pytest.approx(
        [mcnemar_power(n, 0.3, 0.1) for n in points["n"].tolist()]
    )
    assert "<svg" in (tmp_path / "c.svg").read_text()


@pytest.mark.parametrize("treatment", ["", "A"])
def test_a_pilot_of_two_methods_needs_no_baseline(tmp_path: Path, treatment: str) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("id,A,B\n1,1,0\n2,0,1\n3,1,1\n4,1,0\n")
    baseline, other = ("B", "A") if treatment else ("A", "B")
    options = ("--treatment", treatment) if treatment else ()
    ended = invoke("plan", file, *options, "--format", "jsonl")
    assert f"the baseline is {baseline}, and not {other}; --baseline METHOD" in ended.stderr
    chosen = invoke("plan", file, "--baseline", baseline, "--format", "jsonl")
    assert ended.stdout == chosen.stdout
    [planned] = json_rows(ended.stdout)
    assert (planned["baseline"], planned["treatment"]) == (baseline, other)


def test_a_pilot_of_three_methods_says_which_may_be_the_baseline(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("id,A,B,C\n1,1,0,1\n2,0,1,1\n")
    ended = invoke("plan", file)
    assert (ended.code, ended.stdout) == (2, "")
    expected = "Error: --baseline: required with a pilot; its methods are A, B, C\n"
    assert ended.stderr == expected
