"""`ngramscan count` on many tiny files: first, and again from the journal.

    python benchmarks/small_files.py [--files 100000] [--rounds 3] [--keep FOLDER]

Prints seconds of processor (user and system) of whole commands, medians of the rounds: a run that
reads all files, the same run again, whose counts are all in the journal, and, as the floor, a plain
loop in Python that opens each file and counts with `bytes.count`. Counts are compared with it.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from contextlib import nullcontext
from pathlib import Path

PHRASE = "step by step"
FILES_PER_FOLDER = 1_000
LOOP = """
import os, sys
total = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            total += file.read().count(sys.argv[2].encode())
print(total)
"""


def make_files(folder: Path, number: int) -> None:
    """Write so many files, 1,000 to a folder; every third has the phrase."""
    for n in range(number):
        place = folder / f"{n // FILES_PER_FOLDER:04d}"
        if n % FILES_PER_FOLDER == 0:
            place.mkdir(parents=True)
        phrase = PHRASE if n % 3 == 0 else "all at once"
        (place / f"{n % FILES_PER_FOLDER:03d}.txt").write_text(f"File {n} solves it {phrase}.\n")


def processor_seconds(command: list[str]) -> tuple[float, str]:
    """Run a command; return its seconds of processor, and what it prints."""
    before = os.times()
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system, printed


def occurrences_in(printed: str) -> int:
    """Return the count in rows of CSV."""
    return sum(int(row["occurrences"]) for row in csv.DictReader(io.StringIO(printed)))


def measure(corpus: Path, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each way to count, one number per round."""
    seconds = defaultdict[str, list[float]](list)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            count = [sys.executable, "-m", "ngramscan", "count", "-e", PHRASE, "-q"]
            count += ["--index", f"scan:{corpus}", "--journal", f"{folder}/journal.sqlite"]
            count += ["--format", "csv", "-o", "-"]
            taken, printed = processor_seconds([sys.executable, "-c", LOOP, str(corpus), PHRASE])
            expected = int(printed)
            seconds["a plain loop"].append(taken)
            for name in ("first", "again, from the journal"):
                taken, printed = processor_seconds(count)
                assert occurrences_in(printed) == expected
                seconds[name].append(taken)
    return seconds


def main() -> None:
    """Make the files, and print a line per way to count them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    place = nullcontext(asked.keep) if asked.keep else tempfile.TemporaryDirectory()
    with place as folder:
        corpus = Path(folder) / "files"
        if not corpus.exists():
            make_files(corpus, asked.files)
        for name, values in measure(corpus, asked.rounds).items():
            print(f"{name:<25} {statistics.median(values):6.2f} s")


if __name__ == "__main__":
    main()
