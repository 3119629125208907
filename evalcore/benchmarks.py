"""Benchmarks: what is known of them, where their files are, and proof that these are right."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from evalcore.formats import FORMATS, Benchmark, Problem, PublishedFile
from evalcore.row_files import SUFFIXES
from evalcore.yaml_files import as_type, parse_yaml, read_text
from ngramscan.errors import InputError, NgramscanError, RemoteRefused, RemoteUnavailable
from ngramscan.output import write_whole
from ngramscan.output.layout import Layout, cell, print_columns

if TYPE_CHECKING:
    from rich.console import Console

GENERAL = "any-benchmark.yaml"
"""The file of the prompts that all benchmarks share, and that one's own questions have."""


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


@dataclass(frozen=True, slots=True)
class CheckRow:
    """What a copy of a benchmark holds."""

    dataset: str
    problems: int
    subtasks: int
    sha256: str
    fault: str | None
    """What is wrong with it; one row per fault, None where nothing is."""


class AbsentError(InputError):
    """There is no copy of the benchmark at the place, as against one that can't be read."""


@cache
def benchmarks() -> dict[str, Benchmark]:
    """Return all benchmarks by their names, in alphabetical order."""
    found = {}
    for file in (resources.files("evalcore") / "benchmarks").iterdir():
        for name, fields in parse_yaml(read_text(file), file.name).get("benchmarks", {}).items():
            entry = {**fields, "name": name, "prompts": file.name}
            found[name] = as_type(entry, Benchmark, f"{file.name}: {name}")
    return dict(sorted(found.items()))


def find_benchmark(
    name: str | None,
    data: Path | None = None,
    id_field: str = "id",
    question_field: str = "question",
    answer_field: str = "answer",
) -> Benchmark:
    """Return what is known of a benchmark, or what is said of a file of one's own questions.

    Raises
    ------
    InputError
        There is neither, or columns are named for a benchmark that is known.
    """
    columns = {"id": id_field, "question": question_field, "answer": answer_field}
    if known := benchmarks().get(name or ""):
        for each, column in columns.items():
            if column != each:
                problem = f"the columns of {name} are known; leave the option out"
                raise InputError(f"--{each}-field {column}", problem)
        return known
    if data is None or data.suffix.lower() not in SUFFIXES:
        what = f"--dataset {name}: unknown benchmark" if name else "--dataset: missing"
        cure = f"for questions of your own, give --data FILE ({', '.join(SUFFIXES)})"
        raise InputError(what, f"known are {', '.join(benchmarks())}; {cure}")
    if name is None and data.stem in benchmarks():
        problem = "it bears the name of a benchmark; say which it is with --dataset NAME"
        raise InputError(str(data), problem)
    return Benchmark(name=name or data.stem, prompts=GENERAL, format="questions", columns=columns)


def describe_datasets() -> list[DatasetRow]:
    """List all benchmarks."""
    return [
        DatasetRow(
            name=each.name,
            problems=each.sizes[0],
            file=each.files[0].name,
            licence=each.licence,
            source=each.source,
            url=_url(each, each.files[0]),
            sha256=each.files[0].sha256,
            note=each.note,
        )
        for each in benchmarks().values()
    ]


# Loading


def load_dataset(benchmark: str | Benchmark, path: Path | None) -> Dataset:
    """Load a benchmark and prove that it is whole.

    Parameters
    ----------
    benchmark : str or Benchmark
        What is known of it, or its name.
    path : Path or None
        Its file, a folder that holds it under its published name, or a folder of such folders.
        None: the fetched copy.

    Raises
    ------
    AbsentError
        It is not there.
    InputError
        It is not the benchmark: a wrong number of problems, an id that stands twice, a column that
        is missing or of a wrong type.
    """
    if isinstance(benchmark, str):
        benchmark = find_benchmark(benchmark, path)
    place, paths = str(path or benchmark.name), _find(benchmark, path)
    sha256 = hashlib.sha256(b"".join(map(_content, paths))).hexdigest()
    problems, faults = FORMATS[benchmark.format](paths, benchmark)
    for name, count in Counter(each.id for each in problems).items():
        if count > 1:
            raise InputError(place, f"id {name} stands there {count} times")
    sizes, first = benchmark.sizes or (len(problems),), benchmark.first_version
    if len(problems) not in sizes or not problems:
        expected = " or ".join(map(str, benchmark.sizes or ["some"]))
        raise InputError(place, f"{len(problems)} problems; expected {expected}")
    published = benchmark.files[0].sha256 if len(benchmark.files) and not benchmark.is_folder else None
    if first and sha256 == first.sha256:
        faults.append("this is the first version, which its authors call deprecated")
    elif published not in (None, sha256):
        faults.append(f"not the published file: its SHA-256 is {sha256}")
    if len(problems) != sizes[-1]:
        faults.append(f"{len(problems)} problems, all distinct; the paper has {sizes[-1]}")
    return Dataset(benchmark.name, tuple(problems), sha256, tuple(faults))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), (error.strerror or str(error)).lower()) from error


def _find(benchmark: Benchmark, path: Path | None) -> list[Path]:
    """Return the file that is the benchmark, or all of its files."""
    if path and path.is_file() and not benchmark.is_folder:
        return [path]
    names = [each.name for each in benchmark.files]
    if not benchmark.is_folder:
        names = [*names[:1], *benchmark.other_names]
    for folder in [path, path / benchmark.folder] if path else [_cache(benchmark)]:
        there = [folder / name for name in names if (folder / name).is_file()]
        if there and not benchmark.is_folder:
            return there[:1]
        if len(there) == len(names):
            return there
        if there:
            absent = [name for name in names if folder / name not in there]
            problem = f"{len(absent)} of {len(names)} files are missing"
            raise InputError(str(folder), f"{problem}, the first is {absent[0]}")
    if path is None:
        cure = f"run `evalcore datasets fetch {benchmark.name}`, or give a copy with --data PATH"
        raise AbsentError(f"dataset {benchmark.name}", f"not fetched yet; {cure}")
    shown = names[:1] if benchmark.is_folder else names
    problem = f"no {' or '.join(shown)} in it" if path.exists() else "no such file or folder"
    raise AbsentError(str(path), problem)


def _cache(benchmark: Benchmark) -> Path:
    return Path(platformdirs.user_cache_dir("ngramscan")) / "datasets" / benchmark.folder


def check_each(names: Sequence[str], data: Path | None) -> tuple[list[CheckRow], list[str]]:
    """Read copies of benchmarks: those named, or all that are there; what can't be read is second."""
    rows: list[CheckRow] = []
    failures: list[str] = []
    for name in names or benchmarks():
        try:
            dataset = load_dataset(name, data)
        except NgramscanError as error:
            if names or not isinstance(error, AbsentError):
                failures.append(str(error))
            continue
        subtasks = len({problem.subtask for problem in dataset.problems})
        for fault in dataset.faults or (None,):
            rows.append(CheckRow(name, len(dataset), subtasks, dataset.sha256, fault))
    if not rows and not failures:
        where = str(data) if data else "the cache"
        failures.append(f"{where}: no benchmark there; fetch one or name a copy with --data")
    return rows, failures


# Fetching


def fetch_each(names: Sequence[str]) -> Iterator[tuple[Path, list[str]]]:
    """Fetch benchmarks into the cache; what is there already is checked, not asked for again.

    Yields
    ------
    path : Path
        The file, or the folder where the benchmark is a folder; what `load_dataset` takes.
    notices : list of str
        One sentence for each file that can't be checked, because its hash is not known.

    Raises
    ------
    InputError
        A name is unknown, a file is not the one that was published, or the disk refuses it.
    RemoteRefused
        The file is not where it was.
    RemoteUnavailable
        The service can't be reached or is in trouble.
    """
    for benchmark in [find_benchmark(name) for name in names]:
        notices = []
        for file in benchmark.files:
            place = _cache(benchmark) / file.name
            sha256 = _fetch(_url(benchmark, file), file, place)
            if file.sha256 is None:
                notices.append(f"not pinned: {place} has SHA-256 {sha256}")
        folder = _cache(benchmark)
        yield folder if benchmark.is_folder else folder / benchmark.files[0].name, notices


def _url(benchmark: Benchmark, file: PublishedFile) -> str:
    return file.url or f"{benchmark.url}/{file.name}"


def _fetch(url: str, file: PublishedFile, place: Path) -> str:
    """Fetch one file unless it is there, and return its SHA-256."""
    import httpx

    if place.is_file():
        sha256 = hashlib.sha256(_content(place)).hexdigest()
        if file.sha256 in (None, sha256):
            return sha256
    try:
        answer = httpx.get(url, timeout=60.0, follow_redirects=True)
    except httpx.HTTPError as error:
        raise RemoteUnavailable(f"{url}: {type(error).__name__} while it was fetched") from error
    if not answer.is_success:
        may_pass = answer.status_code == 429 or answer.status_code >= 500
        kind = RemoteUnavailable if may_pass else RemoteRefused
        raise kind(f"{url}: HTTP status {answer.status_code}")
    sha256 = hashlib.sha256(answer.content).hexdigest()
    if file.sha256 not in (None, sha256):
        raise InputError(url, f"its SHA-256 is {sha256}; expected {file.sha256}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(place), (error.strerror or str(error)).lower()) from error
    write_whole(place, lambda new: new.write_bytes(answer.content))
    return sha256


# What is told of them


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
    names = ("dataset", "fault", "problems", "subtasks")
    columns = {name: [cell(getattr(row, name)) for row in rows] for name in names}
    print_columns(console, columns, Layout(2, frozenset({"fault"})))
