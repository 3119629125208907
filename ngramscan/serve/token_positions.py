"""Positions of n-grams of tokens, and the tokens after them: arrays, shard by shard.

Positions are counted in tokens of the shard. If documents are stored backwards, the position of an
n-gram is the position of its first token in reading order, which is its last in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.tokens.shard import TokenFolder, TokenShard
from ngramscan.progress import SILENT, Progress

Clause = Sequence[Sequence[int]]
"""A clause: alternative n-grams."""

_END = -1
"""Stands for the token after the end of a shard."""
_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class _Spots:
    """Different positions in a shard, in ascending order, and their documents."""

    positions: Integers
    documents: Integers


def find_near(
    folder: TokenFolder, clauses: Sequence[Clause], distance: int, progress: Progress = SILENT
) -> list[Integers]:
    """Return, for each shard, where the rarest clause occurs near to all others, in file order.

    The rarest clause has the fewest positions in the whole index; of several, it is the first one.
    "Near" means in the same document, with first tokens at most `distance` tokens apart.
    """
    terms = [term for clause in clauses for term in clause]
    ranks = folder.find(terms)
    ends = np.cumsum([len(clause) for clause in clauses])[:-1]
    of_clauses = [
        [
            _spots(shard, folder.backwards, clause, part[:, number], progress)
            for clause, part in zip(clauses, np.split(ranks, ends), strict=True)
        ]
        for number, shard in enumerate(folder.shards)
    ]
    totals = np.sum(
        [[len(spots_of_clause.positions) for spots_of_clause in spots] for spots in of_clauses],
        axis=0,
    )
    rarest = int(totals.argmin())
    near_positions = []
    for spots in of_clauses:
        rare = spots[rarest]
        near = np.ones(len(rare.positions), bool)
        for number, spots_of_clause in enumerate(spots):
            if number != rarest:
                near &= _is_near(rare, spots_of_clause, distance)
        near_positions.append(rare.positions[near])
    return near_positions


def _spots(
    shard: TokenShard, backwards: bool, terms: Clause, ranks: Integers, progress: Progress
) -> _Spots:
    """Return where any of some n-grams occurs, by their ranks [low, high)."""
    positions, documents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for term, (low, high) in zip(terms, ranks.tolist(), strict=True):
        progress.advance(high - low, "occurrences")
        starts = np.sort(shard.positions(np.arange(low, high)))
        positions.append(starts + (len(term) - 1) * backwards)
        documents.append(shard.holding(starts))
    distinct, chosen = np.unique(np.concatenate(positions), return_index=True)
    return _Spots(distinct, np.concatenate(documents)[chosen])


def _is_near(rare: _Spots, clause_spots: _Spots, distance: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the positions with another clause nearby: next before or after."""
    near = np.zeros(len(rare.positions), bool)
    if not len(clause_spots.positions):
        return near
    after = np.searchsorted(clause_spots.positions, rare.positions)
    for neighbour in (after - 1, after):
        neighbour_at = neighbour.clip(0, len(clause_spots.positions) - 1)
        is_close = np.abs(clause_spots.positions[neighbour_at] - rare.positions) <= distance
        near |= is_close & (clause_spots.documents[neighbour_at] == rare.documents)
    return near


def count_next(
    folder: TokenFolder, prompt: Sequence[int], ranks: Integers, progress: Progress = SILENT
) -> dict[int, int]:
    """Return how often each token comes next after a prompt with ranks [low, high) in each shard.

    The end of a document counts as the separator. After an empty prompt comes every token.
    """
    counts: Counter[int] = Counter()
    for shard, (low, high) in zip(folder.shards, ranks.tolist(), strict=True):
        if low < high and folder.backwards and prompt:
            pairs = _each_before(shard, low, high)
        else:
            pairs = _runs_after(shard, low, high, len(prompt))
        for token, occurrences in pairs:
            progress.advance(occurrences, "occurrences")
            counts[folder.separator if token == _END else token] += occurrences
    return dict(counts)


def _tokens(shard: TokenShard, ranks: Integers, ahead: int) -> Integers:
    """Return the tokens some positions after where suffixes begin."""
    positions = shard.positions(ranks) + ahead
    inside = (positions >= 0) & (positions < shard.tokens)
    tokens = shard.words[positions.clip(0, shard.tokens - 1)].astype(np.int64)
    return np.where(inside, tokens, _END)


def _runs_after(shard: TokenShard, low: int, high: int, ahead: int) -> Iterator[tuple[int, int]]:
    """Yield each next token and its count, without reading every occurrence.

    Suffixes are sorted, so equal tokens are adjacent. The borders of the runs are found by
    bisection between ranks with different tokens, for all runs at once.
    """
    lower = np.arange(low, min(low + 1, high))
    upper = lower + (high - 1 - low)
    starts = [lower]
    at_lower, at_upper = _tokens(shard, lower, ahead), _tokens(shard, upper, ahead)
    while lower.size:
        are_neighbours = upper - lower == 1
        differ = at_lower != at_upper
        starts.append(upper[differ & are_neighbours])
        open_ones = differ & ~are_neighbours
        lower, upper = lower[open_ones], upper[open_ones]
        at_lower, at_upper = at_lower[open_ones], at_upper[open_ones]
        middle = (lower + upper) // 2
        at_middle = _tokens(shard, middle, ahead)
        lower, upper = np.concatenate([lower, middle]), np.concatenate([middle, upper])
        at_lower = np.concatenate([at_lower, at_middle])
        at_upper = np.concatenate([at_middle, at_upper])
    firsts = np.sort(np.concatenate(starts))
    counts = np.diff(np.append(firsts, high)) if firsts.size else firsts
    yield from zip(_tokens(shard, firsts, ahead).tolist(), counts.tolist(), strict=True)


def _each_before(shard: TokenShard, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the tokens before all occurrences, the next ones if documents are backwards."""
    for start in range(low, high, _AT_ONCE):
        ranks = np.arange(start, min(start + _AT_ONCE, high))
        tokens, counts = np.unique(_tokens(shard, ranks, -1), return_counts=True)
        yield from zip(tokens.tolist(), counts.tolist(), strict=True)
