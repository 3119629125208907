"""Comparisons on several subtasks or benchmarks → averages that say what they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.pairing import ALL, Pair
from evalcore.statistics import Comparison, Settings

Found = tuple[Pair, Comparison | None]
"""Two methods in a cell, and what comparing them gave; None: no pair was left."""


@dataclass(frozen=True, slots=True)
class AverageRow:
    """Two methods on several subtasks or benchmarks, in percent; the average says which."""

    average: str
    """`micro`: each pair once; `macro over subtasks` or `benchmarks`: each of these once."""
    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    parts: int
    """Subtasks or benchmarks of which pairs are left."""
    n: int
    n_unknown: int
    """Pairs that are left out, also those of other parts, since nothing is known of one side."""
    accuracy_baseline: float
    accuracy_treatment: float
    difference: float
    difference_low: float | None
    difference_high: float | None


def over_subtasks(
    found: Iterable[Found], how: Settings, generator: np.random.Generator
) -> Iterator[AverageRow]:
    """Yield, for each pair with several subtasks, the average in which each counts once."""
    for pair, _ in found:
        results = []
        for subtask in pair.subtasks:
            here = pair.first["subtask"] == subtask
            part = pair._replace(first=pair.first[here], second=pair.second[here])
            if result := part.compared(how, generator):
                results.append(result)
        if len(results) > 1:
            n_unknown = int((pair.left_out >= 0).sum())
            yield _average("macro over subtasks", pair.names, results, n_unknown)


def over_benchmarks(found: Iterable[Found]) -> Iterator[AverageRow]:
    """Yield, for methods on several benchmarks, their averages: by pairs, and each once."""
    groups: dict[tuple[str, ...], list[Found]] = {}
    for one in found:
        groups.setdefault(tuple(one[0].names.values())[1:], []).append(one)
    for group in groups.values():
        results = [result for _, result in group if result]
        datasets = {pair.names["dataset"] for pair, _ in group}
        if len(datasets) > 1 and len(results) > 1:
            names = {**group[0][0].names, "dataset": ALL}
            unknown = sum(pair.left_out.size for pair, _ in group)
            yield _average("micro", names, results, unknown, [result.n for result in results])
            yield _average("macro over benchmarks", names, results, unknown)


def _average(
    name: str,
    names: Mapping[str, str],
    results: Sequence[Comparison],
    n_unknown: int,
    weights: Sequence[int] = (),
) -> AverageRow:
    """Weigh results of different problems, whose errors are independent (MOVER)."""
    counted = np.array(weights or [1] * len(results), dtype=np.float64)
    shares = counted / counted.sum()
    differences = [result.difference for result in results]
    mean = float(shares @ [each.value for each in differences])
    low = high = None
    arms = [
        (each.value - each.low, each.high - each.value)
        for each in differences
        if each.low is not None and each.high is not None
    ]
    if len(arms) == len(results):
        below, above = np.array([*zip(*arms, strict=True)])
        low = mean - float(np.sqrt(np.square(shares * below).sum()))
        high = mean + float(np.sqrt(np.square(shares * above).sum()))
    return AverageRow(
        average=name,
        **names,
        parts=len(results),
        n=sum(result.n for result in results),
        n_unknown=n_unknown,
        accuracy_baseline=100 * float(shares @ [result.baseline for result in results]),
        accuracy_treatment=100 * float(shares @ [result.treatment for result in results]),
        difference=100 * mean,
        difference_low=percent(low),
        difference_high=percent(high),
    )


def percent(share: float | None) -> float | None:
    """Return a share in percent."""
    return None if share is None else 100 * share
