"""What commands show of few answers that can be counted by hand: each cell below its heading."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from tests.support.outputs import shown_in, write_lines
from tests.support.screens import screen_of
from tests.support.shown_tables import shown_tables

ANSWERS = {"cot": "1100-11100", "pot": "10110?1110"}
"""1 right, 0 wrong, - no answer, ? unknown. Of nine problems, pot alone solves three, cot one."""
NAMES = {"dataset": "d", "model": "m", "rule": "r"}
WIDE, NARROW = 400, 60


def scores(answers: dict[str, str] = ANSWERS) -> pd.DataFrame:
    values, statuses = {"1": 1.0, "0": 0.0}, {"-": "no_answer", "?": "unknown"}
    rows: list[dict[str, Any]] = []
    for method, letters in answers.items():
        for number, letter in enumerate(letters):
            row: dict[str, Any] = {"method": method, "id": str(number), "epoch": None}
            row |= {"value": values.get(letter), "status": statuses.get(letter, "scored")}
            rows.append(NAMES | row | {"answer": letter})
    return pd.DataFrame(rows)


def usage(folder: Path) -> Path:
    """Write tokens of each answer: 10, 20, 30, …"""
    rows = scores()[["dataset", "model", "method", "id", "epoch"]].to_dict(orient="records")
    tokens = {"prompt_tokens": 10, "reasoning_tokens": 4}
    lines = [row | tokens | {"completion_tokens": 10 * n} for n, row in enumerate(rows, 1)]
    return write_lines(folder / "usage.jsonl", *lines)


def labels() -> pd.DataFrame:
    columns = {"x": [*"AABBA"], "y": [*"AABBB"], "z": [*"ABBBA"]}
    return pd.DataFrame(columns | {"item": [*"01234"]})


CLUSTERED: dict[str, Any] = {"accuracies": [0.6, 0.65], "agreement": 0.8, "self_agreement": 0.9}
CLUSTERED |= {"epochs": [1, 4], "cluster_size": 5, "icc": 0.1, "problems": 100}


def left_out(screen: str) -> str:
    """Return the columns that a screen says it does not show."""
    text = " ".join(screen.split())
    _, _, after = text.partition("not shown: ")
    return after.partition(" (--wide")[0]


def test_a_comparison_is_shown_in_percent_with_all_its_counts() -> None:
    ((row,),) = shown_tables(shown_in(WIDE, screen_of(evalcore.compare, scores(), baseline="cot")))
    (found,) = evalcore.compare(scores(), baseline="cot").to_dict("records")
    low, high = (f"{100 * found[f'difference_{end}']:.1f}" for end in ("low", "high"))
    assert row == NAMES | {
        "methods": "pot − cot",
        "n": "9",
        "difference": f"+22.2 [{low}, {high}]",
        # Four discordant pairs: half of the probability of one or none, and of the one observed.
        "p": "0.375",
        "p Holm": "0.375",
        "baseline": "44.4",
        "treatment": "66.7",
        "treatment only": "3",
        "baseline only": "1",
        "needed n": f"{found['needed_n']:,}",
        "unknown": "1",
        "p exact": "0.625",
        "both answered": "8: 25.0, p 0.375",
    }


def test_parts_of_a_comparison_are_shown_with_their_family() -> None:
    grouped = scores().assign(group=["a", "b"] * 10)
    screen = screen_of(evalcore.compare, grouped, baseline="cot", by="group", adjust="bh")
    (rows,) = shown_tables(shown_in(WIDE, screen))
    names = ("group", "n", "p", "p BH", "baseline", "treatment", "both answered")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("a", "5", "0.250", "0.500", "40.0", "80.0", "4: 50.0, p 0.250"),
        ("b", "4", "0.750", "0.750", "50.0", "50.0", "4: 0.0, p 0.750"),
    ]


def test_outcomes_are_shown_with_agreements_and_wins(tmp_path: Path) -> None:
    screen = screen_of(
        evalcore.outcomes,
        scores(),
        baselines="cot",
        adaptive="pot",
        agreements=tmp_path / "agreements.csv",
    )
    (outcome,), (agreement,), (win,) = shown_tables(shown_in(WIDE, screen))
    assert outcome == NAMES | {
        "adaptive": "pot",
        "baselines": "cot",
        "n": "9",
        "all fail": "2",
        "all solve": "3",
        "adaptive right": "0",
        "adaptive wrong": "1",
        "only adaptive": "3",
        "accuracy": "66.7",
        "upper bound": "44.4",
        "selection accuracy": "0.0 [0.0, 79.3]",
        "upper bound with adaptive": "77.8",
        "all baselines but adaptive": "1",
        "no answer": "1",
        "unknown": "1",
    }
    assert agreement == NAMES | {
        "adaptive": "pot",
        "baseline": "cot",
        "n": "9",
        "agree": "44.4 [18.9, 73.3]",
        "accuracy agree": "75.0 [30.1, 95.4]",
        "accuracy baseline differ": "20.0 [3.6, 62.4]",
        "accuracy adaptive differ": "60.0 [23.1, 88.2]",
        "accepted": "33.3 [12.1, 64.6]",
        "verified": "77.8 [45.3, 93.7]",
    }
    assert win == {
        "model": "m",
        "treatment": "pot",
        "baseline": "cot",
        "wins": "1",
        "ties": "0",
        "losses": "0",
        "wins by test": "0",
        "ties by test": "1",
        "losses by test": "0",
        "cells": "1",
    }


def test_a_plan_is_shown_in_percent_with_its_clusters() -> None:
    (rows,) = shown_tables(shown_in(WIDE, screen_of(evalcore.plan, **CLUSTERED)))
    found = evalcore.plan(**CLUSTERED).to_dict("records")
    assert rows == [
        {
            "epochs": f"{row['epochs']}",
            "target power": "80.0",
            "needed n": f"{row['needed_n']:,}",
            "cluster size": "5",
            "needed clusters": f"{row['needed_clusters']:,}",
            "answers": f"{row['needed_answers']:,}",
            "n": "100",
            "power": f"{100 * row['power']:.1f}",
            "detectable": f"{100 * row['detectable']:.1f}",
            "discordance": "20.0",
        }
        for row in found
    ]
    assert "difference 5.0" in shown_in(WIDE, screen_of(evalcore.plan, **CLUSTERED))


def test_a_ranking_is_shown_with_the_interval_of_each() -> None:
    (rows,) = shown_tables(shown_in(WIDE, screen_of(evalcore.rank, scores())))
    names = ("method", "n", "rank", "accuracy", "better", "worse")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("pot", "9", "1 [1, 2]", "66.7 [35.4, 87.9]", "0", "0"),
        ("cot", "9", "2 [1, 2]", "44.4 [18.9, 73.3]", "0", "0"),
    ]


def test_costs_are_shown_per_answer_and_per_correct_one(tmp_path: Path) -> None:
    screen = screen_of(evalcore.efficiency, scores(), usage=usage(tmp_path), baseline="cot")
    (rows,) = shown_tables(shown_in(WIDE, screen))
    names = ("method", "n", "on frontier", "prompt overhead")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("cot", "10", "yes", "–"),
        ("pot", "9", "yes", "0"),
    ]
    first = ("accuracy", "mean tokens", "tokens per correct", "accuracy per 100 tokens")
    means = [tuple(row[name].split()[0] for name in first) for row in rows]
    # cot has 10 to 100 tokens, and half of them right; pot 110 to 200 without its sixth.
    mean = (1550 - 160) / 9
    assert means == [
        ("50.0", "55", "110", "90.9"),
        ("66.7", f"{mean:.0f}", f"{mean / (6 / 9):.0f}", f"{100 * 100 * 6 / 9 / mean:.1f}"),
    ]


def test_agreement_is_shown_by_judge_and_by_label() -> None:
    screen = shown_in(WIDE, screen_of(evalcore.agreement, labels()))
    of_judges, of_labels = shown_tables(screen)
    assert [tuple(row.values()) for row in of_judges] == [
        ("cohen kappa", "x · y", "5", "0.615 (no interval)"),
        ("cohen kappa", "x · z", "5", "0.615 (no interval)"),
        ("cohen kappa", "y · z", "5", "0.167 (no interval)"),
        ("fleiss kappa", "all", "5", "0.464 (no interval)"),
        ("krippendorff alpha", "all", "5", "0.5 (no interval)"),
    ]
    assert [tuple(row.values()) for row in of_labels] == [
        ("unanimous", "all", "", "5", "3", "60.0 [23.1, 88.2]"),
        ("majority", "all", "A", "5", "3", "60.0 [23.1, 88.2]"),
        ("majority", "all", "B", "5", "2", "40.0 [11.8, 76.9]"),
        ("share", "x", "A", "5", "3", "60.0 [23.1, 88.2]"),
        ("share", "x", "B", "5", "2", "40.0 [11.8, 76.9]"),
        ("share", "y", "A", "5", "2", "40.0 [11.8, 76.9]"),
        ("share", "y", "B", "5", "3", "60.0 [23.1, 88.2]"),
        ("share", "z", "A", "5", "2", "40.0 [11.8, 76.9]"),
        ("share", "z", "B", "5", "3", "60.0 [23.1, 88.2]"),
    ]
    assert [*of_labels[0]] == ["statistic", "judges", "label", "items", "count", "%"]


def screens_of(folder: Path) -> dict[str, Any]:
    epochs = pd.concat([scores().assign(epoch=epoch) for epoch in (1, 2)])
    return {
        "compare": lambda: screen_of(evalcore.compare, epochs, baseline="cot"),
        "plan": lambda: screen_of(evalcore.plan, **CLUSTERED),
        "rank": lambda: screen_of(evalcore.rank, scores()),
        "outcomes": lambda: screen_of(evalcore.outcomes, scores(), baselines="cot", adaptive="pot"),
        "efficiency": lambda: screen_of(
            evalcore.efficiency, scores(), usage=usage(folder), baseline="cot"
        ),
    }


@pytest.mark.parametrize(
    ("command", "width", "names"),
    [
        pytest.param(
            "compare",
            NARROW,
            "both answered, unknown, needed n, detectable, pairs",
            id="compare",
        ),
        pytest.param("plan", NARROW, "discordance, answers", id="plan"),
        pytest.param("rank", 40, "worse, better", id="rank"),
        pytest.param(
            "outcomes",
            NARROW,
            "upper bound with adaptive, all baselines but adaptive, no answer, unknown",
            id="outcomes",
        ),
        pytest.param(
            "efficiency",
            NARROW,
            "prompt overhead, frontier share, accuracy per 100 tokens",
            id="efficiency",
        ),
    ],
)
def test_a_narrow_screen_names_the_columns_that_it_lacks(
    tmp_path: Path, command: str, width: int, names: str
) -> None:
    screen = screens_of(tmp_path)[command]()
    assert left_out(shown_in(width, screen)) == names
    assert left_out(shown_in(WIDE, screen)) == ""
