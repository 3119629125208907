"""`tokens:DIR`: a local folder, or several, in the format of infini-gram."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ngramscan.errors import NgramscanError
from ngramscan.index_files.compiled import Integers, compile_for
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.index_files.tokens.tokenizers import Tokenizer
from ngramscan.index_files.tokens.unigrams import count_tokens
from ngramscan.indexes.base import Cost, Locates, Occurrences
from ngramscan.indexes.kinds import TOKENS
from ngramscan.indexes.tokens.files import TokenFilesIndex, open_for
from ngramscan.progress import Progress

_FEW_QUERIES = 10
"""So many are found sooner than the reader is compiled."""


class TokenFolderIndex(TokenFilesIndex, Locates):
    """An index whose files are on this machine: any number of occurrences are placed fast."""

    def __init__(
        self, name: str, folder: TokenFolder, tokenizer: Tokenizer, progress: Progress
    ) -> None:
        super().__init__(name, folder, tokenizer, progress)
        self._local = folder

    def _prepare(self, queries: int) -> None:
        if queries > _FEW_QUERIES:
            compile_for(lambda: self._local.find([[0]]), self._progress)

    def cost(self, *_: object) -> Cost:
        """Return nothing: it takes no requests."""
        return Cost()

    def cost_of_matches(self, _: Sequence[str]) -> Cost:
        """Return nothing: it takes no requests."""
        return Cost()

    def describe_cost_of_matches(self) -> str:
        """Return an empty text: there are no requests."""
        return ""

    def count_tokens(self, ids: Sequence[int]) -> dict[int, int | NgramscanError]:
        """Return the occurrences of some tokens, from the files `unigram` if there are any."""
        return {**count_tokens(self._local, ids)}

    def documents_of(self, located: Occurrences) -> Integers:
        """Return the document of each occurrence of a query."""
        segments = ((segment.shard, segment.low, segment.high) for segment in located.segments)
        documents = [self._local.documents_of(*segment) for segment in segments]
        return np.concatenate([np.zeros(0, np.int64), *documents])


def open_tokens(
    directories: Sequence[Path], tokenizer: str | Path | None, progress: Progress
) -> TokenFolderIndex:
    """Open the index in a folder, or in several together."""
    folder = open_token_folder(*directories)
    opened = open_for(folder, tokenizer, progress)
    return TokenFolderIndex(TOKENS.spec_of(folder.place), folder, opened, progress)
