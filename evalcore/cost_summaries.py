"""Published tables of accuracy and tokens → the same rows, checked: no accuracy is above 100 %."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from evalcore.cost_estimates import pareto_frontier
from evalcore.row_files import open_csv
from evalcore.token_costs import EfficiencyRow
from ngramscan.errors import InputError

_ACCURACY, _RATIO, _TOKENS = "accuracy_pct", "efficiency_ratio", "avg_tokens"


@dataclass(frozen=True, slots=True)
class _Printed:
    """A line of the table; numbers as they are printed."""

    place: str
    dataset: str
    model: str
    method: str
    tokens: Decimal
    accuracy: Decimal | None
    ratio: Decimal | None


def read_summary(path: Path) -> list[EfficiencyRow]:
    """Read a table of means, and refuse it where it can't be true.

    Parameters
    ----------
    path : Path
        CSV with `model, method, avg_tokens`, and `accuracy_pct` or `efficiency_ratio` (accuracy in
        percent per 100 tokens) or both; `dataset` if there are several. Rows that are averages of
        others have no place in it: a mean of ratios and a mean of tokens imply no accuracy.

    Returns
    -------
    list of EfficiencyRow
        With what the table implies, and without intervals.

    Raises
    ------
    InputError
        A line is malformed or there twice, or the numbers imply an accuracy above 100 % wherever
        they were rounded from; names all such lines.
    """
    if not path.is_file():
        raise InputError(str(path), "no such file")
    printed = list(_lines(path))
    if not printed:
        raise InputError(str(path), "no rows there")
    _refuse_twice(printed)
    impossible = [said for row in printed if (said := _impossible(row))]
    if impossible:
        raise InputError(str(path), f"accuracy above 100 %: {'; '.join(impossible)}")
    return [_row(row, printed) for row in printed]


def _lines(path: Path) -> Iterator[_Printed]:
    reader = open_csv(path)
    columns = set(reader.fieldnames or ())
    if not {"model", "method", _TOKENS} <= columns or not {_ACCURACY, _RATIO} & columns:
        expected = f"model, method, {_TOKENS}, and {_ACCURACY} or {_RATIO} were expected"
        raise InputError(str(path), f"columns {', '.join(reader.fieldnames or ())}; {expected}")
    for row in reader:
        place = f"{path}:{reader.line_num}"
        tokens = _number(place, _TOKENS, row)
        accuracy, ratio = _number(place, _ACCURACY, row), _number(place, _RATIO, row)
        if tokens is None or tokens <= 0:
            raise InputError(place, f"{_TOKENS}: a number above 0 was expected")
        if accuracy is None and ratio is None:
            raise InputError(place, f"neither {_ACCURACY} nor {_RATIO}")
        dataset = row.get("dataset") or path.stem
        named = (dataset, row["model"] or "", row["method"] or "")
        yield _Printed(place, *named, tokens, accuracy, ratio)


def _number(place: str, name: str, row: Mapping[str, str | None]) -> Decimal | None:
    text = (row.get(name) or "").strip()
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number < 0:
        raise InputError(place, f"{name} {text!r}; a number from 0 was expected")
    return number


def _refuse_twice(rows: list[_Printed]) -> None:
    seen: dict[tuple[str, str, str], str] = {}
    for row in rows:
        first = seen.setdefault((row.dataset, row.model, row.method), row.place)
        if first != row.place:
            raise InputError(row.place, f"{row.model}, {row.method} is also at {first}")


def _impossible(row: _Printed) -> str | None:
    """Say what a line implies where even the least numbers that round to it imply too much."""
    named = f"{row.dataset}, {row.model}, {row.method}"
    if row.accuracy is not None and row.accuracy > 100:
        return f"{named} has {row.accuracy} %"
    if row.ratio is not None:
        least = (row.ratio - _half_unit(row.ratio)) * (row.tokens - _half_unit(row.tokens)) / 100
        if least > 100:
            implied = row.ratio * row.tokens / 100
            return f"{named} implies {implied:.1f} % ({row.ratio} per 100 of {row.tokens} tokens)"
    return None


def _half_unit(number: Decimal) -> Decimal:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal(5).scaleb(exponent - 1)


def _accuracy(row: _Printed) -> float:
    if row.accuracy is not None:
        return float(row.accuracy)
    assert row.ratio is not None
    # Rounding may carry it a little above.
    return min(100.0, float(row.ratio * row.tokens / 100))


def _row(row: _Printed, rows: list[_Printed]) -> EfficiencyRow:
    beside = [one for one in rows if (one.dataset, one.model) == (row.dataset, row.model)]
    accuracies = np.array([_accuracy(one) for one in beside])
    on = pareto_frontier(accuracies, np.array([float(one.tokens) for one in beside]))
    accuracy, tokens = _accuracy(row), float(row.tokens)
    note = "no intervals: the table has means only"
    return EfficiencyRow(
        dataset=row.dataset,
        model=row.model,
        method=row.method,
        accuracy=accuracy,
        mean_tokens=tokens,
        tokens_per_correct=100 * tokens / accuracy if accuracy else None,
        accuracy_per_100_tokens=float(row.ratio)
        if row.ratio is not None
        else 100 * accuracy / tokens,
        on_frontier=bool(on[beside.index(row)]),
        note=note if accuracy else f"{note}; none is correct",
    )
