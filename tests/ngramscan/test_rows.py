"""Row types say what their columns hold, and which kind of rows they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from ngramscan.reporting.kinds import all_kinds, kinds_of
from ngramscan.rows import (
    LABEL,
    P_VALUE,
    AdjustedP,
    DisplayUnit,
    Heading,
    HolmP,
    Label,
    Limits,
    PlainIf,
    Plot,
    Points,
    PValue,
    RowKind,
    Share,
    columns_of,
    kind_of_type,
    row_kind,
)


@row_kind(
    "measured",
    "Measured things",
    Plot("growth", label=("name",), across="size"),
    key=("measure",),
    may_lack=("measure",),
    counts="hits",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """One thing, and what was measured of it."""

    name: Label
    group: Label | None
    epoch: Annotated[int | None, LABEL]
    measure: str
    verdict: Literal["clean", "dirty"] | None
    hits: int
    is_first: bool
    size: float
    accuracy: Share | None
    accuracy_low: Share | None
    accuracy_high: Share | None
    growth: Annotated[Points, PlainIf("measure", "index"), Limits("least", "most")]
    least: Points
    most: Points
    ranked: Annotated[int, Heading("in order")]
    p: PValue | None
    p_holm: HolmP | None
    p_adjusted: AdjustedP


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedRow(MeasuredRow):
    """A thing with a further column."""

    more: str


COLUMNS = columns_of(MeasuredRow)


def measured_kind() -> RowKind:
    """Return the kind of the rows above."""
    kind = kind_of_type(MeasuredRow)
    assert kind is not None
    return kind


def test_columns_are_in_the_order_of_the_fields() -> None:
    assert [column.name for column in COLUMNS][:4] == ["name", "group", "epoch", "measure"]


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("accuracy", "percent"),
        ("accuracy_low", "percent"),
        ("growth", "points"),
        ("size", "number"),
        ("hits", "number"),
        ("p", "number"),
    ],
)
def test_a_column_has_the_unit_of_its_annotation(name: str, unit: DisplayUnit) -> None:
    assert COLUMNS[name].unit == unit


def test_a_share_is_a_plain_number_where_another_column_says_so() -> None:
    growth = COLUMNS["growth"]
    assert growth.unit_in([{"measure": "coverage"}]) == "points"
    assert growth.unit_in([{"measure": "coverage"}, {"measure": "index"}]) == "number"
    assert growth.unit_in([{}]) == "points"
    assert COLUMNS["accuracy"].unit_in([{"measure": "index"}]) == "percent"


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        pytest.param("accuracy", ("accuracy_low", "accuracy_high"), id="by their names"),
        pytest.param("growth", ("least", "most"), id="as named"),
        pytest.param("size", ("", ""), id="none"),
    ],
)
def test_limits_are_columns_of_the_row_type(name: str, limits: tuple[str, str]) -> None:
    assert COLUMNS[name].limits == limits


def test_numbers_labels_and_p_values_are_known_by_their_types() -> None:
    numbers = [column.name for column in COLUMNS if column.is_number]
    assert {"name", "group", "measure", "verdict"}.isdisjoint(numbers)
    assert {"epoch", "hits", "is_first", "size", "accuracy", "p"} <= {*numbers}
    labels = [column.name for column in COLUMNS if column.role is LABEL]
    assert labels == ["name", "group", "epoch"]
    p_values = [column.name for column in COLUMNS if column.role is P_VALUE]
    assert p_values == ["p", "p_holm", "p_adjusted"]


def test_an_empty_text_is_a_value_only_where_there_is_always_a_text() -> None:
    assert [column.name for column in COLUMNS if column.is_text] == ["name", "measure"]


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("accuracy_low", "accuracy low"),
        ("ranked", "in order"),
        ("p_holm", "p (Holm)"),
        ("p_adjusted", "p (adjusted)"),
        ("added_by_a_user", "added by a user"),
    ],
)
def test_a_heading_is_the_name_of_a_column_or_what_its_type_says(name: str, heading: str) -> None:
    assert COLUMNS[name].heading == heading


def test_a_column_that_the_row_type_lacks_is_text() -> None:
    added = COLUMNS["added"]
    assert (added.is_number, added.is_text, added.unit, added.limits) == (
        False,
        False,
        "number",
        ("", ""),
    )


def test_a_kind_needs_its_labels_its_key_and_what_it_draws() -> None:
    kind = measured_kind()
    assert kind.needs == {"name", "group", "epoch", "measure", "growth", "least", "most", "size"}
    assert kind.marks == kind.needs - {"measure"}
    assert (kind.labels, kind.counts, kind.methods) == (
        ("name", "group", "epoch"),
        "hits",
        "measured",
    )


def test_a_row_type_that_extends_another_is_of_its_kind() -> None:
    assert kind_of_type(ExtendedRow) is measured_kind()
    assert kind_of_type(str) is None


def test_a_row_type_without_a_kind_can_not_be_listed() -> None:
    with pytest.raises(TypeError, match=r"plan\.PlanRow has no kind"):
        list(kinds_of(["ngramscan.prevalence.plan.PlanRow"]))


@pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.title)
def test_an_interval_has_the_unit_of_its_value(kind: RowKind) -> None:
    units = {
        column.name: [kind.columns[name].unit for name in column.limits]
        for column in kind.columns
        if any(column.limits)
    }
    assert units == {name: [kind.columns[name].unit] * 2 for name in units}
