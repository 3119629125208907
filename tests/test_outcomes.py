"""Joint outcomes and wins, against problems sorted one by one."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest

from evalcore.commands.outcomes import outcomes
from evalcore.scores import ScoreRow
from ngramscan.errors import IncompleteError, InputError
from ngramscan.reporting import to_frame
from tests.support.command import invoke

Answers = Mapping[tuple[str, str, str], Iterable[str]]
TWO: Answers = {
    ("a", "m", "cot"): "1100-1",
    ("a", "m", "f-1"): "10110.",
    ("b", "m", "cot"): "01",
    ("b", "m", "f-1"): "11",
    ("b", "n", "cot"): "01",
}
F1: dict[str, Any] = {"baselines": "cot", "adaptive": "f-1"}
Y: dict[str, Any] = {"baselines": "x", "adaptive": "y"}
COUNTS = ("n", "n_no_answer", "n_unknown", "only_adaptive", "adaptive_wrong", "all_solve")


ROW = ScoreRow("a", "m", "x", "1", None, "rule-a", None, None, None, "made")


def row(method: str, value: float | None, epoch: int | None = None, **changed: Any) -> ScoreRow:
    columns = {"method": method, "value": value, "epoch": epoch, "status": ""} | changed
    return replace(ROW, **columns)


def table(answers: Answers) -> pd.DataFrame:
    """One letter per problem: 1 right, 0 wrong, - no answer, ? unknown, . no row."""
    rows = []
    for (dataset, model, method), letters in answers.items():
        names: dict[str, Any] = {"dataset": dataset, "model": model, "rule": f"rule-{dataset}"}
        for number, letter in enumerate(letters):
            value, status = {"1": 1.0, "0": 0.0}.get(letter), "no_answer" * (letter == "-")
            one = row(method, value, id=str(number), status=status, **names)
            rows += [one] * (letter != ".")
    return to_frame(rows, ScoreRow)


def write(path: Path, answers: Answers) -> Path:
    table(answers).to_json(path, orient="records", lines=True)
    return path


def records(frame: Any, *names: str) -> list[Any]:
    found = json.loads(frame.to_json(orient="records", double_precision=15))
    return [tuple(one[name] for name in names) if names else one for one in found]


def test_each_problem_counts_once_and_all_benchmarks_of_a_model_together() -> None:
    found = outcomes(table(TWO), **F1)
    assert records(found, "dataset", "model", *COUNTS, "all_fail", "rule") == [
        ("a", "m", 5, 1, 1, 2, 1, 1, 1, "rule-a"),
        ("b", "m", 2, 0, 0, 1, 0, 1, 0, "rule-b"),
        ("all", "m", 7, 1, 1, 3, 1, 2, 1, "rule-a, rule-b"),
    ]
    excluded = records(outcomes(table(TWO), **F1, no_answer="exclude"), *COUNTS)
    assert excluded[0] == (4, 1, 1, 2, 1, 1)


def test_problems_of_which_nothing_is_known_never_count(tmp_path: Path) -> None:
    known = table({("a", "m", "x"): "1100-", ("a", "m", "y"): "10101"})
    path = write(tmp_path / "s.jsonl", {("a", "m", "x"): "1100-?1.?", ("a", "m", "y"): "101010?1."})
    expected, found = (records(outcomes(one, **Y)) for one in (known, path))
    assert [one.pop("n_unknown") for one in expected + found] == [0, 4]
    assert found == expected


def test_where_nothing_is_known_there_is_no_row_and_the_command_ends_with_1(tmp_path: Path) -> None:
    for x, y, why in (
        ("1?", "?0", "2 with an unknown result"),
        ("1.", ".0", "2 not put to every method"),
        ("1-", "-0", "2 without an answer"),
    ):
        no_answer: Any = "exclude" if "-" in x else "wrong"
        path = write(tmp_path / "s.jsonl", {("a", "m", "x"): x, ("a", "m", "y"): y})
        options = ("--baselines", "x", "--adaptive", "y", "--no-answer", no_answer)
        code, stdout, stderr = invoke("outcomes", path, *options, "--format", "csv")
        message = f"a, m, rule-a: nothing to compare; 2 problems left out: {why}"
        assert (code, len(stdout.splitlines())) == (1, 1)
        assert stderr.splitlines()[-1] == f"Error: {message}"
        assert invoke("outcomes", path, *options)[1].count("\n") <= 1
        with pytest.raises(IncompleteError, match=message) as caught:
            outcomes(path, **Y, no_answer=no_answer)
        assert len(caught.value.rows) == 0


def solving(cells: Mapping[str, Sequence[Sequence[bool]]]) -> pd.DataFrame:
    """Return a table of which of f, x and y solve each problem of each benchmark."""
    columns = {}
    for dataset, solved in cells.items():
        for name, column in zip("fxy", zip(*solved, strict=True), strict=True):
            columns[dataset, "m", name] = "".join(str(int(one)) for one in column)
    return table(columns)


KINDS = {
    # Whether the adaptive method, one and all baselines are right.
    (False, False, False): "all_fail",
    (True, True, True): "all_solve",
    (True, True, False): "adaptive_right",
    (False, True, False): "adaptive_wrong",
    (True, False, False): "only_adaptive",
    (False, True, True): "adaptive_wrong",
}


def test_outcomes_are_a_partition_and_bounds_are_those_of_oracles() -> None:
    draw = random.Random(3)
    cells = {
        f"d{k}": [(*draw.choices([False, True], [1, k % 4], k=3),) for _ in range(1 + k)]
        for k in range(30)
    }
    found = records(outcomes(solving(cells), baselines="x,y", adaptive="f"))
    every = [one for solved in cells.values() for one in solved]
    for one, solved in zip(found, [*cells.values(), every], strict=True):
        named, n = Counter(KINDS[f, x or y, x and y] for f, x, y in solved), len(solved)
        expected = {name: named[name] for name in KINDS.values()} | {
            "all_baselines_but_adaptive": solved.count((False, True, True)),
            "accuracy": sum(f for f, _, _ in solved) / n,
            "upper_bound": sum(x or y for _, x, y in solved) / n,
            "upper_bound_with_adaptive": sum(map(any, solved)) / n,
        }
        assert {name: one[name] for name in expected} == pytest.approx(expected)
        chosen = [f for f, x, y in solved if (x or y) and not (f and x and y)]
        limits: list[Any] = [None] * 3
        if chosen:
            low, high = binomtest(sum(chosen), len(chosen)).proportion_ci(method="wilson")
            limits = [low, sum(chosen) / len(chosen), high]
        selection = [one[f"selection_{name}"] for name in ("low", "accuracy", "high")]
        assert selection == (pytest.approx(limits, abs=1e-9) if chosen else limits)
        assert (one["note"] == "") == bool(chosen)
    assert {one["note"] == "" for one in found} == {True, False}


def test_all_models_together_have_no_interval_because_problems_are_shared() -> None:
    answers = {("a", m, k): v for m in "mn" for k, v in (("x", "1101"), ("f", "0111"))}
    answers |= {("b", "m", "x"): "1", ("b", "m", "f"): "1"}
    found = outcomes(table(answers), baselines="x", adaptive="f")
    cells = [
        f"{dataset} {model} {n}" for dataset, model, n in records(found, "dataset", "model", "n")
    ]
    assert cells == ["a m 4", "a n 4", "a all 8", "b m 1", "all m 5"]
    pooled = records(found)[2]
    assert (pooled["adaptive_wrong"], pooled["only_adaptive"], pooled["all_solve"]) == (2, 2, 4)
    assert (pooled["selection_accuracy"], pooled["selection_low"]) == (0.0, None)
    assert "not independent" in pooled["note"]


def test_printed_bounds_and_selection_accuracies_have_the_method_in_them(shared: Path) -> None:
    names = "table20_strategy_analysis.csv", "table22_upper_bound.csv"
    tables = [pd.read_csv(shared / "paper" / name) for name in names]
    shares, bounds = ({(a, b): value for a, b, value in table.to_numpy()} for table in tables)
    selection = {"FinanceMath": 73.0, "OlympiadBench": 69.9, "IMO-Bench": 61.0}
    printed = ("all_fail", "all_correct", "adapt_correct", "adapt_wrong", "f1_only")
    for benchmark in dict.fromkeys(name for name, _ in shares):
        counts = [round(10 * shares[benchmark, name]) for name in printed]
        solved = [kind for kind, n in zip(KINDS, counts, strict=False) for _ in range(n)]
        (found,) = records(outcomes(solving({"a": solved}), baselines="x,y", adaptive="f"))
        if bound := bounds.get((benchmark, "upper_bound")):
            assert 100 * found["upper_bound_with_adaptive"] == pytest.approx(bound, abs=0.11)
            assert 100 * found["upper_bound"] < bound - 2
        if benchmark in selection:
            with_alone = found["adaptive_right"] + found["only_adaptive"]
            share = with_alone / (with_alone + found["adaptive_wrong"])
            assert 100 * share == pytest.approx(selection[benchmark], abs=0.2)
            assert found["selection_accuracy"] < share


def test_wins_are_counted_by_number_and_by_an_exact_test(tmp_path: Path) -> None:
    made = {"a": ("1" * 8, "0" * 8), "b": ("111110", "000000"), "c": ("10", "01")}
    made["d"] = ("0" * 6, "1" * 6)
    answers = {(d, "m", k): both[k == "x"] for d, both in made.items() for k in "fx"}
    p = {k: binomtest(0, k).pvalue for k in (5, 6, 8)}
    assert p[5] > 0.05 > p[6] > 0.01 > p[8]
    path = tmp_path / "wins.jsonl"
    for alpha, by_test in ((0.05, (1, 2, 1)), (0.01, (1, 3, 0))):
        outcomes(table(answers), baselines="x", adaptive="f", wins=path, alpha=alpha)
        won = json.loads(path.read_text(encoding="utf-8"))
        assert list(won.values()) == ["m", "x", "f", 4, 2, 1, 1, *by_test, alpha]


def test_wins_of_several_models_end_with_those_of_all(tmp_path: Path) -> None:
    # Each baseline is compared on its own: the last problem of `x` is not unknown to `y`.
    letters, path = {"f": "111", "x": "01?", "y": "110"}, tmp_path / "wins.csv"
    answers = {(d, m, k): own for m in "mn" for d in "ab" for k, own in letters.items()}
    outcomes(table(answers), baselines=["x", "y"], adaptive="f", wins=path)
    won = pd.read_csv(path)[["model", "baseline", "cells", "wins", "ties"]].to_numpy().tolist()
    models = ("m", 2), ("n", 2), ("all", 4)
    assert won == [[model, name, n, n, 0] for model, n in models for name in "xy"]


def test_repeated_answers_and_graded_values_are_read_as_asked_for() -> None:
    answers = ("x", 0.5, 1), ("x", 1.0, 2), ("y", 0.8, 1), ("y", 0.0, 2)
    several = to_frame([row(*one) for one in answers], ScoreRow)
    found = [outcomes(several, **Y, epoch=1, right_from=0.6), outcomes(several, **Y, epoch=2)]
    assert [records(one, *COUNTS[3:5]) for one in found] == [[(1, 0)], [(0, 1)]]
    for message, options in (
        (
            "a, m, x, 1: several answers to one problem; choose one with epoch=N",
            {"right_from": 0.6},
        ),
        (r"value 0\.5 is neither right nor wrong; set a limit with right_from", {"epoch": 1}),
        ("y, x: no model was scored on one benchmark with all of them", {"epoch": 3}),
    ):
        with pytest.raises(InputError, match=message):
            outcomes(several, **Y, **options)
    rules = to_frame([row("x", 1, rule="strict"), row("y", 1, rule="lenient")], ScoreRow)
    with pytest.raises(InputError, match=r"a: scored by strict, lenient; choose one with rule"):
        outcomes(rules, **Y)
    once = to_frame([row("x", 1.0, 1), row("x", 0.0, 2), row("y", 1.0)], ScoreRow)
    found = [records(outcomes(once, **Y, epoch=epoch), *COUNTS)[0] for epoch in (1, 2)]
    assert found == [(1, 0, 0, 0, 0, 1), (1, 0, 0, 1, 0, 0)]


def test_what_can_not_be_used_is_refused(tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("st", {}, r"t\.jsonl: two rows of a m cot 0 rule-a; the other"),
        ("s", {"adaptive": "no"}, 'adaptive="no": one of cot, f-1 was expected'),
        ("s", {"baselines": "cot,tot"}, 'baselines="tot": one of cot, f-1 was expected'),
        ("n", {}, "f-1, cot: no model was scored .*; there are b, n, rule-b: cot; b, o, rule-b: f"),
        ("s", {"adaptive": "cot"}, 'baselines="cot": this method was given twice'),
        ("s", {"baselines": ","}, "baselines: at least one method was expected"),
        ("s", {"alpha": 1}, r"alpha=1: .* not in the range 0<x<1"),
    ]
    apart = {("b", "n", "cot"): "01", ("b", "o", "f-1"): "11"}
    for files, options, message in cases:
        made = [write(tmp_path / f"{n}.jsonl", apart if n == "n" else TWO) for n in files]
        with pytest.raises(InputError, match=message):
            outcomes(made, **F1 | options)


def test_the_command_prints_rows_and_says_which_models_are_left_out(tmp_path: Path) -> None:
    path, asked = write(tmp_path / "s.jsonl", TWO), ("--baselines", "cot", "--adaptive", "f-1")
    code, stdout, stderr = invoke("outcomes", path, *asked, "--format", "csv")
    assert code == 0
    assert stdout.splitlines()[2].startswith("b,m,rule-b,f-1,cot,2,0,0,0,1,0,0,1,0,1.0,0.5,1.0")
    assert stderr.splitlines() == [
        "1 of 8 problems is left out, because one of the results is unknown",
        "b, n: left out, no scores for f-1",
        "a, m, rule-a: 1 problem left out: 1 not put to every method",
    ]
    assert invoke("outcomes", path, *asked, "--format", "csv", "-q")[2] == ""
    code, stdout, told = invoke("outcomes", path, *asked)
    assert [*stdout.splitlines()[:1], *told.splitlines()] == stderr.splitlines()
    assert (code, "selection accuracy" in stdout, "wins by test" in stdout) == (0, True, True)
    named = [line.split() for line in stdout.splitlines() if "rule-" in line]
    assert [cells[0] for cells in named] == ["all", "a", "b"], "all benchmarks come first"
    # The accuracy is 2 of 2, and the upper bound 1 of 2: in percent, as in LaTeX.
    paper = invoke("outcomes", path, *asked, "--format", "latex")[1]
    assert "100.0 50.0" in " ".join(named[2])
    assert "100.0 & 50.0" in paper
