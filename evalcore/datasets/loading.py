"""A benchmark's name and a place → its problems, after proof that they are what they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import platformdirs

from evalcore.datasets.aicrypto import parse_aicrypto
from evalcore.datasets.base import Dataset, Problem
from evalcore.datasets.bbh import parse_word_sorting
from evalcore.datasets.catalog import Benchmark, find_benchmark
from evalcore.datasets.financemath import parse_financemath
from evalcore.datasets.imobench import parse_answerbench, parse_proofbench
from evalcore.datasets.olympiadbench import parse_olympiadbench
from evalcore.datasets.reading import read_content, sha256_of
from ngramscan.errors import InputError

_Parsed = tuple[list[Problem], list[str]]
_PARSERS: dict[str, Callable[[bytes, Path], _Parsed]] = {
    "financemath": parse_financemath,
    "imo-answerbench": parse_answerbench,
    "imo-proofbench": parse_proofbench,
    "olympiadbench-oe-maths": partial(parse_olympiadbench, subset="OE_maths"),
    "olympiadbench-oe-physics": partial(parse_olympiadbench, subset="OE_physics"),
    "olympiadbench-tp-maths": partial(parse_olympiadbench, subset="TP_maths"),
    "olympiadbench-tp-physics": partial(parse_olympiadbench, subset="TP_physics"),
    "bbh-word-sorting": parse_word_sorting,
}
"""Of the benchmarks that are one file."""


class AbsentError(InputError):
    """There is no copy of the benchmark at the place, as against one that can't be read."""


def load_dataset(name: str, path: Path | None) -> Dataset:
    """Load a benchmark and prove that it is whole.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    path : Path or None
        Its file, a folder that holds it under its published name, or a folder of such folders; a
        folder for aicrypto. None: the fetched copy.

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
        It is not the benchmark: a wrong number of problems, an id that stands twice,
        a column that is missing or of a wrong type.
    """
    benchmark = find_benchmark(name)
    if name == "aicrypto":
        problems, faults, sha256 = _load_exams(benchmark, path)
    else:
        problems, faults, sha256 = _load_file(benchmark, path)
    place = str(path or name)
    _check_ids(problems, place)
    faults += _check_size(benchmark, len(problems), place)
    return Dataset(name, tuple(problems), sha256, tuple(faults))


def cache_folder(benchmark: Benchmark) -> Path:
    """Return where the files of a benchmark are kept once they are fetched."""
    return Path(platformdirs.user_cache_dir("ngramscan")) / "datasets" / benchmark.folder


def _load_file(benchmark: Benchmark, path: Path | None) -> tuple[list[Problem], list[str], str]:
    file = _find_file(benchmark, path)
    content = read_content(file)
    problems, faults = _PARSERS[benchmark.name](content, file)
    sha256 = sha256_of(content)
    return problems, faults + _edition_faults(benchmark, sha256), sha256


def _edition_faults(benchmark: Benchmark, sha256: str) -> list[str]:
    """Tell a file that is not the one that is fetched; where no hash is known, nothing can be."""
    published, first = benchmark.files[0].sha256, benchmark.first_version
    if first is not None and sha256 == first.sha256:
        return ["this is the first version, which its authors call deprecated"]
    if published is not None and sha256 != published:
        return [f"not the published file: its SHA-256 is {sha256}"]
    return []


def _find_file(benchmark: Benchmark, path: Path | None) -> Path:
    if path is not None and path.is_file():
        return path
    names = (benchmark.files[0].name, *benchmark.other_names)
    if path is None:
        folders: tuple[Path, ...] = (cache_folder(benchmark),)
    else:
        folders = (path, path / benchmark.folder)
    found = [folder / name for folder in folders for name in names if (folder / name).is_file()]
    if not found:
        raise _absent(benchmark, path, names)
    return found[0]


def _load_exams(benchmark: Benchmark, path: Path | None) -> tuple[list[Problem], list[str], str]:
    folder = _find_folder(benchmark, path)
    missing = [each.name for each in benchmark.files if not (folder / each.name).is_file()]
    if missing:
        problem = f"{len(missing)} of {len(benchmark.files)} files are missing"
        raise InputError(str(folder), f"{problem}, the first is {missing[0]}")
    contents = [(each.name, read_content(folder / each.name)) for each in benchmark.files]
    problems, faults = parse_aicrypto(contents)
    return problems, faults, sha256_of(b"".join(content for _, content in contents))


def _find_folder(benchmark: Benchmark, path: Path | None) -> Path:
    folders = (cache_folder(benchmark),) if path is None else (path, path / benchmark.folder)
    for folder in folders:
        if any((folder / each.name).is_file() for each in benchmark.files):
            return folder
    raise _absent(benchmark, path, ("exam1/problem1.tex",))


def _absent(benchmark: Benchmark, path: Path | None, names: Sequence[str]) -> AbsentError:
    if path is None:
        cure = f"run `evalcore datasets fetch {benchmark.name}`, or give a copy with --data PATH"
        return AbsentError(f"dataset {benchmark.name}", f"not fetched yet; {cure}")
    if not path.exists():
        return AbsentError(str(path), "no such file or folder")
    return AbsentError(str(path), f"no {' or '.join(names)} in it")


def _check_ids(problems: Sequence[Problem], place: str) -> None:
    twice = [name for name, times in Counter(each.id for each in problems).items() if times > 1]
    if twice:
        raise InputError(place, f"{twice[0]} stands there more than once")


def _check_size(benchmark: Benchmark, size: int, place: str) -> list[str]:
    """Refuse a wrong number of problems; tell one that is right but not the paper's."""
    if size not in benchmark.sizes:
        expected = " or ".join(map(str, benchmark.sizes))
        raise InputError(place, f"{size} problems; expected {expected}")
    if size != benchmark.sizes[-1]:
        return [f"{size} problems, all distinct; the paper has {benchmark.sizes[-1]}"]
    return []
