"""Patterns × indexes → the shares of each source among the occurrences and documents.

A scan counts all sources in one pass. A local index with metadata looks up the documents of all
occurrences, where they are few. Elsewhere occurrences are drawn at random, and the metadata of
their documents are read: `source_shares` has the limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from ngramscan.errors import InputError, NgramscanError, some_of
from ngramscan.indexes.base import (
    CountsBySource,
    Index,
    IndexSize,
    Locates,
    QueryFailure,
    ReadsMetadata,
    SourceCounts,
)
from ngramscan.indexes.tokens.base import TokenOccurrences, is_token_level
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.messages import OptionUse
from ngramscan.patterns.model import Query
from ngramscan.prevalence.count import collect_replies, notes_on_ngrams, shared_notes
from ngramscan.prevalence.draws import (
    DRAWS,
    EXACT_UP_TO,
    DocnormOptions,
    LocatedQuery,
    Seen,
    draw_occurrences,
)
from ngramscan.prevalence.metadata import document_fields
from ngramscan.prevalence.source_shares import (
    DRAWS_FOR_A_LOWER_LIMIT,
    LEVEL,
    SourceDraw,
    SourceShare,
    estimate_source_shares,
    exact_share,
    exact_source_shares,
)
from ngramscan.reading.document_fields import (
    UNREADABLE,
    URL_HOST,
    YEAR,
    field_names_of,
    source_value,
)
from ngramscan.rows import Label, Note, Plot, Share, join_notes, row_kind
from ngramscan.statistics.estimates import Estimate, fields_of

MISSING = "(none)"
"""The name of the documents without the field."""
_TOGETHER = Note("the limits hold for all values of a phrase together", "query")
"""In rows; the table says it with the level of the limits."""
_HIDDEN = Note("documents: unknown, as parts of them are hidden", "query")


@row_kind(
    "sources",
    "Sources of occurrences",
    Plot(
        "occurrence_share",
        panel=("index", "query"),
        label=("value",),
        scale="share",
    ),
    key=("all_occurrences", "document_share"),
    may_lack=(
        "method",
        "tier",
        "kind",
        "occurrence_share_low",
        "occurrence_share_high",
        "document_share",
    ),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """The share of one source among the occurrences of a query in one index."""

    index: Label
    unit: Label
    """`bytes`: occurrences of the string; `tokens`: those of its n-grams of tokens."""
    method: Label | None
    """None, like the next two: a literal that was given alone, outside a pattern set."""
    tier: Label | None
    kind: Label | None
    pattern: Label
    query: Label
    """The string whose occurrences were counted or drawn."""
    by: Label
    """The field of the metadata that names the source, `url-host` or `year`."""
    value: Label
    """The source; `(none)`: documents without the field; `(unreadable)`: their URL has no host, or
    their date no year."""
    is_missing: bool
    """The documents have no such field, or an empty one."""
    is_unreadable: bool = False
    """The field holds something, but no host or year."""
    occurrences: int
    """In the documents of the source; from draws or a sample of files, the rounded estimate."""
    all_occurrences: int
    """In the whole index; from a sample of files, the rounded estimate."""
    documents: int | None
    """Documents of the source with the query; None: they depend on hidden parts of documents."""
    occurrence_share: Share
    """Among the occurrences in the whole index."""
    occurrence_share_low: Share | None
    """Limits, like those of the documents; None: the share is exact, or too few files have the
    source or others, as `note` says."""
    occurrence_share_high: Share | None
    document_share: Share | None
    """Among the documents with the query in the whole index; None where `documents` is."""
    document_share_low: Share | None
    document_share_high: Share | None
    source_documents: int | None = None
    """All documents of the source; None, like the next two: the index was not read whole."""
    source_bytes: int | None = None
    """Bytes of their texts, in UTF-8."""
    per_gigabyte: float | None = None
    """Occurrences per gigabyte (10⁹ bytes) of the source's text."""
    draws: int | None = None
    """Occurrences of the query that were drawn, in all sources; None: all were looked up, or all
    in a sample of files."""
    estimated: bool = False
    """From draws or a sample of files: the numbers are rounded estimates."""
    level: float | None = None
    """Confidence level of the limits of all values together; None: the shares are exact."""
    seed: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class SourcesOptions:
    """How sources are looked up: the options of the command, which describes them."""

    by: str
    draws: int = DRAWS
    seed: int = 1
    exact_up_to: int = EXACT_UP_TO

    @property
    def docnorm(self) -> DocnormOptions:
        """How occurrences are drawn."""
        return DocnormOptions(draws=self.draws, seed=self.seed, exact_up_to=self.exact_up_to)


@dataclass(frozen=True, slots=True)
class SourcesResult:
    """The sources of some queries in some indexes."""

    rows: list[SourceRow] = field(default_factory=list)
    """By index and query, those with most occurrences first."""
    missing: list[QueryFailure] = field(default_factory=list)
    absent: list[tuple[str, str]] = field(default_factory=list)
    """Index and query where the query does not occur: there is no source."""
    sizes: dict[str, IndexSize] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)
    """Per index, the notes of its rows that are not about a single query."""


def run_sources(
    queries: Sequence[Query],
    indexes: Sequence[Index],
    options: SourcesOptions,
    rule: MatchRule = EXACT,
) -> SourcesResult:
    """Count or estimate the occurrences and documents of some queries by source, in each index.

    Indexes over tokens come last. Queries that fail are in `missing`. An InputError says that no
    document of an index has the field, and which fields there are.
    `rule` says what the indexes count.
    """
    refuse_without_metadata(indexes)
    texts = list(dict.fromkeys(query.text for query in queries))
    # All services are asked at the same time; corpora are read one after the other.
    ordered = sorted(indexes, key=attrgetter("unit"))
    placed = [index for index in ordered if not isinstance(index, CountsBySource)]
    lookups = {index.name: stream for index, stream in _start_lookups(texts, placed)}
    result = SourcesResult()
    for index in ordered:
        if isinstance(index, CountsBySource):
            _add_counted(result, index, queries, options)
        else:
            located, errors = collect_replies(lookups[index.name], texts)
            result.missing.extend(
                QueryFailure(index.name, text, error) for text, error in errors.items()
            )
            _add_located(result, index, queries, located, options, rule)
        result.sizes[index.name] = index.size()
    return result


def _start_lookups(
    texts: Sequence[str], indexes: Sequence[Index]
) -> list[tuple[Index, Iterator[Any]]]:
    """Start to look up some texts in each index; an index over tokens finds their n-grams."""
    return [
        (index, index.lookups(texts) if is_token_level(index) else index.find(texts))
        for index in indexes
    ]


def refuse_without_metadata(indexes: Sequence[Index]) -> None:
    """Raise an InputError for an index over tokens that does not show metadata of documents."""
    for index in indexes:
        if index.unit == "tokens" and not isinstance(index, ReadsMetadata):
            problem = "a hosted index over tokens shows no metadata; give a folder, tokens:DIR"
            raise InputError(OptionUse("index", index.name), problem)


# An index that reads its documents


def _add_counted(
    result: SourcesResult, index: Any, queries: Sequence[Query], options: SourcesOptions
) -> None:
    by = options.by
    texts = list(dict.fromkeys(query.text for query in queries))
    try:
        counts = index.source_counts(texts, by)
    except NgramscanError as error:
        if error.exit_code == InputError.exit_code:
            raise
        result.missing.extend(QueryFailure(index.name, text, error) for text in texts)
        return
    if all(source.value is None for source in counts.sources):
        raise _no_field(index.name, by, counts.field_names)
    result.notes[index.name] = list(counts.notes)
    for query in queries:
        number = texts.index(query.text)
        if number in counts.occurrences:
            result.rows.extend(_counted_rows(index.name, query, number, counts, options))
        else:
            result.absent.append((index.name, query.text))


def _counted_rows(
    index: str, query: Query, number: int, counts: SourceCounts, options: SourcesOptions
) -> list[SourceRow]:
    """Return the rows of the sources in which a query occurs."""
    sources = [source for source in counts.sources if number in source.occurrences]
    documents = sum(source.documents_with_query[number] for source in sources)
    rows = list[SourceRow]()
    for source in sources:
        occurrences = source.occurrences[number]
        in_documents = source.documents_with_query[number]
        is_estimated = number in source.occurrence_shares
        if is_estimated:
            share = source.occurrence_shares[number]
            document_share = source.document_shares[number]
        else:
            share = exact_share(occurrences, counts.occurrences[number])
            document_share = exact_share(in_documents, documents)
        row = SourceRow(
            index=index,
            unit="bytes",
            **_names_of(query, options.by, source.value),
            occurrences=occurrences,
            all_occurrences=counts.occurrences[number],
            documents=in_documents,
            **_shares_of(share, document_share, is_exact=not is_estimated),
            source_documents=source.documents,
            source_bytes=source.bytes,
            per_gigabyte=occurrences / source.bytes * 1e9 if source.bytes else None,
            estimated=is_estimated,
            seed=options.seed if is_estimated else None,
            note=join_notes([*counts.notes, *_notes_on_files(share, document_share)]),
        )
        rows.append(row)
    return sorted(rows, key=_by_occurrences)


def _notes_on_files(share: Estimate, document_share: Estimate) -> Iterator[Note]:
    """Yield how the limits from a sample of files hold, or why there are none to rely on."""
    if share.low is not None and share.low != share.high:
        yield _TOGETHER
    if share.note:
        yield Note(share.note, "query")
    is_told = (document_share.low is None, document_share.is_trusted) == (
        share.low is None,
        share.is_trusted,
    )
    if document_share.note and not is_told:
        yield Note(f"documents: {document_share.note}", "query")


# An index whose occurrences are looked up, all of them or draws


@dataclass(slots=True)
class _LookedUp:
    """The sources of some queries in an index, as far as they are known."""

    shares: dict[str, list[SourceShare]] = field(default_factory=dict)
    """By query."""
    draws: dict[str, int] = field(default_factory=dict)
    """How many occurrences of a query were drawn; of others, all were looked up."""
    fields: list[Mapping[str, Any]] = field(default_factory=list)
    """The metadata of the documents that were read."""
    failed: dict[str, NgramscanError] = field(default_factory=dict)


def _add_located(
    result: SourcesResult,
    index: Index,
    queries: Sequence[Query],
    located: Mapping[str, LocatedQuery],
    options: SourcesOptions,
    rule: MatchRule,
) -> None:
    looked_up = _look_up(index, [each for each in located.values() if each.occurrences], options)
    shares = [share for each in looked_up.shares.values() for share in each]
    if shares and all(share.value is None for share in shares):
        names = (name for fields in looked_up.fields for name in field_names_of(fields))
        raise _no_field(index.name, options.by, [*dict.fromkeys(names)])
    result.missing.extend(
        QueryFailure(index.name, text, error) for text, error in looked_up.failed.items()
    )
    notes = list[Sequence[Note]]()
    for query in queries:
        if query.text in located and not located[query.text].occurrences:
            result.absent.append((index.name, query.text))
        if query.text in looked_up.shares:
            rows = _located_rows(index, query, located[query.text], looked_up, options, rule)
            result.rows.extend(row for row, _ in rows)
            notes += [notes_of_row for _, notes_of_row in rows]
    result.notes[index.name] = shared_notes(notes)


def _look_up(
    index: Index, located_queries: Sequence[LocatedQuery], options: SourcesOptions
) -> _LookedUp:
    """Look up the sources of all occurrences of a query where they are few, or of draws."""
    looked_up = _LookedUp()
    few = [located for located in located_queries if _are_few(index, located, options)]
    for located in few:
        try:
            source_draws, fields_of_query = _all_draws(index, located, options.by)
        except NgramscanError as error:
            looked_up.failed[located.query] = error
        else:
            looked_up.shares[located.query] = exact_source_shares(source_draws)
            looked_up.fields += fields_of_query
    many = [located for located in located_queries if located not in few]
    seen_by_text, failed = draw_occurrences(index, many, [], options.docnorm)
    looked_up.failed |= failed
    occurrences = {located.query: located.occurrences for located in many}
    for text, seen_by_index in seen_by_text.items():
        try:
            seen = _with_metadata(index, seen_by_index)
        except NgramscanError as error:
            looked_up.failed[text] = error
            continue
        source_draws, fields_of_query = _source_draws(text, seen, options.by)
        looked_up.shares[text] = estimate_source_shares(source_draws, occurrences[text])
        looked_up.draws[text] = len(seen)
        looked_up.fields += fields_of_query
    return looked_up


def _are_few(index: Index, located: LocatedQuery, options: SourcesOptions) -> bool:
    """Tell whether the documents of all occurrences are looked up."""
    can_look_up = isinstance(index, Locates) and isinstance(index, ReadsMetadata)
    return can_look_up and located.occurrences <= options.exact_up_to


def _all_draws(
    index: Any, located: LocatedQuery, by: str
) -> tuple[list[SourceDraw], list[Mapping[str, Any]]]:
    """Return all occurrences with their sources, and the fields of their documents."""
    of_occurrences = index.documents_of(located.found)
    documents = np.unique(of_occurrences)
    fields = [document_fields(line) for line in index.metadata_of(documents)]
    values = {
        document: source_value(of_document, by)
        for document, of_document in zip(documents.tolist(), fields, strict=True)
    }
    draws = [
        SourceDraw(values[document], str(document), None) for document in of_occurrences.tolist()
    ]
    return draws, list(fields)


def _with_metadata(index: Index, seen: Sequence[Seen]) -> Sequence[Seen]:
    """Return draws with the metadata of their documents; those of tokens are shown without."""
    if index.unit != "tokens" or not isinstance(index, ReadsMetadata):
        return seen
    documents = list(dict.fromkeys(int(draw.document) for draw in seen))
    lines = index.metadata_of(np.array(documents, np.int64))
    line_of_document = dict(zip(map(str, documents), lines, strict=True))
    return [draw._replace(metadata=line_of_document[draw.document]) for draw in seen]


def _source_draws(
    text: str, seen: Sequence[Seen], by: str
) -> tuple[list[SourceDraw], list[Mapping[str, Any]]]:
    """Return the draws of a query with their sources, and the fields of their documents."""
    fields = [document_fields(draw.metadata) for draw in seen]
    draws = [
        SourceDraw(source_value(of_document, by), draw.document, draw.shares.get((text,)))
        for draw, of_document in zip(seen, fields, strict=True)
    ]
    return draws, list(fields)


def _located_rows(
    index: Index,
    query: Query,
    located: LocatedQuery,
    looked_up: _LookedUp,
    options: SourcesOptions,
    rule: MatchRule,
) -> list[tuple[SourceRow, list[Note]]]:
    """Return the rows of a query with their notes, the source with most occurrences first."""
    occurrences, n_draws = located.occurrences, looked_up.draws.get(query.text)
    is_estimated = n_draws is not None and n_draws < occurrences
    rows = list[tuple[SourceRow, list[Note]]]()
    for share in looked_up.shares[query.text]:
        notes = [Note(text, "index") for text in rule.notes]
        if is_estimated:
            notes.append(_TOGETHER)
        if isinstance(located, TokenOccurrences):
            notes += notes_on_ngrams(located)
        if share.documents is None:
            notes.append(_HIDDEN)
        number = share.documents_with_query
        row = SourceRow(
            index=index.name,
            unit=index.unit,
            **_names_of(query, options.by, share.value),
            occurrences=round(share.occurrences.value * occurrences),
            all_occurrences=occurrences,
            documents=None if number is None else round(number),
            **_shares_of(share.occurrences, share.documents, is_exact=not is_estimated),
            draws=n_draws if is_estimated else None,
            estimated=is_estimated,
            seed=options.seed if is_estimated else None,
            note=join_notes(notes),
        )
        rows.append((row, notes))
    return sorted(rows, key=lambda row_and_notes: _by_occurrences(row_and_notes[0]))


# Rows


def _names_of(query: Query, by: str, value: str | None) -> dict[str, Any]:
    """Return the fields of a row that name its query and source."""
    pattern = query.pattern
    return {
        "method": pattern.method,
        "tier": pattern.tier,
        "kind": pattern.kind,
        "pattern": pattern.text,
        "query": query.text,
        "by": by,
        "value": MISSING if value is None else value,
        "is_missing": value is None,
        "is_unreadable": by in (URL_HOST, YEAR) and value == UNREADABLE,
    }


def _shares_of(
    occurrences: Estimate, documents: Estimate | None, *, is_exact: bool
) -> dict[str, Any]:
    """Return the fields of a row that have its shares; the share of documents may be unknown."""
    fields = fields_of("occurrence_share", occurrences) | fields_of("document_share", documents)
    if is_exact:
        values = {name: fields[name] for name in ("occurrence_share", "document_share")}
        fields = dict.fromkeys(fields) | values
    return fields | {"level": None if is_exact else LEVEL}


def _by_occurrences(row: SourceRow) -> tuple[int, str]:
    return -row.occurrences, row.value


def _no_field(index: str, by: str, field_names: Sequence[str]) -> InputError:
    named = some_of(field_names) if field_names else "none"
    problem = f"no document of {index} has it; fields of their metadata: {named}"
    return InputError(OptionUse("by", by), problem)


def describe_absent(result: SourcesResult) -> Iterator[str]:
    """Return a line for each index in which some queries don't occur."""
    by_index: dict[str, list[str]] = {}
    for index, text in result.absent:
        by_index.setdefault(index, []).append(text)
    for index, texts in by_index.items():
        yield f"{index} has no occurrence of {some_of([repr(text) for text in texts])}"


def describe_limits(rows: Sequence[SourceRow]) -> Iterator[str]:
    """Say what the limits of rows from draws are."""
    limits = f"{LEVEL:.0%} limits, which hold for all values of a phrase together"
    if any(row.draws is not None for row in rows):
        yield (
            f"{limits}; a value drawn fewer than {DRAWS_FOR_A_LOWER_LIMIT} times has no lower limit"
            " from the draws"
        )
    elif any(row.occurrence_share_low is not None for row in rows):
        yield f"{limits}; occurrences and documents of one file are not independent"
    if any(row.estimated and row.occurrence_share_low is None for row in rows):
        yield "no interval: the value, or all others, are in too few of the files that were read"
