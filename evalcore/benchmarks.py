"""Benchmarks: where their files are, how to read them, and whether a copy is the published one."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from itertools import chain, product
from pathlib import Path
from typing import Annotated

import platformdirs

from evalcore.formats import FORMATS, Benchmark, Problem
from evalcore.options import BenchmarkOptions, FileOrFolder
from ngramscan.errors import InputError, NgramscanError, RemoteError, RemoteUnavailable, needs_extra
from ngramscan.messages import OptionUse
from ngramscan.reading.row_files import has_rows
from ngramscan.reading.streams import read_raw, unpacked_path
from ngramscan.reading.yaml_files import as_type, input_errors, parse_yaml, read_text
from ngramscan.reporting import listed, write_whole
from ngramscan.reporting.columns import to_columns
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.layout import Layout, cell, print_columns
from ngramscan.reporting.options import suggestion


@dataclass(frozen=True, slots=True)
class Dataset:
    """All problems of one benchmark, in the order of its file."""

    name: str
    problems: tuple[Problem, ...]
    sha256: str
    """SHA-256 of the file, or of all its files in order."""
    faults: tuple[str, ...] = ()
    """Known faults of the file, and differences from the paper's edition; one sentence each."""

    def clusters(self, column: str | None) -> dict[str, str]:
        """Return the cluster of each problem, as a column names it; empty if none is given."""
        if column is None:
            return {}
        return {problem.id: problem.cluster(column) for problem in self.problems}


@cache
def _entries() -> dict[str, Benchmark]:
    found = {}
    for file in (resources.files("evalcore") / "benchmarks").iterdir():
        for name, fields in parse_yaml(read_text(file), file.name).get("benchmarks", {}).items():
            entry = {**fields, "name": name, "prompts": file.name}
            found[name] = as_type(entry, Benchmark, f"{file.name}: {name}")
    return found


@cache
def benchmarks() -> dict[str, Benchmark]:
    """Return the shipped benchmarks by their names, in alphabetical order."""
    return {name: benchmark for name, benchmark in sorted(_entries().items()) if benchmark.files}


def find_benchmark(name: str | None, data: str | Path | None = None, *fields: str) -> Benchmark:
    """Return a shipped benchmark, or one for a file of questions with id, question and answer."""
    columns = {"id": "id", "question": "question", "answer": "answer"}
    columns |= zip(columns, fields, strict=False)
    if known := benchmarks().get(name or ""):
        if named := [name for name in columns if columns[name] != name]:
            raise InputError(OptionUse(f"{named[0]}_field"), f"the columns of {name} are fixed")
        return known
    if data is None or not has_rows(data):
        meant = suggestion(name or "", benchmarks()) or f"; known: {', '.join(benchmarks())}"
        problem = "unknown benchmark" if name else "missing"
        cure = "for your own questions give " + OptionUse("data", placeholder="FILE")
        formats = f" (JSONL, CSV, JSON or Parquet){meant}"
        raise InputError(OptionUse("dataset", name or None), f"{problem}; " + cure + formats)
    stem = unpacked_path(data).stem
    if name is None and stem in benchmarks():
        cure = "if it is a copy of the benchmark, add " + OptionUse("dataset", stem)
        raise InputError(data, cure)
    return replace(_entries()["questions"], name=name or stem, columns=columns)


def chosen_benchmark(asked: BenchmarkOptions) -> Benchmark:
    """Return the benchmark that options choose."""
    columns = asked.id_field, asked.question_field, asked.answer_field
    return find_benchmark(asked.dataset, asked.data, *columns)


def _refuse_unknown_format(benchmark: Benchmark) -> None:
    if benchmark.format not in FORMATS:
        problem = f"expected one of {', '.join(FORMATS)}{suggestion(benchmark.format, FORMATS)}"
        raise InputError(f"{benchmark.prompts}: format {benchmark.format}", problem)


def load_dataset(benchmark: Benchmark, data: str | Path | None) -> Dataset:
    """Load a benchmark from its file, its folder, a folder of such folders, or the cache."""
    path = Path(data) if data else None
    place, paths = str(path or benchmark.name), _find(benchmark, path)
    if path is None and not paths:
        copy = OptionUse("data", placeholder="PATH")
        cure = f"run `evalcore datasets fetch {place}`, or give a copy with " + copy
        raise InputError(OptionUse("dataset", place), "not fetched yet; " + cure)
    if path and not paths:
        named = " or ".join((*list(benchmark.files)[:1], *benchmark.other_names))
        raise InputError(
            place, f"contains no {named}" if path.exists() else "no such file or folder"
        )
    sha256 = _sha256(*paths)
    _refuse_unknown_format(benchmark)
    problems, faults = FORMATS[benchmark.format](benchmark, *paths)
    [(often, times)] = Counter(problem.id for problem in problems).most_common(1) or [("", 0)]
    if times > 1:
        raise InputError(place, f"id {often} occurs more than once")
    sizes = benchmark.sizes or (len(problems),)
    if len(problems) not in sizes or not problems:
        expected = " or ".join(map(str, benchmark.sizes)) or "one or more"
        raise InputError(place, f"{len(problems)} problems; expected {expected}")
    published = None if benchmark.is_folder else next(iter(benchmark.files.values()), None)
    if sha256 in benchmark.first_version.values():
        faults.append("this is the first version, which the authors call deprecated")
    elif published not in (None, sha256):
        faults.append(f"not the published file: its SHA-256 is {sha256}")
    if len(problems) != sizes[-1]:
        faults.append(f"{len(problems)} problems, all distinct; the paper has {sizes[-1]}")
    return Dataset(benchmark.name, tuple(problems), sha256, tuple(faults))


def _sha256(*paths: Path) -> str:
    with input_errors(paths[0]):
        content = chain.from_iterable(read_raw(path) for path in paths)
        return hashlib.sha256(b"".join(content)).hexdigest()


def _find(benchmark: Benchmark, path: Path | None) -> list[Path]:
    """Return the files of a copy; an empty list means that there is no copy."""
    if path and path.is_file() and not benchmark.is_folder:
        return [path]
    names = [*benchmark.files]
    copies = [[name] for name in (*names[:1], *benchmark.other_names)]
    wanted = [names] if benchmark.is_folder else copies
    folders = (path, path / benchmark.folder) if path else (_cache(benchmark),)
    for folder, copy in product(folders, wanted):
        absent = [name for name in copy if not (folder / name).is_file()]
        if not absent:
            return [folder / name for name in copy]
        if len(absent) < len(copy):
            problem = f"{len(absent)} of {len(copy)} files missing: {absent[0]}, …"
            raise InputError(folder, problem)
    return []


def _cache(benchmark: Benchmark) -> Path:
    return Path(platformdirs.user_cache_dir("ngramscan")) / "datasets" / benchmark.folder


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
            if names or _find(benchmark, Path(data) if data else None):
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
            place = _cache(benchmark) / name
            sha256 = _fetch(benchmark.url.format(name=name), published, place)
            if published is None:
                notices.append(f"not pinned: {place} has SHA-256 {sha256}")
        file = "" if benchmark.is_folder else next(iter(benchmark.files))
        rows.append(FetchRow(benchmark.name, str(_cache(benchmark) / file)))
    paths = "\n".join(row.path for row in rows)
    return Result(
        rows, FetchRow, notices, print_table=lambda console: console.out(paths, highlight=False)
    )


def _fetch(url: str, published: str | None, place: Path) -> str:
    """Fetch one file unless it is there, and return its SHA-256."""
    if place.is_file() and published in (None, sha256 := _sha256(place)):
        return sha256
    with needs_extra(url, "eval"):
        import requests
    try:
        answer = requests.get(url, timeout=60)
    except requests.RequestException as error:
        raise RemoteUnavailable(f"{url}: can't be fetched ({type(error).__name__})") from error
    if not answer.ok:
        raise RemoteError(f"{url}: HTTP status {answer.status_code}")
    sha256 = hashlib.sha256(answer.content).hexdigest()
    if published not in (None, sha256):
        raise InputError(url, f"its SHA-256 is {sha256}; expected {published}")
    with input_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, lambda new: new.write_bytes(answer.content))
    return sha256
