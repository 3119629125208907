"""`evalcore plan`: each column of a plan and of its curve, by hand and by the power of its test."""

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from evalcore.commands.plan import PlanRow, PowerCurveRow
from ngramscan.statistics.power import mcnemar_power

NAMELESS = {"dataset": "", "model": "", "rule": "", "baseline": "", "treatment": ""}
ASSUMED: dict[str, Any] = {"accuracies": [0.6, 0.65], "agreement": 0.8}


def only_row(*scores: pd.DataFrame, **options: Any) -> dict[str, Any]:
    (row,) = evalcore.plan(*scores, **options).to_dict("records")
    return {str(name): value for name, value in row.items()}


def needed_pairs(discordance: float, difference: float, power: float) -> int:
    """Return the first number of pairs with a power, by trying them all."""
    n = 2
    while mcnemar_power(n, discordance, difference) < power:
        n += 1
    return n


def test_each_column_of_a_plan_is_as_by_hand() -> None:
    row = only_row(**ASSUMED, problems=500, power=0.7)
    needed = needed_pairs(0.2, 0.05, 0.7)
    exact = NAMELESS | {
        "epochs": 1,
        "cluster_size": 1,
        "target_power": 0.7,
        "needed_n": needed,
        "needed_answers": needed,
        "n": 500,
        "test": "mid-p McNemar",
    }
    assert {name: row[name] for name in exact} == exact
    near = {
        "difference": 0.05,
        "power": mcnemar_power(500, 0.2, 0.05),
        "discordance": 0.2,
        # A difference is 1 or -1 with the share .2, and has the mean .05.
        "spread": math.sqrt(0.2 - 0.05**2),
    }
    assert {name: row[name] for name in near} == pytest.approx(near)
    assert mcnemar_power(500, 0.2, row["detectable"]) == pytest.approx(0.7, abs=0.005)
    # Problems are independent, so that there are no clusters.
    assert row.get("needed_clusters") is None
    assert {*exact, *near, "detectable", "needed_clusters"} == {
        field.name for field in fields(PlanRow)
    }


def test_clusters_and_epochs_multiply_what_is_needed() -> None:
    row = only_row(**ASSUMED, self_agreement=0.9, epochs=4, cluster_size=5, icc=0.2)
    assert (row["epochs"], row["cluster_size"]) == (4, 5)
    assert row["needed_n"] == 5 * row["needed_clusters"]
    assert row["needed_answers"] == 4 * row["needed_n"]
    # Single answers vary by 0.2 - 0.05², of which two answers of a method differ in 1 - 0.9: within
    # a problem, a difference of two methods varies by that much.
    within, variance = 1 - 0.9, 0.2 - 0.05**2
    assert row["spread"] == pytest.approx(math.sqrt(variance - within + within / 4))
    # The variance of a mean grows by this factor; a test with fewer units needs a little more.
    alone = only_row(**ASSUMED, self_agreement=0.9, epochs=4)
    design_effect = 1 + (5 - 1) * 0.2
    assert row["needed_n"] == pytest.approx(alone["needed_n"] * design_effect, rel=0.06)


def pilot() -> pd.DataFrame:
    """Return right and wrong answers of two methods: 3 problems won, 9 lost, 28 alike."""
    answers = {"cot": [0] * 3 + [1] * 9 + [1] * 28, "pot": [1] * 3 + [0] * 9 + [1] * 28}
    return pd.DataFrame(
        {"dataset": "d", "model": "m", "rule": "r", "method": method, "id": str(n), "value": value}
        for method, values in answers.items()
        for n, value in enumerate(values)
    )


def test_a_pilot_gives_names_and_how_answers_vary() -> None:
    row = only_row(pilot(), baseline="cot", difference=0.1)
    names = {"dataset": "d", "model": "m", "rule": "r", "baseline": "cot", "treatment": "pot"}
    assert {name: row[name] for name in names} == names
    assert (row["n"], row["discordance"], row["difference"]) == (40, 12 / 40, 0.1)
    differences = pd.Series([1.0] * 3 + [-1.0] * 9 + [0.0] * 28)
    assert row["spread"] == pytest.approx(differences.std())
    assert row["power"] == pytest.approx(mcnemar_power(40, 0.3, 0.1))
    assert row["needed_n"] == needed_pairs(0.3, 0.1, 0.8)


def test_each_column_of_a_curve_is_that_of_its_plan(tmp_path: Path) -> None:
    path = tmp_path / "curve.csv"
    row = only_row(pilot(), baseline="cot", difference=0.1, curve=path)
    points = pd.read_csv(path)
    names = ("dataset", "model", "rule", "baseline", "treatment", "epochs", "difference")
    constants = points[[*names]].drop_duplicates().to_dict("records")
    assert constants == [{name: row[name] for name in names}]
    numbers = points["n"].tolist()
    powers = [mcnemar_power(n, 0.3, 0.1) for n in numbers]
    assert points["power"].tolist() == pytest.approx(powers)
    assert numbers == sorted({round(2 * row["needed_n"] * k / 24) for k in range(1, 25)})
    assert {*names, "n", "power"} == {field.name for field in fields(PowerCurveRow)}
