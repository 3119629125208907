"""What a page says of values that its rows lack."""

from html import unescape
from typing import Any

import pytest

from ngramscan.reporting.kinds import all_kinds
from ngramscan.reporting.page.assemble import make_page
from ngramscan.reporting.page.results import Results
from tests.support.row_types import numbers_of


@pytest.mark.parametrize(
    ("title", "column", "noun"),
    [
        pytest.param("Counts", "occurrences", "number of occurrences", id="occurrences"),
        pytest.param(
            "Documents with each pattern", "documents", "number of documents", id="documents"
        ),
        pytest.param(
            "Contamination of each entry", "eta", "share of windows that occur", id="contamination"
        ),
        pytest.param(
            "Prevalence and accuracy, ranks of methods", "tau", "Kendall's tau", id="ranks"
        ),
    ],
)
def test_missing_values_are_counted_by_their_name_in_words(
    title: str, column: str, noun: str
) -> None:
    kind = next(kind for kind in all_kinds() if kind.title == title)
    columns = sorted(kind.needs | numbers_of(kind))
    known = {name: 0.25 if name in numbers_of(kind) else f"a {name}" for name in columns}
    rows: list[dict[str, Any]] = [known, known | {column: None}, known | {column: 0.5}]
    page = unescape(
        make_page([Results(kind, "x", (*columns,), rows)], None, "2026-01-01T00:00:00Z")
    )
    assert f"no {noun} for 1 of 3 rows" in page
