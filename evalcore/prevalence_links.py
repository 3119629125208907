"""How often methods are attested in corpora, beside how well they do: joined, never explained."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, NamedTuple

from evalcore.compare import CompareRow
from ngramscan.errors import InputError
from ngramscan.statistics.estimates import geometric_mean_ratio

CORRELATIONAL = (
    "Prevalence and accuracy stand side by side. That they go together, or do not, shows no cause: "
    "methods differ in much else, and there are few of them."
)
MOST_METHODS = 8
"""Whose orders are all tried: 40,320."""


@dataclass(frozen=True, slots=True)
class PatternCount:
    """What a row of `ngramscan count` or `docnorm` says of one pattern."""

    index: str
    method: str
    tier: str
    pattern: str
    occurrences: float
    documents: float | None = None


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One pair of methods in one corpus and one cell of a comparison."""

    index: str
    measure: str
    """`occurrences` or `documents`: what was counted."""
    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    prevalence_ratio: float
    """Treatment to baseline: of the geometric means of count + 0.5 over patterns."""
    prevalence_low: float | None
    prevalence_high: float | None
    sum_ratio: float | None
    """Of the plain sums, which grows with the length of a list; None: the baseline's is 0."""
    difference: float
    """Of the accuracies, treatment minus baseline, in percentage points."""
    difference_low: float | None
    difference_high: float | None
    p: float | None
    same_direction: bool
    """The method that is more frequent is the one that is more often right."""


@dataclass(frozen=True, slots=True)
class RankRow:
    """Whether the order of methods by prevalence is that by accuracy, in one cell."""

    index: str
    measure: str
    dataset: str
    model: str
    rule: str
    methods: int
    tau: float | None
    """Kendall's, from -1 to 1; None: too few methods, or all alike."""
    p: float | None
    """Two-sided, over all orders of the methods."""
    note: str


class Linked(NamedTuple):
    """The rows of a link, and what is to be known beside them."""

    rows: list[LinkRow]
    ranks: list[RankRow]
    notices: list[str]


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What is joined."""

    measure: Literal["occurrences", "documents"] = "occurrences"
    tiers: Sequence[str] = ("T1", "T2")
    names: Mapping[str, str] | None = None
    """By a method of the comparison, what the pattern sets call it."""
    level: float = 0.95


def link_prevalence(
    counts: Sequence[PatternCount], compared: Sequence[CompareRow], settings: LinkSettings
) -> Linked:
    """Join counts of patterns with comparisons of methods.

    Parameters
    ----------
    counts : sequence of PatternCount
        Of any indexes; variants of a pattern add up.
    compared : sequence of CompareRow
        Pairs of methods in cells.
    settings : LinkSettings
        What is joined.

    Returns
    -------
    Linked
        One row per index, cell and pair of methods that both have patterns; one order per index
        and cell.

    Raises
    ------
    InputError
        Counts lack the measure, or no method has patterns.
    """
    lists = _lists(counts, settings)
    attested = _attested(lists, compared, settings)
    rows = [
        _link(index, one, attested, settings)
        for index in dict.fromkeys(index for index, _ in lists)
        for one in compared
        if (index, one.baseline) in attested and (index, one.treatment) in attested
    ]
    if not rows:
        known = ", ".join(dict.fromkeys(method for _, method in lists))
        problem = f"no compared pair of methods has patterns; these have some: {known}"
        raise InputError("counts", f"{problem} (see --map)")
    ranks = list(_ranks(attested, compared, settings))
    found = {method for _, method in attested}
    absent = [name for name in _methods(compared) if name not in found]
    notices = [f"without patterns, and left out: {', '.join(absent)}"] if absent else []
    return Linked(rows, ranks, [*notices, CORRELATIONAL])


Lists = Mapping[tuple[str, str], Sequence[float]]
"""By index and method, the counts of the patterns."""


def _lists(counts: Sequence[PatternCount], settings: LinkSettings) -> Lists:
    patterns: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for row in counts:
        if row.tier not in settings.tiers:
            continue
        value = getattr(row, settings.measure)
        if value is None:
            problem = f"{row.index}, {row.pattern!r}: no {settings.measure} in this row"
            raise InputError("counts", f"{problem}; see ngramscan docnorm")
        own = patterns.setdefault((row.index, row.method), {})
        own[row.tier, row.pattern] = own.get((row.tier, row.pattern), 0) + value
    if not patterns:
        raise InputError("counts", f"no patterns of {', '.join(settings.tiers)}")
    return {key: list(own.values()) for key, own in patterns.items()}


def _methods(compared: Sequence[CompareRow]) -> list[str]:
    return list(dict.fromkeys(name for one in compared for name in (one.baseline, one.treatment)))


def _attested(lists: Lists, compared: Sequence[CompareRow], settings: LinkSettings) -> Lists:
    """Return the counts by the names of the comparison: `f-1` is the `FP/F-1` of a pattern set."""
    given = settings.names or {}
    attested = {
        (index, method): counts
        for method in _methods(compared)
        for (index, name), counts in lists.items()
        if given.get(method, method).lower() in {name.lower(), *name.lower().split("/")}
    }
    found = {method for _, method in attested}
    for method, name in given.items():
        if method not in found:
            problem = "no such method compared, or without patterns"
            raise InputError(f"--map {method}={name}", problem)
    return attested


def _link(index: str, one: CompareRow, attested: Lists, settings: LinkSettings) -> LinkRow:
    treatment, baseline = attested[index, one.treatment], attested[index, one.baseline]
    ratio = geometric_mean_ratio(treatment, baseline, settings.level)
    return LinkRow(
        index=index,
        measure=settings.measure,
        dataset=one.dataset,
        model=one.model,
        rule=one.rule,
        baseline=one.baseline,
        treatment=one.treatment,
        prevalence_ratio=ratio.value,
        prevalence_low=ratio.low,
        prevalence_high=ratio.high,
        sum_ratio=sum(treatment) / sum(baseline) if sum(baseline) else None,
        difference=one.difference,
        difference_low=one.difference_low,
        difference_high=one.difference_high,
        p=one.p,
        same_direction=math.log(ratio.value) * one.difference > 0,
    )


# Orders


def _ranks(
    attested: Lists, compared: Sequence[CompareRow], settings: LinkSettings
) -> Iterator[RankRow]:
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    for one in compared:
        accuracies = cells.setdefault((one.dataset, one.model, one.rule), {})
        accuracies[one.baseline] = one.accuracy_baseline
        accuracies[one.treatment] = one.accuracy_treatment
    for index in dict.fromkeys(index for index, _ in attested):
        for cell, accuracies in cells.items():
            methods = [method for method in accuracies if (index, method) in attested]
            if len(methods) > 1:
                means = [_log_mean(attested[index, method]) for method in methods]
                values = [accuracies[method] for method in methods]
                tau, p, note = rank_agreement(means, values)
                yield RankRow(index, settings.measure, *cell, len(methods), tau, p, note)


def _log_mean(counts: Sequence[float]) -> float:
    return sum(math.log(count + 0.5) for count in counts) / len(counts)


def rank_agreement(
    first: Sequence[float], second: Sequence[float]
) -> tuple[float | None, float | None, str]:
    """Return Kendall's tau-b of two lists, its exact p-value, and a note where one is missing.

    Parameters
    ----------
    first, second : sequence of float, shape (n,)
        Two values of the same things.

    Returns
    -------
    tau : float or None
        From -1 to 1, ties taken into account.
    p : float or None
        Two-sided: how many of all orders of the second list have a tau as far from 0.
    note : str
        Why one of them is None, or what is to be known of p.
    """
    if len(first) < 3:
        return None, None, "two methods have no order to agree on"
    scale = math.sqrt(_untied(first) * _untied(second))
    if not scale:
        return None, None, "all values of one list are the same"
    observed = _concordance(first, second)
    if len(first) > MOST_METHODS:
        return observed / scale, None, f"more than {MOST_METHODS} methods: not all orders tried"
    orders = [_concordance(first, order) for order in permutations(second)]
    p = sum(abs(value) >= abs(observed) for value in orders) / len(orders)
    least = 2 / math.factorial(len(first))
    note = f"p can't be below {least:.2g} with {len(first)} methods" if least > 0.05 else ""
    return observed / scale, p, note


def _concordance(first: Sequence[float], second: Sequence[float]) -> int:
    return sum(
        _sign(first[i] - first[j]) * _sign(second[i] - second[j])
        for i in range(len(first))
        for j in range(i)
    )


def _untied(values: Sequence[float]) -> int:
    return sum(values[i] != values[j] for i in range(len(values)) for j in range(i))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
