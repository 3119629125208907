"""`evalcore agreement`: how far judges agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

from evalcore.kappa_bounds import Counted
from evalcore.label_agreement import (
    LEVELS,
    AgreementRow,
    Scale,
    VoteRow,
    describe_agreement,
    describe_counts,
)
from evalcore.label_files import read_label_counts, read_labels
from evalcore.resampling import Resampling
from ngramscan.errors import InputError
from ngramscan.output import optional_target, to_frame
from ngramscan.output.options import save

if TYPE_CHECKING:
    import pandas as pd


class AgreementOptions(TypedDict, total=False):
    """All options of `agreement` but the labels."""

    level: str
    order: str | None
    counts: bool
    items: int | None
    unanimous: int | None
    majority: int | None
    draws: int
    seed: int
    votes: str | Path | None


class Agreed(NamedTuple):
    """The rows of the command, and what to say beside them."""

    rows: list[AgreementRow]
    notices: list[str]


def agreement_with(paths: Sequence[Path], options: AgreementOptions) -> Agreed:
    """Describe the labels of some files."""
    votes_target = optional_target(options.get("votes"))
    if options.get("counts"):
        return Agreed(_from_counts(paths, options), [])
    for name in ("items", "unanimous", "majority"):
        if options.get(name) is not None:
            raise InputError(f"--{name}", "it is for --counts; labels say it themselves")
    resampling = Resampling(options.get("draws", 2000), options.get("seed", 1))
    rows, votes = describe_agreement(read_labels(paths), _scale(options), resampling)
    save(votes, VoteRow, votes_target)
    drawn = (
        f"Intervals of coefficients: {resampling.draws:,} draws of items, seed {resampling.seed}"
    )
    return Agreed(rows, [drawn])


def _from_counts(paths: Sequence[Path], options: AgreementOptions) -> list[AgreementRow]:
    if len(paths) != 1:
        raise InputError("--counts", f"{len(paths)} files; one was expected")
    items, unanimous = options.get("items"), options.get("unanimous")
    if items is None or unanimous is None:
        raise InputError("--counts", "--items and --unanimous are needed with it")
    if options.get("votes"):
        raise InputError("--votes", "counts do not say what was said of which item")
    counted = Counted(read_label_counts(paths[0]), items, unanimous, options.get("majority"))
    return describe_counts(counted)


def _scale(options: AgreementOptions) -> Scale:
    level, order = options.get("level", "nominal"), options.get("order")
    labels = tuple(label.strip() for label in order.split(",")) if order else ()
    match level:
        case "nominal" | "ordinal" | "interval":
            return Scale(level, labels)
    raise InputError(f"--level {level}", f"one of {', '.join(LEVELS)} was expected")


def agreement(
    labels: str | Path | Sequence[str | Path], **options: Unpack[AgreementOptions]
) -> pd.DataFrame:
    """Say how far judges agree, what most of them say, and how each of them labels.

    Parameters
    ----------
    labels : str, Path or several of them
        Files of labels; with `counts` one file of counts.
    **options
        `level`, `order`, `counts`, `items`, `unanimous`, `majority`, `draws`, `seed`, `votes`, as
        the command has them.

    Returns
    -------
    DataFrame
        One row per coefficient, share and judge.

    Raises
    ------
    InputError
        A file or an option is wrong.
    """
    paths = [labels] if isinstance(labels, str | Path) else labels
    agreed = agreement_with([Path(path) for path in paths], options)
    return to_frame(agreed.rows, AgreementRow)
