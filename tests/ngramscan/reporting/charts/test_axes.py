"""Axes have room for their numbers, and values are told in words."""

import math
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ngramscan.reporting.charts.axes import make_axis, number, value_text
from ngramscan.rows import DisplayUnit
from tests.support.drawn_rows import (
    ISOLATION,
    count,
    inverse,
    isolated,
    marks,
    numbers_in,
    of_class,
    only,
    places,
    title_of,
)


def test_negative_numbers_make_a_logarithmic_axis_linear() -> None:
    figure, root = only([count("a", -5), count("b", 500)], "Counts")
    assert "Logarithmic" not in figure.caption
    value_at = inverse(root, is_log=False)
    assert [round(value_at(places(mark, "dot")[0][0]), 2) for mark in marks(root)] == [-5, 500]


FINITE = st.floats(-1e300, 1e300, allow_nan=False, allow_subnormal=True)


@example([0.2], "log")
@example([0.5], "log")
@example([2.0], "log")
@example([5.0], "log")
@given(st.lists(FINITE, max_size=6), st.sampled_from(["log", "linear", "share"]))
def test_axes_have_room_for_all_numbers_and_ticks_in_order(values: list[float], scale: Any) -> None:
    axis = make_axis(values, scale, "percent" if scale == "share" else "number")
    ticks = [tick.place for tick in axis.ticks]
    assert ticks == sorted(ticks)
    assert 2 <= len(ticks) <= 10
    assert len({tick.text for tick in axis.ticks}) == len(ticks)
    ordered = [axis.place(value) for value in sorted(values)]
    assert ordered == sorted(ordered)
    assert all(0 <= place <= 1 for place in ordered)
    slack = 1e-6 * max(map(abs, values), default=0)
    ends = [axis.low, axis.high] if not axis.is_log else [10**axis.low, 10**axis.high]
    inside = [value for value in values if abs(value) > 1e-280]
    assert all(ends[0] - slack <= value <= ends[1] + slack for value in inside)


NOT_TINY = st.floats(-10, 10).filter(lambda value: abs(value) > 1e-12)


@pytest.mark.parametrize("unit", get_args(DisplayUnit))
@given(NOT_TINY)
def test_values_in_words_are_near_them(unit: DisplayUnit, value: float) -> None:
    slack = 5e-3 * abs(value) if unit == "number" else 6e-4
    said = value_text(value, unit).replace("e−", "E−")
    assert numbers_in(said) == [pytest.approx(value, abs=slack)], said


@given(NOT_TINY)
def test_a_value_in_words_is_never_on_the_other_side_of_0(value: float) -> None:
    assert ("−" in value_text(value, "percent").split("e")[0]) == (value < 0)


def test_only_numbers_are_numbers() -> None:
    assert [number(cell) for cell in (True, None, "5", math.nan)] == [None] * 4
    assert number(10**400) == math.inf
    assert value_text(None, "percent") == "unknown"
    assert value_text(-0.02499999999999991, "points") == "−2.5 percentage points"


def test_zeros_stand_apart_on_a_logarithmic_axis() -> None:
    rows = [isolated("none", 0), isolated("single", 1), isolated("many", 900, 0, 2000)]
    figure, root = only(rows, ISOLATION)
    assert "zeros are set apart" in figure.caption
    (zero, _), (single, _), _ = (places(mark, "dot")[0] for mark in marks(root))
    assert single - zero > 8
    assert [tick.get("data-tick") for tick in of_class(root, "grid")][:2] == ["0", "1.0"]
    interval = of_class(marks(root)[2], "interval")[0]
    assert float(interval.attrib["x1"].rstrip("%")) == zero
    plain, root = only([rows[1], isolated("double", 2, 1, 3)], ISOLATION)
    assert "zeros" not in plain.caption
    assert "0" not in [tick.get("data-tick") for tick in of_class(root, "grid")]


def test_numbers_beyond_floats_are_drawn_and_told() -> None:
    rows = [isolated("huge", 10**400), isolated("tiny", 5e-324), isolated("single", 1)]
    _, root = only(rows, ISOLATION)
    huge, tiny, single = marks(root)
    assert places(huge, "arrow")
    assert places(tiny, "dot") < places(single, "dot")
    assert "ratio beyond 1e300" in title_of(huge)
    assert all("nan" not in str(element.attrib) for element in root.iter())
