"""`evalcore agreement`: how far judges agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from evalcore.label_agreement import (
    LEVELS,
    WEIGHTS,
    AgreementRow,
    Scale,
    VoteRow,
    describe_agreement,
)
from evalcore.label_files import read_labels
from evalcore.row_files import GivenTables, Table, as_tables
from evalcore.statistics import Resampling
from ngramscan.output import listed, optional_target, refuse_other, strict_keywords, to_frame
from ngramscan.output.options import save

if TYPE_CHECKING:
    import pandas as pd

    from evalcore.kappas import Level, Weights


class AgreementOptions(TypedDict, total=False):
    """All options of `agreement` but the labels."""

    level: str
    order: str | Sequence[str] | None
    weights: str | None
    draws: int
    seed: int
    votes: str | Path | None


class Agreed(NamedTuple):
    """The rows of the command, and what to say beside them."""

    rows: list[AgreementRow]
    notices: list[str]


def agreement_with(tables: Sequence[Table], options: AgreementOptions) -> Agreed:
    """Describe the labels of some tables."""
    votes_target = optional_target(options.get("votes"))
    resampling = Resampling(options.get("draws", 2000), options.get("seed", 1))
    rows, votes = describe_agreement(read_labels(tables), _scale(options), resampling)
    save(votes, VoteRow, votes_target)
    drawn = (
        f"Intervals of coefficients: {resampling.draws:,} draws of items, seed {resampling.seed}"
    )
    return Agreed(rows, [drawn])


def _scale(options: AgreementOptions) -> Scale:
    level, weights = options.get("level", LEVELS[0]), options.get("weights")
    refuse_other("--level", level, LEVELS)
    if weights is not None:
        refuse_other("--weights", weights, WEIGHTS)
    labels = tuple(listed(options.get("order") or ()))
    return Scale(cast("Level", level), labels, cast("Weights | None", weights))


@strict_keywords
def agreement(
    labels: GivenTables,
    *,
    level: str = LEVELS[0],
    order: str | Sequence[str] | None = None,
    weights: str | None = None,
    votes: str | Path | None = None,
    draws: int = 2000,
    seed: int = 1,
) -> pd.DataFrame:
    """Say how far judges agree, what most of them say, and how each of them labels.

    Parameters
    ----------
    labels : str, Path or DataFrame, or several of them
        Tables of labels, or rows of `judge`.
    level : str
        How far labels are apart, for Krippendorff's alpha: `nominal`, `ordinal` or `interval`.
    order : str or sequence of str, optional
        Labels that are not numbers, the lowest first: `"low,mid,high"`, or one by one.
    weights : str, optional
        Add weighted kappas, in which disagreement counts by the distance of ordered labels
        (`linear`) or by its square (`quadratic`).
    votes : str or Path, optional
        Write what most judges say of each item to this file.
    draws : int
        Number of draws of items, for intervals.
    seed : int
        Random seed.

    Returns
    -------
    DataFrame
        One row per coefficient, share and judge.

    Raises
    ------
    InputError
        A file or an option is wrong.
    """
    options = AgreementOptions(
        level=level,
        order=order,
        weights=weights,
        votes=votes,
        draws=draws,
        seed=seed,
    )
    return to_frame(agreement_with(as_tables(labels), options).rows, AgreementRow)
