"""The content of an index over tokens, by enumeration: no code of ours, no binary search.

N-grams are found by comparing them with every position of `tokenized.N`.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

"""The indexes and tokenizers of the tests, see README.md there."""

Numbers = npt.NDArray[np.int64]


class TokenOracle:
    """The tokens of an index in reading order, and what is true about them."""

    def __init__(self, folder: Path) -> None:
        texts, tables = (sorted(folder.glob(f"{name}.*")) for name in ("tokenized", "table"))
        # A pointer has as many bytes as the text's length needs.
        size = texts[0].stat().st_size
        self.width = size * -(-(size - 1).bit_length() // 8) // tables[0].stat().st_size
        files = [np.fromfile(path, f"<u{self.width}").astype(np.int64) for path in texts]
        self.separator = 256**self.width - 1
        self.is_backwards = folder.name.startswith("v5")
        self.shards = [self._read(tokens) if self.is_backwards else tokens for tokens in files]
        self.documents = [np.cumsum(tokens == self.separator) for tokens in self.shards]
        self.range = range(len(self.shards))

    def _read(self, tokens: Numbers) -> Numbers:
        parts = np.split(tokens, np.flatnonzero(tokens == self.separator))[1:]
        return np.concatenate([np.append(part[:1], part[:0:-1]) for part in parts])

    def starts(self, ids: Sequence[int]) -> list[Numbers]:
        """Return where an n-gram begins, in each shard."""
        found = []
        for tokens in self.shards:
            last = len(tokens) - len(ids) + 1
            at = [tokens[n : n + max(last, 0)] == one for n, one in enumerate(ids)]
            found.append(
                np.flatnonzero(np.logical_and.reduce(at)) if at else np.arange(len(tokens))
            )
        return found

    def count(self, ids: Sequence[int]) -> int:
        return sum(map(len, self.starts(ids)))

    def near(self, clauses: list[list[list[int]]], distance: int) -> list[list[int]]:
        """Return where the rarest clause has all others near, in each shard."""
        spots = [
            [np.unique(np.concatenate(same)) for same in zip(*map(self.starts, one), strict=True)]
            for one in clauses
        ]
        spots.sort(key=lambda shards: sum(map(len, shards)))  # stable: of several, the first
        return [self._near(shard, [one[shard] for one in spots], distance) for shard in self.range]

    def _near(self, shard: int, spots: list[Numbers], distance: int) -> list[int]:
        documents, found = self.documents[shard], []
        for document in np.unique(documents[spots[0]]):
            borders = (np.searchsorted(documents[one], [document, document + 1]) for one in spots)
            inside = [one[low:high] for one, (low, high) in zip(spots, borders, strict=True)]
            here, *others = inside
            near = [(np.abs(here[:, None] - one) <= distance).any(axis=1) for one in others]
            found += here[np.logical_and.reduce([here >= 0, *near])].tolist()
        return found

    def pointers(self, clauses: list[list[list[int]]], distance: int) -> list[list[int]]:
        """Return byte offsets in the files of the same."""
        found = []
        for shard, starts in enumerate(self.near(clauses, distance)):
            places = [self._mirrored(shard, at) if self.is_backwards else at for at in starts]
            found.append(sorted(at * self.width for at in places))
        return found

    def _mirrored(self, shard: int, at: int) -> int:
        documents = self.documents[shard]
        first = np.searchsorted(documents, documents[at])
        last = np.searchsorted(documents, documents[at], side="right") - 1
        return at if at == first else int(first + 1 + last - at)

    def next_tokens(self, ids: Sequence[int], end: int) -> dict[str, int]:
        found: Counter[int] = Counter()
        for tokens, starts in zip(self.shards, self.starts(ids), strict=True):
            ended = np.append(tokens, self.separator)  # after the last token, too
            found.update(ended[starts + len(ids)].tolist())
        counts = Counter({str(one): n for one, n in found.items() if one != self.separator})
        counts[str(end)] += found[self.separator]
        return dict(+counts)

    def documents_with(self, *forms: Sequence[int]) -> Counter[int]:
        """Return how many occurrences of some n-grams are in each document with any."""
        found: Counter[int] = Counter()
        firsts = np.cumsum([-1, *(documents[-1] for documents in self.documents)])
        for ids in forms:
            for first, documents, at in zip(firsts, self.documents, self.starts(ids), strict=False):
                found.update((first + documents[at]).tolist())
        return found
