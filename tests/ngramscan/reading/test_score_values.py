"""Values and statuses of scores: which go together, and what counts as wrong."""

import pytest

from ngramscan.reading.score_values import complete_status, counted_value


@pytest.mark.parametrize(
    ("value", "status", "completed", "counted"),
    [
        pytest.param(1.0, "", "scored", 1.0, id="a value"),
        pytest.param(0.5, "scored", "scored", 0.5, id="a scored value"),
        pytest.param(0.0, "not_found", "not_found", 0.0, id="no answer found"),
        pytest.param(None, "", "unknown", None, id="no value"),
        pytest.param(None, "unknown", "unknown", None, id="an unknown result"),
        pytest.param(None, "no_answer", "no_answer", 0.0, id="no answer"),
    ],
)
def test_a_value_has_a_status_and_no_answer_counts_as_wrong(
    value: float | None, status: str, completed: str, counted: float | None
) -> None:
    assert complete_status(value, status) == completed
    assert counted_value(value, completed) == counted


@pytest.mark.parametrize(
    ("value", "status", "problem"),
    [
        pytest.param(1.5, "", "value 1.5; expected a number from 0 to 1", id="too much"),
        pytest.param(float("nan"), "", "value nan; expected a number from 0 to 1", id="no number"),
        pytest.param(
            1.0, "unknown", "status unknown, but value 1; expected scored or not_found", id="value"
        ),
        pytest.param(
            None, "scored", "status scored, but no value; expected unknown or no_answer", id="none"
        ),
        pytest.param(0.0, "right", "status right, but value 0; expected scored", id="no status"),
    ],
)
def test_values_and_statuses_that_contradict_each_other_are_refused(
    value: float | None, status: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=f"^{problem}"):
        complete_status(value, status)
