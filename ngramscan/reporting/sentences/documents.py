"""In how many documents phrases occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.indexes.base import Unit
from ngramscan.messages import counted
from ngramscan.reporting.sentences.counts import corpora, equals, phrase_of
from ngramscan.reporting.sentences.names import corpus
from ngramscan.reporting.sentences.phrases import (
    UNITS,
    Row,
    group_rows,
    known_rows,
    number,
    select_unit,
)
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.totals import LEAST_DOCUMENTS

_SAMPLED = "files"


def say_documents(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `docnorm`."""
    for unit in UNITS:
        in_unit = select_unit(rows, unit)
        counted = known_rows(in_unit, "documents")
        if counted and not any(row["documents"] for row in counted):
            yield _say_none(counted, unit)
        elif counted:
            largest = _largest(counted)
            yield _say_largest(largest, counted, unit)
            yield from _say_elsewhere(largest, counted)
        yield from _say_two_estimates(in_unit)
    yield from _say_partly(rows)


def _say_none(rows: Sequence[Row], unit: Unit) -> Sentence:
    """Say that no document has any phrase."""
    phrases, indexes = group_rows(rows, "pattern"), group_rows(rows, "index")
    where = corpora(len(indexes)) if len(indexes) > 1 else corpus(rows[0].get("index"))
    negation = "As n-grams of tokens, no" if unit == "tokens" else "No"
    phrase = f"any of {counted(len(phrases), 'phrase')}"
    if len(phrases) == 1:
        phrase = phrase_of(rows[0], "pattern")
    return Sentence(f"{negation} document of {where} has {phrase}.", is_finding=True)


def _largest(rows: Sequence[Row]) -> Row:
    """Return the phrase in most documents of the first corpus."""
    index = rows[0].get("index")
    first = [row for row in rows if row.get("index") == index]
    return max(first, key=lambda row: row["documents"])


def _say_largest(row: Row, rows: Sequence[Row], unit: Unit) -> Sentence:
    """Say how many documents contain a phrase, of how many, and how often each does."""
    subject = phrase_of(row, "pattern")
    if unit == "tokens":
        subject = f"As n-grams of tokens, {subject}"
    text = f"{subject} is in {_among(row, rows)}"
    rate = _with_limits(row, "documents_per_million")
    columns = ["documents", "occurrences_per_document"]
    if rate and _is_large(row):
        columns.append("documents_per_million")
        text += f", {rate} in a million"
    frequency = _with_limits(row, "occurrences_per_document")
    if frequency:
        times = "once" if frequency == "1" else f"{frequency} times"
        text += f"; a document that has it has it {times}"
    if unit == "tokens":
        text += ": lower bounds of the documents with the string"
    has_interval = any(_has_interval(row, column) for column in columns)
    return Sentence(f"{text}.", is_finding=True, has_interval=has_interval)


def _among(row: Row, rows: Sequence[Row]) -> str:
    """Return the number of documents with a phrase, as the most of all phrases."""
    name, where = "documents", corpus(row.get("index"))
    in_index = [candidate for candidate in rows if candidate.get("index") == row.get("index")]
    if len(in_index) == 1:
        return f"{_with_limits(row, name)} documents of {where}"
    phrases = counted(len(group_rows(in_index, "pattern")), "phrase")
    phrases += equals(row[name], in_index, name)
    return f"{_with_limits(row, name)} documents of {where}, the most of {phrases}"


def _is_large(row: Row) -> bool:
    """Tell whether a rate per million documents is meaningful: the corpus is not small."""
    rate = row.get("documents_per_million")
    return not rate or row["documents"] / rate * 1e6 >= LEAST_DOCUMENTS


def _with_limits(row: Row, name: str) -> str:
    """Return a value, with its limits unless it is exact; empty if unknown."""
    value, low, high = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return ""
    if low is None and row.get("estimator") == _SAMPLED:
        return f"about {number(value)}"
    if low is None or not _has_interval(row, name):
        return number(value)
    return f"{number(value)} [{number(low)}, {'no limit' if high is None else number(high)}]"


def _has_interval(row: Row, name: str) -> bool:
    """Tell whether a value has limits, which are in brackets; an exact one has none."""
    value, low, high = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
    return value is not None and low is not None and not low == value == high


def _say_elsewhere(largest: Row, rows: Sequence[Row]) -> Iterator[Sentence]:
    """Say in which corpora a phrase is in the most and the fewest documents per million."""
    name = "documents_per_million"
    places = [
        row
        for row in known_rows(rows, name)
        if row.get("pattern") == largest.get("pattern") and _is_large(row)
    ]
    if len(group_rows(places, "index")) < 2:
        return
    most = max(places, key=lambda row: row[name])
    least = min(places, key=lambda row: row[name])
    if most[name] == least[name]:
        return
    first = f"{_with_limits(most, name)} in a million in {corpus(most.get('index'))}"
    text = f"{phrase_of(largest, 'pattern')} is in the largest share of documents,"
    text += f" {first}, and in the smallest, {_with_limits(least, name)}, in"
    text += f" {corpus(least.get('index'))}"
    has_interval = any(_has_interval(row, name) for row in (most, least))
    yield Sentence(f"{text}.", is_finding=True, has_interval=has_interval)


def _say_two_estimates(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Give both estimates of a phrase's documents, if truncated documents matter."""
    lower, upper = "documents_lower_estimate", "documents_upper_estimate"
    unknown = [row for row in rows if row.get("documents") is None]
    estimates = known_rows(known_rows(unknown, lower), upper)
    if not estimates:
        return
    row = max(estimates, key=lambda row: row[upper])
    text = f"{phrase_of(row, 'pattern')} is in between {number(row[lower])} and"
    text += f" {number(row[upper])} documents of {corpus(row.get('index'))}, as long documents"
    text += " were truncated"
    if len(estimates) > 1:
        text += f"; so it is with {counted(len(estimates), 'number')} in all"
    yield Sentence(f"{text}.", is_finding=True)


def _say_partly(rows: Sequence[Row]) -> Iterator[Sentence]:
    partly = [row for row in rows if (row.get("truncated_share") or 0) > 0]
    if partly:
        n, indexes = counted(len(partly), "phrase"), len(group_rows(rows, "index"))
        where = f" in {corpora(indexes)}" if indexes > 1 else ""
        yield Sentence(f"For {n}{where}, some documents were seen only in part.")
