"""Plain text: a file is a document."""

from __future__ import annotations

from collections.abc import Iterator

from ngramscan.corpora.base import Batch, Piece, ReadOptions
from ngramscan.corpora.streams import read_chunks
from ngramscan.errors import CorpusError


def read_text(piece: Piece, _options: ReadOptions) -> Iterator[Batch]:
    """Yield the one document of a text file."""
    chunks = list(read_chunks(piece.file))
    text = b"".join(chunk for chunk, _ in chunks)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise CorpusError(piece.file.path, f"not UTF-8 at byte {error.start}") from error
    yield Batch([text], [1], sum(consumed for _, consumed in chunks))
