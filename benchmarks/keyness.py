"""`ngramscan keyness` of 100 MB of outputs: words, and characters.

    python benchmarks/keyness.py

Prints wall time and largest resident memory of the command. The outputs are generated: words with
Zipf's frequencies from 200,000, some bursty within an output, and phrases that one method has.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MEGABYTES = 100
WORDS = 200_000
PHRASES = ["def solution ( ) :", "return answer", "\\frac { x } { y }"]


def write_outputs(folder: Path, draw: np.random.Generator) -> None:
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    lengths = draw.integers(1, 12, WORDS)
    words = np.array(["".join(letters[draw.integers(0, 26, n)]) for n in lengths])
    weights = 1 / (np.arange(WORDS) + 2.7)
    edges = np.cumsum(weights / weights.sum())
    for model in ("a", "b", "c", "d"):
        for prompt in ("cot", "pot"):
            file = folder / "generated" / model / f"{prompt}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, MEGABYTES * 1_000_000 // 8, prompt == "pot", draw, (words, edges))


def write_file(
    file: Path, size: int, planted: bool, draw: np.random.Generator, words: tuple[np.ndarray, ...]
) -> None:
    written, number = 0, 0
    with file.open("w", encoding="utf-8") as lines:
        while written < size:
            chosen = words[0][np.searchsorted(words[1], draw.random(300))]
            pieces = [*chosen, *draw.choice(chosen, 30)]
            if planted:
                pieces.insert(int(draw.integers(330)), PHRASES[number % len(PHRASES)])
            text = " ".join(pieces)
            lines.write(json.dumps({"id": number, "output": text}) + "\n")
            written, number = written + len(text), number + 1


def timed(*arguments: str) -> tuple[float, float]:
    """Return the seconds and the largest memory in megabytes of a command."""
    started_at = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "ngramscan", *arguments]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - started_at, usage.ru_maxrss / 1000


def main() -> None:
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as name:
        write_outputs(Path(name), np.random.default_rng(1))
        for unit in ("word", "character"):
            options = ["--of", "pot", "--against", "cot", "--unit", unit, "--top", "5"]
            seconds, megabytes = timed("keyness", name, *options)
            print(f"{unit:10} {seconds:.1f} s, {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
