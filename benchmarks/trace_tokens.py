"""The longest parts of texts in each index over tokens, beside infini-gram's own engine.

    pip install infini-gram==2.6.0
    python benchmarks/trace_tokens.py [TEXTS [INDEXES]]

INDEXES (default ../shared/tokens/index) is a folder of indexes; TEXTS (default 170) are drawn for
each with a fixed seed: parts of documents, parts with changed tokens, random tokens, and parts that
begin a suffix array. Each end on which the two differ is decided by searching the bytes of the
token files, and so are those of every 50th text. Both sides run in turn, a text at a time, with all
in the page cache. Aim: at most the time of the engine.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from infini_gram.engine import InfiniGramEngine

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder

ENGINES = {"llama": (2, 32_000), "olmo": (50_279, 50_280), "olmo2": (100_257, 100_278)}
"""Token that ends a text, and size of the vocabulary."""
SEED, ROUNDS, CHECKED = 11, 3, 50
Tokens = list[int]
Span = tuple[int, int, int]
"""First token, the one behind the last, and occurrences."""


def open_both(path: Path) -> tuple[TokenFolder, Any]:
    """Return an index as we read it and as the engine does."""
    folder = open_token_folder(path)
    folder.backwards = path.name.startswith("v5")
    end, vocabulary = ENGINES.get(path.name.split("_")[2], (0, 255))
    options = 5 if folder.backwards else 4, f"u{8 * folder.width}"
    return folder, InfiniGramEngine(str(path), end, vocabulary, *options)


def draw_texts(folder: TokenFolder, n: int) -> Iterator[Tokens]:
    """Yield texts of up to 300 tokens, of four kinds in turn."""
    draw = random.Random(SEED)
    for number in range(n):
        text: Tokens = []
        shard = draw.choice(folder.shards)
        words = shard.words
        known = [int(each) for each in draw.choices(words, k=40) if each != folder.separator]
        for _ in range(draw.randint(1, 4)):
            start = draw.randrange(len(words))
            if number % 4 == 3:
                start = max(0, shard.position(draw.randrange(3)) - draw.randrange(3))
            part = [int(each) for each in words[start : start + draw.randint(1, 70)]]
            part = [each for each in part if each != folder.separator]
            if number % 4 == 1:
                part = [draw.choice(known) if draw.random() < 0.1 else each for each in part]
            if number % 4 == 2:
                part = draw.choices(known, k=len(part))
            text += [*part, *draw.choices(known, k=draw.randrange(5))]
        yield text


def occurs(folder: TokenFolder, part: Sequence[int], raws: Sequence[bytes]) -> bool:
    """Look for tokens in the bytes of the files, without the table."""
    ordered = part[::-1] if folder.backwards else part
    needle = np.array(ordered, f"<u{folder.width}").tobytes()
    for raw in raws:
        at = raw.find(needle)
        while at >= 0 and at % folder.width:
            at = raw.find(needle, at + 1)
        if at >= 0:
            return True
    return False


def is_right(
    folder: TokenFolder, text: Tokens, first: int, end: int, raws: Sequence[bytes]
) -> bool:
    """Return whether the longest part from a token that occurs ends there."""
    longer = end < len(text) and occurs(folder, text[first : end + 1], raws)
    return not longer and (end == first or occurs(folder, text[first:end], raws))


def our_spans(folder: TokenFolder, text: Tokens, ends: Sequence[int]) -> list[Span]:
    """Return the parts that are in no longer one, with their occurrences."""
    before = [0, *ends]
    places = [(at, end) for at, end in enumerate(ends) if end > max(at, before[at])]
    counts = np.diff(folder.find([text[at:end] for at, end in places])).sum(axis=(1, 2))
    return [(*place, int(count)) for place, count in zip(places, counts, strict=True)]


def their_ends(folder: TokenFolder, engine: Any, text: Tokens) -> Tokens:
    """Return the engine's ends; documents that are stored backwards it matches in that order."""
    if not folder.backwards:
        return list(engine.creativity(text)["rs"])
    n = len(text)
    starts = [n - stop for stop in engine.creativity(text[::-1])["rs"]][::-1]
    return [max(at, bisect_right(starts, at)) for at in range(n)]


def their_spans(folder: TokenFolder, engine: Any, text: Tokens) -> list[Span]:
    """Return what the engine attributes, whatever its frequency."""
    options = {"delim_ids": [], "min_len": 1, "max_cnt": 1 << 40, "enforce_bow": False}
    given = text[::-1] if folder.backwards else text
    found = engine.attribute(input_ids=given, **options)["spans"]
    spans = [(span["l"], span["r"], span["count"]) for span in found]
    n = len(text)
    return (
        [(n - stop, n - first, count) for first, stop, count in spans[::-1]]
        if folder.backwards
        else spans
    )


def compare(folder: TokenFolder, engine: Any, texts: Sequence[Tokens]) -> Counter[str]:
    """Return how many texts and ends differ, who is right, and print the first ones."""
    raws = [(Path(folder.place) / f"tokenized.{number}").read_bytes() for number in numbers(folder)]
    found = Counter[str]()
    for number, text in enumerate(texts):
        ours, theirs = folder.match_ends(text).tolist(), their_ends(folder, engine, text)
        differing = [at for at in range(len(text)) if ours[at] != theirs[at]]
        checked = range(len(text)) if number % CHECKED == 0 else differing
        found["texts"] += 1
        found["checked ends"] += len(checked)
        found["texts with other ends"] += bool(differing)
        found["other ends"] += len(differing)
        found["ours wrong"] += sum(not is_right(folder, text, at, ours[at], raws) for at in checked)
        found["theirs wrong"] += sum(
            not is_right(folder, text, at, theirs[at], raws) for at in differing
        )
        if not differing:
            spans = our_spans(folder, text, ours), their_spans(folder, engine, text)
            found["texts with other spans"] += spans[0] != spans[1]
        for at in differing[:1]:
            if found["texts with other ends"] <= 3:
                part = text[at : ours[at]]
                ranks = folder.find([part])[0].tolist()
                print(f"  text {number}, token {at}: {ours[at]}, engine {theirs[at]}; {ranks}")
    return found


def numbers(folder: TokenFolder) -> list[str]:
    """Return the numbers in the names of the files."""
    return sorted(file.suffix[1:] for file in Path(folder.place).glob("tokenized.*"))


def timed_s(work: Callable[[Tokens], object], texts: Sequence[Tokens]) -> float:
    started_at = time.perf_counter()
    for text in texts:
        work(text)
    return time.perf_counter() - started_at


def main(texts: str = "170", indexes: str = f"{ROOT.parent}/shared/tokens/index") -> None:
    """Compare and time both sides for each index."""
    for path in sorted(Path(indexes).iterdir()):
        folder, engine = open_both(path)
        drawn = list(draw_texts(folder, int(texts)))
        found = compare(folder, engine, drawn)
        sides = {"ours": folder.match_ends, "engine": engine.creativity}
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, work in sides.items():
                seconds[name].append(timed_s(work, drawn))
        ours, theirs = (1e3 * statistics.median(some) / len(drawn) for some in seconds.values())
        print(path.name, dict(found))
        print(f"  ours {ours:.3f} ms per text, engine {theirs:.3f}: {ours / theirs:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
