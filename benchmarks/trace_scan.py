"""The spans of 10,000 outputs in one pass over a corpus, against counting f1 in it.

    python benchmarks/trace_scan.py [MEGABYTES [ROUNDS]]

The corpus (default 200 MB) is that of contaminate.py. An output has 150 words of its text in a
random order, and in every second one 20 words as they are there. Both commands run in turn with one
worker; the median of each counts, in processor time, start and output included. The outputs take
the same time with any corpus: runs with two sizes tell it from that of the documents. Aim: less
than five seconds for the outputs, and a third of the speed of f1 for the documents.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.contaminate import make_corpus

OUTPUTS, WORDS, COPIED = 10_000, 150, 20


def make_outputs(corpus: Path, path: Path) -> None:
    draw = random.Random(4)
    with corpus.open(encoding="utf-8") as file:
        words = [
            word
            for line, _ in zip(file, range(500), strict=False)
            for word in json.loads(line)["text"].split(" ")
        ]
    with path.open("w", encoding="utf-8") as file:
        for number in range(OUTPUTS):
            some = draw.sample(words, WORDS)
            if number % 2:
                at = draw.randrange(len(words) - COPIED)
                some[50:50] = words[at : at + COPIED]
            file.write(json.dumps({"id": number, "model": "m", "output": " ".join(some)}) + "\n")


def processor_seconds() -> float:
    """Return the processor time of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(megabytes: int = 200, rounds: int = 3) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus, outputs = Path(folder) / "corpus.jsonl", Path(folder) / "outputs.jsonl"
        make_corpus(corpus, megabytes * 1_000_000)
        make_outputs(corpus, outputs)
        where = ["--index", f"scan:{corpus}", "--workers", "1", "--quiet", "-o"]
        commands = {
            "count f1": ["count", "f1", *where, f"{folder}/counts.csv"],
            "trace": ["trace", str(outputs), *where, f"{folder}/rows.csv"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(rounds):
            for name, command in commands.items():
                start = processor_seconds()
                journal = ["--journal", f"{folder}/{name}{number}.sqlite"]
                subprocess.run([sys.executable, "-m", "ngramscan", *command, *journal], check=True)
                seconds[name].append(processor_seconds() - start)
                print(f"{name}: {seconds[name][-1]:.1f} s")
    medians = {name: statistics.median(some) for name, some in seconds.items()}
    for name, median in medians.items():
        print(f"{name}: {megabytes / median:.0f} MB/s")
    print(f"ratio of speeds: {medians['count f1'] / medians['trace']:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
