"""`evalcore agreement`: how much judges agree, what most of them say, and how each of them labels.

A coefficient is 1 minus the observed disagreement divided by the disagreement expected by chance.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from statistics import multimode
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalcore.documents import name_documents
from evalcore.scores import ScoreRow, key_of, read_scores
from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse
from ngramscan.reading.row_files import GivenTables, Table, as_tables, name_of, read_table
from ngramscan.reporting.columns import print_notes, to_columns
from ngramscan.reporting.command import Option, Result, RowsFile, command
from ngramscan.reporting.layout import Layout, print_columns
from ngramscan.rows import Label, Limits, Plot, row_kind
from ngramscan.statistics.bounded_means import limit, tilted_distance
from ngramscan.statistics.estimates import fields_of, t_quantile
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.resampling import ITEMS_FOR_AN_INTERVAL, Floats

Integers = NDArray[np.int64]
UNUSUAL_ITEMS = 5
"""There is none either if fewer items have other labels than most."""
_JUDGED = "rows of `evalcore judge`"


@row_kind(
    "agreement",
    "Agreement of judges",
    Plot(
        "value",
        panel=("statistic",),
        label=("judges", "label"),
    ),
    key=("items",),
)
@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One coefficient of agreement, or one share of labels."""

    statistic: Label
    """A coefficient, `unanimous`, `majority` (items whose majority label it is), `share` (of a
    judge's labels) or `missing`."""
    judges: Label
    label: Label | None
    """The label of `majority` and `share`. None: it is not about a label, or votes are tied."""
    items: int
    count: int | None
    value: Annotated[float | None, Limits("low", "high")]
    """The coefficient, or the share as a fraction."""
    low: float | None
    """Limit of the interval. None if there is no interval (see `note`)."""
    high: float | None
    note: str


@row_kind(
    "agreement --votes",
    "Votes on each item",
    key=("label", "votes", "judges"),
)
@dataclass(frozen=True, slots=True)
class VoteRow:
    """The votes of the judges on one item."""

    item: Label
    label: str | None
    """The label with the most votes. None: votes are tied, or there are none."""
    votes: int
    """Votes for that label, or for each of the tied ones."""
    judges: int
    """Number of judges that labelled the item."""


def _read_labels(tables: Iterable[Table]) -> dict[tuple[str, str], str | None]:
    labels: dict[tuple[str, str], str | None] = {}
    places: dict[tuple[str, str], str] = {}
    for place, item, judge, value in _cells(tables):
        if not item or not judge:
            raise InputError(place, "no judge" if item else "no item")
        if isinstance(value, dict | list):
            raise InputError(place, f"label {json.dumps(value)}; expected text or a number")
        first = places.setdefault((item, judge), place)
        if first != place:
            raise InputError(place, f"item {item!r} already has a label of {judge} at {first}")
        # In JSON 1 and 1.0 are the same label.
        labels[item, judge] = (f"{value:g}" if isinstance(value, float) else _text(value)) or None
    return labels


_Cells = Iterator[tuple[str, str, str, Any]]
"""The place, the item, the judge and the label of each cell."""


def _cells(tables: Iterable[Table]) -> _Cells:
    judged = list[tuple[str, ScoreRow]]()
    for table in tables:
        rows: Any = list(read_table(table))
        if rows[0][1].keys() >= {"dataset", "model", "method", "id", "rule"}:
            places = [place for place, _ in rows]
            judged += zip(places, read_scores(rows, ScoreRow), strict=True)
        else:
            yield from _label_cells(table, rows)
    yield from _judged_cells(judged)


def _judged_cells(judged: Sequence[tuple[str, ScoreRow]]) -> _Cells:
    """Yield the labels of judges, for outputs about the same document."""
    scores = [score for _, score in judged]
    documents = name_documents(scores, {score.dataset: score.dataset for score in scores})
    for (place, score), document in zip(judged, documents, strict=True):
        if not score.rule.startswith("judge:"):
            raise InputError(place, f"rule {score.rule}; expected {_JUDGED}")
        output = key_of(replace(score, id=document))
        item = " · ".join(str(part) for part in output if part is not None)
        yield place, item, score.rule.removeprefix("judge:"), score.answer


def _label_cells(table: Table, rows: Sequence[tuple[str, dict[str, Any]]]) -> _Cells:
    """Yield the labels of a table with a column for judges, or for each judge."""
    columns = rows[0][1].keys()
    if "item" not in columns or len(columns) == 1:
        forms = "item, judge and label, or item and one column per judge"
        problem = f"the columns are {some_of(columns)}; expected {forms}, or {_JUDGED}"
        raise InputError(name_of(table), problem)
    is_long = columns >= {"judge", "label"}
    for place, row in rows:
        item = _text(row.pop("item", None))
        labels_by_judge = {_text(row.get("judge")): row.get("label")} if is_long else row
        yield from ((place, item, judge, label) for judge, label in labels_by_judge.items())


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _scale(
    used_labels: Iterable[str | None], scale: str, order: Sequence[str], weights: str | None
) -> dict[str, float]:
    """Return a number for each label, in the order of the labels: numbers by size, or as given."""
    numbers = {label: _number(label) for label in used_labels if label is not None}
    labels = sorted(numbers, key=lambda label: (numbers[label], label))
    if len(labels) > 50:  # probably measurements; all pairs of them would take too much memory
        raise InputError("labels", f"{len(labels)} different ones; at most 50 are possible")
    is_nominal = scale == "nominal" and not weights
    if order and (is_nominal or scale == "interval"):
        others = ", but by ordinal and " + OptionUse("weights")
        raise InputError(OptionUse("order"), "not used by " + OptionUse("scale", scale) + others)
    if order and not (len(set(order)) == len(order) and set(labels) <= set(order)):
        raise InputError(OptionUse("order"), f"expected each label once: {', '.join(labels)}")
    if order or is_nominal:
        return {label: float(place) for place, label in enumerate(order or labels)}
    if unknown := [label for label in labels if not math.isfinite(numbers[label])]:
        option = OptionUse("weights", weights) if weights else OptionUse("scale", scale)
        problem = f"label {unknown[0]!r} is not a number"
        if scale == "interval":
            raise InputError(option, problem)
        cure = "give the order of labels with " + OptionUse("order")
        raise InputError(option, f"{problem}; " + cure)
    return {label: numbers[label] for label in labels}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf


class CoefficientEstimate(NamedTuple):
    """A coefficient or a share, with its interval; `note` says why one of these is missing."""

    items: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


def coefficient(
    codes: Integers,
    values: Floats,
    distance: str,
    surplus: int | None,
    level: float = 0.95,
) -> CoefficientEstimate:
    """Return a coefficient of the agreement of judges.

    `codes` has shape (n_items, n_judges): the number of the label, or -1 if there is none.
    `distance` says how far labels are apart: a scale of measurement, or how disagreement is
    weighted. Without a surplus, chance draws from each judge's own labels: Cohen's kappa (1960,
    10.1177/001316446002000104; weighted: 1968, 10.1037/h0026256). Otherwise chance draws from the
    labels of all judges, whose number is reduced by the surplus: 1 for Krippendorff's alpha (2019,
    Content Analysis, chapter 12), 0 for Fleiss' kappa (1971, 10.1037/h0031619).
    """
    has_several_labels = (codes >= 0).sum(axis=1) >= 2
    codes = codes[has_several_labels]
    n = len(codes)
    is_label = codes >= 0
    used_codes = np.unique(codes[is_label])
    unit = np.eye(len(values), dtype=np.int64)
    if not n:
        return CoefficientEstimate(n, note="no items")
    if surplus is None:
        rows, possible = codes, np.array([*product(used_codes, repeat=2)])
    else:
        rows = (codes[:, :, None] == range(len(values))).sum(axis=1)
        possible = codes.shape[1] * unit[used_codes]
    # Rows that are possible but absent occur 0 times.
    patterns, where = np.unique(np.concatenate([rows, possible]), axis=0, return_inverse=True)
    counts = np.bincount(where.ravel()[:n], minlength=len(patterns))
    first, second = unit[patterns.T] if surplus is None else (patterns, patterns)
    gaps = np.abs(values[:, None] - values)
    distances = {"nominal": 1 - unit, "linear": gaps, "ordinal": None}.get(distance, gaps**2)
    ratio, observed, expected = _linearised(counts, first, second, distances, surplus or 0)
    if math.isnan(ratio):
        return CoefficientEstimate(n, note="not defined: all labels are the same")
    if note := _no_interval(counts, ratio):
        return CoefficientEstimate(n, 1 - ratio, note=note)

    def errors_from(supposed: float) -> float:
        """Return how many standard errors the ratio is from a supposed one."""
        residuals = ratio * (observed - expected) + (ratio - supposed) * expected
        added = residuals.min() if supposed < ratio else residuals.max()
        return tilted_distance(residuals, counts, float(added), weight=1.0)

    far = t_quantile(level, n - 1)
    low, high = (limit(errors_from, ratio, end, far) for end in (max(2.0, ratio), 0.0))
    return CoefficientEstimate(n, 1 - ratio, low=max(-1.0, 1 - low), high=1 - high)


def _no_interval(counts: Integers, ratio: float) -> str:
    n, unusual = int(counts.sum()), int(counts.sum() - counts.max())
    if n < ITEMS_FOR_AN_INTERVAL:
        return f"no interval: {n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    if not unusual or not ratio:
        return "no interval: all items give the same value"
    if unusual < UNUSUAL_ITEMS:
        return f"no interval: all but {unusual} of {n} items have the same labels"
    return ""


@np.errstate(divide="ignore", invalid="ignore")
def _linearised(
    counts: Integers,
    first: Integers,
    second: Integers,
    distances: NDArray[Any] | None,
    surplus: int,
) -> tuple[float, Floats, Floats]:
    """Return the ratio of observed to expected disagreement, and the part of a pattern in each.

    `counts` has the number of items with each pattern, `first` and `second` how often a pattern has
    each label: from one judge and from the other, or both times from all judges. Without distances,
    labels are as far apart as their mean ranks among all labels (ordinal). The parts are influences
    on the logarithms, plus one over the number of items: over all items, their sum is 1.
    """
    sizes, n_items = first.sum(axis=1), counts.sum()
    pairs = first[:, :, None] * second[:, None, :] / np.maximum(sizes - 1, 1)[:, None, None]
    firsts, seconds = counts @ first, counts @ second
    n = firsts.sum()
    ranks = np.cumsum(firsts) - firsts / 2
    gaps = ranks[:, None] - ranks
    squares = gaps**2 if distances is None else distances
    disagreement = (pairs * squares).sum(axis=(1, 2))
    to_firsts, to_seconds = squares @ firsts, squares @ seconds
    observed, expected = float(counts @ disagreement), float(firsts @ to_seconds)
    in_observed = disagreement / observed
    in_expected = (first @ to_seconds + second @ to_firsts) / expected - sizes / n
    if distances is None:
        # One more of a label also moves the ranks of those above it.
        within = np.tensordot(counts, pairs, 1) / observed
        between = np.outer(firsts, seconds) / expected
        in_observed = in_observed + _moved(within * gaps, first) - 2 / n_items
        in_expected = in_expected + _moved(between * gaps, first) - 2 / n_items
    ratio = (n - surplus) * observed / expected if expected > 0 else math.nan
    return ratio, in_observed, in_expected


def _moved(products: Floats, labels: Integers) -> Floats:
    """Return what the labels of each pattern change by moving ranks; `products` are with gaps."""
    of_label = 4 * products.sum(axis=1)
    moved: Floats = labels @ (np.cumsum(of_label[::-1])[::-1] - of_label / 2)
    return moved


def _shares(
    table: dict[str, list[str | None]],
    judges: Sequence[str],
    names: Iterable[str],
    votes: Sequence[VoteRow],
) -> Iterator[AgreementRow]:
    complete = [row for row in table.values() if None not in row]
    yield _share("unanimous", "all", None, sum(len({*row}) == 1 for row in complete), len(complete))
    voted = Counter(vote.label for vote in votes if vote.judges)
    for label in sorted(voted, key=lambda label: (label is None, label)):
        yield _share("majority", "all", label, voted[label], voted.total())
    for judge, labels in zip(judges, zip(*table.values(), strict=True), strict=True):
        counts = Counter(labels)
        n_missing = counts.pop(None, 0)
        for label in names:
            yield _share("share", judge, label, counts[label], counts.total())
        if n_missing:
            yield _share("missing", judge, None, n_missing, len(labels))


def _share(statistic: str, judges: str, label: str | None, count: int, n: int) -> AgreementRow:
    value, low, high = fields_of("value", wilson(count, n) if n else None).values()
    is_tied = (statistic, label) == ("majority", None)
    note = ("tied votes" if is_tied else "") if n else "no items"
    return AgreementRow(statistic, judges, label, n, count, value, low, high, note)


def _coefficient_row(
    statistic: str, judges: str, note: str, figure: CoefficientEstimate
) -> AgreementRow:
    noted_figure = figure._replace(note="; ".join(filter(None, (note, figure.note))))
    return AgreementRow(statistic, judges, label=None, count=None, **noted_figure._asdict())


def _vote(item: str, labels: Sequence[str | None]) -> VoteRow:
    given_labels = [label for label in labels if label is not None]
    winners = multimode(given_labels)
    most = given_labels.count(winners[0]) if winners else 0
    return VoteRow(item, winners[0] if len(winners) == 1 else None, most, len(given_labels))


def _print(console: Any, rows: Sequence[AgreementRow]) -> None:
    shares = [row for row in rows if row.count is not None]
    named = [
        replace(row, statistic=row.statistic.replace("_", " ")) for row in rows if row.count is None
    ]
    print_columns(console, to_columns(named, ("statistic", "judges", "items", "value")), Layout(2))
    print_notes(console, named, "statistic")
    names = ("statistic", "judges", "label", "items", "count", ("%", "value"))
    columns = to_columns(shares, names, shares=("value",))
    columns["label"] = [row.label or row.note for row in shares]
    print_columns(console, columns, Layout(3, optional=("items",)))


@command
def agreement(
    labels: GivenTables,
    *,
    scale: Literal["nominal", "ordinal", "interval"] = "nominal",
    order: Annotated[str | Sequence[str], Option(metavar="LABELS")] = (),
    weights: Literal["linear", "quadratic"] | None = None,
    votes: RowsFile = None,
) -> Result[AgreementRow]:
    """Show how much judges agree, what most of them say, and how each of them labels.

    LABELS has the columns item, judge and label, or item and one column per judge, or is the output
    of `evalcore judge`. Labels may be missing. Coefficients are Cohen's kappa of each pair of
    judges (also weighted, with --weights), Fleiss' kappa of the items that all judges labelled, and
    Krippendorff's alpha. Shares have Wilson intervals.

    Parameters
    ----------
    labels : str, Path or DataFrame, or several of them
        Tables of labels, or rows of `judge`.
    scale : str
        Scale of measurement of the labels, for Krippendorff's alpha.
    order : str or sequence of str
        The order of labels that are not numbers, from lowest to highest: low,mid,high.
    weights : str, optional
        Add weighted kappas, which weigh disagreement by the distance between ordered labels
        (`linear`) or its square (`quadratic`).
    votes : str or Path, optional
        Write the majority label of each item to this file.

    Returns
    -------
    DataFrame
        One row per coefficient and pair of judges, and per share, judge and label.

    Examples
    --------
    $ evalcore agreement labels.csv
    $ evalcore agreement judged.jsonl --scale interval --votes votes.csv
    $ evalcore agreement grades.csv --weights quadratic --order poor,fair,good
    """
    labels_by_cell = _read_labels(as_tables(labels))
    label_values = _scale(labels_by_cell.values(), scale, [*order], weights)
    items, judges = (list(dict.fromkeys(key[part] for key in labels_by_cell)) for part in (0, 1))
    if len(judges) < 2:
        raise InputError("labels", f"judges: {len(judges)}; expected at least two")
    table = {item: [labels_by_cell.get((item, judge)) for judge in judges] for item in items}
    numbers = {label: number for number, label in enumerate(label_values)}
    codes = np.array([[numbers.get(label or "", -1) for label in row] for row in table.values()])
    values, complete = np.array([*label_values.values()]), codes[(codes >= 0).all(axis=1)]
    kappas = [("cohen_kappa", "nominal", "")]
    if weights:
        kappas.append(("weighted_kappa", weights, f"{weights} weights"))
    rows = []
    for (statistic, distance, note), pair in product(kappas, combinations(range(len(judges)), 2)):
        kappa = coefficient(codes[:, pair], values, distance, surplus=None)
        both = " · ".join(judges[place] for place in pair)
        rows.append(_coefficient_row(statistic, both, note, kappa))
    fleiss = coefficient(complete, values, "nominal", surplus=0)
    alpha = coefficient(codes, values, scale, surplus=1)
    rows.append(_coefficient_row("fleiss_kappa", "all", "", fleiss))
    rows.append(_coefficient_row("krippendorff_alpha", "all", scale, alpha))
    voted = [_vote(item, row) for item, row in table.items()]
    rows += _shares(table, judges, label_values, voted)
    files = [(votes, voted, VoteRow)]
    return Result(rows, AgreementRow, print_table=partial(_print, rows=rows), files=files)
