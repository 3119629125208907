"""Which documents of a corpus hold copies of entries, and where in their texts the copies are.

Without some documents, windows become rarer, and so other documents may be copies; entries are
judged again until none is left.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ngramscan.indexes.base import Passage
from ngramscan.matching.placed_words import placed_words
from ngramscan.prevalence.contamination.copied_entries import WeighedEntries
from ngramscan.prevalence.contamination.copies import (
    Match,
    WeighedEntry,
    judge,
    match_passage,
    windows_of_words,
)

MOST_DOCUMENTS = 100_000
"""Documents of each entry that may be left out."""


def documents_with_copies(weighed: WeighedEntries) -> dict[str, list[str]]:
    """Return the ids of the entries that were copied into each document, by the document."""
    removed: dict[str, list[str]] = {}
    while True:
        new = defaultdict[str, list[str]](list)
        for id_, entry in weighed.entries.items():
            left = [each for each in weighed.passages[id_] if each.document not in removed]
            gone = [each for each in weighed.passages[id_] if each.document in removed]
            for match in judge(without(entry, gone), left).matches:
                if match.verdict == "copied":
                    new[match.passage.document].append(id_)
        if not new:
            return removed
        removed |= new


def without(entry: WeighedEntry, passages: Iterable[Passage]) -> WeighedEntry:
    """Return an entry as it weighs where some passages are not in the corpus."""
    gone = Counter[tuple[str, ...]]()
    size = len(entry.windows[0]) if entry.windows else 0
    for passage in passages:
        gone.update(windows_of_words(placed_words(passage.text).words, size))
    occurrences = [
        None if count is None else max(0, count - gone[window])
        for window, count in zip(entry.windows, entry.occurrences, strict=True)
    ]
    return replace(entry, occurrences=occurrences)


def ranges_of_copies(text: str, entries: Sequence[WeighedEntry]) -> list[tuple[int, int]]:
    """Return the ranges of characters of a document that copies of some entries are in.

    They are in order, and apart from each other.
    """
    ranges = list[tuple[int, int]]()
    for entry in entries:
        left = text
        while (match := _copy_in(left, entry)) is not None:
            start, stop = match.start_character, match.stop_character
            ranges.append((start, stop))
            # A blank of the same length keeps the places of what comes after it.
            left = left[:start] + " " * (stop - start) + left[stop:]
    return joined_ranges(ranges)


def _copy_in(text: str, entry: WeighedEntry) -> Match | None:
    match = match_passage(entry, Passage(0, "", text, ""))
    return match if match is not None and match.verdict == "copied" else None


def joined_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges in order, those that overlap or touch as one."""
    joined = list[tuple[int, int]]()
    for start, stop in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined


def entries_by_document(
    removed: Mapping[str, Sequence[str]], weighed: WeighedEntries
) -> dict[str, list[WeighedEntry]]:
    """Return the entries that were copied into each document."""
    return {document: [weighed.entries[id_] for id_ in ids] for document, ids in removed.items()}
