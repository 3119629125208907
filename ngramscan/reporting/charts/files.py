"""Figures → one file: the SVG of a page, or PNG, which matplotlib paints from the same SVG."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ngramscan.errors import InputError
from ngramscan.reporting import check_writable, write_whole
from ngramscan.reporting.charts.shapes import tag
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.rows import record_of
from ngramscan.rows import kind_of_type

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure as Picture

    from ngramscan.reporting.charts.figure import Figure
    from ngramscan.reporting.page.results import Results

FORMATS = (".svg", ".png", ".pdf")
_INCH = 96.0
"""Pixels of an inch."""
_PAGE_HEIGHT = 9 * _INCH
"""Maximum height of the figures on a page of a paper, in pixels."""
_RESOLUTION = 200
_VARIABLE = re.compile(r"var\(--[\w-]+, (#\w+)\)")
_NUMBER = re.compile(r"-?\d+\.?\d*")
_WHOLE_WIDTH = '<svg xmlns="http://www.w3.org/2000/svg" width="100%"'
_SVG = "{http://www.w3.org/2000/svg}"
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def check_target(path: Path) -> None:
    """Raise an InputError if a figure can't be written."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(str(path), "a figure's name ends in .svg, .png or .pdf")
    check_writable(path)


def save_figure(path: Path, *tables: Sequence[Any]) -> None:
    """Draw the rows of some tables below each other, as a page does, and write them to a file.

    The same rows give the same bytes.
    """
    from ngramscan.reporting.charts.figure import IN_A_FILE
    from ngramscan.reporting.charts.panels import draw

    check_target(path)
    figures = [figure for rows in tables if rows for figure in draw(_results(rows), IN_A_FILE)]
    if not figures:
        raise InputError(str(path), "nothing to draw; no row has a value")
    svg = str(_sheet_of_page(figures))
    suffix = path.suffix.lower()
    if suffix == ".svg":
        text = f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n'
        write_whole(path, lambda new: new.write_bytes(text.encode()))
    else:
        _save_picture(path, ElementTree.fromstring(svg), suffix.removeprefix("."))


def _save_picture(path: Path, sheet: ElementTree.Element, suffix: str) -> None:
    """Write a PNG or a PDF, whose bytes have no date and no version."""
    from matplotlib import rc_context

    picture = paint(sheet)
    names = ("Software",) if suffix == "png" else ("Creator", "Producer", "CreationDate")
    options: Any = {"dpi": _RESOLUTION, "metadata": dict.fromkeys(names)}
    # Whole fonts of type 42 keep texts as texts; publishers refuse type 3.
    with rc_context({"pdf.fonttype": 42}), warnings.catch_warnings():
        # Names may be in any script; in SVG the reader's font has what ours lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        write_whole(path, lambda new: picture.savefig(new, format=suffix, **options))


def _results(rows: Sequence[Any]) -> Results:
    """Return rows of dataclasses, or of named tuples, as if they were read from a file."""
    from ngramscan.reporting.page.results import Results

    records = [row._asdict() if hasattr(row, "_asdict") else record_of(row) for row in rows]
    columns = (*dict.fromkeys(name for row in records for name in row),)
    kinds = {kind_of_type(type(row)) for row in rows}
    kind = kinds.pop() if len(kinds) == 1 else kind_of(columns)
    if kind is None:
        raise ValueError(f"no figure for rows of {', '.join(columns)}")
    return Results(kind, "", columns, [dict.fromkeys(columns) | row for row in records])


@dataclass(frozen=True, slots=True)
class _SheetFormat:
    """The measures of a sheet, in pixels, and how many characters fit on its lines."""

    width: int
    margin: int
    title_font: float
    title_columns: int
    caption_font: float
    caption_columns: int
    gap: int
    """Between figures."""


_SHEET = _SheetFormat(760, 20, 13, 82, 11, 104, 24)
_PAPER_SHEET = _SheetFormat(672, 14, 10.5, 96, 8.5, 120, 10)
"""Seven inches, with letters of more than six points."""


def _sheet_of_page(figures: Sequence[Figure]) -> Markup:
    """Return a sheet without further figures of the same rows if a page has no room for them."""
    sheet, height = _sheet(figures)
    first = [figure for figure in figures if not figure.is_further]
    if height <= _PAGE_HEIGHT or not first:
        return sheet
    return _sheet(first)[0]


def _sheet(figures: Sequence[Figure]) -> tuple[Markup, float]:
    """Return figures with titles and captions as one SVG, in the colours of paper; its height."""
    from markupsafe import Markup

    form = _PAPER_SHEET if all(figure.is_small for figure in figures) else _SHEET
    parts: list[Markup] = []
    y = float(form.margin)
    for figure in figures:
        elements, y = _on_sheet(figure, form, y)
        parts += elements
    paper = tag("rect", width="100%", height="100%", fill="#ffffff")
    sheet = tag(
        "svg",
        paper,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=form.width,
        height=f"{y:g}",
        viewBox=f"0 0 {form.width} {y:g}",
        color="#1f2328",
        fill="currentColor",
        font_family="system-ui, sans-serif",
        font_size=13,
    )
    return Markup(_VARIABLE.sub(r"\1", sheet)), y


def _on_sheet(figure: Figure, form: _SheetFormat, y: float) -> tuple[list[Markup], float]:
    """Return the parts of a figure, and where the next one begins."""
    from markupsafe import Markup

    parts = []
    size = f"{form.title_font:g}"
    for text in textwrap.wrap(figure.title, form.title_columns):
        y += form.title_font + 3
        looks = {"class_": "title", "font_weight": "bold", "font_size": size}
        parts.append(tag("text", text, x=form.margin, y=f"{y:g}", **looks))
    y += form.gap / 3
    svg = str(figure.svg)
    place = f'<svg x="{form.margin}" y="{y:g}" width="{form.width - 2 * form.margin}"'
    parts.append(Markup(svg.replace(_WHOLE_WIDTH, place, 1)))
    y += float(svg.partition(' height="')[2].partition('"')[0])
    size = f"{form.caption_font:g}"
    for text in textwrap.wrap(figure.caption, form.caption_columns):
        y += form.caption_font * 1.35
        looks = {"class_": "caption", "font_size": size, "fill": "#57606a"}
        parts.append(tag("text", text, x=form.margin, y=f"{y:g}", **looks))
    return parts, y + form.gap


def paint(sheet: ElementTree.Element) -> Picture:
    """Paint the SVG of figures with matplotlib, which is slow to import."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Picture

    width, height = float(sheet.attrib["width"]), float(sheet.attrib["height"])
    # Its fonts come with matplotlib: a picture is the same everywhere.
    with rc_context({"font.family": "DejaVu Sans"}):
        picture = Picture(figsize=(width / _INCH, height / _INCH), facecolor="white")
        axes = picture.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        _Painter(axes, width=width).paint(sheet)
    return picture


@dataclass(frozen=True, slots=True)
class _Painter:
    """Paints an element with its inherited place and attributes."""

    axes: Any
    width: float
    """The width to which horizontal percentages refer."""
    x: float = 0.0
    y: float = 0.0
    color: str = "#1f2328"
    stroke: str = "none"
    stroke_width: float = 1.0
    fill: str = "currentColor"
    font_size: float = 13.0

    def paint(self, element: ElementTree.Element) -> None:
        """Paint an element and those in it."""
        name, attributes = element.tag.removeprefix(_SVG), element.attrib
        looks = {
            look: type(getattr(self, look))(attributes[look.replace("_", "-")])
            for look in ("color", "stroke", "stroke_width", "fill", "font_size")
            if look.replace("_", "-") in attributes
        }
        painter = replace(self, **looks)
        if name in {"svg", "g"}:
            inner = replace(
                painter,
                x=self.x + self.across(attributes.get("x", "0")),
                y=self.y + float(attributes.get("y", 0)),
                width=self.across(attributes.get("width", "100%")),
            )
            for child in element:
                inner.paint(child)
        elif name == "line":
            ends = [[painter.x + painter.across(attributes[end]) for end in ("x1", "x2")]]
            ends.append([painter.y + float(attributes[end]) for end in ("y1", "y2")])
            dashes = [float(length) for length in attributes.get("stroke-dasharray", "").split()]
            painter.draw_line(ends[0], ends[1], (0, dashes) if dashes else "-")
        elif name == "path":
            painter.draw_path(attributes)
        elif name == "text":
            painter.draw_text(element)

    def across(self, place: str) -> float:
        share = place.removesuffix("%")
        return float(share) * (self.width / 100 if share != place else 1)

    def _colour(self, name: str) -> str:
        return self.color if name == "currentColor" else name

    def _points(self, pixels: float) -> float:
        return pixels * 72 / _INCH

    def draw_line(self, xs: Sequence[float], ys: Sequence[float], style: Any = "-") -> None:
        width = self._points(self.stroke_width)
        self.axes.plot(xs, ys, color=self._colour(self.stroke), lw=width, ls=style)

    def draw_path(self, attributes: dict[str, str]) -> None:
        """Paint a mark, or an end of an interval: a circle, a polygon or a line."""
        from matplotlib.patches import Circle, Polygon
        from matplotlib.transforms import Affine2D

        shape = attributes["d"]
        numbers = [float(number) for number in _NUMBER.findall(shape)]
        width = self._points(self.stroke_width)
        looks: Any = {"ec": self._colour(self.stroke), "fc": self._colour(self.fill), "lw": width}
        if "a" in shape:
            self.axes.add_patch(Circle((self.x, self.y), -numbers[0], zorder=3, **looks))
            return
        corners = list(zip(numbers[::2], numbers[1::2], strict=True))
        turn = float((_NUMBER.findall(attributes.get("transform", "")) or ["0"])[0])
        places = Affine2D().rotate_deg(turn).translate(self.x, self.y).transform(corners)
        if shape.endswith("z"):
            self.axes.add_patch(Polygon(places, zorder=3, **looks))
        else:
            self.draw_line(*zip(*places.tolist(), strict=True))

    def draw_text(self, element: ElementTree.Element) -> None:
        """Paint a text above its halo; with path effects it would become outlines in a PDF."""
        from matplotlib.patheffects import Stroke

        attributes = element.attrib
        texts = 1 if self.stroke == "none" else 2
        for order in range(texts):
            text = self.axes.text(
                self.x + self.across(attributes["x"]),
                self.y + float(attributes["y"]),
                element.text or "",
                color=self._colour(self.fill),
                fontsize=self._points(self.font_size),
                ha=_ANCHORS[attributes.get("text-anchor", "start")],
                va="baseline",
                weight=attributes.get("font-weight", "normal"),
                zorder=4 + order,
                parse_math=False,
            )
            if order < texts - 1:
                halo = self._points(self.stroke_width)
                text.set_path_effects([Stroke(linewidth=halo, foreground=self.stroke)])
