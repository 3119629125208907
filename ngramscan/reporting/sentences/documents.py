"""In how many documents phrases occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.sentences.counts import corpora, equals, phrase_of
from ngramscan.reporting.sentences.names import corpus
from ngramscan.reporting.sentences.phrases import Row, group_rows, known_rows, number
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.totals import LEAST_DOCUMENTS

_OF_TOKENS = "token_"
_SAMPLED = "files"


def say_documents(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `docnorm`."""
    for prefix in ("", _OF_TOKENS):
        known = known_rows(rows, f"{prefix}documents")
        if known and not any(row[f"{prefix}documents"] for row in known):
            yield _say_none(known, prefix)
        elif known:
            largest = _largest(known, prefix)
            yield _say_largest(largest, known, prefix)
            yield from _say_elsewhere(largest, known, prefix)
        yield from _say_two_estimates(rows, prefix)
    yield from _say_partly(rows)


def _say_none(rows: Sequence[Row], prefix: str) -> Sentence:
    """Say that no document has any phrase."""
    phrases, indexes = group_rows(rows, "pattern"), group_rows(rows, "index")
    where = corpora(len(indexes)) if len(indexes) > 1 else corpus(rows[0].get("index"))
    what = "As n-grams of tokens, no" if prefix else "No"
    some = f"any of {counted(len(phrases), 'phrase')}"
    if len(phrases) == 1:
        some = phrase_of(rows[0], "pattern")
    return Sentence(f"{what} document of {where} has {some}.", is_finding=True)


def _largest(rows: Sequence[Row], prefix: str) -> Row:
    """Return the phrase in most documents of the first corpus."""
    index = rows[0].get("index")
    first = [row for row in rows if row.get("index") == index]
    return max(first, key=lambda row: row[f"{prefix}documents"])


def _say_largest(row: Row, rows: Sequence[Row], prefix: str) -> Sentence:
    """Say in how many documents a phrase is, of how many, and how often in each of them."""
    subject = phrase_of(row, "pattern")
    if prefix:
        subject = f"As n-grams of tokens, {subject}"
    said = f"{subject} is in {_among(row, rows, prefix)}"
    rate = _with_limits(row, f"{prefix}documents_per_million")
    if rate and _is_large(row, prefix):
        said += f", {rate} in a million"
    each = _with_limits(row, f"{prefix}occurrences_per_document")
    if each:
        said += f"; a document that has it has it {'once' if each == '1' else f'{each} times'}"
    if prefix:
        said += ": lower bounds of the documents with the string"
    return Sentence(f"{said}.", is_finding=True, has_interval="[" in said)


def _among(row: Row, rows: Sequence[Row], prefix: str) -> str:
    """Return in how many documents a phrase is, and among how many phrases that is the most."""
    name, where = f"{prefix}documents", corpus(row.get("index"))
    in_index = [one for one in rows if one.get("index") == row.get("index")]
    if len(in_index) == 1:
        return f"{_with_limits(row, name)} documents of {where}"
    phrases = counted(len(group_rows(in_index, "pattern")), "phrase")
    phrases += equals(row[name], in_index, name)
    return f"{_with_limits(row, name)} documents of {where}, the most of {phrases}"


def _is_large(row: Row, prefix: str) -> bool:
    """Tell whether a rate per million documents says something: the corpus is not small."""
    rate = row.get(f"{prefix}documents_per_million")
    return not rate or row[f"{prefix}documents"] / rate * 1e6 >= LEAST_DOCUMENTS


def _with_limits(row: Row, name: str) -> str:
    """Return a value with its limits, an exact one alone; empty: it is unknown."""
    value, low, high = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return ""
    if low is None and row.get("estimator") == _SAMPLED:
        return f"about {number(value)}"
    if low is None or low == value == high:
        return number(value)
    return f"{number(value)} [{number(low)}, {'no limit' if high is None else number(high)}]"


def _say_elsewhere(largest: Row, rows: Sequence[Row], prefix: str) -> Iterator[Sentence]:
    """Say in which corpora a phrase is in most and in fewest documents of a million."""
    name = f"{prefix}documents_per_million"
    places = [
        row
        for row in known_rows(rows, name)
        if row.get("pattern") == largest.get("pattern") and _is_large(row, prefix)
    ]
    if len(group_rows(places, "index")) < 2:
        return
    most = max(places, key=lambda row: row[name])
    least = min(places, key=lambda row: row[name])
    if most[name] == least[name]:
        return
    first = f"{_with_limits(most, name)} in a million in {corpus(most.get('index'))}"
    said = f"{phrase_of(largest, 'pattern')} is in the largest share of documents,"
    said += f" {first}, and in the smallest, {_with_limits(least, name)}, in"
    said += f" {corpus(least.get('index'))}"
    yield Sentence(f"{said}.", is_finding=True, has_interval="[" in said)


def _say_two_estimates(rows: Sequence[Row], prefix: str) -> Iterator[Sentence]:
    """Say between what the documents of a phrase are where hidden parts of them matter."""
    lower, upper = (f"{prefix}documents_{end}_estimate" for end in ("lower", "upper"))
    unknown = [row for row in rows if row.get(f"{prefix}documents") is None]
    found = known_rows(known_rows(unknown, lower), upper)
    if not found:
        return
    row = max(found, key=lambda row: row[upper])
    said = f"{phrase_of(row, 'pattern')} is in between {number(row[lower])} and"
    said += f" {number(row[upper])} documents of {corpus(row.get('index'))}, as long documents"
    said += " were truncated"
    if len(found) > 1:
        said += f"; so it is with {counted(len(found), 'number')} in all"
    yield Sentence(f"{said}.", is_finding=True)


def _say_partly(rows: Sequence[Row]) -> Iterator[Sentence]:
    partly = [row for row in rows if (row.get("truncated_share") or 0) > 0]
    if partly:
        n, indexes = counted(len(partly), "phrase"), len(group_rows(rows, "index"))
        where = f" in {corpora(indexes)}" if indexes > 1 else ""
        yield Sentence(f"For {n}{where}, some documents were seen only in part.")
