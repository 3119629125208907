"""The answers of two methods, side by side: pairs of answers to the same document."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from operator import itemgetter
from typing import Any

from evalcore.answer_table import CELL, NOT_ASKED, Frame, first_few
from ngramscan.messages import OptionUse, Text

_SAME_IN_A_PAIR = [
    *CELL,
    "cell",
    "source_cell",
    "problem",
    "document",
    "unit",
    "cluster",
    "weight",
    "subtask",
    "epoch",
]
"""Columns in which the two answers of a pair agree."""


def find_pairs(table: Frame, methods: Iterable[tuple[str, str]]) -> list[Frame]:
    """Return the pairs of answers of each baseline and treatment, for each cell that has both.

    Answers are paired by epoch if both methods have the same epochs. Otherwise each answer of one
    is paired with each answer of the other, so that the mean of the differences is the difference
    of a problem's means.

    Parameters
    ----------
    table : DataFrame
        See `make_answer_table`.
    methods : iterable of pair of str
        Baseline and treatment.

    Returns
    -------
    list of DataFrame
        One for each cell and pair of methods, in the order of the cells. Columns that describe one
        answer end in `_baseline` or `_treatment`; `lowest_level` is the lower level of the two.
    """
    table = table.assign(cell=table.groupby(CELL, sort=False).ngroup())
    epochs: Any = table.groupby(["source_cell", "method"])["epoch"].agg(frozenset).to_dict()
    cells_of_pairs = list[tuple[Any, int, Frame]]()
    for number, (baseline, treatment) in enumerate(methods):
        uneven_cells = [
            cell
            for cell, _ in epochs
            if epochs.get((cell, baseline)) != epochs.get((cell, treatment))
        ]
        is_uneven = table["source_cell"].isin(uneven_cells)
        answers = table.assign(epoch=table["epoch"].mask(is_uneven))
        pairs = _merge_answers(answers, baseline, treatment)
        is_both = pairs[["level_baseline", "level_treatment"]].notna()
        for cell, pairs_of_cell in pairs.groupby("cell"):
            if is_both.loc[pairs_of_cell.index].any().all():
                cells_of_pairs.append((cell, number, pairs_of_cell))
    return [pairs for _, _, pairs in sorted(cells_of_pairs, key=itemgetter(0, 1))]


def _merge_answers(answers: Frame, baseline: str, treatment: str) -> Frame:
    """Return all pairs of answers of two methods, and answers without a counterpart."""
    pairs = answers[answers["method"] == baseline].merge(
        answers[answers["method"] == treatment],
        how="outer",
        on=_SAME_IN_A_PAIR,
        suffixes=("_baseline", "_treatment"),
    )
    levels = pairs[["level_baseline", "level_treatment"]].fillna(NOT_ASKED)
    lowest_levels = levels.min(axis=1)
    pairs = pairs.assign(lowest_level=lowest_levels, baseline=baseline, treatment=treatment)
    return pairs.sort_values("position_baseline", kind="stable")


def describe_tasks_apart(table: Frame) -> list[str]:
    """Say how many documents two tasks have in common that are compared separately."""
    hashes = table.dropna(subset="hash").groupby("task", sort=False)["hash"].agg(set)
    documents: Any = hashes.to_dict()
    for (first_task, first_hashes), (second_task, second_hashes) in combinations(
        documents.items(), 2
    ):
        n_common = len(first_hashes & second_hashes)
        n_smaller = min(len(first_hashes), len(second_hashes))
        if 2 * n_common < n_smaller:
            common = f"{n_common:,} of {n_smaller:,} documents" if n_common else "no document"
            cure = "for one benchmark, `evalcore logs --dataset NAME`, then `compare --pair-by id`"
            return [f"{first_task} and {second_task} have {common} in common ({cure})"]
    return []


def describe_overlap_of_pairs(pairs: Frame) -> Text:
    """Describe which documents the two methods of pairs have in common; see `describe_overlap`."""
    methods = [pairs["baseline"].iloc[0], pairs["treatment"].iloc[0]]
    is_asked = pairs[["level_baseline", "level_treatment"]].notna().set_axis(methods, axis=1)
    has_hashes = bool(pairs[["hash_baseline", "hash_treatment"]].notna().any(axis=None))
    by_problem = is_asked.groupby([pairs["problem"], pairs["document"]], sort=False).any()
    return describe_overlap(by_problem.droplevel("problem"), has_hashes)


def describe_overlap(is_asked: Frame, has_hashes: bool) -> Text:
    """Describe which documents methods have in common.

    Parameters
    ----------
    is_asked : DataFrame of bool
        Whether a method, a column, was asked about a document, a row.
    has_hashes : bool
        Whether the hash of a document is known.

    Returns
    -------
    Text
        Part of a sentence; empty if one method was asked about all that another one was.
    """
    sizes, n_common = is_asked.sum(), int(is_asked.all(axis=1).sum())
    if n_common == 0:
        ids = [f"{method} has {first_few([*has[has].index])}" for method, has in is_asked.items()]
        pair_by_id = "if their ids mean the same, " + OptionUse("pair_by", "id")
        cure = pair_by_id if has_hashes else "check the ids"
        return f"no document in common: {'; '.join(ids)} (" + cure + ")"
    if n_common == sizes.min():
        return ""
    every = "both" if len(sizes) == 2 else "all"
    if sizes.nunique() == 1:
        return f"{n_common:,} of {sizes.iloc[0]:,} documents are in {every}"
    by_method = ", ".join(f"{n:,} of {method}" for method, n in sizes.items())
    return f"of the documents ({by_method}) {n_common:,} are in {every}"
