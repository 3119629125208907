"""The longest parts of texts that a hosted index over tokens has: one question per token.

`infgram_prob` looks for the longest end of an n-gram, without its last token, that occurs, and
tells its length and its occurrences. The tokens of a text are asked for in pieces, since a question
may have 500 tokens; their names tell which characters they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

import httpx
import numpy as np

from ngramscan.errors import InputError, NgramscanError, RemoteRefused
from ngramscan.index_files.tokens.tokenizers import contents_of_names
from ngramscan.indexes.base import Cost, CountSource, QueryCount, requests_at
from ngramscan.indexes.catalog import INFINI_GRAM
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.questions import HostQuestion, Questions, answer_to
from ngramscan.indexes.http.replies import Reply
from ngramscan.indexes.tokens.base import TokenMatches, token_places
from ngramscan.indexes.tokens.replies import (
    check_ids,
    check_query,
    names_bytes,
    read_longest_end,
    read_named_ids,
    read_token_reply,
)
from ngramscan.messages import counted

_LONGEST = 499
"""Tokens of a question without the last one, which the service doesn't look for."""
_PIECE_BYTES = 490
"""Bytes of a piece of a text: it has fewer tokens than bytes, or one more, and may have 500."""
_BYTES_PER_TOKEN = 3.2
"""Mean over recorded outputs of models with a vocabulary like Llama's; 3.8 with OLMo 2's."""
_CUT = re.compile(r"(?<=\S) (?=[A-Za-z])")
_OPERATOR = re.compile(r"(AND|OR)( |$)")

NamedIds = tuple[tuple[int, ...], list[str]]
_Item = tuple[int, int]
"""The number of a text, and of a token behind the end of a part of it."""


class _PlacedTokens(NamedTuple):
    ids: list[int]
    places: list[tuple[int, int]]


class _LongestEnd(NamedTuple):
    length: int
    occurrences: int
    source: CountSource
    asked_at: str


class HostedMatcher:
    """Asks one hosted index about the tokens of texts.

    `question_to` returns a question to the index, by its request, how its reply is parsed, and how
    what the journal keeps of that is read.
    """

    def __init__(
        self, name: str, client: ApiClient, question_to: Callable[..., HostQuestion[Any]]
    ) -> None:
        self._name, self._client, self._question_to = name, client, question_to
        self._counts: dict[tuple[int, ...], _LongestEnd] = {}

    def cost(self, texts: Sequence[str]) -> Cost:
        """Return a request per piece and token; their number is known only to the journal."""
        all_pieces, texts_in_journal = set[str](), list[_PlacedTokens]()
        at_most = requests = 0
        for text in texts:
            pieces, size = pieces_of(text), len(text.encode())
            all_pieces |= {*pieces}
            if (ids := self._look_up_ids(text)) is not None:
                texts_in_journal.append(_PlacedTokens(ids, []))
            else:
                at_most += size + len(pieces)
                requests += round(size / _BYTES_PER_TOKEN)
        items = {item for of_text in _questions(texts_in_journal) for item in of_text}
        questions = len(items)
        at_most, requests = (each + len(all_pieces) + questions for each in (at_most, requests))
        return Cost(
            at_most,
            requests,
            seconds=requests_at(self._client.planned_rate(INFINI_GRAM), requests).seconds,
        )

    def matches(self, texts: Sequence[str]) -> Iterator[TokenMatches | NgramscanError]:
        """Ask about all tokens of all texts; yield the matches of each, in order."""
        tokens_of_texts = self._tokens_of(texts)
        by_text = _questions(tokens_of_texts)
        items = [item for of_text in by_text for item in of_text]
        work, announce = (
            partial(self._longest_end, tokens_of_texts),
            partial(self._announce, len(texts)),
        )
        answers: dict[_Item, _LongestEnd | NgramscanError] = dict(
            self._client.answers(self._name, items, work, _failed, announce)
        )
        for tokens, of_text in zip(tokens_of_texts, by_text, strict=True):
            if isinstance(tokens, NgramscanError):
                yield tokens
                continue
            of_ends = [answers[item] for item in of_text]
            longest = [each for each in of_ends if isinstance(each, _LongestEnd)]
            errors = [each for each in of_ends if isinstance(each, NgramscanError)]
            yield errors[0] if errors else self._joined(tokens, longest)

    def count_ngrams(self, ngrams: Mapping[str, Sequence[int]]) -> dict[str, QueryCount]:
        """Return the occurrences of matches, which came with them."""
        ends_by_text = {text: self._counts[tuple(ids)] for text, ids in ngrams.items()}
        return {
            text: QueryCount(text, each.occurrences, None, each.source, each.asked_at)
            for text, each in ends_by_text.items()
        }

    def _announce(self, texts: int, requests: int) -> None:
        took = requests_at(self._client.planned_rate(INFINI_GRAM), requests).duration
        work = f"a request per token: {requests:,} for {counted(texts, 'text')}, about {took}"
        self._client.progress.notice(f"{self._name}: {work}")

    # Tokens

    def _tokens_of(self, texts: Sequence[str]) -> list[_PlacedTokens | NgramscanError]:
        pieces = [piece for text in texts for piece in pieces_of(text)]
        tokens_by_piece: dict[str, Any] = dict(
            self._client.answers(self._name, pieces, self._named_piece, _failed)
        )
        return [self._joined_tokens(text, tokens_by_piece) for text in texts]

    def _named_piece(self, piece: str) -> Questions[tuple[str, Any]]:
        named_ids, _, _ = yield from answer_to(self._question_about(piece))
        return piece, named_ids

    def _question_about(self, piece: str) -> HostQuestion[NamedIds]:
        """Return the question that tells the tokens of a piece."""
        check_query(piece)
        request = {"query_type": "count", "query": piece}
        return self._question_to(request, read_token_reply, read_named_ids)

    def _look_up_ids(self, text: str) -> list[int] | None:
        """Return the tokens of a text; None if the journal lacks those of a piece."""
        named_pieces = dict[str, NamedIds]()
        for piece in pieces_of(text):
            try:
                answer = self._client.look_up(self._name, self._question_about(piece))
            except NgramscanError:  # the piece can't be asked about
                return None
            if answer is None:
                return None
            named_pieces[piece], _, _ = answer
        if is_of_bytes(named_pieces):
            return [*text.encode()]
        return [token for piece in pieces_of(text) for token in named_pieces[piece][0]]

    def _joined_tokens(
        self, text: str, tokens_by_piece: Mapping[str, Any]
    ) -> _PlacedTokens | NgramscanError:
        pieces = pieces_of(text)
        for piece in pieces:
            if isinstance(tokens_by_piece[piece], NgramscanError):
                error: NgramscanError = tokens_by_piece[piece]
                return error
        if is_of_bytes({piece: tokens_by_piece[piece] for piece in pieces}):
            contents_of_bytes = [bytes([byte]) for byte in text.encode()]
            places = token_places(self._name, text, contents_of_bytes)
            return _PlacedTokens([*text.encode()], places)
        ids = [token for piece in pieces for token in tokens_by_piece[piece][0]]
        names = [name for piece in pieces for name in tokens_by_piece[piece][1]]
        problem: InputError | None = None
        for contents in contents_of_names(names):
            try:
                return _PlacedTokens(ids, token_places(self._name, text, contents))
            except InputError as error:
                problem = error
        assert problem is not None
        return problem

    # Matches

    def _longest_end(
        self, tokens_of_texts: Sequence[Any], item: _Item
    ) -> Questions[tuple[_Item, _LongestEnd]]:
        number, end = item
        ids: list[int] = tokens_of_texts[number].ids
        prompt = ids[max(0, end - _LONGEST) : end]
        asked_ids = [*prompt, ids[min(end, len(ids) - 1)]]

        def parse(response: httpx.Response) -> Reply:
            reply = read_token_reply(response)
            check_ids(reply, asked_ids)
            # The tokens again, and their names, would fill the journal.
            return {
                name: each for name, each in reply.items() if name not in {"tokens", "token_ids"}
            }

        read_content = partial(read_longest_end, most=len(prompt))
        request = {"query_type": "infgram_prob", "query_ids": asked_ids}
        question = self._question_to(request, parse, read_content)
        (length, occurrences), source, asked_at = yield from answer_to(question)
        if length == _LONGEST < end:
            problem = f"{_LONGEST} tokens in a row or more occur; the service can't tell how many"
            raise RemoteRefused(f"{self._name}: {problem}; a local index can")
        return item, _LongestEnd(length, occurrences, source, asked_at)

    def _joined(
        self, tokens: _PlacedTokens, longest_ends: Sequence[_LongestEnd]
    ) -> TokenMatches | RemoteRefused:
        ids, places = tokens
        starts = [end - each.length for end, each in enumerate(longest_ends, 1)]
        if starts != sorted(starts):
            return RemoteRefused(f"{self._name}: lengths of matches that contradict each other")
        ends = np.maximum(np.searchsorted(starts, range(len(ids)), side="right"), range(len(ids)))
        for last, (start, following) in enumerate(pairwise([*starts, len(ids)])):
            if following > start:  # in no longer match
                self._counts[tuple(ids[start : last + 1])] = longest_ends[last]
        return TokenMatches(ids, places, ends.tolist())


def _questions(tokens_of_texts: Sequence[_PlacedTokens | NgramscanError]) -> list[list[_Item]]:
    """Return what to ask about each text: where questions are the same, the same items.

    That is where texts begin alike, and where a text longer than a question repeats itself.
    """
    items: dict[tuple[bool, bytes], _Item] = {}
    by_text = list[list[_Item]]()
    for number, tokens in enumerate(tokens_of_texts):
        ids = tokens.ids if isinstance(tokens, _PlacedTokens) else []
        keys = enumerate(_question_keys(ids), 1)
        by_text.append([items.setdefault(key, (number, end)) for end, key in keys])
    return by_text


def _question_keys(ids: Sequence[int]) -> Iterator[tuple[bool, bytes]]:
    """Yield, for each token, whether its question lacks the text's beginning, and a hash of it.

    Where all that is asked for occurs, only a question with the beginning tells the whole length.
    """
    encoded = np.array([*ids, *ids[-1:]], "<i8")
    for end in range(1, len(ids) + 1):
        question = encoded[max(0, end - _LONGEST) : end + 1]
        yield end > _LONGEST, sha256(question.tobytes()).digest()


def pieces_of(text: str) -> list[str]:
    """Cut a text before words, so that the pieces have the tokens that it has as a whole.

    The service puts a space before each piece, where the text has one. No piece contains an
    operator of the service, unless the text can't be cut to avoid it.
    """
    first, *others = _CUT.split(text)
    pieces = [first]
    for other in others:
        longer = f"{pieces[-1]} {other}"
        if len(longer.encode()) > _PIECE_BYTES or _OPERATOR.match(other):
            pieces.append(other)
        else:
            pieces[-1] = longer
    return pieces if text else []


def is_of_bytes(named_pieces: Mapping[str, NamedIds]) -> bool:
    r"""Tell whether the tokens of some pieces of a text are their bytes.

    Pieces lack the space before them, which is a token of its own in an index of bytes, and `\xHH`
    in a piece is read as one byte; so the tokens of the whole text are its bytes, not those of the
    pieces.
    """
    return bool(named_pieces) and all(
        names_bytes(named_ids, piece) for piece, named_ids in named_pieces.items()
    )


def _failed(item: Any, error: NgramscanError) -> tuple[Any, NgramscanError]:
    return item, error
