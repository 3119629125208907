"""Planned comparisons: published formulas, statsmodels, and simulations of the planned problems."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.stats.power import TTestPower

import evalcore
from benchmarks import levels_means as levels
from evalcore.paired_tests import Settings, compare_pairs
from evalcore.pilots import Clusters, assume_variation, make_design
from ngramscan.errors import IncompleteError, InputError
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.planning import (
    Design,
    McNemarDesign,
    StudentDesign,
    TiltingDesign,
    needed_n,
    normal_sample,
)
from ngramscan.statistics.power import mcnemar_power
from tests.support.command import invoke
from tests.support.sizes import sets, slow

Floats = NDArray[np.float64]


def connor(discordance: float, difference: float, power_quantile: float = 0.8416212) -> float:
    """Return the number of pairs for McNemar's test: Connor 1987, doi:10.2307/2531961."""
    at_null = 1.9599640 * math.sqrt(discordance)
    at_difference = power_quantile * math.sqrt(discordance - difference**2)
    return ((at_null + at_difference) / difference) ** 2


@pytest.mark.parametrize(
    ("discordance", "difference"),
    [
        pytest.param(0.2, 0.05, id="a fifth differ, 5 points"),
        pytest.param(0.3, 0.1, id="three tenths differ, 10 points"),
        pytest.param(0.5, 0.05, id="half differ, 5 points"),
        pytest.param(0.1, 0.02, id="a tenth differ, 2 points"),
    ],
)
def test_the_needed_pairs_of_mcnemar_s_test_are_connor_s(
    discordance: float, difference: float
) -> None:
    found = needed_n(McNemarDesign(discordance), difference)
    assert found == pytest.approx(connor(discordance, difference), rel=0.02)


def test_the_needed_pairs_of_student_s_test_are_statsmodels_s() -> None:
    theirs = TTestPower().solve_power(effect_size=0.25, alpha=0.05, power=0.9)
    assert needed_n(StudentDesign(0.2), 0.05, 0.9) == math.ceil(theirs)


DESIGNS: list[Any] = [
    pytest.param(McNemarDesign(0.3), 0.1, id="right and wrong answers"),
    pytest.param(StudentDesign(0.4), 0.1, id="graded answers, by bootstrap"),
    pytest.param(TiltingDesign(normal_sample(0.4)), 0.1, id="graded answers, by tilting"),
    pytest.param(TiltingDesign(normal_sample(0.05)), 0.02, id="answers that hardly vary"),
]


@pytest.mark.parametrize(("design", "difference"), DESIGNS)
def test_the_needed_number_is_the_first_with_the_power(design: Design, difference: float) -> None:
    n = needed_n(design, difference)
    assert n is not None
    assert design.power_at(n, difference) >= 0.8 - 1e-9
    assert design.power_at(n - 1, difference) < 0.8
    assert design.detectable(n) == pytest.approx(difference, rel=0.02)
    assert (design.detectable(n) or 1.0) <= difference + 1e-9


@pytest.mark.parametrize(("design", "difference"), DESIGNS)
def test_power_rises_with_the_number_of_problems_and_the_difference(
    design: Design, difference: float
) -> None:
    by_n = [design.power_at(n, difference) for n in (20, 60, 200, 600, 2000)]
    assert by_n == sorted(by_n)
    assert by_n[-1] > by_n[0]
    assert design.power_at(100, difference) < design.power_at(100, 1.5 * difference)


def test_a_smaller_discordance_than_the_difference_is_impossible() -> None:
    assert McNemarDesign(0.01).power_at(100, 0.1) == mcnemar_power(100, 0.1, 0.1)


def test_no_number_is_given_beyond_ten_million() -> None:
    assert needed_n(McNemarDesign(0.5), 1e-5) is None


def test_one_problem_has_no_power() -> None:
    design = TiltingDesign(normal_sample(0.1))
    assert (design.power_at(1, 0.5), design.detectable(1)) == (0.0, None)
    assert StudentDesign(0.1).power_at(1, 0.5) == 0.0
    assert StudentDesign(0.1).detectable(1) is None


def test_power_of_a_window_of_counts_is_that_of_all() -> None:
    # With 50,000 pairs the window leaves out most counts; the normal approximation is exact there.
    n = round(connor(0.3, 0.01))
    assert mcnemar_power(n, 0.3, 0.01) == pytest.approx(0.8, abs=0.002)


# Simulations


def draw_answers(
    draw: np.random.Generator, n: int, epochs: int, correlation: float
) -> tuple[Floats, Floats, Floats]:
    """Return two methods' answers to problems whose chances go together, and the problems."""
    common = draw.beta(1, 1, n)
    gain = np.where(draw.random(n) < correlation, 0.1, 0.0)
    chances = np.stack([common, np.minimum(common + gain, 1)])
    answers = (draw.random((2, epochs, n)) < chances[:, None, :]).astype(float)
    return answers[0].ravel(), answers[1].ravel(), np.tile(np.arange(n), epochs).astype(float)


@pytest.mark.parametrize("epochs", [1, 4])
def test_the_planned_problems_find_the_difference_as_often_as_planned(epochs: int) -> None:
    big = draw_answers(np.random.default_rng(1), 200_000, 2, 0.6)
    first, second, _ = (each.reshape(2, -1) for each in big)
    accuracies = float(first.mean()), float(second.mean())
    agreement = float((first == second).mean())
    self_agreement = float(np.mean([(each[0] == each[1]).mean() for each in (first, second)]))
    variation = assume_variation(accuracies, agreement, self_agreement)
    design = make_design(variation, epochs, Clusters())
    n = needed_n(design, accuracies[1] - accuracies[0])
    assert n is not None
    draw, runs = np.random.default_rng(2), sets(150)
    found = sum(
        compare_pairs(*answers[:2], draw, Settings(), answers[2]).p.value <= 0.05
        for answers in (draw_answers(draw, n, epochs, 0.6) for _ in range(runs))
    )
    assert found / runs == pytest.approx(0.8, abs=2.5 * math.sqrt(0.16 / runs))


def test_the_planned_clusters_find_the_difference_as_often_as_planned() -> None:
    size, icc = 5, 0.3
    clusters = Clusters(size, icc)
    variation = assume_variation((0.5, 0.6), 0.6, None)
    design = make_design(variation, 1, clusters)
    n = needed_n(design, 0.1)
    assert n is not None
    draw, runs, found = np.random.default_rng(4), sets(150), 0
    for _ in range(runs):
        # A problem has the difference of its cluster with the probability √icc.
        values = draw.choice([-1.0, 0.0, 1.0], (n, size + 1), p=[0.15, 0.6, 0.25])
        is_shared = draw.random((n, size)) < math.sqrt(icc)
        sums = np.where(is_shared, values[:, :1], values[:, 1:]).sum(axis=1)
        found += BoundedMean(sums, -1, 1, np.full(n, size)).test(0.0).value <= 0.05
    assert found / runs == pytest.approx(0.8, abs=2.5 * math.sqrt(0.16 / runs))


@pytest.mark.parametrize(
    ("name", "n"),
    [
        pytest.param("uniform", 50, id="uniform"),
        pytest.param("80 % zeros, gains of .3", 100, id="sparse gains"),
        pytest.param("sevenths, half ties", 100, id="grades with ties"),
        pytest.param("normal, sd .03", 30, id="values that hardly vary"),
        *(slow(name, n) for name in levels.SPREADS for n in (50, 100, 200, 500)),
    ],
)
def test_a_detectable_gain_of_graded_answers_is_found_as_often_as_it_says(
    name: str, n: int
) -> None:
    pilots, per_pilot = sets(15), 10
    power = levels.power_at_detectable(name, n, pilots, per_pilot)
    # Pilots estimate the spread: few of 90 % zeros are none.
    assert 0.66 <= power <= 0.92


# The command


def pilot(epochs: int, n: int = 400) -> list[dict[str, Any]]:
    """Return rows of a pilot with several answers to each problem."""
    draw = np.random.default_rng(5)
    first, second, _ = draw_answers(draw, n, epochs, 0.6)
    return [
        {"id": str(number % n), "epoch": number // n + 1, "method": method, "value": value}
        for method, values in (("cot", first), ("pot", second))
        for number, value in enumerate(values.tolist())
    ]


def only_row(*scores: Any, **options: Any) -> dict[str, Any]:
    (row,) = evalcore.plan(*scores, **options).to_dict("records")
    return {str(name): value for name, value in row.items()}


def table(rows: list[dict[str, Any]]) -> Any:
    import pandas as pd

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


def test_a_pilot_with_epochs_has_the_variance_of_its_parts() -> None:
    # Of chances p and q, a difference of single answers varies by p(1 - p) + q(1 - q) within.
    (once, four) = evalcore.plan(
        table(pilot(4, 2000)), baseline="cot", treatment="pot", epochs=[1, 4], difference=0.06
    ).to_dict("records")
    draw = np.random.default_rng(5)
    first, second, _ = draw_answers(draw, 200_000, 1, 0.6)
    assert once["discordance"] == pytest.approx(float((first != second).mean()), abs=0.02)
    assert once["spread"] == pytest.approx(float((second - first).std()), rel=0.05)
    averaged = draw_answers(draw, 50_000, 4, 0.6)
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
        pytest.param({}, "expected either SCORES of a pilot or", id="neither pilot nor numbers"),
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
    import pandas as pd

    path = tmp_path / "curve.csv"
    row = only_row(accuracies=[0.6, 0.7], agreement=0.7, curve=path, figure=tmp_path / "c.svg")
    points = pd.read_csv(path)
    (middle,) = points[points["n"] == row["needed_n"]]["power"]
    assert middle == pytest.approx(0.8, abs=0.01)
    assert "<svg" in (tmp_path / "c.svg").read_text()
