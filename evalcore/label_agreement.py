"""Labels of judges → how far they agree, what most of them say, and how each of them labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evalcore.kappas import (
    Codes,
    Coefficient,
    Floats,
    Level,
    Weights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from evalcore.label_files import Labels
from evalcore.statistics import Resampling
from ngramscan.errors import InputError
from ngramscan.statistics.proportions import wilson

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
WEIGHTS: tuple[Weights, ...] = ("linear", "quadratic")
ALL_JUDGES = "all"
MOST_LABELS = 50
"""More are numbers that were measured rather than labels; pairs of them would take much memory."""


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One thing that was found about the labels."""

    statistic: str
    """`cohen_kappa`, `weighted_kappa`, `fleiss_kappa`, `krippendorff_alpha`, `unanimous`,
    `majority`: the label that got more votes than any other, `share`: of a judge's labels,
    `missing`."""
    judges: str
    label: str | None
    """Of `majority` and `share`; None: no label, as where votes are tied."""
    items: int
    """Of how many."""
    count: int | None
    value: float | None
    """A coefficient, or a share from 0 to 1."""
    low: float | None
    """Of the interval; None: there is none, and the note says why."""
    high: float | None
    note: str


@dataclass(frozen=True, slots=True)
class VoteRow:
    """What judges say of one item."""

    item: str
    label: str | None
    """That with more votes than any other; None: they are tied, or there is none."""
    votes: int
    """For that label, or for each of those that are tied."""
    judges: int
    """That labelled the item."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How far labels are apart."""

    level: Level = "nominal"
    """For Krippendorff's alpha."""
    order: tuple[str, ...] = ()
    """The labels from the lowest on, where they are not numbers."""
    weights: Weights | None = None
    """For the weighted kappa; None: there is none."""


def describe_agreement(
    labels: Labels, scale: Scale, resampling: Resampling
) -> tuple[list[AgreementRow], list[VoteRow]]:
    """Return all that can be said of some labels.

    Parameters
    ----------
    labels : Labels
        Of two judges at least.
    scale : Scale
        For Krippendorff's alpha and the weighted kappa.
    resampling : Resampling
        Of items, for intervals.

    Raises
    ------
    InputError
        There is one judge, or the scale does not fit the labels.
    """
    known, values = _scaled(labels, scale)
    if len(labels.judges) < 2:
        raise InputError("labels", f"of {len(labels.judges)} judge; at least two were expected")
    codes, worth = _codes(labels, known), np.array(values)
    rows = list(_pairs(labels, codes, worth, resampling))
    if scale.weights:
        rows += _pairs(labels, codes, worth, resampling, scale.weights)
    fleiss = fleiss_kappa(codes, len(known), resampling)
    alpha = krippendorff_alpha(codes, worth, scale.level, resampling)
    rows.append(_coefficient("fleiss_kappa", ALL_JUDGES, fleiss))
    rows.append(_coefficient("krippendorff_alpha", ALL_JUDGES, alpha, scale.level))
    votes = [_vote(item, list(row.values())) for item, row in labels.rows.items()]
    rows += [_unanimous(labels), *_majorities(votes), *_marginals(labels, known)]
    return rows, votes


# Labels as numbers


def _scaled(labels: Labels, scale: Scale) -> tuple[list[str], list[float]]:
    """Return the labels in their order, and what each is worth."""
    found = labels.labels
    if len(found) > MOST_LABELS:
        raise InputError("labels", f"{len(found)} different ones; at most {MOST_LABELS} can be")
    if scale.order:
        _check_order(found, scale)
        return list(scale.order), [float(n) for n in range(len(scale.order))]
    if scale.level == "nominal" and not scale.weights:
        return found, [float(n) for n in range(len(found))]
    return found, [_worth(label, scale) for label in found]


def _check_order(found: Sequence[str], scale: Scale) -> None:
    if scale.level == "interval" or (scale.level == "nominal" and not scale.weights):
        cure = "--level ordinal and --weights have"
        raise InputError("--order", f"level {scale.level} has none; {cure}")
    absent = [label for label in found if label not in scale.order]
    if absent or len(set(scale.order)) < len(scale.order):
        problem = f"without {', '.join(absent)}" if absent else "a label stands in it twice"
        raise InputError("--order", f"{problem}; each label once was expected")


def _worth(label: str, scale: Scale) -> float:
    try:
        value = float(label)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        option = f"--weights {scale.weights}" if scale.weights else f"--level {scale.level}"
        cure = "" if scale.level == "interval" else "; --order says how labels are ordered"
        raise InputError(option, f"label {label!r} is no number{cure}")
    return value


def _codes(labels: Labels, known: Sequence[str]) -> Codes:
    numbers = {label: number for number, label in enumerate(known)}
    return np.array(
        [
            [numbers[row[judge]] if judge in row else -1 for judge in labels.judges]
            for row in labels.rows.values()
        ],
        dtype=np.int64,
    ).reshape(len(labels.rows), len(labels.judges))


# Rows


def _pairs(
    labels: Labels,
    codes: Codes,
    values: Floats,
    resampling: Resampling,
    weights: Weights | None = None,
) -> Iterator[AgreementRow]:
    for first, second in combinations(range(len(labels.judges)), 2):
        found = cohen_kappa(codes[:, [first, second]], values, resampling, weights)
        named = f"{labels.judges[first]} · {labels.judges[second]}"
        if weights:
            yield _coefficient("weighted_kappa", named, found, f"{weights} weights")
        else:
            yield _coefficient("cohen_kappa", named, found)


def _coefficient(name: str, judges: str, found: Coefficient, note: str = "") -> AgreementRow:
    said = "; ".join(filter(None, (note, found.note)))
    return AgreementRow(name, judges, None, found.n, None, found.value, found.low, found.high, said)


def _share(statistic: str, judges: str, label: str | None, of: tuple[int, int]) -> AgreementRow:
    count, items = of
    if not items:
        note = "there are no items"
        return AgreementRow(statistic, judges, label, 0, count, None, None, None, note)
    share = wilson(count, items)
    return AgreementRow(
        statistic, judges, label, items, count, share.value, share.low, share.high, ""
    )


def _unanimous(labels: Labels) -> AgreementRow:
    complete = [row for row in labels.rows.values() if len(row) == len(labels.judges)]
    same = sum(len(set(row.values())) == 1 for row in complete)
    return _share("unanimous", ALL_JUDGES, None, (same, len(complete)))


def _vote(item: str, given: Sequence[str]) -> VoteRow:
    counts = Counter(given).most_common()
    most = counts[0][1] if counts else 0
    winners = [label for label, count in counts if count == most]
    return VoteRow(item, winners[0] if len(winners) == 1 else None, most, len(given))


def _majorities(votes: Sequence[VoteRow]) -> Iterator[AgreementRow]:
    labelled = [vote.label for vote in votes if vote.judges]
    counts = Counter(labelled)
    ordered = sorted((label for label in counts if label is not None), key=str)
    for label in (*ordered, *([None] if None in counts else [])):
        row = _share("majority", ALL_JUDGES, label, (counts[label], len(labelled)))
        yield row if label is not None else replace(row, note="tied votes")


def _marginals(labels: Labels, known: Sequence[str]) -> Iterator[AgreementRow]:
    for judge in labels.judges:
        counts = Counter(row[judge] for row in labels.rows.values() if judge in row)
        n = sum(counts.values())
        for label in known:
            yield _share("share", judge, label, (counts[label], n))
        if n < len(labels.rows):
            absent = (len(labels.rows) - n, len(labels.rows))
            yield _share("missing", judge, None, absent)
