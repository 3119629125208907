"""Methods that logs do not name: the task tells them apart, or the folder."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from evalcore.commands.logs.readers import Log
from ngramscan.errors import some_of


def name_methods(logs: Sequence[tuple[Path, Log]]) -> list[str]:
    """Name the methods of logs that lack one, in place, and return a notice.

    The method is the task, since each way of prompting a benchmark is a task of its own. If a model
    did a task in several folders, or several tasks in each, the method is the part of the folder's
    path that tells them apart.
    """
    unnamed = [(path, log) for path, log in logs if any(not row.method for row in log.rows)]
    if not unnamed:
        return []
    tasks = _tasks_by_folder(unnamed)
    is_by_folder = any(map(_are_runs, tasks.values()))
    short = {model: _tell_apart(folders) for model, folders in tasks.items()}
    methods = dict[str, None]()
    for path, log in unnamed:
        for number, row in enumerate(log.rows):
            if not row.method:
                folder = short[row.model][path.resolve().parent]
                method = folder if is_by_folder else row.dataset
                log.rows[number] = replace(row, method=method)
                methods[method] = None
    source = "folder" if is_by_folder else "task"
    return [
        f"these logs do not name the method, so it is the {source}: {some_of(methods)}"
        " (`evalcore logs --method NAME` names it)"
    ]


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
