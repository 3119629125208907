"""`tokens:DIR`: a local folder in the format of infini-gram."""

from __future__ import annotations

from pathlib import Path

from ngramscan.indexes.tokens.base import TokenIndex
from ngramscan.progress import Progress


def open_tokens(directory: Path, tokenizer: str | Path | None, progress: Progress) -> TokenIndex:
    """Open the index in a folder."""
    raise NotImplementedError
