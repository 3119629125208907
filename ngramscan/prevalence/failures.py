"""Failures in words: what is missing from results, a line per reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ngramscan.errors import NgramscanError, RemoteUnreachable
from ngramscan.indexes.base import QueryFailure
from ngramscan.messages import OptionUse, Text
from ngramscan.patterns.model import Query
from ngramscan.progress import counted

OFFLINE_HINT = (
    "without a network: "
    + OptionUse("index")
    + " python, or "
    + OptionUse("index", placeholder="scan:PATH")
    + " for a corpus of your own"
)
SHOWN_REASONS = 5


def describe_missing(
    missing: Sequence[QueryFailure],
    queries: Sequence[Query],
    n_indexes: int,
    results: str = "counts",
) -> list[str]:
    """Return which results are missing, one line per reason.

    Strings that are not among `queries` are overlaps, which only totals need; `results` names
    what each query has, in the plural.
    """
    asked = {query.text for query in queries}
    reasons: dict[str, list[QueryFailure]] = {}
    for failure in missing:
        reasons.setdefault(str(failure.error), []).append(failure)
    lines = []
    for reason, failed in reasons.items():
        rows = sum(failure.query in asked for failure in failed)
        indexes = list(dict.fromkeys(failure.index for failure in failed))
        if len(failed) == 1:
            lost = (
                f'the {results.removesuffix("s")} of "{failed[0].query}" in {indexes[0]} is missing'
            )
        elif not rows:
            lost = f"the counts of {len(failed)} overlaps are missing"
        else:
            named = ", ".join(indexes) if len(indexes) <= 2 else f"{len(indexes)} indexes"
            lost = f"{rows} of {len(queries) * n_indexes} {results} missing ({named})"
        lines.append(f"{reason}; {lost}{_offline_hint(failed[0].error)}")
    if more := lines[SHOWN_REASONS:]:
        total = sum(failure.query in asked for failure in missing)
        lines[SHOWN_REASONS:] = [
            f"and {len(more)} more reasons; {total} {results} are missing in all"
        ]
    return lines


def with_offline_hint(error: NgramscanError) -> NgramscanError:
    """Return the error; if a service can't be reached, with a hint at what works offline."""
    hint = _offline_hint(error)
    return type(error)(error.message + hint) if hint else error


def _offline_hint(error: NgramscanError) -> Text:
    return ("; " + OFFLINE_HINT) if isinstance(error, RemoteUnreachable) else ""


def describe_lost(
    lost: Iterable[tuple[NgramscanError, str]], noun: str, totals: Mapping[str, int] | None = None
) -> list[str]:
    """Return how many things are missing, a line per reason and index.

    Parameters
    ----------
    lost : iterable of tuple
        The error of each thing that is missing, and the name of its index.
    noun : str
        A name for one of them: `text`.
    totals : mapping, optional
        How many there should be in each index; by default this is not said.

    """
    reasons = Counter((str(with_offline_hint(error)), index) for error, index in lost)
    lines = []
    for (reason, index), n in reasons.items():
        missing = counted(n, noun) if totals is None else f"{n} of {totals[index]} {noun}s"
        lines.append(f"{reason}; {missing} missing ({index})")
    if (more := len(lines) - SHOWN_REASONS) > 0:
        return [*lines[:SHOWN_REASONS], f"and {counted(more, 'more reason')}"]
    return lines
