"""Numbers → places on an axis, round ticks, and exact texts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ngramscan.reporting.layout import cell, percent
from ngramscan.rows import DisplayUnit, Scale

_ZERO_STRIP = 0.12
"""The part of a logarithmic axis that is reserved for zeros."""
_LARGEST = 1e300
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Tick:
    """A round value of an axis."""

    value: float
    place: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from 0, its start, to 1, its end."""

    is_log: bool
    low: float
    """The ends; on a logarithmic axis, their base-10 exponents."""
    high: float
    has_zeros: bool
    """Zeros are set apart, at the start of a logarithmic axis."""
    unit: DisplayUnit
    ticks: tuple[Tick, ...] = ()

    def place(self, value: float) -> float:
        """Return the place of a value; infinite ones are at the ends."""
        if math.isinf(value):
            return float(value > 0)
        if not self.is_log:
            return _between((value - self.low) / (self.high - self.low))
        if value <= 0:
            return 0.0
        start = _ZERO_STRIP if self.has_zeros else 0.0
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return start + (1 - start) * _between(part)

    def has(self, value: float) -> bool:
        """Return whether a value lies between the ends."""
        if self.is_log:
            return value > 0 and self.low <= math.log10(value) <= self.high
        return self.low <= value <= self.high


def make_axis(numbers: Iterable[float], scale: Scale, unit: DisplayUnit) -> Axis:
    """Return an axis for some numbers.

    A logarithmic axis becomes a linear one for negative numbers; a linear axis includes 0.
    """
    finite = [value for value in numbers if math.isfinite(value)]
    is_log = scale == "log" and min(finite, default=0) >= 0
    return _log_axis(finite, unit) if is_log else _linear_axis(finite, unit)


def _log_axis(numbers: list[float], unit: DisplayUnit) -> Axis:
    """Return an axis that ends at 1, 2 or 5 times a power of ten, next to the numbers."""
    exponents = [max(math.log10(value), -300) for value in numbers if value > 0] or [0.0]
    # The reciprocals of 1, 2 and 5 are 1, 5 and 2 times a power of ten.
    low, high = _before(min(exponents)), -_before(-max(exponents))
    if math.isclose(low, high, abs_tol=1e-9):  # sums of logarithms are not exact
        high = -_before(-low - 0.1)
    has_zeros = 0 in numbers
    bare = Axis(True, low, high, has_zeros, unit)
    first, last = math.floor(low), math.ceil(high)
    stride = math.ceil((last - first) / 5)
    parts = (1, 2, 5) if last - first == 1 or (high - low <= 2 and high <= 5) else (1,)
    is_long = high > 6 or low < -4
    ticks = [Tick(0, 0, "0")] if has_zeros else []
    for exponent in range(first, last + 1, stride):
        for part in parts:
            value = part * 10.0**exponent
            if not low - 1e-9 <= exponent + math.log10(part) <= high + 1e-9:
                continue
            text = _power(part, exponent) if is_long else _tick_text(value, unit)
            ticks.append(Tick(value, bare.place(value), text))
    return Axis(True, low, high, has_zeros, unit, tuple(ticks))


def _before(exponent: float) -> float:
    """Return the exponent of the last 1, 2 or 5 times a power of ten that is not greater."""
    parts = [math.floor(exponent) + math.log10(part) for part in (1, 2, 5, 10)]
    return max(part for part in parts if part <= exponent + 1e-12)


def _linear_axis(numbers: list[float], unit: DisplayUnit) -> Axis:
    """Return an axis that ends where the numbers end, with the 0."""
    low, high = min([*numbers, 0.0]), max([*numbers, 0.0])
    if high - low <= 1e-290:
        high = low + 1.0
    span = high - low
    size = 10.0 ** math.floor(math.log10(span / 5))
    steps = (size * times for times in (1, 2, 2.5, 5, 10, 20))
    # Ticks between whole numbers, such as lengths in words, would have no meaning.
    are_whole = unit == "number" and span >= 1 and all(value == int(value) for value in numbers)
    step = next(
        step
        for step in steps
        if span / step <= 5.000001 and not (are_whole and step != max(1, round(step)))
    )
    bare = Axis(False, low, high, False, unit)
    first, last = (round(low / step, 9), round(high / step, 9))
    values = [place * step for place in range(math.ceil(first), math.floor(last) + 1)]
    ticks = tuple(Tick(value, bare.place(value), _tick_text(value, unit)) for value in values)
    return Axis(False, low, high, False, unit, ticks)


def _between(part: float) -> float:
    return min(max(part, 0.0), 1.0)


def _power(part: int, exponent: int) -> str:
    if 0 <= exponent <= 3:
        return f"{part * 10**exponent:,}"
    power = "10" + str(exponent).translate(_SUPERSCRIPTS)
    return power if part == 1 else f"{part}·{power}"


def _tick_text(value: float, unit: DisplayUnit) -> str:
    scaled = value if unit == "number" else 100 * value
    text = f"{scaled:z,.10g}".replace("-", "−")
    return f"{text}%" if unit == "percent" else text


def number(value: Any) -> float | None:
    """Return a value of a row as a number, or None; values above 1e300 are infinite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    if abs(value) > _LARGEST:
        return math.inf if value > 0 else -math.inf
    return float(value)


def value_text(value: Any, unit: DisplayUnit) -> str:
    """Return a number of a row in words, rounded as in tables."""
    as_float = number(value)
    if as_float is None:
        return "unknown"
    if math.isinf(as_float):
        size = "infinite" if isinstance(value, float) and math.isinf(value) else "beyond 1e300"
        return size if as_float > 0 else f"minus {size}"
    text = (cell(value) if unit == "number" else percent(value)).replace("-", "−")
    return text + {"number": "", "percent": "%", "points": " percentage points"}[unit]
