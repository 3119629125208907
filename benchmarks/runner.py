"""Questions to a loopback endpoint by the runner, beside plain httpx in threads.

    python benchmarks/runner.py

The server runs in a process of its own. Prints questions per second, the medians of alternating
rounds.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx

from evalcore.commands.run import Spending, ask_missing
from evalcore.endpoint import ApiKey, PromptRequest, open_endpoint
from evalcore.records import Record
from ngramscan.progress import SILENT

QUESTIONS, ROUNDS, CONCURRENCY = 1_000, 5, 16
ROOT = Path(__file__).resolve().parent.parent
MESSAGES = [[{"role": "user", "content": f"What is {n} + 1?"}] for n in range(QUESTIONS)]


def by_runner(url: str) -> None:
    blank = Record(id="", dataset="sums", model="made", method="direct", output=None)
    questions = [PromptRequest(replace(blank, id=str(n)), each) for n, each in enumerate(MESSAGES)]
    with tempfile.TemporaryDirectory() as folder, open_endpoint(url, ApiKey()) as ask:
        path = Path(folder) / "direct.jsonl"
        missing = ask_missing(ask, path, questions, Spending(), CONCURRENCY, SILENT)[1]
        assert not missing


def by_httpx(url: str) -> None:
    with httpx.Client() as client, ThreadPoolExecutor(CONCURRENCY) as pool:

        def ask(messages: list[dict[str, str]]) -> bool:
            body = {"model": "made", "messages": messages, "temperature": 0}
            reply = client.post(f"{url}/chat/completions", json=body).json()
            return bool(reply["choices"][0]["message"]["content"])

        assert all(pool.map(ask, MESSAGES))


def seconds(ask: Callable[[str], None], url: str) -> float:
    started_at = time.perf_counter()
    ask(url)
    return time.perf_counter() - started_at


def main() -> None:
    command = [sys.executable, "-m", "tests.support.chat_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        rounds = [[seconds(ask, url) for ask in (by_runner, by_httpx)] for _ in range(ROUNDS)]
        server.terminate()
    ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(f"runner {QUESTIONS / ours:.0f}/s, httpx {QUESTIONS / theirs:.0f}/s")
    print(f"ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
