"""Benchmarks: where they come from, what is known of them, and their problems."""

from __future__ import annotations

from dataclasses import dataclass

from evalcore.datasets.base import Dataset, Problem
from evalcore.datasets.catalog import BENCHMARKS
from evalcore.datasets.fetching import fetch_dataset
from evalcore.datasets.loading import AbsentError, load_dataset

DATASETS = tuple(BENCHMARKS)
"""The names of all benchmarks, in the order in which they are listed."""

__all__ = [
    "DATASETS",
    "AbsentError",
    "Dataset",
    "DatasetRow",
    "Problem",
    "describe_datasets",
    "fetch_dataset",
    "load_dataset",
]


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """What is known of one benchmark."""

    name: str
    problems: int
    """In the edition that is fetched."""
    file: str
    """The name of its file; of the first, where there are several."""
    licence: str
    source: str
    """The project that publishes it."""
    url: str
    """From which the file is fetched."""
    sha256: str | None
    """Of the file; None: not pinned, since no copy was at hand."""
    note: str


def describe_datasets() -> list[DatasetRow]:
    """List all benchmarks."""
    return [
        DatasetRow(
            name=each.name,
            problems=each.sizes[0],
            file=each.files[0].name,
            licence=each.licence,
            source=each.source,
            url=each.files[0].url,
            sha256=each.files[0].sha256,
            note=each.note,
        )
        for each in BENCHMARKS.values()
    ]
