"""Flips, complements, joint outcomes and wins, against problems sorted one by one."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import evalcore
from evalcore.cli import main
from evalcore.outcomes import (
    complement_rows,
    complementarity,
    flips,
    outcome_rows,
    outcomes,
    win_rows,
)
from evalcore.scores import ScoreRow
from evalcore.tallies import Cell
from ngramscan.errors import IncompleteError, InputError
from ngramscan.output import choose_target, write_rows

Key = tuple[str, str, str]
VALUES = {"1": 1.0, "0": 0.0, "-": None, "?": None, "h": 0.5}


def score(
    key: Key,
    id_: str,
    value: float | None,
    epoch: int | None = None,
    status: str = "",
    run: str | None = None,
) -> ScoreRow:
    named = dict(zip(("dataset", "model", "method"), key, strict=True))
    return ScoreRow(
        **named, id=id_, epoch=epoch, rule=f"rule-{key[0]}", value=value, answer=None,
        extraction=None, reason="made", status=status, run=run,
    )  # fmt: skip


def write(path: Path, answers: Mapping[Key, str]) -> Path:
    """One letter per problem: 1 right, 0 wrong, h half, - no answer, ? unknown, . no row."""
    rows = [
        score(key, str(number), VALUES[letter], status="no_answer" if letter == "-" else "")
        for key, letters in answers.items()
        for number, letter in enumerate(letters)
        if letter != "."
    ]
    write_rows(rows, ScoreRow, choose_target(None, path))
    return path


def records(frame: Any) -> list[dict[str, Any]]:
    return list(json.loads(frame.to_json(orient="records")))


TWO = {
    ("a", "m", "cot"): "1100-1",
    ("a", "m", "f-1"): "10110.",
    ("b", "m", "cot"): "01",
    ("b", "m", "f-1"): "11",
    ("b", "n", "cot"): "01",
}


def test_flips_count_each_problem_once(tmp_path: Path) -> None:
    rows = records(flips(write(tmp_path / "s.jsonl", TWO), baseline="cot", treatment="f-1"))
    names = ("dataset", "model", "n", "n_no_answer", "n_unknown", "treatment_only",
             "baseline_only", "both", "neither", "net")  # fmt: skip
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("a", "m", 5, 1, 1, 2, 1, 1, 1, 1),
        ("b", "m", 2, 0, 0, 1, 0, 1, 0, 1),
        ("all", "m", 7, 1, 1, 3, 1, 2, 1, 2),
    ]
    assert rows[2]["rule"] == "rule-a, rule-b"


def test_problems_without_an_answer_are_left_out_on_request(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", TWO)
    row = records(flips(path, baseline="cot", treatment="f-1", no_answer="exclude"))[0]
    names = ("n", "n_no_answer", "n_unknown", "treatment_only", "baseline_only", "both", "neither")
    assert [row[name] for name in names] == [4, 1, 1, 2, 1, 1, 0]


COUNTS = {
    "flips": {"baseline": "x", "treatment": "y"},
    "complementarity": {"methods": "x,y"},
    "outcomes": {"baselines": "x", "adaptive": "y"},
}


@pytest.mark.parametrize(("command", "methods"), COUNTS.items())
def test_problems_of_which_nothing_is_known_never_count(
    tmp_path: Path, command: str, methods: dict[str, str]
) -> None:
    known = {("a", "m", "x"): "1100-", ("a", "m", "y"): "10101"}
    more = {("a", "m", "x"): "1100-?1.?", ("a", "m", "y"): "101010?1."}
    expected, found = (
        records(getattr(evalcore, command)(write(tmp_path / f"{name}.jsonl", rows), **methods))
        for name, rows in (("known", known), ("more", more))
    )
    assert [row.pop("n_unknown") for row in expected + found] == [0, 4]
    assert found == expected
    done = CliRunner().invoke(main, [command, str(tmp_path / "more.jsonl"), *options_of(methods)])
    assert done.exit_code == 0
    first = "4 of 9 problems are left out, since nothing is known of one of the answers"
    assert done.stdout.splitlines()[0] == first
    said = "4 problems left out: 2 with an unknown result, 2 not put to every method"
    assert done.stderr == f"a, m, rule-a: {said}\n"


def options_of(methods: Mapping[str, str]) -> list[str]:
    return [text for name, value in methods.items() for text in (f"--{name}", value)]


@pytest.mark.parametrize(("command", "methods"), COUNTS.items())
@pytest.mark.parametrize(
    ("answers", "options", "why"),
    [
        pytest.param(("1?", "?0"), [], "2 problems left out: 2 with an unknown result", id="?"),
        pytest.param(
            *(("1.", ".0"), [], "2 problems left out: 2 not put to every method"),
            id="other problems",
        ),
        pytest.param(
            *(("1-", "-0"), ["--no-answer", "exclude"], "2 without an answer left out"),
            id="excluded",
        ),
    ],
)
def test_where_nothing_is_known_there_is_no_row_and_the_command_ends_with_1(
    tmp_path: Path,
    command: str,
    methods: dict[str, str],
    answers: tuple[str, str],
    options: list[str],
    why: str,
) -> None:
    made = {("a", "m", name): letters for name, letters in zip("xy", answers, strict=True)}
    path = write(tmp_path / "s.jsonl", made)
    arguments = [command, str(path), *options_of(methods), *options]
    done = CliRunner().invoke(main, [*arguments, "--format", "csv"])
    order = "y, x" if command == "outcomes" else "x, y"
    assert done.exit_code == 1
    assert len(done.stdout.splitlines()) == 1
    message = f"a, m, rule-a, {order}: nothing to compare; {why}"
    assert done.stderr.splitlines()[-1] == f"Error: {message}"
    assert CliRunner().invoke(main, arguments).stdout.count("\n") <= 1
    given = {"no_answer": options[1]} if options else {}
    with pytest.raises(IncompleteError, match=message) as caught:
        getattr(evalcore, command)(path, **methods, **given)
    assert len(caught.value.rows) == 0


def test_complementarity_has_the_shares_of_a_cross_table(tmp_path: Path) -> None:
    answers = {
        ("a", "m", "f-1"): "1" * 117 + "0" * 83,
        ("a", "m", "f-s"): "0" * 11 + "1" * 117 + "0" * 72,
    }
    path = write(tmp_path / "s.jsonl", answers)
    row = records(complementarity(path, methods=["f-1", "f-s"]))[0]
    assert (row["accuracy_baseline"], row["accuracy_treatment"]) == (58.5, 58.5)
    assert (row["treatment_only"], row["baseline_only"]) == (11, 11)
    assert (row["union"], row["disjoint"]) == (64.0, 11.0)


def test_the_published_cross_tables_are_consistent_with_this_form(shared: Path) -> None:
    with (shared / "paper/table31_fs_complementarity.csv").open(encoding="utf-8") as file:
        printed: dict[tuple[str, str], dict[str, float]] = {}
        for line in csv.DictReader(file):
            cell = printed.setdefault((line["benchmark"], line["model"]), {"n": float(line["n"])})
            cell[line["quantity"]] = float(line["value"])
    assert len(printed) == 4
    for cell in printed.values():
        n = round(cell["n"])
        first, second = (round(cell[f"{name} accuracy_pct"] * n / 100) for name in ("F-1", "F&S"))
        only = round(cell["F-1 only_pct"] * n / 100)
        both = first - only
        solved = [(True, True)] * both + [(True, False)] * only
        solved += [(False, True)] * (second - both)
        solved += [(False, False)] * (n - len(solved))
        made = cell_of({"F-1": [a for a, _ in solved], "F&S": [b for _, b in solved]})
        (row,) = complement_rows([made], "F-1", "F&S")
        assert row.union == pytest.approx(cell["union_pct"], abs=0.051)
        assert 100 * row.treatment_only / row.n == pytest.approx(cell["F&S only_pct"], abs=0.051)


def cell_of(answers: Mapping[str, Sequence[bool]], model: str = "m", dataset: str = "d") -> Cell:
    numbered = {
        method: {str(n): value for n, value in enumerate(values)}
        for method, values in answers.items()
    }
    return Cell(dataset, model, "r", numbered, "wrong")


kinds = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=40)


@given(kinds)
def test_outcomes_are_a_partition_and_bounds_are_those_of_oracles(
    solved: list[tuple[bool, bool, bool]],
) -> None:
    cell = cell_of({name: [row[k] for row in solved] for k, name in enumerate("fxy")})
    (row,) = outcome_rows([cell], ["x", "y"], "f")
    named: Counter[str] = Counter()
    for f, x, y in solved:
        if f:
            named["all_solve" if x and y else "adaptive_right" if x or y else "only_adaptive"] += 1
        else:
            named["adaptive_wrong" if x or y else "all_fail"] += 1
            named["all_baselines_but_adaptive"] += x and y
    for name in ("all_fail", "all_solve", "adaptive_right", "adaptive_wrong", "only_adaptive"):
        assert getattr(row, name) == named[name]
    assert row.all_baselines_but_adaptive == named["all_baselines_but_adaptive"]
    n = len(solved)
    assert row.upper_bound == pytest.approx(100 * sum(x or y for _, x, y in solved) / n)
    assert row.upper_bound_with_adaptive == pytest.approx(100 * sum(map(any, solved)) / n)
    assert row.accuracy == pytest.approx(100 * sum(f for f, _, _ in solved) / n)
    chosen = [f for f, x, y in solved if (x or y) and not (f and x and y)]
    if chosen:
        assert row.selection_accuracy == pytest.approx(100 * sum(chosen) / len(chosen))
        assert row.selection_accuracy is not None
        assert row.selection_low is not None
        assert row.selection_high is not None
        assert row.selection_low <= row.selection_accuracy <= row.selection_high
    else:
        assert row.selection_accuracy is None
        assert row.note


def test_all_models_together_have_no_interval_because_problems_are_shared(tmp_path: Path) -> None:
    answers = {("a", m, k): v for m in "mn" for k, v in (("x", "1101"), ("f", "0111"))}
    answers["b", "m", "x"] = "1"
    answers["b", "m", "f"] = "1"
    rows = records(outcomes(write(tmp_path / "s.csv", answers), baselines="x", adaptive="f"))
    assert [(row["dataset"], row["model"], row["n"]) for row in rows] == [
        *(("a", "m", 4), ("a", "n", 4), ("a", "all", 8), ("b", "m", 1))
    ]
    pooled = rows[2]
    assert (pooled["adaptive_wrong"], pooled["only_adaptive"], pooled["all_solve"]) == (2, 2, 4)
    assert (pooled["selection_accuracy"], pooled["selection_low"]) == (0.0, None)
    assert "not independent" in pooled["note"]


def test_printed_upper_bounds_and_selection_accuracies_have_the_method_itself_in_them(
    shared: Path,
) -> None:
    def read(name: str) -> dict[tuple[str, str], float]:
        with (shared / "paper" / name).open(encoding="utf-8") as file:
            rows = [list(line.values())[:3] for line in csv.DictReader(file)]
        return {(first, second): float(third) for first, second, third in rows}

    shares = read("table20_strategy_analysis.csv")
    bounds = read("table22_upper_bound.csv")
    selection = {"FinanceMath": 73.0, "OlympiadBench": 69.9, "IMO-Bench": 61.0}
    order = ("all_fail", "all_correct", "adapt_correct", "adapt_wrong", "f1_only")
    patterns = ((0, 0), (1, 1), (1, 1), (0, 1), (1, 0))
    for benchmark in dict.fromkeys(name for name, _ in shares):
        counts = [round(10 * shares[benchmark, name]) for name in order]
        # Of three baselines all, some or none are right.
        solved = []
        for name, count, (f, some) in zip(order, counts, patterns, strict=True):
            every = name == "all_correct"
            solved += [(bool(f), bool(some), every, every)] * count
        cell = cell_of({name: [row[k] for row in solved] for k, name in enumerate("fxyz")})
        (row,) = outcome_rows([cell], ["x", "y", "z"], "f")
        assert row.upper_bound is not None
        assert row.upper_bound_with_adaptive is not None
        if (benchmark, "upper_bound") in bounds:
            printed = bounds[benchmark, "upper_bound"]
            assert row.upper_bound_with_adaptive == pytest.approx(printed, abs=0.11)
            assert row.upper_bound < printed - 2
        if benchmark in selection:
            with_alone = row.adaptive_right + row.only_adaptive
            published = 100 * with_alone / (with_alone + row.adaptive_wrong)
            assert published == pytest.approx(selection[benchmark], abs=0.2)
            assert row.selection_accuracy is not None
            assert row.selection_accuracy < published


def test_wins_are_counted_by_number_and_by_an_exact_test() -> None:
    made = {
        "a": {"f": [True] * 8, "x": [False] * 8},
        "b": {"f": [True] * 5 + [False], "x": [False] * 6},
        "c": {"f": [True, False], "x": [False, True]},
        "d": {"f": [False] * 6, "x": [True] * 6},
    }
    cells = [cell_of(answers, dataset=dataset) for dataset, answers in made.items()]
    (row,) = win_rows(cells, ["x"], "f")
    assert (row.cells, row.wins, row.ties, row.losses) == (4, 2, 1, 1)
    p = {k: binomtest(0, k).pvalue for k in (5, 6, 8)}
    assert p[5] > 0.05 > p[6] > p[8]
    assert (row.wins_by_test, row.ties_by_test, row.losses_by_test) == (1, 2, 1)
    (strict,) = win_rows(cells, ["x"], "f", alpha=0.01)
    assert (strict.wins_by_test, strict.ties_by_test, strict.losses_by_test) == (1, 3, 0)


def test_wins_of_several_models_end_with_those_of_all() -> None:
    cells = [
        cell_of({"f": [True], "x": [False], "y": [True]}, model=model, dataset=dataset)
        for model in "mn"
        for dataset in "ab"
    ]
    rows = [
        (r.model, r.baseline, r.cells, r.wins, r.ties) for r in win_rows(cells, ["x", "y"], "f")
    ]
    assert rows == [
        *(("m", "x", 2, 2, 0), ("m", "y", 2, 0, 2), ("n", "x", 2, 2, 0), ("n", "y", 2, 0, 2)),
        *(("all", "x", 4, 4, 0), ("all", "y", 4, 0, 4)),
    ]


def test_repeated_answers_and_graded_values_are_read_as_asked_for(tmp_path: Path) -> None:
    key, other = ("a", "m", "x"), ("a", "m", "y")
    rows = [score(key, "1", 0.5, 1), score(key, "1", 1.0, 2)]
    rows += [score(other, "1", 0.8, 1), score(other, "1", 0.0, 2)]
    path = tmp_path / "s.parquet"
    write_rows(rows, ScoreRow, choose_target(None, path))
    asked: dict[str, Any] = {"baseline": "x", "treatment": "y"}
    first = records(flips(path, **asked, epoch=1, right_from=0.6))[0]
    second = records(flips(path, **asked, epoch=2))[0]
    assert (first["net"], second["net"]) == (1, -1)
    with pytest.raises(InputError, match=r"a, m, x, 1: several answers to one problem; --epoch"):
        flips(path, **asked, right_from=0.6)
    with pytest.raises(InputError, match=r"value 0\.5 is neither right nor wrong; --right-from"):
        flips(path, **asked, epoch=1)


def test_an_epoch_is_taken_of_the_method_that_has_several(tmp_path: Path) -> None:
    rows = [score(("a", "m", "x"), "1", 1.0, 1), score(("a", "m", "x"), "1", 0.0, 2)]
    path = tmp_path / "s.jsonl"
    write_rows([*rows, score(("a", "m", "y"), "1", 1.0)], ScoreRow, choose_target(None, path))
    asked: dict[str, Any] = {"baseline": "x", "treatment": "y"}
    found = [records(flips(path, **asked, epoch=epoch))[0] for epoch in (1, 2)]
    assert [(row["n"], row["both"], row["treatment_only"]) for row in found] == [
        (1, 1, 0),
        (1, 0, 1),
    ]


def test_one_rule_per_benchmark_is_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    made = [
        ScoreRow("a", "m", method, "1", None, rule, value, None, None, "")
        for method, strict, lenient in (("x", 0.0, 1.0), ("y", 1.0, 1.0))
        for rule, value in (("strict", strict), ("lenient", lenient))
    ]
    write_rows(made, ScoreRow, choose_target(None, path))
    asked: dict[str, Any] = {"baseline": "x", "treatment": "y"}
    assert records(flips(path, **asked, rule="strict"))[0]["net"] == 1
    assert records(flips(path, **asked, rule=["lenient"]))[0]["net"] == 0
    with pytest.raises(InputError, match=r"a: scored by strict, lenient; --rule says"):
        flips(path, **asked)
    with pytest.raises(InputError, match=r"--rule no: not scored; there are strict, lenient"):
        flips(path, **asked, rule="no")


def test_what_can_not_be_used_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", TWO)
    again = write(tmp_path / "t.jsonl", TWO)
    asked: dict[str, Any] = {"baseline": "cot", "treatment": "f-1"}
    with pytest.raises(InputError, match=r"t\.jsonl: two rows of a m cot 0 rule-a; the other"):
        flips([path, again], **asked)
    with pytest.raises(InputError, match="a file is named twice"):
        flips([path, path], **asked)
    with pytest.raises(InputError, match=r"no, cot: no model has rows of all of them; .* cot, f-1"):
        flips(path, baseline="no", treatment="cot")
    with pytest.raises(InputError, match="a method is named twice"):
        flips(path, baseline="cot", treatment="cot")
    with pytest.raises(InputError, match="--no-answer no: one of wrong, exclude"):
        flips(path, **asked, no_answer=cast("Any", "no"))
    with pytest.raises(InputError, match="--methods: 3 names; two"):
        complementarity(path, methods="a,b,c")
    with pytest.raises(InputError, match="--baselines: no method is named"):
        outcomes(path, baselines=",", adaptive="f-1")
    with pytest.raises(InputError, match=r"--alpha 1: .* not in the range 0<x<1"):
        outcomes(path, baselines="cot", adaptive="f-1", alpha=1)
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(InputError, match="scores: there are no rows"):
        flips(empty, **asked)


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, arguments)
    return done.exit_code, done.stdout, done.stderr


def test_commands_print_rows_and_say_which_models_are_left_out(tmp_path: Path) -> None:
    path = str(write(tmp_path / "s.jsonl", TWO))
    asked = ("--baseline", "cot", "--treatment", "f-1", "--format", "csv")
    code, stdout, stderr = run("flips", path, *asked)
    assert code == 0
    assert stdout.splitlines()[2] == "b,m,rule-b,cot,f-1,2,0,0,1,0,1,0,1"
    assert stderr.splitlines() == [
        "1 of 8 problems is left out, since nothing is known of one of the answers",
        "b, n: left out, no rows of f-1",
        "a, m, rule-a: 1 problem left out: 1 not put to every method",
    ]
    assert run("flips", path, *asked, "-q")[2] == ""
    code, stdout, _ = run("complementarity", path, "--methods", "f-1, cot", "--format", "jsonl")
    assert code == 0
    assert json.loads(stdout.splitlines()[1])["union"] == 100
    wins = tmp_path / "wins.csv"
    asked = ("--baselines", "cot", "--adaptive", "f-1", "--wins", str(wins))
    code, stdout, _ = run("outcomes", path, *asked)
    assert code == 0
    assert "selection_accuracy" in stdout
    assert "wins_by_test" in stdout
    assert wins.read_text(encoding="utf-8").splitlines()[1] == "m,cot,f-1,2,2,0,0,0,2,0,0.05"
    code, _, stderr = run("outcomes", path, "--baselines", "cot", "--adaptive", "no")
    assert code == 2
    assert stderr.startswith("Error: no, cot: no model has rows of all of them")


def test_wins_are_written_by_the_function_too(tmp_path: Path) -> None:
    path, wins = write(tmp_path / "s.jsonl", TWO), tmp_path / "wins.jsonl"
    outcomes(path, baselines="cot", adaptive="f-1", wins=wins)
    assert json.loads(wins.read_text(encoding="utf-8"))["cells"] == 2
