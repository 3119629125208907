"""Tokenizers: texts → tokens, as infini-gram's indexer and service do it, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from ngramscan.token_files.shard import TokenFolder


class Tokenizer(Protocol):
    """Turns texts into tokens and back."""

    name: str
    """The name of its file; `bytes`: UTF-8, without a file."""
    vocabulary: int
    """Number of ids."""
    end_of_text: int
    """The id that the engine shows where a document ends."""

    def of_document(self, text: str) -> list[int]:
        """Return the tokens of a document, as the indexer makes them."""

    def after_space(self, text: str) -> list[int]:
        """Return the tokens of a text after a space: what the service makes of a query."""

    def after_newline(self, text: str) -> list[int] | None:
        """Return the tokens of a text at the beginning of a line; None: it has none of its own."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the names of tokens: `▁step`, `Ġstep`, `<0x0A>`."""

    def content(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that tokens stand for, in the middle of a text: spaces are kept."""

    def shown(self, ids: Sequence[int]) -> str:
        """Return the text that the service shows for tokens: Llama's loses a space in front."""


def open_tokenizer(path: str | Path | None, width: int) -> Tokenizer:
    """Open a SentencePiece `.model` or a `tokenizer.json` (also gzipped) for tokens of some bytes.

    None is for bytes, tokens of one byte; otherwise an InputError asks for --tokenizer.
    """
    raise NotImplementedError


def check_fit(tokenizer: Tokenizer, folder: TokenFolder) -> None:
    """Set whether documents of a folder are backwards, or say that the tokenizer isn't theirs.

    Some documents are decoded and encoded again: forwards or backwards, this gives the same tokens.
    """
    raise NotImplementedError
