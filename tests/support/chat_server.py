"""A chat endpoint on loopback, with faults on demand; it can run as a program of its own."""

import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Messages = Sequence[Mapping[str, str]]
Answer = Callable[[Messages], str | None]
"""None: no such reply."""


def hash_of(messages: Messages) -> str:
    """Return the SHA-256 of canonical JSON: sorted keys, ASCII, Python's separators."""
    text = json.dumps([dict(sorted(message.items())) for message in messages])
    return hashlib.sha256(text.encode()).hexdigest()


PASSING, LASTING = ("too_many", "error", "stall", "malformed"), ("refusal", "length")


@dataclass(frozen=True)
class Faults:
    """The share of requests that meet each fault; the rest is answered."""

    too_many: float = 0.0
    error: float = 0.0
    stall: float = 0.0
    malformed: float = 0.0
    refusal: float = 0.0
    length: float = 0.0
    seed: int = 0
    stall_s: float = 1.5

    def choose(self, digest: str, earlier: int) -> str:
        """Return the same for messages sent so often before, in whatever order threads ask."""
        # Refusals and cut answers are the model's: the same however often it is asked.
        for sent, kinds in ((f" {earlier}", PASSING), ("", LASTING)):
            shares = [getattr(self, kind) for kind in kinds]
            dice = random.Random(f"{self.seed} {digest}{sent}")
            fault: str = dice.choices(["", *kinds], [1 - sum(shares), *shares])[0]
            if fault:
                break
        return fault


class Seen:
    """What a server was asked; requests and answers by hash of the messages."""

    def __init__(self) -> None:
        self.requests, self.answered, self.faults = Counter[str](), Counter[str](), Counter[str]()
        self.bodies, self.keys = list[dict[str, Any]](), list[str | None]()
        self.lock = threading.Lock()


class ChatServer(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, answer: Answer, plan: Faults, key: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.plan, self.key, self.seen = answer, plan, key, Seen()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ChatServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server, seen, login = self.server, self.server.seen, self.headers.get("Authorization")
        digest = hash_of(body["messages"])
        with seen.lock:
            seen.bodies.append(body)
            seen.keys.append(login)
            fault = "key" if server.key and login != f"Bearer {server.key}" else ""
            if not fault:
                fault = server.plan.choose(digest, seen.requests[digest])
                seen.requests[digest] += 1
                seen.faults.update([fault] if fault else [])
        match fault:
            case "key":
                self._send(401, _error(f"Incorrect API key provided: {login}"))
            case "too_many":
                self._send(429, _error("slow down"))
            case "error":
                self._send(500, _error("busy"))
            case "stall":
                time.sleep(server.plan.stall_s)
                self.close_connection = True
            case _ if (answer := server.answer(body["messages"])) is None:
                self._send(400, _error("no recorded reply to these messages"))
            case _:
                with seen.lock:
                    seen.answered[digest] += 1
                reply = _reply(body, answer[:5] if fault == "length" else answer, fault)
                self._send(200, reply[: 30 if fault == "malformed" else None])

    def _send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(content)


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message}}).encode()


def _reply(body: dict[str, Any], text: str, kind: str) -> bytes:
    refused = {"content": None, "refusal": "I can't help with that."}
    counts = {
        "prompt_tokens": sum(len(each["content"].split()) for each in body["messages"]),
        "completion_tokens": 0 if kind == "refusal" else len(text.split()),
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    message = refused if kind == "refusal" else {"content": text}
    choice = {"message": message, "finish_reason": "length" if kind == "length" else "stop"}
    said = {"model": f"{body['model']}-0125", "choices": [choice], "usage": counts}
    return json.dumps(said).encode()


@contextmanager
def chat_server(
    answer: Answer = lambda _: "4", faults: Faults | None = None, key: str = ""
) -> Iterator[ChatServer]:
    """Serve for the length of a `with` block, in threads of this process."""
    with ChatServer(answer, faults or Faults(), key) as server:
        # Its poll is how long the block takes to end.
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


if __name__ == "__main__":
    with ChatServer(lambda _: "4", Faults()) as alone:
        print(alone.url, flush=True)  # noqa: T201 - whoever started it waits for the address
        alone.serve_forever()
