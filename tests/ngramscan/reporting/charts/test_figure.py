"""Files of figures: the charts of a page, the same bytes twice, and painted as they are drawn."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountRow
from ngramscan.reporting.charts.files import check_target, paint, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = CountRow("x", "ตัวอย่าง", "T1", "narrative", "答え", "答え\n$", 3, None, "s", "t")
SVG = "{http://www.w3.org/2000/svg}"


def saved(path: Path, rows: Sequence[Any]) -> ElementTree.Element:
    """Return the SVG of some rows."""
    save_figure(path, rows)
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
        if text.get_text().strip() and not text.get_path_effects()  # those of halos
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
