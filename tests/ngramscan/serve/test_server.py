"""A server from its start to its end: what it tells, the port it takes, whom it waits for."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator

import pytest

from ngramscan.serve import server
from tests.support.dask_cluster import wait_until
from tests.support.serve_process import (
    THE,
    Served,
    ask,
    serving,
)

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

WHOLE = HEAD + f"Content-Length: {len(json.dumps(THE))}\r\n\r\n{json.dumps(THE)}".encode()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("-v", "--allow-host", "Corpora.Example") as one:
        yield one


def test_start_tells_where_and_how_and_verbose_each_request(served: Served) -> None:
    url = served.url
    assert ask(url, THE).status_code == 200
    wait_until(lambda: any(line.startswith("200 in ") for line in served.lines))
    told = [line for line in served.lines if not line.startswith("compiling the index reader")]
    assert told[:5] == [
        f"{url}replay: 257 documents, 361 kB of text",
        f"{url}replay2: 257 documents, 361 kB of text",
        f"{url} in a browser: a page to search",
        f"curl {url} -H 'Content-Type: application/json' -d "
        """'{"index": "replay", "query_type": "count", "query": "step by step"}'""",
        f"ngramscan count f1 --index {url}replay",
    ]
    assert any(line.startswith("200 in ") for line in told[5:])


def test_port_is_free_at_once_and_end_waits_for_requests_under_way() -> None:
    with server.open_socket("127.0.0.1", 0) as before:
        before.listen()
        port = before.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            before.accept()[0].close()  # the side that closes first keeps the port for a minute
    with serving(port=port) as one:
        assert one.port == port
        idle = socket.create_connection(("127.0.0.1", one.port), timeout=60)
        asking = socket.create_connection(("127.0.0.1", one.port), timeout=60)
        with idle, asking:
            asking.sendall(WHOLE[:-10])
            assert ask(one.url, THE).status_code == 200  # so the other one has arrived
            one.process.send_signal(signal.SIGTERM)
            assert idle.recv(100) == b""  # closed: it ends
            asking.sendall(WHOLE[-10:])
            reply = b"".join(iter(lambda: asking.recv(65536), b""))
        assert reply.startswith(b"HTTP/1.1 200 ")
        assert json.loads(reply.partition(b"\r\n\r\n")[2])["count"] == 2918
        assert one.end() == 0
        assert not [line for line in one.lines if "Traceback" in line]
