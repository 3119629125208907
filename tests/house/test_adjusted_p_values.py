"""Every row type with adjusted p-values, against those of statsmodels for families made by hand."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

import evalcore
from evalcore.commands.link import PatternCount
from evalcore.compare_rows import Adjustment, CompareRow, compare_methods
from evalcore.scores import ScoreRow
from ngramscan.prevalence.contamination.effects import GivenScore, make_effects
from ngramscan.prevalence.trace import TraceOptions, run_trace
from ngramscan.prevalence.trace_methods import make_differences
from ngramscan.reporting import to_frame
from tests.support.contaminated_entries import entries
from tests.support.counted_problems import COUNTS, SCORES
from tests.support.text_index import Counting
from tests.support.traced_texts import COPIED, OTHER, planted

N = 12
GAINS = {
    ("d", "m", "strict"): {"pot": 5, "f-1": 7, "tot": 9},
    ("d", "m", "loose"): {"pot": 6, "f-1": 8, "tot": 10},
    ("d", "n", "strict"): {"pot": 1, "f-1": 2, "tot": 3},
    ("d", "n", "loose"): {"pot": 2, "f-1": 3, "tot": 4},
    ("e", "m", "strict"): {"pot": 4, "f-1": 6, "tot": 11},
    ("e", "m", "loose"): {"pot": 3, "f-1": 5, "tot": 12},
}
"""How many more of the problems each method solves than `cot`, which solves none."""
STATSMODELS = {"holm": "holm", "bh": "fdr_bh"}


def gaining(keys: Sequence[tuple[str, str, str]] = (*GAINS,)) -> list[ScoreRow]:
    return [
        ScoreRow(dataset, model, method, str(number), None, rule, float(number < gain))
        for dataset, model, rule in keys
        for method, gain in {"cot": 0, **GAINS[dataset, model, rule]}.items()
        for number in range(N)
    ]


def check_families(
    rows: Sequence[Any], family_of: Callable[[Any], Hashable], column: str, method: str = "holm"
) -> None:
    """Compare a column with the adjustment by statsmodels of `p` within each family."""
    families = defaultdict(list)
    for row in rows:
        families[family_of(row)].append(row)
    for family in families.values():
        raw, found = [row.p for row in family], [getattr(row, column) for row in family]
        assert len(raw) >= 3
        assert sum(p != adjusted for p, adjusted in zip(raw, found, strict=True)) >= 2
        assert found == pytest.approx([*multipletests(raw, method=STATSMODELS[method])[1]])


TWO_MODELS, TWO_BENCHMARKS = [*GAINS][:4], [*GAINS][:2] + [*GAINS][4:]


@pytest.mark.parametrize(
    ("given", "keys", "adjust", "sizes"),
    [
        pytest.param((), TWO_MODELS, "holm", [6, 6, 3, 3], id="rules"),
        pytest.param((), TWO_BENCHMARKS, "bh", [6, 6], id="rules, by Benjamini-Hochberg"),
        pytest.param(("dataset",), TWO_BENCHMARKS, "holm", [3] * 4, id="rules and benchmarks"),
    ],
)
def test_comparisons_are_adjusted_within_their_rule_and_families(
    given: tuple[str, ...],
    keys: Sequence[tuple[str, str, str]],
    adjust: Adjustment,
    sizes: list[int],
) -> None:
    rows, _, _ = compare_methods(gaining(keys), "cot", family=given, adjust=adjust)

    def family_of(row: CompareRow) -> Hashable:
        return row.model == "all", row.rule, *(getattr(row, key) for key in given)

    check_families(rows, family_of, f"p_{adjust}", adjust)
    found = Counter(family_of(row) for row in rows)
    assert sorted(found.values(), reverse=True) == sizes
    assert [row.family_tests for row in rows] == [found[family_of(row)] for row in rows]
    # Different families have different names, so that a reader can tell them apart.
    assert len({row.family for row in rows}) == len(sizes)


@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_links_have_the_adjusted_p_of_their_comparison(adjust: Adjustment) -> None:
    rows, _, _ = compare_methods(gaining([("d", "m", "strict")]), "cot", adjust=adjust)
    counts = [
        PatternCount(index, method, "T1", method, count, None)
        for index in ("i", "j")
        for count, method in enumerate(("CoT", "PoT", "FP/F-1", "ToT"), 5)
    ]
    linked = evalcore.link(to_frame(counts, PatternCount), to_frame(rows, CompareRow))
    found = [*linked.itertuples()]
    assert len(found) == 6
    for of_index in (found[:3], found[3:]):
        check_families(of_index, lambda _: "one", "p_adjusted", adjust)


def test_slopes_are_adjusted_over_the_whole_output() -> None:
    other = SCORES.assign(model="n", value=1 - SCORES["value"] * (SCORES["length"] > 25))
    scores = pd.concat([SCORES, other])
    rows = evalcore.link(COUNTS, scores, problems=True, resamples=200)
    assert {*rows["model"]} >= {"m", "n"}
    check_families([*rows.itertuples()], lambda _: "one", "p_adjusted")


def test_differences_of_traces_are_adjusted_within_their_index() -> None:
    texts = planted(random.Random(1), 12, 0.3, 0.1)
    indexes = [Counting([COPIED]), Counting([OTHER, COPIED[4:60]])]
    for index, name in zip(indexes, ("first", "second"), strict=True):
        index.name = name
    rows = make_differences(run_trace(texts, indexes, TraceOptions()), TraceOptions(), 0.95)
    check_families(rows, lambda row: row.index, "p_holm")


def test_effects_are_adjusted_over_tests_of_different_entries_or_scores() -> None:
    gains = {"cot": 3, "pot": 5, "f-1": 8}
    scores = [
        GivenScore(
            "d", "m", method, str(number), "r", float(number % 2 == 0 or number >= 20 - gain)
        )
        for method, gain in gains.items()
        for number in range(20)
    ]
    both = entries(clean=10, dirty=10)
    once = make_effects(both, scores)
    check_families(once, lambda _: "one", "p_adjusted")
    copied = make_effects([*both, *(replace(row, index="b") for row in both)], scores)
    adjusted = [row.p_adjusted for row in once]
    assert [row.p_adjusted for row in copied] == adjusted * 2
    assert {row.family for row in copied} == {"3 comparisons of this table"}
