"""Counts by rules in hosted indexes, which find exact texts only.

Any white space and any case are counted by the forms in which a text is usually written, which is a
lower bound. Whether an occurrence is a whole word shows in the text around it: all occurrences are
looked at where they are few. Otherwise some are drawn at random, and the share of whole words among
them estimates how many there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ngramscan.errors import IndexFormatError, NgramscanError
from ngramscan.indexes.base import (
    Cost,
    Index,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Unit,
    Window,
    WindowFailure,
)
from ngramscan.indexes.kinds import is_hosted
from ngramscan.matching.rules import MatchRule
from ngramscan.matching.word_ends import is_whole
from ngramscan.matching.written_forms import (
    WRITTEN_SPACES,
    cased_forms,
    spaced_forms,
    written_forms,
)
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.draws import DRAWS, draw_places
from ngramscan.rows import Note
from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.proportions import finite_share

LEVEL = 0.95
_CONTEXT = 100
"""Bytes on each side of a draw: far more than a character, which is enough."""
_LARGE = 10_000_000
_LARGE_PER_DRAW = 10_000
"""Populations this large have the limits of all larger ones, to a ten-thousandth."""
_LOWER_BOUND = Note(
    "a lower bound: the sum of the usual forms of a text, which its row names", "general"
)


class CountsByForms:
    """A hosted index that counts by a rule; everything else is that of the index itself.

    `draws` occurrences of a query are drawn to see how many of all are whole words.
    """

    def __init__(self, index: Index, rule: MatchRule, draws: int = DRAWS, seed: int = 1) -> None:
        self.name = index.name
        self.draws = draws
        self._index, self._rule, self._seed = index, rule, seed

    @property
    def spec(self) -> str:
        """The spec, or the name in the catalog."""
        return self._index.spec

    @property
    def unit(self) -> Unit:
        """Bytes."""
        return self._index.unit

    @property
    def longest_context(self) -> int:
        """The most bytes on each side of an occurrence that a window can have."""
        return self._index.longest_context

    def size(self) -> IndexSize:
        """Return the size as far as it is known."""
        return self._index.size()

    def forms_of(self, queries: Sequence[str]) -> list[str]:
        """Return the exact texts to count for some queries, each once."""
        forms = (form for query in queries for form in written_forms(query, self._rule))
        return list(dict.fromkeys(forms))

    def windows_at_most(self, queries: Sequence[str]) -> int:
        """Return how many occurrences are looked at, if each query has enough."""
        return self.draws * len(queries) if self._rule.whole_words else 0

    def cost(self, lookups: Sequence[str], windows: int, context: int) -> Cost:
        """Estimate the work of counting some texts by the rule, and of fetching windows.

        Forms of which occurrences may be drawn are counted first, and then located.
        """
        forms = self.forms_of(lookups)
        located = forms if self._rule.whole_words else []
        all_windows = windows + self.windows_at_most(lookups)
        return self._index.cost([*forms, *located], all_windows, context)

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Start to count the forms of all queries; yield the counts by the rule.

        A query whose forms or draws can't all be examined fails.
        """
        forms = self.forms_of(queries)
        return self._counts_by_rule(queries, forms, self._index.counts(forms))

    def _counts_by_rule(
        self,
        queries: Sequence[str],
        forms: Sequence[str],
        stream: Iterator[QueryCount | QueryFailure],
    ) -> Iterator[QueryCount | QueryFailure]:
        counts, errors = collect_replies(stream, forms)
        counts_by_query = dict[str, list[QueryCount]]()
        for query in queries:
            forms_of_query = written_forms(query, self._rule)
            failed_forms = [form for form in forms_of_query if form in errors]
            if failed_forms:
                yield QueryFailure(self.name, query, errors[failed_forms[0]])
            else:
                counts_by_query[query] = [counts[form] for form in forms_of_query]
        if self._rule.whole_words:
            yield from self._whole_words(counts_by_query)
            return
        for query, form_counts in counts_by_query.items():
            yield self._count(query, form_counts, sum(count.occurrences for count in form_counts))

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        """Start to look up the exact texts of all queries; yield where each occurs."""
        return self._index.find(queries)

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Start to fetch the text around some occurrences, and yield each."""
        return self._index.windows(places, context)

    # Whole words

    def _whole_words(
        self, counts_by_query: Mapping[str, Sequence[QueryCount]]
    ) -> Iterator[QueryCount | QueryFailure]:
        """Yield how many occurrences of each query are whole words."""
        all_counts = [count for counts in counts_by_query.values() for count in counts]
        forms = list(dict.fromkeys(count.query for count in all_counts if count.occurrences))
        located, errors = collect_replies(self._index.find(forms), forms) if forms else ({}, {})
        places_by_query = dict[str, list[Place]]()
        for query, counts in counts_by_query.items():
            try:
                places_by_query[query] = self._draw(query, counts, located, errors)
            except NgramscanError as error:
                yield QueryFailure(self.name, query, error)
        places = dict.fromkeys(
            place for drawn_places in places_by_query.values() for place in drawn_places
        )
        windows = dict[Place, Window]()
        failed_places = dict[Place, NgramscanError]()
        for window in self._index.windows(list(places), _CONTEXT) if places else ():
            if isinstance(window, WindowFailure):
                failed_places[window.place] = window.error
            else:
                windows[window.place] = window
        for query, drawn_places in places_by_query.items():
            lost_places = [place for place in drawn_places if place in failed_places]
            if lost_places:
                yield QueryFailure(self.name, query, failed_places[lost_places[0]])
                continue
            are_whole = [_is_whole_word(windows[place]) for place in drawn_places]
            yield self._estimate(query, counts_by_query[query], sum(are_whole), len(drawn_places))

    def _draw(
        self,
        query: str,
        counts: Sequence[QueryCount],
        located: Mapping[str, Occurrences],
        errors: Mapping[str, NgramscanError],
    ) -> list[Place]:
        """Draw occurrences of any form of a query, each at most once; all if they are few."""
        of_forms = list[Occurrences]()
        for count in counts:
            if not count.occurrences:
                continue
            if count.query in errors:
                raise errors[count.query]
            of_form = located[count.query]
            if of_form.occurrences != count.occurrences:
                problem = f"{of_form.occurrences:,} places of {count.query!r}, but a count of"
                raise IndexFormatError(self.name, f"{problem} {count.occurrences:,}")
            of_forms.append(of_form)
        segments = tuple(segment for of_form in of_forms for segment in of_form.segments)
        of_query = Occurrences(query, segments)
        drawn_places = draw_places(
            of_query, self.draws, self._seed, self.spec, with_replacement=False
        )
        return [Place(_form_at(place, of_forms), place.shard, place.rank) for place in drawn_places]

    def _estimate(
        self, query: str, form_counts: Sequence[QueryCount], n_whole: int, n_drawn: int
    ) -> QueryCount:
        """Return how many occurrences are whole words, where `n_whole` of those drawn are."""
        n_all = sum(count.occurrences for count in form_counts)
        if n_drawn == n_all:
            return self._count(query, form_counts, n_whole)
        estimate = whole_word_estimate(n_whole, n_drawn, n_all)
        return self._count(query, form_counts, round(estimate.value), estimate, n_drawn)

    # Counts

    def _count(
        self,
        query: str,
        form_counts: Sequence[QueryCount],
        occurrences: int,
        estimate: Estimate | None = None,
        n_drawn: int = 0,
    ) -> QueryCount:
        is_stored = all(count.source == "journal" for count in form_counts)
        notes = [Note(text, "index") for text in self._rule.notes]
        if len(form_counts) > 1:
            notes += [_LOWER_BOUND, Note(_describe_forms(query, self._rule), "query")]
        if estimate:
            n_all = sum(count.occurrences for count in form_counts)
            drawn_from = f"{n_all:,} occurrences, whole words or not"
            notes += [
                Note(f"estimated from {n_drawn} draws, with {LEVEL:.0%} limits", "general"),
                Note(f"drawn from {drawn_from}", "query"),
            ]
        return QueryCount(
            query=query,
            occurrences=occurrences,
            documents=None,
            source="journal" if is_stored else "api",
            asked_at=max(count.asked_at for count in form_counts),
            occurrences_estimate=estimate,
            notes=tuple(notes),
        )


def follow_rule(
    indexes: Sequence[Index], rule: MatchRule, draws: int | None, seed: int
) -> list[Index]:
    """Return indexes that count by a rule: hosted ones by forms and draws, others as they are."""
    if rule.is_exact:
        return [*indexes]
    return [
        CountsByForms(index, rule, draws or DRAWS, seed) if is_hosted(index.spec) else index
        for index in indexes
    ]


def whole_word_estimate(n_whole: int, n_drawn: int, n_all: int) -> Estimate:
    """Estimate how many of all occurrences are whole words, from some drawn without replacement.

    Parameters
    ----------
    n_whole : int
        Whole words among the draws.
    n_drawn : int
        Draws.
    n_all : int
        All occurrences, which are more than the draws.
    """
    population = min(n_all, max(_LARGE, _LARGE_PER_DRAW * n_drawn))
    share = finite_share(n_whole, n_drawn, population, LEVEL)
    low, high = share.limits
    # What was drawn is known; rounding must not contradict it.
    return Estimate(
        share.value * n_all,
        low=float(max(round(low * n_all), n_whole)),
        high=float(min(round(high * n_all), n_all - n_drawn + n_whole)),
        level=LEVEL,
    )


def _form_at(place: Place, of_forms: Sequence[Occurrences]) -> str:
    """Return the form at a place; no two forms share one."""
    return next(
        of_form.query
        for of_form in of_forms
        for segment in of_form.segments
        if segment.shard == place.shard and segment.low <= place.rank < segment.high
    )


def _is_whole_word(window: Window) -> bool:
    return is_whole(window.text, window.offset, window.stop)


def _describe_forms(query: str, rule: MatchRule) -> str:
    """Return the forms of a query in words: its cases, and white space for all its spaces."""
    parts = list[str]()
    if rule.ignore_case:
        parts.append("forms " + ", ".join(map(_quoted, cased_forms(query))))
    n_spaced_forms = len(spaced_forms(query)) if rule.any_space else 1
    if n_spaced_forms > 1:
        spaces = list(map(_quoted, WRITTEN_SPACES))
        if n_spaced_forms > len(WRITTEN_SPACES):
            spaces.insert(0, "as typed")
        parts.append("white space " + ", ".join(spaces))
    return " with ".join(parts)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
