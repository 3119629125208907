"""Indexes over tokens behind the protocol, without a socket, and what is true of them."""

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.progress import Progress
from ngramscan.serve.app import IndexApplication
from ngramscan.serve.server import open_tokens
from ngramscan.serve.token_protocol import ServedTokens
from tests.support.places import TOKENS
from tests.support.serve_process import JSON
from tests.support.token_oracle import TokenOracle

LLAMA, OLMO2 = TOKENS / "llamalike.model", TOKENS / "allenai_dolma2.json.gz"
SHARDED, BACKWARDS, WIDE = (
    TOKENS / name for name in ("v4_pysmall_llama_s3", "v5_pysmall_llama", "v4_pysmall_olmo2")
)
TOKENIZERS = {"llama": LLAMA.name, "olmo": "allenai_gpt-neox-olmo-dolma-v1_5.json.gz"}
TOKENIZERS |= {"olmo2": OLMO2.name}
SEPARATOR = 65535


reference = cache(TokenOracle)
"""Returns what is true of the tokens of a folder."""


def open_index(folder: Path, tokenizers: Path = TOKENS) -> ServedTokens:
    """Return an index with its tokenizer, which is among some."""
    kind = folder.name.split("_")[2]
    path = None if kind == "bytes" else tokenizers / TOKENIZERS[kind]
    return open_tokens(folder.name, open_token_folder(folder), path)


def post_all(indexes: dict[str, ServedTokens], bodies: Sequence[Any]) -> list[httpx.Response]:
    """Send requests to the service, JSON or bytes, without a socket."""

    async def post() -> list[httpx.Response]:
        service = IndexApplication(dict(indexes), 2, Progress(), {"localhost"})
        transport = httpx.ASGITransport(service.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            bytes_of = [
                body if isinstance(body, bytes) else json.dumps(body).encode() for body in bodies
            ]
            return [await client.post("/", content=body, headers=JSON) for body in bytes_of]

    return asyncio.run(post())


def ask_all(indexes: dict[str, ServedTokens], requests: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the answers to requests, of which none is refused, without their times."""
    answers = []
    for request, response in zip(requests, post_all(indexes, requests), strict=True):
        assert response.status_code == 200, (request, response.text)
        answers.append(response.json())
        assert answers[-1].pop("latency", 0.0) >= 0
    return answers


def check_next_tokens(index: ServedTokens, request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Check all of a distribution against a count."""
    ids = answer["token_ids"]
    ids = ids[len(ids) - answer["suffix_len"] :] if "suffix_len" in answer else ids
    counted = reference(Path(index.folder.place)).next_tokens(ids, index.tokenizer.end_of_text)
    result = answer["result_by_token_id"]
    assert {token: told["cont_cnt"] for token, told in result.items()} == counted, request
    assert answer["prompt_cnt"] == sum(counted.values())
    assert {token: told["prob"] for token, told in result.items()} == {
        token: count / answer["prompt_cnt"] for token, count in counted.items()
    }
    pieces = {token: index.tokenizer.pieces([int(token)])[0] for token in counted}
    assert {token: told["token"] for token, told in result.items()} == {
        token: piece.replace("Ġ", " ") for token, piece in pieces.items()
    }
