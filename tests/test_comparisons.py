from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats
from statsmodels.stats.multitest import multipletests

import evalcore
from evalcore.cli import main
from evalcore.compare import CompareRow, compare_methods, p_text
from evalcore.scores import ScoreRow, choose_runs
from evalcore.statistics import Settings
from ngramscan.errors import InputError
from ngramscan.output import choose_target, write_rows

ROW = ScoreRow("d", "m", "cot", "1", None, "strict", 1.0, None, None, "")
Given = float | str | None


def scored(method: str, values: Iterable[Given], **fields: Any) -> list[ScoreRow]:
    """One row per problem: a value, None for no answer, "?" for an unknown result, "." for none."""
    rows = []
    for number, given in enumerate(values):
        value = given if isinstance(given, float) else None
        status = "scored" if value is not None else "unknown" if given == "?" else "no_answer"
        row = replace(ROW, method=method, id=str(number), value=value, status=status, **fields)
        rows += [row] if given != "." else []
    return rows


def compared(rows: list[ScoreRow], **options: Any) -> SimpleNamespace:
    """What compare_methods returns, by name."""
    found, averages, said = compare_methods(rows, **({"baseline": "cot"} | options))
    return SimpleNamespace(rows=found, averages=averages, **said)


def only_row(first: Iterable[Given], second: Iterable[Given], **how: Any) -> CompareRow:
    """The row of two methods on one benchmark."""
    (row,) = compared([*scored("cot", first), *scored("pot", second)], how=Settings(**how)).rows
    return cast("CompareRow", row)


A = [1.0] * 6 + [0.0] * 4  # the baseline
B = [1.0] * 2 + [0.0] * 4 + [1.0] * 2 + [0.0] * 2  # b = 2, c = 4


def test_right_and_wrong_answers_have_the_mid_p_test_and_newcombes_interval() -> None:
    row = only_row(A, B)
    assert (row.n, row.treatment_only, row.baseline_only) == (10, 2, 4)
    assert (row.accuracy_baseline, row.accuracy_treatment) == (60.0, 40.0)
    assert (row.test, row.p_exact) == ("mid-p McNemar", stats.binomtest(2, 6).pvalue)
    assert row.p == pytest.approx(stats.binomtest(2, 6).pvalue - stats.binom.pmf(2, 6, 0.5))
    assert -100 < (row.difference_low or 0) < -20 < (row.difference_high or 0) < 100
    assert (row.n_complete, row.difference_complete, row.p_complete) == (10, row.difference, row.p)
    assert (row.p_holm, row.note) == (row.p, "")


def test_no_answer_is_wrong_and_left_out_beside_it() -> None:
    first, second = [1.0, 1.0, None, 0.0, 1.0], [1.0, None, 1.0, 1.0, 0.0]
    row = only_row(first, second)
    assert (row.n, row.treatment_only, row.baseline_only) == (5, 2, 2)
    assert row.difference_complete == pytest.approx(0.0)
    assert (row.n_complete, row.n_no_answer, row.n_unknown) == (3, 2, 0)
    assert row.note == "no answer: 2, counted as wrong"
    row = only_row(first, second, no_answer="exclude")
    assert (row.n, row.treatment_only, row.baseline_only) == (3, 1, 1)
    assert (row.n_no_answer, row.n_complete, row.note) == (2, 3, "no answer: 2, left out")


def test_a_pair_of_which_nothing_is_known_is_no_pair() -> None:
    known = [*scored("cot", [*A, None]), *scored("pot", [*B, 1.0])]
    more = scored("cot", [*A, None, "?", 1.0, 1.0, "."]) + scored("pot", [*B, 1.0, 1.0, "?", "."])
    found = compared([*more, *scored("pot", ["."] * 14 + [0.0, 1.0])])
    (row,) = found.rows
    assert row.n_unknown == 5
    assert [replace(row, n_unknown=0)] == compared(known).rows
    said = "5 of 16 pairs are left out, since nothing is known of one of the answers"
    assert (found.heading, compared(known).heading, found.failures) == (said, "", [])
    said = "5 pairs left out: 2 with an unknown result, 3 not put to every method"
    assert found.notices == [f"d, m, strict, pot − cot: {said}"]


def test_a_cell_of_which_nothing_is_known_has_no_row_and_is_told() -> None:
    nothing = scored("cot", ["?", 1.0], model="m2") + scored("pot", [1.0, "."], model="m2")
    rows = [*scored("cot", A), *scored("pot", B), *nothing]
    found = compared(rows)
    assert [row.model for row in found.rows] == ["m", "all"]
    assert found.rows[1].n_unknown == 2
    assert found.failures == [
        "d, m2, strict, pot − cot: nothing to compare; 2 pairs left out: 1 with an unknown result, "
        "1 not put to every method"
    ]
    assert found.heading.startswith("2 of 12 pairs are left out")
    assert compared(nothing).rows == []
    assert compared([*rows, *scored("cot", A, model="m3")]).notices == ["d, m3, strict: no pot"]


def test_nothing_but_missing_answers_has_no_row_where_these_are_left_out() -> None:
    rows = [*scored("cot", [None, None]), *scored("pot", [1.0, 0.0])]
    (row,) = compared(rows).rows
    assert (row.n, row.n_complete, row.difference_complete, row.p_complete) == (2, 0, None, None)
    found = compared(rows, how=Settings(no_answer="exclude"))
    assert found.rows == []
    left_out = "2 pairs left out: 2 without an answer"
    assert found.failures == [f"d, m, strict, pot − cot: nothing to compare; {left_out}"]


def test_test_and_interval_of_graded_answers_are_of_the_same_draws() -> None:
    first = np.random.default_rng(3).uniform(0.45, 0.95, 40)
    # Small gains on most problems, large losses on some: the ranks say one thing, the mean another.
    second = first + np.where(np.arange(40) % 10 < 9, 0.05, -0.45)
    row = only_row(first, second)
    assert row.test == "bootstrap-t, 10000 draws"
    assert row.p is not None
    assert row.p > 0.5
    assert "disagree" not in row.note
    row = only_row(first, second, graded_test="signed-rank")
    assert row.test.startswith("exact signed-rank")
    assert row.p is not None
    assert row.p < 0.05
    assert "the interval includes 0, but p is at most 0.05" in row.note
    row = only_row(first, np.sqrt(1 - first), graded_test="sign-flip", draws=200)
    assert row.test == "sign flips, 200 draws"
    assert "standard error of p 0.0" in row.note


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        # both right, only the baseline, only the treatment, neither
        pytest.param((0, 3, 10, 7), "the interval excludes 0, but p is above 0.05", id="p .057"),
        pytest.param((5, 4, 12, 79), "the interval includes 0, but p is at most 0.05", id="p .049"),
        pytest.param((5, 3, 13, 79), "", id="both find it"),
        pytest.param((5, 5, 8, 82), "", id="neither finds it"),
    ],
)
def test_a_row_says_where_interval_and_test_disagree(
    counts: tuple[int, int, int, int], said: str
) -> None:
    row = only_row(np.repeat([1.0, 1.0, 0.0, 0.0], counts), np.repeat([1.0, 0.0, 1.0, 0.0], counts))
    assert row.note == (f"interval and test disagree: {said}" if said else "")


def test_several_models_are_also_taken_together_with_problems_as_clusters() -> None:
    generator = np.random.default_rng(5)
    rows: list[ScoreRow] = []
    for model in ("m1", "m2", "m3"):
        rows += scored("cot", generator.integers(0, 2, 40).astype(float), model=model)
        rows += scored("pot", generator.integers(0, 2, 40).astype(float), model=model)
    *single, together = compared(rows).rows
    assert [row.model for row in single] == ["m1", "m2", "m3"]
    assert (together.model, together.n) == ("all", 120)
    assert together.treatment_only == sum(row.treatment_only for row in single)
    assert together.difference == pytest.approx(np.mean([row.difference for row in single]))
    assert "sign" in together.test
    (alone,) = compared(rows, by=("dataset",)).rows
    assert (alone.n, alone.treatment_only) == (together.n, together.treatment_only)
    assert alone.difference == pytest.approx(together.difference)


def test_p_values_are_adjusted_within_the_declared_family_and_each_rule() -> None:
    rows = [*scored("cot", A, dataset="d1"), *scored("pot", B, dataset="d1")]
    rows += scored("cot", A, dataset="d2") + scored("pot", [1 - a for a in A], dataset="d2")
    single = [row.p for row in compared(rows).rows]
    together = multipletests(single, method="holm")[1]
    rows += [replace(row, rule="lenient") for row in rows]
    for family, adjusted in (((), together), (("dataset",), single), (("model",), together)):
        for rule in ("strict", "lenient"):
            found = [row.p_holm for row in compared(rows, family=family).rows if row.rule == rule]
            assert found == pytest.approx(list(adjusted))


def test_all_pairs_of_methods_are_compared() -> None:
    rows = [*scored("cot", A), *scored("pot", B), *scored("f-1", A)]
    found = compared(rows, baseline=None).rows
    assert [(row.baseline, row.treatment) for row in found] == [
        ("cot", "pot"),
        ("cot", "f-1"),
        ("pot", "f-1"),
    ]
    assert found[1].p == 1.0
    assert "no pair differs" in found[1].note


def test_averages_say_what_they_are_of() -> None:
    rows = []
    for dataset, size, gain in (("small", 10, 1.0), ("large", 30, 0.0)):
        for subtask in ("a", "b"):
            fields = {"dataset": dataset, "subtask": subtask}
            values = [0.0] * size
            for method, value in (("cot", values), ("pot", [gain, *values[1:]])):
                rows += [
                    replace(row, id=f"{subtask}{row.id}") for row in scored(method, value, **fields)
                ]
    averages = {(row.average, row.dataset): row for row in compared(rows).averages}
    assert averages["macro over subtasks", "small"].difference == pytest.approx(10.0)
    assert averages["macro over subtasks", "large"].difference == pytest.approx(0.0)
    assert averages["micro", "all"].difference == pytest.approx(100 * 2 / 80)
    macro = averages["macro over benchmarks", "all"]
    assert macro.difference == pytest.approx(5.0)
    assert macro.difference_low < 5 < macro.difference_high
    assert (macro.parts, macro.n) == (2, 80)


def twice(rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """Two epochs of the same."""
    return [replace(row, epoch=epoch) for epoch in (1, 2) for row in rows]


def test_repeated_answers_to_a_problem_are_a_cluster() -> None:
    rows = [*twice(scored("cot", A)), *twice(scored("pot", B))]
    (row,) = compared(rows).rows
    assert (row.n, row.treatment_only, row.baseline_only) == (20, 4, 8)
    assert "sign" in row.test
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
    (row,) = compared(rows).rows
    differences = once - np.mean(several, axis=0)
    assert (row.n, row.n_unknown) == (90, 0)
    assert row.difference == pytest.approx(100 * differences.mean())
    assert row.accuracy_treatment == pytest.approx(100 * once.mean())
    assert row.treatment_only + row.baseline_only == sum(sum(own != once) for own in several)
    signs = generator.choice([-1, 1], (20_000, 30))
    as_far = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9
    assert row.p == pytest.approx(as_far.mean(), abs=0.02)
    # An epoch that failed leaves the others; a problem that was put to one method leaves none.
    failed: dict[str, Any] = {"value": None, "status": "unknown"}
    rows = [replace(one, **failed) if one.id == "0" and one.epoch == 2 else one for one in rows]
    (row,) = compared([*rows, replace(ROW, method="pot", id="new")]).rows
    assert (row.n, row.n_unknown) == (89, 2)


POPULATIONS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "all .1": lambda generator, n: np.full(n, 0.1),
    "Beta(2, 2)": lambda generator, n: generator.beta(2, 2, n),
    "Beta(.3, .3)": lambda generator, n: generator.beta(0.3, 0.3, n),
    ".95 and .05": lambda generator, n: np.where(generator.random(n) < 0.9, 0.95, 0.05),
}


def rejected(population: str, n: int, epochs: int, repetitions: int) -> float:
    """The share of comparisons with p up to .05 of two methods that are right equally often."""
    generator = np.random.default_rng(13)
    count = 0
    for _ in range(repetitions):
        share = POPULATIONS[population](generator, n)
        rows = scored("pot", (generator.random(n) < share).astype(float).tolist())
        for epoch in range(1, epochs + 1):
            rows += scored("cot", (generator.random(n) < share).astype(float).tolist(), epoch=epoch)
        (row,) = compared(rows, how=Settings(draws=600)).rows
        count += row.p is not None and row.p <= 0.05
    return count / repetitions


def test_epochs_of_one_method_alone_seldom_make_a_difference_that_is_not_there() -> None:
    assert rejected("Beta(2, 2)", 40, 2, 80) <= 0.125


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize(("n", "epochs"), [(30, 2), (100, 2), (100, 5)])
def test_epochs_of_one_method_alone_keep_the_level(population: str, n: int, epochs: int) -> None:
    # 300 comparisons: .05 + 3 · sqrt(.05 · .95 / 300) is .088.
    assert rejected(population, n, epochs, 300) <= 0.088


FIRST, SECOND = "2026-01-02T03-04-05_Ka", "2026-01-03T00-00-00_Kb"


def two_runs(tmp_path: Path) -> Path:
    """Two runs of cot, the second on half of the problems, and one of pot."""
    rows = [*scored("cot", A, run=FIRST), *scored("cot", [1.0] * 5, run=SECOND)]
    path = tmp_path / "runs.jsonl"
    write_rows([*rows, *scored("pot", B, run=FIRST)], ScoreRow, choose_target(None, path))
    return path


def test_of_several_runs_none_is_chosen_for_the_reader(tmp_path: Path) -> None:
    path = two_runs(tmp_path)
    listed = f"d, m, cot, strict has 2 runs: {FIRST} (10 rows), {SECOND} (5 rows)"
    cure = f"scores: {listed}; --run NAME says which is meant, or --run latest"
    for wanted in ([], ["2026-01"], [FIRST, SECOND]):
        with pytest.raises(InputError) as caught:
            evalcore.compare(path, baseline="cot", run=wanted)
        assert str(caught.value) == cure
    with pytest.raises(InputError) as caught:
        evalcore.compare(path, baseline="cot", run=["Kc"])
    assert str(caught.value) == f"--run Kc: no run has that name; {listed}"
    for name, n, n_unknown in ((FIRST, 10, 0), ("Ka", 10, 0), ("latest", 5, 5), ("Kb", 5, 5)):
        for found in (
            evalcore.compare(path, baseline="cot", run=[name]),
            evalcore.outcomes(path, baselines="cot", adaptive="pot", run=[name]),
        ):
            (row,) = found.to_dict("records")
            assert (row["n"], row["n_unknown"]) == (n, n_unknown)
    done = invoke("compare", path, "--baseline", "cot")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"Error: {cure}\n")


BOTH = [*scored("cot", A), *scored("pot", B)]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (scored("cot", A), {}, "nothing to compare"),
        (BOTH, {"treatments": ("tot",)}, "method tot: not scored; there are cot, pot"),
        (BOTH, {"treatments": ("COT",)}, "--treatment cot: it is the baseline too"),
        ([*BOTH, ROW], {}, "d, m, cot, strict, id 1: it was scored twice"),
        (BOTH, {"by": ("rule",)}, "--by rule: one of dataset, model was expected"),
        (BOTH, {"family": ("colour",)}, "--family colour: one of dataset, model, rule, baseline"),
        ([], {}, "method cot: not scored"),
        ([], {"baseline": None}, "nothing to compare"),
    ],
)
def test_what_can_not_be_compared_is_refused(
    rows: list[ScoreRow], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        compared(rows, **options)


def test_one_problem_and_equal_answers_give_no_nan() -> None:
    for first, second in (([1.0], [0.0]), ([1.0], [1.0]), ([0.5], [0.25]), ([0.5] * 3, [0.5] * 3)):
        values = astuple(only_row(first, second))
        assert all(np.isfinite([value for value in values if isinstance(value, float)]))


def test_the_function_reads_files_and_returns_a_frame(tmp_path: Path) -> None:
    for method, values in (("cot", A), ("pot", B)):
        target = choose_target(None, tmp_path / f"{method}.csv")
        write_rows(scored(method, values), ScoreRow, target)
    files = [tmp_path / "cot.csv", tmp_path / "pot.csv"]
    frame = evalcore.compare(files, baseline="cot", averages=tmp_path / "averages.csv")
    assert list(frame["treatment_only"]) == [2]
    assert (tmp_path / "averages.csv").read_text().startswith("average,dataset")
    for options, message in (
        ({}, "--baseline: either a baseline or --all-pairs was expected"),
        ({"baseline": "cot", "all_pairs": True}, "either a baseline or --all-pairs"),
        ({"baseline": "cot", "rule": ["lenient"]}, "--rule lenient: not scored"),
        ({"baseline": "cot", "level": 2.0}, "--level 2"),
    ):
        with pytest.raises(InputError, match=message):
            evalcore.compare(files, **cast("Any", options))
    done = invoke("compare", *files)
    problem = "--baseline: either a baseline or --all-pairs was expected"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"Error: {problem}\n")


def invoke(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows = [*scored("cot", [0.0] * 12 + [1.0] * 8), *scored("pot", [1.0] * 20)]
    rows = [*rows, *(replace(row, model="m2") for row in rows)]
    rows += scored("cot", [1.0, None, "?"], dataset="e")
    rows += scored("pot", [0.0, 1.0, 1.0], dataset="e")
    write_rows(rows, ScoreRow, choose_target(None, tmp_path / "s.jsonl"))
    return tmp_path


def test_the_table_shows_stars_averages_and_what_is_missing(files: Path) -> None:
    done = invoke("compare", files / "s.jsonl", "--baseline", "cot", "--stars")
    assert done.exit_code == 0
    assert done.stderr == "e, m, strict, pot − cot: 1 pair left out: 1 with an unknown result\n"
    cells = [line.split() for line in done.stdout.splitlines()]
    first = next(line for line in cells if line[:2] == ["d", "m"])
    assert first[2:11] == ["pot", "−", "cot", "20", "12,", "0", "40.0", "100.0", "+60.0"]
    assert "2.4e-04***" in first
    left_out = "1 of 43 pairs is left out, since nothing is known of one of the answers"
    assert done.stdout.splitlines()[0] == left_out
    assert "both answered" in done.stdout
    assert "1: -100.0, p 0.500" in done.stdout
    assert "macro over benchmarks (2)" in done.stdout
    assert "micro (2)" in done.stdout


def test_a_paper_gets_its_table(files: Path) -> None:
    done = invoke("compare", files / "s.jsonl", "--baseline", "cot", "--stars", "--format", "latex")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[1] == "\\begin{tabular}{@{}lllrrrrrrrr@{}}"
    cells = lines[5].split(" & ")
    assert cells[:8] == ["d", "m", "pot $-$ cot", "20", "12", "0", "40.0", "100.0"]
    assert cells[9] == "2.4e-04***"


def test_an_interval_by_bootstrap_is_near_newcombes() -> None:
    first, second = np.random.default_rng(2).integers(0, 2, (2, 300)).astype(float)
    newcombe, drawn = only_row(first, second), only_row(first, second, interval="bootstrap")
    assert drawn.difference == pytest.approx(newcombe.difference)
    limits = pytest.approx((newcombe.difference_low, newcombe.difference_high), abs=1.0)
    assert (drawn.difference_low, drawn.difference_high) == limits
    assert only_row(first, second, interval="bootstrap") == drawn, "the seed is the same"


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


def test_outputs_in_which_no_answer_was_found_are_told_where_methods_differ_in_them() -> None:
    def outputs(method: str, n: int, n_nothing: int, n_cut: int = 0) -> list[ScoreRow]:
        rows = [replace(ROW, answer="5")] * n
        rows += [replace(ROW, status="not_found", value=0.0)] * n_nothing
        rows += [replace(ROW, status="no_answer", value=None)] * n_cut
        return [replace(row, method=method, id=str(k)) for k, row in enumerate(rows)]

    found = compared([*outputs("cot", 94, 6), *outputs("pot", 96, 4)])
    assert not found.notices
    assert (found.rows[0].unanswered_baseline, found.rows[0].unanswered_treatment) == (6.0, 4.0)
    assert (found.rows[0].n_no_answer, found.rows[0].accuracy_baseline) == (0, 94.0)
    found = compared([*outputs("cot", 44, 6, 50), *outputs("pot", 96, 4)])
    assert (found.rows[0].unanswered_baseline, found.rows[0].n_no_answer) == (12.0, 50), "complete"
    (warning,) = found.notices
    assert warning.startswith("Warning: d, m, strict, pot − cot: no answer was found in 12.0 % of")
    # Rows of others do not say whether an answer was found.
    (row,) = compared([*outputs("cot", 94, 6), *scored("pot", A)]).rows
    assert (row.unanswered_baseline, row.unanswered_treatment) == (0.0, None)


def test_published_verdicts_of_financemath(shared: Path) -> None:
    """B, c and p of programs against texts, computed here from the files alone."""
    folder = shared / "data" / "financemath" / "validation"
    rows: list[ScoreRow] = []
    expected: dict[str, tuple[int, int, float]] = {}
    for path in sorted((folder / "processed_pot_outputs").glob("*.json")):
        values: list[list[float]] = []
        for method in ("cot", "pot"):
            entries = json.loads((folder / f"processed_{method}_outputs" / path.name).read_text())
            own = {one["question_id"]: float(one["result"]["acc"]) for one in entries}
            values.append([own[name] for name in sorted(own)])
            rows += scored(method, values[-1], model=path.stem)
        gains = np.subtract(values[1], values[0])
        b, c = int((gains > 0).sum()), int((gains < 0).sum())
        as_far = stats.binom.pmf(b, b + c, 0.5) * (0.5 if b == c else 1)
        expected[path.stem] = (b, c, stats.binomtest(b, b + c).pvalue - as_far)
    found = [row for row in compared(rows).rows if row.model != "all"]
    assert [row.model for row in found] == list(expected)
    counts = [(200, b, c) for b, c, _ in expected.values()]
    assert [(row.n, row.treatment_only, row.baseline_only) for row in found] == counts
    p = [p for _, _, p in expected.values()]
    assert [row.p for row in found] == pytest.approx(p, rel=1e-10)
    adjusted = multipletests(p, method="holm")[1]
    assert [row.p_holm for row in found] == pytest.approx(list(adjusted), rel=1e-10)


def test_stars_are_those_of_the_paper() -> None:
    for p, text in ((None, "–"), (0.05, "0.050"), (0.049, "0.049*"), (9e-4, "9.0e-04***")):
        assert (p_text(p, stars=True), p_text(p)) == (text, text.rstrip("*"))
