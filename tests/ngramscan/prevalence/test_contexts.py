"""Rows of contexts: each occurrence is where a brute force finds it, with the text beside it."""

import pytest

from ngramscan.prevalence.contexts import ContextRow, run_contexts
from tests.support.text_index import TextIndex

SHARDS = (["é key and key", "no"], ["keys"])


def row(place: tuple[int, int, int], left: str, right: str, rank: int) -> ContextRow:
    shard, number, offset = place
    return ContextRow(
        index="x",
        pattern="key",
        document=f"{shard}/{number}",
        offset=offset,
        left=left,
        match="key",
        right=right,
        shard=shard,
        rank=rank,
        metadata=f'{{"shard": {shard}}}',
    )


def test_all_occurrences_are_shown_in_their_order_if_they_are_few() -> None:
    (result,), missing = run_contexts(["key"], TextIndex(*SHARDS), n=9, width=6, seed=1)
    assert missing == []
    assert (result.index, result.text, result.occurrences) == ("x", "key", 3)
    assert result.failures == []
    assert result.rows == [
        row((0, 0, 3), "é ", " and k", rank=0),
        row((0, 0, 11), "y and ", "", rank=1),
        row((1, 0, 0), "", "s", rank=0),
    ]


def test_occurrences_that_are_drawn_are_different_ones() -> None:
    index = TextIndex(["key " * 40])
    (result,), _ = run_contexts(["key"], index, n=30, width=50, seed=3)
    assert len({found.rank for found in result.rows}) == len(result.rows) == 30
    assert result.occurrences == 40
    assert all(found.offset == 4 * found.rank for found in result.rows)
    (again,), _ = run_contexts(["key"], index, n=30, width=50, seed=3)
    (other,), _ = run_contexts(["key"], index, n=30, width=50, seed=4)
    assert again.rows == result.rows != other.rows


def test_the_start_of_a_long_document_is_out_of_sight() -> None:
    index = TextIndex(["." * 5000 + "key" + "." * 5000])
    (result,), _ = run_contexts(["key"], index, n=1, width=2, seed=1)
    (found,) = result.rows
    assert (found.offset, found.left, found.right) == (None, "..", "..")


@pytest.mark.parametrize("failing", ["lost", "unseen"])
def test_a_text_that_fails_leaves_the_others(failing: str) -> None:
    index = TextIndex(["a b"], **{failing: ["b"]})
    results, missing = run_contexts(["a", "b"], index, n=5, width=1, seed=1)
    assert [found.match for found in results[0].rows] == ["a"]
    if failing == "lost":
        assert [result.text for result in results] == ["a"]
        assert [failure.query for failure in missing] == ["b"]
    else:
        assert (results[1].rows, len(results[1].failures), missing) == ([], 1, [])
