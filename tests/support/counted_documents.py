"""An index of documents in memory that says how often texts occur, and keeps what it was asked."""

from collections.abc import Iterator, Sequence

from ngramscan.clock import now
from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import QueryCount, QueryFailure
from tests.support.text_index import TextIndex


class CountedDocuments(TextIndex):
    """Counts in documents in memory; some queries fail, and it may give up after some answers."""

    def __init__(
        self, texts: Sequence[str], name: str = "a", lost: Sequence[str] = (), answers: int = 10**9
    ) -> None:
        super().__init__(texts, lost=lost)
        self.name, self._answers = name, answers
        self.rounds: list[list[str]] = []

    @property
    def asked(self) -> list[str]:
        return [query for queries in self.rounds for query in queries]

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        assert queries
        assert len(set(queries)) == len(queries)
        self.rounds.append(list(queries))
        return self.answers_to(queries[::-1])  # any order is allowed

    def answers_to(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Yield the answers, each when it is taken."""
        for found in self.find(queries):
            if not self._answers:
                raise RemoteUnavailable("the line is dead")
            self._answers -= 1
            if isinstance(found, QueryFailure):
                yield found
            else:
                yield QueryCount(found.query, found.occurrences, None, "api", now())
