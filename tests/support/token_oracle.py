"""The content of an index over tokens, by enumeration: no code of ours, no binary search.

N-grams are found by comparing them with every position of `tokenized.N`; ranks are read off
`table.N`. The recorded answers of the original engine are the same (tests/test_token_replies.py).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

TOKENS = Path(__file__).parent.parent / "tokens"
"""The indexes and tokenizers of the tests, see README.md there."""
WIDTHS = {"v4_pysmall_bytes": 1, "v4_pysmall_olmo2": 4}
"""Bytes per token; 2 for all others."""

Array = np.ndarray[Any, Any]


class OracleShard:
    """One shard: `tokens` as they are stored, and `order`, the position of each rank."""

    def __init__(self, folder: Path, number: str, width: int) -> None:
        self.raw = (folder / f"tokenized.{number}").read_bytes()
        self.tokens: Array = np.frombuffer(self.raw, f"<u{width}").astype(np.int64)
        self.separator, self.width = 256**width - 1, width
        table = np.frombuffer((folder / f"table.{number}").read_bytes(), np.uint8)
        self.pointer_width = len(table) // len(self.tokens)
        padded = np.zeros((len(self.tokens), 8), np.uint8)
        padded[:, : self.pointer_width] = table.reshape(len(self.tokens), self.pointer_width)
        self.order: Array = padded.view("<u8").ravel().astype(np.int64) // width
        offsets = np.frombuffer((folder / f"offset.{number}").read_bytes(), "<u8")
        self.starts: Array = offsets.astype(np.int64) // width
        lines = folder / f"metadata.{number}"
        content = lines.read_bytes().split(b"\n")[:-1] if lines.exists() else []
        self.metadata = [f"{line.decode()}\n" for line in content] or [""] * len(self.starts)

    @cached_property
    def ranks(self) -> Array:
        """The rank of each position."""
        ranks = np.empty_like(self.order)
        ranks[self.order] = np.arange(len(self.order))
        return ranks

    def positions(self, ids: list[int]) -> Array:
        """Return where an n-gram of stored tokens begins."""
        n = min(len(self.tokens), max(0, len(self.tokens) - len(ids) + 1))
        fits = np.ones(n, bool)
        for shift, one in enumerate(ids):
            fits &= self.tokens[shift : shift + n] == one
        found: Array = np.flatnonzero(fits)
        return found

    def segment(self, ids: list[int]) -> tuple[int, int]:
        """Return the ranks of an n-gram; if it is absent, those before which it would stand."""
        if not ids:
            return 0, len(self.tokens)
        if ranks := sorted(self.ranks[self.positions(ids)].tolist()):
            assert ranks == list(range(ranks[0], ranks[-1] + 1)), "neighbours in the table"
            return ranks[0], ranks[-1] + 1
        needle = np.array(ids, f"<u{self.width}").tobytes()
        longest = len(needle)
        at = (position * self.width for position in range(len(self.tokens)))
        low = sum(self.raw[start : start + longest] < needle for start in at)
        return low, low


@dataclass(frozen=True)
class Occurrence:
    """Where one rank is, in reading order."""

    document: int
    length: int
    """Tokens of the document."""
    offset: int
    """Tokens of the document before the occurrence."""


class TokenOracle:
    """All shards of a folder; documents are numbered over all of them."""

    def __init__(self, folder: Path) -> None:
        self.name, self.backwards = folder.name, folder.name.startswith("v5")
        self.width = WIDTHS.get(folder.name, 2)
        numbers = sorted(file.suffix[1:] for file in folder.glob("tokenized.*"))
        self.shards = [OracleShard(folder, number, self.width) for number in numbers]
        self.separator = self.shards[0].separator
        self.documents = sum(len(shard.starts) for shard in self.shards)
        self.tokens = sum(len(shard.tokens) for shard in self.shards)
        """With one separator per document."""

    def find(self, ids: list[int]) -> list[tuple[int, int]]:
        """Return the ranks [first, end) of an n-gram in each shard."""
        return [shard.segment(self._stored(ids)) for shard in self.shards]

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

    def tokens_of(self, document: int) -> list[int]:
        """Return the tokens of a document in reading order."""
        for shard in self.shards:
            if document < len(shard.starts):
                ends = [*shard.starts.tolist(), len(shard.tokens)]
                tokens: list[int] = shard.tokens[ends[document] + 1 : ends[document + 1]].tolist()
                return tokens[::-1] if self.backwards else tokens
            document -= len(shard.starts)
        raise IndexError(document)

    def metadata(self, document: int) -> str:
        """Return the line of a document, with its end."""
        return [line for shard in self.shards for line in shard.metadata][document]

    def occurrence(self, shard: int, rank: int, needle: int) -> Occurrence:
        """Return where an n-gram of `needle` tokens is that has a rank."""
        of = self.shards[shard]
        position = int(of.order[rank])
        local = int(np.searchsorted(of.starts, position, "right")) - 1
        document = sum(len(each.starts) for each in self.shards[:shard]) + local
        length = len(self.tokens_of(document))
        offset = position - int(of.starts[local]) - 1
        if self.backwards:
            offset = length - offset - needle
        return Occurrence(document, length, offset)
