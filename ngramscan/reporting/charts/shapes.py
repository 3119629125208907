"""The parts of a figure as SVG: marks, intervals, axes and legends.

Places across are percentages of the width and places down are pixels, so that a figure becomes
as narrow as a phone while its texts keep their size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from ngramscan.progress import marked_line
from ngramscan.reporting.charts.axes import Axis

if TYPE_CHECKING:
    from markupsafe import Markup

LINE = 15
"""The height of a line of text, in pixels."""
_LONGEST = 300
_SVG = "http://www.w3.org/2000/svg"
_COLUMNS = 44
"""Columns of text that fit on a phone."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LENGTH = re.compile(r"-?\d+\.?\d*")
_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5 4.5-4.5 4.5 4.5-4.5 4.5z",
    "M0-6 5.5 4.5-5.5 4.5z",
    "M0-6.5 6 0 0 6.5-6 0z",
    "M0 6 5.5-4.5-5.5-4.5z",
    "M-2-6 2-6 2-2 6-2 6 2 2 2 2 6-2 6-2 2-6 2-6-2-2-2z",
    "M-6-2.5 0-6.5 6-2.5 3.7 5.5-3.7 5.5z",
)
_COLOURS = ("#0b66b7", "#b34700", "#177245", "#8a3fa0", "#a3195b", "#6b5b00", "#00708a", "#57606a")
"""Fallbacks for the colours of a page; there are 56 pairs of a colour and a shape."""
_MUTED, _LINE = "var(--muted, #57606a)", "var(--line, #d0d5dc)"
MARKED: dict[str, str] = {"stroke": "currentColor", "stroke_width": "2", "fill": "none"}
"""Looks of a group of marks and intervals, which they inherit."""
_STROKES: dict[str, dict[str, str]] = {
    "interval": {},
    "grid": {"stroke": _LINE},
    "reference": {"stroke": _MUTED, "stroke_width": "1.5"},
    "step": {},
    "frontier": {"stroke": _MUTED, "stroke_width": "1.5", "stroke_dasharray": "5 4"},
}


@dataclass(frozen=True, slots=True)
class Across:
    """An axis on the width of a figure, from a percentage on."""

    axis: Axis
    start: float = 4.0
    stop: float = 96.0

    def at(self, value: float) -> str:
        """Return the place of a value."""
        return f"{self.start + (self.stop - self.start) * self.axis.place(value):.4f}%"


@dataclass(frozen=True, slots=True)
class Down:
    """An axis on the height of a figure, upwards, in pixels."""

    axis: Axis
    top: float
    bottom: float

    def at(self, value: float) -> str:
        """Return the place of a value."""
        return f"{self.bottom - (self.bottom - self.top) * self.axis.place(value):.4f}"


def tag(tag_name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element; everything that is not markup is escaped.

    An underscore at the end of an attribute's name is left off, others are hyphens; attributes
    that are None are left out.
    """
    from markupsafe import Markup, escape

    texts = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_clean(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    inner = "".join(
        child if isinstance(child, Markup) else escape(_clean(child)) for child in children
    )
    return Markup(f"<{tag_name}{texts}>{inner}</{tag_name}>")


def join(parts: Iterable[Markup]) -> Markup:
    """Return elements one after the other."""
    from markupsafe import Markup

    return Markup("").join(parts)


def canvas(label: str, height: float, *children: Markup, class_: str = "plot") -> Markup:
    """Return a whole figure."""
    looks = {"fill": "currentColor", "font_family": "system-ui, sans-serif", "font_size": 12}
    head = {"class_": class_, "role": "img", "aria_label": label, **looks}
    return tag("svg", *children, xmlns=_SVG, width="100%", height=f"{height:g}", **head)


def _clean(value: Any) -> str:
    return _NOT_XML.sub("\ufffd", marked_line(str(value)))


def short(text: str, width: int = _LONGEST) -> str:
    """Return a text on one line, cut where it is longer than some columns."""
    line = " ".join(marked_line(text[: 4 * _LONGEST]).split())
    start, remainder = _cut(line, width)
    return f"{start}…" if remainder else start


def wrap(text: str) -> list[str]:
    """Return a label in at most two lines that fit on a phone."""
    first, second = _cut(short(text), _COLUMNS)
    if not second:
        return [first or "–"]
    if " " in first and not second.startswith(" "):
        first, _, last_word = first.rpartition(" ")
        second = last_word + second
    return [first, short(second, _COLUMNS - 1)]


def _cut(text: str, width: int) -> tuple[str, str]:
    if text.isascii():
        return text[:width], text[width:]
    room = width
    for place, char in enumerate(text):
        room -= 2 if east_asian_width(char) in "WF" else 1
        if room < 0:
            return text[:place], text[place:]
    return text, ""


def glyph(style: int, x: str, y: str, is_open: bool = False, scale: float = 1) -> Markup:
    """Return a mark of a style."""
    fill = None if is_open else "currentColor"
    path = tag("path", class_="dot", d=_shape(style % len(_SHAPES), scale), fill=fill)
    return tag("svg", path, x=x, y=y, overflow="visible")


def _shape(number: int, scale: float) -> str:
    """Return the outline of a mark."""
    if scale == 1:
        return _SHAPES[number]
    if number == 0:  # the flags of its arcs must not be scaled
        radius, width = f"{5 * scale:g}", f"{10 * scale:g}"
        arc = f"a{radius} {radius} 0 1 0"
        return f"M-{radius} 0{arc} {width} 0{arc}-{width} 0z"
    return _LENGTH.sub(lambda match: f"{float(match[0]) * scale:.3g}", _SHAPES[number])


def end(x: str, y: str, turn: int, is_arrow: bool) -> Markup:
    """Return the end of an interval: a bar, or an arrow, to the right unless turned."""
    shape = "M-7-4 0 0-7 4" if is_arrow else "M0-4 0 4"
    class_ = "arrow" if is_arrow else "bar"
    path = tag("path", class_=class_, d=shape, transform=f"rotate({turn})" if turn else None)
    return tag("svg", path, x=x, y=y, overflow="visible")


def line(class_: str, start: tuple[str, str], stop: tuple[str, str], **more: Any) -> Markup:
    """Return a straight line between two places, each across and down."""
    ends = {"x1": start[0], "y1": start[1], "x2": stop[0], "y2": stop[1]}
    return tag("line", class_=class_, **ends, **_STROKES[class_], **more)


def colour(style: int) -> str:
    """Return the colour of a style."""
    place = style % len(_COLOURS)
    return f"var(--series-{place + 1}, {_COLOURS[place]})"


def halo(text: str, **places: Any) -> Markup:
    """Return a text that stays readable where a line crosses it."""
    looks = {"paint_order": "stroke", "stroke": "var(--paper, #fff)", "stroke_width": "3"}
    return tag("text", text, **looks, **places)


def small(text: str, **places: Any) -> Markup:
    """Return a small text next to an axis."""
    return halo(text, **{"class_": "tick", "font_size": 11, "fill": _MUTED} | places)


def ticks_across(across: Across, top: float, bottom: float, name: str, font: float = 11) -> Markup:
    """Return the grid of an axis, its ticks below and its name below these."""
    size = f"{font:g}"
    parts = []
    for tick in across.axis.ticks:
        x = across.at(tick.value)
        parts.append(line("grid", (x, f"{top:g}"), (x, f"{bottom:g}"), data_tick=repr(tick.value)))
        position: dict[str, str] = {"x": x, "text_anchor": "middle"}
        # A long one has no room in the margin of a phone.
        if len(tick.text) > 4 and tick.place > 0.94:
            position = {"x": x, "text_anchor": "end"}
        elif len(tick.text) > 4 and tick.place < 0.05:
            position = {"x": x, "text_anchor": "start"}
        parts.append(small(tick.text, y=f"{bottom + font + 3:g}", font_size=size, **position))
    below = f"{bottom + 2 * font + 8:g}"
    label = small(name, x=f"{across.stop:g}%", y=below, text_anchor="end", font_size=size)
    return join([*parts, label])


def ticks_down(down: Down, name: str, font: float = 11) -> Markup:
    """Return the grid of an upward axis, with texts on its lines, and its name above."""
    size = f"{font:g}"
    parts = [small(name, x="0", y=f"{down.top - font - 7:g}", font_size=size)]
    free = math.inf
    for tick in down.axis.ticks:
        y = down.at(tick.value)
        parts.append(line("grid", ("0", y), ("100%", y), data_tick=repr(tick.value)))
        if float(y) <= free:
            free = float(y) - font - 2
            parts.append(small(tick.text, x="0", y=f"{float(y) - 3:g}", font_size=size))
    return join(parts)


def legend(entries: Sequence[tuple[str, int]], top: float) -> Markup:
    """Return the names of styles with their marks, one below the other."""
    parts = []
    for place, (name, style) in enumerate(entries):
        y = top + LINE * place
        mark = tag("g", glyph(style, "8", f"{y:g}"), color=colour(style), **MARKED)
        text = tag("text", short(name, _COLUMNS), class_="series", x="20", y=f"{y + 4:g}")
        parts.append(mark + text)
    return join(parts)
