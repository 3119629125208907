"""Files of figures: the charts of a page, the same bytes twice, and painted as they are drawn."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import IndexSize
from ngramscan.outputs.blend import run_blend
from ngramscan.outputs.reading import read_outputs
from ngramscan.outputs.strategies import load_rules, run_strategies
from ngramscan.patterns.files import load_patterns
from ngramscan.prevalence.count import CountRow
from ngramscan.reporting.charts.figure import IN_A_FILE
from ngramscan.reporting.charts.files import check_target, paint, save_figure
from ngramscan.reporting.charts.panels import draw
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.page.results import Results
from tests.support.figures import SVG, marks, overlapping, saved, texts_of
from tests.support.places import ROOT

ROW = CountRow("x", "bytes", "ตัวอย่าง", "T1", "narrative", "答え", "答え\n$", 3, None, "s", "t")


def test_texts_of_any_script_are_no_warning(tmp_path: Path) -> None:
    save_figure(tmp_path / "a.png", [ROW])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    save_figure(tmp_path / "a.svg", [ROW])
    assert "答え" in (tmp_path / "a.svg").read_text()


def test_what_cannot_be_drawn_is_said_first(tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(InputError, match=r"a.gif: a figure's name ends in .svg, .png or .pdf"):
        check_target(tmp_path / "a.gif")
    with pytest.raises(InputError, match="no such folder"):
        check_target(tmp_path / "none" / "a.svg")
    with pytest.raises(InputError, match="nothing to draw"):
        save_figure(tmp_path / "a.svg", [])
    with pytest.raises(ValueError, match="no figure for rows of documents, bytes"):
        save_figure(tmp_path / "a.svg", [IndexSize()])
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # only pictures of pixels need it
    save_figure(tmp_path / "a.svg", [ROW])
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


OUTPUTS = ROOT / "outputs"


METHODS = ["CoT", "PoT", "FP/F-1"]


MANY = [*METHODS, "a method with a long name", "Self-Consistency"]


DOT = f"{SVG}path[@class='dot']"


def counts(indexes: int, methods: Sequence[str], patterns: int, estimated: bool) -> list[CountRow]:
    draws = random.Random(1)
    rows = []
    for index, method, number in product(range(indexes), methods, range(patterns)):
        n = 0 if draws.random() < 0.2 else int(10 ** draws.uniform(0, 9))
        text = f"pattern $x$ {number} " + "and so on " * draws.randrange(9)
        limits = (n / 2, n * 2.0) if estimated and n else (None, None)
        keys = (f"index_{index}", "bytes", method, "T1", "narrative", text, text)
        rows.append(CountRow(*keys, n, None, "s", "t", estimated, *limits))
    return rows


def shares() -> list[Any]:
    return run_strategies(read_outputs(OUTPUTS), load_rules()).rows


def blend() -> tuple[list[Any], list[Any]]:
    found = run_blend(read_outputs(OUTPUTS), load_patterns("f1"))
    return found.rows, found.retention


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


TABLES = [
    pytest.param(lambda: [counts(1, METHODS, 3, True)], id="count"),
    pytest.param(lambda: [shares()], id="strategies"),
    pytest.param(blend, id="blend"),
]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
@pytest.mark.parametrize("tables", TABLES)
def test_a_file_has_the_same_bytes_twice(tables: Any, suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    save_figure(first, *tables())
    save_figure(second, *tables())
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("tables", TABLES)
def test_svg_is_xml_with_texts_and_no_variable_of_a_page(tables: Any, tmp_path: Path) -> None:
    texts = "".join(saved(tmp_path / "a.svg", *tables()).itertext())
    assert "CoT" in texts
    assert str(tmp_path) not in texts
    assert "var(" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("tables", TABLES[1:])
def test_each_row_has_a_mark_and_a_title_in_words(tables: Any, tmp_path: Path) -> None:
    drawn = marks(saved(tmp_path / "a.svg", *tables()))
    values = [
        row.share if hasattr(row, "share") else row.difference for rows in tables() for row in rows
    ]
    known = [repr(value) for value in values if value is not None]
    assert sorted(mark.attrib["data-value"] for mark in drawn) == sorted(known)
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
    assert [titled_places(mark) for mark in marks(sheet)] == [
        titled_places(mark) for mark in of_page
    ]


def titled_places(mark: ElementTree.Element) -> tuple[str | None, list[tuple[Any, Any]]]:
    """Return the title of a mark, and the places of its parts."""
    places = [(part.get("x"), part.get("y")) for part in mark.iter(f"{SVG}svg")]
    return mark.findtext(f"{SVG}title"), places


def test_a_picture_is_painted_as_it_is_drawn(tmp_path: Path) -> None:
    from matplotlib.colors import to_hex

    sheet = saved(tmp_path / "a.svg", shares())
    (axes,) = paint(sheet).axes
    dots = [part for part in sheet.iter(f"{SVG}path") if part.get("class") == "dot"]
    assert len(axes.patches) == len(dots)
    painted = {text.get_text() for text in axes.texts}
    assert painted == {text.text or "" for text in sheet.iter(f"{SVG}text")}
    of_svg = {mark.attrib["color"] for mark in marks(sheet)}
    assert len(of_svg) > 1
    assert {to_hex(patch.get_edgecolor()) for patch in axes.patches} == of_svg
    # Margins of 20 pixels; places across are percentages of what is between them.
    width = float(sheet.attrib["width"]) - 40
    around = [part.attrib["x"] for part in sheet.iter(f"{SVG}svg") if part.find(DOT) is not None]
    across = [
        float(place[:-1]) / 100 * width if place.endswith("%") else float(place) for place in around
    ]
    to_pixels = axes.transData.inverted()
    boxes = [patch.get_extents().transformed(to_pixels) for patch in axes.patches]
    middles = [(box.x0 + box.x1) / 2 for box in boxes]
    assert middles == pytest.approx([20 + place for place in across], abs=1)
