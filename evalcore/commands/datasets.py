"""`evalcore datasets`: list, fetch and check benchmarks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from evalcore.benchmarks import (
    benchmarks,
    cache_folder,
    fetch_file,
    find_benchmark,
    find_copy,
    load_dataset,
)
from evalcore.options import FileOrFolder
from ngramscan.errors import InputError, NgramscanError
from ngramscan.messages import OptionUse
from ngramscan.reporting import listed
from ngramscan.reporting.columns import to_columns
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.layout import Layout, cell, print_columns


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A shipped benchmark."""

    name: str
    problems: int | None
    """Number of problems in the edition that `datasets fetch` gets."""
    file: str
    licence: str
    source: str
    url: str
    sha256: str | None
    """SHA-256 of the published file. None: not pinned."""
    note: str


@command
def datasets_list() -> Result[DatasetRow]:
    """List the shipped benchmarks, their sources and their licences.

    Addresses, hashes and notes are in the other formats.

    Returns
    -------
    DataFrame
        One row per benchmark.

    Examples
    --------
    $ evalcore datasets list
    """
    rows = []
    for benchmark in benchmarks().values():
        [(file, sha256), *_] = benchmark.files.items()
        row = DatasetRow(
            name=benchmark.name,
            problems=next(iter(benchmark.sizes), None),
            file=file,
            licence=benchmark.licence,
            source=benchmark.source,
            url=benchmark.url.format(name=file),
            sha256=sha256,
            note=benchmark.note,
        )
        rows.append(row)
    columns = to_columns(rows, ("name", "licence", "source"))
    columns["pinned"] = [cell(row.sha256 is not None) for row in rows]
    columns |= to_columns(rows, ("problems",))
    layout = Layout(4, optional=("source", "licence"))
    table = partial(print_columns, columns=columns, layout=layout)
    return Result(rows, DatasetRow, print_table=table)


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A copy of a benchmark, and a fault of it."""

    dataset: str
    problems: int
    subtasks: int
    sha256: str
    fault: str | None
    """One fault per row; None if the copy has none."""


@command
def datasets_check(
    names: Annotated[str | Sequence[str], Option(metavar="[NAME]...")] = (),
    *,
    data: FileOrFolder = None,
) -> Result[CheckRow]:
    """Read copies of benchmarks and report their faults.

    Parameters
    ----------
    names : str or sequence of str
        Names of benchmarks, by default all that are there.
    data : str or Path, optional
        A copy, or a folder of copies; by default the copies that were fetched.

    Returns
    -------
    DataFrame
        One row per benchmark, or per fault of one; an IncompleteError has those that were read.

    Examples
    --------
    $ evalcore datasets check financemath --data validation.json
    """
    rows, errors = list[CheckRow](), list[str]()
    for name in listed(names) or benchmarks():
        try:
            benchmark = find_benchmark(name, data)
            if names or find_copy(benchmark, Path(data) if data else None):
                copy = load_dataset(benchmark, data)
                subtasks = len({problem.subtask for problem in copy.problems})
                rows += [
                    CheckRow(
                        dataset=copy.name,
                        problems=len(copy.problems),
                        subtasks=subtasks,
                        sha256=copy.sha256,
                        fault=fault,
                    )
                    for fault in copy.faults or (None,)
                ]
        except NgramscanError as error:
            errors.append(str(error))
    if not rows:
        if errors:
            raise InputError(*"; ".join(errors).split(": ", 1))
        cure = "see `evalcore datasets fetch`, or name a copy with " + OptionUse("data")
        raise InputError(data or "the cache", "no benchmark there; " + cure)
    columns = to_columns(rows, ("dataset", "fault", "problems", "subtasks"))
    columns["fault"] = [row.fault or "" for row in rows]
    table = partial(print_columns, columns=columns, layout=Layout(2, frozenset({"fault"})))
    return Result(rows, CheckRow, failures=errors, print_table=table)


@dataclass(frozen=True, slots=True)
class FetchRow:
    """A fetched benchmark."""

    dataset: str
    path: str
    """Its file, or the folder with its files."""


@command
def datasets_fetch(
    names: Annotated[str | Sequence[str], Option(metavar="NAME...")],
) -> Result[FetchRow]:
    """Download benchmarks from the projects that publish them, and check or print their SHA-256.

    Parameters
    ----------
    names : str or sequence of str
        Names of benchmarks; see `evalcore datasets list`.

    Returns
    -------
    DataFrame
        One row per benchmark; a RemoteError names the file that can't be fetched.

    Examples
    --------
    $ evalcore datasets fetch financemath bbh-word-sorting
    """
    rows, notices = [], []
    for benchmark in [find_benchmark(name) for name in listed(names)]:
        for name, published in benchmark.files.items():
            place = cache_folder(benchmark) / name
            sha256 = fetch_file(benchmark.url.format(name=name), published, place)
            if published is None:
                notices.append(f"not pinned: {place} has SHA-256 {sha256}")
        file = "" if benchmark.is_folder else next(iter(benchmark.files))
        rows.append(FetchRow(benchmark.name, str(cache_folder(benchmark) / file)))
    paths = "\n".join(row.path for row in rows)
    return Result(
        rows, FetchRow, notices, print_table=lambda console: console.out(paths, highlight=False)
    )
