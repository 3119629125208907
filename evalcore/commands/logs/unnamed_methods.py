"""Methods that logs do not name: their files, their folders or the tasks tell them apart."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from evalcore.commands.logs.readers import Log, UsageRow
from evalcore.path_names import name_of_file
from evalcore.scores import ScoreRow
from ngramscan.errors import some_of

_PlacedLog = tuple[Path, Log]


def name_methods(logs: Sequence[_PlacedLog]) -> list[str]:
    """Name the methods of logs that lack one, in place, and return notices.

    The method is the name of the file, if somebody gave it one and each file of a task has another.
    Elsewhere it is the task, since each way of prompting a benchmark is a task of its own. If a
    model did a task in several folders, or several tasks in each, the method is the part of the
    folder's path that tells them apart.
    """
    unnamed = [(path, log) for path, log in logs if any(not row.method for row in log.rows)]
    by_file = _named_by_file(unnamed)
    others = [(path, log) for path, log in unnamed if path not in by_file]
    named = [(path, log) for path, log in unnamed if path in by_file]
    return [
        *_name_each(named, "file", lambda path, _: by_file[path]),
        *_name_by_folder_or_task(others),
    ]


def _named_by_file(logs: Sequence[_PlacedLog]) -> Mapping[Path, str]:
    """Return the names of the files; none if two files of a task have one name."""
    names = {path: name for path, _ in logs if (name := name_of_file(path))}
    uses = Counter(
        (names[path], *task)
        for path, log in logs
        if path in names
        for task in {(row.dataset, row.model) for row in log.rows}
    )
    return names if all(n == 1 for n in uses.values()) else {}


def _name_by_folder_or_task(logs: Sequence[_PlacedLog]) -> list[str]:
    tasks = _tasks_by_folder(logs)
    if not any(map(_are_runs, tasks.values())):
        return _name_each(logs, "task", lambda _, row: row.dataset)
    names = {model: _tell_apart(folders) for model, folders in tasks.items()}
    return _name_each(logs, "folder", lambda path, row: names[row.model][path.resolve().parent])


def _name_each(
    logs: Iterable[_PlacedLog], source: str, method_of: Callable[[Path, ScoreRow | UsageRow], str]
) -> list[str]:
    """Name the methods of rows that lack one, and return a notice."""
    methods = dict[str, None]()
    for path, log in logs:
        tables: Sequence[list[Any]] = (log.rows, log.usage)
        for rows in tables:
            for number, row in enumerate(rows):
                if not row.method:
                    rows[number] = replace(row, method=method_of(path, row))
                    methods[rows[number].method] = None
    if not methods:
        return []
    named = f"these logs do not name the method, so it is the {source}: {some_of(methods)}"
    return [f"{named} (`evalcore logs --method NAME` names it)"]


def _tasks_by_folder(logs: Iterable[tuple[Path, Log]]) -> Mapping[str, Mapping[Path, set[str]]]:
    """Return the tasks in each folder, for each model."""
    tasks = defaultdict[str, dict[Path, set[str]]](dict)
    for path, log in logs:
        for row in log.rows:
            tasks[row.model].setdefault(path.resolve().parent, set()).add(row.dataset)
    return tasks


def _are_runs(tasks: Mapping[Path, set[str]]) -> bool:
    """Tell whether folders are runs of a model, each with the tasks of others or with several."""
    sizes = [len(names) for names in tasks.values()]
    is_task_in_several = sum(sizes) > len(set().union(*tasks.values()))
    return len(tasks) > 1 and (is_task_in_several or max(sizes) > 1)


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
