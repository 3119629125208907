"""Connections of clients: what isn't plain HTTP is refused, and who is too slow is given up."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ngramscan.serve.fields import to_json
from ngramscan.serve.request_lengths import ambiguity_of, head_of, is_chunked

HEADERS_S = 10
"""How long the headers of a request may take, from their first byte."""
READING_S = 10
"""How long a client may take to read `LEAST_READ` bytes of its answer, or all that is left."""
LEAST_READ = 10_000
_SYSTEM_BUFFER_BYTES = 1 << 16
MOST_UNREAD = 256
"""Answers that wait for their readers: of more, the one that has waited longest is given up."""


class _OnePacket:
    """A transport that sends at once what is written in one step: a head and a body that is ready.

    Each call of the system costs as much as the search for a short phrase.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, part: bytes) -> None:
        """Send some bytes, with those that follow before the loop takes its next step."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(part)

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that the client has not taken yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._parts))

    def close(self) -> None:
        """Send what is written, and end the connection."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))


class Connection(H11Protocol):
    """Refuses with JSON what isn't plain HTTP; ends connections with slow headers or readers."""

    _headers_until: float | None = None
    """Deadline on the clock of the loop; None: no headers are expected."""
    _unread_bytes = 0
    """Those of the answer that the client had to read when it was last looked at."""
    unread_since: float | None = None
    """When the answer began to wait for its reader, on the clock of the loop; None: it doesn't."""
    _reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Expect headers."""
        super().connection_made(cast(asyncio.Transport, _OnePacket(transport, self.loop)))
        transport.set_write_buffer_limits(high=0)  # so that it says when anything is unread
        # The system takes more only when a third of its own buffer is free: in small steps here, so
        # that a client which reads slowly is seen to read.
        taken = transport.get_extra_info("socket")
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SYSTEM_BUFFER_BYTES)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._end_wait_for_reader()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to read, but not for ever."""
        super().pause_writing()
        self.unread_since = self.loop.time()
        self._watch_reader()
        self._bound_readers()

    def resume_writing(self) -> None:
        """Go on: the client has read everything."""
        self._end_wait_for_reader()
        super().resume_writing()

    def _watch_reader(self) -> None:
        self._unread_bytes = self.transport.get_write_buffer_size()
        self._reading_timer = self.loop.call_later(READING_S, self._check_reader)

    def _end_wait_for_reader(self) -> None:
        if self._reading_timer:
            self._reading_timer.cancel()
        self.unread_since = None

    def give_up_reader(self) -> None:
        """End the connection, whatever the client has not read."""
        self._end_wait_for_reader()
        self.transport.abort()

    def _check_reader(self) -> None:
        """End the connection if the client has read too little since the last look."""
        if self.transport.get_write_buffer_size() > max(0, self._unread_bytes - LEAST_READ):
            self.give_up_reader()
        else:
            self._watch_reader()

    def _bound_readers(self) -> None:
        """End the connection whose answer has waited longest if too many do."""
        waiting = {
            connection: connection.unread_since
            for connection in self.connections
            if isinstance(connection, Connection) and connection.unread_since is not None
        }
        if len(waiting) > MOST_UNREAD:
            min(waiting, key=waiting.__getitem__).give_up_reader()

    def data_received(self, data: bytes) -> None:
        """Read on, and wait for the rest of the headers if they are not complete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._headers_until = None
        elif not self.transport.is_closing():
            self._wait_for_headers()

    def handle_events(self) -> None:
        """Handle a request, unless where it ends can be read in two ways."""
        head = None
        if self.conn.their_state is h11.IDLE:
            head = head_of(self.conn.trailing_data[0])
        if head and (problem := ambiguity_of(head)):
            self.send_400_response(problem)
            return
        super().handle_events()
        if head and self.cycle and is_chunked(head):
            # Chunks have more ways to end: what follows them is not taken for a request.
            self.headers.append((b"connection", b"close"))

    def _wait_for_headers(self) -> None:
        # This is the timer of idle connections; data and the end of a connection stop it.
        if self.timeout_keep_alive_task:
            self.timeout_keep_alive_task.cancel()
        if self._headers_until is None:
            self._headers_until = self.loop.time() + HEADERS_S
        self.timeout_keep_alive_task = self.loop.call_at(
            self._headers_until, self.timeout_keep_alive_handler
        )

    def send_400_response(self, msg: str) -> None:
        """Refuse a request, and end the connection."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            body = to_json({"error": msg})
            head = (
                "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()
