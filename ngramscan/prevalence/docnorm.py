"""Pattern sets × indexes → in how many documents, estimated from occurrences drawn at random.

Hosted and local suffix arrays number the occurrences of a pattern but do not know its documents. So
some occurrences are drawn and their documents looked at; how much a draw says is in `draws`, what
follows from all of them in `document_estimates`, the reasons in docs/documents.md. An index that
reads its documents counts them instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import (
    DocumentCounts,
    DocumentIndex,
    Found,
    Index,
    IndexSize,
    Place,
    QueryFailure,
    Window,
    WindowFailure,
)
from ngramscan.patterns.model import Query, Scope, scopes
from ngramscan.patterns.overlaps import merged_of_unions, nesting, union_of_occurrences
from ngramscan.prevalence.draws import Estimator, Share, document_share, draw_places
from ngramscan.prevalence.estimators import (
    DRAWS_FOR_VARIANCE,
    Bounds,
    Coincidences,
    Draws,
    coincidences,
    documents_of_draws,
    documents_of_union,
    is_without_replacement,
    ratio_of_documents,
    required_draws,
)
from ngramscan.prevalence.totals import Total
from ngramscan.statistics.estimates import Estimate

PILOT = 100
"""Draws from which it is seen how many are needed."""

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class NormOptions:
    """How documents are estimated; the options of the command."""

    samples: int = 200
    """Occurrences drawn per pattern."""
    target: float | None = None
    """Draw as many as an interval of ± this share of the estimate needs, instead of `samples`."""
    max_samples: int = 2000
    """With a target: no more per pattern."""
    estimator: Estimator = "combined"
    context: int = 10_000
    """Bytes of a document to look at on each side of an occurrence."""
    seed: int = 1
    keep_draws: bool = False
    """Return the draws too, with their text."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One row: in how many documents of one index a pattern occurs."""

    index: str
    method: str
    tier: str
    pattern: str
    occurrences: int
    samples: int | None
    """Draws; None: all documents were read."""
    documents: int
    documents_low: int | None
    documents_high: int | None
    """None: too few files were read for an interval."""
    occurrences_per_document: float | None
    """None: there is no document."""
    occurrences_per_document_low: float | None
    occurrences_per_document_high: float | None
    level: float
    estimator: str
    """`exact`: all documents were read, or all occurrences looked at."""
    truncated_share: float | None
    """Of the draws, whose document was not seen whole."""
    unique_documents: int | None
    """Among the draws."""
    seed: int | None
    standard_error: float | None
    """Of `documents`."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DrawRow:
    """One row: an occurrence that was drawn, and what was seen of its document."""

    index: str
    pattern: str
    draw: int
    """From 1; of one pattern."""
    shard: int
    rank: int
    document: str
    document_bytes: int
    offset: int | None
    """Bytes from the start of the document; None: not known, as the start was not seen."""
    cut: bool
    text: str
    text_offset: int
    """Of the occurrence in `text`, in bytes."""
    metadata: str


@dataclass(slots=True)
class Norming:
    """All that came of estimating documents."""

    queries: list[Query]
    options: NormOptions
    rows: list[DocumentRow] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    missing: list[QueryFailure] = field(default_factory=list)
    sizes: dict[str, IndexSize] = field(default_factory=dict)
    draws: list[DrawRow] = field(default_factory=list)


def norm_documents(
    queries: Sequence[Query], indexes: Sequence[Index], options: NormOptions
) -> Norming:
    """Estimate or count the documents of some queries in each index.

    What fails is in `missing`: a pattern of which a single draw can't be looked at has no row, as
    the documents that can't be shown may differ from the others.
    """
    norming = Norming(list(queries), options)
    # Services are asked by all samplers at once; corpora are read one after the other.
    samplers = {
        index.name: _Sampler(index, queries, options)
        for index in indexes
        if not isinstance(index, DocumentIndex)
    }
    for sampler in samplers.values():
        sampler.start()
    for index in indexes:
        if isinstance(index, DocumentIndex):
            documents = _read(index, queries, norming.missing)
        else:
            documents = samplers[index.name].finish(norming)
        norming.sizes[index.name] = index.size()
        norming.rows += _rows(index.name, queries, documents)
        norming.totals += _totals(index.name, queries, documents)
    return norming


@dataclass(frozen=True, slots=True)
class _Documents:
    """What one index says of the documents of one query."""

    bounds: Bounds
    estimator: str
    note: str = ""
    samples: int | None = None
    unique: int | None = None
    truncated_share: float | None = None
    seed: int | None = None

    @property
    def standard_error(self) -> float | None:
        """Of the documents; None where it is not made of draws."""
        return None if self.samples is None else self.bounds.standard_error


@dataclass(frozen=True, slots=True)
class _IndexDocuments:
    """What one index says of all."""

    occurrences: dict[str, int]
    queries: dict[str, _Documents]
    unions: dict[tuple[str, ...], Bounds]
    no_unions_note: str = ""


def _union_texts(scope: Scope) -> tuple[str, ...]:
    """Return the texts that the union of a scope is of: the documents of others are among them."""
    nested = nesting(scope.texts)
    return tuple(text for text in scope.texts if text not in nested)


def _unions(queries: Sequence[Query]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(_union_texts(scope) for scope in scopes(queries)))


def _texts(queries: Iterable[Query]) -> list[str]:
    return list(dict.fromkeys(query.text for query in queries))


# Indexes that read their documents


def _read(
    index: DocumentIndex, queries: Sequence[Query], missing: list[QueryFailure]
) -> _IndexDocuments:
    texts, unions = _texts(queries), _unions(queries)
    asked = [*texts, *merged_of_unions(queries)]
    try:
        known = index.document_counts(asked, unions)
    except NgramscanError as error:
        missing += [QueryFailure(index.name, text, error) for text in texts]
        return _IndexDocuments({}, {}, {})
    return _IndexDocuments(
        {count.query: count.occurrences for count in known.counts},
        {
            count.query: counted
            for count, counted in zip(known.counts, _counted(known), strict=True)
        },
        {
            union: bounds
            for union, estimate in zip(unions, known.unions, strict=True)
            if (bounds := Bounds(estimate, estimate)).has_limits
        },
        "no interval: too few files were read",
    )


def _counted(known: DocumentCounts) -> Iterator[_Documents]:
    for count in known.counts:
        estimate = count.documents_estimate
        if estimate is None:
            n = float(count.documents or 0)
            exact = Estimate(n, n, n, LEVEL)
            yield _Documents(Bounds(exact, exact), "exact", count.note)
        else:
            yield _Documents(Bounds(estimate, estimate), "files", count.note)


# Indexes that can be sampled


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is kept of a window."""

    document: str
    is_cut: bool
    shares: dict[tuple[str, ...], Share]


class _Sampler:
    """Draws occurrences of some queries in one index and looks at their documents."""

    def __init__(self, index: Index, queries: Sequence[Query], options: NormOptions) -> None:
        self._index = index
        self._queries = list(queries)
        self._options = options
        self._context = min(options.context, index.longest_context)
        self._found: dict[str, Found] = {}
        self._errors: dict[str, NgramscanError] = {}
        self._seen: dict[Place, _Seen] = {}
        self._windows: dict[Place, Window] = {}
        self._unions = _unions(queries)
        self._lookup: Iterator[Found | QueryFailure] = iter(())

    def start(self) -> None:
        """Ask where the queries are."""
        texts = [*_texts(self._queries), *merged_of_unions(self._queries)]
        self._lookup = self._index.find(texts)

    def finish(self, norming: Norming) -> _IndexDocuments:
        """Draw and look; what fails goes to `missing` of the norming, draws to its `draws`."""
        self._collect_found()
        texts = [text for text in _texts(self._queries) if text in self._found]
        first = min(PILOT, self._options.max_samples) if self._options.target else None
        draws = {text: self._draw(text, first or self._options.samples) for text in texts}
        self._look_at(draws)
        if self._options.target is not None:
            draws = {
                text: self._draw(text, self._needed(text, draws[text]))
                for text in texts
                if text not in self._errors
            }
            self._look_at(draws)
        norming.missing += [
            QueryFailure(self._index.name, text, error) for text, error in self._errors.items()
        ]
        done = {text: places for text, places in draws.items() if text not in self._errors}
        if self._options.keep_draws:
            norming.draws += self._draw_rows(done)
        return self._estimate(done)

    def _collect_found(self) -> None:
        try:
            for reply in self._lookup:
                if isinstance(reply, QueryFailure):
                    self._errors[reply.query] = reply.error
                else:
                    self._found[reply.query] = reply
        except NgramscanError as error:  # the index as a whole
            texts = _texts(self._queries)
            self._errors |= {text: error for text in texts if text not in self._found}

    # Drawing

    def _draw(self, text: str, n: int) -> list[Place]:
        found = self._found[text]
        repeated = self._options.estimator == "unique" or not is_without_replacement(
            n, found.occurrences
        )
        return draw_places(found, n, self._options.seed, self._index.name, repeated)

    def _needed(self, text: str, pilot: Sequence[Place]) -> int:
        assert self._options.target is not None
        if len(pilot) == self._found[text].occurrences:
            return len(pilot)
        most = max(self._options.max_samples, len(pilot))
        return required_draws(self._draws_of(text, (text,), pilot), self._options.target, most)

    # Looking

    def _look_at(self, draws: dict[str, list[Place]]) -> None:
        """Look at all places that were not looked at before."""
        places = dict.fromkeys(place for drawn in draws.values() for place in drawn)
        left = [place for place in places if place not in self._seen]
        for window in self._index.windows(left, self._context):
            if isinstance(window, WindowFailure):
                self._errors.setdefault(window.place.query, window.error)
            else:
                self._keep(window)

    def _keep(self, window: Window) -> None:
        query = window.place.query
        sets = [(query,), *(union for union in self._unions if query in union and len(union) > 1)]
        estimator = self._options.estimator
        shares = {
            texts: document_share(
                window, [text.encode() for text in texts], self._context, estimator
            )
            for texts in sets
            if estimator != "unique"
        }
        self._seen[window.place] = _Seen(window.document, window.is_cut, shares)
        if self._options.keep_draws:
            self._windows[window.place] = window

    def _draws_of(self, text: str, of: tuple[str, ...], places: Sequence[Place]) -> Draws:
        shares = [self._seen[place].shares[of] for place in places]
        return Draws.of(shares, self._found[text].occurrences)

    # Estimating

    def _estimate(self, draws: dict[str, list[Place]]) -> _IndexDocuments:
        occurrences = {text: found.occurrences for text, found in self._found.items()}
        queries = {text: self._of_query(text, places) for text, places in draws.items()}
        if self._options.estimator == "unique":
            return _IndexDocuments(occurrences, queries, {}, "not from repeated documents")
        unions = {
            union: self._of_union(union, draws)
            for union in self._unions
            if all(text in draws for text in union)
        }
        return _IndexDocuments(occurrences, queries, unions, "draws of a pattern are missing")

    def _of_query(self, text: str, places: list[Place]) -> _Documents:
        total = self._found[text].occurrences
        seen = [self._seen[place] for place in places]
        unique = len({one.document for one in seen})
        note, estimator = "", self._options.estimator
        if len(places) == total:
            bounds, estimator_name = _exactly(unique), "exact"
        elif estimator == "unique":
            repeated = coincidences([one.document for one in seen], LEVEL)
            bounds, estimator_name = _of_repeats(repeated, total), estimator
            note = _describe_repeats(repeated)
        else:
            draws = self._draws_of(text, (text,), places)
            bounds, estimator_name = documents_of_draws(draws, unique, LEVEL), estimator
            note = _describe_draws(bounds, len(places), total)
        return _Documents(
            bounds=bounds,
            estimator=estimator_name,
            note=note,
            samples=len(places),
            unique=unique,
            truncated_share=sum(one.is_cut for one in seen) / len(seen) if seen else None,
            seed=self._options.seed,
        )

    def _of_union(self, union: tuple[str, ...], draws: dict[str, list[Place]]) -> Bounds:
        there = [text for text in union if self._found[text].occurrences]
        places = [place for text in there for place in draws[text]]
        unique = len({self._seen[place].document for place in places})
        if all(len(draws[text]) == self._found[text].occurrences for text in there):
            return _exactly(unique)
        of = union
        return documents_of_union(
            [self._draws_of(text, of, draws[text]) for text in there], unique, LEVEL
        )

    def _draw_rows(self, draws: dict[str, list[Place]]) -> Iterator[DrawRow]:
        for text, places in draws.items():
            for number, place in enumerate(places, 1):
                window = self._windows[place]
                yield DrawRow(
                    index=self._index.name,
                    pattern=text,
                    draw=number,
                    shard=place.shard,
                    rank=place.rank,
                    document=window.document,
                    document_bytes=window.document_bytes,
                    offset=window.offset if window.starts_document else None,
                    cut=window.is_cut,
                    text=window.text.decode(),
                    text_offset=window.offset,
                    metadata=window.metadata,
                )


def _exactly(documents: int) -> Bounds:
    exact = Estimate(documents, documents, documents, LEVEL)
    return Bounds(exact, exact)


def _of_repeats(repeats: Coincidences, occurrences: int) -> Bounds:
    """Return T U/K, as the paper has it, between what is certain."""
    value = occurrences / repeats.ratio
    estimate = Estimate(value, repeats.documents_at_least, occurrences, repeats.level)
    return Bounds(estimate, estimate)


def _describe_repeats(repeats: Coincidences) -> str:
    return (
        f"K/U = {repeats.draws}/{repeats.unique_documents}, {repeats.pairs} coinciding pairs: says"
        " nothing about occurrences per document (1 and 15 look alike), only that there are at"
        f" least {repeats.documents_at_least:,.0f} documents"
    )


LEANS_NOTE = (
    "the draws hardly vary: more than half of the interval's width comes from one added draw of"
    " share 1"
)


def _describe_interval(bounds: Bounds) -> str:
    return LEANS_NOTE if bounds.leans_on_added_draw else bounds.lower.note


def _describe_draws(bounds: Bounds, n: int, total: int) -> str:
    notes = []
    if n < DRAWS_FOR_VARIANCE:
        notes.append(f"fewer than {DRAWS_FOR_VARIANCE} draws: the interval is the guaranteed one")
    if is_without_replacement(n, total):
        notes.append("drawn without replacement")
    if bounds.leans_on_added_draw:
        notes.append(LEANS_NOTE)
    if bounds.lower.value < bounds.upper.value:
        low, high = bounds.lower.value, bounds.upper.value
        notes.append(
            f"documents not seen whole: the estimate is between {low:,.0f} and {high:,.0f},"
            " the middle is given"
        )
    return "; ".join(notes)


# Rows


def _rows(
    index: str, queries: Sequence[Query], documents: _IndexDocuments
) -> Iterator[DocumentRow]:
    for query in queries:
        if query.text not in documents.queries:
            continue
        known = documents.queries[query.text]
        occurrences, bounds = documents.occurrences[query.text], known.bounds
        low, high = _outward(bounds)
        per_document = _per_document(occurrences, bounds.value, low, high)
        yield DocumentRow(
            index=index,
            method=query.pattern.method,
            tier=query.pattern.tier,
            pattern=query.text,
            occurrences=occurrences,
            samples=known.samples,
            documents=round(bounds.value),
            documents_low=low,
            documents_high=high,
            occurrences_per_document=per_document[0],
            occurrences_per_document_low=per_document[1],
            occurrences_per_document_high=per_document[2],
            level=bounds.level,
            estimator=known.estimator,
            truncated_share=known.truncated_share,
            unique_documents=known.unique,
            seed=known.seed,
            standard_error=known.standard_error,
            note=known.note,
        )


def _outward(bounds: Bounds) -> tuple[int | None, int | None]:
    """Return whole documents as limits; near the end of a small population only those cover."""
    if not bounds.has_limits:
        return None, None
    return math.floor(bounds.low), math.ceil(bounds.high)


def _per_document(
    occurrences: int, documents: float, low: float | None, high: float | None
) -> tuple[float | None, float | None, float | None]:
    """Return occurrences per document, with limits; None: infinite, or there is no document."""
    if not documents:
        return None, None, None
    return (
        occurrences / documents,
        occurrences / high if high else None,
        occurrences / low if low else None,
    )


# Totals


def _totals(index: str, queries: Sequence[Query], documents: _IndexDocuments) -> list[Total]:
    totals: list[Total] = []
    of_scopes = [(scope, documents.unions.get(_union_texts(scope))) for scope in scopes(queries)]
    for scope, bounds in of_scopes:
        totals += _of_one(index, scope, bounds, documents)
    for (earlier, other), (later, one) in combinations(of_scopes, 2):
        if earlier.tiers == later.tiers:
            totals.append(_of_two(index, (later, one), (earlier, other), documents))
    return totals


def _of_one(
    index: str, scope: Scope, bounds: Bounds | None, documents: _IndexDocuments
) -> Iterator[Total]:
    union = union_of_occurrences(scope.texts, documents.occurrences)
    keys = (index, scope.tiers, scope.method, None)
    note = "" if union is not None else "a count is missing"
    yield Total(*keys, "union_of_occurrences", union, note=note)
    if bounds is None:
        yield Total(*keys, "documents", None, note=documents.no_unions_note)
        return
    limits, note = _outward(bounds), _describe_interval(bounds)
    yield Total(*keys, "documents", bounds.value, *limits, bounds.level, note)
    if union and bounds.value:
        per_document = _per_document(union, bounds.value, *limits)
        yield Total(*keys, "occurrences_per_document", *per_document, bounds.level, note)


def _of_two(
    index: str,
    one: tuple[Scope, Bounds | None],
    other: tuple[Scope, Bounds | None],
    documents: _IndexDocuments,
) -> Total:
    keys = (index, one[0].tiers, one[0].method, other[0].method, "ratio_of_documents")
    if one[1] is None or other[1] is None:
        return Total(*keys, None, note=documents.no_unions_note)
    ratio = ratio_of_documents(one[1], other[1])
    if ratio is None:
        return Total(*keys, None, note="a method may have no document")
    high = ratio.high if math.isfinite(ratio.high) else None
    return Total(*keys, ratio.value, ratio.low, high, ratio.level, _describe_interval(ratio))
