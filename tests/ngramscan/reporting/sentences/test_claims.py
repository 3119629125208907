"""The sentences about published figures: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

AUDITED_ROW: dict[str, Any] = {
    "verdict": "ok",
}


def audited(**columns: Any) -> dict[str, Any]:
    return AUDITED_ROW | columns


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [audited(), audited(verdict="mismatch"), audited()],
            ["2 of 3 published figures follow from the tables and 1 contradicts the tables."],
            id="published figures",
        ),
    ],
)
def test_figures_are_counted_by_verdict(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Published figures, recomputed", rows)) == said


def test_every_verdict_has_its_words_and_mismatches_are_named() -> None:
    verdicts = ("ok", "ok", "rounding", "mismatch", "different quantity", "not derivable")
    more = ("mismatch", "odd", None)
    rows = [{"id": f"t{n}", "verdict": verdict} for n, verdict in enumerate(verdicts + more)]
    assert texts_of(results_of("Published figures, recomputed", rows)) == [
        "2 of 9 published figures follow from the tables, 1 is explained by rounding alone, 2"
        " contradict the tables, 1 compares two quantities, 1 can't be derived from them, 1 is"
        " called odd and 1 has no verdict.",
        "The mismatches are t3 and t6.",
    ]
