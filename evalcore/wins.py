"""On how many benchmarks a method is better than another, by number and by test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalcore.joint_outcomes import ALL
from evalcore.solved_problems import Cell
from ngramscan.proportions import mcnemar


@dataclass(frozen=True, slots=True)
class WinRow:
    """How often a method wins against a baseline, over benchmarks or over all models' too."""

    model: str
    """`all`: of all models together."""
    baseline: str
    treatment: str
    cells: int
    """Pairs of a benchmark and a model."""
    wins: int
    """More problems solved."""
    ties: int
    losses: int
    wins_by_test: int
    """More solved, and McNemar's exact p below `alpha`, which is not corrected for the number of
    cells."""
    ties_by_test: int
    losses_by_test: int
    alpha: float


def win_rows(
    cells: Sequence[Cell], baselines: Sequence[str], treatment: str, alpha: float = 0.05
) -> list[WinRow]:
    """Count wins, ties and losses.

    Parameters
    ----------
    cells : sequence of Cell
        With all methods.
    baselines : sequence of str
        Each is compared on its own, on the problems that it and the treatment share.
    treatment : str
        The method that wins or loses.
    alpha : float
        A difference with a greater p is a tie by test.

    Returns
    -------
    list of WinRow
        One per model and baseline; where there are several models, one more per baseline.
    """
    models = list(dict.fromkeys(cell.model for cell in cells))
    rows = []
    for model in [*models, ALL] if len(models) > 1 else models:
        own = [cell for cell in cells if model in {ALL, cell.model}]
        rows += [_wins(model, own, (baseline, treatment), alpha) for baseline in baselines]
    return rows


def _wins(model: str, cells: Sequence[Cell], methods: tuple[str, str], alpha: float) -> WinRow:
    signs, tested = [], []
    for cell in cells:
        solved = cell.tally(methods).solved
        lost, gained = solved.count((True, False)), solved.count((False, True))
        signs.append((gained > lost) - (gained < lost))
        tested.append(signs[-1] if mcnemar(lost, gained) < alpha else 0)
    return WinRow(
        model=model,
        baseline=methods[0],
        treatment=methods[1],
        cells=len(cells),
        wins=signs.count(1),
        ties=signs.count(0),
        losses=signs.count(-1),
        wins_by_test=tested.count(1),
        ties_by_test=tested.count(0),
        losses_by_test=tested.count(-1),
        alpha=alpha,
    )
