"""Names of corpora → their times, where they are snapshots of one source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

FEWEST = 3
"""Snapshots that make a line."""
_CRAWL = re.compile(r"(?:v2[_-])?cc[_-](?:main[_-])?(\d{4})-(\d\d)", re.IGNORECASE)
_WEEK = re.compile(r"(\d{4})-?[wW](\d\d)")
_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_WEEKS = 52.1775
"""Weeks of a year."""


def times_of(names: Iterable[str | None], fewest: int = FEWEST) -> dict[str, float]:
    """Return the times of the snapshots among some corpora, in years, in order.

    Snapshots are crawls (`cc-2025-05`: a year and its week), years, months, days and weeks
    (`2024`, `2024-05`, `2024-05-31`, `2024-W05`). Fewer than three times make no line: there are
    none then, or where there are fewer than `fewest`.
    """
    corpora = [name for name in dict.fromkeys(names) if name is not None]
    # A crawl without its prefix has a week where a date has a month.
    are_weeks = any(_is_beyond_a_month(str(name)) for name in corpora)
    time_by_name = {name: _time_of(str(name), are_weeks) for name in corpora}
    times = {name: time for name, time in time_by_name.items() if time is not None}
    if len({*times.values()}) < fewest:
        return {}
    return dict(sorted(times.items(), key=lambda item: item[1]))


def _is_beyond_a_month(name: str) -> bool:
    match = _DATE.fullmatch(name)
    return match is not None and match[3] is None and 12 < int(match[2] or 0) <= 53


def _time_of(name: str, are_weeks: bool) -> float | None:
    week = _CRAWL.fullmatch(name) or _WEEK.fullmatch(name)
    if week is not None:
        return _week(int(week[1]), int(week[2]))
    match = _DATE.fullmatch(name)
    if match is None:
        return None
    year, month, day = (int(part or 0) for part in match.groups())
    if are_weeks and month and not day:
        return _week(year, month)
    try:
        start = date(year, month or 1, day or 1)
    except ValueError:
        return None
    return year + (start - date(year, 1, 1)).days / 365.25


def _week(year: int, week: int) -> float | None:
    return year + (week - 1) / _WEEKS if 1 <= week <= 53 else None


def names_from_year(names: Iterable[str]) -> dict[str, str]:
    """Return names of snapshots without what comes before their year."""
    return {name: re.sub(r"^.*?(?=\d{4}(-|$))", "", name) or name for name in names}
