"""Score rows → the answers of two methods side by side, in cells.

A cell is what is compared on its own: a benchmark and a model, or what of it `--by` names. Where it
holds several models, or several answers to a problem, these are clusters of the same problem. A
pair of which nothing is known on one side is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, product
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalcore.left_out import reasons_for_left_out
from evalcore.scores import NOT_FOUND, SCORED, UNKNOWN, ScoreRow
from evalcore.statistics import Comparison, Settings, compare_pairs
from ngramscan.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
"""In the place of a name: all of them together."""
CELL = ["dataset", "model", "rule"]
NAMES = (*CELL, "baseline", "treatment")
Methods = Sequence[tuple[str, str]]
"""Pairs of a baseline and a treatment."""


def to_table(rows: Sequence[ScoreRow], by: Sequence[str]) -> pd.DataFrame:
    """Return score rows in the order of their cells; what `by` does not name is `ALL`.

    `asked` numbers dataset, model and rule as they were; `not_found` is 1 or 0 in complete outputs,
    inf where that is not known, otherwise nan.
    """
    import pandas as pd

    for name in by:
        if name not in CELL[:2]:
            raise InputError(f"--by {name}", "dataset and model were expected")
    given = (*CELL, "method", "id", "epoch", "value", "subtask", "status")
    table = pd.DataFrame({name: [getattr(row, name) for row in rows] for name in given})
    table["not_found"] = table["status"].map({SCORED: 0.0, NOT_FOUND: 1.0})
    untold = [row.status == SCORED and row.answer is None and not row.sandbox for row in rows]
    table.loc[untold, "not_found"] = inf
    table["asked"] = table.groupby(CELL, sort=False).ngroup()
    table["problem"] = table.groupby(["dataset", "id"]).ngroup()
    is_second = table.duplicated(["asked", "method", "id", "epoch"])
    if is_second.any():
        row = rows[int(is_second.argmax())]
        named = f"{row.dataset}, {row.model}, {row.method}, {row.rule}, id {row.id}"
        raise InputError(named, "it was scored twice; was a file named twice?")
    table["subtask"] = table["subtask"].replace("", None)
    table["subtask"] = table.groupby(["asked", "id"])["subtask"].transform("last")
    table = table.assign(**{name: ALL for name in CELL[:2] if name not in by})
    by_cell = table.groupby(CELL, sort=False).ngroup().argsort(kind="stable")
    return table.iloc[by_cell].assign(place=range(len(table)))


def method_pairs(known: Sequence[str], baseline: str | None, treatments: Sequence[str]) -> Methods:
    """Return the pairs of methods to compare: each treatment with the baseline, or all pairs."""
    if baseline is None:
        return list(combinations(known, 2))
    names = {name.lower(): name for name in reversed(known)}
    for method in (*treatments, baseline):
        if method.lower() not in names:
            raise InputError(f"method {method}", f"not scored; there are {', '.join(known)}")
    first, *chosen = (names[method.lower()] for method in (baseline, *treatments))
    if first in chosen:
        raise InputError(f"--treatment {first}", "it is the baseline too")
    return [(first, method) for method in chosen or known if method != first]


class Pair(NamedTuple):
    """Two methods in a cell."""

    names: dict[str, Any]
    """Dataset, model, rule, baseline, treatment."""
    answers: pd.DataFrame
    """Pairs of answers of both of which something is known; columns of the baseline end in 1."""
    left_out: pd.DataFrame
    """The other pairs; a side that was not asked has no status."""

    @property
    def n_no_answer(self) -> int:
        """Return the number of pairs in which a model gave no answer."""
        return int(self.answers[["value_1", "value_2"]].isna().any(axis=1).sum())

    def compared(self, how: Settings, generator: np.random.Generator) -> Comparison | None:
        """Compare the answers; None: there is nothing left to compare."""
        if len(self.answers) == (self.n_no_answer if how.no_answer == "exclude" else 0):
            return None
        values = self.answers["value_1"], self.answers["value_2"]
        return compare_pairs(*values, generator, how, self.answers["problem"])

    def unanswered(self, side: str) -> float | None:
        """Return the share of complete outputs without an answer; None: not known."""
        found = self.answers.drop_duplicates(f"place_{side}")[f"not_found_{side}"].dropna()
        return float(found.mean()) if len(found) and np.isfinite(found).all() else None

    @property
    def name(self) -> str:
        """Return what messages call it."""
        dataset, model, rule, baseline, treatment = self.names.values()
        return f"{dataset}, {model}, {rule}, {treatment} − {baseline}"

    def reasons(self, are_all_left_out: bool = False) -> str:
        """Say how many pairs are left out, and why; empty: none."""
        asked = int(self.left_out[["status_1", "status_2"]].notna().all(axis=1).sum())
        excluded = len(self.answers) if are_all_left_out else 0
        return reasons_for_left_out("pair", asked, len(self.left_out) - asked, excluded)


def find_pairs(table: pd.DataFrame, methods: Methods) -> tuple[list[Pair], list[str]]:
    """Return every pair of methods in every cell that has both, and what to say of the others.

    Where both were asked equally often, their answers go together by epoch. Where they were not,
    each answer of one goes with each of the other: the mean of these differences is that between
    the means of a problem, and no answer that was never asked for is missed.
    """
    cells: Any = table.groupby(CELL, sort=False)["method"].unique().to_dict()
    epochs: Any = table.groupby(["asked", "method"])["epoch"].agg(frozenset).to_dict()
    keys = [*CELL, "asked", "problem", "subtask", "id", "epoch"]
    order, found = list(cells), []
    for chosen in methods:
        uneven = [n for n, _ in epochs if len({epochs.get((n, name)) for name in chosen}) > 1]
        matching = table.assign(epoch=table["epoch"].mask(table["asked"].isin(uneven)))
        first, second = (matching[matching["method"] == name] for name in chosen)
        both = first.merge(second, how="outer", on=keys, suffixes=("_1", "_2"))
        for cell, own in both.sort_values("place_1", kind="stable").groupby(CELL, sort=False):
            status = own[["status_1", "status_2"]]
            if status.notna().any().all():
                is_known = (status.notna() & (status != UNKNOWN)).all(axis=1)
                names = dict(zip(NAMES, (*cell, *chosen), strict=True))
                found.append((order.index(cell), Pair(names, own[is_known], own[~is_known])))
    wanted = product(dict.fromkeys(chain(*methods)), cells)
    missing = [f"{', '.join(cell)}: no {name}" for name, cell in wanted if name not in cells[cell]]
    return [pair for _, pair in sorted(found, key=lambda one: one[0])], missing
