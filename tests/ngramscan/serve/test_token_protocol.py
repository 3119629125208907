"""Indexes over tokens are served as infini-gram was recorded to do, and better where it errs.

Where it errs, the right answer is counted in `tokenized`, read without any code of the package.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ngramscan.serve import token_protocol
from ngramscan.serve.token_protocol import ServedTokens
from tests.support.outputs import refusal
from tests.support.places import TOKENS
from tests.support.serve_process import read_lines
from tests.support.served_tokens import (
    BACKWARDS,
    SEPARATOR,
    SHARDED,
    WIDE,
    ask_all,
    check_next_tokens,
    open_index,
    post_all,
    reference,
)


@pytest.fixture(scope="module")
def indexes() -> dict[str, ServedTokens]:
    return {folder.name: open_index(folder, TOKENS) for folder in (SHARDED, BACKWARDS, WIDE)}


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
        listed = ask_all({index.name: index}, [query | {"query_type": "find_cnf"}])[0]
        places = [(s, ptr) for s, ptrs in enumerate(listed["ptrs_by_shard"]) for ptr in ptrs]
    else:
        listed = ask_all({index.name: index}, [query | {"query_type": "find"}])[0]
        segments = listed["segment_by_shard"]
        places = [(s, rank) for s, (low, high) in enumerate(segments) for rank in range(low, high)]
    assert answer["cnt"] == len(places)
    length = {"max_disp_len": request.get("max_disp_len", 1000)}
    for rank, document in zip(drawn, answer["documents"], strict=True):
        where = {"query_type": kind, "s": places[rank][0], place: places[rank][1]}
        (alone,) = ask_all({index.name: index}, [query | where | length])
        del alone["tokens"]
        assert document == alone | {"token_ids": document["token_ids"]}


def as_by_the_service(index: ServedTokens, reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply of the engine, with the text and the names that the service adds."""
    reply = dict(reply)
    if "token_ids" in reply:
        reply["spans"] = [[index.tokenizer.shown(reply.pop("token_ids")), None]]
    for token, continuation in reply.get("result_by_token_id", {}).items():
        continuation["token"] = index.tokenizer.pieces([int(token)])[0].replace("Ġ", " ")
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
    expected = corrected(Path(index.folder.place), request, reply, index.tokenizer.end_of_text)
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
        assert (request["index"], answer["count"]) == ("v4_pystdlib_llama", 631_123)  # every n-gram
    elif recorded.endswith("a positive integer"):
        assert answer["error"].startswith(
            f"{recorded.split(maxsplit=1)[0]} must be an integer in [1, "
        )
    else:
        assert answer["error"] == recorded


def beyond_limits(index: ServedTokens, request: dict[str, Any]) -> str | None:
    """Return why the service refuses what the engine takes, which has no limits."""
    if (request.get("max_diff_tokens") or 0) > 1000:
        return "max_diff_tokens must be an integer in [1, 1000]!"
    flat = [token for token in request["query_ids"] if isinstance(token, int)]
    if any(token >= index.tokenizer.vocabulary and token != SEPARATOR for token in flat):
        return "Some item(s) in your query_ids are out-of-range!"
    return None


def check_all(indexes: dict[str, ServedTokens], exchanges: list[dict[str, Any]]) -> Counter[str]:
    seen: Counter[str] = Counter()
    requests = [to_request(exchange) for exchange in exchanges]
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


ASKED = {"count", "count_cnf", "find", "find_cnf", "prob", "ntd", "infgram_prob", "infgram_ntd"}
ASKED |= {"get_doc_by_rank", "get_doc_by_ptr"}


def test_all_recorded_requests_are_answered_as_by_the_original(shared: Path) -> None:
    folders = sorted((shared / "tokens" / "index").iterdir())
    tokenizers = shared / "tokens" / "tokenizers"
    indexes = {folder.name: open_index(folder, tokenizers) for folder in folders}
    lines = read_lines(shared / "tokens" / "exchanges.jsonl")
    asked = [line for line in lines if line["via"] == "http" or line["method"] in ASKED]
    posted = [line for line in asked if line["via"] == "engine" or line["method"] == "POST"]
    seen = check_all(indexes, posted)
    assert [seen[f"http {status}"] for status in (200, 400, 415, 500)] == [249, 7, 1, 8]
    assert seen["engine 200"] == len(posted) - 265 > 600


# --- limits and hostile requests ----------------------------------------------------------------


def test_more_than_can_be_counted_exactly_is_refused(
    indexes: dict[str, ServedTokens], monkeypatch: pytest.MonkeyPatch
) -> None:
    clauses = {"index": SHARDED.name, "query": "the OR of"}
    requests = [clauses | {"query_type": kind} for kind in ("count", "find_cnf", "search_docs")]
    next_ones = {"index": BACKWARDS.name, "query_type": "ntd", "query": "the"}
    monkeypatch.setattr(token_protocol, "MOST_OCCURRENCES", 18_000)
    answers = ask_all(indexes, [*requests, next_ones])
    ends = [answer["error"].partition("looks at ")[2] for answer in answers]
    assert ends == ["18,000 at most, to be exact"] * 4
    assert ["token_ids" in answer for answer in answers] == [True] * 4
    forwards = {**next_ones, "index": SHARDED.name}
    assert ask_all(indexes, [forwards])[0]["prompt_cnt"] == 18_136
    monkeypatch.undo()
    monkeypatch.setattr(token_protocol, "LONGEST_LIST", 18_000)
    count, listed, drawn = ask_all(indexes, requests)
    assert listed["error"].endswith("this server lists 18,000 at most; count tells their number")
    assert count["count"] == drawn["cnt"] > 18_136


# --- the process --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param("TOKENS/v4_pysmall_llama_s3", "--tokenizer FILE: ", id="none"),
        pytest.param(
            "TOKENS/v4_pysmall_llama_s3 --tokenizer TOKENS/corpus_small.jsonl",
            "not a tokenizer",
            id="no tokenizer",
        ),
        pytest.param(
            "TOKENS/v4_pysmall_llama_s3 --tokenizer TOKENS/allenai_dolma2.json.gz",
            "aren't those of the index",
            id="another tokenizer",
        ),
        pytest.param(
            "TOKENS/../replay/index/replay2 --tokenizer TOKENS/llamalike.model",
            "no index here needs one; leave it out",
            id="not needed",
        ),
        pytest.param(
            (
                "TOKENS/v4_pysmall_llama_s3 TOKENS/v4_pysmall_llama_s3 --tokenizer "
                "TOKENS/llamalike.model"
            ),
            "has the same name",
            id="twice",
        ),
        pytest.param("TOKENS", "not an index", id="a folder of other things"),
    ],
)
def test_what_can_not_be_served_is_said_at_once(options: str, problem: str) -> None:
    arguments = options.replace("TOKENS", str(TOKENS)).split()
    assert problem in refusal("serve", *arguments, "--port", "0")
