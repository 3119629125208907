"""60,000 windows of 50 characters in one pass over a corpus, against counting f1 in it.

    python benchmarks/contaminate.py [MEGABYTES [ROUNDS [CORPUS.jsonl]]]

Without a corpus one of so many MB (default 1,000) is made: 40 MB of text (see index_build.py),
written again and again with one letter of the alphabet changed for another in a tenth of its words,
so that windows are found in some of the copies. A tenth of the windows stand in the corpus as they
are; the others have two letters changed. Both commands run in turn, with the workers they choose;
the median of each counts. Aim: at least 60% of the speed of f1, and less than 1 GB of memory for
all processes together.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.index_build import documents

ENTRIES, WINDOWS, WIDTH = 1_000, 60, 50


def make_corpus(path: Path, size: int) -> None:
    texts = list(documents(min(size, 40_000_000)))
    draw = random.Random(2)
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            old, new = draw.sample("abcdefghijklmnopqrstuvwxyz", 2)
            for number, text in enumerate(texts):
                changed = text.replace(f" {old}", f" {new}") if number % 2 else text
                file.write(json.dumps({"id": number, "text": changed}, ensure_ascii=False) + "\n")


def make_windows(path: Path) -> list[str]:
    """Return windows at the beginnings of words, as of the entries of a benchmark."""
    draw, windows = random.Random(3), dict[str, None]()
    lines = path.open(encoding="utf-8")
    for line in lines:
        if draw.random() < 0.95:
            continue
        text = json.loads(line)["text"]
        first = draw.randrange(max(len(text) - 600, 1))
        starts = [match.start() for match in re.finditer(r"\S+", text) if match.start() >= first]
        is_there = draw.random() < 0.1
        for start in starts[:WINDOWS]:
            window = text[start : start + WIDTH]
            if len(window) == WIDTH:
                changed = window if is_there else f"{window[:20]}QZ{window[22:]}"
                windows[changed] = None
        if len(windows) >= ENTRIES * WINDOWS:
            break
    lines.close()
    return list(windows)[: ENTRIES * WINDOWS]


COUNT_WINDOWS = """
import json, sys
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.opening import open_indexes
from ngramscan.progress import SILENT
spec, windows, journal = sys.argv[1:]
queries = json.load(open(windows))
with open_indexes([spec], IndexOptions(journal=journal, refresh=True), SILENT) as (index,):
    print(sum(count.occurrences > 0 for count in index.counts(queries)))
"""


def processes_of(root: int) -> Iterator[int]:
    yield root
    try:
        children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from processes_of(int(child))


def resident_bytes(root: int) -> int:
    """Return the memory of a process and of those that it started; shared pages count in each."""
    total = 0
    for process in processes_of(root):
        try:
            pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
        total += pages * os.sysconf("SC_PAGE_SIZE")
    return total


def run(command: list[str]) -> tuple[float, int, str]:
    """Return seconds, the most memory of all its processes together, and stdout."""
    started_at, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    output: list[str] = []
    reader = threading.Thread(target=lambda: output.append(process.communicate()[0]))
    reader.start()
    while reader.is_alive():
        peak = max(peak, resident_bytes(process.pid))
        reader.join(0.05)
    if process.returncode:
        sys.exit(f"no figures: {command[:4]} failed")
    return time.perf_counter() - started_at, peak, output[0]


def compare_with_f1(
    name: str, program: str, make_task: Callable[[Path], object], explanation: str = ""
) -> None:
    """Run a program and `count f1` in turn on a corpus, and print their speeds.

    The program gets the spec of the corpus, a file with what `make_task` makes of the corpus, and a
    journal; `explanation` follows what it prints.
    """
    size, rounds = (int(value) for value in [*sys.argv[1:3], "1000", "3"][:2])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus = Path(sys.argv[3]) if len(sys.argv) > 3 else folder / "corpus.jsonl"
        if len(sys.argv) <= 3:
            make_corpus(corpus, size * 1_000_000)
        (folder / "task.json").write_text(json.dumps(make_task(corpus)))
        spec, journal = f"scan:{corpus.resolve()}", str(folder / "journal.sqlite")
        count = [sys.executable, "-m", "ngramscan", "count", "f1", "--index", spec]
        count += ["--refresh", "--journal", journal, "--format", "csv", "-q"]
        command = [sys.executable, "-c", program, spec, str(folder / "task.json"), journal]
        run(command)  # compiles what was not compiled before
        runs_of_f1, runs_of_program = [], []
        for _ in range(rounds):
            runs_of_f1.append(run(count))
            runs_of_program.append(run(command))
        megabytes = corpus.stat().st_size / 1e6
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for label, values in (("count f1", runs_of_f1), (name, runs_of_program)):
        seconds = statistics.median(value[0] for value in values)
        peak = max(value[1] for value in values) / 1e6
        every = " ".join(f"{value[0]:.1f}" for value in values)
        print(f"{label:15} {megabytes / seconds:6.0f} MB/s  {peak:5.0f} MB of memory  s: {every}")
    pairs = zip(runs_of_f1, runs_of_program, strict=True)
    ratio = statistics.median(f1[0] / other[0] for f1, other in pairs)
    print(f"ratio of speeds {ratio:.2f}; {runs_of_program[-1][2].strip()}{explanation}")


if __name__ == "__main__":
    compare_with_f1("60,000 windows", COUNT_WINDOWS, make_windows, " windows occur")
