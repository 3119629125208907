"""`evalcore agreement`: how far judges agree, what most of them say, and how each of them labels.

A coefficient is 1 minus the disagreement that was observed over the one that chance would give.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalcore.scores import read_scores
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.options import save
from ngramscan.output.row_files import GivenTables, Table, as_tables, name_of, read_table
from ngramscan.statistics import resampling
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.resampling import ITEMS_FOR_AN_INTERVAL, Resampling, Studentized

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Shape (n_items, n_judges): which label, from 0; -1 where there is none."""
Labels = Sequence[Sequence[str | None]]
Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["linear", "quadratic"] | None
Found = tuple[int, float | None, float | None, float | None, str]
"""The number of items, a coefficient, its interval, and why one of these is missing."""
_MOST_LABELS = 50
"""More are numbers that were measured rather than labels; pairs of them would take much memory."""
_ZERO = 1e-9
"""A standard error below it is a rounding error."""
_JUDGED = "rows of `evalcore judge` were expected"


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One thing that was found about the labels."""

    statistic: str
    """A coefficient, `unanimous`, `majority` (a label got more votes than any other), `share` (of a
    judge's labels) or `missing`."""
    judges: str
    label: str | None
    """That `majority` and `share` are about; None: no label, as where votes are tied."""
    items: int
    count: int | None
    value: float | None
    """A coefficient, or a share from 0 to 1."""
    low: float | None
    """Limit of the interval; None: there is none, and the note says why."""
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


def read_labels(tables: Iterable[Table]) -> dict[tuple[str, str], str | None]:
    """Return the labels of some tables by item and judge; None: it is missing."""
    labels: dict[tuple[str, str], str | None] = {}
    places: dict[tuple[str, str], str] = {}
    for place, item, judge, value in chain.from_iterable(map(_cells, tables)):
        if not item or not judge:
            raise InputError(place, "no judge" if item else "no item")
        if isinstance(value, dict | list):
            problem = f"label {json.dumps(value)}; a text or a number was expected"
            raise InputError(place, problem)
        first = places.setdefault((item, judge), place)
        if first != place:
            raise InputError(place, f"item {item!r} has a label of {judge} also at {first}")
        # In JSON 1 and 1.0 are the same label.
        labels[item, judge] = (f"{value:g}" if isinstance(value, float) else _text(value)) or None
    return labels


def _cells(table: Table) -> Iterator[tuple[str, str, str, Any]]:
    """Yield the place, item, judge and label of each cell."""
    rows = list(read_table(table))
    if not rows:
        raise InputError(name_of(table), "no rows there")
    columns = rows[0][1].keys()
    if columns >= {"dataset", "model", "method", "id", "rule"}:
        for number, score in enumerate(read_scores(table), 1):
            place = f"{name_of(table)}, row {number}"
            if not score.rule.startswith("judge:"):
                raise InputError(place, f"rule {score.rule}; {_JUDGED}")
            parts = (score.dataset, score.model, score.method, score.id, score.epoch)
            item = " · ".join(str(part) for part in parts if part is not None)
            yield place, item, score.rule.removeprefix("judge:"), score.answer
    elif "item" not in columns or len(columns) == 1:
        forms = "columns item, judge, label; or item and one per judge; or"
        raise InputError(name_of(table), f"columns {', '.join(columns)}; {forms} {_JUDGED}")
    else:
        is_long = columns >= {"judge", "label"}
        for place, row in rows:
            item = _text(row.pop("item", None))
            given = {_text(row.get("judge")): row.get("label")} if is_long else row
            yield from ((place, item, judge, label) for judge, label in given.items())


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


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
    if unknown := [label for label in found if not math.isfinite(worth[label])]:
        option = f"--weights {weights}" if weights else f"--level {level}"
        cure = "" if level == "interval" else "; --order says how labels are ordered"
        raise InputError(option, f"label {unknown[0]!r} is no number{cure}")
    return worth


def _number(text: str, otherwise: float) -> float:
    try:
        return float(text)
    except ValueError:
        return otherwise


def coefficient(
    codes: Codes, values: Floats, apart: str, surplus: int | None, how: Resampling
) -> Found:
    """Return 1 minus the disagreement within items over that of labels put together by chance.

    `apart` says how far labels are apart: a level of measurement, or how disagreement is weighted.
    Without a surplus chance gives each of two judges their own labels: Cohen's kappa (1960,
    10.1177/001316446002000104; weighted: 1968, 10.1037/h0026256). With one it gives the labels of
    all, from the number of which it is taken: 1 for Krippendorff's alpha (2019, Content Analysis,
    chapter 12), 0 for Fleiss' kappa (1971, 10.1037/h0031619).
    """
    codes, each = codes[(codes >= 0).sum(axis=1) >= 2], np.eye(len(values), dtype=np.int64)
    given, agreed = np.unique(codes[codes >= 0]), codes.shape[1]
    rows, possible = codes, given[:, None].repeat(2, axis=1)
    if surplus is not None:
        rows, possible = (codes[:, :, None] == range(len(values))).sum(axis=1), agreed * each[given]
    # Rows that are only possible occur 0 times.
    patterns, where = np.unique(np.concatenate([rows, possible]), axis=0, return_inverse=True)
    counts = np.bincount(where.ravel()[: len(rows)], minlength=len(patterns)).astype(np.float64)
    first, second = (patterns, patterns) if surplus is not None else each[patterns.T]
    gaps = np.abs(values[:, None] - values)
    known = {"nominal": 1 - each, "linear": gaps, "ordinal": None}
    return _estimate(counts, (first, second, known.get(apart, gaps**2), surplus or 0), how)


@np.errstate(divide="ignore", invalid="ignore")
def _compare(
    tables: Floats, first: Any, second: Any, apart: Floats | None, surplus: int
) -> tuple[Studentized, Floats]:
    """Return disagreement within items over that by chance, and what each item adds to its log.

    Tables say how many items have which pattern, `first` and `second` how often such an item has
    which label: from one judge and another, or both times from all.
    """
    sizes, n_labels = first.sum(axis=1), first.shape[1]
    pairs = first[:, :, None] * second[:, None, :] / np.maximum(sizes - 1, 1)[:, None, None]
    flat = pairs.reshape(len(first), n_labels**2)
    ones, others = tables @ first, tables @ second
    n = ones.sum(axis=1)
    # An ordinal label stands in the middle of its own among all labels in their order.
    places = np.cumsum(ones, axis=1) - ones / 2
    gaps = places[:, :, None] - places[:, None, :]
    distances = gaps**2 if apart is None else apart[None]
    own = distances.reshape(len(distances), -1) @ flat.T
    to_ones, to_others = ((distances @ side[:, :, None])[:, :, 0] for side in (ones, others))
    observed, expected = (tables * own).sum(axis=1), (ones * to_others).sum(axis=1)
    by_chance = (to_others @ first.T + to_ones @ second.T) / expected[:, None]
    influences = own / observed[:, None] - by_chance + sizes / n[:, None]
    if apart is None:
        # One more of a label moves the places of those above it, too.
        within = (tables @ flat).reshape(-1, n_labels, n_labels) / observed[:, None, None]
        outside = ones[:, :, None] * others[:, None, :] / expected[:, None, None]
        moved = 4 * ((within - outside) * gaps).sum(axis=2)
        influences += (np.cumsum(moved[:, ::-1], axis=1)[:, ::-1] - moved / 2) @ first.T
    ratios = np.where(expected > 0, (n - surplus) * observed / expected, np.nan)
    items = tables.sum(axis=1)
    spread = np.sqrt(items / np.maximum(items - 1, 1) * (tables * influences**2).sum(axis=1))
    return Studentized(ratios, ratios * spread), influences


def _estimate(counts: Floats, of: tuple[Any, ...], how: Resampling) -> Found:
    """Return the coefficient of some items, how many of which have each pattern of labels."""
    n = int(counts.sum())
    if not n:
        return 0, None, None, None, "there are no items"
    data, influences = _compare(counts[None], *of)
    value = 1 - float(data.values[0])
    if math.isnan(value):
        return n, None, None, None, "not defined: all labels are the same"
    why = "no interval: all items give the same value" * (not data.errors[0] > _ZERO)
    if value == 1:
        why = "no interval: the judges never disagree"
    if n < ITEMS_FOR_AN_INTERVAL:
        why = f"no interval: {n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    if why:
        return n, value, None, None, why
    generator, parts = np.random.default_rng(how.seed), []
    at_once = max(1, resampling.VALUES_AT_ONCE // counts.size)
    for start in range(0, how.draws, at_once):
        tables = generator.multinomial(n, counts / n, size=min(at_once, how.draws - start))
        parts.append(_compare(tables.astype(np.float64), *of)[0])
    drawn = Studentized(*map(np.concatenate, zip(*parts, strict=True)))
    # The most extreme item may be one that few samples have, on which all judges agree.
    most = float(np.abs(influences).max())
    low, high = np.exp(resampling.studentized_limits(data.log(), drawn.log(), n, how.level, most))
    return n, value, max(-1.0, 1 - float(high)), 1 - float(low), ""


def _row(statistic: str, judges: str, note: str, found: Found) -> AgreementRow:
    n, value, low, high, why = found
    said = "; ".join(filter(None, (note, why)))
    return AgreementRow(statistic, judges, None, n, None, value, low, high, said)


def _shares(
    table: Labels, judges: Sequence[str], names: Iterable[str], votes: Sequence[VoteRow]
) -> Iterator[AgreementRow]:
    complete = [row for row in table if None not in row]
    yield _share("unanimous", "all", None, sum(len({*row}) == 1 for row in complete), len(complete))
    told = Counter(vote.label for vote in votes if vote.judges)
    for label in sorted(told, key=lambda label: (label is None, label)):
        yield _share("majority", "all", label, told[label], told.total())
    for judge, own in zip(judges, zip(*table, strict=True), strict=True):
        counts = Counter(own)
        n_missing = counts.pop(None, 0)
        for label in names:
            yield _share("share", judge, label, counts[label], counts.total())
        if n_missing:
            yield _share("missing", judge, None, n_missing, len(own))


def _share(statistic: str, judges: str, label: str | None, count: int, n: int) -> AgreementRow:
    head = statistic, judges, label, n, count
    if not n:
        return AgreementRow(*head, None, None, None, "there are no items")
    share = wilson(count, n)
    note = "tied votes" if (statistic, label) == ("majority", None) else ""
    return AgreementRow(*head, share.value, share.low, share.high, note)


def _vote(item: str, labels: Sequence[str | None]) -> VoteRow:
    counts = Counter(label for label in labels if label is not None)
    most = max(counts.values(), default=0)
    winners = [label for label in counts if counts[label] == most]
    return VoteRow(item, winners[0] if len(winners) == 1 else None, most, counts.total())


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
    seed : see compare

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
    numbers = {label: number for number, label in enumerate(worth)}
    table = [[given.get((item, judge)) for judge in judges] for item in items]
    codes = np.array([[numbers.get(label or "", -1) for label in row] for row in table])
    values, how, rows = np.array([*worth.values()]), Resampling(draws, seed), []
    for kind in dict.fromkeys(["nominal", weights or "nominal"]):
        weighted = kind != "nominal"
        name, note = ("weighted_kappa", f"{kind} weights") if weighted else ("cohen_kappa", "")
        for pair in combinations(range(len(judges)), 2):
            named = " · ".join(judges[place] for place in pair)
            rows.append(
                _row(name, named, note, coefficient(codes[:, pair], values, kind, None, how))
            )
    complete = codes[(codes >= 0).all(axis=1)]
    fleiss = coefficient(complete, values, "nominal", 0, how)
    rows.append(_row("fleiss_kappa", "all", "", fleiss))
    alpha = coefficient(codes, values, level, 1, how)
    rows.append(_row("krippendorff_alpha", "all", level, alpha))
    said = [_vote(item, row) for item, row in zip(items, table, strict=True)]
    rows += _shares(table, judges, worth, said)
    save(said, VoteRow, target)
    drawn = f"Intervals of coefficients: {draws:,} draws of items, seed {seed}"
    return Result(rows, AgreementRow, notices=[drawn])
