import math
from collections.abc import Callable, Iterable
from dataclasses import astuple, replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

import evalcore
from evalcore.compare_rows import CompareRow, compare_methods
from evalcore.paired_tests import Settings
from evalcore.scores import ScoreRow, choose_runs
from ngramscan.errors import InputError
from ngramscan.reporting import choose_target, to_frame, write_rows
from ngramscan.statistics.power import mcnemar_detectable, mcnemar_power
from tests.support.command import invoke
from tests.support.sizes import sets, slow

ROW = ScoreRow("d", "m", "cot", "1", None, "strict", 1.0, None, None, "")
Given = float | str | None


def scored(method: str, values: Iterable[Given], **fields: Any) -> list[ScoreRow]:
    """One row per problem: a value, None for no answer, "?" unknown, "!" not found, "." no row."""
    rows, statuses = [], {None: "no_answer", "?": "unknown", "!": "not_found"}
    for number, given in enumerate(values):
        value = given if isinstance(given, float) else 0.0 if given == "!" else None
        status = "scored" if isinstance(given, float) else statuses.get(given, "")
        row = replace(ROW, method=method, id=str(number), value=value, status=status, **fields)
        rows += [row] if given != "." else []
    return rows


def both(first: Iterable[Given], second: Iterable[Given], **fields: Any) -> list[ScoreRow]:
    return scored("cot", first, **fields) + scored("pot", second, **fields)


def compared(rows: list[ScoreRow], **options: Any) -> SimpleNamespace:
    """What compare_methods returns, by name."""
    found, averages, said = compare_methods(rows, **({"baseline": "cot"} | options))
    return SimpleNamespace(
        rows=found,
        averages=averages,
        heading=said.heading,
        notices=[str(notice) for notice in said.notices],
        failures=[str(failure) for failure in said.failures],
    )


def only_row(first: Iterable[Given], second: Iterable[Given], **options: Any) -> CompareRow:
    """The row of two methods on one benchmark."""
    (row,) = compared(both(first, second), settings=Settings(**options)).rows
    return cast("CompareRow", row)


A = [1.0] * 6 + [0.0] * 4  # the baseline
FIRST, SECOND = "2026-01-02T03-04-05_Ka", "2026-01-03T00-00-00_Kb"
B = [1.0] * 2 + [0.0] * 4 + [1.0] * 2 + [0.0] * 2  # b = 2, c = 4


def test_a_cell_of_which_nothing_is_known_has_no_row_and_is_told() -> None:
    nothing = both(["?", 1.0], [1.0, "."], model="m2")
    rows = [*both(A, B), *nothing]
    found = compared(rows)
    assert [(row.model, row.n_unknown) for row in found.rows] == [("m", 0), ("all", 2)]
    left_out = "2 pairs left out: 1 with an unknown result, 1 not put to every method"
    assert found.failures == [f"d, m2, strict, pot − cot: nothing to compare; {left_out}"]
    assert found.heading.startswith("2 of 12 pairs are left out")
    assert compared(nothing).rows == []
    assert compared([*rows, *scored("cot", A, model="m3")]).notices == ["d, m3, strict: no pot"]
    rows = both([None, None], [1.0, 0.0])
    (row,) = compared(rows).rows
    assert (row.n, row.n_complete, row.difference_complete, row.p_complete) == (2, 0, None, None)
    found = compared(rows, settings=Settings(no_answer="exclude"))
    assert found.rows == []
    left_out = "2 pairs left out: 2 without an answer"
    assert found.failures == [f"d, m, strict, pot − cot: nothing to compare; {left_out}"]


def test_test_and_interval_of_graded_answers_agree() -> None:
    first = np.random.default_rng(3).uniform(0.45, 0.95, 40)
    # Small gains on most problems, large losses on some: the ranks say one thing, the mean another.
    second = first + np.where(np.arange(40) % 10 < 9, 0.05, -0.45)
    row = only_row(first, second)
    assert (row.test, (row.p or 0) > 0.5) == ("nonparametric tilting", True)
    assert "disagree" not in row.note
    row = only_row(first, second, graded_test="bootstrap-t")
    assert (row.test, (row.p or 0) > 0.5) == ("bootstrap-t, 10000 draws", True)
    assert "disagree" not in row.note
    row = only_row(first, second, graded_test="signed-rank")
    assert row.test.startswith("exact signed-rank")
    assert (row.p or 1) < 0.05
    assert "the interval includes 0, but p is at most 0.05" in row.note
    row = only_row(first, np.sqrt(1 - first), graded_test="sign-flip", resamples=200)
    assert row.test == "sign flips, 200 draws"
    assert "standard error of p 0.0" in row.note


def test_rows_are_in_the_order_of_models_and_then_of_methods() -> None:
    rows = [row for model in "ab" for row in both(A, B, model=model)]
    rows += [row for model in "ab" for row in scored("fp", B, model=model)]
    found = [(row.model, row.treatment) for row in compared(rows).rows if row.model != "all"]
    assert found == [("a", "pot"), ("a", "fp"), ("b", "pot"), ("b", "fp")]


POPULATIONS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "all .1": lambda generator, n: np.full(n, 0.1),
    "Beta(2, 2)": lambda generator, n: generator.beta(2, 2, n),
    "Beta(.3, .3)": lambda generator, n: generator.beta(0.3, 0.3, n),
    ".95 and .05": lambda generator, n: np.where(generator.random(n) < 0.9, 0.95, 0.05),
}
LONG = [(name, *sizes) for name in POPULATIONS for sizes in ((30, 2), (100, 2), (100, 5))]


@pytest.mark.parametrize(
    ("population", "n", "epochs"), [("Beta(2, 2)", 30, 2), *(slow(*one) for one in LONG)]
)
def test_epochs_of_one_method_alone_keep_the_level(population: str, n: int, epochs: int) -> None:
    generator = np.random.default_rng(13)
    rows, differences = list[ScoreRow](), []
    n_sets = sets(30)
    for number in range(n_sets):
        share = POPULATIONS[population](generator, n)
        once, *several = (generator.random((1 + epochs, n)) < share).astype(float)
        rows += scored("pot", once, epoch=1, dataset=str(number))
        differences.append(once.mean() - np.mean(several))
        for epoch, values in enumerate(several, 1):
            rows += scored("cot", values, epoch=epoch, dataset=str(number))
    found = compared(rows).rows
    assert [row.difference for row in found] == pytest.approx(differences)
    chance = 3 * (0.05 * 0.95 / n_sets) ** 0.5
    assert sum(row.p <= 0.05 for row in found) / n_sets <= 0.05 + chance


def test_answers_of_the_same_epochs_are_paired_by_epoch() -> None:
    rows = both(A, B, epoch=1) + both(A, B, epoch=2)
    assert [row.n for row in compared(rows).rows] == [20]


METHODS = ("cot", "pot", "f-1")


def written(rows: list[ScoreRow], path: Path) -> Path:
    write_rows(rows, ScoreRow, choose_target(None, path))
    return path


def test_of_several_runs_none_is_chosen_for_the_reader(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    rows = [*both(A, B, run=FIRST), *scored("cot", [1.0] * 5, run=SECOND)]
    path = written(rows, tmp_path / "runs.jsonl")
    listed = f"d, m, cot, strict has 2 runs: {FIRST} (10 rows), {SECOND} (5 rows)"
    cure = f'scores: {listed}; choose one with run=NAME or run="latest"'
    for wanted in ([], ["2026-01"], [FIRST, SECOND]):
        with subtests.test(wanted=wanted):
            with pytest.raises(InputError) as caught:
                evalcore.compare(path, baseline="cot", run=wanted)
            assert str(caught.value) == cure
    with pytest.raises(InputError) as caught:
        evalcore.compare(path, baseline="cot", run=["Kc"])
    assert str(caught.value) == f'run="Kc": no run has this name; {listed}'
    for name, n, n_unknown in ((FIRST, 10, 0), ("Ka", 10, 0), ("latest", 5, 5), ("Kb", 5, 5)):
        with subtests.test(name=name):
            frames = (
                evalcore.compare(path, baseline="cot", run=[name]),
                evalcore.outcomes(path, baselines="cot", adaptive="pot", run=[name]),
            )
            counts = [frame[["n", "n_unknown"]].to_numpy().tolist() for frame in frames]
            assert counts == [[[n, n_unknown]], [[n, n_unknown]]]


SCORES_OF_KIND: dict[str, list[ScoreRow]] = {
    "both": both(A, B),
    "alone": [replace(ROW, model=model) for model in ("m", "m0", "m1", "m2", "m3")],
    "one": scored("cot", A),
    "three": [*both(A, B), *scored("f-1", A)],
    "none": [],
}


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        pytest.param(
            "alone",
            {},
            "available: d, m, strict: cot; d, m0.*; d, m1, strict: cot; and 2 more$",
            id="one method of each of several models",
        ),
        pytest.param(
            "one",
            {},
            "scores: nothing to compare: .*; available: d, m, strict: cot$",
            id="one method",
        ),
        pytest.param(
            "both",
            {"baseline": "dot"},
            'baseline="dot": expected one of cot, pot',
            id="no such baseline",
        ),
        pytest.param(
            "both",
            {"treatment": "tot"},
            'treatment="tot": expected one of cot, pot',
            id="no such treatment",
        ),
        pytest.param(
            "both",
            {"treatment": "COT"},
            'treatment="cot": this method is the baseline, too',
            id="the baseline as the treatment",
        ),
        pytest.param(
            "both",
            {"by": "colour"},
            'by="colour": expected one of dataset, model, method, id, .*',
            id="no such column",
        ),
        pytest.param(
            "both",
            {"by": "method"},
            "id 0 of d has several values of method; expected a column that",
            id="the column of methods",
        ),
        pytest.param(
            "both",
            {"family": "colour"},
            'family="colour": expected one of dataset, model, group, rule, baseline',
            id="no such family",
        ),
        pytest.param(
            "three",
            {"baseline": None},
            "baseline: expected either .*; the methods are cot, pot, f-1",
            id="three methods without a baseline",
        ),
        pytest.param(
            "one",
            {"baseline": None},
            "baseline: expected either .*; the methods are cot",
            id="one method without a baseline",
        ),
        pytest.param(
            "both",
            {"all_pairs": True},
            "baseline: expected either .*; the methods are cot, pot",
            id="a baseline and all pairs",
        ),
        pytest.param(
            "both", {"rule": "lenient"}, 'rule="lenient": expected one of strict', id="no such rule"
        ),
        pytest.param("both", {"level": 2.0}, "level=2", id="a level above 1"),
        pytest.param("none", {}, "data frame: no rows", id="no rows"),
    ],
)
def test_what_can_not_be_compared_is_refused(
    kind: str, options: dict[str, Any], message: str
) -> None:
    frame = to_frame(SCORES_OF_KIND[kind], ScoreRow)
    with pytest.raises(InputError, match=message):
        evalcore.compare(frame, **{"baseline": "cot"} | options)


def test_an_answer_that_is_scored_twice_is_refused() -> None:
    with pytest.raises(InputError, match="d, m, cot, strict, id 1: scored twice"):
        compared([*both(A, B), ROW])


def many_models() -> list[ScoreRow]:
    """Three methods of six models on two benchmarks; one answer of each is unknown."""
    draw, rows = np.random.default_rng(8), list[ScoreRow]()
    for dataset, n, method in product(("financemath", "olympiadbench"), range(6), METHODS):
        values: list[Given] = ["?", *draw.integers(0, 2, 20).astype(float)]
        values[-1] = "!" if method == "pot" else values[-1]
        model = f"deepseek-ai/DeepSeek-V3.{n}-Terminus"
        rows += scored(method, values, dataset=dataset, model=model, answer="5")
    return rows


def test_many_notices_of_one_kind_are_one(tmp_path: Path) -> None:
    asked = ["compare", str(written(many_models(), tmp_path / "s.jsonl")), "--baseline", "cot"]
    asked += ["--resamples", "100", "--figure", str(tmp_path / "f.svg")]
    done = invoke(*asked)
    left_out, warning = done.stderr.splitlines()
    assert left_out == (
        "financemath, deepseek-ai/DeepSeek-V3.0-Terminus, strict, pot − cot: 1 pair left out: "
        "1 with an unknown result; see n_unknown for 23 more"
    )
    assert warning.startswith("Warning: ")
    assert warning.endswith("; 11 more comparisons differ by over 2 points")
    assert (tmp_path / "f.svg").read_text().count(">all · ") == 8


def test_runs_are_not_guessed() -> None:
    rows = [*scored("cot", A, run=FIRST), *scored("cot", A), *scored("pot", B)]
    message = rf"cot, strict has 2 runs: {FIRST} \(10 rows\), one without a name .*\(not all have"
    with pytest.raises(InputError, match=message):
        choose_runs(rows, ["latest"])
    assert choose_runs(rows, [FIRST]) == [*rows[:10], *rows[20:]]
    rows = [*scored("cot", A), *scored("cot", A, epoch=1), *scored("pot", B)]
    with pytest.raises(InputError, match=r"d, m, cot, strict: some rows have an epoch and others"):
        choose_runs(rows)
    apart = [replace(row, run=None if row.epoch is None else "second") for row in rows]
    assert choose_runs(apart, ["second"]) == apart[10:]


@pytest.mark.parametrize(
    ("n_not_found", "is_told"), [pytest.param(20, False, id="2"), pytest.param(21, True, id="2.1")]
)
def test_methods_that_differ_in_answers_not_found_are_told(n_not_found: int, is_told: bool) -> None:
    with_answer: list[Given] = [1.0] * (1000 - n_not_found)
    without_answer: list[Given] = ["!"] * n_not_found
    treatment = with_answer + without_answer
    found = compared(both([1.0] * 1000, treatment, answer="5"))
    kinds = [notice.partition(":")[0] for notice in found.notices]
    assert kinds == (["Warning"] if is_told else [])


def test_averages_weigh_subtasks_and_benchmarks_equally_or_by_their_pairs(
    subtests: pytest.Subtests,
) -> None:
    parts = {"s": both(A, B), "t": both([*B, "?"], [*A, 1.0]), "u": both(A[2:8], B[2:8])}
    parts = {name: [replace(row, id=name + row.id) for row in rows] for name, rows in parts.items()}
    of_a = [replace(row, dataset="a", subtask=name) for name in "st" for row in parts[name]]
    of_b = [replace(row, dataset="b") for row in parts["u"]]
    averages = compared([*of_a, *of_b]).averages
    assert [(row.average, row.dataset, row.parts, row.n, row.n_unknown) for row in averages] == [
        ("macro over subtasks", "a", 2, 20, 1),
        ("micro", "all", 2, 26, 1),
        ("macro over benchmarks", "all", 2, 26, 1),
    ]
    equally, by_pairs = np.array([1 / 2, 1 / 2]), np.array([20 / 26, 6 / 26])
    averaged = (
        ([parts["s"], parts["t"]], equally),
        ([of_a, of_b], by_pairs),
        ([of_a, of_b], equally),
    )
    for row, (tables, weights) in zip(averages, averaged, strict=True):
        with subtests.test(average=row.average):
            alone = [compared(rows).rows[0] for rows in tables]
            value, low, high = zip(
                *((r.difference, r.difference_low, r.difference_high) for r in alone), strict=True
            )
            below, above = (np.hypot(*(weights * np.subtract(value, end))) for end in (low, high))
            ends = row.difference, row.difference_low, row.difference_high
            expected = weights @ value
            assert ends == pytest.approx((expected, expected - below, expected + above))
            of_baseline = [r.accuracy_baseline for r in alone]
            assert row.accuracy_baseline == pytest.approx(weights @ of_baseline)


@pytest.mark.parametrize("swapped", [pytest.param(False, id="cot"), pytest.param(True, id="pot")])
def test_an_output_without_an_answer_counts_once(
    swapped: bool,
) -> None:
    """One method answered problem 0 once and the other three times, problems 1 and 2 both once."""
    told = {"answer": "5"}
    once = scored("cot", ["!", 1.0, 1.0, None], epoch=1, **told)
    often = scored("pot", ["!", 1.0, "!", None], epoch=1, **told)
    often += [*scored("pot", ["!"], epoch=2, **told), *scored("pot", [1.0], epoch=3, **told)]
    (row,) = compared([*once, *often], baseline="pot" if swapped else "cot").rows
    # By hand: 1 of 3 complete outputs, and 3 of 5. Over pairs it would be 3 of 5 and 3 of 5, over
    # problems 1 of 3 and 5 of 9. Outputs that are not complete are no part of it.
    expected = {"cot": 1 / 3, "pot": 3 / 5}
    assert row.unanswered_baseline == pytest.approx(expected[row.baseline])
    assert row.unanswered_treatment == pytest.approx(expected[row.treatment])
    assert (row.n, row.n_no_answer) == (6, 1)


def newcombe(both_right: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """Return Newcombe's limits (1998, method 10) of the second accuracy minus the first."""
    n = both_right + first + second + neither
    accuracies = (both_right + second) / n, (both_right + first) / n
    (low, high), (other_low, other_high) = (
        proportion_confint(round(n * accuracy), n, method="wilson") for accuracy in accuracies
    )
    product = both_right * neither - first * second
    margins = (both_right + first) * (second + neither) * (both_right + second) * (first + neither)
    phi = (max(product - n / 2, 0) if product > 0 else product) / math.sqrt(margins)
    below, above = accuracies[0] - low, other_high - accuracies[1]
    down = math.sqrt(below**2 - 2 * phi * below * above + above**2)
    below, above = high - accuracies[0], accuracies[1] - other_low
    up = math.sqrt(below**2 - 2 * phi * below * above + above**2)
    difference = accuracies[0] - accuracies[1]
    return difference - down, difference + up


def test_right_and_wrong_answers_have_the_mid_p_test_as_by_hand() -> None:
    row = only_row(A, B)
    assert (row.dataset, row.model, row.rule, row.group) == ("d", "m", "strict", "")
    assert (row.baseline, row.treatment) == ("cot", "pot")
    assert (row.scale, row.weight, row.right_from) == ("right or wrong", "", None)
    assert (row.n, row.n_problems, row.treatment_only, row.baseline_only) == (10, 10, 2, 4)
    assert (row.accuracy_baseline, row.accuracy_treatment) == (0.6, 0.4)
    assert row.difference == pytest.approx(-0.2)
    assert (row.test, row.p_exact) == ("mid-p McNemar", binomtest(2, 6).pvalue)
    assert row.p == pytest.approx(binomtest(2, 6).pvalue - binom.pmf(2, 6, 0.5))
    assert (row.difference_low, row.difference_high) == pytest.approx(newcombe(2, 4, 2, 2))
    assert (row.n_complete, row.difference_complete, row.p_complete) == (10, row.difference, row.p)
    assert (row.p_holm, row.level, row.note) == (row.p, 0.95, "")
    assert (row.family_tests, row.n_clusters, row.p_bh, row.n_labelled) == (1, None, None, None)
    assert (row.n_no_answer, row.n_unknown) == (0, 0)


@pytest.mark.parametrize(
    ("no_answer", "expected"),
    [
        pytest.param(
            "wrong", (5, 2, 2, 2, 3, "no answer: 2, counted as wrong"), id="counted as wrong"
        ),
        pytest.param("exclude", (3, 1, 1, 2, 3, "no answer: 2, left out"), id="left out"),
    ],
)
def test_no_answer_is_wrong_or_left_out(no_answer: Any, expected: tuple[Any, ...]) -> None:
    first, second = [1.0, 1.0, None, 0.0, 1.0], [1.0, None, 1.0, 1.0, 0.0]
    row = only_row(first, second, no_answer=no_answer)
    counts = (row.n, row.treatment_only, row.baseline_only, row.n_no_answer, row.n_complete)
    assert (*counts, row.note) == expected
    assert row.difference_complete == pytest.approx(0.0)


def test_a_pair_of_which_nothing_is_known_is_no_pair() -> None:
    known = compared(both([*A, None], [*B, 1.0]))
    found = compared(both([*A, None, "?", 1.0, 1.0], [*B, 1.0, 1.0, "?", ".", 0.0, 1.0]))
    (row,) = found.rows
    assert (row.n_unknown, [replace(row, n_unknown=0)]) == (5, known.rows)
    assert (known.heading, found.failures) == ("", [])
    assert found.heading.startswith("5 of 16 pairs are left out")
    said = "5 pairs left out: 2 with an unknown result, 3 not put to every method"
    assert found.notices == [
        f"d, m, strict, pot − cot: {said}; of the documents (14 of cot, 15 of pot) 13 are in both"
    ]


@pytest.mark.parametrize(
    ("counts", "where"),
    [
        pytest.param((0, 3, 10, 7), "excludes 0, but p is above 0.05", id="the interval alone"),
        pytest.param((5, 4, 12, 79), "includes 0, but p is at most 0.05", id="the test alone"),
        pytest.param((5, 3, 13, 79), "", id="both"),
        pytest.param((5, 5, 8, 82), "", id="neither"),
    ],
)
def test_a_row_says_where_interval_and_test_disagree(
    counts: tuple[int, int, int, int], where: str
) -> None:
    # Both right, only the baseline, only the treatment, neither.
    first = np.repeat([1.0, 1.0, 0.0, 0.0], counts)
    second = np.repeat([1.0, 0.0, 1.0, 0.0], counts)
    note = f"interval and test disagree: the interval {where}" if where else ""
    assert only_row(first, second).note == note


def test_several_models_together_have_problems_as_clusters() -> None:
    answers = np.random.default_rng(5).integers(0, 2, (3, 2, 40)).astype(float)
    rows = [one for k, values in enumerate(answers, 1) for one in both(*values, model=f"m{k}")]
    *single, together = compared(rows).rows
    assert [row.model for row in single] == ["m1", "m2", "m3"]
    assert (together.model, together.n, together.n_problems) == ("all", 120, 40)
    assert together.treatment_only == sum(row.treatment_only for row in single)
    assert together.difference == pytest.approx(np.mean([row.difference for row in single]))
    assert together.test == "nonparametric tilting"


def test_all_pairs_of_methods_are_compared() -> None:
    found = compared([*both(A, B), *scored("f-1", A)], baseline=None).rows
    assert [(row.baseline, row.treatment) for row in found] == [
        ("cot", "pot"),
        ("cot", "f-1"),
        ("pot", "f-1"),
    ]
    assert (found[1].p, found[1].note) == (1.0, "no pair differs")


def test_averages_of_several_files_say_what_they_are_of(tmp_path: Path) -> None:
    rows = []
    for dataset, size, gain in (("small", 10, 1.0), ("large", 30, 0.0)):
        for part in "ab":
            zeros = [0.0] * (size - 1)
            made = both([0.0, *zeros], [gain, *zeros], dataset=dataset, subtask=part)
            rows += [replace(row, id=part + row.id) for row in made]
    files = [
        written([row for row in rows if row.method == name], tmp_path / f"{name}.csv")
        for name in ("cot", "pot")
    ]
    frame = evalcore.compare(files, baseline="cot", averages=tmp_path / "averages.csv")
    assert [*frame["treatment_only"]] == [2, 0]
    read = pd.read_csv(tmp_path / "averages.csv", keep_default_na=False)
    averages = {(row["average"], row["dataset"]): row for row in read.to_dict("records")}
    differences = {key: row["difference"] for key, row in averages.items()}
    assert differences == pytest.approx(
        {
            ("macro over subtasks", "small"): 0.1,
            ("macro over subtasks", "large"): 0.0,
            ("micro", "all"): 2 / 80,
            ("macro over benchmarks", "all"): 0.05,
        }
    )
    macro = averages["macro over benchmarks", "all"]
    assert macro["difference_low"] < 0.05 < macro["difference_high"]
    assert (macro["accuracy_baseline"], macro["accuracy_treatment"]) == pytest.approx((0, 0.05))
    names = {
        "model": "m",
        "group": "",
        "rule": "strict",
        "baseline": "cot",
        "treatment": "pot",
        "parts": 2,
        "n": 80,
        "n_unknown": 0,
    }
    assert {name: macro[name] for name in names} == names


def test_repeated_answers_to_a_problem_are_a_cluster() -> None:
    rows = [*both(A, B, epoch=1), *both(A, B, epoch=2)]
    (row,) = compared(rows, settings=Settings(graded_test="sign-flip")).rows
    assert (row.n, row.n_problems, row.treatment_only, row.baseline_only) == (20, 10, 4, 8)
    assert row.p == pytest.approx(only_row(A, B).p_exact), "asking twice adds no evidence"
    # An epoch that only one method has of a problem is not known for the other.
    (row,) = compared(rows[:-1]).rows
    assert (row.n, row.n_unknown, row.treatment_only, row.baseline_only) == (19, 1, 4, 8)


def test_epochs_of_one_method_alone_are_a_mean_over_problems() -> None:
    generator = np.random.default_rng(11)
    once, *several = generator.integers(0, 2, (4, 30)).astype(float)
    rows = scored("pot", once)
    for epoch, values in enumerate(several, 1):
        rows += scored("cot", values, epoch=epoch)
    (row,) = compared(rows, settings=Settings(graded_test="sign-flip")).rows
    differences = once - np.mean(several, axis=0)
    assert (row.n, row.n_unknown) == (90, 0)
    assert row.difference == pytest.approx(differences.mean())
    assert row.accuracy_treatment == pytest.approx(once.mean())
    assert row.treatment_only + row.baseline_only == sum(sum(own != once) for own in several)
    signs = generator.choice([-1, 1], (20_000, 30))
    as_far = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9
    assert row.p == pytest.approx(as_far.mean(), abs=0.02)
    # An epoch that failed leaves the others; a problem that was put to one method leaves none.
    failed: dict[str, Any] = {"value": None, "status": "unknown"}
    rows = [replace(one, **failed) if one.id == "0" and one.epoch == 2 else one for one in rows]
    (row,) = compared([*rows, replace(ROW, method="pot", id="new")]).rows
    assert (row.n, row.n_unknown) == (89, 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param([1.0], [0.0], id="one problem"),
        pytest.param([1.0], [1.0], id="one equal answer"),
        pytest.param([0.5], [0.25], id="one graded problem"),
        pytest.param([0.5] * 3, [0.5] * 3, id="equal grades"),
    ],
)
def test_one_problem_and_equal_answers_give_no_nan(first: list[float], second: list[float]) -> None:
    row = only_row(first, second)
    assert all(np.isfinite([value for value in astuple(row) if isinstance(value, float)]))
    assert row.p == 1 or first != second


def test_a_terminal_and_a_paper_get_tables(tmp_path: Path) -> None:
    rows = both([0.0] * 12 + [1.0] * 8, [1.0] * 20)
    rows += [replace(row, model="m2") for row in rows]
    rows += both([1.0, None, "?"], [0.0, 1.0, 1.0], dataset="e")
    asked = ["compare", str(written(rows, tmp_path / "s.jsonl")), "--baseline", "cot", "--stars"]
    done, paper = (invoke(*asked, *to) for to in ([], ["--format", "latex"]))
    assert (done.code, paper.code) == (0, 0)
    assert done.stderr == "e, m, strict, pot − cot: 1 pair left out: 1 with an unknown result\n"
    heading, *lines = done.stdout.splitlines()
    assert heading == "1 of 43 pairs is left out, because one of the results is unknown"
    named = [line.split() for line in lines if line.split()[:1] == ["d"]]
    assert [cells[1] for cells in named[:3]] == ["all", "m", "m2"], "all models come first"
    first = named[1][named[1].index("20") :]
    assert [first[1], *first[6:10]] == ["+60.0", "40.0", "100.0", "12", "0"]
    assert first[4] == "2.4e-04***"
    texts = ("both answered", "1: -100.0, p 0.500", "macro over benchmarks (2)", "micro (2)")
    assert [text for text in texts if text not in done.stdout] == []
    cells = paper.stdout.splitlines()[5].split(" & ")
    assert cells[:8] == ["d", "m", "pot $-$ cot", "20", "12", "0", "40.0", "100.0"]
    assert cells[9] == "2.4e-04***"


def test_rows_of_others_do_not_say_whether_an_answer_was_found() -> None:
    nearly: list[Given] = [*([1.0] * 94), *("!" * 6)]
    (row,) = compared([*scored("cot", nearly, answer="5"), *scored("pot", [1.0] * 100)]).rows
    assert (row.unanswered_baseline, row.unanswered_treatment) == (0.06, None)


def graded_rows(draw: np.random.Generator, dataset: str, model: str) -> list[ScoreRow]:
    return [
        row
        for epoch in (1, 2)
        for row in both(
            draw.beta(1, 1, 30), draw.beta(1, 0.8, 30), dataset=dataset, model=model, epoch=epoch
        )
    ]


def shuffled_in_file(rows: list[ScoreRow], seed: int) -> list[ScoreRow]:
    """Return the rows in another order, with other benchmarks and models among them."""
    draw = np.random.default_rng(seed)
    others = graded_rows(draw, "d", "another") + graded_rows(draw, "another", "m")
    return [[*rows, *others][place] for place in draw.permutation(len(rows) + len(others))]


@pytest.mark.parametrize("test", ["tilting", "bootstrap-t", "sign-flip", "signed-rank"])
def test_a_row_does_not_depend_on_other_rows_or_their_order(test: Any) -> None:
    chosen, draw = Settings(graded_test=test, resamples=300), np.random.default_rng(1)
    rows = [replace(row, subtask=f"s{int(row.id) % 3}") for row in graded_rows(draw, "d", "m")]
    alone = compared(rows, settings=chosen)
    more = compared(shuffled_in_file(rows, 2), settings=chosen)
    (own,) = [row for row in more.rows if (row.dataset, row.model) == ("d", "m")]
    of_family: dict[str, Any] = {"p_holm": None, "family": None, "family_tests": None}
    assert replace(own, **of_family) == replace(alone.rows[0], **of_family)
    by_subtask = [row for row in more.averages if (row.dataset, row.model) == ("d", "m")]
    assert by_subtask == [row for row in alone.averages if row.dataset == "d"]
    turned = compared(shuffled_in_file(rows, 2)[::-1], settings=chosen)
    orders = [sorted(map(str, [*found.rows, *found.averages])) for found in (turned, more)]
    assert orders[0] == orders[1]


def test_what_a_comparison_could_find_is_that_of_power() -> None:
    row = only_row(A * 10, B * 10)
    assert (row.n, row.treatment_only, row.baseline_only) == (100, 20, 40)
    detectable = mcnemar_detectable(100, 0.6)
    assert detectable is not None
    assert row.detectable == pytest.approx(detectable)
    assert mcnemar_power(100, 0.6, detectable) == pytest.approx(0.8, abs=0.01)


@pytest.fixture
def three_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write scores of three methods into the current folder."""
    monkeypatch.chdir(tmp_path)
    verdicts = {"b": [1.0, 0.0, 0.0, 1.0], "a": [1.0, 1.0, 0.0, 1.0], "c-1.5": [0.0, 0.0, 0.0, 1.0]}
    rows = [row for method, values in verdicts.items() for row in scored(method, values)]
    write_rows(rows, ScoreRow, choose_target(None, Path("scores.jsonl")))


@pytest.mark.usefixtures("three_methods")
@pytest.mark.parametrize(
    ("names", "options"),
    [
        pytest.param(["a", "b"], ["--baseline", "a", "--treatment", "b"], id="two"),
        pytest.param(["A"], ["--baseline", "a"], id="only a baseline, in capitals"),
        pytest.param(
            ["c-1.5", "b", "a"], ["--baseline", "c-1.5", "--treatment", "b,a"], id="three"
        ),
    ],
)
def test_methods_after_the_scores_are_a_baseline_and_treatments(
    names: list[str], options: list[str]
) -> None:
    ended = invoke("compare", "scores.jsonl", *names, "--format", "csv")
    expected = invoke("compare", "scores.jsonl", *options, "--format", "csv")
    assert (ended.code, ended.stdout) == (0, expected.stdout)
    assert f"the baseline is {names[0]}, the first of the methods named\n" in ended.stderr
    mean = {"a": 0.75, "b": 0.5, "c-1.5": 0.25}
    for row in ended.rows:
        difference = mean[row["treatment"]] - mean[names[0].lower()]
        assert float(row["difference"]) == pytest.approx(difference)


@pytest.mark.usefixtures("three_methods")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["other.jsonl"],
            "other.jsonl: no such file or folder, and no method; the methods are ",
        ),
        (["a", "--baseline", "b"], "a: no such file or folder; methods are named either by --bas"),
        (["a", "--all-pairs"], "a: no such file or folder; methods are named either by --baseline"),
    ],
)
def test_names_after_the_scores_that_are_no_methods_are_refused(
    arguments: list[str], problem: str
) -> None:
    ended = invoke("compare", "scores.jsonl", *arguments)
    assert (ended.code, ended.stdout) == (2, "")
    assert problem in ended.stderr


@pytest.mark.usefixtures("three_methods")
@pytest.mark.parametrize("name", ["x.tex", "x.md"])
def test_sorted_tables_for_papers_have_their_columns_and_all_their_lines(name: str) -> None:
    arguments = ["compare", "scores.jsonl", "--baseline", "b"]
    invoke(*arguments, "-o", name)
    plain_lines = Path(name).read_text().splitlines()
    ended = invoke(*arguments, "--sort", "difference", "-o", name)
    assert ended.code == 0
    lines = Path(name).read_text().splitlines()
    assert (lines != plain_lines, sorted(lines)) == (True, sorted(plain_lines))
    text = "\n".join(lines)
    assert text.index("c-1.5 ") < text.index("a $-$" if name == "x.tex" else "a −")
