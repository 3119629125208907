"""Counts per second of `ngramscan serve`, asked by 8 clients that keep their connections.

    python benchmarks/serve.py [DIR]

DIR is an index; by default the small one of the tests. The clients are processes of this machine,
so they share its cores with the server. The original service answers 141 per second on two cores.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import platform
import random
import signal
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.serve_process import EXCHANGES, INDEXES, serving

CLIENTS = 8
SECONDS = 4.0
ROUNDS = 3
REQUESTS = [e["request"]["json"] for e in EXCHANGES if e["valid"] and "json" in e["request"]]
QUERIES = [request["query"] for request in REQUESTS if request["query_type"] == "count"]
HEADERS = {"Content-Type": "application/json"}


def ask_on(task: tuple[int, str, str, int]) -> list[float]:
    """Ask until the time is over; return the seconds that each answer took."""
    port, index, kind, seed = task
    rng = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    took = []
    ends_at = time.perf_counter() + SECONDS
    while (asked_at := time.perf_counter()) < ends_at:
        question = {"index": index, "query_type": "count", "query": rng.choice(QUERIES)}
        if kind == "window":
            place = {"s": 0, "rank": rng.randrange(150_000), "max_ctx_len": 1000}
            question |= {"query_type": "get_doc_by_rank", **place}
        connection.request("POST", "/", json.dumps(question), HEADERS)
        response = connection.getresponse()
        document = json.loads(response.read())
        assert response.status == 200, document
        took.append(time.perf_counter() - asked_at)
    return took


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else INDEXES[0]
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with serving(indexes=(folder,)) as server, multiprocessing.Pool(CLIENTS) as pool:
        for kind in ("count", "window"):
            for round_number in range(ROUNDS):
                tasks = [
                    (server.port, folder.resolve().name, kind, round_number * CLIENTS + client)
                    for client in range(CLIENTS)
                ]
                took = sorted(s for one in pool.map(ask_on, tasks, chunksize=1) for s in one)
                tail = 1000 * took[int(0.99 * len(took))]
                median = 1000 * statistics.median(took)
                rate = len(took) / SECONDS
                print(f"{kind:7} {rate:7.0f} per s  median {median:.1f} ms  99% {tail:.1f} ms")
        print(f"memory of the server: {server.resident_bytes() / 1e6:.0f} MB")
        server.end(signal.SIGTERM)


if __name__ == "__main__":
    main()
