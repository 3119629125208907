"""Prevalence beside accuracy: joined by names, ratios by their own formula, orders by scipy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
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
        (COUNTS, {"map": "tot=CoT"}, "--map tot=CoT: METHOD=NAME was expected, of"),
        (COUNTS, {"map": "=CoT"}, "--map =CoT: METHOD=NAME was expected"),
        (COUNTS, {"tier": "T3"}, "--tier T3: one of T1 was"),
        (UNDOCUMENTED, {"measure": "documents"}, "no documents in this row; see ngramscan docnorm"),
        (COUNTS, {"rule": "nope"}, "--rule nope: not scored; there are strict"),
    ],
)
def test_what_can_not_be_joined_is_refused(
    rows: list[PatternCount], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        link(rows, **options)


def test_three_methods_have_an_order_two_have_none_and_nine_no_p(tmp_path: Path) -> None:
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
    too_many = "more than 8 methods: not all orders tried"
    assert rank_agreement(range(9), range(9)) == (1.0, None, too_many)


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
    orders = itertools.permutations(second)
    far = [abs(stats.kendalltau(first, one).statistic) >= abs(tau) - 1e-12 for one in orders]
    assert p == pytest.approx(sum(far) / len(far))


def test_a_figure_has_a_point_per_row() -> None:
    names = ("i", "occurrences", "d", "m", "strict", "cot", "f-1")
    row = LinkRow(*names, *(4.0, 2.0, 8.0, 5.0, 10.0, -5.0, 25.0, 0.5), same_direction=True)
    other = replace(row, model="m2", difference=-3.0, difference_low=None)
    rows = [row, other, replace(row, index="j", prevalence_low=None), replace(other, index="j")]
    figure = draw_links(rows)
    points = [one for axes in figure.axes for one in axes.lines if one.get_gid() == "point"]
    intervals = [one for axes in figure.axes for one in axes.collections]
    assert (len(points), len(intervals)) == (4, 2)
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

    compared = evalcore.compare("scores.jsonl", all_pairs=True)
    by_scores = evalcore.link("counts.csv", "scores.jsonl", ranks="ranks.csv")
    assert_frame_equal(by_scores, evalcore.link("counts.csv", compared, rule=["strict"]))
    assert (len(by_scores), len(pd.read_csv("ranks.csv"))) == (1, 1)
    command = ["link", "counts.csv", "scores.jsonl", "--figure", "link.svg"]
    shown = CliRunner().invoke(main, command)
    assert (shown.exit_code, shown.stderr) == (0, CORRELATIONAL + "\n")
    assert "f-1 : cot" in shown.stdout
    assert (tmp_path / "link.svg").stat().st_size > 1000
