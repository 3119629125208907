"""Accuracy, tokens and their quotients of some methods, with intervals: arrays in, values out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalcore.statistics import (
    ITEMS_FOR_AN_INTERVAL,
    Ratio,
    Resampling,
    Studentized,
    drawn_sums,
    studentized_limits,
)

Floats = NDArray[np.float64]
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
_NO_SPREAD = 1e-9
"""A relative standard error below it is a rounding error."""


@dataclass(frozen=True, slots=True)
class Limits:
    """An interval; None and a note where there is none."""

    low: float | None
    high: float | None
    note: str = ""

    def mapped(self, function: Callable[[float], float]) -> Limits:
        """Return the interval of a monotonous function of the value."""
        if self.low is None or self.high is None:
            return self
        low, high = sorted([function(self.low), function(self.high)])
        return Limits(low, high)


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
    values = _quantities(np.stack([sums.sum(axis=0) for sums in methods]))
    on = _frontier(values)
    ratios = [_ratios(sums) for sums in methods]
    sums_drawn, ratios_drawn = _draw(methods, ratios, resampling)
    shares = _frontier(_quantities(sums_drawn)).mean(axis=0) if sums_drawn.size else None
    found = []
    for number, sums in enumerate(methods):
        own = {name: float(values[name][number]) for name in _QUANTITIES}
        intervals = _intervals(ratios[number], ratios_drawn[number], resampling.level)
        limits = _limits(own, intervals, int((sums[:, 0] > 0).sum()))
        known = not np.isnan(own["accuracy"]) and not np.isnan(own["mean_tokens"])
        n, correct, n_tokens = sums[:, :3].sum(axis=0)
        found.append(
            Estimates(
                n=int(n),
                n_tokens=int(n_tokens),
                correct=float(correct),
                values={name: None if np.isnan(one) else one for name, one in own.items()},
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
        "accuracy": 100 * _ratio(values, outputs),
        "mean_tokens": _ratio(tokens, known),
        "tokens_per_correct": _ratio(tokens, known_values),
        "accuracy_per_100_tokens": 100 * _ratio(100 * known_values, tokens),
    }


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients; nan where the divisor is zero."""
    quotients = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=below != 0)
    return quotients


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


def _ratios(sums: Sums) -> dict[str, Ratio]:
    """Return the ratios that intervals are made of, where both of their parts are positive."""
    outputs, values, known, known_values, tokens = sums.T
    parts = {
        # The odds of a right answer: their logarithm has no bounds, as those of the others.
        "accuracy": (values, outputs - values),
        "mean_tokens": (tokens, known),
        "tokens_per_correct": (tokens, known_values),
    }
    return {name: Ratio(*both) for name, both in parts.items() if min(b.sum() for b in both) > 0}


_Drawn = dict[str, Studentized]


def _draw(
    methods: Sequence[Sums], ratios: Sequence[Mapping[str, Ratio]], resampling: Resampling
) -> tuple[Floats, list[_Drawn]]:
    """Return the sums of each draw, shape (draws, methods, 5), and the ratios of each method."""
    if len(methods[0]) < ITEMS_FOR_AN_INTERVAL:
        none = Studentized(np.empty(0), np.empty(0))
        return np.empty((0, len(methods), _COLUMNS)), [dict.fromkeys(own, none) for own in ratios]
    rows = [sums.T for sums in methods]
    rows += [ratio.rows() for own in ratios for ratio in own.values()]
    generator = np.random.default_rng(resampling.seed)
    sums = drawn_sums(np.concatenate(rows), generator, resampling.draws)
    parts = iter(sums.reshape(-1, _COLUMNS, resampling.draws))
    by_method = np.stack([next(parts).T for _ in methods], axis=1)
    return by_method, [
        {name: ratio.of_sums(next(parts)) for name, ratio in own.items()} for own in ratios
    ]


def _intervals(ratios: Mapping[str, Ratio], drawn: _Drawn, level: float) -> dict[str, Limits]:
    return {name: _interval(name, ratio, drawn[name], level) for name, ratio in ratios.items()}


def _limits(
    values: Mapping[str, float], intervals: Mapping[str, Limits], n_problems: int
) -> dict[str, Limits]:
    """Return the limits of all quantities, or why there are none."""
    none = Limits(None, None, _reason_for_none(n_problems, 0.0))
    per_correct = intervals.get("tokens_per_correct", none)
    limits = {
        "accuracy": intervals.get("accuracy", none).mapped(lambda odds: 100 * odds / (1 + odds)),
        "mean_tokens": intervals.get("mean_tokens", none),
        "tokens_per_correct": per_correct,
        "accuracy_per_100_tokens": per_correct.mapped(lambda tokens: 1e4 / tokens),
    }
    undefined = [name for name, value in values.items() if np.isnan(value)]
    return limits | {name: Limits(None, None, _UNDEFINED[name]) for name in undefined}


def _interval(name: str, ratio: Ratio, drawn: Studentized, level: float) -> Limits:
    """Return the interval of a ratio, from that of its logarithm."""
    found = ratio.of_data().log()
    reason = _reason_for_none(ratio.n, float(found.errors[0]))
    if reason:
        return Limits(None, None, reason)
    # Accuracies have bounds; a problem may take more tokens than any that was seen.
    one_more = 0.0 if name == "accuracy" else ratio.largest_influence / ratio.value
    low, high = studentized_limits(found, drawn.log(), ratio.n, level, one_more)
    return Limits(float(np.exp(low)), float(np.exp(high)))


def _reason_for_none(n: int, error: float) -> str:
    if n < ITEMS_FOR_AN_INTERVAL:
        return f"no interval: {n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    return "no interval: all problems give the same value" if error < _NO_SPREAD else ""


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
