"""Short names of corpora for the columns of a table, and a note on what they omit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.indexes.catalog import IndexRow, find_hosted

_WEEK = "cc-"
_END = re.compile(r"[/:_.=-]")
"""Signs after which a common start of names ends, and before which a common end begins."""


@dataclass(frozen=True, slots=True)
class ShortNames:
    """Short names by their long ones."""

    short: dict[str, str]
    note: str
    """How to read the short names; empty if they are the long ones."""

    def of(self, name: object) -> str:
        """Return the short name of one of the corpora."""
        return self.short.get(str(name), str(name))


def short_names(names: Iterable[object]) -> ShortNames:
    """Return the names of some corpora without their common start and end.

    Crawl snapshots are named by their week, other hosted corpora by their alias in the catalog.
    """
    corpora = [*dict.fromkeys(map(str, names))]
    if len(corpora) < 2:
        return ShortNames({name: name for name in corpora}, "")
    hosted = {name: entry for name in corpora if (entry := find_hosted(name))}
    crawls = [name for name, entry in hosted.items() if entry.is_crawl_snapshot]
    others = [name for name in corpora if name not in hosted]
    short = {name: _alias(entry, len(crawls) > 1) for name, entry in hosted.items()}
    start, end = _shared(others)
    short |= {name: name[len(start) : len(name) - len(end)] for name in others}
    if len({*short.values()}) < len(corpora):
        return ShortNames({name: name for name in corpora}, "")
    notes = [f"{short[name]}: {name}" for name in hosted if name not in crawls]
    notes += _about_crawls(crawls, short)
    if start or end:
        notes.append(f"names are short for {start}…{end}")
    in_order = {name: short[name] for name in corpora}
    return ShortNames(in_order, "; ".join(notes))


def _alias(entry: IndexRow, has_weeks: bool) -> str:
    return entry.alias.removeprefix(_WEEK) if has_weeks else entry.alias


def _about_crawls(crawls: Sequence[str], short: dict[str, str]) -> list[str]:
    if not crawls:
        return []
    first, last = crawls[0], crawls[-1]
    if len(crawls) == 1:
        return [f"{short[first]}: {first}"]
    return [f"{short[first]} to {short[last]}: {first} to {last}"]


def _shared(names: Sequence[str]) -> tuple[str, str]:
    """Return the common start and end of some names, in whole parts, never a whole name."""
    if len(names) < 2:
        return "", ""
    start = _common_start(names)
    cuts = [match.end() for match in _END.finditer(start)]
    start = start[: cuts[-1]] if cuts else ""
    rests = [name[len(start) :] for name in names]
    end = _common_start([ending[::-1] for ending in rests])[::-1]
    place = _END.search(end)
    end = end[place.start() :] if place else ""
    if not all(len(ending) > len(end) for ending in rests):
        return start if all(rests) else "", ""
    return start, end


def _common_start(names: Sequence[str]) -> str:
    """Return the characters that some names begin with."""
    first, last = min(names), max(names)  # all others are between them
    n = next(
        (n for n, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]),
        len(first),
    )
    return first[:n]


def alias_of(name: str) -> str:
    """Return the catalog's short name of a hosted corpus; other names are unchanged."""
    hosted = find_hosted(name)
    return hosted.alias if hosted else name


def last_names(names: Iterable[Any]) -> dict[Any, str]:
    """Return the names of corpora for figures, shortened as long as they stay distinct.

    Hosted corpora have their short name, others the last part of their path.
    """
    short = {name: _last_part(alias_of(str(name))) for name in names}
    times = Counter(short.values())
    return {name: last if times[last] == 1 else str(name) for name, last in short.items()}


def _last_part(name: str) -> str:
    return re.split(r"[/\\]", name.rstrip("/\\"))[-1] or name
