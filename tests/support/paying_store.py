"""A store whose bucket has the reader pay, as S3 does: in front of moto, which checks nothing.

Who signs a request, and that the signature covers the payer, is verified by the published rules of
Signature Version 4 (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html).
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import httpx

from tests.support.object_store import KEYS, ObjectStore

PAYER = "x-amz-request-payer"
_PASSED_ON = ("authorization", "range", "if-match", "if-unmodified-since")
_PASSED_BACK = ("etag", "last-modified", "content-range", "content-type", "accept-ranges")


class Denial(NamedTuple):
    """The code and the message of an answer that denies access."""

    code: str
    message: str


NO_ACCESS = Denial("AccessDenied", "Access Denied")


@dataclass
class Answered:
    """One request to the store."""

    path: str
    """With its query, if it lists."""
    is_signed: bool
    is_charged: bool
    """Whether the signed request agrees to pay, so that S3 charges its account."""
    code: str
    """The code of the error that was sent; empty if there was none."""


@dataclass
class PayingStore:
    """Answers for S3 at its endpoint, and records all requests."""

    endpoint: str
    answered: list[Answered] = field(default_factory=list)
    """All requests but look-ups of regions."""
    region_lookups: int = 0
    """Requests for a bucket itself, which S3 denies too, but says its region."""
    failures_left: int = 0
    """Requests that are still to be answered with an error of the server."""
    signed_until: datetime | None = None
    """From then on, addresses that were signed before have expired."""

    @property
    def charged(self) -> list[Answered]:
        return [request for request in self.answered if request.is_charged and not request.code]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        if self.path.count("/") > 1:
            self._answer()
            return
        self.server.store.region_lookups += 1
        self._reply(403, {"x-amz-bucket-region": "us-east-1"}, b"")

    def _answer(self) -> None:
        if self.server.store.failures_left:
            self.server.store.failures_left -= 1
            self._reply(500, {}, b"")
            return
        path, _, query = self.path.partition("?")
        pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
        values = {name: urllib.parse.unquote(value) for name, value in pairs}
        is_signed = "X-Amz-Signature" in values or "Authorization" in self.headers
        pays = self.headers.get(PAYER) == "requester" or values.get(PAYER) == "requester"
        denial = self._denial(path, pairs, values, is_signed, pays)
        listed = f"{path}?prefix={values['prefix']}" if "prefix" in values else path
        code = denial.code if denial else ""
        self.server.store.answered.append(Answered(listed, is_signed, is_signed and pays, code))
        if denial:
            body = f"<Error><Code>{denial.code}</Code><Message>{denial.message}</Message></Error>"
            self._reply(403, {"x-amz-request-id": "1"}, body.encode())
            return
        sent = {name: self.headers[name] for name in _PASSED_ON if name in self.headers}
        reply = self.server.client.request(
            self.command, self.server.behind + self.path, headers=sent
        )
        headers = {name: reply.headers[name] for name in _PASSED_BACK if name in reply.headers}
        headers["x-amz-request-charged"] = "requester"
        if self.command == "HEAD":
            headers["Content-Length"] = reply.headers["Content-Length"]
        self._reply(reply.status_code, headers, reply.content)

    def _denial(
        self,
        path: str,
        pairs: list[tuple[str, str]],
        values: dict[str, str],
        is_signed: bool,
        pays: bool,
    ) -> Denial | None:
        if not is_signed:
            return NO_ACCESS
        scheme = "AWS4-HMAC-SHA256"
        if "X-Amz-Signature" in values:
            credential, signed_at = values["X-Amz-Credential"], values["X-Amz-Date"]
            names, signature = values["X-Amz-SignedHeaders"], values["X-Amz-Signature"]
            payload = "UNSIGNED-PAYLOAD"
            if denial := self._expiry(signed_at, int(values["X-Amz-Expires"])):
                return denial
        else:
            parts = self.headers["Authorization"].removeprefix(scheme).split(",")
            fields = dict(part.strip().split("=", 1) for part in parts)
            credential, names = fields["Credential"], fields["SignedHeaders"]
            signature, signed_at = fields["Signature"], self.headers["X-Amz-Date"]
            payload = self.headers["x-amz-content-sha256"]
        key, _, scope = credential.partition("/")
        if key != KEYS["AWS_ACCESS_KEY_ID"]:
            return Denial("InvalidAccessKeyId", "The AWS Access Key Id does not exist")
        # A header that is signed but not sent counts as empty, and the signature is another one.
        headers = "".join(
            f"{name}:{self.headers.get(name, '').strip()}\n" for name in names.split(";")
        )
        signed_pairs = sorted(pair for pair in pairs if pair[0] != "X-Amz-Signature")
        query = "&".join(f"{name}={value}" for name, value in signed_pairs)
        request = "\n".join([self.command, path, query, headers, names, payload])
        digest = hashlib.sha256(request.encode()).hexdigest()
        text = "\n".join([scheme, signed_at, scope, digest])
        secret = f"AWS4{KEYS['AWS_SECRET_ACCESS_KEY']}".encode()
        for part in scope.split("/"):
            secret = hmac.digest(secret, part.encode(), "sha256")
        if hmac.digest(secret, text.encode(), "sha256").hex() != signature:
            return Denial("SignatureDoesNotMatch", "The signature we calculated does not match")
        covers_payer = PAYER in names.split(";") or PAYER in values
        return None if pays and covers_payer else NO_ACCESS

    def _expiry(self, signed_at: str, lasts_s: int) -> Denial | None:
        moment = datetime.strptime(signed_at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        ends_at = moment + timedelta(seconds=lasts_s)
        signed_until = self.server.store.signed_until
        is_expired = ends_at < datetime.now(UTC) or (signed_until and moment < signed_until)
        return Denial("AccessDenied", "Request has expired") if is_expired else None

    def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        with suppress(ConnectionError):  # a client stops at the first refusal
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


class _Server(ThreadingHTTPServer):
    def __init__(self, behind: str, client: httpx.Client) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind, self.client = behind, client
        self.store = PayingStore(f"http://127.0.0.1:{self.server_port}")


@contextmanager
def paying_store(behind: ObjectStore) -> Iterator[PayingStore]:
    """Answer on a free port for a store of moto, as S3 does for buckets whose readers pay."""
    with (
        httpx.Client(trust_env=False, timeout=60) as client,
        _Server(behind.endpoint, client) as server,
    ):
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.store
        finally:
            server.shutdown()
            thread.join()
