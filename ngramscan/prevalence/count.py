r"""Patterns × indexes → count rows, and a line for each reason why some are missing.

Token-level indexes count n-grams of tokens, not occurrences of strings. A pattern that doesn't
begin and end with a word, as `\frac{`, shares its first and last tokens with whatever is next to
it. Its n-grams find few of its occurrences: it is counted on request only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

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
from ngramscan.indexes.kinds import is_hosted
from ngramscan.indexes.tokens.base import (
    LOWER_BOUND,
    LearnsTokenizer,
    TokenOccurrences,
    is_token_level,
)
from ngramscan.matching.forms import NormalForm, other_forms
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.messages import OptionUse, Text
from ngramscan.patterns.model import Query
from ngramscan.patterns.overlaps import merged_of_unions
from ngramscan.rows import Label, Note, Plot, join_notes, row_kind

_Reply = TypeVar("_Reply", QueryCount, Occurrences, TokenOccurrences, FoundMatches)
EVERY = Note("tokens are bytes: every occurrence of the string", "index")
"""The note of an index of bytes, where an n-gram is the string."""
TOO_LOW = Note("far too low: not a phrase that begins and ends with a word", "general")
NO_WORD = (
    "tokens: a pattern of kind latex or code, or one that doesn't begin and end with a word, is"
    " tokenized differently at each occurrence"
)


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
    may_lack=("unit", "method", "tier", "kind", "documents", "occurrences_low", "occurrences_high"),
    counts="occurrences",
    adds_up=True,
    if_absent={"unit": "bytes"},
)
@dataclass(frozen=True, slots=True)
class CountRow:
    """How often one query occurs in one index."""

    index: Label
    """Hosted indexes by their name in the catalog, however they were spelled."""
    unit: Label
    """`bytes`, or `tokens` in an index over tokens. Counts in different units are never added."""
    method: Label | None
    """None, like the next two: a literal that was given alone, outside a pattern set."""
    tier: Label | None
    kind: Label | None
    pattern: Label
    """The text of the pattern."""
    query: Label
    """The string that was counted: the text or one of its case variants."""
    occurrences: int
    """In tokens: the sum of the n-grams after a space and at the beginning of a line, a lower bound
    of the string's occurrences."""
    documents: int | None
    """Documents with at least one occurrence; None: the index can't tell."""
    source: str
    """`api`, `scan`, `fm9`, `tokens`, or `journal`: a reply of the service in an earlier run."""
    asked_at: str
    """ISO 8601, UTC."""
    estimated: bool = False
    """Only a sample of the files was read, or of the occurrences: the counts are rounded
    estimates."""
    occurrences_low: float | None = None
    """Limits of the intervals; None: the counts are exact, or there is no interval."""
    occurrences_high: float | None = None
    documents_low: float | None = None
    documents_high: float | None = None
    level: float | None = None
    note: str = ""
    """How the counts differ from exact ones, and why an interval is missing."""
    bytes: int | None = None
    """Bytes of text of the index, in UTF-8; None: unknown, as in tokens."""
    per_gigabyte: float | None = None
    """Occurrences per gigabyte (10⁹ bytes) of text; None: the size is unknown, as in tokens."""
    per_million_documents: float | None = None
    """Occurrences per million documents of the index; None: their number is unknown, or the unit
    is tokens."""
    occurrences_after_space: int | None = None
    """The n-gram after a space alone, which is the service's own count of the string; None: the
    unit is bytes."""
    tokens: str | None = None
    """The ids of the n-grams that were added up: `3707 486 3707 | 8779 486 3707`; None: the unit is
    bytes."""
    per_million_tokens: float | None = None
    """Occurrences per million tokens of text, without separators; None: their number is unknown, or
    the unit is bytes."""
    is_trusted: bool = True
    """False: a single file makes up more than a tenth of an estimate, so that its interval is
    unreliable."""

    @property
    def tokens_are_bytes(self) -> bool:
        """Whether the tokens are the bytes of the query, so that every occurrence is found."""
        return self.tokens == " ".join(map(str, self.query.encode()))


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
class CountResult:
    """The counts of some queries in some indexes, over bytes or over tokens."""

    queries: list[Query]
    rows: list[CountRow] = field(default_factory=list)
    """In the order of the indexes, then of the patterns."""
    missing: list[QueryFailure] = field(default_factory=list)
    occurrences: dict[str, dict[str, int]] = field(default_factory=dict)
    """Per index and string that was counted: the queries, and the strings in which two overlap."""
    sizes: dict[str, IndexSize] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    form_counts: list[FormCount] = field(default_factory=list)
    """Normal forms of queries, other than those given, that occur."""
    notes: dict[str, list[Note]] = field(default_factory=dict)
    """Per index, the notes of its rows that are not about a single query."""
    rule: MatchRule = EXACT


def run_count(
    queries: Sequence[Query],
    indexes: Sequence[Index],
    for_totals: bool = True,
    count_anyway: bool = False,
    rule: MatchRule = EXACT,
) -> CountResult:
    """Count some queries in each index, token-level ones last; those that fail are in `missing`.

    With `for_totals`, the strings in which two queries overlap are counted too: the union of
    occurrences needs them, where the rule by which the indexes count has such strings. Without
    `count_anyway`, patterns that tokens can't count fail.
    """
    texts = texts_of(queries, for_totals, rule)
    forms = {} if rule.is_regex else forms_of(queries)
    result = CountResult(list(queries), rule=rule)
    # Calling `counts` starts the requests of a hosted index: call all, then collect.
    tokens = start_lookups(
        queries, [index for index in indexes if index.unit == "tokens"], count_anyway
    )
    texts_by_index = {
        index.name: texts_counted(queries, index, for_totals, rule)
        for index in indexes
        if index.unit == "bytes"
    }
    streams = [
        (index, index.counts(texts_by_index[index.name]))
        for index in indexes
        if index.unit == "bytes"
    ]
    for index, stream in [*streams, *tokens]:
        if index.unit == "bytes":
            counts, errors = collect_replies(stream, texts_by_index[index.name])
            result.missing += [
                QueryFailure(index.name, text, errors[text]) for text in texts if text in errors
            ]
            result.form_counts += _form_counts(index.name, forms, counts)
        else:
            hint = "; " + OptionUse("count_anyway") + " counts it, far too low"
            counts, missing = collect_lookups(queries, index, stream, count_anyway, hint)
            result.missing += missing
        size = index.size()
        located = [query for query in queries if query.text in counts]
        notes = [_notes_on(query, counts[query.text]) for query in located]
        result.rows += [
            _row(index.name, query, counts[query.text], size, notes_on_query)
            for query, notes_on_query in zip(located, notes, strict=True)
        ]
        result.notes[index.name] = shared_notes(notes)
        result.occurrences[index.name] = {
            text: counts[text].occurrences for text in texts if text in counts
        }
        result.sizes[index.name], result.units[index.name] = size, index.unit
    return result


def texts_of(queries: Sequence[Query], for_totals: bool, rule: MatchRule = EXACT) -> list[str]:
    """Return the texts to count, each once."""
    texts = list(dict.fromkeys(query.text for query in queries))
    return texts + merged_of_unions(queries, rule) if for_totals else texts


def texts_counted(
    queries: Sequence[Query], index: Index, for_totals: bool, rule: MatchRule = EXACT
) -> list[str]:
    """Return the texts to count in an index of bytes, each once, with their normal forms.

    A hosted index counts by a rule at the price of several texts, and counts the queries alone.
    """
    if not rule.is_exact and is_hosted(index.spec):
        return texts_of(queries, for_totals=False)
    forms = {} if rule.is_regex else forms_of(queries)
    return list(dict.fromkeys([*texts_of(queries, for_totals, rule), *forms]))


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
            count_as_given = counts[query].occurrences
            yield FormCount(index, query, name, counts[form].occurrences, count_as_given)


def start_lookups(
    queries: Sequence[Query],
    indexes: Sequence[Index],
    count_anyway: bool = False,
    rule: MatchRule = EXACT,
) -> list[tuple[Index, Iterator[Any]]]:
    """Start to look up some queries in each index.

    Services are asked from now on, so a caller can do other work until it collects the replies.
    """
    return [
        (index, (index.lookups if is_token_level(index) else index.find)(texts))
        for index in indexes
        for texts in [texts_asked(queries, index, count_anyway, rule=rule)]
    ]


def texts_asked(
    queries: Sequence[Query],
    index: Index,
    count_anyway: bool = False,
    for_totals: bool = True,
    rule: MatchRule = EXACT,
    sends_requests: bool = True,
) -> list[str]:
    """Return the texts to look up, each once, without those that tokens can't match.

    A service may have to be asked whether its tokens are bytes, unless nothing is sent yet.
    """
    texts = texts_of(queries, for_totals and index.unit == "bytes", rule)
    # Tokens that can be seen may be bytes, so that any text has some.
    if count_anyway or not is_token_level(index) or index.shows_tokens:
        return texts
    hopeless = hopeless_texts(queries)
    if hopeless and isinstance(index, LearnsTokenizer) and index.has_byte_tokens(sends_requests):
        return texts
    return [text for text in texts if text not in hopeless]


def collect_lookups(
    queries: Sequence[Query],
    index: Index,
    stream: Iterator[Any],
    count_anyway: bool = False,
    hint: Text = "",
    rule: MatchRule = EXACT,
) -> tuple[dict[str, Any], list[QueryFailure]]:
    """Return where each text occurs, and the failures of the others; `hint` is for refused ones."""
    located, errors = collect_replies(stream, texts_asked(queries, index, count_anyway, rule=rule))
    for text in () if count_anyway or index.unit == "bytes" else hopeless_texts(queries):
        if text not in errors and not (text in located and is_of_bytes(located[text])):
            located.pop(text, None)
            errors[text] = NgramscanError(NO_WORD + hint)
    return located, [QueryFailure(index.name, text, error) for text, error in errors.items()]


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


def shared_notes(of_rows: Iterable[Sequence[Note]]) -> list[Note]:
    """Return the notes of some rows that are not about a single query, each once."""
    notes = dict.fromkeys(note for of_row in of_rows for note in of_row)
    return [note for note in notes if note.scope != "query"]


def _notes_on(query: Query, count: QueryCount | TokenOccurrences) -> Sequence[Note]:
    if isinstance(count, TokenOccurrences):
        return notes_on_ngrams(count, is_hopeless=bool(hopeless_texts([query])))
    return count.notes


def _row(
    index: str,
    query: Query,
    count: QueryCount | TokenOccurrences,
    size: IndexSize,
    notes: Sequence[Note],
) -> CountRow:
    if isinstance(count, TokenOccurrences):
        return CountRow(
            index=index,
            unit="tokens",
            **_names_of(query),
            occurrences=count.occurrences,
            documents=None,
            source=count.source,
            asked_at=count.asked_at,
            note=join_notes(notes),
            occurrences_after_space=count.after_space.occurrences,
            tokens=" | ".join(" ".join(map(str, form.ids)) for form in count.forms),
            per_million_tokens=count.occurrences / size.tokens * 1e6 if size.tokens else None,
        )
    row = CountRow(
        index=index,
        unit="bytes",
        **_names_of(query),
        occurrences=count.occurrences,
        documents=count.documents,
        source=count.source,
        asked_at=count.asked_at,
        note=join_notes(notes),
        bytes=size.bytes,
        per_gigabyte=count.occurrences / size.bytes * 1e9 if size.bytes else None,
        per_million_documents=count.occurrences / size.documents * 1e6 if size.documents else None,
    )
    occurrences, documents = count.occurrences_estimate, count.documents_estimate
    if occurrences is None:
        return row
    return replace(
        row,
        estimated=True,
        occurrences_low=occurrences.low,
        occurrences_high=occurrences.high,
        documents_low=documents.low if documents else None,
        documents_high=documents.high if documents else None,
        level=None if occurrences.low is None else occurrences.level,
        is_trusted=occurrences.is_trusted and (documents is None or documents.is_trusted),
    )


# N-grams of tokens


def hopeless_texts(queries: Sequence[Query]) -> dict[str, None]:
    """Return the texts that tokens can't count, in their order."""
    return dict.fromkeys(query.text for query in queries if _is_hopeless(query))


def _is_hopeless(query: Query) -> bool:
    ends = query.text[:1], query.text[-1:]
    return query.pattern.kind in {"latex", "code"} or not all(map(_is_of_word, ends))


def _is_of_word(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] in "LMN"


def is_of_bytes(located: TokenOccurrences) -> bool:
    """Tell whether the tokens of a query are its bytes."""
    after_space = located.after_space
    return located.at_line is None and after_space.ids == tuple(located.query.encode())


def notes_on_ngrams(located: TokenOccurrences, is_hopeless: bool = False) -> list[Note]:
    """Return how the number of n-grams differs from the number of the string's occurrences."""
    if is_of_bytes(located):
        return [EVERY, *located.notes]
    too_low = [TOO_LOW] if is_hopeless else []
    return [LOWER_BOUND, *too_low, *located.notes]
