"""Shares of sources among the occurrences of a query and its documents: draws in, shares out.

Each draw is one of all occurrences with the same chance, whatever document it is in. So the draws
from a source are hypergeometric, or binomial where draws may repeat: two occurrences in one
document are two occurrences, and documents are not clusters of the draws.

The share of documents is A / (A + B), where A are the documents of the source with the query, and B
the others with it. A draw counts for a share of a document (see `estimators`), so both A and B are
means over draws, with intervals. The limits of their ratio take the lower limit of one and the
upper limit of the other, each at half the error, so they hold however A and B depend on each other.

The limits of all sources of a query hold together: each has the error of all, divided by their
number (Goodman 1965, doi:10.1080/00401706.1965.10490252, who does this with chi-squared limits;
ours are Clopper & Pearson's, doi:10.1093/biomet/26.4.404). A source that was drawn only a few times
has no lower limit from the draws: of many sources, some rare ones are always drawn, and which they
are depends on chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngramscan.prevalence.draws import DocumentShare
from ngramscan.prevalence.estimators import is_without_replacement, mean_share
from ngramscan.statistics.estimates import Estimate, level_of_each
from ngramscan.statistics.proportions import clopper_pearson, finite_share

LEVEL = 0.95
"""Confidence level of all sources of a query together."""
DRAWS_FOR_A_LOWER_LIMIT = 5
"""With fewer draws, a source has no lower limit but what was seen."""

_Booleans = NDArray[np.bool_]


class SourceDraw(NamedTuple):
    """The document of an occurrence that was drawn."""

    value: str | None
    """Its source; None: its metadata have none."""
    document: str
    share: DocumentShare | None
    """The share of a document that it counts for; None where all occurrences were drawn."""


@dataclass(frozen=True, slots=True)
class SourceShare:
    """The shares of a source among the occurrences and documents of a query."""

    value: str | None
    occurrences: Estimate
    """The share of the occurrences."""
    documents: Estimate | None
    """The share of the documents; None: it depends on hidden parts of documents."""
    documents_with_query: float | None
    """Number of documents of the source; None: it depends on hidden parts of documents."""


def exact_source_shares(draws: Sequence[SourceDraw]) -> list[SourceShare]:
    """Return the shares of each source, given all occurrences."""
    n_documents = len({draw.document for draw in draws})
    shares = list[SourceShare]()
    for value in _values(draws):
        in_source = [draw for draw in draws if draw.value == value]
        documents = len({draw.document for draw in in_source})
        shares.append(
            SourceShare(
                value,
                occurrences=exact_share(len(in_source), len(draws)),
                documents=exact_share(documents, n_documents),
                documents_with_query=documents,
            )
        )
    return shares


def exact_share(part: int, total: int) -> Estimate:
    """Return a share that is known."""
    share = part / total
    return Estimate(share, share, share, LEVEL)


def estimate_source_shares(
    draws: Sequence[SourceDraw], occurrences: int, level: float = LEVEL
) -> list[SourceShare]:
    """Estimate the shares of each source that was drawn, with limits that hold for all together.

    Parameters
    ----------
    draws : sequence of SourceDraw
        Occurrences that were drawn at random; if they are more than a twentieth of all, without
        replacement.
    occurrences : int
        All occurrences of the query.
    level : float
        Confidence level of the limits of all sources together.

    Returns
    -------
    list of SourceShare
        In the order in which sources were drawn.
    """
    if len(draws) >= occurrences:
        return exact_source_shares(draws)
    values = _values(draws)
    level_of_value = level_of_each(level, len(values))
    shares = list[SourceShare]()
    for value in values:
        is_in_source = np.array([draw.value == value for draw in draws])
        by_document = _document_share(draws, is_in_source, occurrences, level_of_value)
        share, number = by_document if by_document else (None, None)
        shares.append(
            SourceShare(
                value,
                occurrences=_occurrence_share(is_in_source, occurrences, level_of_value),
                documents=share,
                documents_with_query=number,
            )
        )
    return shares


def _values(draws: Sequence[SourceDraw]) -> list[str | None]:
    return list(dict.fromkeys(draw.value for draw in draws))


def _occurrence_share(is_in_source: _Booleans, occurrences: int, level: float) -> Estimate:
    k, n = int(is_in_source.sum()), is_in_source.size
    if is_without_replacement(n, occurrences):
        low, high = finite_share(k, n, occurrences, level).limits
    else:
        low, high = clopper_pearson(k / n, n, level)
    if k < DRAWS_FOR_A_LOWER_LIMIT:
        low = min(1 / occurrences, low)
    return Estimate(k / n, low, high, LEVEL)


def _document_share(
    draws: Sequence[SourceDraw], is_in_source: _Booleans, occurrences: int, level: float
) -> tuple[Estimate, float] | None:
    """Return the share of the documents and their number; None: hidden parts matter."""
    known_shares = [draw.share for draw in draws if draw.share is not None]
    lowest, highest, by_first = np.array(known_shares, dtype=np.float64).T
    if not np.array_equal(lowest, highest):
        return None
    level_of_both = level_of_each(level, 2)
    inside, outside = (
        mean_share(
            np.where(is_counted, lowest, 0.0),
            occurrences,
            level_of_both,
            by_first=by_first.astype(bool),
        )[0]
        for is_counted in (is_in_source, ~is_in_source)
    )
    (low, high), (other_low, other_high) = inside.limits, outside.limits
    total = inside.value + outside.value
    if not total:
        return None
    lower, upper = low / (low + other_high), high / (high + other_low)
    if is_in_source.sum() < DRAWS_FOR_A_LOWER_LIMIT:
        lower = 0.0
    share = inside.value / total
    estimate = Estimate(share, min(lower, share), max(upper, share), LEVEL)
    return estimate, inside.value * occurrences
