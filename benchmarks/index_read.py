"""CountResult in an index and reading windows from it, in alternating rounds with other ways.

    python benchmarks/index_read.py [MEGABYTES]

The index (60 MB of the text of `index_build.py`) is in the page cache. Counts of the 46 patterns of
`f1`, all at once, are compared with counting them in the text in memory by `bytes.find`; windows
of 1,000 bytes with the same by a plain reader of the format in Python and numpy (`fm9_reference`).
Aims: 0.1 ms per pattern; 400 windows per second and core.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ngramscan
from benchmarks.index_build import documents
from ngramscan.fm9.reader import Shard
from ngramscan.matching import count_by_brute_force
from ngramscan.patterns.files import load_patterns
from tests.support import fm9_reference

ROUNDS = 5
WINDOWS = 1000
FEW = 20
"""Windows of the plain reader, which takes its time."""
CONTEXT = 496  # with a pattern of eight bytes a window of 1,000


def timed(work: Callable[[], object]) -> float:
    started_at = time.perf_counter()
    work()
    return time.perf_counter() - started_at


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    patterns = [pattern.text.encode() for pattern in load_patterns("f1").patterns]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = list(documents(megabytes * 1_000_000))
        lines = (json.dumps({"text": text}) + "\n" for text in texts)
        (folder / "c.jsonl").write_text("".join(lines), encoding="utf-8")
        ngramscan.index_build(str(folder / "c.jsonl"), output=folder / "x")
        opened = timed(lambda: Shard(folder / "x"))
        shard, slow = Shard(folder / "x"), fm9_reference.Shard(str(folder / "x"))
        contents = [text.encode() for text in texts]
        for path in (folder / "x").iterdir():
            path.read_bytes()
        compare(shard, slow, contents, patterns, opened)


def compare(
    shard: Shard,
    slow: fm9_reference.Shard,
    contents: list[bytes],
    patterns: list[bytes],
    opened: float,
) -> None:
    draw = random.Random(1)
    ranks: list[int] = []
    seconds: dict[str, list[float]] = {}
    ways: dict[str, tuple[int, Callable[[], object]]] = {
        "count": (len(patterns), lambda: shard.find(patterns)),
        "count, bytes.find in memory": (
            len(patterns),
            lambda: [[count_by_brute_force(p, text) for text in contents] for p in patterns],
        ),
        "window": (WINDOWS, lambda: shard.windows(ranks, 8, CONTEXT)),
        "window, two threads": (WINDOWS, lambda: in_threads(shard, ranks)),
        "window, plain reader": (
            FEW,
            lambda: [slow.doc_by_rank(rank, 8, CONTEXT) for rank in ranks[:FEW]],
        ),
    }
    for _ in range(ROUNDS):
        # New ones: the plain reader keeps what it has decoded.
        ranks[:] = [draw.randrange(shard.ranks - shard.documents - 1) for _ in range(WINDOWS)]
        for way, (n, work) in ways.items():
            seconds.setdefault(way, []).append(timed(work) / n)
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{shard.text_bytes / 1e6:.0f} MB of text, opened in {opened * 1000:.0f} ms")
    for way, values in seconds.items():
        median = statistics.median(values)
        print(f"{way:28} {median * 1000:9.4f} ms each, {1 / median:,.0f} per second")


def in_threads(shard: Shard, ranks: list[int]) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda part: shard.windows(part, 8, CONTEXT), (ranks[::2], ranks[1::2])))


if __name__ == "__main__":
    main()
