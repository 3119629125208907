"""An index over tokens, in the format of infini-gram: its files, memory-mapped.

A shard N is `tokenized.N` (for each document a separator, all bits set, then its tokens), `table.N`
(the byte offsets of all tokens and separators, in the order of the bytes from there to the end of
the shard), `offset.N` (the byte offset of each document's separator), and perhaps `metadata.N` with
`metaoff.N`. The width of tokens is in no file: it follows from the sizes, as pointers take
⌈log2(bytes of tokenized.N) / 8⌉ bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ngramscan.fm9.compiled import Integers


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a document; lengths are tokens."""

    document: int
    """Numbered over all shards, in their order."""
    length: int
    """Of the document."""
    start: int
    """Tokens of the document before the excerpt."""
    offset: int
    """Tokens of the excerpt before the occurrence; -1: the occurrence begins at the separator."""
    tokens: Integers


class TokenFolder:
    """The shards of an index.

    Attributes: `path`, `width` (bytes per token), `separator` (its id), `documents`, `tokens`
    (with separators), `index_bytes`, `shard_tokens` (per shard, with separators).
    `backwards` says that each document holds its tokens in reverse, as in version 5; no file tells,
    so it is set by whoever knows.
    """

    backwards: bool = False

    def find(self, patterns: Sequence[Sequence[int]]) -> Integers:
        """Return the ranks [low, high) of some token n-grams, shape (patterns, shards, 2).

        An empty one has all ranks; separators can be part of one.
        """
        raise NotImplementedError

    def excerpt(self, shard: int, rank: int, needle: int, before: int, after: int) -> Excerpt:
        """Return what surrounds an occurrence of `needle` tokens.

        At most `before` tokens before it, and `after` from its first token on, all of its document.
        """
        raise NotImplementedError

    def metadata(self, document: int) -> str:
        """Return the line of JSON about a document, or an empty text."""
        raise NotImplementedError

    def tokens_of(self, document: int) -> Integers:
        """Return all tokens of a document, in reading order."""
        raise NotImplementedError


def open_token_folder(directory: Path) -> TokenFolder:
    """Open the index in a folder; an InputError or IndexFormatError says what is wrong with it."""
    raise NotImplementedError


def is_token_folder(directory: Path) -> bool:
    """Whether a folder has any file of such an index."""
    raise NotImplementedError
