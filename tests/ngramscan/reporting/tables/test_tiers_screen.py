"""The first screen of `ngramscan tiers`: which patterns are not in their tiers."""

from pathlib import Path
from typing import Any

import pytest

from ngramscan.reporting.summaries.specificity import summarize_tiers
from tests.support.command import invoke
from tests.support.places import ROOT

EXAMPLES = ROOT / "docs/examples/outputs"
ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "method": "CoT",
    "pattern": "step by step",
    "tier": "T1",
    "tier_by_ratio": "T1",
    "agrees": True,
    "interval_spans_tiers": False,
    "ratio": 20.0,
    "ratio_low": 12.0,
    "ratio_high": 30.0,
    "note": "",
}
OTHER = {"tier_by_ratio": "-", "agrees": False, "ratio": 5.0, "ratio_low": 2.0, "ratio_high": 9.0}


@pytest.mark.parametrize("folder", [EXAMPLES, EXAMPLES / "example-formulas"], ids=["two", "one"])
def test_a_screen_has_at_most_forty_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = invoke("tiers", folder, "--quiet").stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Patterns of each tier")
    assert lines[-1].startswith("--all: ")
    assert any(line.endswith("more patterns") for line in lines)


def test_few_patterns_are_shown_with_all_that_is_known() -> None:
    given = ("tiers", EXAMPLES / "example-formulas", "--method", "pot", "--quiet")
    assert invoke(*given).stdout == invoke(*given, "--all").stdout


def test_patterns_are_counted_by_tier_and_those_elsewhere_are_named() -> None:
    alone = ROW | {"pattern": "a", "interval_spans_tiers": True}
    spans = ROW | OTHER | {"pattern": "b", "interval_spans_tiers": True, "ratio": 9.0}
    within = ROW | OTHER | {"pattern": "c"}
    unknown = ROW | {"pattern": "e", "agrees": None, "ratio": None, "ratio_low": None}
    counts, others, specific = summarize_tiers([ROW, alone, spans, within, unknown], 1)
    shown = {name: texts for name, texts in counts.columns.items() if name != "dataset"}
    assert shown == {
        "model": ["m"],
        "method": ["CoT"],
        "tier": ["T1"],
        "in it by ratio": ["2"],
        "with the whole interval": ["1"],
        "not": ["2"],
        "no ratio": ["1"],
    }
    # What is elsewhere with its whole interval comes first.
    assert (others.columns["pattern"], others.note) == (["c"], "1 more pattern")
    assert others.columns["ratio"] == ["5 [2, 9]"]
    assert specific.columns["pattern"] == ["step by step", "a", "b"]


def test_rows_of_all_models_together_are_the_tables() -> None:
    counts, _ = summarize_tiers([ROW, ROW | {"model": "all"}], 9)
    assert counts.columns["in it by ratio"] == ["1"]
    assert counts.columns["model"] == [""]


def test_without_a_ratio_there_is_no_table() -> None:
    assert summarize_tiers([ROW | {"ratio": None}], 9) == summarize_tiers([], 9) == []
