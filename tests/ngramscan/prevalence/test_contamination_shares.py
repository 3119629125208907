"""Shares of clean, suspicious and dirty entries, by hand; intervals are in test_proportions."""

from fractions import Fraction

import pytest

from ngramscan.prevalence.contaminate import EntryRow
from ngramscan.prevalence.contamination_rules import make_rule
from ngramscan.prevalence.contamination_shares import make_shares
from ngramscan.statistics.proportions import wilson

MINI = make_rule("mini")


def entry(number: int, windows: int, found: int) -> EntryRow:
    """Return a row; its share and verdict are not what shares are made of."""
    counts = windows, windows, found
    unknown = None, None, None, None, None, None
    return EntryRow("a", MINI.described, str(number), *counts, *unknown, 0)


def test_entries_are_counted_by_class_and_by_threshold() -> None:
    found = [0, 1, 2, 3, 7, 8, 9, 10, 10, 10]
    rows = [entry(number, 10, one) for number, one in enumerate(found)]
    shares = make_shares(rows, MINI, population=10, seed=7)
    classes = {row.verdict: row for row in shares if row.verdict != "curve"}
    assert {name: row.n for name, row in classes.items()} == {
        "clean": 2,
        "suspicious": 3,
        "dirty": 5,
    }
    ends = [(row.eta_from, row.eta_below) for row in classes.values()]
    assert ends == [(0, 0.2), (0.2, 0.8), (0.8, None)]
    for row in shares:
        assert (row.index, row.rule, row.entries, row.population) == ("a", MINI.described, 10, 10)
        assert (row.share, row.n_unknown, row.level) == (row.n / 10, 0, 0.95)
        assert (row.share_low, row.share_high) == wilson(row.n, 10).limits
        assert (row.seed, row.interval) == (None, "entries like these")
    curve = [row for row in shares if row.verdict == "curve"]
    assert [row.eta_from for row in curve] == [step / 20 for step in range(1, 21)]
    assert [row.n for row in curve] == [
        sum(Fraction(windows, 10) >= Fraction(step, 20) for windows in found)
        for step in range(1, 21)
    ]


def test_more_entries_than_the_file_has_are_refused() -> None:
    with pytest.raises(ValueError, match="more entries than the file has"):
        make_shares([entry(1, 1, 1), entry(2, 1, 1)], MINI, population=1, seed=None)
