"""Accuracy, tokens and their quotients of some methods, with intervals: arrays in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalcore.resampling import (
    FEWEST_ITEMS,
    Floats,
    Limits,
    Resampling,
    percentile_limits,
    ratio,
    resampled_sums,
)

Sums = Floats
"""Shape (n_problems, 5): outputs, their values, outputs whose tokens are known, the values of
these, their tokens."""
_COLUMNS = 5
_QUANTITIES = ("accuracy", "mean_tokens", "tokens_per_correct", "accuracy_per_100_tokens")
_UNDEFINED = {
    "accuracy": "there are no outputs",
    "mean_tokens": "no tokens are known",
    "tokens_per_correct": "no tokens per correct answer: none is correct",
    "accuracy_per_100_tokens": "no accuracy per token: there are no tokens",
}


@dataclass(frozen=True, slots=True)
class Estimates:
    """What is known of one method."""

    n: int
    n_tokens: int
    correct: float
    values: dict[str, float | None]
    limits: dict[str, Limits]
    on_frontier: bool | None
    frontier_share: float | None
    notes: list[str] = field(default_factory=list)

    def columns(self) -> dict[str, Any]:
        """Return all as columns of a row."""
        columns: dict[str, Any] = {"n": self.n, "n_tokens": self.n_tokens}
        columns |= {"correct": self.correct, **self.values}
        for name, limits in self.limits.items():
            columns |= {f"{name}_low": limits.low, f"{name}_high": limits.high}
        columns |= {"on_frontier": self.on_frontier, "frontier_share": self.frontier_share}
        return columns


def sums_of(
    places: Sequence[int], values: Sequence[float], tokens: Sequence[int | None], n_problems: int
) -> Sums:
    """Add up outputs by problem.

    Parameters
    ----------
    places : sequence of int
        Which problem each output is of, from 0.
    values : sequence of float
        Of outputs, from 0 to 1.
    tokens : sequence of int or None
        Of outputs; None: not known, and in no sum.
    n_problems : int
        How many there are.
    """
    sums = np.zeros((n_problems, _COLUMNS))
    for place, value, count in zip(places, values, tokens, strict=True):
        sums[place, :2] += (1, value)
        if count is not None:
            sums[place, 2:] += (1, value, count)
    return sums


def estimate_costs(methods: Sequence[Sums], resampling: Resampling) -> list[Estimates]:
    """Estimate accuracy and costs of methods on the same problems.

    Parameters
    ----------
    methods : sequence of array, shape (n_problems, 5)
        At least one; problems in the same order.
    resampling : Resampling
        Of problems, the same ones for all methods.

    Returns
    -------
    list of Estimates
        In the order of the methods.
    """
    n_problems = len(methods[0])
    totals = np.stack([sums.sum(axis=0) for sums in methods])
    values = _quantities(totals)
    on = _frontier(values)
    drawn = None
    if n_problems >= FEWEST_ITEMS:
        flat = resampled_sums(np.concatenate(methods, axis=1), resampling)
        drawn = _quantities(flat.reshape(len(flat), len(methods), _COLUMNS))
    shares = None if drawn is None else _frontier(drawn).mean(axis=0)
    found = []
    for number, total in enumerate(totals):
        own = {name: values[name][number] for name in _QUANTITIES}
        draws = None if drawn is None else {name: drawn[name][:, number] for name in _QUANTITIES}
        limits = _limits(own, draws, (n_problems, resampling.level))
        known = not np.isnan(own["accuracy"]) and not np.isnan(own["mean_tokens"])
        found.append(
            Estimates(
                n=int(total[0]),
                n_tokens=int(total[2]),
                correct=float(total[1]),
                values={name: _known(value) for name, value in own.items()},
                limits=limits,
                on_frontier=bool(on[number]) if known else None,
                frontier_share=float(shares[number]) if known and shares is not None else None,
                notes=_notes(limits),
            )
        )
    return found


def _quantities(sums: Floats) -> dict[str, Floats]:
    outputs, values, known, known_values, tokens = np.moveaxis(sums, -1, 0)
    return {
        "accuracy": 100 * ratio(values, outputs),
        "mean_tokens": ratio(tokens, known),
        "tokens_per_correct": ratio(tokens, known_values),
        "accuracy_per_100_tokens": 100 * ratio(100 * known_values, tokens),
    }


def pareto_frontier(right: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Tell which methods no other one beats: as good and as cheap, and better in one of them.

    Parameters
    ----------
    right, cost : array of float, shape (..., n_methods)
        Accuracies and mean tokens; nan: not known, and not on the frontier.
    """
    # Comparisons with what is not known are false: such a method beats none.
    as_good = right[..., None, :] >= right[..., :, None]
    as_cheap = cost[..., None, :] <= cost[..., :, None]
    better = right[..., None, :] > right[..., :, None]
    cheaper = cost[..., None, :] < cost[..., :, None]
    beaten = (as_good & as_cheap & (better | cheaper)).any(axis=-1)
    return np.asarray(~beaten & ~np.isnan(right) & ~np.isnan(cost))


def _frontier(quantities: dict[str, Floats]) -> NDArray[np.bool_]:
    return pareto_frontier(quantities["accuracy"], quantities["mean_tokens"])


def _limits(
    values: dict[str, Floats], draws: dict[str, Floats] | None, of: tuple[int, float]
) -> dict[str, Limits]:
    n_problems, level = of
    limits = {}
    for name, value in values.items():
        if np.isnan(value):
            limits[name] = Limits(None, None, _UNDEFINED[name])
        else:
            drawn = np.empty(0) if draws is None else draws[name]
            limits[name] = percentile_limits(drawn, n_problems, level)
    return limits


def _notes(limits: dict[str, Limits]) -> list[str]:
    notes: dict[str, list[str]] = {}
    for name, one in limits.items():
        if one.note:
            notes.setdefault(one.note, []).append(name)
    return [
        note if len(names) == len(limits) or not note.startswith("no interval")
        else f"{', '.join(names)}: {note}"
        for note, names in notes.items()
    ]  # fmt: skip


def _known(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)
