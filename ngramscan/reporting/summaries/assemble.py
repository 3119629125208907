"""The summary tables of any kind of rows, for pages, terminals and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.summaries.contamination import summarize_shares
from ngramscan.reporting.summaries.counts import summarize_counts
from ngramscan.reporting.summaries.documents import summarize_document_totals, summarize_documents
from ngramscan.reporting.summaries.markers import summarize_markers, summarize_retention
from ngramscan.reporting.summaries.specificity import summarize_tiers
from ngramscan.reporting.summaries.table import SummaryTable
from ngramscan.reporting.summaries.totals import summarize_totals
from ngramscan.reporting.summaries.traces import summarize_curve

Summarize = Callable[[Sequence[Row], int], list[SummaryTable]]
"""A function of rows and of the most rows that a table may have."""
MOST_ROWS = 12
"""Rows of a summary table on a page."""


def _summarize_totals(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return the tables of totals: occurrences, and documents where the rows are of `docnorm`."""
    documents = summarize_document_totals(rows)
    return documents or summarize_totals(rows, most)


SUMMARIZE: Mapping[str, Summarize] = {
    "count": summarize_counts,
    "totals": _summarize_totals,
    "docnorm": summarize_documents,
    "contaminate --shares": summarize_shares,
    "trace --curve": summarize_curve,
    "blend": summarize_markers,
    "blend --retention": summarize_retention,
    "tiers": summarize_tiers,
}
"""Functions that sum up rows, by the names of kinds."""


def summaries(results: Results) -> list[SummaryTable]:
    """Return the summary tables of some rows; none for kinds that have no summary."""
    summarize = SUMMARIZE.get(results.kind.name)
    return summarize(results.rows, MOST_ROWS) if summarize else []
