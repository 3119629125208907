"""Numbers in answers, as people and FinanceMath's authors read them."""

import time
from pathlib import Path

import pytest

from evalcore.rules.numerals import read_number, read_only_number
from tests.support.cases import cases


@pytest.mark.parametrize(
    "case", cases(Path(__file__).with_suffix(".csv")), ids=lambda case: str(case["text"])
)
def test_a_number_is_read_from_words(case: dict[str, str]) -> None:
    expected = None if case["value"] == "None" else pytest.approx(float(case["value"]), rel=1e-12)
    assert read_number(case["text"], as_authors=case["reader"] == "authors") == expected


@pytest.mark.parametrize(
    "piece", ["1,", "1.", "-$", "1 or ", "1 a ", "a", "1 a b, ", "not (", "1 thousand ", "1/", "^{"]
)
def test_time_grows_with_the_length_of_a_hostile_answer(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    start = time.process_time()
    read_number(text, as_authors=False)
    read_number(text, as_authors=True)
    read_only_number(text)
    assert time.process_time() - start < 5
