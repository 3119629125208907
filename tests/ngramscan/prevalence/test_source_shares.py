"""Shares of sources: exact ones, and how often the limits of draws miss the truth."""

from collections.abc import Sequence

import numpy as np
import pytest

from ngramscan.prevalence.draws import DocumentShare
from ngramscan.prevalence.source_shares import (
    SourceDraw,
    SourceShare,
    estimate_source_shares,
    exact_source_shares,
)
from tests.support.sizes import sets

DRAWS = 200


def draw(value: str | None, document: int, in_document: int) -> SourceDraw:
    """Return a draw from a document that is seen whole and has so many occurrences."""
    return SourceDraw(value, str(document), DocumentShare(1 / in_document, 1 / in_document, False))


def test_all_occurrences_give_exact_shares() -> None:
    occurrences = [("a", "1"), ("a", "1"), ("a", "2"), ("b", "3"), (None, "4")]
    draws = [SourceDraw(value, document, None) for value, document in occurrences]
    a, b, without = exact_source_shares(draws)
    assert without.value is None
    assert (a.occurrences.value, *a.occurrences.limits) == (0.6, 0.6, 0.6)
    assert a.documents is not None
    assert (a.documents.value, *a.documents.limits) == (0.5, 0.5, 0.5)
    assert (a.documents_with_query, b.documents_with_query) == (2, 1)


def test_as_many_draws_as_occurrences_are_exact() -> None:
    draws = [draw("a", 1, 2), draw("a", 1, 2), draw("b", 2, 1)]
    a, b = estimate_source_shares(draws, 3)
    assert (a.occurrences.limits, b.occurrences.limits) == ((2 / 3, 2 / 3), (1 / 3, 1 / 3))
    assert a.documents is not None
    assert a.documents.limits == (0.5, 0.5)


def test_hidden_parts_leave_documents_unknown() -> None:
    hidden = SourceDraw("a", "1", DocumentShare(0.1, 1.0, False))
    (share,) = estimate_source_shares([hidden] * 30, 10_000)
    assert (share.documents, share.documents_with_query) == (None, None)
    assert share.occurrences.value == 1


def test_a_source_that_was_drawn_a_few_times_has_no_lower_limit() -> None:
    draws = [draw("a", number, 1) for number in range(95)]
    seldom = [draw("b", number, 1) for number in range(100, 104)]
    often = [*seldom, draw("b", 105, 1)]
    _, b = estimate_source_shares(draws + seldom, 1_000_000)
    _, more = estimate_source_shares(draws + often, 1_000_000)
    assert b.documents is not None
    assert more.documents is not None
    assert (b.occurrences.low, b.documents.low) == (1e-6, 0.0)
    assert (more.occurrences.low or 0) > 0.005
    assert (more.documents.low or 0) > 0.005


class Population:
    """Documents with a source and a number of occurrences each."""

    def __init__(self, sources: Sequence[tuple[int, int]]) -> None:
        """Make the documents of each source: how many, with how many occurrences each."""
        self.values = np.repeat(np.arange(len(sources)), [n for n, _ in sources])
        self.counts = np.repeat([count for _, count in sources], [n for n, _ in sources])
        self.documents = np.repeat(np.arange(self.counts.size), self.counts)

    def shares(self, random: np.random.Generator, n: int) -> list[SourceShare]:
        """Estimate from n draws."""
        total = self.documents.size
        drawn = self.documents[random.choice(total, n, replace=20 * n <= total)].tolist()
        draws = [
            draw(str(self.values[document]), document, int(self.counts[document]))
            for document in drawn
        ]
        return estimate_source_shares(draws, total)

    def truth(self, value: str) -> tuple[float, float]:
        """Return the share of the occurrences and of the documents of a source."""
        is_in_source = self.values == int(value)
        occurrences = self.counts[is_in_source].sum() / self.counts.sum()
        return float(occurrences), float(is_in_source.mean())


POPULATIONS = {
    "two sources": [(2000, 1), (1000, 2)],
    "clusters of fifty": [(100, 50), (3000, 1), (20, 200)],
    "one document with most": [(1, 5000), (2000, 1), (300, 3)],
    "six sources, some rare": [(4000, 1), (900, 2), (100, 5), (60, 1), (15, 1), (2, 10)],
    "many sources": [(max(1, 4000 // rank), 1) for rank in range(1, 300)],
    "all sources alike": [(40, 1)] * 100,
    "thousands of sources": [(1, 1)] * 12_500,
    "few occurrences": [(300, 2), (400, 1)],
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_limits_hold_for_all_sources_together(name: str) -> None:
    population = Population(POPULATIONS[name])
    random = np.random.default_rng(7)
    n_sets = sets(150)
    held = np.zeros(2)
    for _ in range(n_sets):
        shares = population.shares(random, DRAWS)
        assert sum(share.occurrences.value for share in shares) == pytest.approx(1)
        truths = [population.truth(share.value or "") for share in shares]
        by_kind = (
            [share.occurrences for share in shares],
            [share.documents for share in shares if share.documents is not None],
        )
        for kind, estimates in enumerate(by_kind):
            held[kind] += all(
                estimate.limits[0] - 1e-9 <= truth[kind] <= estimate.limits[1] + 1e-9
                for estimate, truth in zip(estimates, truths, strict=True)
            )
    assert (held / n_sets >= 0.93).all(), held / n_sets
