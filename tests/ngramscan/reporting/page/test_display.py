"""The table of a page: its columns in order, and its values as a script keeps them."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ngramscan.reporting.kinds import all_kinds, kind_of
from ngramscan.reporting.page.display import show_rows
from ngramscan.reporting.page.results import Results, read_results
from tests.support.row_types import KIND_OF, numbers_of
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


@pytest.mark.parametrize(
    ("title", "column", "heading", "cell"),
    [
        pytest.param(
            "Accuracy where two methods agree", "agree", "agree, %", "25.0", id="agreement"
        ),
        pytest.param(
            "Accuracy where two methods agree", "accepted", "accepted, %", "25.0", id="accepted"
        ),
        pytest.param(
            "Accuracy where two methods agree", "verified", "verified, %", "25.0", id="verified"
        ),
        pytest.param(
            "Accuracy and tokens", "cost_per_answer", "cost per answer", "0.25", id="cost"
        ),
        pytest.param(
            "Accuracy and tokens", "cost_per_correct", "cost per correct", "0.25", id="of correct"
        ),
        pytest.param("Differences of methods", "difference", "difference, points", "25.0", id="pp"),
    ],
)
def test_numbers_of_files_have_their_unit_on_the_page(
    title: str, column: str, heading: str, cell: str, tmp_path: Path
) -> None:
    kind = KIND_OF[title]
    numbers = numbers_of(kind)
    header = [column.name for column in kind.columns]
    lines = [["0.25" if name in numbers else name for name in header]]
    lines += [["0.5" if name in numbers else f"{name} 2" for name in header]]
    path = tmp_path / "rows.csv"
    path.write_text("".join(f"{','.join(line)}\n" for line in (header, *lines)))
    shown = show_rows(read_results(path), 10**6)
    (place,) = (place for place, known in enumerate(shown.columns) if known.name == column)
    assert shown.columns[place].heading == heading
    first = shown.rows[0][place]
    assert (first.kind, first.text.split()[0]) == ("number", cell)
