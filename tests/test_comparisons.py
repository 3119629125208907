from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import evalcore
from evalcore.commands.compare import CompareRow, compare_methods
from evalcore.paired_tests import Settings
from evalcore.scores import ScoreRow, choose_runs
from ngramscan.errors import InputError
from ngramscan.reporting import choose_target, to_frame, write_rows
from ngramscan.reporting.layout import p_text
from tests.support.command import invoke
from tests.test_figures import marks, overlapping, saved, texts_of

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


def test_right_and_wrong_answers_have_the_mid_p_test_and_newcombes_interval() -> None:
    row = only_row(A, B)
    assert (row.n, row.treatment_only, row.baseline_only) == (10, 2, 4)
    assert (row.accuracy_baseline, row.accuracy_treatment) == (0.6, 0.4)
    assert (row.test, row.p_exact) == ("mid-p McNemar", stats.binomtest(2, 6).pvalue)
    assert row.p == pytest.approx(stats.binomtest(2, 6).pvalue - stats.binom.pmf(2, 6, 0.5))
    assert -1 < (row.difference_low or 0) < -0.2 < (row.difference_high or 0) < 1
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
    known = compared(both([*A, None], [*B, 1.0]))
    found = compared(both([*A, None, "?", 1.0, 1.0], [*B, 1.0, 1.0, "?", ".", 0.0, 1.0]))
    (row,) = found.rows
    assert (row.n_unknown, [replace(row, n_unknown=0)]) == (5, known.rows)
    said = "5 of 16 pairs are left out, because one of the results is unknown"
    assert (found.heading, known.heading, found.failures) == (said, "", [])
    said = "5 pairs left out: 2 with an unknown result, 3 not put to every method"
    assert found.notices == [f"d, m, strict, pot − cot: {said}"]


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


def test_a_row_says_where_interval_and_test_disagree() -> None:
    said = "excludes 0, but p is above 0.05", "includes 0, but p is at most 0.05", "", ""
    # Both right, only the baseline, only the treatment, neither.
    cells = (0, 3, 10, 7), (5, 4, 12, 79), (5, 3, 13, 79), (5, 5, 8, 82)
    for counts, where in zip(cells, said, strict=True):
        first, second = (np.repeat(one, counts) for one in ([1.0, 1.0, 0, 0], [1.0, 0, 1.0, 0]))
        note = f"interval and test disagree: the interval {where}" if where else ""
        assert only_row(first, second).note == note


def test_several_models_are_also_taken_together_with_problems_as_clusters() -> None:
    answers = np.random.default_rng(5).integers(0, 2, (3, 2, 40)).astype(float)
    rows = [one for k, values in enumerate(answers, 1) for one in both(*values, model=f"m{k}")]
    *single, together = compared(rows).rows
    assert [row.model for row in single] == ["m1", "m2", "m3"]
    assert (together.model, together.n) == ("all", 120)
    assert together.treatment_only == sum(row.treatment_only for row in single)
    assert together.difference == pytest.approx(np.mean([row.difference for row in single]))
    assert together.test == "nonparametric tilting"
    (alone,) = compared(rows, by=("dataset",)).rows
    counts = (together.n, together.treatment_only, together.difference)
    assert (alone.n, alone.treatment_only, alone.difference) == pytest.approx(counts)


def test_p_values_are_adjusted_within_the_declared_family_and_each_rule() -> None:
    rows = both(A, B, dataset="d1") + both(A, [1 - a for a in A], dataset="d2")
    single = [row.p for row in compared(rows).rows]
    together = multipletests(single, method="holm")[1]
    rows += [replace(row, rule="lenient") for row in rows]
    for family, adjusted in (((), together), (("dataset",), single), (("model",), together)):
        found = compared(rows, family=family).rows
        for rule in ("strict", "lenient"):
            p_values = [row.p_holm for row in found if row.rule == rule]
            assert p_values == pytest.approx(list(adjusted))


def test_all_pairs_of_methods_are_compared() -> None:
    found = compared([*both(A, B), *scored("f-1", A)], baseline=None).rows
    names = [f"{row.baseline} {row.treatment}" for row in found]
    assert names == ["cot pot", "cot f-1", "pot f-1"]
    assert (found[1].p, found[1].note) == (1.0, "no pair differs")


def test_rows_are_in_the_order_of_models_and_then_of_methods() -> None:
    rows = [row for model in "ab" for row in both(A, B, model=model)]
    rows += [row for model in "ab" for row in scored("fp", B, model=model)]
    found = [(row.model, row.treatment) for row in compared(rows).rows if row.model != "all"]
    assert found == [("a", "pot"), ("a", "fp"), ("b", "pot"), ("b", "fp")]


def test_averages_of_several_files_say_what_they_are_of(tmp_path: Path) -> None:
    rows = []
    for dataset, size, gain in (("small", 10, 1.0), ("large", 30, 0.0)):
        for part in "ab":
            zeros = [0.0] * (size - 1)
            made = both([0.0, *zeros], [gain, *zeros], dataset=dataset, subtask=part)
            rows += [replace(row, id=part + row.id) for row in made]
    own = {name: [row for row in rows if row.method == name] for name in ("cot", "pot")}
    files = [written(own[name], tmp_path / f"{name}.csv") for name in own]
    frame = evalcore.compare(files, baseline="cot", averages=tmp_path / "averages.csv")
    assert list(frame["treatment_only"]) == [2, 0]
    read: Any = pd.read_csv(tmp_path / "averages.csv")
    averages = {(row.average, row.dataset): row for row in read.itertuples()}
    assert averages["macro over subtasks", "small"].difference == pytest.approx(0.1)
    assert averages["macro over subtasks", "large"].difference == pytest.approx(0.0)
    assert averages["micro", "all"].difference == pytest.approx(2 / 80)
    macro = averages["macro over benchmarks", "all"]
    assert macro.difference == pytest.approx(0.05)
    assert macro.difference_low < 0.05 < macro.difference_high
    assert (macro.parts, macro.n) == (2, 80)


def test_repeated_answers_to_a_problem_are_a_cluster() -> None:
    rows = [*both(A, B, epoch=1), *both(A, B, epoch=2)]
    (row,) = compared(rows, settings=Settings(graded_test="sign-flip")).rows
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


POPULATIONS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "all .1": lambda generator, n: np.full(n, 0.1),
    "Beta(2, 2)": lambda generator, n: generator.beta(2, 2, n),
    "Beta(.3, .3)": lambda generator, n: generator.beta(0.3, 0.3, n),
    ".95 and .05": lambda generator, n: np.where(generator.random(n) < 0.9, 0.95, 0.05),
}
LONG = [(name, *sizes) for name in POPULATIONS for sizes in ((30, 2), (100, 2), (100, 5))]


@pytest.mark.parametrize(
    ("population", "n", "epochs"),
    [("Beta(2, 2)", 30, 2), *(pytest.param(*one, marks=pytest.mark.slow) for one in LONG)],
)
def test_epochs_of_one_method_alone_keep_the_level(population: str, n: int, epochs: int) -> None:
    generator = np.random.default_rng(13)
    rows: list[ScoreRow] = []
    for number in range(300):
        share = POPULATIONS[population](generator, n)
        once, *several = (generator.random((1 + epochs, n)) < share).astype(float)
        rows += scored("pot", once, dataset=str(number))
        for epoch, values in enumerate(several, 1):
            rows += scored("cot", values, epoch=epoch, dataset=str(number))
    found = compared(rows).rows
    # 300 comparisons: .05 + 3 · sqrt(.05 · .95 / 300) is .088.
    assert sum(row.p <= 0.05 for row in found) / 300 <= 0.088


METHODS = ("cot", "pot", "f-1")


def written(rows: list[ScoreRow], path: Path) -> Path:
    write_rows(rows, ScoreRow, choose_target(None, path))
    return path


def test_of_several_runs_none_is_chosen_for_the_reader(tmp_path: Path) -> None:
    rows = [*both(A, B, run=FIRST), *scored("cot", [1.0] * 5, run=SECOND)]
    path = written(rows, tmp_path / "runs.jsonl")
    listed = f"d, m, cot, strict has 2 runs: {FIRST} (10 rows), {SECOND} (5 rows)"
    cure = f'scores: {listed}; choose one with run=NAME or run="latest"'
    for wanted in ([], ["2026-01"], [FIRST, SECOND]):
        with pytest.raises(InputError) as caught:
            evalcore.compare(path, baseline="cot", run=wanted)
        assert str(caught.value) == cure
    with pytest.raises(InputError) as caught:
        evalcore.compare(path, baseline="cot", run=["Kc"])
    assert str(caught.value) == f'run="Kc": no run has this name; {listed}'
    for name, n, n_unknown in ((FIRST, 10, 0), ("Ka", 10, 0), ("latest", 5, 5), ("Kb", 5, 5)):
        for found in (
            evalcore.compare(path, baseline="cot", run=[name]),
            evalcore.outcomes(path, baselines="cot", adaptive="pot", run=[name]),
        ):
            (row,) = found.to_dict("records")
            assert (row["n"], row["n_unknown"]) == (n, n_unknown)


def test_what_can_not_be_compared_is_refused() -> None:
    rows, expected = both(A, B), "baseline: either .* was expected; the methods are cot, pot"
    alone = [replace(ROW, model=model) for model in ("m", "m0", "m1", "m2", "m3")]
    cases: list[tuple[list[ScoreRow], dict[str, Any], str]] = [
        (alone, {}, r"there are d, m, strict: cot; d, m0.*; d, m1, strict: cot; and 2 more$"),
        (scored("cot", A), {}, "scores: nothing to compare: .*; there are d, m, strict: cot$"),
        (rows, {"baseline": "dot"}, 'baseline="dot": one of cot, pot was expected'),
        (rows, {"treatment": "tot"}, 'treatment="tot": one of cot, pot was expected'),
        (rows, {"treatment": "COT"}, 'treatment="cot": this method is the baseline, too'),
        (rows, {"by": "rule"}, 'by="rule": one of dataset, model was expected'),
        (rows, {"family": "colour"}, 'family="colour": one of dataset, model, rule, baseline'),
        (rows, {"baseline": None}, expected),
        (rows, {"all_pairs": True}, expected),
        (rows, {"rule": "lenient"}, 'rule="lenient": one of strict was expected'),
        (rows, {"level": 2.0}, "level=2"),
        ([], {}, "data frame: there are no rows"),
    ]
    for given, options, message in cases:
        with pytest.raises(InputError, match=message):
            evalcore.compare(to_frame(given, ScoreRow), **{"baseline": "cot"} | options)
    with pytest.raises(InputError, match="d, m, cot, strict, id 1: scored twice"):
        compared([*rows, ROW])


def test_one_problem_and_equal_answers_give_no_nan() -> None:
    for first, second in (([1.0], [0.0]), ([1.0], [1.0]), ([0.5], [0.25]), ([0.5] * 3, [0.5] * 3)):
        row = only_row(first, second)
        assert all(np.isfinite([one for one in astuple(row) if isinstance(one, float)]))
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
    texts = "both answered", "1: -100.0, p 0.500", "macro over benchmarks (2)", "micro (2)"
    assert [text for text in texts if text not in done.stdout] == []
    assert paper.stdout.splitlines()[1] == "\\begin{tabular}{@{}lllrrrrrrrr@{}}"
    cells = paper.stdout.splitlines()[5].split(" & ")
    assert cells[:8] == ["d", "m", "pot $-$ cot", "20", "12", "0", "40.0", "100.0"]
    assert cells[9] == "2.4e-04***"
    invoke(*asked, "--averages", tmp_path / "averages.tex")
    assert "micro (2) & all & m &" in (tmp_path / "averages.tex").read_text(encoding="utf-8")


def many_models() -> list[ScoreRow]:
    """Three methods of six models on two benchmarks; one answer of each is unknown."""
    draw, rows = np.random.default_rng(8), list[ScoreRow]()
    for dataset, n, method in product(("financemath", "olympiadbench"), range(6), METHODS):
        values: list[Given] = ["?", *draw.integers(0, 2, 20).astype(float)]
        values[-1] = "!" if method == "pot" else values[-1]
        model = f"deepseek-ai/DeepSeek-V3.{n}-Terminus"
        rows += scored(method, values, dataset=dataset, model=model, answer="5")
    return rows


@pytest.mark.parametrize("baseline", ["cot", None])
def test_a_forest_plot_has_a_mark_per_row_with_its_difference(
    baseline: str | None, tmp_path: Path
) -> None:
    rows = compared(many_models(), baseline=baseline, settings=Settings(resamples=100)).rows
    sheet = saved(tmp_path / "a.svg", rows)
    drawn = marks(sheet)
    values = [mark.attrib["data-value"] for mark in drawn]
    assert sorted(values) == sorted(repr(row.difference) for row in rows)
    assert all({"data-low", "data-high"} <= {*mark.attrib} for mark in drawn)
    labels = texts_of(sheet, "label")
    pooled = [label for label in labels if (label or "").startswith("all · ")]
    assert len(pooled) == sum(row.model == "all" for row in rows)
    asides = " ".join(text or "" for text in texts_of(sheet, "aside"))
    assert all(f"n {row.n:,}" in asides for row in rows)
    assert "p 0." in asides
    assert overlapping(sheet) == []


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
    assert (tmp_path / "f.svg").read_text(encoding="utf-8").count(">all · ") == 8


def test_an_interval_by_bootstrap_is_near_newcombes() -> None:
    first, second = np.random.default_rng(2).integers(0, 2, (2, 300)).astype(float)
    newcombe, drawn = only_row(first, second), only_row(first, second, interval="bootstrap")
    assert drawn.difference == pytest.approx(newcombe.difference)
    limits = pytest.approx((newcombe.difference_low, newcombe.difference_high), abs=0.01)
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
    nearly: list[Given] = [*([1.0] * 94), *("!" * 6)]
    treatment: list[Given] = [*([1.0] * 96), *("!" * 4)]
    found = compared(both(nearly, treatment, answer="5"))
    assert not found.notices
    assert (found.rows[0].unanswered_baseline, found.rows[0].unanswered_treatment) == (0.06, 0.04)
    assert (found.rows[0].n_no_answer, found.rows[0].accuracy_baseline) == (0, 0.94)
    found = compared(both([*nearly[50:], *([None] * 50)], treatment, answer="5"))
    assert (found.rows[0].unanswered_baseline, found.rows[0].n_no_answer) == (0.12, 50), "complete"
    (warning,) = found.notices
    assert warning.startswith("Warning: d, m, strict, pot − cot: no answer was found in 12.0% of")
    # Rows of others do not say whether an answer was found.
    (row,) = compared([*scored("cot", nearly, answer="5"), *scored("pot", A)]).rows
    assert (row.unanswered_baseline, row.unanswered_treatment) == (0.0, None)


def test_stars_are_those_of_the_paper() -> None:
    for p, text in (
        (None, "–"),
        (0.05, "0.050"),
        (0.049, "0.049*"),
        (9e-4, "9.0e-04***"),
        (0.9994, "0.999"),
        (0.9996, ">0.999"),
        (1.0, "1"),
    ):
        assert (p_text(p, stars=True), p_text(p)) == (text, text.rstrip("*"))


def shuffled_in_file(rows: list[ScoreRow], seed: int) -> list[ScoreRow]:
    """Return the rows in another order, with other benchmarks and models among them."""
    draw = np.random.default_rng(seed)
    others = graded_rows(draw, "d", "another") + graded_rows(draw, "another", "m")
    return [[*rows, *others][place] for place in draw.permutation(len(rows) + len(others))]


def graded_rows(draw: np.random.Generator, dataset: str, model: str) -> list[ScoreRow]:
    return [
        one
        for epoch in (1, 2)
        for one in both(
            draw.beta(1, 1, 30), draw.beta(1, 0.8, 30), dataset=dataset, model=model, epoch=epoch
        )
    ]


@pytest.mark.parametrize("test", ["tilting", "bootstrap-t", "sign-flip", "signed-rank"])
def test_a_row_does_not_depend_on_the_order_of_rows_or_on_what_else_is_in_the_file(
    test: Any,
) -> None:
    chosen, draw = Settings(graded_test=test, resamples=300), np.random.default_rng(1)
    rows = graded_rows(draw, "d", "m")
    rows = [replace(one, subtask=f"s{int(one.id) % 3}") for one in rows]
    alone = compared(rows, settings=chosen)
    more = compared(shuffled_in_file(rows, 2), settings=chosen)
    names = {(row.dataset, row.model): row for row in more.rows}
    assert replace(names["d", "m"], p_holm=None) == replace(alone.rows[0], p_holm=None)
    by_subtask = [one for one in more.averages if (one.dataset, one.model) == ("d", "m")]
    assert by_subtask == [one for one in alone.averages if one.dataset == "d"]
    again = compared(shuffled_in_file(rows, 3), settings=chosen)
    both_orders = [
        sorted(map(str, [*found.rows, *found.averages]))
        for found in (compared(shuffled_in_file(rows, 2)[::-1], settings=chosen), more)
    ]
    assert both_orders[0] == both_orders[1]
    assert len(again.rows) == len(more.rows)


@pytest.mark.parametrize(
    ("n_not_found", "is_told"), [pytest.param(20, False, id="2"), pytest.param(21, True, id="2.1")]
)
def test_methods_that_differ_by_more_than_2_points_in_answers_not_found_are_told(
    n_not_found: int, is_told: bool
) -> None:
    treatment: list[Given] = [*([1.0] * (1000 - n_not_found)), *("!" * n_not_found)]
    found = compared(both([1.0] * 1000, treatment, answer="5"))
    assert [notice.partition(":")[0] for notice in found.notices] == ["Warning"] * is_told
