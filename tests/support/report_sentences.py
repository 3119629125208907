"""What a report says in words about rows of results."""

import re

from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.assemble import sentences
from tests.support.row_types import KIND_OF
from tests.support.rows_of_results import Row

CLAIM = re.compile(
    r"is (?:more|less) accurate|ha(?:ve|d) (?:higher|lower) (?:mean )?scores"
    r"|has a (?:higher|lower) mean score"
    r"|have a (?:larger|smaller) share|is (?:great|small)er than"
    r"|have markers of \S+ (?:more|less) often"
    r"|(?!0 )\b\d+ of \d+ (?:n-grams? (?:is|are) shown|patterns? (?:is|are) in)"
)
"""What a sentence says only where a difference was shown."""


def results_of(title: str, rows: list[Row], left_out: int = 0) -> Results:
    """Return rows of a kind, by its title, as a page gets them."""
    return Results(KIND_OF[title], "rows.csv", (*rows[0],), rows, left_out)


def texts_of(results: Results, families: int | None = None) -> list[str]:
    """Return the sentences about some rows as texts."""
    return [sentence.text for sentence in sentences(results, families)]
