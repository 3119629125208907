"""Where literals occur: by the definition, and in time linear in text and literal together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching import engines, find_starts, least_distance


def by_definition(literal: str, text: str) -> list[int]:
    return [start for start in range(len(text)) if text[start:].startswith(literal)]


@given(st.text("ab ", min_size=1, max_size=6), st.text("ab ", max_size=60), st.integers(1, 9))
def test_starts_are_those_of_the_definition(literal: str, text: str, times: int) -> None:
    for sought in (literal, literal * times):
        for searched in (text, literal * (times + 2) + text):
            expected = by_definition(sought, searched)
            assert [*engines._periodic_starts(sought, searched)] == expected
            assert find_starts(sought, searched) == expected
            assert find_starts(sought.encode(), searched.encode()) == expected


@pytest.mark.parametrize(
    ("unit", "distance"),
    [("a", 1), ("a ", 2), ("ab-", 3), ("0123456789" * 6, 10)],
    ids=["one letter", "one word", "three", "sixty"],
)
def test_long_literals_that_repeat_themselves_are_found_in_texts_that_do(
    unit: str, distance: int
) -> None:
    """Searches that begin anew at each place would take hours."""
    literal, text = unit * (600_000 // len(unit)), unit * (1_200_000 // len(unit))
    assert least_distance(literal) == distance
    starts = find_starts(literal, text)
    assert starts == [*range(0, len(text) - len(literal) + 1, distance)]


def test_a_long_literal_without_a_period_is_found_where_it_is() -> None:
    literal, between = "".join(map(str, range(200))), "x" * 1000
    expected = [1000, 2000 + len(literal)]
    assert find_starts(literal, between + literal + between + literal) == expected
