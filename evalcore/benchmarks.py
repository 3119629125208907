"""Benchmarks: where their files are, how to read them, and whether a copy is the published one."""

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import chain, product
from pathlib import Path

import platformdirs

from evalcore.formats import FORMATS, Benchmark, Problem
from evalcore.options import BenchmarkOptions
from ngramscan.errors import InputError, RemoteError, RemoteUnavailable, needs_extra
from ngramscan.messages import OptionUse
from ngramscan.reading.row_files import has_rows
from ngramscan.reading.streams import read_raw, unpacked_path
from ngramscan.reading.yaml_files import as_type, input_errors, parse_yaml, read_text
from ngramscan.reporting import write_whole
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
    entries = {}
    for file in (resources.files("evalcore") / "benchmarks").iterdir():
        for name, fields in parse_yaml(read_text(file), file.name).get("benchmarks", {}).items():
            entry = {**fields, "name": name, "prompts": file.name}
            entries[name] = as_type(entry, Benchmark, f"{file.name}: {name}")
    return entries


@cache
def benchmarks() -> dict[str, Benchmark]:
    """Return the shipped benchmarks by their names, in alphabetical order."""
    return {name: benchmark for name, benchmark in sorted(_entries().items()) if benchmark.files}


def find_benchmark(name: str | None, data: str | Path | None = None, *fields: str) -> Benchmark:
    """Return a shipped benchmark, or one for a file of questions with id, question and answer."""
    columns = {"id": "id", "question": "question", "answer": "answer"}
    columns |= zip(columns, fields, strict=False)
    if shipped := benchmarks().get(name or ""):
        if named := [name for name in columns if columns[name] != name]:
            raise InputError(OptionUse(f"{named[0]}_field"), f"the columns of {name} are fixed")
        return shipped
    if data is not None and name is None and not Path(data).exists() and not has_rows(data):
        names = f"benchmarks: {', '.join(benchmarks())}{suggestion(str(data), benchmarks())}"
        cure = "name a benchmark with " + OptionUse("dataset", placeholder="NAME")
        cure = cure + ", or give a file of questions (JSONL, CSV, JSON or Parquet); "
        raise InputError(OptionUse("data", str(data)), "no such file; " + cure + names)
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


def chosen_benchmark(options: BenchmarkOptions) -> Benchmark:
    """Return the benchmark that options choose."""
    columns = options.id_field, options.question_field, options.answer_field
    return find_benchmark(options.dataset, options.data, *columns)


def _refuse_unknown_format(benchmark: Benchmark) -> None:
    if benchmark.format not in FORMATS:
        problem = f"expected one of {', '.join(FORMATS)}{suggestion(benchmark.format, FORMATS)}"
        raise InputError(f"{benchmark.prompts}: format {benchmark.format}", problem)


def load_dataset(benchmark: Benchmark, data: str | Path | None) -> Dataset:
    """Load a benchmark from its file, its folder, a folder of such folders, or the cache."""
    path = Path(data) if data else None
    place, paths = str(path or benchmark.name), find_copy(benchmark, path)
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


def find_copy(benchmark: Benchmark, path: Path | None) -> list[Path]:
    """Return the files of a copy, by default the fetched one; an empty list if there is none."""
    if path and path.is_file() and not benchmark.is_folder:
        return [path]
    names = [*benchmark.files]
    copies = [[name] for name in (*names[:1], *benchmark.other_names)]
    wanted = [names] if benchmark.is_folder else copies
    folders = (path, path / benchmark.folder) if path else (cache_folder(benchmark),)
    for folder, copy in product(folders, wanted):
        absent = [name for name in copy if not (folder / name).is_file()]
        if not absent:
            return [folder / name for name in copy]
        if len(absent) < len(copy):
            problem = f"{len(absent)} of {len(copy)} files missing: {absent[0]}, …"
            raise InputError(folder, problem)
    return []


def cache_folder(benchmark: Benchmark) -> Path:
    """Return the folder in which `datasets fetch` keeps the files of a benchmark."""
    return Path(platformdirs.user_cache_dir("ngramscan")) / "datasets" / benchmark.folder


def fetch_file(url: str, published: str | None, place: Path) -> str:
    """Fetch one file unless it is there, and return its SHA-256.

    `published` is the SHA-256 that it must have; None: any.
    """
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
