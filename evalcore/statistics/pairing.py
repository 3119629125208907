"""Two lists of values of the same problems, with what is missing counted or left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Missing = Literal["wrong", "dropped"]


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairs of values without gaps."""

    baseline: Floats
    treatment: Floats
    """Shape (n,) each; n is at least 1."""
    problems: NDArray[np.intp]
    """Shape (n,): the number of the problem, from 0; every number up to the largest occurs."""
    missing: int
    """Pairs in which a value was missing, whether they were counted as wrong or dropped."""

    @property
    def differences(self) -> Floats:
        """Treatment minus baseline."""
        return self.treatment - self.baseline

    @property
    def is_binary(self) -> bool:
        """Tell whether every answer is right or wrong."""
        return bool(np.isin(self.baseline, (0, 1)).all() and np.isin(self.treatment, (0, 1)).all())

    @property
    def better(self) -> int:
        """How many pairs in which the treatment has more, by more than a rounding error."""
        return int((settled(self.differences) > 0).sum())

    @property
    def worse(self) -> int:
        """How many pairs in which the baseline has more, by more than a rounding error."""
        return int((settled(self.differences) < 0).sum())


def pair(
    baseline: ArrayLike,
    treatment: ArrayLike,
    missing: Missing = "wrong",
    problems: ArrayLike | None = None,
) -> Paired:
    """Put the values of two methods side by side.

    Parameters
    ----------
    baseline, treatment : array of float, shape (n,) or (problems, models)
        Values of the same answers in the same order; nan where a value is missing.
    missing : "wrong" or "dropped"
        A missing value is 0, or its pair is left out.
    problems : array of int or str, shape (n,), optional
        Which problem an answer is to. By default every row is a problem of its own.

    Returns
    -------
    Paired
        At least one pair.

    Raises
    ------
    ValueError
        The shapes differ, a value is infinite, or no pair is left.
    """
    first, second = (np.array(values, dtype=np.float64) for values in (baseline, treatment))
    if first.shape != second.shape:
        raise ValueError(f"the two have different shapes: {first.shape} and {second.shape}")
    if np.isinf(first).any() or np.isinf(second).any():
        raise ValueError("a value is infinite")
    numbers = _problem_numbers(first.shape, problems)
    first, second = first.ravel(), second.ravel()
    gaps = np.isnan(first) | np.isnan(second)
    if missing == "wrong":
        kept = np.ones(first.size, dtype=bool)
        first, second = np.nan_to_num(first), np.nan_to_num(second)
    elif missing == "dropped":
        kept = ~gaps
    else:
        raise ValueError(f"missing answers are 'wrong' or 'dropped', not {missing!r}")
    if not kept.any():
        raise ValueError("there are no pairs to compare")
    _, numbers = np.unique(numbers[kept], return_inverse=True)
    return Paired(first[kept], second[kept], numbers, int(gaps.sum()))


def _problem_numbers(shape: tuple[int, ...], problems: ArrayLike | None) -> NDArray[np.intp]:
    """Return one number for each value, the same for the values of a problem."""
    if problems is None:
        if len(shape) not in {1, 2}:
            raise ValueError("a row for each problem was expected")
        return np.repeat(np.arange(shape[0]), shape[1] if len(shape) == 2 else 1)
    labels = np.asarray(problems)
    if labels.shape != shape or len(shape) != 1:
        raise ValueError("one problem for each value of a plain list was expected")
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def settled(values: Floats) -> Floats:
    """Return the values rounded to ten digits of the largest of them.

    0.3 - 0.2 and 0.2 - 0.1 are one number, which matters to tests that ask for ties and zeros.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return values
    # A power of two, so that scaling adds no rounding error of its own.
    scale = 2.0 ** np.ceil(np.log2(largest))
    rounded: Floats = np.round(values / scale, 10) * scale
    return rounded
