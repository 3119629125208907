"""Requests about tokens: their fields, checked.

A value out of its range is an OutOfRangeError, which the original answers with status 200.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.errors import InputError
from ngramscan.index_files.tokens.shard import TokenFolder
from ngramscan.index_files.tokens.tokenizers import Tokenizer
from ngramscan.indexes.base import Index
from ngramscan.indexes.kinds import TOKENS
from ngramscan.indexes.tokens.local import TokenFolderIndex
from ngramscan.progress import SILENT, Progress
from ngramscan.serve.fields import JsonObject, RefusedError, encode, shortened
from ngramscan.serve.token_positions import Clause

MOST_CHARACTERS = 1_000
MOST_TOKENS = 500
MOST_CLAUSES = 4
MOST_TERMS = 4

_MOST = {
    "max_clause_freq": 500_000,
    "max_diff_tokens": 1_000,
    "max_support": 1_000,
    "maxnum": 10,
    "max_disp_len": 10_000,
}
_ANYWHERE = {"query_type", "index", "corpus", "query", "query_ids", "source", "timestamp", "engine"}
_DEFAULTS = {"max_diff_tokens": 100, "maxnum": 1, "max_disp_len": 1_000}


class OutOfRangeError(Exception):
    """A value that the protocol does not allow; the response has status 200."""


class ServedTokens:
    """An index over tokens, its name in requests, and its tokenizer."""

    def __init__(self, name: str, folder: TokenFolder, tokenizer: Tokenizer) -> None:
        self.name, self.folder, self.tokenizer = name, folder, tokenizer
        self.progress: Progress = SILENT  # long work reports to it, and it can end the work

    def searched(self, progress: Progress) -> Index:
        """Return the index as commands use it; its draws depend on the last part of its name."""
        spec = TOKENS.spec_of(f"/{self.name}")
        return TokenFolderIndex(spec, self.folder, self.tokenizer, progress)

    def name_of(self, token: int) -> str | None:
        """Return the name of a token; a separator has none, nor has a gap in the vocabulary."""
        try:
            return self.tokenizer.pieces([token])[0] if token != self.folder.separator else None
        except InputError:
            return None

    def names(self, ids: Sequence[Any]) -> list[Any]:
        """Return the names of tokens, nested as they are."""
        return [self.names(item) if isinstance(item, list) else self.name_of(item) for item in ids]

    def is_token(self, number: int) -> bool:
        """Whether a query can have a number: a token, or the separator of 16 bits."""
        separator = self.folder.separator
        is_separator = number == separator and self.folder.width == 2
        return is_separator or 0 <= number < min(self.tokenizer.vocabulary, separator)


@dataclass(frozen=True, slots=True)
class TokenQuery:
    """An n-gram, or clauses of n-grams."""

    ids: list[Any]
    """As in the request, or made of its text."""
    has_clauses: bool

    @property
    def clauses(self) -> Sequence[Clause]:
        """All clauses; of an n-gram, one with one term; of an empty one, none."""
        return self.ids if self.has_clauses else [[self.ids]] if self.ids else []


def read_query(index: ServedTokens, request: JsonObject) -> TokenQuery:
    """Return the query of a request, given as text or as tokens."""
    ids = request["query_ids"] if "query_ids" in request else _encoded(index, request["query"])
    if _is_list_of(int, ids):
        clauses = [[ids]]
    elif _is_list_of_clauses(ids):
        clauses = ids
    else:
        kinds = "a list of integers, or a triply-nested list of integers"
        raise OutOfRangeError(f"query_ids must be {kinds}!")
    flat = [number for clause in clauses for term in clause for number in term]
    if len(flat) > MOST_TOKENS:
        raise OutOfRangeError(f"Please limit your input to <= {MOST_TOKENS} tokens!")
    if len(clauses) > MOST_CLAUSES:
        raise OutOfRangeError(f"Please enter at most {MOST_CLAUSES} disjunctive clauses!")
    if any(len(clause) > MOST_TERMS for clause in clauses):
        raise OutOfRangeError(
            f"Please enter at most {MOST_TERMS} terms in each disjunctive clause!"
        )
    if not all(map(index.is_token, flat)):
        raise OutOfRangeError("Some item(s) in your query_ids are out-of-range!")
    return TokenQuery(ids, has_clauses=ids is clauses)


def _encoded(index: ServedTokens, text: object) -> list[Any]:
    """Return the tokens of a text, which can have operators."""
    if not isinstance(text, str):
        raise OutOfRangeError("query must be a string!")
    if len(text) > MOST_CHARACTERS:
        raise OutOfRangeError(f"Please limit your input to <= {MOST_CHARACTERS} characters!")
    encode(text)
    of_request = index.tokenizer.of_request
    if " AND " not in text and " OR " not in text:
        return of_request(text)
    return [[of_request(term) for term in clause.split(" OR ")] for clause in text.split(" AND ")]


def _is_list_of(kind: type, value: object) -> bool:
    return type(value) is list and all(type(item) is kind for item in value)


def _is_list_of_clauses(value: Any) -> bool:
    return _is_list_of(list, value) and all(
        _is_list_of(int, term) for clause in value for term in clause
    )


def check_names(kind: str, request: JsonObject, fields_taken: Sequence[str]) -> None:
    """Refuse fields that a type of query does not take, as the original does."""
    for name in request:
        if name not in _ANYWHERE and name not in fields_taken:
            also = f"; it takes {', '.join(fields_taken)}" if fields_taken else ""
            raise RefusedError(f"{shortened(name)} is not a field of this {kind}{also}")


def check_limits(request: JsonObject, fields_taken: Sequence[str]) -> None:
    """Check the optional numbers of a request."""
    for name in fields_taken:
        value, most = request.get(name), _MOST.get(name)
        if most is None or value is None:
            continue
        if type(value) is not int or not 1 <= value <= most:
            raise OutOfRangeError(f"{name} must be an integer in [1, {most}]!")


def limit(request: JsonObject, name: str) -> int:
    """Return an optional number."""
    value: int | None = request.get(name)
    return _DEFAULTS[name] if value is None else value


def required_number(request: JsonObject, name: str, stop: int, step: int = 1) -> int:
    """Return a required number from 0 to below `stop`."""
    if name not in request:
        raise RefusedError(f"Missing required field: '{name}'")
    value = request[name]
    if type(value) is not int or not 0 <= value < stop or value % step:
        kind = {1: "integer", 2: "even integer"}.get(step, f"multiple of {step}")
        article = "an" if kind.endswith("integer") else "a"
        raise OutOfRangeError(f"{name} must be {article} {kind} in range [0, {stop})")
    return value


def ngram(index: ServedTokens, query: TokenQuery) -> list[int]:
    """Return the only n-gram of a query."""
    if query.has_clauses:
        largest = index.folder.separator
        raise OutOfRangeError(f"input_ids must be a list of integers in range [0, {largest}]")
    return query.ids


def whole_clauses(index: ServedTokens, query: TokenQuery) -> Sequence[Clause]:
    """Return the clauses of a query that has any, none of them empty."""
    clauses = query.clauses
    if not (query.has_clauses and all(clause and all(clause) for clause in clauses)):
        kind = "a non-empty, triply-nested list of integers"
        largest = index.folder.separator
        raise OutOfRangeError(f"cnf must be {kind} in range [0, {largest}]")
    return clauses
