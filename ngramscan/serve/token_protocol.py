"""The infini-gram protocol without HTTP: fields of requests in, fields of responses out.

Valid requests get the original service's response, with these exceptions, where it is wrong:

* an OR counts the different positions where any of its terms begins, and an AND the occurrences of
  the clause with the fewest of them that have every other clause within `max_diff_tokens` in the
  same document. Both are always exact, and `approx` is false: a query with more than
  MOST_OCCURRENCES occurrences of its terms is refused, not sampled, and `max_clause_freq` is
  checked but not used. `find_cnf` lists positions in the order of the file, one list for each
  shard, also where a clause is absent;
* `ntd` looks at all occurrences, so `max_support` is checked but not used;
* `needle_offset` of an occurrence that begins at a separator is -1, without a sign bit gone wrong;
* `longest_suffix` of an empty suffix is empty; the original returns the whole query;
* in an index of version 5, whose documents are held backwards, windows, offsets and next tokens
  are in reading order. A `ptr` points to the first token of the n-gram, and a window by `rank`
  takes the n-gram to be as long as the query. Next tokens are read one by one there, so `ntd` is
  refused above MOST_OCCURRENCES;
* `ptr` has to be a multiple of the width of tokens: any number for bytes;
* a window looked up with a query of clauses has them marked.

A value out of its range is answered with status 200 and an `error`, as clients expect. Where the
original crashes, the request is refused, and the message names the field.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.tokens.excerpts import TokenExcerpt
from ngramscan.serve.fields import JsonObject, RefusedError, required, shortened
from ngramscan.serve.token_positions import Clause, count_next, find_near
from ngramscan.serve.token_requests import (
    OutOfRangeError,
    ServedTokens,
    TokenQuery,
    check_limits,
    check_names,
    limit,
    ngram,
    read_query,
    required_number,
    whole_clauses,
)

__all__ = ["ServedTokens", "answer_about_tokens"]

MOST_OCCURRENCES = 10_000_000
"""Limit of the occurrences of all terms of a query with clauses."""
LONGEST_LIST = 500_000
"""Maximum positions in a response."""
_NEAR = ("max_clause_freq", "max_diff_tokens")

_Handler = Callable[[ServedTokens, TokenQuery, JsonObject], JsonObject]


def answer_about_tokens(index: ServedTokens, request: JsonObject) -> JsonObject:
    """Answer a request about an index; a RefusedError says that it is wrong."""
    kind = required(request, "query_type", str, "a string")
    if ("query" in request) == ("query_ids" in request):
        raise RefusedError("Exactly one of query and query_ids must be present!")
    if kind not in _KINDS:
        kinds = ", ".join(_KINDS)
        raise RefusedError(f"Invalid query_type: {shortened(kind)}; it is one of {kinds}")
    try:
        query = read_query(index, request)
    except OutOfRangeError as error:
        return {"error": str(error)}
    names = index.names(query.ids)
    handler, fields_taken = _KINDS[kind]
    fields_taken = (
        fields_taken
        if query.has_clauses or kind not in {"count", "search_docs"}
        else fields_taken[:-2]
    )
    check_names(kind, request, fields_taken)
    started_at = time.perf_counter()
    try:
        check_limits(request, fields_taken)
        with index.folder.unchanged():
            fields = handler(index, query, request)
    except OutOfRangeError as error:
        fields = {"error": str(error)}
    latency = (time.perf_counter() - started_at) * 1000
    return {**fields, "latency": latency, "token_ids": query.ids, "tokens": names}


# --- answers ------------------------------------------------------------------------------------


def _occurrences(ranks: Integers) -> int:
    return int((ranks[..., 1] - ranks[..., 0]).sum())


def _count(index: ServedTokens, query: TokenQuery, request: JsonObject) -> JsonObject:
    if query.has_clauses:
        return {"count": sum(map(len, _positions(index, query, request))), "approx": False}
    return {"count": _occurrences(index.folder.find([query.ids])), "approx": False}


def _find(index: ServedTokens, query: TokenQuery, _: JsonObject) -> JsonObject:
    (ranks,) = index.folder.find([ngram(index, query)])
    return {"cnt": _occurrences(ranks), "segment_by_shard": ranks.tolist()}


def _positions(index: ServedTokens, query: TokenQuery, request: JsonObject) -> list[Integers]:
    clauses = whole_clauses(index, query)
    _check_occurrences(_occurrences(index.folder.find([t for terms in clauses for t in terms])))
    return find_near(index.folder, clauses, limit(request, "max_diff_tokens"), index.progress)


def _check_occurrences(occurrences: int) -> None:
    if occurrences > MOST_OCCURRENCES:
        problem = f"{occurrences:,} occurrences; this server looks at {MOST_OCCURRENCES:,}"
        raise OutOfRangeError(f"{problem} at most, to be exact")


def _find_cnf(index: ServedTokens, query: TokenQuery, request: JsonObject) -> JsonObject:
    by_shard = _positions(index, query, request)
    total = sum(map(len, by_shard))
    if total > LONGEST_LIST:
        problem = f"{total:,} occurrences; this server lists {LONGEST_LIST:,} at most"
        raise OutOfRangeError(f"{problem}; count tells their number")
    pointers = [(positions * index.folder.width).tolist() for positions in by_shard]
    return {"cnt": total, "approx": False, "ptrs_by_shard": pointers}


def _prob(index: ServedTokens, query: TokenQuery, _: JsonObject) -> JsonObject:
    return _probability(index, _not_empty(index, query))


def _infgram_prob(index: ServedTokens, query: TokenQuery, _: JsonObject) -> JsonObject:
    ids = _not_empty(index, query)
    prompt = _longest_suffix(index, ids[:-1])
    return {**_probability(index, [*prompt, ids[-1]]), **_suffix_fields(index, prompt)}


def _not_empty(index: ServedTokens, query: TokenQuery) -> list[int]:
    if not query.ids:
        raise OutOfRangeError("Please provide a non-empty query!")
    return ngram(index, query)


def _probability(index: ServedTokens, ids: list[int]) -> JsonObject:
    prompt, continued = map(_occurrences, index.folder.find([ids[:-1], ids]))
    probability = continued / prompt if prompt else -1.0
    return {"prompt_cnt": prompt, "cont_cnt": continued, "prob": probability}


def _longest_suffix(index: ServedTokens, ids: list[int]) -> list[int]:
    """Return the longest end of an n-gram that occurs."""
    lengths = range(1, len(ids) + 1)
    length = bisect_left(
        lengths, True, key=lambda n: not _occurrences(index.folder.find([ids[-n:]]))
    )
    return ids[len(ids) - length :]


def _suffix_fields(index: ServedTokens, suffix: list[int]) -> JsonObject:
    suffix_text = index.tokenizer.shown(
        [token for token in suffix if index.name_of(token) is not None]
    )
    return {"suffix_len": len(suffix), "longest_suffix": suffix_text}


def _ntd(index: ServedTokens, query: TokenQuery, _: JsonObject) -> JsonObject:
    return _distribution(index, ngram(index, query))


def _infgram_ntd(index: ServedTokens, query: TokenQuery, _: JsonObject) -> JsonObject:
    suffix = _longest_suffix(index, ngram(index, query))
    return {**_distribution(index, suffix), **_suffix_fields(index, suffix)}


def _distribution(index: ServedTokens, prompt: list[int]) -> JsonObject:
    """Return how often each token comes next, including the end of a document."""
    folder, tokenizer = index.folder, index.tokenizer
    (ranks,) = folder.find([prompt])
    total = _occurrences(ranks)
    if folder.backwards and prompt:
        _check_occurrences(total)
    counts = count_next(folder, prompt, ranks, index.progress)
    ends = counts.pop(folder.separator, 0)
    if ends:
        counts[tokenizer.end_of_text] = counts.get(tokenizer.end_of_text, 0) + ends
    result: JsonObject = {}
    for token, times in counts.items():
        name = index.name_of(token)
        token_text = name and name.replace("Ġ", " ")
        result[str(token)] = {"cont_cnt": times, "prob": times / total, "token": token_text}
    return {"prompt_cnt": total, "result_by_token_id": result, "approx": False}


# --- documents ----------------------------------------------------------------------------------


def _document_by_rank(index: ServedTokens, query: TokenQuery, request: JsonObject) -> JsonObject:
    shard = required_number(request, "s", len(index.folder.shards))
    rank = required_number(request, "rank", index.folder.shard_tokens[shard])
    return _shown_by_rank(index, query, (shard, rank), limit(request, "max_disp_len"))


def _document_by_pointer(index: ServedTokens, query: TokenQuery, request: JsonObject) -> JsonObject:
    if query.ids and not query.has_clauses:
        raise RefusedError("query of get_doc_by_ptr has clauses: it has AND or OR, or is empty")
    folder = index.folder
    shard = required_number(request, "s", len(folder.shards))
    stop = folder.shard_tokens[shard] * folder.width
    position = required_number(request, "ptr", stop, folder.width) // folder.width
    return _shown_at(index, query, (shard, position), limit(request, "max_disp_len"))


def _search(index: ServedTokens, query: TokenQuery, request: JsonObject) -> JsonObject:
    """Return documents of some occurrences, drawn at random with replacement."""
    if query.has_clauses:
        show = _shown_at
        by_shard: Sequence[Sequence[int] | Integers] = _positions(index, query, request)
    else:
        show = _shown_by_rank
        (ranks,) = index.folder.find([query.ids])
        by_shard = [range(low, high) for low, high in ranks.tolist()]
    stops = np.cumsum([len(positions) for positions in by_shard])
    total = int(stops[-1])
    message = f"{total} occurrences found"
    numbers: list[int] = []
    if total:
        numbers = np.random.default_rng().integers(total, size=limit(request, "maxnum")).tolist()
        message += f". Displaying the documents of occurrences #{numbers}"
    documents = []
    for position in numbers:
        shard = int(np.searchsorted(stops, position, side="right"))
        from_end = position - int(stops[shard])  # of the positions in the shard
        place = shard, int(by_shard[shard][from_end])
        documents.append(show(index, query, place, limit(request, "max_disp_len")))
    answer = {"cnt": total, "approx": False, "idxs": numbers}
    return {**answer, "documents": documents, "message": message}


def _shown_by_rank(
    index: ServedTokens, query: TokenQuery, place: tuple[int, int], length: int
) -> JsonObject:
    needle = len(query.ids) if query.ids and not query.has_clauses else 1
    before, after = length // 2, length - length // 2
    return _document(index, query, index.folder.excerpt(*place, needle, before, after))


def _shown_at(
    index: ServedTokens, query: TokenQuery, place: tuple[int, int], length: int
) -> JsonObject:
    before, after = length // 2, length - length // 2
    return _document(index, query, index.folder.excerpt_at(*place, 1, before, after))


def _document(index: ServedTokens, query: TokenQuery, excerpt: TokenExcerpt) -> JsonObject:
    tokens = excerpt.tokens.tolist()
    line = index.folder.metadata(excerpt.document)
    spans = _spans(tokens, query.clauses)
    return {
        "doc_ix": excerpt.document,
        "doc_len": excerpt.length,
        "disp_len": len(tokens),
        "needle_offset": excerpt.offset,
        "metadata": f"{line}\n" if line else "",
        "token_ids": tokens,
        "blocked": False,
        "spans": [[index.tokenizer.shown(part), label] for part, label in spans],
    }


LabelledSpan = tuple[list[int], str | None]


def _spans(tokens: list[int], clauses: Sequence[Clause]) -> list[LabelledSpan]:
    """Cut tokens where terms occur, from the left; each has the number of its clause."""
    spans: list[LabelledSpan] = [(tokens, None)]
    for place, clause in enumerate(clauses):
        for term in filter(None, clause):
            cut = [
                _cut(span, list(term), str(place)) if span[1] is None else [span] for span in spans
            ]
            spans = [span for parts in cut for span in parts]
    return spans


def _cut(span: LabelledSpan, term: list[int], label: str) -> Iterator[LabelledSpan]:
    tokens, _ = span
    start = 0
    for at in [at for at, token in enumerate(tokens) if token == term[0]]:
        if at >= start and tokens[at : at + len(term)] == term:
            if start < at:
                yield tokens[start:at], None
            start = at + len(term)
            yield term, label
    if start < len(tokens):
        yield tokens[start:], None


_KINDS: dict[str, tuple[_Handler, tuple[str, ...]]] = {
    "count": (_count, _NEAR),
    "prob": (_prob, ()),
    "ntd": (_ntd, ("max_support",)),
    "infgram_prob": (_infgram_prob, ()),
    "infgram_ntd": (_infgram_ntd, ("max_support",)),
    "find": (_find, ()),
    "find_cnf": (_find_cnf, _NEAR),
    "get_doc_by_rank": (_document_by_rank, ("max_disp_len", "s", "rank")),
    "get_doc_by_ptr": (_document_by_pointer, ("max_disp_len", "s", "ptr")),
    "search_docs": (_search, ("maxnum", "max_disp_len", *_NEAR)),
}
