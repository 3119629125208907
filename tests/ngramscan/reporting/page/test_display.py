"""The table of a page: its columns in order, and its values as a script keeps them."""

import json
import math
from typing import Any

import pytest

from ngramscan.reporting.kinds import all_kinds, kind_of
from ngramscan.reporting.page.display import show_rows
from ngramscan.reporting.page.results import Results
from tests.support.rows_of_results import compared


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        pytest.param(math.inf, "Infinity", id="infinite"),
        pytest.param(-math.inf, "-Infinity", id="minus infinite"),
        pytest.param(10**15 - 1, 10**15 - 1, id="as large as a script surely has exactly"),
        pytest.param(10**15, "1000000000000000", id="larger"),
        pytest.param(-(10**15), "-1000000000000000", id="larger below 0"),
        pytest.param(0.5, 0.5, id="a fraction"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_numbers_are_kept_exactly_in_the_data_of_a_page(value: Any, kept: Any) -> None:
    kind = next(kind for kind in all_kinds() if kind.title == "Counts")
    columns = ("pattern", "occurrences")
    rows = [{"pattern": "a", "occurrences": value}, {"pattern": "b", "occurrences": 3}]
    data = json.loads(show_rows(Results(kind, "x", columns, rows), 10**6).data)
    assert data["rows"] == [["a", kept], ["b", 3]]


def test_values_come_first_then_p_values_and_sizes() -> None:
    accuracies = {"accuracy_baseline": 0.5, "accuracy_treatment": 0.6}
    rows = [
        compared(p=0.01, p_holm=0.02, n=50, difference=0.1, **accuracies),
        compared(treatment="tot", p=0.03, p_holm=0.04, n=60, difference=0.2, **accuracies),
    ]
    kind = kind_of(rows[0])
    assert kind is not None
    backwards = (*sorted(rows[0], reverse=True),)
    shown = show_rows(Results(kind, "x", backwards, rows), 10**6)
    names = [column.name for column in shown.columns]
    assert names == ["treatment", "difference", "p_holm", "p", "n"]
