"""Figures of rows: every mark, parsed from the SVG, stands where its row says."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.reporting.charts.axes import exact_text, make_axis, number
from ngramscan.reporting.charts.panels import MOST_PANELS, MOST_ROWS, Figure, draw
from ngramscan.reporting.kinds import KINDS, kind_of
from ngramscan.reporting.page.results import Results

Row = dict[str, Any]
SVG = "{http://www.w3.org/2000/svg}"
PLACE = 1e-4
"""Places are written with four digits."""


def results_of(rows: list[Row], title: str) -> Results:
    kind = next(one for one in KINDS if one.title == title)
    columns = (*rows[0],) if rows else (*sorted(kind.needs),)
    found = kind_of(columns)
    assert found is not None
    assert found.title == title
    return Results(kind, "rows.csv", columns, rows)


def count(query: str, occurrences: Any, low: Any = None, high: Any = None, **more: Any) -> Row:
    row: Row = {"index": "pile", "method": "CoT", "tier": "T1", "kind": "literal", "pattern": query}
    row |= {"query": query, "occurrences": occurrences, "documents": None, "level": 0.95}
    return row | {"occurrences_low": low, "occurrences_high": high} | more


def compare(treatment: str, difference: float, low: Any, high: Any, **more: Any) -> Row:
    row = {"dataset": "gsm8k", "model": "m", "rule": "exact", "baseline": "direct", "n": 9}
    row |= {"treatment": treatment, "accuracy_baseline": 0.5, "accuracy_treatment": 0.5}
    row |= {"difference": difference, "difference_low": low, "difference_high": high}
    return row | {"p": 0.5, "p_holm": 0.5} | more


def outputs(prompt: str, share: Any, low: Any, high: Any, **more: Any) -> Row:
    row = {"dataset": "gsm8k", "model": "m", "prompt": prompt, "method": "CoT", "outputs": 9}
    row |= {"has_method": True, "with_marker": 3, "share": share, "level": 0.95}
    return row | {"share_low": low, "share_high": high} | more


def efficiency(method: str, accuracy: Any, tokens: Any, best: bool, **more: Any) -> Row:
    row = {"dataset": "gsm8k", "model": "m", "method": method, "rule": "exact", "n": 9}
    low = None if accuracy is None else accuracy - 0.04
    row |= {"accuracy": accuracy, "accuracy_low": low, "accuracy_high": 0.95}
    row |= {"mean_tokens": tokens, "mean_tokens_low": tokens and tokens * 0.9}
    return row | {"mean_tokens_high": tokens and tokens * 1.1, "on_frontier": best} | more


def share(verdict: str, eta: float, value: Any, low: float, high: float) -> Row:
    row: Row = {"index": "pile", "rule": "13-grams", "verdict": verdict, "eta_from": eta}
    row |= {"entries": 100, "n": 1, "share": value, "share_low": low, "share_high": high}
    return row | {"level": 0.95}


def statistic(name: str, value: float) -> Row:
    row = {"statistic": name, "judges": "all", "label": None, "items": 9, "value": value}
    return row | {"low": value - 1, "high": value + 1}


def parse(figure: Figure) -> ET.Element:
    return ET.fromstring(str(figure.svg))


def only(rows: list[Row], title: str) -> tuple[Figure, ET.Element]:
    (figure,) = draw(results_of(rows, title))
    return figure, parse(figure)


def marks(root: ET.Element) -> list[ET.Element]:
    return [one for one in root.iter(f"{SVG}g") if one.get("class") == "row"]


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in root.iter() if one.get("class") == name]


def places(mark: ET.Element, name: str) -> list[tuple[float, float]]:
    """Return the places of the dots, bars or arrows of a mark."""
    around = [one for one in mark.iter(f"{SVG}svg") if of_class(one, name)]
    return [(float(one.attrib["x"].rstrip("%")), float(one.attrib["y"])) for one in around]


def inverse(root: ET.Element, is_log: bool, down: bool = False) -> Callable[[float], float]:
    """Return how places become values, from the first and the last line of the grid."""
    keys = ("y1", "y2") if down else ("x1", "x2")
    found = [
        (float(one.attrib[keys[0]].rstrip("%")), float(one.attrib["data-tick"]))
        for one in of_class(root, "grid")
        if one.get(keys[0]) == one.get(keys[1])
    ]
    apart = [place for place, value in found if is_log and value == 0]
    scale = [(x, math.log10(v) if is_log else v) for x, v in found if v > 0 or not is_log]
    (x0, v0), (x1, v1) = scale[0], scale[-1]
    # All other lines agree with these two.
    for x, v in scale:
        assert x == pytest.approx(x0 + (x1 - x0) * (v - v0) / (v1 - v0), abs=2 * PLACE)

    def value_at(place: float) -> float:
        if any(abs(place - one) < PLACE for one in apart):
            return 0.0
        value = v0 + (v1 - v0) * (place - x0) / (x1 - x0)
        return 10**value if is_log else value

    return value_at


def title_of(mark: ET.Element) -> str:
    return mark.findtext(f"{SVG}title") or ""


def numbers_in(text: str) -> list[float]:
    found = re.findall(r"(−?[\d,]*\d(?:\.\d+)?(?:E[+−]\d+)?)(%| percentage points)?", text)
    plain = [(one.replace(",", "").replace("−", "-"), unit) for one, unit in found]
    return [float(Decimal(one) / (100 if unit else 1)) for one, unit in plain]


def random_rows(name: str) -> Iterator[Row]:
    draws = random.Random(7)
    for place in range(25):
        value: float
        if name == "Counts":
            value = int(10 ** draws.uniform(0, 12))
            yield count(f"q{'x' * place}", value, value * 0.7, value * 3)
        elif name == "Differences of methods":
            value = draws.uniform(-0.3, 0.6)
            yield compare(f"t{'x' * place}", value, value - 0.1, value + 0.05)
        else:
            value = draws.uniform(0.1, 0.9)
            yield outputs(f"p{'x' * place}", value, value - 0.1, value + 0.05)


CASES = [
    ("Counts", "occurrences", True),
    ("Differences of methods", "difference", False),
    ("Outputs with markers of each method", "share", False),
]


@pytest.mark.parametrize(("title", "column", "is_log"), CASES)
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
    for row, mark in zip(rows, drawn, strict=True):
        ((x, y),) = places(mark, "dot")
        assert value_at(x) == pytest.approx(row[column], rel=1e-4, abs=1e-5)
        (line,) = of_class(mark, "interval")
        ends = [value_at(float(line.attrib[one].rstrip("%"))) for one in ("x1", "x2")]
        limits = [row[f"{column}_low"], row[f"{column}_high"]]
        assert ends == pytest.approx(limits, rel=1e-4, abs=1e-5)
        assert [one for one, _ in places(mark, "bar")] == [
            float(line.attrib[one].rstrip("%")) for one in ("x1", "x2")
        ]
        assert not places(mark, "arrow")
        assert {line.get("y1"), line.get("y2")} == {f"{y:g}"}


@pytest.mark.parametrize(("title", "column", "is_log"), CASES)
def test_tooltips_and_data_are_the_numbers_of_the_rows(
    title: str, column: str, is_log: bool
) -> None:
    rows = list(random_rows(title))
    names = (column, f"{column}_low", f"{column}_high")
    for row, mark in zip(rows, marks(only(rows, title)[1]), strict=True):
        told = title_of(mark).replace("95% interval", "interval")
        assert numbers_in(told) == [row[one] for one in names]
        data = [mark.attrib[f"data-{one}"] for one in ("value", "low", "high")]
        assert data == [repr(row[one]) for one in names]
    assert len(of_class(only(rows, title)[1], "label")) == len(rows)


def test_labels_are_in_the_order_of_the_rows_and_stand_above_their_marks() -> None:
    rows = [count("b", 5), count("a", 50), count("b", 7, index="pile"), count("c", 1)]
    _, root = only(rows, "Counts")
    assert [one.text for one in of_class(root, "label")] == ["b", "a", "c"]
    tops = [float(one.attrib["y"]) for one in of_class(root, "label")]
    told = [(title_of(one)[0], places(one, "dot")[0][1]) for one in marks(root)]
    assert [name for name, _ in told] == ["b", "b", "a", "c"]
    assert tops[0] < told[0][1] < told[1][1] < tops[1] < told[2][1] < tops[2] < told[3][1]


def test_zeros_stand_apart_on_a_logarithmic_axis() -> None:
    rows = [count("none", 0), count("one", 1), count("many", 900, 0, 2000)]
    figure, root = only(rows, "Counts")
    assert "zeros stand apart" in figure.caption
    (zero, _), (one, _), _ = (places(mark, "dot")[0] for mark in marks(root))
    assert one - zero > 8
    assert [tick.get("data-tick") for tick in of_class(root, "grid")][:2] == ["0", "1.0"]
    interval = of_class(marks(root)[2], "interval")[0]
    assert float(interval.attrib["x1"].rstrip("%")) == zero
    plain, root = only([*rows[1:2], count("two", 2, 1, 3)], "Counts")
    assert "zeros" not in plain.caption
    assert "0" not in [tick.get("data-tick") for tick in of_class(root, "grid")]


def test_a_limit_that_is_missing_is_an_arrow_and_a_missing_interval_an_open_mark() -> None:
    rows = [count("up", 5, 3, None), count("down", 5, None, 9), count("bare", 5)]
    figure, root = only(rows, "Counts")
    up, down, bare = marks(root)
    assert (places(up, "bar"), places(down, "arrow")[0][0]) == ([places(up, "bar")[0]], 4.0)
    assert places(up, "arrow")[0][0] == 96.0
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
    whole, _ = only([count("a", 5, 3, 8), count("b", 5, 3, 8)], "Counts")
    assert whole.caption == "Lines: 95% intervals. Logarithmic axis."


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
    assert "share unknown; 95% interval 20% to 60%" in title_of(bounds)
    assert "only bounds are known" in figure.caption
    assert "Rows without a value: 2." in figure.caption


def test_infinite_values_are_arrows_at_the_ends() -> None:
    rows = [
        compare("up", math.inf, None, None),
        compare("down", -math.inf, None, None),
        compare("some", 0.1, -math.inf, 0.2),
    ]
    _, root = only(rows, "Differences of methods")
    up, down, some = marks(root)
    assert [places(one, "arrow")[0][0] for one in (up, down, some)] == [96, 4, 4]
    assert not places(up, "dot")
    assert "difference infinite" in title_of(up)
    assert "difference minus infinite" in title_of(down)
    assert len(places(some, "bar")) == 1


def test_numbers_beyond_floats_are_drawn_and_told() -> None:
    _, root = only([count("huge", 10**5000), count("tiny", 5e-324), count("one", 1)], "Counts")
    assert len(marks(root)) == 3
    assert places(marks(root)[0], "arrow")
    assert "occurrences beyond 1e300" in title_of(marks(root)[0])
    assert all("nan" not in str(one.attrib) for one in root.iter())


def test_negative_numbers_make_a_logarithmic_axis_linear() -> None:
    figure, root = only([count("a", -5), count("b", 500)], "Counts")
    assert "Logarithmic" not in figure.caption
    value_at = inverse(root, is_log=False)
    assert [round(value_at(places(mark, "dot")[0][0]), 2) for mark in marks(root)] == [-5, 500]


def test_differences_have_a_line_of_no_difference() -> None:
    rows = [compare("a", 0.1, 0.05, 0.2), compare("b", 0.2, 0.1, 0.3)]
    _, root = only(rows, "Differences of methods")
    (zero,) = of_class(root, "reference")
    assert inverse(root, is_log=False)(float(zero.attrib["x1"].rstrip("%"))) == pytest.approx(0)
    assert "10 percentage points" in title_of(marks(root)[0])
    assert [one.text for one in of_class(root, "label")] == ["a vs. direct", "b vs. direct"]
    assert not of_class(only([count("a", 5, 3, 8)], "Counts")[1], "reference")


def test_figures_that_would_say_nothing_are_not_drawn() -> None:
    assert draw(results_of([], "Counts")) == []
    assert draw(results_of([count("a", 5)], "Counts")) == []
    assert draw(results_of([count("a", None), count("b", None)], "Counts")) == []
    assert len(draw(results_of([count("a", 5, 3, 8)], "Counts"))) == 1
    plain = next(one for one in KINDS if not one.plots)
    assert draw(Results(plain, "x", (*plain.needs,), [dict.fromkeys(plain.needs, 1)])) == []


def test_the_largest_of_many_rows_are_shown() -> None:
    rows = [count(f"q{place}", place * 7919 % 5000) for place in range(500)]
    figure, root = only(rows, "Counts")
    assert f"{MOST_ROWS} of 500 rows, the most frequent." in figure.caption
    values = [int(one.attrib["data-value"]) for one in marks(root)]
    largest = sorted((row["occurrences"] for row in rows), reverse=True)[:MOST_ROWS]
    assert sorted(values, reverse=True) == largest
    assert values == [row["occurrences"] for row in rows if row["occurrences"] in set(largest)]
    wide = [compare(f"t{place}", place / 100 - 0.4, None, None) for place in range(60)]
    shown = [float(one.attrib["data-value"]) for one in marks(only(wide, CASES[1][0])[1])]
    assert min(shown) == -0.4


def test_panels_have_the_same_axis_colours_and_shapes() -> None:
    rows = [
        count("a", 3, index="small"),
        count("b", 9, index="small", method="PoT"),
        count("a", 90000, index="large", method="PoT"),
        count("b", 5, index="large", method=None),
    ]
    small, large = draw(results_of(rows, "Counts"))
    assert (small.title, large.title) == ("Counts · small", "Counts · large")
    ticks = [[one.attrib for one in of_class(parse(each), "grid")] for each in (small, large)]
    assert [one["x1"] for one in ticks[0]] == [one["x1"] for one in ticks[1]]

    def look(one: ET.Element) -> tuple[str | None, str | None]:
        return one.get("color"), of_class(one, "dot")[0].get("d")

    looks: dict[str | None, tuple[str | None, str | None]] = {}
    for figure in (small, large):
        root = parse(figure)
        names = [one.text for one in of_class(root, "series")]
        keys = [one for one in root.iter(f"{SVG}g") if one.get("class") is None]
        for name, key in zip(names, keys, strict=True):
            assert looks.setdefault(name, look(key)) == look(key)
        for mark in marks(root):
            series = title_of(mark).partition(":")[0].partition(", ")[2] or "no method"
            assert look(mark) == looks[series]
    assert len({*looks.values()}) == len(looks) == 3


def test_panels_of_one_row_each_are_one_figure() -> None:
    rows = [count("step by step", place + 1, index=f"index {place}") for place in range(20)]
    figure, root = only(rows, "Counts")
    assert figure.title == "Counts"
    assert [one.text for one in of_class(root, "label")] == [row["index"] for row in rows]


def test_too_many_panels_are_left_out_and_counted() -> None:
    rows = [count(q, 5, index=f"index {place}") for place in range(20) for q in "ab"]
    figures = draw(results_of(rows, "Counts"))
    assert len(figures) == MOST_PANELS
    assert f"The other {20 - MOST_PANELS} figures are left out." in figures[-1].caption


def test_each_statistic_has_an_axis_of_its_own() -> None:
    rows = [statistic("alpha", 0.5), statistic("missing", 400.0)]
    figures = draw(results_of(rows, "Agreement of judges"))
    for row, figure in zip(rows, figures, strict=True):
        root = parse(figure)
        (mark,) = marks(root)
        at = inverse(root, is_log=False)(places(mark, "dot")[0][0])
        assert at == pytest.approx(row["value"], rel=1e-3)
    ends = [of_class(parse(one), "grid")[-1].get("data-tick") for one in figures]
    assert ends[0] != ends[1]


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
    spots = []
    for row, mark in zip(rows, marks(root), strict=False):
        ((x, y),) = places(mark, "dot")
        spots.append((x, y))
        assert across(x) == pytest.approx(row["mean_tokens"], rel=1e-3)
        assert down(y) == pytest.approx(row["accuracy"], abs=1e-4)
        sides, upright = of_class(mark, "interval")[0], of_class(mark, "interval")[-1]
        low = across(float(sides.attrib["x1"].rstrip("%")))
        assert low == pytest.approx(row["mean_tokens_low"], rel=1e-3)
        ends = [down(float(upright.attrib[one])) for one in ("y1", "y2")]
        assert ends == pytest.approx([row["accuracy_low"], row["accuracy_high"]], abs=1e-4)
        told = numbers_in(title_of(mark))
        names = ("accuracy", "accuracy_low", "accuracy_high")
        wide = ("mean_tokens", "mean_tokens_low", "mean_tokens_high")
        assert told == [row[one] for one in names + wide]
    assert len(spots) == 4
    corners = [
        tuple(float(one.attrib[key].rstrip("%")) for key in ("x1", "y1", "x2", "y2"))
        for one in of_class(root, "frontier")
    ]
    best = [spots[1], spots[3], spots[0]]
    assert corners == [
        corner
        for (x0, y0), (x1, y1) in pairwise(best)
        for corner in ((x0, y0, x1, y0), (x1, y0, x1, y1))
    ]
    assert "Rows without a value: 1." in figure.caption
    assert [one.text for one in of_class(root, "series")] == ["tree", "direct", "CoT", "PoT"]


def test_the_contamination_curve_is_a_line_of_steps_apart_from_the_classes() -> None:
    classes = [share("clean", 0.0, 0.75, 0.7, 0.8), share("dirty", 0.5, 0.25, 0.2, 0.3)]
    values = [0.8, 0.6, None, 0.3, 0.1]
    steps = [
        share("curve", (place + 1) / 5, value, 0.05, 0.9) for place, value in enumerate(values)
    ]
    steps.reverse()
    bars, curve = draw(results_of(classes + steps, "Contaminated shares of the benchmark"))
    assert [one.text for one in of_class(parse(bars), "label")] == ["clean", "dirty"]
    assert not of_class(parse(bars), "series")
    root = parse(curve)
    across, down = inverse(root, is_log=False), inverse(root, is_log=False, down=True)
    for row, mark in zip(steps, marks(root), strict=True):
        for x, y in places(mark, "dot"):
            assert across(x) == pytest.approx(row["eta_from"], abs=1e-4)
            assert down(y) == pytest.approx(row["share"], abs=1e-4)
    flat = [
        (across(float(one.attrib["x1"][:-1])), across(float(one.attrib["x2"][:-1])))
        for one in of_class(root, "step")
        if one.get("y1") == one.get("y2")
    ]
    expected = [(0.2, 0.4), (0.4, 0.6), (0.8, 1.0)]
    assert [end for one in flat for end in one] == pytest.approx(
        [end for one in expected for end in one], abs=1e-4
    )
    assert title_of(marks(root)[3]).endswith("eta from 0.4")


def test_bytes_and_tokens_of_one_file_are_never_on_one_axis() -> None:
    tokens = {"token_occurrences": None, "token_occurrences_after_space": None}
    tokens |= {"tokens": None, "per_million_tokens": None}
    rows = [count("a", 5), count("b", 50)]
    rows = [row | tokens for row in rows] + [
        count(q, None) | tokens | {"token_occurrences": n} for q, n in (("a", 700), ("b", 9000))
    ]
    kind = kind_of(rows[0])
    assert kind is not None
    assert len(kind.plots) == 2
    drawn = [parse(one) for one in draw(Results(kind, "x", (*rows[0],), rows))]
    values = [[one.get("data-value") for one in marks(root)] for root in drawn]
    assert values == [["5", "50"], ["700", "9000"]]
    assert "Rows without" not in str(draw(Results(kind, "x", (*rows[0],), rows)))


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]></title></svg><script>alert(1)</script>",
    "\u202eevil\u2066 \x1b[31mred\x1b[0m \x00\ud800\uffff",
    "x" * 1_000_000,
    "字" * 500,
    "&amp; %s {0} {{x}}",
    "",
]


def test_hostile_texts_stay_texts() -> None:
    rows = [
        count(text, place + 1, 1, None, index=text, method=text)
        for place, text in enumerate(HOSTILE)
    ]
    rows += [row | {"query": "other"} for row in rows]
    for figure in draw(results_of(rows, "Counts")):
        root = parse(figure)
        allowed = {f"{SVG}{one}" for one in ("svg", "g", "title", "text", "line", "path", "rect")}
        assert {one.tag for one in root.iter()} <= allowed
        names = {name for one in root.iter() for name in one.attrib}
        assert not {one for one in names if one.startswith("on")} & names
        assert not names & {"id", "style", "href"}
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00]", str(figure))
        assert len(figure.svg) < 20_000
        figure.svg.encode()
        lines = of_class(root, "label") + of_class(root, "series")
        assert all(len(one.text or "") <= 45 for one in lines)
    first = draw(results_of(rows, "Counts"))[0]
    assert "<script>alert(1)</script>" in "".join(parse(first).itertext())


@pytest.mark.parametrize("title", sorted({one.title for one in KINDS if one.plots}))
def test_every_kind_with_a_plot_is_drawn(title: str) -> None:
    kind = next(one for one in KINDS if one.title == title)
    columns = sorted(kind.needs | kind.numbers)
    rows = [
        {one: 0.25 * place if one in kind.numbers else f"{one} {place}" for one in columns}
        for place in (1, 2, 3)
    ]
    figures = draw(Results(kind, "x", (*columns,), rows))
    assert figures
    for figure in figures:
        root = parse(figure)
        assert marks(root)
        assert (root.get("role"), "viewBox" in root.attrib) == ("img", False)
        assert figure.title in (root.get("aria-label") or "") or "curve" in figure.title
        assert len(figure.caption) < 300


FINITE = st.floats(-1e300, 1e300, allow_nan=False, allow_subnormal=True)


@given(st.lists(FINITE, max_size=6), st.sampled_from(["log", "linear", "share"]))
def test_axes_have_room_for_all_numbers_and_ticks_in_order(values: list[float], scale: Any) -> None:
    axis = make_axis(values, scale, "percent" if scale == "share" else "number")
    found = [tick.place for tick in axis.ticks]
    assert found == sorted(found)
    assert 2 <= len(found) <= 10
    assert len({tick.text for tick in axis.ticks}) == len(found)
    ordered = [axis.place(one) for one in sorted(values)]
    assert ordered == sorted(ordered)
    assert all(0 <= one <= 1 for one in ordered)
    slack = 1e-6 * max(map(abs, values), default=0)
    ends = [axis.low, axis.high] if not axis.is_log else [10**axis.low, 10**axis.high]
    inside = [one for one in values if abs(one) > 1e-280]
    assert all(ends[0] - slack <= one <= ends[1] + slack for one in inside)


@given(st.one_of(st.integers(-(10**27), 10**27), FINITE))
def test_exact_texts_have_all_digits(value: float) -> None:
    assert numbers_in(exact_text(value, "number")) == [float(value)]
    # Hundredfold and back is exact in decimals.
    assert numbers_in(exact_text(value, "percent")) == [float(value)]


def test_only_numbers_are_numbers() -> None:
    assert [number(one) for one in (True, None, "5", math.nan)] == [None] * 4
    assert number(10**400) == math.inf
    assert exact_text(None, "percent") == "unknown"
    assert exact_text(0.287, "percent") == "28.7%"
