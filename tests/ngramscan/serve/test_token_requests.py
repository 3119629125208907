"""Any requests over tokens: answers are counted by an oracle, refusals name the field."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan.serve.token_protocol import ServedTokens
from ngramscan.serve.token_requests import OutOfRangeError, check_limits, limit, read_query
from tests.support.serve_process import INDEXES, JSON, THE, Served, ask, send, serving
from tests.support.served_tokens import (
    BACKWARDS,
    LLAMA,
    SHARDED,
    WIDE,
    ask_all,
    check_next_tokens,
    open_index,
    post_all,
    reference,
)
from tests.support.token_oracle import TokenOracle


@pytest.fixture(scope="module")
def indexes() -> dict[str, ServedTokens]:
    return {folder.name: open_index(folder) for folder in (SHARDED, BACKWARDS, WIDE)}


BY_QUERY = {"query_type": "find"}


def drawn_ngram(truth: TokenOracle, rng: random.Random) -> list[int]:
    tokens = rng.choice(truth.shards)
    at = rng.randrange(len(tokens))
    ids: list[int] = tokens[at : at + rng.choice([1, 1, 2, 3, 8])].tolist()
    ids = [token for token in ids if token != truth.separator]
    return ids if rng.random() < 0.8 else [*ids, ids[0] if ids else 5]


@pytest.mark.parametrize("kind", ["count", "find", "ntd", "infgram_prob", "infgram_ntd"])
@pytest.mark.parametrize("folder", [SHARDED, BACKWARDS, WIDE], ids=lambda folder: folder.name)
def test_any_ngrams_are_counted_found_and_continued(
    indexes: dict[str, ServedTokens], folder: Path, kind: str
) -> None:
    truth, rng = reference(folder), random.Random(5)
    ngrams = [[], *(drawn_ngram(truth, rng) for _ in range(60))]
    asked = [ids for ids in ngrams if ids or kind != "infgram_prob"]
    requests = [{"index": folder.name, "query_type": kind, "query_ids": ids} for ids in asked]
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
            longest = next(end for end in ends if truth.count(end))
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
    counts = ask_all(indexes, [request | {"query_type": "count"} for request in requests])
    lists = ask_all(indexes, [request | {"query_type": "find_cnf"} for request in requests])
    assert [answer["count"] for answer in counts] == [sum(map(len, shards)) for shards in expected]
    assert [answer["ptrs_by_shard"] for answer in lists] == expected
    assert sum(answer["count"] > 0 for answer in counts) > 4
    for request, shards in zip(requests[:4], expected[:4], strict=True):
        ids = request["query_ids"]
        places = [{"s": s, "ptr": ptrs[-1]} for s, ptrs in enumerate(shards) if ptrs]
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
        (window["doc_ix"], window["needle_offset"], window["spans"][0][0]) for window in shown
    )
    labelled = ask_all(indexes, by_rank)
    short = Counter(
        (window["doc_ix"], window["needle_offset"], window["disp_len"]) for window in labelled
    )
    assert short == Counter(
        (window["doc_ix"], window["needle_offset"], window["disp_len"]) for window in shown
    )
    assert all([query, "0"] in window["spans"] for window in labelled)
    assert sum(windows.values()) == high - low > 0


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


FIELDS = ["index", "corpus", "query_type", "query", "query_ids", "s", "rank", "ptr", "max_support"]


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


BASE: dict[str, Any] = {"index": WIDE.name, "query": "the"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            {"query_type": "get_doc_by_rank", "s": 0},
            "Missing required field: 'rank'",
            id="a field that is needed",
        ),
        pytest.param(
            {"query_type": "find", "needle": 1},
            "needle is not a field of this find",
            id="a field that is not known",
        ),
        pytest.param(
            {"query_type": "prob", "max_support": 1},
            "max_support is not a field of this prob",
            id="a field of another kind",
        ),
        pytest.param(
            {"query_type": "find", "query": "a\ud800"},
            "query has a lone surrogate at character 1",
            id="half of a character",
        ),
        pytest.param(
            {"query_type": []}, "query_type is a list; expected a string", id="a list for a text"
        ),
        pytest.param(
            {"query_type": "find", "corpus": "nothing"},
            f"Invalid index: nothing; available: {SHARDED.name}",
            id="an index that is not there",
        ),
    ],
)
def test_refusals_name_the_field(
    indexes: dict[str, ServedTokens], change: dict[str, Any], problem: str
) -> None:
    (response,) = post_all(indexes, [BASE | change])
    assert response.status_code == 400
    assert response.json()["error"].startswith(problem)


def test_a_place_that_no_token_has_is_told_with_the_range(
    indexes: dict[str, ServedTokens],
) -> None:
    odd = BASE | {"query_type": "get_doc_by_ptr", "query": "the OR of", "s": 0, "ptr": 2}
    (answer,) = ask_all(indexes, [odd])
    assert answer["error"] == "ptr must be a multiple of 4 in range [0, 402816)"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    folders = (SHARDED, *INDEXES, BACKWARDS)
    with serving("-v", "--tokenizer", str(LLAMA), indexes=folders) as running:
        yield running


def test_each_index_answers_in_its_own_protocol(served: Served) -> None:
    assert send(served.url, None, {}, "GET").json() == [SHARDED.name, BACKWARDS.name]
    listed = {
        index["name"]: index
        for index in send(served.url, None, {}, "GET", "/indexes").json()["indexes"]
    }
    assert list(listed) == [SHARDED.name, "replay", "replay2", BACKWARDS.name]
    tokens = {"documents": 676, "tokens": 113_764, "tokenizer": LLAMA.name}
    assert listed[SHARDED.name] == {"name": SHARDED.name, "shards": 3, **tokens}
    assert "tokens" not in listed["replay"]
    assert ask(served.url, THE).json().keys() == {"count", "latency"}
    assert ask(served.url, THE | {"index": SHARDED.name}).json()["count"] == 18_136
    wrong = ask(served.url, THE | {"query_type": "ntd"})
    assert wrong.json()["error"].startswith(
        "Invalid query_type: ntd; expected count, find or get_doc_by_rank"
    )
    text = send(served.url, json.dumps(THE), {"Content-Type": "text/plain"})
    assert text.status_code == 415
    put = send(served.url, b"{}", JSON, "PUT")
    assert put.status_code == 405
    assert set(put.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}
    described = [line for line in served.lines if "documents, " in line]
    assert described[0].endswith(f"676 documents, 113,088 tokens of {LLAMA.name}")
    assert described[3].endswith(f"of {LLAMA.name}, backwards")
    assert any(
        line.endswith(f"--index infini-gram:{served.url}{SHARDED.name}") for line in served.lines
    )


LIMITS = {
    "max_clause_freq": 500_000,
    "max_diff_tokens": 1_000,
    "max_support": 1_000,
    "maxnum": 10,
    "max_disp_len": 10_000,
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param(name, value, id=f"{name}-{value}")
        for name, most in LIMITS.items()
        for value in (1, most, None)
    ],
)
def test_numbers_are_taken_from_1_to_their_limit(name: str, value: int | None) -> None:
    check_limits({name: value}, [name])


@pytest.mark.parametrize(("name", "most"), LIMITS.items(), ids=LIMITS)
def test_a_number_of_another_type_of_query_has_no_limit(name: str, most: int) -> None:
    check_limits({name: most + 1}, [])


@pytest.mark.parametrize(("name", "most"), LIMITS.items(), ids=LIMITS)
@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1"], ids=repr)
def test_what_is_no_number_of_at_least_1_is_refused(name: str, most: int, value: object) -> None:
    with pytest.raises(OutOfRangeError) as caught:
        check_limits({name: value}, [name])
    assert str(caught.value) == f"{name} must be an integer in [1, {most}]!"


@pytest.mark.parametrize(("name", "most"), LIMITS.items(), ids=LIMITS)
def test_one_more_than_a_limit_is_refused(name: str, most: int) -> None:
    with pytest.raises(OutOfRangeError) as caught:
        check_limits({name: most + 1}, [name])
    assert str(caught.value) == f"{name} must be an integer in [1, {most}]!"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param("max_diff_tokens", 100, id="max_diff_tokens"),
        pytest.param("maxnum", 1, id="maxnum"),
        pytest.param("max_disp_len", 1_000, id="max_disp_len"),
    ],
)
def test_numbers_that_are_not_given_are_those_of_the_original(name: str, number: int) -> None:
    assert limit({}, name) == number
    assert limit({name: None}, name) == number
    assert limit({name: 7}, name) == 7


@pytest.mark.parametrize(
    ("request_fields", "problem"),
    [
        pytest.param({"query": 5}, "query must be a string!", id="no text"),
        pytest.param(
            {"query": "a" * 1_001}, "Please limit your input to <= 1000 characters!", id="long text"
        ),
        pytest.param(
            {"query_ids": "x"},
            "query_ids must be a list of integers, or a triply-nested list of integers!",
            id="no list",
        ),
        pytest.param(
            {"query_ids": [5] * 501}, "Please limit your input to <= 500 tokens!", id="many tokens"
        ),
        pytest.param(
            {"query_ids": [[[5]]] * 5},
            "Please enter at most 4 disjunctive clauses!",
            id="many clauses",
        ),
        pytest.param(
            {"query_ids": [[[5]] * 5]},
            "Please enter at most 4 terms in each disjunctive clause!",
            id="many terms",
        ),
    ],
)
def test_queries_beyond_the_limits_are_refused_as_by_the_original(
    indexes: dict[str, ServedTokens], request_fields: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OutOfRangeError) as caught:
        read_query(indexes[SHARDED.name], request_fields)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    "request_fields",
    [
        pytest.param({"query": "a" * 1_000}, id="longest text"),
        pytest.param({"query_ids": [5] * 500}, id="most tokens"),
        pytest.param({"query_ids": [[[5]] * 4] * 4}, id="most clauses and terms"),
    ],
)
def test_queries_of_just_the_limits_are_read(
    indexes: dict[str, ServedTokens], request_fields: dict[str, Any]
) -> None:
    query = read_query(indexes[SHARDED.name], request_fields)
    assert query.ids == request_fields.get("query_ids", query.ids)
    assert query.has_clauses == isinstance(query.ids[0], list)
