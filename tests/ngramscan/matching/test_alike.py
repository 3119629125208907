"""Places from which a text continues in the same way: those of a brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching.alike import AlikePlaces


@given(st.text(st.sampled_from("ab é"), min_size=1, max_size=60).map(str.encode), st.integers(1, 4))
def test_places_that_share_bytes_are_those_of_a_brute_force(piece: bytes, times: int) -> None:
    content = piece * times
    places = np.arange(len(content) + 1)
    alike = AlikePlaces(content, places)
    for place in places.tolist():
        for size in {1, 2, 9, len(piece), len(content) - place} - {0}:
            part = content[place : place + size]
            expected = [
                other
                for other in places.tolist()
                if other != place and len(part) == size and content[other:].startswith(part)
            ]
            assert sorted(alike.sharing(place, size)) == expected
            has_part = alike.shared_with(place) >= size
            assert [*np.flatnonzero(has_part)] == sorted(
                [*expected, place] if len(part) == size else []
            )


@pytest.mark.parametrize("size", [20, 3000])
def test_a_text_of_one_word_is_alike_nearly_everywhere(size: int) -> None:
    places = np.arange(0, 12_000, 2)
    shared = AlikePlaces(b"a " * 6000, places).sharing(0, size)
    assert sorted(shared) == [*range(1, (12_000 - size) // 2 + 1)]
