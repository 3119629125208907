"""Passages of documents that share windows with texts, in indexes that are not read.

The windows of all texts are counted as they are written. Then the text around their least common
occurrences is fetched, for all texts at once and in rounds, until it is known which documents have
most of each text.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import (
    FoundPassages,
    Index,
    Passage,
    Place,
    SoughtTexts,
    Window,
    WindowFailure,
    shown_context,
)
from ngramscan.indexes.tokens.replies import OPERATORS
from ngramscan.matching import find_starts, normalized
from ngramscan.matching.forms import other_forms
from ngramscan.matching.word_windows import least_windows, windows_of_words
from ngramscan.prevalence.contamination.copies import best_span
from ngramscan.prevalence.contamination.thresholds import RARE
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.draws import SHIFT_BYTES, draw_places

LOOKED_AT = 50
"""Windows on documents that are fetched for a text, at most."""
COMMON_LOOKED_AT = 10
"""Occurrences of windows that are not rare, at most, among these."""
COMMON_WINDOWS = 3
"""The least common of these windows, from whose occurrences some are drawn."""
FORMS_LOOKED_AT = 10
"""Occurrences of windows in other forms, at most."""
_TEXTS_AT_ONCE = 1_000
"""Texts in the same rounds: enough to keep a service busy, and less than 100 MB of documents."""
_MARGIN_WORDS = 10
_LONGER = 1.25
"""A copy may be this much longer than its text, and have `_MARGIN_WORDS` more words."""
_TIMES_LONGER = 3
"""How often the text around an occurrence is fetched again, twice as long each time, where the best
span comes too near to its end."""


def find_passages(sought: SoughtTexts, index: Index, seed: int) -> FoundPassages:
    """Count the windows of texts as they are written, and return the passages with most of them.

    All occurrences of rare windows are looked at, from the least common window on, unless texts
    that were fetched for others show them. If no passage has most of the windows that occur, up to
    10 occurrences of the 3 least common windows that are not rare are drawn. If there is no passage
    then, windows that do not occur are counted once more in other forms, in small or capital
    letters, with single spaces, in other normal forms of Unicode, and up to 10 occurrences of those
    are looked at. For no text are more than 50 windows on documents fetched, in all; rare windows
    leave 20 of these for the others, unless a passage has most of the windows that occur.

    Passages have at least `sought.least_share` of the different windows of their text as normalized
    words; each is the best of its document, by the occurrences that were looked at.

    Parameters
    ----------
    sought : SoughtTexts
        The texts, and which passages are wanted.
    index : Index
        It counts, finds and shows occurrences; token-level ones count too few.
    seed : int
        Random seed of the draws.

    Returns
    -------
    FoundPassages
        Counts are those of the windows as they are written. Windows that could not be counted or
        shown are missing, and their errors are there.
    """
    distinct = list(dict.fromkeys(window for text in sought.as_written for window in text))
    counts, errors = _count(index, distinct)
    passages = list[Passage]()
    for start in range(0, len(sought.texts), _TEXTS_AT_ONCE):
        numbers = range(start, min(start + _TEXTS_AT_ONCE, len(sought.texts)))
        searches = [_TextSearch(number, sought) for number in numbers if sought.as_written[number]]
        rounds = _Rounds(index, seed, errors)
        rounds.look_at_rare(searches, counts)
        rounds.look_at_common(searches, counts)
        rounds.look_at_forms([search for search in searches if not search.passages()], counts)
        rounds.lengthen(searches)
        for search in searches:
            passages += [seen.passage(search.number) for seen in search.passages()]
    occurrences = [[counts.get(window) for window in text] for text in sought.as_written]
    return FoundPassages(occurrences, passages, errors)


def reach_of(as_written: Sequence[str], width: int, context: int) -> int:
    """Return the bytes on each side of a window in which a copy of its whole text would be.

    Parameters
    ----------
    as_written : sequence of str
        The windows of the text, at least one.
    width : int
        Words of a window.
    context : int
        Characters, at least, on each side of the copy.
    """
    nbytes, n_words = _bytes_of_text(as_written, width), len(as_written) + width - 1
    characters = sum(map(len, as_written))
    per_character = -(-sum(len(window.encode()) for window in as_written) // characters)
    margin = _MARGIN_WORDS * -(-nbytes // n_words)
    return int(nbytes * _LONGER) + margin + (context + 1) * per_character


def other_windows(as_written: str) -> list[str]:
    """Return other forms in which a document may have a window.

    Forms that add an operator of a service, which could not be counted there, are left out.

    >>> other_windows("A  b"), other_windows("\u00e9 b"), other_windows("a and b")
    (['A b', 'a  b', 'a b', 'A  B', 'A B'], ['\u00c9 B', 'e\u0301 b'], [])
    """
    spaced = list(dict.fromkeys([as_written, " ".join(as_written.split())]))
    cased = [*spaced, *(text.lower() for text in spaced), *(text.upper() for text in spaced)]
    normal = [form for text in spaced for form in other_forms(text).values()]
    return [
        form
        for form in dict.fromkeys([*cased, *normal])
        if form != as_written
        and not any(operator in form and operator not in as_written for operator in OPERATORS)
    ]


def _count(index: Index, texts: Sequence[str]) -> tuple[dict[str, int], list[NgramscanError]]:
    """Return the occurrences of texts; those that could not be counted are left out."""
    counts, errors = collect_replies(index.counts(texts), texts) if texts else ({}, {})
    return {text: count.occurrences for text, count in counts.items()}, list(errors.values())


def _bytes_of_text(as_written: Sequence[str], width: int) -> int:
    """Return about how many bytes a text has, by windows side by side."""
    return sum(len(window.encode()) + 1 for window in [*as_written[::width], as_written[-1]])


# One text


@dataclass(frozen=True, slots=True)
class _WindowLookup:
    """A window to look at, as it is written or in another form."""

    query: str
    occurrences: int


@dataclass(frozen=True, slots=True)
class _SeenText:
    """The text around an occurrence, and its best span."""

    window: Window
    reach: int
    """Bytes on each side that were fetched."""
    n_windows: int = 0
    """Different windows in the best span; 0: there are too few for a passage."""
    letters_before: int = 0
    """Letters of the words before the best span."""
    letters_after: int = 0

    @property
    def starts_document(self) -> bool:
        """Whether the text begins where the document does."""
        window = self.window
        return window.starts_document or window.offset < self.reach - SHIFT_BYTES

    @property
    def ends_document(self) -> bool:
        """Whether the text ends where the document does."""
        window = self.window
        return len(window.text) - window.stop < self.reach - SHIFT_BYTES

    def passage(self, text_number: int) -> Passage:
        """Return the text as a passage."""
        window = self.window
        return Passage(text_number, window.document, _decoded(window), window.metadata)


def _decoded(window: Window) -> str:
    return window.text.decode(errors="replace")


class _TextSearch:
    """One text: its windows, and the parts of documents that were seen for it."""

    def __init__(self, number: int, sought: SoughtTexts) -> None:
        words, self._as_written = sought.texts[number], sought.as_written[number]
        self.number = number
        self._context, self._most = sought.context, sought.most
        self._windows = windows_of_words(words, sought.width)
        self._different = frozenset(self._windows)
        self._least = least_windows(len(self._different), sought.least_share)
        self.reach = reach_of(self._as_written, sought.width, sought.context)
        self._bytes = _bytes_of_text(self._as_written, sought.width)
        self.n_left = LOOKED_AT
        """Occurrences that may still be looked at."""
        self._seen: dict[str, list[_SeenText]] = {}
        """By document."""

    def lookups(
        self, counts: Mapping[str, int], is_wanted: Callable[[int], bool]
    ) -> list[_WindowLookup]:
        """Return the windows whose number of occurrences is wanted, the least common first."""
        return _lookups(self._as_written, counts, is_wanted)

    def other_forms(self, counts: Mapping[str, int]) -> list[str]:
        """Return the other forms of windows that don't occur."""
        absent = [window for window in self._as_written if counts.get(window) == 0]
        return [form for window in absent for form in other_windows(window)]

    def has_copy(self, counts: Mapping[str, int]) -> bool:
        """Tell whether a passage has most of the windows that occur."""
        n_occurring = sum(bool(counts.get(window)) for window in self._as_written)
        best = max((seen.n_windows for seen in self._best_of_documents()), default=0)
        return 2 * best > n_occurring

    def add(self, window: Window, reach: int) -> None:
        """Take note of the text around an occurrence."""
        seen = _SeenText(window, reach)
        words = normalized(_decoded(window), "words").split()
        # Where the text was cut, a part of a word could be another word.
        words = words[0 if seen.starts_document else 1 :]
        words = words if seen.ends_document else words[:-1]
        if span := best_span(self._windows, words):
            first, stop = span
            in_span = windows_of_words(words[first:stop], len(self._windows[0]))
            seen = replace(
                seen,
                n_windows=len(self._different.intersection(in_span)),
                letters_before=sum(map(len, words[:first])),
                letters_after=sum(map(len, words[stop:])),
            )
        self._seen.setdefault(window.document, []).append(seen)

    def shows_all(self, lookup: _WindowLookup) -> bool:
        """Tell whether all occurrences of a window were seen, with room for a copy around them.

        Texts of one document may overlap, so only the one with the most occurrences counts.
        """
        n_shown = sum(
            max(self._n_shown(lookup, seen) for seen in of_document)
            for of_document in self._seen.values()
        )
        return n_shown >= lookup.occurrences

    def _n_shown(self, lookup: _WindowLookup, seen: _SeenText) -> int:
        needle, text = lookup.query.encode(), seen.window.text
        if needle not in text:
            return 0
        # In a copy all windows are this far from an end, or farther, if one of them was looked at.
        room = max(0, min(self.reach, seen.reach) - self._bytes)
        least_start = 0 if seen.starts_document else room
        last_stop = len(text) - (0 if seen.ends_document else room)
        return sum(
            least_start <= start and start + len(needle) <= last_stop
            for start in find_starts(needle, text)
        )

    def _best_of_documents(self) -> Iterator[_SeenText]:
        for of_document in self._seen.values():
            yield max(of_document, key=lambda seen: (seen.n_windows, seen.reach))

    def passages(self) -> list[_SeenText]:
        """Return the best passages, those with most windows first."""
        best = [seen for seen in self._best_of_documents() if seen.n_windows >= self._least]
        return sorted(best, key=lambda seen: -seen.n_windows)[: self._most]

    def is_near_end(self, seen: _SeenText) -> bool:
        """Tell whether more of the document could be in the best span or around it."""
        is_near_start = seen.letters_before < self._context and not seen.starts_document
        return is_near_start or (seen.letters_after < self._context and not seen.ends_document)


def _lookups(
    windows: Sequence[str], counts: Mapping[str, int], is_wanted: Callable[[int], bool]
) -> list[_WindowLookup]:
    """Return the different windows whose number of occurrences is wanted, least common first."""
    lookups = [
        _WindowLookup(window, counts[window])
        for window in dict.fromkeys(windows)
        if window in counts and is_wanted(counts[window])
    ]
    return sorted(lookups, key=lambda lookup: lookup.occurrences)


# All texts


class _Rounds:
    """Looks at occurrences in rounds, each for many texts at once."""

    def __init__(self, index: Index, seed: int, errors: list[NgramscanError]) -> None:
        self._index, self._seed, self._errors = index, seed, errors

    def look_at_rare(self, searches: Sequence[_TextSearch], counts: Mapping[str, int]) -> None:
        """Look at the occurrences of rare windows until all of them were seen."""
        lookups = {
            search: search.lookups(counts, lambda count: 1 <= count <= RARE) for search in searches
        }
        reserved = COMMON_LOOKED_AT + FORMS_LOOKED_AT

        def may_look(search: _TextSearch) -> bool:
            return search.n_left > reserved or search.has_copy(counts)

        self._look(lookups, RARE, LOOKED_AT, may_look)

    def look_at_common(self, searches: Sequence[_TextSearch], counts: Mapping[str, int]) -> None:
        """Draw occurrences of other windows until a document has most of the windows that occur."""
        lookups = {
            search: search.lookups(counts, lambda count: count > RARE)[:COMMON_WINDOWS]
            for search in searches
        }
        most = -(-COMMON_LOOKED_AT // COMMON_WINDOWS)
        self._look(lookups, most, COMMON_LOOKED_AT, lambda search: not search.has_copy(counts))

    def look_at_forms(self, searches: Sequence[_TextSearch], counts: Mapping[str, int]) -> None:
        """Count windows that don't occur in other forms, and look at some occurrences."""
        forms = {search: search.other_forms(counts) for search in searches}
        queries = dict.fromkeys(form for of_search in forms.values() for form in of_search)
        counts_of_forms, errors = _count(self._index, list(queries))
        self._errors += errors
        lookups = {
            search: _lookups(of_search, counts_of_forms, bool)
            for search, of_search in forms.items()
        }
        self._look(lookups, RARE, FORMS_LOOKED_AT, lambda search: not search.passages())

    def lengthen(self, searches: Sequence[_TextSearch]) -> None:
        """Fetch more text where the best span of a passage comes too near to an end."""
        for _ in range(_TIMES_LONGER):
            wanted = list[tuple[_TextSearch, Place, int]]()
            for search in searches:
                for seen in search.passages():
                    reach = self._shown(2 * seen.reach)
                    if search.n_left and seen.reach < reach and search.is_near_end(seen):
                        search.n_left -= 1
                        wanted.append((search, seen.window.place, reach))
            if not wanted:
                return
            self._fetch(wanted)

    def _look(
        self,
        lookups: Mapping[_TextSearch, Sequence[_WindowLookup]],
        most: int,
        most_of_text: int,
        may_look: Callable[[_TextSearch], bool],
    ) -> None:
        """Look at one window in a round for each text that may look.

        `most` occurrences of a window are looked at, at most, and `most_of_text` of a text.
        """
        waiting = {search: deque(of_search) for search, of_search in lookups.items()}
        least_left = {search: max(0, search.n_left - most_of_text) for search in lookups}
        while True:
            chosen = dict[_TextSearch, _WindowLookup]()
            for search, queue in waiting.items():
                while queue and search not in chosen and may_look(search):
                    if search.n_left <= least_left[search]:
                        break
                    lookup = queue.popleft()
                    if not search.shows_all(lookup):
                        chosen[search] = lookup
            if not chosen:
                return
            n_places = {search: min(most, search.n_left - least_left[search]) for search in chosen}
            places = self._places(chosen, n_places)
            for search, of_search in places.items():
                search.n_left -= len(of_search)
            self._fetch(
                [
                    (search, place, self._shown(_rounded_up(search.reach)))
                    for search, of_search in places.items()
                    for place in of_search
                ]
            )

    def _places(
        self, chosen: Mapping[_TextSearch, _WindowLookup], most: Mapping[_TextSearch, int]
    ) -> dict[_TextSearch, list[Place]]:
        """Return occurrences of windows; without those of windows that could not be looked up."""
        queries = list(dict.fromkeys(lookup.query for lookup in chosen.values()))
        located, errors = collect_replies(self._index.find(queries), queries)
        self._errors += errors.values()
        return {
            search: draw_places(
                located[lookup.query],
                most[search],
                self._seed,
                self._index.spec,
                with_replacement=False,
            )
            for search, lookup in chosen.items()
            if lookup.query in located
        }

    def _shown(self, nbytes: int) -> int:
        return shown_context(self._index, nbytes)

    def _fetch(self, wanted: Sequence[tuple[_TextSearch, Place, int]]) -> None:
        """Fetch the text around places, each with as many bytes on each side as is said."""
        places_of_reach: defaultdict[int, dict[Place, None]] = defaultdict(dict)
        for _, place, reach in wanted:
            places_of_reach[reach][place] = None
        # Calling `windows` starts the requests of a hosted index: call all, then collect.
        streams = {
            reach: self._index.windows(list(places), reach)
            for reach, places in places_of_reach.items()
        }
        windows = dict[tuple[Place, int], Window]()
        for reach, stream in streams.items():
            for window in self._collect(stream, places_of_reach[reach]):
                windows[window.place, reach] = window
        for search, place, reach in wanted:
            if (place, reach) in windows:
                search.add(windows[place, reach], reach)

    def _collect(
        self, stream: Iterator[Window | WindowFailure], places: Iterable[Place]
    ) -> list[Window]:
        """Return the windows of a stream; keep the errors of the others."""
        windows, failed_places = list[Window](), set[Place]()
        try:
            for window in stream:
                if isinstance(window, WindowFailure):
                    failed_places.add(window.place)
                    self._errors.append(window.error)
                else:
                    windows.append(window)
        except NgramscanError as error:  # the index as a whole
            answered = failed_places.union(window.place for window in windows)
            self._errors += [error for place in places if place not in answered]
        return windows


def _rounded_up(nbytes: int) -> int:
    """Return a number of few digits in base 2, so that texts of about one length are asked at once.

    >>> _rounded_up(300), _rounded_up(512), _rounded_up(700)
    (320, 512, 768)
    """
    step = 1 << max(0, nbytes.bit_length() - 3)
    return -(-nbytes // step) * step
