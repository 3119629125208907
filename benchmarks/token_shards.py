"""Write a large index over tokens, whose shards are as those of a published one, for measurements.

    python benchmarks/token_shards.py FOLDER [MILLIONS [SHARDS [TOKENIZER]]]

Format 4; unless other numbers are given, 8 shards of 50 million tokens, each of which takes 15 s
and 0.9 GB of memory. Texts that every machine has (the documents of the tests, descriptions of
installed packages, sources of Python) are tokenized once. Documents are made of pieces of them, 12
tokens long on average, so that few suffixes have more than 60 tokens in common, but short phrases
are as frequent as in texts. Pieces begin and end with words, so that the tokens of most documents
are those of their text. Between them are the phrases of the set f1, after a space and at the
beginning of a line, with frequencies between 2e-8 and 1e-4. The seed is fixed, and a shard that
exists stays as it is.
"""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.index_files.tokens.build import sort_table
from ngramscan.index_files.tokens.tokenizers import Tokenizer, open_tokenizer
from ngramscan.patterns.given import load_given

TOKENIZER = ROOT / "tests" / "tokens" / "llamalike.model"
SEPARATOR = 65_535
SOURCE_CHARACTERS = 16_000_000
PIECE_WORDS, DOCUMENT_PIECES = 3, 50
PIECE_TOKENS = 10
"""Tokens of a piece, on average, at least."""
LONGEST_PIECE = 100
"""In words."""
TOKENS_AT_ONCE = 4_000_000
LOWEST_FREQUENCY, HIGHEST_FREQUENCY = -7.7, -4.0
"""Powers of ten."""

Tokens = NDArray[np.uint16]
Places = NDArray[np.int64]


def source_texts() -> Iterator[str]:
    """Yield texts that this machine has: prose first, then sources."""
    for path in sorted((ROOT / "tests" / "replay" / "docs").glob("*.jsonl")):
        lines = path.read_text("utf-8").rstrip("\n").split("\n")
        yield from (json.loads(line)["text"] for line in lines)
    packages = Path(sysconfig.get_paths()["purelib"])
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = [*sorted(packages.glob("*.dist-info/METADATA")), *sorted(library.rglob("*.py"))]
    for path in paths:
        yield path.read_text("utf-8", errors="ignore")


class Pool(NamedTuple):
    """Tokens from which documents are made."""

    tokens: Tokens
    """The texts, then the phrases, then a separator."""
    cuts: Places
    """Where words of the texts begin: tokens of parts between two of them are those of a text."""
    forms: list[range]
    """The places of the phrases."""


def make_pool(tokenizer: Tokenizer) -> Pool:
    """Tokenize texts and phrases."""
    ids: list[int] = []
    characters = 0
    for text in source_texts():
        ids += tokenizer.of_document(text)
        characters += len(text)
        if characters > SOURCE_CHARACTERS:
            break
    pieces = tokenizer.pieces(ids)
    cuts = [
        place
        for place, (before, piece) in enumerate(pairwise(pieces), 1)
        if re.fullmatch("▁[^▁]+", piece) and not re.search("▁$|^<0x", before)
    ]
    forms = []
    for form in phrase_forms(tokenizer):
        forms.append(range(len(ids), len(ids) + len(form)))
        ids += form
    return Pool(np.array([*ids, SEPARATOR], np.uint16), np.array(cuts, np.int64), forms)


def phrase_forms(tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Yield the token n-grams of the set f1, the second form with the line end before it."""
    line_end = tokenizer.of_document("a\n")[-1:]
    for query in load_given(["f1"], (), (), (), ()).queries():
        yield tokenizer.after_space(query.text)
        if at_start_of_line := tokenizer.after_newline(query.text):
            yield [*line_end, *at_start_of_line]


def draw_text(draw: np.random.Generator, pool: Pool, size: int) -> Tokens:
    """Return the text of a shard, with a separator in front of each document."""
    # A few more pieces than are needed, since their lengths are drawn.
    number = int(1.2 * size / PIECE_TOKENS)
    first_cuts = draw.integers(0, len(pool.cuts) - LONGEST_PIECE, number)
    words = np.minimum(draw.geometric(1 / PIECE_WORDS, number), LONGEST_PIECE - 1)
    starts = pool.cuts[first_cuts]
    lengths = pool.cuts[first_cuts + words] - starts
    for form in pool.forms:
        frequency = 10 ** draw.uniform(LOWEST_FREQUENCY, HIGHEST_FREQUENCY)
        planted = draw.integers(0, number, round(size * frequency))
        starts[planted], lengths[planted] = form.start, len(form)
    pieces_of_documents = draw.lognormal(np.log(DOCUMENT_PIECES) - 0.5, 1, number).astype(np.int64)
    first_pieces = np.cumsum(1 + pieces_of_documents)
    separators = np.append(0, first_pieces[first_pieces < number])
    starts[separators], lengths[separators] = len(pool.tokens) - 1, 1
    ends = np.cumsum(lengths)
    assert ends[-1] >= size, "too few pieces were drawn"
    text = np.empty(size, np.uint16)
    for start in range(0, size, TOKENS_AT_ONCE):
        places = np.arange(start, min(start + TOKENS_AT_ONCE, size))
        pieces = np.searchsorted(ends, places, side="right")
        text[start : start + len(places)] = pool.tokens[
            starts[pieces] + places - (ends[pieces] - lengths[pieces])
        ]
    return text


def write_shard(folder: Path, number: int, text: Tokens) -> None:
    """Write the files of a shard, the table last."""
    starts = np.flatnonzero(text == SEPARATOR)
    lines = [
        json.dumps({"path": f"made-{number}.jsonl", "linenum": line, "metadata": {}}).encode()
        + b"\n"
        for line in range(len(starts))
    ]
    line_starts = [0, *accumulate(map(len, lines))][:-1]
    contents = {
        "tokenized": text.tobytes(),
        "offset": (2 * starts).astype("<u8").tobytes(),
        "metadata": b"".join(lines),
        "metaoff": np.array(line_starts, "<u8").tobytes(),
        "table": sort_table(text.tobytes(), 2).tobytes(),
    }
    for name, content in contents.items():
        (folder / f"{name}.{number}").write_bytes(content)


def main() -> None:
    folder = Path(sys.argv[1])
    size = int(sys.argv[2]) * 1_000_000 if len(sys.argv) > 2 else 50_000_000
    shards = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    tokenizer = open_tokenizer(sys.argv[4] if len(sys.argv) > 4 else TOKENIZER, 2)
    folder.mkdir(parents=True, exist_ok=True)
    pool = make_pool(tokenizer)
    kinds, tokens_per_cut = len(np.unique(pool.tokens)), len(pool.tokens) / len(pool.cuts)
    print(f"{len(pool.tokens):,} tokens of {kinds:,} kinds, {len(pool.forms)} n-grams")
    print(f"{tokens_per_cut:.1f} tokens between two places to cut, on average")
    for number in range(shards):
        if (folder / f"table.{number}").exists():
            continue
        draw = np.random.default_rng([1, number])
        write_shard(folder, number, draw_text(draw, pool, size))
        print(f"shard {number}: {size:,} tokens")


if __name__ == "__main__":
    main()
