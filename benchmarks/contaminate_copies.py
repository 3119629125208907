"""Passages that share words with 1,000 entries, in one pass over a corpus, against counting f1.

    python benchmarks/contaminate_copies.py [MEGABYTES [ROUNDS [CORPUS.jsonl]]]

Without a corpus one of so many MB (default 1,000) is made as for `contaminate.py`. An entry is some
60 to 100 words of a document; in nine tenths of the entries every third word is changed, so that
few of their windows occur. Both commands run in turn, with the workers they choose; the median of
each counts. Aim: at least 40% of the speed of f1, and less than 1 GB of memory for all processes
together.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.contaminate import make_corpus, run

ENTRIES, WORDS = 1_000, 100

FIND_PASSAGES = """
import json, sys
from ngramscan.indexes.base import SoughtTexts
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.matching import normalized
from ngramscan.progress import SILENT
spec, entries, journal = sys.argv[1:]
texts = [normalized(text, "words").split() for text in json.load(open(entries))]
sought = SoughtTexts(
    texts, [[] for _ in texts], width=4, least_share=0.2, context=200, most=10
)
with open_indexes([spec], IndexOptions(journal=journal, refresh=True), SILENT) as (index,):
    located = index.passages(sought)
windows = [count for counts in located.occurrences for count in counts]
n_found = sum(map(bool, windows))
print(f"{n_found:,} of {len(windows):,} windows occur, {len(located.passages):,} passages")
"""


def make_entries(path: Path) -> list[str]:
    """Return parts of documents, most of them with other words between theirs."""
    draw, entries = random.Random(3), list[str]()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if draw.random() < 0.95:
                continue
            words = json.loads(line)["text"].split()
            first = draw.randrange(max(len(words) - WORDS, 1))
            part = words[first : first + WORDS]
            if draw.random() < 0.9:
                part = [word if number % 3 else f"{word}qz" for number, word in enumerate(part)]
            entries.append(" ".join(part))
            if len(entries) == ENTRIES:
                break
    return entries


def main() -> None:
    size, rounds = (int(value) for value in [*sys.argv[1:3], "1000", "3"][:2])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus = Path(sys.argv[3]) if len(sys.argv) > 3 else folder / "corpus.jsonl"
        if len(sys.argv) <= 3:
            make_corpus(corpus, size * 1_000_000)
        (folder / "entries.json").write_text(json.dumps(make_entries(corpus)))
        spec, journal = f"scan:{corpus.resolve()}", str(folder / "journal.sqlite")
        count = [sys.executable, "-m", "ngramscan", "count", "f1", "--index", spec]
        count += ["--refresh", "--journal", journal, "--format", "csv", "-q"]
        find = [sys.executable, "-c", FIND_PASSAGES, spec, str(folder / "entries.json"), journal]
        run(find)  # compiles modules where that was not done before
        of_f1, of_passages = [], []
        for _ in range(rounds):
            of_f1.append(run(count))
            of_passages.append(run(find))
        megabytes = corpus.stat().st_size / 1e6
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for name, values in (("count f1", of_f1), ("passages", of_passages)):
        seconds = statistics.median(value[0] for value in values)
        peak = max(value[1] for value in values) / 1e6
        every = " ".join(f"{value[0]:.1f}" for value in values)
        print(f"{name:15} {megabytes / seconds:6.0f} MB/s  {peak:5.0f} MB of memory  s: {every}")
    ratio = statistics.median(a[0] / b[0] for a, b in zip(of_f1, of_passages, strict=True))
    print(f"ratio of speeds {ratio:.2f}; {of_passages[-1][2].strip()}")


if __name__ == "__main__":
    main()
