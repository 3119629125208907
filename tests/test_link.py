"""Prevalence beside accuracy: joined by names, ratios by their own formula, orders by scipy."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evalcore
from evalcore.cli import main
from evalcore.compare import CompareRow
from evalcore.figures import draw_links
from evalcore.link import CORRELATIONAL, LinkRow, PatternCount, rank_agreement
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.output import choose_target, to_frame, write_rows
from ngramscan.statistics.estimates import geometric_mean_ratio

COMPARED = CompareRow(
    dataset="d", model="m", rule="strict", baseline="cot", treatment="f-1", n=10,
    n_no_answer=0, n_unknown=0, treatment_only=2, baseline_only=1, unanswered_baseline=None,
    unanswered_treatment=None,
    accuracy_baseline=50.0, accuracy_treatment=60.0, difference=10.0, difference_low=-5.0,
    difference_high=25.0, p=0.5, p_exact=0.6, p_holm=0.5, test="mid-p McNemar", n_complete=10,
    difference_complete=10.0, p_complete=0.5, detectable=None, note="",
)  # fmt: skip


def counts(method: str, *numbers: int, index: str = "i", tier: str = "T1") -> list[PatternCount]:
    return [
        PatternCount(index, method, tier, f"{method} {number}", count, count // 2)
        for number, count in enumerate(numbers)
    ]


COUNTS = [*counts("CoT", 10, 100, 1000), *counts("FP/F-1", 40, 300, 5000, 7)]
RARE = counts("CoT", 10**6, tier="T3")
UNDOCUMENTED = [replace(one, documents=None) for one in COUNTS]


def link(rows: Any, compared: Sequence[CompareRow] = (COMPARED,), **options: Any) -> Any:
    return evalcore.link(to_frame(rows, PatternCount), to_frame(compared, CompareRow), **options)


@pytest.mark.parametrize(
    ("rows", "options", "treatment", "baseline"),
    [
        (COUNTS, {}, [40, 300, 5000, 7], [10, 100, 1000]),
        (COUNTS, {"measure": "documents"}, [20, 150, 2500, 3], [5, 50, 500]),
        ([*COUNTS, COUNTS[0], *RARE], {}, [40, 300, 5000, 7], [20, 100, 1000]),
        ([*counts("CoT", 0, 0), *counts("F-1", 3, 4)], {}, [3, 4], [0, 0]),
    ],
    ids=["occurrences", "documents", "variants add up, other tiers are left out", "no sum"],
)
def test_a_pair_of_methods_has_its_ratio_and_its_difference(
    rows: list[PatternCount], options: dict[str, Any], treatment: list[int], baseline: list[int]
) -> None:
    (row,) = link(rows, **options).itertuples()
    expected = geometric_mean_ratio(treatment, baseline)
    assert row.prevalence_ratio == pytest.approx(expected.value)
    assert (row.prevalence_low, row.prevalence_high) == (expected.low, expected.high)
    if sum(baseline):
        assert row.sum_ratio == pytest.approx(sum(treatment) / sum(baseline))
    else:
        assert pd.isna(row.sum_ratio)
    assert (row.difference, row.difference_low, row.p) == (10.0, -5.0, 0.5)
    assert row.same_direction


def test_methods_may_be_mapped() -> None:
    other = replace(COMPARED, treatment="mine")
    assert len(link(COUNTS, [COMPARED, other])) == 1
    assert link(COUNTS, [other], map="mine=F-1").treatment.tolist() == ["mine"]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (counts("CoT", 1, tier="T3"), {}, "no patterns of T1, T2"),
        (counts("PoT", 1), {}, r"these have some: PoT \(see --map\)"),
        (COUNTS, {"map": "tot=CoT"}, "--map tot=CoT: no such method compared"),
        (COUNTS, {"map": "=CoT"}, "--map =CoT: METHOD=NAME was expected"),
        (COUNTS, {"tier": "T3"}, "--tier T3: not among the counts; there are T1"),
        (UNDOCUMENTED, {"measure": "documents"}, "no documents in this row; see ngramscan docnorm"),
        (COUNTS, {"rule": "nope"}, "--rule nope: not scored; there are strict"),
    ],
)
def test_what_can_not_be_joined_is_refused(
    rows: list[PatternCount], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        link(rows, **options)


def test_three_methods_have_an_order_and_two_have_none(tmp_path: Path) -> None:
    pot = replace(COMPARED, treatment="pot", accuracy_treatment=40.0, difference=-10.0)
    path = tmp_path / "ranks.csv"
    link([*COUNTS, *counts("PoT", 1, 2)], [COMPARED, pot], ranks=path)
    rank: Any = next(pd.read_csv(path).itertuples())
    assert (rank.methods, rank.tau) == (3, 1.0)
    assert rank.p == pytest.approx(2 / 6)
    assert rank.note == "p can't be below 0.33 with 3 methods"
    link(COUNTS, ranks=path)
    rank = next(pd.read_csv(path).itertuples())
    assert pd.isna(rank.tau)
    assert rank.note == "two methods have no order to agree on"


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=5))
def test_tau_is_scipys_and_p_counts_all_orders(pairs: list[tuple[int, int]]) -> None:
    first, second = [float(one) for one, _ in pairs], [float(other) for _, other in pairs]
    tau, p, _ = rank_agreement(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert (tau, p) == (None, None)
        return
    assert tau is not None
    assert tau == pytest.approx(stats.kendalltau(first, second).statistic)
    all_taus = [
        stats.kendalltau(first, order).statistic for order in itertools.permutations(second)
    ]
    as_far = sum(abs(value) >= abs(tau) - 1e-12 for value in all_taus)
    assert p == pytest.approx(as_far / len(all_taus))


def test_too_many_methods_have_no_p() -> None:
    tau, p, note = rank_agreement(range(9), range(9))
    assert (tau, p) == (1.0, None)
    assert "not all orders tried" in note


def test_a_figure_has_a_point_per_row() -> None:
    names = ("i", "occurrences", "d", "m", "strict", "cot", "f-1")
    row = LinkRow(*names, *(4.0, 2.0, 8.0, 5.0, 10.0, -5.0, 25.0, 0.5), same_direction=True)
    other = replace(row, model="m2", difference=-3.0, difference_low=None)
    rows = [row, other, replace(row, index="j", prevalence_low=None), replace(other, index="j")]
    figure = draw_links(rows)
    gids = [one.get_gid() for axes in figure.axes for one in axes.lines]
    assert (gids.count("point"), gids.count("interval")) == (4, 2)
    bands = [one for axes in figure.axes for one in axes.patches if one.get_gid() == "band"]
    assert len(bands) == 1


def test_the_command_takes_scores_or_comparisons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(COUNTS, PatternCount, choose_target(None, Path("counts.csv")))
    scored = [
        ScoreRow("d", "m", method, str(n), None, "strict", float(n < right), None, None, "")
        for method, right in (("cot", 5), ("f-1", 7))
        for n in range(10)
    ]
    write_rows(scored, ScoreRow, choose_target(None, Path("scores.jsonl")))

    def invoke(*arguments: str) -> Any:
        return CliRunner().invoke(main, list(arguments))

    made = invoke("compare", "scores.jsonl", "--all-pairs", "-o", "compared.csv")
    assert made.exit_code == 0, made.stderr
    rows = []
    for scores in ("scores.jsonl", "compared.csv"):
        done = invoke("link", "counts.csv", scores, "--format", "jsonl", "--ranks", "ranks.csv")
        assert (done.exit_code, done.stderr) == (0, CORRELATIONAL + "\n"), done.stderr
        rows.append([json.loads(line) for line in done.stdout.splitlines()])
    assert rows[0] == rows[1]
    assert (tmp_path / "ranks.csv").read_text().startswith("index,measure")
    shown = invoke("link", "counts.csv", "scores.jsonl", "--figure", "link.svg")
    assert shown.exit_code == 0
    assert "f-1 : cot" in shown.stdout
    assert (tmp_path / "link.svg").stat().st_size > 1000
    wrong = invoke("link", "counts.csv", "scores.jsonl", "--map", "f-1")
    assert (wrong.exit_code, wrong.stderr) == (2, "Error: --map f-1: METHOD=NAME was expected\n")
    frame = evalcore.link("counts.csv", "compared.csv", rule=["strict"])
    assert len(frame) == 1
