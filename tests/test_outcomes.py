"""Flips, complements, joint outcomes and wins, against problems sorted one by one."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import binomtest

import evalcore
from evalcore.cli import main
from evalcore.outcomes import complementarity, flips, outcomes
from evalcore.scores import ScoreRow
from ngramscan.errors import IncompleteError, InputError
from ngramscan.output import choose_target, to_frame, write_rows

Answers = Mapping[tuple[str, str, str], Iterable[str]]
VALUES = {"1": 1.0, "0": 0.0, "-": None, "?": None}
TWO: Answers = {
    ("a", "m", "cot"): "1100-1",
    ("a", "m", "f-1"): "10110.",
    ("b", "m", "cot"): "01",
    ("b", "m", "f-1"): "11",
    ("b", "n", "cot"): "01",
}
BOTH: dict[str, Any] = {"baseline": "x", "treatment": "y"}
COUNTS = ("n", "n_no_answer", "n_unknown", "treatment_only", "baseline_only", "both", "neither")


def row(method: str, value: float | None, epoch: int | None = None, **changed: Any) -> ScoreRow:
    columns: dict[str, Any] = {"dataset": "a", "model": "m", "id": "1", "rule": "rule-a"}
    columns |= {"method": method, "value": value, "epoch": epoch, "answer": None, "reason": "made"}
    return ScoreRow(**columns | changed, extraction=None)


def rows(answers: Answers) -> list[ScoreRow]:
    """One letter per problem: 1 right, 0 wrong, - no answer, ? unknown, . no row."""
    found = []
    for (dataset, model, method), letters in answers.items():
        names: dict[str, Any] = {"dataset": dataset, "model": model, "rule": f"rule-{dataset}"}
        for number, letter in enumerate(letters):
            status = "no_answer" if letter == "-" else ""
            if letter != ".":
                one = row(method, VALUES[letter], id=str(number), status=status, **names)
                found.append(one)
    return found


def table(answers: Answers) -> pd.DataFrame:
    return to_frame(rows(answers), ScoreRow)


def write(path: Path, answers: Answers) -> Path:
    write_rows(rows(answers), ScoreRow, choose_target(None, path))
    return path


def records(frame: Any, *names: str) -> list[Any]:
    """Return rows as dictionaries, or some columns of each."""
    found = json.loads(frame.to_json(orient="records", double_precision=15))
    return [tuple(one[name] for name in names) if names else one for one in found]


def test_flips_count_each_problem_once() -> None:
    asked: dict[str, Any] = {"baseline": "cot", "treatment": "f-1"}
    frame = flips(table(TWO), **asked)
    assert records(frame, "dataset", "model", *COUNTS, "net") == [
        ("a", "m", 5, 1, 1, 2, 1, 1, 1, 1),
        ("b", "m", 2, 0, 0, 1, 0, 1, 0, 1),
        ("all", "m", 7, 1, 1, 3, 1, 2, 1, 2),
    ]
    assert list(frame["rule"])[2] == "rule-a, rule-b"
    without = flips(table(TWO), **asked, no_answer="exclude")
    assert records(without, *COUNTS)[0] == (4, 1, 1, 2, 1, 1, 0)


COMMANDS = {
    "flips": BOTH,
    "complementarity": {"methods": "x,y"},
    "outcomes": {"baselines": "x", "adaptive": "y"},
}


def run(command: str, path: Path, methods: Mapping[str, str], *more: str) -> tuple[int, str, str]:
    options = [text for name, value in methods.items() for text in (f"--{name}", value)]
    done = CliRunner().invoke(main, [command, str(path), *options, *more])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(("command", "methods"), COMMANDS.items())
def test_problems_of_which_nothing_is_known_never_count(
    tmp_path: Path, command: str, methods: dict[str, str]
) -> None:
    known = table({("a", "m", "x"): "1100-", ("a", "m", "y"): "10101"})
    path = write(tmp_path / "s.jsonl", {("a", "m", "x"): "1100-?1.?", ("a", "m", "y"): "101010?1."})
    expected, found = (records(getattr(evalcore, command)(one, **methods)) for one in (known, path))
    assert [one.pop("n_unknown") for one in expected + found] == [0, 4]
    assert found == expected
    code, stdout, stderr = run(command, path, methods)
    assert code == 0
    first = "4 of 9 problems are left out, since nothing is known of one of the answers"
    assert stdout.splitlines()[0] == first
    said = "4 problems left out: 2 with an unknown result, 2 not put to every method"
    assert stderr == f"a, m, rule-a: {said}\n"


@pytest.mark.parametrize(("command", "methods"), COMMANDS.items())
@pytest.mark.parametrize(
    ("x", "y", "no_answer", "why"),
    [
        ("1?", "?0", "wrong", "2 problems left out: 2 with an unknown result"),
        ("1.", ".0", "wrong", "2 problems left out: 2 not put to every method"),
        ("1-", "-0", "exclude", "2 without an answer left out"),
    ],
)
def test_where_nothing_is_known_there_is_no_row_and_the_command_ends_with_1(
    tmp_path: Path, command: str, methods: dict[str, str], x: str, y: str, no_answer: str, why: str
) -> None:
    path = write(tmp_path / "s.jsonl", {("a", "m", "x"): x, ("a", "m", "y"): y})
    code, stdout, stderr = run(command, path, methods, "--no-answer", no_answer, "--format", "csv")
    order = "y, x" if command == "outcomes" else "x, y"
    message = f"a, m, rule-a, {order}: nothing to compare; {why}"
    assert (code, len(stdout.splitlines())) == (1, 1)
    assert stderr.splitlines()[-1] == f"Error: {message}"
    assert run(command, path, methods, "--no-answer", no_answer)[1].count("\n") <= 1
    with pytest.raises(IncompleteError, match=message) as caught:
        getattr(evalcore, command)(path, **methods, no_answer=no_answer)
    assert len(caught.value.rows) == 0


def solving(cells: Mapping[str, Sequence[Sequence[bool]]], methods: Sequence[str]) -> pd.DataFrame:
    """A table of which methods solve each problem of each benchmark."""
    columns = {
        (dataset, "m", name): "".join(str(int(one)) for one in column)
        for dataset, solved in cells.items()
        for name, column in zip(methods, zip(*solved, strict=True), strict=True)
    }
    return table(columns)


def test_the_published_cross_tables_are_consistent_with_complementarity(shared: Path) -> None:
    with (shared / "paper/table31_fs_complementarity.csv").open(encoding="utf-8") as file:
        printed: dict[tuple[str, str], dict[str, float]] = {}
        for line in csv.DictReader(file):
            cell = printed.setdefault((line["benchmark"], line["model"]), {"n": float(line["n"])})
            cell[line["quantity"]] = float(line["value"])
    assert len(printed) == 4
    for cell in printed.values():
        n = round(cell["n"])
        names = ("F-1 accuracy_pct", "F&S accuracy_pct", "F-1 only_pct")
        first, second, only = (round(cell[name] * n / 100) for name in names)
        both = first - only
        solved = [(True, True)] * both + [(True, False)] * only + [(False, True)] * (second - both)
        solved += [(False, False)] * (n - len(solved))
        (found,) = records(
            complementarity(solving({"a": solved}, ["F-1", "F&S"]), methods="F-1,F&S")
        )
        assert found["accuracy_baseline"] == pytest.approx(cell["F-1 accuracy_pct"], abs=0.051)
        assert found["union"] == pytest.approx(cell["union_pct"], abs=0.051)
        assert 100 * found["treatment_only"] / n == pytest.approx(cell["F&S only_pct"], abs=0.051)
        assert found["disjoint"] == pytest.approx(100 * (only + second - both) / n)


def test_outcomes_are_a_partition_and_bounds_are_those_of_oracles() -> None:
    draw = random.Random(3)
    cells = {
        f"d{k}": [(*draw.choices([False, True], [1, k % 4], k=3),) for _ in range(1 + k % 30)]
        for k in range(60)
    }
    found = records(outcomes(solving(cells, "fxy"), baselines="x,y", adaptive="f"))
    for one, solved in zip(found, cells.values(), strict=True):
        check_outcomes(one, solved)
    assert {one["note"] == "" for one in found} == {True, False}


def check_outcomes(found: dict[str, Any], solved: Sequence[tuple[bool, ...]]) -> None:
    """Sort problems one by one, and compare."""
    named: Counter[str] = Counter()
    for f, x, y in solved:
        if f:
            named["all_solve" if x and y else "adaptive_right" if x or y else "only_adaptive"] += 1
        else:
            named["adaptive_wrong" if x or y else "all_fail"] += 1
            named["all_baselines_but_adaptive"] += x and y
    for name in ("all_fail", "all_solve", "adaptive_right", "adaptive_wrong", "only_adaptive"):
        assert found[name] == named[name]
    assert found["all_baselines_but_adaptive"] == named["all_baselines_but_adaptive"]
    n = len(solved)
    assert found["upper_bound"] == pytest.approx(100 * sum(x or y for _, x, y in solved) / n)
    assert found["upper_bound_with_adaptive"] == pytest.approx(100 * sum(map(any, solved)) / n)
    assert found["accuracy"] == pytest.approx(100 * sum(f for f, _, _ in solved) / n)
    chosen = [f for f, x, y in solved if (x or y) and not (f and x and y)]
    selection = [found[f"selection_{name}"] for name in ("low", "accuracy", "high")]
    if chosen:
        limits = binomtest(sum(chosen), len(chosen)).proportion_ci(method="wilson")
        expected = [limits.low, sum(chosen) / len(chosen), limits.high]
        assert selection == pytest.approx([100 * one for one in expected], abs=1e-9)
    else:
        assert selection == [None] * 3
        assert found["note"]


def test_all_models_together_have_no_interval_because_problems_are_shared() -> None:
    answers = {("a", m, k): v for m in "mn" for k, v in (("x", "1101"), ("f", "0111"))}
    answers |= {("b", "m", "x"): "1", ("b", "m", "f"): "1"}
    found = records(outcomes(table(answers), baselines="x", adaptive="f"))
    assert [(one["dataset"], one["model"], one["n"]) for one in found] == [
        *(("a", "m", 4), ("a", "n", 4), ("a", "all", 8), ("b", "m", 1))
    ]
    pooled = found[2]
    assert (pooled["adaptive_wrong"], pooled["only_adaptive"], pooled["all_solve"]) == (2, 2, 4)
    assert (pooled["selection_accuracy"], pooled["selection_low"]) == (0.0, None)
    assert "not independent" in pooled["note"]


def test_printed_upper_bounds_and_selection_accuracies_have_the_method_itself_in_them(
    shared: Path,
) -> None:
    def read(name: str) -> dict[tuple[str, str], float]:
        with (shared / "paper" / name).open(encoding="utf-8") as file:
            lines = [list(line.values())[:3] for line in csv.DictReader(file)]
        return {(first, second): float(third) for first, second, third in lines}

    shares, bounds = read("table20_strategy_analysis.csv"), read("table22_upper_bound.csv")
    selection = {"FinanceMath": 73.0, "OlympiadBench": 69.9, "IMO-Bench": 61.0}
    # Of the baselines all, some or none are right.
    patterns = {
        "all_fail": (False, False, False),
        "all_correct": (True, True, True),
        "adapt_correct": (True, True, False),
        "adapt_wrong": (False, True, False),
        "f1_only": (True, False, False),
    }
    for benchmark in dict.fromkeys(name for name, _ in shares):
        solved = [
            pattern
            for name, pattern in patterns.items()
            for _ in range(round(10 * shares[benchmark, name]))
        ]
        (found,) = records(outcomes(solving({"a": solved}, "fxy"), baselines="x,y", adaptive="f"))
        if (benchmark, "upper_bound") in bounds:
            printed = bounds[benchmark, "upper_bound"]
            assert found["upper_bound_with_adaptive"] == pytest.approx(printed, abs=0.11)
            assert found["upper_bound"] < printed - 2
        if benchmark in selection:
            with_alone = found["adaptive_right"] + found["only_adaptive"]
            published = 100 * with_alone / (with_alone + found["adaptive_wrong"])
            assert published == pytest.approx(selection[benchmark], abs=0.2)
            assert found["selection_accuracy"] < published


def test_wins_are_counted_by_number_and_by_an_exact_test(tmp_path: Path) -> None:
    made = {"a": ("1" * 8, "0" * 8), "b": ("111110", "000000"), "c": ("10", "01"),
            "d": ("0" * 6, "1" * 6)}  # fmt: skip
    answers = {
        (d, "m", k): own for d, both in made.items() for k, own in zip("fx", both, strict=True)
    }
    p = {k: binomtest(0, k).pvalue for k in (5, 6, 8)}
    assert p[5] > 0.05 > p[6] > 0.01 > p[8]
    path = tmp_path / "wins.jsonl"
    for alpha, by_test in ((0.05, (1, 2, 1)), (0.01, (1, 3, 0))):
        outcomes(table(answers), baselines="x", adaptive="f", wins=path, alpha=alpha)
        won = json.loads(path.read_text(encoding="utf-8"))
        assert list(won.values()) == ["m", "x", "f", 4, 2, 1, 1, *by_test, alpha]


def test_wins_of_several_models_end_with_those_of_all(tmp_path: Path) -> None:
    # Each baseline is compared on its own: the second problem of `x` is not unknown to `y`.
    letters = {"f": "11", "x": "0?", "y": "11"}
    path = tmp_path / "wins.csv"
    answers = {(d, m, k): own for m in "mn" for d in "ab" for k, own in letters.items()}
    outcomes(table(answers), baselines=["x", "y"], adaptive="f", wins=path)
    won = pd.read_csv(path)[["model", "baseline", "cells", "wins", "ties"]]
    assert won.to_numpy().tolist() == [
        *(["m", "x", 2, 2, 0], ["m", "y", 2, 0, 2], ["n", "x", 2, 2, 0], ["n", "y", 2, 0, 2]),
        *(["all", "x", 4, 4, 0], ["all", "y", 4, 0, 4]),
    ]


def test_repeated_answers_and_graded_values_are_read_as_asked_for() -> None:
    frame = to_frame([row("x", 0.5, 1), row("x", 1.0, 2), row("y", 0.8, 1), row("y", 0.0, 2)],
                     ScoreRow)  # fmt: skip
    first, second = flips(frame, **BOTH, epoch=1, right_from=0.6), flips(frame, **BOTH, epoch=2)
    assert [*first["net"], *second["net"]] == [1, -1]
    with pytest.raises(InputError, match=r"a, m, x, 1: several answers to one problem; --epoch"):
        flips(frame, **BOTH, right_from=0.6)
    with pytest.raises(InputError, match=r"value 0\.5 is neither right nor wrong; --right-from"):
        flips(frame, **BOTH, epoch=1)
    once = to_frame([row("x", 1.0, 1), row("x", 0.0, 2), row("y", 1.0)], ScoreRow)
    found = [records(flips(once, **BOTH, epoch=epoch), *COUNTS)[0] for epoch in (1, 2)]
    assert found == [(1, 0, 0, 0, 0, 1, 0), (1, 0, 0, 1, 0, 0, 0)]


def test_one_rule_per_benchmark_is_chosen_by_name() -> None:
    made = {
        ("x", "strict"): 0.0,
        ("x", "lenient"): 1.0,
        ("y", "strict"): 1.0,
        ("y", "lenient"): 1.0,
    }
    frame = to_frame([row(method, value, rule=rule) for (method, rule), value in made.items()],
                     ScoreRow)  # fmt: skip
    assert list(flips(frame, **BOTH, rule="strict")["net"]) == [1]
    assert list(flips(frame, **BOTH, rule=["lenient"])["net"]) == [0]
    with pytest.raises(InputError, match=r"a: scored by strict, lenient; --rule says"):
        flips(frame, **BOTH)
    with pytest.raises(InputError, match=r"--rule no: not scored; there are strict, lenient"):
        flips(frame, **BOTH, rule="no")


def test_what_can_not_be_used_is_refused(tmp_path: Path) -> None:
    path, again = (write(tmp_path / f"{name}.jsonl", TWO) for name in "st")
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
    with pytest.raises(InputError, match="scores: there are no rows"):
        flips(table({}), **asked)


def test_commands_print_rows_and_say_which_models_are_left_out(tmp_path: Path) -> None:
    path, asked = write(tmp_path / "s.jsonl", TWO), {"baseline": "cot", "treatment": "f-1"}
    code, stdout, stderr = run("flips", path, asked, "--format", "csv")
    assert code == 0
    assert stdout.splitlines()[2] == "b,m,rule-b,cot,f-1,2,0,0,1,0,1,0,1"
    assert stderr.splitlines() == [
        "1 of 8 problems is left out, since nothing is known of one of the answers",
        "b, n: left out, no rows of f-1",
        "a, m, rule-a: 1 problem left out: 1 not put to every method",
    ]
    assert run("flips", path, asked, "--format", "csv", "-q")[2] == ""
    code, stdout, _ = run("outcomes", path, {"baselines": "cot", "adaptive": "f-1"})
    assert code == 0
    assert "selection_accuracy" in stdout
    assert "wins_by_test" in stdout
    code, _, stderr = run("outcomes", path, {"baselines": "cot", "adaptive": "no"})
    assert code == 2
    assert stderr.startswith("Error: no, cot: no model has rows of all of them")
