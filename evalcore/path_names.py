"""Names that are in the path of a file of results: FOLDER/METHOD.jsonl, METHOD/results.jsonl."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ngramscan.reading.streams import unpacked_path

_COMMON = {
    "accuracies",
    "accuracy",
    "data",
    "details",
    "eval",
    "evals",
    "events",
    "log",
    "logs",
    "model_outputs",
    "output",
    "outputs",
    "per_instance_stats",
    "predictions",
    "result",
    "results",
    "run",
    "samples",
    "score",
    "scores",
}
"""Names of files that are the same whatever is in them; their folders may say more."""
_MADE_BY_A_TOOL = re.compile(
    r".*\d{4}-\d\d-\d\dT\d\d.*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
"""Names with the time of a run, and random ones."""

_USUAL_METHODS = {
    "baseline",
    "chain-of-thought",
    "cot",
    "direct",
    "few-shot",
    "least-to-most",
    "plan-and-solve",
    "pot",
    "program-of-thought",
    "program-of-thoughts",
    "react",
    "reflexion",
    "self-consistency",
    "tot",
    "tree-of-thoughts",
    "zero-shot",
    "zero-shot-cot",
}
"""Names of prompting methods, by which a folder of tables can be recognised."""


def name_of_file(path: Path) -> str:
    """Return the name that somebody gave to a file; empty if a tool or a habit named it."""
    name = unpacked_path(path).stem.removesuffix("_samples")
    is_given = name.lower() not in _COMMON and not _MADE_BY_A_TOOL.fullmatch(name)
    return name if is_given else ""


def named_part(path: Path) -> Path:
    """Return the path of a file, or of its folder if the file has no name of its own."""
    whole = unpacked_path(path.absolute())
    return whole if name_of_file(path) else whole.parent


@dataclass(frozen=True, slots=True)
class TableName:
    """The names in the path of a table, for tables without columns of them."""

    method: str
    dataset: str


def name_by_path(
    paths: Sequence[Path], ids_of: Callable[[Path], frozenset[str]]
) -> Mapping[Path, TableName]:
    """Return the names of tables in several folders: their folder or their file is the method.

    In `cot/gsm8k.csv` it is the folder, in `gsm8k/cot.csv` the file. Nothing is returned unless
    files of one name are in several folders: then one part is not enough.

    Parameters
    ----------
    paths : sequence of Path
        Tables that are read together.
    ids_of : callable
        Returns the ids of a table; none if it can't be read.
    """
    parts = {path: _last_parts(path) for path in paths}
    files = {file for _, file in parts.values()}
    is_repeated = len(set(parts.values())) == len(paths) > len(files)
    if "" in files or not is_repeated:
        return {}
    if _are_methods(parts, cache(ids_of)):
        return {path: TableName(folder, file) for path, (folder, file) in parts.items()}
    return {path: TableName(file, folder) for path, (folder, file) in parts.items()}


def _last_parts(path: Path) -> tuple[str, str]:
    """Return the names of the folder and of the file; the latter is empty if a tool named it."""
    return path.absolute().parent.name, name_of_file(path)


def _are_methods(
    parts: Mapping[Path, tuple[str, str]], ids_of: Callable[[Path], frozenset[str]]
) -> bool:
    """Tell whether folders, rather than the files in them, are methods.

    Different methods answer the same problems, and benchmarks have different ones. Where both
    parts could be methods, as with ids that are only numbers, a usual name of a method decides.
    """
    by_file = _ids_of_groups(ids_of, {path: file for path, (_, file) in parts.items()})
    by_folder = _ids_of_groups(ids_of, {path: folder for path, (folder, _) in parts.items()})
    are_files_benchmarks, are_folders_benchmarks = _agree(by_file), _agree(by_folder)
    is_each_alone = all(len(tables) == 1 for tables in by_folder.values())
    if not is_each_alone and are_files_benchmarks != are_folders_benchmarks:
        return are_files_benchmarks
    is_file_usual = any(_words_of(file) in _USUAL_METHODS for file in by_file)
    is_folder_usual = any(_words_of(folder) in _USUAL_METHODS for folder in by_folder)
    if is_file_usual != is_folder_usual:
        return is_folder_usual
    return is_each_alone and all(frozenset.intersection(*tables) for tables in by_file.values())


def _ids_of_groups(
    ids_of: Callable[[Path], frozenset[str]], groups: Mapping[Path, str]
) -> Mapping[str, Sequence[frozenset[str]]]:
    """Return the ids of the tables of each group, but for tables that can't be read."""
    ids = defaultdict[str, list[frozenset[str]]](list)
    for path, group in groups.items():
        if ids_of_file := ids_of(path):
            ids[group].append(ids_of_file)
    return ids


def _agree(groups: Mapping[str, Sequence[frozenset[str]]]) -> bool:
    """Tell whether all tables of each group are about the same problems."""
    return all(len(set(tables)) == 1 for tables in groups.values())


def _words_of(name: str) -> str:
    """Return a name in one spelling: small letters, with hyphens between words."""
    return re.sub(r"[\W_]+", "-", name.lower())
