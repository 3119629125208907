"""Figures of rows: every mark, parsed from the SVG, stands where its row says."""

import math
import random
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ngramscan.reporting.charts.axes import make_axis, number, value_text
from ngramscan.reporting.charts.figure import IN_A_FILE, MOST_PANELS, MOST_ROWS, ON_A_PAGE, Figure
from ngramscan.reporting.charts.panels import draw
from ngramscan.reporting.kinds import KINDS, kind_of
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.plots import Unit
from tests.support.rows_of_results import HOSTILE

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


COUNTED: Row = {
    "index": "pile",
    "method": "CoT",
    "tier": "T1",
    "kind": "literal",
    "documents": None,
    "level": 0.95,
}
COMPARED: Row = {
    "dataset": "gsm8k",
    "model": "m",
    "rule": "exact",
    "baseline": "direct",
    "n": 9,
    "accuracy_baseline": 0.5,
    "accuracy_treatment": 0.5,
    "p": 0.5,
    "p_holm": 0.5,
}
MARKED: Row = {
    "dataset": "gsm8k",
    "model": "m",
    "method": "CoT",
    "outputs": 9,
    "has_method": True,
    "with_marker": 3,
    "level": 0.95,
}
SPENT: Row = {"dataset": "gsm8k", "model": "m", "rule": "exact", "n": 9, "accuracy_high": 0.95}
SHARED: Row = {"index": "pile", "rule": "13-grams", "entries": 100, "n": 1, "level": 0.95}


def count(query: str, occurrences: Any, low: Any = None, high: Any = None, **more: Any) -> Row:
    row = COUNTED | {"pattern": query, "query": query, "occurrences": occurrences}
    return row | {"occurrences_low": low, "occurrences_high": high} | more


ISOLATION = "Markers in outputs of their own method and of others"


def isolated(method: str, ratio: Any, low: Any = None, high: Any = None) -> Row:
    row: Row = {"dataset": "d", "model": "m", "method": method, "outputs_own": 9}
    row |= {"outputs_others": 9, "share_own": 0.1, "share_others": 0.1, "difference": 0.0}
    return row | {"ratio": ratio, "ratio_low": low, "ratio_high": high, "level": 0.95}


def compare(treatment: str, difference: float, low: Any, high: Any) -> Row:
    row = COMPARED | {"treatment": treatment, "difference": difference}
    return row | {"difference_low": low, "difference_high": high}


def outputs(prompt: str, share: Any, low: Any, high: Any, **more: Any) -> Row:
    return MARKED | {"prompt": prompt, "share": share, "share_low": low, "share_high": high} | more


def efficiency(method: str, accuracy: float, tokens: Any, best: bool) -> Row:
    row = SPENT | {"method": method, "accuracy": accuracy, "accuracy_low": accuracy - 0.04}
    row |= {"mean_tokens": tokens, "mean_tokens_low": tokens and tokens * 0.9}
    return row | {"mean_tokens_high": tokens and tokens * 1.1, "on_frontier": best}


def share(verdict: str, eta: float, value: Any, low: float, high: float) -> Row:
    row = SHARED | {"verdict": verdict, "eta_from": eta, "share": value}
    return row | {"share_low": low, "share_high": high}


def parse(figure: Figure, drawing: int = 0) -> ET.Element:
    return ET.fromstring(f"<div>{figure.svg}</div>")[drawing]


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


SIZES = [("m", 3), ("all", 1200)]


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


def test_all_models_come_first_with_notes_in_words_and_ticks_below_their_lines(
    subtests: pytest.Subtests,
) -> None:
    rows = [outputs("cot", 1.0, 0.9, 1.0, with_marker=n, outputs=n, model=m) for m, n in SIZES]
    _, root = only(rows, "Outputs with markers of each method")
    assert [one.text for one in of_class(root, "label")] == ["all", "m"]
    assert of_class(root, "aside")[0].text == "1,200 of 1,200 outputs"
    for each in (root, only([count("a", 7, 1, 100_000), count("b", 7)], "Counts")[1]):
        with subtests.test(each=each):
            lines = {float(one.attrib["x1"].rstrip("%")) for one in of_class(each, "grid")}
            texts = {float(one.attrib["x"].rstrip("%")) for one in of_class(each, "tick")}
            assert texts - lines <= {96.0}, "the name of the axis is at its end"
    ranges = ((1, 10**8), (10**5, 5 * 10**5))
    roots = [only([count("a", low, low, high)], "Counts")[1] for low, high in ranges]
    ticks = [of_class(each, "tick")[:-1] for each in roots]
    shown = [" ".join(one.text or "" for one in each) for each in ticks]
    assert shown == ["1 100 10⁴ 10⁶ 10⁸", "100,000 200,000 500,000"]
    assert [one.get("text-anchor") for one in ticks[1]] == ["start", "middle", "end"]


def test_wide_pages_have_labels_beside_the_same_marks(subtests: pytest.Subtests) -> None:
    rows = [compare(name, 0.1, 0.05, 0.2) for name in ("pot", "program-of-thought")]
    (figure,) = draw(results_of(rows, "Differences of methods"))
    narrow, wide = (parse(figure, drawing) for drawing in (0, 1))
    assert [*map(title_of, marks(narrow))] == [*map(title_of, marks(wide))]
    for root, is_beside in ((narrow, False), (wide, True)):
        with subtests.test(root=root):
            (zero,) = of_class(root, "reference")
            assert (float(zero.attrib["x1"].rstrip("%")) > 20) is is_beside
            for label, mark in zip(of_class(root, "label"), marks(root), strict=True):
                down = places(mark, "bar")[0][1] - float(label.attrib["y"])
                assert (-8 < down < 0) if is_beside else (4 < down < 15)
    assert float(wide.attrib["height"]) < float(narrow.attrib["height"])


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
    assert "10.0 percentage points" in title_of(marks(root)[0])
    assert [one.text for one in of_class(root, "label")] == ["a vs. direct", "b vs. direct"]
    assert not of_class(only([count("a", 5, 3, 8)], "Counts")[1], "reference")


def test_too_many_panels_are_left_out_and_counted() -> None:
    rows = [
        compare(name, 0.1, 0.05, 0.2) | {"dataset": f"dataset {place}"}
        for place in range(20)
        for name in ("cot", "pot")
    ]
    figures = draw(results_of(rows, "Differences of methods"))
    assert len(figures) == MOST_PANELS
    assert f"The other {20 - MOST_PANELS} figures are left out." in figures[-1].caption


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
        assert told == pytest.approx([row[one] for one in names + wide], rel=5e-3)
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
    assert title_of(marks(root)[3]).endswith("eta from 40.0%")


LONG = ("x" * 1_000_000, "字" * 500, "")


def test_hostile_texts_stay_texts() -> None:
    rows = [
        count(text, place + 1, 1, None, index=text, method=text)
        for place, text in enumerate([*HOSTILE, *LONG])
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
        assert len(figure.svg) < 60_000
        figure.svg.encode()
        lines = of_class(root, "label") + of_class(root, "series")
        assert all(len(one.text or "") <= 45 for one in lines)
    first = draw(results_of(rows, "Counts"))[0]
    assert HOSTILE[1] in "".join(parse(first).itertext())


FINITE = st.floats(-1e300, 1e300, allow_nan=False, allow_subnormal=True)


@example([0.2], "log")
@example([0.5], "log")
@example([2.0], "log")
@example([5.0], "log")
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


@given(st.floats(-10, 10).filter(lambda one: abs(one) > 1e-12))
def test_values_in_words_are_near_them(value: float) -> None:
    for unit in get_args(Unit):
        slack = 5e-3 * abs(value) if unit == "number" else 6e-4
        said = value_text(value, unit).replace("e−", "E−")
        assert numbers_in(said) == [pytest.approx(value, abs=slack)], said
    # The exact value is never on the other side of 0.
    assert ("−" in value_text(value, "percent").split("e")[0]) == (value < 0)


def test_only_numbers_are_numbers() -> None:
    assert [number(one) for one in (True, None, "5", math.nan)] == [None] * 4
    assert number(10**400) == math.inf
    assert value_text(None, "percent") == "unknown"
    assert value_text(-0.02499999999999991, "points") == "−2.5 percentage points"


def retained(solver: str, low: float, high: float) -> Row:
    row: Row = {"dataset": "d", "model": "m", "prefix": "f-1", "solver": solver, "method": "F-1"}
    row |= {"prompt_with": f"f-1+{solver}", "pairs": 9, "share_alone": 0.5, "share_with": 0.5}
    return row | {"p": 1.0, "difference": 0.0, "difference_low": low, "difference_high": high}


def test_forest_plots_say_whom_each_side_favours_and_the_level_of_intervals() -> None:
    one = [compare("cot", 0.1, 0.05, 0.2) | {"level": 0.9, "model": name} for name in "ab"]
    figure, root = only(one, "Differences of methods")
    assert [text.text for text in of_class(root, "side")] == ["← direct better", "cot better →"]
    assert of_class(root, "tick")[-1].text == "difference, percentage points (90% intervals)"
    assert "intervals" not in figure.caption
    several = [*one, compare("pot", 0.1, 0.05, 0.2) | {"level": 0.95}]
    figure, root = only(several, "Differences of methods")
    assert [text.text for text in of_class(root, "side")][1] == "treatment better →"
    assert of_class(root, "tick")[-1].text == "difference, percentage points"
    assert "Bars: confidence intervals." in figure.caption
    kept = [retained("cot", -0.1, 0.1), retained("pot", -0.1, 0.1)]
    _, root = only(kept, "Markers that outputs keep with a solver")
    sides = [text.text for text in of_class(root, "side")]
    assert sides == ["← fewer with solver", "more with solver →"]


def test_names_are_beside_few_marks_and_in_a_legend_of_many() -> None:
    few = [efficiency(f"method {place}", place / 10, 100.0 * place, False) for place in range(1, 9)]
    _, root = only(few, "Accuracy and tokens")
    beside = [one for one in root.iter(f"{SVG}svg") if of_class(one, "series")]
    named = [one for one in beside if one is not root]
    for row, mark, name in zip(few, marks(root), named[1:], strict=False):
        assert row["method"] in title_of(mark)
        assert name.attrib["x"].endswith("%")
    assert len(named) == len(few)
    many = [*few, efficiency("method 9", 0.9, 900.0, False)]
    _, root = only(many, "Accuracy and tokens")
    legend = of_class(root, "series")
    assert len({one.attrib["x"] for one in legend}) == 1
    assert len(legend) == len(many)


def test_names_cover_neither_each_other_nor_other_marks() -> None:
    close = [efficiency(f"method {place}", 0.5, 100.0, False) for place in range(4)]
    _, root = only(close, "Accuracy and tokens")
    named = [one for one in root.iter(f"{SVG}svg") if one is not root and of_class(one, "series")]
    places = {(one.attrib["y"], of_class(one, "series")[0].attrib["text-anchor"]) for one in named}
    assert len(places) == len(close)


def test_the_style_of_a_verdict_does_not_depend_on_the_others() -> None:
    rows = [share(verdict, 0.5, 0.3, 0.2, 0.4) for verdict in ("dirty", "clean")]
    for chosen in (rows, rows[::-1], rows[:1]):
        (figure,) = draw(results_of(chosen, "Contaminated shares of the benchmark"))
        found = {title_of(one).split(":")[0]: one.attrib["color"] for one in marks(parse(figure))}
        assert "--series-3" in found[next(name for name in found if "dirty" in name)]


def test_shares_of_several_corpora_are_in_one_figure_with_the_short_name_of_the_rule() -> None:
    rows = [
        share("dirty", 0.5, 0.3, 0.2, 0.4) | {"index": index, "rule": "mini: 50 characters"}
        for index in ("a", "b")
    ]
    (figure,) = draw(results_of(rows, "Contaminated shares of the benchmark"))
    assert figure.title == "Contaminated shares of the benchmark · mini"
    assert [one.text for one in of_class(parse(figure), "label")] == ["a", "b"]


def test_rows_that_a_page_leaves_out_do_not_change_the_styles_of_others() -> None:
    small = [retained(f"a{place}", -0.1, 0.1) | {"difference": 0.01} for place in range(10)]
    large = [
        retained(f"b{place}", -0.1, 0.9) | {"difference": 0.5, "method": method}
        for place in range(10)
        for method in ("PoT", "CoT", "ToT")
    ]
    results = results_of([*small, *large], "Markers that outputs keep with a solver")
    (in_file,), (on_page,) = draw(results, IN_A_FILE), draw(results, ON_A_PAGE)
    styles = [
        {title_of(one): one.attrib["color"] for one in marks(parse(figure))}
        for figure in (in_file, on_page)
    ]
    assert len(styles[1]) < len(styles[0])
    assert not any("F-1:" in said for said in styles[1]), "none of the first method"
    assert styles[1].items() <= styles[0].items()


def difference_of(name: str, value: float) -> Row:
    return compare(name, value, value - 0.01, value + 0.01)


DIFFERENCES = "Differences of methods"
MORE = MOST_ROWS + 6


@pytest.mark.parametrize(
    ("title", "row_of", "plain", "notable", "caption"),
    [
        pytest.param(
            DIFFERENCES,
            difference_of,
            [0.01 + place / 1000 for place in range(MORE)],
            [-0.5, -0.4, 0.3],
            "the largest.",
            id="losses among small gains",
        ),
        pytest.param(
            DIFFERENCES,
            difference_of,
            [-0.01 - place / 1000 for place in range(MORE)],
            [0.5, 0.4, -0.3],
            "the largest.",
            id="gains among small losses",
        ),
        pytest.param(
            ISOLATION,
            isolated,
            [1.1 + place / 100 for place in range(MORE)],
            [0.01, 0.2, 9.0],
            "the farthest from 1.",
            id="ratios far below 1 among some a little above",
        ),
        pytest.param(
            ISOLATION,
            isolated,
            [0.9 - place / 100 for place in range(MORE)],
            [100.0, 5.0, 0.1],
            "the farthest from 1.",
            id="ratios far above 1 among some a little below",
        ),
        pytest.param(
            ISOLATION,
            isolated,
            [1.1 + place / 100 for place in range(MORE)],
            [0.0, 0.001],
            "the farthest from 1.",
            id="a ratio of 0",
        ),
    ],
)
def test_a_page_shows_the_largest_gains_and_the_largest_losses(
    title: str,
    row_of: Callable[[str, float], Row],
    plain: list[float],
    notable: list[float],
    caption: str,
) -> None:
    """Small values are first and last in the rows, so that the order doesn't decide."""
    half = len(plain) // 2
    values = [*plain[:half], *notable, *plain[half:]]
    rows = [row_of(f"name-{place:03}", value) for place, value in enumerate(values)]
    figure, root = only(rows, title)
    shown = {float(str(one.attrib["data-value"])) for one in marks(root)}
    assert {*notable} <= shown
    # All others that are shown are at least as far from no difference as those that are not.
    small = {value for value in plain if value in shown}
    by_distance = sorted(plain, key=lambda value: abs(value - (1 if row_of is isolated else 0)))
    assert small == {*by_distance[-len(small) :]}
    assert len(shown) == MOST_ROWS
    assert figure.caption.endswith(f"{MOST_ROWS} of {len(rows)} rows, {caption}")


def statistic(name: str, value: float) -> Row:
    row = {"statistic": name, "judges": "all", "label": None, "items": 9, "value": value}
    return row | {"low": value - 1, "high": value + 1}


def random_rows(title: str) -> Iterator[Row]:
    """Yield as many rows of a kind as a figure has room for, with intervals."""
    draws = random.Random(7)
    for place in range(MOST_ROWS):
        name = "x" * (place + 1)
        if title == ISOLATION:
            value = 10 ** draws.uniform(-1, 6)
            yield isolated(name, value, value * 0.7, value * 3)
        elif title == "Differences of methods":
            value = draws.uniform(-0.3, 0.6)
            yield compare(name, value, value - 0.1, value + 0.05)
        else:
            value = draws.uniform(0.1, 0.9)
            yield outputs(name, value, value - 0.1, value + 0.05)


CASES = [
    (ISOLATION, "ratio", True),
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
    drawn = marks(only(rows, title)[1])
    for row, mark in zip(rows, drawn, strict=True):
        said = title_of(mark).replace("95% confidence interval", "interval")
        values = [row[name] for name in names]
        assert numbers_in(said) == pytest.approx(values, rel=5e-3, abs=5.1e-4)
        data = [mark.attrib[f"data-{name}"] for name in ("value", "low", "high")]
        assert data == [repr(value) for value in values]


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


def test_numbers_beyond_floats_are_drawn_and_told() -> None:
    rows = [isolated("huge", 10**400), isolated("tiny", 5e-324), isolated("single", 1)]
    _, root = only(rows, ISOLATION)
    huge, tiny, single = marks(root)
    assert places(huge, "arrow")
    assert places(tiny, "dot") < places(single, "dot")
    assert "ratio beyond 1e300" in title_of(huge)
    assert all("nan" not in str(element.attrib) for element in root.iter())


def test_figures_that_would_say_nothing_are_not_drawn() -> None:
    assert draw(results_of([], "Counts")) == []
    assert draw(results_of([count("a", 5)], "Counts")) == []
    assert draw(results_of([count("a", None), count("b", None)], "Counts")) == []
    assert len(draw(results_of([count("a", 5, 3, 8)], "Counts"))) == 1
    plain = next(one for one in KINDS if not one.plots)
    assert draw(Results(plain, "x", (*plain.needs,), [dict.fromkeys(plain.needs, 1)])) == []


def test_panels_have_the_same_axis_and_each_series_its_look() -> None:
    rows = [
        outputs("a", 0.1, 0.05, 0.2, model="small"),
        outputs("b", 0.9, 0.8, 0.95, model="small", has_method=False),
        outputs("a", 0.4, 0.3, 0.5, model="large", has_method=False),
        outputs("b", 0.5, 0.4, 0.6, model="large"),
    ]
    small, large = draw(results_of(rows, "Outputs with markers of each method"))
    assert small.title.endswith("small")
    assert large.title.endswith("large")
    places_of_lines = [
        [line.attrib["x1"] for line in of_class(parse(figure), "grid")] for figure in (small, large)
    ]
    assert places_of_lines[0] == places_of_lines[1]

    def look(element: ET.Element) -> tuple[str | None, str | None]:
        return element.get("color"), of_class(element, "dot")[0].get("d")

    with_method, without = marks(parse(small))
    also_without, also_with_method = marks(parse(large))
    assert look(with_method) == look(also_with_method) != look(without) == look(also_without)


def test_panels_of_one_row_each_are_one_figure() -> None:
    rows = [outputs("p", 0.1, 0.05, 0.2, model=f"model {place}") for place in range(20)]
    _, root = only(rows, "Outputs with markers of each method")
    names = [label.text or "" for label in of_class(root, "label")]
    assert all(f"model {place}" in name for place, name in enumerate(names))
    assert len(names) == 20


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
