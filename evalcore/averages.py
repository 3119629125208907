"""Results of several subtasks or benchmarks → averages that say what they are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.paired_results import Case, Comparer, Result
from evalcore.pairings import ALL, CellKey


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


def over_subtasks(cases: Sequence[Case], comparer: Comparer) -> Iterator[AverageRow]:
    """Yield, for each case with several subtasks, the average in which each counts once."""
    for case in cases:
        subtasks = list(dict.fromkeys(case.cell.subtasks.values()))
        parts = [case.cell.pair(case.baseline, case.treatment, subtask) for subtask in subtasks]
        compared = (comparer.compared(part, comparer.settings.statistics) for part in parts)
        results = [result for result in compared if result]
        if len(results) > 1:
            unknown = sum(part.left_out.n for part in parts)
            yield _average("macro over subtasks", case.cell.key, case, results, unknown)


def over_benchmarks(cases: Sequence[Case], comparer: Comparer) -> Iterator[AverageRow]:
    """Yield, for cases of several benchmarks, their averages: by pairs, and each once."""
    groups: dict[tuple[CellKey, str, str], list[Case]] = {}
    for case in cases:
        key = case.cell.key._replace(dataset=ALL)
        groups.setdefault((key, case.baseline, case.treatment), []).append(case)
    for (key, _, _), group in groups.items():
        if len({case.cell.key.dataset for case in group}) > 1:
            results = [result for case in group if (result := comparer.result(case))]
            if len(results) > 1:
                sizes = [float(result.n) for result in results]
                unknown = sum(comparer.values(case).left_out.n for case in group)
                yield _average("micro", key, group[0], results, unknown, sizes)
                yield _average("macro over benchmarks", key, group[0], results, unknown)


def _average(
    name: str,
    key: CellKey,
    case: Case,
    results: Sequence[Result],
    n_unknown: int,
    weights: Sequence[float] = (),
) -> AverageRow:
    """Weigh results of different problems, whose errors are independent (MOVER)."""
    each_once = np.ones(len(results))
    shares = np.array(weights or each_once) / sum(weights or each_once)
    differences = [result.difference for result in results]
    mean = float(shares @ [each.value for each in differences])
    low = high = None
    if all(each.low is not None and each.high is not None for each in differences):
        below = [each.value - (each.low or 0.0) for each in differences]
        above = [(each.high or 0.0) - each.value for each in differences]
        low = mean - float(np.sqrt(np.square(shares * below).sum()))
        high = mean + float(np.sqrt(np.square(shares * above).sum()))
    return AverageRow(
        average=name,
        **key._asdict(),
        baseline=case.baseline,
        treatment=case.treatment,
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
