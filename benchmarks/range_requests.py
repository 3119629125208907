"""Small reads of a remote file per second, over a server on this machine that answers late.

    python benchmarks/range_requests.py FILE [LATENCY_MS [CONCURRENCY]]

FILE has some hundred megabytes, of which 50 bytes are read at random places, 1,000 of them at a
time, as searches do. `plain` is the least that a client can do: it sends requests, and checks
nothing. Prints requests per second of it and of ours, medians of runs in turn. The most that is
possible is one request per connection and latency. Aim: at least 5,000 per second.
"""

from __future__ import annotations

import asyncio
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.late_server import LateServer
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import RangeOptions, Ranges, finished

READ_BYTES, READS, ROUNDS, REPEATS = 50, 1_000, 15, 3

Rounds = list[list[int]]


def draw_rounds(size: int, seed: int) -> Rounds:
    """Return the places that are read in each round."""
    draw = random.Random(seed)
    return [[draw.randrange(size - READ_BYTES) for _ in range(READS)] for _ in range(ROUNDS)]


class PlainReader(asyncio.Protocol):
    """A connection that asks for one place after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._places: list[int] = []
        self._received = b""
        self._are_read: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    async def read(self, places: list[int]) -> None:
        """Read some places."""
        self._places = places
        self._are_read = asyncio.get_running_loop().create_future()
        self._ask()
        await self._are_read

    def _ask(self) -> None:
        if not self._places:
            assert self._are_read is not None
            self._are_read.set_result(None)
            return
        start = self._places.pop()
        request = f"GET /{self._name} HTTP/1.1\r\nHost: localhost\r\n"
        request += f"Range: bytes={start}-{start + READ_BYTES - 1}\r\n\r\n"
        self._transport.write(request.encode())

    def data_received(self, data: bytes) -> None:
        self._received += data
        _, end_of_headers, body = self._received.partition(b"\r\n\r\n")
        if end_of_headers and len(body) == READ_BYTES:
            self._received = b""
            self._ask()


def read_plainly(url: str, name: str, rounds: Rounds, concurrency: int) -> float:
    """Return the seconds of connections that check nothing."""
    port = int(url.rstrip("/").rpartition(":")[2])

    async def read_all() -> float:
        loop = asyncio.get_running_loop()
        make = partial(PlainReader, name)
        connections = [
            await loop.create_connection(make, "127.0.0.1", port) for _ in range(concurrency)
        ]
        readers = [reader for _, reader in connections]
        started_at = time.perf_counter()
        for places in rounds:
            reads = [
                reader.read(places[number::concurrency]) for number, reader in enumerate(readers)
            ]
            await asyncio.gather(*reads)
        return time.perf_counter() - started_at

    return asyncio.run(read_all())


async def read_rounds(ranges: Ranges, file: RemoteFile, rounds: Rounds) -> None:
    """Read the places of each round at once."""
    for places in rounds:
        reads = [ranges.start(file, start, start + READ_BYTES) for start in places]
        for reading in reads:
            await finished(reading)


def read_by_ranges(url: str, name: str, rounds: Rounds, concurrency: int) -> float:
    """Return the seconds of our client, after a round that makes connections."""
    with Ranges(RangeOptions(concurrency=concurrency)) as ranges:
        file = ranges.run(ranges.open(url + name))
        assert file is not None
        ranges.run(read_rounds(ranges, file, draw_rounds(file.size, REPEATS)[:1]))
        started_at = time.perf_counter()
        ranges.run(read_rounds(ranges, file, rounds))
        return time.perf_counter() - started_at


def main() -> None:
    path = Path(sys.argv[1]).resolve()
    latency_s = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.03
    concurrency = int(sys.argv[3]) if len(sys.argv) > 3 else 256
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{latency_s * 1000:g} ms per reply, {concurrency} connections")
    if latency_s:
        print(f"{'the most':10} {concurrency / latency_s:7,.0f} requests/s")
    clients: dict[str, Callable[[str, str, Rounds, int], float]] = {
        "plain": read_plainly,
        "ngramscan": read_by_ranges,
    }
    seconds: dict[str, list[float]] = {name: [] for name in clients}
    cpu_s: dict[str, list[float]] = {name: [] for name in clients}
    with LateServer(path.parent, latency_s) as server:
        for seed in range(REPEATS):
            rounds = draw_rounds(path.stat().st_size, seed)
            for name, read in clients.items():
                used_before_s = time.process_time()
                seconds[name].append(read(server.url, path.name, rounds, concurrency))
                cpu_s[name].append(time.process_time() - used_before_s)
    reads = READS * ROUNDS
    for name in clients:
        per_second = reads / statistics.median(seconds[name])
        microseconds = statistics.median(cpu_s[name]) / reads * 1e6
        print(f"{name:10} {per_second:7,.0f} requests/s, {microseconds:.0f} µs of CPU each")


if __name__ == "__main__":
    main()
