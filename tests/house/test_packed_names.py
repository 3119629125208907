"""Texts that are lists of column names are found, and others are not."""

import pytest

from tests.house.packed_names import column_names, packed_names

NAMES = {"index", "method", "tier", "pattern", "query", "p_holm", "p_adjusted", "n_unknown", "n_x"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param('x = "index method tier pattern"', id="with spaces"),
        pytest.param('x = "index, method, tier, pattern"', id="with commas"),
        pytest.param('x = f"{y} index method tier pattern query"', id="in a text with values"),
        pytest.param('f("p=p_holm index method tier")', id="with headings that are names"),
        pytest.param('x = r"(p_holm|p_adjusted|n_unknown|n_x)"', id="as a regex"),
    ],
)
def test_a_list_of_columns_is_found(source: str) -> None:
    assert [line for line, _ in packed_names(source, {*NAMES, "p"})] == [1]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param('x = ("index", "method", "tier", "pattern")', id="a tuple"),
        pytest.param('"""index method tier pattern"""', id="a docstring"),
        pytest.param('x = "index method tier"', id="three names"),
        pytest.param('x = "the index of a method and a tier"', id="a sentence"),
        pytest.param('x = r"(index|method|tier|pattern)"', id="words of a regex"),
    ],
)
def test_other_texts_are_not_found(source: str) -> None:
    assert list(packed_names(source, NAMES)) == []


def test_the_columns_of_all_row_types_are_known() -> None:
    assert {"occurrences", "selection_accuracy", "p_adjusted", "wins_by_test"} <= column_names()
