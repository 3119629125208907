"""Building an index of a corpus of 60 MB: speed, size and memory of the command.

    python benchmarks/index_build.py [MEGABYTES [WORKERS]]

The text is drawn from a language model of three words on the sources of Python and on the documents
of the tests, so that its letters and repeats are about those of text; documents are of 3 kB.
Aims: at least 4 MB/s with two cores, an index of at most 0.45 of the text.
"""

from __future__ import annotations

import json
import platform
import random
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT_BYTES = 3_000
MODEL_BYTES = 6_000_000


def words() -> list[str]:
    """Return words, with the space behind each, of texts that every machine has."""
    texts = []
    for docs in sorted((ROOT / "tests" / "replay" / "docs").glob("*.jsonl")):
        texts += [json.loads(line)["text"] for line in docs.read_text("utf-8").split("\n") if line]
    size = sum(map(len, texts))
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        text = path.read_text("utf-8", errors="ignore")
        texts.append(text)
        size += len(text)
        if size > MODEL_BYTES:
            break
    return [word for text in texts for word in text.split(" ")]


def documents(size: int) -> Iterator[str]:
    draw = random.Random(1)
    known = words()
    following = defaultdict(list)
    for first, second, third in zip(known, known[1:], known[2:], strict=False):
        following[first, second].append(third)
    starts = list(following)
    written = 0
    while written < size:
        first, second = draw.choice(starts)
        parts, length = [first, second], len(first) + len(second)
        while length < DOCUMENT_BYTES:
            # Now and then anything at all, or long runs of the sources would repeat as they are.
            known_here = following.get((first, second)) if draw.random() > 0.15 else None
            first, second = second, draw.choice(known_here or known)
            parts.append(second)
            length += len(second) + 1
        text = " ".join(parts)
        written += len(text.encode())
        yield text


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    workers = sys.argv[2] if len(sys.argv) > 2 else "2"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = 0
        with (folder / "c.jsonl").open("w", encoding="utf-8") as file:
            for number, text in enumerate(documents(megabytes * 1_000_000)):
                size += len(text.encode())
                file.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
        command = [sys.executable, "-m", "ngramscan", "index", "build", str(folder / "c.jsonl")]
        command += ["-o", str(folder / "index"), "--workers", workers, "-v", "--format", "csv"]
        started_at = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - started_at
        index = sum(file.stat().st_size for file in (folder / "index").rglob("*"))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"{size / 1e6:.1f} MB in {seconds:.1f} s: {size / seconds / 1e6:.1f} MB/s")
    print(f"index {index / size:.3f} of the text; largest process {peak / size:.2f} of the text")


if __name__ == "__main__":
    main()
