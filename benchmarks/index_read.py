"""Counts in an index and windows from it: CPU per query, in alternating rounds with other ways.

    python benchmarks/index_read.py [MEGABYTES [CHECKOUT]]

The index (60 MB of the text of `index_build.py`) is in the page cache. The 46 patterns of `f1` are
asked at once; parts of the text of 1 to 200 bytes and words that don't occur, 46 at once and one
by one; windows have 1,000 bytes. With another checkout of this project the same questions go to
its reader, in a process of its own. Otherwise counts are compared with `bytes.find` in memory, and
windows with a plain reader of the format in Python and numpy (`fm9_reference`).
Aims: 0.1 ms per pattern of `f1`; 400 windows per second and core.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASK = "--ask"
sys.path.insert(0, sys.argv[2] if ASK in sys.argv else str(ROOT))

import ngramscan
from benchmarks.index_build import documents
from ngramscan.index_files.fm9.reader import Shard
from ngramscan.matching import count_by_brute_force
from ngramscan.patterns.files import load_patterns
from tests.support import fm9_reference

ROUNDS = 5
WINDOWS = 1000
FEW = 20
"""Windows of the plain reader, which takes its time."""
CONTEXT = 496  # with a pattern of eight bytes a window of 1,000


def cpu_s(work: Callable[[], object]) -> float:
    started_at = time.process_time()
    work()
    return time.process_time() - started_at


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = list(documents(megabytes * 1_000_000))
        lines = (json.dumps({"text": text}) + "\n" for text in texts)
        (folder / "c.jsonl").write_text("".join(lines), encoding="utf-8")
        ngramscan.index_build(str(folder / "c.jsonl"), output=folder / "x")
        for path in (folder / "x").iterdir():
            path.read_bytes()
        print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        if len(sys.argv) > 2:
            compare_checkouts(folder / "x", Path(sys.argv[2]).resolve())
        else:
            compare(Shard(folder / "x"), folder / "x", [text.encode() for text in texts])


def questions(shard: Shard) -> dict[str, tuple[int, Callable[[], object]]]:
    """Return what is asked: the number of queries, and a function that asks them."""
    draw = random.Random(1)
    lengths = [draw.randint(1, 200) for _ in range(230)]
    starts = [draw.randrange(shard.data.n - 200) for _ in lengths]
    parts = shard.data.extract(starts, [*map(int.__add__, starts, lengths)])
    absent = [bytes(draw.choices(b"etaoin shrdlu", k=1 + length)) for length in lengths]
    known = [pattern.text.encode() for pattern in load_patterns("f1").patterns]
    ranks = [draw.randrange(shard.ranks - shard.documents - 1) for _ in range(WINDOWS)]

    def ask(queries: list[bytes], at_once: int) -> Callable[[], object]:
        batches = [queries[at : at + at_once] for at in range(0, len(queries), at_once)]
        return lambda: [shard.find(batch) for batch in batches]

    return {
        "count f1": (20 * len(known), lambda: [shard.find(known) for _ in range(20)]),
        "count parts, 46 at once": (len(parts), ask(parts, 46)),
        "count parts, one by one": (len(parts), ask(parts, 1)),
        "count absent, 46 at once": (len(absent), ask(absent, 46)),
        "count absent, one by one": (len(absent), ask(absent, 1)),
        "window": (WINDOWS, lambda: shard.windows(ranks, 8, CONTEXT)),
    }


def answer() -> None:
    """Ask once for each line on standard input; write the CPU seconds per query as JSON."""
    asked = questions(Shard(Path(sys.argv[3])))
    for _ in sys.stdin:
        print(json.dumps({way: cpu_s(work) / n for way, (n, work) in asked.items()}), flush=True)


def compare_checkouts(index: Path, other: Path) -> None:
    checkouts = {"here": ROOT, "other": other}
    readers = {
        name: subprocess.Popen(
            [sys.executable, __file__, ASK, str(checkout), str(index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, checkout in checkouts.items()
    }
    rounds: list[dict[str, dict[str, float]]] = []
    for _ in range(ROUNDS + 1):  # the first one compiles
        rounds.append({})
        for name, reader in readers.items():
            assert reader.stdout is not None
            print(file=reader.stdin, flush=True)
            rounds[-1][name] = json.loads(reader.stdout.readline())
    for reader in readers.values():
        reader.communicate()
    for way in rounds[1]["here"]:
        here, there = ([each[name][way] for each in rounds[1:]] for name in checkouts)
        ratio = statistics.median(map(float.__truediv__, here, there))
        print(
            f"{way:28} {statistics.median(here) * 1e6:9.1f} µs each, {ratio:.2f} of the"
            f" {statistics.median(there) * 1e6:.1f} µs of {other}"
        )


def compare(shard: Shard, index: Path, contents: list[bytes]) -> None:
    slow, draw = fm9_reference.Shard(str(index)), random.Random(1)
    patterns = [pattern.text.encode() for pattern in load_patterns("f1").patterns]
    ranks: list[int] = []
    ways = questions(shard) | {
        "count f1, bytes.find in memory": (
            len(patterns),
            lambda: [[count_by_brute_force(p, text) for text in contents] for p in patterns],
        ),
        "window, plain reader": (
            FEW,
            lambda: [slow.doc_by_rank(rank, 8, CONTEXT) for rank in ranks[:FEW]],
        ),
    }
    seconds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        # New ones: the plain reader keeps what it has decoded.
        ranks[:] = [draw.randrange(shard.ranks - shard.documents - 1) for _ in range(WINDOWS)]
        for way, (n, work) in ways.items():
            seconds.setdefault(way, []).append(cpu_s(work) / n)
    print(f"{shard.text_bytes / 1e6:.0f} MB of text")
    for way, values in seconds.items():
        median = statistics.median(values)
        print(f"{way:31} {median * 1e6:11.1f} µs each, {1 / median:,.0f} per second of CPU")


if __name__ == "__main__":
    answer() if ASK in sys.argv else main()
