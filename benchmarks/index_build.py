"""Building an index of a corpus of 200 MB in 8 shards: speed, size and memory, by workers.

    python benchmarks/index_build.py [MEGABYTES [SHARDS]]

The text is drawn from a language model of three words on the sources of Python and on the documents
of the tests, so that its letters and repeats are about those of text; documents are of 3 kB.
One and two workers build it in turn, three times; the best time of each counts.
Aims: at least 4 MB/s with two cores, two workers 1.7 times as fast as one, an index of at most 0.45
of the text.
"""

from __future__ import annotations

import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT_BYTES = 3_000
MODEL_BYTES = 6_000_000


def words() -> list[str]:
    """Return words, with the space behind each, of texts that every machine has."""
    texts = []
    for docs in sorted((ROOT / "tests" / "replay" / "docs").glob("*.jsonl")):
        texts += [json.loads(line)["text"] for line in docs.read_text("utf-8").split("\n") if line]
    size = sum(map(len, texts))
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        text = path.read_text("utf-8", errors="ignore")
        texts.append(text)
        size += len(text)
        if size > MODEL_BYTES:
            break
    return [word for text in texts for word in text.split(" ")]


def documents(size: int) -> Iterator[str]:
    draw = random.Random(1)
    known = words()
    following = defaultdict(list)
    for first, second, third in zip(known, known[1:], known[2:], strict=False):
        following[first, second].append(third)
    starts = list(following)
    written = 0
    while written < size:
        first, second = draw.choice(starts)
        parts, length = [first, second], len(first) + len(second)
        while length < DOCUMENT_BYTES:
            # Now and then anything at all, or long runs of the sources would repeat as they are.
            known_here = following.get((first, second)) if draw.random() > 0.15 else None
            first, second = second, draw.choice(known_here or known)
            parts.append(second)
            length += len(second) + 1
        text = " ".join(parts)
        written += len(text.encode())
        yield text


def build(corpus: Path, index: Path, shard_bytes: int, workers: int) -> tuple[float, float]:
    """Build in a new folder; return seconds, and seconds of all processors."""
    shutil.rmtree(index, ignore_errors=True)
    command = [sys.executable, "-m", "ngramscan", "index", "build", str(corpus), "-o", str(index)]
    command += ["--workers", str(workers), "--shard-size", str(shard_bytes), "-q"]
    before, started_at = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - started_at, os.times()
    used = after.children_user - before.children_user
    return seconds, used + after.children_system - before.children_system


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    n_shards = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    times: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        corpus, index = Path(name, "c.jsonl"), Path(name, "index")
        size = 0
        with corpus.open("w", encoding="utf-8") as file:
            for number, text in enumerate(documents(megabytes * 1_000_000)):
                size += len(text.encode())
                file.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
        for _ in range(3):
            for workers, measured in times.items():
                measured.append(build(corpus, index, size // n_shards + 20_000, workers))
        index_bytes = sum(file.stat().st_size for file in index.rglob("*"))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    for workers, measured in times.items():
        seconds, used = min(measured)
        speed = size / seconds / 1e6
        print(f"workers {workers}: {seconds:.1f} s, {speed:.1f} MB/s, {used:.1f} s of processors")
    ratio = min(times[1])[0] / min(times[2])[0]
    print(f"{n_shards} shards: two workers are {ratio:.2f} times as fast as one")
    print(f"index {index_bytes / size:.3f} of the text; largest process {peak / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
