"""Functions of formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from statistics import mean

from docs.errata.cells import Cell
from docs.errata.p_values import normal_signed_rank_p, signed_rank_p, usual_mcnemar
from docs.errata.values import Entry, Scalar, Value, as_count, as_number, by_row, on_numbers
from ngramscan.statistics.power import t_detectable, t_power
from ngramscan.statistics.proportions import mcnemar, wilson

ROUNDING_ERROR = 1e-12
"""How far apart two p-values may be that differ by floating-point arithmetic alone."""
STARS = {
    Fraction(1, 1000): "***",
    Fraction(1, 100): "**",
    Fraction(1, 20): "*",
}
"""The stars of p-values below each limit, from the smallest limit on."""


def _numbers_of(values: Iterable[Value]) -> list[Fraction]:
    """Return all numbers of values, of which some may be lists."""
    numbers: list[Fraction] = []
    has_cells = False
    for value in values:
        scalars = [entry.value for entry in value] if isinstance(value, list) else [value]
        has_cells = has_cells or bool(scalars)
        numbers += [as_number(scalar) for scalar in scalars]
    if not has_cells:
        raise ValueError("no cell is selected")
    return numbers


def _cells_of(value: Value) -> list[tuple[Entry, Cell]]:
    """Return the entries of a selection, with their cells."""
    entries = value if isinstance(value, list) else []
    cells = [(entry, entry.cell) for entry in entries if entry.cell]
    if not cells:
        raise ValueError("expected a selection of cells")
    return cells


# Means, extremes and rounding


def total(*values: Value) -> Fraction:
    """Return the sum of all values."""
    return sum(_numbers_of(values), Fraction(0))


def average(*values: Value) -> Fraction:
    """Return the mean of all values."""
    return mean(_numbers_of(values))


def weighted_mean(cells: Value, *, by: str) -> Fraction:
    """Return the mean of cells, weighted by another column of their rows."""
    weights = [as_number(cell.in_column(by).value) for _, cell in _cells_of(cells)]
    products = [x * weight for x, weight in zip(_numbers_of([cells]), weights, strict=True)]
    return sum(products, Fraction(0)) / sum(weights)


def least(*values: Value) -> Value:
    """Return the minimum of a list; of several, the minimum of each row."""
    return min(_numbers_of(values)) if len(values) == 1 else by_row(on_numbers(min), *values)


def greatest(*values: Value) -> Value:
    """Return the maximum of a list; of several, the maximum of each row."""
    return max(_numbers_of(values)) if len(values) == 1 else by_row(on_numbers(max), *values)


def count(rows: Value) -> Fraction:
    """Return the number of cells of a selection, or of rows in which a comparison holds."""
    if isinstance(rows, bool):
        return Fraction(rows)
    if not isinstance(rows, list):
        raise ValueError("count takes a selection or a comparison")
    return Fraction(sum(entry.value is not False for entry in rows))


def absolute(value: Value) -> Value:
    """Return the absolute value, row by row."""
    return by_row(on_numbers(abs), value)


def rounded(value: Value, decimals: Value) -> Value:
    """Round halves away from zero, as tables are rounded, row by row."""

    def round_one(number: Fraction, places: Fraction) -> Scalar:
        factor = 10 ** as_count(places)
        size = Fraction(math.floor(abs(number) * factor + Fraction(1, 2)), factor)
        return size if number >= 0 else -size

    return by_row(on_numbers(round_one), value, decimals)


def square_root(value: Value) -> Fraction:
    """Return the square root."""
    return Fraction(math.sqrt(as_number(value)))


# Whole numbers behind percentages


@lru_cache(maxsize=4096)
def _possible_counts(cell: Cell, n: int) -> list[int]:
    """Return the whole numbers of which the percentage of n is printed as in a cell."""
    value = as_number(cell.value)
    low = math.ceil((value - cell.half) * n / 100)
    high = math.floor((value + cell.half) * n / 100)
    return [k for k in range(low, high + 1) if abs(k) <= n]


def _size_of(cell: Cell, n: Value | None, column: str) -> int:
    return as_count(cell.in_column(column).value if n is None else n)


def exact_pct(cells: Value, n: Value | None = None, *, size: str = "") -> list[Entry]:
    """Return 100 k / n for the only whole k that prints like a cell; or the cell itself.

    n is one number, or in the column `size` of each row.
    """
    entries = []
    for entry, cell in _cells_of(cells):
        whole = _size_of(cell, n, size)
        possible = _possible_counts(cell, whole)
        if len(possible) == 1:
            entries.append(entry._replace(value=Fraction(100 * possible[0], whole)))
        else:
            entries.append(entry)
    return entries


def impossible_pct(cells: Value, n: Value | None = None, *, size: str = "") -> Iterator[str]:
    """Remark on percentages that no whole number of n gives."""
    for _, cell in _cells_of(cells):
        whole = _size_of(cell, n, size)
        if not _possible_counts(cell, whole):
            yield f"{cell} is not a whole number of {whole}"


# Rows that repeat others, bold cells


def _groups(cells: Value, among: str) -> list[list[Cell]]:
    """Return cells in groups, whose rows differ in one column alone."""
    groups: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for _, cell in _cells_of(cells):
        cell.in_column(among)
        groups[tuple(name for key, name in cell.names.items() if key != among)].append(cell)
    return list(groups.values())


def repeated_rows(cells: Value, *, among: str, across: str) -> Iterator[str]:
    """Remark on rows that have the figures of an earlier row.

    A row are the cells that differ in `across` alone; it is compared with those of other `among`.
    """
    earlier: dict[object, Cell] = {}
    for row in _groups(cells, across):
        start = row[0]
        start.in_column(among)
        place = [(key, name) for key, name in start.names.items() if key not in {among, across}]
        figures = frozenset((cell.row[across].name, cell.value) for cell in row)
        same = earlier.setdefault((*place, figures), start)
        if same is not start:
            where = f" in {', '.join(name for _, name in place)}" if place else ""
            yield f"{start.row[among].name} repeats {same.row[among].name}{where}"


def wrong_bold_max(cells: Value, *, among: str, marks: str = "bold") -> Iterator[str]:
    """Remark on cells that are bold but not the greatest of a group, and the reverse."""
    return _wrong_bold(max, cells, among, marks)


def wrong_bold_min(cells: Value, *, among: str, marks: str = "bold") -> Iterator[str]:
    """Remark on cells that are bold but not the least of a group, and the reverse."""
    return _wrong_bold(min, cells, among, marks)


def _wrong_bold(
    best: Callable[[list[Fraction]], Fraction], cells: Value, among: str, marks: str
) -> Iterator[str]:
    for group in _groups(cells, among):
        for cell in group:
            if cell.in_column(marks).text not in {"0", "1"}:
                raise ValueError(f"{marks} is {cell.row[marks].text!r}; expected 0 or 1")
        best_value = best([as_number(cell.value) for cell in group])
        bold = [cell for cell in group if cell.row[marks].text == "1"]
        best_cells = [cell for cell in group if cell.value == best_value]
        is_tie_without_bold = len(best_cells) > 1 and not set(best_cells) & set(bold)
        expected = [] if is_tie_without_bold else best_cells
        for cell in group:
            if cell in bold and cell not in expected:
                yield f"{cell} is bold"
            elif cell in expected and cell not in bold:
                yield f"{cell} is not bold"


# Tests


def _stars_of(p: Fraction) -> str:
    return next((stars for limit, stars in STARS.items() if p < limit), "")


def wrong_stars(cells: Value, *, stars: str = "stars") -> Iterator[str]:
    """Remark on p-values with other stars than the figure, before it was rounded, can have."""
    for _, cell in _cells_of(cells):
        printed = cell.in_column(stars).text
        half = cell.half * Fraction(999, 1000)  # the very ends are rounded away, or may be
        if printed not in {_stars_of(cell.size - half), _stars_of(cell.size + half)}:
            yield f"{cell} has {printed or 'no star'}"


def _limits_of_p(cell: Cell) -> tuple[float, float]:
    """Return the least and the greatest p-value that is printed as in a cell."""
    if not cell.half:  # a bound such as <0.001
        return -ROUNDING_ERROR, float(cell.size)
    return (
        float(cell.size - cell.half) - ROUNDING_ERROR,
        float(cell.size + cell.half) + ROUNDING_ERROR,
    )


def _possible_pairs(cell: Cell, delta: str, size: str) -> list[int]:
    """Return the numbers of pairs that differ with which McNemar's test prints such a p-value.

    If none does, the number whose p-value is nearest.
    """
    n = as_count(cell.in_column(size).value)
    net = abs(round(as_number(cell.in_column(delta).value) * n / 100))
    low, high = _limits_of_p(cell)
    p_values = {pairs: usual_mcnemar(net, pairs) for pairs in range(net, n + 1, 2)}
    possible = [pairs for pairs, p in p_values.items() if low <= p <= high]
    if possible:
        return possible
    return [min(p_values, key=lambda pairs: max(low - p_values[pairs], p_values[pairs] - high))]


def discordant_min(p_values: Value, *, delta: str, size: str) -> list[Entry]:
    """Return the fewest pairs that differ, given a p-value, the difference and all pairs."""
    return [
        entry._replace(value=Fraction(min(_possible_pairs(cell, delta, size))))
        for entry, cell in _cells_of(p_values)
    ]


def discordant_max(p_values: Value, *, delta: str, size: str) -> list[Entry]:
    """Return the most pairs that differ, given a p-value, the difference and all pairs."""
    return [
        entry._replace(value=Fraction(max(_possible_pairs(cell, delta, size))))
        for entry, cell in _cells_of(p_values)
    ]


def impossible_signed_rank(p_values: Value, n: Value) -> Iterator[str]:
    """Remark on p-values that no exact signed-rank test of up to n differences gives."""
    exact = [
        signed_rank_p(differences, rank_sum)
        for differences in range(1, as_count(n) + 1)
        for rank_sum in range(differences * (differences + 1) // 4 + 1)
    ]
    for _, cell in _cells_of(p_values):
        low, high = _limits_of_p(cell)
        if not any(low <= p <= high for p in exact):
            yield f"{cell} is none"


def exact_mcnemar(only_first: Value, only_second: Value) -> Fraction:
    """Return the exact two-sided p-value."""
    return Fraction(mcnemar(as_count(only_first), as_count(only_second)))


def mcnemar_of_net(net: Value, pairs: Value) -> Fraction:
    """Return the p-value of many programs, from the difference and the sum of two counts."""
    return Fraction(usual_mcnemar(int(as_number(net)), as_count(pairs)))


def signed_rank(n: Value, rank_sum: Value) -> Fraction:
    """Return the exact p-value of n differences without ties."""
    return Fraction(signed_rank_p(as_count(n), as_count(rank_sum)))


def signed_rank_normal(n: Value, rank_sum: Value) -> Fraction:
    """Return the p-value by the normal approximation."""
    return Fraction(normal_signed_rank_p(as_count(n), as_count(rank_sum)))


def wilson_low(x: Value, n: Value) -> Fraction:
    """Return the lower 95% limit of a share."""
    return Fraction(wilson(as_count(x), as_count(n)).limits[0])


def wilson_high(x: Value, n: Value) -> Fraction:
    """Return the upper 95% limit of a share."""
    return Fraction(wilson(as_count(x), as_count(n)).limits[1])


def power_paired_t(d: Value, n: Value) -> Fraction:
    """Return the power of a paired t-test at 5%; d in deviations of the differences."""
    return Fraction(t_power(as_count(n), float(as_number(d))))


def effect_paired_t(power: Value, n: Value) -> Fraction:
    """Return the effect that a paired t-test of n differences shows with some power."""
    return Fraction(t_detectable(as_count(n), float(as_number(power))))


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "sum": total,
    "mean": average,
    "min": least,
    "max": greatest,
    "weighted_mean": weighted_mean,
    "count": count,
    "abs": absolute,
    "round": rounded,
    "sqrt": square_root,
    "mcnemar": exact_mcnemar,
    "mcnemar_usual": mcnemar_of_net,
    "discordant_min": discordant_min,
    "discordant_max": discordant_max,
    "signed_rank": signed_rank,
    "signed_rank_normal": signed_rank_normal,
    "wilson_low": wilson_low,
    "wilson_high": wilson_high,
    "power_paired_t": power_paired_t,
    "effect_paired_t": effect_paired_t,
    "exact_pct": exact_pct,
}
"""Functions of formulas by name."""
CHECKS: Mapping[str, Callable[..., Iterable[str]]] = {
    "exact_pct": impossible_pct,
    "impossible_pct": impossible_pct,
    "impossible_signed_rank": impossible_signed_rank,
    "repeated_rows": repeated_rows,
    "wrong_bold_max": wrong_bold_max,
    "wrong_bold_min": wrong_bold_min,
    "wrong_stars": wrong_stars,
}
"""Functions that remark on cells. One that is not in FUNCTIONS gives the number of its remarks, and
takes figures as printed."""
