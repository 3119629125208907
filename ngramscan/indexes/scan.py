"""A corpus read once from start to end as an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.corpora import Corpus
from ngramscan.indexes.base import IndexSize, QueryCount
from ngramscan.journal import now
from ngramscan.matching import Tally
from ngramscan.progress import Progress


class ScanIndex:
    """Counts occurrences and documents exactly, for all queries in one pass."""

    def __init__(self, corpus: Corpus, progress: Progress) -> None:
        self.name = corpus.name
        self._corpus = corpus
        self._progress = progress
        self._size = IndexSize()

    def size(self) -> IndexSize:
        """Return the documents and bytes that were read; unknown before."""
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Read the corpus and yield all counts at its end.

        Raises
        ------
        CorpusError
            A document can't be read: there are no counts then, rather than smaller ones.
        """
        tally = Tally(queries)
        self._progress.expect(sum(file.size for file in self._corpus.files), "bytes")
        for file in self._corpus.files:
            for batch in self._corpus.read(file):
                tally.add(batch.texts)
                self._progress.advance(batch.consumed, "bytes")
        if self._corpus.left_out:
            self._progress.notice(self._corpus.left_out)
        self._size = IndexSize(tally.documents_read, tally.bytes_read)
        asked_at = now()
        for query, occurrences, documents in zip(
            tally.queries, tally.occurrences, tally.documents, strict=True
        ):
            yield QueryCount(query, occurrences, documents, "scan", asked_at)
