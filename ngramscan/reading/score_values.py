"""The value and the status of a score, which mean the same wherever scores are read."""

SCORED, NOT_FOUND, NO_ANSWER, UNKNOWN = ("scored", "not_found", "no_answer", "unknown")
WITH_VALUE = (SCORED, NOT_FOUND)
"""The statuses of scores with a value; `not_found`: a complete output without an answer."""
WITHOUT_VALUE = (UNKNOWN, NO_ANSWER)
"""The others; `no_answer`: a refusal, cut off or empty, which counts as wrong by default."""


def complete_status(value: float | None, status: str) -> str:
    """Return the status of a score, by default the first one that goes with its value.

    Raises a ValueError if the value is not a number from 0 to 1, or contradicts the status.
    """
    description = "no value" if value is None else f"value {value:g}"
    if value is not None and not 0 <= value <= 1:
        raise ValueError(f"{description}; expected a number from 0 to 1")
    possible = WITHOUT_VALUE if value is None else WITH_VALUE
    if status and status not in possible:
        expected = " or ".join(possible)
        raise ValueError(f"status {status}, but {description}; expected {expected}")
    return status or possible[0]


def counted_value(value: float | None, status: str) -> float | None:
    """Return the value as which an answer counts: 0 without an answer; None: it is unknown."""
    return 0.0 if status == NO_ANSWER else value
