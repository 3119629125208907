"""Patterns × indexes → count rows, and a line for each reason why some are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import (
    FoundMatches,
    Index,
    IndexSize,
    Occurrences,
    QueryCount,
    QueryFailure,
    Unit,
)
from ngramscan.indexes.tokens.base import TokenOccurrences, is_token_level
from ngramscan.matching.forms import NormalForm, other_forms
from ngramscan.messages import OptionUse, Text
from ngramscan.patterns.model import Query
from ngramscan.patterns.overlaps import merged_of_unions
from ngramscan.prevalence.token_count import (
    NO_WORD,
    TokenCountRow,
    hopeless_texts,
    is_of_bytes,
    note_of,
)
from ngramscan.rows import Label, Plot, row_kind

_Reply = TypeVar("_Reply", QueryCount, Occurrences, TokenOccurrences, FoundMatches)
Row = TypeVar("Row")


@row_kind(
    "count",
    "Counts",
    Plot(
        "occurrences",
        panel=("index",),
        label=("query",),
        scale="log",
        series="method",
    ),
    key=("documents",),
    may_lack=("method", "tier", "kind", "documents", "occurrences_low", "occurrences_high"),
    counts="occurrences",
    adds_up=True,
)
@dataclass(frozen=True, slots=True)
class CountRow:
    """How often one query occurs in one index."""

    index: Label
    """Hosted indexes by their name in the catalog, however they were spelled."""
    method: Label | None
    """None, like the next two: a literal that was given alone, outside a pattern set."""
    tier: Label | None
    kind: Label | None
    pattern: Label
    """The text of the pattern."""
    query: Label
    """The string that was counted: the text or one of its case variants."""
    occurrences: int
    documents: int | None
    """Documents with at least one occurrence; None: the index can't tell."""
    source: str
    """`api`, `scan`, `fm9`, or `journal`: a reply of the service in an earlier run."""
    asked_at: str
    """ISO 8601, UTC."""
    estimated: bool = False
    """Only a sample of the files was read: the counts are rounded estimates."""
    occurrences_low: float | None = None
    """Limits of the intervals; None: the counts are exact, or there is no interval."""
    occurrences_high: float | None = None
    documents_low: float | None = None
    documents_high: float | None = None
    level: float | None = None
    note: str = ""
    """How the counts differ from exact ones, and why an interval is missing."""
    bytes: int | None = None
    """Bytes of text of the index, in UTF-8; None: unknown."""
    per_gigabyte: float | None = None
    """Occurrences per gigabyte (10⁹ bytes) of text; None: the size is unknown."""
    per_million_documents: float | None = None
    """Occurrences per million documents of the index; None: their number is unknown."""


@dataclass(frozen=True, slots=True)
class FormCount:
    """How often a query occurs in another normal form of Unicode: other bytes, the same text."""

    index: str
    query: str
    form: NormalForm
    occurrences: int
    occurrences_given: int
    """In the form that was given, which is not among the occurrences."""


@dataclass(slots=True)
class CountResult(Generic[Row]):
    """The counts of some queries in some indexes; rows are of bytes or of tokens."""

    queries: list[Query]
    rows: list[Row] = field(default_factory=list)
    """In the order of the indexes, then of the patterns."""
    missing: list[QueryFailure] = field(default_factory=list)
    occurrences: dict[str, dict[str, int]] = field(default_factory=dict)
    """Per index and string that was counted: the queries, and the strings in which two overlap."""
    sizes: dict[str, IndexSize] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    form_counts: list[FormCount] = field(default_factory=list)
    """Normal forms of queries, other than those given, that occur."""


def run_count(
    queries: Sequence[Query],
    indexes: Sequence[Index],
    for_totals: bool = True,
    count_anyway: bool = False,
) -> CountResult[Any]:
    """Count some queries in each index, token-level ones last; those that fail are in `missing`.

    With `for_totals`, the strings in which two queries overlap are counted too: the union of
    occurrences needs them. Without `count_anyway`, patterns that tokens can't count fail.
    """
    texts = texts_of(queries, for_totals)
    forms = forms_of(queries)
    result: CountResult[Any] = CountResult(list(queries))
    # Calling `counts` starts the requests of a hosted index: call all, then collect.
    tokens = start_lookups(
        queries, [index for index in indexes if index.unit == "tokens"], count_anyway
    )
    with_forms = list(dict.fromkeys([*texts, *forms]))
    streams = [(index, index.counts(with_forms)) for index in indexes if index.unit == "bytes"]
    for index, stream in [*streams, *tokens]:
        if index.unit == "bytes":
            counts, errors = collect_replies(stream, with_forms)
            result.missing += [
                QueryFailure(index.name, text, errors[text]) for text in texts if text in errors
            ]
            result.form_counts += _form_counts(index.name, forms, counts)
        else:
            hint = "; " + OptionUse("count_anyway") + " counts it, far too low"
            counts, missing = collect_lookups(queries, index, stream, count_anyway, hint)
            result.missing += missing
        size = index.size()
        result.rows += [
            _row(index.name, query, counts[query.text], size)
            for query in queries
            if query.text in counts
        ]
        result.occurrences[index.name] = {
            text: counts[text].occurrences for text in texts if text in counts
        }
        result.sizes[index.name], result.units[index.name] = size, index.unit
    return result


def texts_of(queries: Sequence[Query], for_totals: bool) -> list[str]:
    """Return the texts to count, each once."""
    texts = list(dict.fromkeys(query.text for query in queries))
    return texts + merged_of_unions(queries) if for_totals else texts


def forms_of(queries: Sequence[Query]) -> dict[str, tuple[str, NormalForm]]:
    """Return the query and the name of each other form, without those that are queries as well."""
    texts = list(dict.fromkeys(query.text for query in queries))
    return {
        form: (text, name)
        for text in texts
        for name, form in other_forms(text).items()
        if form not in texts
    }


def _form_counts(
    index: str, forms: Mapping[str, tuple[str, NormalForm]], counts: Mapping[str, QueryCount]
) -> Iterator[FormCount]:
    for form, (query, name) in forms.items():
        if form in counts and query in counts and counts[form].occurrences:
            given = counts[query].occurrences
            yield FormCount(index, query, name, counts[form].occurrences, given)


def start_lookups(
    queries: Sequence[Query], indexes: Sequence[Index], count_anyway: bool = False
) -> list[tuple[Index, Iterator[Any]]]:
    """Start to look up some queries in each index.

    Services are asked from now on, so a caller can do other work until it collects the replies.
    """
    return [
        (index, (index.lookups if is_token_level(index) else index.find)(texts))
        for index in indexes
        for texts in [texts_asked(queries, index, count_anyway)]
    ]


def texts_asked(
    queries: Sequence[Query], index: Index, count_anyway: bool = False, for_totals: bool = True
) -> list[str]:
    """Return the texts to look up, each once, without those that tokens can't match."""
    texts = texts_of(queries, for_totals and index.unit == "bytes")
    # Tokens that can be seen may be bytes, so that any text has some.
    if count_anyway or not is_token_level(index) or index.shows_tokens:
        return texts
    hopeless = hopeless_texts(queries)
    return [text for text in texts if text not in hopeless]


def collect_lookups(
    queries: Sequence[Query],
    index: Index,
    stream: Iterator[Any],
    count_anyway: bool = False,
    hint: Text = "",
) -> tuple[dict[str, Any], list[QueryFailure]]:
    """Return where each text occurs, and the failures of the others; `hint` is for refused ones."""
    found, errors = collect_replies(stream, texts_asked(queries, index, count_anyway))
    for text in () if count_anyway or index.unit == "bytes" else hopeless_texts(queries):
        if text not in errors and not (text in found and is_of_bytes(found[text])):
            found.pop(text, None)
            errors[text] = NgramscanError(NO_WORD + hint)
    return found, [QueryFailure(index.name, text, error) for text, error in errors.items()]


def collect_replies(
    stream: Iterator[_Reply | QueryFailure], texts: Sequence[str]
) -> tuple[dict[str, _Reply], dict[str, NgramscanError]]:
    """Return the replies to some texts, and the errors of the others in the order of the texts."""
    replies: dict[str, _Reply] = {}
    errors: dict[str, NgramscanError] = {}
    try:
        for reply in stream:
            if isinstance(reply, QueryFailure):
                errors[reply.query] = reply.error
            else:
                replies[reply.query] = reply
    except NgramscanError as error:  # the index as a whole
        if error.exit_code == InputError.exit_code:  # what was asked is wrong
            raise
        errors |= {text: error for text in texts if text not in replies}
    return replies, {text: errors[text] for text in texts if text in errors}


def _names_of(query: Query) -> dict[str, Any]:
    """Return the fields of a row that name a query."""
    pattern = query.pattern
    return {
        "method": pattern.method,
        "tier": pattern.tier,
        "kind": pattern.kind,
        "pattern": pattern.text,
        "query": query.text,
    }


def _row(
    index: str, query: Query, count: QueryCount | TokenOccurrences, size: IndexSize
) -> CountRow | TokenCountRow:
    if isinstance(count, TokenOccurrences):
        return TokenCountRow(
            index=index,
            **_names_of(query),
            token_occurrences=count.occurrences,
            token_occurrences_after_space=count.after_space.occurrences,
            tokens=" | ".join(" ".join(map(str, form.ids)) for form in count.forms),
            per_million_tokens=count.occurrences / size.tokens * 1e6 if size.tokens else None,
            source=count.source,
            asked_at=count.asked_at,
            note=note_of(count, is_hopeless=bool(hopeless_texts([query]))),
        )
    row = CountRow(
        index=index,
        **_names_of(query),
        occurrences=count.occurrences,
        documents=count.documents,
        source=count.source,
        asked_at=count.asked_at,
        note=count.note,
        bytes=size.bytes,
        per_gigabyte=count.occurrences / size.bytes * 1e9 if size.bytes else None,
        per_million_documents=count.occurrences / size.documents * 1e6 if size.documents else None,
    )
    occurrences, documents = count.occurrences_estimate, count.documents_estimate
    if occurrences is None or documents is None:
        return row
    return replace(
        row,
        estimated=True,
        occurrences_low=occurrences.low,
        occurrences_high=occurrences.high,
        documents_low=documents.low,
        documents_high=documents.high,
        level=None if occurrences.low is None else occurrences.level,
    )
