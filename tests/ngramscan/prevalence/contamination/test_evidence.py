"""Places of rows of evidence, and the texts cut at them."""

import random

import pytest

from ngramscan.prevalence.contamination.evidence import (
    EvidenceRow,
    SharedPiece,
    cut_entry,
    cut_passage,
    read_places,
    write_places,
)
from tests.support.contaminated_entries import evidence


@pytest.mark.parametrize("seed", range(20))
def test_places_are_read_as_they_were_written(seed: int) -> None:
    rng = random.Random(seed)
    ends = sorted(rng.sample(range(1000), 2 * rng.randint(0, 9)))
    ranges = list(zip(ends[::2], ends[1::2], strict=True))
    assert read_places(write_places(ranges), 1000) == ranges


def test_places_that_touch_are_read() -> None:
    assert read_places("0-5 5-9", 9) == [(0, 5), (5, 9)]


@pytest.mark.parametrize(
    ("places", "problem"),
    [
        pytest.param("3-3", "a place that is not in the text: 3-3", id="empty"),
        pytest.param("5-3", "a place that is not in the text: 5-3", id="backwards"),
        pytest.param("0-11", "a place that is not in the text: 0-11", id="beyond the text"),
        pytest.param("4-6 0-2", "a place that is not in the text: 0-2", id="in another order"),
        pytest.param("0-4 3-6", "a place that is not in the text: 3-6", id="overlapping"),
        pytest.param("0:4", "not a place: 0:4", id="another sign"),
        pytest.param("-1-4", "not a place: -1-4", id="a negative start"),
        pytest.param("٠-٤", "not a place: ٠-٤", id="other digits"),
        pytest.param(f"0-{'9' * 50}", f"not a place: 0-{'9' * 38}", id="a long number"),
    ],
)
def test_other_places_are_refused(places: str, problem: str) -> None:
    with pytest.raises(ValueError) as error:
        read_places(places, 10)
    assert str(error.value) == problem


def marked(pieces: list[SharedPiece]) -> str:
    """Return a text with [shared], {rare} and <changed> pieces."""
    text = ""
    for piece in pieces:
        signs = "<>" if piece.is_changed else "{}" if piece.is_rare else "[]"
        is_marked = piece.is_shared or piece.is_changed
        text += f"{signs[0]}{piece.text}{signs[1]}" if is_marked else piece.text
    return text


ROW: EvidenceRow = evidence(
    "e",
    text="Ann has 49 red hats.",
    passage="So Bob has 50 red hats!",
    shared_in_text="4-7 11-19",
    rare_in_text="11-14",
    shared_in_passage="7-10 14-22",
    rare_in_passage="14-17",
    changed_in_text="8-10",
    changed_in_passage="11-13",
)


def test_both_texts_are_cut_at_their_own_places() -> None:
    assert marked(cut_entry(ROW, 100)) == "Ann [has] <49> {red}[ hats]."
    assert marked(cut_passage(ROW, 100)) == "So Bob [has] <50> {red}[ hats]!"


def test_a_long_text_is_cut_short() -> None:
    assert marked(cut_entry(ROW, 12)) == "Ann [has] <49> {r}"
    assert marked(cut_passage(ROW, 2)) == "So"
