"""From which sources phrases come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ngramscan.reporting.sentences.counts import phrase_of
from ngramscan.reporting.sentences.names import corpus, named, quoted
from ngramscan.reporting.sentences.phrases import Row, group_rows, more_in_table, number
from ngramscan.reporting.sentences.sentence import Sentence

_MOST_PHRASES = 3
_NAMES_OF_FIELDS = {"url-host": "host", "year": "year", "source": "source"}
"""Words for what a field names; others are named in quotes."""


def say_sources(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `sources`: the largest source of each phrase."""
    groups = [*group_rows(rows, "index", "query").values()]
    groups.sort(key=lambda in_group: -in_group[0]["all_occurrences"])
    for in_group in groups[:_MOST_PHRASES]:
        yield _say_largest(in_group)
        yield from _say_densest(in_group)
    yield from more_in_table(len(groups) - _MOST_PHRASES, "phrase")


def _say_largest(rows: Sequence[Row]) -> Sentence:
    """Say which source most occurrences of a phrase are from."""
    row = max(rows, key=lambda candidate: candidate["occurrence_share"])
    share, has_interval = _with_limits(row, "occurrence_share")
    text = (
        f"{share} of the occurrences of {phrase_of(row)} in {corpus(row['index'])} are from"
        f" {_source(row)}"
    )
    if row.get("document_share") is not None:
        documents, documents_have_interval = _with_limits(row, "document_share")
        text += f", and {documents} of the documents with it"
        has_interval = has_interval or documents_have_interval
    return Sentence(f"{text}.", is_finding=True, has_interval=has_interval)


def _say_densest(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Say in which source a phrase is most frequent, where the sizes of sources are known."""
    sized = [row for row in rows if row.get("per_gigabyte") is not None]
    # Rates from a sample of files have no limits, so they could not be told apart.
    if len(sized) < 2 or any(row.get("estimated") for row in sized):
        return
    densest = max(sized, key=lambda row: row["per_gigabyte"])
    sparsest = min(sized, key=lambda row: row["per_gigabyte"])
    yield Sentence(
        f"Per gigabyte of its source, it is most frequent in {_source(densest)}"
        f" ({number(densest['per_gigabyte'])}) and least in {_source(sparsest)}"
        f" ({number(sparsest['per_gigabyte'])}), of the sources that have it."
    )


def _source(row: Row) -> str:
    """Return the name of a source: `the host example.org`."""
    name = _NAMES_OF_FIELDS.get(row["by"], quoted(row["by"]))
    if row.get("is_unreadable"):
        return f"documents with an unreadable {name}"
    if row.get("is_missing"):
        return f"documents without a {name}"
    if row["by"] == "year":
        return f"the year {row['value']}"
    return f"the {name} {named(row['value'])}"


def _with_limits(row: Row, name: str) -> tuple[str, bool]:
    """Return a share with its limits, and whether it has any: an exact one has none."""
    share, low, high = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
    if low is None or high is None or low == high:
        return _percentage(share), False
    return f"{_percentage(share)} [{_percentage(low)}, {_percentage(high)}]", True


def _percentage(share: Any) -> str:
    return f"{number(share, is_share=True)}%"
