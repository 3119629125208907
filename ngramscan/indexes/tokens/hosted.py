"""`infini-gram:NAME`: the hosted service over tokens.

The service has no tokenizer to ask, but it tells the tokens of each query: of a text as they are
after a space, and of a newline with the text behind it as they are at the beginning of a line. All
else is asked by tokens. Replies are kept in the journal, by tokens, so that no request is sent
twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import httpx

from ngramscan.errors import NgramscanError, RemoteError, RemoteRefused
from ngramscan.index_files.tokens.tokenizers import bytes_of_request
from ngramscan.indexes.base import (
    COMMON_CONTEXT,
    Cost,
    CountSource,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Unit,
    Window,
    WindowFailure,
    requests_at,
)
from ngramscan.indexes.catalog import (
    INFINI_GRAM,
    TOKEN_PREFIX,
    find_token_index,
    near_token_names,
)
from ngramscan.indexes.cutting import cut_ends
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.identity import PROBES, ask_ranks, identify, last_identity
from ngramscan.indexes.http.questions import Answer, HostQuestion, Questions, answer_to
from ngramscan.indexes.http.replies import Reply, UnknownIndexError
from ngramscan.indexes.tokens.base import (
    MOST_TOKENS,
    SPACE_MARK,
    CountsTokens,
    Form,
    LearnsTokenizer,
    MarkedWindow,
    MatchesTokens,
    TokenMatches,
    TokenOccurrences,
    as_count,
    as_occurrences,
    name_of_place,
    read_alike,
)
from ngramscan.indexes.tokens.hosted_matches import HostedMatcher
from ngramscan.indexes.tokens.replies import (
    TokenDocument,
    check_ids,
    check_names,
    check_query,
    has_operator,
    key_of,
    names_bytes,
    positions_of,
    read_after_newline,
    read_bytes,
    read_document,
    read_ids,
    read_named_ids,
    read_segments,
    read_separators,
    read_token_reply,
    read_total,
)
from ngramscan.matching import least_distance
from ngramscan.rows import Note

_SEPARATOR = 65535
"""The id of the separator in indexes of 16 bits; in others it is a token like any other."""
_PROBE = "the"
"""A word that is fewer tokens than bytes in every vocabulary."""
_REQUESTS_PER_LOOKUP, _REQUESTS_PER_WINDOW = 3, 2
"""At most: both n-grams of a text, and what the second one is; a document with either n-gram, or
with and without it."""
_MERGED = Note(
    "only after a space: at the beginning of a line, the newline is in the first token", "index"
)

T = TypeVar("T")


class _ReadQuery(NamedTuple):
    """The reading of a query by a service, and where its n-gram occurs."""

    form: Form | None
    r"""None if it is of another text, as an index of bytes reads `\xHH` as one byte; or if no
    request was sent, since the service takes ` OR ` for an operator.
    """
    is_of_bytes: bool
    notes: Sequence[Note] = ()


class HostedTokenIndex(CountsTokens, MatchesTokens, LearnsTokenizer):
    """Counts token n-grams exactly; of documents it tells lengths and marked occurrences."""

    unit: Unit = "tokens"
    shows_tokens = False

    def __init__(self, name: str, asked_as: str, size: IndexSize | None, client: ApiClient) -> None:
        self.name = self.spec = name
        self._asked_as, self._size, self._client = asked_as, size, client
        self._found: dict[str, TokenOccurrences] = {}
        self._matcher = HostedMatcher(name, client, self._question)

    @property
    def longest_context(self) -> int:
        """The most bytes on each side of an occurrence that the service shows."""
        service = self._client.public(INFINI_GRAM.protocol)
        return service.longest_context if service else COMMON_CONTEXT

    # Questions

    def _ask(self, read_content: Callable[[Reply], T], **request: Any) -> Questions[Answer[T]]:
        """Ask one question."""
        return answer_to(self._question(request, read_token_reply, read_content))

    def _question(
        self,
        request: Reply,
        parse: Callable[[httpx.Response], Reply],
        read_content: Callable[[Reply], T],
    ) -> HostQuestion[T]:
        """Return a question; `parse` returns what the journal keeps of a reply."""
        key = self._identity + key_of(request)
        return HostQuestion(
            key, read_content, partial(self._ask_host, key, request, parse, read_content)
        )

    def _ask_host(
        self,
        key: str,
        request: Reply,
        parse: Callable[[httpx.Response], Reply],
        read_content: Callable[[Reply], T],
    ) -> Answer[T]:
        client = self._client
        body = {"index": self._asked_as, **request}
        try:
            reply, answer = client.ask(self.spec, key, body, parse, read_content)
        except UnknownIndexError as error:
            near = " or ".join(near_token_names(self._asked_as))
            hint = f"did you mean {near}?" if near else "see ngramscan index list"
            raise RemoteRefused(f"{error}; {hint}") from error
        if request["query_type"] == "find" and "query" in request:
            # Another text may have the same tokens.
            form = {"query_type": "find", "query_ids": reply["token_ids"]}
            by_ids = self._identity + key_of(form)
            client.journal.put(client.url, self.spec, by_ids, json.dumps(reply))
        return answer

    @cached_property
    def _identity(self) -> str:
        """A text that tells this index from others that its host may give the same name."""
        if self._client.public(INFINI_GRAM.protocol):
            return ""
        return identify(self._client, self.spec, [partial(self._probe, text) for text in PROBES])

    def _probe(self, text: str) -> str:
        form = {"index": self._asked_as, "query_type": "find", "query": text}
        return ask_ranks(self._client, form, read_token_reply)

    # Sizes and counts

    @contextmanager
    def _without_requests(self) -> Iterator[None]:
        """Take the index for the last one that had its name, as nothing is asked."""
        self._identity = last_identity(self._client, self.spec)
        try:
            yield
        finally:
            del self._identity

    def cost_of_matches(self, texts: Sequence[str]) -> Cost:
        """Return what matches cost; nothing is asked."""
        with self._without_requests():
            return self._matcher.cost(texts)

    def describe_cost_of_matches(self) -> str:
        """Say that each token is a question."""
        return "a request per token; requests are an estimate until the tokens are in the journal"

    def has_byte_tokens(self, sends_requests: bool) -> bool:
        """Tell whether tokens are bytes, by the catalog, the journal, or one question."""
        if self._size:  # of the catalog, where each index has a tokenizer
            return False
        if sends_requests:
            return self._has_byte_tokens
        with self._without_requests():
            answer = self._client.look_up(self.spec, self._question_about_bytes())
        return answer is not None and answer[0]

    @cached_property
    def _has_byte_tokens(self) -> bool:
        try:
            return self._client.answer(self.spec, self._question_about_bytes())[0]
        except RemoteError:  # as for the other texts, whose failures are shown
            return False

    def _question_about_bytes(self) -> HostQuestion[bool]:
        def read_bytes_of_probe(reply: Reply) -> bool:
            return names_bytes(read_named_ids(reply), _PROBE)

        request = {"query_type": "count", "query": _PROBE}
        return self._question(request, read_token_reply, read_bytes_of_probe)

    def cost(self, lookups: Sequence[str], windows: int, _: int) -> Cost:
        """Return the requests at most, by default at the pace of the public service."""
        requests = len(lookups) * _REQUESTS_PER_LOOKUP + windows * _REQUESTS_PER_WINDOW
        return requests_at(self._client.planned_rate(INFINI_GRAM), requests)

    def size(self) -> IndexSize:
        """Return the documented size; the service is asked if the index is not in the catalog."""
        return self._size or self._asked_size

    @cached_property
    def _asked_size(self) -> IndexSize:
        """The size that the service reports; unknown if it reports none."""
        try:
            whole = self._count_tokens(read_total, [])
            documents = self._count_tokens(read_separators, [_SEPARATOR])
        except RemoteError as error:
            if self._found:
                problem = str(error)
                if self._has_byte_tokens:
                    problem = "the service can't count the documents of an index of bytes"
                self._client.progress.notice(f"{self.name}: its size is unknown ({problem})")
            return IndexSize()
        # Each document has a separator; where 65535 is a token, their number is unknown.
        is_known = 0 < documents < whole
        return IndexSize(documents, tokens=whole - documents) if is_known else IndexSize()

    def _count_tokens(self, read_content: Callable[[Reply], int], ids: Sequence[int]) -> int:
        """Return the occurrences of an n-gram, at once."""
        request = {"query_type": "count", "query_ids": [*ids]}
        question = self._question(request, read_token_reply, read_content)
        return self._client.answer(self.spec, question)[0]

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Start to count all queries; yield the sums of their n-grams."""
        return map(as_count, self.lookups(queries))

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        """Start to look up all queries; yield where their n-grams occur."""
        return map(as_occurrences, self.lookups(queries))

    def lookups(self, queries: Sequence[str]) -> Iterator[TokenOccurrences | QueryFailure]:
        """Start to look up all queries; yield the n-grams of each."""
        return self._client.answers(
            self.spec, queries, self._look_up, partial(QueryFailure, self.name)
        )

    def _look_up(self, query: str) -> Questions[TokenOccurrences]:
        sources_and_times: list[tuple[CountSource, str]] = []
        notes: list[Note] = []

        def note(answer: Answer[T]) -> T:
            sources_and_times.append(answer[1:])
            return answer[0]

        def after_newline(reply: Reply) -> tuple[int, ...]:
            check_names(reply, query)
            return read_after_newline(reply)

        reading = note((yield from self._read_by_service(query)))
        notes += reading.notes
        first = reading.form or note((yield from self._find_ids(tuple(query.encode()))))
        second = first.ids
        if not reading.is_of_bytes:  # which are the same anywhere
            after = {"query_type": "count", "query": f"\n{query}"}
            second = note((yield from self._ask(after_newline, **after)))
        at_line = None
        if second not in {(), first.ids}:
            at_line = note((yield from self._find_ids(second)))
        source: CountSource = (
            "api" if any(source == "api" for source, _ in sources_and_times) else "journal"
        )
        notes += [] if second else [_MERGED]
        located = TokenOccurrences(
            query,
            after_space=first,
            at_line=at_line,
            source=source,
            asked_at=max(asked_at for _, asked_at in sources_and_times),
            notes=tuple(dict.fromkeys(notes)),
        )
        self._found[query] = located
        return located

    def _read_by_service(self, query: str) -> Questions[Answer[_ReadQuery]]:
        """Return how the service reads a query; one with an operator is only asked for by bytes."""
        if has_operator(query):
            if not self._size:  # the catalog has no index of bytes
                is_of_bytes, source, asked_at = yield from answer_to(self._question_about_bytes())
                if is_of_bytes:
                    return _ReadQuery(None, is_of_bytes), source, asked_at
            check_query(query)
        read_reply = partial(self._read_query, query)
        return (yield from self._ask(read_reply, query_type="find", query=query))

    def _read_query(self, query: str, reply: Reply) -> _ReadQuery:
        """Return how the service has read a query, and where its n-gram occurs."""
        named_ids = reply.get("token_ids") or (), reply.get("tokens") or ()
        is_of_bytes = names_bytes(named_ids, query)
        if is_of_bytes and bytes_of_request(query) != query.encode():
            return _ReadQuery(None, is_of_bytes)
        check_names(reply, query)
        notes: list[Note] = []
        if " " in query and SPACE_MARK[0] in str(reply.get("tokens")):
            notes = read_alike([f"{SPACE_MARK} as a space"])
        return _ReadQuery(self._form(reply), is_of_bytes, notes)

    def _find_ids(self, ids: tuple[int, ...]) -> Questions[Answer[Form]]:
        def of_tokens(reply: Reply) -> Form:
            check_ids(reply, ids)
            return self._form(reply)

        return self._ask(of_tokens, query_type="find", query_ids=[*ids])

    def _form(self, reply: Reply) -> Form:
        size = self._size or IndexSize()
        most = size.tokens + (size.documents or 0) if size.tokens else None
        return Form(read_ids(reply), read_segments(reply, most))

    def matches(self, texts: Sequence[str]) -> Iterator[TokenMatches | NgramscanError]:
        """Ask about all tokens of all texts; yield the matches of each, in order."""
        return self._matcher.matches(texts)

    def count_ngrams(self, ngrams: Mapping[str, Sequence[int]]) -> dict[str, QueryCount]:
        """Return the occurrences of matches, which came with them."""
        return self._matcher.count_ngrams(ngrams)

    def count_tokens(self, ids: Sequence[int]) -> dict[int, int | NgramscanError]:
        """Ask for the occurrences of some tokens, one by one."""
        return dict(self._client.answers(self.spec, ids, self._count_token, _failed_token))

    def _count_token(self, token: int) -> Questions[tuple[int, int | NgramscanError]]:
        def read(reply: Reply) -> int:
            check_ids(reply, [token])
            return read_total(reply)

        count, _, _ = yield from self._ask(read, query_type="count", query_ids=[token])
        return token, count

    # Documents

    def _form_at(self, place: Place) -> Questions[Form]:
        """Return the n-gram of the query that occurs at a place."""
        located = self._found.get(place.query) or (yield from self._look_up(place.query))
        for form in located.forms:
            for segment in form.segments:
                if segment.shard == place.shard and segment.low <= place.rank < segment.high:
                    return form
        raise RemoteRefused(f"{name_of_place(place)}: no occurrence of {place.query!r}")

    def _document(self, place: Place, ids: Sequence[int], most: int) -> Questions[TokenDocument]:
        def read(reply: Reply) -> TokenDocument:
            check_ids(reply, ids)
            return read_document(reply, most)

        request = {"query_type": "get_doc_by_rank", "s": place.shard, "rank": place.rank}
        questions = self._ask(read, **request, query_ids=[*ids], max_disp_len=most)
        document, _, _ = yield from questions
        return document

    def examine(
        self, places: Sequence[Place], forms: Mapping[str, Sequence[Form]]
    ) -> Iterator[MarkedWindow | WindowFailure]:
        """Start to ask for the documents of some places; yield the occurrences in each."""
        return self._client.answers(self.spec, places, partial(self._marked, forms), WindowFailure)

    def _marked(self, forms: Mapping[str, Sequence[Form]], place: Place) -> Questions[MarkedWindow]:
        looked_for = forms.get(place.query, ())
        if not looked_for:
            whole = yield from self._document(place, (), 1)
            return MarkedWindow(place, str(whole.number), 1, 1)
        placed = yield from self._form_at(place)
        least, most, document = 0, 0, ""
        for form in looked_for:
            # The service marks one n-gram at a time.
            seen = yield from self._document(place, form.ids, MOST_TOKENS)
            marked = sum(is_marked for _, is_marked in seen.spans)
            if form.ids == placed.ids and not marked:
                raise RemoteRefused(
                    f"{name_of_place(place)}: its document does not show {place.query!r}"
                )
            if document not in {"", str(seen.number)}:
                raise RemoteRefused(f"{name_of_place(place)}: two documents for one place")
            document = str(seen.number)
            least += marked
            most += _most(form, seen, marked)
        return MarkedWindow(place, document, least, most)

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Start to fetch the text around all places."""
        return self._client.answers(
            self.spec, places, partial(self._window, context), WindowFailure
        )

    def _window(self, context: int, place: Place) -> Questions[Window]:
        form = yield from self._form_at(place)
        if form.ids == tuple(place.query.encode()):
            return (yield from self._window_of_bytes(context, place))
        # Most tokens have three bytes or more.
        most_tokens = min(2 * (context // 3 + len(form.ids) + 8), MOST_TOKENS)
        marked = yield from self._document(place, form.ids, most_tokens)
        whole = yield from self._document(place, (), most_tokens)
        if marked[:4] != whole[:4] or len(whole.spans) != 1:
            raise RemoteRefused(f"{name_of_place(place)}: two answers about one place differ")
        starts_document = whole.offset < most_tokens // 2 or whole.shown == whole.length
        (text, _), query = whole.spans[0], place.query
        text = text if starts_document else text.lstrip("\N{REPLACEMENT CHARACTER}")
        starts = positions_of(marked, text, query)
        if not starts:
            problem = f"{query!r} is not in the text that the service shows"
            raise RemoteRefused(f"{name_of_place(place)}: {problem}")
        # The service doesn't say which of the marked occurrences is the one asked for, but how many
        # tokens are before it.
        expected = len(text) * whole.offset / whole.shown
        start = min(starts, key=lambda start: abs(start - expected))
        content, offset = text.encode(), len(text[:start].encode())
        end = offset + len(query.encode())
        low, high = cut_ends(content, offset, end, context)
        # Its bytes are known where all of it is shown; otherwise they are more than these.
        least = len(content) + whole.length - whole.shown
        return Window(
            place=place,
            document=str(whole.number),
            document_bytes=least,
            text=content[low:high],
            offset=offset - low,
            starts_document=starts_document and low == 0,
            metadata=whole.metadata,
        )

    def _window_of_bytes(self, context: int, place: Place) -> Questions[Window]:
        """Return the text around a place in an index whose tokens are bytes."""
        query = place.query.encode()
        # Some more on each side, so that whole characters can be cut off.
        reach = min(context, MOST_TOKENS // 2 - len(query) - 8)
        most_bytes = 2 * (reach + len(query) + 8)
        whole = yield from self._document(place, (), most_bytes)
        content, start = read_bytes(whole), whole.offset
        if not content.startswith(query, start):
            problem = f"{place.query!r} is not where the service says"
            raise RemoteRefused(f"{name_of_place(place)}: {problem}")
        low, high = cut_ends(content, start, start + len(query), reach)
        starts_document = start < most_bytes // 2 or whole.shown == whole.length
        return Window(
            place=place,
            document=str(whole.number),
            document_bytes=whole.length,
            text=content[low:high],
            offset=start - low,
            starts_document=starts_document and low == 0,
            metadata=whole.metadata,
        )


def _failed_token(token: int, error: NgramscanError) -> tuple[int, int | NgramscanError]:
    return token, error


def _most(form: Form, seen: TokenDocument, marked: int) -> int:
    """Return how many occurrences of an n-gram a document can have."""
    # Marked ones don't overlap: one can hide those that begin inside it.
    length, distance = len(form.ids), least_distance(form.text)
    most = marked * (1 + (length - 1) // distance)
    hidden = seen.length - seen.shown
    if hidden:
        sides = 1 if seen.offset < MOST_TOKENS // 2 else 2
        most += (hidden - sides) // distance + sides
    return most


def open_hosted(name: str, client: ApiClient) -> HostedTokenIndex:
    """Return an index of a host, by its name or alias in the catalog or by any other name."""
    if not client.public(INFINI_GRAM.protocol):
        return HostedTokenIndex(f"{TOKEN_PREFIX}{client.url}{name}", name, None, client)
    if row := find_token_index(name):
        size = IndexSize(row.documents, tokens=row.tokens)
        return HostedTokenIndex(row.name, row.service_name, size, client)
    return HostedTokenIndex(TOKEN_PREFIX + name, name, None, client)
