"""When windows are searched by halves."""

import numpy as np
import pytest

from ngramscan.matching import halving


@pytest.mark.parametrize(
    ("text_bytes", "windows", "document_bytes", "expected"),
    [
        pytest.param(10_000_000, 5, 10_000_000, True, id="five windows in ten megabytes"),
        pytest.param(10_000_000, 500, 10_000_000, False, id="many windows"),
        pytest.param(1_000, 5, 4_000_000, False, id="a short text and large documents"),
        pytest.param(1_000, 5, 1_000, True, id="a short text and a short document"),
        pytest.param(0, 0, 0, True, id="an empty text"),
    ],
)
def test_few_windows_for_the_bytes_to_read_are_searched_by_halves(
    text_bytes: int, windows: int, document_bytes: int, expected: bool
) -> None:
    places = np.zeros((windows, 2), np.int64)
    assert halving.are_few(bytes(text_bytes), places, document_bytes) is expected
