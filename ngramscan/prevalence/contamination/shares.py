"""Rows of entries → the shares of each class, from clean to contaminated, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.rules import EntryClass, Rule
from ngramscan.rows import LABEL, Label, Plot, Share, UnknownCount, row_kind
from ngramscan.statistics.proportions import finite_share, wilson

CURVE = tuple(f"{step / 20:.2f}" for step in range(1, 21))
"""Thresholds of the curve."""
THESE, SUCH = "all entries of the file", "entries like these"


@row_kind(
    "contaminate --shares",
    "Contaminated shares of the benchmark",
    Plot(
        "share",
        panel=("rule",),
        label=("index", "verdict"),
        scale="share",
        series="verdict",
        across="eta_from",
        aside="{n} of {entries} entries",
    ),
    key=("entries", "n"),
)
@dataclass(frozen=True, slots=True)
class ShareRow:
    """Share of entries in one contamination class, in one index or in any (`union`)."""

    index: Label
    rule: Label
    verdict: Label
    """`clean`, `suspicious` or `dirty`; `dirty, answer near`, `dirty, answer not near`; `curve`:
    dirty if it began at `eta_from`. By the rule `copied`: `clean`, `shared`, `variant` or `copied`;
    `copied, answer near`, `copied, answer not near`; `curve`: all entries of which the best
    document covers `eta_from`."""
    eta_from: Annotated[Share, LABEL]
    """The share of an entry's windows that occur: at least this (0 of a dirty one: any), … By the
    rule `copied`: in rows of the curve, the least value of `covered`; 0 in the others."""
    eta_below: Share | None
    """… and less than this (0: none); None: no upper end."""
    entries: int
    """Entries with windows that were looked at."""
    population: int
    """Entries of the file; those that were looked at are a random sample if they are fewer."""
    n: int
    """Entries of this verdict for certain."""
    n_unknown: UnknownCount
    """Entries that windows without a request may bring to it; by the rule `copied`, those without
    a verdict."""
    share: Share | None
    """n of entries; None: some are unknown, or there are none. The limits allow for both."""
    share_low: Share
    share_high: Share
    level: float
    seed: int | None
    """The seed of the sample; None: all entries were looked at."""
    interval: str
    """The interval is about `entries like these` (Wilson) or `all entries of the file`."""


def make_shares(
    rows: Sequence[EntryRow],
    rule: Rule,
    population: int,
    seed: int | None,
    level: float = 0.95,
    answers: Sequence[str] = (),
) -> list[ShareRow]:
    """Return the share of each class of entries in each index, and the shares of a curve.

    The curve has the share of entries that would be dirty, by the threshold; by the rule `copied`,
    the share of entries whose `covered` is at least the threshold. An entry that was compared with
    no document is below all thresholds, and one without a verdict may be in any row.

    `population` is the number of entries of the file. If `rows` have fewer, these are a random
    sample, drawn with `seed`, and the intervals are about all entries of the file; otherwise they
    are Wilson's, and about entries like these. Entries without windows belong to no class and don't
    count; in a sample, the file is taken to have as large a share of them. Where windows are
    unknown, the lower limit has the fewest entries that a class may have, and the upper limit the
    most. A rule without a middle class has no row of it. `answers` are values of `answer` for which
    contaminated entries have further rows. More entries than the file has are a ValueError.
    """
    by_index: dict[str, list[EntryRow]] = {}
    for row in rows:
        by_index.setdefault(row.index, []).append(row)
    groups = _groups_of(rule, answers)
    shares = []
    for of_index in by_index.values():
        if len(of_index) > population:
            raise ValueError("more entries than the file has")
        shares += [
            _share(of_index, rule, group, population=population, seed=seed, level=level)
            for group in groups
        ]
    return shares


@dataclass(frozen=True, slots=True)
class _EntryGroup:
    """The entries of one row of shares."""

    verdict: str
    """As the row names it."""
    entry_class: EntryClass | None
    """None: a row of the curve."""
    eta_from: str | None = None
    eta_below: str | None = None
    answer: str = ""
    """Only entries whose answer is `near` or `not near`; empty: all."""


def _groups_of(rule: Rule, answers: Sequence[str]) -> list[_EntryGroup]:
    """Return the classes of a rule, then the thresholds of the curve, then classes by answers."""
    *_, contaminated = rule.classes
    start = None if rule.weighs else rule.dirty_from
    return [
        *_classes_of(rule),
        *(_EntryGroup("curve", None, threshold) for threshold in CURVE),
        *(
            _EntryGroup(f"{contaminated}, answer {answer}", contaminated, start, answer=answer)
            for answer in answers
        ),
    ]


def _classes_of(rule: Rule) -> list[_EntryGroup]:
    if rule.weighs:
        return [_EntryGroup(name, name) for name in rule.classes]
    classes = [
        _EntryGroup("clean", "clean", None, rule.suspicious_from),
        _EntryGroup("suspicious", "suspicious", rule.suspicious_from, rule.dirty_from),
        _EntryGroup("dirty", "dirty", rule.dirty_from),
    ]
    return [group for group in classes if group.eta_from != group.eta_below]


def _membership(row: EntryRow, group: _EntryGroup, rule: Rule) -> tuple[bool, bool]:
    """Tell whether an entry belongs to a group for certain, and whether it may belong to it."""
    certain, possible = _by_verdict(row, group) if rule.weighs else _by_windows(row, group, rule)
    has_answer = not group.answer or row.answer == group.answer
    return certain and has_answer, possible and (has_answer or row.answer is None)


def _by_verdict(row: EntryRow, group: _EntryGroup) -> tuple[bool, bool]:
    if row.verdict is None:
        return False, True
    if group.entry_class is None:
        belongs = (row.covered or 0) >= float(group.eta_from or 0)
    else:
        belongs = row.verdict == group.entry_class
    return belongs, belongs


def _by_windows(row: EntryRow, group: _EntryGroup, rule: Rule) -> tuple[bool, bool]:
    start = rule.least(group.eta_from, row.windows) if group.eta_from else 0
    stop = rule.least(group.eta_below, row.windows) if group.eta_below else row.windows + 1
    highest = row.found + row.windows - row.asked
    return start <= row.found and highest < stop, start <= highest and row.found < stop


def _share(
    rows: Sequence[EntryRow],
    rule: Rule,
    group: _EntryGroup,
    *,
    population: int,
    seed: int | None,
    level: float,
) -> ShareRow:
    rows_with_windows = [row for row in rows if row.windows]
    entries = len(rows_with_windows)
    least = most = 0
    for row in rows_with_windows:
        certain, possible = _membership(row, group, rule)
        least += certain
        most += possible
    # Entries without windows are left out of the file as they are of the sample.
    size = max(entries, round(population * entries / len(rows)))
    limits = [(0.0, 1.0)] * 2
    if entries and len(rows) < population:
        limits = [finite_share(k, entries, size, level).limits for k in (least, most)]
    elif entries:
        limits = [wilson(k, entries, level).limits for k in (least, most)]
    return ShareRow(
        index=rows[0].index,
        rule=rows[0].rule,
        verdict=group.verdict,
        eta_from=float(group.eta_from or 0),
        eta_below=float(group.eta_below) if group.eta_below else None,
        entries=entries,
        population=population,
        n=least,
        n_unknown=most - least,
        share=least / entries if entries and least == most else None,
        share_low=limits[0][0],
        share_high=limits[1][1],
        level=level,
        seed=seed if len(rows) < population else None,
        interval=THESE if len(rows) < population else SUCH,
    )
