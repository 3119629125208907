"""What Fleiss' kappa can be where only counts are known: integers in, limits out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

MOST_LABELS = 7
"""All orders of the labels are tried; more would take long."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What is known of the labels of several judges, where their table is not."""

    by_judge: Mapping[str, Mapping[str, int]]
    """How often each judge gave each label; some of them perhaps to other items."""
    items: int
    """Those that every judge labelled."""
    unanimous: int
    """Items to which all judges gave the same label."""
    majority: int | None = None
    """Items with a label that got more votes than any other, the unanimous ones among them; None:
    not known."""

    @property
    def labels(self) -> list[str]:
        """All of them."""
        return list(dict.fromkeys(label for counts in self.by_judge.values() for label in counts))


class ContradictionError(ValueError):
    """The counts can't be of the same items."""


def fleiss_limits(counted: Counted) -> tuple[float, float]:
    """Return the least and the greatest kappa that the counts allow.

    Parameters
    ----------
    counted : Counted
        At least two judges and one item, and no more than seven labels.

    Returns
    -------
    (float, float)
        No kappa outside of them is possible. Whether each one inside is depends on the table of
        labels, which is not known.

    Raises
    ------
    ContradictionError
        No items could give these counts, or kappa is not defined; says why.

    Notes
    -----
    A judge with more labels than there are items gave the surplus to other items; which labels
    those were is not known. Chance agreement is a convex function of what is left: it is greatest
    where the surplus is taken from the labels in some order, and least where each next one is taken
    from the label that most are left of.
    """
    _check(counted)
    low_agreed, high_agreed = _observed(counted)
    by_chance = [_chance(left) for left in _extremes(counted)]
    if min(by_chance) >= 1:
        raise ContradictionError("all labels are the same; kappa is not defined")
    # Where all labels but one could be the same, they are not all: kappa is defined.
    n = counted.items * len(counted.by_judge)
    most = ((n - 1) ** 2 + 1) / n**2
    chances = [min(one, most) for one in by_chance]
    values = [(a - c) / (1 - c) for a in (low_agreed, high_agreed) for c in chances]
    return min(values), max(values)


def _check(counted: Counted) -> None:
    if len(counted.by_judge) < 2 or counted.items < 1:
        raise ContradictionError("at least two judges and one item were expected")
    if len(counted.labels) > MOST_LABELS:
        raise ContradictionError(
            f"{len(counted.labels)} labels; at most {MOST_LABELS} can be tried"
        )
    for judge, counts in counted.by_judge.items():
        if sum(counts.values()) < counted.items:
            n = sum(counts.values())
            raise ContradictionError(f"{judge} gave {n} labels to {counted.items} items")
    most = sum(
        min(counts.get(label, 0) for counts in counted.by_judge.values())
        for label in counted.labels
    )
    if not 0 <= counted.unanimous <= min(most, counted.items):
        problem = (
            f"{counted.unanimous} unanimous items; from 0 to {min(most, counted.items)} can be"
        )
        raise ContradictionError(problem)
    if counted.majority is not None and not counted.unanimous <= counted.majority <= counted.items:
        problem = f"{counted.majority} items with a majority; "
        problem += f"from {counted.unanimous} to {counted.items} can be"
        raise ContradictionError(problem)


# What judges agree on


def _observed(counted: Counted) -> tuple[float, float]:
    """Return the least and the greatest share of agreeing pairs of judges."""
    judges, split = len(counted.by_judge), counted.items - counted.unanimous
    with_one = [_pairs(votes) for votes in _splits(counted) if votes[0] > votes[1]]
    without = [_pairs(votes) for votes in _splits(counted) if votes[0] == votes[1]]
    if counted.majority is None:
        low, high = (split * one(with_one + without, default=0) for one in (min, max))
    else:
        clear = counted.majority - counted.unanimous
        if (clear and not with_one) or (split - clear and not without):
            raise ContradictionError("no votes of so many judges give such majorities")
        low, high = (
            clear * one(with_one, default=0) + (split - clear) * one(without, default=0)
            for one in (min, max)
        )
    all_pairs = counted.items * judges * (judges - 1)
    unanimous = counted.unanimous * judges * (judges - 1)
    return (unanimous + low) / all_pairs, (unanimous + high) / all_pairs


def _splits(counted: Counted) -> list[tuple[int, ...]]:
    """Return the ways in which votes can fall on two or more labels, the greatest number first."""
    judges = len(counted.by_judge)
    ways = [votes for votes in _partitions(judges, judges - 1) if len(votes) <= len(counted.labels)]
    if counted.items > counted.unanimous and not ways:
        raise ContradictionError("with one label all items are unanimous")
    return ways


def _partitions(total: int, most: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    for first in range(min(total, most), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)


def _pairs(votes: Sequence[int]) -> int:
    return sum(count * (count - 1) for count in votes)


# What they would agree on by chance


def _chance(left: Mapping[str, int]) -> float:
    n = sum(left.values())
    return sum(count * count for count in left.values()) / (n * n)


def _extremes(counted: Counted) -> Iterator[dict[str, int]]:
    """Yield what may be left of the labels where chance agreement is greatest, and least."""
    totals = {
        label: sum(counts.get(label, 0) for counts in counted.by_judge.values())
        for label in counted.labels
    }
    for order in permutations(counted.labels):
        left = dict(totals)
        for number, label in enumerate(order):
            before = _removable(counted, order[:number])
            left[label] -= _removable(counted, order[: number + 1]) - before
        yield left
    yield _most_even(counted, totals)


def _removable(counted: Counted, labels: Sequence[str]) -> int:
    """Return how many labels of some kinds can be among the surplus of all judges."""
    return sum(
        min(sum(counts.values()) - counted.items, sum(counts.get(label, 0) for label in labels))
        for counts in counted.by_judge.values()
    )


def _most_even(counted: Counted, totals: Mapping[str, int]) -> dict[str, int]:
    sets = [
        chosen
        for size in range(1, len(totals) + 1)
        for chosen in combinations(counted.labels, size)
    ]
    rooms = {chosen: _removable(counted, chosen) for chosen in sets}
    taken = dict.fromkeys(totals, 0)
    for _ in range(_removable(counted, counted.labels)):
        free = [
            label
            for label in totals
            if all(
                sum(taken[one] for one in chosen) < room
                for chosen, room in rooms.items()
                if label in chosen
            )
        ]
        taken[max(free, key=lambda label: totals[label] - taken[label])] += 1
    return {label: total - taken[label] for label, total in totals.items()}
