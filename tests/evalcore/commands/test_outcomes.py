"""Joint outcomes and wins, against problems sorted one by one."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from evalcore.commands.outcomes import outcomes
from evalcore.outcomes_rows import AnswersRow
from evalcore.scores import ScoreRow
from ngramscan.errors import IncompleteError, InputError
from ngramscan.reporting import to_frame
from ngramscan.statistics.proportions import wilson
from tests.support.command import invoke
from tests.support.tiered_scores import SCORES, found_by, side_by_side

Answers = Mapping[tuple[str, str, str], Iterable[str]]
TWO: Answers = {
    ("a", "m", "cot"): "1100-1",
    ("a", "m", "f-1"): "10110.",
    ("b", "m", "cot"): "01",
    ("b", "m", "f-1"): "11",
    ("b", "n", "cot"): "01",
}
APART: Answers = {("b", "n", "cot"): "01", ("b", "o", "f-1"): "11"}
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
            value = {"1": 1.0, "0": 0.0}.get(letter)
            status = "no_answer" if letter == "-" else ""
            if letter != ".":
                rows.append(row(method, value, id=str(number), status=status, **names))
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
    expected, found = (records(outcomes(answers, **Y)) for answers in (known, path))
    assert [row.pop("n_unknown") for row in expected + found] == [0, 4]
    assert found == expected


KINDS = {
    # Whether the adaptive method, one and all baselines are right.
    (False, False, False): "all_fail",
    (True, True, True): "all_solve",
    (True, True, False): "adaptive_right",
    (False, True, False): "adaptive_wrong",
    (True, False, False): "only_adaptive",
    (False, True, True): "adaptive_wrong",
}


def solving(solved: Sequence[tuple[bool, bool, bool]]) -> Answers:
    """Return the answers of f, x and y, each of which solves some problems."""
    return {
        ("a", "m", "f"): "".join("1" if f else "0" for f, _, _ in solved),
        ("a", "m", "x"): "".join("1" if x else "0" for _, x, _ in solved),
        ("a", "m", "y"): "".join("1" if y else "0" for _, _, y in solved),
    }


@pytest.mark.parametrize("seed", range(12))
def test_outcomes_are_a_partition_and_bounds_those_of_oracles(seed: int) -> None:
    draw = random.Random(seed)
    solved = [
        (draw.random() < 0.5, draw.random() < seed / 12, draw.random() < 0.5)
        for _ in range(1 + 3 * seed)
    ]
    (found,) = records(outcomes(table(solving(solved)), baselines="x,y", adaptive="f"))
    named, n = Counter(KINDS[f, x or y, x and y] for f, x, y in solved), len(solved)
    expected = {name: named[name] for name in KINDS.values()} | {
        "n": n,
        "all_baselines_but_adaptive": solved.count((False, True, True)),
        "accuracy": sum(f for f, _, _ in solved) / n,
        "upper_bound": sum(x or y for _, x, y in solved) / n,
        "upper_bound_with_adaptive": sum(f or x or y for f, x, y in solved) / n,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    chosen = [f for f, x, y in solved if (x or y) and not (f and x and y)]
    if chosen:
        low, high = binomtest(sum(chosen), len(chosen)).proportion_ci(method="wilson")
        selection = [found[f"selection_{end}"] for end in ("low", "accuracy", "high")]
        assert selection == pytest.approx([low, sum(chosen) / len(chosen), high], abs=1e-9)
    else:
        assert found.get("selection_accuracy") is None
        assert found["note"] != ""


def test_models_that_share_problems_have_no_interval_together() -> None:
    answers = {
        ("a", model, name): letters
        for model in "mn"
        for name, letters in (("x", "1101"), ("f", "0111"))
    }
    answers |= {("b", "m", "x"): "1", ("b", "m", "f"): "1"}
    found = outcomes(table(answers), baselines="x", adaptive="f")
    assert records(found, "dataset", "model", "n") == [
        ("a", "m", 4),
        ("a", "n", 4),
        ("a", "all", 8),
        ("b", "m", 1),
        ("all", "m", 5),
    ]
    pooled = records(found)[2]
    assert (pooled["adaptive_wrong"], pooled["only_adaptive"], pooled["all_solve"]) == (2, 2, 4)
    assert (pooled["selection_accuracy"], pooled["selection_low"]) == (0.0, None)
    assert "not independent" in pooled["note"]


def test_the_command_prints_rows_and_says_which_models_are_left_out(tmp_path: Path) -> None:
    path, asked = write(tmp_path / "s.jsonl", TWO), ("--baselines", "cot", "--adaptive", "f-1")
    ran = invoke("outcomes", path, *asked, "--format", "csv")
    assert ran.code == 0
    of_b = {"dataset": "b", "model": "m", "adaptive": "f-1", "baselines": "cot", "n": "2"}
    shares = {"accuracy": "1.0", "upper_bound": "0.5", "upper_bound_with_adaptive": "1.0"}
    assert ran.rows[1] | of_b | shares == ran.rows[1]
    told = [
        "1 of 8 problems is left out, because not every method was asked",
        "b, n: left out, no scores for f-1",
        "a, m, rule-a: 1 problem left out: 1 not put to every method",
    ]
    assert ran.stderr.splitlines() == told
    assert invoke("outcomes", path, *asked, "--format", "csv", "-q").stderr == ""
    shown = invoke("outcomes", path, *asked)
    assert [*shown.stdout.splitlines()[:1], *shown.stderr.splitlines()] == told
    named = [line.split() for line in shown.stdout.splitlines() if "rule-" in line]
    assert [cells[0] for cells in named] == ["all", "a", "b"], "all benchmarks come first"
    # The accuracy is 2 of 2, and the upper bound 1 of 2: in percent, as in LaTeX.
    assert "100.0 50.0" in " ".join(named[2])
    assert "100.0 & 50.0" in invoke("outcomes", path, *asked, "--format", "latex").stdout


@pytest.mark.parametrize(
    ("x", "y", "no_answer", "why"),
    [
        pytest.param("1?", "?0", "wrong", "2 with an unknown result", id="unknown results"),
        pytest.param(
            "1.",
            ".0",
            "wrong",
            "2 not put to every method; no document in common: y has 1; x has 0 (check the ids)",
            id="no problem in common",
        ),
        pytest.param("1-", "-0", "exclude", "2 without an answer", id="no answers"),
    ],
)
def test_where_nothing_is_known_there_is_no_row_and_the_code_is_1(
    tmp_path: Path, x: str, y: str, no_answer: Any, why: str
) -> None:
    path = write(tmp_path / "s.jsonl", {("a", "m", "x"): x, ("a", "m", "y"): y})
    options = ("--baselines", "x", "--adaptive", "y", "--no-answer", no_answer)
    code, stdout, stderr = invoke("outcomes", path, *options, "--format", "csv")
    message = f"a, m, rule-a: nothing to compare; 2 problems left out: {why}"
    assert (code, len(stdout.splitlines())) == (1, 1)
    assert stderr.splitlines()[-1] == f"Error: {message}"
    assert invoke("outcomes", path, *options)[1].count("\n") <= 1
    with pytest.raises(IncompleteError, match=re.escape(message)) as caught:
        outcomes(path, **Y, no_answer=no_answer)
    assert len(caught.value.rows) == 0


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


def test_selection_has_wilsons_interval_where_answers_are_independent() -> None:
    letters = {"f": "1101001", "x": "1001101", "y": "0011100"}
    answers = {("a", model, name): each for model in "mn" for name, each in letters.items()}
    names = ("adaptive_right", "adaptive_wrong", "selection_low", "selection_high")
    first, _, together = records(outcomes(table(answers), baselines="x,y", adaptive="f"), *names)
    interval = proportion_confint(first[0], first[0] + first[1], method="wilson")
    assert first[2:] == pytest.approx(interval)
    assert together == (2 * first[0], 2 * first[1], None, None)


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        pytest.param(
            ["s.jsonl", "t.jsonl"],
            {},
            "t\\.jsonl: two rows of a m cot 0 rule-a; the other",
            id="two rows of one answer",
        ),
        pytest.param(
            ["s.jsonl"],
            {"adaptive": "no"},
            'adaptive="no": expected one of cot, f-1',
            id="no such method",
        ),
        pytest.param(
            ["s.jsonl"],
            {"baselines": "cot,tot"},
            'baselines="tot": expected one of cot, f-1',
            id="no such baseline",
        ),
        pytest.param(
            ["n.jsonl"],
            {},
            "f-1, cot: no model was scored .*; available: b, n, rule-b: cot; b, o, rule-b: f",
            id="no model with both",
        ),
        pytest.param(
            ["s.jsonl"],
            {"adaptive": "cot"},
            'baselines="cot": this method was given twice',
            id="the method as a baseline",
        ),
        pytest.param(
            ["s.jsonl"],
            {"baselines": ","},
            "baselines: expected at least one method",
            id="no baseline",
        ),
        pytest.param(
            ["s.jsonl"],
            {"alpha": 1},
            "alpha=1: must be between 0 and 1, both excluded",
            id="an alpha of 1",
        ),
    ],
)
def test_what_can_not_be_used_is_refused(
    tmp_path: Path, files: list[str], options: dict[str, Any], message: str
) -> None:
    answers = {"s.jsonl": TWO, "t.jsonl": TWO, "n.jsonl": APART}
    made = [write(tmp_path / name, answers[name]) for name in files]
    with pytest.raises(InputError, match=message):
        outcomes(made, **F1 | options)


def test_what_each_problem_counts_for_is_that_of_a_table_by_hand() -> None:
    #          all, right, lost, wrong, only, fail, lost
    letters = {"x": "1111001", "z": "1010001", "y": "1100100"}
    answers = {("a", "m", name): row for name, row in letters.items()}
    (found,) = records(outcomes(table(answers), baselines=["x", "z"], adaptive="y"))
    counts = {
        "n": 7,
        "all_solve": 1,
        "adaptive_right": 1,
        "adaptive_wrong": 3,
        "all_baselines_but_adaptive": 2,
        "only_adaptive": 1,
        "all_fail": 1,
    }
    assert {name: found[name] for name in counts} == counts
    shares = {
        "accuracy": 3 / 7,
        "upper_bound": 5 / 7,
        "upper_bound_with_adaptive": 6 / 7,
        "selection_accuracy": 1 / 4,
    }
    assert {name: found[name] for name in shares} == pytest.approx(shares)


SAME_RIGHT, SAME_WRONG = ("2", 1.0, "2.0", 1.0), ("X = 1", 0.0, "x=1", 0.0)
ONLY_X, ONLY_Y, NEITHER = ("2", 1.0, "3", 0.0), ("3", 0.0, "2", 1.0), ("3", 0.0, "4", 0.0)
ANSWERED = [*[SAME_RIGHT] * 5, *[SAME_WRONG] * 2, *[ONLY_X] * 2, ONLY_Y, *[NEITHER] * 2]


def test_each_column_about_equal_answers_is_as_by_hand(tmp_path: Path) -> None:
    rows = [
        replace(row(method, value), id=str(number), answer=answer)
        for number, (of_x, is_x_right, of_y, is_y_right) in enumerate(ANSWERED)
        for method, answer, value in (("x", of_x, is_x_right), ("y", of_y, is_y_right))
    ]
    path = tmp_path / "agreements.csv"
    outcomes(to_frame(rows, ScoreRow), **Y, agreements=path)
    (found,) = pd.read_csv(path).to_dict("records")
    shares = {
        "agree": (7, 12),
        "accuracy_agree": (5, 7),
        "accuracy_baseline_differ": (2, 5),
        "accuracy_adaptive_differ": (1, 5),
        "accepted": (5, 12),
        "verified": (5 + 2 + 1, 12),
    }
    expected: dict[str, Any] = {"n": 12, "n_agree": 7}
    for name, (count, of) in shares.items():
        low, high = proportion_confint(count, of, method="wilson")
        expected |= {name: count / of, f"{name}_low": low, f"{name}_high": high}
    names = {
        "dataset": "a",
        "model": "m",
        "rule": "rule-a",
        "baseline": "x",
        "adaptive": "y",
    }
    assert {*expected, *names, "group"} == {field.name for field in fields(AnswersRow)}
    assert {name: found[name] for name in names} == names
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    # With a verifier, eight of twelve: as the interval of eight right answers.
    verified = found["verified_low"], found["verified_high"]
    assert verified == pytest.approx(proportion_confint(8, 12, method="wilson"), abs=1e-9)


def letters_of(only_y: int, only_x: int) -> dict[str, str]:
    """Return the answers of two methods, of which so many problems are solved by one alone."""
    return {"y": "1" * only_y + "0" * only_x + "10", "x": "0" * only_y + "1" * only_x + "10"}


# Problems that only y and only x solve, by benchmark. Exact p by hand: 2 / 2^6 = 0.03125 for six
# of six, 2 / 2^7 = 0.015625 for seven of seven, 2 / 2^5 = 0.0625 for five of five; above 0.2 for
# the others.
UNEVEN = {
    "six": (6, 0),
    "five": (5, 0),
    "many": (20, 12),
    "four to one": (4, 1),
    "none": (2, 2),
    "minus six": (0, 6),
    "minus seven": (0, 7),
    "one to two": (1, 2),
}


def wins_of(path: Path, answers: Answers, **options: Any) -> list[Any]:
    outcomes(table(answers), **Y | options, wins=path)
    return pd.read_csv(path).to_dict("records")


@pytest.mark.parametrize(
    ("alpha", "by_test"),
    [
        pytest.param(0.05, (1, 5, 2), id="six and more of as many are significant"),
        pytest.param(0.07, (2, 4, 2), id="five of five are significant"),
        pytest.param(0.03125, (0, 7, 1), id="a p that equals alpha is not below it"),
        pytest.param(0.01, (0, 8, 0), id="nothing is significant"),
    ],
)
def test_each_benchmark_is_won_tied_or_lost_and_by_test_as_by_hand(
    tmp_path: Path, alpha: float, by_test: tuple[int, int, int]
) -> None:
    answers = {
        (dataset, "m", method): letters
        for dataset, pair in UNEVEN.items()
        for method, letters in letters_of(*pair).items()
    }
    assert wins_of(tmp_path / "wins.csv", answers, alpha=alpha) == [
        {
            "model": "m",
            "baseline": "x",
            "treatment": "y",
            "cells": 8,
            "wins": 4,
            "ties": 1,
            "losses": 3,
            "wins_by_test": by_test[0],
            "ties_by_test": by_test[1],
            "losses_by_test": by_test[2],
            "alpha": alpha,
        }
    ]


def test_each_baseline_and_model_has_wins_and_all_models_have_their_sum(tmp_path: Path) -> None:
    one_sided = {"y": "1111111", "x": "0000000", "z": "1111111"}
    answers = {("a", "m", method): letters for method, letters in one_sided.items()}
    answers |= {("b", "m", method): letters for method, letters in one_sided.items()}
    turned = {"y": "0000000", "x": "1111111", "z": "1000000"}
    answers |= {("a", "n", method): letters for method, letters in turned.items()}
    names = ("wins", "ties", "losses", "wins_by_test", "ties_by_test", "losses_by_test", "cells")
    found = {
        (row["model"], row["baseline"]): tuple(row[name] for name in names)
        for row in wins_of(tmp_path / "wins.csv", answers, baselines="x,z")
    }
    assert found == {
        ("m", "x"): (2, 0, 0, 2, 0, 0, 2),
        ("m", "z"): (0, 2, 0, 0, 2, 0, 2),
        ("n", "x"): (0, 0, 1, 0, 0, 1, 1),
        ("n", "z"): (0, 0, 1, 0, 1, 0, 1),
        ("all", "x"): (2, 0, 1, 2, 0, 1, 3),
        ("all", "z"): (0, 2, 1, 0, 3, 0, 3),
    }


def test_what_accepting_equal_answers_reaches(tmp_path: Path, subtests: pytest.Subtests) -> None:
    right = SCORES.assign(value=(SCORES["value"] > 0.5).astype(float))
    path = tmp_path / "agreements.csv"
    outcomes(right, **F1, agreements=path)
    rows = found_by(pd.read_csv(path), "dataset", "model")
    kinds = {"2": "2", "2.0": "2", " 2 ": "2", "x = 1": "x=1", "X=1": "x=1"}
    answers = side_by_side(right.assign(answer=right["answer"].map(kinds)), "answer")
    values = side_by_side(right)
    for key, pair in values.groupby(["dataset", "model"]):
        with subtests.test(key=key):
            answer = answers.loc[pair.index]
            same = answer["cot"] == answer["f-1"]
            first, second = pair["cot"] == 1, pair["f-1"] == 1
            row = rows[key]
            share = wilson(int((same & first).sum()), len(pair))
            assert row["n_agree"] == same.sum()
            assert row["accuracy_agree"] == pytest.approx(first[same].mean())
            assert row["accuracy_baseline_differ"] == pytest.approx(first[~same].mean())
            assert row["accuracy_adaptive_differ"] == pytest.approx(second[~same].mean())
            limits = [row[f"accepted{end}"] for end in ("", "_low", "_high")]
            assert limits == pytest.approx([share.value, share.low, share.high])
            verified = ((same & first) | (~same & (first | second))).mean()
            assert row["verified"] == pytest.approx(verified)
    assert pd.isna(rows["a", "all"]["agree_low"])
    silent = tmp_path / "silent.csv"
    outcomes(right.assign(answer=None), **F1, agreements=silent)
    assert set(pd.read_csv(silent)["n_agree"]) == {0}  # no answer equals no other


def test_rules_are_compared_for_each_method(subtests: pytest.Subtests) -> None:
    strict = SCORES.assign(value=(SCORES["value"] > 0.8).astype(float), rule="strict")
    lenient = SCORES.assign(value=(SCORES["value"] > 0.4).astype(float), rule="lenient")
    both = pd.concat([strict, lenient])
    frame = outcomes(both, baselines="strict", adaptive="lenient", between="rules")
    rows = found_by(frame)
    for key, part in both.groupby(["dataset", "model", "method"]):
        with subtests.test(key=key):
            table = part.pivot_table(index="id", columns="rule", values="value")
            only = int((table["lenient"] > table["strict"]).sum())
            row = rows[key]
            assert (row["only_adaptive"], row["adaptive_wrong"]) == (only, 0)
            assert row["all_solve"] == table["strict"].sum()
