"""A benchmark as values: problems with what a prompt may name and what a scorer needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. What stands in `gold` and `details` must reach no prompt and no sandbox."""

    id: str
    text: str
    """The statement, with its tables or context, as the benchmark's authors put it to models."""
    gold: str | None
    """The reference answer in the notation of the benchmark; None where there is none (proofs)."""
    subtask: str = ""
    """What macro averages are taken over: a topic, a subset."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What templates may name besides `{problem}`."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What scorers and judges need: unit, tolerance, points, guidelines, a reference program."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """All problems of one benchmark, in the order of its file."""

    name: str
    problems: tuple[Problem, ...]
    sha256: str
    """Of the file, or of its files in order, in hexadecimal."""
    faults: tuple[str, ...] = ()
    """What is known to be wrong upstream, or differs from the paper; one sentence each."""

    def __len__(self) -> int:
        return len(self.problems)
