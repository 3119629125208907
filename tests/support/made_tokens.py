"""A token-level index of a few documents of made-up tokens, searched by enumeration."""

from collections.abc import Iterator, Mapping, Sequence

from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import (
    Cost,
    CountSource,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Segment,
    Unit,
    Window,
    WindowFailure,
    requests_at,
)
from ngramscan.indexes.tokens.base import (
    Form,
    MarkedWindow,
    TokenOccurrences,
    TokenWindow,
    as_count,
    as_text,
)

Ids = tuple[int, ...]
REACH = 5_000
"""Tokens that are shown before an occurrence, and from its first one on."""


class MadeTokens:
    """Documents of tokens in shards, and the n-grams of each query: after a space, at a line.

    As a service, it is called `infini-gram:made` and marks occurrences; a service shows no tokens.
    """

    unit: Unit = "tokens"
    longest_context = 10_000

    def __init__(
        self,
        shards: Sequence[Sequence[Sequence[int]]],
        queries: Mapping[str, Sequence[Ids]],
        *,
        is_service: bool = False,
        lost: Sequence[str] = (),
        unseen: Sequence[str] = (),
    ) -> None:
        """Take the documents, the queries, and those that can't be looked up or examined."""
        self.name = self.spec = "infini-gram:made" if is_service else "tokens:made"
        self.texts = [[as_text(ids) for ids in shard] for shard in shards]
        self.shows_tokens = not is_service
        self._queries, self._is_service, self._lost, self._unseen = (
            queries,
            is_service,
            lost,
            unseen,
        )
        self._ranks: list[list[tuple[int, int]]] = [[] for _ in shards]
        self._known: dict[Ids, Form] = {}
        self.asked: list[str] = []
        self.looked_at = [0, 0]
        """Places whose document was asked for, and those whose tokens were."""

    def size(self) -> IndexSize:
        tokens = sum(len(text) for shard in self.texts for text in shard)
        return IndexSize(documents=sum(map(len, self.texts)), tokens=tokens)

    def cost(self, lookups: Sequence[str], windows: int, _: int) -> Cost:
        return requests_at(1, 3 * len(lookups) + 2 * windows) if self._is_service else Cost()

    def lookups(self, queries: Sequence[str]) -> Iterator[TokenOccurrences | QueryFailure]:
        self.asked += queries
        return map(self._found, queries)

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        for one in self.lookups(queries):
            yield as_count(one) if isinstance(one, TokenOccurrences) else one

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        for one in self.lookups(queries):
            yield one.found if isinstance(one, TokenOccurrences) else one

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        raise NotImplementedError

    def examine(
        self, places: Sequence[Place], forms: Mapping[str, Sequence[Form]]
    ) -> Iterator[TokenWindow | MarkedWindow | WindowFailure]:
        for place in reversed(places):  # any order is allowed
            self.looked_at[bool(forms)] += 1
            if place.query in self._unseen:
                yield WindowFailure(place, RemoteUnavailable("no window"))
            else:
                yield self._window(place, forms.get(place.query, ()))

    def _found(self, query: str) -> TokenOccurrences | QueryFailure:
        if query in self._lost:
            return QueryFailure(self.name, query, RemoteUnavailable("engine crashed"))
        forms = [self._form(ids) for ids in self._queries.get(query, [(97, 98)])]
        source: CountSource = "api" if self._is_service else "tokens"
        return TokenOccurrences(query, forms[0], [*forms, None][1], source, "t")

    def _form(self, ids: Ids) -> Form:
        if ids not in self._known:
            segments, needle = [], as_text(ids)
            for shard, texts in enumerate(self.texts):
                low, ranks = len(self._ranks[shard]), self._ranks[shard]
                for number, text in enumerate(texts):
                    ranks += [(number, start) for start in starts([needle], text)]
                if len(ranks) > low:
                    segments.append(Segment(shard, low, len(ranks)))
            self._known[ids] = Form(ids, tuple(segments))
        return self._known[ids]

    def _window(self, place: Place, forms: Sequence[Form]) -> TokenWindow | MarkedWindow:
        number, start = self._ranks[place.shard][place.rank]
        text, document = self.texts[place.shard][number], f"{place.shard}/{number}"
        before, after = (REACH, REACH) if forms else (0, 1)
        low, high = max(0, start - before), min(len(text), start + after)
        shown = text[low:high]
        if not self._is_service:
            return TokenWindow(place, document, len(text), shown, start - low, low == 0)
        if not forms:
            return MarkedWindow(place, document, 1, 1)
        # An occurrence may begin at each token that is hidden, or before it across the edge.
        marked, longest = len(starts([one.text for one in forms], shown)), len(forms[0].ids)
        hidden = len(text) - len(shown)
        return MarkedWindow(place, document, marked, marked + hidden + longest * (hidden > 0))


def starts(needles: Sequence[str], text: str) -> list[int]:
    """Return where any of some n-grams begins."""
    found = set[int]()
    for needle in needles:
        start = text.find(needle)
        while start >= 0:
            found.add(start)
            start = text.find(needle, start + 1)
    return sorted(found)
