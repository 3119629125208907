"""What stands around and over the marks: sides, levels, tooltips."""

import pytest

from tests.support.drawn_rows import (
    KINDS_OF_ROWS,
    compare,
    marks,
    numbers_in,
    of_class,
    only,
    random_rows,
    retained,
    title_of,
)


def test_forest_plots_say_whom_each_side_favours_and_the_level() -> None:
    at_90 = [compare("cot", 0.1, 0.05, 0.2) | {"level": 0.9, "model": name} for name in "ab"]
    figure, root = only(at_90, "Differences of methods")
    assert [text.text for text in of_class(root, "side")] == ["← direct better", "cot better →"]
    assert of_class(root, "tick")[-1].text == "difference, percentage points (90% intervals)"
    assert "intervals" not in figure.caption
    at_both = [*at_90, compare("pot", 0.1, 0.05, 0.2) | {"level": 0.95}]
    figure, root = only(at_both, "Differences of methods")
    assert [text.text for text in of_class(root, "side")][1] == "treatment better →"
    assert of_class(root, "tick")[-1].text == "difference, percentage points"
    assert "Bars: confidence intervals." in figure.caption
    kept = [retained("cot", -0.1, 0.1), retained("pot", -0.1, 0.1)]
    _, root = only(kept, "Markers that outputs keep with a solver")
    sides = [text.text for text in of_class(root, "side")]
    assert sides == ["← fewer with solver", "more with solver →"]


@pytest.mark.parametrize(("title", "column", "is_log"), KINDS_OF_ROWS)
def test_tooltips_and_data_are_the_numbers_of_the_rows(
    title: str, column: str, is_log: bool
) -> None:
    rows = list(random_rows(title))
    names = (column, f"{column}_low", f"{column}_high")
    values = [[row[name] for name in names] for row in rows]
    drawn = marks(only(rows, title)[1])
    tooltips = [title_of(mark).replace("95% confidence interval", "interval") for mark in drawn]
    assert [numbers_in(tooltip) for tooltip in tooltips] == [
        pytest.approx(numbers, rel=5e-3, abs=5.1e-4) for numbers in values
    ]
    data = [[mark.attrib[f"data-{name}"] for name in ("value", "low", "high")] for mark in drawn]
    assert data == [[repr(number) for number in numbers] for numbers in values]
