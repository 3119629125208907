"""100 draws of 42 patterns against a loopback server that answers after a fixed delay.

    python benchmarks/docnorm.py

Prints the command's wall time against the time of the requests themselves (delay × requests /
concurrency, which no client can go below) and against the same requests sent by plain httpx from a
pool of as many threads, in alternating rounds.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.patterns.files import load_patterns
from tests.support.service import ApiServer

DELAY_S = 0.02
CONCURRENCY = 8
DRAWS = 100
ROUNDS = 5
WORDS = ("the", "river", "counted", "a", "lighthouse", "after", "rain", "because", "many", "people")


def write_corpus(file: Path) -> None:
    """Write documents of which each pattern has several hundred occurrences."""
    draw = random.Random(1)
    texts = [pattern.text for pattern in load_patterns("f1").select(["T1", "T2"]).patterns]
    with file.open("w", encoding="utf-8") as lines:
        for number in range(800):
            n = draw.randrange(50, 900)
            words = [draw.choice(WORDS if draw.random() < 0.93 else texts) for _ in range(n)]
            lines.write(json.dumps({"text": " ".join(words), "id": number}) + "\n")


def run_docnorm(url: str, journal: Path) -> float:
    command = [sys.executable, "-m", "ngramscan", "docnorm", "--draws", str(DRAWS), "-q"]
    command += ["--api-url", url, "--journal", str(journal), "--concurrency", str(CONCURRENCY)]
    started_at = time.perf_counter()
    subprocess.run([*command, "--rate", "0"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started_at


def send_plainly(url: str, questions: list[dict[str, Any]]) -> float:
    started_at = time.perf_counter()
    with httpx.Client() as client, ThreadPoolExecutor(CONCURRENCY) as pool:
        for answer in pool.map(lambda question: client.post(url, json=question), questions):
            assert "error" not in answer.json()
    return time.perf_counter() - started_at


def questions_of(server: ApiServer) -> list[dict[str, Any]]:
    """Return what was asked, from the server's log."""
    return [
        {
            **{name: entry[name] for name in ("index", "query_type", "query", "s", "rank")
               if entry.get(name) is not None},
            **({"max_ctx_len": 10_000} if "rank" in entry else {}),
        }
        for entry in server.read_log()
    ]  # fmt: skip


def main() -> None:
    seconds: dict[str, list[float]] = {"docnorm": [], "plain httpx": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "c.jsonl")
        with ApiServer({"v2_dclm_all": [folder / "c.jsonl"]}, delay=DELAY_S) as server:
            run_docnorm(server.url, folder / "warm.sqlite")
            questions = questions_of(server)
            for number in range(ROUNDS):
                seconds["docnorm"].append(run_docnorm(server.url, folder / f"{number}.sqlite"))
                seconds["plain httpx"].append(send_plainly(server.url, questions))
    floor_s = DELAY_S * len(questions) / CONCURRENCY
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{len(questions)} requests; alone: {floor_s:.2f} s")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:12} median {median:.2f} s, {median / floor_s:.2f} of the requests alone")
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
