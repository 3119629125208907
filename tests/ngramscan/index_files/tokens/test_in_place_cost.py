"""What searches in place are expected to take, against searches that are counted."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from ngramscan.index_files.tokens.in_place_cost import (
    SearchCost,
    expect_intervals,
    expect_search,
    intervals_at_most,
)
from tests.support.searched_tokens import SearchedTokens, encoded, search, sorted_tokens

TOKENS = 1 << 17
FIRST_IDS, NEXT_IDS = 512, 64
"""A token has 9 bits of information, and one that follows it 6 bits more."""
POINTER_BYTES = 5


def words_of_a_language(seed: int, amount: int) -> list[int]:
    """Return tokens of which each is followed by one of some."""
    draw = random.Random(seed)
    following = [draw.sample(range(FIRST_IDS), NEXT_IDS) for _ in range(FIRST_IDS)]
    tokens = [0]
    while len(tokens) < amount:
        tokens.append(draw.choice(following[tokens[-1]]))
    return tokens


TEXT = words_of_a_language(1, TOKENS)


@pytest.fixture(scope="module")
def files() -> SearchedTokens:
    return sorted_tokens(TEXT, 2, compared_bytes=60)


def phrases(amount: int, length: int) -> list[tuple[int, ...]]:
    draw = random.Random(amount)
    starts = [draw.randrange(TOKENS - length) for _ in range(amount)]
    return [tuple(TEXT[start : start + length]) for start in starts]


PHRASE, MANY, LONG = phrases(1, 4), phrases(92, 3), phrases(40, 9)
ALIKE = [tuple(TEXT[at : at + 3]) for at in range(TOKENS - 3) if TEXT[at] == PHRASE[0][0]][:60]


def measured(
    files: SearchedTokens, ngrams: Sequence[tuple[int, ...]], requests_per_round: int
) -> SearchCost:
    """Search n-grams, and count."""
    files.reads.clear()
    patterns = [encoded(ngram, 2) for ngram in ngrams]
    searched = asyncio.run(search(files, patterns, requests_per_round))
    return SearchCost(len(files.reads), files.bytes_read, searched.rounds)


@pytest.mark.parametrize("requests_per_round", [1, 20, 150])
@pytest.mark.parametrize(
    "ngrams",
    [
        pytest.param(PHRASE, id="one phrase"),
        pytest.param(MANY, id="many"),
        pytest.param(LONG, id="longer ones"),
    ],
)
def test_requests_bytes_and_rounds_are_about_as_many_as_expected(
    ngrams: list[tuple[int, ...]], requests_per_round: int, files: SearchedTokens
) -> None:
    real = measured(files, ngrams, requests_per_round)
    arguments = (TOKENS, POINTER_BYTES, ngrams, requests_per_round)
    expected = expect_search(*arguments, expect_intervals)
    assert real.requests / 1.2 < expected.requests < 1.4 * real.requests
    assert real.bytes / 1.4 < expected.bytes < 1.6 * real.bytes
    assert abs(real.rounds - expected.rounds) <= 4
    assert real.requests <= expect_search(*arguments, intervals_at_most).requests


@pytest.mark.parametrize("requests_per_round", [1, 20, 150])
def test_ngrams_of_the_same_beginning_are_expected_to_share_searches(
    requests_per_round: int, files: SearchedTokens
) -> None:
    real = measured(files, ALIKE, requests_per_round)
    arguments = (TOKENS, POINTER_BYTES)
    alike = expect_search(*arguments, ALIKE, requests_per_round, expect_intervals)
    others = expect_search(*arguments, MANY[:60], requests_per_round, expect_intervals)
    assert len(ALIKE) == 60
    assert real.requests / 1.2 < alike.requests < 3 * real.requests
    assert alike.requests < others.requests


def test_no_ngrams_cost_nothing() -> None:
    cost = expect_search(TOKENS, POINTER_BYTES, [], 20, expect_intervals)
    assert (cost.requests, cost.bytes) == (0, 0)


def test_intervals_are_shared_by_beginnings() -> None:
    ngrams = {(1, 2, 3), (1, 2, 4), (1, 5, 6), (7,)}
    intervals_by_level = {
        level: expect_intervals(ngrams, level) for level in (0, 1, 2, 8, 9, 15, 21)
    }
    # Those of two first tokens; of three beginnings of two, one of which has been found, so that
    # it has two ends; of all four, and of both ends of each.
    assert intervals_by_level == {0: 1, 1: 2, 2: 2, 8: 2, 9: 3 + 1, 15: 4 + 1, 21: 4 + 4}
    assert [intervals_at_most(ngrams, level) for level in (0, 1, 2, 3, 4)] == [1, 2, 4, 8, 8]
