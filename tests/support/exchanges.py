"""Questions to the original service and its answers, as recorded, and how they are asked again."""

from __future__ import annotations

import http.client
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


def read_lines(name: str) -> list[dict[str, Any]]:
    text = (TESTS / "replay" / name).read_text(encoding="utf-8")
    # split at \n only: the documents hold other line separators
    return [json.loads(line) for line in text.split("\n") if line]


EXCHANGES = read_lines("exchanges.jsonl")
RECORDED = [json.loads(file.read_bytes()) for file in sorted(TESTS.glob("recorded/*.json"))]


@dataclass
class Answer:
    """What came back; `status` None: the connection was closed instead."""

    status: int | None
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def send(url: str, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
    host = url.removeprefix("http://").rstrip("/")
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        sent = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, sent, response.read().decode())
    except http.client.RemoteDisconnected:
        return Answer(None, {}, "")
    finally:
        connection.close()


def ask(url: str, document: object) -> Answer:
    body = json.dumps(document).encode()
    return send(url, "POST", "/", body, {"Content-Type": "application/json"})


def replay(url: str, request: dict[str, Any]) -> Answer:
    body: bytes | None = None
    if "json" in request:
        body = json.dumps(request["json"]).encode()
    elif "body_hex" in request:
        body = bytes.fromhex(request["body_hex"])
    elif "body" in request:
        body = request["body"].encode()
    elif "raw_body" in request:  # one character per byte
        body = request["raw_body"].encode("latin-1")
    headers = {} if body is None else {"Content-Type": "application/json"}
    headers |= request.get("headers", {})
    if "content_type" in request:
        headers["Content-Type"] = request["content_type"]
    kept = {name: value for name, value in headers.items() if value is not None}
    return send(url, request["method"], request["path"], body, kept)


def comparable(body: Any) -> Any:
    """Blank what differs from one answer to the next: time, addresses, empty segments."""
    if not isinstance(body, dict):
        return body
    blank = dict(body)
    if "latency" in blank:
        blank["latency"] = None
    if "error" in blank:
        blank["error"] = re.sub(r"0x[0-9a-f]+", "0x0", blank["error"])
    if "segment_by_shard" in blank:
        segments = blank["segment_by_shard"]
        blank["segment_by_shard"] = [[lo, hi] if lo < hi else [0, 0] for lo, hi in segments]
    return blank
