"""Figures in files: what they have, and whether their texts cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ngramscan.reporting.charts.files import paint, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "{http://www.w3.org/2000/svg}"


def saved(path: Path, *tables: Sequence[Any]) -> ElementTree.Element:
    """Return the SVG of some rows."""
    save_figure(path, *tables)
    return ElementTree.parse(path).getroot()


def marks(sheet: ElementTree.Element) -> list[ElementTree.Element]:
    """Return what was drawn for each row."""
    return [group for group in sheet.iter(f"{SVG}g") if group.get("class") == "row"]


def texts_of(sheet: ElementTree.Element, name: str) -> list[str | None]:
    """Return the texts of a class."""
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
