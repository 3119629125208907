"""`evalcore agreement`: how far judges agree, what most of them say, and how each of them labels.

A coefficient is 1 minus the disagreement that was observed over the one that chance would give.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalcore.scores import key_of, read_scores
from ngramscan.errors import InputError
from ngramscan.reading.row_files import GivenTables, Table, as_tables, name_of, read_table
from ngramscan.report import optional_target
from ngramscan.report.command import Option, Result, command
from ngramscan.report.options import save
from ngramscan.statistics import resampling
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.resampling import Resampling, Studentized

Floats = NDArray[np.float64]
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


def _read_labels(tables: Iterable[Table]) -> dict[tuple[str, str], str | None]:
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
    rows: Any = list(read_table(table))
    columns = rows[0][1].keys()
    if columns >= {"dataset", "model", "method", "id", "rule"}:
        for (place, _), score in zip(rows, read_scores(rows), strict=True):
            if not score.rule.startswith("judge:"):
                raise InputError(place, f"rule {score.rule}; {_JUDGED}")
            item = " · ".join(str(part) for part in key_of(score) if part is not None)
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


def _scale(
    given: Iterable[str | None], level: str, order: Sequence[str], weights: str | None
) -> dict[str, float]:
    """Return what each label is worth, in the order of the labels: numbers by size, or as given."""
    numbers = {label: _number(label) for label in given if label is not None}
    labels = sorted(numbers, key=lambda label: (numbers[label], label))
    if len(labels) > 50:  # numbers that were measured; pairs of them would take much memory
        raise InputError("labels", f"{len(labels)} different ones; at most 50 can be")
    is_nominal = level == "nominal" and not weights
    if order and (is_nominal or level == "interval"):
        raise InputError("--order", f"level {level} has none; --level ordinal and --weights have")
    if order and not (len(set(order)) == len(order) and set(labels) <= set(order)):
        raise InputError("--order", f"each label once was expected: {', '.join(labels)}")
    if order or is_nominal:
        return {label: float(place) for place, label in enumerate(order or labels)}
    if unknown := [label for label in labels if not math.isfinite(numbers[label])]:
        option = f"--weights {weights}" if weights else f"--level {level}"
        cure = "" if level == "interval" else "; --order says how labels are ordered"
        raise InputError(option, f"label {unknown[0]!r} is no number{cure}")
    return {label: numbers[label] for label in labels}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf


# Coefficients


def coefficient(
    codes: NDArray[np.int64], values: Floats, apart: str, surplus: int | None, how: Resampling
) -> tuple[int, float | None, float | None, float | None, str]:
    """Return the number of items, a coefficient, its interval, and why one of these is missing.

    `codes` has shape (n_items, n_judges): which label, -1 where there is none. `apart` says how far
    labels are apart: a level of measurement, or how disagreement is weighted. Without a surplus
    chance gives each of two judges their own labels: Cohen's kappa (1960,
    10.1177/001316446002000104; weighted: 1968, 10.1037/h0026256). With one it gives the labels of
    all, from the number of which it is taken: 1 for Krippendorff's alpha (2019, Content Analysis,
    chapter 12), 0 for Fleiss' kappa (1971, 10.1037/h0031619).
    """
    codes, each = codes[(codes >= 0).sum(axis=1) >= 2], np.eye(len(values), dtype=np.int64)
    n, given = len(codes), np.unique(codes[codes >= 0])
    if not n:
        return n, None, None, None, "there are no items"
    rows, possible = codes, given[:, None].repeat(2, axis=1)
    if surplus is not None:
        rows = (codes[:, :, None] == range(len(values))).sum(axis=1)
        possible = codes.shape[1] * each[given]
    # Rows that are only possible occur 0 times.
    patterns, where = np.unique(np.concatenate([rows, possible]), axis=0, return_inverse=True)
    counts = np.bincount(where.ravel()[:n], minlength=len(patterns))
    first, second = (patterns, patterns) if surplus is not None else each[patterns.T]
    gaps = np.abs(values[:, None] - values)
    known = {"nominal": 1 - each, "linear": gaps, "ordinal": None}
    compare = partial(
        _compare, of=(first, second), apart=known.get(apart, gaps**2), surplus=surplus or 0
    )
    data, influences = compare(counts[None])
    value = 1 - float(data.values[0])
    if math.isnan(value):
        return n, None, None, None, "not defined: all labels are the same"
    generator, at_once = (
        np.random.default_rng(how.seed),
        max(1, resampling.VALUES_AT_ONCE // counts.size),
    )
    sizes = [min(at_once, how.draws - start) for start in range(0, how.draws, at_once)]
    parts = [compare(generator.multinomial(n, counts / n, size=size))[0] for size in sizes]
    drawn = Studentized(*map(np.concatenate, zip(*parts, strict=True)))
    # The most extreme item may be one that few samples have, on which all judges agree.
    most = float(np.abs(influences).max())
    found = resampling.studentized_interval(data, drawn, n, how.level, most)
    if found.low is None or found.high is None:
        return n, value, None, None, found.note
    return n, value, max(-1.0, 1 - found.high), 1 - found.low, ""


@np.errstate(divide="ignore", invalid="ignore")
def _compare(
    tables: Any, of: tuple[Any, Any], apart: Any, surplus: int
) -> tuple[Studentized, Floats]:
    """Return disagreement within items over that by chance, and what each item adds to its log.

    Tables say how many items have which pattern, `of` how often such an item has which label: from
    one judge and another, or both times from all.
    """
    first, second = of
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


# Shares and votes


def _shares(
    table: dict[str, list[str | None]],
    judges: Sequence[str],
    names: Iterable[str],
    votes: Sequence[VoteRow],
) -> Iterator[AgreementRow]:
    complete = [row for row in table.values() if None not in row]
    yield _share("unanimous", "all", None, sum(len({*row}) == 1 for row in complete), len(complete))
    told = Counter(vote.label for vote in votes if vote.judges)
    for label in sorted(told, key=lambda label: (label is None, label)):
        yield _share("majority", "all", label, told[label], told.total())
    for judge, own in zip(judges, zip(*table.values(), strict=True), strict=True):
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
    level: Literal["nominal", "ordinal", "interval"] = "nominal",
    order: Annotated[str | Sequence[str], Option(metavar="LABELS")] = "",
    weights: Literal["linear", "quadratic"] | None = None,
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
    given = _read_labels(as_tables(labels))
    worth = _scale(given.values(), level, [*order], weights)
    items, judges = (list(dict.fromkeys(key[part] for key in given)) for part in (0, 1))
    if len(judges) < 2:
        raise InputError("labels", f"of {len(judges)} judge; at least two were expected")
    table = {item: [given.get((item, judge)) for judge in judges] for item in items}
    numbers = {label: number for number, label in enumerate(worth)}
    codes = np.array([[numbers.get(label or "", -1) for label in row] for row in table.values()])
    coefficients = [("cohen_kappa", "nominal", "")]
    if weights:
        coefficients.append(("weighted_kappa", weights, f"{weights} weights"))
    wanted: list[tuple[str, str, str, Any, str, int | None]] = [
        (name, " · ".join(judges[place] for place in pair), note, codes[:, pair], apart, None)
        for name, apart, note in coefficients
        for pair in combinations(range(len(judges)), 2)
    ]
    complete = codes[(codes >= 0).all(axis=1)]
    wanted.append(("fleiss_kappa", "all", "", complete, "nominal", 0))
    wanted.append(("krippendorff_alpha", "all", level, codes, level, 1))
    values, how, rows = np.array([*worth.values()]), Resampling(draws, seed), []
    for statistic, named, note, own, apart, surplus in wanted:
        n, value, low, high, why = coefficient(own, values, apart, surplus, how)
        said = "; ".join(filter(None, (note, why)))
        rows.append(AgreementRow(statistic, named, None, n, None, value, low, high, said))
    voted = [_vote(item, row) for item, row in table.items()]
    rows += _shares(table, judges, worth, voted)
    save(voted, VoteRow, target)
    drawn = f"Intervals of coefficients: {draws:,} draws of items, seed {seed}"
    return Result(rows, AgreementRow, notices=[drawn])
