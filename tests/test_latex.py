from dataclasses import dataclass

import pytest

from ngramscan.reporting.latex import to_latex
from tests.support.cases import case_table, file_text


@dataclass(frozen=True)
class Row:
    model: str
    n: int
    difference: float | None
    p: float | None
    p_holm: float | None = None
    significant: bool = False


ROWS = [
    Row("a_b 50% {x} \\y ~^", 1200, -2.345, 0.0004),
    Row("c", 5, None, 0.25, significant=True),
    Row("d", -3, 0.00012, 1.0),
]

EXPECTED = file_text("latex_expected")


def test_rows_become_a_tabular_without_empty_columns() -> None:
    assert to_latex(ROWS, Row) == EXPECTED
    assert "model & n & difference & p & p holm & significant" in to_latex([], Row)


@pytest.mark.parametrize(*case_table("short_numbers"))
def test_numbers_have_three_digits(value: float, shown: str) -> None:
    assert f"a b & 1 & {shown} & " in to_latex([Row("a\n b", 1, value, 0.5)], Row)
