"""Every mark, parsed from the SVG, stands where its row says."""

import math
from itertools import pairwise

import pytest

from ngramscan.reporting.charts.panels import draw
from tests.support.drawn_rows import (
    ISOLATION,
    KINDS_OF_ROWS,
    compare,
    efficiency,
    inverse,
    isolated,
    marks,
    numbers_in,
    of_class,
    only,
    outputs,
    parse,
    places,
    random_rows,
    results_of,
    share,
    title_of,
)


def test_infinite_values_are_arrows_at_the_ends() -> None:
    rows = [
        compare("up", math.inf, None, None),
        compare("down", -math.inf, None, None),
        compare("some", 0.1, -math.inf, 0.2),
    ]
    _, root = only(rows, "Differences of methods")
    up, down, some = marks(root)
    assert [places(mark, "arrow")[0][0] for mark in (up, down, some)] == [96, 4, 4]
    assert not places(up, "dot")
    assert "difference infinite" in title_of(up)
    assert "difference minus infinite" in title_of(down)
    assert len(places(some, "bar")) == 1


def test_wide_pages_have_labels_beside_the_same_marks(subtests: pytest.Subtests) -> None:
    rows = [compare(name, 0.1, 0.05, 0.2) for name in ("pot", "program-of-thought")]
    (figure,) = draw(results_of(rows, "Differences of methods"))
    narrow, wide = (parse(figure, drawing) for drawing in (0, 1))
    assert [title_of(mark) for mark in marks(narrow)] == [title_of(mark) for mark in marks(wide)]
    for page, root, least_down, most_down in (("narrow", narrow, 4, 15), ("wide", wide, -8, 0)):
        with subtests.test(page):
            (zero,) = of_class(root, "reference")
            assert (float(zero.attrib["x1"].rstrip("%")) > 20) is (page == "wide")
            down = [
                places(mark, "bar")[0][1] - float(label.attrib["y"])
                for label, mark in zip(of_class(root, "label"), marks(root), strict=True)
            ]
            assert least_down < min(down) <= max(down) < most_down
    assert float(wide.attrib["height"]) < float(narrow.attrib["height"])


def test_a_scatter_has_both_axes_and_the_frontier() -> None:
    rows = [
        efficiency("tree", 0.8, 4000.0, True),
        efficiency("direct", 0.4, 40.0, True),
        efficiency("CoT", 0.6, 500.0, False),
        efficiency("PoT", 0.7, 300.0, True),
        efficiency("unknown", 0.8, None, False),
    ]
    figure, root = only(rows, "Accuracy and tokens")
    across, down = inverse(root, is_log=True), inverse(root, is_log=False, down=True)
    known, drawn = rows[:4], marks(root)
    spots = []
    for mark in drawn:
        ((x, y),) = places(mark, "dot")
        spots.append((x, y))
    tokens = [across(x) for x, _ in spots]
    assert tokens == pytest.approx([row["mean_tokens"] for row in known], rel=1e-3)
    accuracies = [down(y) for _, y in spots]
    assert accuracies == pytest.approx([row["accuracy"] for row in known], abs=1e-4)
    intervals = [of_class(mark, "interval") for mark in drawn]
    lows = [across(float(lines[0].attrib["x1"].rstrip("%"))) for lines in intervals]
    assert lows == pytest.approx([row["mean_tokens_low"] for row in known], rel=1e-3)
    ends = [[down(float(lines[-1].attrib[key])) for key in ("y1", "y2")] for lines in intervals]
    assert ends == [
        pytest.approx([row["accuracy_low"], row["accuracy_high"]], abs=1e-4) for row in known
    ]
    names = ["accuracy", "accuracy_low", "accuracy_high"]
    names += ["mean_tokens", "mean_tokens_low", "mean_tokens_high"]
    assert [numbers_in(title_of(mark)) for mark in drawn] == [
        pytest.approx([row[name] for name in names], rel=5e-3) for row in known
    ]
    corners = [
        tuple(float(line.attrib[key].rstrip("%")) for key in ("x1", "y1", "x2", "y2"))
        for line in of_class(root, "frontier")
    ]
    best = [spots[1], spots[3], spots[0]]
    assert corners == [
        corner
        for (x0, y0), (x1, y1) in pairwise(best)
        for corner in ((x0, y0, x1, y0), (x1, y0, x1, y1))
    ]
    assert "Rows without a value: 1." in figure.caption
    assert [text.text for text in of_class(root, "series")] == ["tree", "direct", "CoT", "PoT"]


def test_the_contamination_curve_is_steps_apart_from_the_classes() -> None:
    classes = [share("clean", 0.0, 0.75, 0.7, 0.8), share("dirty", 0.5, 0.25, 0.2, 0.3)]
    values = [0.8, 0.6, None, 0.3, 0.1]
    steps = [
        share("curve", (place + 1) / 5, value, 0.05, 0.9) for place, value in enumerate(values)
    ]
    steps.reverse()
    bars, curve = draw(results_of(classes + steps, "Contaminated shares of the benchmark"))
    assert [label.text for label in of_class(parse(bars), "label")] == ["clean", "dirty"]
    assert not of_class(parse(bars), "series")
    root = parse(curve)
    across, down = inverse(root, is_log=False), inverse(root, is_log=False, down=True)
    dots = [[(across(x), down(y)) for x, y in places(mark, "dot")] for mark in marks(root)]
    assert dots == [
        [] if row["share"] is None else [pytest.approx((row["eta_from"], row["share"]), abs=1e-4)]
        for row in steps
    ]
    flat = [
        (across(float(line.attrib["x1"][:-1])), across(float(line.attrib["x2"][:-1])))
        for line in of_class(root, "step")
        if line.get("y1") == line.get("y2")
    ]
    expected = [(0.2, 0.4), (0.4, 0.6), (0.8, 1.0)]
    assert flat == [pytest.approx(ends, abs=1e-4) for ends in expected]
    assert title_of(marks(root)[3]).endswith("eta from 40.0%")


@pytest.mark.parametrize(("title", "column", "is_log"), KINDS_OF_ROWS)
def test_marks_and_intervals_stand_at_the_values_of_their_rows(
    title: str, column: str, is_log: bool
) -> None:
    rows = list(random_rows(title))
    _, root = only(rows, title)
    value_at = inverse(root, is_log)
    drawn = marks(root)
    assert len(drawn) == len(rows)
    heights = [places(mark, "dot")[0][1] for mark in drawn]
    assert heights == sorted(set(heights))
    values = [[value_at(x) for x, _ in places(mark, "dot")] for mark in drawn]
    assert values == [[pytest.approx(row[column], rel=1e-4, abs=1e-5)] for row in rows]
    lines = []
    for mark in drawn:
        (line,) = of_class(mark, "interval")
        lines.append(line)
    ends = [[float(line.attrib[key].rstrip("%")) for key in ("x1", "x2")] for line in lines]
    assert [[value_at(end) for end in pair] for pair in ends] == [
        pytest.approx([row[f"{column}_low"], row[f"{column}_high"]], rel=1e-4, abs=1e-5)
        for row in rows
    ]
    assert [[x for x, _ in places(mark, "bar")] for mark in drawn] == ends
    assert [places(mark, "arrow") for mark in drawn] == [[]] * len(rows)
    levels = [(line.get("y1"), line.get("y2")) for line in lines]
    assert levels == [(f"{height:g}", f"{height:g}") for height in heights]


def test_a_missing_limit_is_an_arrow_and_a_missing_interval_an_open_mark() -> None:
    rows = [isolated("up", 5, 3), isolated("down", 5, None, 9), isolated("bare", 5)]
    figure, root = only(rows, ISOLATION)
    up, down, bare = marks(root)
    assert len(places(up, "bar")) == len(places(down, "bar")) == 1
    assert (places(up, "arrow")[0][0], places(down, "arrow")[0][0]) == (96.0, 4.0)
    assert "at least 3, no upper limit" in title_of(up)
    assert "at most 9, no lower limit" in title_of(down)
    assert "no interval" in title_of(bare)
    fills = [of_class(mark, "dot")[0].get("fill") for mark in (up, down, bare)]
    assert fills == ["currentColor", "currentColor", None]
    assert bare.get("fill") == "none"
    assert not of_class(bare, "interval")
    assert "data-high" not in up.attrib
    assert "Arrows" in figure.caption
    assert "Open marks" in figure.caption
    whole, _ = only([isolated("a", 5, 3, 8), isolated("b", 5, 3, 8)], ISOLATION)
    assert "Arrows" not in whole.caption
    assert "Open marks" not in whole.caption


def test_unknown_values_have_no_dot() -> None:
    rows = [
        outputs("known", 0.4, 0.3, 0.5),
        outputs("bounds", None, 0.2, 0.6),
        outputs("nothing", None, None, None),
        outputs("no number", math.nan, None, None),
    ]
    figure, root = only(rows, "Outputs with markers of each method")
    known, bounds = marks(root)
    assert len(places(known, "dot")) == 1
    assert not places(bounds, "dot")
    assert "share unknown; 95% confidence interval 20.0% to 60.0%" in title_of(bounds)
    assert "only bounds are known" in figure.caption
    assert "Rows without a value: 2." in figure.caption
