"""Which documents of a corpus hold copies of entries, and where in their texts the copies are.

Without some documents, windows become rarer, and so other documents may be copies; entries are
judged again until none is left.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ngramscan.indexes.base import Passage, WritesCorpora
from ngramscan.matching.placed_words import placed_words
from ngramscan.matching.word_windows import windows_of_words
from ngramscan.prevalence.contamination.copied_entries import WeighedEntries, source_of
from ngramscan.prevalence.contamination.copies import (
    CopyMatch,
    WeighedEntry,
    judge,
    match_passage,
)
from ngramscan.prevalence.contamination.removals import (
    DocumentPlace,
    FoundCopy,
    RemovedRow,
    make_removed_rows,
)
from ngramscan.prevalence.contamination.rules import Rule

MOST_DOCUMENTS = 100_000
"""Documents of each entry that may be left out."""


def write_clean_corpus(
    weighed: WeighedEntries, index: WritesCorpora, rule: Rule, folder: Path, is_cut: bool
) -> list[RemovedRow]:
    """Write a corpus without the documents that hold copies; return what left, and why.

    Parameters
    ----------
    weighed : WeighedEntries
        The entries in the corpus, with all documents that have much of them.
    index : WritesCorpora
        The corpus.
    rule : Rule
        The rule by which entries were weighed.
    folder : Path
        Where the corpus is written; see `corpora.rewriting.write_without`, as of the errors.
    is_cut : bool
        Cut the copies out of the documents, instead of leaving these out.
    """
    copies = documents_with_copies(weighed)
    finders: dict[str, dict[int, Callable[[str], list[tuple[int, int]]]]] = defaultdict(dict)
    for copy in copies:
        ids = [other.id for other in copies if other.place == copy.place] if is_cut else []
        entries = [weighed.entries[id_] for id_ in ids]
        finders[copy.place.file][copy.place.record] = partial(ranges_of_copies, entries=entries)
    removals = index.write_without(folder, finders)
    characters_cut = {
        copy.place: characters
        for copy in copies
        if (characters := removals[copy.place.file][copy.place.record].characters) is not None
    }
    return make_removed_rows(copies, weighed.index, rule.described, characters_cut)


def documents_with_copies(weighed: WeighedEntries) -> list[FoundCopy]:
    """Return which entries were copied into which documents."""
    removed: dict[str, list[FoundCopy]] = {}
    while True:
        new = defaultdict[str, list[FoundCopy]](list)
        for id_, entry in weighed.entries.items():
            other_passages = [
                each for each in weighed.passages[id_] if each.document not in removed
            ]
            gone = [each for each in weighed.passages[id_] if each.document in removed]
            for match in judge(without(entry, gone), other_passages).matches:
                if match.verdict == "copied":
                    fields = json.loads(match.passage.metadata)
                    place = DocumentPlace(fields["path"], fields["record"])
                    source = source_of(match.passage)
                    copy = FoundCopy(id_, match.verdict, place, source)
                    new[match.passage.document].append(copy)
        if not new:
            return [copy for of_document in removed.values() for copy in of_document]
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
        remaining_text = text
        while (match := _copy_in(remaining_text, entry)) is not None:
            start, stop = match.start_character, match.stop_character
            ranges.append((start, stop))
            # A blank of the same length keeps the places of what comes after it.
            blank = " " * (stop - start)
            remaining_text = remaining_text[:start] + blank + remaining_text[stop:]
    return joined_ranges(ranges)


def _copy_in(text: str, entry: WeighedEntry) -> CopyMatch | None:
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
