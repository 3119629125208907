"""Token n-grams in an index of 50 million tokens, in alternating rounds with infini-gram's engine.

    pip install infini-gram==2.6.0        # the other side; without it ours is timed alone
    python benchmarks/tokens.py [MILLIONS [FOLDER]]

The text is drawn with a fixed seed: words by Zipf's law, documents of 600 tokens on average, and 46
phrases of 2 to 5 tokens, each in two forms, as after a space and at the beginning of a line. The
folder stays for further runs. All is in the page cache, in one process; counts must be equal.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.index_files.tokens.build import sort_table
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.index_files.tokens.verify import verify_tokens
from ngramscan.progress import SILENT

VOCABULARY, SEPARATOR, FIRST = 32_000, 65_535, 3
DOCUMENT_TOKENS = 600
PHRASES, REPEATS, ROUNDS = 46, 20, 5
Forms = list[list[int]]


def draw_forms() -> Forms:
    """Return the token n-grams: the two forms of a phrase differ in their first token."""
    draw = np.random.default_rng(1)
    forms: Forms = []
    for _ in range(PHRASES):
        first, *rest = map(int, draw.integers(FIRST, VOCABULARY, draw.integers(2, 6)))
        forms += [[first, *rest], [int(draw.integers(FIRST, VOCABULARY)), *rest]]
    return forms


def draw_tokens(n: int) -> NDArray[np.uint16]:
    """Return the text, with a separator in front of each document."""
    draw = np.random.default_rng(2)
    ids = draw.permutation(np.arange(FIRST, VOCABULARY, dtype=np.uint16))
    weights = np.cumsum(1 / (np.arange(ids.size) + 2.7))  # Zipf's law as Mandelbrot has it
    text = np.empty(n, np.uint16)
    for start in range(0, n, 5_000_000):
        part = text[start : start + 5_000_000]
        part[:] = ids[np.searchsorted(weights, draw.random(part.size) * weights[-1])]
    for form in draw_forms():
        often = int(n * 10 ** draw.uniform(-7, -4))
        starts = draw.integers(0, n - len(form), often)
        text[starts[:, None] + np.arange(len(form))] = form
    lengths = draw.lognormal(np.log(DOCUMENT_TOKENS) - 0.5, 1, 2 * n // DOCUMENT_TOKENS)
    starts = np.cumsum(lengths.astype(np.int64) + 1)
    text[starts[starts < n]] = text[0] = SEPARATOR
    return text


def make(folder: Path, n: int) -> None:
    """Write the index, the table last."""
    folder.mkdir(parents=True, exist_ok=True)
    text = draw_tokens(n)
    (folder / "tokenized.0").write_bytes(text.tobytes())
    offsets = 2 * np.flatnonzero(text == SEPARATOR).astype("<u8")
    (folder / "offset.0").write_bytes(offsets.tobytes())
    (folder / "table.0").write_bytes(sort_table(text.tobytes(), 2).tobytes())


def ways(folder: TokenFolder, forms: Forms) -> dict[str, Callable[[], list[int]]]:
    """Return the ways of counting all forms."""

    def count(patterns: Forms) -> list[int]:
        found = folder.find(patterns)
        return [int(each) for each in (found[:, :, 1] - found[:, :, 0]).sum(axis=1)]

    found: dict[str, Callable[[], list[int]]] = {
        "all at once": lambda: count(forms),
        "one by one": lambda: [count([form])[0] for form in forms],
    }
    try:
        from infini_gram.engine import InfiniGramEngine
    except ImportError:
        return found
    engine: Any = InfiniGramEngine(folder.place, 2, VOCABULARY, 4, "u16")
    return found | {"infini-gram": lambda: [engine.find(form)["cnt"] for form in forms]}


def timed_s(work: Callable[[], object], repeats: int = 1) -> float:
    started_at = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - started_at) / repeats


def main() -> None:
    millions = sys.argv[1] if len(sys.argv) > 1 else "50"
    path = Path(sys.argv[2] if len(sys.argv) > 2 else f"{tempfile.gettempdir()}/ngrams-{millions}m")
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    if not (path / "table.0").exists():
        make(path, int(millions) * 1_000_000)
    for file in path.iterdir():
        file.read_bytes()
    folder = open_token_folder(path)
    asked = ways(folder, draw_forms())
    counts = {name: work() for name, work in asked.items()}
    assert len({tuple(each) for each in counts.values()}) == 1, counts
    print(f"{folder.tokens:,} tokens, {folder.documents:,} documents; {path}")
    print(f"{sum(counts['all at once']):,} occurrences of {2 * PHRASES} n-grams")
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(ROUNDS):
        for name, work in asked.items():
            seconds[name].append(timed_s(work, REPEATS) / PHRASES)
    ours = statistics.median(seconds["all at once"])
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:12} {median * 1e3:.4f} ms per phrase, {median / ours:.2f} of all at once")
    print(f"opening {timed_s(partial(open_token_folder, path), 20) * 1e3:.2f} ms")
    for deep in (False, True):
        took = timed_s(partial(verify_tokens, path, deep, SILENT))
        check = "verify --deep" if deep else "verify"
        print(f"{check} {took:.2f} s, {folder.tokens / took / 1e6:.2f} M tokens/s")


if __name__ == "__main__":
    main()
