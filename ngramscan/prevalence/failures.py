"""Failures in words: what is missing from results, a line per reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ngramscan.errors import NgramscanError, RemoteUnreachable
from ngramscan.indexes.base import QueryFailure
from ngramscan.messages import Message, OptionUse, Text, counted
from ngramscan.patterns.model import Query

_PYTHON, _CORPUS = OptionUse("index", "python"), OptionUse("index", "scan:PATH")
OFFLINE_HINT = "without a network: " + _PYTHON + ", or " + _CORPUS + " for a corpus of your own"
SHOWN_REASONS = 5
Item = TypeVar("Item")


def describe_missing(
    missing: Sequence[QueryFailure],
    queries: Sequence[Query],
    n_indexes: int,
    results: str = "counts",
) -> list[Text]:
    """Return which results are missing, one line per reason.

    Strings that are not among `queries` are overlaps, which only totals need; `results` names
    what each query has, in the plural.
    """
    texts = {query.text for query in queries}
    lines: list[Text] = []
    for error, failures in group_by_reason((failure.error, failure) for failure in missing):
        rows = sum(failure.query in texts for failure in failures)
        indexes = list(dict.fromkeys(failure.index for failure in failures))
        if len(failures) == 1:
            result = results.removesuffix("s")
            absent = f'the {result} of "{failures[0].query}" in {indexes[0]} is missing'
        elif not rows:
            absent = f"the counts of {len(failures)} overlaps are missing"
        else:
            named = ", ".join(indexes) if len(indexes) <= 2 else f"{len(indexes)} indexes"
            absent = f"{rows} of {len(queries) * n_indexes} {results} missing ({named})"
        lines.append(_line(error, absent))
    if more := lines[SHOWN_REASONS:]:
        total = sum(failure.query in texts for failure in missing)
        reasons = counted(len(more), "more reason")
        lines[SHOWN_REASONS:] = [f"and {reasons}; {total} {results} are missing in all"]
    return lines


def describe_lost(
    lost: Iterable[tuple[NgramscanError, str]], noun: str, totals: Mapping[str, int] | None = None
) -> list[Text]:
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
    lines: list[Text] = []
    for error, indexes in group_by_reason(lost):
        for index, n in Counter(indexes).items():
            absent = counted(n, noun)
            if totals is not None:
                absent = f"{n:,} of {counted(totals[index], noun)}"
            lines.append(_line(error, f"{absent} missing ({index})"))
    if more := lines[SHOWN_REASONS:]:
        lines[SHOWN_REASONS:] = [f"and {counted(len(more), 'more reason')}"]
    return lines


def group_by_reason(
    lost: Iterable[tuple[NgramscanError, Item]],
) -> list[tuple[NgramscanError, list[Item]]]:
    """Return an error for each reason, and the things that are missing for this reason."""
    groups: dict[Message, tuple[NgramscanError, list[Item]]] = {}
    for error, item in lost:
        _, items = groups.setdefault(error.message, (error, []))
        items.append(item)
    return list(groups.values())


def with_offline_hint(error: NgramscanError) -> NgramscanError:
    """Return the error; if a service can't be reached, with a hint at what works offline."""
    if isinstance(error, RemoteUnreachable):
        return type(error)(error.message + "; " + OFFLINE_HINT)
    return error


def _line(error: NgramscanError, absent: str) -> Message:
    line = error.message + f"; {absent}"
    return line + "; " + OFFLINE_HINT if isinstance(error, RemoteUnreachable) else line
