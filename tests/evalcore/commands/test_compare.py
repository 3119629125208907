from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import evalcore
from evalcore.commands.compare import CompareRow, compare_methods
from evalcore.paired_tests import Settings
from evalcore.scores import ScoreRow, choose_runs
from ngramscan.errors import InputError
from ngramscan.reporting import choose_target, to_frame, write_rows
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
    return SimpleNamespace(rows=found, averages=averages, **said)


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
            for found in (
                evalcore.compare(path, baseline="cot", run=[name]),
                evalcore.outcomes(path, baselines="cot", adaptive="pot", run=[name]),
            ):
                (row,) = found.to_dict("records")
                assert (row["n"], row["n_unknown"]) == (n, n_unknown)


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
    treatment: list[Given] = [*([1.0] * (1000 - n_not_found)), *("!" * n_not_found)]
    found = compared(both([1.0] * 1000, treatment, answer="5"))
    assert [notice.partition(":")[0] for notice in found.notices] == ["Warning"] * is_told


def test_averages_weigh_subtasks_and_benchmarks_equally_or_by_their_pairs() -> None:
    parts = {"s": both(A, B), "t": both([*B, "?"], [*A, 1.0]), "u": both(A[2:8], B[2:8])}
    parts = {name: [replace(row, id=name + row.id) for row in rows] for name, rows in parts.items()}
    of_a = [replace(row, dataset="a", subtask=name) for name in "st" for row in parts[name]]
    of_b = [replace(row, dataset="b") for row in parts["u"]]
    found = compared([*of_a, *of_b]).averages
    assert [(row.average, row.dataset, row.parts, row.n, row.n_unknown) for row in found] == [
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
    for row, (each, weights) in zip(found, averaged, strict=True):
        alone = [compared(rows).rows[0] for rows in each]
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
