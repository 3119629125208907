"""`evalcore agreement`: how far judges agree, what most of them say, and how each of them labels.

A coefficient is 1 minus the disagreement that was observed over the one that chance would give.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any, Literal, SupportsInt

import numpy as np
from numpy.typing import NDArray

from evalcore.row_files import GivenTables, Table, as_tables, name_of, read_table
from evalcore.scores import read_scores
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.options import save
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.resampling import (
    ITEMS_FOR_AN_INTERVAL,
    Resampling,
    Studentized,
    studentized_limits,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Shape (n_items, n_judges): which label, from 0; -1 where there is none."""
Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["linear", "quadratic"] | None
Measure = Callable[[Floats], tuple[Floats, Floats]]
"""From how many items have each pattern of labels, shape (tables, patterns), what was observed over
what chance gives, nan where it gives none; and what each item adds to its logarithm."""
Found = tuple[int, float | None, float | None, float | None, str]
"""Of how many items, a coefficient, its interval, and why one of these is missing."""
_MOST_LABELS = 50
"""More are numbers that were measured rather than labels; pairs of them would take much memory."""
_VALUES_AT_ONCE = 1_000_000
_ZERO = 1e-9
"""A standard error below it is a rounding error."""
_JUDGED = "rows of `evalcore judge` were expected"


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


# Labels from tables of three forms, and as numbers


def read_labels(tables: Sequence[Table]) -> dict[tuple[str, str], str | None]:
    """Return the labels of some tables by item and judge; None: it is missing."""
    labels: dict[tuple[str, str], str | None] = {}
    places: dict[tuple[str, str], str] = {}
    for place, item, judge, value in chain.from_iterable(map(_cells, tables)):
        if isinstance(value, dict | list):
            problem = f"label {json.dumps(value)}; a text or a number was expected"
            raise InputError(place, problem)
        first = places.setdefault((item, judge), place)
        if first != place:
            raise InputError(place, f"item {item!r} has a label of {judge} also at {first}")
        # In JSON 1 and 1.0 are the same label.
        text = f"{value:g}" if isinstance(value, float) else str(value).strip()
        labels[item, judge] = None if value is None else text or None
    return labels


def _cells(table: Table) -> Iterator[tuple[str, str, str, Any]]:
    """Yield the place, item, judge and label of each cell."""
    read = read_table(table)
    head = next(read, None)
    if head is None:
        raise InputError(name_of(table), "no rows there")
    columns = head[1].keys()
    if columns >= {"dataset", "model", "method", "id", "rule"}:
        yield from _judged(table)
    elif "item" not in columns or len(columns) == 1:
        forms = "columns item, judge, label; or item and one per judge; or"
        raise InputError(name_of(table), f"columns {', '.join(columns)}; {forms} {_JUDGED}")
    else:
        for place, row in chain([head], read):
            item = _text(place, "item", row)
            if columns >= {"judge", "label"}:
                yield place, item, _text(place, "judge", row), row.get("label")
            else:
                yield from ((place, item, judge, row[judge]) for judge in row if judge != "item")


def _judged(table: Table) -> Iterator[tuple[str, str, str, Any]]:
    for number, row in enumerate(read_scores(table), 1):
        place = f"{name_of(table)}, row {number}"
        if not row.rule.startswith("judge:"):
            raise InputError(place, f"rule {row.rule}; {_JUDGED}")
        parts = (row.dataset, row.model, row.method, row.id, row.epoch)
        item = " · ".join(str(part) for part in parts if part is not None)
        yield place, item, row.rule.removeprefix("judge:"), row.answer


def _text(place: str, name: str, row: Mapping[str, Any]) -> str:
    text = "" if row.get(name) is None else str(row[name]).strip()
    if not text:
        raise InputError(place, f"no {name}")
    return text


def scale(
    given: Iterable[str | None], level: Level, order: Sequence[str], weights: Weights
) -> dict[str, float]:
    """Return what each label is worth, in the order of the labels: numbers by size, or as given."""
    labels = {label for label in given if label is not None}
    found = sorted(labels, key=lambda label: (_number(label, math.inf), label))
    if len(found) > _MOST_LABELS:
        raise InputError("labels", f"{len(found)} different ones; at most {_MOST_LABELS} can be")
    is_nominal = level == "nominal" and not weights
    if order and (is_nominal or level == "interval"):
        problem = f"level {level} has none; --level ordinal and --weights have"
        raise InputError("--order", problem)
    absent = [label for label in found if label not in order]
    if order and (absent or len(set(order)) < len(order)):
        problem = f"without {', '.join(absent)}" if absent else "a label stands in it twice"
        raise InputError("--order", f"{problem}; each label once was expected")
    if order or is_nominal:
        return {label: float(number) for number, label in enumerate(order or found)}
    worth = {label: _number(label, math.nan) for label in found}
    for label in found:
        if not math.isfinite(worth[label]):
            option = f"--weights {weights}" if weights else f"--level {level}"
            cure = "" if level == "interval" else "; --order says how labels are ordered"
            raise InputError(option, f"label {label!r} is no number{cure}")
    return worth


def _number(text: str, otherwise: float) -> float:
    try:
        return float(text)
    except ValueError:
        return otherwise


# Coefficients


def cohen_kappa(codes: Codes, values: Floats, weights: Weights, resampling: Resampling) -> Found:
    """Estimate the agreement of two judges: Cohen 1960, 10.1177/001316446002000104.

    Weighted by the distance of the values, or its square: Cohen 1968, 10.1037/h0026256.
    """
    known = codes[(codes >= 0).all(axis=1)]
    seen = np.unique(known)
    cells, counts = _patterns(known, np.column_stack([seen, seen]))
    first, second = cells.T
    gaps = np.abs(values[:, None] - values)
    apart = {None: 1 - np.eye(len(values)), "linear": gaps, "quadratic": gaps**2}[weights]
    own, n = apart[first, second], len(known)

    def measure(tables: Floats) -> tuple[Floats, Floats]:
        rows, columns = tables @ np.eye(len(values))[first], tables @ np.eye(len(values))[second]
        to_columns, to_rows = columns @ apart, rows @ apart
        observed, expected = tables @ own, (rows * to_columns).sum(axis=1)
        by_chance = to_columns[:, first] + to_rows[:, second]
        influences = own / observed[:, None] - by_chance / expected[:, None] + 1 / n
        return _ratio(n * observed, expected), influences

    return _estimate(counts, measure, resampling)


def pooled_agreement(
    codes: Codes, values: Floats, level: Level, surplus: int, resampling: Resampling
) -> Found:
    """Return 1 minus the disagreement within items over that between any two labels.

    The surplus is how many labels are taken off all of them: 1 for Krippendorff's alpha (2019,
    Content Analysis, chapter 12), 0 for Fleiss' kappa (1971, 10.1037/h0031619).
    """
    n_judges, n_labels = codes.shape[1], len(values)
    labels = (codes[:, :, None] == np.arange(n_labels)).sum(axis=1)
    seen = np.flatnonzero(labels.sum(axis=0))
    given, counts = _patterns(labels, n_judges * np.eye(n_labels, dtype=np.int64)[seen])
    pairs = given[:, :, None] * given[:, None, :] / (given.sum(axis=1) - 1)[:, None, None]
    flat = pairs.reshape(len(given), n_labels**2)

    def measure(tables: Floats) -> tuple[Floats, Floats]:
        totals = tables @ given
        n = totals.sum(axis=1)
        # An ordinal label stands in the middle of its own among all labels in their order.
        places = np.cumsum(totals, axis=1) - totals / 2
        stand = places if level == "ordinal" else values[None]
        gaps = stand[:, :, None] - stand[:, None, :]
        apart = (1 - np.eye(n_labels))[None] if level == "nominal" else gaps**2
        own = apart.reshape(len(apart), -1) @ flat.T
        to_totals = (apart @ totals[:, :, None])[:, :, 0]
        observed, expected = (tables * own).sum(axis=1), (totals * to_totals).sum(axis=1)
        slopes = (1 / n)[:, None] - 2 * to_totals / expected[:, None]
        if level == "ordinal":
            # One more of a label moves the places of those above it, too.
            within = (tables @ flat).reshape(-1, n_labels, n_labels) / observed[:, None, None]
            by_chance = totals[:, :, None] * totals[:, None, :] / expected[:, None, None]
            moved = 4 * ((within - by_chance) * gaps).sum(axis=2)
            slopes += np.cumsum(moved[:, ::-1], axis=1)[:, ::-1] - moved / 2
        influences = own / observed[:, None] + slopes @ given.T
        return _ratio((n - surplus) * observed, expected), influences

    return _estimate(counts, measure, resampling)


def _patterns(rows: Codes, possible: Codes) -> tuple[Codes, Floats]:
    """Return the different rows and how often each occurs: 0 times, if it is only possible."""
    patterns, where = np.unique(np.concatenate([rows, possible]), axis=0, return_inverse=True)
    counts = np.bincount(where.ravel()[: len(rows)], minlength=len(patterns))
    return patterns, counts.astype(np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0))


def _estimate(counts: Floats, measure: Measure, resampling: Resampling) -> Found:
    """Return the coefficient of some items, how many of which have each pattern of labels."""
    n = int(counts.sum())
    if not n:
        return 0, None, None, None, "there are no items"
    data, influences = _studentized(counts[None], measure)
    value = 1 - float(data.values[0])
    if math.isnan(value):
        return n, None, None, None, "not defined: all labels are the same"
    if n < ITEMS_FOR_AN_INTERVAL:
        return n, value, None, None, f"no interval: {n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    if value == 1:
        return n, value, None, None, "no interval: the judges never disagree"
    if not data.errors[0] > _ZERO:
        return n, value, None, None, "no interval: all items give the same value"
    generator = np.random.default_rng(resampling.seed)
    at_once = max(1, _VALUES_AT_ONCE // counts.size)
    parts = []
    for start in range(0, resampling.draws, at_once):
        size = min(at_once, resampling.draws - start)
        tables = generator.multinomial(n, counts / n, size=size).astype(np.float64)
        parts.append(_studentized(tables, measure)[0])
    drawn = Studentized(*map(np.concatenate, zip(*parts, strict=True)))
    # The most extreme item may be one that few samples have, on which all judges agree.
    most = float(np.abs(influences).max())
    low, high = studentized_limits(data.log(), drawn.log(), n, resampling.level, most)
    return n, value, max(-1.0, 1 - float(np.exp(high))), 1 - float(np.exp(low)), ""


def _studentized(tables: Floats, measure: Measure) -> tuple[Studentized, Floats]:
    """Return ratios of disagreement with their standard errors, and what each item adds."""
    n = tables[0].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios, influences = measure(tables)
        spread = np.sqrt(n / max(n - 1, 1) * (tables * influences**2).sum(axis=1))
    return Studentized(ratios, ratios * spread), influences


# Rows


def _coefficients(
    codes: Codes,
    judges: Sequence[str],
    worth: Floats,
    level: Level,
    weights: Weights,
    of: Resampling,
) -> Iterator[AgreementRow]:
    for kind in dict.fromkeys([None, weights]):
        name, note = ("weighted_kappa", f"{kind} weights") if kind else ("cohen_kappa", "")
        for pair in combinations(range(len(judges)), 2):
            named = " · ".join(judges[place] for place in pair)
            yield _row(name, named, note, cohen_kappa(codes[:, pair], worth, kind, of))
    labelled = (codes >= 0).sum(axis=1)
    complete, comparable = codes[labelled == len(judges)], codes[labelled >= 2]
    fleiss = pooled_agreement(complete, worth, "nominal", 0, of)
    alpha = pooled_agreement(comparable, worth, level, 1, of)
    yield _row("fleiss_kappa", "all", "", fleiss)
    yield _row("krippendorff_alpha", "all", level, alpha)


def _row(statistic: str, judges: str, note: str, found: Found) -> AgreementRow:
    n, value, low, high, told = found
    said = "; ".join(filter(None, (note, told)))
    return AgreementRow(statistic, judges, None, n, None, value, low, high, said)


def _shares(
    codes: Codes, judges: Sequence[str], names: Sequence[str], votes: Sequence[VoteRow]
) -> Iterator[AgreementRow]:
    complete = codes[(codes >= 0).all(axis=1)]
    same = (complete == complete[:, :1]).all(axis=1).sum()
    yield _share("unanimous", "all", None, same, len(complete))
    told = Counter(vote.label for vote in votes if vote.judges)
    for label in sorted(told, key=lambda label: (label is None, label)):
        yield _share("majority", "all", label, told[label], told.total())
    for judge, own in zip(judges, codes.T, strict=True):
        n = (own >= 0).sum()
        for code, label in enumerate(names):
            yield _share("share", judge, label, (own == code).sum(), n)
        if n < len(own):
            yield _share("missing", judge, None, len(own) - n, len(own))


def _share(
    statistic: str, judges: str, label: str | None, count: SupportsInt, of: SupportsInt
) -> AgreementRow:
    count, n = int(count), int(of)
    if not n:
        note = "there are no items"
        return AgreementRow(statistic, judges, label, 0, count, None, None, None, note)
    share = wilson(count, n)
    note = "tied votes" if (statistic, label) == ("majority", None) else ""
    return AgreementRow(
        statistic, judges, label, n, count, share.value, share.low, share.high, note
    )


def _vote(item: str, given: Codes, names: Sequence[str]) -> VoteRow:
    counts = (given[:, None] == np.arange(len(names))).sum(axis=0)
    winners = np.flatnonzero(counts == counts.max(initial=1))
    label = names[winners[0]] if len(winners) == 1 else None
    return VoteRow(item, label, int(counts.max(initial=0)), int(counts.sum()))


@command
def agreement(
    labels: GivenTables,
    *,
    level: Level = "nominal",
    order: Annotated[str | Sequence[str], Option(metavar="LABELS", has_commas=True)] = "",
    weights: Weights = None,
    votes: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    draws: Annotated[int, Option(least=100)] = 2000,
    seed: Annotated[int, Option(least=0)] = 1,
) -> Result:
    """Say how far judges agree, what most of them say, and how each of them labels.

    LABELS has the columns item, judge, label, or item and one column per judge, or is what
    `evalcore judge` wrote. A label may be missing. Coefficients are Cohen's kappa of each pair of
    judges, weighted too with --weights, Fleiss' kappa of the items that all labelled, and
    Krippendorff's alpha; shares have Wilson intervals.

    Parameters
    ----------
    labels : str, Path or DataFrame, or several of them
        Tables of labels, or rows of `judge`.
    level : str
        How far labels are apart, for Krippendorff's alpha: `nominal`, `ordinal` or `interval`.
    order : str or sequence of str
        Labels that are not numbers, from the lowest to the highest: low,mid,high.
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

    Examples
    --------
    $ evalcore agreement labels.csv
    $ evalcore agreement judged.jsonl --level interval --votes votes.csv
    $ evalcore agreement grades.csv --weights quadratic --order poor,fair,good
    """
    target = optional_target(votes)
    given = read_labels(as_tables(labels))
    worth = scale(given.values(), level, [*order], weights)
    items, judges = (list(dict.fromkeys(key[part] for key in given)) for part in (0, 1))
    if len(judges) < 2:
        raise InputError("labels", f"of {len(judges)} judge; at least two were expected")
    numbers: dict[str | None, int] = {label: number for number, label in enumerate(worth)}
    codes = np.array([[numbers.get(given.get((i, j)), -1) for j in judges] for i in items])
    values, resampling = np.array([*worth.values()]), Resampling(draws, seed)
    said = [_vote(item, own, [*worth]) for item, own in zip(items, codes, strict=True)]
    rows = [
        *_coefficients(codes, judges, values, level, weights, resampling),
        *_shares(codes, judges, [*worth], said),
    ]
    save(said, VoteRow, target)
    drawn = f"Intervals of coefficients: {draws:,} draws of items, seed {seed}"
    return Result(rows, AgreementRow, notices=[drawn])
