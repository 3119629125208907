"""Twice the text takes little more than twice the time, whatever the text says."""

from pathlib import Path

import pytest

from benchmarks.slopes import SUBJECTS, Slope, Subject, Work, measure
from tests.support.text_shapes import SHAPES, TextShape

LEAST_OF_SQUARES = 3.2
"""Twice the text takes 2 to 2.3 times as long, but 4 times where time is the square of its length;
between them is room for noise."""
TRIES = 8


def least_slope(subject: Subject, shape: TextShape) -> Slope:
    """Return the least of a few slopes: what happens meanwhile can make one of them larger."""
    slopes = []
    for _ in range(TRIES):
        slopes.append(measure(subject, shape))
        if slopes[-1].ratio < LEAST_OF_SQUARES:
            break
    return min(slopes, key=lambda slope: slope.ratio)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.title)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.title)
def test_twice_the_text_takes_little_more_than_twice_the_time(
    subject: Subject, shape: TextShape
) -> None:
    assert least_slope(subject, shape).ratio < LEAST_OF_SQUARES


def test_time_that_is_the_square_of_the_length_is_noticed() -> None:
    def prepare(_folder: Path, _shape: TextShape, size: int) -> Work:
        return lambda: sum(range((size // 10) ** 2))

    subject = Subject("square", prepare)
    ratios = (measure(subject, SHAPES[0]).ratio for _ in range(TRIES))
    assert any(ratio >= LEAST_OF_SQUARES for ratio in ratios)
