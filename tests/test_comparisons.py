from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import evalcore
from evalcore.cli import main
from evalcore.commands.comparing import p_text, stars_of
from evalcore.comparisons import Compared, compare_methods
from evalcore.paired_results import CompareSettings
from evalcore.scoring.base import ScoreRow
from evalcore.statistics import Settings
from ngramscan.errors import InputError
from ngramscan.output import choose_target, write_rows

ROW = ScoreRow("d", "m", "cot", "1", None, "strict", 1.0, None, None, "")


def scored(method: str, values: Iterable[float | None], **fields: Any) -> list[ScoreRow]:
    return [
        replace(ROW, method=method, id=str(number), value=value, **fields)
        for number, value in enumerate(values)
    ]


def compared(rows: list[ScoreRow], **options: Any) -> Compared:
    return compare_methods(rows, CompareSettings(**({"baseline": "cot"} | options)))


A = [1.0] * 6 + [0.0] * 4  # the baseline
B = [1.0] * 2 + [0.0] * 4 + [1.0] * 2 + [0.0] * 2  # b = 2, c = 4


def test_right_and_wrong_answers_have_the_exact_test_and_newcombes_interval() -> None:
    (row,) = compared([*scored("cot", A), *scored("pot", B)]).rows
    assert (row.n, row.b, row.c) == (10, 2, 4)
    assert (row.accuracy_baseline, row.accuracy_treatment) == (60.0, 40.0)
    assert row.difference == pytest.approx(-20.0)
    assert row.p == pytest.approx(stats.binomtest(2, 6).pvalue, abs=1e-12)
    assert row.p_holm == row.p
    assert row.difference_low is not None
    assert row.difference_high is not None
    assert -100 < row.difference_low < -20 < row.difference_high < 100
    assert (row.n_complete, row.difference_complete, row.p_complete) == (10, row.difference, row.p)
    assert row.note == ""


def test_missing_answers_are_wrong_and_left_out_beside_it() -> None:
    first = [1.0, 1.0, None, 0.0, 1.0]
    second = [1.0, None, 1.0, 1.0, 0.0]
    rows = [*scored("cot", first), *scored("pot", second)]
    (row,) = compared(rows).rows
    assert (row.n, row.b, row.c, row.n_complete) == (5, 2, 2, 3)
    assert row.difference_complete == pytest.approx(0.0)
    assert row.note == "missing: 2, counted as wrong"
    (row,) = compared(rows, statistics=Settings(missing="dropped")).rows
    assert (row.n, row.b, row.c, row.note) == (3, 1, 1, "missing: 2, left out")


def test_an_answer_that_has_no_row_is_missing_too() -> None:
    rows = [*scored("cot", [1.0, 1.0, 0.0]), *scored("pot", [1.0, 1.0])]
    (row,) = compared(rows).rows
    assert (row.n, row.n_complete) == (3, 2)


def test_nothing_but_missing_answers_is_refused_where_these_are_left_out() -> None:
    rows = [*scored("cot", [None, None]), *scored("pot", [1.0, 0.0])]
    (row,) = compared(rows).rows
    assert (row.n, row.n_complete, row.difference_complete, row.p_complete) == (2, 0, None, None)
    with pytest.raises(InputError, match="d, m, strict, cot, pot: "):
        compared(rows, statistics=Settings(missing="dropped"))


def test_graded_answers_have_the_exact_signed_rank_test() -> None:
    first, second = [0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.4, 0.6, 0.8, 1.0]
    (row,) = compared([*scored("cot", first), *scored("pot", second)]).rows
    assert row.p == pytest.approx(0.0625, abs=1e-12)
    assert row.difference == pytest.approx(30.0)
    rows = [*scored("cot", first), *scored("pot", second)]
    (row,) = compared(rows, graded_test="sign-flip").rows
    assert row.p == pytest.approx(0.0625, abs=1e-12)


def test_several_models_are_also_taken_together_with_problems_as_clusters() -> None:
    generator = np.random.default_rng(5)
    rows: list[ScoreRow] = []
    for model in ("m1", "m2", "m3"):
        rows += scored("cot", generator.integers(0, 2, 40).astype(float), model=model)
        rows += scored("pot", generator.integers(0, 2, 40).astype(float), model=model)
    *single, together = compared(rows).rows
    assert [row.model for row in single] == ["m1", "m2", "m3"]
    assert (together.model, together.n) == ("all", 120)
    assert together.b == sum(row.b for row in single)
    assert together.difference == pytest.approx(np.mean([row.difference for row in single]))
    assert "sign" in together.test
    (alone,) = compared(rows, by=("dataset",)).rows
    assert (alone.n, alone.b, alone.c) == (together.n, together.b, together.c)
    assert alone.difference == pytest.approx(together.difference)


def test_p_values_are_adjusted_within_the_declared_family() -> None:
    rows = [
        row
        for dataset, values in (("d1", B), ("d2", [1 - value for value in A]))
        for row in (*scored("cot", A, dataset=dataset), *scored("pot", values, dataset=dataset))
    ]
    first, second = compared(rows).rows
    assert first.p is not None
    assert second.p is not None
    assert second.p_holm == pytest.approx(min(1.0, 2 * second.p))
    first, second = compared(rows, family=("dataset",)).rows
    assert (first.p_holm, second.p_holm) == (first.p, second.p)
    with pytest.raises(InputError, match="--family colour"):
        compared(rows, family=("colour",))


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
    assert macro.difference_low is not None
    assert macro.difference_high is not None
    assert macro.difference_low < 5 < macro.difference_high
    assert (macro.parts, macro.n) == (2, 80)


def test_repeated_answers_to_a_problem_are_a_cluster() -> None:
    rows = [
        *(row for epoch in (1, 2) for row in scored("cot", A, epoch=epoch)),
        *(row for epoch in (1, 2) for row in scored("pot", B, epoch=epoch)),
    ]
    (row,) = compared(rows).rows
    assert (row.n, row.b, row.c) == (20, 4, 8)
    assert "sign" in row.test
    once = compared([*scored("cot", A), *scored("pot", B)]).rows[0].p
    assert row.p == pytest.approx(once), "asking twice for the same adds no evidence"


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        pytest.param([*scored("cot", A)], {}, "nothing to compare", id="one method"),
        pytest.param(
            [*scored("cot", A), *scored("pot", B)],
            {"treatments": ("tot",)},
            "method tot: not scored; there are cot, pot",
            id="unknown method",
        ),
        pytest.param(
            [*scored("cot", A), *scored("pot", B)],
            {"treatments": ("COT",)},
            "it is the baseline too",
            id="with itself",
        ),
        pytest.param(
            [*scored("cot", A), *scored("cot", A)], {}, "scored twice", id="the same twice"
        ),
        pytest.param(
            [*scored("cot", A), *scored("pot", B)], {"by": ("rule",)}, "--by rule", id="by"
        ),
        pytest.param([], {}, "not scored", id="no rows"),
    ],
)
def test_what_can_not_be_compared_is_refused(
    rows: list[ScoreRow], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        compared(rows, **options)


def test_one_problem_and_equal_answers_give_no_nan() -> None:
    for first, second in (([1.0], [0.0]), ([1.0], [1.0]), ([0.5], [0.25]), ([0.5] * 3, [0.5] * 3)):
        (row,) = compared([*scored("cot", first), *scored("pot", second)]).rows
        numbers = [value for value in vars_of(row) if isinstance(value, float)]
        assert all(np.isfinite(numbers)), row


def vars_of(row: Any) -> list[Any]:
    return [getattr(row, name) for name in row.__dataclass_fields__]


def test_a_method_without_scores_in_a_cell_is_told() -> None:
    rows = [*scored("cot", A), *scored("pot", B), *scored("cot", A, model="m2")]
    assert compared(rows).notices == ["d, m2, strict: no pot"]


def test_the_function_reads_files_and_returns_a_frame(tmp_path: Path) -> None:
    for method, values in (("cot", A), ("pot", B)):
        target = choose_target(None, tmp_path / f"{method}.csv")
        write_rows(scored(method, values), ScoreRow, target)
    files = [tmp_path / "cot.csv", tmp_path / "pot.csv"]
    frame = evalcore.compare(files, baseline="cot", averages=tmp_path / "averages.csv")
    assert list(frame["b"]) == [2]
    assert (tmp_path / "averages.csv").read_text().startswith("average,dataset")
    with pytest.raises(InputError, match="named twice"):
        evalcore.compare([files[0], files[0]], baseline="cot")
    with pytest.raises(InputError, match="either a baseline or --all-pairs"):
        evalcore.compare(files)
    with pytest.raises(InputError, match="--rule lenient: not scored"):
        evalcore.compare(files, baseline="cot", rule=["lenient"])
    with pytest.raises(InputError, match="--level 2"):
        evalcore.compare(files, baseline="cot", level=2.0)


def test_published_verdicts_of_financemath(shared: Path, tmp_path: Path) -> None:
    """B, c and p of programs against texts, computed here from the files alone."""
    folder = shared / "data" / "financemath" / "validation"
    rows: list[ScoreRow] = []
    expected: dict[str, tuple[int, int, float]] = {}
    for path in sorted((folder / "processed_pot_outputs").glob("*.json")):
        verdicts = {}
        for method in ("cot", "pot"):
            entries = json.loads((folder / f"processed_{method}_outputs" / path.name).read_text())
            verdicts[method] = {one["question_id"]: one["result"]["acc"] for one in entries}
            rows += [
                replace(ROW, model=path.stem, method=method, id=name, value=float(value))
                for name, value in verdicts[method].items()
            ]
        b = sum(verdicts["pot"][name] > verdicts["cot"][name] for name in verdicts["cot"])
        c = sum(verdicts["pot"][name] < verdicts["cot"][name] for name in verdicts["cot"])
        expected[path.stem] = (b, c, stats.binomtest(b, b + c).pvalue if b + c else 1.0)
    found = {row.model: row for row in compared(rows).rows if row.model != "all"}
    assert found.keys() == expected.keys()
    assert len(found) == 6
    for model, (b, c, p) in expected.items():
        row = found[model]
        assert (row.n, row.b, row.c) == (200, b, c)
        assert row.p == pytest.approx(p, rel=1e-10)
    ordered = sorted(p for _, _, p in expected.values())
    adjusted, largest = {}, 0.0
    for rank, p in enumerate(ordered):
        largest = max(largest, min(1.0, (6 - rank) * p))
        adjusted[p] = largest
    for model, (_, _, p) in expected.items():
        assert found[model].p_holm == pytest.approx(adjusted[p], rel=1e-10)


def invoke(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows = [*scored("cot", [0.0] * 12 + [1.0] * 8), *scored("pot", [1.0] * 20)]
    rows = [*rows, *(replace(row, model="m2") for row in rows)]
    rows += scored("cot", [1.0, None], dataset="e") + scored("pot", [0.0, 1.0], dataset="e")
    write_rows(rows, ScoreRow, choose_target(None, tmp_path / "s.jsonl"))
    return tmp_path


def test_the_table_shows_stars_averages_and_what_is_missing(files: Path) -> None:
    done = invoke("compare", files / "s.jsonl", "--baseline", "cot", "--stars")
    assert (done.exit_code, done.stderr) == (0, "")
    cells = [line.split() for line in done.stdout.splitlines()]
    first = next(line for line in cells if line[:2] == ["d", "m"])
    assert first[2:11] == ["pot", "−", "cot", "20", "12,", "0", "40.0", "100.0", "+60.0"]
    assert "4.9e-04***" in first
    assert "without missing" in done.stdout
    assert "1: -100.0, p 1.000" in done.stdout
    assert "macro over benchmarks (2)" in done.stdout
    assert "micro (2)" in done.stdout


def test_a_paper_gets_its_table(files: Path) -> None:
    done = invoke("compare", files / "s.jsonl", "--baseline", "cot", "--stars", "--format", "latex")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[1] == "\\begin{tabular}{@{}lllrrrrrrrr@{}}"
    cells = lines[5].split(" & ")
    assert cells[:8] == ["d", "m", "pot $-$ cot", "20", "12", "0", "40.0", "100.0"]
    assert cells[9] == "4.9e-04***"


def test_wrong_usage_is_told_in_one_line(files: Path) -> None:
    done = invoke("compare", files / "s.jsonl")
    problem = "Error: --baseline: either a baseline or --all-pairs was expected\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", problem)
    done = invoke("compare", files / "s.jsonl", "--baseline", "tot")
    assert (done.exit_code, done.stderr) == (
        2,
        "Error: method tot: not scored; there are cot, pot\n",
    )
    (files / "none.jsonl").write_text("")
    done = invoke("compare", files / "none.jsonl", "--baseline", "cot")
    assert (done.exit_code, done.stderr) == (2, "Error: scores: there are no rows\n")
    done = invoke("compare", files / "s.jsonl", files / "s.jsonl", "--baseline", "cot")
    assert (done.exit_code, done.stderr) == (2, "Error: scores: a file is named twice\n")


@pytest.mark.parametrize(
    ("p", "stars"), [(None, ""), (0.05, ""), (0.049, "*"), (0.0099, "**"), (0.0009, "***")]
)
def test_stars_are_those_of_the_paper(p: float | None, stars: str) -> None:
    assert stars_of(p) == stars


def test_no_p_value_is_printed_as_unknown() -> None:
    assert p_text(None) == "–"


def test_an_interval_by_bootstrap_is_near_newcombes() -> None:
    generator = np.random.default_rng(2)
    first, second = (generator.integers(0, 2, 300).astype(float) for _ in range(2))
    rows = [*scored("cot", first), *scored("pot", second)]
    (newcombe,) = compared(rows).rows
    (drawn,) = compared(rows, statistics=Settings(interval="bootstrap")).rows
    assert drawn.difference == pytest.approx(newcombe.difference)
    assert (drawn.difference_low, drawn.difference_high) == pytest.approx(
        (newcombe.difference_low, newcombe.difference_high), abs=1.0
    )
    (again,) = compared(rows, statistics=Settings(interval="bootstrap")).rows
    assert again == drawn, "the seed is the same"


def test_too_few_problems_for_a_bootstrap_have_no_interval_and_a_reason() -> None:
    rows = [*scored("cot", [0.1, 0.2, 0.3]), *scored("pot", [0.3, 0.1, 0.4])]
    (row,) = compared(rows).rows
    assert (row.difference_low, row.difference_high) == (None, None)
    assert row.note == "no interval: only 3 problems"
