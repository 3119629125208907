"""Benchmarks: what is known of them, where their files are, and proof that these are right."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from evalcore.formats import FORMATS, Benchmark, Problem
from ngramscan.errors import InputError, NgramscanError, RemoteRefused, RemoteUnavailable
from ngramscan.output import write_whole
from ngramscan.output.layout import Layout, cell, print_columns
from ngramscan.output.row_files import SUFFIXES
from ngramscan.yaml_files import as_type, input_errors, parse_yaml, read_text

if TYPE_CHECKING:
    from rich.console import Console

GENERAL = "any-benchmark.yaml"
"""The file of the prompts that all benchmarks share."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """All problems of one benchmark, in the order of its file."""

    name: str
    problems: tuple[Problem, ...]
    sha256: str
    """SHA-256 of the file, or of all its files in order."""
    faults: tuple[str, ...] = ()
    """What is known to be wrong upstream, or differs from the paper; one sentence each."""

    def __len__(self) -> int:
        return len(self.problems)


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """What is known of one benchmark."""

    name: str
    problems: int | None
    """In the edition that is fetched."""
    file: str
    """The name of its file; of the first, where there are several."""
    licence: str
    source: str
    """The project that publishes it."""
    url: str
    """Where the file is fetched from."""
    sha256: str | None
    """SHA-256 of the file; None: not pinned, since no copy was at hand."""
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
def _entries() -> dict[str, Benchmark]:
    """Return what all YAML files say, also `questions`: questions of one's own."""
    found = {}
    for file in (resources.files("evalcore") / "benchmarks").iterdir():
        for name, fields in parse_yaml(read_text(file), file.name).get("benchmarks", {}).items():
            entry = {**fields, "name": name, "prompts": file.name}
            found[name] = as_type(entry, Benchmark, f"{file.name}: {name}")
    return found


@cache
def benchmarks() -> dict[str, Benchmark]:
    """Return all benchmarks that have files, by their names, in alphabetical order."""
    return {name: one for name, one in sorted(_entries().items()) if one.files}


def find_benchmark(
    name: str | None,
    data: Path | None = None,
    id_field: str = "id",
    question_field: str = "question",
    answer_field: str = "answer",
) -> Benchmark:
    """Return what is known of a benchmark, or what is said of a file of one's own questions."""
    columns = {"id": id_field, "question": question_field, "answer": answer_field}
    if known := benchmarks().get(name or ""):
        if named := [each for each in columns if columns[each] != each]:
            problem = f"the columns of {name} are known; leave the option out"
            raise InputError(f"--{named[0]}-field", problem)
        return known
    if data is None or data.suffix.lower() not in SUFFIXES:
        what, known_are = "unknown benchmark" if name else "missing", ", ".join(benchmarks())
        cure = f"questions of your own need only --data FILE ({', '.join(SUFFIXES)})"
        place = f"--dataset {name}" if name else "--dataset"
        raise InputError(place, f"{what}; known are {known_are}; {cure}")
    if name is None and data.stem in benchmarks():
        raise InputError(str(data), "has the name of a benchmark; say which it is with --dataset")
    return replace(_entries()["questions"], name=name or data.stem, columns=columns)


def describe_datasets() -> list[DatasetRow]:
    """List all benchmarks, each with its first file."""
    return [
        DatasetRow(
            *(one.name, next(iter(one.sizes), None), file, one.licence, one.source),
            *(one.url.format(name=file), sha256, one.note),
        )
        for one in benchmarks().values()
        for file, sha256 in list(one.files.items())[:1]
    ]


# Loading


def load_dataset(benchmark: str | Benchmark, path: Path | None) -> Dataset:
    """Load a benchmark and prove that it is whole.

    Its place is its file, the folder of the file, or a folder of such; None: the fetched copy.
    """
    benchmark = find_benchmark(benchmark, path) if isinstance(benchmark, str) else benchmark
    place, paths = str(path or benchmark.name), _find(benchmark, path)
    sha256 = _sha256(*paths)
    problems, faults = FORMATS[benchmark.format](benchmark, *paths)
    times = Counter(each.id for each in problems)
    if twice := [name for name in times if times[name] > 1]:
        raise InputError(place, f"id {twice[0]} occurs more than once")
    sizes = benchmark.sizes or (len(problems),)
    if len(problems) not in sizes or not problems:
        expected = " or ".join(map(str, benchmark.sizes)) or "one or more"
        raise InputError(place, f"{len(problems)} problems; expected {expected}")
    published = None if benchmark.is_folder else next(iter(benchmark.files.values()), None)
    if sha256 in benchmark.first_version.values():
        faults.append("this is the first version, which its authors call deprecated")
    elif published not in (None, sha256):
        faults.append(f"not the published file: its SHA-256 is {sha256}")
    if len(problems) != sizes[-1]:
        faults.append(f"{len(problems)} problems, all distinct; the paper has {sizes[-1]}")
    return Dataset(benchmark.name, tuple(problems), sha256, tuple(faults))


def _sha256(*paths: Path) -> str:
    content = hashlib.sha256()
    for path in paths:
        with input_errors(path):
            content.update(path.read_bytes())
    return content.hexdigest()


def _find(benchmark: Benchmark, path: Path | None) -> list[Path]:
    """Return the file that is the benchmark, or all of its files."""
    if path and path.is_file() and not benchmark.is_folder:
        return [path]
    names = [*benchmark.files]
    wanted = (
        [names] if benchmark.is_folder else [[one] for one in (*names[:1], *benchmark.other_names)]
    )
    for folder in [path, path / benchmark.folder] if path else [_cache(benchmark)]:
        for each in wanted:
            absent = [name for name in each if not (folder / name).is_file()]
            if not absent:
                return [folder / name for name in each]
            if len(absent) < len(each):
                problem = f"{len(absent)} of {len(each)} files are missing"
                raise InputError(str(folder), f"{problem}, the first is {absent[0]}")
    if path is None:
        cure = f"run `evalcore datasets fetch {benchmark.name}`, or give a copy with --data PATH"
        raise AbsentError(f"dataset {benchmark.name}", f"not fetched yet; {cure}")
    if not path.exists():
        raise AbsentError(str(path), "no such file or folder")
    raise AbsentError(str(path), f"no {' or '.join(each[0] for each in wanted)} in it")


def _cache(benchmark: Benchmark) -> Path:
    return Path(platformdirs.user_cache_dir("ngramscan")) / "datasets" / benchmark.folder


def check_each(names: Sequence[str], data: Path | None) -> tuple[list[CheckRow], list[str]]:
    """Read copies of the named benchmarks, or of all that are there; return failures beside."""
    rows: list[CheckRow] = []
    failures: list[str] = []
    for name in names or benchmarks():
        try:
            one = load_dataset(name, data)
        except NgramscanError as error:
            if names or not isinstance(error, AbsentError):
                failures.append(str(error))
            continue
        subtasks = len({problem.subtask for problem in one.problems})
        for fault in one.faults or (None,):
            rows.append(CheckRow(name, len(one), subtasks, one.sha256, fault))
    if not rows and not failures:
        where = str(data) if data else "the cache"
        failures.append(f"{where}: no benchmark there; fetch one or name a copy with --data")
    return rows, failures


# Fetching


def fetch_each(names: Sequence[str]) -> Iterator[tuple[Path, list[str]]]:
    """Fetch benchmarks into the cache, unless they are there and right.

    Yield what `load_dataset` takes, and a sentence for each file whose hash is not known.
    """
    for benchmark in [find_benchmark(name) for name in names]:
        notices = []
        for name, published in benchmark.files.items():
            place = _cache(benchmark) / name
            sha256 = _fetch(benchmark.url.format(name=name), published, place)
            if published is None:
                notices.append(f"not pinned: {place} has SHA-256 {sha256}")
        file = "" if benchmark.is_folder else next(iter(benchmark.files))
        yield _cache(benchmark) / file, notices


def _fetch(url: str, published: str | None, place: Path) -> str:
    """Fetch one file unless it is there, and return its SHA-256."""
    if place.is_file() and published in (None, sha256 := _sha256(place)):
        return sha256
    try:
        import requests
    except ImportError as error:
        raise InputError("requests", "not installed; pip install 'ngramscan[eval]'") from error
    try:
        answer = requests.get(url, timeout=60)
    except requests.RequestException as error:
        raise RemoteUnavailable(f"{url}: {type(error).__name__} while it was fetched") from error
    if not answer.ok:
        may_pass = answer.status_code == 429 or answer.status_code >= 500
        error_type = RemoteUnavailable if may_pass else RemoteRefused
        raise error_type(f"{url}: HTTP status {answer.status_code}")
    sha256 = hashlib.sha256(answer.content).hexdigest()
    if published not in (None, sha256):
        raise InputError(url, f"its SHA-256 is {sha256}; expected {published}")
    with input_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, lambda new: new.write_bytes(answer.content))
    return sha256


# Tables for the terminal


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
