"""An index of a new kind, a dictionary of texts, in all commands and on the search page.

It has the members of the protocol and nothing else; numbers are held against those of the texts
themselves.
"""

import re
from collections.abc import Iterator, Sequence

import pytest

from ngramscan.indexes.base import (
    Cost,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    Segment,
    Unit,
    Window,
)
from ngramscan.patterns.given import load_given
from ngramscan.prevalence.contamination.contaminate import Entry, run_contaminate
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.prevalence.contexts import run_contexts
from ngramscan.prevalence.count import run_count
from ngramscan.prevalence.docnorm import run_docnorm
from ngramscan.prevalence.draws import DocnormOptions
from ngramscan.prevalence.plan import make_plan
from ngramscan.serve.page import SearchPage
from ngramscan.serve.rendering import Templates


class Dictionary:
    """Texts by their names; occurrences are numbered in their order."""

    name = spec = "dictionary"
    unit: Unit = "bytes"
    longest_context = 1 << 40

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = {name: text.encode() for name, text in texts.items()}

    def _starts(self, query: str) -> list[tuple[str, int]]:
        found = query.encode()
        return [
            (name, start)
            for name, text in self._texts.items()
            for start in range(len(text))
            if text.startswith(found, start)
        ]

    def size(self) -> IndexSize:
        return IndexSize(len(self._texts), sum(map(len, self._texts.values())))

    def cost(self, *_: object) -> Cost:
        return Cost()

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        for query in queries:
            yield QueryCount(query, len(self._starts(query)), None, "scan", "2026-11-24")

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences]:
        for query in queries:
            yield Occurrences(query, (Segment(0, 0, len(self._starts(query))),))

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window]:
        for place in places:
            name, start = self._starts(place.query)[place.rank]
            text, low = self._texts[name], max(0, start - context)
            shown = text[low : start + len(place.query.encode()) + context]
            yield Window(
                place=place,
                document=name,
                document_bytes=len(text),
                text=shown,
                offset=start - low,
                starts_document=low == 0,
                metadata="",
            )


TEXTS = {f"text {n}": "step by step, " * (n % 3) + f"word {n}" for n in range(60)}
QUESTION = "Which of these words was said forty times, and which was never said?"


@pytest.fixture
def index() -> Dictionary:
    return Dictionary({**TEXTS, "copy": f"It asked: {QUESTION}"})


def test_count(index: Dictionary) -> None:
    (row,) = run_count(load_given([], ["step by"], []).queries(), [index]).rows
    assert (row.occurrences, row.documents) == (sum(n % 3 for n in range(60)), None)


def test_docnorm(index: Dictionary) -> None:
    queries = load_given([], ["step by"], []).queries()
    (row,) = run_docnorm(queries, [index], DocnormOptions(draws=60, exact_up_to=0)).rows
    assert (row.occurrences, row.documents_low, row.documents) == (60, 40, 40)


def test_contexts(index: Dictionary) -> None:
    (found,), _ = run_contexts(["word 7"], index, n=5, width=20, seed=1)
    assert [(row.document, row.left, row.match) for row in found.rows] == [
        ("text 7", "step by step, ", "word 7")
    ]


def test_contaminate(index: Dictionary) -> None:
    entries = [Entry("copied", QUESTION), Entry("new", QUESTION.upper())]
    rows = run_contaminate(entries, make_rule("mini"), [index]).rows
    assert [row.verdict for row in rows] == ["dirty", "clean"]


def test_a_plan(index: Dictionary) -> None:
    (row,) = make_plan(1, ["step by"], 20, 100, [index])
    assert (row.lookups, row.windows_at_most, row.requests) == (1, 20, 0)


def test_the_search_page(index: Dictionary) -> None:
    page = SearchPage({"dictionary": index}, Templates({"dictionary": index}))
    status, parts = page.answer(b"q=word+7", "http://127.0.0.1/")
    words = re.sub("<[^>]*>", "", "".join(parts))
    assert status == 200
    assert "step by step, word 7\ndocument text 7, byte 14" in words
