"""Figures → one file: the SVG of a page, or PNG, which matplotlib paints from the same SVG."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ngramscan.errors import InputError
from ngramscan.reporting import check_writable, write_whole
from ngramscan.reporting.charts.shapes import tag
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.rows import record_of

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure as Picture

    from ngramscan.reporting.charts.panels import Figure
    from ngramscan.reporting.page.results import Results
    from ngramscan.reporting.plots import Kind

FORMATS = (".svg", ".png")
_WIDTH, _MARGIN = 760, 20
_COLUMNS, _TITLE_COLUMNS = 104, 82
_INCH = 96.0
"""Pixels of an inch."""
_RESOLUTION = 200
_VARIABLE = re.compile(r"var\(--[\w-]+, (#\w+)\)")
_NUMBER = re.compile(r"-?\d+\.?\d*")
_WHOLE_WIDTH = '<svg xmlns="http://www.w3.org/2000/svg" width="100%"'
_SVG = "{http://www.w3.org/2000/svg}"
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def check_target(path: Path) -> None:
    """Raise an InputError if a figure can't be written."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(str(path), f"a figure's name ends in {' or '.join(FORMATS)}")
    check_writable(path)


def save_figure(path: Path, *tables: Sequence[Any], kind: Kind | None = None) -> None:
    """Draw the rows of some tables below each other, as a page does, and write them to a file.

    `kind` is needed where rows are not those of a file. The same rows give the same bytes.
    """
    from ngramscan.reporting.charts.panels import IN_A_FILE, Styles, draw

    check_target(path)
    styles = Styles()
    figures = [
        figure
        for rows in tables
        if rows
        for figure in draw(_results(rows, kind), styles, IN_A_FILE)
    ]
    if not figures:
        raise InputError(str(path), "nothing to draw; no row has a value")
    svg = str(_sheet(figures))
    if path.suffix.lower() == ".svg":
        text = f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n'
        write_whole(path, lambda new: new.write_bytes(text.encode()))
        return
    picture = paint(ElementTree.fromstring(svg))
    options: Any = {"dpi": _RESOLUTION, "metadata": {"Software": None}}
    with warnings.catch_warnings():
        # Names may be in any script; in SVG the reader's font has what ours lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        write_whole(path, lambda new: picture.savefig(new, format="png", **options))


def _results(rows: Sequence[Any], kind: Kind | None) -> Results:
    """Return rows of dataclasses, or of named tuples, as if they were read from a file."""
    from ngramscan.reporting.page.results import Results

    found = [row._asdict() if hasattr(row, "_asdict") else record_of(row) for row in rows]
    columns = (*dict.fromkeys(name for row in found for name in row),)
    kind = kind or kind_of(columns)
    if kind is None:
        raise ValueError(f"no figure for rows of {', '.join(columns)}")
    return Results(kind, "", columns, [dict.fromkeys(columns) | row for row in found])


def _sheet(figures: Iterable[Figure]) -> Markup:
    """Return figures with their titles and captions as one SVG, in the colours of paper."""
    from markupsafe import Markup

    parts: list[Markup] = []
    y = float(_MARGIN)
    for figure in figures:
        for text in textwrap.wrap(figure.title, _TITLE_COLUMNS):
            y += 16
            parts.append(tag("text", text, class_="title", x=_MARGIN, y=y, font_weight="bold"))
        y += 8
        svg = str(figure.svg)
        place = f'<svg x="{_MARGIN}" y="{y:g}" width="{_WIDTH - 2 * _MARGIN}"'
        parts.append(Markup(svg.replace(_WHOLE_WIDTH, place, 1)))
        height = float(svg.partition(' height="')[2].partition('"')[0])
        y += height
        for text in textwrap.wrap(figure.caption, _COLUMNS):
            y += 15
            parts.append(
                tag("text", text, class_="caption", x=_MARGIN, y=y, font_size=11, fill="#57606a")
            )
        y += 24
    paper = tag("rect", width="100%", height="100%", fill="#ffffff")
    sheet = tag(
        "svg",
        paper,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=_WIDTH,
        height=f"{y:g}",
        viewBox=f"0 0 {_WIDTH} {y:g}",
        color="#1f2328",
        fill="currentColor",
        font_family="system-ui, sans-serif",
        font_size=13,
    )
    return Markup(_VARIABLE.sub(r"\1", sheet))


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
    """Paints an element with what it inherits: its place and its looks."""

    axes: Any
    width: float
    """That of which places across may be percentages."""
    x: float = 0.0
    y: float = 0.0
    color: str = "#1f2328"
    stroke: str = "none"
    stroke_width: float = 1.0
    fill: str = "currentColor"
    font_size: float = 13.0

    def paint(self, element: ElementTree.Element) -> None:
        """Paint an element and those in it."""
        name, given = element.tag.removeprefix(_SVG), element.attrib
        looks = {
            look: type(getattr(self, look))(given[look.replace("_", "-")])
            for look in ("color", "stroke", "stroke_width", "fill", "font_size")
            if look.replace("_", "-") in given
        }
        here = replace(self, **looks)
        if name in {"svg", "g"}:
            inner = replace(
                here,
                x=self.x + self.across(given.get("x", "0")),
                y=self.y + float(given.get("y", 0)),
                width=self.across(given.get("width", "100%")),
            )
            for child in element:
                inner.paint(child)
        elif name == "line":
            ends = [[here.x + here.across(given[end]) for end in ("x1", "x2")]]
            ends.append([here.y + float(given[end]) for end in ("y1", "y2")])
            dashes = [float(length) for length in given.get("stroke-dasharray", "").split()]
            here.draw_line(ends[0], ends[1], (0, dashes) if dashes else "-")
        elif name == "path":
            here.draw_path(given)
        elif name == "text":
            here.draw_text(element)

    def across(self, place: str) -> float:
        share = place.removesuffix("%")
        return float(share) * (self.width / 100 if share != place else 1)

    def _colour(self, given: str) -> str:
        return self.color if given == "currentColor" else given

    def _points(self, pixels: float) -> float:
        return pixels * 72 / _INCH

    def draw_line(self, xs: Sequence[float], ys: Sequence[float], style: Any = "-") -> None:
        width = self._points(self.stroke_width)
        self.axes.plot(xs, ys, color=self._colour(self.stroke), lw=width, ls=style)

    def draw_path(self, given: dict[str, str]) -> None:
        """Paint a mark, or an end of an interval: a circle, a polygon or a line."""
        from matplotlib.patches import Circle, Polygon
        from matplotlib.transforms import Affine2D

        shape = given["d"]
        width = self._points(self.stroke_width)
        looks: Any = {"ec": self._colour(self.stroke), "fc": self._colour(self.fill), "lw": width}
        if "a" in shape:
            self.axes.add_patch(Circle((self.x, self.y), 5, zorder=3, **looks))
            return
        numbers = [float(number) for number in _NUMBER.findall(shape)]
        corners = list(zip(numbers[::2], numbers[1::2], strict=True))
        turn = float((_NUMBER.findall(given.get("transform", "")) or ["0"])[0])
        places = Affine2D().rotate_deg(turn).translate(self.x, self.y).transform(corners)
        if shape.endswith("z"):
            self.axes.add_patch(Polygon(places, zorder=3, **looks))
        else:
            self.draw_line(*zip(*places.tolist(), strict=True))

    def draw_text(self, element: ElementTree.Element) -> None:
        from matplotlib.patheffects import withStroke

        given = element.attrib
        text = self.axes.text(
            self.x + self.across(given["x"]),
            self.y + float(given["y"]),
            element.text or "",
            color=self._colour(self.fill),
            fontsize=self._points(self.font_size),
            ha=_ANCHORS[given.get("text-anchor", "start")],
            va="baseline",
            weight=given.get("font-weight", "normal"),
            zorder=4,
            parse_math=False,
        )
        if self.stroke != "none":
            halo = self._points(self.stroke_width)
            text.set_path_effects([withStroke(linewidth=halo, foreground=self.stroke)])
