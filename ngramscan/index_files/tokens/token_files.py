"""The protocol of the files of an index over tokens, local or in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.tokens.excerpts import TokenExcerpt


class TokenFiles(Protocol):
    """The shards of an index over tokens; an IndexFormatError says that they are corrupt."""

    backwards: bool
    """Each document holds its tokens in reverse, as in version 5; no file tells, so it is set."""

    @property
    def place(self) -> str:
        """The folders or addresses of the index, separated by commas."""

    @property
    def width(self) -> int:
        """Bytes of a token."""

    @property
    def separator(self) -> int:
        """The id of what separates documents."""

    @property
    def documents(self) -> int:
        """Number of documents in all shards."""

    @property
    def tokens(self) -> int:
        """Number of tokens and separators."""

    @property
    def shard_tokens(self) -> Sequence[int]:
        """The same of each shard."""

    @property
    def index_bytes(self) -> int:
        """Bytes of all files."""

    @property
    def documents_by_folder(self) -> Mapping[Any, range]:
        """The numbers of the documents in each folder."""

    def find(self, patterns: Sequence[Sequence[int]]) -> Integers:
        """Return the ranks [low, high) of some token n-grams, shape (patterns, shards, 2)."""

    def match_ends_of(self, texts: Sequence[Sequence[int]]) -> list[Integers]:
        """Return the end of the longest match at each token of some texts."""

    def excerpt(self, shard: int, rank: int, needle: int, before: int, after: int) -> TokenExcerpt:
        """Return the text around an occurrence of `needle` tokens."""

    def metadata_of(self, documents: Sequence[int]) -> list[str]:
        """Return the line of JSON about each document, or an empty text."""

    def tokens_of_documents(self, documents: Sequence[int]) -> list[Integers]:
        """Return all tokens of some documents, in reading order."""

    def count_separators(self) -> int:
        """Return the number of separators in the tables."""
