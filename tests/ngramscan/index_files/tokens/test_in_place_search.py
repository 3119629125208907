"""Searches in a table in place: right ranks, few rounds, and no wrong count from a wrong table."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass

import pytest

from ngramscan.index_files.tokens.in_place_search import NEAR_RANKS, TEXT_BYTES, levels_ahead
from tests.support.searched_tokens import (
    Searched,
    SearchedTokens,
    WrongPointerError,
    alike_bytes,
    encoded,
    search,
    search_alone,
    sorted_tokens,
    true_ranks,
)
from tests.support.sizes import slow


def searched(files: SearchedTokens, patterns: list[bytes], requests_per_round: int) -> Searched:
    return asyncio.run(search(files, patterns, requests_per_round))


def random_tokens(seed: int, amount: int, ids: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(ids) for _ in range(amount)]


def repeated_tokens(seed: int, amount: int, ids: int) -> list[int]:
    """Return tokens of which many longer parts are copies of others."""
    draw = random.Random(seed)
    tokens = random_tokens(seed, 60, ids)
    while len(tokens) < amount:
        start = draw.randrange(len(tokens) - 50)
        tokens += tokens[start : start + draw.randrange(1, 200)]
        tokens += random_tokens(draw.randrange(1 << 30), 2, ids)
    return tokens[:amount]


def drawn_patterns(seed: int, tokens: list[int], width: int, longest: int) -> list[bytes]:
    """Return parts of a text, some of them changed at the end; its end; and what is not in it."""
    draw = random.Random(seed)
    patterns = [b"", encoded(tokens, width), encoded([*tokens[-3:], 1], width)]
    patterns += [encoded(tokens[-length:], width) for length in range(1, min(40, len(tokens)) + 1)]
    for _ in range(40):
        start = draw.randrange(len(tokens))
        part = tokens[start : start + draw.randrange(1, longest)]
        last = draw.choice([part[-1], draw.randrange(256)])
        patterns.append(encoded([*part[:-1], last], width))
    return patterns


@pytest.mark.parametrize("requests_per_round", [1, 7, 400])
@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize(
    ("amount", "ids", "is_repeated"),
    [
        pytest.param(1, 3, False, id="one token"),
        pytest.param(2, 1, False, id="two equal tokens"),
        pytest.param(300, 1, False, id="300 equal tokens"),
        pytest.param(NEAR_RANKS, 250, False, id="as many as are read at once"),
        pytest.param(NEAR_RANKS + 1, 4, False, id="one more"),
        pytest.param(3000, 3, False, id="3,000 of three"),
        pytest.param(3000, 200, True, id="copied parts"),
    ],
)
def test_ranks_are_those_of_whole_suffixes(
    amount: int, ids: int, is_repeated: bool, width: int, requests_per_round: int
) -> None:
    make = repeated_tokens if is_repeated else random_tokens
    tokens = make(amount, amount, ids)
    files = sorted_tokens(tokens, width)
    patterns = drawn_patterns(amount, tokens, width, longest=150)
    assert searched(files, patterns, requests_per_round).ranks == true_ranks(files, patterns)


# Rounds and requests


LEVELS = 16
LONG_TEXT = random_tokens(1, 1 << LEVELS, 250)


@pytest.fixture(scope="module")
def long_files() -> SearchedTokens:
    return sorted_tokens(LONG_TEXT, 2, compared_bytes=40)


def phrases(number: int, length: int = 4) -> list[bytes]:
    draw = random.Random(number)
    starts = [draw.randrange(len(LONG_TEXT) - length) for _ in range(number)]
    return [encoded(LONG_TEXT[start : start + length], 2) for start in starts]


@pytest.mark.parametrize(
    ("requests_per_round", "levels"), [(1, 1), (3, 2), (7, 3), (31, 5), (255, 8)]
)
def test_the_rounds_of_a_phrase_are_those_of_the_levels_ahead(
    requests_per_round: int, levels: int, long_files: SearchedTokens
) -> None:
    assert levels_ahead(requests_per_round, 1) == levels
    far_levels = LEVELS - NEAR_RANKS.bit_length() + 1
    # After both ends are apart, a round is shared by two searches, each of which gets half.
    fewest = levels_ahead(requests_per_round, 2)
    far_rounds, near_rounds = -(-far_levels // levels), -(-(LEVELS - far_levels) // fewest)
    for pattern in phrases(20):
        rounds = searched(long_files, [pattern], requests_per_round).rounds
        # A pointer and a text for each; the neighbours are a round or two more.
        assert rounds <= 2 * (far_rounds + 1) + near_rounds + 3


def test_a_batch_takes_no_more_rounds_than_a_phrase_without_levels_ahead(
    long_files: SearchedTokens,
) -> None:
    alone = searched(long_files, phrases(1), 1).rounds
    together = searched(long_files, phrases(300), 256).rounds
    assert together <= alone + 2


def test_searches_share_what_they_read(long_files: SearchedTokens) -> None:
    def reads(patterns: list[bytes]) -> int:
        long_files.reads.clear()
        searched(long_files, patterns, 1)
        assert len(set(long_files.reads)) == len(long_files.reads), "nothing is read twice"
        return len(long_files.reads)

    first, second = encoded(LONG_TEXT[:2], 2), encoded(LONG_TEXT[500:502], 2)
    alone = reads([first])
    assert reads([first] * 50) == alone
    assert reads([first[:2], first]) < 1.6 * alone
    extended = [first + encoded([token], 2) for token in range(200)]
    assert reads(extended) < 20 * alone
    assert alone < reads([first, second]) < 2 * alone


def test_copied_parts_are_read_as_far_as_patterns_need() -> None:
    passage = random_tokens(5, 3000, 250)
    tokens = [token for number in range(8) for token in [*passage, number, 9 + number]]
    files = sorted_tokens(tokens, 2)
    short, long = encoded(passage[10:13], 2), encoded(passage[10:2500], 2)
    assert searched(files, [short], 1).ranks == true_ranks(files, [short])
    assert max(stop - start for name, start, stop in files.reads if name == "text") == TEXT_BYTES
    files.reads.clear()
    assert searched(files, [long], 1).ranks == true_ranks(files, [long])
    # Of each of some ten suffixes, at most twice as much as the pattern has.
    assert len(long) < files.bytes_read < 14 * 2 * len(long)


@dataclass
class EqualTokens:
    """A text of equal tokens, too long for memory: a shorter suffix has a lower rank."""

    ranks: int
    pointer_bytes = 6
    width = 2

    @property
    def text_bytes(self) -> int:
        return self.width * self.ranks

    def kept_table(self, *_: int) -> None:
        """Nothing is kept."""

    def kept_text(self, *_: int) -> None:
        """Nothing is kept."""

    def start_table(self, start: int, stop: int) -> bytes:
        ranks = range(start // self.pointer_bytes, stop // self.pointer_bytes)
        pointers = [(self.ranks - 1 - rank) * self.width for rank in ranks]
        return b"".join(pointer.to_bytes(self.pointer_bytes, "little") for pointer in pointers)

    def start_text(self, start: int, stop: int) -> bytes:
        assert stop <= self.text_bytes
        return b"a\0" * ((stop - start) // self.width)

    def check_pointer(self, rank: int, pointer: int) -> None:
        assert pointer == (self.ranks - 1 - rank) * self.width

    def refuse_order(self, rank: int) -> None:
        raise AssertionError(rank)


@pytest.mark.parametrize("ranks", [(1 << 31) + 1, 1 << 41], ids=["2^31", "2^41"])
def test_places_beyond_four_gigabytes(ranks: int) -> None:
    files = EqualTokens(ranks)
    patterns = [b"a\0", b"a\0" * 3000, b"`\0", b"b\0"]
    located = asyncio.run(search(files, patterns, 20))
    assert located.ranks == [(0, ranks), (2999, ranks), (0, 0), (ranks, ranks)]


# Wrong tables


def distinct_ngrams(tokens: list[int], longest: int) -> list[bytes]:
    """Return all n-grams of a text, and what comes right after each."""
    starts = range(len(tokens))
    parts = {tuple(tokens[at : at + n]) for at in starts for n in range(1, longest + 1)}
    parts |= {(*part[:-1], part[-1] + 1) for part in parts}
    return [encoded(part, 2) for part in sorted(parts)]


def outcomes_of(
    files: SearchedTokens, truth: dict[bytes, tuple[int, int]], changed_ranks: list[int]
) -> Counter[str]:
    """Count the searches that are right, refused, or wrong where that can't be seen.

    A wrong one can't be seen if a pointer that was changed leads to a suffix that is like its
    neighbour, as far as both are read: these could be in either order.
    """
    located = asyncio.run(search_alone(files, [*truth]))
    outcomes = Counter[str]()
    for pattern, expected in truth.items():
        ranks = located[pattern]
        if ranks is None:
            outcomes["refused"] += 1
        elif ranks == expected:
            outcomes["right"] += 1
        else:
            outcomes["not seen"] += 1
            assert any(is_like_a_neighbour(files, rank, pattern) for rank in changed_ranks)
    return outcomes


def is_like_a_neighbour(files: SearchedTokens, rank: int, pattern: bytes) -> bool:
    """Tell whether another suffix, next to that with a rank, is the same as far as both are read.

    That is what a pivot has, and until both differ from the pattern.
    """
    suffix = files.suffix(rank)
    least = max(TEXT_BYTES, alike_bytes(suffix, pattern))
    neighbours = [other for other in (rank - 1, rank + 1) if 0 <= other < files.ranks]
    return any(
        files.pointers[other] != files.pointers[rank]
        and alike_bytes(suffix, files.suffix(other)) >= least
        for other in neighbours
    )


def outcomes_of_all_overwritten_pointers(
    files: SearchedTokens, patterns: list[bytes], ranks: range
) -> Counter[str]:
    """Overwrite each of some pointers by each other one, and count the outcomes of searches."""
    truth = dict(zip(patterns, true_ranks(files, patterns), strict=True))
    files.is_late, sound, outcomes = False, [*files.pointers], Counter[str]()
    for rank in ranks:
        for pointer in sound:
            if pointer != sound[rank]:
                files.pointers[rank] = pointer
                outcomes += outcomes_of(files, truth, [rank])
        files.pointers[rank] = sound[rank]
    return outcomes


@pytest.mark.parametrize("seed", [1, slow(2), slow(3)])
def test_no_pointer_that_is_overwritten_leads_to_a_wrong_count(seed: int) -> None:
    tokens = random_tokens(seed, 24, 3)
    files = sorted_tokens(tokens, 2)
    patterns, ranks = distinct_ngrams(tokens, 2), range(files.ranks)
    outcomes = outcomes_of_all_overwritten_pointers(files, patterns, ranks)
    assert outcomes["not seen"] == 0
    assert outcomes["refused"] > 1000
    assert outcomes["right"] > 1000


@pytest.mark.parametrize("seed", [1, slow(2), slow(3)])
def test_no_two_pointers_that_are_swapped_lead_to_a_wrong_count(seed: int) -> None:
    tokens = random_tokens(seed, 24, 3)
    files = sorted_tokens(tokens, 2)
    files.is_late, sound, outcomes = False, [*files.pointers], Counter[str]()
    patterns, pointers = distinct_ngrams(tokens, 2), files.pointers
    truth = dict(zip(patterns, true_ranks(files, patterns), strict=True))
    for first in range(len(pointers)):
        for second in range(first):
            pointers[first], pointers[second] = sound[second], sound[first]
            outcomes += outcomes_of(files, truth, [first, second])
            pointers[first], pointers[second] = sound[first], sound[second]
    assert outcomes["not seen"] == 0
    assert outcomes["refused"] > 500
    assert outcomes["right"] > 500


def test_a_wrong_pointer_is_seen_unless_it_is_like_its_neighbour() -> None:
    draw = random.Random(4)
    passage = random_tokens(4, 70, 250)
    ends = [[draw.randrange(250), draw.randrange(250)] for _ in range(3)]
    tokens = [token for end in ends for token in [*passage, *end]]
    files = sorted_tokens(tokens, 2)
    part, whole = encoded(passage[3:36], 2), encoded(passage[3:], 2)
    assert len(part) > TEXT_BYTES
    patterns = [part, whole, *(whole + encoded([end[0]], 2) for end in ends)]
    patterns += [start + encoded([token], 2) for start in (part, whole) for token in (0, 255)]
    ((low, high),) = true_ranks(files, [part])
    assert high - low == len(ends)
    nearby = range(low - 1, high + 2)
    outcomes = outcomes_of_all_overwritten_pointers(files, patterns, nearby)
    assert 0 < outcomes["not seen"] < outcomes["refused"] / 50
    assert outcomes["right"] > outcomes["refused"] / 4


def test_a_pointer_that_leads_to_no_token_is_refused() -> None:
    files = sorted_tokens(random_tokens(2, 40, 5), 2)
    files.pointers[20] = 3
    with pytest.raises(WrongPointerError, match="20"):
        searched(files, [b""], 255)


@pytest.mark.parametrize("requests_per_round", [3, 31, 255])
def test_what_is_kept_is_not_read_again_however_far_a_search_looks_ahead(
    requests_per_round: int,
) -> None:
    tokens = random_tokens(4, 20_000, 40)
    patterns = drawn_patterns(5, tokens, 2, 6)
    files = sorted_tokens(tokens, 2, 200)
    files.keeps = True
    first = searched(files, patterns, 1)
    reads = len(files.reads)
    again = searched(files, patterns, requests_per_round)
    assert again.ranks == first.ranks
    new_reads = set(files.reads[reads:]) - set(files.reads[:reads])
    assert new_reads == set()
