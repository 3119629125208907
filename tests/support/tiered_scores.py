"""Graded answers of two methods to problems that have a tier and points."""

from typing import Any

import numpy as np
import pandas as pd

METHODS = ["cot", "f-1"]
GROUP = ["dataset", "model", "tier"]


def made_scores() -> pd.DataFrame:
    """Two benchmarks and models, scores in sevenths; tiers and points belong to problems."""
    generator = np.random.default_rng(3)
    problems = pd.MultiIndex.from_product(
        [["a", "b"], map(str, range(40))], names=["dataset", "id"]
    )
    told = pd.DataFrame({"tier": generator.choice(["T1", "T2"], 80)}, index=problems)
    told["points"] = generator.integers(5, 31, 80) / 2
    runs = pd.MultiIndex.from_product([["m1", "m2"], METHODS], names=["model", "method"])
    table = told.reset_index().merge(runs.to_frame(index=False), how="cross")
    values = generator.integers(0, 8, len(table)) / 7
    answers = generator.choice(["2", "2.0", " 2 ", "x = 1", "X=1"], len(table))
    return table.assign(value=values, answer=answers, rule="r")


SCORES = made_scores()


def side_by_side(table: pd.DataFrame, column: str = "value") -> pd.DataFrame:
    """Return a column of scores by problem, with a column for each method."""
    keys = [*GROUP, "id", "points"]
    return table.pivot_table(index=keys, columns="method", values=column, aggfunc="first")


def found_by(frame: pd.DataFrame, *names: str) -> dict[tuple[Any, ...], Any]:
    """Return rows by these columns: by default dataset, model and group."""
    index = list(names) or ["dataset", "model", "group"]
    return {tuple(row[name] for name in index): row for row in frame.to_dict("records")}
