"""Connections of clients: anything but plain HTTP is refused, slow clients are disconnected."""

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
"""Maximum of responses that wait for their readers; beyond it, the longest-waiting is aborted."""


class _OnePacket:
    """A transport that combines writes within one step of the loop, such as a head and its body.

    Each system call costs as much as the search for a short phrase.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, part: bytes) -> None:
        """Send some bytes, together with later ones before the loop's next step."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(part)

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that the client has not taken yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._parts))

    def close(self) -> None:
        """Flush, and close the connection."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))


class Connection(H11Protocol):
    """Refuses anything but plain HTTP, with JSON; closes connections of slow clients."""

    _headers_until: float | None = None
    """Deadline on the clock of the loop; None if no headers are expected."""
    _unread_bytes = 0
    """Unread bytes of the response at the last check."""
    unread_since: float | None = None
    """When the response began to wait for its reader, on the loop's clock; None if it doesn't."""
    _reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Expect headers."""
        super().connection_made(cast(asyncio.Transport, _OnePacket(transport, self.loop)))
        transport.set_write_buffer_limits(high=0)  # so that it says when anything is unread
        # The system takes more only when a third of its own buffer is free: in small steps here, so
        # that a client which reads slowly is seen to read.
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SYSTEM_BUFFER_BYTES)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._end_wait_for_reader()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to read, with a timeout."""
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
        """Close the connection if the client has read too little since the last check."""
        if self.transport.get_write_buffer_size() > max(0, self._unread_bytes - LEAST_READ):
            self.give_up_reader()
        else:
            self._watch_reader()

    def _bound_readers(self) -> None:
        """If too many responses wait, close the connection of the longest-waiting one."""
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
        """Handle a request, unless its end is ambiguous."""
        head = None
        if self.conn.their_state is h11.IDLE:
            head = head_of(self.conn.trailing_data[0])
        if head and (problem := ambiguity_of(head)):
            self.send_400_response(problem)
            return
        super().handle_events()
        if head and self.cycle and is_chunked(head):
            # The end of chunks is ambiguous in more ways, so no request is accepted after them.
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
