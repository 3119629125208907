"""Indexes over tokens are served as infini-gram was recorded to do, and better where it errs.

Where it errs, the right answer is counted in `tokenized`, read without any code of the package.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import pytest

from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.progress import Progress
from ngramscan.serve import token_protocol
from ngramscan.serve.app import IndexApplication
from ngramscan.serve.server import open_tokens
from ngramscan.serve.token_protocol import ServedTokens
from tests.support.command import invoke
from tests.support.serve_process import INDEXES, JSON, THE, Served, ask, read_lines, send, serving

HERE = Path(__file__).parent / "tokens"
LLAMA, OLMO2 = HERE / "llamalike.model", HERE / "allenai_dolma2.json.gz"
SHARDED, BACKWARDS, WIDE = (
    HERE / name for name in ("v4_pysmall_llama_s3", "v5_pysmall_llama", "v4_pysmall_olmo2")
)
TOKENIZERS = {"llama": LLAMA.name, "olmo": "allenai_gpt-neox-olmo-dolma-v1_5.json.gz"}
TOKENIZERS |= {"olmo2": OLMO2.name}
SEPARATOR = 65535

Numbers = npt.NDArray[np.int64]


class Reference:
    """The tokens of an index in reading order, and what is true about them."""

    def __init__(self, folder: Path) -> None:
        texts, tables = (sorted(folder.glob(f"{name}.*")) for name in ("tokenized", "table"))
        # A pointer has as many bytes as the text's length needs.
        size = texts[0].stat().st_size
        self.width = size * -(-(size - 1).bit_length() // 8) // tables[0].stat().st_size
        files = [np.fromfile(path, f"<u{self.width}").astype(np.int64) for path in texts]
        self.separator = 256**self.width - 1
        self.is_backwards = folder.name.startswith("v5")
        self.shards = [self._read(tokens) if self.is_backwards else tokens for tokens in files]
        self.documents = [np.cumsum(tokens == self.separator) for tokens in self.shards]
        self.range = range(len(self.shards))

    def _read(self, tokens: Numbers) -> Numbers:
        parts = np.split(tokens, np.flatnonzero(tokens == self.separator))[1:]
        return np.concatenate([np.append(part[:1], part[:0:-1]) for part in parts])

    def starts(self, ids: Sequence[int]) -> list[Numbers]:
        """Return where an n-gram begins, in each shard."""
        found = []
        for tokens in self.shards:
            last = len(tokens) - len(ids) + 1
            at = [tokens[n : n + max(last, 0)] == one for n, one in enumerate(ids)]
            found.append(
                np.flatnonzero(np.logical_and.reduce(at)) if at else np.arange(len(tokens))
            )
        return found

    def count(self, ids: Sequence[int]) -> int:
        return sum(map(len, self.starts(ids)))

    def near(self, clauses: list[list[list[int]]], distance: int) -> list[list[int]]:
        """Return where the rarest clause has all others near, in each shard."""
        spots = [
            [np.unique(np.concatenate(same)) for same in zip(*map(self.starts, one), strict=True)]
            for one in clauses
        ]
        spots.sort(key=lambda shards: sum(map(len, shards)))  # stable: of several, the first
        return [self._near(shard, [one[shard] for one in spots], distance) for shard in self.range]

    def _near(self, shard: int, spots: list[Numbers], distance: int) -> list[int]:
        documents, found = self.documents[shard], []
        for document in np.unique(documents[spots[0]]):
            borders = (np.searchsorted(documents[one], [document, document + 1]) for one in spots)
            inside = [one[low:high] for one, (low, high) in zip(spots, borders, strict=True)]
            here, *others = inside
            near = [(np.abs(here[:, None] - one) <= distance).any(axis=1) for one in others]
            found += here[np.logical_and.reduce([here >= 0, *near])].tolist()
        return found

    def pointers(self, clauses: list[list[list[int]]], distance: int) -> list[list[int]]:
        """Return byte offsets in the files of the same."""
        found = []
        for shard, starts in enumerate(self.near(clauses, distance)):
            places = [self._mirrored(shard, at) if self.is_backwards else at for at in starts]
            found.append(sorted(at * self.width for at in places))
        return found

    def _mirrored(self, shard: int, at: int) -> int:
        documents = self.documents[shard]
        first = np.searchsorted(documents, documents[at])
        last = np.searchsorted(documents, documents[at], side="right") - 1
        return at if at == first else int(first + 1 + last - at)

    def next_tokens(self, ids: Sequence[int], end: int) -> dict[str, int]:
        found: Counter[int] = Counter()
        for tokens, starts in zip(self.shards, self.starts(ids), strict=True):
            ended = np.append(tokens, self.separator)  # after the last token, too
            found.update(ended[starts + len(ids)].tolist())
        counts = Counter({str(one): n for one, n in found.items() if one != self.separator})
        counts[str(end)] += found[self.separator]
        return dict(+counts)


reference = cache(Reference)


def open_index(folder: Path, tokenizers: Path) -> ServedTokens:
    kind = folder.name.split("_")[2]
    path = None if kind == "bytes" else tokenizers / TOKENIZERS[kind]
    return open_tokens(folder.name, open_token_folder(folder), path)


@pytest.fixture(scope="module")
def indexes() -> dict[str, ServedTokens]:
    return {one.name: open_index(one, HERE) for one in (SHARDED, BACKWARDS, WIDE)}


def service_of(indexes: dict[str, ServedTokens]) -> IndexApplication:
    return IndexApplication(dict(indexes), 2, Progress(), {"localhost"})


def post_all(indexes: dict[str, ServedTokens], bodies: Sequence[Any]) -> list[httpx.Response]:
    """Send requests to the service, JSON or bytes, without a socket."""

    async def post() -> list[httpx.Response]:
        transport = httpx.ASGITransport(service_of(indexes).application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            bytes_of = [
                one if isinstance(one, bytes) else json.dumps(one).encode() for one in bodies
            ]
            return [await client.post("/", content=one, headers=JSON) for one in bytes_of]

    return asyncio.run(post())


def ask_all(indexes: dict[str, ServedTokens], requests: Sequence[Any]) -> list[dict[str, Any]]:
    answers = []
    for request, response in zip(requests, post_all(indexes, requests), strict=True):
        assert response.status_code == 200, (request, response.text)
        answers.append(response.json())
        assert answers[-1].pop("latency", 0.0) >= 0
    return answers


# --- what the original was recorded to answer ---------------------------------------------------

RANK_IS_CALLED_PTR = "ptr must be an integer in range"
NO_SIGN = 2**63 - 1


def to_request(exchange: dict[str, Any]) -> Any:
    """Return what asks the server for a recorded exchange with the engine or the service."""
    if exchange["via"] == "http":
        raw = exchange.get("raw_request")
        return exchange["request"] if raw is None else raw.encode()
    args, method = dict(exchange["args"]), exchange["method"]
    ids = args.pop(
        "input_ids", args.pop("cnf", None) if "cnf" in args else args.pop("prompt_ids", [])
    )
    if "cont_id" in args:
        ids = [*ids, args.pop("cont_id")]
    kind = "count" if method == "count_cnf" else method
    return {"index": exchange["index"], "query_type": kind, "query_ids": ids, **args}


def corrected(
    folder: Path, request: dict[str, Any], reply: dict[str, Any], end: int
) -> dict[str, Any]:
    """Return a recorded reply with the faults of the original put right, all else as it was."""
    reply, kind = dict(reply), request["query_type"]
    ids = reply.get("token_ids", request.get("query_ids"))
    truth = reference(folder)
    if ids and isinstance(ids[0], list) and kind in {"count", "find_cnf"}:
        # Sampled without saying so, counted twice, or lost beside the border of a document.
        distance = request.get("max_diff_tokens", 100)
        pointers = truth.pointers(ids, distance)
        name = "count" if kind == "count" else "cnt"
        reply |= {name: sum(map(len, pointers)), "approx": False}
        if kind == "find_cnf":
            reply["ptrs_by_shard"] = pointers  # the order of the file, a list for each shard
    if reply.get("approx") and kind in {"ntd", "infgram_ntd"}:
        del reply["result_by_token_id"]  # of a sample; the test counts them
        reply["approx"] = False
    if reply.get("needle_offset") == NO_SIGN:
        reply["needle_offset"] = -1
    return reply


def check_next_tokens(index: ServedTokens, request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Compare all of a distribution with a count."""
    ids = answer["token_ids"]
    ids = ids[len(ids) - answer["suffix_len"] :] if "suffix_len" in answer else ids
    counted = reference(index.folder.path).next_tokens(ids, index.tokenizer.end_of_text)
    result = answer["result_by_token_id"]
    assert {one: each["cont_cnt"] for one, each in result.items()} == counted, request
    assert answer["prompt_cnt"] == sum(counted.values())
    for one, each in result.items():
        assert each["prob"] == counted[one] / answer["prompt_cnt"]
        assert each["token"] == index.tokenizer.pieces([int(one)])[0].replace("Ġ", " ")


def check_draws(index: ServedTokens, request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Check documents drawn at random against those of their occurrences, asked one by one."""
    drawn, number = answer["idxs"], request.get("maxnum", 1)
    assert len(answer["documents"]) == len(drawn) == (number if answer["cnt"] else 0)
    if not drawn:
        assert answer["message"] == "0 occurrences found"
        return
    shown = f"Displaying the documents of occurrences #{drawn}"
    assert answer["message"] == f"{answer['cnt']} occurrences found. {shown}"
    kind, place = "get_doc_by_rank", "rank"
    query = {name: request[name] for name in ("index", "query")}
    if isinstance((answer["token_ids"] or [0])[0], list):
        kind, place = "get_doc_by_ptr", "ptr"
        found = ask_all({index.name: index}, [query | {"query_type": "find_cnf"}])[0]
        places = [(s, one) for s, ptrs in enumerate(found["ptrs_by_shard"]) for one in ptrs]
    else:
        found = ask_all({index.name: index}, [query | {"query_type": "find"}])[0]
        segments = found["segment_by_shard"]
        places = [(s, rank) for s, (low, high) in enumerate(segments) for rank in range(low, high)]
    assert answer["cnt"] == len(places)
    length = {"max_disp_len": request.get("max_disp_len", 1000)}
    for one, document in zip(drawn, answer["documents"], strict=True):
        where = {"query_type": kind, "s": places[one][0], place: places[one][1]}
        (alone,) = ask_all({index.name: index}, [query | where | length])
        del alone["tokens"]
        assert document == alone | {"token_ids": document["token_ids"]}


def as_by_the_service(index: ServedTokens, reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply of the engine, with the text and the names that the service adds."""
    reply = dict(reply)
    if "token_ids" in reply:
        reply["spans"] = [[index.tokenizer.shown(reply.pop("token_ids")), None]]
    for one, each in reply.get("result_by_token_id", {}).items():
        each["token"] = index.tokenizer.pieces([int(one)])[0].replace("Ġ", " ")
    return reply


def check_exchange(
    index: ServedTokens, exchange: dict[str, Any], request: dict[str, Any], answer: dict[str, Any]
) -> None:
    """Compare an answer with a recorded one, which the engine gave or the service."""
    kind, reply = request["query_type"], exchange["reply"]
    if exchange.get("random"):
        check_draws(index, request, answer)
        assert answer.keys() | {"latency"} == reply.keys()
        if "AND" not in request["query"]:
            assert answer["cnt"] == reply["cnt"]
        return
    if "error" in reply:
        check_error(request, reply["error"], answer)
        return
    if index.folder.backwards and kind == "get_doc_by_rank":
        return  # windows in file order; those in reading order have tests of their own
    expected = corrected(index.folder.path, request, reply, index.tokenizer.end_of_text)
    expected.pop("latency", None)
    if exchange["via"] == "engine":
        expected = as_by_the_service(index, expected)
    assert {name: answer.get(name) for name in expected} == expected, exchange["n"]
    if exchange["via"] == "http":
        assert answer.keys() - expected.keys() <= {"result_by_token_id"}
    if "result_by_token_id" in answer:
        check_next_tokens(index, request, answer)


def check_error(request: dict[str, Any], recorded: str, answer: dict[str, Any]) -> None:
    if recorded.startswith("ptr must be an even") and "bytes" in request["index"]:
        assert answer["doc_ix"] == 0  # the original wants an even one whatever the width
    elif recorded.startswith(RANK_IS_CALLED_PTR):
        assert answer["error"] == recorded.replace("ptr", "rank")
    elif recorded.startswith("input_ids must") and request["query_type"] == "count":
        assert answer["error"].startswith(("query_ids must be", "Some item(s) in your query_ids"))
    elif request.get("query_ids") == [] and recorded.startswith("cnf"):
        assert answer["count"] == reference_total(request["index"])  # that is every n-gram
    elif recorded.endswith("a positive integer"):
        assert answer["error"].startswith(
            f"{recorded.split(maxsplit=1)[0]} must be an integer in [1, "
        )
    else:
        assert answer["error"] == recorded


def reference_total(name: str) -> int:
    return {"v4_pystdlib_llama": 631_123}[name]


def beyond_limits(index: ServedTokens, request: dict[str, Any]) -> str | None:
    """Return why the service refuses what the engine takes, which has no limits."""
    if (request.get("max_diff_tokens") or 0) > 1000:
        return "max_diff_tokens must be an integer in [1, 1000]!"
    flat = [one for one in request["query_ids"] if isinstance(one, int)]
    if any(one >= index.tokenizer.vocabulary and one != SEPARATOR for one in flat):
        return "Some item(s) in your query_ids are out-of-range!"
    return None


def check_all(indexes: dict[str, ServedTokens], exchanges: list[dict[str, Any]]) -> Counter[str]:
    seen: Counter[str] = Counter()
    requests = [to_request(one) for one in exchanges]
    responses = post_all(indexes, requests)
    for exchange, request, response in zip(exchanges, requests, responses, strict=True):
        status, answer = exchange.get("status", 200), response.json()
        answer.pop("latency", None)
        if status == 200:
            assert response.status_code == 200, exchange["n"]
            index = indexes[request.get("corpus", request.get("index"))]
            problem = exchange["via"] == "engine" and beyond_limits(index, request)
            if problem:
                assert answer["error"] == problem
            else:
                check_exchange(index, exchange, request, answer)
        else:  # 400, or a crash
            assert response.status_code == 400, exchange["n"]
            assert list(answer) == ["error"]
            recorded = exchange["reply"].get("error", "").removeprefix("[Flask] ")
            if status == 400:
                assert answer["error"].startswith(recorded), exchange["n"]
        seen[f"{exchange['via']} {status}"] += 1
    return seen


def test_requests_are_answered_as_by_the_original(indexes: dict[str, ServedTokens]) -> None:
    exchanges = read_lines(HERE / "exchanges.jsonl")
    assert check_all(indexes, exchanges).total() == len(exchanges) == 205


ASKED = {"count", "count_cnf", "find", "find_cnf", "prob", "ntd", "infgram_prob", "infgram_ntd"}
ASKED |= {"get_doc_by_rank", "get_doc_by_ptr"}


def test_all_recorded_requests_are_answered_as_by_the_original(shared: Path) -> None:
    folders = sorted((shared / "tokens" / "index").iterdir())
    tokenizers = shared / "tokens" / "tokenizers"
    indexes = {folder.name: open_index(folder, tokenizers) for folder in folders}
    lines = read_lines(shared / "tokens" / "exchanges.jsonl")
    asked = [one for one in lines if one["via"] == "http" or one["method"] in ASKED]
    posted = [one for one in asked if one["via"] == "engine" or one["method"] == "POST"]
    seen = check_all(indexes, posted)
    assert [seen[f"http {status}"] for status in (200, 400, 415, 500)] == [249, 7, 1, 8]
    assert seen["engine 200"] == len(posted) - 265 > 600


# --- against a count ----------------------------------------------------------------------------


BY_QUERY = {"query_type": "find"}


def drawn_ngram(truth: Reference, rng: random.Random) -> list[int]:
    tokens = rng.choice(truth.shards)
    at = rng.randrange(len(tokens))
    ids: list[int] = tokens[at : at + rng.choice([1, 1, 2, 3, 8])].tolist()
    ids = [one for one in ids if one != truth.separator]
    return ids if rng.random() < 0.8 else [*ids, ids[0] if ids else 5]


@pytest.mark.parametrize("folder", [SHARDED, BACKWARDS, WIDE], ids=lambda folder: folder.name)
def test_any_ngrams_are_counted_found_and_continued(
    indexes: dict[str, ServedTokens], folder: Path
) -> None:
    truth, rng = reference(folder), random.Random(5)
    ngrams = [[], *(drawn_ngram(truth, rng) for _ in range(60))]
    for kind in ("count", "find", "ntd", "infgram_prob", "infgram_ntd"):
        asked = [one for one in ngrams if one or kind != "infgram_prob"]
        requests = [{"index": folder.name, "query_type": kind, "query_ids": one} for one in asked]
        answers = ask_all(indexes, requests)
        for ids, request, answer in zip(asked, requests, answers, strict=True):
            assert answer.get("approx", False) is False
            if kind in {"ntd", "infgram_ntd"}:
                check_next_tokens(indexes[folder.name], request, answer)
            if kind in {"count", "find"}:
                assert answer["count" if kind == "count" else "cnt"] == truth.count(ids)
            if kind.startswith("infgram"):
                prompt = ids[: len(ids) - (kind == "infgram_prob")]
                ends = (prompt[start:] for start in range(len(prompt) + 1))
                longest = next(one for one in ends if truth.count(one))
                assert answer["suffix_len"] == len(longest)
                assert answer["prompt_cnt"] == truth.count(longest)
                assert answer["longest_suffix"] == indexes[folder.name].tokenizer.shown(longest)
            if kind == "infgram_prob":
                assert answer["cont_cnt"] == truth.count([*longest, ids[-1]])
                assert answer["prob"] == answer["cont_cnt"] / answer["prompt_cnt"]


@pytest.mark.parametrize("folder", [SHARDED, BACKWARDS, WIDE], ids=lambda folder: folder.name)
def test_any_clauses_are_counted_exactly_and_lead_to_their_places(
    indexes: dict[str, ServedTokens], folder: Path
) -> None:
    truth, rng = reference(folder), random.Random(6)
    requests, expected = [], []
    for _ in range(10):
        near = [(rng.random() < 0.5 and drawn_ngram(truth, rng)[:1]) or [272] for _ in range(2)]
        clauses = [
            [(drawn_ngram(truth, rng) or [13])[: rng.choice([1, 1, 3])], near[rng.random() < 0.5]]
            for _ in range(rng.choice([1, 2, 2, 3, 4]))
        ]
        distance = rng.choice([1, 2, 5, 20, 100, 1000])
        query = {"index": folder.name, "query_ids": clauses, "max_diff_tokens": distance}
        requests.append(query | {"max_clause_freq": rng.choice([1, 300, 500_000])})
        expected.append(truth.pointers(clauses, distance))
    counts = ask_all(indexes, [one | {"query_type": "count"} for one in requests])
    lists = ask_all(indexes, [one | {"query_type": "find_cnf"} for one in requests])
    assert [one["count"] for one in counts] == [sum(map(len, one)) for one in expected]
    assert [one["ptrs_by_shard"] for one in lists] == expected
    assert sum(one["count"] > 0 for one in counts) > 4
    for request, found in zip(requests[:4], expected[:4], strict=True):
        ids = request["query_ids"]
        places = [{"s": s, "ptr": one[-1]} for s, one in enumerate(found) if one]
        common = {"index": folder.name, "query_type": "get_doc_by_ptr", "query_ids": ids}
        asked = [common | place | {"max_disp_len": 60} for place in places]
        for answer in ask_all(indexes, asked):
            # Behind the tokens before it begins one of the terms that were looked for.
            labelled = [(text, label) for text, label in answer["spans"] if label is not None]
            assert labelled
            assert 0 <= answer["needle_offset"] <= 30
            assert answer["disp_len"] <= 60


@pytest.mark.parametrize("query", ["step by step", "xylofrumptious", "natural language"])
def test_windows_of_documents_held_backwards_are_in_reading_order(
    indexes: dict[str, ServedTokens], query: str
) -> None:
    truth, index = reference(BACKWARDS), indexes[BACKWARDS.name]
    (tokens,), (documents,) = truth.shards, truth.documents
    common = {"index": index.name, "s": 0, "max_disp_len": 21}
    (found,) = ask_all(indexes, [{**BY_QUERY, "index": index.name, "query": query}])
    ids, ((low, high),) = found["token_ids"], found["segment_by_shard"]
    windows: Counter[tuple[int, int, str]] = Counter()
    for start in truth.starts(ids)[0].tolist():
        borders = np.flatnonzero(documents == documents[start])[[0, -1]] + 1
        first, last = max(borders[0], start - 10), min(borders[1], start + 11)
        text = index.tokenizer.shown(tokens[first:last].tolist())
        windows[int(documents[start]) - 1, start - int(first), text] += 1
    ptrs = truth.pointers([[ids]], 1)[0]
    by_ptr = [{**common, "query_type": "get_doc_by_ptr", "query_ids": [], "ptr": p} for p in ptrs]
    by_rank = [
        {**common, "query_type": "get_doc_by_rank", "query_ids": ids, "rank": rank}
        for rank in range(low, high)
    ]
    shown = ask_all(indexes, by_ptr)
    assert windows == Counter(
        (one["doc_ix"], one["needle_offset"], one["spans"][0][0]) for one in shown
    )
    labelled = ask_all(indexes, by_rank)
    short = Counter((one["doc_ix"], one["needle_offset"], one["disp_len"]) for one in labelled)
    assert short == Counter((o["doc_ix"], o["needle_offset"], o["disp_len"]) for o in shown)
    assert all([query, "0"] in one["spans"] for one in labelled)
    assert sum(windows.values()) == high - low > 0


# --- limits and hostile requests ----------------------------------------------------------------


def test_more_than_can_be_counted_exactly_is_refused(
    indexes: dict[str, ServedTokens], monkeypatch: pytest.MonkeyPatch
) -> None:
    clauses = {"index": SHARDED.name, "query": "the OR of"}
    requests = [clauses | {"query_type": kind} for kind in ("count", "find_cnf", "search_docs")]
    next_ones = {"index": BACKWARDS.name, "query_type": "ntd", "query": "the"}
    monkeypatch.setattr(token_protocol, "MOST_OCCURRENCES", 18_000)
    for answer in ask_all(indexes, [*requests, next_ones]):
        assert answer["error"].endswith("looks at 18,000 at most, to be exact")
        assert "token_ids" in answer
    forwards = {**next_ones, "index": SHARDED.name}
    assert ask_all(indexes, [forwards])[0]["prompt_cnt"] == 18_136
    monkeypatch.undo()
    monkeypatch.setattr(token_protocol, "LONGEST_LIST", 18_000)
    count, listed, drawn = ask_all(indexes, requests)
    assert listed["error"].endswith("this server lists 18,000 at most; count tells their number")
    assert count["count"] == drawn["cnt"] > 18_136


VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 3, 1000, 10_001, 65535, 2**31, 2**63, 2**64, -(2**63), 10**400),
    *(
        0.5,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "the",
        "the AND of",
        " OR ",
        "\ud800",
        "a" * 1001,
    ),
    *("\0", "𝒙 AND", "▁", SHARDED.name, BACKWARDS.name, "__class__", "find_cnf", "get_doc_by_ptr"),
    *([], {}, [[]], [[[]]], [[[], [1]]], [1, [2]], [[1]], [[[1]], [[2.0]]], [[[1]], 2], [1] * 501),
    *([[[1]]] * 5, [[[1]] * 5], [[[272]], [[True]]], [65535, 272], [[[65535]], [[272]]], [31_999]),
]
KINDS = ["count", "prob", "ntd", "infgram_prob", "infgram_ntd", "find", "find_cnf"]
KINDS += ["get_doc_by_rank", "get_doc_by_ptr", "search_docs"]
FIELDS = ["index", "corpus", "query_type", "query", "query_ids", "s", "rank", "ptr", "max_support"]
FIELDS += ["max_disp_len", "maxnum", "max_clause_freq", "max_diff_tokens", "source", "x"]


def test_whatever_is_asked_is_answered_or_refused(indexes: dict[str, ServedTokens]) -> None:
    rng, bodies = random.Random(7), []
    for kind in KINDS:
        clauses = kind in {"find_cnf", "get_doc_by_ptr"}
        valid: dict[str, Any] = {
            "index": SHARDED.name,
            "query_type": kind,
            "query": "the AND of" if clauses else "the",
        }
        place = {"rank": 5} if kind == "get_doc_by_rank" else {"ptr": 10}
        valid |= {"s": 0, **place} if kind.startswith("get") else {}
        changed = [{**valid, name: value} for name in FIELDS for value in VALUES]
        for request in [valid, *rng.sample(changed, 250)]:
            if "query_ids" in request and rng.random() < 0.9:
                del request["query"]
            bodies.append(json.dumps(request).encode())
    depth = b"[" * 100_000
    bodies += [
        b'{"query_ids":' + depth,
        b'{"query_ids":' + depth + b"]" * 100_000 + b"}",
        b"[]",
        b"NaN",
    ]
    statuses: Counter[int] = Counter()
    for body, response in zip(bodies, post_all(indexes, bodies), strict=True):
        statuses[response.status_code] += 1
        fields = response.json()
        assert response.status_code in {200, 400}, (body, response.text)
        assert response.status_code == 200 or list(fields) == ["error"]
        assert "error" in fields or "latency" in fields
    assert min(statuses.values()) > 300, statuses


def test_refusals_name_the_field(indexes: dict[str, ServedTokens]) -> None:
    base = {"index": WIDE.name, "query": "the"}
    refused = {
        "Missing required field: 'rank'": base | {"query_type": "get_doc_by_rank", "s": 0},
        "needle is no field of this find": base | {"query_type": "find", "needle": 1},
        "max_support is no field of this prob": base | {"query_type": "prob", "max_support": 1},
        "query has a lone surrogate at character 1": base
        | {"query_type": "find", "query": "a\ud800"},
        "query_type is a list; a string was expected": base | {"query_type": []},
        f"Invalid index: nothing; here are {SHARDED.name}": {**base, "corpus": "nothing"}
        | {"query_type": "find"},
    }
    responses = post_all(indexes, [*refused.values()])
    for problem, response in zip(refused, responses, strict=True):
        assert response.status_code == 400
        assert response.json()["error"].startswith(problem)
    odd = base | {"query_type": "get_doc_by_ptr", "query": "the OR of", "s": 0, "ptr": 2}
    assert ask_all(indexes, [odd])[0]["error"] == (
        "ptr must be a multiple of 4 in range [0, 402816)"
    )


# --- the process --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    folders = (SHARDED, *INDEXES, BACKWARDS)
    with serving("-v", "--tokenizer", str(LLAMA), indexes=folders) as one:
        yield one


def test_each_index_answers_in_its_own_protocol(served: Served) -> None:
    assert send(served.url, None, {}, "GET").json() == [SHARDED.name, BACKWARDS.name]
    listed = {
        one["name"]: one for one in send(served.url, None, {}, "GET", "/indexes").json()["indexes"]
    }
    assert list(listed) == [SHARDED.name, "replay", "replay2", BACKWARDS.name]
    tokens = {"documents": 676, "tokens": 113_764, "tokenizer": LLAMA.name}
    assert listed[SHARDED.name] == {"name": SHARDED.name, "shards": 3, **tokens}
    assert "tokens" not in listed["replay"]
    assert ask(served.url, THE).json().keys() == {"count", "latency"}
    assert ask(served.url, THE | {"index": SHARDED.name}).json()["count"] == 18_136
    wrong = ask(served.url, THE | {"query_type": "ntd"})
    assert wrong.json()["error"].startswith(
        "Invalid query_type: ntd; count, find or get_doc_by_rank"
    )
    text = send(served.url, json.dumps(THE), {"Content-Type": "text/plain"})
    assert text.status_code == 415
    other = send(served.url, b"{}", JSON, "PUT")
    assert other.status_code == 405
    assert set(other.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}
    described = [line for line in served.lines if "documents, " in line]
    assert described[0].endswith(f"676 documents, 113,088 tokens of {LLAMA.name}")
    assert described[3].endswith(f"of {LLAMA.name}, backwards")
    assert any(
        line.endswith(f"--index infini-gram:{served.url}{SHARDED.name}") for line in served.lines
    )


def test_eight_clients_at_once_get_the_answers_of_one(served: Served) -> None:
    words = ["the", "of", "step by step", "natural language", "xylofrumptious", "the OR of"]
    requests = [THE | {"query": word} for word in words]
    requests += [
        {"index": name, "query_type": kind, "query": word}
        for name in (SHARDED.name, BACKWARDS.name)
        for kind in ("count", "ntd", "find_cnf", "infgram_prob")
        for word in words
    ]

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        return {**ask(served.url, request).json(), "latency": None}

    alone = [*map(answer, requests)]
    many = requests * 4
    order = random.Random(8).sample(range(len(many)), len(many))
    with ThreadPoolExecutor(8) as pool:
        together = dict(zip(order, pool.map(lambda n: answer(many[n]), order), strict=True))
    assert [together[n] for n in range(len(many))] == alone * 4


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param([SHARDED], "Error: --tokenizer FILE was expected: ", id="none"),
        pytest.param(
            [SHARDED, "--tokenizer", HERE / "corpus_small.jsonl"],
            "not a tokenizer",
            id="no tokenizer",
        ),
        pytest.param(
            [SHARDED, "--tokenizer", OLMO2], "aren't those of the index", id="another tokenizer"
        ),
        pytest.param(
            [INDEXES[0], "--tokenizer", LLAMA],
            "no index here needs one; leave it out",
            id="not needed",
        ),
        pytest.param([SHARDED, SHARDED, "--tokenizer", LLAMA], "has the same name", id="twice"),
        pytest.param([HERE], "not an index", id="a folder of other things"),
    ],
)
def test_what_can_not_be_served_is_said_at_once(options: list[Any], problem: str) -> None:
    result = invoke("serve", *map(str, options), "--port", "0")
    assert result.code == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
