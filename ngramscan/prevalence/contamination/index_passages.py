"""Passages of indexes that aren't read."""

from __future__ import annotations

from ngramscan.indexes.base import FoundPassages, Index, SoughtTexts


def find_passages(sought: SoughtTexts, index: Index, seed: int) -> FoundPassages:
    """Return the passages of an index that is not read."""
    raise NotImplementedError
