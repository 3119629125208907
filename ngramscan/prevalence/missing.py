"""What could not be done, for people: one line per reason."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import QueryFailure
from ngramscan.patterns.model import Query

_SHOWN_REASONS = 5
OFFLINE_HINT = "without a network: --index python, or --index scan:PATH for a corpus of your own"


def describe_missing(
    missing: Sequence[QueryFailure], queries: Sequence[Query], n_indexes: int, what: str = "counts"
) -> list[str]:
    """Return, one line per reason, what could not be done and why.

    Parameters
    ----------
    missing : sequence of QueryFailure
        What failed; queries that are not among `queries` were asked for totals only.
    queries : sequence of Query
        All that was asked for.
    n_indexes : int
        In how many indexes.
    what : str
        What was wanted of each query, in the plural.
    """
    asked = {query.text for query in queries}
    expected = len(queries) * n_indexes
    reasons: dict[str, list[QueryFailure]] = {}
    for one in missing:
        reasons.setdefault(str(one.error), []).append(one)
    lines = [
        _describe_reason(reason, failed, asked, f"{expected} {what}")
        for reason, failed in reasons.items()
    ]
    if len(lines) > _SHOWN_REASONS:
        more = len(lines) - _SHOWN_REASONS
        total = sum(one.query in asked for one in missing)
        lines[_SHOWN_REASONS:] = [f"and {more} more reasons; {total} {what} are missing in all"]
    return lines


def _describe_reason(
    reason: str, missing: Sequence[QueryFailure], asked: set[str], expected: str
) -> str:
    rows = sum(one.query in asked for one in missing)
    indexes = list(dict.fromkeys(one.index for one in missing))
    if len(missing) == 1:
        one = expected.rsplit(maxsplit=1)[-1].removesuffix("s")
        what = f'the {one} of "{missing[0].query}" in {indexes[0]} is missing'
    elif not rows:
        what = f"the counts of {len(missing)} overlaps are missing"
    else:
        named = ", ".join(indexes) if len(indexes) <= 2 else f"{len(indexes)} indexes"
        what = f"{rows} of {expected} missing ({named})"
    hint = f"; {OFFLINE_HINT}" if _is_offline(reason) else ""
    return f"{reason}; {what}{hint}"


def explained(error: NgramscanError) -> NgramscanError:
    """Return the error with what to do without a network, where it is about that."""
    return type(error)(f"{error}; {OFFLINE_HINT}") if _is_offline(str(error)) else error


def _is_offline(reason: str) -> bool:
    return "can't be reached" in reason
