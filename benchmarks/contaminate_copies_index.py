"""Passages of 1,000 entries of 60 words in a local index: processor time of each entry.

    python benchmarks/contaminate_copies_index.py [MEGABYTES [INDEX CORPUS.jsonl]]

Without an index one is built, of so many MB (default 200) of text of this machine: the sources and
documents of every package that Python has, and the documentation under /usr/share. A tenth of the
entries are copied from the corpus, half of those with every tenth word replaced. The others are
passages of the corpus in which every third word is replaced by another of the same passage, so
that they share phrases with documents, as entries do. Aim: at most 50 ms for each entry.
"""

from __future__ import annotations

import json
import platform
import random
import re
import site
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.index_files.fm9.build import BuildOptions, build_index
from ngramscan.indexes.base import SoughtTexts
from ngramscan.indexes.fm9 import open_fm9
from ngramscan.matching.placed_words import placed_words
from ngramscan.prevalence.contamination.contaminate import Entry
from ngramscan.prevalence.contamination.copied_entries import CONTEXT, MOST_PASSAGES, run_copied
from ngramscan.prevalence.contamination.index_passages import find_passages
from ngramscan.prevalence.contamination.rules import make_rule, windows_of
from ngramscan.prevalence.contamination.thresholds import LEAST_SHARE
from ngramscan.progress import SILENT

ENTRIES, WORDS = 1_000, 60
COPIED, EDITED = 10, 20
"""One entry in so many is copied; one in so many is copied with edits."""
SUFFIXES = {".py", ".rst", ".txt", ".md", ".h", ".html", ".json"}
DOCUMENT_BYTES = 8_000


def texts_of_machine(size: int) -> Iterator[str]:
    """Yield texts of this machine, in parts of a few kB, until there are so many bytes."""
    folders = [sysconfig.get_paths()["stdlib"], *site.getsitepackages(), "/usr/share", "/usr/lib"]
    seen, written = set[int](), 0
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file() or path.is_symlink():
                continue
            try:
                text = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if hash(text) in seen:
                continue
            seen.add(hash(text))
            for start in range(0, min(len(text), 400_000), DOCUMENT_BYTES):
                part = text[start : start + DOCUMENT_BYTES]
                written += len(part.encode())
                yield part
                if written >= size:
                    return


def make_entries(corpus: Path) -> list[Entry]:
    """Return entries, the ids of which say how they were made."""
    draw = random.Random(4)
    with corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines if draw.random() < 0.2]
    entries = list[Entry]()
    while len(entries) < ENTRIES:
        text = draw.choice(texts)
        words = list(re.finditer(r"\w+", text))
        if len(words) < WORDS + 1:
            continue
        first = draw.randrange(len(words) - WORDS)
        part = text[words[first].start() : words[first + WORDS - 1].end()]
        pieces, number = re.split(r"(\W+)", part), len(entries)
        places = range(0, len(pieces), 2)
        kind = "other"
        if number % COPIED == 0:
            kind = "edited" if number % EDITED == 0 else "copied"
        for at in places[:: {"edited": 10, "other": 3}.get(kind, len(pieces) + 1)]:
            if kind != "copied":
                pieces[at] = pieces[draw.choice(places)]
        entries.append(Entry(f"{kind} {number}", "".join(pieces)))
    return entries


def make_sought(entries: Sequence[Entry]) -> SoughtTexts:
    """Return entries as the command looks for them."""
    rule = make_rule("copied")
    return SoughtTexts(
        [placed_words(entry.text).words for entry in entries],
        [
            [entry.text[window.start : window.stop] for window in windows_of(entry.text, rule)]
            for entry in entries
        ],
        rule.width,
        LEAST_SHARE,
        CONTEXT,
        MOST_PASSAGES,
    )


def main() -> None:
    """Build an index where none is given, and judge the entries."""
    size = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 200_000_000
    with tempfile.TemporaryDirectory() as temporary:
        if len(sys.argv) > 3:
            folder, corpus = Path(sys.argv[2]), Path(sys.argv[3])
        else:
            folder, corpus = Path(temporary) / "index", Path(temporary) / "corpus.jsonl"
            with corpus.open("w", encoding="utf-8") as file:
                for text in texts_of_machine(size):
                    file.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
            options = BuildOptions(workers=1)
            build_index(open_corpus(str(corpus)), folder, SILENT, ReadOptions(), options)
        index, entries, rule = open_fm9(folder, SILENT), make_entries(corpus), make_rule("copied")
        run_copied(entries[:20], rule, [index], 1)  # compiles
        print(f"{platform.machine()}, {index.size().bytes or 0:,} bytes of text")
        n_words = sum(len(words) for words in make_sought(entries).texts) / ENTRIES
        n_bytes = sum(len(entry.text.encode()) for entry in entries) / ENTRIES
        print(f"{ENTRIES:,} entries of {n_words:.0f} words, {n_bytes:.0f} bytes on average")
        began = time.process_time()
        find_passages(make_sought(entries), index, 1)
        found = time.process_time()
        result = run_copied(entries, rule, [index], 1).result
        judged = time.process_time()
        verdicts = Counter((row.id.split()[0], row.verdict) for row in result.rows)
        for (kind, verdict), n in sorted(verdicts.items(), key=str):
            print(f"  {kind:8} {verdict}: {n}")
        found_ms, all_ms = (1000 * seconds / ENTRIES for seconds in (found - began, judged - found))
        print(
            f"processor time per entry: {found_ms:.1f} ms to find passages, {all_ms:.1f} ms in all"
        )


if __name__ == "__main__":
    main()
