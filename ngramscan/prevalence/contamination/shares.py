"""Rows of entries → the shares of clean, suspicious and dirty ones, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.rules import Rule
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
    dirty if it began at `eta_from`."""
    eta_from: Annotated[Share, LABEL]
    """The share of an entry's windows that occur: at least this (0 of a dirty one: any), …"""
    eta_below: Share | None
    """… and less than this (0: none); None: no upper end."""
    entries: int
    """Entries with windows that were looked at."""
    population: int
    """Entries of the file; those that were looked at are a random sample if they are fewer."""
    n: int
    """Entries of this verdict for certain."""
    n_unknown: UnknownCount
    """Entries that windows without a request may bring to it."""
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
    """Return the share of each class of entries in each index, and the dirty share by threshold.

    `population` is the number of entries of the file. If `rows` have fewer, these are a random
    sample, drawn with `seed`, and the intervals are about all entries of the file; otherwise they
    are Wilson's, and about entries like these. Entries without windows belong to no class and don't
    count; in a sample, the file is taken to have as large a share of them. Where windows are
    unknown, the lower limit has the fewest entries that a class may have, and the upper limit the
    most. A rule without a middle class has no row of it. `answers` are values of `answer` for which
    dirty entries have further rows. More entries than the file has are a
    ValueError.
    """
    by_index: dict[str, list[EntryRow]] = {}
    for row in rows:
        by_index.setdefault(row.index, []).append(row)
    starts = {"clean": None, "suspicious": rule.suspicious_from, "dirty": rule.dirty_from}
    stops = {"clean": rule.suspicious_from, "suspicious": rule.dirty_from, "dirty": None}
    classes = [(name, start, stops[name]) for name, start in starts.items() if start != stops[name]]
    classes += [("curve", threshold, None) for threshold in CURVE]
    parts = [(*bounded_class, "") for bounded_class in classes]
    parts += [(f"dirty, answer {answer}", rule.dirty_from, None, answer) for answer in answers]
    shares = []
    for of_index in by_index.values():
        if len(of_index) > population:
            raise ValueError("more entries than the file has")
        shares += [
            _share(
                of_index,
                rule,
                verdict=name,
                eta_from=start,
                eta_below=stop,
                population=population,
                seed=seed,
                level=level,
                answer=answer,
            )
            for name, start, stop, answer in parts
        ]
    return shares


def _share(
    rows: Sequence[EntryRow],
    rule: Rule,
    *,
    verdict: str,
    eta_from: str | None,
    eta_below: str | None,
    population: int,
    seed: int | None,
    level: float,
    answer: str,
) -> ShareRow:
    rows_with_windows = [row for row in rows if row.windows]
    entries = len(rows_with_windows)
    least = most = 0
    for row in rows_with_windows:
        start = rule.least(eta_from, row.windows) if eta_from else 0
        stop = rule.least(eta_below, row.windows) if eta_below else row.windows + 1
        highest = row.found + row.windows - row.asked
        is_known = not answer or row.answer == answer
        least += is_known and start <= row.found and highest < stop
        most += (is_known or row.answer is None) and start <= highest and row.found < stop
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
        verdict=verdict,
        eta_from=float(eta_from or 0),
        eta_below=float(eta_below) if eta_below else None,
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
