"""Rows of entries → the shares of clean, suspicious and dirty ones, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ngramscan.prevalence.contaminate import EntryRow
from ngramscan.prevalence.contamination_rules import Rule


@dataclass(frozen=True, slots=True)
class ShareRow:
    """The share of entries of which so much occurs in one index, or in any (`union`)."""

    index: str
    rule: str
    verdict: str
    """`clean`, `suspicious` or `dirty`; `curve`: dirty if it began at `eta_from`."""
    eta_from: float
    """The share of an entry's windows that occur: at least this, …"""
    eta_below: float | None
    """… and less than this; None: no upper end."""
    entries: int
    """Entries with windows that were looked at."""
    population: int
    """Entries of the file; those that were looked at are a random sample if they are fewer."""
    n: int
    """Entries of this verdict for certain."""
    n_unknown: int
    """Entries that windows which were not asked may bring to it."""
    share: float | None
    """n of entries; None: some are unknown. The limits allow for these."""
    share_low: float
    share_high: float
    level: float
    seed: int | None
    """Of the sample; None: all entries were looked at."""
    interval: str
    """What the interval is about: `entries like these` (Wilson), or `all entries of the file`."""


def make_shares(
    rows: Sequence[EntryRow], rule: Rule, population: int, seed: int | None, level: float = 0.95
) -> list[ShareRow]:
    """Return the three shares of each index, and the dirty share by threshold."""
    raise NotImplementedError
