"""Shares of each class of entries, by hand; intervals are in test_proportions."""

from fractions import Fraction

import pytest

from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.prevalence.contamination.shares import ShareRow, make_shares
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.statistics.proportions import finite_share, wilson
from tests.support.contaminated_entries import judged_entry

MINI = make_rule("mini")
COPIED = make_rule("copied")


def entry(
    number: int, windows: int, found: int, asked: int | None = None, index: str = "a"
) -> EntryRow:
    """Return a row; its share and verdict are not what shares are made of."""
    counts = windows, windows if asked is None else asked, found
    unknown = None, None, None, None, None, None
    return EntryRow(index, MINI.described, str(number), *counts, *unknown, 0)


def test_entries_are_counted_by_class_and_by_threshold() -> None:
    found = [0, 1, 2, 3, 7, 8, 9, 10, 10, 10]
    rows = [entry(number, 10, windows) for number, windows in enumerate(found)]
    shares = make_shares(rows, MINI, population=10, seed=7)
    classes = {row.verdict: row for row in shares if row.verdict != "curve"}
    assert {name: row.n for name, row in classes.items()} == {
        "clean": 2,
        "suspicious": 3,
        "dirty": 5,
    }
    ends = [(row.eta_from, row.eta_below) for row in classes.values()]
    assert ends == [(0, 0.2), (0.2, 0.8), (0.8, None)]
    of_all = {(row.index, row.rule, row.entries, row.population) for row in shares}
    assert of_all == {("a", MINI.described, 10, 10)}
    assert [(row.share, row.n_unknown, row.level) for row in shares] == [
        (row.n / 10, 0, 0.95) for row in shares
    ]
    limits = [(row.share_low, row.share_high) for row in shares]
    assert limits == [wilson(row.n, 10).limits for row in shares]
    assert {(row.seed, row.interval) for row in shares} == {(None, "entries like these")}
    curve = [row for row in shares if row.verdict == "curve"]
    assert [row.eta_from for row in curve] == [step / 20 for step in range(1, 21)]
    assert [row.n for row in curve] == [
        sum(Fraction(windows, 10) >= Fraction(step, 20) for windows in found)
        for step in range(1, 21)
    ]


def test_more_entries_than_the_file_has_are_refused() -> None:
    with pytest.raises(ValueError, match="more entries than the file has"):
        make_shares([entry(1, 1, 1), entry(2, 1, 1)], MINI, population=1, seed=None)


def by_class(rows: list[ShareRow]) -> dict[str, ShareRow]:
    return {row.verdict: row for row in rows if row.verdict != "curve"}


def test_a_random_sample_tells_about_all_entries_of_the_file() -> None:
    rows = [entry(number, 10, 10 * (number < 3)) for number in range(40)]
    dirty = by_class(make_shares(rows, MINI, population=100, seed=7))["dirty"]
    assert (dirty.share_low, dirty.share_high) == finite_share(3, 40, 100).limits
    assert (dirty.seed, dirty.interval, dirty.entries) == (7, "all entries of the file", 40)
    assert dirty.share_low >= 0.03
    # Ten of fifty have no windows, so twenty of the hundred are taken to have none.
    rows += [entry(number, 0, 0) for number in range(40, 50)]
    dirty = by_class(make_shares(rows, MINI, population=100, seed=7))["dirty"]
    assert (dirty.share_low, dirty.share_high) == finite_share(3, 40, 80).limits
    assert (dirty.entries, dirty.share) == (40, 3 / 40)


def test_windows_that_were_not_asked_widen_the_interval() -> None:
    rows = [
        *(entry(number, 10, 0) for number in range(30)),
        entry(30, 10, 1, asked=9),  # clean or suspicious
        entry(31, 10, 2, asked=9),  # suspicious for certain, above .2 or .25
        entry(32, 10, 0, asked=0),  # anything
        entry(33, 10, 8, asked=8),  # dirty for certain
    ]
    shares = make_shares(rows, MINI, population=34, seed=None)
    classes = by_class(shares)
    counts = {name: (row.n, row.n_unknown, row.share) for name, row in classes.items()}
    assert counts == {"clean": (30, 2, None), "suspicious": (1, 2, None), "dirty": (1, 1, None)}
    dirty = classes["dirty"]
    assert (dirty.share_low, dirty.share_high) == (wilson(1, 34).low, wilson(2, 34).high)
    curve = {row.eta_from: (row.n, row.n_unknown) for row in shares if row.verdict == "curve"}
    assert [curve[share] for share in (0.1, 0.2, 0.25, 0.8, 0.85)] == [
        *((3, 1), (2, 2), (1, 2), (1, 1), (0, 2))
    ]


def test_each_index_and_the_union_have_their_shares() -> None:
    rows = [
        entry(1, 4, 4),
        entry(2, 4, 0),
        entry(1, 4, 4, index=UNION),
        entry(2, 4, 4, index=UNION),
    ]
    shares = make_shares(rows, MINI, population=2, seed=None)
    dirty = {row.index: row.n for row in shares if row.verdict == "dirty"}
    assert dirty == {"a": 1, UNION: 2}
    assert [row.index for row in shares] == ["a"] * 23 + [UNION] * 23


@pytest.mark.parametrize("name", ["palm", "gpt3", "gpt4"])
def test_a_rule_without_a_middle_class_has_no_row_of_it(name: str) -> None:
    rows = [entry(1, 10, 7), entry(2, 10, 1), entry(3, 10, 0)]
    classes = by_class(make_shares(rows, make_rule(name), population=3, seed=None))
    assert list(classes) == ["clean", "dirty"]
    assert classes["dirty"].n == {"palm": 1}.get(name, 2)
    assert classes["clean"].n + classes["dirty"].n == 3


def test_entries_are_counted_by_their_verdicts_if_documents_decide() -> None:
    rows = [
        judged_entry("1", "copied", covered=1.0),
        judged_entry("2", "copied", covered=13 / 20),
        judged_entry("3", "copied", covered=0.8),
        judged_entry("4", "variant", covered=0.9),
        judged_entry("5", "shared", covered=0.3),
        judged_entry("6", "shared"),
        judged_entry("7", "clean"),
        judged_entry("8", "clean", covered=0.24),
        judged_entry("9", "clean"),
        judged_entry("10", "clean"),
    ]
    shares = make_shares(rows, COPIED, population=10, seed=None)
    classes = by_class(shares)
    assert {name: row.n for name, row in classes.items()} == {
        "clean": 4,
        "shared": 2,
        "variant": 1,
        "copied": 3,
    }
    assert {(row.eta_from, row.eta_below) for row in classes.values()} == {(0, None)}
    assert [(row.share, row.n_unknown) for row in shares] == [(row.n / 10, 0) for row in shares]
    assert [(row.share_low, row.share_high) for row in shares] == [
        wilson(row.n, 10).limits for row in shares
    ]
    curve = {row.eta_from: row.n for row in shares if row.verdict == "curve"}
    assert list(curve) == [step / 20 for step in range(1, 21)]
    covered = [Fraction(20), Fraction(13), Fraction(16), Fraction(18), Fraction(6), Fraction(24, 5)]
    assert [*curve.values()] == [
        sum(twentieths >= step for twentieths in covered) for step in range(1, 21)
    ]


def test_an_entry_without_a_verdict_may_be_of_any_class() -> None:
    rows = [
        judged_entry("1", "copied", covered=0.9),
        judged_entry("2", None),
        judged_entry("3", None, covered=0.5),
        judged_entry("4", "clean"),
    ]
    shares = make_shares(rows, COPIED, population=4, seed=None)
    assert [row.n_unknown for row in shares] == [2] * 24
    assert [row.share for row in shares] == [None] * 24
    classes = by_class(shares)
    assert {name: row.n for name, row in classes.items()} == {
        "clean": 1,
        "shared": 0,
        "variant": 0,
        "copied": 1,
    }
    copied = classes["copied"]
    assert (copied.share_low, copied.share_high) == (wilson(1, 4).low, wilson(3, 4).high)


def test_copied_entries_are_counted_by_their_answers() -> None:
    rows = [
        judged_entry("1", "copied", answer="near"),
        judged_entry("2", "copied", answer="near"),
        judged_entry("3", "copied", answer="not near"),
        judged_entry("4", "copied"),
        judged_entry("5", "variant", answer="near"),
        judged_entry("6", "clean"),
    ]
    shares = make_shares(rows, COPIED, 6, None, answers=("near", "not near"))
    assert [(row.verdict, row.n, row.n_unknown) for row in shares[-2:]] == [
        ("copied, answer near", 2, 1),
        ("copied, answer not near", 1, 1),
    ]
