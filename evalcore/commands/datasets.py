"""`evalcore datasets`: check copies of benchmarks, fetch them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalcore.benchmarks import (
    AbsentError,
    benchmarks,
    describe_datasets,
    fetch_dataset,
    load_dataset,
)
from ngramscan.errors import InputError, NgramscanError
from ngramscan.output.layout import Layout, cell, print_columns

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class CheckRow:
    """What a copy of a benchmark holds."""

    dataset: str
    problems: int
    subtasks: int
    sha256: str
    fault: str | None
    """What is wrong with it; one row per fault, None where nothing is."""


def print_benchmarks(console: Console) -> None:
    """Print what is known of each benchmark, without addresses and hashes."""
    rows = describe_datasets()
    columns = {
        "name": [row.name for row in rows],
        "licence": [row.licence for row in rows],
        "source": [row.source.removeprefix("https://") for row in rows],
        "pinned": ["no" if row.sha256 is None else "yes" for row in rows],
        "problems": [cell(row.problems) for row in rows],
    }
    print_columns(console, columns, Layout(4, frozenset({"source"}), ("source", "licence")))


def print_checks(console: Console, rows: Sequence[CheckRow]) -> None:
    """Print what copies hold, without their hashes."""
    columns = {
        "dataset": [row.dataset for row in rows],
        "fault": [cell(row.fault) for row in rows],
        "problems": [cell(row.problems) for row in rows],
        "subtasks": [cell(row.subtasks) for row in rows],
    }
    print_columns(console, columns, Layout(2, frozenset({"fault"})))


def check_each(names: Sequence[str], data: Path | None) -> tuple[list[CheckRow], list[str]]:
    """Read copies of benchmarks.

    Parameters
    ----------
    names : sequence of str
        Which; none: all that are there.
    data : Path or None
        A copy, or a folder of them; None: those that were fetched.

    Returns
    -------
    rows : list of CheckRow
        What they hold, and what is known to be wrong.
    failures : list of str
        Why others can't be read; what was not named and is not there is passed over.
    """
    rows: list[CheckRow] = []
    failures: list[str] = []
    for name in names or benchmarks():
        try:
            rows += _check(name, data)
        except AbsentError as error:
            if names:
                failures.append(str(error))
        except NgramscanError as error:
            failures.append(str(error))
    if not rows and not failures:
        where = str(data) if data else "the cache"
        failures.append(f"{where}: no benchmark there; fetch one or name a copy with --data")
    return rows, failures


def _check(name: str, data: Path | None) -> Iterator[CheckRow]:
    dataset = load_dataset(name, data)
    subtasks = len({problem.subtask for problem in dataset.problems})
    for fault in dataset.faults or (None,):
        yield CheckRow(name, len(dataset), subtasks, dataset.sha256, fault)


def fetch_each(names: Sequence[str]) -> Iterator[tuple[Path, Sequence[str]]]:
    """Fetch benchmarks; yield where each is, and what is to be known of it."""
    for name in names:
        if name not in benchmarks():
            raise InputError(name, f"no such benchmark; known are {', '.join(benchmarks())}")
    for name in names:
        yield fetch_dataset(name)
