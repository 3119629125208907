"""How often phrases occur: counts, and occurrences in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.sentences.names import corpus, quoted
from ngramscan.reporting.sentences.phrases import (
    Row,
    group_rows,
    known_rows,
    number,
    select_unit,
)
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.snapshots import times_of
from ngramscan.reporting.summaries.numbers import LEAST_BYTES

_MOST_NAMED = 2
"""Maximum corpora with separate counts in a sentence, if sizes don't allow a comparison."""


def say_counts(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `count`."""
    counted_rows = known_rows(rows, "occurrences")
    if of_bytes := select_unit(counted_rows, "bytes"):
        yield _say_most_frequent(of_bytes)
        yield from _say_snapshots(of_bytes)
        yield from _say_absent(of_bytes)
    if of_tokens := select_unit(counted_rows, "tokens"):
        yield _say_tokens(of_tokens)


def say_contexts(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentence about rows of `contexts`."""
    patterns, indexes = group_rows(rows, "pattern"), group_rows(rows, "index")
    of_what = counted(len(patterns), "phrase")
    if len(patterns) == 1:
        (text,) = next(iter(patterns))
        of_what = "a phrase without a text" if text is None else quoted(text)
    where = corpora(len(indexes))
    if len(indexes) == 1:
        where = corpus(next(iter(indexes))[0])
    is_one = len(rows) == 1
    these = "This is 1 occurrence" if is_one else f"These are {counted(len(rows), 'occurrence')}"
    examples = "an example, not a count" if is_one else "examples, not counts"
    yield Sentence(f"{these} of {of_what} in {where}: {examples}.")


# Names


def corpora(n: int) -> str:
    """Return a number of corpora."""
    return counted(n, "corpus", "corpora")


def all_of(n: int) -> str:
    """Return all of some corpora."""
    return "both corpora" if n == 2 else f"all {corpora(n)}"


def phrase_of(row: Row, column: str = "query") -> str:
    """Return the phrase of a row, in quotes."""
    text = row.get(column)
    return "a phrase without a text" if text is None else quoted(text)


# The most frequent phrase


def _say_most_frequent(rows: Sequence[Row]) -> Sentence:
    """Say which phrase is the most frequent in most corpora, and how frequent it is."""
    by_index = group_rows(rows, "index")
    tops = [max(group, key=_occurrences) for group in by_index.values()]
    occurring = [row for row in tops if row["occurrences"]]
    phrases = group_rows(rows, "query")
    if not occurring:
        none = f"None of {counted(len(phrases), 'phrase')} occurs"
        if len(phrases) == 1:
            none = f"{phrase_of(rows[0])} does not occur"
        where = corpora(len(by_index)) if len(by_index) > 1 else corpus(rows[0].get("index"))
        return Sentence(f"{none} in {where}.", is_finding=True)
    query, times = Counter(row.get("query") for row in occurring).most_common(1)[0]
    places = [row for row in rows if row.get("query") == query and row["occurrences"]]
    text, amounts = phrase_of(places[0]), _amounts(places)
    if len(phrases) == 1:
        text += f" occurs {amounts}"
    else:
        text += f" is the most frequent of {counted(len(phrases), 'phrase')}"
        text += equals(tops[0]["occurrences"], rows, "occurrences") if len(by_index) == 1 else ""
        if len(by_index) > 1:
            n = len(by_index)
            text += f" in {all_of(n) if times == n else f'{number(times)} of {corpora(n)}'}"
        text += f": {amounts}"
        if without := len(by_index) - len(occurring):
            others = "the other" if without == 1 and len(by_index) == 2 else number(without)
            text += f"; {others} {'has' if without == 1 else 'have'} none of them"
    # Where rates can be compared, only their extremes are named.
    listed_places = [] if _has_extremes(places) else places[:_MOST_NAMED]
    has_interval = any(row.get("occurrences_low") is not None for row in listed_places)
    return Sentence(f"{text}.", is_finding=True, has_interval=has_interval)


def equals(value: float, rows: Sequence[Row], column: str) -> str:
    """Return how many other rows have the same value; empty if none has."""
    others = sum(row.get(column) == value for row in rows) - 1
    return f", with {counted(others, 'other')}" if others > 0 else ""


def _occurrences(row: Row) -> float:
    return float(row["occurrences"])


def _amounts(rows: Sequence[Row]) -> str:
    """Return how often a phrase occurs: the extremes of its rates, or its first counts."""
    if _has_extremes(rows):
        most = max(rows, key=lambda row: row["per_gigabyte"])
        least = min(rows, key=lambda row: row["per_gigabyte"])
        if most["per_gigabyte"] == least["per_gigabyte"]:
            return f"{number(most['per_gigabyte'])} per GB in {all_of(len(rows))}"
        rate = f"{number(most['per_gigabyte'])} per GB"
        largest = f"most often in {corpus(most.get('index'))}, {rate}"
        smallest = f"least often in {corpus(least.get('index'))}, {number(least['per_gigabyte'])}"
        return f"{largest}, and {smallest}"
    return " and ".join(
        f"{_amount(row)} in {corpus(row.get('index'))}" for row in rows[:_MOST_NAMED]
    )


def _has_extremes(rows: Sequence[Row]) -> bool:
    """Tell whether a phrase has several rates, all of which say something."""
    return len(rows) > 1 and len(with_rates(rows)) == len(rows)


def _amount(row: Row) -> str:
    """Return how often a phrase occurs, and how often per gigabyte."""
    n, low, high = (row.get(f"occurrences{end}") for end in ("", "_low", "_high"))
    text = "once" if n == 1 else f"{number(n or 0)} times"
    if row.get("estimated"):
        text = f"about {text}"
    if low is not None:
        text += f" [{number(low)}, {'no limit' if high is None else number(high)}]"
    return f"{text} ({number(row['per_gigabyte'])} per GB)" if with_rates([row]) else text


def with_rates(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a meaningful rate per gigabyte: those of corpora that are not small."""
    rated = known_rows(rows, "per_gigabyte")
    return [row for row in rated if row.get("bytes") is None or row["bytes"] >= LEAST_BYTES]


# Several snapshots, and phrases that are not there


def _say_snapshots(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Say how the most frequent phrase moved from the first snapshot to the last."""
    rated = with_rates(rows)
    snapshots = [*times_of((row.get("index") for row in rated), fewest=2)]
    if not snapshots:
        return
    first, last = snapshots[0], snapshots[-1]
    first_rows = {row.get("query"): row for row in rated if row.get("index") == first}
    last_rows = {row.get("query"): row for row in rated if row.get("index") == last}
    in_both = [query for query in first_rows if query in last_rows]
    if not in_both:
        return
    rates = {query: _rates(first_rows[query], last_rows[query]) for query in in_both}
    largest = max(in_both, key=lambda query: sum(rates[query]))
    before, after = rates[largest]
    text = f"From {corpus(first)} to {corpus(last)}, {phrase_of(first_rows[largest])} went from"
    text += f" {number(before)} to {number(after)} per GB"
    if len(in_both) > 2:
        rose = sum(after > before for before, after in rates.values())
        fell = sum(after < before for before, after in rates.values())
        text += f"; of {counted(len(in_both), 'phrase')}, {number(rose)} rose"
        text += f" and {number(fell)} fell"
    yield Sentence(f"{text}.", is_finding=True)


def _rates(before: Row, after: Row) -> tuple[float, float]:
    return float(before["per_gigabyte"]), float(after["per_gigabyte"])


def _say_absent(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Say how many phrases occur nowhere, if others do."""
    by_query = group_rows(rows, "query").values()
    absent = [group for group in by_query if not any(map(_may_occur, group))]
    if 0 < len(absent) < len(by_query):
        has_several = len(group_rows(rows, "index")) > 1
        where = "in any of the corpora" if has_several else f"in {corpus(rows[0].get('index'))}"
        verb = "does" if len(absent) == 1 else "do"
        first = phrase_of(absent[0][0])
        subject = first if len(absent) == 1 else counted(len(absent), "phrase")
        yield Sentence(f"{subject} {verb} not occur {where}.")


def _may_occur(row: Row) -> bool:
    """Tell whether a phrase occurs, or may occur by the limits of its estimate."""
    return bool(row["occurrences"] or row.get("occurrences_high"))


def _say_tokens(rows: Sequence[Row]) -> Sentence:
    """Say which n-grams of tokens are the most frequent in the first index."""
    index = rows[0].get("index")
    first = [row for row in rows if row.get("index") == index]
    largest = max(first, key=_occurrences)
    n = largest["occurrences"]
    text = "once" if n == 1 else f"{number(n)} times"
    if (rate := largest.get("per_million_tokens")) is not None:
        text += f", {number(rate)} per million tokens"
    subject = phrase_of(largest)
    if len(first) > 1:
        subject += f", the most frequent of {counted(len(first), 'phrase')},"
    sentence = f"As n-grams of tokens, {subject} occurs {text} in {corpus(index)}"
    return Sentence(f"{sentence}: lower bounds of what the strings occur.", is_finding=True)
