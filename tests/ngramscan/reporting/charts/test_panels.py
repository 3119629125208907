"""Which rows are drawn, in which figures, in which look."""

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from ngramscan.prevalence.contamination.rules import EntryClass
from ngramscan.reporting.charts.figure import IN_A_FILE, MOST_PANELS, MOST_ROWS, ON_A_PAGE
from ngramscan.reporting.charts.panels import draw
from ngramscan.reporting.kinds import all_kinds, kind_of
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.rows import record_of
from tests.support.contaminated_entries import judged_entry
from tests.support.drawn_rows import (
    ISOLATION,
    SVG,
    Row,
    compare,
    count,
    inverse,
    isolated,
    marks,
    of_class,
    only,
    outputs,
    parse,
    places,
    results_of,
    retained,
    share,
    statistic,
    title_of,
)
from tests.support.row_types import numbers_of
from tests.support.rows_of_results import HOSTILE

SIZES = [("m", 3), ("all", 1200)]


def test_all_models_come_first_with_notes_and_ticks_below_lines(
    subtests: pytest.Subtests,
) -> None:
    rows = [outputs("cot", 1.0, 0.9, 1.0, with_marker=n, outputs=n, model=m) for m, n in SIZES]
    _, root = only(rows, "Outputs with markers of each method")
    assert [label.text for label in of_class(root, "label")] == ["all", "m"]
    assert of_class(root, "aside")[0].text == "1,200 of 1,200 outputs"
    _, root_of_counts = only([count("a", 7, 1, 100_000), count("b", 7)], "Counts")
    for name, drawing in (("outputs", root), ("counts", root_of_counts)):
        with subtests.test(name):
            lines = {float(line.attrib["x1"].rstrip("%")) for line in of_class(drawing, "grid")}
            texts = {float(tick.attrib["x"].rstrip("%")) for tick in of_class(drawing, "tick")}
            assert texts - lines <= {96.0}, "the name of the axis is at its end"
    ranges = ((1, 10**8), (10**5, 5 * 10**5))
    roots = [only([count("a", low, low, high)], "Counts")[1] for low, high in ranges]
    ticks = [of_class(drawing, "tick")[:-1] for drawing in roots]
    shown = [" ".join(tick.text or "" for tick in of_axis) for of_axis in ticks]
    assert shown == ["1 100 10⁴ 10⁶ 10⁸", "100,000 200,000 500,000"]
    assert [tick.get("text-anchor") for tick in ticks[1]] == ["start", "middle", "end"]


def test_differences_have_a_line_of_no_difference() -> None:
    rows = [compare("a", 0.1, 0.05, 0.2), compare("b", 0.2, 0.1, 0.3)]
    _, root = only(rows, "Differences of methods")
    (zero,) = of_class(root, "reference")
    assert inverse(root, is_log=False)(float(zero.attrib["x1"].rstrip("%"))) == pytest.approx(0)
    assert "10.0 percentage points" in title_of(marks(root)[0])
    assert [label.text for label in of_class(root, "label")] == ["a vs. direct", "b vs. direct"]
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


LONG = ("x" * 1_000_000, "字" * 500, "")


def test_hostile_texts_stay_texts(subtests: pytest.Subtests) -> None:
    rows = [
        count(text, place + 1, 1, None, index=text, method=text)
        for place, text in enumerate([*HOSTILE, *LONG])
    ]
    rows += [row | {"query": "other"} for row in rows]
    figures = draw(results_of(rows, "Counts"))
    allowed = {f"{SVG}{tag}" for tag in ("svg", "g", "title", "text", "line", "path", "rect")}
    for number, figure in enumerate(figures):
        with subtests.test(figure=number):
            root = parse(figure)
            assert {element.tag for element in root.iter()} <= allowed
            names = {name for element in root.iter() for name in element.attrib}
            assert not {name for name in names if name.startswith("on")}
            assert not names & {"id", "style", "href"}
            assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00]", str(figure))
            assert len(figure.svg) < 60_000
            figure.svg.encode()
            lines = of_class(root, "label") + of_class(root, "series")
            assert [line.text for line in lines if len(line.text or "") > 45] == []
    assert HOSTILE[1] in "".join(parse(figures[0]).itertext())


@pytest.mark.parametrize(
    "verdicts",
    [
        pytest.param(["dirty", "clean"], id="first"),
        pytest.param(["clean", "dirty"], id="last"),
        pytest.param(["dirty"], id="alone"),
    ],
)
def test_the_style_of_a_verdict_does_not_depend_on_the_others(verdicts: list[str]) -> None:
    rows = [share(verdict, 0.5, 0.3, 0.2, 0.4) for verdict in verdicts]
    (figure,) = draw(results_of(rows, "Contaminated shares of the benchmark"))
    colors = {title_of(mark).split(":")[0]: mark.attrib["color"] for mark in marks(parse(figure))}
    assert "--series-3" in colors[next(name for name in colors if "dirty" in name)]


BY_COPIED = {"rule": "copied: 4 words from each word on"}


@pytest.mark.parametrize(
    ("verdicts", "series"),
    [
        pytest.param(["copied"], 4, id="alone"),
        pytest.param(["clean", "copied"], 4, id="with clean ones"),
        pytest.param(["copied", "variant", "shared", "clean"], 4, id="in another order"),
        pytest.param(["copied", "dirty"], 6, id="with a published rule"),
    ],
)
def test_the_style_of_copied_entries_is_fixed(verdicts: list[str], series: int) -> None:
    rows = [share(verdict, 0.5, 0.3, 0.2, 0.4) | BY_COPIED for verdict in verdicts]
    (figure,) = draw(results_of(rows, "Contaminated shares of the benchmark"))
    colors = {title_of(mark).split(":")[0]: mark.attrib["color"] for mark in marks(parse(figure))}
    assert f"--series-{series}" in colors[next(name for name in colors if "copied" in name)]


@pytest.mark.parametrize(
    ("rule", "name"), [("copied", "covered, at least"), ("mini", "eta, at least")]
)
def test_the_axis_of_a_curve_says_what_has_the_threshold(rule: str, name: str) -> None:
    rows = [
        share("curve", threshold, 0.3, 0.2, 0.4) | {"rule": f"{rule}: x"}
        for threshold in (0.25, 0.5)
    ]
    (figure,) = draw(results_of(rows, "Contaminated shares of the benchmark"))
    assert name in [text.text for text in of_class(parse(figure), "tick")]


def test_entries_that_were_copied_are_drawn_by_their_share_of_windows() -> None:
    verdicts: tuple[EntryClass, ...] = ("copied", "variant", "shared", "clean")
    entries = [record_of(judged_entry(verdict, verdict)) for verdict in verdicts]
    rows = [row | {"eta": place / 4} for place, row in enumerate(entries)]
    (figure,) = draw(results_of(rows, "Contamination of each entry"))
    drawn = {title_of(mark).split(":")[0]: mark for mark in marks(parse(figure))}
    assert [mark.attrib["data-value"] for mark in drawn.values()] == ["0.0", "0.25", "0.5", "0.75"]
    colors = [mark.attrib["color"] for mark in drawn.values()]
    assert [f"--series-{n}" in color for n, color in zip((4, 3, 2, 1), colors, strict=True)] == [
        True
    ] * 4


def test_shares_of_corpora_are_in_one_figure_with_a_short_rule() -> None:
    rows = [
        share("dirty", 0.5, 0.3, 0.2, 0.4) | {"index": index, "rule": "mini: 50 characters"}
        for index in ("a", "b")
    ]
    (figure,) = draw(results_of(rows, "Contaminated shares of the benchmark"))
    assert figure.title == "Contaminated shares of the benchmark · mini"
    assert [label.text for label in of_class(parse(figure), "label")] == ["a", "b"]


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
        {title_of(mark): mark.attrib["color"] for mark in marks(parse(figure))}
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
    shown = {float(str(mark.attrib["data-value"])) for mark in marks(root)}
    assert {*notable} <= shown
    # All others that are shown are at least as far from no difference as those that are not.
    small = {value for value in plain if value in shown}
    by_distance = sorted(plain, key=lambda value: abs(value - (1 if row_of is isolated else 0)))
    assert small == {*by_distance[-len(small) :]}
    assert len(shown) == MOST_ROWS
    assert figure.caption.endswith(f"{MOST_ROWS} of {len(rows)} rows, {caption}")


def test_figures_that_would_say_nothing_are_not_drawn() -> None:
    assert draw(results_of([], "Counts")) == []
    assert draw(results_of([count("a", 5)], "Counts")) == []
    assert draw(results_of([count("a", None), count("b", None)], "Counts")) == []
    assert len(draw(results_of([count("a", 5, 3, 8)], "Counts"))) == 1
    plain = next(kind for kind in all_kinds() if not kind.plots)
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
    values = []
    for root in map(parse, figures):
        (mark,) = marks(root)
        values.append(inverse(root, is_log=False)(places(mark, "dot")[0][0]))
    assert values == pytest.approx([row["value"] for row in rows], rel=1e-3)
    ends = [of_class(parse(figure), "grid")[-1].get("data-tick") for figure in figures]
    assert ends[0] != ends[1]


def test_bytes_and_tokens_of_one_file_are_never_on_one_axis() -> None:
    rows = [count("a", 5), count("b", 50)]
    rows += [
        {**count("a", 700), "index": "t", "unit": "tokens"},
        {**count("b", 9000), "index": "t", "unit": "tokens"},
    ]
    kind = kind_of(rows[0])
    assert kind is not None
    drawn = [parse(figure) for figure in draw(Results(kind, "x", (*rows[0],), rows))]
    values = [[mark.get("data-value") for mark in marks(root)] for root in drawn]
    assert values == [["5", "50"], ["700", "9000"]]
    assert "Rows without" not in str(draw(Results(kind, "x", (*rows[0],), rows)))


@pytest.mark.parametrize("title", sorted({kind.title for kind in all_kinds() if kind.plots}))
def test_every_kind_with_a_plot_is_drawn(title: str, subtests: pytest.Subtests) -> None:
    kind = next(kind for kind in all_kinds() if kind.title == title)
    columns = sorted(kind.needs | numbers_of(kind))
    rows = [
        {name: 0.25 * place if name in numbers_of(kind) else f"{name} {place}" for name in columns}
        for place in (1, 2, 3)
    ]
    figures = draw(Results(kind, "x", (*columns,), rows))
    assert figures
    for figure in figures:
        with subtests.test(figure.title):
            root = parse(figure)
            assert marks(root)
            assert (root.get("role"), "viewBox" in root.attrib) == ("img", False)
            assert figure.title in (root.get("aria-label") or "") or "curve" in figure.title
            assert len(figure.caption) < 300
