"""Files of figures: the charts of a page, the same bytes twice, and painted as they are drawn."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from ngramscan.errors import InputError
from ngramscan.outputs.blend import run_blend
from ngramscan.outputs.reading import read_outputs
from ngramscan.outputs.strategies import load_rules, run_strategies
from ngramscan.patterns.files import load_patterns
from ngramscan.prevalence.count import CountRow
from ngramscan.reporting.charts.files import check_target, paint, save_figure
from ngramscan.reporting.charts.panels import IN_A_FILE, Styles, draw
from ngramscan.reporting.charts.shapes import colour
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.page.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTPUTS = Path(__file__).resolve().parent.parent / "outputs"
LONG = ["deepseek-ai/DeepSeek-V3.1-Terminus-reasoner", "Qwen/Qwen3-30B-A3B-Thinking-2507-Instruct"]
MODELS = [*LONG, "a", *(f"model-{n}" for n in range(2))]
METHODS = ["CoT", "PoT", "FP/F-1"]
MANY = [*METHODS, "a method with a long name", "Self-Consistency"]
SVG = "{http://www.w3.org/2000/svg}"
DOT = f"{SVG}path[@class='dot']"


def counts(indexes: int, methods: Sequence[str], patterns: int, estimated: bool) -> list[CountRow]:
    draws = random.Random(1)
    rows = []
    for index, method, number in product(range(indexes), methods, range(patterns)):
        n = 0 if draws.random() < 0.2 else int(10 ** draws.uniform(0, 9))
        text = f"pattern $x$ {number} " + "and so on " * draws.randrange(9)
        limits = (n / 2, n * 2.0) if estimated and n else (None, None)
        keys = (f"index_{index}", method, "T1", "narrative", text, text)
        rows.append(CountRow(*keys, n, None, "s", "t", estimated, *limits))
    return rows


def shares() -> list[Any]:
    return run_strategies(read_outputs(OUTPUTS), load_rules()).rows


def blend() -> tuple[list[Any], list[Any]]:
    found = run_blend(read_outputs(OUTPUTS), load_patterns("f1"))
    return found.rows, found.retention


def saved(path: Path, *tables: Sequence[Any], **options: Any) -> ElementTree.Element:
    """Return the SVG of some rows."""
    save_figure(path, *tables, **options)
    return ElementTree.parse(path).getroot()


def marks(sheet: ElementTree.Element) -> list[ElementTree.Element]:
    return [group for group in sheet.iter(f"{SVG}g") if group.get("class") == "row"]


def texts_of(sheet: ElementTree.Element, name: str) -> list[str | None]:
    return [text.text for text in sheet.iter(f"{SVG}text") if text.get("class") == name]


def overlapping(sheet: ElementTree.Element) -> list[tuple[str, str]]:
    """Return pairs of texts that cover each other as painted, and those beyond the edges."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Figure = paint(sheet)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = [
        (text.get_text(), text.get_window_extent(renderer))
        for axes in figure.axes
        for text in axes.texts
        if text.get_text().strip()
    ]
    page = figure.bbox
    cut = [
        (text, "the page's edge")
        for text, box in texts
        if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
    ]
    # Boxes have a margin around the letters.
    return cut + [
        (text, other)
        for (text, box), (other, other_box) in combinations(texts, 2)
        if box.padded(-1.5).overlaps(other_box.padded(-1.5))
    ]


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param(lambda: [counts(2, MANY, 4, True)], id="count, many"),
        pytest.param(lambda: [counts(1, ["CoT"], 1, False)], id="one pattern"),
        pytest.param(lambda: [shares()], id="strategies"),
        pytest.param(blend, id="blend of the examples"),
    ],
)
def test_no_label_covers_another_or_leaves_the_page(tables: Any, tmp_path: Path) -> None:
    assert overlapping(saved(tmp_path / "a.svg", *tables())) == []


def test_svg_is_xml_with_texts_and_the_same_twice(tmp_path: Path) -> None:
    for tables in ([counts(1, METHODS, 3, True)], [shares()], blend()):
        for suffix in (".svg", ".png"):
            first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
            save_figure(first, *tables)
            save_figure(second, *tables)
            assert first.read_bytes() == second.read_bytes()
        texts = "".join(ElementTree.parse(tmp_path / "one.svg").getroot().itertext())
        assert "CoT" in texts
        assert str(tmp_path) not in texts
        # What reads a picture for print knows no variables of a page.
        assert "var(" not in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_each_row_has_a_mark_and_a_title_in_words(tmp_path: Path) -> None:
    for tables in ([counts(3, METHODS, 4, True)], [shares()], blend()):
        sheet = saved(tmp_path / "a.svg", *tables)
        drawn = marks(sheet)
        columns = ("share", "difference", "occurrences")
        values = [
            next(getattr(row, name) for name in columns if hasattr(row, name))
            for rows in tables
            for row in rows
        ]
        assert sorted(mark.attrib["data-value"] for mark in drawn) == sorted(
            repr(value) for value in values if value is not None
        )
        assert all(mark.findtext(f"{SVG}title") for mark in drawn)


def test_a_file_has_the_figures_of_the_page(tmp_path: Path) -> None:
    rows = counts(2, METHODS, 5, True)
    records = [asdict(row) for row in rows]
    kind = kind_of(records[0])
    assert kind is not None
    figures = draw(Results(kind, "", (*records[0],), records), setting=IN_A_FILE)
    sheet = saved(tmp_path / "a.svg", rows)
    assert texts_of(sheet, "title") == [figure.title for figure in figures]
    of_page = [mark for figure in figures for mark in marks(ElementTree.fromstring(figure.svg))]
    for mark, other in zip(marks(sheet), of_page, strict=True):
        assert mark.findtext(f"{SVG}title") == other.findtext(f"{SVG}title")
        places = [(part.get("x"), part.get("y")) for part in mark.iter(f"{SVG}svg")]
        assert places == [(part.get("x"), part.get("y")) for part in other.iter(f"{SVG}svg")]


def test_a_picture_is_painted_as_it_is_drawn(tmp_path: Path) -> None:
    from matplotlib.colors import to_hex

    sheet = saved(tmp_path / "a.svg", counts(1, METHODS, 6, True))
    (axes,) = paint(sheet).axes
    dots = [part for part in sheet.iter(f"{SVG}path") if part.get("class") == "dot"]
    assert len(axes.patches) == len(dots)
    assert [text.get_text() for text in axes.texts] == [
        text.text or "" for text in sheet.iter(f"{SVG}text")
    ]
    of_svg = {mark.attrib["color"] for mark in marks(sheet)}
    assert len(of_svg) == len(METHODS)
    assert {to_hex(patch.get_edgecolor()) for patch in axes.patches} == of_svg
    # Margins of 20 pixels; places across are percentages of what is between them.
    width = float(sheet.attrib["width"]) - 40
    around = [part for part in sheet.iter(f"{SVG}svg") if part.find(DOT) is not None]
    to_pixels = axes.transData.inverted()
    for patch, part in zip(axes.patches, around, strict=True):
        box = patch.get_extents().transformed(to_pixels)
        place = part.attrib["x"]
        across = float(place[:-1]) / 100 * width if place.endswith("%") else float(place)
        assert (box.x0 + box.x1) / 2 == pytest.approx(20 + across, abs=1)


def test_a_name_has_one_colour_on_a_page() -> None:
    def drawn(methods: Sequence[str], styles: Styles) -> dict[str, str]:
        records = [asdict(row) for row in counts(1, methods, 2, True)]
        kind = kind_of(records[0])
        assert kind is not None
        (figure,) = draw(Results(kind, "", (*records[0],), records), styles)
        found = marks(ElementTree.fromstring(figure.svg))
        return {mark.attrib["data-value"]: mark.attrib["color"] for mark in found}

    styles = Styles()
    drawn(["CoT", "PoT"], styles)
    assert set(drawn(["PoT"], styles).values()) == {colour(1)}
    assert set(drawn(["FP", "CoT"], styles).values()) == {colour(2), colour(0)}


def test_texts_of_any_script_are_no_warning(tmp_path: Path) -> None:
    row = CountRow("x", "ตัวอย่าง", "T1", "narrative", "答え", "答え\n$", 3, None, "s", "t")
    save_figure(tmp_path / "a.png", [row])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    save_figure(tmp_path / "a.svg", [row])
    assert "答え" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_what_cannot_be_drawn_is_said_first(tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(InputError, match=r"a.pdf: a figure's name ends in .svg or .png"):
        check_target(tmp_path / "a.pdf")
    with pytest.raises(InputError, match="there is no folder"):
        check_target(tmp_path / "none" / "a.svg")
    with pytest.raises(InputError, match="nothing to draw"):
        save_figure(tmp_path / "a.svg", [])
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # only pictures of pixels need it
    save_figure(tmp_path / "a.svg", counts(1, METHODS, 2, False))
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]
