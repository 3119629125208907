"""How much of planted entries each rule of contamination finds, by the way they were planted.

    python benchmarks/contaminate_kinds.py [MEGABYTES]

Makes a benchmark whose questions begin with the same sentence, and a corpus (10 MB by default) that
has them whole, in part, or changed. Prints the median share of windows found and the share of dirty
entries, as a table of Markdown.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.prevalence.contamination.contaminate import Entry, run_contaminate
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.progress import SILENT
from tests.support.planted import KINDS, ODD, make_planted, write_planted

RULES = ("mini", "gpt4", "gpt4-stripped", "gpt3", "palm", "ngram-8")
SHOWN = {
    "whole": "as it is",
    "half": "its first half",
    "wrapped": "with other line ends",
    "upper": "in capital letters",
    "question": "without the options",
    "reworded": "one word in five replaced",
    "absent": "not at all",
}


def main() -> None:
    planted = make_planted(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
    entries = [one for one in planted.entries if int(one.id.rpartition("-")[2]) >= ODD]
    kinds, cells = {one.id: one.kind for one in entries}, defaultdict[str, list[str]](list)
    with tempfile.TemporaryDirectory() as folder:
        _, corpus = write_planted(Path(folder), planted)
        for name in RULES:
            rule = make_rule(name)
            options = IndexOptions(
                journal=Path(folder, "journal"), workers=1, normalization=rule.normalization
            )
            with open_indexes([f"scan:{corpus}"], options, SILENT) as indexes:
                found = run_contaminate([Entry(one.id, one.text) for one in entries], rule, indexes)
            for kind in KINDS:
                rows = [row for row in found.rows if kinds[row.id] == kind]
                eta = statistics.median(row.eta or 0.0 for row in rows)
                dirty = statistics.mean(row.verdict == "dirty" for row in rows)
                cells[kind].append(f"{eta:.2f}, {100 * dirty:.0f}%")
    print("| in the corpus | entries |", " | ".join(f"`{name}`" for name in RULES), "|")
    print("|---|---|" + "---|" * len(RULES))
    for kind in KINDS:
        n = [*kinds.values()].count(kind)
        print(f"| {SHOWN[kind]} | {n} |", " | ".join(cells[kind]), "|")


if __name__ == "__main__":
    main()
