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
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.contaminate import compare_with_f1

ENTRIES, WORDS = 1_000, 100

FIND_PASSAGES = """
import json, sys
from ngramscan.indexes.base import SoughtTexts
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.matching import normalized
from ngramscan.progress import SILENT
spec, entries, journal = sys.argv[1:]
with open(entries, encoding="utf-8") as file:
    entry_texts = json.load(file)
texts = [normalized(text, "words").split() for text in entry_texts]
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


if __name__ == "__main__":
    compare_with_f1("passages", FIND_PASSAGES, make_entries)
