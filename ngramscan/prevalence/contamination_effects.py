"""Rows of entries × scores → whether models do better on what a corpus contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ngramscan.prevalence.contaminate import EntryRow


@dataclass(frozen=True, slots=True)
class GivenScore:
    """One row of scores as `evalcore score` writes it; other columns are left out."""

    dataset: str
    model: str
    method: str
    id: str
    rule: str
    value: float | None
    status: str = ""
    epoch: int | None = None
    run: str | None = None


@dataclass(frozen=True, slots=True)
class EffectRow:
    """The accuracy of a model with a method on entries by verdict; shares, not percent."""

    index: str
    dataset: str
    model: str
    method: str
    score_rule: str
    n: int
    """Entries with a verdict and a known score."""
    accuracy: float | None
    n_clean: int
    accuracy_clean: float | None
    """The score that remains on the clean part."""
    accuracy_clean_low: float | None
    accuracy_clean_high: float | None
    n_suspicious: int
    accuracy_suspicious: float | None
    accuracy_suspicious_low: float | None
    accuracy_suspicious_high: float | None
    n_dirty: int
    accuracy_dirty: float | None
    accuracy_dirty_low: float | None
    accuracy_dirty_high: float | None
    difference: float | None
    """Dirty minus clean."""
    difference_low: float | None
    difference_high: float | None
    level: float
    p: float | None
    test: str
    detectable: float | None
    """The least true difference that would have been found in 80 of 100 such comparisons."""
    seed: int | None
    """Of the permutations; None: the p-value is exact."""
    n_without_verdict: int
    """Scored entries that have no verdict, or are not in the benchmark file."""
    n_without_score: int
    """Entries with a verdict whose score is not known."""
    note: str = ""


def make_effects(
    rows: Sequence[EntryRow],
    scores: Sequence[GivenScore],
    seed: int = 1,
    draws: int = 10_000,
    level: float = 0.95,
) -> list[EffectRow]:
    """Compare accuracies on dirty and on clean entries, per index, dataset, model and method.

    Answers to one problem are averaged first. No answer counts as wrong; where nobody knows, the
    answer is left out. An InputError: no id of the scores is that of an entry, or there are
    several rules or runs of one method.
    """
    raise NotImplementedError
