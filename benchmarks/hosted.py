"""46 patterns × 8 indexes against a loopback server that answers after a fixed delay.

    python benchmarks/hosted.py

Prints the command's wall time against the time of the requests themselves, delay × requests /
concurrency, which no client can go below; its largest resident memory; and `--version`.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.indexes.catalog import PAPER
from tests.support.service import ApiServer

DELAY_S = 0.05
CONCURRENCY = 8
REQUESTS = 46 * 8
ROUNDS = 5


def timed(*arguments: str) -> float:
    started_at = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "ngramscan", *arguments], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - started_at


def main() -> None:
    docs = ROOT / "tests" / "replay" / "docs" / "b.jsonl"
    floor_s = DELAY_S * REQUESTS / CONCURRENCY
    seconds: dict[str, list[float]] = {"csv": [], "table": [], "--version": []}
    with (
        ApiServer({hosted.name: [docs] for hosted in PAPER}, delay=DELAY_S) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        for round_number in range(ROUNDS):
            for style in ("csv", "table"):
                journal = str(Path(folder) / f"{style}{round_number}.sqlite")
                options = ["--api-url", server.url, "--journal", journal, "--format", style]
                options += ["--concurrency", str(CONCURRENCY)]
                seconds[style].append(timed("count", "f1", *options))
            seconds["--version"].append(timed("--version"))
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"requests alone: {floor_s:.2f} s; allowed: {1.15 * floor_s + 0.5:.2f} s")
    for name, values in seconds.items():
        print(f"{name:10} median {statistics.median(values):.2f} s  all {json.dumps(values)}")
    print(f"largest resident memory of the commands: {peak_mb:.0f} MB")


if __name__ == "__main__":
    main()
