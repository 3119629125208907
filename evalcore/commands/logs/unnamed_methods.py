"""Methods that logs do not name: the task tells them apart, or the folder."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from evalcore.commands.logs.readers import Log
from ngramscan.errors import some_of


def name_methods(logs: Sequence[tuple[Path, Log]]) -> list[str]:
    """Name the methods of logs that lack one, in place, and return a notice on each way.

    The method is the task, since each way of prompting a benchmark is a task of its own. If a model
    did a task in several folders, the method is the part of the folder's path that tells them
    apart.
    """
    unnamed = [(path, log) for path, log in logs if any(not row.method for row in log.rows)]
    folders = defaultdict[tuple[str, str], set[Path]](set)
    for path, log in unnamed:
        for row in log.rows:
            folders[row.model, row.dataset].add(path.resolve().parent)
    is_by_folder = any(len(places) > 1 for places in folders.values())
    places_of_model = defaultdict[str, set[Path]](set)
    for (model, _), places in folders.items():
        places_of_model[model] |= places
    short = {model: _tell_apart(places) for model, places in places_of_model.items()}
    chosen = dict[str, None]()
    for path, log in unnamed:
        folder = path.resolve().parent
        methods = {
            (row.model, row.dataset): short[row.model][folder] if is_by_folder else row.dataset
            for row in log.rows
        }
        log.rows = [
            row if row.method else replace(row, method=methods[row.model, row.dataset])
            for row in log.rows
        ]
        chosen |= dict.fromkeys(methods.values())
    if not unnamed:
        return []
    source = "the folder" if is_by_folder else "the task"
    return [
        f"these logs do not name the method, so it is {source}: {some_of(chosen)}"
        " (`evalcore logs --method NAME` names it)"
    ]


def _tell_apart(folders: Iterable[Path]) -> Mapping[Path, str]:
    """Return the part of each path that differs: without the first and last parts of all."""
    listed = sorted(folders)
    if len(listed) == 1:
        return {listed[0]: listed[0].name}
    n_first = _count_common([folder.parts for folder in listed])
    rests = {folder: folder.parts[n_first:] for folder in listed}
    n_last = _count_common([rest[::-1] for rest in rests.values()])
    names = {folder: "/".join(rest[: len(rest) - n_last]) for folder, rest in rests.items()}
    return {folder: name or folder.name for folder, name in names.items()}


def _count_common(paths: Sequence[Sequence[str]]) -> int:
    """Return how many parts all paths begin with."""
    same = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    return sum(1 for _ in same)
