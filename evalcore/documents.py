"""Which answers are about the same document, whatever a tool calls it.

A hash of the document says so where a row has one, its id elsewhere: an id may be a position, which
means another document in another run.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from evalcore.scores import ScoreRow

_SEPARATOR, _WORD = "[ _./-]", "[^ _./-]+"


class _NamedDocument(NamedTuple):
    """One document of a benchmark; several with one hash have different numbers."""

    benchmark: str
    hash: str | None
    name: int | str
    """Its number among those with this hash; its id if no hash is known."""


def join_tasks(rows: Iterable[ScoreRow]) -> dict[str, str]:
    """Return the benchmark of each task.

    Tools name each way of prompting a benchmark. Tasks are one benchmark if at least half of the
    documents of the smaller one are in the other, and if a model answers them by other methods.

    Parameters
    ----------
    rows : iterable of ScoreRow
        Rows of all tasks.

    Returns
    -------
    dict of str to str
        The benchmark by the name of the task, which are the same for a task on its own.
    """
    hashes, runs = defaultdict[str, set[str]](set), defaultdict[str, set[tuple[str, str]]](set)
    for row in rows:
        runs[row.dataset].add((row.model, row.method))
        if row.hash is not None:
            hashes[row.dataset].add(row.hash)
    groups = list[list[str]]()
    for task in runs:
        same = [
            group
            for group in groups
            if all(_are_one(hashes[task], hashes[other]) for other in group)
            and all(_are_prompts(runs[task], runs[other]) for other in group)
        ]
        if same:
            same[0].append(task)
        else:
            groups.append([task])
    return {
        task: _common_name(group, runs) if len(group) > 1 else task
        for group in groups
        for task in group
    }


def _are_one(first: set[str], second: set[str]) -> bool:
    smaller = min(len(first), len(second))
    return smaller > 0 and 2 * len(first & second) >= smaller


def _are_prompts(first: set[tuple[str, str]], second: set[tuple[str, str]]) -> bool:
    """Tell whether two tasks have a model in common, which answers each by other methods."""
    models = {model for model, _ in first} & {model for model, _ in second}
    return bool(models) and first.isdisjoint(second)


def _common_name(tasks: Sequence[str], others: Iterable[str]) -> str:
    """Return the words with which all names begin; all names if there are no such words."""
    words = [re.findall(_WORD, task) for task in tasks]
    n_common = sum(1 for _ in takewhile(_are_equal, zip(*words, strict=False)))
    begin = re.match(rf"(?:{_SEPARATOR}*{_WORD}){{{n_common}}}", tasks[0])
    name = begin[0] if begin else ""
    is_taken = name in {*others} - {*tasks}
    return name if name and not is_taken else " + ".join(tasks)


def _are_equal(words: Sequence[str]) -> bool:
    return len(set(words)) == 1


def name_documents(rows: Sequence[ScoreRow], benchmarks: Mapping[str, str]) -> list[str]:
    """Name the document of each row, such that the same name is the same document.

    Rows with a hash are about the same document if their hashes are equal. If a run has several
    documents with one hash, they are matched by id, and the remaining ones by their order. A row
    without a hash is about the document with its id, if there is only one.

    Parameters
    ----------
    rows : sequence of ScoreRow
        Rows of one or several benchmarks; the rows of a run have different ids, epochs aside.
    benchmarks : mapping of str to str
        The benchmark of each task.

    Returns
    -------
    list of str
        For each row a name that is unique in its benchmark: the id where it first occurs, with a
        part of the hash where another document has this id.
    """
    numbers = _number_equal(rows, benchmarks)
    hashed = [
        _NamedDocument(benchmarks[row.dataset], row.hash, numbers[_run_of(row), row.hash, row.id])
        if row.hash is not None
        else None
        for row in rows
    ]
    by_id = defaultdict[tuple[str, str], set[_NamedDocument]](set)
    for row, document in zip(rows, hashed, strict=True):
        if document is not None:
            by_id[document.benchmark, row.id].add(document)
    names, taken = dict[_NamedDocument, str](), set[tuple[str, str]]()
    names_of_rows = list[str]()
    for row, with_hash in zip(rows, hashed, strict=True):
        benchmark = benchmarks[row.dataset]
        document = with_hash or _find_by_id(row, benchmark, by_id[benchmark, row.id])
        if document not in names:
            names[document] = _free_name(row, benchmark, taken)
            taken.add((benchmark, names[document]))
        names_of_rows.append(names[document])
    return names_of_rows


def _find_by_id(row: ScoreRow, benchmark: str, same_id: Iterable[_NamedDocument]) -> _NamedDocument:
    """Return the only document with the id of a row, or one that is known by its id alone."""
    documents = list(same_id)
    return documents[0] if len(documents) == 1 else _NamedDocument(benchmark, None, row.id)


def _run_of(row: ScoreRow) -> Hashable:
    return row.dataset, row.model, row.method, row.rule


def _number_equal(
    rows: Iterable[ScoreRow], benchmarks: Mapping[str, str]
) -> dict[tuple[Hashable, str, str], int]:
    """Return the number of each row's document among those with its hash, by run, hash and id."""
    ids = defaultdict[tuple[str, str], dict[Hashable, dict[str, None]]](dict)
    for row in rows:
        if row.hash is not None:
            by_run = ids[benchmarks[row.dataset], row.hash]
            by_run.setdefault(_run_of(row), {})[row.id] = None
    numbers = dict[tuple[Hashable, str, str], int]()
    for (_, hash_), by_run in ids.items():
        first_with = dict[str, int]()
        for run, ids_of_run in by_run.items():
            placed = _place(list(ids_of_run), first_with)
            numbers |= {(run, hash_, id_): number for id_, number in placed.items()}
            first_with = placed | first_with
    return numbers


def _place(ids: Sequence[str], first_with: Mapping[str, int]) -> dict[str, int]:
    """Return numbers of a run's equal documents: those of other runs by id, then by order."""
    placed = dict[str, int]()
    used = set[int]()
    for id_ in ids:
        if id_ in first_with and first_with[id_] not in used:
            placed[id_] = first_with[id_]
            used.add(first_with[id_])
    free = (number for number in range(len(ids) + len(used)) if number not in used)
    for id_ in ids:
        if id_ not in placed:
            placed[id_] = next(free)
    return placed


def _free_name(row: ScoreRow, benchmark: str, taken: set[tuple[str, str]]) -> str:
    name = row.id
    if (benchmark, name) in taken:
        name = f"{row.id} ({row.hash[:8] if row.hash else 'no hash'})"
    number = 2
    first = name
    while (benchmark, name) in taken:
        name = f"{first} {number}"
        number += 1
    return name
