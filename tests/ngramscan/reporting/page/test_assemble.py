"""What a page says of values that its rows lack."""

from html import unescape
from typing import Any

import pytest

from ngramscan.prevalence.contamination.thresholds import (
    COVERED,
    RARE,
    SCORE,
    WHOLE,
    WINDOW_WORDS,
)
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


@pytest.mark.parametrize(
    ("rules", "present", "absent"),
    [
        pytest.param(["mini: 50 characters"], ["By <code>mini</code>"], ["rule <code>copied"]),
        pytest.param(
            ["copied: 4 words"],
            [
                "By the rule <code>copied</code>",
                f"as windows of {WINDOW_WORDS} words",
                f"is rare if it occurs up to {RARE} times",
                f"covers {COVERED:.0%} of it or more with a score of {SCORE:.0%} or more",
                f"or covers {WHOLE:.0%} of it",
            ],
            ["By <code>mini</code>"],
        ),
        pytest.param(
            ["copied: 4 words", "mini: 50 characters"],
            ["By the rule <code>copied</code>", "By <code>mini</code>"],
            [],
        ),
    ],
    ids=["a published rule", "copied", "both"],
)
def test_methods_of_contamination_are_those_of_the_rules(
    rules: list[str], present: list[str], absent: list[str]
) -> None:
    kind = next(kind for kind in all_kinds() if kind.name == "contaminate")
    rows = [
        {"index": "i", "rule": rule, "id": "1", "windows": 4, "found": 4, "verdict": "clean"}
        | {"eta": 1.0, "eta_low": 1.0, "eta_high": 1.0, "answer": None}
        for rule in rules
    ]
    page = make_page([Results(kind, "x", (*rows[0],), rows)], None, "2026-01-01T00:00:00Z")
    methods = page.partition('id="methods"')[2]
    assert [text for text in present if text not in methods] == []
    assert [text for text in absent if text in methods] == []
