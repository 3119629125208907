r"""Patterns × token-level indexes → count rows: n-grams of tokens, not occurrences of strings.

A pattern that doesn't begin and end with a word, as `\frac{`, shares its first and last tokens with
whatever stands beside it. Its n-grams find few of its occurrences: it is counted on request only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, IndexSize, QueryFailure
from ngramscan.indexes.tokens.base import LOWER_BOUND, TokenOccurrences, is_token_level
from ngramscan.patterns.model import Query
from ngramscan.prevalence.count import CountResult, collect_replies, names_of, texts_of

EVERY = "tokens are bytes: every occurrence of the string"
"""The note of an index of bytes, where an n-gram is the string."""
TOO_LOW = "far too low: not a phrase that begins and ends with a word"
NO_WORD = (
    "tokens: a pattern of kind latex or code, or one that doesn't begin and end with a word, is"
    " other tokens at each place"
)
Lookups = Sequence[tuple[Index, Iterator[Any]]]
"""Indexes, and what each finds."""


@dataclass(frozen=True, slots=True)
class TokenCountRow:
    """How often the token n-grams of one query occur in one token-level index."""

    index: str
    method: str | None
    """None, like the next two: a literal that was given alone, outside a pattern set."""
    tier: str | None
    kind: str | None
    pattern: str
    query: str
    token_occurrences: int
    """Sum of the n-grams after a space and at the beginning of a line; a lower bound of the
    string's occurrences."""
    token_occurrences_after_space: int
    """The service's own count of the string."""
    tokens: str
    """The ids of the n-grams that were added up: `3707 486 3707 | 8779 486 3707`."""
    per_million_tokens: float | None
    """Occurrences per million tokens of text, without separators; None: their number is unknown."""
    source: str
    """`api`, `tokens`, or `journal`: a reply of the service in an earlier run."""
    asked_at: str
    """ISO 8601, UTC."""
    note: str = ""


def start_lookups(
    queries: Sequence[Query], indexes: Sequence[Index], count_anyway: bool = False
) -> Lookups:
    """Start to look up some queries in each index.

    Services are asked from now on, so a caller can do other work until it collects the replies.
    """
    return [
        (index, (index.lookups if is_token_level(index) else index.find)(texts))
        for index in indexes
        for texts in [texts_asked(queries, index, count_anyway)]
    ]


def texts_asked(queries: Sequence[Query], index: Index, count_anyway: bool) -> list[str]:
    """Return the texts to look up, each once; a service isn't asked in vain."""
    texts = texts_of(queries, for_totals=index.unit == "bytes")
    # The tokens of a local index may be bytes.
    if count_anyway or not index.name.startswith("infini-gram:"):
        return texts
    hopeless = _hopeless(queries)
    return [text for text in texts if text not in hopeless]


def collect_lookups(
    queries: Sequence[Query],
    index: Index,
    stream: Iterator[Any],
    count_anyway: bool = False,
    hint: str = "",
) -> tuple[dict[str, Any], list[QueryFailure]]:
    """Return where each text occurs, and the failures of the others; `hint` is for refused ones."""
    found, errors = collect_replies(stream, texts_asked(queries, index, count_anyway))
    for text in () if count_anyway or index.unit == "bytes" else _hopeless(queries):
        if text not in errors and not (text in found and is_of_bytes(found[text])):
            found.pop(text, None)
            errors[text] = NgramscanError(NO_WORD + hint)
    return found, [QueryFailure(index.name, text, error) for text, error in errors.items()]


def run_token_count(
    queries: Sequence[Query], lookups: Lookups, count_anyway: bool = False
) -> CountResult[TokenCountRow]:
    """Count some queries in each index; those that fail are in `missing`.

    Without `count_anyway`, patterns that tokens can't count fail.
    """
    result: CountResult[TokenCountRow] = CountResult(list(queries))
    hint = "; --count-anyway counts it, far too low"
    for index, stream in lookups:
        found, missing = collect_lookups(queries, index, stream, count_anyway, hint)
        size, hopeless = index.size(), _hopeless(queries)
        result.rows += [
            _row(
                index.name, query, found[query.text], size=size, is_hopeless=query.text in hopeless
            )
            for query in queries
            if query.text in found
        ]
        result.missing += missing
        result.occurrences[index.name] = {text: grams.occurrences for text, grams in found.items()}
        result.sizes[index.name] = size
    return result


def _hopeless(queries: Sequence[Query]) -> dict[str, None]:
    """Return the texts that tokens can't count, in their order."""
    return dict.fromkeys(query.text for query in queries if _is_hopeless(query))


def _is_hopeless(query: Query) -> bool:
    ends = query.text[:1], query.text[-1:]
    return query.pattern.kind in {"latex", "code"} or not all(map(_is_of_word, ends))


def _is_of_word(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] in "LMN"


def is_of_bytes(found: TokenOccurrences) -> bool:
    """Tell whether the tokens of a query are its bytes."""
    return found.at_line is None and found.after_space.ids == tuple(found.query.encode())


def note_of(found: TokenOccurrences, is_hopeless: bool = False) -> str:
    """Return how a number of n-grams differs from that of the string."""
    if is_of_bytes(found):
        return "; ".join(filter(None, (EVERY, found.note)))
    return "; ".join(filter(None, (LOWER_BOUND, TOO_LOW * is_hopeless, found.note)))


def _row(
    index: str, query: Query, found: TokenOccurrences, size: IndexSize, is_hopeless: bool
) -> TokenCountRow:
    return TokenCountRow(
        index=index,
        **names_of(query),
        token_occurrences=found.occurrences,
        token_occurrences_after_space=found.after_space.occurrences,
        tokens=" | ".join(" ".join(map(str, form.ids)) for form in found.forms),
        per_million_tokens=found.occurrences / size.tokens * 1e6 if size.tokens else None,
        source=found.source,
        asked_at=found.asked_at,
        note=note_of(found, is_hopeless),
    )
