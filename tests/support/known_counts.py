"""An index whose counts are known, and a set of patterns with its counts."""

from collections.abc import Iterator, Sequence

from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import IndexSize, QueryCount, QueryFailure
from ngramscan.patterns.model import Pattern, PatternSet
from tests.support.text_index import TextIndex


class Known(TextIndex):
    """An index whose counts are given; what is not given fails."""

    def __init__(self, name: str, counts: dict[str, int], size: IndexSize) -> None:
        super().__init__()
        self.name, self._counts, self._size = name, counts, size
        self.asked: list[str] = []

    def size(self) -> IndexSize:
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        self.asked = list(queries)
        for query in reversed(queries):  # any order is allowed
            if query in self._counts:
                yield QueryCount(query, self._counts[query], None, "api", "2026-11-20")
            else:
                yield QueryFailure(self.name, query, RemoteUnavailable("no"))


SET = PatternSet(
    "s",
    "",
    (
        Pattern("step by step", "CoT", "T1", "narrative"),
        Pattern("think step by step", "CoT", "T1", "narrative"),
        Pattern("next, we", "CoT", "T2", "narrative"),
        Pattern(r"\begin{align}", "F", "T1", "latex"),
        Pattern(r"\end{align}", "F", "T1", "latex"),
        Pattern("using the formula", "F", "T2", "narrative"),
        Pattern("the formula for", "F", "T2", "narrative"),
        Pattern("solve", "F", "T3", "narrative"),
    ),
)
COUNTS = {
    "step by step": 100,
    "think step by step": 30,
    "next, we": 0,
    r"\begin{align}": 8,
    r"\end{align}": 7,
    "using the formula": 50,
    "the formula for": 40,
    "using the formula for": 10,
    "solve": 1000,
}
"""Of each pattern, and of the one overlap of two."""
