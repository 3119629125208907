"""Whatever clients send, the server answers JSON, stays alive, and keeps its memory."""

import http.client
import json
import math
import random
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any, NamedTuple

from tests.support.command import NGRAMSCAN
from tests.support.serve_process import EXCHANGES, THE, ask, serving
from tests.support.sizes import sets

CLIENTS = 8
MOST_GROWTH = 50_000_000
VALID = [e["request"]["json"] for e in EXCHANGES if e["valid"] and "json" in e["request"]]
STATUSES = {200, 400, 404, 405, 413, 415}

NAMES = [*VALID[0], "s", "rank", "max_ctx_len", "needle_len", "", "é", "_"]
VALUES: list[Any] = [
    *(None, True, False),
    *(0, 1, -1, 20, 10_000, 10_001, 361_156, 361_157),
    *(2**31, 2**63, 2**64, -(2**63), 10**30, 10**400),
    *(0.0, 20.0, -0.5, 1e308, math.nan, math.inf),
    *("", "replay", "replay2", "count", "find", "get_doc_by_rank", "__class__", "engine"),
    *("0", "the", "\n", "\0", "ภาษา", "𝒙", "\ud800", "\udfff", "\ufeff", "\u2028"),
    *([], {}, [[]], {"a": {}}, ["replay"], {"query": "the"}),
    "a" * 70_000,
]
CONTENT_TYPES = ["text/plain", "", "application", "json", "é", ";", "application/problem+json"]
PATHS = ["/x", "//", "/?a=1", "/indexes", "/%00", "/%C3%A9"]
PIECES = [b"\xff", b"\xed\xa0\x80", b"\xc3", b"\\ud800", b'"', b"}"]


class Attack(NamedTuple):
    body: bytes
    method: str = "POST"
    path: str = "/"
    content_type: str = "application/json"
    chunks: int = 0


def mutate_fields(rng: random.Random, request: dict[str, Any]) -> bytes:
    request = dict(request)
    for _ in range(rng.randint(1, 3)):
        name = rng.choice([*request, *NAMES])
        if rng.random() < 0.3:
            request.pop(name, None)
        else:
            request[name] = rng.choice(VALUES)
    return json.dumps(request).encode()


def mutate_bytes(rng: random.Random, body: bytes) -> bytes:
    cut = bytearray(body)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(cut) + 1)
        stop = rng.choice([at, at + 1, len(cut)])
        cut[at:stop] = rng.choice([b"", rng.randbytes(rng.randint(1, 9)), rng.choice(PIECES)])
    return bytes(cut)


def build(rng: random.Random) -> Attack:
    request, depth = rng.choice(VALID), rng.choice([10, 990, 1_000, 5_000, 100_000])
    plain = json.dumps(request).encode()
    weighted = {
        Attack(plain): 15,
        Attack(mutate_fields(rng, request)): 45,
        Attack(mutate_bytes(rng, plain)): 20,
        Attack(b"[" * depth + rng.choice([b"", b"1" + b"]" * depth])): 3,
        Attack(plain.decode().encode(rng.choice(["utf-16", "utf-32", "utf-8-sig"]))): 3,
        Attack(rng.randbytes(rng.randrange(300))): 3,
        Attack(plain, content_type=rng.choice(CONTENT_TYPES)): 3,
        Attack(plain, method=rng.choice(["GET", "PUT", "PATCH", "DELETE", "BREW"])): 2,
        Attack(plain, path=rng.choice(PATHS)): 2,
        Attack(plain, chunks=rng.randint(1, 9)): 3,
        Attack(b" " * rng.choice([999_000, 1_000_001, 1_500_000]) + plain): 1,
    }
    return rng.choices([*weighted], [*weighted.values()])[0]


def ask_all(port: int, seed: int, requests: int) -> list[int]:
    """Attack over a connection that is kept while it lasts; return the statuses."""
    rng, statuses = random.Random(seed), []
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        for _ in range(requests):
            attack = build(rng)
            if rng.random() < 0.05:
                leave_early(port, attack, rng)
                continue
            size = len(attack.body) // (attack.chunks or 1) + 1
            parts = [attack.body[at : at + size] for at in range(0, len(attack.body), size)]
            body = iter(parts) if attack.chunks else attack.body
            headers = {"Content-Type": attack.content_type.encode().decode("latin-1")}
            chunked = bool(attack.chunks)
            connection.request(attack.method, attack.path, body, headers, encode_chunked=chunked)
            response = connection.getresponse()  # it connects again where this closes
            document = json.loads(response.read())
            assert response.status in STATUSES | {503}, attack
            assert response.headers["Content-Type"] == "application/json", attack
            assert response.status == 200 or list(document) == ["error"], attack
            statuses.append(response.status)
    return statuses


def leave_early(port: int, attack: Attack, rng: random.Random) -> None:
    """Send a part, perhaps in pieces, and leave without waiting for the answer."""
    head = f"{attack.method} {attack.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head += f"Content-Type: {attack.content_type}\r\nContent-Length: {len(attack.body)}\r\n\r\n"
    message = (head.encode() + attack.body)[:100_000]
    message = message[: rng.randrange(len(message) + 1)]
    half = len(message) // 2
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with suppress(ConnectionError):  # told that the first half was wrong
            connection.sendall(message[:half])
            connection.sendall(message[half:])
        if rng.random() < 0.5:  # reset instead of a proper end
            linger = b"\1\0\0\0\0\0\0\0"
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def test_server_outlives_any_requests() -> None:
    requests = sets(200)
    with serving(program=NGRAMSCAN) as server, ThreadPoolExecutor(CLIENTS) as pool:

        def attack(requests: int, seed: int) -> list[int]:
            share = requests // CLIENTS
            futures = [pool.submit(ask_all, server.port, seed + n, share) for n in range(CLIENTS)]
            return [status for future in futures for status in future.result()]

        warm = attack(requests // 2, seed=100)  # memory that allocators keep is not growth
        before = server.resident_bytes()
        statuses = attack(requests, seed=200)
        growth = server.resident_bytes() - before
        assert server.process.poll() is None
        assert ask(server.url, THE).json()["count"] == 2918
        assert len(statuses) > 0.9 * requests
        assert {*warm, *statuses} >= STATUSES
        assert growth < MOST_GROWTH, f"{growth:,} bytes"
        assert server.end(signal.SIGINT) == 130
        assert not [line for line in server.lines if "Traceback" in line or "Error" in line]
