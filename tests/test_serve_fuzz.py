"""Whatever clients send, the server answers JSON, stays alive, and keeps its memory."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.serve_process import Served, serving
from tests.support.exchanges import EXCHANGES, ask

CLIENTS = 8
MOST_GROWTH = 50_000_000
VALID = [e["request"]["json"] for e in EXCHANGES if e["valid"] and "json" in e["request"]]
THE = {"index": "replay", "query_type": "count", "query": "the"}
STATUSES = {200, 400, 404, 405, 413, 415, 503}

NAMES = ["index", "query_type", "query", "s", "rank", "max_ctx_len", "needle_len", "", "é", "_"]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 20, 10_000, 10_001, 361_156, 361_157, 2**31, 2**63, 2**64),
    *(-(2**63), 10**30, 10**400, 0.0, 20.0, -0.5, 1e308, float("nan"), float("inf")),
    *("", "replay", "replay2", "count", "find", "get_doc_by_rank", "__class__", "engine", "0"),
    *("the", "\n", "\0", "ภาษา", "𝒙", "\ud800", "\udfff", "\ufeff", "\u2028", "a" * 70_000),
    *([], {}, [[]], {"a": {}}, ["replay"], {"query": "the"}),
]
CONTENT_TYPES = [
    *("text/plain", "application/x-www-form-urlencoded", "", "application", "json", "é", ";"),
    *("application/json; charset=utf-16", "application/problem+json", "APPLICATION/JSON"),
]


@dataclass
class Attack:
    """A request to be."""

    body: bytes
    method: str = "POST"
    path: str = "/"
    content_type: str = "application/json"
    chunks: int = 0


def deep(rng: random.Random) -> bytes:
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}")])
    depth = rng.choice([10, 990, 1_000, 5_000, 100_000])
    return opening * depth + rng.choice([b"", b"1" + closing * depth])


def mutate_fields(rng: random.Random, request: dict[str, Any]) -> dict[str, Any]:
    for _ in range(rng.randint(1, 3)):
        name = rng.choice([*request, *NAMES])
        if rng.random() < 0.3:
            request.pop(name, None)
        else:
            request[name] = rng.choice(VALUES)
    return request


def mutate_bytes(rng: random.Random, body: bytes) -> bytes:
    cut = bytearray(body)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(cut) + 1)
        match rng.randrange(4):
            case 0:
                del cut[at:]
            case 1:
                cut[at:at] = rng.randbytes(rng.randint(1, 9))
            case 2:
                cut[at : at + 1] = bytes([rng.randrange(256)])
            case _:
                cut[at:at] = rng.choice([b"\xff", b"\xed\xa0\x80", b"\xc3", b"\\ud800", b'"', b"}"])
    return bytes(cut)


def build(rng: random.Random) -> Attack:
    request = dict(rng.choice(VALID))
    plain = json.dumps(request).encode()
    builders: list[tuple[int, Callable[[], Attack]]] = [
        (15, lambda: Attack(plain)),
        (45, lambda: Attack(json.dumps(mutate_fields(rng, request)).encode())),
        (20, lambda: Attack(mutate_bytes(rng, plain))),
        (3, lambda: Attack(deep(rng))),
        (3, lambda: Attack(plain.decode().encode(rng.choice(["utf-16", "utf-32", "utf-8-sig"])))),
        (3, lambda: Attack(rng.randbytes(rng.randrange(300)))),
        (3, lambda: Attack(plain, content_type=rng.choice(CONTENT_TYPES))),
        (2, lambda: Attack(plain, method=rng.choice(["GET", "PUT", "PATCH", "DELETE", "BREW"]))),
        (
            2,
            lambda: Attack(plain, path=rng.choice(["/x", "//", "/?a=1", "/indexes", "/%00", "/é"])),
        ),
        (3, lambda: Attack(plain, chunks=rng.randint(1, 9))),
        (1, lambda: Attack(b" " * rng.choice([999_000, 1_000_001, 1_500_000]) + plain)),
    ]
    made = [attack for _, attack in builders]
    return rng.choices(made, [weight for weight, _ in builders])[0]()


def raw(attack: Attack, host: str) -> bytes:
    head = (
        f"{attack.method} {attack.path} HTTP/1.1\r\nHost: {host}\r\n"
        f"Content-Type: {attack.content_type}\r\n"
    )
    return head.encode() + f"Content-Length: {len(attack.body)}\r\n\r\n".encode() + attack.body


class Client:
    """Sends its share of the attacks over connections that it keeps while they last."""

    def __init__(self, server: Served, seed: int) -> None:
        self.rng = random.Random(seed)
        self.server = server
        self.connection: http.client.HTTPConnection | None = None
        self.statuses: list[int] = []

    def run(self, requests: int) -> list[int]:
        for _ in range(requests):
            attack = build(self.rng)
            if self.rng.random() < 0.05:
                self.abort(attack)
            else:
                self.ask(attack)
        if self.connection:
            self.connection.close()
        return self.statuses

    def ask(self, attack: Attack) -> None:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        body: bytes | Iterator[bytes] = attack.body
        if attack.chunks:
            size = len(attack.body) // attack.chunks + 1
            body = iter([attack.body[at : at + size] for at in range(0, len(attack.body), size)])
        path = attack.path.replace("é", "%C3%A9")
        headers = {"Content-Type": attack.content_type.encode().decode("latin-1")}
        encode = bool(attack.chunks)
        self.connection.request(attack.method, path, body, headers, encode_chunked=encode)
        response = self.connection.getresponse()
        text = response.read()
        self.check(attack, response, text)
        if response.will_close:
            self.connection.close()
            self.connection = None

    def check(self, attack: Attack, response: http.client.HTTPResponse, text: bytes) -> None:
        assert response.status in STATUSES, attack
        assert response.headers["Content-Type"] == "application/json", attack
        document = json.loads(text)
        assert isinstance(document, dict), attack
        assert response.status == 200 or list(document) == ["error"], attack
        self.statuses.append(response.status)

    def abort(self, attack: Attack) -> None:
        """Send a part, perhaps in pieces, and leave without waiting for the answer."""
        message = raw(attack, "127.0.0.1")[:100_000]
        message = message[: self.rng.randrange(len(message) + 1)]
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
            half = len(message) // 2
            try:
                connection.sendall(message[:half])
                connection.sendall(message[half:])
            except ConnectionError:
                return  # told that the first half was wrong
            if self.rng.random() < 0.5:  # reset instead of a proper end
                linger = b"\1\0\0\0\0\0\0\0"
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def attack_all(server: Served, requests: int, seed: int) -> list[int]:
    clients = [Client(server, seed * CLIENTS + number) for number in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        shares = pool.map(lambda client: client.run(requests // CLIENTS), clients)
        return [status for share in shares for status in share]


@pytest.mark.parametrize(
    "requests", [pytest.param(2_000), pytest.param(10_000, marks=pytest.mark.slow)]
)
def test_server_outlives_any_requests(requests: int) -> None:
    with serving() as server:
        attack_all(server, 1_000, seed=1)  # memory that allocators keep is not growth
        before = server.resident_bytes()
        statuses = attack_all(server, requests, seed=2)
        growth = server.resident_bytes() - before
        assert server.process.poll() is None
        assert ask(server.url, THE).json["count"] == 2918
        assert len(statuses) > 0.9 * requests
        assert {200, 400, 404, 405, 413, 415} <= set(statuses)
        assert growth < MOST_GROWTH, f"{growth:,} bytes"
        assert server.end(signal.SIGTERM) == 0
        assert len(server.lines) == 4, server.lines  # no traceback


def test_clients_that_stall_stop_nobody() -> None:
    with serving() as server, contextlib.ExitStack() as clients:
        address = ("127.0.0.1", server.port)
        half = raw(Attack(json.dumps(THE).encode()), f"127.0.0.1:{server.port}")[:-5]
        stalled = [
            clients.enter_context(socket.create_connection(address, timeout=30)) for _ in range(50)
        ]
        for number, connection in enumerate(stalled):
            connection.sendall(half[: len(half) if number % 2 else 30])
        for _ in range(20):
            assert ask(server.url, THE).json["count"] == 2918
        reply = b"".join(iter(lambda: stalled[1].recv(65536), b""))  # closed after the time-out
        assert reply.startswith(b"HTTP/1.1 408 ")
