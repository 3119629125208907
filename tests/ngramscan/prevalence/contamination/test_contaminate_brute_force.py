"""Rows of entries against a search of every window in every document, written a second time."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching import normalized
from ngramscan.prevalence.contamination.contaminate import Entry, EntryRow, run_contaminate
from ngramscan.prevalence.contamination.rules import EntryClass, make_rule, windows_of
from ngramscan.prevalence.several_corpora import UNION
from tests.support.counted_documents import CountedDocuments

SHORT_WORDS = st.sampled_from(["a", "b", "ab", "é", "aé", "ba", "b.", "A"])
PHRASES = st.lists(SHORT_WORDS, max_size=9).map(" ".join)
ENTRIES = st.lists(PHRASES, min_size=1, max_size=4).map(
    lambda texts: [Entry(str(number), text) for number, text in enumerate(texts)]
)
WIDTH = 3
"""Characters of a window in the union."""


class SeenWindow(NamedTuple):
    """A window of a text, and how often it occurs."""

    start: int
    stop: int
    text: str
    occurrences: int


def windows_of_words(text: str, width: int) -> list[tuple[int, int, str]]:
    """Return all stretches of so many words; all words where there are fewer."""
    words = list(re.finditer(r"\w+", text))
    runs = [words[start : start + width] for start in range(max(1, len(words) - width + 1))]
    return [
        (run[0].start(), run[-1].end(), f" {' '.join(word[0].lower() for word in run)} ")
        for run in runs
        if run
    ]


def windows_of_characters(text: str, width: int) -> list[tuple[int, int, str]]:
    """Return the stretches of so many characters that begin at a word; a shorter text is one."""
    text = text.strip()
    if 0 < len(text) < width:
        return [(0, len(text), text)]
    begins = re.finditer(rf"(?<!\S)(?=\S)(?=([\s\S]{{{width}}}))", text)
    return [(at.start(), at.start() + width, at[1]) for at in begins]


def naive_count(query: str, documents: Sequence[str]) -> int:
    pattern = re.compile(b"(?=" + re.escape(query.encode()) + b")")
    return sum(len(pattern.findall(document.encode())) for document in documents)


def naive_run(seen: Sequence[SeenWindow]) -> int:
    """Return the longest stretch of windows that were all found, of all stretches."""
    longest = 0
    for start in range(len(seen)):
        for stop in range(start + 1, len(seen) + 1):
            part = seen[start:stop]
            is_joined = all(second.start <= first.stop for first, second in pairwise(part))
            if is_joined and all(window.occurrences for window in part):
                longest = max(longest, part[-1].stop - part[0].start)
    return longest


def naive_verdict(found: int, windows: int) -> EntryClass | None:
    if not windows:
        return None
    if 10 * found >= 8 * windows:
        return "dirty"
    return "suspicious" if 10 * found >= 2 * windows else "clean"


def naive_row(
    entry: Entry, windows: Sequence[tuple[int, int, str]], documents: Sequence[str]
) -> EntryRow:
    """Return what the definition says of an entry."""
    seen = [SeenWindow(*window, naive_count(window[2], documents)) for window in windows]
    found = [window for window in seen if window.occurrences]
    eta = len(found) / len(seen) if seen else None
    rarest = min(found, key=lambda window: window.occurrences, default=None)
    return EntryRow(
        index="a",
        rule="",
        id=entry.id,
        windows=len(seen),
        asked=len(seen),
        found=len(found),
        eta=eta,
        eta_low=eta,
        eta_high=eta,
        verdict=naive_verdict(len(found), len(seen)),
        rarest=rarest.text if rarest else None,
        rarest_occurrences=rarest.occurrences if rarest else None,
        longest_run=naive_run(seen),
    )


def without_words(rows: Sequence[EntryRow]) -> list[EntryRow]:
    """Return rows without the name of their rule and their note."""
    return [replace(row, rule="", note="") for row in rows]


@given(ENTRIES, st.lists(PHRASES, max_size=6), st.integers(1, 7))
def test_rows_of_characters_are_those_of_brute_force(
    entries: list[Entry], documents: list[str], width: int
) -> None:
    result = run_contaminate(entries, make_rule("mini", width), [CountedDocuments(documents)])
    expected = [
        naive_row(entry, windows_of_characters(entry.text, width), documents) for entry in entries
    ]
    assert without_words(result.rows) == expected
    assert result.missing == []


def between_blanks(document: str) -> str:
    """Return the words of a document in small letters, with a blank before and behind each."""
    words = re.findall(r"\w+", document.lower())
    return f" {' '.join(words)} "


@given(ENTRIES, st.lists(PHRASES, max_size=6), st.integers(1, 7))
def test_rows_of_words_are_those_of_brute_force(
    entries: list[Entry], documents: list[str], width: int
) -> None:
    index = CountedDocuments([normalized(text, "words") for text in documents])
    result = run_contaminate(entries, make_rule(f"ngram-{width}"), [index])
    searched = [between_blanks(text) for text in documents]
    expected = [
        naive_row(entry, windows_of_words(entry.text, width), searched) for entry in entries
    ]
    assert without_words(result.rows) == expected


@given(
    ENTRIES,
    st.lists(st.lists(PHRASES, max_size=3), min_size=2, max_size=3),
    st.lists(PHRASES, max_size=4),
)
def test_the_union_knows_what_any_index_has_and_what_none_has(
    entries: list[Entry], corpora: list[list[str]], lost: list[str]
) -> None:
    """The first index answers all; the others lose some queries."""
    rule = make_rule("mini", WIDTH)
    indexes = [
        CountedDocuments(texts, str(number), lost if number else ())
        for number, texts in enumerate(corpora)
    ]
    result = run_contaminate(entries, rule, indexes)
    assert len(result.rows) == (len(corpora) + 1) * len(entries)
    for entry, row in zip(entries, result.rows[-len(entries) :], strict=True):
        texts = [window.query for window in windows_of(entry.text, rule)]
        answering = [corpora if text not in lost else corpora[:1] for text in texts]
        found = [
            any(naive_count(text, corpus) for corpus in asked)
            for text, asked in zip(texts, answering, strict=True)
        ]
        known = [is_found or text not in lost for text, is_found in zip(texts, found, strict=True)]
        assert (row.index, row.windows, row.asked, row.found) == (
            UNION,
            len(texts),
            sum(known),
            sum(found),
        )
        assert (row.rarest, row.rarest_occurrences) == (None, None)
        assert row.eta == (sum(found) / len(texts) if texts and all(known) else None)
