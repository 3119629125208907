"""The content of an index over tokens, by enumeration: no code of ours, no binary search.

N-grams are found by comparing them with every position of `tokenized.N`.
"""

from pathlib import Path
from typing import Any

import numpy as np

TOKENS = Path(__file__).parent.parent / "tokens"
"""The indexes and tokenizers of the tests, see README.md there."""
WIDTHS = {"v4_pysmall_bytes": 1, "v4_pysmall_olmo2": 4}
"""Bytes per token; 2 for all others."""

Array = np.ndarray[Any, Any]


class OracleShard:
    """One shard: `tokens` as they are stored, and where documents start."""

    def __init__(self, folder: Path, number: str, width: int) -> None:
        content = (folder / f"tokenized.{number}").read_bytes()
        self.tokens: Array = np.frombuffer(content, f"<u{width}").astype(np.int64)
        offsets = np.frombuffer((folder / f"offset.{number}").read_bytes(), "<u8")
        self.starts: Array = offsets.astype(np.int64) // width

    def positions(self, ids: list[int]) -> Array:
        """Return where an n-gram of stored tokens begins."""
        n = min(len(self.tokens), max(0, len(self.tokens) - len(ids) + 1))
        fits = np.ones(n, bool)
        for shift, one in enumerate(ids):
            fits &= self.tokens[shift : shift + n] == one
        found: Array = np.flatnonzero(fits)
        return found


class TokenOracle:
    """All shards of a folder; documents are numbered over all of them."""

    def __init__(self, folder: Path) -> None:
        self.backwards, width = folder.name.startswith("v5"), WIDTHS.get(folder.name, 2)
        numbers = sorted(file.suffix[1:] for file in folder.glob("tokenized.*"))
        self.shards = [OracleShard(folder, number, width) for number in numbers]
        self.documents = sum(len(shard.starts) for shard in self.shards)
        self.tokens = sum(len(shard.tokens) for shard in self.shards)
        """With one separator per document."""

    def count(self, ids: list[int]) -> int:
        """Return how often an n-gram occurs."""
        return sum(len(shard.positions(self._stored(ids))) for shard in self.shards)

    def _stored(self, ids: list[int]) -> list[int]:
        return list(ids[::-1] if self.backwards else ids)

    def documents_with(self, *forms: list[int]) -> dict[int, int]:
        """Return the documents with any of some n-grams, and how many occurrences are in each."""
        found: dict[int, int] = {}
        first = 0
        for shard in self.shards:
            for ids in forms:
                positions = shard.positions(self._stored(ids))
                for one in np.searchsorted(shard.starts, positions, "right").tolist():
                    found[first + one - 1] = found.get(first + one - 1, 0) + 1
            first += len(shard.starts)
        return found
