"""Indexes over tokens: made ones, written by sorting slices, and those of the original tools."""

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ngramscan.index_files import compiled
from ngramscan.index_files.tokens.layout import pointer_bytes_for
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from tests.support.places import TOKENS

COPIES = TOKENS
"""Where small indexes of the original tools lie."""

Documents = list[list[int]]
MADE_SHAPES = pytest.mark.parametrize(
    ("width", "amounts", "ids"),
    [
        pytest.param(1, [3], 2, id="3 documents of bytes"),
        pytest.param(1, [40], 255, id="40 documents of all bytes"),
        pytest.param(2, [30, 0, 25], 3, id="an empty shard"),
        pytest.param(2, [9] * 12, 65535, id="12 shards"),
        pytest.param(4, [60, 1], 5, id="a shard of one document"),
        pytest.param(4, [12] * 11, 4294967295, id="11 shards of wide tokens"),
    ],
)
"""Made indexes: the bytes of a token, the documents of each shard, and the number of ids."""


def write_folder(
    directory: Path, shards: Sequence[Documents], width: int, backwards: bool = False
) -> Path:
    """Write an index by sorting slices. Shards are given in the order of their numbers as text."""
    directory.mkdir(parents=True, exist_ok=True)
    numbers = sorted(map(str, range(len(shards))))
    for number, documents in zip(numbers, shards, strict=True):
        separator, text, starts = (1 << 8 * width) - 1, list[int](), list[int]()
        for document in documents:
            starts.append(len(text) * width)
            text += [separator, *(document[::-1] if backwards else document)]
        raw = np.array(text, f"<u{width}").tobytes()
        order = sorted(range(0, len(raw), width), key=lambda at: raw[at:])
        pointer = pointer_bytes_for(len(raw))
        table = b"".join(at.to_bytes(pointer, "little") for at in order)
        lines = [json.dumps({"linenum": n, "metadata": {}}) + "\n" for n in range(len(documents))]
        line_starts = np.cumsum([0, *map(len, lines)])[:-1]
        for name, content in {
            "tokenized": raw,
            "table": table,
            "offset": np.array(starts, "<u8").tobytes(),
            "metadata": "".join(lines).encode(),
            "metaoff": line_starts.astype("<u8").tobytes(),
        }.items():
            (directory / f"{name}.{number}").write_bytes(content)
    return directory


def some_documents(seed: int, amount: int, ids: int, longest: int = 40) -> Documents:
    """Return random documents of few ids, some of them empty, or copies of others."""
    draw = random.Random(seed)
    found: Documents = []
    for _ in range(amount):
        copied = found and draw.random() < 0.1
        fresh = [draw.randrange(ids) for _ in range(draw.choice((0, 1, longest)))]
        found.append(draw.choice(found) if copied else fresh)
    return found


@cache
def genuine(folder: Path) -> TokenFolder:
    """Return an index of the original tools; those of their fifth version store texts backwards."""
    opened = open_token_folder(folder)
    opened.backwards = folder.name.startswith("v5")
    return opened


def run_kernels(patch: pytest.MonkeyPatch, as_python: bool) -> None:
    """Choose how kernels run, whatever the tests before did."""
    patch.setattr(compiled.WarmingKernel, "calls_left", 10**9 if as_python else 0)
    patch.setattr(compiled, "FEW_STEPS", 10**9)
