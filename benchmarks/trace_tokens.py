"""The longest parts of texts in indexes over tokens: local, in place, by infini-gram's engine.

    pip install infini-gram==2.6.0
    python benchmarks/trace_tokens.py [TEXTS [INDEXES [OUTPUTS]]]

INDEXES (default ../shared/tokens/index) is a folder of indexes; TEXTS (default 170) are drawn for
each with a fixed seed: parts of documents, parts with changed tokens, random tokens, and parts that
begin a suffix array, every seventh of them from 12 to 25 parts. With OUTPUTS, files of JSON lines
whose `output` is a text, texts of models are a fifth kind. In place, files are read from a server
here, and none is kept whole. Each end on which two sides differ is decided by searching the bytes
of the token files, and so are those of every 50th text. So are the occurrences of the parts, and
the text around some of them. A file `truth.jsonl` next to INDEXES has counts of phrases and of
their documents, which are compared with those in place.

Ours and the engine run in turn, a text at a time, with all in the page cache. Aim: at most the time
of the engine.
"""

from __future__ import annotations

import json
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

from benchmarks.late_server import LateServer
from ngramscan.index_files.tokens.in_place import InPlaceTokenFolder
from ngramscan.index_files.tokens.in_place_places import open_tokens_in_place
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.index_files.tokens.token_files import TokenFiles
from ngramscan.index_files.tokens.tokenizers import open_tokenizer
from ngramscan.remote.ranges import RangeOptions, Ranges

ENGINES = {"llama": (2, 32_000), "olmo": (50_279, 50_280), "olmo2": (100_257, 100_278)}
"""Token that ends a text, and size of the vocabulary."""
TOKENIZERS = {
    "llama": "llamalike.model",
    "olmo": "allenai_gpt-neox-olmo-dolma-v1_5.json.gz",
    "olmo2": "allenai_dolma2.json.gz",
    "bytes": None,
}
"""In the folder `tokenizers` next to that of the indexes."""
SEED, ROUNDS, CHECKED = 11, 3, 50
TIMED_TEXTS = 170
TEXTS_AT_ONCE = 16
"""Texts that are searched in place together, as `trace` does."""
KEPT_BYTES = 0
"""Memory for whole files in place."""
SHOWN_SPANS = 3
"""Spans of a text of which an occurrence in each shard is shown."""
SHOWN_TOKENS = 40
"""Tokens around them."""
LONG_EVERY, LONG_PARTS = 7, (12, 25)
MOST_LISTED = 2000
"""Occurrences whose documents are listed."""
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


def draw_texts(folder: TokenFolder, n: int, outputs: Sequence[Tokens]) -> Iterator[Tokens]:
    """Yield texts of four kinds in turn; every fifth one is an output, if there are any."""
    draw = random.Random(SEED)
    for number in range(n):
        if outputs and number % 5 == 0:
            yield outputs[number // 5 % len(outputs)]
            continue
        parts = draw.randint(*LONG_PARTS) if number % LONG_EVERY == 0 else draw.randint(1, 4)
        text: Tokens = []
        shard = draw.choice(folder.shards)
        words = shard.words
        known = [int(each) for each in draw.choices(words, k=40) if each != folder.separator]
        for _ in range(parts):
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
    return any(True for _ in occurrences(folder, part, raws))


def occurrences(
    folder: TokenFolder, part: Sequence[int], raws: Sequence[bytes]
) -> Iterator[tuple[int, int]]:
    """Yield the shard and the byte of all places at which some tokens are."""
    ordered = part[::-1] if folder.backwards else part
    needle = np.array(ordered, f"<u{folder.width}").tobytes()
    for shard, raw in enumerate(raws):
        at = raw.find(needle)
        while at >= 0:
            if at % folder.width == 0:
                yield shard, at
            at = raw.find(needle, at + 1)


def is_right(
    folder: TokenFolder, text: Tokens, first: int, end: int, raws: Sequence[bytes]
) -> bool:
    """Return whether the longest part from a token that occurs ends there."""
    longer = end < len(text) and occurs(folder, text[first : end + 1], raws)
    return not longer and (end == first or occurs(folder, text[first:end], raws))


def our_spans(folder: TokenFiles, text: Tokens, ends: Sequence[int]) -> list[Span]:
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


def compare(
    folder: TokenFolder, in_place: InPlaceTokenFolder, engine: Any, texts: Sequence[Tokens]
) -> Counter[str]:
    """Return how many texts and ends differ, who is right, and print the first ones."""
    raws = [(Path(folder.place) / f"tokenized.{number}").read_bytes() for number in numbers(folder)]
    found = Counter[str]()
    ends_in_place = [
        ends.tolist()
        for start in range(0, len(texts), TEXTS_AT_ONCE)
        for ends in in_place.match_ends_of(texts[start : start + TEXTS_AT_ONCE])
    ]
    for number, text in enumerate(texts):
        ours, theirs = folder.match_ends(text).tolist(), their_ends(folder, engine, text)
        read_in_place = ends_in_place[number]
        differing = [at for at in range(len(text)) if ours[at] != theirs[at]]
        unlike = [at for at in range(len(text)) if ours[at] != read_in_place[at]]
        checked = range(len(text)) if number % CHECKED == 0 else sorted({*differing, *unlike})
        found["texts"] += 1
        found["ends"] += len(text)
        found["checked ends"] += len(checked)
        found["texts with other ends"] += bool(differing)
        found["other ends"] += len(differing)
        found["other ends in place"] += len(unlike)
        for name, ends, places in (
            ("ours wrong", ours, checked),
            ("in place wrong", read_in_place, checked),
            ("theirs wrong", theirs, differing),
        ):
            found[name] += sum(not is_right(folder, text, at, ends[at], raws) for at in places)
        spans = our_spans(folder, text, ours)
        found["spans"] += len(spans)
        found["texts with other spans in place"] += spans != our_spans(in_place, text, ours)
        if not differing:
            attributed = their_spans(folder, engine, text)
            found["texts with other spans"] += spans != attributed
            for name, some, others in (
                ("spans of ours with a wrong count", spans, attributed),
                ("spans of theirs with a wrong count", attributed, spans),
            ):
                found[name] += sum(
                    count != len([*occurrences(folder, text[first:stop], raws)])
                    for first, stop, count in {*some} - {*others}
                )
        for span in spans[:SHOWN_SPANS]:
            found += compare_shown(folder, in_place, engine, text[span[0] : span[1]])
        for at in differing[:1]:
            if found["texts with other ends"] <= 3:
                part = text[at : ours[at]]
                ranks = folder.find([part])[0].tolist()
                print(f"  text {number}, token {at}: {ours[at]}, engine {theirs[at]}; {ranks}")
    return found


def compare_shown(
    folder: TokenFolder, in_place: InPlaceTokenFolder, engine: Any, part: Tokens
) -> Counter[str]:
    """Return how many documents and texts around a part differ, at its first and last ranks."""
    found = Counter[str]()
    for shard, (low, high) in enumerate(folder.find([part])[0].tolist()):
        for rank in {low, high - 1} if low < high else ():
            sides = SHOWN_TOKENS // 2, SHOWN_TOKENS - SHOWN_TOKENS // 2
            ours, remote = (
                (each.document, each.length, each.start, each.offset, each.tokens.tolist())
                for each in (
                    files.excerpt(shard, rank, len(part), *sides) for files in (folder, in_place)
                )
            )
            found["shown"] += 1
            found["shown otherwise in place"] += ours != remote
            metadata = folder.metadata_of([ours[0]])
            found["other metadata in place"] += metadata != in_place.metadata_of([remote[0]])
            if folder.backwards:  # the engine shows other tokens there
                continue
            reply = engine.get_doc_by_rank_2(
                s=shard, rank=rank, needle_len=len(part), max_ctx_len=SHOWN_TOKENS // 2
            )
            found["shown by the engine"] += 1
            found["other documents of the engine"] += reply["doc_ix"] != ours[0]
            found["other lengths of the engine"] += reply["doc_len"] != ours[1]
            around = folder.excerpt(shard, rank, len(part), sides[0], len(part) + sides[0])
            found["shown otherwise by the engine"] += (
                reply["token_ids"] != around.tokens.tolist()
                or reply["needle_offset"] != around.offset
            )
    return found


def compare_truths(in_place: InPlaceTokenFolder, truths: Sequence[dict[str, Any]]) -> Counter[str]:
    """Return how many counts of phrases, and of their documents, differ from the true ones."""
    found = Counter[str]()
    all_ranks = in_place.find([truth["token_ids"] for truth in truths]).tolist()
    for truth, ranks in zip(truths, all_ranks, strict=True):
        count = sum(high - low for low, high in ranks)
        found["truths"] += 1
        found["other counts"] += count != truth["token_count"]
        if count > MOST_LISTED:
            continue
        size = len(truth["token_ids"])
        shown = [
            in_place.excerpt(shard, rank, size, 0, size)
            for shard, (low, high) in enumerate(ranks)
            for rank in range(low, high)
        ]
        documents = len({excerpt.document for excerpt in shown})
        found["truths with documents"] += 1
        found["other documents"] += documents != truth["token_documents"]
        found["occurrences of another text"] += sum(
            excerpt.tokens.tolist() != truth["token_ids"] for excerpt in shown
        )
    return found


def numbers(folder: TokenFolder) -> list[str]:
    """Return the numbers in the names of the files."""
    return sorted(file.suffix[1:] for file in Path(folder.place).glob("tokenized.*"))


def timed_s(work: Callable[[Tokens], object], texts: Sequence[Tokens]) -> float:
    started_at = time.perf_counter()
    for text in texts:
        work(text)
    return time.perf_counter() - started_at


def read_outputs(folder: TokenFolder, indexes: Path, file: str) -> list[Tokens]:
    """Return the tokens of outputs of models."""
    if not file:
        return []
    kind = Path(folder.place).name.split("_")[2]
    name = TOKENIZERS[kind]
    tokenizer = open_tokenizer(indexes.parent / "tokenizers" / name if name else None, folder.width)
    lines = Path(file).read_text("utf-8").splitlines()
    return [tokenizer.after_space(json.loads(line)["output"]) for line in lines]


def main(
    texts: str = "170", indexes: str = f"{ROOT.parent}/shared/tokens/index", outputs: str = ""
) -> None:
    """Compare and time all sides for each index."""
    truth_file = Path(indexes).parent / "truth.jsonl"
    lines = truth_file.read_text("utf-8").splitlines() if truth_file.exists() else []
    truths = [json.loads(line) for line in lines]
    for path in sorted(Path(indexes).iterdir()):
        folder, engine = open_both(path)
        drawn = list(draw_texts(folder, int(texts), read_outputs(folder, Path(indexes), outputs)))
        with LateServer(path, 0) as server, Ranges(RangeOptions()) as ranges:
            in_place = open_tokens_in_place(ranges, [server.url], KEPT_BYTES)
            in_place.backwards = folder.backwards
            assert not any(shard.kept_bytes for shard in in_place.shards)
            found = compare(folder, in_place, engine, drawn)
            found += compare_truths(
                in_place, [truth for truth in truths if truth["index"] == path.name]
            )
            record = server.record()
        print(path.name)
        for name, number in found.items():
            print(f"  {name:34} {number:9,}")
        print(f"  in place {record.requests:,} requests, {record.sent_bytes:,} bytes")
        timed = drawn[:TIMED_TEXTS]
        sides = {"ours": folder.match_ends, "engine": engine.creativity}
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, work in sides.items():
                seconds[name].append(timed_s(work, timed))
        ours, theirs = (1e3 * statistics.median(some) / len(timed) for some in seconds.values())
        print(f"  ours {ours:.3f} ms per text, engine {theirs:.3f}: {ours / theirs:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
