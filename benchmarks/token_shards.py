"""Write a large index over tokens, whose shards are as those of a published one, for measurements.

    python benchmarks/token_shards.py FOLDER [MILLIONS [SHARDS [TOKENIZER]]]

Format 4; unless other numbers are given, 8 shards of 50 million tokens, each of which takes 15 s
and 0.9 GB of memory. Texts that every machine has (the documents of the tests, descriptions of
installed packages, sources of Python) are tokenized once. Documents are made of pieces of them, 12
tokens long on average, so that few suffixes have more than 40 tokens in common, but short phrases
are as frequent as in texts. The phrases of the set f1, after a space and at the beginning of a
line, are planted with frequencies between 2e-8 and 1e-4. The seed is fixed, and a shard that exists
stays as it is.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

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
PIECE_TOKENS, DOCUMENT_TOKENS = 12, 600
TOKENS_AT_ONCE = 4_000_000
LOWEST_FREQUENCY, HIGHEST_FREQUENCY = -7.7, -4.0
"""Powers of ten."""

Tokens = NDArray[np.uint16]


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


def tokenized_sources(tokenizer: Tokenizer) -> Tokens:
    """Return the tokens of all texts in one piece, of a bounded size."""
    tokens: list[int] = []
    characters = 0
    for text in source_texts():
        tokens += tokenizer.of_document(text)
        characters += len(text)
        if characters > SOURCE_CHARACTERS:
            break
    return np.array(tokens, np.uint16)


def phrase_forms(tokenizer: Tokenizer) -> list[Tokens]:
    """Return the token n-grams of the set f1."""
    forms: list[list[int]] = []
    for query in load_given(["f1"], (), (), (), ()).queries():
        forms.append(tokenizer.after_space(query.text))
        if at_start_of_line := tokenizer.after_newline(query.text):
            forms.append(at_start_of_line)
    return [np.array(form, np.uint16) for form in forms]


def draw_text(draw: np.random.Generator, sources: Tokens, forms: list[Tokens], size: int) -> Tokens:
    """Return the text of a shard, with a separator in front of each document."""
    text = np.empty(size, np.uint16)
    for start in range(0, size, TOKENS_AT_ONCE):
        part = text[start : start + TOKENS_AT_ONCE]
        # Twice as many pieces as are needed, since their lengths are drawn.
        lengths = draw.geometric(1 / PIECE_TOKENS, 2 * len(part) // PIECE_TOKENS + 100)
        starts = draw.integers(0, len(sources), len(lengths))
        ends = np.cumsum(lengths)
        places = np.repeat(starts - (ends - lengths), lengths)[: len(part)]
        part[:] = sources[(places + np.arange(len(part))) % len(sources)]
    for form in forms:
        frequency = 10 ** draw.uniform(LOWEST_FREQUENCY, HIGHEST_FREQUENCY)
        planted = draw.integers(0, size - len(form), round(size * frequency))
        text[planted[:, None] + np.arange(len(form))] = form
    drawn = draw.lognormal(np.log(DOCUMENT_TOKENS) - 0.5, 1, 2 * size // DOCUMENT_TOKENS)
    document_starts = np.cumsum(drawn.astype(np.int64) + 1)
    text[document_starts[document_starts < size]] = text[0] = SEPARATOR
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
    sources, forms = tokenized_sources(tokenizer), phrase_forms(tokenizer)
    print(f"{len(sources):,} tokens of {len(np.unique(sources)):,} kinds, {len(forms)} n-grams")
    for number in range(shards):
        if (folder / f"table.{number}").exists():
            continue
        draw = np.random.default_rng([1, number])
        write_shard(folder, number, draw_text(draw, sources, forms, size))
        print(f"shard {number}: {size:,} tokens")


if __name__ == "__main__":
    main()
