"""Benchmarks: what their YAML says of them, where their files are, and proof that these are right.

A benchmark is an entry under `benchmarks` in a file of the folder of this name; the same file has
the prompts that are put to models.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import platformdirs

from evalcore.formats import (
    FOLDER_FORMATS,
    FORMATS,
    Problem,
    Published,
    read_content,
    sha256_of,
)
from evalcore.yaml_files import parse_yaml
from ngramscan.errors import (
    InputError,
    NgramscanError,
    RemoteError,
    RemoteRefused,
    RemoteUnavailable,
)
from ngramscan.output.layout import Layout, cell, print_columns

if TYPE_CHECKING:
    import requests
    from rich.console import Console

_TIMEOUT_S = 60.0

Answers = Literal["program", "text", "either"]
"""What answers to a prompting method: its program alone, its text, or the text where there is no
program that gives a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """One file of a benchmark."""

    name: str
    """Under which it is kept, relative to the folder of its project."""
    url: str = ""
    """Empty: under the address of the benchmark."""
    sha256: str | None = None
    """In hexadecimal; None: nobody could tell it from a copy, so it is not pinned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What is known of a benchmark before any file of it is read."""

    name: str
    prompts: str
    """The file that it and its prompts stand in."""
    format: str
    """A key of `FORMATS` or `FOLDER_FORMATS`."""
    folder: str
    """Of its project, in the cache and in a folder of copies."""
    url: str
    files: tuple[PublishedFile, ...]
    """What is fetched; the first is the one that is read, unless all are one benchmark."""
    sizes: tuple[int, ...]
    """The numbers of problems that its editions have; the paper's comes last."""
    licence: str
    source: str
    subset: str = ""
    other_names: tuple[str, ...] = ()
    """Of copies of the first file in other formats or editions."""
    first_version: PublishedFile | None = None
    """One that its authors have replaced, which is recognised."""
    note: str = ""
    rules: tuple[str, ...] = ()
    """How answers are compared: names in `rules.RULES`, the usual one first. None: it is judged."""
    extraction: tuple[str, ...] = ()
    """How an answer is found in a text: names in `extraction.RULES`, tried in this order."""
    programs: Mapping[Answers, str] = field(
        default_factory=lambda: {"program": "fenced/1", "either": "fenced/1"}
    )
    """How a program is found, by what answers to a method: names in `extraction.PROGRAM_RULES`.
    Where there is none, outputs are read as texts."""

    @property
    def is_folder(self) -> bool:
        """Whether all of its files are one benchmark."""
        return self.format in FOLDER_FORMATS

    def url_of(self, file: PublishedFile) -> str:
        """Return the address of one of its files."""
        return file.url or f"{self.url}/{file.name}"

    @property
    def cache(self) -> Path:
        """Where its files are kept once they are fetched."""
        return Path(platformdirs.user_cache_dir("ngramscan")) / "datasets" / self.folder


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
        content = parse_yaml(file.read_text(encoding="utf-8"), file.name)
        for name, fields in content.get("benchmarks", {}).items():
            known = {"name": name, "prompts": file.name}
            found[name] = msgspec.convert(fields | known, Benchmark)
    return dict(sorted(found.items()))


def find_benchmark(name: str) -> Benchmark:
    """Return what is known of a benchmark, or raise InputError with the names that there are."""
    if name not in benchmarks():
        raise InputError(f"dataset {name}", f"unknown; known are {', '.join(benchmarks())}")
    return benchmarks()[name]


def describe_datasets() -> list[DatasetRow]:
    """List all benchmarks."""
    return [
        DatasetRow(
            name=each.name,
            problems=each.sizes[0],
            file=each.files[0].name,
            licence=each.licence,
            source=each.source,
            url=each.url_of(each.files[0]),
            sha256=each.files[0].sha256,
            note=each.note,
        )
        for each in benchmarks().values()
    ]


# Loading


def load_dataset(name: str, path: Path | None) -> Dataset:
    """Load a benchmark and prove that it is whole.

    Parameters
    ----------
    name : str
        A benchmark.
    path : Path or None
        Its file, a folder that holds it under its published name, or a folder of such folders.
        None: the fetched copy.

    Returns
    -------
    Dataset
        All problems in the order of the file. What is known to be wrong with it, or differs from
        the published file, is in `faults`.

    Raises
    ------
    AbsentError
        It is not there.
    InputError
        It is not the benchmark: a wrong number of problems, an id that stands twice, a column that
        is missing or of a wrong type.
    """
    benchmark = find_benchmark(name)
    place = str(path or name)
    if benchmark.is_folder:
        files = _find_files(benchmark, path)
        problems, faults = FOLDER_FORMATS[benchmark.format](files)
        sha256 = sha256_of(b"".join(content for _, content in files))
    else:
        file = _find_file(benchmark, path)
        content = read_content(file)
        sha256 = sha256_of(content)
        first = benchmark.first_version or PublishedFile(name="")
        published = Published(file, benchmark.subset, first.name, first.sha256)
        problems, faults = FORMATS[benchmark.format](content, published)
        faults += _edition_faults(benchmark, sha256)
    times = Counter(each.id for each in problems)
    if twice := [name for name, count in times.items() if count > 1]:
        raise InputError(place, f"{twice[0]} stands there more than once")
    if len(problems) not in benchmark.sizes:
        expected = " or ".join(map(str, benchmark.sizes))
        raise InputError(place, f"{len(problems)} problems; expected {expected}")
    if len(problems) != benchmark.sizes[-1]:
        faults.append(
            f"{len(problems)} problems, all distinct; the paper has {benchmark.sizes[-1]}"
        )
    return Dataset(name, tuple(problems), sha256, tuple(faults))


def _edition_faults(benchmark: Benchmark, sha256: str) -> list[str]:
    """Tell a file that is not the one that is fetched; where no hash is known, nothing can be."""
    published, first = benchmark.files[0].sha256, benchmark.first_version
    if first is not None and sha256 == first.sha256:
        return ["this is the first version, which its authors call deprecated"]
    if published is not None and sha256 != published:
        return [f"not the published file: its SHA-256 is {sha256}"]
    return []


def _folders(benchmark: Benchmark, path: Path | None) -> Sequence[Path]:
    return [benchmark.cache] if path is None else [path, path / benchmark.folder]


def _find_file(benchmark: Benchmark, path: Path | None) -> Path:
    if path is not None and path.is_file():
        return path
    names = (benchmark.files[0].name, *benchmark.other_names)
    for folder in _folders(benchmark, path):
        for name in names:
            if (folder / name).is_file():
                return folder / name
    raise _absent(benchmark, path, names)


def _find_files(benchmark: Benchmark, path: Path | None) -> list[tuple[str, bytes]]:
    for folder in _folders(benchmark, path):
        missing = [each.name for each in benchmark.files if not (folder / each.name).is_file()]
        if len(missing) == len(benchmark.files):
            continue
        if missing:
            problem = f"{len(missing)} of {len(benchmark.files)} files are missing"
            raise InputError(str(folder), f"{problem}, the first is {missing[0]}")
        return [(each.name, read_content(folder / each.name)) for each in benchmark.files]
    raise _absent(benchmark, path, (benchmark.files[0].name,))


def _absent(benchmark: Benchmark, path: Path | None, names: Sequence[str]) -> AbsentError:
    if path is None:
        cure = f"run `evalcore datasets fetch {benchmark.name}`, or give a copy with --data PATH"
        return AbsentError(f"dataset {benchmark.name}", f"not fetched yet; {cure}")
    if not path.exists():
        return AbsentError(str(path), "no such file or folder")
    return AbsentError(str(path), f"no {' or '.join(names)} in it")


# Fetching


def fetch_dataset(name: str) -> tuple[Path, tuple[str, ...]]:
    """Fetch a benchmark into the cache; what is there already is checked, not asked for again.

    Returns
    -------
    path : Path
        The file, or the folder where the benchmark is a folder; what `load_dataset` takes.
    notices : tuple of str
        One sentence for each file that can't be checked, because its hash is not known.

    Raises
    ------
    InputError
        A file is not the one that was published, the disk refuses it, or pooch is not installed.
    RemoteRefused
        The file is not where it was.
    RemoteUnavailable
        The service can't be reached or is in trouble.
    """
    benchmark = find_benchmark(name)
    paths = [_fetch(benchmark.url_of(file), file, benchmark.cache) for file in benchmark.files]
    notices = tuple(
        f"not pinned: {path} has SHA-256 {sha256_of(read_content(path))}"
        for path, file in zip(paths, benchmark.files, strict=True)
        if file.sha256 is None
    )
    return (benchmark.cache if benchmark.is_folder else paths[0]), notices


def _fetch(url: str, file: PublishedFile, folder: Path) -> Path:
    """Fetch one file; pooch moves it to its place only when it is whole and its hash is right."""
    try:
        import pooch
        import requests
    except ImportError as error:
        raise InputError("pooch", "not installed; pip install 'ngramscan[eval]'") from error
    pooch.get_logger().setLevel(logging.WARNING)
    place = folder / file.name
    known = f"sha256:{file.sha256}" if file.sha256 else None
    download = pooch.HTTPDownloader(timeout=_TIMEOUT_S)
    try:
        pooch.retrieve(url, known, place.name, place.parent, downloader=download)
    except requests.RequestException as error:
        raise _translated(error, url) from error
    except OSError as error:
        raise InputError(str(place), (error.strerror or str(error)).lower()) from error
    except ValueError as error:  # the only way in which pooch tells a wrong hash
        found = re.search(r"but got \"?(?:sha256:)?([0-9a-f]{64})", str(error))
        got = found[1] if found else "another"
        raise InputError(url, f"its SHA-256 is {got}; expected {file.sha256}") from error
    return place


def _translated(error: requests.RequestException, url: str) -> RemoteError:
    status = error.response.status_code if error.response is not None else None
    if status is None:
        return RemoteUnavailable(f"{url}: {type(error).__name__} while it was fetched")
    message = f"{url}: HTTP status {status}"
    return RemoteUnavailable(message) if status == 429 or status >= 500 else RemoteRefused(message)


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
