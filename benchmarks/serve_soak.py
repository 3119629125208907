"""How `ngramscan serve` holds up: eight clients, of whom five do what hurts most.

    python benchmarks/serve_soak.py [MINUTES]

Three clients search. First they do so alone, for a tenth of the time; then two more paste texts
that repeat themselves, two never read their pages and ask again after 15 s, and one leaves as soon
as it has asked. It ends with an error unless the median search takes at most twice as long
as alone, no answer has a status of 500 or more but 503, the memory stays what it was after the
first quarter, and the server ends within its time after SIGTERM while all of them are at it.
"""

from __future__ import annotations

import http.client
import json
import platform
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.serve.server import GRACE_S
from tests.support.serve_process import INDEXES, Served, serving

MOST_TIMES = 2.0
MOST_GROWTH_BYTES = 50_000_000
HTML = {"Accept": "text/html"}
FORM = HTML | {"Content-Type": "application/x-www-form-urlencoded"}
PHRASES = ("step by step", "for example", "in order to", "as well as", "and the", "it is not")
TEXTS = ("a " * 5000, "a b " * 2500, "x y z " * 1666, "q" * 10_000, "a " * 2500 + "a b " * 1250)
DOCUMENTS = ("a " * 2000, "a b " * 1000, "x y z " * 700, "q" * 4000)
QUIET, BUSY = "alone", "with the others"


@dataclass
class Seen:
    """What the clients saw."""

    took: dict[str, list[float]] = field(default_factory=lambda: {QUIET: [], BUSY: []})
    """Seconds of each search."""
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    phase: str = QUIET
    is_over: threading.Event = field(default_factory=threading.Event)


Client = Callable[[int, Seen, random.Random], None]


def search(port: int, seen: Seen, rng: random.Random) -> None:
    """Look at a page of the search, and note how long it took."""
    phase, asked_at = seen.phase, time.perf_counter()
    status = answer_of(port, "GET", f"/?q={quote(rng.choice(PHRASES))}&index=replay", HTML)
    seen.statuses["search", status] += 1
    if status == 200 and seen.phase == phase:
        seen.took[phase].append(time.perf_counter() - asked_at)


def paste(port: int, seen: Seen, rng: random.Random) -> None:
    """Trace a text that repeats itself."""
    body = urlencode({"text": rng.choice(TEXTS)})
    seen.statuses["paste", answer_of(port, "POST", "/trace", FORM, body)] += 1


def answer_of(port: int, method: str, path: str, headers: dict[str, str], body: str = "") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def never_read(port: int, seen: Seen, rng: random.Random) -> None:
    """Ask for a long page and don't read it until the server gives up."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect(("127.0.0.1", port))
        connection.sendall(as_post(rng.choice(TEXTS)))
        seen.is_over.wait(15)


def leave(port: int, _: Seen, rng: random.Random) -> None:
    """Ask, and leave at once."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(as_post(rng.choice(TEXTS)))
    time.sleep(rng.random() / 10)


def as_post(text: str) -> bytes:
    body = urlencode({"text": text})
    head = "POST /trace HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n"
    head += f"Content-Type: {FORM['Content-Type']}\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


OTHERS: tuple[Client, ...] = (paste, paste, never_read, never_read, leave)


def start(client: Client, port: int, seen: Seen, number: int) -> None:
    def ask_on() -> None:
        rng = random.Random(number)
        while not seen.is_over.is_set():
            try:
                client(port, seen, rng)
            except (OSError, http.client.HTTPException) as error:
                seen.errors[f"{client.__name__}: {type(error).__name__}"] += 1
                time.sleep(1)

    threading.Thread(target=ask_on, daemon=True).start()


def build(folder: Path) -> Path:
    """Make an index with documents that repeat themselves."""
    lines = "".join(f"{json.dumps({'text': text})}\n" for text in DOCUMENTS)
    (folder / "corpus.jsonl").write_text(lines)
    index, corpus = str(folder / "repeated"), str(folder / "corpus.jsonl")
    command = [sys.executable, "-m", "ngramscan", "index", "build", corpus, "-o", index, "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "repeated"


def soak(server: Served, seconds: float) -> list[str]:
    """Run all clients; return what does not hold."""
    seen, problems = Seen(), list[str]()
    for number in range(3):
        start(search, server.port, seen, number)
    time.sleep(seconds / 10)
    seen.phase = BUSY
    for number, client in enumerate(OTHERS, start=3):
        start(client, server.port, seen, number)
    time.sleep(seconds / 4)
    first_bytes = server.resident_bytes()
    time.sleep(seconds * 3 / 4)
    growth = server.resident_bytes() - first_bytes
    stopped_at = time.perf_counter()
    server.process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        server.process.wait(timeout=2 * GRACE_S)
    ended_s = time.perf_counter() - stopped_at
    seen.is_over.set()
    medians = {phase: statistics.median(took) for phase, took in seen.took.items()}
    times = medians[BUSY] / medians[QUIET]
    for phase, took in seen.took.items():
        tail = sorted(took)[int(0.99 * len(took))]
        print(f"{len(took)} searches {phase}: median {1000 * medians[phase]:.1f} ms, ", end="")
        print(f"99% {1000 * tail:.0f} ms")
    print(f"{times:.2f} times as long; memory {first_bytes / 1e6:.0f} MB, {growth / 1e6:+.1f} MB")
    print(f"ended {ended_s:.1f} s after SIGTERM; statuses {dict(seen.statuses)}")
    print(f"connections that broke: {dict(seen.errors)}")
    if times > MOST_TIMES:
        problems.append(f"a search takes {times:.2f} times as long")
    if growth > MOST_GROWTH_BYTES:
        problems.append(f"memory grew by {growth:,} bytes")
    if ended_s > GRACE_S:
        problems.append(f"it ended only {ended_s:.1f} s after SIGTERM")
    wrong = {status for _, status in seen.statuses if status >= 500 and status != 503}
    return [*problems, *(f"status {status}" for status in sorted(wrong))]


def main() -> None:
    seconds = 60 * float(sys.argv[1] if len(sys.argv) > 1 else 10)
    print(f"{platform.platform()}, Python {platform.python_version()}, {seconds / 60:g} minutes")
    with tempfile.TemporaryDirectory() as folder:
        indexes = INDEXES[0], build(Path(folder))
        with serving(indexes=indexes) as server:
            problems = soak(server, seconds)
    if problems:
        sys.exit("; ".join(problems))


if __name__ == "__main__":
    main()
