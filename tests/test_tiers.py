"""`ngramscan tiers`: counts against brute force, ratios by hand, intervals by simulation."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.reading import read_outputs
from ngramscan.outputs.tiers import TierResult, TierRow, rate_ratio, run_tiers, tier_of
from ngramscan.patterns.files import load_patterns, parse_patterns
from ngramscan.reporting.tables import print_tiers
from tests.support.command import invoke
from tests.support.outputs import count_starts, outputs_of, shown_in, write_texts
from tests.support.sizes import sets

PATTERNS = """
name: own
patterns:
  - {method: A, tier: T1, kind: narrative, text: alpha}
  - {method: A, tier: T2, kind: narrative, text: both}
  - {method: A, tier: T3, kind: narrative, text: never}
  - {method: B, tier: T3, kind: narrative, text: beta}
  - {method: C, tier: T1, kind: narrative, text: gamma}
regexes:
  - {method: A, name: r, regex: a}
"""
SET = parse_patterns(PATTERNS, "own.yaml")


def tiers_of(measure: str = "occurrences", ids: bool = True) -> TierResult:
    own: list[str | None] = [*["alpha alpha both"] * 20, *["Both"] * 5, None]
    others = ["both"] * 21 + ["beta"] * 4
    found = outputs_of({("d", "m", "a"): own, ("d", "m", "b"): others}, ids)
    return run_tiers(found, SET, measure)


def row_of(result: TierResult, pattern: str) -> TierRow:
    (row,) = [row for row in result.rows if row.pattern == pattern]
    return row


def test_the_paper_s_thresholds_overlap_and_have_a_gap() -> None:
    ratios = [0.0, 0.69, 0.7, 0.99, 1.0, 1.7, 1.71, 9.99, 10.0, 500.0]
    tiers = ["T3", "T3", "T2/T3", "T2/T3", "T2", "T2", "-", "-", "T1", "T1"]
    assert [tier_of(ratio) for ratio in ratios] == tiers


def test_rates_are_per_output_of_own_and_other_prompts() -> None:
    row = row_of(tiers_of(), "both")
    assert (row.outputs_own, row.outputs_others) == (25, 25)
    assert (row.occurrences_own, row.occurrences_others) == (25, 21)
    assert (row.rate_own, row.rate_others) == (1.0, 0.84)
    assert row.ratio == pytest.approx(25 / 21)
    assert (row.tier_by_ratio, row.agrees, row.clusters) == ("T2", True, 25)
    # Without ids, each output is a cluster of its own.
    assert row_of(tiers_of(ids=False), "both").clusters == 50


def test_a_pattern_only_in_its_own_outputs_has_a_ratio_with_halves() -> None:
    row = row_of(tiers_of(), "alpha")
    assert (row.occurrences_own, row.with_pattern_own, row.rate_own) == (40, 20, 1.6)
    assert row.ratio == pytest.approx(40.5 / 0.5)
    assert "a half is added" in row.note
    assert (row.tier_by_ratio, row.agrees, row.interval_spans_tiers) == ("T1", True, True)
    shares = row_of(tiers_of("outputs"), "alpha")
    assert (shares.rate_own, shares.ratio) == pytest.approx((0.8, 20.5 / 0.5))
    other = row_of(tiers_of(), "beta")
    assert (other.tier, other.tier_by_ratio, other.agrees) == ("T3", "-", False)


def test_without_anything_to_compare_there_is_no_ratio() -> None:
    for pattern, note in (("never", "no occurrence"), ("gamma", "no outputs of its method")):
        row = row_of(tiers_of(), pattern)
        assert (row.ratio, row.ratio_low, row.tier_by_ratio, row.agrees) == (None,) * 4
        assert (row.interval_spans_tiers, row.note) == (None, note)
    found = outputs_of({("d", "m", "a"): ["alpha"]})
    assert row_of(run_tiers(found, SET), "alpha").note == "no outputs of other methods"
    with pytest.raises(ValueError, match="both kinds"):
        rate_ratio(np.array([1, 2]), np.array([True, True]), np.array([0, 1]))


def test_regexes_have_no_tier() -> None:
    assert [row.pattern for row in tiers_of().rows] == [p.text for p in SET.patterns]


def test_real_outputs_are_compared_over_all_models(shared: Path) -> None:
    found = read_outputs(shared / "data/financemath/validation")
    patterns = load_patterns("f1").select((), ["cot", "pot"])
    rows = {row.pattern: row for row in run_tiers(found, patterns).rows if row.model == "all"}
    assert len(rows) == len(patterns.patterns)
    texts = {
        method: "\0".join(o.text or "" for o in found.outputs if o.group.prompt == method.lower())
        for method in ("CoT", "PoT")
    }
    for pattern in ("step by step", "therefore, the answer is", "def solution(", "return answer"):
        row = rows[pattern]
        counts = {method: count_starts(pattern, text) for method, text in texts.items()}
        found_both = row.occurrences_own + row.occurrences_others
        assert (row.occurrences_own, found_both) == (counts[row.method], sum(counts.values()))
    assert rows["def solution("].occurrences_others == 0
    assert rows["write Python code to solve"].ratio is None
    assert (rows["step-by-step"].tier_by_ratio, rows["step-by-step"].clusters) == ("T1", 200)


@pytest.mark.parametrize(
    ("kind", "ratio"), [("independent", 0.8), ("clustered", 1.5), ("zero or one", 12.0)]
)
def test_the_interval_covers_the_ratio(kind: str, ratio: float) -> None:
    random = np.random.default_rng(4)
    n, mean = 150, 0.06
    own = np.repeat([True, False], n)
    problems = np.tile(np.arange(n), 2)
    hits = []
    for _ in range(sets(500)):
        level = random.gamma(1, 1, n) if kind == "clustered" else np.ones(n)
        means = np.concatenate([level * mean * ratio, level * mean])
        draw = random.random(2 * n) < means if kind == "zero or one" else random.poisson(means)
        found = rate_ratio(draw.astype(np.int64), own, problems)
        hits.append((found.low or 99) <= ratio <= (found.high or 0))
    # The share of 500 sets has a standard error of .01.
    assert 0.93 <= np.mean(hits) <= 0.99


# The command


def test_rows_are_those_of_the_table_the_file_and_the_data_frame(tmp_path: Path) -> None:
    outputs = write_texts(tmp_path, {"a": ["alpha both"] * 12, "b": ["beta both"] * 12})
    patterns = tmp_path / "own.yaml"
    patterns.write_text(PATTERNS, encoding="utf-8")
    ran = invoke("tiers", outputs, patterns)
    assert (ran.code, ran.stderr) == (0, "")
    without = 'A: no occurrence: no ratio for "never"'
    for words in ("dataset d · model m", "by ratio", without, "≈"):
        assert words in ran.stdout
    rows = invoke("tiers", outputs, patterns, "--format", "csv").rows
    assert list(rows[0]) == list(TierRow.__dataclass_fields__)
    assert [row["tier_by_ratio"] for row in rows] == ["T1", "T2", "", "T1", ""]
    frame = ngramscan.tiers(outputs, patterns, measure="outputs")
    assert list(frame.columns) == list(TierRow.__dataclass_fields__)
    assert set(frame["measure"]) == {"outputs"}
    wrong: Any = "x"
    with pytest.raises(InputError, match='measure="x"'):
        ngramscan.tiers(outputs, measure=wrong)


@pytest.mark.parametrize("width", [50, 120])
def test_nothing_is_cut_in_a_narrow_terminal(width: int) -> None:
    shown = shown_in(width, partial(print_tiers, tiers_of()))
    assert all(row.pattern in shown for row in tiers_of().rows)
