import itertools
import json
import tempfile
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evalcore
from evalcore.commands.link import PatternCount, RankRow, rank_agreement
from evalcore.compare_rows import CompareRow, compare_methods
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.reporting import to_frame
from tests.support.command import invoke

SCORED = [
    ScoreRow("d", "m", method, str(n), None, "strict", float(n < right))
    for method, right in (("cot", 5), ("f-1", 7))
    for n in range(10)
]
COMPARED = compare_methods(SCORED)[0][0]


def counts(method: str, *numbers: int, tier: str = "T1") -> list[PatternCount]:
    return [
        PatternCount("i", method, tier, f"{method} {number}", count, count // 2)
        for number, count in enumerate(numbers)
    ]


COUNTS = [*counts("CoT", 10, 100, 1000), *counts("FP/F-1", 40, 300, 5000, 7)]
RARE = counts("CoT", 10**6, tier="T3")


def link(rows: Any, compared: Sequence[CompareRow] = (COMPARED,), **options: Any) -> Any:
    return evalcore.link(to_frame(rows, PatternCount), to_frame(compared, CompareRow), **options)


def vars_of(row: PatternCount) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row)}


def linked_from_file(rows: list[Any], **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "counts.jsonl")
        path.write_text(
            "".join(json.dumps(row).replace("Infinity", "1e400") + "\n" for row in rows)
        )
        compared = to_frame([COMPARED], CompareRow)
        return evalcore.link(path, compared, **options)


def test_what_can_not_be_joined_is_refused() -> None:
    def refused(message: str, rows: list[PatternCount] = COUNTS, **options: Any) -> None:
        with pytest.raises(InputError, match=message):
            link(rows, **options)

    refused("no patterns of T1, T2", RARE)
    literal = replace(COUNTS[0], method=None, tier=None)
    refused("no patterns of T1, T2; expected a set with methods and tiers", [literal])
    assert len(link([literal, *COUNTS])) == 1
    refused(r"of these tiers; available: PoT \(see rename\)", counts("PoT", 1))
    for text in ("tot=CoT", "=CoT", "cot"):
        refused(f'rename="{text}": expected METHOD=NAME: a compared', rename=text)
    refused('tier="T3": expected one of T1', tier="T3")
    undocumented = [replace(one, documents=None) for one in COUNTS]
    refused(
        "counts: i, .*: no documents in this row; ngramscan docnorm estimates them",
        undocumented,
        measure="documents",
    )
    seen_in_part = [
        replace(row, documents_lower_estimate=524, documents_upper_estimate=1110)
        for row in undocumented
    ]
    refused(
        "two estimates of documents, 524 and 1,110, since long ones were truncated; use "
        'measure="occurrences", or run ngramscan docnorm with draws=[0-9]+, which looks at all '
        "occurrences",
        seen_in_part,
        measure="documents",
    )
    refused('rule="nope": expected one of strict', rule="nope")


@pytest.mark.parametrize("count", [-1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("measure", ["occurrences", "documents"])
def test_a_number_that_is_no_count_is_refused(count: float, measure: str) -> None:
    rows: list[Any] = [{**vars_of(one), measure: count} for one in COUNTS[:1]]
    rows += [vars_of(one) for one in COUNTS[1:]]
    with pytest.raises(InputError, match=f"{measure}: .* is not a count; correct the row"):
        linked_from_file(rows, measure=measure)


def test_n_grams_of_tokens_are_no_phrases_to_link() -> None:
    rows = [PatternCount("t", "a", "T1", "ab", 3, unit="tokens")]
    with pytest.raises(InputError, match="rows with the unit tokens count n-grams of tokens"):
        evalcore.link(to_frame(rows, PatternCount), "scores.jsonl")
    of_service = to_frame([replace(rows[0], index="infini-gram:t")], PatternCount)
    with pytest.raises(InputError, match="no unit, and infini-gram:t may be over tokens"):
        evalcore.link(of_service.drop(columns="unit"), "scores.jsonl")
    older = of_service.rename(columns={"occurrences": "token_occurrences"})
    with pytest.raises(InputError, match="rename token_occurrences to occurrences"):
        evalcore.link(older, "scores.jsonl")


def test_three_methods_have_an_order_in_each_column(tmp_path: Path) -> None:
    pot = replace(COMPARED, treatment="pot", accuracy_treatment=0.4, difference=-0.1)
    path, pots = tmp_path / "ranks.csv", counts("PoT", 1, 2)
    alone = replace(COMPARED, dataset="e", treatment="tot")
    link([*COUNTS, *pots], [COMPARED, pot, alone], ranks=path)
    (rank,) = pd.read_csv(path, keep_default_na=False).to_dict("records")
    expected = {
        "index": "i",
        "measure": "occurrences",
        "dataset": "d",
        "model": "m",
        "rule": "strict",
        "methods": 3,
        "tau": 1.0,
        "p": pytest.approx(2 / 6),
        "note": "with 3 methods p can't be below 0.33",
        "group": "",
    }
    assert {*expected} == {field.name for field in fields(RankRow)}
    assert rank == expected


def test_two_methods_have_no_order_and_nine_no_p() -> None:
    assert rank_agreement([1, 2], [1, 2])[2] == "an order takes at least three methods"
    too_many = "no p: more than 8 methods have too many orders"
    assert rank_agreement(range(9), range(9)) == (1.0, None, too_many)


def test_methods_may_be_mapped() -> None:
    other = replace(COMPARED, treatment="mine")
    assert len(link(COUNTS, [COMPARED, other])) == 1
    assert link(COUNTS, [other], rename="mine=F-1").treatment.tolist() == ["mine"]
    # Patterns of F-1 and f-1 are those of one method.
    (both,) = link([*COUNTS, *counts("f-1", 1, 2)]).to_dict("records")
    assert both["prevalence_ratio"] < link(COUNTS).prevalence_ratio[0]


def test_scores_are_compared_as_compare_does(tmp_path: Path) -> None:
    names = ("counts.csv", "scores.csv", "link.svg", "ranks.csv")
    counted, given, figure, ranks = (tmp_path / name for name in names)
    to_frame(COUNTS, PatternCount).to_csv(counted)
    to_frame(SCORED, ScoreRow).to_csv(given)
    pd.testing.assert_frame_equal(evalcore.link(counted, given), link(COUNTS, rule=["strict"]))
    shown = invoke("link", counted, given, "--figure", figure, "--ranks", ranks)
    assert shown.code == 0
    assert "+20.0 [" in shown.stdout
    assert "This is not evidence of cause" in shown.stderr
    assert figure.read_text().startswith("<?xml")
    assert len(pd.read_csv(ranks)) == 1


def test_a_comparison_counts_once_in_however_many_indexes() -> None:
    draw = np.random.default_rng(5)
    scores = [
        ScoreRow("d", model, method, str(n), None, "strict", float(draw.random() < chance))
        for model in "mn"
        for method, chance in (("cot", 0.4), ("f-1", 0.5), ("pot", 0.7))
        for n in range(60)
    ]
    compared, *_ = compare_methods(scores)
    rows = [*COUNTS, *counts("PoT", 5, 60)]
    rows += [replace(row, index="j", occurrences=7 * row.occurrences) for row in rows]
    found = link(rows, compared)
    adjusted = {(row.model, row.baseline, row.treatment): row.p_holm for row in compared}
    names = zip(found["model"], found["baseline"], found["treatment"], strict=True)
    assert [*found["p_adjusted"]] == [adjusted[name] for name in names]
    assert len(found) == 2 * len(compared) == 18


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=5))
def test_tau_is_scipys_and_p_counts_all_orders(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    tau, p, _ = rank_agreement(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert (tau, p) == (None, None)
        return
    orders = itertools.permutations(second)
    expected, *all_taus = [stats.kendalltau(first, one).statistic for one in (second, *orders)]
    assert tau == pytest.approx(expected)
    far = [abs(one) >= abs(expected) - 1e-12 for one in all_taus]
    assert p == pytest.approx(sum(far) / len(far))


@pytest.mark.parametrize(
    ("measure", "baseline", "treatment", "ratio"),
    [
        # Different numbers of patterns, so that a ratio of means would be another one.
        pytest.param("occurrences", (10, 100, 1000), (40, 300, 5000, 7), 5347 / 1110, id="sums"),
        pytest.param("documents", (10, 100, 1000), (40, 300, 5000, 8), 2674 / 555, id="documents"),
        pytest.param("occurrences", (2,), (0, 0), 0.0, id="nothing above"),
        pytest.param("occurrences", (0, 0), (3,), None, id="nothing below"),
    ],
)
def test_the_ratio_of_sums_is_that_of_all_counts_of_two_methods(
    measure: str, baseline: tuple[int, ...], treatment: tuple[int, ...], ratio: float | None
) -> None:
    rows = [*counts("CoT", *baseline), *counts("FP/F-1", *treatment), *RARE]
    (row,) = link(rows, measure=measure).to_dict("records")
    assert row.get("sum_ratio") == (None if ratio is None else pytest.approx(ratio))
    means = [
        stats.gmean([n // (1 + (measure == "documents")) + 0.5 for n in some])
        for some in (treatment, baseline)
    ]
    assert row["prevalence_ratio"] == pytest.approx(means[0] / means[1])


def test_counts_of_problems_lead_to_their_option(tmp_path: Path) -> None:
    counts, scores = tmp_path / "prevalence.csv", tmp_path / "scores.csv"
    counts.write_text("id,count\n1,90\n")
    scores.write_text("id,cot,pot\n1,1,0\n")
    ran = invoke("link", counts, scores, package="evalcore")
    problem = "no column pattern; if these are counts of problems, add --problems"
    assert (ran.code, ran.stderr) == (2, f"Error: {counts}:2: {problem}\n")
