"""`ngramscan tiers`: counts against brute force, ratios by hand, intervals by simulation."""

from operator import attrgetter

import numpy as np
import pytest

from ngramscan.outputs.tiers import TierResult, TierRow, rate_ratio, run_tiers
from ngramscan.patterns.files import parse_patterns
from tests.support.cases import file_text
from tests.support.outputs import outputs_of

PATTERNS = file_text("tiers_patterns")
SET = parse_patterns(PATTERNS, "own.yaml")


def tiers_of(measure: str = "occurrences") -> TierResult:
    own: list[str | None] = [*["alpha alpha both"] * 20, *["Both"] * 5, None]
    others = ["both"] * 21 + ["beta"] * 4
    found = outputs_of({("d", "m", "a"): own, ("d", "m", "b"): others})
    return run_tiers(found, SET, measure)


def row_of(result: TierResult, pattern: str) -> TierRow:
    (row,) = [row for row in result.rows if row.pattern == pattern]
    return row


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
    notes = {"never": "no occurrence", "gamma": "no outputs of its method"}
    found = [row_of(tiers_of(), pattern) for pattern in notes]
    assert [row.note for row in found] == [*notes.values()]
    unknown = attrgetter("ratio", "ratio_low", "tier_by_ratio", "agrees", "interval_spans_tiers")
    assert [unknown(row) for row in found] == [(None,) * 5] * 2
    own = outputs_of({("d", "m", "a"): ["alpha"]})
    assert row_of(run_tiers(own, SET), "alpha").note == "no outputs of other methods"
    with pytest.raises(ValueError, match="both kinds"):
        rate_ratio(np.array([1, 2]), np.array([True, True]), np.array([0, 1]))
