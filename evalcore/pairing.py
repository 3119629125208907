"""Score rows → the answers of two methods beside each other, in cells.

A cell is what is compared on its own: a benchmark and a model, or what of it `--by` names. Where
it holds several models, or several answers to a problem, these are clusters of the same problem.
A pair of which nothing is known on one side is no pair: it is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from math import inf, nan
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evalcore.left_out import reasons_for_left_out
from evalcore.scores import NOT_FOUND, SCORED, UNKNOWN, ScoreRow
from evalcore.statistics import Comparison, Settings, compare_pairs
from ngramscan.errors import InputError

ALL = "all"
"""In the place of a name: of all of them together."""
Answers = NDArray[np.void]
"""Score rows as a record array, with numbers in the place of names."""
_ANSWERS = np.dtype(
    [
        (name, np.int64)
        for name in ("unit", "asked", "epoch", "question", "problem", "subtask", "place")
    ]
    + [("value", np.float64), ("not_found", np.float64), ("is_known", np.bool_)]
)
"""`unit`: what both methods answer. `asked`, `epoch` and `question` number its benchmark and model,
with these its epoch, and its problem. `problem`: of all models, in the order of their names.
`subtask`: -1: none. `value`: nan where the model gave no answer. `not_found`: 1 or 0 in complete
outputs, inf where that is not known, otherwise nan. `place`: in the order of cells and rows."""
Places = NDArray[np.int64]
Unit = tuple[str, str, str, int | None, str]
"""Dataset, model, id, epoch, rule."""
Key = tuple[str, str, str]
"""Dataset, model and rule of a cell."""
Cells = Mapping[Key, Mapping[str, Answers]]
"""By cell and method."""
Name = TypeVar("Name", bound=Hashable)


def _numbered(names: Iterable[Name]) -> tuple[list[Name], Places]:
    """Return different names in the order in which they come, and the number of each."""
    numbers: dict[Name, int] = {}
    found = [numbers.setdefault(name, len(numbers)) for name in names]
    return list(numbers), np.array(found, dtype=np.int64)


def make_cells(rows: Sequence[ScoreRow], by: Sequence[str]) -> Cells:
    """Return the rows of each cell and method, in the order in which they come."""
    for name in by:
        if name not in {"dataset", "model"}:
            raise InputError(f"--by {name}", "dataset and model were expected")
    units, unit = _numbered((row.dataset, row.model, row.id, row.epoch, row.rule) for row in rows)
    keys, key = _numbered(
        (dataset if "dataset" in by else ALL, model if "model" in by else ALL, rule)
        for dataset, model, _, _, rule in units
    )
    parts, part = _numbered(zip(key[unit].tolist(), (row.method for row in rows), strict=True))
    _refuse_twice(rows, unit * len(parts) + part)
    order, sizes = np.argsort(part, kind="stable"), np.bincount(part, minlength=len(parts))
    answers = _answers(rows, units, unit)
    answers["place"][np.argsort(key[unit], kind="stable")] = np.arange(len(rows))
    split = np.split(answers[order], sizes.cumsum()[:-1])
    cells: dict[Key, dict[str, Answers]] = {}
    for (number, method), own in zip(parts, split, strict=False):
        cells.setdefault(keys[number], {})[method] = own
    return cells


def _answers(rows: Sequence[ScoreRow], units: Sequence[Unit], unit: Places) -> Answers:
    labels = [f"{dataset}\0{id_}" for dataset, _, id_, _, _ in units]
    ranks = {label: rank for rank, label in enumerate(sorted(set(labels)))}
    answers = np.empty(len(rows), _ANSWERS)
    answers["unit"] = unit
    answers["asked"] = _numbered(one[:2] for one in units)[1][unit]
    answers["epoch"] = _numbered((*one[:2], one[3]) for one in units)[1][unit]
    answers["question"] = _numbered(one[:3] for one in units)[1][unit]
    answers["problem"] = np.array([ranks[label] for label in labels], dtype=np.int64)[unit]
    subtasks, subtask = _numbered(row.subtask or "" for row in rows)
    named = np.array([bool(name) for name in subtasks], dtype=bool)[subtask]
    of_unit = np.full(len(units), -1)
    of_unit[unit[named]] = subtask[named]
    answers["subtask"] = of_unit[unit]
    answers["value"] = [nan if row.value is None else row.value for row in rows]
    answers["not_found"] = [_not_found(row) for row in rows]
    answers["is_known"] = [row.status != UNKNOWN for row in rows]
    return answers


def _not_found(row: ScoreRow) -> float:
    if row.status == SCORED:
        return 0.0 if row.answer is not None or row.sandbox else inf
    return 1.0 if row.status == NOT_FOUND else nan


def _refuse_twice(rows: Sequence[ScoreRow], answers: Places) -> None:
    """Refuse two rows about the same answer."""
    first = np.unique(answers, return_index=True)[1]
    if first.size < answers.size:
        row = rows[np.setdiff1d(np.arange(answers.size), first)[0]]
        named = f"{row.dataset}, {row.model}, {row.method}, {row.rule}, id {row.id}"
        raise InputError(named, "it was scored twice; was a file named twice?")


def merged(cells: Cells) -> Cells:
    """Return, for each benchmark and rule with several models, a cell of all of them."""
    groups: dict[Key, list[Mapping[str, Answers]]] = {}
    for (dataset, _, rule), methods in cells.items():
        groups.setdefault((dataset, ALL, rule), []).append(methods)
    return {
        key: {name: np.concatenate([own[name] for own in group if name in own]) for name in names}
        for key, group in groups.items()
        if len(group) > 1 and (names := dict.fromkeys(chain(*group)))
    }


def method_pairs(
    cells: Cells, baseline: str | None, treatments: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the pairs of methods to compare: each treatment with the baseline, or all pairs."""
    known = list(dict.fromkeys(chain(*cells.values())))
    if baseline is None:
        return list(combinations(known, 2))
    chosen = [_known(method, known) for method in treatments]
    first = _known(baseline, known)
    if first in chosen:
        raise InputError(f"--treatment {first}", "it is the baseline too")
    return [(first, method) for method in chosen or known if method != first]


def incomplete(cells: Cells, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Tell, one sentence each, what can't be compared because a method was not scored there."""
    for method in dict.fromkeys(chain(*pairs)):
        for key, methods in cells.items():
            if method not in methods:
                yield f"{', '.join(key)}: no {method}"


def _known(method: str, known: Sequence[str]) -> str:
    for name in known:
        if name.lower() == method.lower():
            return name
    raise InputError(f"method {method}", f"not scored; there are {', '.join(known)}")


# Two methods in a cell


class Pair(NamedTuple):
    """The answers of two methods in a cell, pair by pair, where something is known of both."""

    names: Mapping[str, str]
    """Dataset, model, rule, baseline, treatment."""
    first: Answers
    """Of the baseline."""
    second: Answers
    """Of the treatment, in the same order."""
    left_out: Places
    """The subtask of each pair that is not among these."""
    one_sided: int
    """How many of those are pairs of which one side was not asked."""
    subtasks: Sequence[int]
    """All of the cell, in the order in which they come."""

    @property
    def name(self) -> str:
        """Return how messages call it."""
        dataset, model, rule, baseline, treatment = self.names.values()
        return f"{dataset}, {model}, {rule}, {treatment} − {baseline}"

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return self.first.size

    @property
    def n_answered(self) -> int:
        """Return the number of pairs in which both models gave an answer."""
        return int((~np.isnan(self.first["value"]) & ~np.isnan(self.second["value"])).sum())

    @property
    def said(self) -> str:
        """Return how many pairs are left out, and why; empty: none."""
        return reasons_for_left_out("pair", self.left_out.size - self.one_sided, self.one_sided)

    @property
    def nothing_left(self) -> str:
        """Say why the two can't be compared."""
        said = [self.said] * bool(self.said)
        said += [f"{self.n:,} without an answer left out"] * bool(self.n)
        return f"{self.name}: nothing to compare; {', '.join(said)}"

    def compared(self, how: Settings, generator: np.random.Generator) -> Comparison | None:
        """Return the comparison; None: no pair is left."""
        if not (self.n_answered if how.missing == "dropped" else self.n):
            return None
        values, others = self.first["value"], self.second["value"]
        return compare_pairs(values, others, generator, how, self.first["problem"])


def find_pairs(cells: Cells, pairs: Sequence[tuple[str, str]]) -> Iterator[Pair]:
    """Yield every pair of methods in every cell that has both."""
    for (dataset, model, rule), methods in cells.items():
        answers = np.concatenate([*methods.values()])
        subtasks = answers["subtask"][np.argsort(answers["place"])].tolist()
        named = [number for number in dict.fromkeys(subtasks) if number >= 0]
        for baseline, treatment in pairs:
            if baseline in methods and treatment in methods:
                names = {"dataset": dataset, "model": model, "rule": rule}
                names |= {"baseline": baseline, "treatment": treatment}
                yield _pair(names, methods[baseline], methods[treatment], named)


def _pair(names: Mapping[str, str], first: Answers, second: Answers, named: Sequence[int]) -> Pair:
    one, other = _matches(first, second)
    both = (one >= 0) & (other >= 0)
    kept = both & first["is_known"][one] & second["is_known"][other]
    subtasks = np.where(one >= 0, first["subtask"][one], second["subtask"][other])
    one_sided = int((~both).sum())
    return Pair(names, first[one[kept]], second[other[kept]], subtasks[~kept], one_sided, named)


def _matches(first: Answers, second: Answers) -> tuple[Places, Places]:
    """Return the places of answers that belong together; -1: that side was not asked.

    Where both methods were asked equally often, their answers go together by epoch. Where they were
    not, each answer of one goes with each of the other: the mean of these differences is that
    between the means of a problem, and no answer that was never asked for is missed.
    """
    both = np.concatenate([first, second])
    units, unit = np.unique(both["unit"], return_inverse=True)
    at = np.full((2, units.size), -1)
    at[0, unit[: first.size]] = np.arange(first.size)
    at[1, unit[first.size :]] = np.arange(second.size)
    # In the order of the first; behind it come those that only the second has.
    is_new = np.arange(both.size) < first.size
    is_new |= at[0, unit] < 0
    one, other = at[:, unit[is_new]]
    uneven = np.isin(both["epoch"], np.setxor1d(first["epoch"], second["epoch"]))
    is_crossed = np.isin(both["asked"][is_new], both["asked"][uneven])
    crossed: dict[int, tuple[list[int], list[int]]] = {}
    matches = both["question"][is_new], one, other
    for question, *match in zip(*(each[is_crossed].tolist() for each in matches), strict=True):
        for side, place in zip(crossed.setdefault(question, ([], [])), match, strict=True):
            side.extend([place] * (place >= 0))
    pairs = [pair for own, its in crossed.values() for pair in product(own or [-1], its or [-1])]
    more = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    one, other = (each[~is_crossed] for each in (one, other))
    return np.concatenate([one, more[:, 0]]), np.concatenate([other, more[:, 1]])


def unanswered_share(answers: Answers) -> float | None:
    """Return the share of complete outputs in which no answer was found; None: not known."""
    found = answers["not_found"][np.unique(answers["unit"], return_index=True)[1]]
    complete = found[~np.isnan(found)]
    return float(complete.mean()) if complete.size and np.isfinite(complete).all() else None
